//! Programs of the cases, op by op. What has no program is named with its reason.

use super::{Params, Program, ne};

type Built = Result<Program, &'static str>;

const WIDE: (f64, f64) = (-2.0, 2.0);

/// Elementwise functions: ggml's name, ours, and where to take the operand from.
const UNARY: &[(&str, &str, (f64, f64))] = &[
    ("ABS", "abs", WIDE),
    ("SGN", "sgn", WIDE),
    ("NEG", "neg", WIDE),
    ("STEP", "step", WIDE),
    ("RELU", "relu", WIDE),
    ("SILU", "silu", WIDE),
    ("EXPM1", "expm1", WIDE),
    ("SOFTPLUS", "softplus", WIDE),
    ("FLOOR", "floor", WIDE),
    ("CEIL", "ceil", WIDE),
    ("ROUND", "round", WIDE),
    ("TRUNC", "trunc", WIDE),
    ("XIELU", "xielu", WIDE),
    ("SIN", "sin", (-6.5, 6.5)),
    ("COS", "cos", (-6.5, 6.5)),
    ("SQR", "sqr", WIDE),
    ("SQRT", "sqrt", (50.0, 100.0)),
    ("LOG", "log", (0.9, 1.1)),
    ("SUM_ROWS", "sum_rows", WIDE),
    ("MEAN", "mean_rows", WIDE),
    ("CUMSUM", "cumsum", WIDE),
    ("DIAG", "diag", WIDE),
    ("DUP", "dup", WIDE),
    ("CONT", "cont", WIDE),
    ("SUM", "sum", WIDE),
];

/// Their derivative is 0 wherever it exists.
const FLAT: &[&str] = &["SGN", "STEP", "FLOOR", "CEIL", "ROUND", "TRUNC", "FILL"];

const GATED: &[(&str, &str)] = &[
    ("REGLU", "reglu"),
    ("GEGLU", "geglu"),
    ("SWIGLU", "swiglu"),
    ("GEGLU_ERF", "geglu_erf"),
    ("GEGLU_QUICK", "geglu_quick"),
    ("SWIGLU_OAI", "swiglu_oai"),
];

pub(super) fn build(op: &str, p: &Params<'_>) -> Built {
    let is_flat = FLAT.contains(&op);
    let program = Program { is_flat, ..Program::default() };
    if let Some((_, name, range)) = UNARY.iter().find(|(theirs, ..)| *theirs == op) {
        return Ok(unary(program, name, *range, p));
    }
    if let Some((_, name)) = GATED.iter().find(|(theirs, _)| *theirs == op) {
        return Ok(gated(program, name, p));
    }
    match op {
        "ADD" => Ok(binary(program, "+", WIDE, p)),
        "SUB" => Ok(binary(program, "-", WIDE, p)),
        "MUL" => Ok(binary(program, "*", (0.9, 1.1), p)),
        "DIV" => Ok(binary(program, "/", (0.9, 1.1), p)),
        "FILL" => Ok(program.leaf("x", &p.ints("ne"), WIDE).line("y = fill(x, 2) + 0 * x")),
        "TRI" => {
            let kinds = ["upper_diag", "upper", "lower_diag", "lower"];
            let kind = kinds.get(p.int("tri_type") as usize).copied().unwrap_or("lower");
            Ok(program.leaf("x", &p.ints("ne"), WIDE).line(format!("y = tri(x, \"{kind}\")")))
        }
        "SCALE" => {
            let call = |name: &str, of: &str| {
                format!("{name}({of}, {:?}, bias={:?})", p.num("scale"), p.num("bias"))
            };
            let program = program.leaf("x", &p.ints("ne"), WIDE);
            // A leaf that trains is not written over; its copy is.
            let line = if p.flag("inplace") {
                format!("c = dup(x)\ny = {}", call("scale!", "c"))
            } else {
                format!("y = {}", call("scale", "x"))
            };
            Ok(program.line(line))
        }
        "REPEAT" => {
            let reps: Vec<String> = p.ints("nr").iter().rev().map(u32::to_string).collect();
            let line = format!("y = repeat(x, reps=[{}])", reps.join(", "));
            Ok(program.leaf("x", &p.ints("ne"), WIDE).line(line))
        }
        "ACC" => Ok(acc(program, p)),
        "SET" => Ok(set(program, p)),
        "CPY" => Ok(cpy(program, p)),
        "GET_ROWS" => Ok(get_rows(program, p)),
        "DIAG_MASK_INF" => {
            let line = format!("m = diag_mask_inf(x, n_past={})\ny = softmax(m)", p.int("n_past"));
            Ok(program.leaf("x", &p.ints("ne"), WIDE).line(line))
        }
        "RMS_NORM" => {
            let line = format!("y = rms_norm(x, eps={:?})", p.num("eps"));
            Ok(seen(program, "x", &p.ints("ne"), (-10.0, 10.0), p.flag("v")).line(line))
        }
        "CROSS_ENTROPY_LOSS" => {
            let dims = p.ints("ne");
            let program = program.constant(format!(
                "const raw {} = randn(seed=7)\nlabels = softmax(raw)",
                ne(&dims)
            ));
            Ok(program.leaf("x", &dims, WIDE).line("y = cross_entropy_loss(x, labels)"))
        }
        "SOLVE_TRI" => {
            let program = program.leaf("a", &p.ints("ne_lhs"), (0.1, 1.0));
            let program = program.leaf("b", &p.ints("ne_rhs"), WIDE);
            Ok(program.line("l = tri(a, \"lower_diag\")\ny = solve_tri(l, b)"))
        }
        "SOFT_MAX" => Ok(soft_max(program, p)),
        "MUL_MAT" => Ok(mul_mat(program, p)),
        "ROPE" => rope(program, p),
        "IM2COL" => Ok(im2col(program, p)),
        "POOL_1D" | "POOL_2D" => Ok(pool(program, op, p)),
        "MUL_MAT_HADAMARD" => Ok(hadamard(program, p)),
        "IM2COL_3D" => Ok(im2col_3d(program, p)),
        "OPT_STEP_ADAMW" | "OPT_STEP_SGD" => Err("steps are the trainer's, not nodes"),
        _ => Err("no program"),
    }
}

