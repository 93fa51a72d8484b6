//! What pointers and keys do on the graph: pan and pinch, wires, boxes moved, a frame drawn around several.
//!
//! What is dragged is traced in the pane; the text changes once it is let go, and not at all where Esc comes before.

use leptos::prelude::document;
use wasm_bindgen::prelude::*;
use web_sys::{Element, Event, KeyboardEvent, MouseEvent, PointerEvent, WheelEvent};

use super::app::{App, Desk};
use super::browser::{by_id, one};
use super::listen::target;
use crate::model::action::Action;
use crate::model::svg;
use crate::model::view::{Draw, Tab};

/// Further than this, a press is a drag and selects nothing.
const CLICK: f64 = 4.0;

/// What a drag is about.
#[derive(Clone, Copy, PartialEq, Default)]
enum Hold {
    /// The ground: the picture is panned.
    #[default]
    Ground,
    /// The output of this node: it is being connected.
    Wire(u32),
    /// The box of this node: it is being moved.
    Box(u32),
    /// A frame around several.
    Frame,
}

/// The fingers and buttons that are down on the graph.
#[derive(Default)]
pub(super) struct Gesture {
    pointers: Vec<(i32, f64, f64)>,
    /// How far the first of them has gone.
    travelled: f64,
    hold: Hold,
    /// Where it began, in the window.
    start: (f64, f64),
}

