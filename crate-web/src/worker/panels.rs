//! Panels: markup that is made from a text on request.

use std::rc::Rc;

use super::{Worker, fail_on_purpose};
use crate::model::panels::{Opened, panel};
use crate::protocol::Body;

pub(super) fn make(worker: &Rc<Worker>, rev: u32, slot: u32, text: &str, ask: String) {
    if worker.faults {
        fail_on_purpose(&text.replace("# panel fault:", "# fault:"));
    }
    let mut opened = worker.opened.borrow_mut();
    if opened.as_ref().is_none_or(|opened| opened.text != text) {
        // The old one goes first: memory that a worker has had stays its own.
        *opened = None;
        *opened = Some(Opened::new(text));
    }
    let html = opened.as_ref().map(|opened| panel(opened, &ask)).unwrap_or_default();
    worker.reply(rev, Body::Panel { slot, ask, html }, None);
}
