//! The columns of an op's row, and what its functions are given.
//! Deliberately absent: default methods. A row that leaves something out does not compile.

use std::sync::Arc;

#[cfg(feature = "full")]
use crate::dual::Dual;
use crate::graph::{Graph, Index, Init, NodeId, Params, Value, View};
#[cfg(feature = "full")]
use crate::kernels;
use crate::math::Real;
use crate::refusal::{Limit, Reason};
use crate::rules::{Broadcast, RuleSet};
use crate::tensor::{DType, MAX_RANK, Shape, TensorType};
use crate::trace::Accum;

use super::OpKind;

/// One op: everything the engine, the language, the page, the docs and the tests know of it.
pub struct OpDef {
    /// The name in the text and in the palette.
    pub name: &'static str,
    /// Other spellings the text accepts; the formatter writes `name`.
    pub aliases: &'static [&'static str],
    /// What ggml calls it; empty where it has no such op.
    pub ggml: &'static str,
    /// The infix or prefix sign, if there is one.
    pub sign: Option<Sign>,
    /// The value as a formula of `a`, `b`, `c` (the sources), one line.
    pub formula: &'static str,
    /// What it does, one sentence.
    pub says: &'static str,
    /// How many sources it takes.
    pub arity: Arity,
    /// Its attributes, in the order in which they may be given without a name.
    pub params: &'static [ParamSpec],
    /// The type of the result.
    pub shape: fn(&ShapeCx<'_>) -> Result<TensorType, Reason>,
    /// Whether operands are stretched to the result's shape by the rules' broadcast.
    pub stretches: bool,
    /// Where the result is stored.
    pub storage: Storage,
    /// What reverse mode does with each source; the last entry serves all further sources.
    pub flow: &'static [Flow],
    /// How the value is computed.
    pub forward: Forward,
    /// How gradients are sent to the sources.
    pub backward: Backward,
    /// What other rule sets do differently.
    pub differs: &'static [Differs],
    /// What the op's checks run on.
    pub check: Check,
    /// Where the row stands.
    pub place: Place,
}

/// The sign that stands for an op in an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    /// Between two operands.
    Infix(&'static str),
    /// Before its operand.
    Prefix(&'static str),
}

/// How many sources an op takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arity {
    /// The least.
    pub min: usize,
    /// The most.
    pub max: usize,
}

impl Arity {
    /// Exactly `n`.
    pub const fn exactly(n: usize) -> Self {
        Self { min: n, max: n }
    }
}

/// The kind of an attribute's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamKind {
    /// A number.
    Num,
    /// A whole number.
    Int,
    /// `true` or `false`.
    Bool,
    /// One axis, by number or name.
    Axis,
    /// One axis or a list of them.
    Axes,
    /// A list of extents or counts.
    Ints,
    /// Another node, which becomes a source.
    Node,
    /// What stands in a bracket.
    Index,
    /// A text in quotes.
    Text,
}

impl ParamKind {
    /// What is to be given, a few words.
    pub const fn says(self) -> &'static str {
        match self {
            Self::Num => "a number",
            Self::Int => "a whole number",
            Self::Bool => "true or false",
            Self::Axis => "an axis",
            Self::Axes => "an axis or a list of axes",
            Self::Ints => "a list of whole numbers",
            Self::Node => "a node",
            Self::Index => "given in a bracket, as in x[0, 1:2]",
            Self::Text => "a text in quotes",
        }
    }
}

/// An attribute's default.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Default {
    /// It must be given.
    Required,
    /// It may be left out.
    Absent,
    /// This number.
    Num(f64),
    /// This whole number.
    Int(i64),
    /// This switch.
    Bool(bool),
}

/// An attribute of an op.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ParamSpec {
    /// Its name in the text.
    pub name: &'static str,
    /// Other spellings the text accepts.
    pub aliases: &'static [&'static str],
    /// The kind of its value.
    pub kind: ParamKind,
    /// What holds when it is left out.
    pub default: Default,
}

impl ParamSpec {
    /// An attribute of this kind and default, without other spellings.
    pub const fn new(name: &'static str, kind: ParamKind, default: Default) -> Self {
        Self { name, aliases: &[], kind, default }
    }

