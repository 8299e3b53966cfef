#!/usr/bin/env python3
"""Compares what the programs write for known inputs with tests/golden/.

A golden result is the complete output of one command, byte for byte. Without
--check the files are written again; name what moved in CHANGELOG.md, under
"Changed results".

Usage: update_goldens.py --bin DIR [--check]
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"

# Name of the folder, and the command that fills it: {out} is the folder.
COMMANDS = {
    "collectives_8gpu":
        "simai_analytical -w inputs/workloads/collectives_8gpu.txt "
        "-n inputs/topologies/one_server_8_h100.txt -o {out}",
    "collectives_8gpu_busbw":
        "simai_analytical -w inputs/workloads/collectives_8gpu.txt "
        "-n inputs/topologies/one_server_8_h100.txt "
        "-busbw inputs/busbw/example.yaml -o {out}",
    "pipeline_16gpu":
        "simai_analytical -w tests/golden/inputs/pipeline_16gpu.txt "
        "-g 16 -g_p_s 8 -nv 360 -nic 48.5 -n_p_s 4 -pp_o 0.5 -dp_o 0.25 "
        "-o {out}",
    "moe_12gpu_uneven":
        "simai_analytical -w tests/golden/inputs/moe_12gpu.txt "
        "-g 12 -g_p_s 4 -nv 100 -nic 50 -o {out}",
    "moe_12gpu_flows":
        "simai_analytical -w tests/golden/inputs/moe_12gpu.txt "
        "-g 12 -g_p_s 4 -nv 100 -nic 50 --fidelity analytical -o {out}",
    "workload_moe_16gpu":
        "gen_workload -m tests/golden/inputs/small_moe.yaml --world-size 16 "
        "--tp 2 --sp --ep 4 --etp 2 --micro-batch 2 --global-batch 32 "
        "--seq-length 512 --gpu tests/golden/inputs/small_gpu.yaml "
        "-o {out}/workload.txt",
    "workload_program_16gpu":
        "gen_workload -m tests/golden/inputs/small_gpt.yaml --world-size 16 "
        "--tp 2 --sp --cp 2 --pp 2 --recompute selective "
        "--overlap-grad-reduce --overlap-param-gather --global-batch 64 "
        "--seq-length 1024 --gpu tests/golden/inputs/small_gpu.yaml "
        "--format program -o {out}/program.yaml",
    "iteration_16gpu":
        "simai_analytical -w tests/golden/workload_program_16gpu/program.yaml "
        "-g 16 -g_p_s 8 -nv 360 -nic 48.5 -n_p_s 8 -o {out}",
    "workload_explained_8gpu":
        "gen_workload -m tests/golden/inputs/small_moe.yaml --phase decode "
        "--world-size 8 --tp 2 --ep 8 --batch 16 --seq-length 1024 "
        "--gpu tests/golden/inputs/small_gpu.yaml --explain "
        "-o {out}/workload.txt",
}


def run(command, bin_folder, out):
    program, *arguments = [word.format(out=out) for word in command.split()]
    result = subprocess.run([bin_folder / program, *arguments], cwd=ROOT,
                            capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{command}: exit {result.returncode}: {result.stderr}")
    files = {path.name: path.read_text() for path in pathlib.Path(out).iterdir()
             if path.name != "cost.json"}  # It differs from run to run.
    # The folder itself is the only thing that may differ between two runs.
    said = (result.stdout + result.stderr).replace(str(out), "OUT")
    return {**files, "said.txt": said}


def numbers_that_differ(before, after):
    """Returns "old -> new" of the first field that differs, for a message."""
    for old, new in zip(before.splitlines(), after.splitlines()):
        for a, b in zip(old.split(","), new.split(",")):
            if a != b:
                return f"{a.strip()} -> {b.strip()}"
    return "its length"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path,
                        help="folder of the built programs")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; fail where a file differs")
    arguments = parser.parse_args()

    differ = 0
    for name, command in COMMANDS.items():
        with tempfile.TemporaryDirectory() as out:
            produced = run(command, arguments.bin.resolve(), out)
        folder = GOLDEN / name
        known = ({path.name for path in folder.iterdir()}
                 if folder.exists() else set())
        for file in sorted(known | produced.keys()):
            path = folder / file
            before = path.read_text() if path.exists() else ""
            after = produced.get(file, "")
            if before == after:
                continue
            differ += 1
            print(f"{name}/{file}: {numbers_that_differ(before, after)}")
            if not arguments.check:
                folder.mkdir(parents=True, exist_ok=True)
                path.write_text(after)
    return 1 if arguments.check and differ else 0


if __name__ == "__main__":
    sys.exit(main())
