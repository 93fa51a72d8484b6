//! `load`: arrays of NumPy and safetensors, right ones by numbers written by hand, wrong ones by what is said of them.

use serde_json::{Value, json};

use crate::ran::Folder;

/// An array of NumPy as NumPy writes it: padded to 64 bytes, the header's length in two bytes or four.
fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let before = if version == 1 { 10 } else { 12 };
    let padded = (before + header.len() + 1).next_multiple_of(64) - before;
    let header = format!("{header:<width$}\n", width = padded - 1);
    let mut out = b"\x93NUMPY".to_vec();
    out.extend([version, 0]);
    if version == 1 {
        out.extend((header.len() as u16).to_le_bytes());
    } else {
        out.extend((header.len() as u32).to_le_bytes());
    }
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

fn header(descr: &str, fortran: bool, shape: &str) -> String {
    let order = if fortran { "True" } else { "False" };
    format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}")
}

fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    let mut out = (header.len() as u64).to_le_bytes().to_vec();
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

/// The bytes of numbers, one after the other.
macro_rules! bytes {
    ($to:ident: $($x:expr),*) => { [$($x.$to().to_vec()),*].concat() };
}

/// A folder with one program, and its nodes.
fn nodes(folder: &Folder, text: &str) -> Value {
    folder.write("p.fold", text);
    let (answer, status) = folder.json(&["run", "p.fold", "--json"]);
    assert_eq!((status, &answer["findings"]), (0, &json!([])));
    answer["nodes"].clone()
}

/// What is said of a file that cannot be used.
fn refused(folder: &Folder, name: &str, bytes: &[u8]) -> String {
    folder.write(name, bytes);
    folder.write("p.fold", format!("param w = load(\"{name}\")\n"));
    let (answer, status) = folder.json(&["check", "p.fold", "--json"]);
    let finding = &answer["findings"][0];
    let (code, said) = (finding["code"].as_str().unwrap(), finding["message"].as_str().unwrap());
    // A limit refuses; all else is a file that cannot be read.
    assert_eq!(status, if code == "too-many-elements" { 1 } else { 2 }, "{said}");
    assert!(matches!(code, "bad-file" | "too-many-elements"), "{code}");
    assert!(said.contains(name), "{said}");
    assert!(said.chars().all(|c| !c.is_control()) && said.len() < 400, "{said:?}");
    format!("{code}: {said}")
}

#[test]
fn every_type_of_array() {
    let folder = Folder::new("npy-types");
    let cases: [(&str, Vec<u8>, Value); 19] = [
        ("<f4", bytes!(to_le_bytes: 1.5f32, -0.25f32), json!([1.5, -0.25])),
        (">f4", bytes!(to_be_bytes: 1.5f32, -0.25f32), json!([1.5, -0.25])),
        ("<f8", bytes!(to_le_bytes: 1.5f64, f64::NEG_INFINITY), json!([1.5, "-inf"])),
        (">f8", bytes!(to_be_bytes: 1.5f64, f64::NAN), json!([1.5, "nan"])),
        // Half: 1.5 = 0x3e00, the least normal 2^-14 = 0x0400; the least of all 2^-24 = 0x0001, -65504 = 0xfbff.
        ("<f2", bytes!(to_le_bytes: 0x3e00u16, 0x0400u16), json!([1.5, 6.103_515_6e-5])),
        (">f2", bytes!(to_be_bytes: 0x0001u16, 0xfbffu16), json!([5.960_464_5e-8, -65504])),
        ("<f2", bytes!(to_le_bytes: 0x7c00u16, 0x7c01u16), json!(["inf", "nan"])),
        ("<i2", bytes!(to_le_bytes: -2i16, 300i16), json!([-2, 300])),
        (">i2", bytes!(to_be_bytes: -2i16, 300i16), json!([-2, 300])),
        ("<i4", bytes!(to_le_bytes: -2i32, 70_000i32), json!([-2, 70_000])),
        (">i4", bytes!(to_be_bytes: -2i32, 70_000i32), json!([-2, 70_000])),
        ("<i8", bytes!(to_le_bytes: -2i64, 1i64 << 40), json!([-2, 1.099_511_6e12])),
        (">i8", bytes!(to_be_bytes: -2i64, 1i64 << 40), json!([-2, 1.099_511_6e12])),
        ("|i1", vec![0xfe, 7], json!([-2, 7])),
        ("|u1", vec![0xfe, 7], json!([254, 7])),
        ("<u2", bytes!(to_le_bytes: 65_535u16, 1u16), json!([65_535, 1])),
        (">u4", bytes!(to_be_bytes: 1u32 << 31, 1u32), json!([2_147_483_648u32, 1])),
        ("<u8", bytes!(to_le_bytes: 1u64 << 63, 1u64), json!([9.223_372e18, 1])),
        ("|b1", vec![1, 0], json!([1, 0])),
    ];
    for (descr, data, expected) in cases {
        folder.write("a.npy", npy(1, &header(descr, false, "(2,)"), &data));
        let nodes = nodes(&folder, "const a = load(\"a.npy\")\n");
        let same = |(a, b): (&Value, &Value)| match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a as f32).to_bits() == (b as f32).to_bits(),
            _ => a == b,
        };
        let values = nodes[0]["value"].as_array().unwrap();
        assert!(values.iter().zip(expected.as_array().unwrap()).all(same), "{descr}: {nodes}");
        assert_eq!((values.len(), &nodes[0]["shape"]), (2, &json!([2])));
    }
}

