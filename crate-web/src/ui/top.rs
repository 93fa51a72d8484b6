//! The top bar: what is open, what can be opened, and the rules it is judged by. On a narrow page, the tabs.

use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{Event, HtmlElement, HtmlInputElement, HtmlSelectElement};

use super::app::{App, app};
use super::markup::icon;
use super::{browser, files};
use crate::model::action::{Action, Source};
use crate::model::examples::EXAMPLES;
use crate::model::reduce::RULES;
use crate::model::supervise::LinkState;
use crate::model::view::{Tab, Theme};

/// The top bar.
#[component]
pub(crate) fn Top() -> impl IntoView {
    let app = app();
    let title = Memo::new(move |_| app.said.with(|said| title(&said.run)));
    let saved = Memo::new(move |_| saved(app));
    Effect::new(move |_| document().set_title(&format!("{} · Foldback", title.get())));
    view! {
        <header class="top">
            <div class="brand">
                <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
                    <use href="#i-mark"/>
                </svg>
                <span class="brandname">"Foldback"</span>
            </div>
            <span class="sep"></span>
            <h1 class="doc">{move || title.get()}</h1>
            <span class="saved">{move || saved.get()}</span>
            <span class="undo">
                <button class="btn icon" aria-label="Undo" title="Undo (Ctrl Z)"
                    disabled=move || !app.doc.with(|doc| doc.can_undo)
                    on:click=move |_| app.dispatch(Action::Undo)>{icon("undo")}</button>
                <button class="btn icon" aria-label="Redo" title="Redo (Shift Ctrl Z)"
                    disabled=move || !app.doc.with(|doc| doc.can_redo)
                    on:click=move |_| app.dispatch(Action::Redo)>{icon("redo")}</button>
            </span>
            <span class="grow"></span>
            <Rules/>
            <button class="btn icon hamburger" aria-label="Menu" popovertarget="more">{icon("menu")}</button>
            <div id="more" class="more" popover="auto">
                <span class="sep"></span>
                <button class="btn" on:click=move |_| act(app, Action::Open(Source::New))>{icon("plus")}"New"</button>
                <button class="btn" popovertarget="examples">{icon("book")}"Examples"{icon("chev")}</button>
                <Examples/>
                <button class="btn" on:click=|_| choose_file()>{icon("up")}"Open…"</button>
                <input id="file" class="vh" type="file" accept=".fold,text/plain" tabindex="-1"
                    aria-hidden="true" on:change=move |event: Event| files::chosen(app, &event)/>
                <button class="btn" on:click=move |_| act(app, Action::Save)>{icon("down")}"Save"</button>
                <span class="sep"></span>
                <button class="btn icon" aria-label="Keyboard map" title="Keyboard map (?)"
                    on:click=move |_| act(app, Action::Help)>{icon("help")}<span class="word">"Keyboard map"</span></button>
                <button class="btn icon" aria-label="Theme" title="Theme" popovertarget="themes">
                    {icon("theme")}<span class="word">"Theme"</span></button>
                <Themes/>
            </div>
        </header>
    }
}

fn title(run: &crate::model::reduce::Run) -> String {
    let title = run.newest.as_ref().map_or("", |answer| answer.report.title.as_str());
    if title.is_empty() { "Untitled" } else { title }.to_owned()
}

/// What became of the text: it is kept once the engine has read it.
fn saved(app: App) -> &'static str {
    let down = app.engine.with(|engine| matches!(engine, LinkState::Down { .. }));
    let rev = app.doc.with(|doc| doc.rev);
    if app.said.with(|said| said.run.newest.is_some() && said.run.rev == rev) {
        "Saved on this device"
    } else if down {
        "Not saved"
    } else {
        "Saving…"
    }
}

/// Does something from the menu, and closes it.
fn act(app: App, action: Action) {
    for id in ["examples", "themes", "more"] {
        if let Some(popover) = browser::by_id::<HtmlElement>(id) {
            // One that is not open, or no popover at this width, cannot be closed.
            let _ = popover.hide_popover();
        }
    }
    app.dispatch(action);
}

fn choose_file() {
    if let Some(input) = browser::by_id::<HtmlInputElement>("file") {
        input.click();
    }
}

#[component]
fn Rules() -> impl IntoView {
    let app = app();
    let rules = Memo::new(move |_| {
        app.said.with(|said| {
            said.run.newest.as_ref().map_or(String::new(), |answer| answer.report.rules.clone())
        })
    });
    let change = move |event: Event| {
        let select = event.target().and_then(|target| target.dyn_into::<HtmlSelectElement>().ok());
        let name = select.map(|select| select.value()).unwrap_or_default();
        if let Some(name) = RULES.into_iter().find(|rules| *rules == name) {
            app.dispatch(Action::SetRules(name));
        }
    };
    let options = RULES.map(|name| {
        view! { <option value=name selected=move || rules.with(|rules| rules == name)>{name}</option> }
    });
    view! {
        <label class="select">
            <span class="lbl">"Rules"</span>
            <select id="rules" prop:value=move || rules.get() on:change=change>{options}</select>
            {icon("chev")}
        </label>
    }
}

#[component]
fn Examples() -> impl IntoView {
    let app = app();
    let items = EXAMPLES.iter().enumerate().map(|(ix, example)| {
        view! {
            <li><button class="item" on:click=move |_| act(app, Action::Open(Source::Example(ix)))>
                <strong>{example.name}</strong><span>{example.note}</span>
            </button></li>
        }
    });
    view! { <ul id="examples" class="menu" popover="auto">{items.collect_view()}</ul> }
}

#[component]
fn Themes() -> impl IntoView {
    let app = app();
    let items = Theme::ALL.map(|(theme, word)| {
        let chosen = move || app.view.with(|view| view.theme == theme);
        view! {
            <li><button class="item one" aria-pressed=move || chosen().to_string()
                on:click=move |_| act(app, Action::SetTheme(theme))>{word}</button></li>
        }
    });
    view! { <ul id="themes" class="menu small" popover="auto">{items.collect_view()}</ul> }
}

/// The tabs of a narrow page.
#[component]
pub(crate) fn Tabs() -> impl IntoView {
    let app = app();
    let n_problems = Memo::new(move |_| app.said.with(|said| said.run.problems().len()));
    let tabs = [(Tab::Program, "Program"), (Tab::Graph, "Graph"), (Tab::Inspect, "Inspect")];
    let items = tabs.map(|(tab, word)| {
        let current = move || app.view.with(|view| view.tab == tab);
        let count = move || {
            let n = n_problems.get();
            (tab == Tab::Inspect && n > 0)
                .then(|| view! { <span class="count-pill refg">{n}</span> })
        };
        view! {
            <button aria-pressed=move || current().to_string()
                on:click=move |_| app.dispatch(Action::Show(tab))>{word}{count}</button>
        }
    });
    view! { <nav class="tabs" aria-label="Panes">{items.into_iter().collect_view()}</nav> }
}
