//! Everything that can be wrong, as data: the code, the place, the reason with its payload.
//! Deliberately absent: free text inside a reason, `Other`, and panics. Words are made at the edge, by `sentence`.

use std::fmt;

use crate::graph::NodeId;
use crate::ops::OpKind;
use crate::tensor::{DType, Shape};

/// Words that the part of the engine has too, which the page starts with; other words only the whole has.
macro_rules! first {
    ($words:expr, first) => {
        $words
    };
    ($words:expr) => {
        if crate::WHOLE { $words } else { "" }
    };
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $next:literal $(, $first:ident)?;)*) => {
        /// The stable, kebab-case name of a kind of finding: one list for engine, page, command and docs.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
        pub enum Code { $($(#[doc = $doc])* $variant,)* }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name, as it is printed and searched for.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => first!($name $(, $first)?),)* }
            }

            /// What it means, one sentence.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => first!(concat!($($doc),*).trim_ascii_start() $(, $first)?),)*
                }
            }

            /// What to do about it, one sentence.
            pub const fn what_next(self) -> &'static str {
                match self { $(Self::$variant => first!($next $(, $first)?),)* }
            }
        }
    };
}

codes! {
    /// The line cannot be read.
    Syntax = "syntax", "Correct the line where it is underlined.";
    /// An input is not connected yet.
    OpenInput = "open-input", "Put a name or a number where the question mark stands.";
    /// No line defines this name.
    UnknownName = "unknown-name", "Use a name that some line defines.";
    /// No op has this name.
    UnknownOp = "unknown-op", "Use an op of the list.";
    /// The op does not take these arguments.
    WrongArguments = "wrong-arguments", "Give the arguments that the op's signature names.";
    /// The name is defined twice.
    DuplicateName = "duplicate-name", "Rename one of the two.";
    /// The name depends on itself.
    Cycle = "cycle", "Break the circle: one of these lines must not use the other.";
    /// The value does not fit its shape or type.
    BadLiteral = "bad-literal", "Give as many numbers as the shape has.";
    /// The file cannot be used.
    BadFile = "bad-file", "Check the file's name and format.";
    /// The shapes of the operands do not fit each other.
    ShapesDoNotBroadcast = "shapes-do-not-broadcast", "Make the extents equal, or 1 where an operand should stretch.";
    /// These rules stretch only the second operand.
    BroadcastNotAllowed = "broadcast-not-allowed", "Swap the operands, stretch the first with repeat, or use rules numpy.";
    /// The op needs another shape.
    ShapeMismatch = "shape-mismatch", "Change the operand's shape to what the op takes.";
    /// The op needs packed elements.
    NotContiguous = "not-contiguous", "Make a packed copy first.";
    /// Nothing in the graph can be trained.
    NoParameter = "no-parameter", "Make a leaf trainable: write param instead of const.";
    /// There is no node to differentiate.
    NoLoss = "no-loss", "Name a node loss, or write backward NODE.";
    /// Backward starts from one number.
    LossNotScalar = "loss-not-scalar", "Sum the node to one number, or give a cotangent with backward NODE with VALUE.";
    /// These rules have no backward for this op.
    NoBackward = "no-backward", "Use an op that has a backward, stop the gradient here, or change the rules.", first;
    /// These rules have a backward for this op, but not in this form.
    PartialBackward = "partial-backward", "Write the form that has a backward, or change the rules.";
    /// A value that the backward still needs is overwritten.
    InPlaceWrite = "in-place-write", "Use the out-of-place form, without the exclamation mark.";
    /// Only floating-point tensors carry a gradient.
    NonFloatSource = "non-float-source", "Store the leaf as f32, or make it const.";
    /// A source that needs a gradient was given none.
    GradientMissing = "gradient-missing", "Stop the gradient at this operand, or change the rules.";
    /// A gradient has another shape than its tensor.
    GradientShape = "gradient-shape", "Make the stretch a node of its own with repeat, stop the gradient here, or change the rules.", first;
    /// A supplied accumulator has another shape than its tensor.
    AccumulatorShape = "accumulator-shape", "Give the accumulator its tensor's shape.";
    /// The gradient's layout does not fit the rule.
    Layout = "layout", "Change the rules, or avoid the transpose before this op.";
    /// The graph has too many nodes.
    TooManyNodes = "too-many-nodes", "Make the graph smaller.";
    /// The tensors have too many elements.
    TooManyElements = "too-many-elements", "Make the tensors smaller.";
    /// The run or its trace has too many steps.
    TooManySteps = "too-many-steps", "Ask for fewer steps.";
    /// The gradient is a choice at this point.
    Kink = "kink", "Nothing needs mending: any value between the two slopes is right.", first;
    /// A value is infinite or not a number.
    NotFinite = "not-finite", "Follow the value back to the node where it began.";
    /// Both operands were stretched.
    BroadcastBoth = "broadcast-both", "Check that both stretches were meant.", first;
    /// No node uses this parameter.
    UnusedParameter = "unused-parameter", "Use it, or remove it.", first;
    /// The loss does not depend on this parameter.
    NoGradientPath = "no-gradient-path", "Connect it to the loss, or make it const.", first;
    /// Upstream goes on here with a number that is not the gradient.
    UpstreamValue = "upstream-value", "Use rules ggml for the right number.", first;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Severity {
    /// Something is refused.
    Error,
    /// It is built, but should not be trusted unseen.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// The word in the command's answer.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// Where in the life of a graph something was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Stage {
    /// While a node was made.
    Construct,
    /// While nodes that need a gradient were marked.
    Mark,
    /// While gradients were built.
    Reverse,
    /// While values were computed.
    Run,
    /// While a step was taken.
    Train,
}

/// A bound of `Budget` that was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Nodes of a graph.
    Nodes,
    /// Letters of the nodes' names.
    Names,
    /// Elements of one tensor.
    TensorElements,
    /// Elements of all tensors together.
    Elements,
    /// Events of a trace, or steps of a run.
    Steps,
}

