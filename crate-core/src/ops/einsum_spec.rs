//! Subscripts of `einsum`: which label each axis has, and how long each label is.
//! Beside NumPy's form there is that of its adjoint, where the result's shape is given: then a label may stand in the
//! result alone (a copy along it), twice in the result (a diagonal), or have extent 1 there (a sum).

use crate::refusal::Reason;
use crate::tensor::{MAX_RANK, Shape};

/// A bound on the products that one node adds up.
const MAX_TERMS: u64 = 1 << 30;

/// A subscript list against shapes.
pub(super) struct Plan {
    /// For each operand, the label of each of its axes.
    pub(super) inputs: Vec<Vec<char>>,
    /// The labels of the result's axes.
    pub(super) output: Vec<char>,
    /// The result's shape.
    pub(super) shape: Shape,
    /// Every label with its extent.
    pub(super) extents: Vec<(char, u32)>,
}

fn bad(wants: &'static str) -> Reason {
    Reason::BadParam { param: "spec", wants }
}

impl Plan {
    pub(super) fn new(spec: &str, shapes: &[Shape], to: Option<Shape>) -> Result<Self, Reason> {
        let spec: String = spec.chars().filter(|c| !c.is_whitespace()).collect();
        let (left, right) = match spec.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (spec.as_str(), None),
        };
        let parts: Vec<&str> = left.split(',').collect();
        if parts.len() != shapes.len() {
            return Err(bad("a list with one entry for each operand"));
        }
        let mut spare = ('A'..='Z').chain('a'..='z').filter(|c| !spec.contains(*c));
        let rest: Vec<char> = spare.by_ref().take(MAX_RANK).collect();
        let mut longest = 0;
        let mut inputs = Vec::with_capacity(parts.len());
        for (part, shape) in parts.iter().zip(shapes) {
            let own = part.chars().filter(|c| *c != '.').count();
            let hidden = shape.rank().checked_sub(own).ok_or(bad("a label for each axis"))?;
            let labels = labels(part, hidden, &rest)?;
            if labels.len() != shape.rank() {
                return Err(bad("a label for each axis"));
            }
            if part.contains("...") {
                longest = longest.max(hidden);
            }
            inputs.push(labels);
        }
        let output = if let Some(right) = right {
            labels(right, longest, &rest)?
        } else {
            // NumPy's implicit form: the hidden axes, then what stands once, in the order of the alphabet.
            let all: Vec<char> = inputs.iter().flatten().copied().collect();
            let once = |c: &&char| all.iter().filter(|x| x == c).count() == 1;
            let mut named: Vec<char> =
                all.iter().filter(once).copied().filter(|c| !rest.contains(c)).collect();
            named.sort_unstable();
            let mut out = labels("...", longest, &rest)?;
            out.append(&mut named);
            out
        };
        let mut extents: Vec<(char, u32)> = Vec::new();
        let shaped = inputs.iter().zip(shapes.iter().copied());
        let given = to.iter().map(|to| (&output, *to));
        for (labels, shape) in shaped.chain(given) {
            if labels.len() != shape.rank() {
                return Err(bad("a label for each axis"));
            }
            // Along a diagonal an extent of 1 does not stretch: there is no diagonal of [1, 3].
            let repeats =
                labels.iter().zip(shape.dims()).enumerate().any(|(ix, (label, extent))| {
                    let before = labels.iter().zip(shape.dims()).take(ix);
                    before.into_iter().any(|(c, known)| c == label && known != extent)
                });
            if repeats {
                return Err(bad("a list whose labels have one extent each"));
            }
            for (label, extent) in labels.iter().zip(shape.dims()) {
                match extents.iter_mut().find(|(c, _)| c == label) {
                    None => extents.push((*label, *extent)),
                    Some((_, known)) if *known == 1 => *known = *extent,
                    Some((_, known)) if *extent == 1 || known == extent => {}
                    Some(_) => return Err(bad("a list whose labels have one extent each")),
                }
            }
        }
        let shape = if let Some(to) = to { to } else { Self::own_shape(&output, &extents)? };
        let terms = extents.iter().fold(1u64, |n, (_, d)| n.saturating_mul(u64::from(*d).max(1)));
        if terms > MAX_TERMS {
            return Err(bad("a sum of at most 2^30 products"));
        }
        Ok(Self { inputs, output, shape, extents })
    }

    fn own_shape(output: &[char], extents: &[(char, u32)]) -> Result<Shape, Reason> {
        let mut dims = Vec::with_capacity(output.len());
        for (ix, label) in output.iter().enumerate() {
            if output.iter().take(ix).any(|c| c == label) {
                return Err(bad("a result in which each label stands once"));
            }
            let known = extents.iter().find(|(c, _)| c == label);
            dims.push(known.ok_or(bad("a result of labels that operands have"))?.1);
        }
        Shape::new(&dims).ok_or(bad("a result of at most four axes"))
    }

    /// Steps along each label through a packed tensor with these labels; 0 along what it does not have.
    pub(super) fn strides(&self, labels: &[char], shape: Shape) -> Vec<usize> {
        let own = shape.strides();
        let step = |(label, _): &(char, u32)| {
            let axes = labels.iter().enumerate().filter(|(_, c)| *c == label);
            axes.filter(|(axis, _)| shape.dim(*axis) != 1)
                .map(|(axis, _)| own.get(axis).map_or(0, |s| *s as usize))
                .sum()
        };
        self.extents.iter().map(step).collect()
    }

    /// The subscripts of the adjoint for one operand: the others, then the gradient, to its own labels.
    pub(super) fn adjoint(&self, of: usize) -> String {
        let mut spec = String::new();
        let others = self.inputs.iter().enumerate().filter(|(ix, _)| *ix != of);
        for (_, labels) in others {
            spec.extend(labels);
            spec.push(',');
        }
        spec.extend(&self.output);
        spec.push_str("->");
        if let Some(own) = self.inputs.get(of) {
            spec.extend(own);
        }
        spec
    }
}

/// The labels of a part, `...` written out as the last `hidden` of `rest`.
fn labels(part: &str, hidden: usize, rest: &[char]) -> Result<Vec<char>, Reason> {
    let (before, after) = match part.split_once("...") {
        Some((before, after)) => (before, Some(after)),
        None => (part, None),
    };
    let named = before.chars().chain(after.unwrap_or("").chars());
    if !named.clone().all(|c| c.is_ascii_alphabetic()) {
        return Err(bad("letters, commas, ... and ->"));
    }
    let mut out: Vec<char> = before.chars().collect();
    if let Some(after) = after {
        // Aligned to the right, as broadcasting is.
        out.extend(rest.iter().skip(rest.len().saturating_sub(hidden)));
        out.extend(after.chars());
    }
    Ok(out)
}
