//! What is said of mistakes: each once, with the nearest name and an edit where there is one.

use super::Val;
use super::generator::is_generator;
use super::machine::{Machine, Running};
use crate::graph::NodeId;
use crate::lang::ast::{ExprId, ExprKind, Ident};
use crate::lang::suggest::nearest;
use crate::lang::{About, Code, Diagnostic, Span, TextEdit, edit};
#[cfg(feature = "full")]
use crate::ops;
use crate::ops::OpKind;
use crate::refusal::{Limit, Reason};
use crate::rules::RuleSet;
use crate::tensor::TensorType;

/// What is wrong, each place and pattern once: a body that is called twice has its mistakes once.
#[derive(Default)]
pub(super) struct Complaints {
    all: Vec<Diagnostic>,
}

impl Complaints {
    /// After so many the rest is not listed.
    const MAX: usize = 1000;

    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        if !crate::WHOLE {
            return self.beyond();
        }
        let is_told =
            |told: &Diagnostic| told.span == diagnostic.span && told.code == diagnostic.code;
        if !self.is_full() && !self.all.iter().any(is_told) {
            self.all.push(diagnostic);
        }
    }

    /// Only the whole engine makes this, or says what is wrong with it.
    pub(super) fn beyond(&mut self) {
        if self.all.is_empty() {
            self.all.push(Diagnostic::beyond());
        }
    }

    /// Whether a search for the nearest name is still worth its time.
    pub(super) fn suggests(&self) -> bool {
        crate::WHOLE && self.all.len() < 50
    }

    pub(super) fn is_full(&self) -> bool {
        crate::WHOLE && self.all.len() >= Self::MAX
    }

    pub(super) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        if !crate::WHOLE {
            return self.beyond();
        }
        self.add(Diagnostic::error(code, span, message));
    }

    /// A name that nobody knows, with the nearest one that somebody does.
    pub(super) fn unknown<'a>(
        &mut self,
        code: Code,
        name: &Ident,
        message: String,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        if !crate::WHOLE {
            return self.beyond();
        }
        let diagnostic = Diagnostic::error(code, name.span, message);
        let known = self.suggests().then_some(known).into_iter().flatten();
        self.add(match nearest(&name.text, known) {
            Some(meant) => {
                diagnostic.fix(format!("Write `{meant}`"), TextEdit::replace(name.span, meant))
            }
            None => diagnostic,
        });
    }

    /// A second line of a kind that a document has once.
    pub(super) fn second_line(&mut self, word: &str, span: Span) {
        if !crate::WHOLE {
            return self.beyond();
        }
        let message = format!("a document has one `{word}` line; remove this one");
        let diagnostic = Diagnostic::error(Code::DuplicateName, span, message);
        self.add(diagnostic.fix("Remove it", TextEdit::replace(span, "")));
    }

    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        if crate::WHOLE {
            self.all.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.code));
        }
        self.all
    }
}

