#!/usr/bin/env python3
"""Times simai_analytical over numbers of layers and of GPUs.

Each layer is distinct (its times and sizes occur once), with tensor-parallel
collectives of 8 ranks and a data-parallel all-reduce over all the rest, on
Spectrum-X with as many pods as needed. Prints the wall time (the smallest of
the runs), the peak memory, and the time of a run with one layer, which is what
reading the topology and laying the collectives on it costs.

On a shared machine compare rows of one call with one another, not with those of
another call.

Usage: scale.py --bin DIR [--runs N]
"""

import argparse
import os
import pathlib
import subprocess
import tempfile
import time

CASES = [(1000, 1024), (1000, 8192), (1000, 102400),
         (2000, 102400), (4000, 102400), (8000, 102400)]
GPUS_PER_POD = 4096
TENSOR = 8


def workload(layers, gpus):
    lines = [
        f"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {TENSOR} "
        f"ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: {gpus} checkpoints: 0 "
        f"checkpoint_initiates: 0 pp_comm: 0", str(layers)]
    for i in range(layers):
        size = (1 << 20) + 8 * i
        lines.append("\t".join(map(str, [
            f"layer{i}", -1, 100000 + i, "ALLGATHER", size,
            110000 + i, "REDUCESCATTER", size,
            120000 + i, "ALLREDUCE", size, 100])))
    return "\n".join(lines) + "\n"


def measure(command, runs):
    """Returns (smallest wall time in s, largest peak memory in MiB)."""
    walls, peaks = [], []
    for _ in range(runs):
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        walls.append(time.monotonic() - begin)
        peaks.append(usage.ru_maxrss / 1024)
        if status != 0:
            raise SystemExit(f"{command}: failed")
    return min(walls), max(peaks)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path,
                        help="folder of the built programs")
    parser.add_argument("--runs", type=int, default=3,
                        help="runs of each case (default 3)")
    arguments = parser.parse_args()
    programs = arguments.bin.resolve()

    print(f"{'layers':>8}{'GPUs':>8}{'wall_s':>9}{'one_layer_s':>13}"
          f"{'peak_MiB':>10}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for layers, gpus in CASES:
            topology = folder / f"topology_{gpus}"
            pods = max(1, gpus // GPUS_PER_POD)
            subprocess.run(
                [programs / "gen_topo", "-topo", "Spectrum-X", "-g", str(gpus),
                 "--pods", str(pods), "-o", topology],
                check=True, stdout=subprocess.DEVNULL)
            times = {}
            for count in (layers, 1):
                path = folder / f"workload_{count}_{gpus}"
                path.write_text(workload(count, gpus))
                times[count] = measure(
                    [programs / "simai_analytical", "-w", path, "-n", topology,
                     "-o", folder / "results"], arguments.runs)
            wall, peak = times[layers]
            print(f"{layers:>8}{gpus:>8}{wall:>9.3f}{times[1][0]:>13.3f}"
                  f"{peak:>10.0f}")


if __name__ == "__main__":
    main()