    /// The same with other spellings.
    pub const fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

/// `axis=..`, as NumPy has it; `dim` is accepted.
pub const fn axis_param(kind: ParamKind, default: Default) -> ParamSpec {
    ParamSpec::new("axis", kind, default).or(&["dim", "axes", "dims"])
}

/// `keepdims=..`; `keepdim` is accepted.
pub const KEEPDIMS: ParamSpec =
    ParamSpec::new("keepdims", ParamKind::Bool, Default::Bool(false)).or(&["keepdim"]);

impl Params {
    /// A number; `None` where the attribute was left out.
    pub fn num(&self, ix: usize) -> Option<f64> {
        match self.value(ix) {
            Value::Num(x) => Some(*x),
            Value::Int(n) => Some(*n as f64),
            _ => None,
        }
    }

    /// A whole number; `None` where the attribute was left out.
    pub fn int(&self, ix: usize) -> Option<i64> {
        match self.value(ix) {
            Value::Int(n) => Some(*n),
            Value::Num(x) if x.trunc().to_bits() == x.to_bits() => Some(*x as i64),
            _ => None,
        }
    }

    /// A switch; false where it was left out.
    pub fn flag(&self, ix: usize) -> bool {
        matches!(self.value(ix), Value::Bool(true))
    }

    /// Whole numbers, one or a list; `None` where the attribute was left out.
    pub fn ints(&self, ix: usize) -> Option<Vec<i64>> {
        match self.value(ix) {
            Value::Ints(list) => Some(list.to_vec()),
            Value::Int(n) => Some(vec![*n]),
            _ => None,
        }
    }

    /// A text; `None` where the attribute was left out.
    pub fn text(&self, ix: usize) -> Option<&str> {
        match self.value(ix) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What stands in the bracket.
    #[expect(
        clippy::should_implement_trait,
        reason = "an attribute's kind, beside `num`, `int` and `ints`"
    )]
    pub fn index(&self, ix: usize) -> &[Index] {
        match self.value(ix) {
            Value::Index(items) => items,
            _ => &[],
        }
    }
}

/// A shape as an attribute's value.
pub fn shape_value(shape: Shape) -> Value {
    Value::Ints(shape.dims().iter().map(|d| i64::from(*d)).collect::<Arc<[i64]>>())
}

/// What a shape function is given.
pub struct ShapeCx<'a> {
    /// The sources' types.
    pub src: &'a [TensorType],
    /// The attributes.
    pub params: &'a Params,
    /// Which operands may stretch.
    pub broadcast: Broadcast,
    /// The most elements of a tensor.
    pub most: u64,
}

impl ShapeCx<'_> {
    /// Refuses what an op would hold at work, where that is larger than its result.
    pub fn affords(&self, mut extents: impl Iterator<Item = u32>) -> Result<(), Reason> {
        let n = extents.try_fold(1u64, |n, d| n.checked_mul(u64::from(d)));
        if n.is_some_and(|n| n <= self.most) {
            return Ok(());
        }
        Err(Reason::Budget { limit: Limit::TensorElements, max: self.most })
    }

    /// A source's type; construction has checked the number of sources.
    pub fn ty(&self, ix: usize) -> TensorType {
        self.src.get(ix).copied().unwrap_or(TensorType::f32(Shape::SCALAR))
    }

    /// A source's shape.
    pub fn dims(&self, ix: usize) -> Shape {
        self.ty(ix).shape
    }

    /// The axes an `axis=..` attribute names, sorted, each once; every axis where it was left out.
    pub fn axes(&self, param: usize, shape: Shape) -> Result<Vec<usize>, Reason> {
        resolve_axes(self.params, param, shape)
    }
}

/// The axes an `axis=..` attribute names, sorted, each once; every axis where it was left out.
pub fn resolve_axes(params: &Params, param: usize, shape: Shape) -> Result<Vec<usize>, Reason> {
    let Some(list) = params.ints(param) else { return Ok((0..shape.rank()).collect()) };
    let mut out = Vec::with_capacity(list.len().min(MAX_RANK));
    for axis in list {
        let at = shape.resolve_axis(axis).ok_or(Reason::NoSuchAxis { axis, shape })?;
        if out.contains(&at) {
            return Err(Reason::BadParam { param: "axis", wants: "a list without repeats" });
        }
        out.push(at);
    }
    out.sort_unstable();
    Ok(out)
}

