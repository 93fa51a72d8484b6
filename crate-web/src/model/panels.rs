//! Panels that need the whole engine: each is a text's markup, asked for by a word and what that needs to know.
//!
//! They are made in a worker of their own, so the page's first load holds nothing of them. Pure and tested natively.
//! What moves in them is moved by the style sheet along one number, `--t`; `data-style` carries the numbers it needs.

use foldback::construct::Budget;
use foldback::report::{Analysis, NodeRow, Report, analyse};

mod aid;
pub mod checks;
pub mod documents;
mod draw;
mod evidence;
mod find;
mod fold;
mod keys;
mod mathml;
mod paths;
mod place;
mod quiz;
mod reference;
mod rules;
mod sheet;
mod side;
pub mod training;

/// A text that panels are made of.
pub struct Opened {
    /// The text.
    pub text: String,
    analysis: Analysis,
}

impl Opened {
    /// Reads a text.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), analysis: analyse(text, &Budget::default()) }
    }

    fn report(&self) -> &Report {
        &self.analysis.report
    }

    fn node(&self, ix: u32) -> Option<&NodeRow> {
        self.report().nodes.get(ix as usize)
    }

    /// All elements of a node, row-major; as the page shows them, so `f32` values exactly.
    fn elements(&self, ix: u32) -> Vec<f64> {
        let graph = &self.analysis.trace.graph;
        let id = graph.nodes().nth(ix as usize).map(|(id, _)| id);
        id.map_or(Vec::new(), |id| self.analysis.values.read_f64(graph, id))
    }
}

/// The markup that a question asks for; empty where it is not understood.
pub fn panel(opened: &Opened, ask: &str) -> String {
    let (word, rest) = ask.split_once(' ').unwrap_or((ask, ""));
    let mut words = rest.split(' ');
    let mut number = || words.next().and_then(|word| word.parse::<u32>().ok());
    match word {
        "fold" => {
            let step = number().unwrap_or(0);
            fold::panel(opened, step as usize, rest.split_once(' ').map_or("", |(_, args)| args))
        }
        "complete" => aid::proposals(&opened.text, number().unwrap_or(0), false),
        "proposals" => aid::proposals(&opened.text, number().unwrap_or(0), true),
        "card" => aid::card(&opened.text, number().unwrap_or(0)),
        "keys" => keys::panel(rest),
        "checks" => checks::frame(opened.report()),
        "draw" => draw::panel(opened, rest),
        "make" => draw::make(opened, rest),
        "quiz" => {
            let step = number().unwrap_or(u32::MAX);
            quiz::panel(opened, step as usize, rest.split_once(' ').map_or("", |(_, args)| args))
        }
        "rules" => rules::panel(opened),
        "paths" => {
            let node = number();
            paths::panel(opened, node, rest.split_once(' ').map_or("", |(_, args)| args))
        }
        "side" => {
            let (step, node) = (number(), number());
            let chosen = said(rest, "sel").unwrap_or("");
            let closed = said(rest, "closed").unwrap_or("");
            side::panel(opened, step.unwrap_or(0) as usize, node, chosen, closed)
        }
        "reference" => reference::panel(rest),
        "take" => match rest.split_once(' ') {
            Some((kind, ix)) => side::take(opened, kind, ix.parse().unwrap_or(u32::MAX)),
            None => String::new(),
        },
        _ => String::new(),
    }
}

/// What a question's words say of a name: `order=1,0`.
fn said<'a>(args: &'a str, name: &str) -> Option<&'a str> {
    args.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// Numbers with commas between them.
fn numbers(list: &str) -> Vec<usize> {
    list.split(',').filter_map(|n| n.parse().ok()).collect()
}

#[cfg(test)]
mod tests;
