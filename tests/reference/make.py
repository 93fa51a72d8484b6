#!/usr/bin/env python3
"""Reference values and gradients in float64, from JAX: an evaluator of .fold texts that shares nothing with the engine.

    python3 -m venv VENV && VENV/bin/pip install jax numpy
    VENV/bin/python tests/reference/make.py            # rewrites tests/reference/*.json
    VENV/bin/python tests/reference/make.py products   # one group

Each `cases/GROUP.fold` holds cases. A case begins with `#= NAME` or `#= NAME : RULES ...` and lasts to the next;
without rules it is evaluated under ggml and numpy. Its last assignment is `y`. The gradient of every `param` is taken
by `jax.vjp` of `y` with the cotangent `rand(seed=99, lo=-1, hi=1)`; the Rust side adds the same cotangent to the text.

To add an op: one function in `OPS` below, and cases in the group where it belongs.
"""

import ast
import json
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

HERE = pathlib.Path(__file__).parent
COMMAND = "python tests/reference/make.py"
COTANGENT = dict(seed=99, lo=-1.0, hi=1.0)
F32_TYPES = {"f32": np.float32, "f16": np.float16, "bf16": np.float32, "i32": np.int32, "bool": np.bool_}


# ---- leaves: the generators of the language, from their published definition --------------------------------------

