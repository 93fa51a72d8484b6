//! Data sets and results: rows for a model to learn from, and what a pass over them came to.
//! Deliberately absent: files, and randomness that is not an argument.

/// Rows of inputs and labels. The shard is the unit that is shuffled and copied.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DataSet {
    inputs: Vec<f32>,
    labels: Vec<f32>,
    input_width: usize,
    label_width: usize,
    shard: usize,
    order: Vec<usize>,
}

impl DataSet {
    /// `n` rows from flat row-major `[n, input_width]` and `[n, label_width]`; a label width of 0 is no labels.
    /// `None` where the lengths do not fit, or where `shard` does not divide the number of rows.
    pub fn new(
        inputs: Vec<f32>,
        input_width: usize,
        labels: Vec<f32>,
        label_width: usize,
        shard: usize,
    ) -> Option<Self> {
        let n = inputs.len().checked_div(input_width)?;
        let fits = n * input_width == inputs.len() && n * label_width == labels.len();
        let whole = shard > 0 && n.is_multiple_of(shard);
        let order = (0..n.checked_div(shard)?).collect();
        (fits && whole).then_some(Self { inputs, labels, input_width, label_width, shard, order })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.order.len() * self.shard
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Shuffles the first `n` rows (all where it is left out), whole shards at a time, in place of the order they
    /// are in now. Fisher and Yates's walk on the generator of `language.md`.
    pub fn shuffle(&mut self, seed: u64, n: Option<usize>) {
        let n = n.map_or(self.order.len(), |n| (n / self.shard).min(self.order.len()));
        for last in (1..n).rev() {
            let pick = draw(seed, last as u64) % (last as u64 + 1);
            self.order.swap(last, pick as usize);
        }
    }

    /// Copies `n` rows from batch `batch` on into buffers that are emptied first. False past the end, or where a
    /// batch is not a whole number of shards.
    pub fn batch(
        &self,
        batch: usize,
        n: usize,
        inputs: &mut Vec<f32>,
        labels: &mut Vec<f32>,
    ) -> bool {
        inputs.clear();
        labels.clear();
        let per = n / self.shard;
        let Some(shards) = self.order.get(batch * per..(batch + 1) * per) else { return false };
        if per == 0 || per * self.shard != n {
            return false;
        }
        for shard in shards {
            let rows = |width: usize| shard * self.shard * width..(shard + 1) * self.shard * width;
            inputs.extend(self.inputs.get(rows(self.input_width)).unwrap_or(&[]));
            labels.extend(self.labels.get(rows(self.label_width)).unwrap_or(&[]));
        }
        true
    }
}

/// Draw `i` of a seed: splitmix64's output mix, as `language.md` has it.
fn draw(seed: u64, i: u64) -> u64 {
    let mut z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A number and how far it may be off.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its standard error; NaN below two samples.
    pub uncertainty: f64,
}

/// What a number of evaluations came to (`ggml-autodiff.md`, 5.5).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// How many datapoints went in.
    pub n_data: u64,
    /// The loss of each evaluation.
    pub losses: Vec<f64>,
    /// For each datapoint, the class with the largest output; only where the loss has classes.
    pub predictions: Vec<u32>,
    /// How many predictions were right, and of how many; `None` as long as no evaluation had labels to compare.
    pub right: Option<(u64, u64)>,
    /// Whether the loss is one of a datapoint (then it averages) or of a batch (then it adds up).
    pub per_datapoint: bool,
    /// Micro-batches a step, by which losses of a datapoint were divided.
    pub period: u64,
    /// Once set, no accuracy is given until the outcome starts anew. Only ggml as it is sets it (B34).
    pub(super) spoilt: bool,
}

