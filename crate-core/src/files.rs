//! Tensors in files, for `load`: arrays of NumPy and safetensors.
//!
//! A header is believed only as far as the file bears it out, and sizes are held against the budget before anything is
//! allocated. Deliberately absent: names, folders and the opening of files. The host hands in what it has opened.

mod element;
mod npy;
mod safetensors;

use std::io::{ErrorKind, Read, Seek, SeekFrom};

use crate::lang::lower::{Loaded, Unloaded};
use crate::tensor::MAX_RANK;

use self::element::Element;

/// Reads the tensor of an open file, or of one of the tensors in it.
///
/// What is in the file decides on its format, its name only where that says nothing.
pub fn read(
    file: &mut (impl Read + Seek),
    name: &str,
    tensor: Option<&str>,
    most: u64,
) -> Result<Loaded, Unloaded> {
    let length = file.seek(SeekFrom::End(0)).map_err(|e| said(&e))?;
    let mut start = [0; npy::MAGIC.len()];
    let n = length.min(start.len() as u64) as usize;
    read_at(file, 0, start.get_mut(..n).unwrap_or_default())?;
    if start == *npy::MAGIC {
        if let Some(tensor) = tensor {
            return unusable(format!(
                "an array of NumPy has no tensor called \"{}\"",
                shown(tensor)
            ));
        }
        npy::read(file, length, most)
    } else if name.to_ascii_lowercase().ends_with(".safetensors") {
        safetensors::read(file, length, tensor, most)
    } else if start.starts_with(b"PK") {
        unusable("it is an archive; save each array as a file of its own".to_owned())
    } else {
        unusable("it is neither an array of NumPy (.npy) nor .safetensors".to_owned())
    }
}

/// Where the elements of a tensor lie in a file, and how.
struct Layout {
    element: Element,
    big_endian: bool,
    /// Whether the first axis runs fastest.
    fortran: bool,
    dims: Vec<u32>,
    n_elements: u64,
    /// The first byte.
    start: u64,
}

/// The extents of a header and how many elements they make, if that many are allowed.
fn extents(shape: &[u64], most: u64) -> Result<(Vec<u32>, u64), Unloaded> {
    if shape.len() > MAX_RANK {
        return unusable(format!("it has {} axes; a tensor has at most {MAX_RANK}", shape.len()));
    }
    // An axis of 0 must not hide another that is endless.
    let spread = shape.iter().filter(|d| **d > 0).try_fold(1u64, |n, d| n.checked_mul(*d));
    if spread.is_none_or(|n| n > most) {
        return Err(Unloaded::TooLarge);
    }
    let dims: Result<Vec<u32>, _> = shape.iter().map(|d| u32::try_from(*d)).collect();
    let n_elements = shape.iter().product();
    dims.map(|dims| (dims, n_elements)).map_err(|_too_large| Unloaded::TooLarge)
}

/// The elements, row-major. The caller has compared their number with the budget and with the file's length.
fn elements(file: &mut (impl Read + Seek), layout: &Layout) -> Result<Loaded, Unloaded> {
    let size = layout.element.size();
    let n = layout.n_elements as usize;
    let mut values = vec![0.0; n];
    let mut place = Place::new(layout);
    // A whole number of elements of every size.
    let mut buffer = vec![0; (1 << 16).min(n.saturating_mul(size))];
    let mut at = 0;
    while at < n {
        let count = (buffer.len() / size).min(n - at);
        let chunk = buffer.get_mut(..count * size).unwrap_or_default();
        read_at(file, layout.start + (at * size) as u64, chunk)?;
        for bytes in chunk.chunks_exact(size) {
            let value = layout.element.decode(bytes, layout.big_endian);
            if let Some(slot) = values.get_mut(place.next()) {
                *slot = value;
            }
        }
        at += count;
    }
    Ok(Loaded { dims: layout.dims.clone(), values: values.into() })
}

/// Where each element of a file goes, row-major.
struct Place {
    /// Extents and strides, the axis that runs fastest in the file first.
    axes: Vec<(usize, usize)>,
    index: Vec<usize>,
    at: usize,
}

impl Place {
    fn new(layout: &Layout) -> Self {
        let mut stride = 1;
        let mut axes: Vec<(usize, usize)> = Vec::new();
        for d in layout.dims.iter().rev() {
            axes.push((*d as usize, stride));
            stride *= *d as usize;
        }
        if layout.fortran {
            axes.reverse();
        }
        Self { index: vec![0; axes.len()], axes, at: 0 }
    }

    fn next(&mut self) -> usize {
        let here = self.at;
        for (ix, (extent, stride)) in self.index.iter_mut().zip(&self.axes) {
            *ix += 1;
            self.at += stride;
            if *ix < *extent {
                break;
            }
            self.at -= stride * extent;
            *ix = 0;
        }
        here
    }
}

fn read_at(file: &mut (impl Read + Seek), at: u64, into: &mut [u8]) -> Result<(), Unloaded> {
    file.seek(SeekFrom::Start(at)).map_err(|e| said(&e))?;
    file.read_exact(into).map_err(|e| said(&e))
}

fn said(error: &std::io::Error) -> Unloaded {
    Unloaded::Unusable(match error.kind() {
        ErrorKind::UnexpectedEof => "it ends early".to_owned(),
        _ => error.to_string(),
    })
}

fn unusable<T>(why: String) -> Result<T, Unloaded> {
    Err(Unloaded::Unusable(why))
}

/// A word of a file, fit to be shown: nobody's control characters, and not long.
fn shown(text: &str) -> String {
    const MOST: usize = 80;
    let short: String = text.chars().take(MOST).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{}{more}", short.escape_debug())
}
