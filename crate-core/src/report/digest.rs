//! A few words that stand for every bit of an analysis, to compare one build of the engine with another.
//! Deliberately absent: any claim beyond that; the hash is FNV-1a, which nobody has to attack here.

use super::{Analysis, Verdict};
use crate::forward::Values;
use crate::graph::NodeId;
use crate::ops::def::Lane;
use crate::trace::Event;

/// The most entries that are checked, and the most steps that are taken, for a digest.
const MOST: usize = 64;

struct Hash(u64);

impl Hash {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// NaN counts as a class: WebAssembly leaves its payload open.
    fn number(&mut self, x: f64) {
        let bits = if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
        self.bytes(&bits.to_le_bytes());
    }
}

impl Analysis {
    /// Hashes of the events, of every node's value in f32 and f64, of the checks, of the training, and of the words:
    /// `events 0f… f32 … f64 … checks … train … words …`.
    pub fn digest(&self) -> String {
        let parts = [
            ("events", self.events_hash()),
            ("f32", self.values_hash::<f32>()),
            ("f64", self.values_hash::<f64>()),
            ("checks", self.checks_hash()),
            ("train", self.train_hash()),
            ("words", self.words_hash()),
        ];
        let parts: Vec<String> =
            parts.iter().map(|(name, h)| format!("{name} {:016x}", h.0)).collect();
        parts.join(" ")
    }

    fn events_hash(&self) -> Hash {
        let mut hash = Hash::new();
        for line in self.log_kinds() {
            hash.bytes(line.as_bytes());
        }
        hash
    }

    /// The events as data, without values: `Event` prints its ids and enums.
    fn log_kinds(&self) -> impl Iterator<Item = String> {
        self.trace.events.iter().map(|event: &Event| format!("{event:?};"))
    }

    fn values_hash<T: Lane>(&self) -> Hash {
        let mut hash = Hash::new();
        let graph = &self.trace.graph;
        let mut values = Values::<T>::new();
        values.eval(graph, 0..graph.len());
        for id in (0..graph.len()).filter_map(NodeId::at) {
            for x in values.read_f64(graph, id) {
                hash.number(x);
            }
            hash.bytes(b";");
        }
        hash
    }

    fn checks_hash(&self) -> Hash {
        let mut hash = Hash::new();
        let Some(mut checking) = self.checking() else { return hash };
        checking.advance(MOST);
        for row in &checking.report.rows {
            for x in [row.fd, row.left, row.right, row.h, row.formula] {
                hash.number(x.unwrap_or(f64::NAN));
            }
            hash.number(row.autodiff);
            hash.number(row.error);
            hash.bytes(match row.verdict {
                Verdict::Agrees => b"a",
                Verdict::Kink => b"k",
                Verdict::Differs => b"d",
            });
        }
        hash
    }

    fn train_hash(&self) -> Hash {
        let mut hash = Hash::new();
        let Some(mut training) = self.training() else { return hash };
        for _ in 0..MOST {
            if !training.advance() {
                break;
            }
        }
        for loss in &training.report.losses {
            hash.number(*loss);
        }
        for leaf in training.report.last.iter().flat_map(|step| &step.leaves) {
            for x in leaf.after.iter().chain(&leaf.closed) {
                hash.number(*x);
            }
        }
        hash.bytes(training.report.state.as_bytes());
        hash
    }

    fn words_hash(&self) -> Hash {
        let mut hash = Hash::new();
        for tick in &self.report.ticks {
            hash.bytes(tick.title.as_bytes());
            hash.bytes(tick.sentence.as_bytes());
        }
        for finding in &self.report.findings {
            hash.bytes(finding.message.as_bytes());
        }
        hash
    }
}
