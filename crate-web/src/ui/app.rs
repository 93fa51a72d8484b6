//! The state behind signals: one way in, `dispatch`, and a signal for each part of it that changes by itself.

use std::cell::{Cell, OnceCell, RefCell};

use leptos::prelude::{ArcTrigger, Notify, Track};
use web_sys::Element;

use super::canvas::{At, Mounted};
use super::hand::Gesture;
use super::{browser, files, listen};
use crate::link::Link;
use crate::model::action::{Action, Effect};
use crate::model::keys::KeyMap;
use crate::model::parts::{N_SIGNALS, Seen, Signals};
use crate::model::reduce::{State, reduce};
use crate::model::supervise::Event;

/// The page's state; made once, and there as long as the page is.
#[derive(Clone, Copy)]
pub(super) struct App(&'static Inner);

struct Inner {
    state: RefCell<State>,
    signals: [ArcTrigger; N_SIGNALS],
    link: OnceCell<Link>,
    /// What is to be done once the page stands.
    first: Cell<Vec<Effect>>,
    desk: RefCell<Desk>,
}

/// What the page's own hands hold, and no part of the state.
#[derive(Default)]
pub(super) struct Desk {
    /// The picture's elements.
    pub(super) mounted: Option<Mounted>,
    /// What they show, and since when, in milliseconds.
    pub(super) shown: Option<(At, f64)>,
    /// The fingers on it.
    pub(super) gesture: Gesture,
    /// Of which text and answer the editor's colours are, and the colours.
    pub(super) coloured: Option<(u32, u32)>,
    pub(super) colours: String,
    /// The one timer of playing: pausing and playing again must not make two.
    pub(super) beat: Option<i32>,
    /// Where the pointer rests on the program, and the timer of that.
    pub(super) pointed: Option<(f64, f64)>,
    /// The timer.
    pub(super) resting: Option<i32>,
    /// The name of the file that is being read.
    pub(super) file: String,
    /// What had the focus when a panel came over the graph.
    pub(super) before_over: Option<Element>,
    /// Whether the document is about to be stored.
    pub(super) keeps: bool,
}

impl App {
    /// A page that is to open a document.
    pub(super) fn new(kept: Option<&str>, first: &str) -> Self {
        let text = kept.unwrap_or(first);
        let (mut state, first) = State::open(text, browser::room(), browser::stored_theme());
        let mark = browser::kept("mark").unwrap_or_default();
        state.resume(&mark, browser::seed(), kept.is_some());
        state.view.keys = KeyMap::read(&browser::stored("keys").unwrap_or_default());
        Self(Box::leak(Box::new(Inner {
            state: RefCell::new(state),
            signals: Default::default(),
            link: OnceCell::new(),
            first: Cell::new(first),
            desk: RefCell::default(),
        })))
    }

    /// Starts the engine, and does what opening the document asks for.
    pub(super) fn begin(self) {
        let link = self.0.link.get_or_init(|| Link::new(move |action| self.dispatch(action)));
        link.on(Event::Start);
        for effect in self.0.first.take() {
            self.perform(effect);
        }
    }

    /// The effect that calls this runs again after these signals.
    pub(super) fn track(self, on: Signals) {
        for signal in named(on) {
            self.0.signals[signal].track();
        }
    }

    /// Reads the state.
    pub(super) fn read<T>(self, of: impl FnOnce(&State) -> T) -> T {
        of(&self.0.state.borrow())
    }

    /// What the page's hands hold.
    pub(super) fn desk<T>(self, of: impl FnOnce(&mut Desk) -> T) -> T {
        of(&mut self.0.desk.borrow_mut())
    }

    /// Something happened.
    pub(super) fn dispatch(self, action: Action) {
        let (effects, changed) = {
            let mut state = self.0.state.borrow_mut();
            let before = Seen::of(&state);
            let effects = reduce(&mut state, action);
            (effects, before.changed(&Seen::of(&state)))
        };
        for signal in named(changed) {
            self.0.signals[signal].notify();
        }
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(self, effect: Effect) {
        match effect {
            Effect::Analyse { rev, text, orientation, closed } => {
                self.send(Event::Edit { rev, text, orientation, closed });
            }
            Effect::Ask { rev, jobs } => self.send(Event::Ask { rev, jobs }),
            Effect::Train(event) => {
                if let Some(link) = self.0.link.get() {
                    link.train(event);
                }
            }
            Effect::Panels(event) => {
                if let Some(link) = self.0.link.get() {
                    link.ask(event);
                }
            }
            Effect::DownloadBytes { name, digits } => files::download_bytes(&name, &digits),
            Effect::Copy(text) => browser::copy(&text),
            Effect::Retry => self.send(Event::Retry),
            Effect::ShowText { text, caret } => browser::show_text(&text, caret),
            Effect::Keep(key, value) => browser::keep(key, &value),
            Effect::KeepSoon => listen::keep_soon(self),
            Effect::ChooseFile => files::choose(),
            Effect::Download { name, text } => files::download(&name, &text),
            Effect::Announce(sentence) => browser::announce(&sentence),
            Effect::Focus(pane) => browser::focus_pane(pane),
            Effect::FocusSelected => listen::focus_selected(self),
            Effect::Theme(theme) => browser::set_theme(theme),
            Effect::Wait(milliseconds) => listen::beat(self, milliseconds),
            Effect::KeepKeys(keys) => browser::store("keys", &keys),
        }
    }

    fn send(self, event: Event) {
        if let Some(link) = self.0.link.get() {
            link.on(event);
        }
    }
}

/// The places of the signals in a sum.
fn named(signals: Signals) -> impl Iterator<Item = usize> {
    (0..N_SIGNALS).filter(move |ix| signals & (1 << ix) != 0)
}
