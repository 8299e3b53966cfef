#!/usr/bin/env python3
"""Measures NCCL collectives over sizes, as nccl-tests does, with torch.

Usage: torchrun --nproc-per-node 8 profile_collectives.py --out FILE
       profile_collectives.py --dry-run --ranks 8 --nodes 1 [--out FILE]

`bytes` is the larger of what a rank sends and what it holds afterwards, as in
nccl-tests: the buffer of an all-reduce or all-to-all, what an all-gather
gathers, what a reduce-scatter starts from, what one rank sends to the next.
Bandwidths are 10^9 bytes per second.
"""

import argparse
import csv
import os
import statistics
import sys

sys.dont_write_bytecode = True  # Nothing is written but --out.

import gpu_timing  # noqa: E402
from model_shapes import positive  # noqa: E402
from operator_table import ProfileError, open_text  # noqa: E402

# Those of collectives/measurements/measured_table.h, which
# `simai_collective --compare-table` reads.
COLUMNS = ("gpu", "nodes", "gpus_total", "nic_gbps", "collective", "bytes",
           "time_us", "algbw_GBps", "busbw_GBps")
ELEMENT_BYTES = 2  # BF16.

# Bytes on the wire of a rank for each byte of the algorithm, over n ranks.
# Source: nccl-tests, doc/PERFORMANCE.md.
BUS_FACTORS = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "send_recv": lambda n: 1,
}

# The guess of a dry run: this bus bandwidth after this time, NVLink of H100
# within a node and a NIC of 400 Gbps between nodes.
GUESSED_START_US = 20.0
GUESSED_GB_PER_S = {"node": 360.0, "nodes": 45.0}


def row_of(gpu, nics, op, ranks, nodes, size, time_us):
    algorithm = size / (time_us * 1e3)
    bus = algorithm * BUS_FACTORS[op](ranks)
    return (gpu, nodes, ranks, nics, op, size, f"{time_us:.3f}",
            f"{algorithm:.3f}", f"{bus:.3f}")


