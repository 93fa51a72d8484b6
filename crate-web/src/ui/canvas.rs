//! The graph: its picture mounted once an answer, and per step only classes and names changed.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{Element, KeyboardEvent, MouseEvent, PointerEvent, WheelEvent};

use super::app::{App, app};
use super::browser::{self, focused};
use super::markup::icon;
use crate::model::action::Action;
use crate::model::answer::Answer;
use crate::model::markup::LEGEND;
use crate::model::picture::PicBox;
use crate::model::view::{Over, Tab};
use crate::model::{names, stage, svg};

/// Further than this, a press is a drag and selects nothing.
const CLICK: f64 = 4.0;
/// Steps closer than this, in milliseconds, are not animated.
const FAST: f64 = 150.0;

/// A box's group and the button over it, and what they last got.
struct Boxed {
    group: Element,
    button: Element,
    class: String,
    name: String,
}

/// The picture's elements, in the picture's order, and what they last got.
struct Mounted {
    answer: Arc<Answer>,
    boxes: Vec<Boxed>,
    edges: Vec<(Element, String)>,
    /// Where the halos, the saved values and the note go.
    layers: [Option<Element>; 3],
    layered: [String; 3],
    stop: Option<usize>,
}

/// The middle pane's head and the graph.
#[component]
pub(crate) fn Canvas() -> impl IntoView {
    let app = app();
    let place = NodeRef::<html::Div>::new();
    let hidden = move || app.view.with(|view| view.over != Over::Graph);
    let stale = Memo::new(move |_| app.said.with(|said| said.run.is_stale()));
    let percent =
        Memo::new(move |_| app.camera.with(|camera| (camera.zoom * 100.0).round() as i32));
    draw(app, place);
    let gesture = StoredValue::new_local(Gesture::default());
    view! {
        <div class="head">
            <h2>"Graph"</h2>
            {move || stale.get().then(|| view! {
                <span class="tag stale">"of the last text that could be built"</span>
            })}
            <span class="grow"></span>
            <span class="only-narrow">
                <button class="btn line" on:click=move |_| app.dispatch(Action::Toggle(Over::Checks))>"Checks"</button>
                <button class="btn line" on:click=move |_| app.dispatch(Action::Toggle(Over::Steps))>"Steps"</button>
            </span>
            <button class="btn icon" aria-label="Zoom out" title="Zoom out (−)"
                on:click=move |_| app.dispatch(Action::Zoom { factor: 0.8, at: None })>{icon("minus")}</button>
            <span class="sub percent">{move || format!("{}%", percent.get())}</span>
            <button class="btn icon" aria-label="Zoom in" title="Zoom in (+)"
                on:click=move |_| app.dispatch(Action::Zoom { factor: 1.25, at: None })>{icon("plus")}</button>
            <button class="btn icon" aria-label="Fit" title="Fit (0)"
                on:click=move |_| app.dispatch(Action::Fit)>{icon("fit")}</button>
        </div>
        <div class="graph-pane" id="graph" class:hidden=hidden node_ref=place
            on:click=move |event: MouseEvent| pressed(app, gesture, &event)
            on:keydown=move |event: KeyboardEvent| key(app, &event)
            on:wheel=move |event: WheelEvent| wheel(app, &event)
            on:pointerdown=move |event: PointerEvent| down(gesture, &event)
            on:pointermove=move |event: PointerEvent| dragged(app, gesture, &event)
            on:pointerup=move |event: PointerEvent| up(gesture, &event)
            on:pointercancel=move |event: PointerEvent| up(gesture, &event)></div>
        <ul class="legend" aria-label="Legend" inner_html=LEGEND></ul>
    }
}

