#!/usr/bin/env python3
"""Compares simai_simulator with runs of SimAI 1.6 on ns-3.

usage: compare_simai.py --bin DIR --data DIR --out DIR [--seeds N] [--only REGEX]

--bin    folder with gen_topo and simai_simulator
--data   folder with simai_ns3_runs.csv, and simai with the folders ns3 (one
         folder a run), ns3_flows and ns3_congestion (flow by flow)
--out    gets comparison.csv and the inputs and results of each run

Each collective is run on the same cluster, with the same switches, NICs and
decomposition (--collectives simai, inputs/networks/simai.conf), and its time on
rank 0 is compared. Where packets have a choice of paths, seed 1 has SimAI's source
ports and counts for nanoseconds; other seeds say how far other paths lead. Without
the data it says so and ends. simai_comparison/flows.py compares flow by flow.

ns-3 counts in nanoseconds and cuts off what is left: a packet of 9052 B takes
25 ns at 2880 Gbps and not 25.144 ns, an acknowledgement no time at all. So does
the network of simai.conf. The columns "exact" are the same network without it
(time_resolution: 1ps), on the median of all seeds.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from simai_comparison import flows  # noqa: E402  (after the line above)

CONF = ROOT / "inputs" / "networks" / "simai.conf"
COMPUTE_NS = 556000
H100 = ["-gt", "H100", "-bw", "400Gbps"]


def cluster(gpus, nvlink="2880Gbps"):
    small = ["-psn", "1"] if gpus == 8 else []
    return ["-topo", "Spectrum-X", "-g", str(gpus), *small, *H100,
            "-nvbw", nvlink]


class Case:
    """Collectives, one after the other, of all tensor-parallel groups."""

    def __init__(self, name, topology, tensor, collectives, latency_us,
                 nvls=False, config=()):
        self.name = name
        self.topology = topology
        self.tensor = tensor
        self.collectives = collectives  # (operation, bytes, us, GPUs)
        self.latency_us = latency_us
        self.nvls = nvls
        self.config = config

    @property
    def gpus(self):
        return int(self.topology[self.topology.index("-g") + 1])

    @property
    def has_choice(self):
        return self.tensor > 8


def mebibytes(text):
    return int(text) << 20


def case_of(row):
    """The case of a row of simai_ns3_runs.csv; None if it is of no known form."""
    name = row["name"]
    times = [float(part) for part in row["e2e_comm_us_rank0"].split("+")]
    one = re.fullmatch(r"([a-z]+)_(\d+)g_(\d+)M", name)
    if one:
        gpus = int(one[2])
        sizes = [(one[1].upper(), mebibytes(one[3]))]
        return Case(name, cluster(gpus), gpus, with_times(sizes, times), 3)
    group = re.fullmatch(r"rvn32_(ring|nvls)_(\d+)M", name)
    if group:
        nvls = group[1] == "nvls"
        topology = ["-topo", "Spectrum-X", "--ro", "-g", "32", *H100, "-nvbw",
                    "1360Gbps" if nvls else "1440Gbps"]
        sizes = [("ALLREDUCE", mebibytes(group[2]))]
        return Case(name, topology, 8, with_times(sizes, times),
                    12 if nvls else 2, nvls)
    micro = re.fullmatch(r"micro_sx8_(ring|nvls)", name)
    if micro:
        sizes = [("ALLREDUCE", 16 << 20), ("ALLREDUCE", 64 << 20)]
        return Case(name, cluster(8), 8, with_times(sizes, times), 3,
                    micro[1] == "nvls")
    return None


def with_times(sizes, times):
    assert len(sizes) == len(times)
    return [(op, size, us) for (op, size), us in zip(sizes, times)]


def folder_cases(folder):
    """Runs whose results have a folder of their own."""
    four = ["ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL"]
    r32 = ["-topo", "Spectrum-X", "--ro", "-g", "32", *H100, "-nvbw"]
    return [
        ("coll8_lat0", cluster(8), 8, [(op, 16 << 20) for op in four], 0, False),
        ("coll8_lat6", cluster(8), 8, [(op, 16 << 20) for op in four], 6, False),
        ("m1", cluster(8), 8, [("ALLREDUCE", n << 20) for n in (16, 64)], 6,
         False),
        ("h100_8_nvls", cluster(8), 8,
         [("ALLREDUCE", n << 20) for n in (16, 64)], 6, True),
        ("tut32_ring", [*r32, "1440Gbps"], 8,
         [("ALLREDUCE", n << 20) for n in (16, 32, 64)], 2, False),
        ("tut32_nvls", [*r32, "1360Gbps"], 8,
         [("ALLREDUCE", n << 20) for n in (16, 32, 64)], 12, True),
        # Its collisions fit 4 spines.
        ("tp16_spectrum", [*cluster(16), "-psn", "4"], 16,
         [(op, 64 << 20) for op in four], 6, False),
    ]


def times_of(path):
    """Forward communication of each layer, in us, of SimAI's EndToEnd.csv."""
    rows = list(csv.reader(path.read_text().splitlines()))
    header = next(i for i, row in enumerate(rows) if row[0] == "layer_name")
    column = rows[header].index("fwd total comm")
    return [float(row[column]) for row in rows[header + 1:]
            if row[1:2] == ["test1"] and row[0] != "SUM"]


