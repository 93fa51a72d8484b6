//! A training run as plain data, to be kept and gone on with later.
//! Deliberately absent: a file format. Whoever keeps it chooses one.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::train::{Saved, SavedParameter};

/// A run, between two evaluations.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TrainSaved {
    /// Steps taken.
    pub steps: u64,
    /// Evaluations of the next step that are done.
    pub micro: u64,
    /// Every trainable leaf that moves.
    pub leaves: Vec<TrainSavedLeaf>,
}

/// A leaf of a saved run. What the optimizer does not keep is empty.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TrainSavedLeaf {
    /// Its name.
    pub name: String,
    /// Its shape, row-major.
    pub shape: Vec<u32>,
    /// Its values.
    pub values: Vec<f32>,
    /// The gradient added up for the next step.
    pub acc: Vec<f32>,
    /// First moment.
    pub m: Vec<f32>,
    /// Second moment.
    pub v: Vec<f32>,
}

impl From<Saved> for TrainSaved {
    fn from(saved: Saved) -> Self {
        let leaf = |p: SavedParameter| TrainSavedLeaf {
            name: p.name,
            shape: p.dims,
            values: p.values,
            acc: p.acc,
            m: p.m,
            v: p.v,
        };
        let leaves = saved.params.into_iter().map(leaf).collect();
        Self { steps: saved.steps, micro: saved.micro, leaves }
    }
}

impl From<&TrainSaved> for Saved {
    fn from(saved: &TrainSaved) -> Self {
        let param = |l: &TrainSavedLeaf| SavedParameter {
            name: l.name.clone(),
            dims: l.shape.clone(),
            values: l.values.clone(),
            acc: l.acc.clone(),
            m: l.m.clone(),
            v: l.v.clone(),
        };
        let params = saved.leaves.iter().map(param).collect();
        Self { steps: saved.steps, micro: saved.micro, params }
    }
}
