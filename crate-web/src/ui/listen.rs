//! What the page listens to: one table, and one closure for every row of it.

use js_sys::Function;
use leptos::prelude::{document, window};
use wasm_bindgen::prelude::*;
use web_sys::{
    Element, Event, EventTarget, HtmlElement, HtmlInputElement, HtmlSelectElement, ResizeObserver,
};

use super::app::App;
use super::{aid, browser, editor, files, hand, keys, map, over, scrubber};
use crate::model::action::{Action, Source};
use crate::model::markup::command;
use crate::model::reduce::RULES;
use crate::model::view::Draw;

/// What is called back, with whatever the browser gives.
type Heard = fn(App, &JsValue);

/// By the id of an element; the empty one is the window.
const HEARD: [(&str, &str, Heard); 28] = [
    ("", "keydown", keys::pressed),
    ("", "dragover", |_, event| event.unchecked_ref::<Event>().prevent_default()),
    ("", "drop", files::dropped),
    ("", "paste", files::pasted),
    // It rises to the window.
    ("", "visibilitychange", |app, _| app.dispatch(Action::Flush)),
    ("", "pagehide", |app, _| app.dispatch(Action::Flush)),
    ("app", "click", clicked),
    ("app", "change", changed),
    ("app", "input", told),
    ("text", "input", editor::typed),
    ("text", "beforeinput", editor::before),
    ("text", "blur", aid::blurred),
    ("aid", "mousedown", aid::pressed),
    ("program", "pointermove", aid::pointed),
    ("program", "pointerleave", aid::left),
    ("program", "scroll", aid::scrolled),
    ("graph", "click", hand::pressed),
    ("graph", "keydown", hand::key),
    ("graph", "wheel", hand::wheel),
    ("graph", "pointerdown", hand::down),
    ("graph", "pointermove", hand::dragged),
    ("graph", "pointerup", hand::up),
    ("graph", "pointercancel", hand::up),
    ("map", "pointerdown", map::pressed),
    ("map", "pointermove", map::pressed),
    ("scrubber", "pointerdown", scrubber::scrubbed),
    ("scrubber", "pointermove", scrubber::scrubbed),
    // It does not rise, but it can be caught on its way down.
    ("stage", "scroll", over::scrolled),
];

/// Listens to all of it, as long as the page lives.
pub(super) fn listen(app: App) {
    for (id, name, run) in HEARD {
        let target: Option<EventTarget> =
            if id.is_empty() { Some(window().into()) } else { browser::by_id(id) };
        if let Some(target) = target {
            hear(app, &target, name, run);
        }
    }
    // Selections change without an event of the field itself, by mouse and by touch.
    hear(app, &document(), "selectionchange", editor::caret_moved);
    let resized = callback(app, |app, _| app.dispatch(Action::Resize(browser::room())));
    if let Ok(observer) = ResizeObserver::new(&resized) {
        for id in ["graph", "scrubber"] {
            if let Some(element) = browser::by_id::<Element>(id) {
                observer.observe(&element);
            }
        }
    }
}

/// Calls something back at each event of a kind.
pub(super) fn hear(app: App, target: &EventTarget, name: &str, run: Heard) {
    let capture = name == "scroll";
    let run = callback(app, run);
    let _ = target.add_event_listener_with_callback_and_bool(name, &run, capture);
}

/// A function for the browser to keep.
pub(super) fn callback(app: App, run: Heard) -> Function {
    Closure::<dyn Fn(JsValue)>::new(move |value: JsValue| run(app, &value))
        .into_js_value()
        .unchecked_into()
}

/// What an event happened to.
pub(super) fn target<T: JsCast>(event: &JsValue) -> Option<T> {
    event.unchecked_ref::<Event>().target()?.dyn_into().ok()
}