def sizes_of(options, ranks):
    """Returns sizes, each cut so that all ranks have the same share."""
    unit = ELEMENT_BYTES * ranks
    sizes, size = [], options.min_bytes
    while size <= options.max_bytes:
        sizes.append(max(unit, size // unit * unit))
        size *= options.factor
    return list(dict.fromkeys(sizes))


def guessed_us(op, ranks, nodes, size):
    bandwidth = GUESSED_GB_PER_S["nodes" if nodes > 1 else "node"]
    return GUESSED_START_US + size * BUS_FACTORS[op](ranks) / (bandwidth * 1e3)


def check_ranks(ranks, nodes):
    if ranks < 2:
        raise ProfileError("a collective needs at least 2 ranks")
    if ranks % nodes:
        raise ProfileError(f"{ranks} ranks are not a multiple of {nodes} nodes")


def dry_run(options):
    ranks, nodes = options.ranks or 8, options.nodes or 1
    check_ranks(ranks, nodes)
    gpu = f"{options.gpu} dry run" if options.gpu else "dry run"

    def guess(write):
        for op in options.ops:
            for size in sizes_of(options, ranks):
                write(row_of(gpu, options.nics, op, ranks, nodes, size,
                             guessed_us(op, ranks, nodes, size)))

    write_to(options, guess)


def make(torch, op, ranks, rank, size):
    """Returns the function that runs `op` once."""
    distributed = torch.distributed
    elements = size // ELEMENT_BYTES

    def zeros(count):
        return torch.zeros(count, dtype=torch.bfloat16, device="cuda")

    whole = zeros(elements)
    if op == "all_reduce":
        return lambda: distributed.all_reduce(whole)
    if op == "send_recv":
        other = zeros(elements)
        exchange = [
            distributed.P2POp(distributed.isend, whole, (rank + 1) % ranks),
            distributed.P2POp(distributed.irecv, other, (rank - 1) % ranks),
        ]

        def send_and_receive():
            for work in distributed.batch_isend_irecv(exchange):
                work.wait()

        return send_and_receive
    if op == "all_to_all":
        other = zeros(elements)
        return lambda: distributed.all_to_all_single(other, whole)
    part = zeros(elements // ranks)
    if op == "all_gather":
        return lambda: distributed.all_gather_into_tensor(whole, part)
    return lambda: distributed.reduce_scatter_tensor(part, whole)


def time_us(torch, run, options):
    """Returns the median time of one call, of the slowest rank."""
    for _ in range(options.warmup):
        run()
    blocks = []
    for _ in range(options.blocks):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.distributed.barrier()
        begin.record()
        for _ in range(options.runs):
            run()
        end.record()
        torch.cuda.synchronize()
        blocks.append(1e3 * begin.elapsed_time(end) / options.runs)
    slowest = torch.tensor(statistics.median(blocks), dtype=torch.float64,
                           device="cuda")
    torch.distributed.all_reduce(slowest, torch.distributed.ReduceOp.MAX)
    return gpu_timing.summary([slowest.item()], "collective")[0]


def measure(torch, options, write):
    ranks, rank = (torch.distributed.get_world_size(),
                   torch.distributed.get_rank())
    nodes = ranks // int(os.environ["LOCAL_WORLD_SIZE"])
    gpu = options.gpu or gpu_timing.short_name(
        torch.cuda.get_device_name())
    for op in options.ops:
        for size in sizes_of(options, ranks):
            run = make(torch, op, ranks, rank, size)
            write(row_of(gpu, options.nics, op, ranks, nodes, size,
                         time_us(torch, run, options)))


def run_measurement(options):
    torch = gpu_timing.load_torch()
    missing = [name for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK",
                                 "LOCAL_WORLD_SIZE") if name not in os.environ]
    if missing:
        raise ProfileError(f"{missing[0]} is not set: start this with torchrun")
    ranks = int(os.environ["WORLD_SIZE"])
    check_ranks(ranks, ranks // int(os.environ["LOCAL_WORLD_SIZE"]))
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    try:
        if torch.distributed.get_rank() == 0:
            write_to(options, lambda write: measure(torch, options, write))
        else:
            measure(torch, options, lambda row: None)
    finally:
        torch.distributed.destroy_process_group()


def write_to(options, run):
    """Calls run(write), where write() prints a row and adds it to the file."""
    print("".join(f"{column:>16}" for column in COLUMNS))

    def show(row):
        print("".join(f"{cell:>16}" for cell in row), flush=True)

    if not options.out:
        run(show)
        return
    with open_text(options.out, "w") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)

        def write(row):
            show(row)
            table.writerow(row)
            file.flush()  # A broken run leaves what it has.

        run(write)


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="profile_collectives", allow_abbrev=False,
        description="Measures collectives of all ranks that torchrun starts.")
    parser.add_argument("--ops", nargs="+", choices=BUS_FACTORS,
                        default=list(BUS_FACTORS), metavar="OP",
                        help=f"of {', '.join(BUS_FACTORS)} (default all)")
    for flag, default in (("min-bytes", 1 << 10), ("max-bytes", 1 << 30),
                          ("warmup", 5), ("runs", 20), ("blocks", 5)):
        parser.add_argument(f"--{flag}", type=positive, default=default,
                            metavar="N", help=f"default {default}")
    parser.add_argument("--factor", type=positive, default=2, metavar="N",
                        help="between sizes (default 2)")
    parser.add_argument("--gpu", metavar="NAME",
                        help="for the table (default: as the driver says)")
    parser.add_argument("--nics", metavar="TEXT", default="not stated",
                        help="of a node, for the table, such as '8x400 IB'")
    parser.add_argument("--out", metavar="FILE",
                        help="table to write; one that exists is replaced")
    parser.add_argument("--dry-run", action="store_true",
                        help="measure nothing: guess times; needs neither "
                        "torch nor a GPU")
    parser.add_argument("--ranks", type=positive, metavar="N",
                        help="of a dry run (default 8)")
    parser.add_argument("--nodes", type=positive, metavar="N",
                        help="of a dry run (default 1)")
    options = parser.parse_args(arguments)
    if not options.out and not options.dry_run:
        parser.error("--out is needed, except in a dry run")
    if not options.dry_run and (options.ranks or options.nodes):
        parser.error("--ranks and --nodes are for a dry run; torchrun has its "
                     "own")
    if options.factor < 2:
        parser.error("--factor must be at least 2")
    if options.min_bytes > options.max_bytes:
        parser.error("--min-bytes is above --max-bytes")
    return options


def main(arguments):
    options = parse(arguments)
    try:
        if options.dry_run:
            dry_run(options)
        else:
            run_measurement(options)
    except ProfileError as error:
        print(f"profile_collectives: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
