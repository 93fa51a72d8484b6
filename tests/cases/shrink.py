#!/usr/bin/env python3
"""Shrinks a list of gradient cases (columns `op` and `shapes_params`) to what a test runs in seconds.

    python3 shrink.py ggml-grad-cases.csv > grad-cases.txt

Extents become 1, 2 or 3, counts and kernels stay as they are, equal rows are joined. A line of the result is
`OP<TAB>parameters<TAB>how many rows of the list it stands for`.
"""
import csv
import re
import sys

DROPPED = {"type", "type_input", "type_kernel", "dst_type", "type_src", "type_dst", "type_a", "type_b", "m_prec", "nf"}
SHAPES = {"ne", "ne_a", "ne_b", "ne_src", "ne_lhs", "ne_rhs"}


def small(e):
    return e if e <= 2 else 2 + e % 2


def shrink(op, params):
    out = {}
    for key, value in params:
        if key in DROPPED:
            continue
        numbers = [int(x) for x in value.strip("[]").split(",")] if value.startswith("[") else None
        if key in SHAPES:
            numbers = [small(e) for e in numbers]
        if op.startswith("MUL_MAT") and key in ("m", "n", "k"):
            value = str(small(int(value)))
        if key in ("bs", "nr", "nr23") and numbers:
            numbers = [min(e, 2) for e in numbers]
        out[key] = "[" + ",".join(map(str, numbers)) + "]" if numbers else value
    ints = {k: [int(x) for x in v.strip("[]").split(",")] for k, v in out.items() if v.startswith("[")}

    def put(key, numbers):
        out[key] = "[" + ",".join(map(str, numbers)) + "]"

    if op == "GET_ROWS":
        out["n"], out["m"], out["r"] = (str(min(int(out[k]), 3)) for k in "nmr")
    if op in ("IM2COL", "POOL_1D", "POOL_2D", "IM2COL_3D"):
        num = lambda k, d=0: int(out.get(k, d))
        kernel = ints.get("ne_kernel") or [num("k0", 1), num("k1", 1)]
        image = ints["ne_input"]
        axes = 2 if num("is_2D", 1 if op == "POOL_2D" else 0) else 1
        if op == "IM2COL":
            kernel = [min(k, 3) for k in kernel[:axes]] + [min(k, 2) for k in kernel[axes:]]
            put("ne_kernel", kernel)
        for ax in range(4):
            reach = num(f"d{ax}", 1) * (kernel[ax] - 1) + 1 - 2 * num(f"p{ax}") if ax < axes else 0
            image[ax] = min(image[ax], max(reach, 4)) if ax < axes else min(image[ax], 2)
        if op == "IM2COL":
            image[axes] = kernel[axes]
        put("ne_input", image)
    if op == "ROPE":
        d, n = ints["ne_a"][0], int(out["n_dims"])
        full = n == params_int(params, "ne_a")[0]
        dims, width = (4, 4) if full else (4, 8)
        put("ne_a", [width] + [min(e, 2) for e in params_int(params, "ne_a")[1:]])
        out["n_dims"] = str(dims)
        out["n_offs"] = "2" if int(out.get("n_offs", 0)) else "0"
        out["n_ctx"] = "16"
    if op == "ACC":
        a, b = params_int(params, "ne_a"), params_int(params, "ne_b")
        put("ne_a", [3 if x != y else 2 for x, y in zip(a, b)])
        put("ne_b", [2] * 4)
        put("ne_a", [3 if x != y else 2 for x, y in zip(a, b)][:2] + [min(e, 2) for e in a[2:]])
        put("ne_b", [2, 2] + [min(e, 2) for e in b[2:]])
    return ";".join(f"{k}={v}" for k, v in out.items())


def params_int(params, key):
    return [int(x) for x in dict(params)[key].strip("[]").split(",")]


def main():
    counts = {}
    for row in csv.DictReader(open(sys.argv[1])):
        params = []
        for part in re.findall(r"(\w+)=(\[[^\]]*\]|[^,]*)|(\bsplit\b)", row["shapes_params"]):
            params.append(("split", "1") if part[2] else (part[0], part[1]))
        key = (row["op"], shrink(row["op"], params))
        counts[key] = counts.get(key, 0) + 1
    for (op, params), n in counts.items():
        print(f"{op}\t{params}\t{n}")


main()
