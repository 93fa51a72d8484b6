//! What the document asks for beside its graph: backward, checks, training, pinned positions.

use std::collections::BTreeSet;

use super::block::Program;
use super::constant::ConstCx;
use super::leaf::given;
use super::machine::{Imports, Machine, Output};
use super::{Backward, CheckKind, CheckLine, Complaints, Formula, Pin, ReadFile, TrainLine, Val};
use crate::construct::{self, Budget};
use crate::graph::{Flags, Init, NodeId};
use crate::lang::ast::{Check, ExprId, Ident, Ref, Setting, Statement, StatementKind};
use crate::lang::suggest::nearest;
use crate::lang::{Code, Diagnostic, Severity, Span, TextEdit};
use crate::optimizer::Optimizer;
use crate::refusal::{Limit, Reason};
use crate::rules::RuleSet;
use crate::tensor::TensorType;

/// The node that a document means where no `backward` line names one.
pub(in crate::lang) const LOSS: &str = "loss";

/// Methods of training with their settings: learning rate, decay and the rest as in `ggml-autodiff.md` 5.4.
pub(in crate::lang) const METHODS: &[(&str, &[&str])] = &[
    ("sgd", &["lr", "momentum", "wd", "steps", "period", "clip"]),
    ("adamw", &["lr", "beta1", "beta2", "eps", "wd", "steps", "period", "clip"]),
];

struct Directives<'d, 'a> {
    /// Names whose lines have no value.
    valueless: BTreeSet<String>,
    program: &'d Program<'a>,
    budget: &'d Budget,
    files: ReadFile<'d>,
    out: &'d mut Output,
    /// Elements of the formulas' graphs.
    formulas: u64,
}

/// Reads all directives of a document whose lines have been made.
pub(super) fn read(program: &Program<'_>, budget: &Budget, files: ReadFile<'_>, out: &mut Output) {
    let mut has_backward = false;
    let mut has_train = false;
    let told = if crate::WHOLE { out.lowered.valueless.as_slice() } else { &[] };
    let valueless = told.iter().map(|name| name.text.clone()).collect();
    let mut directives = Directives { valueless, program, budget, files, out, formulas: 0 };
    for statement in program.ast.statements() {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Backward { .. } if has_backward => {
                directives.out.complaints.second_line("backward", span);
            }
            StatementKind::Train { .. } if has_train => {
                directives.out.complaints.second_line("train", span);
            }
            StatementKind::Backward { of, with } => {
                has_backward = true;
                directives.backward(of, *with, span);
            }
            StatementKind::Train { method, settings } => {
                has_train = true;
                directives.train(method, settings, span);
            }
            _ => directives.other(statement),
        }
    }
    if !has_backward {
        let lowered = &mut out.lowered;
        lowered.loss = lowered.names.get(LOSS).copied();
    }
}