#[test]
fn both_orders_of_axes_and_every_version() {
    let folder = Folder::new("npy-orders");
    let data: Vec<u8> = (0..6).flat_map(|x| (x as f32).to_le_bytes()).collect();
    for version in [1, 2, 3] {
        folder.write("c.npy", npy(version, &header("<f4", false, "(2, 3)"), &data));
        folder.write("f.npy", npy(version, &header("<f4", true, "(2, 3)"), &data));
        let nodes = nodes(&folder, "const c = load(\"c.npy\")\nconst f = load(\"f.npy\")\n");
        assert_eq!((&nodes[0]["shape"], &nodes[1]["shape"]), (&json!([2, 3]), &json!([2, 3])));
        assert_eq!(nodes[0]["value"], json!([0, 1, 2, 3, 4, 5]));
        assert_eq!(nodes[1]["value"], json!([0, 2, 4, 1, 3, 5]));
    }
    // Three axes, first running fastest: element [i, j, k] stands at i + 2 j + 4 k.
    let data: Vec<u8> = (0..8).flat_map(i32::to_be_bytes).collect();
    folder.write("t.npy", npy(1, &header(">i4", true, "(2, 2, 2)"), &data));
    folder.write("s.npy", npy(1, &header("<f8", false, "()"), &2.5f64.to_le_bytes()));
    folder.write("e.npy", npy(1, &header("<f8", true, "(3, 0)"), b""));
    let text = "const t i32 = load(\"t.npy\")\nconst s = load(\"s.npy\")\nconst e = load(\"e.npy\")\nconst flat [8] = 0\n";
    let nodes = nodes(&folder, text);
    assert_eq!(nodes[0]["value"], json!([0, 4, 2, 6, 1, 5, 3, 7]));
    assert_eq!((&nodes[1]["shape"], &nodes[1]["value"]), (&json!([]), &json!([2.5])));
    assert_eq!((&nodes[2]["shape"], &nodes[2]["value"]), (&json!([3, 0]), &json!([])));
}

#[test]
fn more_elements_than_one_read() {
    let folder = Folder::new("npy-large");
    let n = 50_000u32;
    let data: Vec<u8> = (0..n).flat_map(|x| f64::from(x).to_be_bytes()).collect();
    folder.write("a.npy", npy(1, &header(">f8", true, "(100, 500)"), &data));
    let nodes = nodes(&folder, "const a = load(\"a.npy\")\n");
    let values = nodes[0]["value"].as_array().unwrap();
    // Element [i, j] stands at i + 100 j.
    assert!((0..n as usize).all(|at| values[at] == (at / 500 + 100 * (at % 500)) as u64));
}

