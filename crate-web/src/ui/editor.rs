//! The program: a text field over its own picture in colours, what is wrong with its lines, and the outline.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{Element, Event, HtmlTextAreaElement, InputEvent, MouseEvent};

use super::app::{self, App, app};
use super::markup::{clicked, keep};
use crate::model::action::Action;
use crate::model::markup::code::{self, Said};
use crate::model::markup::{Html, outline};
use crate::model::supervise::{Crash, LinkState};
use crate::model::utf16::byte;

/// The left pane.
#[component]
pub(crate) fn Program() -> impl IntoView {
    let app = app();
    let outline_list = NodeRef::<html::Ol>::new();
    keep(
        outline_list,
        Memo::new(move |_| {
            app.said.with(|said| app.view.with(|view| outline::outline(&said.run, view)))
        }),
    );
    view! {
        <section class="panel program" id="program" aria-label="Program">
            <div class="head">
                <h2>"Program"</h2>
                <span class="grow"></span>
                <Engine/>
            </div>
            <Crashed/>
            <Editor/>
            <Complaint/>
            <div class="head second"><h2>"Outline"</h2><span class="sub">"gradients"</span></div>
            <ol class="outline" aria-label="Outline" node_ref=outline_list
                on:click=move |event: MouseEvent| clicked(app, &event)></ol>
        </section>
    }
}

#[component]
fn Editor() -> impl IntoView {
    let app = app();
    let under = NodeRef::<html::Div>::new();
    let colours = Memo::new(move |_| {
        app.doc.with(|doc| app.said.with(|said| code::code(&doc.text, report(said))))
    });
    // The caret and the step change often: only classes of lines change with them.
    let caret = Memo::new(move |_| app.doc.with(|doc| code::line_of(&doc.text, doc.caret)));
    let now = Memo::new(move |_| {
        app.said.with(|said| {
            let node = app.view.with(|view| said.run.inspected(view))?;
            app.doc.with(|doc| code::line_of_node(&doc.text, report(said)?, node))
        })
    });
    Effect::new(move |shown: Option<String>| {
        let markup = colours.get();
        let lines = [("cur", Some(caret.get())), ("now", now.get())];
        let Some(under) = under.get() else { return String::new() };
        if shown.as_ref() != Some(&markup) {
            under.set_inner_html(&markup);
        }
        for (class, line) in lines {
            mark(&under, class, line);
        }
        markup
    });
    let typed = move |event: Event| {
        if let Some((text, caret)) = state_of(&event) {
            app.dispatch(Action::Type { text, caret });
        }
    };
    // The browser's own history knows nothing of fixes and rules: ours replaces it.
    let before = move |event: InputEvent| {
        let action = match event.input_type().as_str() {
            "historyUndo" => Action::Undo,
            "historyRedo" => Action::Redo,
            _ => return,
        };
        event.prevent_default();
        app.dispatch(action);
    };
    let listening = window_event_listener(leptos::ev::selectionchange, move |_| caret_moved(app));
    on_cleanup(move || listening.remove());
    view! {
        <div class="editor">
            <div class="paper">
                <div class="code" aria-hidden="true" node_ref=under></div>
                <textarea id="text" class="code" aria-label="Program text" spellcheck="false"
                    autocomplete="off" autocapitalize="off" wrap="soft"
                    aria-describedby="complaint"
                    prop:value=app.doc.with_untracked(|doc| doc.text.to_string())
                    on:input=typed on:beforeinput=before></textarea>
            </div>
        </div>
    }
}

/// What the engine has said of the text.
fn report(said: &app::Said) -> Option<Said<'_>> {
    said.run.newest.as_ref().map(|answer| Said { report: &answer.report, of: &said.of })
}

/// Moves a class to a line.
fn mark(code: &Element, class: &str, line: Option<usize>) {
    let lines = code.children();
    let wanted = line.and_then(|line| lines.item(line as u32));
    if let Some(marked) = code.query_selector(&format!(":scope > .{class}")).ok().flatten()
        && Some(&marked) != wanted.as_ref()
    {
        let _ = marked.class_list().remove_1(class);
    }
    if let Some(wanted) = wanted {
        let _ = wanted.class_list().add_1(class);
    }
}

