//! The graph: its picture mounted once an answer, and per step only classes and names changed.

use std::sync::Arc;

use leptos::prelude::{document, window};
use wasm_bindgen::prelude::*;
use web_sys::{Element, Event, KeyboardEvent, MouseEvent, PointerEvent, WheelEvent};

use super::app::{App, Desk};
use super::browser::{self, all, by_id, focused, one};
use super::listen::{callback, target};
use crate::model::action::{Action, Pane};
use crate::model::answer::Answer;
use crate::model::picture::{PicBox, Point};
use crate::model::supervise::LinkState;
use crate::model::view::{Draw, Tab};
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
pub(super) struct Mounted {
    answer: Arc<Answer>,
    boxes: Vec<Boxed>,
    edges: Vec<(Element, String)>,
    /// Where the halos, the saved values and the note go, and what is there.
    layers: Vec<(Element, String)>,
    stop: Option<usize>,
}

/// What the graph shows: after so many ticks, with this node selected.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct At {
    tick: usize,
    selected: Option<u32>,
}

/// Mounts the picture when it is another one, and shows the step when that is.
pub(super) fn draw(app: App) {
    let (Some(pane), Some(answer)) =
        (by_id::<Element>("graph"), app.read(|state| state.run.shown.clone()))
    else {
        return;
    };
    let at = app.read(|state| At {
        tick: state.run.timeline.picture(state.view.step).map_or(0, |tick| tick + 1),
        selected: state.view.selected,
    });
    let had_focus = focused().is_some_and(|focused| pane.contains(Some(&focused)));
    let anew = app.desk(|desk| {
        let known = desk.mounted.as_ref().is_some_and(|old| Arc::ptr_eq(&old.answer, &answer));
        if known && desk.shown.is_some_and(|(shown, _)| shown == at) {
            return false;
        }
        hold_still(desk, &pane, at);
        if !known {
            desk.mounted = Some(mount(&pane, answer));
        }
        if let Some(mounted) = &mut desk.mounted {
            show(mounted, at);
        }
        !known
    });
    if !anew {
        return;
    }
    look(app);
    if had_focus {
        browser::focus_pane(Pane::Stage);
    }
    opened(app);
}

/// Going back restores, and steps that follow fast would never end: neither is animated.
fn hold_still(desk: &mut Desk, pane: &Element, at: At) {
    let now = browser::now();
    let Some((shown, when)) = desk.shown.replace((at, now)) else { return };
    if shown != at {
        let still = at.tick < shown.tick || now - when < FAST;
        let _ = pane.class_list().toggle_with_force("still", still);
    }
}

/// A text that ends the engine must not leave the page behind its first picture.
pub(super) fn open_anyway(app: App) {
    if app.read(|state| matches!(state.link, LinkState::Down { .. })) {
        opened(app);
    }
}

/// The page takes over from the first picture, once what it shows is painted.
fn opened(app: App) {
    let painted = callback(app, |_, _| {
        browser::set_state("ready");
        if let Some(first) = by_id::<Element>("first") {
            first.remove();
        }
    });
    let _ = window().request_animation_frame(&painted);
}

/// Puts the camera where it stands. Far away, what would be too small to read is left out.
pub(super) fn look(app: App) {
    let Some(camera) = one("#graph .camera") else { return };
    let at = app.read(|state| state.camera);
    let to = format!("translate({} {}) scale({})", at.x, at.y, at.zoom);
    let _ = camera.set_attribute("transform", &to);
    let far = match at.zoom {
        zoom if zoom < 0.3 => "camera far1 far2 far3",
        zoom if zoom < 0.4 => "camera far1 far2",
        zoom if zoom < 0.5 => "camera far1",
        _ => "camera",
    };
    let _ = camera.set_attribute("class", far);
}

fn mount(pane: &Element, answer: Arc<Answer>) -> Mounted {
    let picture = &answer.picture;
    let mut markup = String::from(
        "<svg class=\"graph\" width=\"100%\" height=\"100%\" role=\"group\" aria-roledescription=\"graph\" aria-label=\"",
    );
    let title = answer.report.title.as_str();
    markup.push_str("Graph of ");
    markup.push_str(&svg::escape(if title.is_empty() { "the program" } else { title }));
    for piece in [", ", &picture.boxes.len().to_string(), " nodes\">"] {
        markup.push_str(piece);
    }
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

    let groups = all(pane, ".camera > .node");
    let buttons = all(pane, ".camera > .node > .hit");
    let mut boxes = Vec::with_capacity(groups.len());
    for (group, button) in groups.into_iter().zip(buttons) {
        boxes.push(Boxed { group, button, class: String::new(), name: String::new() });
    }
    let edges = empty(all(pane, ".camera > .edge"));
    let layers = empty(all(pane, ".camera > .layer"));
    Mounted { answer, boxes, edges, layers, stop: None }
}

/// Elements that have got nothing yet.
fn empty(elements: Vec<Element>) -> Vec<(Element, String)> {
    elements.into_iter().map(|element| (element, String::new())).collect()
}

