//! The static site: the template filled in, every file named by its content, all of it weighed.

use crate::bindings::Bindings;
use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// Where the site is served from.
pub(crate) const DIST: &str = "dist";

/// What the first load is to weigh, in gzipped bytes.
pub(crate) const BUDGET: usize = 300_000;

/// What it may weigh where std comes with the compiler: there the panics of the page's module keep their words. It may
/// only be lowered.
pub(crate) const CEILING_WITH_WORDS: usize = 320_000;

/// Scripts, styles and data come from the site alone, and nothing else is ever asked for.
const CSP: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; \
                   style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; \
                   base-uri 'none'; form-action 'none'";

/// The files of a finished site.
pub(crate) struct Site {
    files: Vec<File>,
}

struct File {
    name: String,
    raw: usize,
    gzip: usize,
    when: Load,
}

#[derive(Clone, Copy, PartialEq)]
enum Load {
    /// Named by the page itself.
    First,
    /// Only when somebody asks for it.
    Later,
}

/// Fills the template `index.html` and replaces `dist/` by the result.
pub(crate) fn assemble(page: Bindings, engine: Bindings, first_picture: &str) -> Result<Site> {
    let next = Path::new(crate::toolchain::TARGET_FOLDER).join("dist-next");
    if next.exists() {
        fs::remove_dir_all(&next).context("clearing the unfinished site")?;
    }
    fs::create_dir_all(&next).context("making room for the site")?;

    let mut sources = BTreeMap::from([
        ("foldback.js".to_owned(), page.glue),
        ("foldback.wasm".to_owned(), page.module),
        ("engine.js".to_owned(), engine.glue),
        ("engine.wasm".to_owned(), engine.module),
    ]);
    for (name, bytes) in &mut sources {
        *bytes = minified(name, bytes)?;
    }
    let mut later = Vec::new();
    for path in files_below(Path::new("www"))? {
        let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let name = slashed(path.strip_prefix("www")?);
        if name.contains('/') {
            later.push((name, bytes)); // linked by name from outside: never renamed
        } else {
            sources.insert(name.clone(), minified(&name, &bytes)?);
        }
    }

    let template = fs::read_to_string("index.html").context("reading index.html")?;
    let hashed = sources.iter().map(|(name, bytes)| (name.as_str(), hashed_name(name, bytes)));
    let filled = fill(&template, &hashed.collect(), first_picture)?;

    let mut files = vec![write(&next, "index.html", filled.html.as_bytes(), Load::First)?];
    for (name, bytes) in &sources {
        let when = if filled.named.contains(name) { Load::First } else { Load::Later };
        files.push(write(&next, &hashed_name(name, bytes), bytes, when)?);
    }
    for (name, bytes) in &later {
        files.push(write(&next, name, bytes, Load::Later)?);
    }

    if Path::new(DIST).exists() {
        fs::remove_dir_all(DIST).context("removing the former dist/")?;
    }
    fs::rename(&next, DIST).context("moving the site to dist/")?;
    Ok(Site { files })
}

/// A script or a style sheet without blanks and comments; any other file as it is.
fn minified(name: &str, bytes: &[u8]) -> Result<Vec<u8>> {
    let text = || std::str::from_utf8(bytes).with_context(|| format!("reading {name} as text"));
    match Path::new(name).extension().and_then(|extension| extension.to_str()) {
        Some("js") => Ok(minifier::js::minify(text()?).to_string().into_bytes()),
        Some("css") => match minifier::css::minify(text()?) {
            Ok(css) => Ok(css.to_string().into_bytes()),
            Err(why) => bail!("{name}: {why}"),
        },
        _ => Ok(bytes.to_owned()),
    }
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}

fn slashed(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn hashed_name(name: &str, bytes: &[u8]) -> String {
    let hash = xxh3_64(bytes);
    match name.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}-{hash:016x}.{extension}"),
        None => format!("{name}-{hash:016x}"),
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8], when: Load) -> Result<File> {
    let path = folder.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
    }
    fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))?;
    Ok(File { name: name.to_owned(), raw: bytes.len(), gzip: gzipped(bytes)?, when })
}

fn gzipped(bytes: &[u8]) -> Result<usize> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(bytes)?;
    Ok(gzip.finish()?.len())
}

