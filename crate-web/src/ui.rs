//! The page: components that show the state and dispatch actions. Nothing here decides anything.

pub(crate) mod app;

mod browser;
mod canvas;
mod dock;
mod editor;
mod files;
mod help;
mod keys;
mod markup;
mod over;
mod root;
mod side;
mod stepper;
mod top;

pub(crate) use root::Root;

/// The text that was kept in the browser the last time.
pub(crate) fn kept_text() -> Option<String> {
    browser::stored("text").filter(|text| !text.is_empty())
}
