//! Foldback in the peers' native harness: `README.md` beside this file says how it joins.
//!
//! `foldback` reads a document and builds its gradients and its plan once, and every step follows the plan, as a
//! compiled function of JAX is called again. `foldback-anew` makes graph and gradients anew in every step and evaluates
//! them node by node, as the libraries do that build their tape while they run. In W4 both build all anew.

use crate::inputs::{self, Inputs};
use crate::Bench;
use foldback::autodiff::{differentiate, Gradients, Request};
use foldback::construct::Budget;
use foldback::forward::Values;
use foldback::lang::{self, Ast, Lowered};
use foldback_benches::chain::Chain;
use foldback_benches::work::{case, Case, Work, LR};

/// A workload whose parameters after a step can be read by name.
trait Steps {
    fn set(&mut self, name: &str, values: &[f32]) -> bool;
    fn forward(&mut self) -> f32;
    fn step(&mut self) -> f32;
    fn after(&self, name: &str) -> &[f32];
}

impl Steps for Work {
    fn set(&mut self, name: &str, values: &[f32]) -> bool {
        Work::set(self, name, values)
    }
    fn forward(&mut self) -> f32 {
        Work::forward(self)
    }
    fn step(&mut self) -> f32 {
        Work::step(self)
    }
    fn after(&self, name: &str) -> &[f32] {
        Work::after(self, name)
    }
}

impl Steps for Chain {
    fn set(&mut self, name: &str, values: &[f32]) -> bool {
        Chain::set(self, name, values)
    }
    fn forward(&mut self) -> f32 {
        Chain::forward(self).expect("a chain can be built")
    }
    fn step(&mut self) -> f32 {
        Chain::step(self).expect("a chain can be built")
    }
    fn after(&self, name: &str) -> &[f32] {
        Chain::after(self, name)
    }
}

/// A document whose graph is made in every step. Leaves have the same ids each time, so their values stay.
struct Anew {
    text: String,
    ast: Ast,
    upto: &'static str,
    values: Values<f32>,
    params: Vec<Param>,
}

struct Param {
    name: String,
    now: Vec<f32>,
    after: Vec<f32>,
}

impl Anew {
    fn new(case: &Case) -> Self {
        let (text, upto) = (case.text.clone(), case.upto);
        let ast = lang::parse(&text).ast;
        let mut anew = Self { text, ast, upto, values: Values::new(), params: vec![] };
        let lowered = anew.graph();
        for (name, id) in &lowered.names {
            if lowered.graph.node(*id).flags.param {
                anew.params.push(Param { name: name.to_string(), now: vec![], after: vec![] });
            }
        }
        anew
    }
    fn graph(&self) -> Lowered {
        lang::lower(&self.ast, &self.text, &Budget::default())
    }
}

impl Steps for Anew {
    fn set(&mut self, name: &str, values: &[f32]) -> bool {
        let Some(id) = self.graph().names.get(name).copied() else { return false };
        self.values.refill(id, values);
        for param in self.params.iter_mut().filter(|p| p.name == name) {
            (param.now, param.after) = (values.to_vec(), values.to_vec());
        }
        true
    }
    fn forward(&mut self) -> f32 {
        let Lowered { graph, names, .. } = self.graph();
        let upto = names[self.upto];
        self.values.eval(&graph, 0..upto.index() + 1);
        self.values.packed(&graph, upto)[0]
    }
    fn step(&mut self) -> f32 {
        let Lowered { graph, loss, rules, names, .. } = self.graph();
        let request = Request { loss, rules, ..Request::default() };
        let built: Gradients = differentiate(graph, &request).expect("gradients");
        self.values.eval(&built.graph, 0..built.graph.len());
        for param in &mut self.params {
            let grad = built.of(names[param.name.as_str()]).expect("a gradient");
            let grad = self.values.packed(&built.graph, grad);
            for ((w, p), g) in param.after.iter_mut().zip(&param.now).zip(grad.iter()) {
                *w = *p - LR as f32 * *g;
            }
        }
        self.values.packed(&built.graph, loss.expect("a loss"))[0]
    }
    fn after(&self, name: &str) -> &[f32] {
        self.params.iter().find(|p| p.name == name).map_or(&[], |p| &p.after)
    }
}

struct Peer {
    work: Box<dyn Steps>,
    params: Vec<&'static str>,
}

impl Bench for Peer {
    fn fwd(&mut self) -> f32 {
        self.work.forward()
    }
    fn step(&mut self) -> f32 {
        self.work.step()
    }
    fn probe(&mut self) -> (f32, Vec<(&'static str, Vec<f32>)>) {
        let loss = self.work.step();
        (loss, self.params.iter().map(|name| (*name, self.work.after(name).to_vec())).collect())
    }
}

/// A workload with the harness's own inputs.
pub fn prepare(c: &inputs::Case, i: &Inputs, anew: bool) -> Box<dyn Bench> {
    let mut work: Box<dyn Steps> = match case(&c.id) {
        None => Box::new(Chain::new(c.n).expect("a chain")),
        Some(case) if anew => Box::new(Anew::new(&case)),
        Some(case) => Box::new(Work::new(&case).expect("a document that builds")),
    };
    for leaf in i.params.iter().chain(&i.consts) {
        assert!(work.set(leaf.name, &leaf.data), "no leaf {}", leaf.name);
    }
    Box::new(Peer { work, params: i.params.iter().map(|p| p.name).collect() })
}
