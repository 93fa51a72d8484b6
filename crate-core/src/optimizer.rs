//! How parameters move: SGD and `AdamW`, with the formulas and constants of ggml's step ops (`ggml-autodiff.md`, 5.4).
//! Deliberately absent: graphs, gradients of anything, and any step that is taken in part.

/// How parameters move. Momentum is `PyTorch`'s; ggml's SGD has none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Optimizer {
    /// `v <- momentum v + g`; `w <- w (1 - lr wd) - lr v`.
    Sgd {
        /// Learning rate.
        lr: f64,
        /// Share of the last step's direction that is kept.
        momentum: f64,
        /// Decoupled weight decay.
        wd: f64,
    },
    /// Adam with decoupled weight decay; epsilon outside the root, after bias correction.
    AdamW {
        /// Learning rate.
        lr: f64,
        /// Decay of the mean.
        beta1: f64,
        /// Decay of the mean square.
        beta2: f64,
        /// Keeps the quotient finite.
        eps: f64,
        /// Decoupled weight decay.
        wd: f64,
    },
}

impl Default for Optimizer {
    /// ggml's: `AdamW` with 0.001, 0.9, 0.999, 1e-8 and no decay.
    fn default() -> Self {
        Self::AdamW { lr: 0.001, beta1: 0.9, beta2: 0.999, eps: 1e-8, wd: 0.0 }
    }
}

impl Optimizer {
    /// The word in the text.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sgd { .. } => "sgd",
            Self::AdamW { .. } => "adamw",
        }
    }

    /// The learning rate.
    pub const fn lr(&self) -> f64 {
        match self {
            Self::Sgd { lr, .. } | Self::AdamW { lr, .. } => *lr,
        }
    }

    /// The first setting that is out of ggml's range, and what it must be; NaN always is.
    pub fn out_of_range(&self) -> Option<&'static str> {
        let unit = |x: f64| (0.0..=1.0).contains(&x);
        let checks: &[(bool, &'static str)] = match *self {
            Self::Sgd { lr, momentum, wd } => &[
                (lr > 0.0 && lr.is_finite(), "lr must be a number above 0"),
                (unit(momentum), "momentum must be from 0 to 1"),
                (unit(wd), "wd must be from 0 to 1"),
            ],
            Self::AdamW { lr, beta1, beta2, eps, wd } => &[
                (lr > 0.0 && lr.is_finite(), "lr must be a number above 0"),
                (unit(beta1), "beta1 must be from 0 to 1"),
                (unit(beta2), "beta2 must be from 0 to 1"),
                (eps >= 0.0 && eps.is_finite(), "eps must be 0 or above"),
                (unit(wd), "wd must be from 0 to 1"),
            ],
        };
        checks.iter().find(|(fits, _)| !fits).map(|(_, says)| *says)
    }
}

/// What an optimizer keeps of one parameter between steps, one number an element; empty until it is needed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Moments {
    /// SGD's direction, or `AdamW`'s mean of the gradient.
    pub m: Vec<f32>,
    /// `AdamW`'s mean of the squared gradient.
    pub v: Vec<f32>,
}

impl Moments {
    /// Takes over another's numbers and keeps its own buffers.
    pub(super) fn take(&mut self, from: &Self) {
        self.m.clone_from(&from.m);
        self.v.clone_from(&from.v);
    }
}

