#!/usr/bin/env python3
"""Compares simai_collective with measured collectives, for docs/accuracy/collectives.md.

usage: compare_collectives.py --bin DIR --data DIR --out DIR [--write | --check]

--bin    folder with the programs
--data   folder with nccl_measured.csv, collectives_one_node.csv.gz and others
--out    gets one folder of comparisons for each table
--write  writes the figures into docs/accuracy/collectives.md, between its markers
--check  fails where a median there is worse by more than a tenth

Without the data it says so and ends. Rows with the grades C and X count nowhere.
leave_gpu_out.py has the rules by which one GPU is left out.
"""

import argparse
import collections
import csv
import gzip
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

import accuracy_page
import leave_gpu_out
from accuracy_page import grouped

TABLES = ("nccl_measured.csv", "collectives_one_node.csv.gz",
          "deepep_measured.csv.gz", "gb200_alltoall_measured.csv.gz")
OTHERS = ("systems/estimator/regressors/*/nccl/*_*.csv",
          "systems/vidur/network/*/*.csv")
MIB = 1 << 20


def predict(program, table, out):
    """Returns the rows of `table` with their predictions."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "measured.csv"
    opened = gzip.open if table.suffix == ".gz" else open
    with opened(table, "rb") as source, open(path, "wb") as copy:
        shutil.copyfileobj(source, copy)
    subprocess.run([program, "--compare-table", path, "-o", out], check=True,
                   stdout=subprocess.DEVNULL)
    with open(out / "comparison.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def predict_others(program, data, out):
    """{cluster: rows} of the tables of other programs, with predictions.

    Some tables are parts of others, so a row that was there does not count.
    """
    clusters, seen = collections.defaultdict(list), set()
    for table in sorted(path for name in OTHERS for path in data.glob(name)):
        folder = table.parent
        cluster = folder.parent.name if folder.name == "nccl" else folder.name
        comparison = out / cluster / table.stem
        subprocess.run([program, "--compare-table", table, "-o", comparison],
                       check=True, stdout=subprocess.DEVNULL)
        with open(comparison / "comparison.csv", encoding="utf-8",
                  newline="") as file:
            for row in csv.DictReader(file):
                key = (cluster, *(row[name] for name in (
                    "nodes", "gpus_total", "collective", "bytes", "time_us")))
                if key not in seen:
                    clusters[cluster].append(row)
                seen.add(key)
    return clusters


def predict_without(gpu, rule, program, table, out):
    """The NCCL rows of `gpu`, predicted with constants of other GPUs."""
    out.mkdir(parents=True, exist_ok=True)
    with gzip.open(table, "rt", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file)
                if row["env"] == "NCCL" and gpu_of(row) == gpu]
    measured, system = out / "measured.csv", out / "system.yaml"
    with open(measured, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    system.write_text(leave_gpu_out.system_without(gpu, rule),
                      encoding="utf-8")
    subprocess.run([program, "--compare-table", measured, "--system", system,
                    "-o", out], check=True, stdout=subprocess.DEVNULL)
    with open(out / "comparison.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def source_of(row):
    """"OWNER/REPOSITORY", with the number of an issue."""
    found = re.search(r"github\.com/([\w.-]+/[\w.-]+?)(?:@\w+)?"
                      r"(?:/issues/(\d+))?(?:[/ ]|$)", row["source_url"])
    if not found:
        return row["source_url"]
    return found[1] + (f", issue {found[2]}" if found[2] else "")


def counts(row):
    return row["status"] == "ok" and not re.search(r"q=[CX]", row["notes"])


def errors(rows):
    return [float(row["error_pct"]) for row in rows]


def table(title, groups):
    return accuracy_page.table(
        title, [(name, errors(rows)) for name, rows in groups])


def by_size(rows):
    large = [row for row in rows if int(row["bytes"]) >= MIB]
    small = [row for row in rows if int(row["bytes"]) < MIB]
    return [("1 MiB and more", large), ("below 1 MiB", small), ("all", rows)]


def each_source_once(rows):
    """The medians over sources of each source's own medians."""
    groups = [accuracy_page.figures(errors(group))[2]
              for _, group in grouped(rows, source_of)]
    return statistics.median(groups)


def gpu_of(row):
    return row["gpu"].split("-")[0]


