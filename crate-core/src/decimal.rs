//! Decimal digits: how a number is laid out for readers, and short decimals back to numbers.
//! Deliberately absent: finding the digits, which is std's `{:e}`, and everything else that std does with floats: its
//! tables weigh more than the rest of the page's numbers.

use std::fmt::Write;

/// A number's digits, as std's `{:e}` gives them.
struct Digits<'a> {
    minus: bool,
    first: &'a str,
    more: &'a str,
    exponent: i32,
}

fn digits(scientific: &str) -> Option<Digits<'_>> {
    let (mantissa, exponent) = scientific.split_once('e')?;
    let magnitude = mantissa.strip_prefix('-');
    let (first, more) = magnitude
        .unwrap_or(mantissa)
        .split_once('.')
        .unwrap_or((magnitude.unwrap_or(mantissa), ""));
    Some(Digits { minus: magnitude.is_some(), first, more, exponent: exponent.parse().ok()? })
}

/// What `{:e}` gives, as people write it: with an exponent only where the one of the first digit lies outside of
/// `plain`. What has no digits (infinities, NaN) stays.
pub fn laid_out(scientific: &str, plain: std::ops::Range<i32>) -> String {
    let Some(Digits { minus, first, more, exponent }) = digits(scientific) else {
        return scientific.to_owned();
    };
    if !plain.contains(&exponent) {
        return scientific.to_owned();
    }
    let mut out = String::new();
    out.push_str(if minus { "-" } else { "" });
    if exponent < 0 {
        out.push_str("0.");
        out.extend((1..-exponent).map(|_| '0'));
        out.push_str(first);
        out.push_str(more);
        return out;
    }
    let n_whole = exponent as usize;
    out.push_str(first);
    out.push_str(more.get(..n_whole).unwrap_or(more));
    out.extend((more.len()..n_whole).map(|_| '0'));
    if let Some(rest) = more.get(n_whole..).filter(|rest| !rest.is_empty()) {
        out.push('.');
        out.push_str(rest);
    }
    out
}

/// The same number with no zeros at the end of its fraction.
pub fn trimmed(scientific: &str) -> String {
    match scientific.split_once('e') {
        Some((mantissa, exponent)) if mantissa.contains('.') => {
            let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
            [mantissa, "e", exponent].concat()
        }
        _ => scientific.to_owned(),
    }
}

/// A number of hundredths.
pub fn hundredths(n: i64) -> String {
    let mut out = String::new();
    let magnitude = n.unsigned_abs();
    let (whole, part) = (magnitude / 100, magnitude % 100);
    out.push_str(if n < 0 { "-" } else { "" });
    let _ = write!(out, "{whole}");
    if part > 0 {
        let _ =
            if part % 10 == 0 { write!(out, ".{}", part / 10) } else { write!(out, ".{part:02}") };
    }
    out
}

/// The number nearest to a decimal without a sign, where one product or quotient of two exact numbers gives it; else
/// `None`, and std must be asked.
pub fn short(text: &str) -> Option<f64> {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut n: u64 = 0;
    for b in whole.bytes().chain(fraction.bytes()) {
        let digit = char::from(b).to_digit(10)?;
        n = n.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    let exact = Some(n).filter(|n| *n < 1 << 53)? as f64;
    let exponent = exponent.checked_sub(fraction.len() as i32)?;
    let power = POWERS.get(exponent.unsigned_abs() as usize)?;
    Some(if exponent < 0 { exact / power } else { exact * power })
}

#[cfg(test)]
mod tests {
    use super::{hundredths, laid_out, short, trimmed};

    #[test]
    fn laid_out_as_std_does() {
        for x in [
            0.0,
            1.0,
            -1.0,
            0.5,
            123.456,
            1e-4,
            9.99e-5,
            1e15,
            1e16,
            -2.5e-7,
            1.0 / 3.0,
            100.0,
            f64::INFINITY,
        ] {
            let std = format!("{x:?}");
            let own = laid_out(&format!("{x:e}"), -4..16);
            assert_eq!(own, std.strip_suffix(".0").unwrap_or(&std), "{x}");
        }
        assert_eq!(laid_out("NaN", -4..16), "NaN");
        assert_eq!(laid_out("1.50000e2", -4..16), "150.000");
    }

    #[test]
    fn zeros_at_the_end_go() {
        assert_eq!(trimmed("1.50000e2"), "1.5e2");
        assert_eq!(trimmed("-2.00000e0"), "-2e0");
        assert_eq!(trimmed("1e20"), "1e20");
    }

    #[test]
    fn hundredths_are_as_short_as_can_be() {
        for n in [0, 1, -1, 10, 50, 99, 100, 101, -12_345, 100_000] {
            assert_eq!(hundredths(n), format!("{}", n as f64 / 100.0));
        }
    }

    #[test]
    fn short_decimals_read_as_std_reads_them() {
        for text in [
            "0",
            "1",
            "0.2",
            "6.103515625e-5",
            "5.",
            ".5",
            "1E3",
            "9007199254740991",
            "1e22",
            "0.000001",
            "1e+2",
        ] {
            assert_eq!(
                short(text).map(f64::to_bits),
                text.parse().ok().map(f64::to_bits),
                "{text}"
            );
        }
        for text in
            ["9007199254740993", "1e23", "1e-300", "123456789012345678901234", "1e99999999999"]
        {
            assert_eq!(short(text), None, "{text}");
        }
    }
}
