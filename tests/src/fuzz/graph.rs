//! Graphs that no text makes: rows applied to anything, whatever their attributes, and backward from anywhere.

use foldback::autodiff::{Given, Request, build_backward};
use foldback::check::{Finite, adjoint};
use foldback::construct::{self, Apply};
use foldback::contract;
use foldback::forward::Values;
use foldback::graph::{Flags, Graph, Index, Init, NodeId, Params, Value};
use foldback::ops::OpKind;
use foldback::ops::def::{ParamKind, ParamSpec};
use foldback::refusal::Finding;
use foldback::rules::RuleSet;
use foldback::tensor::{DType, Shape, TensorType};
use foldback::trace::ticks;

use super::bytes::Bytes;
use crate::generate::SMALL;
use crate::rng::Rng;

/// Bytes of some lengths.
pub fn seeds() -> Vec<Vec<u8>> {
    let bytes = |seed: u64| {
        let mut rng = Rng::new(seed);
        (0..20 + 20 * seed % 160).map(|_| rng.bits() as u8).collect()
    };
    (0..200).map(bytes).collect()
}

/// Builds what the bytes say, evaluates it in every number type, and goes back from some node of it.
///
/// # Panics
/// If something does not hold.
pub fn run(input: &[u8]) -> Vec<String> {
    let mut bytes = Bytes::new(input);
    let rules = bytes.pick(RuleSet::ALL);
    let mut graph = Graph::default();
    let mut out = Vec::new();
    for ix in 0..=bytes.below(4) {
        let ty = ty(&mut bytes);
        let init = init(&mut bytes, ty.shape);
        let flags = Flags { param: bytes.chance(160), ..Flags::default() };
        let name = Some(format!("p{ix}").into());
        if let Err(reason) = construct::leaf(&mut graph, &SMALL, ty, init, name, flags) {
            out.push(format!("leaf {}", reason.code()));
        }
    }
    let mut n_ops = 0;
    while !bytes.is_empty() && n_ops < 24 {
        n_ops += 1;
        let op = bytes.pick(OpKind::ALL);
        let def = op.def();
        let most = def.arity.max.min(def.arity.min + 2);
        let n = def.arity.min + bytes.below(most - def.arity.min + 1);
        let src: Vec<NodeId> = (0..n).filter_map(|_| recent(&mut bytes, &graph)).collect();
        let params = def.params.iter().map(|spec| param(&mut bytes, spec)).collect();
        let what = Apply {
            op,
            src: &src,
            params: Params::new(params),
            name: Some(format!("n{n_ops}").into()),
            in_place: bytes.chance(24),
        };
        out.push(match construct::apply(&mut graph, &SMALL, rules, what) {
            Ok(_) => format!("{} {}", def.name, rules.name()),
            Err(reason) => format!("{} {} {}", reason.code(), def.name, rules.name()),
        });
    }
    let mut request = Request { rules, budget: SMALL, ..Request::default() };
    request.loss = recent(&mut bytes, &graph);
    if bytes.chance(100) {
        let shape = request.loss.map_or(Shape::SCALAR, |loss| graph.node(loss).ty.shape);
        let shape = if bytes.chance(230) { shape } else { self::shape(&mut bytes) };
        let init = init(&mut bytes, shape);
        request.cotangent = Some(Given { shape, init });
    }
    if bytes.chance(40)
        && let Some(of) = recent(&mut bytes, &graph)
    {
        let shape = shape(&mut bytes);
        request.accumulators.push((of, Given { shape, init: Init::Fill(1.0) }));
    }
    let n_forward = graph.len();
    let trace = build_backward(&graph, &request);
    assert_eq!(graph.len(), n_forward, "the caller's graph has changed");
    trace.frame(trace.events.len());
    ticks(&trace);
    trace.authors();
    let all = contract::findings(&graph, &request);
    let first = all.iter().find(|f| matches!(f, Finding::Refusal(_)));
    assert_eq!(first, trace.refusal(), "the build stops at what the walk does not find first");
    if let Some(stop) = trace.refusal() {
        let op = stop.at().and_then(|id| trace.graph.get(id)).and_then(foldback::graph::Node::op);
        let op = op.map_or("", |op| op.def().name);
        out.push(format!("stops {} {op} {:?} {}", stop.code(), stop.src(), rules.name()));
    }
    let mut values = Values::<f32>::new();
    values.eval(&trace.graph, 0..trace.graph.len());
    let mut wide = Values::<f64>::new();
    wide.eval(&trace.graph, 0..trace.graph.len());
    if let (None, Some(loss)) = (trace.refusal(), request.loss)
        && request.cotangent.is_none()
    {
        out.push(format!("built {}", rules.name()));
        adjoint(&trace, loss);
        Finite::new(&trace, loss).take(4).for_each(drop);
    }
    out
}

