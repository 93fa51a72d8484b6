//! The element types of files, and their bytes as numbers.
//! Deliberately absent: complex numbers, records, texts, and the floats of fewer than 16 bits.

/// The type of an element as a file has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Element {
    Bool,
    Signed(u8),
    Unsigned(u8),
    F16,
    Bf16,
    F32,
    F64,
}

impl Element {
    /// Bytes.
    pub(super) const fn size(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Signed(size) | Self::Unsigned(size) => size as usize,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The number that these bytes are. Whole numbers past 2^53 round, as everywhere.
    pub(super) fn decode(self, bytes: &[u8], big_endian: bool) -> f64 {
        let mut wide = [0; 8];
        for (ix, slot) in wide.iter_mut().take(bytes.len()).enumerate() {
            let from = if big_endian { bytes.len() - 1 - ix } else { ix };
            *slot = bytes.get(from).copied().unwrap_or(0);
        }
        let bits = u64::from_le_bytes(wide);
        match self {
            Self::Bool => f64::from(u8::from(bits != 0)),
            Self::Unsigned(_) => bits as f64,
            Self::Signed(size) => {
                let unused = 64 - 8 * u32::from(size.clamp(1, 8));
                (((bits << unused) as i64) >> unused) as f64
            }
            Self::F16 => half(bits as u16),
            Self::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F64 => f64::from_bits(bits),
        }
    }
}

/// A half-precision float: a sign, five bits of exponent, ten of fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * scale(-24),
        31 if fraction > 0.0 => f64::NAN,
        31 => sign * f64::INFINITY,
        _ => sign * (1024.0 + fraction) * scale(exponent - 25),
    }
}

/// A power of two within the range of normal numbers, exactly.
fn scale(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}