#[test]
fn every_type_of_safetensors() {
    let folder = Folder::new("safetensors-types");
    let parts: [(&str, &str, Vec<u8>, Value); 12] = [
        ("f32", "F32", bytes!(to_le_bytes: 1.5f32, -0.25f32), json!([1.5, -0.25])),
        ("f64", "F64", bytes!(to_le_bytes: 0.5f64, 3.0f64), json!([0.5, 3])),
        ("f16", "F16", bytes!(to_le_bytes: 0x3e00u16, 0xbc00u16), json!([1.5, -1])),
        ("bf16", "BF16", bytes!(to_le_bytes: 0x3fc0u16, 0xbf80u16), json!([1.5, -1])),
        ("i32", "I32", bytes!(to_le_bytes: -2i32, 9i32), json!([-2, 9])),
        ("i64", "I64", bytes!(to_le_bytes: -2i64, 9i64), json!([-2, 9])),
        ("i16", "I16", bytes!(to_le_bytes: -2i16, 9i16), json!([-2, 9])),
        ("u16", "U16", bytes!(to_le_bytes: 65_535u16, 9u16), json!([65_535, 9])),
        ("u32", "U32", bytes!(to_le_bytes: 7u32, 9u32), json!([7, 9])),
        ("i8", "I8", vec![0xff, 9], json!([-1, 9])),
        ("u8", "U8", vec![0xff, 9], json!([255, 9])),
        ("bool", "BOOL", vec![1, 0], json!([1, 0])),
    ];
    let (mut entries, mut data, mut text) = (Vec::new(), Vec::new(), String::new());
    for (name, dtype, bytes, _) in &parts {
        let start = data.len();
        data.extend(bytes);
        entries.push(format!(
            "\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":[1,2],\"data_offsets\":[{start},{}]}}",
            data.len()
        ));
        text.push_str(&format!("const t_{name} = load(\"m.safetensors\", \"{name}\")\n"));
    }
    entries.push("\"__metadata__\":{\"format\":\"pt\"}".to_owned());
    folder.write("m.safetensors", safetensors(&format!("{{{}}}", entries.join(",")), &data));
    let nodes = nodes(&folder, &text);
    for (node, (name, _, _, expected)) in nodes.as_array().unwrap().iter().zip(&parts) {
        assert_eq!((&node["value"], &node["shape"]), (expected, &json!([1, 2])), "{name}");
    }
}