fn recent(bytes: &mut Bytes<'_>, graph: &Graph) -> Option<NodeId> {
    let n = graph.len();
    let back = if bytes.chance(128) { bytes.below(n.min(3)) } else { bytes.below(n) };
    NodeId::at(n.checked_sub(1 + back)?)
}

fn shape(bytes: &mut Bytes<'_>) -> Shape {
    let rank = bytes.pick(&[0, 1, 1, 2, 2, 2, 3, 4]);
    let dims: Vec<u32> =
        (0..rank).map(|_| bytes.pick(&[0, 1, 1, 2, 2, 3, 4, 5, 6, 8, 16, 4095])).collect();
    Shape::new(&dims).unwrap_or(Shape::SCALAR)
}

fn ty(bytes: &mut Bytes<'_>) -> TensorType {
    let dtype = if bytes.chance(180) { DType::F32 } else { bytes.pick(DType::ALL) };
    TensorType { dtype, ..TensorType::f32(shape(bytes)) }
}

fn number(bytes: &mut Bytes<'_>) -> f64 {
    bytes.pick(&[
        0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        -0.0,
        1e-5,
        3.0,
        1e30,
        -1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
    ])
}

/// Whole numbers as large as the language's own.
fn whole(bytes: &mut Bytes<'_>) -> i64 {
    bytes.pick(&[
        0,
        1,
        1,
        2,
        2,
        3,
        4,
        -1,
        -2,
        7,
        100,
        4096,
        i64::from(i32::MAX),
        i64::from(u32::MAX) + 1,
        (1 << 53) - 1,
        -(1 << 53) + 1,
    ])
}

fn init(bytes: &mut Bytes<'_>, shape: Shape) -> Init {
    match bytes.below(6) {
        0 => Init::Fill(number(bytes)),
        1 => Init::Arange { start: number(bytes), step: number(bytes) },
        2 => Init::Linspace { a: number(bytes), b: number(bytes) },
        3 => Init::Eye,
        4 if shape.n_elements() <= 64 => {
            Init::Literal((0..shape.n_elements()).map(|_| number(bytes)).collect())
        }
        _ => Init::Rand { seed: u64::from(bytes.byte()), lo: -2.0, hi: 2.0 },
    }
}

fn param(bytes: &mut Bytes<'_>, spec: &ParamSpec) -> Value {
    if bytes.chance(40) {
        return Value::None;
    }
    let kinds = [ParamKind::Num, ParamKind::Ints, ParamKind::Bool, ParamKind::Text];
    let kind = if bytes.chance(245) { spec.kind } else { bytes.pick(&kinds) };
    let ints = |bytes: &mut Bytes<'_>| (0..bytes.below(6)).map(|_| whole(bytes)).collect();
    match kind {
        ParamKind::Num => Value::Num(number(bytes)),
        ParamKind::Int | ParamKind::Axis => Value::Int(whole(bytes)),
        ParamKind::Bool => Value::Bool(bytes.chance(128)),
        ParamKind::Axes if bytes.chance(128) => Value::Int(whole(bytes)),
        ParamKind::Axes | ParamKind::Ints => Value::Ints(ints(bytes)),
        ParamKind::Node => Value::None,
        ParamKind::Index => Value::Index((0..bytes.below(6)).map(|_| index(bytes)).collect()),
        ParamKind::Text => Value::Text(
            bytes
                .pick(&[
                    "",
                    "ij,jk->ik",
                    "ii->i",
                    "ij->",
                    "...",
                    "i->ii",
                    "linear",
                    "nearest",
                    "max",
                ])
                .into(),
        ),
    }
}

fn index(bytes: &mut Bytes<'_>) -> Index {
    let end = |bytes: &mut Bytes<'_>| bytes.chance(128).then(|| whole(bytes));
    match bytes.below(5) {
        0 => Index::New,
        1 => Index::Rest,
        2 => Index::At(whole(bytes)),
        _ => Index::Range { start: end(bytes), stop: end(bytes), step: end(bytes) },
    }
}
