//! Ways to fill a leaf without writing its numbers: generators, and files.

#[cfg(feature = "full")]
use std::sync::Arc;

use super::Val;
#[cfg(feature = "full")]
use super::constant::Const;
use super::constant::{ConstCx, Literal};
#[cfg(feature = "full")]
use super::{Unloaded, Wanted};
use crate::graph::Init;
use crate::lang::ast::{Argument, ExprId, ExprKind, Ident};
#[cfg(feature = "full")]
use crate::lang::ast::{Call, Expr};
use crate::lang::{Code, Span};
#[cfg(feature = "full")]
use crate::refusal::{Limit, Reason};
#[cfg(feature = "full")]
use crate::tensor::{MAX_RANK, Shape, TensorType};

/// A way to fill a leaf without writing its numbers.
struct Generator {
    name: &'static str,
    params: &'static [(&'static str, Option<f64>)],
    make: fn(&[f64], seed: u64) -> Init,
}

const SEED: &str = "seed";

const GENERATORS: &[Generator] = &[
    Generator { name: "zeros", params: &[], make: |_, _| Init::Fill(0.0) },
    Generator { name: "ones", params: &[], make: |_, _| Init::Fill(1.0) },
    Generator { name: "full", params: &[("v", None)], make: |a, _| Init::Fill(nth(a, 0)) },
    Generator {
        name: "arange",
        params: &[("start", Some(0.0)), ("step", Some(1.0))],
        make: |a, _| Init::Arange { start: nth(a, 0), step: nth(a, 1) },
    },
    Generator {
        name: "linspace",
        params: &[("a", None), ("b", None)],
        make: |a, _| Init::Linspace { a: nth(a, 0), b: nth(a, 1) },
    },
    Generator { name: "eye", params: &[], make: |_, _| Init::Eye },
    Generator {
        name: "rand",
        params: &[(SEED, Some(1.0)), ("lo", Some(0.0)), ("hi", Some(1.0))],
        make: |a, seed| Init::Rand { seed, lo: nth(a, 1), hi: nth(a, 2) },
    },
    Generator { name: "randn", params: &[(SEED, Some(1.0))], make: |_, seed| Init::Randn { seed } },
];

fn nth(values: &[f64], ix: usize) -> f64 {
    values.get(ix).copied().unwrap_or(0.0)
}