def launched_by_host(rows):
    large = [row for row in rows if int(row["bytes"]) >= MIB]
    small = [row for row in rows if int(row["bytes"]) < MIB]
    per_server = lambda row: int(row["gpus_total"]) // int(row["nodes"])
    place = lambda row: (f"{source_of(row)}: {gpu_of(row)}, {row['nodes']} x "
                         f"{per_server(row)}")
    return (table("rows, launched by the host or a CUDA graph", by_size(rows)) +
            "With each source counted once, the median of the sources' median "
            f"absolute errors is {each_source_once(large):.1f} % at 1 MiB and "
            f"more and {each_source_once(small):.1f} % below.\n\n" +
            table("source, GPU, servers x GPUs; 1 MiB and more",
                  grouped(large, place)) +
            table("source; below 1 MiB", grouped(small, source_of)))


def queued(rows):
    place = lambda row: f"{gpu_of(row)}, {row['collective']}"
    return (table("rows, queued in one server", by_size(rows)) +
            table("GPU, collective; 1 MiB and more", grouped(
                [row for row in rows if int(row["bytes"]) >= MIB], place)) +
            table("GPU, collective; below 1 MiB", grouped(
                [row for row in rows if int(row["bytes"]) < MIB], place)))


def of_others(clusters):
    """A table for each size of the tables of other programs."""
    def place(cluster, row):
        where = "in a node" if row["nodes"] == "1" else "between nodes"
        return f"{cluster}, {row['collective']} {where}"
    rows = [dict(row, place=place(cluster, row)) for cluster, rows in
            clusters.items() for row in rows if row["status"] == "ok"]
    sizes = by_size(rows)
    text = table("rows, tables of Vidur and of estimate-train-time", sizes)
    for size, some in sizes[:2]:
        text += table(f"cluster, collective of other programs; {size}",
                      grouped(some, lambda row: row["place"]))
    return text


def of_experts(rows):
    """Tables of what takes tokens to their experts."""
    def place(row):
        dispatcher = re.search(r"dispatcher=([\w-]+)", row["env"])[1]
        per_server = int(row["gpus_total"]) // int(row["nodes"])
        gpu = re.search(r"[A-Z]+\d+", row["gpu"].replace("NVIDIA", ""))[0]
        return (f"{gpu}, {row['nodes']} x {per_server}, {dispatcher}, "
                f"{row['collective']}")
    return table("rows, dispatch and combine of experts", by_size(rows)) + table(
        "GPU, servers x GPUs, dispatcher, collective", grouped(rows, place))


def by_engines(rows):
    engine = lambda row: row["env"].split("_")[0]
    launch = lambda row: ("from the host" if row["env"].endswith("eager")
                          else "in a CUDA graph")
    return (table("rows, all-reduces of inference engines in one server",
                  by_size(rows)) +
            table("GPU, engine, launch", grouped(
                rows, lambda row: f"{gpu_of(row)}, {engine(row)} {launch(row)}")))


# The engines of a decode step, what their measured rows are called, and the
# release of these rows. NCCL's were queued.
ENGINES = (("none", "NCCL", ""), ("vllm", "vLLM_custom", "0.24.0"),
           ("vllm@0.14", "vLLM_custom", "0.14.0"),
           ("sglang", "SGLang_CustomAllReduce", "0.5.14"),
           ("sglang@0.5.9", "SGLang_CustomAllReduce", "0.5.9"))


def run(arguments, program, *options):
    return subprocess.run(
        [arguments.bin / program, *options], cwd=arguments.out, check=True,
        capture_output=True, text=True).stdout


def measured_us(rows, word, release, launch, size):
    """The all-reduce of 8 H100 with an engine; "-" where there is none."""
    envs = {"NCCL": {"queued": "NCCL"}}.get(
        word, {"graph": f"{word}_graph", "host": f"{word}_eager"})
    times = [float(row["time_us"]) for row in rows
             if row["env"] == envs.get(launch) and row["bytes"] == size
             and row["gpus_total"] == "8" and gpu_of(row) == "H100"
             and row["collective"] == "all_reduce"
             and (not release or f"/{release}/" in row["source_url"])]
    return f"{statistics.median(times):.1f}" if times else "-"


