//! Six workloads, as other libraries are measured on them, through the engine's public functions.
//! Deliberately absent: a clock. Whoever drives the workloads measures.

pub mod chain;
pub mod inputs;
pub mod work;

#[cfg(target_arch = "wasm32")]
mod web;
