//! The doctor: what is likely wrong behind a wrong gradient, and the evidence for it.
//!
//! It takes each node alone. Forward mode through the node's own value function says what should go to each of its
//! operands for the gradient that arrived there; the trace says what was sent. So one mistake is named once, where it
//! is made, however far its consequences reach. Deliberately absent: a derivative of any op, and guesses without
//! evidence. What fits no pattern is said to fit none.

mod fold;
mod local;

use self::fold::{Layout, fold, swapped};
use self::local::{Local, locals};
use crate::graph::{Graph, NodeId};
use crate::refusal::{Finding, Reason};
use crate::trace::Trace;

/// What is likely wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mistake {
    /// It is not summed back onto the shape of an operand that was stretched.
    MissingFold,
    /// It is averaged where it should be summed, or divided by an extent.
    MeanForSum,
    /// It is summed where it should be averaged, or multiplied by an extent.
    SumForMean,
    /// Its sign is flipped.
    Sign,
    /// It has a constant factor too many.
    Factor,
    /// Two axes are swapped.
    Transposed,
    /// It is summed along another axis.
    WrongAxis,
    /// Consecutive elements are taken together where tiles should be, or the other way round.
    Interleaved,
    /// One path sends nothing, or what it sent is lost.
    MissingPath,
    /// It is added twice.
    Doubled,
    /// It fits none of these.
    Unnamed,
}

impl Mistake {
    /// The mistake in a few words.
    pub const fn says(self) -> &'static str {
        match self {
            Self::MissingFold => "not folded onto a stretched operand",
            Self::MeanForSum => "a mean instead of a sum",
            Self::SumForMean => "a sum instead of a mean",
            Self::Sign => "the sign is flipped",
            Self::Factor => "a constant factor",
            Self::Transposed => "transposed",
            Self::WrongAxis => "summed along the wrong axis",
            Self::Interleaved => "tiles and neighbours confused",
            Self::MissingPath => "a path is missing",
            Self::Doubled => "added twice",
            Self::Unnamed => "no known pattern",
        }
    }
}

/// A mistake, where it is made, and what shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnosis {
    /// What is likely wrong.
    pub kind: Mistake,
    /// What shows it, one sentence with the numbers in it.
    pub evidence: String,
    /// The node whose backward makes it.
    pub node: NodeId,
    /// The operand it concerns, counted from 0.
    pub src: Option<usize>,
}

/// How far two contributions may differ, relative to the larger of their largest elements.
const SAME: f64 = 1e-9;

/// Examines every node that was asked for its rule, in the order of the walk. Nothing is said of a right gradient.
pub fn diagnose(trace: &Trace) -> Vec<Diagnosis> {
    let graph = &trace.graph;
    if let Some(Finding::Refusal(r)) = trace.refusal() {
        return refused(graph, r.at, r.src, &r.reason).into_iter().collect();
    }
    let mut out = Vec::new();
    for local in locals(trace) {
        out.extend(examine(graph, &local));
    }
    out
}

/// A build that stopped has its diagnosis in its reason.
fn refused(
    graph: &Graph,
    at: Option<NodeId>,
    src: Option<usize>,
    reason: &Reason,
) -> Option<Diagnosis> {
    let node = at?;
    let to = src.and_then(|ix| graph.node(node).src().get(ix)).map(|s| name(graph, *s));
    let (from, to) = (name(graph, node), to.unwrap_or_else(|| "an operand".to_owned()));
    let (kind, evidence) = match reason {
        Reason::GradShape { expected, got } if got.n_elements() > expected.n_elements() => (
            Mistake::MissingFold,
            format!(
                "{from} sends {got} to {to}, which has shape {expected}: it was stretched, and nothing sums over the stretch."
            ),
        ),
        Reason::GradShape { expected, got } => {
            (Mistake::Unnamed, format!("{from} sends {got} to {to}, which has shape {expected}."))
        }
        Reason::NoContribution => {
            (Mistake::MissingPath, format!("{from} sends nothing to {to}, which needs a gradient."))
        }
        _ => return None,
    };
    Some(Diagnosis { kind, evidence, node, src })
}

fn name(graph: &Graph, id: NodeId) -> String {
    let node = graph.node(id);
    match (&node.name, node.op()) {
        (Some(name), _) => name.to_string(),
        (None, Some(op)) => format!("a {} node", op.def().name),
        (None, None) => "a constant".to_owned(),
    }
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m: f64, x| if x.is_nan() { f64::NAN } else { m.max(x.abs()) })
}

fn same(a: &[f64], b: &[f64]) -> bool {
    let size = largest(a).max(largest(b));
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= SAME * size)
}

