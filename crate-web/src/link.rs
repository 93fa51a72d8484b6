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
use crate::model::asks::{self, Asks, crashed};
use crate::model::supervise::{Command, Crash, Event, LinkState, Supervisor};
use crate::model::trainer::{self, Trainer};
use crate::protocol::{Body, Job, Reply, Request, VERSION, unpack};

#[wasm_bindgen]
extern "C" {
    /// A worker running this very module; `www/loader.js` defines it before it starts the page.
    #[wasm_bindgen(js_name = spawnWorker, js_namespace = foldback)]
    fn spawn_worker() -> Worker;

    /// Fetches the whole engine, which later workers run; calls back with what went wrong, or with nothing.
    #[wasm_bindgen(js_name = loadEngine, js_namespace = foldback)]
    fn load_engine(done: &JsValue);
}

/// The supervised worker.
#[derive(Clone)]
pub(crate) struct Link(Rc<Inner>);

struct Inner {
    supervisor: RefCell<Supervisor>,
    worker: RefCell<Option<Attached>>,
    trainer: RefCell<Trainer>,
    trains: RefCell<Option<Attached>>,
    training_timer: Timer,
    asks: RefCell<Asks>,
    fills: RefCell<Option<Attached>>,
    asking_timer: Timer,
    timer: Timer,
    tell: Box<dyn Fn(Action)>,
}

/// The browser's timer for a deadline.
#[derive(Default)]
struct Timer {
    handle: Cell<Option<i32>>,
    wake: RefCell<Option<Closure<dyn Fn()>>>,
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
            trainer: RefCell::default(),
            trains: RefCell::default(),
            training_timer: Timer::default(),
            asks: RefCell::default(),
            fills: RefCell::default(),
            asking_timer: Timer::default(),
            timer: Timer::default(),
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
        self.0.timer.set(deadline, {
            let link = self.clone();
            move || link.on(Event::Tick)
        });
        if shown(&before) != shown(&after) {
            (self.0.tell)(Action::Linked(after));
        }
    }

    fn carry_out(&self, command: Command) {
        match command {
            Command::Load => {
                let link = self.clone();
                let done = Closure::once_into_js(move |failed: Option<String>| {
                    if let Some(why) = failed {
                        link.ask(asks::Event::NotLoaded(why.clone()));
                        return link.on(Event::NotLoaded(why));
                    }
                    link.on(Event::Loaded);
                    link.train(trainer::Event::Loaded);
                    link.ask(asks::Event::Loaded);
                });
                load_engine(&done);
            }
            Command::Spawn => {
                self.0.worker.replace(Some(self.attach(Self::receive, |link, message| {
                    link.on(Event::Crashed(Crash::Failed { message }));
                })));
            }
            Command::Kill => kill(&self.0.worker),
            Command::Post(request) => post(&self.0.worker, &request),
        }
    }

    /// The same for the trainer.
    pub(crate) fn train(&self, event: trainer::Event) {
        let (commands, deadline) = {
            let Ok(mut trainer) = self.0.trainer.try_borrow_mut() else { return };
            (trainer.on(event, now()), trainer.deadline())
        };
        for command in commands {
            match command {
                trainer::Command::Spawn => {
                    self.0.trains.replace(Some(self.attach(
                        Self::receive_training,
                        |link, why| {
                            link.train(trainer::Event::Ended(why));
                        },
                    )));
                }
                trainer::Command::Kill => kill(&self.0.trains),
                trainer::Command::Post(request) => post(&self.0.trains, &request),
                trainer::Command::Tell(rev, why) => {
                    (self.0.tell)(Action::TrainerEnded { rev, why });
                }
            }
        }
        self.0.training_timer.set(deadline, {
            let link = self.clone();
            move || link.train(trainer::Event::Tick)
        });
    }

    /// The same for the panels.
    pub(crate) fn ask(&self, event: asks::Event) {
        let (commands, deadline) = {
            let Ok(mut asks) = self.0.asks.try_borrow_mut() else { return };
            (asks.on(event, now()), asks.deadline())
        };
        for command in commands {
            match command {
                asks::Command::Spawn => {
                    self.0.fills.replace(Some(self.attach(Self::receive_panel, |link, why| {
                        link.ask(asks::Event::Ended(why));
                    })));
                }
                asks::Command::Kill => kill(&self.0.fills),
                asks::Command::Post(request) => post(&self.0.fills, &request),
                asks::Command::Tell(request, why) => {
                    if let Job::Panel { slot, ask, .. } = request.job {
                        let html = crashed(&why);
                        let slot = slot as usize;
                        (self.0.tell)(Action::Panel { slot, rev: request.rev, ask, html });
                    }
                }
            }
        }
        self.0.asking_timer.set(deadline, {
            let link = self.clone();
            move || link.ask(asks::Event::Tick)
        });
    }

    /// A new worker, listened to.
    fn attach(&self, message: fn(&Self, Reply, &Array), error: fn(&Self, String)) -> Attached {
        let worker = spawn_worker();
        let link = self.clone();
        let message = Closure::new(move |event: MessageEvent| {
            let parts = Array::from(&event.data());
            if let Ok(reply) = serde_wasm_bindgen::from_value::<Reply>(parts.get(0))
                && reply.version == VERSION
            {
                message(&link, reply, &parts);
            }
        });
        let link = self.clone();
        let error = Closure::new(move |event: ErrorEvent| {
            // It is shown on the page; the console need not repeat it.
            event.prevent_default();
            error(&link, event.message());
        });
        worker.set_onmessage(Some(message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(error.as_ref().unchecked_ref()));
        Attached { worker, _message: message, _error: error }
    }

    fn receive(&self, reply: Reply, message: &Array) {
        let rev = reply.rev;
        let bytes = || Uint8Array::new(&message.get(1)).to_vec();
        match reply.body {
            Body::Ready => self.on(Event::Ready),
            Body::Progress => self.on(Event::Progress(rev)),
            Body::Panicked { message, place } => {
                self.on(Event::Crashed(Crash::Panicked { message, place }));
            }
            Body::Beyond => self.on(Event::Beyond(rev)),
            Body::Report => {
                let news = self.news(rev);
                self.on(Event::Done(rev));
                if let Some(answer) = news.then(|| unpack(&bytes())).flatten() {
                    (self.0.tell)(Action::Answered { rev, answer: std::sync::Arc::new(answer) });
                }
            }
            Body::Checks { done } => {
                self.on(if done { Event::Done(rev) } else { Event::Progress(rev) });
                if let Some(checked) = unpack(&bytes()) {
                    (self.0.tell)(Action::Checked { rev, checked: std::sync::Arc::new(checked) });
                }
            }
            Body::Training(_) | Body::Panel { .. } => {}
        }
    }

    fn receive_training(&self, reply: Reply, message: &Array) {
        let rev = reply.rev;
        match reply.body {
            Body::Ready => self.train(trainer::Event::Ready),
            Body::Panicked { message, place } => {
                self.train(trainer::Event::Ended(format!("{message} ({place})")));
            }
            Body::Training(pace) => {
                self.train(trainer::Event::Heard(rev, pace));
                if let Some(trained) = unpack(&Uint8Array::new(&message.get(1)).to_vec()) {
                    let trained = std::sync::Arc::new(trained);
                    (self.0.tell)(Action::Trained { rev, trained });
                }
            }
            _ => {}
        }
    }

    fn receive_panel(&self, reply: Reply, _: &Array) {
        match reply.body {
            Body::Ready => self.ask(asks::Event::Ready),
            Body::Panicked { message, place } => {
                self.ask(asks::Event::Ended([message, place].join(" ")));
            }
            Body::Panel { slot, ask, html } => {
                self.ask(asks::Event::Heard);
                let slot = slot as usize;
                (self.0.tell)(Action::Panel { slot, rev: reply.rev, ask, html });
            }
            _ => {}
        }
    }

    /// Whether an answer to this revision is news, which it is once.
    fn news(&self, rev: u32) -> bool {
        self.0.supervisor.try_borrow_mut().is_ok_and(|mut supervisor| supervisor.is_news(rev))
    }
}

