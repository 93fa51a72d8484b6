//! The minimap: the whole picture small, and the part of it that is in its pane.

use super::picture::Rect;
use super::reduce::State;
use super::svg;
use super::view::{Over, Size};

/// How far an arrow key moves the picture, in pixels.
pub const STRIDE: f64 = 80.0;

/// How many places the map tells apart in either direction.
const FINE: f64 = 400.0;

/// Whether there is one: where the picture is larger than its pane, nothing is over it, and the page is not narrow.
pub fn is_shown(state: &State) -> bool {
    let Size { width, height } = size(state);
    let (pane, zoom) = (state.room.pane, state.camera.zoom);
    state.view.over == Over::Graph
        && !state.room.narrow
        && (width * zoom > pane.width + 1.0 || height * zoom > pane.height + 1.0)
}

fn size(state: &State) -> Size {
    state.run.shown.as_ref().map_or(Size::default(), |answer| answer.size())
}

/// The picture's extent, as the map's view box.
pub fn extent(state: &State) -> String {
    let Size { width, height } = size(state);
    let mut out = String::new();
    svg::draw(&mut out, "0 0 ~ ~", &[width, height]);
    out
}

/// The part of the picture's plane that is in the pane.
pub fn sight(state: &State) -> Rect {
    let (pane, at) = (state.room.pane, state.camera);
    let (w, h) = (pane.width / at.zoom, pane.height / at.zoom);
    Rect { x: -at.x / at.zoom, y: -at.y / at.zoom, w, h }
}

/// All boxes as one path.
pub fn boxes(state: &State) -> String {
    let mut out = String::new();
    if let Some(answer) = &state.run.shown {
        for of in &answer.picture.boxes {
            let r = of.rect;
            svg::draw(&mut out, "M~ ~h~v~H~z", &[r.x, r.y, r.w, r.h, r.x]);
        }
    }
    out
}

/// The part in the pane, as a path.
pub fn part(state: &State) -> String {
    let (pane, at, whole) = (state.room.pane, state.camera, size(state));
    // No finer than the map can show: a map of thousands of boxes is not painted at each pixel that one pans.
    let span = |start: f64, room: f64, whole: f64| {
        let (start, step) = (-start / at.zoom, whole / FINE);
        let end = |at: f64| ((at / step).round() * step).max(0.0).min(whole);
        (end(start), end(start + room / at.zoom))
    };
    let ((x, right), (y, bottom)) =
        (span(at.x, pane.width, whole.width), span(at.y, pane.height, whole.height));
    let mut out = String::new();
    svg::draw(&mut out, "M~ ~H~V~H~z", &[x, y, right, bottom, x]);
    out
}

/// By how much the picture is panned so that a place of the map, which has this room, is in the middle of the pane.
pub fn pan_to(state: &State, at: (f64, f64), room: (f64, f64)) -> Option<(f64, f64)> {
    let (whole, camera, pane) = (size(state), state.camera, state.room.pane);
    // As the browser fits a view box: whole, and in the middle.
    let scale = (room.0 / whole.width).min(room.1 / whole.height);
    let place = |at: f64, room: f64, whole: f64| (at - (room - whole * scale) / 2.0) / scale;
    let (x, y) = (place(at.0, room.0, whole.width), place(at.1, room.1, whole.height));
    let (dx, dy) = (
        pane.width / 2.0 - camera.x - x * camera.zoom,
        pane.height / 2.0 - camera.y - y * camera.zoom,
    );
    (dx.is_finite() && dy.is_finite()).then_some((dx, dy))
}
