//! The two number types the engine computes with, and the only door to exp, ln, tanh, sin, cos and friends.
//! Deliberately absent: std's transcendental functions and fused multiply-add, whose bits differ between platforms.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// f32, which ggml and training compute with, or f64, which checks compute with.
pub trait Real:
    Copy
    + PartialOrd
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// Whether results are rounded as their storage rounds; checks do not, so that what they measure is smooth.
    const STORES: bool;
    /// Nearest value; ties to even.
    fn from_f64(x: f64) -> Self;
    /// Exact.
    fn to_f64(self) -> f64;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Magnitude.
    fn abs(self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Not a number.
    fn is_nan(self) -> bool;
    /// e^x.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// x^y.
    fn pow(self, y: Self) -> Self;
    /// e^x - 1, accurate near 0.
    fn exp_m1(self) -> Self;
    /// ln(1 + x), accurate near 0.
    fn ln_1p(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The error function.
    fn erf(self) -> Self;
    /// 1 less the error function, accurate where that is close to 1.
    fn erfc(self) -> Self;
    /// Largest whole number that is not above.
    fn floor(self) -> Self;
    /// Smallest whole number that is not below.
    fn ceil(self) -> Self;
    /// Nearest whole number, halves away from zero.
    fn round(self) -> Self;
    /// The whole part.
    fn trunc(self) -> Self;
    /// The same numbers, where this is f32: for what has kernels of its own.
    fn as_f32(_: &[Self]) -> Option<&[f32]> {
        None
    }
    /// The same, to be written.
    fn as_f32_mut(_: &mut [Self]) -> Option<&mut [f32]> {
        None
    }
    /// Exact.
    fn from_f32(x: f32) -> Self {
        Self::from_f64(f64::from(x))
    }
    /// 1/(1 + e^-x), without overflow on either side.
    fn sigmoid(self) -> Self {
        let e = (-self.abs()).exp();
        let small = e / (Self::ONE + e);
        if self < Self::ZERO { small } else { Self::ONE / (Self::ONE + e) }
    }
}

macro_rules! real {
    ($t:ty, $stores:literal, $exp:ident, $log:ident, $pow:ident, $expm1:ident, $log1p:ident, $sin:ident, $cos:ident, $tanh:ident, $erf:ident, $erfc:ident $(, $more:item)*) => {
        impl Real for $t {
            $($more)*
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const INFINITY: Self = <$t>::INFINITY;
            const STORES: bool = $stores;
            fn from_f64(x: f64) -> Self {
                x as $t
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn sqrt(self) -> Self {
                <$t>::sqrt(self)
            }
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            fn is_finite(self) -> bool {
                <$t>::is_finite(self)
            }
            fn is_nan(self) -> bool {
                <$t>::is_nan(self)
            }
            fn exp(self) -> Self {
                libm::$exp(self)
            }
            fn ln(self) -> Self {
                libm::$log(self)
            }
            fn pow(self, y: Self) -> Self {
                libm::$pow(self, y)
            }
            fn exp_m1(self) -> Self {
                libm::$expm1(self)
            }
            fn ln_1p(self) -> Self {
                libm::$log1p(self)
            }
            fn sin(self) -> Self {
                libm::$sin(self)
            }
            fn cos(self) -> Self {
                libm::$cos(self)
            }
            fn tanh(self) -> Self {
                libm::$tanh(self)
            }
            fn erf(self) -> Self {
                libm::$erf(self)
            }
            fn erfc(self) -> Self {
                libm::$erfc(self)
            }
            fn floor(self) -> Self {
                <$t>::floor(self)
            }
            fn ceil(self) -> Self {
                <$t>::ceil(self)
            }
            fn round(self) -> Self {
                <$t>::round(self)
            }
            fn trunc(self) -> Self {
                <$t>::trunc(self)
            }
        }
    };
}

real!(
    f32,
    true,
    expf,
    logf,
    powf,
    expm1f,
    log1pf,
    sinf,
    cosf,
    tanhf,
    erff,
    erfcf,
    fn as_f32(xs: &[Self]) -> Option<&[f32]> {
        Some(xs)
    },
    fn as_f32_mut(xs: &mut [Self]) -> Option<&mut [f32]> {
        Some(xs)
    }
);
real!(f64, false, exp, log, pow, expm1, log1p, sin, cos, tanh, erf, erfc);

/// Cosine in f64, for generators.
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Natural logarithm in f64, for generators.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Cube root in f64, for step sizes.
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}