fn kill(worker: &RefCell<Option<Attached>>) {
    if let Some(attached) = worker.borrow().as_ref() {
        attached.worker.set_onmessage(None);
        attached.worker.set_onerror(None);
        attached.worker.terminate();
    }
    // The closures stay until the next worker replaces them: one of them may be running.
}

fn post(worker: &RefCell<Option<Attached>>, request: &Request) {
    if let (Some(attached), Ok(message)) =
        (worker.borrow().as_ref(), serde_wasm_bindgen::to_value(request))
    {
        let _ = attached.worker.post_message(&message);
    }
}

impl Timer {
    /// Calls at the deadline, in milliseconds, and at no earlier one any more.
    fn set(&self, deadline: Option<f64>, due: impl Fn() + 'static) {
        if let Some(handle) = self.handle.take() {
            window().clear_timeout_with_handle(handle);
        }
        let Some(deadline) = deadline else { return };
        let due = Rc::new(due);
        // If the page itself was busy, an answer may be waiting: it comes first.
        let wake = Closure::<dyn Fn()>::new(move || {
            let due = Rc::clone(&due);
            let late = Closure::once_into_js(move || due());
            let _ = window().set_timeout_with_callback(late.unchecked_ref());
        });
        let wait = (deadline - now()).max(0.0).ceil() as i32;
        self.handle.set(set_timeout(&wake, wait));
        self.wake.replace(Some(wake));
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
