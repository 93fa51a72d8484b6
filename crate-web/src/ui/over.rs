//! What opens over the graph: put there whole, and filled by rows of its own from then on.

use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement, HtmlInputElement};

use super::app::App;
use super::browser::{self, all, by_id, focused, one};
use super::listen::target;
use super::{aid, draw};
use crate::model::action::Action;
use crate::model::markup::{over, steps};
use crate::model::view::{Over, Scroll};

/// Puts the panel there that is open now.
pub(super) fn open(app: App) {
    let (panel, step) = app.read(|state| (over::panel(state), state.view.step));
    let held = focused();
    let old = by_id::<Element>("over");
    if let Some(old) = &old {
        // Whoever was in the panel goes on where it was opened from.
        let inside = held.as_ref().is_none_or(|held| old.contains(Some(held)));
        old.remove();
        let before = app.desk(|desk| desk.before_over.take()).filter(|_| inside);
        if let Some(before) = before.filter(|_| panel.is_empty()) {
            let _ = before.unchecked_ref::<HtmlElement>().focus();
        }
    }
    let Some(stage) = by_id::<Element>("stage").filter(|_| !panel.is_empty()) else { return };
    let _ = stage.insert_adjacent_html("beforeend", &panel);
    app.desk(|desk| desk.before_over = held);
    if app.read(|state| state.view.over) == Over::Documents {
        browser::focus("#over > .made");
    }
    if let Some(made) = one("#over > .made") {
        dress(app, &made);
    }
    // The table opens where one stands.
    if let Some(body) = one("#over > .steps") {
        body.set_scroll_top((step * steps::ROW) as i32 - body.client_height() / 2);
    }
}

/// Gives what a panel's markup says of its style to its elements: the content security policy lets a script do it, and
/// no attribute. A fold that has just been put there is folded once.
pub(super) fn dress(app: App, place: &Element) {
    for element in all(place, "[data-style]") {
        let style = element.get_attribute("data-style").unwrap_or_default();
        element.unchecked_ref::<HtmlElement>().style().set_css_text(&style);
    }
    match &*place.id() {
        "draw" => draw::open(app, place),
        "aid" => aid::place(app, place),
        _ => {}
    }
    if one("#over .fold").is_some_and(|fold| place.contains(Some(&fold))) {
        turn("play");
    }
}

/// Turns the pages of the fold that is shown: by so many, from none to all, or to where the slider stands.
pub(super) fn turn(how: &str) {
    let (Some(fold), Some(slider)) = (one("#over .fold"), one("#over input[data-scrub]")) else {
        return;
    };
    let slider: HtmlInputElement = slider.unchecked_into();
    let style = fold.unchecked_ref::<HtmlElement>().style();
    let most = js_sys::parse_float(&slider.max());
    let landed = match how {
        "" => slider.value_as_number(),
        "play" => most,
        by => (slider.value_as_number().round() + js_sys::parse_float(by)).clamp(0.0, most),
    };
    let classes = fold.class_list();
    let _ = classes.remove_1("turning");
    if how == "play" {
        let _ = style.set_property("--t", "0");
        // The browser has to have seen the start before the end is set.
        let _ = fold.client_width();
    }
    if !how.is_empty() {
        let _ = classes.add_1("turning");
        slider.set_value(&number(landed));
    }
    let _ = style.set_property("--t", &number(landed));
    if let Some(shown) = one("#over .landed") {
        shown.set_text_content(Some(&number((landed * 10.0).round() / 10.0)));
    }
    let says = one("#over .says").and_then(|says| says.children().item(landed as u32));
    if let Some(words) = says.and_then(|words| words.text_content()) {
        let _ = slider.set_attribute("aria-valuetext", &words);
    }
}

/// A number as the browser writes it: std's way brings tables along that the first load has no room for.
fn number(n: f64) -> String {
    js_sys::Number::from(n).to_string_with_radix(10).map(String::from).unwrap_or_default()
}

pub(super) fn scrolled(app: App, event: &JsValue) {
    if let Some(body) = target::<Element>(event).filter(|body| body.class_list().contains("steps"))
    {
        let (top, height) = (f64::from(body.scroll_top()), f64::from(body.client_height()));
        app.dispatch(Action::Scroll(Scroll { top, height }));
    }
}