/// A leaf, or a window into a larger one.
fn seen(program: Program, name: &str, dims: &[u32], range: (f64, f64), is_view: bool) -> Program {
    if !is_view {
        return program.leaf(name, dims, range);
    }
    let mut large = dims.to_vec();
    if let Some(first) = large.first_mut() {
        *first *= 2;
    }
    let width = dims.first().copied().unwrap_or(1);
    let whole = format!("{name}_all");
    program.leaf(&whole, &large, range).line(format!("{name} = {whole}[..., 0:{width}]"))
}

/// ggml moves axis `i` to `p[i]`; ours lists, for each axis of the result from the left, where it comes from.
fn permuted(of: &str, to: &[u32]) -> Option<String> {
    let n = to.len();
    let is_permutation = (0..n as u32).all(|axis| to.contains(&axis));
    let is_identity = to.iter().enumerate().all(|(i, t)| i as u32 == *t);
    if n == 0 || !is_permutation || is_identity {
        return None;
    }
    let from = |k: usize| to.iter().position(|t| *t as usize == n - 1 - k).map_or(0, |i| n - 1 - i);
    let axes: Vec<String> = (0..n).map(|k| from(k).to_string()).collect();
    Some(format!("permute({of}, {})", axes.join(", ")))
}

fn unary(program: Program, name: &str, range: (f64, f64), p: &Params<'_>) -> Program {
    let own = p.ints("ne");
    let dims = if own.is_empty() { p.ints("ne_a") } else { own };
    let is_view = p.flag("v") || p.flag("use_view_slice") || p.flag("slice");
    let program = seen(program, "x", &dims, range, is_view);
    let order = p.ints("permute");
    let swapped = if p.int("permute") == 1 {
        Some("permute(x, 0, 2, 1, 3)".to_owned())
    } else {
        permuted("x", &order)
    };
    let of = swapped.unwrap_or_else(|| "x".to_owned());
    program.line(format!("y = {name}({of})"))
}

fn gated(program: Program, name: &str, p: &Params<'_>) -> Program {
    let dims = p.ints("ne_a");
    let program = seen(program, "a", &dims, WIDE, p.flag("v"));
    let program = seen(program, "b", &dims, WIDE, p.flag("v"));
    let more = if name == "swiglu_oai" {
        format!(", alpha={:?}, limit={:?}", p.num("alpha"), p.num("limit"))
    } else {
        String::new()
    };
    program.line(format!("y = {name}(a, b{more})"))
}

fn binary(program: Program, sign: &str, range: (f64, f64), p: &Params<'_>) -> Program {
    let (b, nr) = (p.ints("ne"), p.ints("nr"));
    let a: Vec<u32> = b.iter().zip(&nr).map(|(e, n)| e * n).collect();
    let program = program.leaf("a", &a, range);
    if p.flag("src_overlap") {
        return program.line(format!("y = a {sign} a"));
    }
    if p.flag("perm1") {
        let mut swapped = b;
        swapped.swap(0, 1);
        return program
            .leaf("b", &swapped, range)
            .line(format!("y = a {sign} transpose(b, -1, -2)"));
    }
    program.leaf("b", &b, range).line(format!("y = a {sign} b"))
}

