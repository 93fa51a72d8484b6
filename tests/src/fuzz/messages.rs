//! What page and worker say to each other, as bytes that nobody packed.

use foldback::report::{CheckReport, TrainSaved};
use foldback_web::model::answer::Answer;
use foldback_web::model::layout::Orientation;
use foldback_web::protocol::{Body, Control, Job, Pace, Reply, Request, Trained, pack, unpack};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::analyse;

/// Says what a message is, if it can be read.
type Read = fn(&[u8]) -> Option<String>;

/// A byte for each type.
const TYPES: &[Read] = &[
    again::<Request>,
    again::<Reply>,
    again::<Answer>,
    again::<CheckReport>,
    again::<Trained>,
    again::<TrainSaved>,
];

/// Messages of every kind, packed.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut add = |kind: u8, bytes: Vec<u8>| out.push([vec![kind], bytes].concat());
    for job in [
        Job::Analyse {
            text: "loss = x\n".to_owned(),
            orientation: Orientation::Wide,
            closed: String::new(),
        },
        Job::Check,
        Job::Run { text: "é".to_owned(), start: true },
        Job::Control(Control::Step),
    ] {
        add(0, pack(&Request::new(7, job)));
    }
    for body in [
        Body::Ready,
        Body::Beyond,
        Body::Checks { done: false },
        Body::Training(Pace { over: true, paused: false, spent: 1.5 }),
        Body::Panicked { message: "m".to_owned(), place: "p".to_owned() },
    ] {
        add(1, pack(&Reply::new(u32::MAX, body)));
    }
    let text = "rules upstream\nparam w [1 t,2 e] = [[0.3,0.2]]\nc = sum_rows(w)\ny = w / c\nloss = y[0,0]\ncheck fd\n";
    add(2, pack(&Answer::new(analyse(text).report, Orientation::Tall)));
    let analysis =
        analyse(&format!("{}train sgd lr=0.1 steps=2\n", text.replace("upstream", "ggml")));
    add(2, pack(&Answer::new(analysis.report.clone(), Orientation::Wide)));
    if let Some(checks) = analysis.checks(&mut |_| {}) {
        add(3, pack(&checks));
    }
    if let Some(mut training) = analysis.training() {
        while training.advance() {}
        add(5, pack(&training.save()));
        let losses = training.report.losses.clone();
        add(4, pack(&Trained { losses, ..Trained::default() }));
    }
    out
}

/// Unpacks it as what its first byte says; what can be read can be packed and read again.
pub fn run(input: &[u8]) -> Vec<String> {
    let Some((kind, bytes)) = input.split_first() else { return Vec::new() };
    let kind = usize::from(*kind) % TYPES.len();
    let read = (TYPES[kind])(bytes);
    vec![format!("{kind} {}", read.unwrap_or_else(|| format!("unread {}", bytes.len().min(40))))]
}

fn again<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Option<String> {
    let value: T = unpack(bytes)?;
    let packed = pack(&value);
    let once: T = unpack(&packed).expect("what was packed is whole");
    assert!(pack(&once) == packed, "packed twice differs");
    Some(format!("read {}", packed.len().min(64)))
}
