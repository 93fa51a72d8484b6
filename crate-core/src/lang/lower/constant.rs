//! Numbers, lists of them and generators: what has a value before there is a graph.

use std::cell::Cell;
use std::sync::Arc;

use super::generator::{generator_names, is_generator};
use super::{Complaints, ReadFile, Val};
use crate::construct::Budget;
use crate::graph::Init;
use crate::lang::ast::{Ast, Axis, ExprId, ExprKind, Ident, ShapeText};
use crate::lang::lex::Infix;
#[cfg(feature = "full")]
use crate::lang::parse::words;
use crate::lang::suggest::nearest;
use crate::lang::{Code, Diagnostic, Span, TextEdit};
use crate::ops::def::Sign;
use crate::refusal::{Limit, Reason};
use crate::rules::RuleSet;
use crate::tensor::{DType, MAX_RANK, Shape, TensorType};

/// A constant with a shape.
#[derive(Clone, Debug)]
pub(super) struct Const {
    pub(super) ty: TensorType,
    pub(super) data: Arc<[f64]>,
}

/// What stands after the `=` of a leaf.
pub(super) enum Literal {
    /// Numbers, with their shape.
    List(Arc<Const>),
    /// One number, of any shape.
    Number(f64),
    /// As many numbers as are needed.
    Init(Init),
}

/// What constants need to know.
pub(super) struct ConstCx<'c> {
    pub(super) ast: &'c Ast,
    pub(super) rules: RuleSet,
    pub(super) budget: &'c Budget,
    pub(super) files: ReadFile<'c>,
    /// Elements of constants that were computed so far.
    pub(super) folded: &'c Cell<u64>,
    pub(super) complaints: &'c mut Complaints,
}

