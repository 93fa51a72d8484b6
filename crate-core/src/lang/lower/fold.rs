//! Ops on constants, which make constants: computed while lines are made, in f64.
//! The part of the engine that the page starts with computes none: such a text is beyond it.

use super::Val;
use super::apply::Job;
use super::constant::{Const, ConstCx};
use super::machine::{Machine, Running};
use crate::graph::Params;
use crate::lang::Span;
use crate::lang::ast::ExprId;
use crate::ops::OpKind;
use crate::ops::def::{Sign, Storage};

/// Whether an op on constants is a constant: not where its value is a window into another's.
pub(super) fn folds(op: OpKind) -> bool {
    matches!(op.def().storage, Storage::Own | Storage::OwnOrFirst)
}

#[cfg(not(feature = "full"))]
impl ConstCx<'_> {
    pub(super) fn signed(&mut self, _: Sign, _: &[(Val, ExprId)], _: Span) -> Val {
        self.complaints.beyond();
        Val::Poison
    }
}

#[cfg(not(feature = "full"))]
impl Machine<'_> {
    pub(super) fn fold(&mut self, _: &Running, _: &Job, _: &[Const], _: &Params) -> Val {
        self.complaints.beyond();
        Val::Poison
    }
}

#[cfg(feature = "full")]
mod whole {
    use std::cell::Cell;
    use std::sync::Arc;

    use super::super::constant::{constant, meet};
    use super::{Const, ConstCx, ExprId, Job, Machine, OpKind, Params, Running, Sign, Span, Val};
    use crate::construct::Budget;
    use crate::ops::by_sign;
    use crate::ops::def::{Cx, Operand, ShapeCx};
    use crate::refusal::{Limit, Reason};
    use crate::rules::RuleSet;
    use crate::tensor::{DType, TensorType};

    impl ConstCx<'_> {
        pub(in crate::lang::lower) fn signed(
            &mut self,
            sign: Sign,
            operands: &[(Val, ExprId)],
            span: Span,
        ) -> Val {
            let Some(op) = by_sign(sign) else {
                return Val::Poison;
            };
            let constants: Option<Vec<Const>> =
                operands.iter().map(|(val, _)| constant(val)).collect();
            let Some(constants) = constants else {
                return Val::Poison;
            };
            match fold(op, &constants, &Params::default(), self.rules, (self.budget, self.folded)) {
                Ok(val) => val,
                Err(reason) => {
                    let word = self.rules.op_name(op);
                    let message = reason.sentence(word, "this value", None, &|_| String::new());
                    self.complaints.error(reason.code(), span, message);
                    Val::Poison
                }
            }
        }
    }

    impl Machine<'_> {
        /// The constant that an op makes of constants.
        pub(in crate::lang::lower) fn fold(
            &mut self,
            running: &Running,
            job: &Job,
            all: &[Const],
            params: &Params,
        ) -> Val {
            match fold(job.op, all, params, self.rules, (self.budget, &self.program.folded)) {
                Ok(val) => val,
                Err(reason) => {
                    let (src, span) = self.blame(&reason, job);
                    let about = Some((job.op, running.name.clone()));
                    self.refuse(running, about, &reason, src, span);
                    Val::Poison
                }
            }
        }
    }

    /// Computes an op on constants, in f64.
    fn fold(
        op: OpKind,
        sources: &[Const],
        params: &Params,
        rules: RuleSet,
        (budget, folded): (&Budget, &Cell<u64>),
    ) -> Result<Val, Reason> {
        let def = op.def();
        let mut types: Vec<TensorType> = sources.iter().map(|source| source.ty).collect();
        if def.stretches {
            meet(&mut types, sources.iter().map(|source| source.ty.shape.rank() == 0));
        }
        let (broadcast, most) = (rules.broadcast(), budget.tensor_elements);
        let cx = ShapeCx { src: &types, params, broadcast, most };
        let ty = (def.shape)(&cx)?;
        let n = ty.shape.n_elements();
        if n > budget.tensor_elements {
            return Err(Reason::Budget {
                limit: Limit::TensorElements,
                max: budget.tensor_elements,
            });
        }
        // They are no nodes, but a thousand of them in one line are as large as nodes are.
        let read: u64 = sources.iter().map(|source| source.data.len() as u64).sum();
        folded.set(folded.get().saturating_add(read).saturating_add(n));
        if folded.get() > budget.elements {
            return Err(Reason::Budget { limit: Limit::Elements, max: budget.elements });
        }
        // A number that met a shape is still one number: values are found modulo the extents.
        let operands: Vec<Operand<'_, f64>> =
            sources.iter().map(|source| Operand { data: &source.data, ty: source.ty }).collect();
        let mut out = vec![0.0; n as usize];
        (def.forward.f64)(&mut Cx { src: &operands, params, ty, out: &mut out });
        Ok(match (ty.shape.rank(), ty.dtype, out.as_slice()) {
            (0, DType::Bool, [x]) => Val::Bool(x.abs() > 0.0),
            (0, _, [x]) => Val::Number(*x),
            _ => Val::List(Arc::new(Const { ty, data: out.into() })),
        })
    }
}
