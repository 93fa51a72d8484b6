//! Six workloads, as other libraries are measured on them, and documents that grow, through the engine's public functions.
//! Deliberately absent in a browser: a clock. The script that drives the workloads has one.

pub mod chain;
#[cfg(not(target_arch = "wasm32"))]
pub mod clock;
#[cfg(not(target_arch = "wasm32"))]
pub mod growth;
pub mod inputs;
#[cfg(not(target_arch = "wasm32"))]
pub mod machine;
pub mod work;

#[cfg(target_arch = "wasm32")]
mod web;