/// All generators with their parameters, each with its default where it has one.
pub(in crate::lang) fn generators()
-> impl Iterator<Item = (&'static str, &'static [(&'static str, Option<f64>)])> {
    GENERATORS.iter().map(|generator| (generator.name, generator.params))
}

/// The names of all generators.
pub(in crate::lang) fn generator_names() -> impl Iterator<Item = &'static str> {
    GENERATORS.iter().map(|generator| generator.name)
}

pub(super) fn is_generator(name: &str) -> bool {
    GENERATORS.iter().any(|generator| generator.name == name)
}

impl ConstCx<'_> {
    pub(super) fn generator(
        &mut self,
        name: &str,
        arguments: &[Argument],
        span: Span,
    ) -> Option<Literal> {
        let generator = GENERATORS.iter().find(|generator| generator.name == name)?;
        let mut values: Vec<Option<f64>> = vec![None; generator.params.len()];
        let mut seed = 1;
        for (place, Argument { name: key, value }) in arguments.iter().enumerate() {
            let ix = match key {
                None => Some(place).filter(|&ix| ix < values.len()),
                Some(key) => generator.params.iter().position(|(param, _)| *param == key.text),
            };
            let Some(slot) = ix.and_then(|ix| values.get_mut(ix)).filter(|slot| slot.is_none())
            else {
                self.wrong_argument(generator, key.as_ref(), *value);
                return None;
            };
            let val = self.value(*value)?;
            let Val::Number(x) = val else {
                let span = self.ast.expr(*value).span;
                self.complaints.error(Code::WrongArguments, span, "this must be a number");
                return None;
            };
            *slot = Some(x);
            let is_seed = ix.and_then(|ix| generator.params.get(ix)).is_some_and(|p| p.0 == SEED);
            if is_seed {
                seed = self.seed(*value, x)?;
            }
        }
        let mut all = Vec::with_capacity(values.len());
        for (value, (param, default)) in values.into_iter().zip(generator.params) {
            let Some(value) = value.or(*default) else {
                let message = told!("`{name}` needs {param}; write `{name}({param}=…)`");
                self.complaints.error(Code::WrongArguments, span, message);
                return None;
            };
            all.push(value);
        }
        Some(Literal::Init((generator.make)(&all, seed)))
    }

    fn wrong_argument(&mut self, generator: &Generator, key: Option<&Ident>, value: ExprId) {
        let names: Vec<&str> = generator.params.iter().map(|(name, _)| *name).collect();
        let takes = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        let message = told!("`{}` takes {takes}, each once", generator.name);
        if let Some(key) = key {
            self.complaints.unknown(Code::WrongArguments, key, message, names);
        } else {
            let span = self.ast.expr(value).span;
            self.complaints.error(Code::WrongArguments, span, message);
        }
    }

    /// A seed is a whole number; all 64 bits of it count.
    fn seed(&mut self, value: ExprId, x: f64) -> Option<u64> {
        let exact = match &self.ast.expr(self.ast.core(value)).kind {
            ExprKind::Number(number) => number.text.parse().ok(),
            _ => None,
        };
        let whole = Some(x).filter(|x| x.trunc().to_bits() == x.to_bits() && *x >= 0.0);
        let rounded = whole.filter(|x| *x < 9_007_199_254_740_992.0).map(|x| x as u64);
        if exact.or(rounded).is_none() {
            let span = self.ast.expr(value).span;
            let message = "a seed is a whole number from 0 to 2^64 - 1";
            self.complaints.error(Code::BadLiteral, span, message);
        }
        exact.or(rounded)
    }

    /// The tensor of a file, or of one of the tensors in it.
    #[cfg(feature = "full")]
    pub(super) fn load(&mut self, call: &Call) -> Option<Literal> {
        let text = |argument: &Argument| match (&argument.name, &self.ast.expr(argument.value)) {
            (None, Expr { kind: ExprKind::Text(name), span }) => Some((name, *span)),
            _ => None,
        };
        let texts: Option<Vec<_>> = call.arguments.iter().map(text).collect();
        let ((file, span), tensor) = match texts.as_deref() {
            Some([file]) => (*file, None),
            Some([file, (tensor, _)]) => (*file, Some(tensor.as_str())),
            _ => {
                let message = "`load` takes the name of a file in double quotes, and the name of a tensor in it where it has several";
                self.complaints.error(Code::WrongArguments, call.name.span, message);
                return None;
            }
        };
        let loaded = match (self.files)(Wanted { file, tensor, budget: self.budget }) {
            Ok(loaded) => loaded,
            Err(Unloaded::Unusable(why)) => {
                let message = format!("\"{file}\" cannot be used: {why}");
                self.complaints.error(Code::BadFile, span, message);
                return None;
            }
            Err(Unloaded::TooLarge) => {
                let max = self.budget.tensor_elements;
                let limit = Reason::Budget { limit: Limit::TensorElements, max };
                let message = limit.sentence("", file, None, &|_| String::new());
                self.complaints.error(limit.code(), span, message);
                return None;
            }
        };
        let shape = Shape::new(&loaded.dims);
        let shape = shape.filter(|shape| shape.n_elements() == loaded.values.len() as u64);
        let Some(shape) = shape else {
            let message = format!("\"{file}\" does not hold a tensor of at most {MAX_RANK} axes");
            self.complaints.error(Code::BadFile, span, message);
            return None;
        };
        Some(Literal::List(Arc::new(Const { ty: TensorType::f32(shape), data: loaded.values })))
    }
}
