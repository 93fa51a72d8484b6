//! Rule sets: which operand may stretch, and which rows another engine lacks or gets wrong.
//! Deliberately absent: a second engine. A rule set is a way of reading the rows of the one table.

use crate::ops::OpKind;
use crate::ops::def::{Backward, Flow, How, Wrong};
use crate::refusal::Reason;
use crate::tensor::{DType, MAX_RANK, Shape, TensorType};

/// Whose rules a document is judged by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub enum RuleSet {
    /// ggml put right: tiling broadcast, every rule right, what cannot be built is refused by name.
    #[default]
    Ggml,
    /// ggml as it is.
    Upstream,
    /// Two-sided broadcast and true ranks, as NumPy, PyTorch and JAX have it.
    Numpy,
}

impl RuleSet {
    /// Every rule set, in the order of the switch.
    pub const ALL: &[Self] = &[Self::Ggml, Self::Upstream, Self::Numpy];

    /// The word in the text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ggml => "ggml",
            Self::Upstream => "upstream",
            Self::Numpy => "numpy",
        }
    }

    /// What it stands for, one sentence.
    pub const fn says(self) -> &'static str {
        match self {
            Self::Ggml => {
                "ggml put right: the second operand tiles, and every gradient is right or refused by name."
            }
            Self::Upstream => {
                "ggml as it is: the same engine with the rules that ggml lacks or gets wrong."
            }
            Self::Numpy => "NumPy, PyTorch and JAX: both operands stretch, and ranks are true.",
        }
    }

    /// The rule set a word names.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|r| r.name() == name)
    }

    /// Which operands may stretch.
    pub const fn broadcast(self) -> Broadcast {
        match self {
            Self::Ggml | Self::Upstream => Broadcast::Tile,
            Self::Numpy => Broadcast::TwoSided,
        }
    }

    /// Whether structural problems are found before anything is built; upstream meets some of them later.
    pub const fn looks_ahead(self) -> bool {
        !matches!(self, Self::Upstream)
    }

    /// What this engine calls an op.
    pub fn op_name(self, op: OpKind) -> &'static str {
        let def = op.def();
        match self {
            Self::Numpy => def.name,
            Self::Ggml | Self::Upstream if def.ggml.is_empty() => def.name,
            Self::Ggml | Self::Upstream => {
                let families = ["GGML_OP_", "GGML_UNARY_OP_", "GGML_GLU_OP_"];
                families.iter().find_map(|f| def.ggml.strip_prefix(f)).unwrap_or(def.ggml)
            }
        }
    }

    fn difference(self, op: OpKind, matches: impl Fn(&How) -> bool) -> Option<&'static How> {
        op.def().differs.iter().find(|d| d.rules == self && matches(&d.how)).map(|d| &d.how)
    }

    /// How these rules differentiate an op.
    pub fn backward(self, op: OpKind) -> Backward {
        let replaces = |h: &How| matches!(h, How::NoBackward(_) | How::Rule(_) | How::Wrong(_));
        match self.difference(op, replaces) {
            Some(How::NoBackward(why)) => Backward::Missing(why),
            Some(How::Rule(rule) | How::Wrong(Wrong { rule, .. })) => Backward::Rule(*rule),
            _ if self == Self::Upstream && op.def().ggml.is_empty() => match op.def().backward {
                Backward::Rule(_) => Backward::Missing("ggml has no such op"),
                other => other,
            },
            _ => op.def().backward,
        }
    }

    /// Whether a contribution to this source is folded back onto its shape.
    pub fn folds(self, op: OpKind, src: usize) -> bool {
        match self.difference(op, |h| matches!(h, How::Unfolded(_))) {
            Some(How::Unfolded(list)) => !list.contains(&src),
            _ => true,
        }
    }

    /// Where these rules go on with a number that is not the gradient.
    pub fn wrong(self, op: OpKind) -> impl Iterator<Item = &'static Wrong> {
        let here = op.def().differs.iter().filter(move |d| d.rules == self);
        here.filter_map(|d| match &d.how {
            How::Wrong(wrong) => Some(wrong),
            _ => None,
        })
    }

    /// Whether the op is made of a packed first source only.
    pub fn takes_packed(self, op: OpKind) -> bool {
        self.difference(op, |h| matches!(h, How::PackedSource)).is_some()
    }

    /// Why a gradient that is a view stops at this op.
    pub fn packed(self, op: OpKind) -> Option<&'static str> {
        match self.difference(op, |h| matches!(h, How::Packed(_))) {
            Some(How::Packed(why)) => Some(why),
            _ => None,
        }
    }

    /// Sources that must have a gradient although the rule sends them none.
    pub fn silent(self, op: OpKind) -> &'static [usize] {
        match self.difference(op, |h| matches!(h, How::Silent(_))) {
            Some(How::Silent(list)) => list,
            _ => &[],
        }
    }

    /// Whether an op sends a gradient to a source, as it should or not.
    pub fn sends(self, op: OpKind, src: usize) -> bool {
        let more = self.difference(op, |h| matches!(h, How::Sends(_)));
        matches!(Self::flow(op, src), Flow::Carries { .. })
            || matches!(more, Some(How::Sends(list)) if list.contains(&src))
    }

    /// What reverse mode does with a source.
    pub fn flow(op: OpKind, src: usize) -> Flow {
        let flow = op.def().flow;
        flow.get(src).or(flow.last()).copied().unwrap_or(Flow::Ignored("it has no rule"))
    }
}

