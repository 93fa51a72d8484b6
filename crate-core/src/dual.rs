//! Dual numbers: a value and its slope along one direction. Evaluating a graph on them is forward-mode
//! differentiation by the value functions alone, so it can judge the backward rules.
//! Deliberately absent: rules of its own. Each function's slope is the textbook derivative, once, here.

use std::cmp::Ordering;
use std::f64::consts::FRAC_2_SQRT_PI;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use crate::math::Real;

/// A value and how fast it changes along the direction of the leaves' slopes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dual {
    /// The value.
    pub re: f64,
    /// The slope.
    pub du: f64,
}

impl Dual {
    /// A value with a slope.
    pub const fn new(re: f64, du: f64) -> Self {
        Self { re, du }
    }

    /// A function's value, and its slope by the chain rule. A value that does not move has slope 0 whatever the
    /// derivative is there: 0 times infinity would be a NaN that the function itself does not have.
    fn chain(self, re: f64, slope: f64) -> Self {
        Self { re, du: if self.du == 0.0 { 0.0 } else { slope * self.du } }
    }
}

impl PartialOrd for Dual {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.re.partial_cmp(&other.re)
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self { re: self.re + o.re, du: self.du + o.du }
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self { re: self.re - o.re, du: self.du - o.du }
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let part = |du: f64, factor: f64| if du == 0.0 { 0.0 } else { du * factor };
        Self { re: self.re * o.re, du: part(self.du, o.re) + part(o.du, self.re) }
    }
}

impl Div for Dual {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let re = self.re / o.re;
        let part = |du: f64, factor: f64| if du == 0.0 { 0.0 } else { du * factor };
        Self { re, du: part(self.du, 1.0 / o.re) - part(o.du, re / o.re) }
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        Self { re: -self.re, du: -self.du }
    }
}

impl AddAssign for Dual {
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl Real for Dual {
    const ZERO: Self = Self::new(0.0, 0.0);
    const ONE: Self = Self::new(1.0, 0.0);
    const INFINITY: Self = Self::new(f64::INFINITY, 0.0);
    const STORES: bool = false;

    fn from_f64(x: f64) -> Self {
        Self::new(x, 0.0)
    }
    fn to_f64(self) -> f64 {
        self.re
    }
    fn sqrt(self) -> Self {
        let re = self.re.sqrt();
        self.chain(re, 0.5 / re)
    }
    fn abs(self) -> Self {
        let sign = if self.re > 0.0 {
            1.0
        } else if self.re < 0.0 {
            -1.0
        } else {
            0.0
        };
        self.chain(self.re.abs(), sign)
    }
    fn is_finite(self) -> bool {
        self.re.is_finite()
    }
    fn is_nan(self) -> bool {
        self.re.is_nan()
    }
    fn exp(self) -> Self {
        let re = Real::exp(self.re);
        self.chain(re, re)
    }
    fn ln(self) -> Self {
        self.chain(Real::ln(self.re), 1.0 / self.re)
    }
    fn pow(self, y: Self) -> Self {
        let re = Real::pow(self.re, y.re);
        let by_base = if y.re == 0.0 { 0.0 } else { y.re * Real::pow(self.re, y.re - 1.0) };
        let by_exponent = if self.re == 0.0 { 0.0 } else { re * Real::ln(self.re) };
        Self { re, du: self.chain(0.0, by_base).du + y.chain(0.0, by_exponent).du }
    }
    fn exp_m1(self) -> Self {
        self.chain(Real::exp_m1(self.re), Real::exp(self.re))
    }
    fn ln_1p(self) -> Self {
        self.chain(Real::ln_1p(self.re), 1.0 / (1.0 + self.re))
    }
    fn sin(self) -> Self {
        self.chain(Real::sin(self.re), Real::cos(self.re))
    }
    fn cos(self) -> Self {
        self.chain(Real::cos(self.re), -Real::sin(self.re))
    }
    fn tanh(self) -> Self {
        let re = Real::tanh(self.re);
        self.chain(re, 1.0 - re * re)
    }
    fn erf(self) -> Self {
        self.chain(Real::erf(self.re), FRAC_2_SQRT_PI * Real::exp(-self.re * self.re))
    }
    fn erfc(self) -> Self {
        self.chain(Real::erfc(self.re), -FRAC_2_SQRT_PI * Real::exp(-self.re * self.re))
    }
    fn floor(self) -> Self {
        Self::new(self.re.floor(), 0.0)
    }
    fn ceil(self) -> Self {
        Self::new(self.re.ceil(), 0.0)
    }
    fn round(self) -> Self {
        Self::new(self.re.round(), 0.0)
    }
    fn trunc(self) -> Self {
        Self::new(self.re.trunc(), 0.0)
    }
    fn sigmoid(self) -> Self {
        let re = Real::sigmoid(self.re);
        self.chain(re, re * (1.0 - re))
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::LN_2;

    use super::Dual;
    use crate::math::Real;

    /// Slopes with closed forms that are not written above.
    #[test]
    fn slopes_of_known_functions() {
        let x = Dual::new(0.5, 1.0);
        let cases = [
            ((x * x * x).du, 0.75),
            ((Dual::ONE / x).du, -4.0),
            (Dual::from_f64(2.0).pow(x).du, 2f64.sqrt() * LN_2),
            ((x.sin() * x.cos()).du, Real::cos(1.0)),
            (x.ln().exp().du, 1.0),
            (x.sqrt().du, 0.5f64.sqrt()),
            (x.floor().du, 0.0),
        ];
        for (ix, (got, want)) in cases.into_iter().enumerate() {
            assert!((got - want).abs() < 1e-15, "case {ix}: {got} instead of {want}");
        }
    }
}