/// Moves the values `w` by the gradient `g` times `scale`. `step` counts from 1.
///
/// In f32 throughout, as ggml's kernels; the bias corrections come from the betas as f32 holds them, and are
/// rounded once.
pub(super) fn update(
    optimizer: &Optimizer,
    step: u64,
    scale: f32,
    w: &mut [f32],
    g: &[f32],
    moments: &mut Moments,
) {
    match *optimizer {
        Optimizer::Sgd { lr, momentum, wd } => {
            let (lr, momentum, keep) = (lr as f32, momentum as f32, 1.0 - lr as f32 * wd as f32);
            if momentum == 0.0 {
                for (w, g) in w.iter_mut().zip(g) {
                    *w = *w * keep - lr * (*g * scale);
                }
                return;
            }
            moments.m.resize(w.len(), 0.0);
            for ((w, g), m) in w.iter_mut().zip(g).zip(&mut moments.m) {
                *m = momentum * *m + *g * scale;
                *w = *w * keep - lr * *m;
            }
        }
        Optimizer::AdamW { lr, beta1, beta2, eps, wd } => {
            let (b1, b2) = (beta1 as f32, beta2 as f32);
            let correct = |beta: f32| (1.0 / (1.0 - power(f64::from(beta), step))) as f32;
            let (c1, c2) = (correct(b1), correct(b2));
            let (lr, eps, keep) = (lr as f32, eps as f32, 1.0 - lr as f32 * wd as f32);
            moments.m.resize(w.len(), 0.0);
            moments.v.resize(w.len(), 0.0);
            let state = moments.m.iter_mut().zip(&mut moments.v);
            for ((w, g), (m, v)) in w.iter_mut().zip(g).zip(state) {
                let g = *g * scale;
                *m = b1 * *m + (1.0 - b1) * g;
                *v = b2 * *v + (1.0 - b2) * g * g;
                *w = *w * keep - lr * (*m * c1) / ((*v * c2).sqrt() + eps);
            }
        }
    }
}

/// `base^n` by squaring: the same bits everywhere.
fn power(base: f64, n: u64) -> f64 {
    let (mut out, mut square, mut n) = (1.0, base, n);
    while n > 0 {
        if n & 1 == 1 {
            out *= square;
        }
        square *= square;
        n >>= 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Moments, Optimizer, update};

    /// `ggml-autodiff.md`, 5.4: w = 1, lr = 0.1, gradients 1, 2, 3, 4, in exact arithmetic. ggml's own f32 numbers
    /// are up to 6 units in the last place off at the second step: it rounds the bias corrections twice.
    #[test]
    fn adamw_takes_ggmls_steps() {
        let adam = Optimizer::AdamW { lr: 0.1, beta1: 0.9, beta2: 0.999, eps: 1e-8, wd: 0.0 };
        let (mut w, mut moments) = ([1.0f32], Moments::default());
        for (ix, want) in [0.9f32, 0.803_481_8, 0.707_681_7, 0.611_640_7].into_iter().enumerate() {
            let step = ix as u64 + 1;
            update(&adam, step, 1.0, &mut w, &[step as f32], &mut moments);
            let ulps = w[0].to_bits().abs_diff(want.to_bits());
            assert!(ulps <= 4, "step {step}: {} instead of {want}, {ulps} ulps", w[0]);
        }
    }

    /// Decay is decoupled: it shrinks the weight and never enters the moments.
    #[test]
    fn weight_decay_is_decoupled() {
        let sgd = Optimizer::Sgd { lr: 0.5, momentum: 0.0, wd: 0.25 };
        let adam = Optimizer::AdamW { lr: 0.5, beta1: 0.9, beta2: 0.999, eps: 1e-8, wd: 0.25 };
        for optimizer in [sgd, adam] {
            let (mut w, mut moments) = ([2.0f32], Moments::default());
            update(&optimizer, 1, 1.0, &mut w, &[0.0], &mut moments);
            assert_eq!(w[0].to_bits(), 1.75f32.to_bits());
            assert!(moments.m.iter().chain(&moments.v).all(|x| *x == 0.0));
        }
    }

    /// `PyTorch`'s momentum, without dampening: directions 1, 1.5, 1.75 from gradients of 1.
    #[test]
    fn momentum_keeps_a_share_of_the_direction() {
        let sgd = Optimizer::Sgd { lr: 1.0, momentum: 0.5, wd: 0.0 };
        let (mut w, mut moments) = ([0.0f32], Moments::default());
        for (step, want) in [(1, -1.0f32), (2, -2.5), (3, -4.25)] {
            update(&sgd, step, 1.0, &mut w, &[1.0], &mut moments);
            assert_eq!(w[0].to_bits(), want.to_bits());
        }
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let sgd = |lr, wd| Optimizer::Sgd { lr, momentum: 0.0, wd };
        assert_eq!(sgd(0.1, 0.0).out_of_range(), None);
        assert_eq!(Optimizer::default().out_of_range(), None);
        assert_eq!(sgd(0.0, 0.0).out_of_range(), Some("lr must be a number above 0"));
        assert_eq!(sgd(f64::NAN, 0.0).out_of_range(), Some("lr must be a number above 0"));
        assert_eq!(sgd(0.1, 1.5).out_of_range(), Some("wd must be from 0 to 1"));
    }
}
