//! All findings of a graph in one pass, in the order in which the build would meet them.
//! Deliberately absent: a second list of what can go wrong. It is the build's own walk, told to go on.

use crate::autodiff::{Request, all_findings};
use crate::graph::Graph;
use crate::refusal::Finding;

/// Every refusal and warning that building the backward graph would meet. The build's own refusal stands first
/// among the refusals.
pub fn findings(graph: &Graph, request: &Request) -> Vec<Finding> {
    all_findings(graph, request)
}
