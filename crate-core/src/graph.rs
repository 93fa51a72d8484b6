//! The arena every stage appends to: nodes, what they read, and what of their storage they share.
//! Deliberately absent: values, gradients and any way to edit or remove a node.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::math;
use crate::ops::OpKind;
use crate::tensor::{AxisName, MAX_RANK, Shape, TensorType, round_to};

/// A node's place in its graph: dense, in order of creation, never reused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(NonZeroU32);

impl NodeId {
    /// The node at this place; `None` past 2^32 - 2 nodes.
    pub fn at(ix: usize) -> Option<Self> {
        u32::try_from(ix).ok()?.checked_add(1).and_then(NonZeroU32::new).map(Self)
    }

    /// The place, from 0.
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// How a leaf's elements are made. Nothing is allocated before somebody evaluates.
#[derive(Clone, PartialEq, Debug)]
pub enum Init {
    /// One number everywhere.
    Fill(f64),
    /// One number an element, flat and row-major; exactly as many as the shape has.
    Literal(Arc<[f64]>),
    /// `start + i * step`.
    Arange { start: f64, step: f64 },
    /// Evenly from `a` to `b`, both included.
    Linspace { a: f64, b: f64 },
    /// 1 where the last two indices agree, else 0.
    Eye,
    /// Uniform in `[lo, hi)`: `language.md` gives the generator.
    Rand { seed: u64, lo: f64, hi: f64 },
    /// Standard normal.
    Randn { seed: u64 },
}

/// Draw `i` of a seed, uniform in `[0, 1)`; splitmix64's output mix of a 64-bit counter.
fn uniform(seed: u64, i: u64) -> f64 {
    let mut z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0
}

impl Init {
    /// Element `i` of a tensor of this type, rounded as its storage rounds.
    pub fn element(&self, ty: &TensorType, i: usize) -> f64 {
        let n = ty.shape.n_elements();
        let x = match self {
            Self::Fill(v) => *v,
            Self::Literal(values) => values.get(i).copied().unwrap_or(0.0),
            Self::Arange { start, step } => start + i as f64 * step,
            Self::Linspace { a, b } => {
                let last = n.saturating_sub(1);
                if i as u64 == last && last > 0 {
                    *b
                } else {
                    a + (b - a) * i as f64 / last.max(1) as f64
                }
            }
            Self::Eye => {
                let rank = ty.shape.rank();
                let cols = ty.shape.dim(rank.saturating_sub(1)).max(1) as usize;
                let rows = if rank < 2 { 1 } else { ty.shape.dim(rank - 2).max(1) as usize };
                f64::from(u8::from(i % cols == (i / cols) % rows))
            }
            Self::Rand { seed, lo, hi } => lo + (hi - lo) * uniform(*seed, i as u64),
            Self::Randn { seed } => {
                let i = i as u64;
                let radius = (-2.0 * math::ln(1.0 - uniform(*seed, 2 * i))).sqrt();
                radius * math::cos(std::f64::consts::TAU * uniform(*seed, 2 * i + 1))
            }
        };
        round_to(ty.dtype, x)
    }
}

/// Which entries of an axis a bracket takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    /// One entry; the axis goes.
    At(i64),
    /// `start:stop:step`, with Python's defaults and clamping.
    Range { start: Option<i64>, stop: Option<i64>, step: Option<i64> },
    /// A new axis of extent 1.
    New,
    /// As many whole axes as are missing.
    Rest,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Left out, and the row gives no default.
    None,
    /// A number.
    Num(f64),
    /// A whole number.
    Int(i64),
    /// A switch.
    Bool(bool),
    /// Whole numbers: axes, extents or counts.
    Ints(Arc<[i64]>),
    /// What stands in a bracket.
    Index(Arc<[Index]>),
    /// A text: the name of a mode, or a subscript list.
    Text(Arc<str>),
}

/// An op's attributes, in its row's order. Most ops have none, and that costs nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Params(Option<Arc<[Value]>>);

impl Params {
    /// Attributes in the row's order; construction checks them against the row.
    pub fn new(values: Vec<Value>) -> Self {
        Self((!values.is_empty()).then(|| values.into()))
    }

    /// The attribute at this place of the row.
    pub fn value(&self, ix: usize) -> &Value {
        self.values().get(ix).unwrap_or(&Value::None)
    }

    /// All of them.
    pub fn values(&self) -> &[Value] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// What a node reads, in order. As few as nearly every node has lie in the node itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sources {
    /// The first so many.
    Few(u8, [NodeId; 2]),
    /// Any number.
    Many(Box<[NodeId]>),
}