fn state_of(event: &Event) -> Option<(String, usize)> {
    let editor: HtmlTextAreaElement = event.target()?.dyn_into().ok()?;
    let text = editor.value();
    let caret = editor.selection_end().ok().flatten().unwrap_or(0);
    let caret = byte(&text, caret);
    Some((text, caret))
}

/// Selections change without an event of the field itself, by mouse and by touch.
fn caret_moved(app: App) {
    let Some(editor) = super::browser::focused()
        .and_then(|element| element.dyn_into::<HtmlTextAreaElement>().ok())
    else {
        return;
    };
    let text = editor.value();
    let caret = editor.selection_end().ok().flatten().unwrap_or(0);
    app.dispatch(Action::Caret(byte(&text, caret)));
}

/// A mark while the engine works for longer than one notices.
#[component]
fn Engine() -> impl IntoView {
    let app = app();
    let word = Memo::new(move |_| {
        app.engine.with(|engine| match engine {
            LinkState::Starting => "Starting…",
            LinkState::Busy { .. } => "Working…",
            LinkState::Ready | LinkState::Down { .. } => "",
        })
    });
    view! { <span class="sub working">{move || word.get()}</span> }
}

/// What happened to the engine, and what the user can do about it.
#[component]
fn Crashed() -> impl IntoView {
    let app = app();
    let crash = Memo::new(move |_| {
        app.engine.with(|engine| match engine {
            LinkState::Down { crash, gave_up } => Some((crash.clone(), *gave_up)),
            _ => None,
        })
    });
    move || {
        let (crash, gave_up) = crash.get()?;
        let (what, detail) = match crash {
            Crash::TimedOut => ("The engine took too long and was stopped.", String::new()),
            Crash::Panicked { message, place } => {
                ("The engine crashed: this is our mistake.", format!("{message}, {place}"))
            }
            Crash::Failed { message } => ("The engine crashed: this is our mistake.", message),
        };
        let then = if gave_up {
            "It crashed twice in a row, so it stays off until you press Retry."
        } else {
            "A new one is running. This text is not sent to it again unless you change it or press Retry."
        };
        Some(view! {
            <div class="crash" role="alert">
                <p><strong>{what}</strong>" Your text is kept. "{then}</p>
                {(!detail.is_empty()).then(|| view! { <p><code>{detail}</code></p> })}
                <button class="btn line" on:click=move |_| app.dispatch(Action::Retry)>"Retry"</button>
            </div>
        })
    }
}

/// What is wrong with the text itself, in a line of its own: the rest of the problems are on the right.
#[component]
fn Complaint() -> impl IntoView {
    let app = app();
    let place = NodeRef::<html::Div>::new();
    let markup = Memo::new(move |_| app.said.with(|said| complaint(&said.run)));
    keep(place, markup);
    view! {
        <div id="complaint" class="complaint" node_ref=place
            on:click=move |event: MouseEvent| clicked(app, &event)></div>
    }
}

/// The first problem of a text that has no graph, with its first fix.
fn complaint(run: &crate::model::reduce::Run) -> String {
    let mut html = Html::new();
    let whole = run.newest.as_ref().is_none_or(|answer| answer.report.whole);
    let Some((ix, problem)) = run
        .problems()
        .iter()
        .enumerate()
        .find(|(_, problem)| problem.weight == foldback::report::Weight::Error)
        .filter(|_| !whole)
    else {
        return html.done();
    };
    html.raw("<p>").icon("cross");
    if let Some(line) = problem.line {
        html.raw("<strong>Line ").int(line as usize).raw("</strong> ");
    }
    html.prose(&problem.message).raw("</p>");
    if let Some(fix) = problem.fixes.first() {
        html.raw("<button class=\"btn line\" data-do=\"fix ").int(ix).raw(" 0\">");
        html.prose(&fix.title).raw("</button>");
    }
    html.done()
}
