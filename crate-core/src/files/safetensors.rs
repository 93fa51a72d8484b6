//! Safetensors: one header of JSON, then the tensors one after the other, little-endian and row-major.
//!
//! The format's own crate reads the header and checks offsets against each other and against shapes; here it is held
//! against the file's length and the budget, and only the tensor that is wanted is read.
//! Deliberately absent: files whose tensors are listed in another file.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{Read, Seek};

use ::safetensors::Dtype;
use ::safetensors::tensor::Metadata;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::element::Element;
use super::{Layout, elements, extents, read_at, shown, unusable};
use crate::lang::lower::{Loaded, Unloaded};

/// The longest header: some ten thousand tensors. The format allows a hundred megabytes, of which a reader of JSON
/// makes a gigabyte.
const MOST_HEADER: u64 = 1 << 22;

pub(super) fn read(
    file: &mut (impl Read + Seek),
    length: u64,
    tensor: Option<&str>,
    most: u64,
) -> Result<Loaded, Unloaded> {
    let mut size = [0; 8];
    read_at(file, 0, &mut size)?;
    let size = u64::from_le_bytes(size);
    if size > MOST_HEADER {
        return unusable(format!("its header claims {size} bytes; {MOST_HEADER} are the most"));
    }
    let start = 8 + size;
    if start > length {
        return unusable("it ends within its header".to_owned());
    }
    let mut header = vec![0; size as usize];
    read_at(file, 8, &mut header)?;
    let bad = |e: serde_json::Error| {
        Unloaded::Unusable(format!("its header cannot be read: {}", shown(&e.to_string())))
    };
    // The crate's reader lets the last of two tensors of one name win.
    let Keys(names) = serde_json::from_slice(&header).map_err(bad)?;
    let metadata: Metadata = serde_json::from_slice(&header).map_err(bad)?;
    let (there, wanted) = (length - start, metadata.data_len() as u64);
    if there != wanted {
        return unusable(format!(
            "its header promises {wanted} bytes of data, and there are {there}"
        ));
    }
    let name = match (tensor, names.first()) {
        (Some(name), _) => name,
        (None, Some(only)) if names.len() == 1 => only,
        (None, _) => {
            return unusable(format!(
                "it holds {}; name one of them after the file's name",
                listed(&names)
            ));
        }
    };
    let Some(info) = metadata.info(name) else {
        return unusable(format!(
            "no tensor in it is called \"{}\"; it holds {}",
            shown(name),
            listed(&names)
        ));
    };
    let Some(element) = element(info.dtype) else {
        return unusable(format!(
            "the elements of \"{}\" are {}; floats of 16 bits and more, whole numbers and bools can be read",
            shown(name),
            info.dtype
        ));
    };
    let shape: Vec<u64> = info.shape.iter().map(|d| *d as u64).collect();
    let (dims, n_elements) = extents(&shape, most)?;
    let start = start + info.data_offsets.0 as u64;
    let layout = Layout { element, big_endian: false, fortran: false, dims, n_elements, start };
    elements(file, &layout)
}

const fn element(dtype: Dtype) -> Option<Element> {
    Some(match dtype {
        Dtype::BOOL => Element::Bool,
        Dtype::U8 => Element::Unsigned(1),
        Dtype::U16 => Element::Unsigned(2),
        Dtype::U32 => Element::Unsigned(4),
        Dtype::U64 => Element::Unsigned(8),
        Dtype::I8 => Element::Signed(1),
        Dtype::I16 => Element::Signed(2),
        Dtype::I32 => Element::Signed(4),
        Dtype::I64 => Element::Signed(8),
        Dtype::F16 => Element::F16,
        Dtype::BF16 => Element::Bf16,
        Dtype::F32 => Element::F32,
        Dtype::F64 => Element::F64,
        _ => return None,
    })
}

/// Some of the names, in a sentence.
fn listed(names: &BTreeSet<String>) -> String {
    const MOST: usize = 8;
    let some: Vec<String> = names.iter().take(MOST).map(|n| format!("\"{}\"", shown(n))).collect();
    match (names.len(), names.len().saturating_sub(MOST)) {
        (0, _) => "no tensor".to_owned(),
        (_, 0) => some.join(", "),
        (_, more) => format!("{} and {more} more", some.join(", ")),
    }
}

/// The names of a header, each once.
struct Keys(BTreeSet<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = BTreeSet<String>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tensors by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut names = BTreeSet::new();
                while let Some(name) = map.next_key::<String>()? {
                    map.next_value::<IgnoredAny>()?;
                    if names.contains(&name) {
                        return Err(Error::custom(format!("two tensors are called {name}")));
                    }
                    names.insert(name);
                }
                names.remove("__metadata__");
                Ok(names)
            }
        }
        from.deserialize_map(Each).map(Keys)
    }
}
