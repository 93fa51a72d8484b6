//! The page's end of the worker: it starts one, watches it, ends it, and starts another.
//!
//! What to do is decided by `model::supervise`; here are the worker, the clock and the messages.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use leptos::prelude::window;
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, MessageEvent, Worker};

use crate::model::action::Action;
use crate::model::supervise::{Command, Crash, Event, LinkState, Supervisor};
use crate::protocol::{Body, Reply, VERSION, unpack};

#[wasm_bindgen]
extern "C" {
    /// A worker running this very module; `www/loader.js` defines it before it starts the page.
    #[wasm_bindgen(js_name = spawnWorker, js_namespace = foldback)]
    fn spawn_worker() -> Worker;
}

/// The supervised worker.
#[derive(Clone)]
pub(crate) struct Link(Rc<Inner>);

struct Inner {
    supervisor: RefCell<Supervisor>,
    worker: RefCell<Option<Attached>>,
    /// The browser's timer for the supervisor's deadline.
    timer: Cell<Option<i32>>,
    on_timer: RefCell<Option<Closure<dyn Fn()>>>,
    tell: Box<dyn Fn(Action)>,
}

/// A worker with what it calls; dropped together.
struct Attached {
    worker: Worker,
    _message: Closure<dyn Fn(MessageEvent)>,
    _error: Closure<dyn Fn(ErrorEvent)>,
}

impl Link {
    /// A link that has not started its worker yet. `tell` gets what the worker says.
    pub(crate) fn new(tell: impl Fn(Action) + 'static) -> Self {
        Self(Rc::new(Inner {
            supervisor: RefCell::default(),
            worker: RefCell::default(),
            timer: Cell::default(),
            on_timer: RefCell::default(),
            tell: Box::new(tell),
        }))
    }

    /// Something happened; whatever follows is done at once.
    pub(crate) fn on(&self, event: Event) {
        let now = now();
        let (commands, before, after, deadline) = {
            let Ok(mut supervisor) = self.0.supervisor.try_borrow_mut() else { return };
            let before = supervisor.state();
            let commands = supervisor.on(event, now);
            (commands, before, supervisor.state(), supervisor.deadline())
        };
        for command in commands {
            self.carry_out(command);
        }
        self.wake_at(deadline);
        if shown(&before) != shown(&after) {
            (self.0.tell)(Action::Linked(after));
        }
    }

    fn carry_out(&self, command: Command) {
        match command {
            Command::Spawn => {
                let worker = spawn_worker();
                let link = self.clone();
                let message = Closure::new(move |event: MessageEvent| link.receive(&event));
                let link = self.clone();
                let error = Closure::new(move |event: ErrorEvent| {
                    // It is shown on the page; the console need not repeat it.
                    event.prevent_default();
                    link.on(Event::Crashed(Crash::Failed { message: event.message() }));
                });
                worker.set_onmessage(Some(message.as_ref().unchecked_ref()));
                worker.set_onerror(Some(error.as_ref().unchecked_ref()));
                let attached = Attached { worker, _message: message, _error: error };
                self.0.worker.replace(Some(attached));
            }
            Command::Kill => {
                if let Some(attached) = self.0.worker.borrow().as_ref() {
                    attached.worker.set_onmessage(None);
                    attached.worker.set_onerror(None);
                    attached.worker.terminate();
                }
                // The closures stay until the next worker replaces them: one of them may be running.
            }
            Command::Post(request) => {
                if let (Some(attached), Ok(message)) =
                    (self.0.worker.borrow().as_ref(), serde_wasm_bindgen::to_value(&request))
                {
                    let _ = attached.worker.post_message(&message);
                }
            }
        }
    }

    fn receive(&self, event: &MessageEvent) {
        let message = Array::from(&event.data());
        let Ok(reply) = serde_wasm_bindgen::from_value::<Reply>(message.get(0)) else { return };
        if reply.version != VERSION {
            return;
        }
        let rev = reply.rev;
        let bytes = || Uint8Array::new(&message.get(1)).to_vec();
        match reply.body {
            Body::Ready => self.on(Event::Ready),
            Body::Progress => self.on(Event::Progress(rev)),
            Body::Panicked { message, place } => {
                self.on(Event::Crashed(Crash::Panicked { message, place }));
            }
            Body::Report => {
                self.on(Event::Done(rev));
                if let Some(answer) = unpack(&bytes()) {
                    (self.0.tell)(Action::Answered { rev, answer: std::sync::Arc::new(answer) });
                }
            }
            Body::Checks { done } => {
                self.on(if done { Event::Done(rev) } else { Event::Progress(rev) });
                if let Some(report) = unpack(&bytes()) {
                    (self.0.tell)(Action::Checked { rev, report: std::sync::Arc::new(report) });
                }
            }
            Body::Training { done } => {
                self.on(if done { Event::Done(rev) } else { Event::Progress(rev) });
                if let Some(report) = unpack(&bytes()) {
                    (self.0.tell)(Action::Trained { rev, report: std::sync::Arc::new(report) });
                }
            }
        }
    }

    fn wake_at(&self, deadline: Option<f64>) {
        if let Some(timer) = self.0.timer.take() {
            window().clear_timeout_with_handle(timer);
        }
        let Some(deadline) = deadline else { return };
        let link = self.clone();
        let wake = Closure::<dyn Fn()>::new(move || link.late());
        let wait = (deadline - now()).max(0.0).ceil() as i32;
        self.0.timer.set(set_timeout(&wake, wait));
        self.0.on_timer.replace(Some(wake));
    }

    /// The deadline has passed. If the page itself was busy, an answer may be waiting: it comes first.
    fn late(&self) {
        let link = self.clone();
        let tick = Closure::once_into_js(move || link.on(Event::Tick));
        let _ = window().set_timeout_with_callback(tick.unchecked_ref());
    }
}

/// What the page shows of a state: not since when.
fn shown(state: &LinkState) -> (u8, Option<&Crash>, bool) {
    match state {
        LinkState::Starting => (0, None, false),
        LinkState::Ready => (1, None, false),
        LinkState::Busy { .. } => (2, None, false),
        LinkState::Down { crash, gave_up } => (3, Some(crash), *gave_up),
    }
}

fn now() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

fn set_timeout(callback: &Closure<dyn Fn()>, wait: i32) -> Option<i32> {
    window()
        .set_timeout_with_callback_and_timeout_and_arguments_0(
            callback.as_ref().unchecked_ref(),
            wait,
        )
        .ok()
}
