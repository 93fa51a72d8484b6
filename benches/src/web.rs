//! The workloads for a script in a browser.
//! Deliberately absent: a clock and a page. `peers/foldback.js` drives this.

use wasm_bindgen::prelude::wasm_bindgen;

use crate::chain;
use crate::work;

/// A workload that is a document.
#[wasm_bindgen]
pub struct Work(work::Work);

#[wasm_bindgen]
impl Work {
    /// The workload of this name; nothing where there is none.
    pub fn make(id: &str) -> Option<Work> {
        work::Work::new(&work::case(id)?).ok().map(Self)
    }

    /// Gives a leaf values; false where there is no such leaf.
    pub fn set(&mut self, name: &str, values: &[f32]) -> bool {
        self.0.set(name, values)
    }

    /// The first element of what forward ends at: the loss, but for W6.
    pub fn forward(&mut self) -> f32 {
        self.0.forward()
    }

    /// The loss, and every parameter after one step.
    pub fn step(&mut self) -> f32 {
        self.0.step()
    }

    /// A parameter after the last step.
    pub fn after(&self, name: &str) -> Vec<f32> {
        self.0.after(name).to_vec()
    }
}

/// The chain of small nodes.
#[wasm_bindgen]
pub struct Chain(chain::Chain);

#[wasm_bindgen]
impl Chain {
    /// A chain of so many nodes.
    pub fn make(n: usize) -> Option<Chain> {
        chain::Chain::new(n).map(Self)
    }

    /// Gives a leaf values; false where there is no such leaf.
    pub fn set(&mut self, name: &str, values: &[f32]) -> bool {
        self.0.set(name, values)
    }

    /// Builds the graph and runs it forward.
    pub fn forward(&mut self) -> f32 {
        self.0.forward().unwrap_or(f32::NAN)
    }

    /// Builds the graph, differentiates it, runs both and takes a step.
    pub fn step(&mut self) -> f32 {
        self.0.step().unwrap_or(f32::NAN)
    }

    /// A parameter after the last step.
    pub fn after(&self, name: &str) -> Vec<f32> {
        self.0.after(name).to_vec()
    }
}