impl From<&[NodeId]> for Sources {
    fn from(src: &[NodeId]) -> Self {
        match *src {
            [a] => Self::Few(1, [a, a]),
            [a, b] => Self::Few(2, [a, b]),
            _ => Self::Many(src.into()),
        }
    }
}

impl std::ops::Deref for Sources {
    type Target = [NodeId];

    fn deref(&self) -> &[NodeId] {
        match self {
            Self::Few(n, ids) => ids.get(..usize::from(*n)).unwrap_or(ids),
            Self::Many(ids) => ids,
        }
    }
}

impl<'a> IntoIterator for &'a Sources {
    type Item = &'a NodeId;
    type IntoIter = std::slice::Iter<'a, NodeId>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// Given, not computed.
    Leaf(Init),
    /// Computed from its sources.
    Op {
        /// The row of the table.
        op: OpKind,
        /// What it reads, in order.
        src: Sources,
        /// Its attributes.
        params: Params,
    },
}

/// A window into another node's storage. Offset and strides count elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct View {
    /// The node that owns the storage; never itself a view.
    pub root: NodeId,
    /// The first element.
    pub offset: usize,
    /// The step along each axis, left-aligned like the shape.
    pub strides: [isize; MAX_RANK],
}

impl View {
    /// Whether it shows elements of this shape one after the other.
    pub fn is_packed(&self, shape: Shape) -> bool {
        let steps = shape.dims().iter().zip(self.strides).zip(shape.strides());
        steps.into_iter().all(|((d, have), want)| *d <= 1 || have == want)
    }

    /// The first and the last element of the storage that it shows; `None` where it shows none. Two windows into one
    /// storage can share an element where these overlap: exact for packed windows, cautious otherwise.
    pub(crate) fn reach(&self, shape: &Shape) -> Option<(isize, isize)> {
        let (mut lo, mut hi) = (self.offset as isize, self.offset as isize);
        for (d, s) in shape.dims().iter().zip(self.strides) {
            let reach = (*d as isize).checked_sub(1).filter(|r| *r >= 0)? * s;
            lo += reach.min(0);
            hi += reach.max(0);
        }
        Some((lo, hi))
    }
}

/// What a node is to the document.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags {
    /// A trainable leaf.
    pub param: bool,
    /// A number or list written beside a tensor: drawn inside its consumer.
    pub inline: bool,
    /// Its result is written into its first source's storage.
    pub in_place: bool,
    /// A rule's product with a gradient, which is this source: `0 · ∞` is there what it tends to.
    pub carries: Option<u8>,
}

/// A node: what it is, its type, its name and the storage it shares.
#[derive(Clone, Debug)]
pub struct Node {
    /// Leaf or op.
    pub kind: NodeKind,
    /// Type of its value.
    pub ty: TensorType,
    /// What it is to the document.
    pub flags: Flags,
    /// Its name in the text; gradient nodes and inline constants have none.
    pub name: Option<Arc<str>>,
    /// Where its value lives when it has no storage of its own.
    pub view: Option<View>,
}

impl Node {
    /// What it reads, in order; nothing for a leaf.
    pub fn src(&self) -> &[NodeId] {
        match &self.kind {
            NodeKind::Leaf(_) => &[],
            NodeKind::Op { src, .. } => src,
        }
    }

    /// Its row of the table; `None` for a leaf.
    pub const fn op(&self) -> Option<OpKind> {
        match &self.kind {
            NodeKind::Leaf(_) => None,
            NodeKind::Op { op, .. } => Some(*op),
        }
    }
}

/// Append-only. Later stages add nodes; nobody edits or removes one.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    axis_names: Vec<Arc<str>>,
    n_elements: u64,
    /// For a storage with views, the elements of it and of its views since the last write into it.
    shared: BTreeMap<NodeId, u64>,
    /// Storage that some node writes over, once for each.
    written: Vec<NodeId>,
}

impl Graph {
    /// Appends a node. `None` when ids have run out, which every budget forbids long before.
    pub(crate) fn push(&mut self, node: Node) -> Option<NodeId> {
        let id = NodeId::at(self.nodes.len())?;
        let (shape, writes) = (node.ty.shape, node.flags.in_place);
        let needs = self.needs(shape, node.view.as_ref(), writes);
        self.n_elements = self.n_elements.saturating_add(needs);
        if let Some(view) = &node.view {
            let before = if writes { 0 } else { self.sharing(view.root) };
            self.shared.insert(view.root, before.saturating_add(shape.n_elements()));
            if writes {
                self.written.push(view.root);
            }
        }
        self.nodes.push(node);
        Some(id)
    }