#[test]
fn a_tensor_is_found_by_its_name() {
    let folder = Folder::new("names");
    let one = "{\"w\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}";
    folder.write("one.safetensors", safetensors(one, &1.5f32.to_le_bytes()));
    assert_eq!(nodes(&folder, "const w = load(\"one.safetensors\")\n")[0]["value"], json!([1.5]));
    let two = "{\"w\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[4,8]}}";
    folder.write("two.safetensors", safetensors(two, &bytes!(to_le_bytes: 1.5f32, 2.5f32)));
    assert_eq!(
        nodes(&folder, "const b = load(\"two.safetensors\", \"b\")\n")[0]["value"],
        json!([2.5])
    );
    let said = |text: &str| {
        let out = folder.feed(&["check", "-", "--json"], text);
        assert_eq!(out.status, 2);
        serde_json::from_str::<Value>(&out.out).unwrap()["findings"][0]["message"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(
        said("const w = load(\"two.safetensors\")\n")
            .contains("it holds \"b\", \"w\"; name one of them")
    );
    assert!(
        said("const w = load(\"two.safetensors\", \"v\")\n")
            .contains("no tensor in it is called \"v\"; it holds \"b\", \"w\"")
    );
    folder.write("a.npy", npy(1, &header("<f4", false, "()"), &1.0f32.to_le_bytes()));
    assert!(said("const w = load(\"a.npy\", \"w\")\n").contains("has no tensor called \"w\""));
    for text in [
        "const w = load()\n",
        "const w = load(1)\n",
        "const w = load(\"a.npy\", 1)\n",
        "const w = load(\"a\", \"b\", \"c\")\n",
        "const w = load(file=\"a.npy\")\n",
    ] {
        assert!(said(text).contains("takes the name of a file"), "{text}");
    }
    assert!(said("y = load(\"a.npy\")\n").contains("load"));
}

/// Names are relative to the program, not to whoever runs it; standard input has the current folder.
#[test]
fn names_are_relative_to_the_program() {
    let folder = Folder::new("relative");
    std::fs::create_dir(folder.path("sub")).unwrap();
    folder.write("sub/a.npy", npy(1, &header("<f4", false, "(1,)"), &4.0f32.to_le_bytes()));
    let text = "const a = load(\"a.npy\")\n";
    folder.write("sub/p.fold", text);
    assert_eq!(folder.run(&["run", "sub/p.fold"]).out, "a const f32 [1] = [4]\n");
    assert_eq!(folder.feed(&["run", "-"], text).status, 2);
    assert_eq!(folder.feed(&["run", "-"], &text.replace("a.npy", "sub/a.npy")).status, 0);
    // Neither a folder nor a device is read.
    assert_eq!(folder.feed(&["run", "-"], &text.replace("a.npy", "sub")).status, 2);
    assert_eq!(folder.feed(&["run", "-"], &text.replace("a.npy", "/dev/zero")).status, 2);
}

#[test]
fn loaded_values_train_and_are_checked() {
    let folder = Folder::new("trains");
    folder.write(
        "w.npy",
        npy(1, &header("<f8", false, "(2,)"), &bytes!(to_le_bytes: 3.0f64, -1.0f64)),
    );
    folder.write("p.fold", "param w [2] = load(\"w.npy\")\naccumulator w = load(\"w.npy\")\nloss = sum(sqr(w))\ncheck formula w = 2 * w\n");
    let (grad, _) = folder.json(&["grad", "p.fold", "--json"]);
    // The accumulator is where the gradient starts: w + 2 w.
    assert_eq!(grad["grads"]["w"]["values"], json!([9, -3]));
    // A type or a shape that does not fit is the leaf's own mistake.
    for (text, code) in [
        ("param w [3] = load(\"w.npy\")\n", "bad-literal"),
        ("const w bool = load(\"w.npy\")\n", "bad-literal"),
    ] {
        let out = folder.feed(&["check", "-", "--json"], text);
        assert_eq!(serde_json::from_str::<Value>(&out.out).unwrap()["findings"][0]["code"], code);
    }
    assert_eq!(
        folder.feed(&["fmt", "-"], "const w=load( \"m.safetensors\",\"a b\" )\n").out,
        "const w = load(\"m.safetensors\", \"a b\")\n"
    );
}

#[test]
fn a_file_cut_at_any_byte_is_refused() {
    let folder = Folder::new("cut");
    let whole = npy(1, &header("<f4", false, "(2,)"), &bytes!(to_le_bytes: 1.0f32, 2.0f32));
    let tensors = safetensors(
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
        &bytes!(to_le_bytes: 1.0f32, 2.0f32),
    );
    for (name, whole) in [("a.npy", whole), ("a.safetensors", tensors)] {
        for n in 0..whole.len() {
            let said = refused(&folder, name, &whole[..n]);
            assert!(said.starts_with("bad-file: "), "{n}: {said}");
        }
        // And so is one with a byte more.
        let said = refused(&folder, name, &[whole.as_slice(), &[0]].concat());
        assert!(said.contains("promises 8 bytes of data, and there are 9"), "{said}");
    }
}

#[test]
fn lying_headers_of_arrays() {
    let folder = Folder::new("npy-lies");
    let data = [0; 8];
    let good = header("<f4", false, "(2,)");
    let cases = [
        (header("<f4", false, "(3,)"), "promises 12 bytes of data, and there are 8"),
        (header("<f4", false, "(16777216,)"), "promises 67108864 bytes"),
        (header("<f4", false, "(16777217,)"), "too-many-elements"),
        (header("<f4", false, "(4294967296,)"), "too-many-elements"),
        (header("<f4", false, "(99999999999999999999999999,)"), "too-many-elements"),
        (header("<f4", false, "(4294967296, 4294967296, 4294967296)"), "too-many-elements"),
        (header("<f4", false, "(4294967295, 0)"), "too-many-elements"),
        (header("<f4", false, "(1, 1, 1, 1, 2)"), "it has 5 axes; a tensor has at most 4"),
        (header("<f4", false, "(-2,)"), "has \"-2,)"),
        (header("<f4", false, "(2.0,)"), "where a comma should stand"),
        (header("<f4", false, "2"), "where '(' should stand"),
        (header("<f4", false, "(2"), "where an extent should stand"),
        (header("<c8", false, "(1,)"), "type '<c8'"),
        (header("|O", false, "(1,)"), "type '|O'"),
        (header("<U2", false, "(1,)"), "type '<U2'"),
        (header("|f4", false, "(2,)"), "type '|f4'"),
        (header("=f4", false, "(2,)"), "type '=f4'"),
        (header("", false, "(2,)"), "type ''"),
        (header("\u{1b}[31m", false, "(2,)"), "type '\\u{1b}[31m'"),
        (header("é4", false, "(2,)"), "type 'é4'"),
        (good.replace("'<f4'", "[('a', '<f4')]"), "its elements are records"),
        (good.replace('}', "'descr': '<f4'}"), "gives 'descr' twice"),
        (good.replace("'descr'", "'other'"), "unknown key 'other'"),
        (good.replace("'descr': '<f4', ", ""), "has no 'descr'"),
        (good.replace("False", "false"), "where True or False should stand"),
        (good.replace('}', ""), "where a text in quotes should stand"),
        (good.replace('}', "} x"), "where nothing more should stand"),
        (good.replace("'<f4'", "'<f\\x34'"), "where a text in quotes should stand"),
        (String::new(), "where '{' should stand"),
        ("{".repeat(4000), "where a text in quotes should stand"),
    ];
    for (header, expected) in cases {
        let said = refused(&folder, "a.npy", &npy(1, &header, &data));
        assert!(said.contains(expected), "{header}: {said}");
    }
    let with = |at: usize, bytes: &[u8], version: u8| {
        let mut file = npy(version, &good, &data);
        file[at..at + bytes.len()].copy_from_slice(bytes);
        refused(&folder, "a.npy", &file)
    };
    assert!(with(6, &[4, 0], 1).contains("version is 4.0"));
    assert!(with(6, &[1, 1], 1).contains("version is 1.1"));
    assert!(with(8, &[0xff, 0xff], 1).contains("ends within its header"));
    assert!(with(8, &[0xff, 0xff, 0xff, 0xff], 2).contains("claims 4294967295 bytes"));
    assert!(with(8, &[0, 0], 1).contains("ends where '{' should stand"));
    assert!(with(12, &[0xff], 1).contains("its header is no text"));
    assert!(refused(&folder, "a.npz", b"PK\x03\x04").contains("it is an archive"));
    assert!(refused(&folder, "a.csv", b"1,2,3\n").contains("neither an array of NumPy"));
    assert!(refused(&folder, "a.npy", b"").contains("neither an array of NumPy"));
}

#[test]
fn lying_headers_of_safetensors() {
    let folder = Folder::new("safetensors-lies");
    let data = [0; 8];
    let w = |shape: &str, offsets: &str| {
        format!("{{\"w\":{{\"dtype\":\"F32\",\"shape\":{shape},\"data_offsets\":{offsets}}}}}")
    };
    let two = |a: &str, b: &str| {
        format!(
            "{{\"a\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":{a}}},\"b\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":{b}}}}}"
        )
    };
    let cases = [
        (w("[3]", "[0,12]"), "promises 12 bytes of data, and there are 8"),
        (w("[16777216]", "[0,67108864]"), "promises 67108864 bytes of data"),
        (w("[3]", "[0,8]"), "header cannot be read"),
        (w("[2]", "[4,12]"), "header cannot be read"),
        (w("[2]", "[8,0]"), "header cannot be read"),
        (w("[-2]", "[0,8]"), "header cannot be read"),
        (w("[2.0]", "[0,8]"), "header cannot be read"),
        (w("[18446744073709551615,2]", "[0,8]"), "header cannot be read"),
        (w("[9223372036854775807,9223372036854775807]", "[0,8]"), "header cannot be read"),
        (w("[1,1,1,1,2]", "[0,8]"), "it has 5 axes; a tensor has at most 4"),
        (w("[2]", "[0,8]").replace("F32", "F99"), "header cannot be read"),
        (w("[1]", "[0,8]").replace("F32", "C64"), "are C64"),
        (w("[8]", "[0,8]").replace("F32", "F8_E4M3"), "are F8_E4M3"),
        (
            w("[2]", "[0,8]").replace("\"w\"", "\"\\u001b[31m\"").replace("F32", "C64"),
            "header cannot be read",
        ),
        (two("[0,4]", "[0,4]"), "header cannot be read"),
        (two("[0,4]", "[2,6]"), "header cannot be read"),
        (two("[0,4]", "[4,8]").replace("\"b\"", "\"a\""), "two tensors are called a"),
        ("{}".to_owned(), "promises 0 bytes of data, and there are 8"),
        ("[]".to_owned(), "header cannot be read"),
        ("{\"w\":".to_owned(), "header cannot be read"),
        (format!("{{\"w\":{}", "[".repeat(100_000)), "header cannot be read"),
        ("\u{0}".to_owned(), "header cannot be read"),
    ];
    for (header, expected) in cases {
        let said = refused(&folder, "a.safetensors", &safetensors(&header, &data));
        assert!(said.contains(expected), "{header:.80}: {said}");
    }
    for length in [u64::MAX, 1 << 40, (1 << 22) + 1] {
        let mut file = safetensors(&w("[2]", "[0,8]"), &data);
        file[..8].copy_from_slice(&length.to_le_bytes());
        assert!(refused(&folder, "a.safetensors", &file).contains("are the most"));
    }
    // Extents that only an empty axis makes small.
    let said = refused(&folder, "a.safetensors", &safetensors(&w("[4294967296,0]", "[0,0]"), b""));
    assert!(said.starts_with("too-many-elements"), "{said}");
    assert!(
        refused(&folder, "a.safetensors", &safetensors("{}", b"")).contains("it holds no tensor")
    );
}

