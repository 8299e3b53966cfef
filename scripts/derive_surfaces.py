#!/usr/bin/env python3
"""Derives inputs/kernels from tables of measured kernel times.

  scripts/derive_surfaces.py TABLES [-o inputs/kernels]

TABLES holds a folder for each GPU with files FAMILY_BACKEND.csv.gz, as
docs/formats/measured-operators.md describes them. Each file becomes
GPU_FAMILY_BACKEND.txt, in the form that inputs/kernels/README.md describes: times as natural logarithms of
microseconds in steps of 0.01, each written as its difference from what the
points beside it say.
"""

import argparse
import collections
import csv
import gzip
import math
import pathlib
import shutil

STEP = 0.01
SPIKE = 1.5
GPUS = {"a100_sxm": "a100-sxm-80gb", "h100_sxm": "h100-sxm",
        "b200_sxm": "b200", "l40s": "l40s"}

# Columns of a family: words, sizes of a line, axes; see families.cc.
Family = collections.namedtuple("Family", "words sizes axes")
_HEADS = ("num_heads", "num_key_value_heads", "head_dim", "window_size")
_MODULE = ("mla_dtype", "kv_cache_dtype", "gemm_type")
FAMILIES = {
    "gemm": Family(("gemm_dtype",), ("n", "k"), ("m",)),
    "context_attention": Family(("attn_dtype", "kv_cache_dtype"), _HEADS,
                                ("batch_size", "isl")),
    "generation_attention": Family(("kv_cache_dtype",), _HEADS,
                                   ("batch_size", "step")),
    "context_mla": Family(("kv_cache_dtype",), ("num_heads",),
                          ("batch_size", "isl")),
    "generation_mla": Family(("kv_cache_dtype",), ("num_heads",),
                             ("batch_size", "step")),
    "mla_context_module": Family(_MODULE, ("num_heads",),
                                 ("batch_size", "isl")),
    "mla_generation_module": Family(_MODULE, ("num_heads",),
                                    ("batch_size", "step")),
    "mla_bmm": Family(("op_name", "bmm_dtype"), ("num_heads",),
                      ("num_tokens",)),
    "moe": Family(("moe_dtype",),
                  ("hidden_size", "inter_size", "topk", "num_experts",
                   "moe_tp_size", "moe_ep_size", "matrices"),
                  ("distribution", "num_tokens")),
    "computescale": Family(("quant_dtype",), ("k",), ("m",)),
    "scale_matrix": Family(("quant_dtype",), ("k",), ("m",)),
    "gdn": Family(("kernel",), ("num_k_heads", "num_v_heads"),
                  ("batch_size", "seq_len")),
}

# Experts of two matrices (relu2, not gated): vLLM's rows do not say so. Its
# release 0.14 measured them with three.
NOT_GATED = {(2688, 1856, 6, 128), (2048, 5120, 22, 512),
             (8192, 5120, 22, 512), (4096, 2688, 22, 512),
             (1024, 2688, 22, 512), (2688, 2688, 22, 512)}
# Kernels of a gated delta net, by a part of their names.
GDN_KERNELS = (("conv1d_update", "convolution_step"),
               ("conv1d", "convolution"), ("recurrent", "recurrent"),
               ("chunk", "chunked"))


def read_rows(path):
    """Returns the source and the rows of a table, as dictionaries."""
    with gzip.open(path, "rt") as file:
        first = file.readline().lstrip("# ").rstrip()
        source, _, constants = first.partition("; the same in all rows: ")
        same = dict(item.split("=", 1)
                    for item in constants.split("; ") if "=" in item)
        return source, [{**same, **row} for row in csv.DictReader(file)]


def matrices_of(row):
    shape = tuple(int(float(row[name])) for name in
                  ("hidden_size", "inter_size", "topk", "num_experts"))
    gated_anyway = row["version"].startswith("0.14")
    is_listed = shape in NOT_GATED and not gated_anyway
    return 2 if is_listed or "nongated" in row["kernel_source"] else 3


def complete(family, row):
    """Fills in what a row does not say; see kernel_table.cc."""
    row.setdefault("window_size", "0")
    if family == "moe":
        row["matrices"] = str(matrices_of(row))
        row["distribution"] = row["distribution"].replace("balanced", "0")
        row["distribution"] = row["distribution"].replace("power_law_", "")
    if family == "gdn":
        row["kernel"] = next(name for part, name in GDN_KERNELS
                             if part in row["kernel_source"])
    if family == "context_attention" and float(
            row["num_key_value_heads"]) == 0:
        row["num_key_value_heads"] = row["num_heads"]
    return row


def percentile(values, share):
    """Returns the quantile, linear between the values."""
    values = sorted(values)
    position = share * (len(values) - 1)
    below = int(position)
    above = min(below + 1, len(values) - 1)
    return values[below] + (position - below) * (values[above] - values[below])


