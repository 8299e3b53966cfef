#!/usr/bin/env python3
"""Measures the operators of a model on a GPU and writes an operator table.

Usage: profile_operators.py --config config.json --tokens 4096 8192 --tp 8 \\
           --out FILE
       profile_operators.py --dry-run ...
"""

import argparse
import sys

sys.dont_write_bytecode = True  # Nothing is written but --out.

import gpu_kernels  # noqa: E402
import gpu_timing  # noqa: E402
from model_shapes import (  # noqa: E402
    add_flags, layout_of, model_of, positive, shapes_of)
from operator_table import (  # noqa: E402
    PEAKS, ProfileError, Row, Writer, guessed_us, open_text, peaks_of)


def dry_run(shapes, options, writer, gpu, peaks):
    """Prints what would be measured, with a guess; returns the failures."""
    print(f"{'guessed_us':>12}  shape")
    for shape in shapes:
        time_us = guessed_us(shape, peaks)
        print(f"{time_us:>12.3f}  {shape}")
        if writer:
            writer.add(Row(gpu, shape, time_us, "dry run"))
    return 0


def measure(shapes, options, writer, torch):
    """Measures each shape; returns how many could not be."""
    gpu = options.gpu or gpu_timing.short_name(
        torch.cuda.get_device_name(0))
    versions = gpu_timing.versions(torch)
    timer = gpu_timing.Timer(
        torch, options.warmup, options.runs, not options.no_flush)
    failures = 0
    print(f"{'time_us':>12}{'MHz':>12}{'outliers':>10}  shape (kernel)")
    for shape in shapes:
        try:
            kernels = gpu_kernels.kernels_of(torch, shape)
            best = timer.fastest(kernels, shape)
        except gpu_timing.KERNEL_ERRORS as error:
            print(f"profile_operators: not measured: {shape}: {error}",
                  file=sys.stderr)
            failures += 1
            continue
        clock = gpu_timing.ask_driver("clocks.sm")
        print(f"{best.time_us:>12.3f}{clock.removesuffix(' MHz'):>12}"
              f"{best.outliers:>10}  {shape} ({best.kernel})", flush=True)
        source = f"{versions}; SM clock {clock}; {best.kernel}"
        writer.add(Row(gpu, shape, best.time_us, source))
    return failures


def wanted(shapes, operators):
    """Returns the shapes of the operators asked for; none: all."""
    known = list(dict.fromkeys(shape.operator for shape in shapes))
    for name in operators:
        if name not in known:
            raise ProfileError(
                f'the model has no operator "{name}"; it has '
                f'{", ".join(known)}'
            )
    return [s for s in shapes if not operators or s.operator in operators]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="profile_operators", allow_abbrev=False,
        description="Measures the operators of a model on the first GPU.")
    add_flags(parser)
    parser.add_argument("--context", type=positive, nargs="+", default=(),
                        metavar="N", help="also decoding: attention of "
                        "--tokens sequences with one query and N keys each")
    parser.add_argument("--forward-only", action="store_true",
                        help="no gradients, loss and optimizer")
    parser.add_argument("--operators", nargs="+", default=(), metavar="NAME",
                        help="only these")
    parser.add_argument("--out", metavar="FILE",
                        help="table to write; one that exists is replaced")
    parser.add_argument("--gpu", metavar="NAME",
                        help="for the table (default: as the driver says; in a "
                        f"dry run one of {', '.join(PEAKS)}, default H100)")
    parser.add_argument("--warmup", type=positive, default=10, metavar="N",
                        help="runs before those that count (default 10)")
    parser.add_argument("--runs", type=positive, default=50, metavar="N",
                        help="runs of which the median counts (default 50)")
    parser.add_argument("--no-flush", action="store_true",
                        help="leave operands in the L2 cache between runs")
    parser.add_argument("--dry-run", action="store_true",
                        help="measure nothing: print shapes and guess times; "
                        "needs neither torch nor a GPU")
    options = parser.parse_args(arguments)
    if not options.out and not options.dry_run:
        parser.error("--out is needed, except in a dry run")
    return options


def profile(options, run):
    """Calls run(shapes, options, writer) with the file that is asked for."""
    shapes = wanted(
        shapes_of(model_of(options), layout_of(options), options.tokens),
        options.operators)
    if not options.out:
        return run(shapes, options, None)
    with open_text(options.out, "w") as file:
        failures = run(shapes, options, Writer(file))
    print(f"wrote {len(shapes) - failures} rows to {options.out}")
    return failures


def main(arguments):
    options = parse(arguments)
    try:
        if options.dry_run:
            gpu = options.gpu or "H100"
            peaks = peaks_of(gpu, options.precision)
            failures = profile(
                options, lambda *given: dry_run(*given, gpu, peaks))
        else:
            torch = gpu_timing.load_torch()
            with gpu_timing.compiler_caches():
                failures = profile(
                    options, lambda *given: measure(*given, torch))
    except ProfileError as error:
        print(f"profile_operators: {error}", file=sys.stderr)
        return 2
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