def uniform(seed, n, start=0, step=1):
    with np.errstate(over="ignore"):
        i = np.arange(n, dtype=np.uint64) * np.uint64(step) + np.uint64(start)
        z = np.uint64(seed) + (i + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def generate(call, shape):
    n = int(np.prod(shape, dtype=np.int64))
    name = call.func.id
    args = [number(a) for a in call.args]
    kw = {k.arg: number(k.value) for k in call.keywords}

    def take(defaults):
        out = dict(defaults)
        out.update(zip(defaults, args))
        out.update(kw)
        return out

    if name == "rand":
        a = take(dict(seed=1, lo=0.0, hi=1.0))
        flat = a["lo"] + (a["hi"] - a["lo"]) * uniform(int(a["seed"]), n)
    elif name == "randn":
        seed = int(take(dict(seed=1))["seed"])
        radius = np.sqrt(-2.0 * np.log(1.0 - uniform(seed, n, 0, 2)))
        flat = radius * np.cos(2.0 * np.pi * uniform(seed, n, 1, 2))
    elif name == "arange":
        a = take(dict(start=0.0, step=1.0))
        flat = a["start"] + np.arange(n) * a["step"]
    elif name == "linspace":
        a = take(dict(a=0.0, b=1.0))
        flat = np.linspace(a["a"], a["b"], n)
    elif name == "full":
        flat = np.full(n, args[0])
    else:
        raise SystemExit(f"no generator {name}")
    return flat.reshape(shape)


def number(node):
    return float(eval(compile(ast.Expression(node), "number", "eval"), {"inf": np.inf, "nan": np.nan}))


def stored(value, dtype):
    """As the storage of the type rounds; arithmetic is float64 afterwards."""
    return np.asarray(np.asarray(value, np.float64).astype(F32_TYPES[dtype]), np.float64)


def leaf(text, shape, dtype):
    node = ast.parse(pythonic(text), mode="eval").body
    if isinstance(node, ast.Name) and node.id in ("zeros", "ones"):
        value = np.full(shape, float(node.id == "ones"))
    elif isinstance(node, ast.Name) and node.id == "eye":
        value = np.broadcast_to(np.eye(*shape[-2:]), shape)
    elif isinstance(node, ast.Call):
        value = generate(node, shape)
    else:
        value = np.asarray(constant(node), np.float64)
        if shape is None:
            shape = value.shape
        value = np.broadcast_to(value, shape) if value.ndim == 0 else value.reshape(shape)
    return jnp.asarray(stored(value, dtype))


def constant(node):
    if isinstance(node, ast.List):
        return [constant(item) for item in node.elts]
    return number(node)


# ---- the two broadcast rules -------------------------------------------------------------------------------------

def align(x, rank):
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def tile_to(x, shape):
    """Tiles `x` up to `shape`, as ggml: every extent divides."""
    rank = max(x.ndim, len(shape))
    padded = align(x, rank)
    target = (1,) * (rank - len(shape)) + tuple(shape)
    reps = [t // s for s, t in zip(padded.shape, target)]
    assert all(s * r == t for s, r, t in zip(padded.shape, reps, target)), (x.shape, shape)
    return jnp.tile(padded, reps).reshape(shape)


def stretch(cx, a, b):
    """The two operands of an elementwise op, as these rules stretch them."""
    if cx.rules == "numpy":
        return jnp.broadcast_arrays(a, b)
    return a, tile_to(b, a.shape)


# ---- ops: one function each --------------------------------------------------------------------------------------

OPS = {}


def op(*names):
    def enter(f):
        for name in names:
            OPS[name] = f
        return f
    return enter


def elementwise(f):
    return lambda cx, a, b: f(*stretch(cx, a, b))


def unary(f):
    return lambda cx, a: f(a)


op("add")(elementwise(lambda a, b: a + b))
op("sub")(elementwise(lambda a, b: a - b))
op("mul")(elementwise(lambda a, b: a * b))
op("div")(elementwise(lambda a, b: a / b))
# `a^0` is 1 everywhere, and flat: JAX itself gives NaN for its slope at a = 0.
op("pow")(elementwise(lambda a, b: jnp.where(b == 0, 1.0, jnp.power(jnp.where(b == 0, 1.0, a), b))))
op("less")(elementwise(lambda a, b: (a < b) * 1.0))
op("less_equal")(elementwise(lambda a, b: (a <= b) * 1.0))
op("greater")(elementwise(lambda a, b: (a > b) * 1.0))
op("greater_equal")(elementwise(lambda a, b: (a >= b) * 1.0))
op("equal")(elementwise(lambda a, b: (a == b) * 1.0))
op("not_equal")(elementwise(lambda a, b: (a != b) * 1.0))
op("neg")(unary(lambda a: -a))
op("sqr")(unary(lambda a: a * a))
op("sqrt")(unary(jnp.sqrt))
op("exp")(unary(jnp.exp))
op("log")(unary(jnp.log))
op("relu")(unary(lambda a: jnp.where(a > 0, a, 0.0)))
op("step")(unary(lambda a: (a > 0) * 1.0))
op("stop_gradient")(unary(jax.lax.stop_gradient))
op("view")(unary(lambda a: a))


@op("scale")
def _(cx, a, s, bias=0.0):
    return s * a + bias


@op("clamp")
def _(cx, a, min=-np.inf, max=np.inf):
    # Passes on its bounds: written so that the bound itself belongs to the open part.
    out = jnp.where(a > max, max, a) if np.isfinite(max) else a
    return jnp.where(a < min, min, out) if np.isfinite(min) else out


@op("where")
def _(cx, c, a, b):
    if cx.rules == "numpy":
        return jnp.where(c != 0, a, b)
    return jnp.where(tile_to(c, a.shape) != 0, a, tile_to(b, a.shape))


def axes_of(axis):
    return axis if axis is None or isinstance(axis, int) else tuple(axis)


@op("sum")
def _(cx, a, axis=None, keepdims=False):
    return jnp.sum(a, axis=axes_of(axis), keepdims=keepdims)


@op("mean")
def _(cx, a, axis=None, keepdims=False):
    return jnp.mean(a, axis=axes_of(axis), keepdims=keepdims)


@op("sum_rows")
def _(cx, a):
    return jnp.sum(a, axis=-1, keepdims=True)


@op("mean_rows")
def _(cx, a):
    return jnp.mean(a, axis=-1, keepdims=True)


@op("repeat")
def _(cx, a, like=None, reps=None, shape=None):
    if like is not None:
        shape = like.shape
    return jnp.tile(a, reps) if shape is None else tile_to(a, tuple(shape))


@op("repeat_back")
def _(cx, a, like=None, shape=None):
    # The transpose of tiling, taken from its definition: <tile(x), a> = <x, repeat_back(a)>.
    shape = like.shape if like is not None else tuple(shape)
    tile = lambda x: tile_to(x, a.shape)
    return jax.linear_transpose(tile, jax.ShapeDtypeStruct(shape, jnp.float64))(a)[0]


@op("matmul")
def _(cx, a, b):
    if cx.rules == "numpy" or a.ndim < 3 and b.ndim < 3:
        return jnp.matmul(a, b)
    # Batch axes follow the elementwise rule: only the second operand tiles.
    batch = a.shape[:-2]
    return jnp.matmul(a, tile_to(b, batch + b.shape[-2:]))


@op("mul_mat")
def _(cx, a, b):
    rank = max(a.ndim, b.ndim)
    a, b = align(a, rank), align(b, rank)
    for axis in range(rank - 2):
        a = jnp.repeat(a, b.shape[axis] // a.shape[axis], axis=axis)
    return b @ jnp.swapaxes(a, -1, -2)


@op("reshape")
def _(cx, a, shape):
    return a.reshape([int(d) for d in shape])


@op("transpose")
def _(cx, a, i=-1, j=-2):
    return jnp.swapaxes(a, i, j)


@op("permute")
def _(cx, a, *axes):
    return jnp.transpose(a, axes)


@op("stack")
def _(cx, *parts, axis=0):
    return jnp.stack(parts, axis=axis)


@op("cpy")
def _(cx, a, into):
    return a.reshape(into.shape)


op("abs")(unary(jnp.abs))
op("sgn")(unary(jnp.sign))
op("floor")(unary(jnp.floor))
op("ceil")(unary(jnp.ceil))
op("round")(unary(jnp.round))
op("trunc")(unary(jnp.trunc))
op("reciprocal")(unary(lambda a: 1 / a))
op("rsqrt")(unary(jax.lax.rsqrt))
op("expm1")(unary(jnp.expm1))
op("log1p")(unary(jnp.log1p))
op("sin")(unary(jnp.sin))
op("cos")(unary(jnp.cos))
op("tanh")(unary(jnp.tanh))
op("erf")(unary(jax.scipy.special.erf))
op("erfc")(unary(jax.scipy.special.erfc))
op("dup", "cont")(unary(lambda a: a))
op("maximum")(elementwise(jnp.maximum))
op("minimum")(elementwise(jnp.minimum))

# The activations, each once: the gated forms below use them too.
ACT = {
    "relu": lambda a: jnp.where(a > 0, a, 0.0),
    "sigmoid": jax.nn.sigmoid,
    "silu": lambda a: a * jax.nn.sigmoid(a),
    "gelu": lambda a: 0.5 * a * (1 + jnp.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3))),
    "gelu_erf": lambda a: 0.5 * a * jax.scipy.special.erfc(-a / np.sqrt(2)),
    "gelu_quick": lambda a: a * jax.nn.sigmoid(1.702 * a),
    "softplus": lambda a: jnp.logaddexp(a, 0.0),
    "hardsigmoid": lambda a: jnp.clip((a + 3) / 6, 0, 1),
    "hardswish": lambda a: a * jnp.clip((a + 3) / 6, 0, 1),
}
for _name in ("sigmoid", "silu", "gelu", "gelu_erf", "gelu_quick", "softplus", "hardsigmoid", "hardswish"):
    op(_name)(unary(ACT[_name]))


@op("elu")
def _(cx, a, alpha=1.0):
    return jnp.where(a > 0, a, alpha * jnp.expm1(jnp.minimum(a, 0)))


@op("leaky_relu")
def _(cx, a, slope=0.01):
    return jnp.where(a > 0, a, slope * a)


@op("xielu")
def _(cx, a, alpha_n=0.8, alpha_p=0.8, beta=0.5, eps=-1e-6):
    soft = lambda x: np.log1p(np.exp(x))
    p, n = soft(alpha_p), beta + soft(alpha_n)
    return jnp.where(a > 0, p * a * a + beta * a, (jnp.expm1(jnp.minimum(a, eps)) - a) * n + beta * a)


def halves(a, b, swapped):
    if b is not None:
        return a, b
    first, second = jnp.split(a, 2, axis=-1)
    return (second, first) if swapped else (first, second)


def gated(act):
    def glu(cx, a, b=None, swapped=False):
        x, gate = halves(a, b, swapped)
        return act(x) * gate
    return glu


op("reglu")(gated(ACT["relu"]))
op("geglu")(gated(ACT["gelu"]))
op("geglu_erf")(gated(ACT["gelu_erf"]))
op("geglu_quick")(gated(ACT["gelu_quick"]))
op("swiglu")(gated(ACT["silu"]))


@op("swiglu_oai")
def _(cx, a, b=None, swapped=False, alpha=1.702, limit=7.0):
    x, gate = halves(a, b, swapped)
    x, gate = jnp.minimum(x, limit), jnp.clip(gate, -limit, limit)
    return x * jax.nn.sigmoid(alpha * x) * (gate + 1)


@op("cast")
def _(cx, a, dtype):
    if dtype == "i32":
        return jnp.trunc(jax.lax.stop_gradient(a))
    # Storage rounds in f32; in f64, where checks run, it does not: a rounded function is flat.
    return a


# ---- reductions ----

def reduction(f):
    return lambda cx, a, axis=None, keepdims=False: f(a, axis=axes_of(axis), keepdims=keepdims)


op("max")(reduction(jnp.max))
op("min")(reduction(jnp.min))
op("prod")(reduction(jnp.prod))
op("logsumexp")(reduction(jax.scipy.special.logsumexp))


@op("var")
def _(cx, a, axis=None, keepdims=False, correction=0.0):
    n = a.size if axis is None else int(np.prod([a.shape[x] for x in np.atleast_1d(axis)]))
    mean = jnp.mean(a, axis=axes_of(axis), keepdims=True)
    return jnp.sum((a - mean) ** 2, axis=axes_of(axis), keepdims=keepdims) / (n - correction)


@op("sample_var")
def _(cx, a, axis=None, keepdims=False, correction=1.0):
    return OPS["var"](cx, a, axis, keepdims, correction)


@op("std")
def _(cx, a, axis=None, keepdims=False, correction=0.0):
    return jnp.sqrt(OPS["var"](cx, a, axis, keepdims, correction))


@op("sample_std")
def _(cx, a, axis=None, keepdims=False, correction=1.0):
    return jnp.sqrt(OPS["var"](cx, a, axis, keepdims, correction))


def lines(a, axis):
    """The reduced axes as one last axis, and the way back."""
    axes = tuple(range(a.ndim)) if axis is None else tuple(x % a.ndim for x in np.atleast_1d(axis).tolist())
    kept = [x for x in range(a.ndim) if x not in axes]
    order = kept + list(axes)
    moved = jnp.transpose(a, order)
    flat = moved.reshape([a.shape[x] for x in kept] + [-1])
    return flat, lambda y: jnp.transpose(y.reshape(moved.shape), np.argsort(order))


@op("prod_others")
def _(cx, a, axis=None):
    flat, back = lines(a, axis)
    others = [jnp.prod(jnp.delete(flat, k, axis=-1), axis=-1) for k in range(flat.shape[-1])]
    return back(jnp.stack(others, axis=-1))


@op("prod_others_back")
def _(cx, a, g, axis=None):
    flat, back = lines(a, axis)
    weights, _ = lines(g, axis)
    n = flat.shape[-1]
    def term(k):
        rest = lambda i: jnp.prod(jnp.delete(flat, jnp.array([i, k]), axis=-1), axis=-1)
        return sum(weights[..., i] * rest(i) for i in range(n) if i != k)
    return back(jnp.stack([term(k) for k in range(n)], axis=-1))


@op("log_softmax")
def _(cx, a, axis=-1):
    return jax.nn.log_softmax(a, axis=axis)


@op("cumsum")
def _(cx, a, axis=-1, reverse=False):
    return jnp.flip(jnp.cumsum(jnp.flip(a, axis), axis), axis) if reverse else jnp.cumsum(a, axis)


@op("argmax")
def _(cx, a, axis=None, keepdims=False):
    return jnp.argmax(a, axis=axis, keepdims=keepdims) * 1.0


@op("argmin")
def _(cx, a, axis=None, keepdims=False):
    return jnp.argmin(a, axis=axis, keepdims=keepdims) * 1.0


@op("count_equal")
def _(cx, a, b):
    return jnp.sum(a == b) * 1.0


@op("add1")
def _(cx, a, b):
    return a + b.reshape(())


# ---- softmax with everything ggml hangs on it ----

def alibi(n_heads, max_bias):
    """The slope of each head."""
    if not max_bias:
        return np.ones(n_heads)
    floor = 2 ** int(np.floor(np.log2(n_heads)))
    m0, m1 = 2.0 ** (-max_bias / floor), 2.0 ** (-(max_bias / 2) / floor)
    return np.array([m0 ** (h + 1) if h < floor else m1 ** (2 * (h - floor) + 1) for h in range(n_heads)])


def masked(x, mask, scale, max_bias):
    z = x * scale
    if mask is None:
        return z
    heads = x.shape[-3] if x.ndim >= 3 else 1
    slope = jnp.asarray(alibi(heads, max_bias))[:, None, None] if x.ndim >= 3 else alibi(1, max_bias)[0]
    rows = mask[..., : x.shape[-2], :] if mask.ndim >= 2 and x.ndim >= 2 else mask
    gone = tile_to(rows == -jnp.inf, x.shape) if rows.shape != x.shape else rows == -jnp.inf
    plain = tile_to(jnp.where(rows == -jnp.inf, 0.0, rows), x.shape)
    return jnp.where(gone, -jnp.inf, z + slope * plain)


def shares(z, sink=None):
    """Softmax over the last axis; a row of nothing gives zeros, a sink takes its part and gives no column."""
    gone = z == -jnp.inf
    z = jnp.where(gone, 0.0, z)
    top = jax.lax.stop_gradient(jnp.max(jnp.where(gone, -1e30, z), axis=-1, keepdims=True))
    if sink is not None:
        top = jnp.maximum(top, jax.lax.stop_gradient(sink))
    top = jnp.where(top < -1e29, 0.0, top)
    e = jnp.where(gone, 0.0, jnp.exp(z - top))
    total = jnp.sum(e, axis=-1, keepdims=True)
    if sink is not None:
        total = total + jnp.exp(sink - top)
    return jnp.where(total > 0, e / jnp.where(total > 0, total, 1.0), 0.0)


def of_heads(sinks, like):
    return sinks[:, None, None] if sinks.ndim == 1 and like.ndim >= 3 else sinks.reshape(())


@op("softmax")
def _(cx, a, mask=None, axis=-1, scale=1.0, max_bias=0.0):
    if isinstance(mask, int):
        mask, axis = None, mask
    moved = jnp.moveaxis(masked(a, mask, scale, max_bias), axis, -1)
    return jnp.moveaxis(shares(moved), -1, axis)


@op("softmax_sinks")
def _(cx, a, sinks, mask=None, scale=1.0, max_bias=0.0):
    return shares(masked(a, mask, scale, max_bias), of_heads(sinks, a))


@op("flash_attn_ext")
def _(cx, q, k, v, mask=None, sinks=None, scale=None, softcap=0.0, max_bias=0.0):
    groups = q.shape[-3] // k.shape[-3]
    spread = lambda x: jnp.repeat(x, groups, axis=-3)
    if q.ndim == 4:
        spread = lambda x: jnp.repeat(jnp.repeat(x, q.shape[0] // x.shape[0], axis=0), groups, axis=-3)
    k, v = spread(k), spread(v)
    scale = 1 / np.sqrt(q.shape[-1]) if scale is None else scale
    z = jnp.einsum("...nd,...md->...nm", q, k) * scale
    if softcap:
        z = softcap * jnp.tanh(z / softcap)
    p = shares(masked(z, mask, 1.0, max_bias), None if sinks is None else of_heads(sinks, z))
    # The heads stand beside the rows in the result.
    return jnp.swapaxes(jnp.einsum("...nm,...md->...nd", p, v), -3, -2)


# ---- norms and losses ----

@op("rms_norm")
def _(cx, a, eps=1e-6):
    return a / jnp.sqrt(jnp.mean(a * a, axis=-1, keepdims=True) + eps)


def normed(a, axes, eps):
    d = a - jnp.mean(a, axis=axes, keepdims=True)
    return d / jnp.sqrt(jnp.mean(d * d, axis=axes, keepdims=True) + eps)


@op("norm")
def _(cx, a, eps=1e-5):
    return normed(a, -1, eps)


@op("layer_norm")
def _(cx, a, weight=None, bias=None, eps=1e-5):
    y = normed(a, -1, eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


@op("group_norm")
def _(cx, a, groups, eps=1e-5, axis=-3):
    axis %= a.ndim
    split = a.reshape(a.shape[:axis] + (groups, a.shape[axis] // groups) + a.shape[axis + 1 :])
    return normed(split, tuple(range(axis + 1, split.ndim)), eps).reshape(a.shape)


@op("l2_norm")
def _(cx, a, eps=1e-12):
    square = jnp.sum(a * a, axis=-1, keepdims=True)
    counts = square > eps * eps
    return a / jnp.where(counts, jnp.sqrt(jnp.where(counts, square, 1.0)), eps)


@op("cross_entropy_loss")
def _(cx, a, t):
    rows = a.size // a.shape[-1]
    return -jnp.sum(t * jax.nn.log_softmax(a, axis=-1)) / rows


@op("cross_entropy")
def _(cx, a, t, ignore_index=-100):
    logs = jax.nn.log_softmax(a, axis=-1)
    if t.ndim == a.ndim:
        return -jnp.sum(t * logs) / (a.size // a.shape[-1])
    label = np.asarray(t).astype(int)
    counts = label != ignore_index
    chosen = jnp.take_along_axis(logs, jnp.asarray(np.where(counts, label, 0))[..., None], axis=-1)[..., 0]
    return -jnp.sum(jnp.where(counts, chosen, 0.0)) / counts.sum()


@op("bce_with_logits")
def _(cx, a, t):
    return jnp.mean(jnp.maximum(a, 0) - a * t + jnp.log1p(jnp.exp(-jnp.abs(a))))


@op("mse_loss")
def _(cx, a, b):
    return jnp.mean((a - b) ** 2)


# ---- shape ----

@op("concat")
def _(cx, *parts, axis=0):
    return jnp.concatenate(parts, axis=axis)


@op("pad")
def _(cx, a, before=0, after=0, value=0.0):
    every = lambda n: [n] * a.ndim if isinstance(n, int) else n
    return jnp.pad(a, list(zip(every(before), every(after))), constant_values=value)


@op("broadcast_to")
def _(cx, a, like=None, shape=None):
    shape = shape if shape is not None else like
    return jnp.broadcast_to(a, shape.shape if hasattr(shape, "shape") else tuple(shape))


@op("expand_dims")
def _(cx, a, axis):
    return jnp.expand_dims(a, axis)


@op("squeeze")
def _(cx, a, axis=None):
    return jnp.squeeze(a, axis_or(axis))


def axis_or(axis):
    return axes_of(axis)


@op("flatten")
def _(cx, a, start=0, end=-1):
    start, end = start % a.ndim, end % a.ndim
    return a.reshape(a.shape[:start] + (-1,) + a.shape[end + 1 :])


@op("repeat_interleave")
def _(cx, a, repeats, axis=None):
    return jnp.repeat(a, repeats, axis=axis)


@op("roll")
def _(cx, a, shift, axis=None):
    return jnp.roll(a, shift, axis)


def triangle(keep):
    def f(cx, a, *args, **kw):
        i, j = np.indices(a.shape[-2:])
        return jnp.where(keep(i, j, *args, **kw), a, 0.0)
    return f


op("tril")(triangle(lambda i, j, k=0: j <= i + k))
op("triu")(triangle(lambda i, j, k=0: j >= i + k))
op("diag_mask_zero")(triangle(lambda i, j, n_past=0: j <= n_past + i))
TRIANGLES = {
    "lower": lambda i, j: j < i,
    "lower_diag": lambda i, j: j <= i,
    "upper": lambda i, j: j > i,
    "upper_diag": lambda i, j: j >= i,
}
op("tri")(triangle(lambda i, j, kind: TRIANGLES[kind](i, j)))


@op("diag_mask_inf")
def _(cx, a, n_past=0):
    i, j = np.indices(a.shape[-2:])
    return jnp.where(j > n_past + i, -jnp.inf, a)


@op("fill")
def _(cx, a, value):
    return jnp.full(a.shape, value)


@op("diag")
def _(cx, a):
    # ggml's DIAG takes one row a matrix.
    row = a[..., 0, :] if cx.rules != "numpy" and (a.ndim > 2 or a.ndim == 2 and a.shape[0] == 1) else a
    return row[..., None] * jnp.eye(row.shape[-1])


@op("diagonal")
def _(cx, a):
    return jnp.diagonal(a, axis1=-2, axis2=-1)


def window(a, b, start, stop, step, axis, nb1, nb2, nb3, offset):
    """The flat places in `a` of the elements of `b`: by axes, or by ggml's byte strides of f32."""
    flat = np.arange(a.size).reshape(a.shape)
    if nb1 is not None or offset is not None:
        shape = (1,) * (4 - b.ndim) + b.shape
        i3, i2, i1, i0 = np.indices(shape)
        packed = np.array(a.strides if hasattr(a, "strides") else flat.strides)[::-1]
        at = (offset or 0) // 4 + i0 + i1 * ((nb1 or packed[1]) // 4)
        at = at + i2 * ((nb2 or 0) // 4) + i3 * ((nb3 or 0) // 4)
        return at.reshape(b.shape)
    every = lambda x: None if x is None else list(np.atleast_1d(x))
    start, stop, step = every(start), every(stop), every(step)
    n = max(len(x) for x in (start, stop, step) if x is not None)
    axes = list(range(n)) if axis is None else list(np.atleast_1d(axis))
    index = [slice(None)] * a.ndim
    for k, x in enumerate(axes):
        pick = lambda v: None if v is None else int(v[k])
        index[x] = slice(pick(start), pick(stop), pick(step))
    return flat[tuple(index)]


@op("set_slice")
def _(cx, a, b, start=None, stop=None, step=None, axis=None, nb1=None, nb2=None, nb3=None, offset=None):
    at = window(a, b, start, stop, step, axis, nb1, nb2, nb3, offset)
    return a.ravel().at[at].set(jnp.broadcast_to(b, at.shape)).reshape(a.shape)


@op("add_slice", "acc")
def _(cx, a, b, start=None, stop=None, step=None, axis=None, nb1=None, nb2=None, nb3=None, offset=None):
    at = window(a, b, start, stop, step, axis, nb1, nb2, nb3, offset)
    return a.ravel().at[at].add(jnp.broadcast_to(b, at.shape)).reshape(a.shape)


def strided(shape, strides, offset):
    return offset + sum(i * s for i, s in zip(np.indices(shape), strides))


@op("as_strided")
def _(cx, a, shape, strides, offset=0):
    return a.ravel()[strided([int(d) for d in shape], strides, offset)]


@op("as_strided_back")
def _(cx, a, shape, strides, offset=0, of=None, last=False):
    n = int(np.prod(of))
    return jnp.zeros(n).at[strided([int(d) for d in shape], strides, offset)].add(a).reshape(of)


# ---- picking and scattering: written out, so that the last of two writes wins ----

def whole(x):
    return np.asarray(x).astype(int)


@op("get_rows")
def _(cx, a, i, fill_value=None):
    at = whole(i)
    for _ in range(a.ndim - 2 - (at.ndim - 1)):
        at = at[None]
    return jnp.take_along_axis(a, jnp.asarray(at)[..., None], axis=-2)


def adjoint(f, shape):
    """The transpose of a linear function, applied."""
    return lambda y: jax.linear_transpose(f, jax.ShapeDtypeStruct(tuple(int(d) for d in shape), jnp.float64))(y)[0]


@op("get_rows_back")
def _(cx, a, i, shape):
    return adjoint(lambda x: OPS["get_rows"](cx, x, i), shape)(a)


def put_rows(a, b, i):
    at = np.broadcast_to(whole(i), a.shape[:-2] + (b.shape[-2],))
    for batch in np.ndindex(*a.shape[:-2]):
        for n in range(b.shape[-2]):
            a = a.at[(*batch, at[(*batch, n)])].set(b[(*batch, n)])
    return a


@op("set_rows")
def _(cx, a, b, i):
    return put_rows(a, b, i)


@op("set_rows_back")
def _(cx, a, i, shape):
    return adjoint(lambda b: put_rows(jnp.zeros(a.shape), b, i), shape)(a)


@op("gather")
def _(cx, a, i, axis=-1, fill_value=None):
    # As torch has it: an index that is smaller along the other axes leaves the rest of them out.
    at, axis = jax.lax.stop_gradient(i).astype(int), axis % a.ndim
    part = a[tuple(slice(None) if x == axis else slice(n) for x, n in enumerate(at.shape))]
    return jnp.take_along_axis(part, at % a.shape[axis], axis=axis)


def along(a, i, c, axis, write):
    at, axis = whole(i), axis % a.ndim
    for place in np.ndindex(*at.shape):
        k = at[place] + (a.shape[axis] if at[place] < 0 else 0)
        if 0 <= k < a.shape[axis]:
            a = write(a.at[tuple(k if x == axis else p for x, p in enumerate(place))], c[place])
    return a


@op("scatter_add")
def _(cx, a, i, c, axis=-1):
    return along(a, i, c, axis, lambda at, x: at.add(x))


@op("put_along_axis")
def _(cx, a, i, c, axis=-1):
    return along(a, i, c, axis, lambda at, x: at.set(x))


@op("put_along_axis_back")
def _(cx, a, i, axis=-1):
    return adjoint(lambda c: along(jnp.zeros(a.shape), i, c, axis, lambda at, x: at.set(x)), i.shape)(a)


@op("take")
def _(cx, a, i, axis=None, fill_value=None):
    return jnp.take(a, jnp.asarray(whole(i)), axis=axis, mode="wrap")


@op("take_back")
def _(cx, a, i, axis=None, shape=None):
    return adjoint(lambda x: OPS["take"](cx, x, i, axis), shape)(a)


@op("add_id")
def _(cx, a, b, i):
    return a + b[whole(i)]


@op("mul_mat_id")
def _(cx, a, b, i, fill_value=None):
    at = whole(i)
    row = lambda t, e: a[at[t, e]] @ b[t, e % b.shape[1]]
    return jnp.stack([jnp.stack([row(t, e) for e in range(at.shape[1])]) for t in range(at.shape[0])])


@op("mul_mat_id_back")
def _(cx, a, b, i, shape):
    return adjoint(lambda w: OPS["mul_mat_id"](cx, w, b, i), shape)(a)


@op("argsort")
def _(cx, a, axis=-1, descending=False):
    a = jax.lax.stop_gradient(a)
    return jnp.argsort(a, axis=axis, descending=descending) * 1.0


@op("top_k")
def _(cx, a, k, axis=-1):
    order = jnp.argsort(jax.lax.stop_gradient(a), axis=axis, descending=True)
    return jax.lax.slice_in_dim(order, 0, k, axis=axis % a.ndim) * 1.0


@op("one_hot")
def _(cx, i, n):
    return jax.nn.one_hot(jnp.asarray(whole(i)), n)


# ---- products ----

@op("out_prod")
def _(cx, a, b):
    rank = max(a.ndim, b.ndim, 2)
    a, b = align(a, rank), align(b, rank)
    for axis in range(rank - 2):
        a = jnp.repeat(a, b.shape[axis] // a.shape[axis], axis=axis)
    return jnp.swapaxes(b, -1, -2) @ a


@op("einsum")
def _(cx, spec, *parts):
    return jnp.einsum(spec, *parts)


@op("solve_tri")
def _(cx, a, b, lower=True, unit=False):
    solve = lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=lower, unit_diagonal=unit)
    for _ in range(a.ndim - 2):
        solve = jax.vmap(solve)
    return solve(a, b)


@op("outer")
def _(cx, a, b):
    return jnp.outer(a, b)


@op("vecdot")
def _(cx, a, b, axis=-1):
    return jnp.sum(a * stretch(cx, a, b)[1], axis=axis)


# ---- images ----

def two(x):
    return [x, x] if isinstance(x, int) else list(x)


def cut(image, kernel, stride, padding, dilation, value=0.0):
    """Patches of [N, C, H, W]: [N, OH, OW, C, KH, KW]."""
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = kernel, stride, padding, dilation
    x = jnp.pad(image, [(0, 0), (0, 0), (ph, ph), (pw, pw)], constant_values=value)
    oh, ow = (x.shape[2] - dh * (kh - 1) - 1) // sh + 1, (x.shape[3] - dw * (kw - 1) - 1) // sw + 1
    rows = np.arange(oh)[:, None] * sh + np.arange(kh) * dh
    cols = np.arange(ow)[:, None] * sw + np.arange(kw) * dw
    return jnp.transpose(x[:, :, rows][:, :, :, :, cols], (0, 2, 4, 1, 3, 5))


def as_image(x, flat):
    """[.., C, L] as [N, C, 1, L], or [.., C, H, W] as [N, C, H, W]."""
    x = x[..., None, :] if flat else x
    return x.reshape((1,) * (4 - x.ndim) + x.shape) if x.ndim < 4 else x


def convolved(kernel, image, stride, padding, dilation, flat):
    one = lambda n, first: [first, n] if flat and isinstance(n, int) else two(n)
    k = kernel[..., None, :] if flat else kernel
    x = as_image(image, flat)
    y = jax.lax.conv_general_dilated(
        x, k, one(stride, 1), [(p, p) for p in one(padding, 0)], rhs_dilation=one(dilation, 1)
    )
    y = y[..., 0, :] if flat else y
    return y if image.ndim == (3 if flat else 4) else y[0]


@op("conv_2d")
def _(cx, k, x, stride=1, padding=0, dilation=1):
    return convolved(k, x, stride, padding, dilation, False)


@op("conv2d")
def _(cx, x, k, stride=1, padding=0, dilation=1):
    return convolved(k, x, stride, padding, dilation, False)


@op("conv_1d")
def _(cx, k, x, stride=1, padding=0, dilation=1):
    return convolved(k, x, stride, padding, dilation, True)


@op("conv1d")
def _(cx, x, k, stride=1, padding=0, dilation=1):
    return convolved(k, x, stride, padding, dilation, True)


@op("im2col")
def _(cx, k, x, stride=1, padding=0, dilation=1):
    flat = k.ndim == 3
    one = lambda n, first: [first, n] if flat and isinstance(n, int) else two(n)
    kernel = [1, k.shape[-1]] if flat else list(k.shape[-2:])
    y = cut(as_image(x, flat), kernel, one(stride, 1), one(padding, 0), one(dilation, 1))
    y = y.reshape(y.shape[:3] + (-1,))
    y = y[:, 0] if flat else y
    return y if x.ndim == (3 if flat else 4) else y[0]


@op("patches")
def _(cx, x, kernel, stride=1, padding=0, dilation=1, value=0.0):
    flat = isinstance(kernel, int) or len(kernel) == 1
    one = lambda n, first: [first, *np.atleast_1d(n).tolist()] if flat else two(n)
    y = cut(as_image(x, flat), one(kernel, 1), one(stride, 1), one(padding, 0), one(dilation, 1), value)
    y = y.reshape(y.shape[:3] + (-1,))
    y = y[:, 0] if flat else y
    return y if x.ndim == (3 if flat else 4) else y[0]


@op("patches_back")
def _(cx, a, kernel, stride=1, padding=0, dilation=1, shape=None):
    return adjoint(lambda x: OPS["patches"](cx, x, kernel, stride, padding, dilation), shape)(a)


def pooled(x, kernel, stride, padding, flat, average):
    one = lambda n, first: [first, *np.atleast_1d(n).tolist()] if flat else two(n)
    kernel = one(kernel, 1)
    stride = kernel if stride is None else one(stride, 1)
    value = 0.0 if average else -1e30
    y = cut(as_image(x, flat), kernel, stride, one(padding, 0), [1, 1], value)
    y = jnp.mean(y, axis=(-1, -2)) if average else jnp.max(y, axis=(-1, -2))
    y = jnp.transpose(y, (0, 3, 1, 2))
    y = y[..., 0, :] if flat else y
    want = x.ndim
    while y.ndim > want:
        y = y[0]
    return y


@op("max_pool_2d")
def _(cx, x, kernel, stride=None, padding=0):
    return pooled(x, kernel, stride, padding, False, False)


@op("avg_pool_2d")
def _(cx, x, kernel, stride=None, padding=0):
    return pooled(x, kernel, stride, padding, False, True)


@op("max_pool_1d")
def _(cx, x, kernel, stride=None, padding=0):
    return pooled(x, kernel, stride, padding, True, False)


@op("avg_pool_1d")
def _(cx, x, kernel, stride=None, padding=0):
    return pooled(x, kernel, stride, padding, True, True)


def shares_of(n_in, n_out, mode, corners):
    """What each result reads of each input, along one axis."""
    m = np.zeros((n_out, n_in))
    for o in range(n_out):
        if mode != "bilinear":
            m[o, min(int(o * n_in / n_out), n_in - 1)] = 1
            continue
        at = o * (n_in - 1) / max(n_out - 1, 1) if corners else (o + 0.5) * n_in / n_out - 0.5
        at = min(max(at, 0.0), n_in - 1)
        low = int(np.floor(at))
        high = min(low + 1, n_in - 1)
        m[o, low] += 1 - (at - low)
        m[o, high] += at - low
    return jnp.asarray(m)


@op("upscale")
def _(cx, a, factor=None, size=None, mode="nearest", align_corners=False):
    h, w = size if size is not None else (a.shape[-2] * factor, a.shape[-1] * factor)
    rows, cols = shares_of(a.shape[-2], int(h), mode, align_corners), shares_of(a.shape[-1], int(w), mode, align_corners)
    return rows @ a @ cols.T


@op("upscale_back")
def _(cx, a, factor=None, size=None, mode="nearest", align_corners=False, shape=None):
    return adjoint(lambda x: OPS["upscale"](cx, x, factor, size, mode, align_corners), shape)(a)


# ---- rotations and recurrences ----

@op("rope")
def _(cx, a, pos, factors=None, n_dims=None, mode="normal", base=10000.0, freq_scale=1.0, ext_factor=0.0,
      attn_factor=1.0, beta_fast=32.0, beta_slow=1.0, n_ctx_orig=4096.0, n_offs=0, sections=None, sign=1.0):
    vision = mode == "vision"
    n = (a.shape[-1] // (2 if vision else 1)) if n_dims is None else n_dims
    half = n if vision else n // 2
    pairs = np.arange(half)
    if sections is None:
        theta = np.asarray(pos, np.float64)[:, None] * base ** (-2.0 * pairs / n)
    else:
        # Four positions a token: which of them a pair turns by, and how far into its section it lies.
        streams = np.asarray(pos, np.float64).reshape(4, -1)
        ends = np.cumsum(sections)
        at = pairs % ends[-1]
        if mode == "imrope":
            whose = np.where(at < 3 * np.asarray(sections)[at % 3], at % 3, 3)
        else:
            whose = np.searchsorted(ends, at, side="right")
        power = at - np.concatenate([[0], ends])[whose] if vision else pairs
        theta = streams[whose].T * base ** (-2.0 * power / n)
    extrap = jnp.asarray(theta) / (1.0 if factors is None else factors[:half])
    angle, size = freq_scale * extrap, attn_factor
    if ext_factor:
        dim = lambda beta: n * np.log(n_ctx_orig / (beta * 2 * np.pi)) / (2 * np.log(base))
        low, high = max(0.0, np.floor(dim(beta_fast))), min(n - 1.0, np.ceil(dim(beta_slow)))
        ramp = 1 - np.clip((pairs - low) / max(0.001, high - low), 0, 1)
        mix = ramp * ext_factor
        angle = angle * (1 - mix) + extrap * mix
        size = size * (1 + 0.1 * np.log(1 / freq_scale))
    shape = (-1,) + (1,) * (1 if a.ndim >= 3 else 0) + (half,)
    cos, sin = (size * jnp.cos(angle)).reshape(shape), (sign * size * jnp.sin(angle)).reshape(shape)
    n = 2 * half
    body = a[..., n_offs : n_offs + n]
    if mode != "normal":
        x, y = body[..., :half], body[..., half:]
        turned = jnp.concatenate([x * cos - y * sin, x * sin + y * cos], axis=-1)
    else:
        x, y = body[..., ::2], body[..., 1::2]
        turned = jnp.stack([x * cos - y * sin, x * sin + y * cos], axis=-1).reshape(body.shape)
    return jnp.concatenate([a[..., :n_offs], turned, a[..., n_offs + n :]], axis=-1)


@op("rope_back")
def _(cx, a, *args, **kw):
    return OPS["rope"](cx, a, *args, **kw, sign=-1.0)


def sent_back(f, x, g):
    """What f at x sends back for the gradient g."""
    return jax.vjp(f, x)[1](g)[0]


@op("silu_back")
def _(cx, g, x):
    return sent_back(lambda x: x / (1 + jnp.exp(-x)), x, g)


@op("rms_norm_back")
def _(cx, g, x, eps=1e-6):
    return sent_back(lambda x: OPS["rms_norm"](cx, x, eps), x, g)


@op("soft_max_back")
def _(cx, g, p, scale=1.0):
    # From the shares alone: softmax is not asked, since they need not add up to 1.
    n = p.shape[-1]
    slopes = p[..., :, None] * (jnp.eye(n) - p[..., None, :])
    return scale * jnp.einsum("...ij,...j->...i", slopes, g)


@op("win_part")
def _(cx, a, size):
    h, w, c = a.shape
    a = jnp.pad(a, ((0, -h % size), (0, -w % size), (0, 0)))
    a = a.reshape(a.shape[0] // size, size, a.shape[1] // size, size, c)
    return jnp.transpose(a, (0, 2, 1, 3, 4)).reshape(-1, size, size, c)


@op("win_unpart")
def _(cx, a, width, height, size):
    down, across = -(-height // size), -(-width // size)
    a = a.reshape(down, across, size, size, a.shape[-1])
    a = jnp.transpose(a, (0, 2, 1, 3, 4)).reshape(down * size, across * size, -1)
    return a[:height, :width]


@op("mul_mat_hadamard")
def _(cx, a, b):
    h = np.ones((1, 1))
    while len(h) < b.shape[-1]:
        h = np.block([[h, h], [h, -h]])
    return b @ jnp.asarray(h) / np.sqrt(len(h))


@op("im2col_3d")
def _(cx, k, x, channels=1, stride=1, padding=0, dilation=1):
    three = lambda n: [n] * 3 if isinstance(n, int) else n
    stride, padding, dilation = three(stride), three(padding), three(dilation)
    x = x.reshape((-1, channels) + x.shape[1:])
    y = jax.lax.conv_general_dilated_patches(
        x, k.shape[1:], stride, [(p, p) for p in padding], rhs_dilation=dilation)
    y = jnp.moveaxis(y, 1, -1)
    return y.reshape((-1,) + y.shape[2:])


@op("im2col_3d_back")
def _(cx, k, p, channels=1, stride=1, padding=0, dilation=1, shape=None):
    return adjoint(lambda x: OPS["im2col_3d"](cx, k, x, channels, stride, padding, dilation), shape)(p)


@op("pool_2d")
def _(cx, x, op, kernel, stride=None, padding=0):
    return pooled(x, kernel, stride, padding, False, op == "avg")


@op("pool_1d")
def _(cx, x, op, kernel, stride=None, padding=0):
    return pooled(x, kernel, stride, padding, True, op == "avg")


@op("gated_delta_step")
def _(cx, s, k, v, d, b):
    decay = jnp.exp(d)
    s = s * (decay[..., None] if d.ndim and d.shape == k.shape else decay.reshape(decay.shape + (1,) * (s.ndim - d.ndim)))
    read = jnp.einsum("...kv,...k->...v", s, k)
    delta = (b[..., None] if b.ndim else b) * (v - read)
    return s + k[..., :, None] * delta[..., None, :]


# ---- expressions -------------------------------------------------------------------------------------------------

SIGNS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.MatMult: "matmul",
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal",
    ast.Eq: "equal", ast.NotEq: "not_equal",
}


def pythonic(text):
    """The few places where .fold is not Python."""
    text = text.replace("^", "**")
    text = re.sub(r"\b(\w+)!\(", r"\1(", text)
    return re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", text))


class Case:
    def __init__(self, rules):
        self.rules = rules
        self.env = {}

    def tensor(self, x, like=None):
        """A number beside a tensor takes the shape it meets; both it and a list are stored as f32."""
        if isinstance(x, (int, float)):
            return jnp.full(() if like is None else like.shape, stored(x, "f32"))
        return jnp.asarray(stored(x, "f32")) if isinstance(x, list) else x

    def apply(self, name, args):
        like = next((a for a in args if hasattr(a, "shape")), None)
        return OPS[name](self, *[self.tensor(a, like) for a in args])

    def eval(self, node):
        match node:
            case ast.Name(id=name):
                words = {"inf": np.inf, "nan": np.nan} | {word: word for word in F32_TYPES}
                return self.env[name] if name in self.env else words[name]
            case ast.Constant(value=value):
                return value
            case ast.List(elts=items):
                return [self.eval(i) for i in items]
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                x = self.eval(inner)
                return -x if isinstance(x, (int, float)) else self.apply("neg", [x])
            case ast.BinOp(left=left, op=sign, right=right):
                a, b = self.eval(left), self.eval(right)
                if isinstance(a, (int, float)) and isinstance(b, (int, float)):
                    return number(node)
                return self.apply(SIGNS[type(sign)], [a, b])
            case ast.Compare(left=left, ops=[sign], comparators=[right]):
                return self.apply(SIGNS[type(sign)], [self.eval(left), self.eval(right)])
            case ast.Attribute(value=of, attr="T"):
                return OPS["transpose"](self, self.eval(of))
            case ast.Subscript(value=of, slice=index):
                return self.eval(of)[self.index(index)]
            case ast.Call(func=ast.Attribute(value=of, attr=name), args=args, keywords=kw):
                return self.call(name, [of, *args], kw)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=kw):
                return self.call(name, args, kw)
        raise SystemExit(f"cannot read {ast.dump(node)}")

    def call(self, name, args, keywords):
        given = [self.eval(a) for a in args]
        attrs = {k.arg: self.eval(k.value) for k in keywords}
        # The first argument is always a tensor, and so are further numbers of ops of several operands.
        like = next((a for a in given if hasattr(a, "shape")), None)
        many = name in ("where", "stack", "maximum", "minimum") or name in SIGNS.values()
        given = [self.tensor(a, like) if ix == 0 or many else a for ix, a in enumerate(given)]
        return OPS[name](self, *given, **attrs)

    def index(self, node):
        def item(n):
            match n:
                case ast.Name(id="_"):
                    return None
                case ast.Slice(lower=lo, upper=hi, step=st):
                    whole = lambda x: None if x is None else int(number(x))
                    return slice(whole(lo), whole(hi), whole(st))
                case ast.Constant(value=v) if v is ...:
                    return ...
                case _:
                    return int(number(n))
        return tuple(item(n) for n in (node.elts if isinstance(node, ast.Tuple) else [node]))


# ---- cases -------------------------------------------------------------------------------------------------------

LEAF = re.compile(r"^(param|const)\s+(\w+)\s*(\[[^\]]*\])?\s*(f32|f16|i32|bool)?\s*=\s*(.*)$")
ASSIGN = re.compile(r"^(\w+)\s*=\s*(.*)$")


def parts(text):
    """Names of the trainable leaves, their values, and the program as a function of them."""
    leaves, lines = {}, []
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if not line or line.startswith(("rules", "check", "train", "backward", "layout")):
            continue
        if m := LEAF.match(line):
            role, name, shape, dtype, value = m.groups()
            dims = None if shape is None else tuple(int(d.split()[0]) for d in shape[1:-1].split(",") if d.strip())
            leaves[name] = (role, leaf(value, dims, dtype or "f32"))
        elif m := ASSIGN.match(line):
            lines.append((m[1], ast.parse(pythonic(m[2]), mode="eval").body))
        else:
            raise SystemExit(f"cannot read the line {line!r}")
    return leaves, lines


def solve(text, rules):
    leaves, lines = parts(text)
    params = {n: v for n, (role, v) in leaves.items() if role == "param"}

    def program(params):
        case = Case(rules)
        case.env = {n: v for n, (_, v) in leaves.items()} | params
        for name, expr in lines:
            case.env[name] = case.tensor(case.eval(expr))
        return case.env["y"]

    y, back = jax.vjp(program, params)
    cotangent = stored(COTANGENT["lo"] + (COTANGENT["hi"] - COTANGENT["lo"]) * uniform(COTANGENT["seed"], y.size), "f32")
    (grads,) = back(jnp.asarray(cotangent).reshape(y.shape).astype(y.dtype))
    show = lambda x: {"shape": list(x.shape), "values": [plain(v) for v in np.asarray(x, np.float64).ravel()]}
    return {"y": show(y), "grads": {n: show(g) for n, g in grads.items()}}


def plain(x):
    return float(x) if np.isfinite(x) else str(float(x))


def cases(text):
    for block in re.split(r"^#= ", text, flags=re.M)[1:]:
        head, body = block.split("\n", 1)
        name, _, rules = head.partition(":")
        yield name.strip(), rules.split() or ["ggml", "numpy"], body


def main():
    wanted = sys.argv[1:]
    for path in sorted((HERE / "cases").glob("*.fold")):
        if wanted and path.stem not in wanted:
            continue
        out, seen, wrong = [], set(), []
        for name, sets, body in cases(path.read_text()):
            if name in seen:
                raise SystemExit(f"{path.stem}: two cases are called {name!r}")
            seen.add(name)
            for rules in sets:
                try:
                    out.append({"case": name, "rules": rules, **solve(body, rules)})
                except Exception as error:
                    wrong.append(f"{path.stem}: {name} ({rules}): {type(error).__name__}: {str(error)[:200]}")
        if wrong:
            raise SystemExit("\n".join(wrong))
        versions = f"jax {jax.__version__}, numpy {np.__version__}, Python {sys.version.split()[0]}"
        head = {"command": COMMAND, "versions": versions, "precision": "float64", "cotangent": COTANGENT}
        rows = ",\n".join(json.dumps(c, separators=(",", ":")) for c in out)
        path_out = HERE / f"{path.stem}.json"
        path_out.write_text(f'{{"made_by":{json.dumps(head)},\n"cases":[\n{rows}\n]}}\n')
        print(f"{path_out.name}: {len(out)} results")


if __name__ == "__main__":
    main()
