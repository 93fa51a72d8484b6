//! Epochs and fits over a data set (`ggml-autodiff.md`, 5.6).
//! Deliberately absent: printing, a clock and global randomness. Whoever watches can stop it after any batch.

use super::context::Context;
use super::data::{DataSet, Outcome};
use super::told::{Batch, Fault};
use crate::optimizer::Optimizer;

/// Where a pass over a data set stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Which epoch, from 1.
    pub epoch: u64,
    /// Whether this batch trained, or only measured.
    pub trains: bool,
    /// Batches of the epoch done.
    pub done: usize,
    /// Batches of the epoch.
    pub total: usize,
}

/// What a fit is told.
pub struct Fit<'a> {
    /// How often everything is seen.
    pub epochs: u64,
    /// Rows a step; a multiple of the rows of a batch.
    pub logical_batch: usize,
    /// Share of the logical batches, the last ones, that only measures.
    pub validation: f64,
    /// Of the shuffles.
    pub seed: u64,
    /// The optimizer of an epoch, from 1.
    pub schedule: &'a dyn Fn(u64) -> Optimizer,
}

/// Rows are read into these, again and again.
#[derive(Default)]
struct Rows {
    inputs: Vec<f32>,
    labels: Vec<f32>,
}

/// Who is asked after each batch whether to go on, and sees the epoch's outcomes so far: of what trained, and of what
/// only measured.
pub type Watch<'a> = &'a mut dyn FnMut(Progress, &Outcome, &Outcome) -> bool;

/// Trains on the batches before `split` and measures on the others, once. The answer is whether it came to its end.
/// Static contexts only, as ggml: there is no graph to evaluate otherwise.
pub fn epoch(
    context: &mut Context,
    data: &DataSet,
    split: usize,
    outcomes: (&mut Outcome, &mut Outcome),
    watch: Watch<'_>,
) -> Result<bool, Fault> {
    pass(context, data, (1, split), outcomes, &mut Rows::default(), watch)
}

fn pass(
    context: &mut Context,
    data: &DataSet,
    (epoch, split): (u64, usize),
    (trained, measured): (&mut Outcome, &mut Outcome),
    rows: &mut Rows,
    watch: Watch<'_>,
) -> Result<bool, Fault> {
    let n = context.batch_rows().ok_or(Fault::NotAllocated)?;
    let total = data.len() / n.max(1);
    for ix in 0..total {
        let trains = ix < split;
        let outcome = if trains { &mut *trained } else { &mut *measured };
        if !context.alloc(trains) {
            return Err(Fault::NotAllocated);
        }
        if !data.batch(ix, n, &mut rows.inputs, &mut rows.labels) {
            return Err(Fault::Setting("a batch must be a whole number of shards"));
        }
        context.eval(Batch { inputs: &rows.inputs, labels: &rows.labels }, outcome)?;
        if !watch(Progress { epoch, trains, done: ix + 1, total }, trained, measured) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Trains for a number of epochs: the period is the logical batch over the batch, everything is shuffled once, and
/// the part that trains once more each epoch. The answer is whether it came to its end.
pub fn fit(
    context: &mut Context,
    data: &mut DataSet,
    how: &Fit<'_>,
    watch: Watch<'_>,
) -> Result<bool, Fault> {
    let n = context.batch_rows().ok_or(Fault::NotAllocated)?;
    let period = how.logical_batch.checked_div(n).unwrap_or(0);
    if period == 0 || period * n != how.logical_batch {
        return Err(Fault::Setting("the logical batch must be a multiple of the batch"));
    }
    if !(0.0..1.0).contains(&how.validation) {
        return Err(Fault::Setting("the validation share must be from 0 to below 1"));
    }
    if !context.set_period(period as u64) {
        return Err(Fault::NotAllocated);
    }
    let logical = data.len() / how.logical_batch;
    let split = ((1.0 - how.validation) * logical as f64).floor() as usize * period;
    let n_train = split * n;
    if how.logical_batch < data.len() {
        data.shuffle(how.seed, None);
    }
    let (mut trained, mut measured) = (Outcome::default(), Outcome::default());
    let rows = &mut Rows::default();
    for epoch in 1..=how.epochs {
        if how.logical_batch < n_train {
            data.shuffle(how.seed.wrapping_add(epoch), Some(n_train));
        }
        context.set_optimizer((how.schedule)(epoch));
        trained.reset();
        measured.reset();
        let outcomes = (&mut trained, &mut measured);
        if !pass(context, data, (epoch, split), outcomes, rows, watch)? {
            return Ok(false);
        }
    }
    Ok(true)
}