def decode_step(arguments, rows):
    """A table: the all-reduces of a decode step of Llama 3 70B on 8 H200."""
    run(arguments, "gen_workload", "-m", "llama3-70b", "--gpu-type", "H200",
        "--phase", "decode", "--gpus", "8", "--tp", "8", "--batch", "64",
        "--seq-length", "4096", "--format", "program", "-o", "decode.yaml")
    run(arguments, "gen_topo", "-topo", "Spectrum-X", "-g", "8", "-psn", "1",
        "-gt", "H200", "-o", "h200.txt")
    text = ("A decode step of Llama 3 70B with 64 sequences of 4096 positions "
            "has 161 all-reduces over its 8 H200. What one of them takes "
            "(`measured`: the same size on 8 H100, the median where there are "
            "several rows), and their share of the step:\n\n"
            "| engine | launch | algorithm | us each | measured | "
            "share of the step | step |\n|---|---|---|---|---|---|---|\n")
    for engine, word, release in ENGINES:
        for launch in ("queued", "graph", "host"):
            out = arguments.out / f"decode_{engine}_{launch}"
            printed = run(arguments, "simai_analytical", "-w", "decode.yaml",
                          "-n", "h200.txt", "--engine", engine, "--launch",
                          launch, "-o", out.name)
            total = float(re.search(r"iteration +([\d.]+) ms", printed)[1])
            with open(out / "collectives.csv", encoding="utf-8",
                      newline="") as file:
                calls = [row for row in csv.DictReader(file)
                         if row["collective"] == "all-reduce"]
            each = float(calls[0]["time_us"])
            number = sum(int(row["count"]) for row in calls)
            measured = measured_us(rows, word, release, launch,
                                   calls[0]["bytes"])
            text += (f"| {engine} | {launch} | {calls[0]['algorithm']} | "
                     f"{each:.1f} | {measured} | "
                     f"{number * each / total / 10:.1f} % | {total:.2f} ms |\n")
    return text + "\n"


def one_gpu_left_out(program, table_of_rows, out):
    """How far GPUs are off whose constants were made from other GPUs."""
    groups = []
    for gpu in leave_gpu_out.LEFT_OUT:
        for rule in leave_gpu_out.RULES:
            folder = out / f"without_{gpu}_{rule.replace(' ', '_')}"
            rows = predict_without(gpu, rule, program, table_of_rows, folder)
            groups += [(f"{gpu}, {rule}; {size}", some)
                       for size, some in by_size(list(filter(counts, rows)))]
    return ("In the next table one GPU is left out: its constants are made by "
            "rule from those of the other GPUs with NVLink, and only its data "
            "sheet and NCCL's source are its own. The rules are in "
            "`scripts/leave_gpu_out.py`.\n\n" +
            table("GPU left out, rule, queued in one server", groups))


def left_out(rows):
    reasons = collections.Counter(
        row["status"] for row in rows if row["status"] != "ok")
    predicted = len(rows) - reasons.total()
    return (f"{predicted} of {len(rows)} rows are predicted, "
            f"{100 * predicted / len(rows):.1f} %.\n" +
            "".join(f"{count} rows are left out: {reason}.\n"
                    for reason, count in sorted(reasons.items())))


def main():
    parser = argparse.ArgumentParser(
        description="Compares simai_collective with measured collectives.")
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--write", action="store_true")
    mode.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    arguments.bin, arguments.out = (  # Programs run in the folder `out`.
        path.resolve() for path in (arguments.bin, arguments.out))
    missing = [name for name in TABLES + OTHERS
               if not any(arguments.data.glob(name))]
    if missing:
        print(f"compare_collectives: skipped: no {arguments.data / missing[0]}")
        return 0
    by_host, in_queues, *experts = (
        predict(arguments.bin / "simai_collective", arguments.data / name,
                arguments.out / name.split(".")[0]) for name in TABLES)
    others = predict_others(arguments.bin / "simai_collective",
                            arguments.data, arguments.out / "others")
    all_others = sum(others.values(), [])
    text = (launched_by_host(list(filter(counts, by_host))) +
            queued([row for row in in_queues
                    if counts(row) and row["env"] == "NCCL"]) +
            one_gpu_left_out(arguments.bin / "simai_collective",
                             arguments.data / TABLES[1], arguments.out) +
            by_engines([row for row in in_queues
                        if counts(row) and row["env"] != "NCCL"]) +
            decode_step(arguments, in_queues) +
            of_experts([row for rows in experts for row in rows
                        if row["status"] == "ok"]) +
            of_others(others) +
            left_out(sum(experts, by_host + in_queues + all_others)))
    code = accuracy_page.publish("simai_collective", text, arguments.write,
                                 arguments.check)
    number = sum(map(len, [by_host, in_queues, all_others, *experts]))
    print(f"compare_collectives: finished: {number} rows")
    return code


if __name__ == "__main__":
    sys.exit(main())