/// Which operands of an elementwise op may stretch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broadcast {
    /// Only the second, by tiling: each of its extents divides; the result has the first operand's shape.
    Tile,
    /// Both: extents of 1 and missing left axes; the result is the larger shape.
    TwoSided,
}

impl Broadcast {
    /// Whether two shapes can meet.
    pub fn allows(self, a: Shape, b: Shape) -> bool {
        self.join(&TensorType::f32(a), &TensorType::f32(b)).is_ok()
    }

    /// The type of the result of two operands, as f32; an axis takes the name that either operand gives it.
    pub fn join(self, a: &TensorType, b: &TensorType) -> Result<TensorType, Reason> {
        let (pa, pb) = (a.shape.padded(), b.shape.padded());
        let rank = match self {
            Self::Tile => a.shape.rank(),
            Self::TwoSided => a.shape.rank().max(b.shape.rank()),
        };
        let mut dims = [1; MAX_RANK];
        for axis in 0..MAX_RANK {
            dims[axis] = match self {
                Self::Tile if tiles(pb[axis], pa[axis]) => pa[axis],
                Self::TwoSided if pa[axis] == pb[axis] || pb[axis] == 1 => pa[axis],
                Self::TwoSided if pa[axis] == 1 => pb[axis],
                Self::Tile if fits_two_sided(&pa, &pb) || fits_tiling(&pa, &pb) => {
                    return Err(Reason::FirstWouldStretch { a: a.shape, b: b.shape });
                }
                _ => return Err(Reason::NotBroadcastable { a: a.shape, b: b.shape }),
            };
        }
        let shape = Shape::new(&dims[MAX_RANK - rank..])
            .ok_or(Reason::NotBroadcastable { a: a.shape, b: b.shape })?;
        let mut axes = [None; MAX_RANK];
        for (out, slot) in axes.iter_mut().take(rank).enumerate() {
            let of = |t: &TensorType| {
                (out + t.shape.rank())
                    .checked_sub(rank)
                    .and_then(|ix| t.axes.get(ix).copied().flatten())
            };
            *slot = of(a).or_else(|| of(b));
        }
        Ok(TensorType { dtype: DType::F32, shape, axes })
    }
}

/// Whether `small` tiles up to `large`; an empty tensor tiles only to an empty one.
pub const fn tiles(small: u32, large: u32) -> bool {
    if small == 0 { large == 0 } else { large.is_multiple_of(small) }
}

fn fits_two_sided(a: &[u32; MAX_RANK], b: &[u32; MAX_RANK]) -> bool {
    a.iter().zip(b).all(|(x, y)| x == y || *x == 1 || *y == 1)
}

fn fits_tiling(small: &[u32; MAX_RANK], large: &[u32; MAX_RANK]) -> bool {
    small.iter().zip(large).all(|(s, l)| tiles(*s, *l))
}
