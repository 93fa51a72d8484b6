//! Documents of any length, in the forms in which graphs grow: what each stage takes per node should stay the same.
//! Deliberately absent: a clock and a count of bytes, which the binary has.

use foldback::autodiff::{Request, build_backward};
use foldback::construct::Budget;
use foldback::contract;
use foldback::forward::Values;
use foldback::lang::{self, Lowered, Parsed};
use foldback::refusal::Finding;
use foldback::trace::Trace;

/// A form in which documents grow.
pub struct Form {
    /// The word that names it.
    pub name: &'static str,
    /// What is particular about it.
    pub what: &'static str,
    /// Writes it with so many ops.
    pub text: fn(usize) -> String,
}

/// All forms, in the order in which they are measured.
pub const FORMS: &[Form] = &[
    Form { name: "chain", what: "each node reads the one before it", text: chain },
    Form { name: "fan-in", what: "every node reads one parameter", text: fan_in },
    Form { name: "ladder", what: "each node is read by the next two", text: ladder },
    Form { name: "calls", what: "two nodes a call of a function", text: calls },
    Form { name: "in-place", what: "each node is written over the one before it", text: in_place },
    Form {
        name: "overwritten",
        what: "each node destroys a value that a rule reads",
        text: overwritten,
    },
    Form {
        name: "windows",
        what: "half of a storage is written over, the other half is read",
        text: windows,
    },
    Form { name: "leaves", what: "a parameter of its own for every node", text: leaves },
    Form { name: "unused", what: "as many parameters that lead nowhere", text: unused },
    Form { name: "refusals", what: "upstream refuses every node", text: refusals },
    Form { name: "unfolded", what: "upstream does not fold what any node sends", text: unfolded },
    Form {
        name: "silences",
        what: "upstream looks for a gradient at every node that it does not send",
        text: silences,
    },
];

/// One line an op, from a head and a line for each number.
fn lines(head: &str, n: usize, mut line: impl FnMut(usize) -> String) -> String {
    let mut text = head.to_owned();
    for i in 1..=n {
        text += &line(i);
        text.push('\n');
    }
    text += &format!("loss = sum(x{n})\n");
    text
}

fn chain(n: usize) -> String {
    let head = "param x0 = [1, 2, 3, 4]\nparam b = [1, 2, 1, 2]\nparam m = [0.999, 1, 1, 0.999]\n";
    lines(head, n, |i| {
        let by = if i.is_multiple_of(2) { "* m" } else { "+ b" };
        format!("x{i} = x{} {by}", i - 1)
    })
}

fn fan_in(n: usize) -> String {
    let head = "param w = [1, 2, 3, 4]\nconst x0 = [0, 0, 0, 0]\n";
    lines(head, n, |i| format!("x{i} = x{} + w", i - 1))
}

/// The signs alternate, so that neither values nor gradients leave the range of f32.
fn ladder(n: usize) -> String {
    let head = "param x0 = [1, 2, 3, 4]\n";
    lines(head, n, |i| format!("x{i} = x{} - x{}", i - 1, i.saturating_sub(2)))
}

fn calls(n: usize) -> String {
    let head = "param x0 = [1, 2, 3, 4]\nparam w = [1, 1, 1, 1]\nfn f(x, w) {\n  y = x * w\n  return y + w\n}\n";
    lines(head, n.div_ceil(2), |i| format!("x{i} = f(x{}, w)", i - 1))
}

fn in_place(n: usize) -> String {
    let head = "param w = [1, 2, 3, 4]\nx0 = w + w\n";
    lines(head, n - 1, |i| format!("x{i} = add!(x{}, w)", i - 1))
}

fn overwritten(n: usize) -> String {
    let head = "param w = [1, 1, 1, 1]\nx0 = w + w\n";
    lines(head, n - 1, |i| format!("x{i} = mul!(x{}, w)", i - 1))
}

fn windows(n: usize) -> String {
    let head = "param w = [1, 1, 1, 1]\nc = w * w\nz0 = c[:2]\nx0 = c[2:]\nh = c[2:]\n";
    lines(head, n.saturating_sub(4) / 2, |i| {
        format!("z{i} = add!(z{}, 1)\nx{i} = x{} * h", i - 1, i - 1)
    })
}

