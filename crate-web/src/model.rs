//! The page without a browser: documents, steps, pictures and markup as plain data and pure functions.
//!
//! Tested natively. Deliberately absent: `web_sys`, `leptos`, and calls of the engine.

pub mod measure;
pub mod number;
pub mod utf16;

pub mod layout;
pub mod names;
pub mod picture;
#[cfg(feature = "full")]
pub mod plan;
mod route;
pub mod scene;
pub mod stage;
pub mod svg;

pub mod answer;
pub mod asks;
pub mod doc;
#[cfg(feature = "full")]
pub mod draft;
pub mod examples;
#[cfg(feature = "full")]
pub mod library;
pub mod shelf;
pub mod supervise;
pub mod timeline;
pub mod trainer;
pub mod view;

pub mod action;
#[cfg(feature = "full")]
pub mod chart;
pub mod keys;
pub mod map;
pub mod markup;
#[cfg(feature = "full")]
pub mod panels;
pub mod parts;
pub mod reduce;
