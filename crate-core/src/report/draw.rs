//! A finding over its line, as rustc draws it: code, place, the operand underlined, the reason, and edits that mend it.
//! Deliberately absent: where it is printed, and whether in colours.

use std::ops::Range;

use annotate_snippets::renderer::Renderer;
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Patch, Snippet};

use super::{FindingRow, FixRow, Weight};
use crate::refusal::Code;

/// So many fixes are drawn; the best come first.
const MOST_FIXES: usize = 3;

/// The widest line that is drawn whole.
const WIDTH: usize = 140;

/// A finding of a text, several lines, the last one without its end.
pub fn draw(file: &str, text: &str, finding: &FindingRow, colours: bool) -> String {
    let level = match finding.weight {
        Weight::Error => Level::ERROR,
        Weight::Warning => Level::WARNING,
        Weight::Info => Level::INFO,
    };
    let file = shown(file);
    let title = level.primary_title(shown(&finding.message)).id(&finding.code);
    let mut first = match finding.span.and_then(|span| Window::new(text, span)) {
        Some(window) => {
            let label = label(finding).map(shown);
            let mark = AnnotationKind::Primary.span(window.within(finding.span)).label(label);
            let source = Snippet::source(window.text).line_start(window.line).path(file.clone());
            title.element(source.annotation(mark))
        }
        None => title.element(Origin::path(file.clone())),
    };
    if !finding.why.is_empty() {
        first = first.element(Level::NOTE.message(shown(&finding.why)));
    }
    if !finding.cite.is_empty() {
        first = first.element(Level::NOTE.message(format!("see {}", finding.cite)));
    }
    if !finding.next.is_empty() {
        first = first.element(Level::HELP.message(finding.next.as_str()));
    }
    let mut groups = vec![first];
    groups.extend(finding.fixes.iter().take(MOST_FIXES).map(|fix| mended(text, fix)));
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    renderer.term_width(WIDTH).render(&groups)
}

/// What stands beside the underlined text: the heading, where it says more than the code does.
fn label(finding: &FindingRow) -> Option<&str> {
    let mut codes = Code::ALL.iter().filter(|code| code.name() == finding.code);
    let general = codes.any(|code| code.meaning().trim_end_matches('.') == finding.title);
    Some(finding.title.as_str()).filter(|title| !general && !title.is_empty())
}

/// A fix, as the lines that it changes.
fn mended<'a>(text: &'a str, fix: &'a FixRow) -> Group<'a> {
    let mut title = shown(fix.title.trim());
    if !fix.note.is_empty() {
        title = format!("{title}: {}", fix.note);
    }
    let group = Level::HELP.secondary_title(title);
    let ends = fix.edits.iter().map(|e| (e.0, e.1)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let Some(window) = ends.and_then(|span| Window::new(text, span)) else {
        return Group::with_title(group);
    };
    let patches = fix
        .edits
        .iter()
        .map(|(start, end, with)| Patch::new(window.within(Some((*start, *end))), shown(with)));
    let source = Snippet::source(window.text).line_start(window.line);
    group.element(Element::from(source.patches(patches)))
}

/// The lines that a span touches.
struct Window<'a> {
    text: &'a str,
    start: usize,
    /// The first line's number, from 1.
    line: usize,
}

impl<'a> Window<'a> {
    fn new(text: &'a str, (start, end): (u32, u32)) -> Option<Self> {
        let (before, _) = text.split_at_checked(start as usize)?;
        let (_, after) = text.split_at_checked(end as usize)?;
        let first = before.rfind('\n').map_or(0, |at| at + 1);
        let last = end as usize + after.find('\n').unwrap_or(after.len());
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let lines = text.get(first..last)?;
        let lines = lines.strip_suffix('\r').unwrap_or(lines);
        Some(Self { text: lines, start: first, line })
    }

    fn within(&self, span: Option<(u32, u32)>) -> Range<usize> {
        let (start, end) = span.unwrap_or_default();
        let at = |byte: u32| (byte as usize).saturating_sub(self.start).min(self.text.len());
        at(start)..at(end)
    }
}

/// Words fit for a terminal: what a text or a file smuggles in is shown, not obeyed.
pub fn shown(text: &str) -> String {
    // Control characters, and those that turn the direction of what follows them.
    let obeyed = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if obeyed(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}
