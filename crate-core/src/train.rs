//! Training: an optimizer context that builds or refuses, and a run over it that is taken one step at a time.
//! Every context has values of its own, so the graph and whoever else evaluates it are not touched.
//! Deliberately absent: a clock, threads, and any change of a parameter before a step has succeeded.

mod built;
mod context;
mod data;
mod fit;
mod losses;
#[cfg(test)]
mod tests;
mod told;
mod trainer;

pub use crate::optimizer::{Moments, Optimizer};
pub use context::{Context, Kept, Parameter};
pub use data::{DataSet, Estimate, Outcome};
pub use fit::{Fit, Progress, Watch, epoch, fit};
pub use losses::Loss;
pub use told::{Batch, Fault, Graphs, Model, Options, Pass, Refused};
pub use trainer::{Failure, Moved, Plan, Saved, SavedParameter, State, Status, Trainer, Trouble};
