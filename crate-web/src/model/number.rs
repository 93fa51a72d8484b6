//! Numbers as people read them: a real minus sign, no exponent where none is needed, never a silent rounding.

use std::ops::Range;

use foldback::decimal::laid_out;

/// The shortest text that reads back as the same number; an `f32` where the number is one.
pub fn plain(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "−inf" }.to_owned();
    }
    let magnitude = value.abs();
    let single = magnitude as f32;
    let is_single = f64::from(single).to_bits() == magnitude.to_bits();
    signed(value, &if is_single { format!("{single:e}") } else { format!("{magnitude:e}") })
}

/// At most `digits` significant ones. Whoever shows it keeps [`plain`] within reach.
pub fn short(value: f64, digits: usize) -> String {
    let full = plain(value);
    if full.chars().filter(char::is_ascii_digit).count() <= digits || !value.is_finite() {
        return full;
    }
    let rounded = significant(value, digits);
    if rounded.contains('e') || !rounded.contains('.') {
        return rounded;
    }
    rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Exactly `digits` significant ones, for columns that are compared digit by digit.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return plain(value);
    }
    let magnitude = value.abs();
    let exponent = |scientific: &str| {
        scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
    };
    // The exponent after rounding, so that 0.99999 with three digits is 1.00.
    let scientific = format!("{magnitude:.*e}", digits.saturating_sub(1));
    if !PLAIN.contains(&exponent(&scientific)) {
        return signed(value, &scientific);
    }
    // No digit before the point is left out.
    let whole = usize::try_from(exponent(&format!("{magnitude:e}"))).unwrap_or(0);
    signed(value, &format!("{magnitude:.*e}", whole.max(digits.saturating_sub(1))))
}

/// Scientific from where the zeros would have to be counted.
const PLAIN: Range<i32> = -4..7;

fn signed(value: f64, scientific: &str) -> String {
    let magnitude = laid_out(scientific, PLAIN).replace('-', "−");
    if value.is_sign_negative() && value != 0.0 { format!("−{magnitude}") } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::{plain, short, significant};

    #[test]
    fn plain_is_the_shortest_that_reads_back() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (f64::from(0.2_f32), "0.2"),
            (0.2, "0.2"),
            (f64::from(-0.1_f32), "−0.1"),
            (f64::from(1e-5_f32), "1e−5"),
            (16384.0, "16384"),
            (6.103_515_625e-5, "6.1035156e−5"),
            (f64::NEG_INFINITY, "−inf"),
            (f64::NAN, "nan"),
        ];
        for (value, text) in cases {
            assert_eq!(plain(value), text);
        }
    }

    #[test]
    fn short_rounds_only_what_is_longer() {
        assert_eq!(short(0.25, 4), "0.25");
        assert_eq!(short(1.0 / 3.0, 4), "0.3333");
        assert_eq!(short(0.1999, 2), "0.2");
        assert_eq!(short(123_456.0, 4), "123456");
        assert_eq!(short(f64::from(1.23456e-7_f32), 4), "1.235e−7");
    }

    #[test]
    fn significant_keeps_its_zeros() {
        assert_eq!(significant(10.0 / 27.0, 12), "0.370370370370");
        assert_eq!(significant(-0.8, 12), "−0.800000000000");
        assert_eq!(significant(0.999_999, 3), "1.00");
        assert_eq!(significant(0.0, 12), "0");
        assert_eq!(significant(16384.0, 12), "16384.0000000");
    }
}