/// Adds a box: its drawing, which says nothing aloud, and a button over it, which says everything.
fn push_box(markup: &mut String, of: &PicBox) {
    let at = stage::BoxState::default();
    markup.push_str(&svg::box_start(of, &at));
    markup.push_str("<g aria-hidden=\"true\">");
    markup.push_str(&svg::box_inner(of));
    markup
        .push_str("</g><rect class=\"hit\" role=\"button\" tabindex=\"-1\" aria-pressed=\"false\"");
    if let Some(node) = of.node {
        for piece in [" data-node=\"", &node.to_string(), "\""] {
            markup.push_str(piece);
        }
    }
    svg::draw(markup, " width=\"~\" height=\"~\" rx=\"8\"/>", &[of.rect.w, of.rect.h]);
    // From here a wire is drawn to an input: to a pointer a place as large as a finger, to the eye the port itself.
    if let (Some(node), true) = (of.node, of.kind.is_forward()) {
        let right = Point { x: of.rect.w, y: of.rect.h / 2.0 };
        let port = of.outs.first().copied().unwrap_or(right);
        for piece in ["<circle class=\"grip\" data-from=\"", &node.to_string(), "\""] {
            markup.push_str(piece);
        }
        svg::draw(markup, " cx=\"~\" cy=\"~\" r=\"12\"/>", &[port.x, port.y]);
    }
    markup.push_str("</g>");
}

/// Shows the picture after so many ticks: what changed is set, nothing is made.
fn show(mounted: &mut Mounted, at: At) {
    let Mounted { answer, boxes, edges, layers, stop } = mounted;
    let picture = &answer.picture;
    let selected = at.selected.and_then(|node| answer.box_of(node));
    let state = stage::state(picture, &answer.report, at.tick, selected);
    for (ix, shown) in boxes.iter_mut().enumerate() {
        let (of, is) = (&picture.boxes[ix], &state.boxes[ix]);
        if set(&shown.group, "class", &mut shown.class, svg::box_class(of, is)) {
            let pressed = if is.selected { "true" } else { "false" };
            let _ = shown.button.set_attribute("aria-pressed", pressed);
        }
        let name = names::aloud(&answer.report, picture, ix, is, at.tick);
        set(&shown.button, "aria-label", &mut shown.name, name);
    }
    for (ix, (element, class)) in edges.iter_mut().enumerate() {
        set(element, "class", class, svg::edge_class(&picture.edges[ix], &state.edges[ix]));
    }
    let now = [svg::halos(&state), svg::reads(picture, &state), svg::note(&state)];
    for ((place, last), now) in layers.iter_mut().zip(now) {
        if *last != now {
            place.set_inner_html(&now);
            *last = now;
        }
    }
    // One tab stop: the selected box, else the one that the step is about, else the first.
    let current = state.boxes.iter().position(|of| of.current);
    let next = selected.or(current).unwrap_or(0);
    for (ix, tabindex) in [(*stop, "-1"), (Some(next), "0")] {
        if let Some(shown) = ix.and_then(|ix| boxes.get(ix)) {
            let _ = shown.button.set_attribute("tabindex", tabindex);
        }
    }
    *stop = Some(next);
}

/// Sets an attribute that is not the same any more.
fn set(element: &Element, name: &str, last: &mut String, now: String) -> bool {
    let differs = *last != now;
    if differs {
        let _ = element.set_attribute(name, &now);
        *last = now;
    }
    differs
}

/// The fingers and buttons that are down on the graph.
#[derive(Default)]
pub(super) struct Gesture {
    pointers: Vec<(i32, f64, f64)>,
    /// How far the first of them has gone.
    travelled: f64,
    /// The node whose output is being connected, and where the wire begins, in the window.
    wire: Option<(u32, f64, f64)>,
}

impl Gesture {
    /// What a pointer does that has gone to here.
    fn dragged(&mut self, id: i32, x: f64, y: f64) -> Option<Action> {
        let ix = self.pointers.iter().position(|(down, ..)| *down == id)?;
        let (_, old_x, old_y) = self.pointers[ix];
        self.pointers[ix] = (id, x, y);
        self.travelled += (x - old_x).abs() + (y - old_y).abs();
        match self.pointers[..] {
            [_] if self.travelled < CLICK || self.wire.is_some() => None,
            [_] => Some(Action::Pan(x - old_x, y - old_y)),
            [a, b, ..] => {
                let (_, other_x, other_y) = if ix == 0 { b } else { a };
                let apart = |x: f64, y: f64| (x - other_x).hypot(y - other_y).max(1.0);
                let factor = apart(x, y) / apart(old_x, old_y);
                let middle = (f64::midpoint(x, other_x), f64::midpoint(y, other_y));
                Some(Action::Zoom { factor, at: Some(in_pane(middle)) })
            }
            [] => None,
        }
    }
}

fn here(event: &MouseEvent) -> (f64, f64) {
    (f64::from(event.client_x()), f64::from(event.client_y()))
}