/// Why something is refused, with what is needed to say it well.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// No trainable leaf.
    NoParams,
    /// No node to differentiate.
    NoLoss,
    /// Backward from more than one element without a cotangent.
    LossNotScalar {
        /// The node's shape.
        got: Shape,
    },
    /// The cotangent has another shape than the node.
    CotangentShape {
        /// The node's shape.
        expected: Shape,
        /// The cotangent's.
        got: Shape,
    },
    /// These rules have no backward for the op; the text says why.
    NoRule(&'static str),
    /// These rules have a backward, but not for this form.
    NotThisForm(&'static str),
    /// A source that cannot carry a gradient.
    SrcDtype {
        /// Its type.
        got: DType,
    },
    /// A value that the backward reads is overwritten.
    Overwritten {
        /// Whose value.
        victim: NodeId,
        /// Whose backward reads it; `None` when the victim is a trainable leaf.
        reader: Option<NodeId>,
    },
    /// These rules take no in-place write on a path from a parameter, needed or not.
    InPlace,
    /// An accumulated or single contribution has another shape.
    GradShape {
        /// The source's shape.
        expected: Shape,
        /// The gradient's.
        got: Shape,
    },
    /// Only one number can be added to every element here.
    GradNotScalar {
        /// The contribution's shape.
        got: Shape,
    },
    /// The gradient is a view, and these rules need it packed; the text says why.
    GradNotContiguous(&'static str),
    /// A needed source got nothing.
    NoContribution,
    /// A supplied accumulator does not fit.
    AccumulatorShape {
        /// The node's shape.
        expected: Shape,
        /// The accumulator's.
        got: Shape,
    },
    /// The operands fit in no way.
    NotBroadcastable {
        /// First operand.
        a: Shape,
        /// Second operand.
        b: Shape,
    },
    /// They would fit if the first operand stretched, which these rules do not do.
    FirstWouldStretch {
        /// First operand.
        a: Shape,
        /// Second operand.
        b: Shape,
    },
    /// An operand's shape is not one the op takes; the text says what it takes.
    BadShape {
        /// What the op takes.
        wants: &'static str,
        /// What it was given.
        got: Shape,
    },
    /// Two operands must agree; the text says how.
    ShapesDisagree {
        /// How they must agree.
        wants: &'static str,
        /// First operand.
        a: Shape,
        /// Second operand.
        b: Shape,
    },
    /// The first operand is a view, and these rules need it packed.
    SrcNotContiguous,
    /// The wrong number of operands.
    Arity {
        /// The least it takes.
        min: usize,
        /// The most it takes.
        max: usize,
        /// What it was given.
        got: usize,
    },
    /// An attribute has a value the op does not take.
    BadParam {
        /// Its name.
        param: &'static str,
        /// What it must be.
        wants: &'static str,
    },
    /// An axis that the operand does not have.
    NoSuchAxis {
        /// The axis asked for.
        axis: i64,
        /// The operand's shape.
        shape: Shape,
    },
    /// The op has no in-place form.
    NotInPlace,
    /// A bound was met before anything was allocated.
    Budget {
        /// Which bound.
        limit: Limit,
        /// Its value.
        max: u64,
    },
    /// The rule gave contributions that do not fit its row: our own bug, reported instead of trusted.
    RuleContract(&'static str),
}

impl Reason {
    /// Whether the part of the engine that the page starts with has words for it.
    pub const fn is_first(&self) -> bool {
        matches!(self, Self::GradShape { .. } | Self::NoRule(_))
    }

    /// The stable name of the pattern.
    pub const fn code(&self) -> Code {
        match self {
            Self::NoParams => Code::NoParameter,
            Self::NoLoss => Code::NoLoss,
            Self::LossNotScalar { .. } => Code::LossNotScalar,
            Self::NoRule(_) => Code::NoBackward,
            Self::NotThisForm(_) | Self::GradNotScalar { .. } => Code::PartialBackward,
            Self::SrcDtype { .. } => Code::NonFloatSource,
            Self::Overwritten { .. } | Self::InPlace => Code::InPlaceWrite,
            Self::GradShape { .. } | Self::CotangentShape { .. } => Code::GradientShape,
            Self::NoContribution | Self::RuleContract(_) => Code::GradientMissing,
            Self::AccumulatorShape { .. } => Code::AccumulatorShape,
            Self::GradNotContiguous(_) => Code::Layout,
            Self::SrcNotContiguous => Code::NotContiguous,
            Self::NotBroadcastable { .. } => Code::ShapesDoNotBroadcast,
            Self::FirstWouldStretch { .. } => Code::BroadcastNotAllowed,
            Self::BadShape { .. } | Self::ShapesDisagree { .. } => Code::ShapeMismatch,
            Self::Arity { .. }
            | Self::BadParam { .. }
            | Self::NoSuchAxis { .. }
            | Self::NotInPlace => Code::WrongArguments,
            Self::Budget { limit: Limit::Nodes | Limit::Names, .. } => Code::TooManyNodes,
            Self::Budget { limit: Limit::TensorElements | Limit::Elements, .. } => {
                Code::TooManyElements
            }
            Self::Budget { limit: Limit::Steps, .. } => Code::TooManySteps,
        }
    }

    /// The reason in words. `op` is the engine's word for the op, `node` the node's name, `src` counts from 0.
    pub fn sentence(
        &self,
        op: &str,
        node: &str,
        src: Option<usize>,
        name: &dyn Fn(NodeId) -> String,
    ) -> String {
        let operand = || match src {
            Some(ix) => format!("operand {}", ix + 1),
            None => "an operand".to_owned(),
        };
        let known = |shapes: String| {
            let ix = src.unwrap_or(0);
            format!(
                "cannot be built through {op} (node \"{node}\"): its backward gave src[{ix}] no gradient or one of another shape. {shapes}"
            )
        };
        match self {
            Self::GradShape { expected, got } => known(format!(
                "The gradient has shape {got}, and {} has shape {expected}.",
                operand()
            )),
            Self::NoRule(why) => format!("{op} (node \"{node}\") has no backward: {why}."),
            _ if !crate::WHOLE => String::new(),
            Self::NoParams => "The graph has no trainable leaf.".to_owned(),
            Self::NoLoss => "There is no node to differentiate.".to_owned(),
            Self::LossNotScalar { got } => {
                format!("Backward starts from one number, and {node} has shape {got}.")
            }
            Self::CotangentShape { expected, got } => {
                format!("The cotangent has shape {got}, and {node} has shape {expected}.")
            }
            Self::NotThisForm(why) => {
                format!("{op} (node \"{node}\") has a backward, but not in this form: {why}.")
            }
            Self::SrcNotContiguous => {
                format!(
                    "{node}: {op} reads its operand in the order of memory, and it is a transposed view."
                )
            }
            Self::GradNotContiguous(why) => {
                format!("{op} (node \"{node}\") is given a gradient that is a view, and {why}.")
            }
            Self::SrcDtype { got } if src.is_some() => format!(
                "{} of {node} is stored as {got}, and upstream sends no gradient to such a tensor.",
                operand()
            ),
            Self::SrcDtype { got } => format!(
                "{node} is stored as {got}, and only floating-point tensors carry a gradient."
            ),
            Self::InPlace => format!(
                "{op} (node \"{node}\") writes in place, and upstream takes no such write on a path from a parameter."
            ),
            Self::Overwritten { victim, reader: Some(reader) } => format!(
                "{op} (node \"{node}\") writes over {}, whose old value the backward of {} needs.",
                name(*victim),
                name(*reader)
            ),
            Self::Overwritten { victim, reader: None } => {
                format!("{op} (node \"{node}\") writes over {}, a leaf that trains.", name(*victim))
            }
            Self::NoContribution => known(format!("The rule gave {} nothing.", operand())),
            Self::GradNotScalar { got } => format!(
                "{op} (node \"{node}\") adds one number to a gradient that already exists, and was given shape {got}."
            ),
            Self::AccumulatorShape { expected, got } => {
                format!(
                    "The accumulator of {node} has shape {got}, and {node} has shape {expected}."
                )
            }
            Self::NotBroadcastable { a, b } => {
                format!("{node}: {a} and {b} do not broadcast.")
            }
            Self::FirstWouldStretch { a, b } => format!(
                "{node}: {a} would have to stretch to {b}, and these rules stretch only the second operand."
            ),
            Self::BadShape { wants, got } => format!("{node}: {op} takes {wants}, not {got}."),
            Self::ShapesDisagree { wants, a, b } => {
                format!("{node}: {op} needs {wants}; got {a} and {b}.")
            }
            Self::Arity { min, max, got } if min == max => {
                format!("{op} takes {min} operand{}, not {got}.", if *min == 1 { "" } else { "s" })
            }
            Self::Arity { min, max: usize::MAX, got } => {
                format!(
                    "{op} takes at least {min} operand{}, not {got}.",
                    if *min == 1 { "" } else { "s" }
                )
            }
            Self::Arity { min, max, got } => {
                format!("{op} takes {min} to {max} operands, not {got}.")
            }
            Self::BadParam { param, wants } => format!("{op}: {param} must be {wants}."),
            Self::NoSuchAxis { axis, shape } => format!("{op}: {shape} has no axis {axis}."),
            Self::NotInPlace => format!("{op} has no in-place form."),
            Self::Budget { limit, max } => match limit {
                Limit::Nodes => format!("The graph would have more than {max} nodes."),
                Limit::Names => {
                    format!("The names of the nodes would have more than {max} letters.")
                }
                Limit::TensorElements => format!("{node} would have more than {max} elements."),
                Limit::Elements => {
                    format!("The tensors together would have more than {max} elements.")
                }
                Limit::Steps => format!("This would take more than {max} steps."),
            },
            Self::RuleContract(what) => known(format!("The rule {what}.")),
        }
    }
}

/// Upstream goes on here, and the number is suspect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HazardKind {
    /// The gradient is a choice at these values.
    Kink,
    /// A value that is infinite or not a number begins here.
    NotFinite,
    /// Both operands stretch.
    BroadcastBoth,
    /// A trainable leaf that no node uses.
    UnusedParameter,
    /// A trainable leaf the loss does not depend on; its gradient is zeros.
    NoGradientPath,
    /// Upstream computes something that is not the gradient; the text says what.
    UpstreamValue(&'static str),
}

impl HazardKind {
    /// The stable name of the pattern.
    pub const fn code(self) -> Code {
        match self {
            Self::Kink => Code::Kink,
            Self::NotFinite => Code::NotFinite,
            Self::BroadcastBoth => Code::BroadcastBoth,
            Self::UnusedParameter => Code::UnusedParameter,
            Self::NoGradientPath => Code::NoGradientPath,
            Self::UpstreamValue(_) => Code::UpstreamValue,
        }
    }

    /// The hazard in words.
    pub fn sentence(self, op: &str, node: &str) -> String {
        match self {
            Self::Kink => format!("{node} sits on a kink of {op}: its gradient is a choice."),
            Self::NotFinite => format!("A value that is not finite begins at {node}."),
            Self::BroadcastBoth => format!("Both operands of {node} stretch."),
            Self::UnusedParameter => format!("No node uses {node}."),
            Self::NoGradientPath => {
                format!("The loss does not depend on {node}; its gradient is zeros.")
            }
            Self::UpstreamValue(what) => format!("{op} (node \"{node}\"): {what}."),
        }
    }
}

/// Something that cannot be built, and where.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    /// When it was found.
    pub stage: Stage,
    /// The node; `None` where the whole graph is meant.
    pub at: Option<NodeId>,
    /// The source, counted from 0.
    pub src: Option<usize>,
    /// The node's op; `None` for a leaf.
    pub op: Option<OpKind>,
    /// Why.
    pub reason: Reason,
}

/// Something that is built and should not be trusted unseen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hazard {
    /// The node.
    pub at: NodeId,
    /// The source, counted from 0.
    pub src: Option<usize>,
    /// What.
    pub kind: HazardKind,
}

/// A refusal or a hazard.
#[derive(Clone, PartialEq, Debug)]
pub enum Finding {
    /// Cannot be built.
    Refusal(Refusal),
    /// Is built, with a warning.
    Hazard(Hazard),
}

impl Finding {
    /// The stable name of the pattern.
    pub const fn code(&self) -> Code {
        match self {
            Self::Refusal(r) => r.reason.code(),
            Self::Hazard(h) => h.kind.code(),
        }
    }

    /// The node it is about.
    pub fn at(&self) -> Option<NodeId> {
        #[cfg(test)]
        crate::looks::look();
        match self {
            Self::Refusal(r) => r.at,
            Self::Hazard(h) => Some(h.at),
        }
    }

    /// The source it is about, counted from 0.
    pub const fn src(&self) -> Option<usize> {
        match self {
            Self::Refusal(r) => r.src,
            Self::Hazard(h) => h.src,
        }
    }

    /// How bad it is.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::Refusal(_) => Severity::Error,
            Self::Hazard(_) => Severity::Warning,
        }
    }
}