/// Mounts the picture when it changes, and shows the step when that does.
fn draw(app: App, place: NodeRef<html::Div>) {
    let shown = Memo::new_with_compare(
        move |_| app.said.with(|said| said.run.shown.clone()),
        |old: Option<&Option<Arc<Answer>>>, new| match (old, new) {
            (Some(Some(old)), Some(Some(new))) => !Arc::ptr_eq(old, new),
            (Some(None), Some(None)) => false,
            _ => true,
        },
    );
    let mounted = StoredValue::new_local(None::<Mounted>);
    let at = Memo::new(move |_| {
        let picture =
            app.said.with(|said| app.view.with(|view| said.run.timeline.picture(view.step)));
        let selected = app.view.with(|view| view.selected);
        (picture.map_or(0, |tick| tick + 1), selected)
    });
    Effect::new(move |_| {
        let (Some(pane), Some(answer)) = (place.get(), shown.get()) else { return };
        let pane: &Element = pane.as_ref();
        let had_focus = focused().is_some_and(|focused| pane.contains(Some(&focused)));
        mounted.set_value(Some(mount(pane, answer)));
        let (tick, selected) = at.get_untracked();
        mounted.update_value(|mounted| {
            if let Some(mounted) = mounted {
                show(mounted, tick, selected);
            }
        });
        look(app);
        if had_focus {
            browser::focus_pane(crate::model::action::Pane::Stage);
        }
        opened();
    });
    Effect::new(move |before: Option<(usize, f64)>| {
        let (tick, selected) = at.get();
        let now = browser::now();
        if let (Some(pane), Some((last, when))) = (place.get_untracked(), before) {
            // Going back restores, and steps that follow fast would never end: neither is animated.
            let still = tick < last || now - when < FAST;
            let _ = pane.class_list().toggle_with_force("still", still);
        }
        mounted.update_value(|mounted| {
            if let Some(mounted) = mounted {
                show(mounted, tick, selected);
            }
        });
        (tick, now)
    });
    Effect::new(move |_| {
        app.camera.get();
        look(app);
    });
    // A text that ends the engine must not leave the page behind its first picture.
    Effect::new(move |_| {
        if app
            .engine
            .with(|engine| matches!(engine, crate::model::supervise::LinkState::Down { .. }))
        {
            opened();
        }
    });
}

/// The page takes over from the first picture, once what it shows is painted.
fn opened() {
    request_animation_frame(|| {
        browser::set_state("ready");
        if let Some(first) = browser::by_id::<Element>("first") {
            first.remove();
        }
    });
}

/// Puts the camera where it stands. Far away, what would be too small to read is left out.
fn look(app: App) {
    let Some(camera) = document().query_selector("#graph .camera").ok().flatten() else { return };
    app.camera.with_untracked(|at| {
        let _ = camera.set_attribute(
            "transform",
            &format!("translate({} {}) scale({})", at.x, at.y, at.zoom),
        );
        let far = match at.zoom {
            zoom if zoom < 0.3 => "camera far1 far2 far3",
            zoom if zoom < 0.4 => "camera far1 far2",
            zoom if zoom < 0.5 => "camera far1",
            _ => "camera",
        };
        let _ = camera.set_attribute("class", far);
    });
}

fn mount(pane: &Element, answer: Arc<Answer>) -> Mounted {
    let picture = &answer.picture;
    let mut markup = String::from(
        "<svg class=\"graph\" width=\"100%\" height=\"100%\" role=\"group\" aria-roledescription=\"graph\" aria-label=\"",
    );
    markup.push_str(&svg::escape(&format!(
        "Graph of {}, {} nodes",
        if answer.report.title.is_empty() { "the program" } else { &answer.report.title },
        picture.boxes.len()
    )));
    markup.push_str("\">");
    markup.push_str(svg::defs());
    markup.push_str("<rect class=\"ground\" width=\"100%\" height=\"100%\" fill=\"url(#graph-dots)\"/><g class=\"camera\"><g class=\"layer\"></g>");
    markup.push_str(&svg::ground(picture));
    markup.push_str("<g class=\"layer\"></g>");
    let an_edge = stage::EdgeState::default();
    for edge in &picture.edges {
        markup.push_str(&svg::edge_markup(edge, &an_edge));
    }
    for of in &picture.boxes {
        push_box(&mut markup, of);
    }
    markup.push_str("<g class=\"layer\"></g></g></svg>");
    pane.set_inner_html(&markup);

    let all = |selector: &str| {
        let found = pane.query_selector_all(selector).ok();
        let n = found.as_ref().map_or(0, web_sys::NodeList::length);
        (0..n)
            .filter_map(move |ix| found.as_ref()?.get(ix)?.dyn_into::<Element>().ok())
            .collect::<Vec<_>>()
    };
    let boxes = all(".camera > .node").into_iter().zip(all(".camera > .node > .hit"));
    let mut layers = all(".camera > .layer").into_iter();
    Mounted {
        boxes: boxes
            .map(|(group, button)| Boxed {
                group,
                button,
                class: String::new(),
                name: String::new(),
            })
            .collect(),
        edges: all(".camera > .edge").into_iter().map(|element| (element, String::new())).collect(),
        layers: [layers.next(), layers.next(), layers.next()],
        layered: Default::default(),
        stop: None,
        answer,
    }
}