impl ConstCx<'_> {
    /// A leaf's value, a cotangent or an accumulator; `None` after a complaint.
    pub(super) fn literal(&mut self, root: ExprId) -> Option<Literal> {
        let core = self.ast.core(root);
        let expr = self.ast.expr(core);
        match &expr.kind {
            _ if !crate::WHOLE => self.plain(root),
            ExprKind::Name(name) if is_generator(name) => self.generator(name, &[], expr.span),
            #[cfg(feature = "full")]
            ExprKind::Call(call) if call.name.text == words::LOAD => self.load(call),
            ExprKind::Call(call) if is_generator(&call.name.text) => {
                self.generator(&call.name.text, &call.arguments, call.name.span)
            }
            ExprKind::Call(call) => {
                let known = generator_names();
                let message = told!("nothing called `{}` fills a leaf", call.name.text);
                self.complaints.unknown(Code::UnknownOp, &call.name, message, known);
                None
            }
            _ => self.plain(root),
        }
    }

    fn plain(&mut self, root: ExprId) -> Option<Literal> {
        match self.value(root)? {
            Val::Number(x) => Some(Literal::Number(x)),
            Val::Bool(x) => Some(Literal::Number(f64::from(u8::from(x)))),
            Val::List(list) => Some(Literal::List(list)),
            _ => None,
        }
    }

    /// Numbers and lists of them; `None` after a complaint.
    pub(super) fn value(&mut self, root: ExprId) -> Option<Val> {
        let ast = self.ast;
        let mut vals: Vec<Val> = Vec::new();
        let mut first = None;
        for id in ast.parts(root) {
            let first = *first.get_or_insert(id.index());
            let expr = ast.expr(id);
            let val = |id: ExprId| vals.get(id.index() - first).cloned().unwrap_or(Val::Poison);
            let made = match &expr.kind {
                ExprKind::Number(number) => Val::Number(number.value),
                ExprKind::Inf => Val::Number(f64::INFINITY),
                ExprKind::Nan => Val::Number(f64::NAN),
                ExprKind::Bool(x) => Val::Bool(*x),
                ExprKind::Paren(part) | ExprKind::Prefix { sign: Infix::Plus, operand: part } => {
                    val(*part)
                }
                ExprKind::List(parts) => {
                    let parts: Vec<Val> = parts.iter().map(|part| val(*part)).collect();
                    list(&parts, expr.span, self.complaints)
                }
                ExprKind::Prefix { sign, operand } => match val(*operand) {
                    // The sign of a number belongs to the number.
                    Val::Number(x) => Val::Number(-x),
                    val => {
                        let sign = Sign::Prefix(sign.as_str());
                        self.signed(sign, &[(val, *operand)], expr.span)
                    }
                },
                ExprKind::Infix { sign, left, right, .. } => {
                    let operands = [(val(*left), *left), (val(*right), *right)];
                    self.signed(Sign::Infix(sign.as_str()), &operands, expr.span)
                }
                ExprKind::Open => {
                    let message = "this value is still open; write a number";
                    self.complaints.error(Code::OpenInput, expr.span, message);
                    Val::Poison
                }
                _ => {
                    let message = "only numbers, lists of numbers and generators stand here";
                    self.complaints.error(Code::BadLiteral, expr.span, message);
                    Val::Poison
                }
            };
            vals.push(made);
        }
        vals.pop().filter(|val| !matches!(val, Val::Poison))
    }

    /// The shape that the text gives, row-major, with the axes' names in the same order.
    pub(super) fn shape<'t>(
        &mut self,
        text: &'t ShapeText,
    ) -> Option<(Shape, Vec<Option<&'t str>>)> {
        let mut axes: Vec<&Axis> = text.axes.iter().collect();
        if text.ne {
            axes.reverse();
        }
        let mut dims = Vec::new();
        let mut names: Vec<Option<&str>> = Vec::new();
        for axis in axes {
            let Ok(extent) = u32::try_from(axis.extent) else {
                if !crate::WHOLE {
                    self.complaints.beyond();
                    return None;
                }
                let max = self.budget.tensor_elements;
                let limit = Reason::Budget { limit: Limit::TensorElements, max };
                let message = limit.sentence("", "this tensor", None, &|_| String::new());
                self.complaints.error(limit.code(), axis.span, message);
                return None;
            };
            let name = axis.name.as_ref().map(|name| name.text.as_str());
            if let Some(name) = name.filter(|name| names.contains(&Some(*name))) {
                let message = told!("two axes are called `{name}`; rename one");
                self.complaints.error(Code::DuplicateName, axis.span, message);
                return None;
            }
            dims.push(extent);
            names.push(name);
        }
        let shape = Shape::new(&dims);
        if shape.is_none() {
            let message = told!("a tensor has at most {MAX_RANK} axes, this has {}", dims.len());
            self.complaints.error(Code::BadLiteral, text.span, message);
        }
        shape.map(|shape| (shape, names))
    }

    /// How a tensor of this type is filled, and its shape where only the value gives it.
    pub(super) fn init(
        &mut self,
        literal: Literal,
        shape: Option<Shape>,
        dtype: DType,
        span: Span,
    ) -> Option<(Shape, Init)> {
        let bad = |message: String| Diagnostic::error(Code::BadLiteral, span, message);
        let made = match (literal, shape) {
            (Literal::Number(x), shape) => misfit(dtype, &[x])
                .map(|x| bad(no_room(dtype, x)))
                .map_or_else(|| Ok((shape.unwrap_or(Shape::SCALAR), Init::Fill(x))), Err),
            (Literal::List(list), shape) => {
                let own = list.ty.shape;
                let to = shape.unwrap_or(own);
                // A flat list fills a shape row by row.
                let flat = own.rank() == 1 && own.n_elements() == to.n_elements();
                if own != to && !flat {
                    let (n, wanted) = (own.n_elements(), to.n_elements());
                    let message = if n == wanted {
                        told!("this list has shape {own}, not {to}")
                    } else {
                        told!("this list has {n} numbers, and {to} needs {wanted}")
                    };
                    Err(bad(message))
                } else if let Some(x) = misfit(dtype, &list.data) {
                    Err(bad(no_room(dtype, x)))
                } else {
                    Ok((to, Init::Literal(Arc::clone(&list.data))))
                }
            }
            (Literal::Init(init), Some(shape)) => Ok((shape, init)),
            (Literal::Init(_), None) => {
                Err(bad("this needs a shape; write `[2, 3]` before the `=`".to_owned()))
            }
        };
        match made {
            Ok(made) => Some(made),
            Err(diagnostic) => {
                self.complaints.add(diagnostic);
                None
            }
        }
    }

    /// The type that a word names.
    pub(super) fn dtype(&mut self, name: Option<&Ident>) -> Option<DType> {
        let Some(name) = name else {
            return Some(DType::F32);
        };
        if !crate::WHOLE {
            self.complaints.beyond();
            return None;
        }
        let found = DType::by_name(&name.text);
        if found.is_none() {
            let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
            let message = told!("`{}` is no type; write {}", name.text, known.join(", "));
            let diagnostic = Diagnostic::error(Code::BadLiteral, name.span, message);
            self.complaints.add(match nearest(&name.text, known) {
                Some(meant) => {
                    diagnostic.fix(told!("Write `{meant}`"), TextEdit::replace(name.span, meant))
                }
                None => diagnostic,
            });
        }
        found
    }
}