/// What one node sends to one operand, against what it should.
fn examine(graph: &Graph, l: &Local) -> Option<Diagnosis> {
    let (from, to) = (name(graph, l.node), name(graph, l.into));
    let operand = format!("{to} (operand {} of {from})", l.src + 1);
    let found = |kind, evidence| Some(Diagnosis { kind, evidence, node: l.node, src: Some(l.src) });
    if let Some(lost) = &l.lost {
        let who: Vec<String> = lost.iter().map(|id| name(graph, *id)).collect();
        let who = who.join(" and ");
        return found(
            Mistake::MissingPath,
            format!("What {from} sends to {to} replaces what {who} had sent: that path is lost."),
        );
    }
    if l.times > 1 {
        return found(
            Mistake::Doubled,
            format!("What {from} sends to {to} is added {} times.", l.times),
        );
    }
    let (got, want) = (l.sent.as_slice(), l.right.as_slice());
    if same(got, want) {
        return None;
    }
    if got.is_empty() || largest(got) == 0.0 {
        let gap = largest(want);
        return found(
            Mistake::MissingPath,
            format!(
                "Nothing goes to {operand}: the path through {from} is missing, up to {gap:.6}."
            ),
        );
    }
    if let Some(ratio) = constant_ratio(got, want) {
        return ratio_of(l, ratio, &operand).and_then(|(kind, evidence)| found(kind, evidence));
    }
    let (large, small) = (l.out, l.own);
    for (a, b) in pairs() {
        // The right numbers in an order that swapping two axes gives, whatever shape they are then read in.
        if same(got, &swapped(want, small, a, b))
            || same(got, &swapped(want, small.swap(a, b), a, b))
        {
            let (a, b) = (small.axis(a), small.axis(b));
            return found(
                Mistake::Transposed,
                format!("What goes to {operand} is right once axes {a} and {b} are swapped."),
            );
        }
    }
    for axis in 0..4 {
        let mut along = [false; 4];
        along[axis] = true;
        if large.dims[axis] > small.dims[axis]
            && small.dims[axis] > 1
            && same(got, &fold(&l.unfolded, large, small, along))
        {
            let axis = small.axis(axis);
            return found(
                Mistake::Interleaved,
                format!(
                    "What goes to {operand} adds up neighbours along axis {axis}; its copies are tiles."
                ),
            );
        }
    }
    for (a, b) in pairs() {
        if large.dims[a] == large.dims[b]
            && same(got, &fold(&swapped(&l.unfolded, large, a, b), large, small, [false; 4]))
        {
            let (a, b) = (large.axis(a), large.axis(b));
            return found(
                Mistake::WrongAxis,
                format!(
                    "What goes to {operand} is summed along axis {b} instead of {a}, or the other way round."
                ),
            );
        }
    }
    if l.unfolded.len() > got.len() && same(got, l.unfolded.get(..got.len()).unwrap_or(&[])) {
        return found(
            Mistake::MissingFold,
            format!("Only the first copy of {operand} counts; the others are not summed."),
        );
    }
    let (ix, gap) = worst(got, want);
    let (is, should) =
        (got.get(ix).copied().unwrap_or(f64::NAN), want.get(ix).copied().unwrap_or(f64::NAN));
    found(
        Mistake::Unnamed,
        format!(
            "Element {ix} of what goes to {operand} is {is:.6} and should be {should:.6} (off by {gap:.6})."
        ),
    )
}

/// Every pair of axes.
fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b)))
}

fn worst(got: &[f64], want: &[f64]) -> (usize, f64) {
    let mut out = (0, 0.0);
    for (ix, (a, b)) in got.iter().zip(want).enumerate() {
        let gap = (a - b).abs();
        if gap > out.1 || gap.is_nan() {
            out = (ix, gap);
        }
    }
    out
}

/// The one number by which all of `want` is multiplied, if there is one.
fn constant_ratio(got: &[f64], want: &[f64]) -> Option<f64> {
    let (mut top, mut bottom) = (0.0, 0.0);
    for (a, b) in got.iter().zip(want) {
        top += a * b;
        bottom += b * b;
    }
    let ratio = top / bottom;
    let scaled: Vec<f64> = want.iter().map(|x| x * ratio).collect();
    (ratio.is_finite() && ratio != 0.0 && same(got, &scaled)).then_some(ratio)
}

fn ratio_of(l: &Local, ratio: f64, operand: &str) -> Option<(Mistake, String)> {
    let is = |x: f64, y: f64| (x - y).abs() <= 1e-7 * y.abs();
    if is(ratio, 1.0) {
        return None;
    }
    if is(ratio, -1.0) {
        return Some((Mistake::Sign, format!("What goes to {operand} is right but for its sign.")));
    }
    let n = |layout: Layout| layout.dims.iter().product::<usize>() as f64;
    let (out, own) = (n(l.out), n(l.own));
    let whole = if out > own { out / own.max(1.0) } else { own / out.max(1.0) };
    let extents = l.out.dims.iter().chain(&l.own.dims).map(|d| *d as f64);
    for k in std::iter::once(whole).chain(extents).filter(|k| *k > 1.0) {
        let counts = if is(k, whole) {
            format!("{k} elements belong to one")
        } else {
            format!("{k} is the extent of an axis")
        };
        if is(ratio, 1.0 / k) {
            let says = format!(
                "What goes to {operand} is exactly 1/{k} of what it should be, and {counts}: a mean instead of a sum?"
            );
            return Some((Mistake::MeanForSum, says));
        }
        if is(ratio, k) {
            let says = format!(
                "What goes to {operand} is exactly {k} times what it should be, and {counts}: a sum instead of a mean?"
            );
            return Some((Mistake::SumForMean, says));
        }
    }
    if is(ratio, 2.0) {
        let says =
            format!("What goes to {operand} is exactly twice what it should be: added twice?");
        return Some((Mistake::Doubled, says));
    }
    Some((
        Mistake::Factor,
        format!("What goes to {operand} is {ratio:.6} times what it should be, everywhere."),
    ))
}