/// Where an op's result is stored.
#[derive(Clone, Copy)]
pub enum Storage {
    /// In storage of its own; the op has no in-place form.
    Own,
    /// In storage of its own, or with `!` in its first source's.
    OwnOrFirst,
    /// Always in its second source's, which it overwrites.
    Second,
    /// In its first source's, through a window, where there is one; else it is copied.
    Window(fn(&ShapeCx<'_>, &View) -> Option<View>),
}

/// A value that a rule reads to make a contribution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Read {
    /// A source's value.
    Src(u8),
    /// The node's own value.
    Out,
}

/// What reverse mode does with a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// It gets a gradient: the formula in `a`, `b`, `c`, `y`, `g`, and the values the rule reads for it.
    Carries {
        /// The contribution as a formula, before any fold.
        formula: &'static str,
        /// What the rule reads; shapes do not count.
        reads: &'static [Read],
    },
    /// It gets none; the text says why.
    Ignored(&'static str),
}

impl Flow {
    /// A source that gets a gradient by this formula, made from these values.
    pub const fn carries(formula: &'static str, reads: &'static [Read]) -> Self {
        Self::Carries { formula, reads }
    }
}

/// A row's value function for every number type.
#[derive(Clone, Copy)]
pub struct Forward {
    /// For training, as ggml.
    pub f32: fn(&mut Cx<'_, f32>),
    /// For checks.
    #[cfg(feature = "full")]
    pub f64: fn(&mut Cx<'_, f64>),
    /// For forward-mode slopes.
    #[cfg(feature = "full")]
    pub dual: fn(&mut Cx<'_, Dual>),
    /// How it goes through its operands.
    #[cfg(feature = "full")]
    pub pace: Pace,
}

/// How a value function goes through its operands: what may be computed a block of rows at a time, with the same bits.
/// A test holds each row to its word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg(feature = "full")]
pub enum Pace {
    /// All at once.
    Whole,
    /// Each element from those at its place of the operands, stretched to its own shape.
    Each,
    /// As `Each`, and it only stretches.
    Stretch,
    /// Row by row.
    Rows,
    /// Line by line along the axis that this attribute names.
    Lines(usize),
    /// The sum of each row.
    SumRows,
    /// The sum over the axes that this attribute names.
    Sum(usize),
    /// The sum down to a smaller shape.
    Fold,
}

impl Forward {
    /// Whether it leaves elements as they are, which are zeros then.
    #[cfg(feature = "full")]
    pub fn needs_zeros(&self) -> bool {
        self.pace == Pace::Whole
    }

    /// The same for the part of the engine that does not know.
    #[cfg(not(feature = "full"))]
    pub const fn needs_zeros(&self) -> bool {
        true
    }
}

/// Number types that know which instance of a row's value function is theirs.
pub trait Lane: Real {
    /// The instance for this type.
    fn pick(forward: &Forward) -> fn(&mut Cx<'_, Self>);
}

impl Lane for f32 {
    fn pick(forward: &Forward) -> fn(&mut Cx<'_, Self>) {
        forward.f32
    }
}

#[cfg(feature = "full")]
impl Lane for f64 {
    fn pick(forward: &Forward) -> fn(&mut Cx<'_, Self>) {
        forward.f64
    }
}

#[cfg(feature = "full")]
impl Lane for Dual {
    fn pick(forward: &Forward) -> fn(&mut Cx<'_, Self>) {
        forward.dual
    }
}

/// All instances of one generic value function.
macro_rules! forward {
    ($f:path) => {
        forward!($f, Whole)
    };
    ($f:path, $($pace:tt)+) => {
        $crate::ops::def::Forward {
            f32: $f,
            #[cfg(feature = "full")]
            f64: $f,
            #[cfg(feature = "full")]
            dual: $f,
            #[cfg(feature = "full")]
            pace: $crate::ops::def::Pace::$($pace)+,
        }
    };
}
pub(crate) use forward;

/// A source's value, packed, and its shape.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, T> {
    /// Elements, row-major.
    pub data: &'a [T],
    /// Type.
    pub ty: TensorType,
}

/// What a value function is given.
pub struct Cx<'a, T> {
    /// The sources' values.
    pub src: &'a [Operand<'a, T>],
    /// The attributes.
    pub params: &'a Params,
    /// The type of the result.
    pub ty: TensorType,
    /// Where the result goes, packed, row-major; holds zeros.
    pub out: &'a mut [T],
}

impl<T: Real> Cx<'_, T> {
    /// A source's elements; construction has checked the number of sources.
    pub fn data(&self, ix: usize) -> &[T] {
        self.src.get(ix).map_or(&[], |o| o.data)
    }

