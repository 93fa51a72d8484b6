//! The engine's side: receives a request, calls the engine, replies; nothing else.
//!
//! It holds one analysis, because checks and training continue it. Long jobs run in slices and let messages in
//! between them, so that a newer text ends them.

use std::cell::{Cell, RefCell};
use std::panic::{self, PanicHookInfo};
use std::rc::Rc;

use foldback::construct::Budget;
use foldback::report::{Analysis, analyse};
use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;
#[cfg(feature = "full")]
use wasm_bindgen_futures::spawn_local;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use crate::model::answer::Answer;
use crate::model::layout::Orientation;
use crate::protocol::{Body, Job, Reply, Request, VERSION};

#[cfg(feature = "full")]
mod jobs;
#[cfg(feature = "full")]
mod panels;
#[cfg(feature = "full")]
mod store;
#[cfg(feature = "full")]
mod trainer;

/// Receives from now on. `faults` lets a text break the worker on purpose, for tests of what happens then.
pub(crate) fn start(scope: DedicatedWorkerGlobalScope, faults: bool) {
    // A panic is told before it traps, and the instance is never called again.
    panic::set_hook(Box::new(tell));
    let worker = Rc::new(Worker {
        scope,
        faults,
        newest: Cell::new(0),
        analysis: RefCell::new(None),
        #[cfg(feature = "full")]
        opened: RefCell::default(),
        #[cfg(feature = "full")]
        will: Cell::default(),
        #[cfg(feature = "full")]
        waits: Cell::default(),
    });
    let receiver = Rc::clone(&worker);
    let receive = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        if let Ok(request) = serde_wasm_bindgen::from_value::<Request>(event.data())
            && request.version == VERSION
        {
            receive(&receiver, request);
        }
    });
    worker.scope.set_onmessage(Some(receive.as_ref().unchecked_ref()));
    receive.forget();
    worker.reply(0, Body::Ready, None);
}

fn tell(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("a panic without words").to_owned();
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    if let Ok(scope) = js_sys::global().dyn_into() {
        post(&scope, &Reply::new(0, Body::Panicked { message, place }), None);
    }
}

struct Worker {
    scope: DedicatedWorkerGlobalScope,
    faults: bool,
    /// The revision that is worth working on.
    newest: Cell<u32>,
    analysis: RefCell<Option<Rc<Analysis>>>,
    /// The text that panels were last made of.
    #[cfg(feature = "full")]
    opened: RefCell<Option<crate::model::panels::Opened>>,
    /// What a training run is to do next.
    #[cfg(feature = "full")]
    will: Cell<trainer::Will>,
    /// What wakes a run that waits.
    #[cfg(feature = "full")]
    waits: Cell<Option<js_sys::Function>>,
}

fn receive(worker: &Rc<Worker>, request: Request) {
    let rev = request.rev;
    match request.job {
        Job::Analyse { text, orientation, closed } => {
            worker.newest.set(rev);
            if worker.faults {
                fail_on_purpose(&text);
            }
            // Memory that a worker has had stays its own, so two texts are never held at once.
            worker.analysis.take();
            let analysis = analyse(&text, &Budget::default());
            match answer(&analysis, &text, orientation, &closed) {
                Some(bytes) => worker.reply(rev, Body::Report, Some(bytes)),
                None => worker.reply(rev, Body::Beyond, None),
            }
            worker.analysis.replace(Some(Rc::new(analysis)));
        }
        #[cfg(feature = "full")]
        Job::Check => spawn_local(jobs::check(Rc::clone(worker), rev)),
        #[cfg(feature = "full")]
        Job::Run { text, start } => {
            worker.newest.set(rev);
            if worker.faults {
                fail_on_purpose(&text.replace("# trainer fault:", "# fault:"));
            }
            worker.will.set(if start { trainer::Will::Go } else { trainer::Will::Wait });
            worker.wake();
            spawn_local(trainer::run(Rc::clone(worker), rev, text));
        }
        #[cfg(feature = "full")]
        Job::Control(control) => worker.control(rev, control),
        #[cfg(feature = "full")]
        Job::Panel { slot, text, ask } if ask.starts_with("docs ") => {
            spawn_local(store::answer(Rc::clone(worker), rev, slot, text, ask));
        }
        #[cfg(feature = "full")]
        Job::Panel { slot, text, ask } => panels::make(worker, rev, slot, &text, ask),
        #[cfg(not(feature = "full"))]
        Job::Check | Job::Run { .. } | Job::Control(_) | Job::Panel { .. } => {}
    }
}

/// The packed `Answer` to a text; none where this part of the engine cannot read it and the whole may.
///
/// To the part a text that pins boxes is such a text, and so is a picture with closed calls.
pub(crate) fn answer(
    analysis: &Analysis,
    text: &str,
    orientation: Orientation,
    closed: &str,
) -> Option<Vec<u8>> {
    let pins = || text.as_bytes().windows(7).any(|word| word == b"layout ");
    let is_beyond = !cfg!(feature = "full") && (!closed.is_empty() || pins());
    if is_beyond || analysis.unreadable() {
        return None;
    }
    #[cfg(not(feature = "full"))]
    let (report, picture) =
        (&analysis.report, crate::model::picture::draw(&analysis.report, orientation));
    #[cfg(feature = "full")]
    let report = &*crate::model::draft::drafted(&analysis.report, text);
    #[cfg(feature = "full")]
    let picture = crate::model::plan::draw(report, text, orientation, closed);
    Some(Answer::packed(report, &picture))
}

/// Breaks the worker the way that the text asks for.
fn fail_on_purpose(text: &str) {
    if text.contains("# fault: trap") {
        core::arch::wasm32::unreachable();
    }
    while text.contains("# fault: hang") {
        core::hint::spin_loop();
    }
    while text.contains("# fault: memory") {
        core::hint::black_box(Vec::<u8>::with_capacity(1 << 28)).leak();
    }
    assert!(!text.contains("# fault: panic"), "a panic on purpose");
}

impl Worker {
    fn reply(&self, rev: u32, body: Body, bytes: Option<Vec<u8>>) {
        post(&self.scope, &Reply::new(rev, body), bytes);
    }
}

/// Posts an envelope, and the bytes behind it without a copy.
fn post(scope: &DedicatedWorkerGlobalScope, reply: &Reply, bytes: Option<Vec<u8>>) {
    let Ok(envelope) = serde_wasm_bindgen::to_value(reply) else { return };
    let message = Array::of1(&envelope);
    let transfer = Array::new();
    if let Some(bytes) = bytes {
        let bytes = Uint8Array::from(&bytes[..]);
        transfer.push(&bytes.buffer());
        message.push(&bytes);
    }
    // A page that is gone needs no answer.
    let _ = scope.post_message_with_transfer(&message, &transfer);
}