fn leaves(n: usize) -> String {
    let head = "const x0 = [0, 0, 0, 0]\n";
    lines(head, n, |i| format!("param w{i} = [1, 2, 3, 4]\nx{i} = x{} + w{i}", i - 1))
}

fn unused(n: usize) -> String {
    let head = "param x0 = [1, 2, 3, 4]\n";
    lines(head, n, |i| format!("param w{i} = [1, 2, 3, 4]\nx{i} = x{} + x0", i - 1))
}

fn refusals(n: usize) -> String {
    let head = "rules upstream\nparam x0 = [1.5, 2.5, 3.5, 4.5]\n";
    lines(head, n, |i| format!("x{i} = ceil(x{})", i - 1))
}

fn unfolded(n: usize) -> String {
    let head = "rules upstream\nparam x0 = [1, 2, 3, 4]\nparam w = [2]\n";
    lines(head, n, |i| format!("x{i} = x{} / w", i - 1))
}

fn silences(n: usize) -> String {
    let head = "rules upstream\nparam x0 = [1, 2, 3, 4]\nparam w = [2, 2, 2, 2]\n";
    lines(head, n, |i| format!("x{i} = cpy(x{}, w)", i - 1))
}

/// Wide enough for the longest document that is measured, and its gradients.
pub fn budget() -> Budget {
    Budget { nodes: 1 << 20, elements: 1 << 30, events: 1 << 24, ..Budget::default() }
}

/// Reads a text.
pub fn read(text: &str) -> (Parsed, Lowered) {
    let parsed = lang::parse(text);
    let lowered = lang::lower(&parsed.ast, text, &budget());
    (parsed, lowered)
}

/// What a text asks for.
pub fn request(lowered: &Lowered) -> Request {
    Request { loss: lowered.loss, rules: lowered.rules, budget: budget(), ..Request::default() }
}

/// Everything that one document comes to, held at the same time.
pub struct Whole {
    /// The text's tree.
    pub parsed: Parsed,
    /// The forward graph.
    pub lowered: Lowered,
    /// The gradients, or how far they came, with all that happened.
    pub trace: Trace,
    /// What stands in the way.
    pub findings: Vec<Finding>,
    /// All values.
    pub values: Values<f32>,
}

/// Goes the whole way, from the text to the values of the gradients.
pub fn whole(text: &str) -> Whole {
    let (parsed, lowered) = read(text);
    let request = request(&lowered);
    let trace = build_backward(&lowered.graph, &request);
    // Where a build stops, the rest of what stands in its way is looked for, as a report does.
    let findings = trace.refusal().map(|_| contract::findings(&lowered.graph, &request));
    let mut values = Values::new();
    values.eval(&trace.graph, 0..trace.graph.len());
    Whole { parsed, lowered, trace, findings: findings.unwrap_or_default(), values }
}

#[cfg(test)]
mod tests {
    use super::{FORMS, whole};

    #[test]
    fn every_form_is_read_and_has_as_many_nodes_as_it_says() {
        for form in FORMS {
            let all = whole(&(form.text)(20));
            let (read, made) = (&all.parsed.diagnostics, &all.lowered.diagnostics);
            assert!(read.is_empty() && made.is_empty(), "{}: {read:?} {made:?}", form.name);
            let ops = all.lowered.graph.nodes().filter(|(_, node)| node.op().is_some()).count();
            assert_eq!(ops, 21, "{}", form.name);
        }
    }

    #[test]
    fn refusals_are_where_they_are_meant_to_be() {
        // How many more findings ten more nodes make.
        let refused = [("overwritten", 10), ("refusals", 10), ("unfolded", 10), ("silences", 0)];
        for form in FORMS {
            let (short, long) = (whole(&(form.text)(10)), whole(&(form.text)(20)));
            let wanted = refused.iter().find(|(name, _)| *name == form.name);
            assert_eq!(short.trace.refusal().is_some(), wanted.is_some(), "{}", form.name);
            let more = long.findings.len() - short.findings.len();
            assert_eq!(more, wanted.map_or(0, |(_, more)| *more), "{}", form.name);
        }
    }
}