impl Gesture {
    /// What a pointer does that has gone to here.
    fn dragged(&mut self, id: i32, x: f64, y: f64) -> Option<Action> {
        let ix = self.pointers.iter().position(|(down, ..)| *down == id)?;
        let (_, old_x, old_y) = self.pointers[ix];
        self.pointers[ix] = (id, x, y);
        self.travelled += (x - old_x).abs() + (y - old_y).abs();
        match self.pointers[..] {
            [_] if self.travelled < CLICK || self.hold != Hold::Ground => None,
            [_] => Some(Action::Pan(x - old_x, y - old_y)),
            [a, b, ..] => {
                // Two fingers pinch, whatever the first one held.
                self.hold = Hold::Ground;
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
    let node = node_at(event);
    // A box of the narrow picture has no place of its own.
    let movable = within(event, ".fw").is_some() && !app.read(|state| state.room.narrow);
    let from = within(event, "[data-from]").and_then(|grip| grip.get_attribute("data-from"));
    app.desk(|Desk { gesture, .. }| {
        if gesture.pointers.is_empty() {
            gesture.travelled = 0.0;
            gesture.start = (x, y);
        }
        gesture.pointers.push((event.pointer_id(), x, y));
        gesture.hold = match (from.and_then(|from| from.parse().ok()), node) {
            (Some(from), _) => Hold::Wire(from),
            (None, None) if event.shift_key() => Hold::Frame,
            (None, Some(node)) if movable => Hold::Box(node),
            _ => Hold::Ground,
        };
    });
}

pub(super) fn up(app: App, event: &JsValue) {
    let event: &PointerEvent = event.unchecked_ref();
    let id = event.pointer_id();
    let (hold, start, stays) = app.desk(|Desk { gesture, .. }| {
        gesture.pointers.retain(|(down, ..)| *down != id);
        let hold = std::mem::take(&mut gesture.hold);
        (hold, gesture.start, gesture.travelled < CLICK)
    });
    untrace();
    if event.type_() == "pointercancel" {
        return;
    }
    let (x, y) = here(event);
    match hold {
        Hold::Wire(from) => wired(app, from, (x, y), stays),
        Hold::Box(node) if !stays => {
            app.dispatch(Action::Drag { node, by: (x - start.0, y - start.1) });
        }
        Hold::Frame if !stays => app.dispatch(Action::MarkIn(in_pane(start), in_pane((x, y)))),
        _ => {}
    }
}

/// A wire was let go over a node, or over nothing.
fn wired(app: App, from: u32, (x, y): (f64, f64), stays: bool) {
    let at = document().element_from_point(x as f32, y as f32);
    let to = at.and_then(|at| at.closest("[data-node]").ok().flatten());
    let to = to.and_then(|to| to.get_attribute("data-node")?.parse().ok()).filter(|to| *to != from);
    app.dispatch(Action::Wire { from, to });
    // A press without a way asks where it can go.
    if stays {
        app.dispatch(Action::Draw(Draw::Connect { to: None }));
    }
}

/// Lets go of what is held, and says whether something was.
pub(super) fn cancelled(app: App) -> bool {
    let held = app.desk(|Desk { gesture, .. }| std::mem::take(&mut gesture.hold) != Hold::Ground);
    untrace();
    held
}

pub(super) fn dragged(app: App, event: &JsValue) {
    let event: &PointerEvent = event.unchecked_ref();
    let ((x, y), id) = (here(event), event.pointer_id());
    let action = app.desk(|desk| desk.gesture.dragged(id, x, y));
    let (hold, start, far) =
        app.desk(|Desk { gesture, .. }| (gesture.hold, gesture.start, gesture.travelled >= CLICK));
    if hold != Hold::Ground && far {
        let ((ax, ay), (bx, by)) = (in_pane(start), in_pane((x, y)));
        match hold {
            Hold::Box(node) => {
                let place = app.read(|state| {
                    let ((x, y), size) = state.run.shown.as_ref()?.place(node)?;
                    let at = state.camera;
                    Some((
                        at.x + x * at.zoom,
                        at.y + y * at.zoom,
                        size.width * at.zoom,
                        size.height * at.zoom,
                    ))
                });
                if let Some((x, y, w, h)) = place {
                    let (x, y) = (x + bx - ax, y + by - ay);
                    trace("M~ ~h~v~H~z", &[x, y, w, h, x]);
                }
            }
            Hold::Frame => trace("M~ ~H~V~H~z", &[ax, ay, bx, by, ax]),
            _ => trace("M~ ~L~ ~", &[ax, ay, bx, by]),
        }
        capture(id);
    }
    let Some(action) = action else { return };
    capture(id);
    app.dispatch(action);
}

/// Shows what is being dragged, as a path in the pane's pixels.
fn trace(markup: &str, lengths: &[f64]) {
    let Some(svg) = one("#graph > svg") else { return };
    let mut path = String::new();
    svg::draw(&mut path, markup, lengths);
    if one("#graph .wire").is_none() {
        let _ = svg.insert_adjacent_html("beforeend", "<path class=\"wire\"/>");
    }
    if let Some(wire) = one("#graph .wire") {
        let _ = wire.set_attribute("d", &path);
    }
}

fn untrace() {
    if let Some(wire) = one("#graph .wire") {
        wire.remove();
    }
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

fn within(event: &JsValue, selector: &str) -> Option<Element> {
    target::<Element>(event)?.closest(selector).ok()?
}

fn node_at(event: &JsValue) -> Option<u32> {
    within(event, "[data-node]")?.get_attribute("data-node")?.parse().ok()
}

pub(super) fn pressed(app: App, event: &JsValue) {
    let mouse: &MouseEvent = event.unchecked_ref();
    let held = within(event, "[data-from], [data-do]").is_some();
    if held || app.desk(|desk| desk.gesture.travelled >= CLICK) {
        return;
    }
    // While one looks for where an output can go, a node that is pressed is asked for its inputs.
    let from = app.read(|state| match state.view.draw {
        Draw::Connect { .. } => state.run.forward(state.view.selected),
        _ => None,
    });
    if let (Some(from), Some(to)) = (from, node_at(event))
        && from != to
    {
        return app.dispatch(Action::Wire { from, to: Some(to) });
    }
    let one_more = mouse.shift_key() || mouse.ctrl_key() || mouse.meta_key();
    match node_at(event) {
        Some(node) if one_more => app.dispatch(Action::Mark(node)),
        None if one_more => {}
        node => app.dispatch(Action::Select(node)),
    }
}

/// Enter and Space press the node with the focus; with Shift it is selected beside the others.
pub(super) fn key(app: App, event: &JsValue) {
    let event: &KeyboardEvent = event.unchecked_ref();
    let key = event.key();
    if let ("Enter" | " ", Some(node)) = (key.as_str(), node_at(event)) {
        event.unchecked_ref::<Event>().prevent_default();
        if event.shift_key() {
            return app.dispatch(Action::Mark(node));
        }
        app.dispatch(Action::Select(Some(node)));
        if key == "Enter" {
            app.dispatch(Action::Show(Tab::Inspect));
        }
    }
}
