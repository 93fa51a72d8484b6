//! Where edges run: between two layers lies a channel, in it every net has one trunk, and chips stand clear of them.
//! Deliberately absent: search. Boxes stand in layers and long links have places of their own, so nothing is in the way.

mod chips;
mod clear;
mod ends;
mod frame;
mod paint;
mod path;
mod reads;
mod trunks;
mod ways;

pub(crate) use paint::picture;
pub(crate) use path::px;
