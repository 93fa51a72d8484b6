//! Files: a text into one, and a text out of one. The language's files end in `.fold`.

use js_sys::{Array, Uint8Array};
use leptos::prelude::document;
use wasm_bindgen::prelude::*;
use web_sys::{
    Blob, ClipboardEvent, DataTransfer, DragEvent, File, FileReader, HtmlAnchorElement,
    HtmlInputElement, HtmlTextAreaElement, Url,
};

use super::app::App;
use super::{browser, listen};
use crate::model::action::{Action, Source};

/// The largest file that is read: the language refuses larger texts, too.
const LARGEST: f64 = 1_048_576.0;

pub(super) fn download(name: &str, text: &str) {
    let parts = Array::of1(&JsValue::from_str(text));
    save(name, Blob::new_with_str_sequence(&parts));
}

/// The same with bytes, two hexadecimal digits each.
pub(super) fn download_bytes(name: &str, digits: &str) {
    let byte = |pair: &[u8]| {
        let digit = |c: u8| char::from(c).to_digit(16).unwrap_or(0) as u8;
        pair.iter().fold(0_u8, |byte, c| byte << 4 | digit(*c))
    };
    let bytes: Vec<u8> = digits.as_bytes().chunks(2).map(byte).collect();
    save(name, Blob::new_with_u8_array_sequence(&Array::of1(&Uint8Array::from(&bytes[..]))));
}

fn save(name: &str, blob: Result<Blob, JsValue>) {
    let Ok(blob) = blob else { return };
    let Ok(url) = Url::create_object_url_with_blob(&blob) else { return };
    if let Some(link) =
        document().create_element("a").ok().and_then(|a| a.dyn_into::<HtmlAnchorElement>().ok())
    {
        link.set_href(&url);
        link.set_download(name);
        link.click();
    }
    let _ = Url::revoke_object_url(&url);
}

/// Nodes from the clipboard, where nothing that takes text itself has the focus.
pub(super) fn pasted(app: App, event: &JsValue) {
    let event: &ClipboardEvent = event.unchecked_ref();
    let field = "textarea, input, select, dialog";
    if browser::focused().is_some_and(|at| at.closest(field).ok().flatten().is_some()) {
        return;
    }
    let text = event.clipboard_data().and_then(|data| data.get_data("text").ok());
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        event.prevent_default();
        app.dispatch(Action::Make(["paste ", &text].concat()));
    }
}

/// Lets the user choose a file.
pub(super) fn choose() {
    if let Some(input) = browser::by_id::<HtmlInputElement>("file") {
        input.click();
    }
}

/// Opens the file that was chosen in an `<input type=file>`.
pub(super) fn chosen(app: App, input: &HtmlInputElement) {
    if let Some(file) = input.files().and_then(|files| files.get(0)) {
        open(app, &file);
    }
    // The same file can be chosen again.
    input.set_value("");
}

/// Opens the file that was dropped anywhere on the page.
pub(super) fn dropped(app: App, event: &JsValue) {
    let event: &DragEvent = event.unchecked_ref();
    let files = event.data_transfer().as_ref().and_then(DataTransfer::files);
    if let Some(file) = files.and_then(|files| files.get(0)) {
        event.prevent_default();
        open(app, &file);
    }
}

fn open(app: App, file: &File) {
    if file.size() > LARGEST {
        return app.dispatch(Action::Refuse(
            "This file is not opened: it is larger than 1 MiB, the most that a text may have",
        ));
    }
    let Ok(reader) = FileReader::new() else { return };
    app.desk(|desk| desk.file = file.name());
    listen::hear(app, &reader, "load", read);
    listen::hear(app, &reader, "error", |app, _| {
        app.dispatch(Action::Refuse("This file could not be read"));
    });
    let _ = reader.read_as_array_buffer(file);
}

/// A file has been read.
fn read(app: App, event: &JsValue) {
    let buffer = listen::target::<FileReader>(event).and_then(|reader| reader.result().ok());
    let bytes = buffer.map_or(Vec::new(), |buffer| Uint8Array::new(&buffer).to_vec());
    let Ok(text) = String::from_utf8(bytes) else {
        return app.dispatch(Action::Refuse("This file is not opened: it is no text in UTF-8"));
    };
    let mut name = app.desk(|desk| std::mem::take(&mut desk.file));
    if let Some(end) = name.rfind('.') {
        name.truncate(end);
    }
    // The editor has its own line ends.
    let text = browser::by_id::<HtmlTextAreaElement>("text").map_or_else(String::new, |editor| {
        editor.set_value(&text);
        editor.value()
    });
    app.dispatch(Action::Open(Source::File { name, text }));
}