impl Machine<'_> {
    /// A name without a value, a list or a text where a tensor should stand.
    pub(super) fn no_value(&mut self, running: &Running, val: &Val, id: ExprId) {
        if !crate::WHOLE {
            return self.complaints.beyond();
        }
        let ast = self.program.ast;
        let core = ast.core(id);
        let expr = ast.expr(core);
        match (val, &expr.kind) {
            (Val::Word, ExprKind::Name(name)) => self.unknown_name(running, name, expr.span),
            (Val::Parts, ExprKind::List(parts)) => {
                let words: Vec<(ExprId, Val)> =
                    parts.iter().map(|part| (*part, running.val(*part))).collect();
                let mut any = false;
                for (part, val) in words.iter().filter(|(_, val)| matches!(val, Val::Word)) {
                    self.no_value(running, val, *part);
                    any = true;
                }
                if !any {
                    let message = "a list holds numbers; a tensor cannot stand in it";
                    self.complaints.error(Code::BadLiteral, expr.span, message);
                }
            }
            (Val::Text, _) => {
                let message =
                    "a text stands only in `load(\"file\")` and in attributes that take one";
                self.complaints.error(Code::WrongArguments, expr.span, message);
            }
            _ => {}
        }
    }

    fn unknown_name(&mut self, running: &Running, name: &str, span: Span) {
        let ident = Ident { text: name.to_owned(), span };
        let is_document = running.activation == 0;
        let document = &self.program.document;
        if is_generator(name) {
            let message = format!("`{name}` fills a leaf; write `const NAME [SHAPE] = {name}`");
            self.complaints.error(Code::UnknownName, span, message);
            return;
        }
        if !is_document && document.by_name.contains_key(name) {
            let message = format!("a fn reads only its arguments; pass `{name}` to it");
            self.complaints.error(Code::UnknownName, span, message);
            return;
        }
        if !self.complaints.suggests() {
            let message = format!("nothing is called `{name}`");
            self.complaints.unknown(Code::UnknownName, &ident, message, None);
            return;
        }
        let formals = self.activations.get(running.activation).map(|a| a.formals.keys().copied());
        let lines = match self.block(running.activation) {
            Some(block) => block,
            None => document,
        };
        let known: Vec<&str> =
            formals.into_iter().flatten().chain(lines.by_name.keys().copied()).collect();
        let message = format!("nothing is called `{name}`");
        self.complaints.unknown(Code::UnknownName, &ident, message, known);
    }

    /// Says why a node could not be made; a bound that was met ends everything.
    pub(super) fn refuse(
        &mut self,
        running: &Running,
        about: Option<(OpKind, String)>,
        reason: &Reason,
        src: Option<usize>,
        span: Span,
    ) {
        if !crate::WHOLE {
            self.stopped = true;
            return self.complaints.beyond();
        }
        if matches!(reason, Reason::Budget { limit: Limit::Nodes | Limit::Elements, .. }) {
            self.stopped = true;
        }
        let (op, node) = about.map_or((None, running.name.clone()), |(op, node)| (Some(op), node));
        let word = op.map_or("", |op| self.rules.op_name(op));
        let node = if node.is_empty() { "this formula".to_owned() } else { node };
        let name = |id: NodeId| {
            let name = self.graph.get(id).and_then(|node| node.name.as_deref());
            name.unwrap_or("a number").to_owned()
        };
        let message = reason.sentence(word, &node, src, &name);
        let mut diagnostic = Diagnostic::error(reason.code(), span, message);
        if let Reason::FirstWouldStretch { a, b } = reason
            && RuleSet::Numpy.broadcast().allows(*a, *b)
            && self.imports.is_none()
        {
            let (ast, text) = (self.program.ast, self.program.text);
            let edit = edit::set_rules(text, ast, RuleSet::Numpy.name());
            diagnostic = diagnostic.fix("Use rules numpy", edit);
        }
        #[cfg(feature = "full")]
        if matches!(reason, Reason::SrcNotContiguous) {
            let packed = format!("{}({})", ops::PACK.def().name, span.of(self.program.text));
            diagnostic = diagnostic.fix("Make a packed copy", TextEdit::replace(span, packed));
        }
        diagnostic.about = Some(About { node, op, src });
        self.complaints.add(diagnostic);
    }

    /// The fix for a misspelt axis name.
    pub(super) fn unknown_axis(&mut self, ty: &TensorType, name: &str, span: Span) {
        if !crate::WHOLE {
            return self.complaints.beyond();
        }
        let known: Vec<&str> =
            ty.axes.iter().flatten().map(|axis| self.graph.axis_name(*axis)).collect();
        let message = if known.is_empty() {
            format!("no axis is called `{name}`; count axes from 0 on the left")
        } else {
            format!("no axis is called `{name}`; here are {}", known.join(", "))
        };
        let diagnostic = Diagnostic::error(Code::WrongArguments, span, message);
        let diagnostic = match nearest(name, known) {
            Some(meant) => {
                diagnostic.fix(format!("Write `{meant}`"), TextEdit::replace(span, meant))
            }
            None => diagnostic,
        };
        self.complaints.add(diagnostic);
    }
}
