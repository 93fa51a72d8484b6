//! Files: the program's text, and the tensors that it loads.
//! Deliberately absent: formats. The library knows them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use foldback::construct::Budget;
use foldback::files;
use foldback::lang::lower::{Loaded, Unloaded, Wanted};
use foldback::report::{Analysis, analyse_with};

/// One byte more than a text may have: what is longer is refused all the same, and need not be read.
const ENOUGH: u64 = (1 << 20) + 1;

/// A program.
pub(crate) struct Input {
    /// What it is called in answers.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
    /// Its file; none for standard input.
    pub(crate) path: Option<PathBuf>,
}

/// The program of a file; what to say where there is none.
pub(crate) fn read(path: &Path) -> Result<Input, String> {
    let from_stdin = path == Path::new("-");
    let name = if from_stdin { "<stdin>".to_owned() } else { path.to_string_lossy().into_owned() };
    let mut bytes = Vec::new();
    let got = if from_stdin {
        io::stdin().lock().take(ENOUGH).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(ENOUGH).read_to_end(&mut bytes))
    };
    got.map_err(|e| format!("bad-file: {name}: {e}"))?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // The end of what was read cuts a letter in two.
        Err(e) if e.utf8_error().error_len().is_none() && e.as_bytes().len() as u64 == ENOUGH => {
            String::from_utf8_lossy(e.as_bytes()).into_owned()
        }
        Err(e) => return Err(format!("bad-file: {name} is not UTF-8 text: {e}")),
    };
    Ok(Input { name, text, path: (!from_stdin).then(|| path.to_owned()) })
}

impl Input {
    /// Everything about the program but its checks and its training.
    pub(crate) fn analyse(&self) -> Analysis {
        let budget = Budget::default();
        let folder = self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let shelf = Shelf { folder, read: RefCell::default(), left: Cell::new(budget.elements) };
        analyse_with(&self.text, &budget, &|wanted| shelf.get(wanted))
    }
}

/// A file's name and a tensor's.
type Wish = (String, Option<String>);

/// The tensors that a program has loaded: each is read once, and all together stay within the budget.
struct Shelf<'a> {
    folder: &'a Path,
    read: RefCell<BTreeMap<Wish, Result<Loaded, Unloaded>>>,
    /// How many elements may still be loaded.
    left: Cell<u64>,
}

impl Shelf<'_> {
    fn get(&self, wanted: Wanted<'_>) -> Result<Loaded, Unloaded> {
        let key = (wanted.file.to_owned(), wanted.tensor.map(str::to_owned));
        if let Some(before) = self.read.borrow().get(&key) {
            return before.clone();
        }
        let got = self.open(wanted);
        if let Ok(loaded) = &got {
            self.left.set(self.left.get().saturating_sub(loaded.values.len() as u64));
        }
        self.read.borrow_mut().insert(key, got.clone());
        got
    }

    fn open(&self, wanted: Wanted<'_>) -> Result<Loaded, Unloaded> {
        let unusable = |e: io::Error| Unloaded::Unusable(e.to_string());
        let path = self.folder.join(wanted.file);
        // A pipe or a device may never end.
        if !std::fs::metadata(&path).map_err(unusable)?.is_file() {
            return Err(Unloaded::Unusable("it is no file".to_owned()));
        }
        let file = File::open(&path).map_err(unusable)?;
        let most = wanted.budget.tensor_elements.min(self.left.get());
        files::read(&mut BufReader::new(file), wanted.file, wanted.tensor, most)
    }
}
