#!/usr/bin/env python3
"""Writes the time file that AICB's --aiob_enable would, from an operator table.

Usage: write_aiob.py --table FILE --config config.json --tokens 4096 --tp 8 \\
           --parameters 3500000000 --out FILE

AICB adds up sections: "layernorm" and all with "atten" in their name are the
attention part, "layernorm2" and all with "mlp" the feed-forward part. The
backward pass it takes to be as long as the forward pass; of "param_time" the
least is one part of the optimizer and the average another, and both are added.
"""

import argparse
import sys

sys.dont_write_bytecode = True  # Nothing is written but --out.

from model_shapes import (  # noqa: E402
    ADAM_BYTES, add_flags, attention_part, check_model,
    ends, expert_part, feed_forward, layout_of, model_of, norm, positive,
    residual_add)
from operator_table import ProfileError, open_text, read_table  # noqa: E402


def sections_of(model, layout, tokens):
    """Returns (name of a section, its operators) of a forward pass."""
    around = attention_part(model, layout, tokens)
    add = residual_add(model, layout, tokens)
    # A model with both plain blocks and experts: the blocks with experts.
    plain = 0 if model.experts else model.ffn
    forward = [
        *feed_forward(model, layout, tokens, plain, "ffn"),
        *feed_forward(model, layout, tokens, model.shared_ffn, "shared"),
        *expert_part(model, layout, tokens),
    ]
    at_ends = ends(model, layout, tokens)
    core = ("rope", "attention")

    def only(shapes, *operators):
        return [shape for shape in shapes if shape.operator in operators]

    down = ("ffn_down", "shared_down", "experts_down")
    up = [shape for shape in forward
          if shape.operator not in (*down, model.activation)]
    linear = [shape for shape in around
              if shape.operator not in (*core, "output_linear")]
    return [
        ("Emb", only(at_ends, "embedding")),
        ("layernorm", norm(model, layout, tokens)),
        ("atten_qkv", linear),
        ("atten_flash", only(around, *core)),
        ("atten_linear", only(around, "output_linear") + add),
        ("layernorm2", norm(model, layout, tokens)),
        ("mlp_linear_1", up),
        ("mlp_gelu", only(forward, model.activation)),
        ("mlp_linear_2", only(forward, *down) + add),
        ("layernorm_post", norm(model, layout, tokens)),
        ("logit_time", only(at_ends, "logits")),
    ]


def times_of_gpu(rows, gpu, path):
    """Returns {shape: time in us} of one GPU; a later row counts."""
    gpus = list(dict.fromkeys(row.gpu for row in rows))
    if not gpus:
        raise ProfileError(f"{path}: holds no rows")
    if gpu is None and len(gpus) > 1:
        raise ProfileError(
            f"{path}: holds {', '.join(gpus)}: choose one with --gpu"
        )
    if gpu is not None and gpu not in gpus:
        raise ProfileError(
            f'{path}: no GPU "{gpu}"; it holds {", ".join(gpus)}'
        )
    chosen = gpu or gpus[0]
    return {row.shape: row.time_us for row in rows if row.gpu == chosen}


def time_of(shape, times, path):
    if shape not in times:
        raise ProfileError(
            f"{path}: no {shape}: measure it with profile_operators and the "
            "same flags"
        )
    return times[shape]


def optimizer_us(parameters, times, path):
    """Returns the time of Adam, in proportion to the largest one measured."""
    found = [(shape.bytes, time_us) for shape, time_us in times.items()
             if shape.operator == "adam"]
    if not found:
        raise ProfileError(f"{path}: no adam")
    moved, time_us = max(found)
    return time_us * parameters * ADAM_BYTES / moved


def section(name, time_us):
    """Returns the lines of a section. A table holds one time: the median."""
    keys = ("time_gpu_max", "time_gpu_min", "time_gpu_avg")
    return f"{name}:\n" + "".join(
        f"    {key}: {time_us:.3f}\n" for key in keys)


def write(options):
    model, layout = model_of(options), layout_of(options)
    if len(options.tokens) > 1:
        raise ProfileError("--tokens: an AIOB file is of one number of tokens")
    check_model(model, layout)
    times = times_of_gpu(read_table(options.table), options.gpu, options.table)
    text = f"train_iter:{options.train_iter}\n"
    for name, shapes in sections_of(model, layout, options.tokens[0]):
        text += section(name, sum(
            time_of(shape, times, options.table) for shape in shapes))
    # AICB adds the least and the average, which are the same here.
    text += section("param_time", optimizer_us(
        options.parameters, times, options.table) / 2)
    with open_text(options.out, "w") as file:
        file.write(text)


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="write_aiob", allow_abbrev=False,
        description="Writes AICB's time file from an operator table.")
    add_flags(parser)
    parser.add_argument("--table", required=True, metavar="FILE",
                        help="what profile_operators wrote")
    parser.add_argument("--parameters", type=positive, required=True,
                        metavar="N", help="that the optimizer of one GPU "
                        "updates")
    parser.add_argument("--gpu", metavar="NAME",
                        help="which one, where the table holds several")
    parser.add_argument("--train-iter", type=positive, default=50, metavar="N",
                        help="runs of each, for the first line (default 50)")
    parser.add_argument("--out", required=True, metavar="FILE",
                        help="file to write; one that exists is replaced")
    options = parser.parse_args(arguments)
    options.forward_only = True  # What the file holds.
    try:
        write(options)
    except ProfileError as error:
        print(f"write_aiob: {error}", file=sys.stderr)
        return 2
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
