//! Markup from `model::markup` on the page: set as one string, its commands dispatched, the focus kept.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement, MouseEvent};

use super::app::App;
use super::browser::focused;
use crate::model::markup::command;

/// Keeps an element's markup equal to a memo.
pub(super) fn keep<E>(node: NodeRef<E>, markup: Memo<String>)
where
    E: html::ElementType + 'static,
    E::Output: JsCast + Clone + 'static,
{
    Effect::new(move |_| {
        let Some(element) = node.get() else { return };
        let element: Element = element.unchecked_into();
        markup.with(|markup| set(&element, markup));
    });
}

/// Replaces the markup. A control that had the focus has it again if there still is one like it.
pub(super) fn set(element: &Element, markup: &str) {
    let held = focused().filter(|focused| element.contains(Some(focused)));
    let handle = held.and_then(|held| {
        let by = |name: &str| Some(format!("[{name}=\"{}\"]", held.get_attribute(name)?));
        by("data-key").or_else(|| by("data-do"))
    });
    element.set_inner_html(markup);
    if let Some(again) = handle.and_then(|handle| element.query_selector(&handle).ok().flatten())
        && let Ok(again) = again.dyn_into::<HtmlElement>()
    {
        let _ = again.focus();
    }
}

/// Dispatches the command of the control that was clicked.
pub(super) fn clicked(app: App, event: &MouseEvent) {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else {
        return;
    };
    let control = target.closest("[data-do]").ok().flatten();
    if let Some(action) = control
        .and_then(|control| control.get_attribute("data-do"))
        .as_deref()
        .and_then(command::read)
    {
        app.dispatch(action);
    }
}

/// An icon of the page.
pub(super) fn icon(name: &'static str) -> impl IntoView {
    let mut html = crate::model::markup::Html::new();
    html.icon(name);
    view! { <span class="i" aria-hidden="true" inner_html=html.done()></span> }
}