/// 2^26 elements in all: four files of 2^24 fit, a fifth does not, and one that is named twice is loaded once.
#[test]
fn files_together_stay_within_the_budget() {
    let folder = Folder::new("budget");
    let n = 1 << 24;
    for ix in 0..5 {
        // A file with a hole: nothing of it is written.
        let bytes = npy(1, &header("|u1", false, &format!("({n},)")), b"");
        folder.write(&format!("{ix}.npy"), &bytes);
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(folder.path(&format!("{ix}.npy")))
            .unwrap();
        file.set_len((bytes.len() + n) as u64).unwrap();
    }
    // Accumulators are no nodes of the graph, so only the loader's own count bounds them.
    let text = |files: &[usize]| -> String {
        let lines = files.iter().enumerate().map(|(line, ix)| {
            format!("param p{line} = 1\naccumulator p{line} = load(\"{ix}.npy\")\n")
        });
        lines.collect::<Vec<String>>().concat()
    };
    assert_eq!(folder.feed(&["fmt", "-"], &text(&[0])).out, text(&[0]), "no file is read for it");
    let text = text(&[0, 1, 2, 3, 3, 4]);
    let out = folder.feed(&["run", "-", "--json"], &text).out;
    let answer: Value = serde_json::from_str(&out).unwrap();
    let found = answer["findings"].as_array().unwrap();
    let limits: Vec<&Value> = found.iter().filter(|f| f["code"] == "too-many-elements").collect();
    assert_eq!(limits.len(), 1, "{answer}");
    assert_eq!(limits[0]["span"][0], text.rfind("\"4.npy").unwrap());
}
