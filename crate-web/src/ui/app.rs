//! The state behind signals: one way in, `dispatch`, and one signal for each part that is shown.

use std::sync::Arc;

use leptos::prelude::*;

use super::{browser, files};
use crate::link::Link;
use crate::model::action::{Action, Effect as Outside};
use crate::model::doc::Doc;
use crate::model::reduce::{Run, State, reduce};
use crate::model::supervise::{Event, LinkState};
use crate::model::view::{Camera, Room, View};

/// What the page shows of the document: enough to redraw the editor, and no history.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Shown {
    /// The text.
    pub(crate) text: Arc<str>,
    /// Its revision.
    pub(crate) rev: u32,
    /// The caret, in bytes.
    pub(crate) caret: usize,
    /// Whether there is something to undo.
    pub(crate) can_undo: bool,
    /// Whether there is something to redo.
    pub(crate) can_redo: bool,
}

/// What the engine has said, and of which text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// What it has said.
    pub(crate) run: Run,
    /// Of which text.
    pub(crate) of: Arc<str>,
}

/// The page's state; made once, given to every component.
#[derive(Clone, Copy)]
pub(crate) struct App {
    state: StoredValue<State, LocalStorage>,
    link: StoredValue<Option<Link>, LocalStorage>,
    /// The document.
    pub(crate) doc: RwSignal<Shown>,
    /// What the engine has said.
    pub(crate) said: RwSignal<Said>,
    /// What is shown.
    pub(crate) view: RwSignal<View>,
    /// Where the picture stands.
    pub(crate) camera: RwSignal<Camera>,
    /// How much room there is.
    pub(crate) room: RwSignal<Room>,
    /// How the engine is.
    pub(crate) engine: RwSignal<LinkState>,
}

impl App {
    /// A page that opens a document and starts the engine.
    pub(crate) fn start(text: &str) -> Self {
        let (state, effects) = State::open(text, browser::room(), browser::stored_theme());
        let app = Self {
            doc: RwSignal::new(shown(&state.doc)),
            said: RwSignal::default(),
            view: RwSignal::new(state.view),
            camera: RwSignal::new(state.camera),
            room: RwSignal::new(state.room),
            engine: RwSignal::default(),
            state: StoredValue::new_local(state),
            link: StoredValue::new_local(None),
        };
        let link = Link::new(move |action| app.dispatch(action));
        app.link.set_value(Some(link.clone()));
        link.on(Event::Start);
        for effect in effects {
            app.perform(effect);
        }
        app
    }

    /// Something happened.
    pub(crate) fn dispatch(self, action: Action) {
        let mut before = None;
        let effects = self.state.try_update_value(|state| {
            let was = (state.doc.rev(), state.doc.caret(), state.run.version);
            let effects = reduce(state, action);
            before = Some(was);
            effects
        });
        let (Some(effects), Some((rev, caret, version))) = (effects, before) else { return };
        self.state.with_value(|state| {
            if (rev, caret) != (state.doc.rev(), state.doc.caret()) {
                self.doc.set(shown(&state.doc));
            }
            if version != state.run.version {
                // An answer is accepted for the newest text only.
                let of = Arc::from(state.doc.text());
                self.said.set(Said { run: state.run.clone(), of });
            }
            set_changed(self.view, state.view);
            set_changed(self.camera, state.camera);
            set_changed(self.room, state.room);
            set_changed(self.engine, state.link.clone());
        });
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(self, effect: Outside) {
        match effect {
            Outside::Analyse { rev, text, orientation } => {
                self.send(Event::Edit { rev, text, orientation });
            }
            Outside::Ask { rev, jobs } => self.send(Event::Ask { rev, jobs }),
            Outside::Train(event) => {
                if let Some(link) = self.link.get_value() {
                    link.train(event);
                }
            }
            Outside::Retry => self.send(Event::Retry),
            Outside::ShowText { text, caret } => browser::show_text(&text, caret),
            Outside::Keep(text) => browser::store("text", &text),
            Outside::Download { name, text } => files::download(&name, &text),
            Outside::Announce(sentence) => browser::announce(&sentence),
            Outside::Focus(pane) => browser::focus_pane(pane),
            Outside::FocusNode(node) => browser::focus_node(node),
            Outside::Theme(theme) => browser::set_theme(theme),
            Outside::Wait(milliseconds) => browser::beat(self, milliseconds),
            Outside::Help => browser::show_help(),
        }
    }

    fn send(self, event: Event) {
        // The link is called outside of the borrow: it dispatches.
        if let Some(link) = self.link.get_value() {
            link.on(event);
        }
    }
}

fn shown(doc: &Doc) -> Shown {
    Shown {
        text: Arc::from(doc.text()),
        rev: doc.rev(),
        caret: doc.caret(),
        can_undo: doc.can_undo(),
        can_redo: doc.can_redo(),
    }
}

fn set_changed<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    if signal.with_untracked(|old| *old != value) {
        signal.set(value);
    }
}

/// The page's state, from inside a top-level panel.
pub(crate) fn app() -> App {
    expect_context()
}
