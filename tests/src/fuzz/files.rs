//! Files of tensors: headers changed by the words of their formats, with lengths that are right or lie.

use std::io::Cursor;

use foldback::files;
use foldback::lang::lower::{Loaded, Unloaded};

use super::bytes::change;
use super::pick;
use crate::rng::Rng;

/// So many elements are allowed.
const MOST: u64 = 1 << 10;

const NPY_WORDS: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    "'",
    "\"",
    "\\",
    " ",
    "\n",
    "'descr'",
    "'shape'",
    "'fortran_order'",
    "True",
    "False",
    "None",
    "'<f4'",
    "'>f8'",
    "'<f2'",
    "'<i8'",
    "'|b1'",
    "'|u1'",
    "'=f4'",
    "'|O'",
    "0",
    "1",
    "2",
    "3",
    "4",
    "-1",
    "1024",
    "1025",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "L",
    "\u{0}",
    "é",
];

const JSON_WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    " ",
    "\n",
    "\"w\"",
    "\"b\"",
    "\"dtype\"",
    "\"shape\"",
    "\"data_offsets\"",
    "\"__metadata__\"",
    "\"F32\"",
    "\"F64\"",
    "\"F16\"",
    "\"BF16\"",
    "\"I32\"",
    "\"I64\"",
    "\"BOOL\"",
    "\"F4\"",
    "\"C64\"",
    "null",
    "true",
    "0",
    "1",
    "2",
    "4",
    "8",
    "-1",
    "1e3",
    "1024",
    "4294967296",
    "18446744073709551615",
    "9007199254740993",
    "\\u0000",
    "\\ud800",
    "é",
];

/// Right arrays of some types, shapes and versions.
pub fn npy_seeds() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for (descr, size) in [("<f4", 4), (">f8", 8), ("<f2", 2), ("<i4", 4), (">i8", 8), ("|b1", 1)] {
        for (shape, n) in
            [("()", 1), ("(3,)", 3), ("(2, 3)", 6), ("(2, 0)", 0), ("(1, 2, 1, 2)", 4)]
        {
            for (version, order) in [(1, "False"), (2, "True"), (3, "False")] {
                let header = format!(
                    "{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n"
                );
                let data: Vec<u8> = (0..n * size).map(|x| (x * 37) as u8).collect();
                out.push(npy(version, header.as_bytes(), &data));
            }
        }
    }
    out
}

fn npy(version: u8, header: &[u8], data: &[u8]) -> Vec<u8> {
    let mut out = b"\x93NUMPY".to_vec();
    out.extend([version, 0]);
    let length = (header.len() as u32).to_le_bytes();
    out.extend(&length[..if version == 1 { 2 } else { 4 }]);
    out.extend(header);
    out.extend(data);
    out
}

/// Right files of one tensor and of some.
pub fn safetensors_seeds() -> Vec<Vec<u8>> {
    let types =
        [("F32", 4), ("F64", 8), ("F16", 2), ("BF16", 2), ("I32", 4), ("I64", 8), ("BOOL", 1)];
    let one = |(dtype, size): (&str, usize)| {
        let header = format!(
            "{{\"w\":{{\"dtype\":\"{dtype}\",\"shape\":[2,3],\"data_offsets\":[0,{}]}}}}",
            6 * size
        );
        safetensors(header.as_bytes(), &vec![1; 6 * size])
    };
    let two = b"{\"__metadata__\":{\"a\":\"b\"},\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[8,16]},\"e\":{\"dtype\":\"U8\",\"shape\":[0,4],\"data_offsets\":[16,16]}}";
    types.into_iter().map(one).chain([safetensors(two, &[7; 16])]).collect()
}

fn safetensors(header: &[u8], data: &[u8]) -> Vec<u8> {
    let mut out = (header.len() as u64).to_le_bytes().to_vec();
    out.extend(header);
    out.extend(data);
    out
}

/// Another array.
pub fn mutate_npy(rng: &mut Rng, pool: &[Vec<u8>]) -> Vec<u8> {
    let from = pick(rng, pool);
    let version = from.get(6).copied().unwrap_or(1);
    let start = if version == 1 { 10 } else { 12 };
    let length = from.get(8..start).unwrap_or_default().iter().rev();
    let length = length.fold(0, |n, b| n << 8 | usize::from(*b));
    mutated(rng, pool, from, (start, length), NPY_WORDS, |header, data| npy(version, header, data))
}

/// Another file of safetensors.
pub fn mutate_safetensors(rng: &mut Rng, pool: &[Vec<u8>]) -> Vec<u8> {
    let from = pick(rng, pool);
    let length = from.first_chunk::<8>().map_or(0, |b| u64::from_le_bytes(*b) as usize);
    mutated(rng, pool, from, (8, length), JSON_WORDS, safetensors)
}

fn mutated(
    rng: &mut Rng,
    pool: &[Vec<u8>],
    from: &[u8],
    (start, length): (usize, usize),
    words: &[&str],
    make: impl Fn(&[u8], &[u8]) -> Vec<u8>,
) -> Vec<u8> {
    let mut out = from.to_vec();
    if let Some((header, data)) = from.get(start..).and_then(|rest| rest.split_at_checked(length)) {
        let (mut header, mut data) = (header.to_vec(), data.to_vec());
        for _ in 0..rng.below(4) {
            let at = rng.below(header.len() + 1);
            let end = if rng.chance(60) { (at + rng.below(9)).min(header.len()) } else { at };
            header.splice(at..end, rng.pick(words).bytes());
        }
        if rng.chance(30) {
            change(rng, &mut data, pool);
        }
        out = make(&header, &data);
    }
    if rng.chance(25) {
        change(rng, &mut out, pool);
    }
    out.truncate(4096);
    out
}

/// Reads it as an array.
pub fn run_npy(input: &[u8]) -> Vec<String> {
    run(input, "a.npy", &[None, Some("w")])
}

/// Reads each of the tensors that it may have.
pub fn run_safetensors(input: &[u8]) -> Vec<String> {
    run(input, "a.safetensors", &[None, Some("w"), Some("b"), Some("")])
}

fn run(input: &[u8], name: &str, tensors: &[Option<&str>]) -> Vec<String> {
    let one = |tensor: Option<&str>| match files::read(&mut Cursor::new(input), name, tensor, MOST)
    {
        Ok(Loaded { dims, values }) => {
            let n: u64 = dims.iter().map(|d| u64::from(*d)).product();
            assert_eq!(values.len() as u64, n);
            assert!(n <= MOST && dims.len() <= 4, "{dims:?}");
            format!("read {}", dims.len())
        }
        Err(Unloaded::TooLarge) => "too large".to_owned(),
        Err(Unloaded::Unusable(why)) => {
            assert!(!why.is_empty() && why.len() < 1500, "{why:?}");
            assert!(!why.contains(char::is_control), "{why:?}");
            // What it says, without what the file says.
            let own = why.split(['"', '\'']).next().unwrap_or_default();
            let words = own.split_whitespace().filter(|w| w.chars().all(char::is_alphabetic));
            words.take(8).collect::<Vec<&str>>().join(" ")
        }
    };
    tensors.iter().copied().map(one).collect()
}