/// The first number that a type cannot hold at all; floats round, which is no mistake.
fn misfit(dtype: DType, values: &[f64]) -> Option<f64> {
    let fits = |x: f64| match dtype {
        DType::F32 | DType::F16 | DType::Bf16 => true,
        DType::I32 => x.trunc().to_bits() == x.to_bits() && x.abs() <= f64::from(i32::MAX),
        DType::Bool => x.to_bits() == 0f64.to_bits() || x.to_bits() == 1f64.to_bits(),
    };
    values.iter().copied().find(|x| !fits(*x))
}

fn no_room(dtype: DType, x: f64) -> String {
    match dtype {
        DType::Bool => told!("a bool is true or false, not {x}"),
        _ => told!("{dtype} holds whole numbers up to 2^31 - 1, not {x}"),
    }
}

/// A constant, of what is one.
pub(super) fn constant(val: &Val) -> Option<Const> {
    let scalar = |x: f64, dtype| Const {
        ty: TensorType { dtype, ..TensorType::f32(Shape::SCALAR) },
        data: Arc::new([x]),
    };
    match val {
        Val::Number(x) => Some(scalar(*x, DType::F32)),
        Val::Bool(x) => Some(scalar(f64::from(u8::from(*x)), DType::Bool)),
        Val::List(list) => Some(Const::clone(list)),
        Val::Node(_) | Val::Parts | Val::Word | Val::Text | Val::Poison => None,
    }
}

/// A list of numbers, or of lists of one shape.
pub(super) fn list(parts: &[Val], span: Span, complaints: &mut Complaints) -> Val {
    let mut data = Vec::with_capacity(parts.len());
    let mut inner: Option<Shape> = None;
    let mut n_bools = 0;
    for part in parts {
        let shape = match part {
            Val::Number(x) => {
                data.push(*x);
                Shape::SCALAR
            }
            Val::Bool(x) => {
                data.push(f64::from(u8::from(*x)));
                n_bools += 1;
                Shape::SCALAR
            }
            Val::List(list) => {
                data.extend_from_slice(&list.data);
                list.ty.shape
            }
            Val::Poison => return Val::Poison,
            Val::Node(_) | Val::Parts | Val::Word | Val::Text => return Val::Parts,
        };
        if let Some(before) = inner.filter(|before| *before != shape) {
            let message =
                told!("the parts of a list have one shape; here are {before} and {shape}");
            complaints.error(Code::BadLiteral, span, message);
            return Val::Poison;
        }
        inner = Some(shape);
    }
    let mut dims = vec![parts.len() as u32];
    dims.extend_from_slice(inner.unwrap_or(Shape::SCALAR).dims());
    let Some(shape) = Shape::new(&dims) else {
        let message = told!("lists may be {MAX_RANK} deep");
        complaints.error(Code::BadLiteral, span, message);
        return Val::Poison;
    };
    let all_bools = n_bools > 0 && n_bools == data.len();
    let dtype = if all_bools { DType::Bool } else { DType::F32 };
    Val::List(Arc::new(Const {
        ty: TensorType { dtype, ..TensorType::f32(shape) },
        data: data.into(),
    }))
}

/// Gives numbers the shape they meet: that of the operand with the most elements.
pub(super) fn meet(types: &mut [TensorType], is_number: impl Iterator<Item = bool> + Clone) {
    let tensors = types.iter().zip(is_number.clone()).filter(|(_, is_number)| !is_number);
    let mut met: Option<TensorType> = None;
    for (ty, _) in tensors {
        if met.is_none_or(|met| ty.shape.n_elements() > met.shape.n_elements()) {
            met = Some(*ty);
        }
    }
    let Some(met) = met else {
        return;
    };
    for (ty, _) in types.iter_mut().zip(is_number).filter(|(_, is_number)| *is_number) {
        *ty = TensorType { dtype: ty.dtype, ..met };
    }
}

/// A list of whole numbers, of what is one.
pub(super) fn whole_numbers(data: &[f64]) -> Option<Vec<i64>> {
    data.iter().map(|x| whole(*x)).collect()
}

/// A whole number that an i64 holds exactly.
pub(super) fn whole(x: f64) -> Option<i64> {
    let fits = x.trunc().to_bits() == x.to_bits() && x.abs() < 9_007_199_254_740_992.0;
    fits.then_some(x as i64)
}