    /// Appends a node of another's type without a name, in storage of its own.
    pub(crate) fn push_like(&mut self, of: NodeId, kind: NodeKind, flags: Flags) -> Option<NodeId> {
        let id = NodeId::at(self.nodes.len())?;
        let ty = self.node(of).ty;
        self.n_elements = self.n_elements.saturating_add(ty.shape.n_elements());
        self.nodes.push(Node { kind, ty, flags, name: None, view: None });
        Some(id)
    }

    /// How many elements more a node needs: a view none, a write what it writes over. That is kept, for whoever asks
    /// what was there.
    pub(crate) fn needs(&self, shape: Shape, view: Option<&View>, writes: bool) -> u64 {
        match view {
            None => shape.n_elements(),
            Some(view) if writes => self.sharing(view.root),
            Some(_) => 0,
        }
    }

    /// Elements of a storage and of its views, since the last write into it.
    fn sharing(&self, root: NodeId) -> u64 {
        let own = || self.get(root).map_or(0, |node| node.ty.shape.n_elements());
        self.shared.get(&root).copied().unwrap_or_else(own)
    }

    /// Storage that some node writes over, once for each that does.
    pub(crate) fn written(&self) -> &[NodeId] {
        &self.written
    }

    /// Makes room for so many nodes more, where somebody knows how many will come.
    pub fn reserve(&mut self, more: usize) {
        self.nodes.reserve(more);
    }

    /// The node with this id, if the graph has it.
    pub fn get(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index())
    }

    /// The node with this id.
    ///
    /// # Panics
    /// If the id belongs to another graph: ids are made by [`Graph`] alone, so that is our own bug.
    #[expect(clippy::indexing_slicing, reason = "ids are dense and made by this graph alone")]
    pub fn node(&self, id: NodeId) -> &Node {
        #[cfg(test)]
        crate::looks::look();
        &self.nodes[id.index()]
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The first `n` nodes, in order.
    pub fn prefix(&self, n: usize) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> {
        self.nodes.iter().take(n).enumerate().filter_map(|(ix, n)| {
            #[cfg(test)]
            crate::looks::look();
            Some((NodeId::at(ix)?, n))
        })
    }

    /// All nodes, in order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> {
        self.prefix(self.len())
    }

    /// Elements of all storage, and of what is kept of it where it is written over: views own none.
    pub const fn n_elements(&self) -> u64 {
        self.n_elements
    }

    /// The node whose storage holds this node's value, and the window into it.
    pub fn storage(&self, id: NodeId) -> View {
        let node = self.node(id);
        node.view.unwrap_or_else(|| View { root: id, offset: 0, strides: node.ty.shape.strides() })
    }

    /// Gives a name a place in the list, once.
    pub fn intern_axis(&mut self, name: &str) -> Option<AxisName> {
        let known = self.axis_names.iter().position(|n| &**n == name);
        let ix = known.unwrap_or_else(|| {
            self.axis_names.push(name.into());
            self.axis_names.len() - 1
        });
        AxisName::at(ix)
    }

    /// The word behind an axis name.
    pub fn axis_name(&self, name: AxisName) -> &str {
        self.axis_names.get(name.index()).map_or("", |n| n)
    }
}

#[cfg(test)]
mod tests {
    use super::{Init, uniform};
    use crate::tensor::{Shape, TensorType};

    #[test]
    fn a_seed_gives_the_published_numbers() {
        // splitmix64 with seed 0 starts e220a8397b1dcdaf, 6e789e6aa1b965f4 (its author's own test vector).
        let want = |bits: u64| ((bits >> 11) as f64 / 9_007_199_254_740_992.0).to_bits();
        assert_eq!(uniform(0, 0).to_bits(), want(0xe220_a839_7b1d_cdaf));
        assert_eq!(uniform(0, 1).to_bits(), want(0x6e78_9e6a_a1b9_65f4));
    }

    #[test]
    fn generators_fill_as_documented() {
        let ty = TensorType::f32(Shape::new(&[2, 3]).unwrap_or(Shape::SCALAR));
        let eye: Vec<f64> = (0..6).map(|i| Init::Eye.element(&ty, i)).collect();
        assert_eq!(eye, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        let line = Init::Linspace { a: 0.0, b: 1.0 };
        assert_eq!(line.element(&ty, 5).to_bits(), 1.0f64.to_bits());
    }
}
