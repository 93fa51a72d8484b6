//! Foldback's engine: tensor graphs, reverse-mode differentiation one can step through, and the `.fold` language.
//!
//! A tour, in reading order. [`tensor`] says what a tensor is, [`graph`] holds nodes, [`ops`] is the one list of ops.
//! [`construct`] applies an op, [`forward`] evaluates, [`autodiff`] builds the backward graph as a [`trace`]:
//! events, and a pure fold that gives the picture after any number of them. What cannot be built is a [`refusal`],
//! which is data. [`lang`] reads and writes the text.
//!
//! Deliberately absent: I/O, a clock, threads, and panics on anything a user can write.

#![cfg_attr(
    not(feature = "full"),
    expect(dead_code, reason = "helpers of the rows that are left out")
)]

/// Whether this is the whole engine. The part that the page starts with says nothing of mistakes in a text, nor of what
/// its own rows do not lead to: such a text is beyond it, and the whole answers.
pub(crate) const WHOLE: bool = cfg!(feature = "full");

/// `format!` for what only the whole engine says.
macro_rules! told {
    ($($format:tt)*) => {
        if crate::WHOLE { format!($($format)*) } else { String::new() }
    };
}

#[cfg(test)]
mod looks;

pub mod decimal;
pub mod tensor;

#[cfg(feature = "full")]
pub mod dual;
pub mod kernels;
pub mod math;

pub mod graph;

pub mod refusal;
pub mod trace;

pub mod ops;

pub mod construct;
pub mod rules;

pub mod autodiff;
pub mod forward;
pub mod lang;
pub mod optimizer;

#[cfg(feature = "full")]
pub mod check;
pub mod contract;
#[cfg(feature = "full")]
pub mod train;

pub mod report;

#[cfg(feature = "files")]
pub mod files;