    /// A source's shape.
    pub fn shape(&self, ix: usize) -> Shape {
        self.src.get(ix).map_or(Shape::SCALAR, |o| o.ty.shape)
    }

    /// Writes `f` of each element of the first source.
    pub fn map(&mut self, f: impl Fn(T) -> T) {
        let Some(a) = self.src.first() else { return };
        #[cfg(feature = "full")]
        kernels::each(a.data, self.out, f);
        #[cfg(not(feature = "full"))]
        for (o, x) in self.out.iter_mut().zip(a.data) {
            *o = f(*x);
        }
    }

    /// Writes `f` of the first two sources, stretched to the result: extents of 1, missing left axes and,
    /// where an extent divides, tiles.
    pub fn zip(&mut self, f: impl Fn(T, T) -> T) {
        let (Some(a), Some(b)) = (self.src.first(), self.src.get(1)) else { return };
        let out = &mut *self.out;
        if a.data.len() == out.len() && b.data.len() == out.len() {
            #[cfg(feature = "full")]
            return kernels::each_two(a.data, b.data, out, f);
            #[cfg(not(feature = "full"))]
            for ((o, x), y) in out.iter_mut().zip(a.data).zip(b.data) {
                *o = f(*x, *y);
            }
            #[cfg(not(feature = "full"))]
            return;
        }
        #[cfg(feature = "full")]
        if let ([x], true) = (a.data, b.data.len() == out.len()) {
            let x = *x;
            return kernels::each(b.data, out, |y| f(x, y));
        }
        #[cfg(feature = "full")]
        if let ([y], true) = (b.data, a.data.len() == out.len()) {
            let y = *y;
            return kernels::each(a.data, out, |x| f(x, y));
        }
        let dims = self.ty.shape.padded().map(|d| d as usize);
        let width = dims[3];
        #[cfg(feature = "full")]
        {
            let rows = out.len() / width.max(1);
            let is_column =
                |o: &Operand<'_, T>| o.data.len() == rows && o.ty.shape.padded()[3] == 1;
            if a.data.len() == out.len() && is_column(b) {
                return kernels::each_with_column(a.data, b.data, out, width, f);
            }
            if b.data.len() == out.len() && is_column(a) {
                return kernels::each_with_column(b.data, a.data, out, width, |y, x| f(x, y));
            }
        }
        let (at_a, at_b) = (Stretch::new(a.ty.shape), Stretch::new(b.ty.shape));
        for (row, line) in out.chunks_exact_mut(width.max(1)).enumerate() {
            let k = row % dims[2];
            let j = (row / dims[2]) % dims[1];
            let i = row / (dims[2] * dims[1]);
            let (ra, rb) = (at_a.row(a.data, [i, j, k]), at_b.row(b.data, [i, j, k]));
            match (ra.len() == width, rb.len() == width, ra, rb) {
                #[cfg(feature = "full")]
                (true, true, ra, rb) => kernels::each_two(ra, rb, line, &f),
                #[cfg(not(feature = "full"))]
                (true, true, ra, rb) => {
                    for ((o, x), y) in line.iter_mut().zip(ra).zip(rb) {
                        *o = f(*x, *y);
                    }
                }
                (true, _, ra, [y]) => {
                    for (o, x) in line.iter_mut().zip(ra) {
                        *o = f(*x, *y);
                    }
                }
                (_, true, [x], rb) => {
                    for (o, y) in line.iter_mut().zip(rb) {
                        *o = f(*x, *y);
                    }
                }
                (_, _, ra, rb) => {
                    for ((o, x), y) in line.iter_mut().zip(ra.iter().cycle()).zip(rb.iter().cycle())
                    {
                        *o = f(*x, *y);
                    }
                }
            }
        }
    }
}

/// Finds the row of a smaller tensor that a row of a larger one reads.
#[derive(Clone, Copy)]
pub struct Stretch {
    dims: [usize; MAX_RANK],
}

impl Stretch {
    /// For a source of this shape.
    pub fn new(shape: Shape) -> Self {
        Self { dims: shape.padded().map(|d| d as usize) }
    }

