//! Where edges run: between two layers lies a channel, in it every net has one trunk, and chips stand clear of them.
//! Deliberately absent: search. Boxes stand in layers and long links have places of their own, so nothing is in the way.

mod ends;
mod frame;
mod path;
mod paint;
mod reads;
mod trunks;

pub(crate) use paint::picture;
pub(crate) use path::px;
