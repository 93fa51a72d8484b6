//! Attributes: what was given for each, as the kind of value that the row wants.

use super::Val;
use super::apply::Job;
use super::call::Sorted;
use super::constant::{whole, whole_numbers};
use super::machine::{Machine, Running};
use crate::graph::{Init, NodeKind, Value};
use crate::lang::Span;
use crate::lang::ast::{Call, ExprId, ExprKind};
use crate::ops::OpKind;
use crate::ops::def::{ParamKind, defaults};
use crate::refusal::Reason;
use crate::tensor::TensorType;

impl Machine<'_> {
    /// Applies an op with its attributes.
    pub(super) fn with_attributes(
        &mut self,
        running: &mut Running,
        id: ExprId,
        op: OpKind,
        call: &Call,
        sorted: Sorted,
        span: Span,
    ) -> Val {
        let ast = self.program.ast;
        let first = sorted.sources.first().and_then(|(val, _)| self.ty(val));
        let mut params = defaults(op.def());
        let mut spans = vec![None; params.len()];
        let mut fits = true;
        let mut name = None;
        for (ix, (given, spec)) in sorted.given.into_iter().zip(op.def().params).enumerate() {
            let Some((_, first_id)) = given.first() else {
                continue;
            };
            let is_none = |id: ExprId| matches!(&ast.expr(ast.core(id)).kind, ExprKind::Name(name) if name == "None");
            if is_none(*first_id) {
                continue;
            }
            let last_id = given.last().map_or(*first_id, |(_, id)| *id);
            let span = ast.expr(*first_id).span.to(ast.expr(last_id).span);
            let is_poison = given.iter().any(|(val, _)| matches!(val, Val::Poison));
            let value = self.attribute(running, spec.kind, given, first.as_ref());
            if let Some(slot) = spans.get_mut(ix) {
                *slot = Some(span);
            }
            match (value, params.get_mut(ix)) {
                (Ok(value), Some(slot)) => *slot = value,
                (Err(Some(wants)), _) if !is_poison => {
                    let reason = Reason::BadParam { param: spec.name, wants };
                    let name = name.get_or_insert_with(|| running.name_of(id)).clone();
                    self.refuse(running, Some((op, name)), &reason, None, span);
                    fits = false;
                }
                _ => fits = false,
            }
        }
        // The row is told which source a node given by name has become.
        for (ix, source) in sorted.nodes {
            if let Some(slot) = params.get_mut(ix) {
                *slot = Value::Int(source as i64);
            }
        }
        let sources = sorted.sources;
        if !fits {
            for (val, id) in &sources {
                self.no_value(running, val, *id);
            }
            let name = name.unwrap_or_else(|| running.name_of(id));
            return self.unmade(running, name, id, op, &sources);
        }
        let in_place = call.in_place;
        let meets = op.def().stretches;
        self.apply(running, &Job { id, op, sources, params, spans, in_place, meets, span })
    }

    /// The value of an attribute; what it should be, or nothing after a complaint.
    fn attribute(
        &mut self,
        running: &Running,
        kind: ParamKind,
        given: Vec<(Val, ExprId)>,
        first: Option<&TensorType>,
    ) -> Result<Value, Option<&'static str>> {
        let one = |given: &[(Val, ExprId)]| match given {
            [(val, id)] => Some((self.number_of(val), *id)),
            _ => None,
        };
        let single = one(&given);
        let wants = kind.says();
        match (kind, single) {
            (ParamKind::Num, Some((Val::Number(x), _))) => Ok(Value::Num(x)),
            // Only the whole engine reads these.
            (ParamKind::Text | ParamKind::Axis | ParamKind::Axes | ParamKind::Ints, _)
                if !crate::WHOLE =>
            {
                self.complaints.beyond();
                Err(None)
            }
            (ParamKind::Text, Some((Val::Text | Val::Word, id))) => {
                let ast = self.program.ast;
                match &ast.expr(ast.core(id)).kind {
                    ExprKind::Text(text) | ExprKind::Name(text) => {
                        Ok(Value::Text(text.as_str().into()))
                    }
                    _ => Err(Some(wants)),
                }
            }
            (ParamKind::Int, Some((Val::Number(x), _))) => {
                whole(x).map(Value::Int).ok_or(Some(wants))
            }
            (ParamKind::Bool, Some((Val::Bool(x), _))) => Ok(Value::Bool(x)),
            (ParamKind::Num | ParamKind::Int | ParamKind::Bool, Some((Val::Word, id))) => {
                self.no_value(running, &Val::Word, id);
                Err(None)
            }
            (ParamKind::Axis | ParamKind::Axes | ParamKind::Ints, _) => {
                let listed = given.len() > 1;
                let mut whole = Vec::new();
                let mut is_list = listed;
                for (val, id) in given {
                    let (mut more, list) =
                        self.whole_list(running, kind, &val, id, first, wants)?;
                    whole.append(&mut more);
                    is_list |= list;
                }
                match whole.as_slice() {
                    &[one] if !is_list => Ok(Value::Int(one)),
                    _ if kind == ParamKind::Axis => Err(Some(wants)),
                    _ => Ok(Value::Ints(whole.into())),
                }
            }
            _ => Err(Some(wants)),
        }
    }

    /// Whole numbers or axis names, one or a list; whether it was a list.
    fn whole_list(
        &mut self,
        running: &Running,
        kind: ParamKind,
        val: &Val,
        id: ExprId,
        first: Option<&TensorType>,
        wants: &'static str,
    ) -> Result<(Vec<i64>, bool), Option<&'static str>> {
        let ast = self.program.ast;
        let core = ast.core(id);
        let expr = ast.expr(core);
        if let (ExprKind::Name(name), true) = (&expr.kind, kind != ParamKind::Ints) {
            if let Some(axis) = first.and_then(|ty| self.axis(ty, name)) {
                return Ok((vec![axis as i64], false));
            }
            if let (Val::Word, Some(first)) = (val, first) {
                self.unknown_axis(first, name, expr.span);
                return Err(None);
            }
        }
        match (self.number_of(val), &expr.kind) {
            (Val::Number(x), _) => whole(x).map(|x| (vec![x], false)).ok_or(Some(wants)),
            (Val::List(list), _) if list.ty.shape.rank() == 1 => {
                whole_numbers(&list.data).map(|list| (list, true)).ok_or(Some(wants))
            }
            (Val::Parts, ExprKind::List(parts)) => {
                let mut all = Vec::new();
                for part in parts {
                    // Lists are at most as deep as brackets.
                    if matches!(ast.expr(ast.core(*part)).kind, ExprKind::List(_)) {
                        return Err(Some(wants));
                    }
                    let val = running.val(*part);
                    let (mut one, _) = self.whole_list(running, kind, &val, *part, first, wants)?;
                    all.append(&mut one);
                }
                Ok((all, true))
            }
            (Val::Word, _) => {
                self.no_value(running, val, id);
                Err(None)
            }
            _ => Err(Some(wants)),
        }
    }

    /// The number that a name stands for where only a number can stand.
    fn number_of(&self, val: &Val) -> Val {
        let Val::Node(node) = val else {
            return val.clone();
        };
        let node = self.graph.node(*node);
        match &node.kind {
            NodeKind::Leaf(Init::Fill(x)) if node.ty.shape.rank() == 0 && !node.flags.param => {
                Val::Number(*x)
            }
            _ => val.clone(),
        }
    }
}