fn acc(program: Program, p: &Params<'_>) -> Program {
    let (a, b, along) = (p.ints("ne_a"), p.ints("ne_b"), p.int("stride_dim"));
    let program = program.leaf("a", &a, WIDE);
    let Ok(along) = usize::try_from(along) else {
        return program.leaf("b", &b, WIDE).line("y = add_slice(a, b, start=[0, 0, 0, 0])");
    };
    let mut padded = b.clone();
    let part = padded.get_mut(along).map_or(1, |e| {
        *e += 1;
        *e - 1
    });
    let before = ":, ".repeat(3 - along.min(3));
    program
        .leaf("b_pad", &padded, WIDE)
        .line(format!("b = b_pad[{before}0:{part}]"))
        .line("y = add_slice(a, b, start=[0, 0, 0, 0])")
}

fn set(program: Program, p: &Params<'_>) -> Program {
    let (src, dim) = (p.ints("ne"), p.int("dim") as usize);
    let dst: Vec<u32> =
        src.iter().enumerate().map(|(i, e)| if i < dim { 2 * e } else { *e }).collect();
    let start: Vec<&str> = (0..4).rev().map(|i| if i < dim { "1" } else { "0" }).collect();
    let bang =
        if p.flag("inplace") { ("c = dup(a)\n", "set_slice!(c") } else { ("", "set_slice(a") };
    program.leaf("a", &dst, WIDE).leaf("b", &src, WIDE).line(format!(
        "{}y = {}, b, start=[{}])",
        bang.0,
        bang.1,
        start.join(", ")
    ))
}

fn cpy(program: Program, p: &Params<'_>) -> Program {
    let dims = p.ints("ne_src");
    let program = program.leaf("x", &dims, WIDE).constant(format!("const d {} = 0", ne(&dims)));
    let of = permuted("x", &p.ints("permute_src")).unwrap_or_else(|| "x".to_owned());
    let of = if p.flag("_src_transpose") { format!("transpose({of}, -1, -2)") } else { of };
    let into = permuted("d", &p.ints("permute_dst"));
    let into_line = into.map_or(String::new(), |into| format!("d_view = {into}\n"));
    let name = if into_line.is_empty() { "d" } else { "d_view" };
    program.line(format!("{into_line}s = {of}\ny = cpy(s, into={name})"))
}

fn get_rows(program: Program, p: &Params<'_>) -> Program {
    let (n, m, r) = (p.int("n") as u32, p.int("m") as u32, p.int("r") as u32);
    let ids: Vec<String> = (0..r).map(|i| ((2 * i + 1) % m).to_string()).collect();
    let program = program.constant(format!("const i [{r}] i32 = [{}]", ids.join(", ")));
    seen(program, "x", &[n, m], WIDE, p.flag("v")).line("y = get_rows(x, i)")
}

fn soft_max(program: Program, p: &Params<'_>) -> Program {
    let dims = p.ints("ne");
    let [e0, e1, heads, _] = dims.as_slice() else { return program };
    let mut program = program.leaf("x", &dims, WIDE);
    let mut call =
        if p.flag("sinks") { "softmax_sinks(x, s".to_owned() } else { "softmax(x".to_owned() };
    if p.flag("sinks") {
        program = program.constant(format!("const s [{heads}] = rand(seed=31, lo=-1, hi=1)"));
    }
    if p.flag("mask") {
        program = program.constant(format!("const m [{e1}, {e0}] = rand(seed=32, lo=-1, hi=1)"));
        call.extend([", mask=m, max_bias=", &format!("{:?}", p.num("max_bias"))]);
    }
    program.line(format!("y = {call}, scale={:?})", p.num("scale")))
}

fn mul_mat(program: Program, p: &Params<'_>) -> Program {
    let [m, n, k] = ["m", "n", "k"].map(|key| p.int(key) as u32);
    let (bs, nr) = (p.ints("bs"), p.ints("nr"));
    let at = |list: &[u32], ix: usize| list.get(ix).copied().unwrap_or(1);
    let a = [k, m, at(&bs, 0), at(&bs, 1)];
    let b = [k, n, at(&bs, 0) * at(&nr, 0), at(&bs, 1) * at(&nr, 1)];
    let per = p.ints("per");
    let mut program = program;
    let mut operand = |name: &str, dims: [u32; 4]| {
        let stored = |axis: u32| dims.get(axis as usize).copied().unwrap_or(1);
        let Some(view) = permuted(&format!("{name}_p"), &per) else {
            program = seen(std::mem::take(&mut program), name, &dims, WIDE, p.int("k_v") > 0);
            return;
        };
        // Stored in the permuted order, and permuted back.
        let own: Vec<u32> = per.iter().map(|axis| stored(*axis)).collect();
        program = std::mem::take(&mut program)
            .leaf(&format!("{name}_p"), &own, WIDE)
            .line(format!("{name} = {view}"));
    };
    operand("a", a);
    operand("b", b);
    program.line("y = mul_mat(a, b)")
}