impl Directives<'_, '_> {
    fn other(&mut self, statement: &Statement) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Accumulator { of, shape, value } if crate::WHOLE => {
                let node = self.node(of, None);
                let mut cx = self.constants();
                let shape = shape.as_ref().map(|text| cx.shape(text).map(|(shape, _)| shape));
                let Some(node) = node else {
                    return;
                };
                let own = self.out.lowered.graph.node(node).ty.shape;
                let shape = match shape {
                    Some(None) => return,
                    Some(shape) => shape,
                    None => None,
                };
                if let Some(given) = given(&mut self.constants(), *value, shape, own) {
                    self.out.lowered.accumulators.push((node, given, span));
                }
            }
            StatementKind::Check(check) => self.check(check, span),
            StatementKind::Layout { of, x, y } => {
                if let Some(node) = self.node(of, Some(span)) {
                    self.out.lowered.pins.push(Pin { node, x: x.value, y: y.value, span });
                }
            }
            _ => {}
        }
    }

    fn constants(&mut self) -> ConstCx<'_> {
        ConstCx {
            ast: self.program.ast,
            rules: self.out.lowered.rules,
            budget: self.budget,
            files: self.files,
            folded: &self.program.folded,
            complaints: &mut self.out.complaints,
        }
    }

    /// The node that a directive names. One without a value is no mistake of the directive, and a
    /// `pin` of none is only left over from an earlier text.
    fn node(&mut self, of: &Ref, pin: Option<Span>) -> Option<NodeId> {
        let name = of.name();
        let found = self.out.lowered.names.get(name.as_str()).copied();
        let head = of.parts.first().map_or("", |part| part.text.as_str());
        if found.is_some() || self.valueless.contains(head) {
            return found;
        }
        if !crate::WHOLE {
            self.out.complaints.beyond();
            return None;
        }
        let known = self.out.lowered.names.keys().map(|name| &**name);
        let message = told!("no node is called `{name}`");
        let mut diagnostic = Diagnostic::error(Code::UnknownName, of.span, message);
        let suggests = self.out.complaints.suggests();
        let known = suggests.then_some(known).into_iter().flatten();
        if let Some(meant) = nearest(&name, known) {
            let edit = TextEdit::replace(of.span, meant);
            diagnostic = diagnostic.fix(told!("Write `{meant}`"), edit);
        }
        if let Some(pin) = pin {
            diagnostic.severity = Severity::Warning;
            diagnostic = diagnostic.fix("Remove the line", TextEdit::replace(pin, ""));
        }
        self.out.complaints.add(diagnostic);
        None
    }

    fn backward(&mut self, of: &Ref, with: Option<ExprId>, span: Span) {
        let Some(node) = self.node(of, None) else {
            return;
        };
        if !crate::WHOLE && with.is_some() {
            return self.out.complaints.beyond();
        }
        let own = self.out.lowered.graph.node(node).ty.shape;
        let cotangent = with.map(|with| given(&mut self.constants(), with, None, own));
        let cotangent = match cotangent {
            // The complaint has been made; without the cotangent the line means something else.
            Some(None) => return,
            Some(given) => given,
            None => None,
        };
        let with_span = with.map(|with| self.program.ast.expr(with).span);
        self.out.lowered.loss = Some(node);
        self.out.lowered.backward = Some(Backward { node, with: cotangent, span, with_span });
    }

    fn check(&mut self, check: &Check, span: Span) {
        let pairs = |settings: &[Setting]| {
            settings.iter().map(|s| (s.name.text.clone(), s.value.value)).collect::<Vec<_>>()
        };
        let (kind, settings) = match check {
            Check::Fd(settings) => {
                self.settings("check fd", settings, &["points"]);
                let points = settings.iter().filter(|s| s.name.text == "points");
                for setting in points.filter(|s| ![2.0, 4.0].contains(&s.value.value)) {
                    let message = "a difference takes `points=2` or `points=4`";
                    self.out.complaints.error(Code::BadLiteral, setting.value.span, message);
                }
                (CheckKind::Fd, pairs(settings))
            }
            Check::Adjoint(settings) => {
                self.settings("check adjoint", settings, &[]);
                (CheckKind::Adjoint, pairs(settings))
            }
            Check::Formula { .. } if !crate::WHOLE => return self.out.complaints.beyond(),
            Check::Formula { of, value } => match self.formula(of, *value, span) {
                Some(formula) => (CheckKind::Formula(Box::new(formula)), Vec::new()),
                None => return,
            },
        };
        self.out.lowered.checks.push(CheckLine { kind, settings, span });
    }

    /// Whether a line's settings are its own, each once; each that is not is named.
    fn settings(&mut self, line: &str, settings: &[Setting], own: &[&str]) -> bool {
        let mut fits = true;
        for (ix, setting) in settings.iter().enumerate() {
            let name = &setting.name;
            let again = settings.iter().take(ix).any(|before| before.name.text == name.text);
            if again || !own.contains(&name.text.as_str()) {
                if !crate::WHOLE {
                    self.out.complaints.beyond();
                    return false;
                }
                let message = match own {
                    [] => told!("`{line}` takes no settings"),
                    _ => told!("`{line}` takes {}, each once", own.join(", ")),
                };
                let known = own.iter().copied();
                self.out.complaints.unknown(Code::WrongArguments, name, message, known);
                fits = false;
            }
        }
        fits
    }

    fn formula(&mut self, of: &Ref, value: ExprId, span: Span) -> Option<Formula> {
        let node = self.node(of, None);
        let complaints = std::mem::take(&mut self.out.complaints);
        // All formulas together are one more graph.
        let left = self.budget.elements.saturating_sub(self.formulas);
        let budget = &Budget { elements: left, ..*self.budget };
        let imports = Imports::new(&self.out.lowered);
        let machine = Machine::new(self.program, budget, RuleSet::Numpy, self.files, complaints);
        let (made, mut graph, inputs, complaints) = machine.formula(imports, value, span);
        self.out.complaints = complaints;
        self.formulas = self.formulas.saturating_add(graph.n_elements());
        let of = node?;
        let ty = TensorType::f32(self.out.lowered.graph.node(of).ty.shape);
        let (ty, init) = match made? {
            Val::Node(value) => return Some(Formula { of, graph, value, inputs }),
            Val::Number(x) => (ty, Init::Fill(x)),
            Val::Bool(x) => (ty, Init::Fill(f64::from(u8::from(x)))),
            Val::List(list) => (list.ty, Init::Literal(list.data.clone())),
            Val::Parts | Val::Word | Val::Text | Val::Poison => return None,
        };
        let leaf = construct::leaf(&mut graph, budget, ty, init, None, Flags::default()).ok()?;
        Some(Formula { of, graph, value: leaf, inputs })
    }

    fn train(&mut self, method: &Ident, settings: &[Setting], span: Span) {
        let Some((_, own)) = METHODS.iter().find(|(name, _)| *name == method.text) else {
            if !crate::WHOLE {
                return self.out.complaints.beyond();
            }
            let message = told!("`{}` is no method; write `sgd` or `adamw`", method.text);
            let known = METHODS.iter().map(|(name, _)| *name);
            self.out.complaints.unknown(Code::UnknownName, method, message, known);
            return;
        };
        let mut fits = self.settings(&method.text, settings, own);
        let find = |name: &str| settings.iter().find(|setting| setting.name.text == name);
        let number = |name: &str, default: f64| find(name).map_or(default, |s| s.value.value);
        let complaints = &mut self.out.complaints;
        let steps = count(find("steps"), Some(self.budget.steps), complaints);
        let period = count(find("period"), Some(self.budget.steps), complaints);
        if let (Some(steps), Some(n), Some(setting)) = (steps, period, find("period"))
            && steps.saturating_mul(n) > self.budget.steps
        {
            // Each micro-batch is an evaluation: steps times period of them are one run.
            if !crate::WHOLE {
                return complaints.beyond();
            }
            let reason = Reason::Budget { limit: Limit::Steps, max: self.budget.steps };
            let message = reason.sentence("", "", None, &|_| String::new());
            complaints.error(reason.code(), setting.value.span, message);
            return;
        }
        let clip = find("clip").map(|setting| setting.value.value);
        if let Some(setting) = find("clip").filter(|setting| setting.value.value <= 0.0) {
            let message = "the largest gradient norm is above 0";
            complaints.error(Code::BadLiteral, setting.value.span, message);
            fits = false;
        }
        let (Some(steps), Some(period), true) = (steps, period, fits) else {
            return;
        };
        let (lr, wd) = (number("lr", 0.001), number("wd", 0.0));
        let optimizer = if method.text == "sgd" {
            Optimizer::Sgd { lr, momentum: number("momentum", 0.0), wd }
        } else {
            let (beta1, beta2) = (number("beta1", 0.9), number("beta2", 0.999));
            Optimizer::AdamW { lr, beta1, beta2, eps: number("eps", 1e-8), wd }
        };
        self.out.lowered.train = Some(TrainLine { optimizer, steps, period, clip, span });
    }
}

/// A setting that counts: 1 where it is left out, `None` after a complaint.
fn count(setting: Option<&Setting>, max: Option<u64>, complaints: &mut Complaints) -> Option<u64> {
    let Some(setting) = setting else {
        return Some(1);
    };
    let x = setting.value.value;
    let whole = super::constant::whole(x).and_then(|x| u64::try_from(x).ok());
    let Some(n) = whole.filter(|n| *n >= 1) else {
        if !crate::WHOLE {
            complaints.beyond();
            return None;
        }
        let message = told!("`{}` is a whole number from 1 on", setting.name.text);
        complaints.error(Code::BadLiteral, setting.value.span, message);
        return None;
    };
    if let Some(max) = max.filter(|max| n > *max) {
        if !crate::WHOLE {
            complaints.beyond();
            return None;
        }
        let reason = Reason::Budget { limit: Limit::Steps, max };
        let message = reason.sentence("", "", None, &|_| String::new());
        complaints.error(reason.code(), setting.value.span, message);
        return None;
    }
    Some(n)
}