/// Dispatches the command of the control that was clicked; one of a menu closes it.
fn clicked(app: App, event: &JsValue) {
    let closest = |what| target::<Element>(event)?.closest(what).ok().flatten();
    if let Some(button) = closest("button[data-scrub]") {
        return over::turn(&button.get_attribute("data-scrub").unwrap_or_default());
    }
    let Some(control) = closest("[data-do]") else { return };
    let command = control.get_attribute("data-do").unwrap_or_default();
    let text = control.get_attribute("data-text").unwrap_or_default();
    let action = match &*command {
        "open-text" => Some(Action::Open(Source::Text(text))),
        _ => command::read(&command),
    };
    let Some(action) = action else { return };
    // What is found in the list of everything is done after it; a drawn line closes its list when it is written.
    let found = matches!(app.read(|state| state.view.draw), Draw::Find { .. });
    if found && control.closest("#draw").ok().flatten().is_some() {
        app.dispatch(Action::Draw(Draw::Nothing));
    }
    // A file is chosen over the menu.
    if !matches!(action, Action::ChooseFile) {
        let mut menu = control.closest("[popover]").ok().flatten();
        while let Some(open) = menu {
            // One that is no popover at this width cannot be closed.
            let _ = open.unchecked_ref::<HtmlElement>().hide_popover();
            menu = open.parent_element().and_then(|within| within.closest("[popover]").ok()?);
        }
    }
    app.dispatch(action);
}

/// A slider that scrubs, or a field that tells the panel it is in.
fn told(app: App, event: &JsValue) {
    let Some(input) = target::<HtmlInputElement>(event) else { return };
    if input.has_attribute("data-scrub") {
        over::turn("");
    } else if input.has_attribute("data-find") {
        app.dispatch(Action::Find(input.value()));
    } else if let Some(what) = input.get_attribute("data-tell") {
        app.dispatch(Action::Tell(what + &input.value()));
    }
}

/// Another choice of rules, or a file.
fn changed(app: App, event: &JsValue) {
    if let Some(select) = target::<HtmlSelectElement>(event) {
        let name = select.value();
        if let Some(rules) = RULES.into_iter().find(|rules| *rules == name) {
            app.dispatch(Action::SetRules(rules));
        }
    } else if let Some(input) = target::<HtmlInputElement>(event)
        && let Some(words) = input.get_attribute("data-then")
    {
        if let Some(action) = command::read(&(words + &input.value())) {
            app.dispatch(action);
        }
    } else if let Some(input) =
        target::<HtmlInputElement>(event).filter(|input| input.type_() == "file")
    {
        files::chosen(app, &input);
    }
}

/// Gives the selected node the focus, once it is in sight again where something was over it.
pub(super) fn focus_selected(app: App) {
    let focus = callback(app, |app, _| {
        if let Some(node) = app.read(|state| state.view.selected) {
            browser::focus_node(node);
        }
    });
    let _ = window().request_animation_frame(&focus);
}

/// How long a change waits for the next one before it is stored, in milliseconds.
const STORED_AFTER: i32 = 400;

/// Stores the document in a moment; whatever changes until then is stored with it.
pub(super) fn keep_soon(app: App) {
    if app.desk(|desk| std::mem::replace(&mut desk.keeps, true)) {
        return;
    }
    let keep = callback(app, |app, _| {
        app.desk(|desk| desk.keeps = false);
        app.dispatch(Action::Flush);
    });
    let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(&keep, STORED_AFTER);
}

/// Waits, then says that it is time for the next step.
pub(super) fn beat(app: App, milliseconds: u32) {
    // Without motion there is nothing to see between steps, so there has to be time to read.
    let slow = browser::matches("(prefers-reduced-motion: reduce)");
    let wait = if slow { milliseconds.max(1000) } else { milliseconds };
    let beat = callback(app, |app, _| app.dispatch(Action::Beat));
    let timer =
        window().set_timeout_with_callback_and_timeout_and_arguments_0(&beat, wait as i32).ok();
    if let Some(old) = app.desk(|desk| std::mem::replace(&mut desk.beat, timer)) {
        window().clear_timeout_with_handle(old);
    }
}