fn rope(program: Program, p: &Params<'_>) -> Built {
    let (mode, four) = match p.int("mode") {
        0 => ("normal", false),
        2 => ("neox", false),
        8 => ("mrope", true),
        24 => ("vision", true),
        40 => ("imrope", true),
        _ => return Err("a mode that ggml does not have"),
    };
    let dims = p.ints("ne_a");
    let tokens = dims.get(2).copied().unwrap_or(1) * if four { 4 } else { 1 };
    let pos: Vec<String> = (0..tokens).map(|t| (3 * t + 1).to_string()).collect();
    let mut program = program.constant(format!("const pos [{tokens}] i32 = [{}]", pos.join(", ")));
    // ggml's harness names all channels that turn, and halves their number for vision.
    let (all, pairs) = (p.int("n_dims"), p.int("n_dims") / 2);
    let n_dims = if mode == "vision" { all / 2 } else { all };
    let part = (if mode == "vision" { all / 4 } else { all / 3 }).max(1);
    let third = if mode == "vision" { 0 } else { part };
    let sections =
        if four { format!(", sections=[{part}, {part}, {third}, 0]") } else { String::new() };
    let mut operands = "x, pos".to_owned();
    if p.flag("ff") {
        program = program.constant(format!("const ff [{pairs}] = rand(seed=33, lo=0.9, hi=1.1)"));
        operands.push_str(", ff");
    }
    let call = format!(
        "y = rope({operands}, n_dims={}, mode=\"{mode}\", freq_scale={:?}, ext_factor={:?}, attn_factor={:?}, n_offs={}{sections})",
        n_dims,
        p.num("fs"),
        p.num("ef"),
        p.num("af"),
        p.int("n_offs")
    );
    Ok(seen(program, "x", &dims, WIDE, p.flag("v")).line(call))
}

fn geometry(p: &Params<'_>, is_2d: bool, keys: [&str; 2]) -> String {
    let [first, second] = keys.map(|key| p.int(key));
    // Row-major: the slow axis first.
    if is_2d { format!("[{second}, {first}]") } else { first.to_string() }
}

fn im2col(program: Program, p: &Params<'_>) -> Program {
    let is_2d = p.flag("is_2D");
    let (kernel, image) = (p.ints("ne_kernel"), p.ints("ne_input"));
    let take =
        |dims: &[u32]| if is_2d { dims.to_vec() } else { dims.iter().take(3).copied().collect() };
    let program = program.constant(format!("const k {} = 0", ne(&take(&kernel))));
    let at = |keys| geometry(p, is_2d, keys);
    program.leaf("x", &take(&image), WIDE).line(format!(
        "y = im2col(k, x, stride={}, padding={}, dilation={})",
        at(["s0", "s1"]),
        at(["p0", "p1"]),
        at(["d0", "d1"])
    ))
}

fn pool(program: Program, op: &str, p: &Params<'_>) -> Program {
    let is_2d = op == "POOL_2D";
    let kind = if p.0.get("pool_type").copied() == Some("max") { "max" } else { "avg" };
    let at = |keys| geometry(p, is_2d, keys);
    let call = format!(
        "{kind}_pool_{}(x, kernel={}, stride={}, padding={})",
        if is_2d { "2d" } else { "1d" },
        at(["k0", "k1"]),
        at(["s0", "s1"]),
        at(["p0", "p1"])
    );
    let program = program.leaf("x", &p.ints("ne_input"), WIDE);
    // A window of padding alone has no maximum: its huge number would drown every difference.
    if kind == "max" {
        return program.line(format!("m = {call}\ny = where(m > -1e30, m, 0)"));
    }
    program.line(format!("y = {call}"))
}

fn hadamard(program: Program, p: &Params<'_>) -> Program {
    let k = p.int("k") as u32;
    // Of the first operand the shape alone counts.
    program
        .constant(format!("const a {} = 0", ne(&[k, k])))
        .leaf("b", &[&[k, p.int("n") as u32][..], &p.ints("bs")].concat(), WIDE)
        .line("y = mul_mat_hadamard(a, b)")
}

fn im2col_3d(program: Program, p: &Params<'_>) -> Program {
    let at = |keys: [&str; 3]| {
        let [w, h, d] = keys.map(|key| p.int(key));
        format!("[{d}, {h}, {w}]")
    };
    let kernel = p.ints("ne_kernel");
    let image = p.ints("ne_input");
    program.constant(format!("const k {} = 0", ne(&kernel))).leaf("x", &image, WIDE).line(format!(
        "y = im2col_3d(k, x, channels={}, stride={}, padding={}, dilation={})",
        // The list is shrunk: what is left of the last axis is one image.
        image.last().copied().unwrap_or(1),
        at(["s0", "s1", "s2"]),
        at(["p0", "p1", "p2"]),
        at(["d0", "d1", "d2"])
    ))
}