def written(difference):
    """Returns one character for a small difference, else three."""
    if -45 <= difference <= 45:
        return chr(80 + difference)
    value = max(0, min(8280, difference + 4140))
    return "~" + chr(35 + value // 91) + chr(35 + value % 91)


def encode(steps, previous):
    """Returns the text of a line and updates `previous`, the line above."""
    text = []
    left = above_left = 0
    for i, value in enumerate(steps):
        if value is None:
            text.append(" ")
            continue
        text.append(written(value - (left + previous[i] - above_left)))
        left, above_left, previous[i] = value, previous[i], value
    return "".join(text).rstrip()


def numbers(row, names):
    return tuple(float(row[name]) for name in names)


def number_text(value):
    return str(int(value)) if value == int(value) else f"{value:g}"


def list_text(values):
    return ",".join(number_text(value) for value in values)


def block(family, words, rows, kernels):
    """Returns the lines of one surface."""
    columns = FAMILIES[family]
    floor = 1000 * percentile([float(row["latency"]) for row in rows], 0.005)
    axes = [sorted({float(row[name]) for row in rows})
            for name in columns.axes]
    grid = {}
    lines = collections.defaultdict(dict)
    kernel_of = {}
    for first in axes[0]:
        for second in axes[1] if len(axes) > 1 else [None]:
            point = (first,) if second is None else (first, second)
            grid[point] = len(grid)
    for row in rows:
        sizes = numbers(row, columns.sizes)
        point = grid[numbers(row, columns.axes)]
        time = math.log(1000 * float(row["latency"]))
        lines[sizes].setdefault(point, []).append(time)
        kernel_of.setdefault(sizes, row["kernel_source"])
    head = f"@{'/'.join(words)};floor_us={floor:.4g}"
    for name, axis in zip(columns.axes, axes):
        head += f";{name}={list_text(axis)}"
    names = ",".join(columns.sizes) + (",kernel" if kernels else "")
    text = [f"{head};columns={names}"]
    previous = [0] * len(grid)
    for sizes in sorted(lines):
        steps = [None] * len(grid)
        for point, times in lines[sizes].items():
            steps[point] = round(sum(times) / len(times) / STEP)
        if family == "gemm":
            steps = without_start(steps, axes[0])
        kernel = [kernels.index(kernel_of[sizes])] if kernels else []
        text.append(f"{list_text([*sizes, *kernel])},"
                    f"{encode(steps, previous)}")
    return text


def without_start(steps, rows):
    """Replaces the time of one row by that of two, where it is SPIKE times it.

    One row can be padded to two. On B200 vLLM's products in FP8 take 15 us more
    with one row than with two, whatever their size: the program that measured
    them took so long to start one.
    """
    if rows[:2] == [1, 2] and None not in steps[:2]:
        if (steps[0] - steps[1]) * STEP > math.log(SPIKE):
            steps[0] = steps[1]
    return steps


def derive(path, gpu, family, backend):
    """Returns the text of one file."""
    source, rows = read_rows(path)
    rows = [complete(family, row) for row in rows if float(row["latency"]) > 0]
    surfaces = collections.defaultdict(list)
    for row in rows:
        surfaces[tuple(row[w] for w in FAMILIES[family].words)].append(row)
    kernels = sorted({row["kernel_source"] for row in rows})
    text = [
        f"# Times of kernels on {gpu}, made by scripts/derive_surfaces.py.",
        "# Source: NVIDIA AIConfigurator, github.com/ai-dynamo/aiconfigurator "
        f"at 095f58a, {source}",
        "# Licence: Apache-2.0, see LICENSE in this folder.",
        f"gpu={gpu};family={family};backend={backend}"
        + (f";kernels={','.join(kernels)}" if family == "moe" else ""),
    ]
    for words in sorted(surfaces):
        text += block(family, words, surfaces[words],
                      kernels if family == "moe" else None)
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tables", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=pathlib.Path("inputs/kernels"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    total = 0
    for folder, gpu in GPUS.items():
        for path in sorted((options.tables / folder).glob("*.csv.gz")):
            family, _, backend = path.name[:-len(".csv.gz")].rpartition("_")
            if family not in FAMILIES:
                print(f"{path.name} of {folder}: not a family of kernels")
                continue
            text = derive(path, gpu, family, backend)
            name = f"{gpu}_{family}_{backend}.txt"
            (options.output / name).write_text(text)
            total += len(text)
            print(f"{name} {len(text) / 1024:.1f} KB", flush=True)
    shutil.copy(options.tables / "LICENSE", options.output / "LICENSE")
    print(f"{total / 2**20:.2f} MB")


if __name__ == "__main__":
    main()
