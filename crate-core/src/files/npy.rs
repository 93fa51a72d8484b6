//! Arrays of NumPy (`.npy`): versions 1 to 3, both byte orders, both orders of axes.
//!
//! The header is one dictionary of Python with three known keys, so it is read here and not by a crate: those that
//! exist allocate what a header claims. Deliberately absent: records, objects (pickles), texts and dates.

use std::io::{Read, Seek};

use super::element::Element;
use super::{Layout, elements, extents, read_at, shown, unusable};
use crate::lang::lower::{Loaded, Unloaded};

/// What every such file begins with.
pub(super) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header. Arrays of numbers need some hundred bytes; NumPy itself refuses more than 10,000.
const MOST_HEADER: u64 = 1 << 16;

pub(super) fn read(
    file: &mut (impl Read + Seek),
    length: u64,
    most: u64,
) -> Result<Loaded, Unloaded> {
    let mut version = [0; 2];
    read_at(file, 6, &mut version)?;
    let mut size = [0; 4];
    let start = match version {
        [1, 0] => 10,
        [2 | 3, 0] => 12,
        [major, minor] => {
            return unusable(format!("its version is {major}.{minor}; 1.0 to 3.0 can be read"));
        }
    };
    read_at(file, 8, size.get_mut(..start - 8).unwrap_or_default())?;
    let (start, size) = (start as u64, u64::from(u32::from_le_bytes(size)));
    if size > MOST_HEADER {
        return unusable(format!("its header claims {size} bytes; {MOST_HEADER} are the most"));
    }
    if start + size > length {
        return unusable("it ends within its header".to_owned());
    }
    let mut header = vec![0; size as usize];
    read_at(file, start, &mut header)?;
    let Ok(header) = std::str::from_utf8(&header) else {
        return unusable("its header is no text".to_owned());
    };
    let header = Header::read(header).map_err(Unloaded::Unusable)?;
    let (element, big_endian) = element(&header.descr)?;
    let (dims, n_elements) = extents(&header.shape, most)?;
    let start = start + size;
    let (there, wanted) = (length - start, n_elements.saturating_mul(element.size() as u64));
    if there != wanted {
        return unusable(format!(
            "its header promises {wanted} bytes of data, and there are {there}"
        ));
    }
    let fortran = header.fortran_order;
    elements(file, &Layout { element, big_endian, fortran, dims, n_elements, start })
}

/// The type that a `descr` names, and whether its first byte is the highest.
fn element(descr: &str) -> Result<(Element, bool), Unloaded> {
    let found = match descr.get(1..) {
        Some("f2") => Some(Element::F16),
        Some("f4") => Some(Element::F32),
        Some("f8") => Some(Element::F64),
        Some("i1") => Some(Element::Signed(1)),
        Some("i2") => Some(Element::Signed(2)),
        Some("i4") => Some(Element::Signed(4)),
        Some("i8") => Some(Element::Signed(8)),
        Some("u1") => Some(Element::Unsigned(1)),
        Some("u2") => Some(Element::Unsigned(2)),
        Some("u4") => Some(Element::Unsigned(4)),
        Some("u8") => Some(Element::Unsigned(8)),
        Some("b1") => Some(Element::Bool),
        _ => None,
    };
    match (found, descr.as_bytes().first()) {
        (Some(element), Some(b'<')) => Ok((element, false)),
        (Some(element), Some(b'>')) => Ok((element, true)),
        (Some(element), Some(b'|')) if element.size() == 1 => Ok((element, false)),
        _ => unusable(format!(
            "its elements are of type '{}'; floats, whole numbers and bools can be read",
            shown(descr)
        )),
    }
}

struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<u64>,
}

impl Header {
    fn read(text: &str) -> Result<Self, String> {
        let mut rest = Rest(text);
        let (mut descr, mut order, mut shape) = (None, None, None);
        rest.sign('{')?;
        while !rest.takes('}') {
            let key = rest.string()?;
            rest.sign(':')?;
            let again = match key {
                "descr" if rest.next() == Some('[') => {
                    return Err("its elements are records; save each field by itself".to_owned());
                }
                "descr" => descr.replace(rest.string()?.to_owned()).is_some(),
                "fortran_order" => order.replace(rest.switch()?).is_some(),
                "shape" => shape.replace(rest.tuple()?).is_some(),
                _ => return Err(format!("its header has an unknown key '{}'", shown(key))),
            };
            if again {
                return Err(format!("its header gives '{key}' twice"));
            }
            if !rest.takes(',') && rest.next() != Some('}') {
                return Err(rest.wants("a comma"));
            }
        }
        if rest.next().is_some() {
            return Err(rest.wants("nothing more"));
        }
        let missing = |key: &str| format!("its header has no '{key}'");
        Ok(Self {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran_order: order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// What is left of a header.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    /// The next letter that is no space.
    fn next(&mut self) -> Option<char> {
        self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
        self.0.chars().next()
    }

    fn takes(&mut self, sign: char) -> bool {
        self.next();
        let after = self.0.strip_prefix(sign);
        self.0 = after.unwrap_or(self.0);
        after.is_some()
    }

    fn sign(&mut self, sign: char) -> Result<(), String> {
        if self.takes(sign) { Ok(()) } else { Err(self.wants(&format!("'{sign}'"))) }
    }

    fn wants(&self, what: &str) -> String {
        let here: String = self.0.chars().take(12).collect();
        if here.is_empty() {
            format!("its header ends where {what} should stand")
        } else {
            format!("its header has \"{}\" where {what} should stand", shown(&here))
        }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = self.next().filter(|c| matches!(c, '\'' | '"'));
        let whole = quote.and_then(|quote| self.0.get(1..)?.split_once(quote));
        let Some((inside, rest)) = whole.filter(|(inside, _)| !inside.contains('\\')) else {
            return Err(self.wants("a text in quotes"));
        };
        self.0 = rest;
        Ok(inside)
    }

    fn switch(&mut self) -> Result<bool, String> {
        self.next();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.0.strip_prefix(word) {
                self.0 = rest;
                return Ok(value);
            }
        }
        Err(self.wants("True or False"))
    }

    fn tuple(&mut self) -> Result<Vec<u64>, String> {
        self.sign('(')?;
        let mut out = Vec::new();
        while !self.takes(')') {
            self.next();
            let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
            let (digits, rest) = self.0.split_at(end);
            if digits.is_empty() {
                return Err(self.wants("an extent"));
            }
            // Past 2^64 any number is too many.
            out.push(digits.parse().unwrap_or(u64::MAX));
            // Python 2 wrote long numbers so.
            self.0 = rest.strip_prefix('L').unwrap_or(rest);
            if !self.takes(',') && self.next() != Some(')') {
                return Err(self.wants("a comma"));
            }
        }
        Ok(out)
    }
}