def all_cases(data):
    cases = []
    table = data / "simai_ns3_runs.csv"
    if table.exists():
        with table.open() as file:
            found = [case_of(row) for row in csv.DictReader(file)]
        cases += [case for case in found if case is not None]
    for name, topology, tensor, sizes, latency, nvls in folder_cases(data):
        path = data / "simai" / "ns3" / name / "ncclFlowModel_EndToEnd.csv"
        if path.exists():
            cases.append(Case(name, topology, tensor,
                              with_times(sizes, times_of(path)), latency, nvls))
    return cases


def workload_of(case):
    lines = [
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD "
        f"model_parallel_NPU_group: {case.tensor} ep: 1 pp: 1 vpp: 1 ga: 1 "
        f"all_gpus: {case.gpus} checkpoints: 0 checkpoint_initiates: 0 "
        "pp_comm: 0",
        str(len(case.collectives)),
    ]
    for i, (operation, size, _) in enumerate(case.collectives):
        lines.append(f"{operation.lower()}{i} -1 {COMPUTE_NS} {operation} "
                     f"{size} 1 NONE 0 1 NONE 0 1")
    return "\n".join(lines) + "\n"


def run(command):
    done = subprocess.run([str(part) for part in command], text=True,
                          capture_output=True)
    if done.returncode != 0:
        sys.exit(f"compare_simai: {' '.join(map(str, command))}: "
                 f"{done.stderr.strip() or done.stdout.strip()}")


def exact_network(arguments):
    """simai.conf as it is understood, in picoseconds."""
    path = arguments.out / "exact.json"
    if not path.exists():
        case = Case("exact", cluster(8), 8, [("ALLREDUCE", 1 << 20, 0)], 0)
        prepare(arguments, case)
        simulate(arguments, case, 1, CONF)
        results = results_of(arguments, case, 1, CONF)
        network = json.loads((results / "run.json").read_text())["network"]
        network = {"simai_network": 1, **network["packet"]}
        network["time_resolution"] = "1ps"
        del network["record"]
        path.write_text(json.dumps(network))
    return path


def results_of(arguments, case, seed, network):
    return arguments.out / case.name / f"{network.stem}_seed{seed}"


def simulate(arguments, case, seed, network):
    """Times of the collectives on rank 0, in us."""
    folder = arguments.out / case.name
    results = results_of(arguments, case, seed, network)
    latency_ns = case.latency_us * 1000
    run([arguments.bin / "simai_simulator", "-w", folder / "workload.txt", "-n",
         folder / "topology", "-c", network, "--collectives", "simai",
         "--send-latency", f"{latency_ns}ns",
         *(["--nccl", "NCCL_ALGO=NVLS"] if case.nvls else []),
         "--seed", str(seed), "-o", results])
    with (results / "collectives.csv").open() as file:
        rows = list(csv.DictReader(file))
    # Groups that do the same have a row each; rank 0 is in the first of them.
    times = {}
    for row in rows:
        times.setdefault(row["layer"], float(row["first_rank_time_us"]))
    return [times[f"{operation.lower()}{i}"]
            for i, (operation, _, _) in enumerate(case.collectives)]


