//! The page and its worker.
//!
//! One module, started twice by `www/loader.js`: as the page, and as the worker that holds the engine.

pub mod first;
pub mod model;
pub mod protocol;

#[cfg(all(target_arch = "wasm32", feature = "page"))]
mod link;
#[cfg(all(target_arch = "wasm32", feature = "page"))]
mod ui;
#[cfg(target_arch = "wasm32")]
mod worker;

#[cfg(target_arch = "wasm32")]
pub mod start;