/// Adds a box: its drawing, which says nothing aloud, and a button over it, which says everything.
fn push_box(markup: &mut String, of: &PicBox) {
    let (at, rect) = (stage::BoxState::default(), of.rect);
    let node = of.node.map(|node| format!(" data-node=\"{node}\"")).unwrap_or_default();
    markup.push_str(&format!(
        "<g class=\"{}\" transform=\"translate({} {})\"><g aria-hidden=\"true\">{}</g>\
         <rect class=\"hit\" role=\"button\" tabindex=\"-1\" aria-pressed=\"false\"{node} \
         width=\"{}\" height=\"{}\" rx=\"8\"/></g>",
        svg::box_class(of, &at),
        rect.x,
        rect.y,
        svg::box_inner(of),
        rect.w,
        rect.h,
    ));
}

/// Shows the picture after so many ticks: what changed is set, nothing is made.
fn show(mounted: &mut Mounted, tick: usize, selected: Option<u32>) {
    let answer = &mounted.answer;
    let picture = &answer.picture;
    let selected = selected.and_then(|node| answer.box_of(node));
    let state = stage::state(picture, &answer.report, tick, selected);
    for (ix, ((shown, of), at)) in
        mounted.boxes.iter_mut().zip(&picture.boxes).zip(&state.boxes).enumerate()
    {
        let now = svg::box_class(of, at);
        if shown.class != now {
            let _ = shown.group.set_attribute("class", &now);
            let pressed = if at.selected { "true" } else { "false" };
            let _ = shown.button.set_attribute("aria-pressed", pressed);
            shown.class = now;
        }
        let now = names::aloud(&answer.report, picture, ix, at, tick);
        if shown.name != now {
            let _ = shown.button.set_attribute("aria-label", &now);
            shown.name = now;
        }
    }
    for (((element, class), of), at) in
        mounted.edges.iter_mut().zip(&picture.edges).zip(&state.edges)
    {
        let now = svg::edge_class(of, at);
        if *class != now {
            let _ = element.set_attribute("class", &now);
            *class = now;
        }
    }
    let layers = [svg::halos(&state), svg::reads(picture, &state), svg::note(&state)];
    for ((place, last), now) in mounted.layers.iter().zip(&mut mounted.layered).zip(layers) {
        if let Some(place) = place.as_ref().filter(|_| *last != now) {
            place.set_inner_html(&now);
            *last = now;
        }
    }
    // One tab stop: the selected box, else the one that the step is about, else the first.
    let stop = selected
        .or_else(|| state.boxes.iter().position(|of| of.current))
        .or((!mounted.boxes.is_empty()).then_some(0));
    if mounted.stop != stop {
        let set = |ix: Option<usize>, value: &str| {
            if let Some(shown) = ix.and_then(|ix| mounted.boxes.get(ix)) {
                let _ = shown.button.set_attribute("tabindex", value);
            }
        };
        set(mounted.stop, "-1");
        set(stop, "0");
        mounted.stop = stop;
    }
}