    /// The source's row for the outer index of the result: each index modulo the source's extent.
    pub fn row<'a, T>(&self, data: &'a [T], [i, j, k]: [usize; 3]) -> &'a [T] {
        let [d0, d1, d2, d3] = self.dims;
        if data.is_empty() {
            return &[];
        }
        let row = ((i % d0) * d1 + j % d1) * d2 + k % d2;
        data.get(row * d3..(row + 1) * d3).unwrap_or(&[])
    }
}

impl<T: Real> Cx<'_, T> {
    /// Copies the first source.
    pub fn copy(&mut self) {
        self.map(|x| x);
    }
}

/// What a rule sends to one source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contribution {
    /// The source, counted from 0.
    pub src: usize,
    /// How it joins what is there.
    pub via: Accum,
    /// The node that holds it.
    pub value: NodeId,
    /// Whether the source may have been stretched, so that the driver folds.
    pub fold: bool,
}

/// A rule's answer, in the order in which contributions join.
pub type Contributions = Vec<Contribution>;

/// A rule: arithmetic on nodes. It returns what it contributes and never looks left or right.
pub type Rule = fn(&mut Emit<'_>, &Site<'_>) -> Result<Contributions, Reason>;

/// How gradients are sent to the sources.
#[derive(Clone, Copy)]
pub enum Backward {
    /// By this rule.
    Rule(Rule),
    /// The derivative is zero wherever it exists; the text says why. Sources get no gradient.
    Zero(&'static str),
    /// There is none; the text says why.
    Missing(&'static str),
}

/// What another rule set does differently in this row.
pub struct Differs {
    /// Which rule set.
    pub rules: RuleSet,
    /// What it does.
    pub how: How,
    /// Where that engine's source says so.
    pub cite: &'static str,
    /// Other graphs that mean the same and can be built there.
    pub mends: &'static [Mend],
}

/// A rewriting of a node that is refused into one that is not.
pub struct Mend {
    /// The text that replaces `replaces`: `{0}` and `{1}` are the operands' texts, `{min}` an attribute's value.
    pub text: &'static str,
    /// The operand to replace; the whole node where there is none.
    pub replaces: Option<usize>,
    /// Attributes that must have been left out.
    pub without: &'static [&'static str],
    /// What it does, one sentence.
    pub note: &'static str,
}

/// The ways a row can differ.
#[derive(Clone, Copy)]
pub enum How {
    /// It has no backward; the text says why.
    NoBackward(&'static str),
    /// The contributions to these sources are not folded.
    Unfolded(&'static [usize]),
    /// It has another rule.
    Rule(Rule),
    /// It has another rule and goes on with a number that is not the gradient.
    Wrong(Wrong),
    /// Its rule or its kernel takes a packed gradient only; the text says what stops a view.
    Packed(&'static str),
    /// Its constructor takes a first source that is packed, and no view.
    PackedSource,
    /// It is asked for gradients of these sources although its rule sends none.
    Silent(&'static [usize]),
    /// It sends gradients to these sources although nothing comes of them.
    Sends(&'static [usize]),
}

#[cfg(feature = "full")]
impl How {
    /// What the other engine does, as the end of a sentence that begins with its name or the op's.
    pub fn says(&self) -> String {
        let sources = |all: &[usize]| {
            let names: Vec<String> = all.iter().map(|ix| format!("operand {}", ix + 1)).collect();
            names.join(" and ")
        };
        match self {
            Self::NoBackward(why) => format!("has no backward: {why}"),
            Self::Unfolded(to) => {
                format!("does not sum what it sends to a stretched {}", sources(to))
            }
            Self::Rule(_) => "has another rule".to_owned(),
            Self::Wrong(wrong) => format!("goes on with a wrong number: {}", wrong.what),
            Self::Packed(why) => format!("takes a packed gradient only: {why}"),
            Self::PackedSource => "takes a packed first operand only".to_owned(),
            Self::Silent(to) => {
                format!("is asked for a gradient of {} and sends none", sources(to))
            }
            Self::Sends(to) => {
                format!("sends a gradient to {} of which nothing comes", sources(to))
            }
        }
    }
}

/// Upstream asserts that the first source of some ops is packed.
pub const PACKED_SOURCE: Differs = Differs {
    rules: RuleSet::Upstream,
    how: How::PackedSource,
    cite: "ggml.c, asserts that the source is contiguous",
    mends: &[],
};

/// What transposing backward hands on is a view, and many of upstream's rules and kernels do not take one (B4).
pub const PACKED: Differs = Differs {
    rules: RuleSet::Upstream,
    how: How::Packed("upstream takes a packed one here"),
    cite: "ggml.c, asserts that the gradient is contiguous",
    mends: &[],
};

/// A rule whose number is wrong, at least sometimes.
#[derive(Clone, Copy)]
pub struct Wrong {
    /// The rule.
    pub rule: Rule,
    /// What it computes instead, a clause.
    pub what: &'static str,
    /// When it is wrong.
    pub when: When,
}

/// When a rule is wrong.
#[derive(Clone, Copy)]
pub enum When {
    /// Shapes and attributes say so: flagged while the graph is built.
    Built(fn(&Site<'_>) -> bool),
    /// The sources' values say so: flagged once there are values.
    Run(fn(&[Operand<'_, f64>], &Params) -> bool),
}

/// Whether some element of these sources sits where the derivative is a choice.
pub type AtKink = fn(&[Operand<'_, f64>], &Params) -> bool;

/// What an op's checks run on.
pub struct Check {
    /// Programs whose last line defines `y` by this op, with every trainable leaf inside the op's domain.
    pub samples: &'static [&'static str],
    /// Tells where the derivative is a choice; `None` where it never is.
    pub kink: Option<AtKink>,
}

/// Where a row or a rule stands in our source.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The file, from the root of the crate.
    pub file: &'static str,
    /// The line.
    pub line: u32,
}

/// What a rule may know of the node it differentiates. Read-only: a rule cannot reach other gradients.
pub struct Site<'a> {
    /// The node.
    pub node: NodeId,
    /// Its gradient.
    pub grad: NodeId,
    /// Its sources.
    pub src: &'a [NodeId],
    /// The sources' types.
    pub src_ty: &'a [TensorType],
    /// Its own type.
    pub ty: TensorType,
    /// Its attributes.
    pub params: &'a Params,
    /// Which sources want a gradient.
    pub wants: &'a [bool],
    /// Whether the elements of its gradient stand one after the other, as after no transpose.
    pub is_packed: bool,
    /// Where the sources' values lie; empty where each is in storage of its own.
    pub src_view: &'a [View],
    /// Which sources have been sent a gradient already.
    pub is_sent: &'a [bool],
}

impl Site<'_> {
    /// A source's value; the row's arity says which exist.
    pub fn src(&self, ix: usize) -> NodeId {
        self.src.get(ix).copied().unwrap_or(self.node)
    }

    /// A source's shape.
    pub fn shape(&self, ix: usize) -> Shape {
        self.src_ty.get(ix).map_or(Shape::SCALAR, |t| t.shape)
    }

    /// Whether a source's elements stand one after the other.
    pub fn is_src_packed(&self, ix: usize) -> bool {
        self.src_view.get(ix).is_none_or(|view| view.is_packed(self.shape(ix)))
    }

    /// Whether a source wants a gradient.
    pub fn wants(&self, ix: usize) -> bool {
        self.wants.get(ix).copied().unwrap_or(false)
    }
}

/// The only thing a rule can do: append nodes.
pub struct Emit<'a> {
    pub(crate) sink: &'a mut dyn Sink,
}

/// Where emitted nodes go: the driver, which traces each.
pub(crate) trait Sink {
    fn op(&mut self, op: OpKind, src: &[NodeId], params: Params) -> Result<NodeId, Reason>;
    fn constant(&mut self, ty: TensorType, init: Init) -> Result<NodeId, Reason>;
    fn graph(&self) -> &Graph;
}

impl Emit<'_> {
    /// Appends an op without attributes, or with its row's defaults.
    pub fn op(&mut self, op: OpKind, src: &[NodeId]) -> Result<NodeId, Reason> {
        let def = op.def();
        let params =
            if def.params.is_empty() { Params::default() } else { Params::new(defaults(def)) };
        self.sink.op(op, src, params)
    }

    /// Appends an op with attributes in its row's order; the rest take their defaults.
    pub fn with(
        &mut self,
        op: OpKind,
        src: &[NodeId],
        params: Vec<Value>,
    ) -> Result<NodeId, Reason> {
        let mut all = defaults(op.def());
        for (slot, value) in all.iter_mut().zip(params) {
            *slot = value;
        }
        self.sink.op(op, src, Params::new(all))
    }

    /// Appends a constant that holds one number everywhere.
    pub fn fill(&mut self, ty: TensorType, value: f64) -> Result<NodeId, Reason> {
        self.sink.constant(ty.as_f32(), Init::Fill(value))
    }

    /// Appends a constant with one number an element, flat and row-major.
    pub fn literal(&mut self, shape: Shape, values: Vec<f64>) -> Result<NodeId, Reason> {
        self.sink.constant(TensorType::f32(shape), Init::Literal(values.into()))
    }

    /// The step along each axis of a node's storage.
    pub fn strides(&self, node: NodeId) -> [isize; MAX_RANK] {
        self.sink.graph().storage(node).strides
    }

    /// The type of a node.
    pub fn ty(&self, node: NodeId) -> TensorType {
        self.sink.graph().node(node).ty
    }
}

/// A row's attributes when none is given; required ones are left out.
pub fn defaults(def: &OpDef) -> Vec<Value> {
    def.params
        .iter()
        .map(|p| match p.default {
            Default::Required | Default::Absent => Value::None,
            Default::Num(x) => Value::Num(x),
            Default::Int(n) => Value::Int(n),
            Default::Bool(b) => Value::Bool(b),
        })
        .collect()
}

/// An answer with one contribution, to the first source, that needs no fold.
pub fn one(value: NodeId) -> Result<Contributions, Reason> {
    Ok(vec![Contribution { src: 0, via: Accum::Add, value, fold: false }])
}

/// A contribution that is added, and folded where the source was stretched.
pub const fn folded(src: usize, value: NodeId) -> Contribution {
    Contribution { src, via: Accum::Add, value, fold: true }
}

/// The result has the type of the first source, as f32.
pub fn same_as_first(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    Ok(cx.ty(0).as_f32())
}

/// Whether an elementwise op of two such operands makes another of them.
pub fn alike(a: &TensorType, b: &TensorType) -> bool {
    a.shape == b.shape
        && a.dtype == DType::F32
        && b.dtype == DType::F32
        && a.axes == [None; MAX_RANK]
        && b.axes == a.axes
}

/// The result of an elementwise op of two operands under the rules' broadcast.
pub fn elementwise(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    // Most operands are alike, and nothing has to be joined.
    if crate::WHOLE
        && let [a, b] = cx.src
        && alike(a, b)
    {
        return Ok(*a);
    }
    let (a, b) = (cx.ty(0), cx.ty(1));
    let mut out = cx.broadcast.join(&a, &b)?;
    let whole = |t: TensorType| matches!(t.dtype, DType::I32);
    out.dtype = if whole(a) && whole(b) { DType::I32 } else { DType::F32 };
    Ok(out)
}

/// The result of a comparison.
pub fn compared(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    Ok(TensorType { dtype: DType::Bool, ..elementwise(cx)? })
}