def prepare(arguments, case):
    folder = arguments.out / case.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "workload.txt").write_text(workload_of(case))
    run([arguments.bin / "gen_topo", *case.topology, "-o", folder / "topology"])


def over_seeds(arguments, case, network):
    """For each seed the times of the collectives."""
    seeds = range(1, 1 + (arguments.seeds if case.has_choice else 1))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(
            lambda seed: simulate(arguments, case, seed, network), seeds))


def percent(ours, theirs):
    return round(100 * (ours / theirs - 1), 3)


def compare(arguments, case):
    prepare(arguments, case)
    exact = over_seeds(arguments, case, exact_network(arguments))
    rounded = over_seeds(arguments, case, CONF)
    rows = []
    for i, (operation, size, us) in enumerate(case.collectives):
        in_ns = [times[i] for times in rounded]
        in_ps = [times[i] for times in exact]
        rows.append({
            "run": case.name, "collective": operation, "bytes": size,
            "ranks": case.tensor, "paths": "ecmp" if case.has_choice else "one",
            "simai_us": us,
            # Seed 1 takes the paths of SimAI.
            "rounded_us": in_ns[0],
            "rounded_error_pct": percent(in_ns[0], us),
            "exact_us": round(statistics.median(in_ps), 3),
            "exact_error_pct": percent(statistics.median(in_ps), us),
            "rounded_lowest_us": min(in_ns), "rounded_highest_us": max(in_ns),
        })
    return rows


def simulate_flows(arguments, name, topology, workload, network, latency_us,
                   seed):
    """The folder of results, with the flows."""
    folder = arguments.out / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "workload.txt").write_text(workload)
    run([arguments.bin / "gen_topo", *topology.split(), "-o",
         folder / "topology"])
    results = folder / f"{network.stem}_seed{seed}"
    run([arguments.bin / "simai_simulator", "-w", folder / "workload.txt", "-n",
         folder / "topology", "-c", network, "--collectives", "simai",
         "--send-latency", f"{latency_us * 1000}ns", "--seed",
         str(seed), "-o", results])
    return results


def compare_flows(arguments):
    comparison = flows.Comparison(
        arguments.data, CONF, arguments.out,
        lambda *case: simulate_flows(arguments, *case))

    def matches(name):
        return re.search(arguments.only, name)
    comparison.compare_flows(matches)
    comparison.compare_controls(matches)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("bin", "data", "out"):
        parser.add_argument(f"--{option}", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="", help="runs whose name matches")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    cases = [case for case in all_cases(arguments.data)
             if re.search(arguments.only, case.name)]
    if not (arguments.data / "simai").exists():
        print(f"compare_simai: skipped: no runs in {arguments.data}")
        return
    compare_flows(arguments)
    if not cases:
        return
    rows = []
    print(f"{'run':<22}{'collective':<14}{'MiB':>4}{'ranks':>6}{'SimAI us':>11}"
          f"{'1 ns':>10}{'error %':>9}{'exact':>10}{'error %':>9}  range us")
    for case in cases:
        for row in compare(arguments, case):
            rows.append(row)
            spread = ("" if row["paths"] == "one" else
                      f"{row['rounded_lowest_us']:.3f} to "
                      f"{row['rounded_highest_us']:.3f}")
            print(f"{row['run']:<22}{row['collective']:<14}"
                  f"{row['bytes'] >> 20:>4}{row['ranks']:>6}"
                  f"{row['simai_us']:>11.3f}{row['rounded_us']:>10.3f}"
                  f"{row['rounded_error_pct']:>9.2f}{row['exact_us']:>10.3f}"
                  f"{row['exact_error_pct']:>9.2f}  {spread}", flush=True)
    with (arguments.out / "comparison.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for paths, limit in (("one", 1), ("ecmp", 5)):
        for column in ("rounded", "exact"):
            errors = [abs(row[f"{column}_error_pct"]) for row in rows
                      if row["paths"] == paths]
            if errors:
                within = sum(error <= limit for error in errors)
                print(f"{'one path' if paths == 'one' else 'ECMP'}, "
                      f"{'1 ns' if column == 'rounded' else 'exact'}: {within} "
                      f"of {len(errors)} within {limit} %, median "
                      f"{statistics.median(errors):.2f} %, largest "
                      f"{max(errors):.2f} %")


if __name__ == "__main__":
    main()