/// The fingers and buttons that are down on the graph.
#[derive(Default)]
struct Gesture {
    pointers: Vec<(i32, f64, f64)>,
    /// How far the first of them has gone.
    travelled: f64,
}

fn here(event: &MouseEvent) -> (f64, f64) {
    (f64::from(event.client_x()), f64::from(event.client_y()))
}

fn down(gesture: StoredValue<Gesture, LocalStorage>, event: &PointerEvent) {
    if event.button() != 0 {
        return;
    }
    let (x, y) = here(event);
    gesture.update_value(|gesture| {
        if gesture.pointers.is_empty() {
            gesture.travelled = 0.0;
        }
        gesture.pointers.push((event.pointer_id(), x, y));
    });
}

fn up(gesture: StoredValue<Gesture, LocalStorage>, event: &PointerEvent) {
    gesture.update_value(|gesture| {
        gesture.pointers.retain(|(id, ..)| *id != event.pointer_id());
    });
}

fn dragged(app: App, gesture: StoredValue<Gesture, LocalStorage>, event: &PointerEvent) {
    let (x, y) = here(event);
    let id = event.pointer_id();
    let action = gesture.try_update_value(|gesture| {
        let ix = gesture.pointers.iter().position(|(down, ..)| *down == id)?;
        let (_, old_x, old_y) = gesture.pointers[ix];
        gesture.pointers[ix] = (id, x, y);
        gesture.travelled += (x - old_x).abs() + (y - old_y).abs();
        match gesture.pointers[..] {
            [_] if gesture.travelled < CLICK => None,
            [_] => Some(Action::Pan(x - old_x, y - old_y)),
            [a, b, ..] => {
                let (_, other_x, other_y) = if ix == 0 { b } else { a };
                let apart = |x: f64, y: f64| (x - other_x).hypot(y - other_y).max(1.0);
                let factor = apart(x, y) / apart(old_x, old_y);
                Some(Action::Zoom {
                    factor,
                    at: Some(in_pane(f64::midpoint(x, other_x), f64::midpoint(y, other_y))),
                })
            }
            [] => None,
        }
    });
    let Some(Some(action)) = action else { return };
    if let Some(target) =
        event.current_target().and_then(|target| target.dyn_into::<Element>().ok())
    {
        // From here on it is a drag, even outside of the pane.
        let _ = target.set_pointer_capture(id);
    }
    app.dispatch(action);
}

/// A point of the window in the pane's pixels.
fn in_pane(x: f64, y: f64) -> (f64, f64) {
    browser::by_id::<Element>("graph").map_or((x, y), |pane| {
        let rect = pane.get_bounding_client_rect();
        (x - rect.left(), y - rect.top())
    })
}

fn wheel(app: App, event: &WheelEvent) {
    event.prevent_default();
    if event.ctrl_key() || event.meta_key() {
        let (x, y) = here(event);
        let factor = if event.delta_y() > 0.0 { 1.0 / 1.1 } else { 1.1 };
        app.dispatch(Action::Zoom { factor, at: Some(in_pane(x, y)) });
    } else if event.shift_key() {
        app.dispatch(Action::Pan(-event.delta_y(), 0.0));
    } else {
        app.dispatch(Action::Pan(-event.delta_x(), -event.delta_y()));
    }
}

fn node_at(event: &web_sys::Event) -> Option<u32> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    target.closest("[data-node]").ok()??.get_attribute("data-node")?.parse().ok()
}

fn pressed(app: App, gesture: StoredValue<Gesture, LocalStorage>, event: &MouseEvent) {
    if gesture.with_value(|gesture| gesture.travelled >= CLICK) {
        return;
    }
    app.dispatch(Action::Select(node_at(event)));
}

/// Enter and Space press the node with the focus.
fn key(app: App, event: &KeyboardEvent) {
    if let ("Enter" | " ", Some(node)) = (event.key().as_str(), node_at(event)) {
        event.prevent_default();
        app.dispatch(Action::Select(Some(node)));
        if event.key() == "Enter" {
            app.dispatch(Action::Show(Tab::Inspect));
        }
    }
}
