//! The graph: its picture mounted once an answer, and per step only classes and names changed.

use std::sync::Arc;

use leptos::prelude::window;
use web_sys::Element;

use super::app::{App, Desk};
use super::browser::{self, all, by_id, focused, one};
use super::listen::callback;
use crate::model::action::Pane;
use crate::model::answer::Answer;
use crate::model::picture::{PicBox, PicEdge, Point, Rect};
use crate::model::supervise::LinkState;
use crate::model::{map, names, stage, svg};

/// Steps closer than this, in milliseconds, are not animated.
const FAST: f64 = 150.0;

/// Nor are those over more ticks than this: a node's are fewer.
const FAR: usize = 60;

/// The group of a box or an edge, a box's button over it, and what they last got.
struct Shown {
    group: Element,
    button: Element,
    class: String,
    name: String,
}

/// The picture's elements, in the picture's order, and what they last got. Of a large picture only those are in the
/// page that are in sight or near it.
pub(super) struct Mounted {
    answer: Arc<Answer>,
    boxes: Vec<Option<Shown>>,
    edges: Vec<Option<Shown>>,
    /// Where edges and boxes go.
    hosts: [Element; 2],
    /// Where the halos, the saved values and the note go, and what is there.
    layers: Vec<(Element, String)>,
    /// The part of the picture that is in the page.
    region: Rect,
    stop: Option<usize>,
}

/// Pictures of so many boxes and edges are in the page as a whole.
const SMALL: usize = 500;

