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
F32_TYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "bool": np.bool_}


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


@op("softmax")
def _(cx, a, axis=-1):
    return jax.nn.softmax(a, axis=axis)


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
                return self.env[name] if name in self.env else {"inf": np.inf, "nan": np.nan}[name]
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
        many = name in ("where", "stack") or name in SIGNS.values()
        given = [self.tensor(a, like) if ix == 0 or many or isinstance(a, list) else a for ix, a in enumerate(given)]
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
        out, seen = [], set()
        for name, sets, body in cases(path.read_text()):
            if name in seen:
                raise SystemExit(f"{path.stem}: two cases are called {name!r}")
            seen.add(name)
            for rules in sets:
                try:
                    out.append({"case": name, "rules": rules, **solve(body, rules)})
                except Exception as error:
                    raise SystemExit(f"{path.stem}: {name} ({rules}): {error}") from error
        versions = f"jax {jax.__version__}, numpy {np.__version__}, Python {sys.version.split()[0]}"
        head = {"command": COMMAND, "versions": versions, "precision": "float64", "cotangent": COTANGENT}
        rows = ",\n".join(json.dumps(c, separators=(",", ":")) for c in out)
        path_out = HERE / f"{path.stem}.json"
        path_out.write_text(f'{{"made_by":{json.dumps(head)},\n"cases":[\n{rows}\n]}}\n')
        print(f"{path_out.name}: {len(out)} results")


if __name__ == "__main__":
    main()