struct Filled {
    html: String,
    /// The sources that the page names and loads at once.
    named: Vec<String>,
}

/// Replaces each `{{…}}` of the template; the template's own comment describes them.
fn fill(template: &str, hashed: &BTreeMap<&str, String>, first_picture: &str) -> Result<Filled> {
    let mut html = String::new();
    let mut named = Vec::new();
    let template = without_authors_comment(template);
    let mut rest = template.as_str();
    while let Some((before, after)) = rest.split_once("{{") {
        let (placeholder, after) =
            after.split_once("}}").context("index.html: `{{` without its `}}`")?;
        html.push_str(before);
        match placeholder.split_once(':').unwrap_or((placeholder, "")) {
            ("csp", "") => html.push_str(CSP),
            ("first-picture", "") => html.push_str(first_picture),
            ("hashed" | "later", name) => match hashed.get(name) {
                Some(hashed) => {
                    html.push_str(hashed);
                    if placeholder.starts_with("hashed") {
                        named.push(name.to_owned());
                    }
                }
                None => bail!(
                    "index.html: `{{{{{placeholder}}}}}` names no file; there are {}",
                    hashed.keys().copied().collect::<Vec<_>>().join(", ")
                ),
            },
            _ => bail!("index.html: `{{{{{placeholder}}}}}` is no placeholder"),
        }
        rest = after;
    }
    html.push_str(rest);
    Ok(Filled { html, named })
}

/// The template without the comment before `<html`, which is for its authors.
fn without_authors_comment(template: &str) -> String {
    if let Some((before, comment)) = template.split_once("<!--")
        && let Some((_, after)) = comment.split_once("-->")
        && !before.contains("<html")
    {
        return format!("{before}{}", after.trim_start());
    }
    template.to_owned()
}

impl Site {
    /// What a browser downloads before the page can be stepped through, in gzipped bytes.
    pub(crate) fn first_load(&self) -> usize {
        self.files.iter().filter(|file| file.when == Load::First).map(|file| file.gzip).sum()
    }

    pub(crate) fn print(&self) {
        let width = self.files.iter().map(|file| file.name.len()).max().unwrap_or(0);
        println!("\n{:width$} {:>12} {:>12}", "dist/", "bytes", "gzip");
        for file in &self.files {
            let later = if file.when == Load::Later { "  later" } else { "" };
            println!("{:width$} {:>12} {:>12}{later}", file.name, file.raw, file.gzip);
        }
        println!(
            "first load: {:.1} KB gzip of {} KB\n",
            self.first_load() as f64 / 1000.0,
            BUDGET / 1000
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{fill, hashed_name, without_authors_comment};
    use std::collections::BTreeMap;

    fn filled(template: &str) -> Result<String, String> {
        let hashed = BTreeMap::from([("app.css", "app-1.css".to_owned())]);
        fill(template, &hashed, "<svg/>").map(|filled| filled.html).map_err(|e| e.to_string())
    }

    #[test]
    fn placeholders_are_replaced() {
        assert_eq!(
            filled("<a>{{hashed:app.css}}</a>{{first-picture}}"),
            Ok("<a>app-1.css</a><svg/>".to_owned())
        );
    }

    #[test]
    fn a_placeholder_for_a_missing_file_lists_those_that_exist() {
        assert_eq!(
            filled("{{hashed:app.js}}"),
            Err("index.html: `{{hashed:app.js}}` names no file; there are app.css".to_owned())
        );
    }

    #[test]
    fn an_unknown_or_open_placeholder_is_an_error() {
        assert!(filled("{{nonsense}}").is_err());
        assert!(filled("{{csp").is_err());
    }

    #[test]
    fn only_the_authors_comment_goes() {
        let template = "<!doctype html>\n<!-- {{x}} before <html> -->\n<html><!-- kept --></html>";
        assert_eq!(
            without_authors_comment(template),
            "<!doctype html>\n<html><!-- kept --></html>"
        );
    }

    #[test]
    fn a_name_changes_with_the_content_and_keeps_its_extension() {
        let (one, two) = (hashed_name("app.css", b"a"), hashed_name("app.css", b"b"));
        assert_ne!(one, two);
        assert!(one.starts_with("app-"));
        assert_eq!(one.rsplit('.').next(), Some("css"));
    }
}