/// What the graph shows: after so many ticks, with this node selected, and so often others beside it.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct At {
    tick: usize,
    selected: Option<u32>,
    marks: u32,
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
        marks: state.view.marks,
    });
    let (also, sight) = app.read(|state| (state.also.clone(), map::sight(state)));
    let had_focus = focused().is_some_and(|focused| pane.contains(Some(&focused)));
    let anew = app.desk(|desk| {
        let known = desk.mounted.as_ref().is_some_and(|old| Arc::ptr_eq(&old.answer, &answer));
        if known && desk.shown.is_some_and(|(shown, _)| shown == at) {
            return false;
        }
        hold_still(desk, &pane, at);
        if !known {
            desk.mounted = mount(&pane, answer);
        }
        if let Some(mounted) = &mut desk.mounted {
            fill(mounted, sight);
            show(mounted, at, &also);
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

/// Going back restores, a jump is no motion, and steps that follow fast would never end: none of them is animated.
fn hold_still(desk: &mut Desk, pane: &Element, at: At) {
    let now = browser::now();
    let Some((shown, when)) = desk.shown.replace((at, now)) else { return };
    if shown != at {
        // What goes back goes far, as numbers without a sign have it.
        let still = at.tick.wrapping_sub(shown.tick) > FAR || now - when < FAST;
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
    let (also, sight) = app.read(|state| (state.also.clone(), map::sight(state)));
    app.desk(|Desk { mounted, shown, .. }| {
        if let (Some(mounted), Some((at, _))) = (mounted, shown)
            && fill(mounted, sight)
        {
            show(mounted, *at, &also);
        }
    });
}

fn mount(pane: &Element, answer: Arc<Answer>) -> Option<Mounted> {
    let picture = &answer.picture;
    if picture.too_many > 0 {
        let n = picture.too_many.to_string();
        pane.set_inner_html(&["<p class=\"toomany\">This graph has ", &n, " nodes, too many to be drawn. The outline and the table of steps have all of them.</p>"].concat());
        return None;
    }
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
    markup.push_str("<g class=\"layer\"></g><g class=\"host\"></g><g class=\"host\"></g><g class=\"layer\"></g></g></svg>");
    pane.set_inner_html(&markup);

    let mut boxes = Vec::new();
    boxes.resize_with(picture.boxes.len(), || None);
    let mut edges = Vec::new();
    edges.resize_with(picture.edges.len(), || None);
    let hosts = all(pane, ".camera > .host").try_into().ok()?;
    let layers = empty(all(pane, ".camera > .layer"));
    let region = Rect { w: -1.0, ..Rect::default() };
    Some(Mounted { answer, boxes, edges, hosts, layers, region, stop: None })
}

/// Brings into the page what is in sight or near it, and takes out what is far; whether anything was to be done.
fn fill(mounted: &mut Mounted, sight: Rect) -> bool {
    let Mounted { answer, boxes, edges, hosts, region, stop, .. } = mounted;
    if region.w >= 0.0 && region.around(sight) == *region {
        return false;
    }
    let Answer { picture, .. } = answer.as_ref();
    let is_small = boxes.len() + edges.len() <= SMALL;
    *region = if is_small {
        Rect { x: -1e9, y: -1e9, w: 2e9, h: 2e9 }
    } else {
        sight.grown(sight.w.max(sight.h) / 2.0)
    };
    let an_edge = stage::EdgeState::default();
    swap(&hosts[0], ".edge", edges, &mut |ix, markup| {
        let edge = &picture.edges[ix];
        match markup {
            Some(markup) => markup.push_str(&svg::edge_markup(edge, &an_edge)),
            None => return is_small || room_of(edge).overlaps(*region),
        }
        true
    });
    swap(&hosts[1], ".node", boxes, &mut |ix, markup| {
        let of = &picture.boxes[ix];
        match markup {
            Some(markup) => push_box(markup, of),
            // What has the keys stays, wherever it is.
            None => return of.rect.overlaps(*region) || *stop == Some(ix),
        }
        true
    });
    true
}

/// Takes out of the page what is not wanted there, and puts there what is: `of` says whether, or writes its markup.
fn swap(
    host: &Element,
    what: &str,
    all: &mut [Option<Shown>],
    of: &mut dyn FnMut(usize, Option<&mut String>) -> bool,
) {
    let mut markup = String::new();
    let mut come = Vec::new();
    for (ix, shown) in all.iter_mut().enumerate() {
        match (&shown, of(ix, None)) {
            (Some(old), false) => {
                old.group.remove();
                *shown = None;
            }
            (None, true) => {
                of(ix, Some(&mut markup));
                come.push(ix);
            }
            _ => {}
        }
    }
    for (ix, group) in come.into_iter().zip(added(host, &markup, what)) {
        let button = group.query_selector(".hit").ok().flatten();
        let button = button.unwrap_or_else(|| group.clone());
        all[ix] = Some(Shown { group, button, class: String::new(), name: String::new() });
    }
}

/// What new markup has added to an element.
fn added(host: &Element, markup: &str, what: &str) -> Vec<Element> {
    if markup.is_empty() {
        return Vec::new();
    }
    let n = host.child_element_count() as usize;
    let _ = host.insert_adjacent_html("beforeend", markup);
    all(host, what).split_off(n)
}

/// The room of an edge with what stands beside it.
fn room_of(edge: &PicEdge) -> Rect {
    let point = |at: &Point| Rect { x: at.x, y: at.y, w: 0.0, h: 0.0 };
    let all = edge.points.iter().map(point).reduce(Rect::around);
    all.unwrap_or_default().grown(120.0)
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
    // What a call made is drawn closed or open.
    if !of.call.is_empty() && (of.closed || of.name == of.call) {
        for piece in ["<g class=\"fn\" data-do=\"close ", &of.call, "\""] {
            markup.push_str(piece);
        }
        let sign = if of.closed { "h12m-6-6v12" } else { "h12" };
        svg::draw(markup, " transform=\"translate(~ ~)\">", &[of.rect.w - 30.0, of.rect.h - 10.0]);
        for piece in
            ["<rect width=\"24\" height=\"24\" rx=\"12\"/><path d=\"M6 12", sign, "\"/></g>"]
        {
            markup.push_str(piece);
        }
    }
    markup.push_str("</g>");
}

/// Shows the picture after so many ticks: what changed is set, nothing is made.
fn show(mounted: &mut Mounted, at: At, also: &[u32]) {
    let Mounted { answer, boxes, edges, layers, stop, .. } = mounted;
    let picture = &answer.picture;
    let selected = at.selected.and_then(|node| answer.box_of(node));
    let mut state = stage::state(picture, &answer.report, at.tick, selected);
    for ix in also.iter().filter_map(|node| answer.box_of(*node)) {
        state.boxes[ix].selected = true;
    }
    for (ix, shown) in boxes.iter_mut().enumerate() {
        let Some(shown) = shown else { continue };
        let (of, is) = (&picture.boxes[ix], &state.boxes[ix]);
        let mut class = svg::box_class(of, is);
        if of.pinned {
            class.push_str(" pinned");
        }
        if of.closed {
            class.push_str(" closed");
        }
        if set(&shown.group, "class", &mut shown.class, class) {
            let pressed = if is.selected { "true" } else { "false" };
            let _ = shown.button.set_attribute("aria-pressed", pressed);
        }
        let name = names::aloud(&answer.report, picture, ix, is, at.tick);
        set(&shown.button, "aria-label", &mut shown.name, name);
    }
    for (ix, shown) in edges.iter_mut().enumerate() {
        let Some(shown) = shown else { continue };
        let class = svg::edge_class(&picture.edges[ix], &state.edges[ix]);
        set(&shown.group, "class", &mut shown.class, class);
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
    let next = selected.or(current).filter(|ix| boxes[*ix].is_some());
    let next = next.or_else(|| boxes.iter().position(Option::is_some)).unwrap_or(0);
    for (ix, tabindex) in [(*stop, "-1"), (Some(next), "0")] {
        if let Some(Some(shown)) = ix.and_then(|ix| boxes.get(ix)) {
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