pub(super) fn down(app: App, event: &JsValue) {
    let event: &PointerEvent = event.unchecked_ref();
    if event.button() != 0 {
        return;
    }
    let (x, y) = here(event);
    app.desk(|Desk { gesture, .. }| {
        if gesture.pointers.is_empty() {
            gesture.travelled = 0.0;
        }
        gesture.pointers.push((event.pointer_id(), x, y));
        let from = target::<Element>(event).and_then(|grip| grip.get_attribute("data-from"));
        gesture.wire = from.and_then(|from| Some((from.parse().ok()?, x, y)));
    });
}

pub(super) fn up(app: App, event: &JsValue) {
    let event: &PointerEvent = event.unchecked_ref();
    let id = event.pointer_id();
    let wire = app.desk(|desk| {
        desk.gesture.pointers.retain(|(down, ..)| *down != id);
        desk.gesture.wire.take()
    });
    let Some((from, ..)) = wire else { return };
    if let Some(wire) = one("#graph .wire") {
        wire.remove();
    }
    if event.type_() == "pointercancel" {
        return;
    }
    let (x, y) = here(event);
    let at = document().element_from_point(x as f32, y as f32);
    let to = at.and_then(|at| at.closest("[data-node]").ok().flatten());
    let to = to.and_then(|to| to.get_attribute("data-node")?.parse().ok()).filter(|to| *to != from);
    // A press without a way asks where it can go.
    let stays = app.desk(|desk| desk.gesture.travelled < CLICK);
    app.dispatch(Action::Wire { from, to });
    if stays {
        app.dispatch(Action::Draw(Draw::Connect { to: None }));
    }
}

/// A wire from an output to the pointer.
fn draw_wire((_, x, y): (u32, f64, f64), to: (f64, f64)) {
    let Some(svg) = one("#graph > svg") else { return };
    let (from, to) = (in_pane((x, y)), in_pane(to));
    let [a, b, c, d] = [from.0, from.1, to.0, to.1].map(|n| (n.round() as i32).to_string());
    let path = ["M", &a, " ", &b, "L", &c, " ", &d].concat();
    if let Some(wire) = one("#graph .wire") {
        let _ = wire.set_attribute("d", &path);
    } else {
        let _ = svg.insert_adjacent_html(
            "beforeend",
            &["<path class=\"wire\" d=\"", &path, "\"/>"].concat(),
        );
    }
}

pub(super) fn dragged(app: App, event: &JsValue) {
    let event: &PointerEvent = event.unchecked_ref();
    let ((x, y), id) = (here(event), event.pointer_id());
    if let Some(wire) = app.desk(|desk| desk.gesture.wire) {
        draw_wire(wire, (x, y));
        capture(id);
    }
    let Some(action) = app.desk(|desk| desk.gesture.dragged(id, x, y)) else { return };
    capture(id);
    app.dispatch(action);
}

/// From here on it is a drag, even outside of the pane.
fn capture(id: i32) {
    if let Some(pane) = by_id::<Element>("graph") {
        let _ = pane.set_pointer_capture(id);
    }
}

/// A point of the window in the pane's pixels.
fn in_pane((x, y): (f64, f64)) -> (f64, f64) {
    by_id::<Element>("graph").map_or((x, y), |pane| {
        let rect = pane.get_bounding_client_rect();
        (x - rect.left(), y - rect.top())
    })
}

pub(super) fn wheel(app: App, event: &JsValue) {
    let event: &WheelEvent = event.unchecked_ref();
    event.prevent_default();
    app.dispatch(if event.ctrl_key() || event.meta_key() {
        let factor = if event.delta_y() > 0.0 { 1.0 / 1.1 } else { 1.1 };
        Action::Zoom { factor, at: Some(in_pane(here(event))) }
    } else if event.shift_key() {
        Action::Pan(-event.delta_y(), 0.0)
    } else {
        Action::Pan(-event.delta_x(), -event.delta_y())
    });
}

fn node_at(event: &JsValue) -> Option<u32> {
    let node = target::<Element>(event)?.closest("[data-node]").ok()??;
    node.get_attribute("data-node")?.parse().ok()
}

pub(super) fn pressed(app: App, event: &JsValue) {
    let is_grip = target::<Element>(event).is_some_and(|of| of.has_attribute("data-from"));
    if !is_grip && app.desk(|desk| desk.gesture.travelled < CLICK) {
        app.dispatch(Action::Select(node_at(event)));
    }
}

/// Enter and Space press the node with the focus.
pub(super) fn key(app: App, event: &JsValue) {
    let key = event.unchecked_ref::<KeyboardEvent>().key();
    if let ("Enter" | " ", Some(node)) = (key.as_str(), node_at(event)) {
        event.unchecked_ref::<Event>().prevent_default();
        app.dispatch(Action::Select(Some(node)));
        if key == "Enter" {
            app.dispatch(Action::Show(Tab::Inspect));
        }
    }
}