impl Outcome {
    /// The loss and its uncertainty; 0 and NaN where nothing was evaluated.
    pub fn loss(&self) -> Estimate {
        let n = self.losses.len() as f64;
        if self.losses.is_empty() {
            return Estimate { value: 0.0, uncertainty: f64::NAN };
        }
        let period = if self.per_datapoint { self.period.max(1) as f64 } else { 1.0 };
        let scaled = || self.losses.iter().map(|l| l * period);
        let mean = scaled().sum::<f64>() / n;
        // The mean of squared distances: the difference of two large numbers would lose the small ones.
        let variance = scaled().map(|l| (l - mean) * (l - mean)).sum::<f64>() / n;
        let value = if self.per_datapoint { mean } else { scaled().sum() };
        let uncertainty = if n < 2.0 {
            f64::NAN
        } else if self.per_datapoint {
            (variance / (n - 1.0)).sqrt()
        } else {
            (variance * n / (n - 1.0)).sqrt()
        };
        Estimate { value, uncertainty }
    }

    /// The share of right predictions and its uncertainty; NaN where none could be compared.
    pub fn accuracy(&self) -> Estimate {
        let Some((right, of)) = self.right.filter(|_| !self.spoilt) else {
            return Estimate { value: f64::NAN, uncertainty: f64::NAN };
        };
        let p = right as f64 / of as f64;
        let uncertainty =
            if of < 2 { f64::NAN } else { (p * (1.0 - p) / (of as f64 - 1.0)).sqrt() };
        Estimate { value: p, uncertainty }
    }

    /// Starts anew; buffers are kept.
    pub fn reset(&mut self) {
        self.n_data = 0;
        self.losses.clear();
        self.predictions.clear();
        self.right = None;
        self.spoilt = false;
    }
}

#[cfg(test)]
mod tests {
    use super::{DataSet, Outcome};

    fn rows(n: u16, shard: usize) -> DataSet {
        let flat = (0..n).map(f32::from).collect();
        DataSet::new(flat, 1, Vec::new(), 0, shard).unwrap_or_default()
    }

    fn order(data: &DataSet) -> Vec<f32> {
        let (mut inputs, mut labels) = (Vec::new(), Vec::new());
        assert!(data.batch(0, data.len(), &mut inputs, &mut labels));
        inputs
    }

    #[test]
    fn a_shuffle_keeps_every_row_and_follows_its_seed() {
        let (mut a, mut b, mut c) = (rows(64, 1), rows(64, 1), rows(64, 1));
        a.shuffle(7, None);
        b.shuffle(7, None);
        c.shuffle(8, None);
        assert_eq!(order(&a), order(&b));
        assert_ne!(order(&a), order(&c));
        let mut sorted = order(&a);
        sorted.sort_by(f32::total_cmp);
        assert_eq!(sorted, order(&rows(64, 1)));
    }

    #[test]
    fn shards_stay_together_and_the_rest_stays_in_place() {
        let mut data = rows(12, 3);
        data.shuffle(3, Some(9));
        let got = order(&data);
        for shard in got.chunks_exact(3) {
            assert!(shard.windows(2).all(|w| (w[1] - w[0] - 1.0).abs() < 1e-6), "{got:?}");
        }
        assert_eq!(got[9..], [9.0, 10.0, 11.0]);
    }

    #[test]
    fn what_does_not_fit_is_no_data_set() {
        assert_eq!(DataSet::new(vec![1.0; 5], 2, Vec::new(), 0, 1), None);
        assert_eq!(DataSet::new(vec![1.0; 4], 2, vec![1.0], 1, 1), None);
        assert_eq!(DataSet::new(vec![1.0; 6], 2, Vec::new(), 0, 2), None);
        let data = rows(6, 2);
        assert!(!data.batch(3, 2, &mut Vec::new(), &mut Vec::new()));
        assert!(!data.batch(0, 1, &mut Vec::new(), &mut Vec::new()));
    }

    #[test]
    fn an_empty_outcome_has_no_loss_and_no_accuracy() {
        let empty = Outcome::default();
        assert!(empty.loss().value.to_bits() == 0 && empty.loss().uncertainty.is_nan());
        assert!(empty.accuracy().value.is_nan());
        let one = Outcome { losses: vec![3.0], ..Outcome::default() };
        assert!(one.loss().value.to_bits() == 3f64.to_bits() && one.loss().uncertainty.is_nan());
    }
}
