//! What the op table calls things: names, prefixes, arguments and the forms that the grammar itself has.
//!
//! The only door from the language to the op table's names. It holds no name of an op.

use super::format::Spelling;
use super::parse::words::PREFIXES;
use crate::ops::def::ParamSpec;
use crate::ops::{OpKind, by_name};

/// The spelling under which a row lists itself as what `a = b` makes.
pub const PLAIN: &str = "a = b";
/// The spelling under which a row lists itself as what `x[..]` makes.
pub const BRACKET: &str = "x[..]";
/// The spelling under which a row lists itself as what `x.T` makes.
pub const TRANSPOSED: &str = "x.T";
/// The spelling under which a row lists itself as what a list of tensors makes.
pub const LIST: &str = "[a, b]";

/// The row behind a call, with the module name before it, where there is one.
///
/// A row may list a spelling for one module alone, as `np.f`; otherwise the module does not matter.
pub fn op(prefix: Option<&str>, name: &str) -> Option<OpKind> {
    let module = match prefix {
        Some("np" | "numpy" | "jnp") => Some("np"),
        Some(_) => Some("torch"),
        None => None,
    };
    let qualified = module.and_then(|module| by_name(&format!("{module}.{name}")));
    qualified.or_else(|| by_name(name))
}

/// The names under which an op can be called, canonical ones first.
pub fn op_names() -> impl Iterator<Item = &'static str> {
    let is_word = |name: &&str| name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric());
    let names = OpKind::ALL.iter().map(|op| op.def().name);
    let aliases = OpKind::ALL.iter().flat_map(|op| op.def().aliases.iter().copied());
    names.chain(aliases).filter(is_word)
}

/// The place of an attribute in its row.
pub fn param(op: OpKind, name: &str) -> Option<usize> {
    let fits = |spec: &ParamSpec| spec.name == name || spec.aliases.contains(&name);
    op.def().params.iter().position(fits)
}

/// The canonical names of the op table.
#[derive(Clone, Copy, Default, Debug)]
pub struct TableNames;

impl Spelling for TableNames {
    fn op<'a>(&'a self, prefix: Option<&str>, name: &'a str) -> &'a str {
        op(prefix, name).map_or(name, |op| op.def().name)
    }

    fn argument<'a>(&'a self, op: &str, name: &'a str) -> &'a str {
        let Some(op) = by_name(op) else {
            return name;
        };
        param(op, name).and_then(|ix| op.def().params.get(ix)).map_or(name, |spec| spec.name)
    }

    fn drops(&self, prefix: &str) -> bool {
        PREFIXES.contains(&prefix)
    }
}
