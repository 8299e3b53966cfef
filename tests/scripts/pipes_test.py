"""Gives the programs their input files through pipes, as bash's <(COMMAND) does.

    pipes_test.py --bin build/release/bin

A program either does the same as with a file, or says in one line that it reads
the file more than once.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INPUTS = ROOT / "inputs"
OPTIONS = argparse.Namespace(bin=ROOT / "build" / "release" / "bin")

FABRIC = """
simai_fabric: 1
servers: {count: 2, gpus: 2}
fabric: {kind: fat-tree, tiers: [{down: 4}]}
"""
JOBS = """
simai_jobs: 1
jobs: [{name: a, workload: w.txt}]
"""
FAILURES = """
simai_failures: 1
failures: [{name: gpu, per_gpu: 110000h, restart: 15min}]
"""
EVENTS = """
simai_events: 1
events: [{from: 1us, gpu: 0, speed: 0.5}]
"""
SWEEP = """
simai_sweep: 1
axes: {size: [1M, 2M]}
simai_collective: {system: dgx-h100, min-bytes: "${size}", max-bytes: "${size}"}
"""

# Commands of bash; FILE in braces is a pipe with that file.
ONCE = [
    "gen_topo --fabric {fabric.yaml} -o o.txt",
    f"gen_topo --ibnetdiscover {{{INPUTS}/discovered/"
    "four_dgx_h100_ibnetdiscover.txt} --nccl-topology "
    f"{{{INPUTS}/discovered/dgx_h100_nccl.xml}} -o o.txt",
    f"gen_workload -m {{{INPUTS}/models/gpt-7b.yaml}} --gpu-type "
    f"{{{INPUTS}/gpus/h100-sxm.yaml}} --gpus 8 --tp 8 --global-batch 2 "
    "--micro-batch 1 --seq-length 512 --format program -o o.yaml",
    "simai_analytical -w {w.txt} -n {t.txt}",
    f"simai_simulator -w {{w.txt}} -n {{t.txt}} -c {{{INPUTS}/networks/roce.yaml}} "
    "--events {events.yaml}",
    "simai_simulator --jobs {jobs.yaml} -n {t.txt} --fidelity flow",
    f"simai_collective --system {{{INPUTS}/systems/dgx-h100.yaml}} -b 1M -e 1M",
    "simai_goodput --gpus 64 --failures {failures.yaml} --checkpoint 5s "
    "--every 20min",
    "simai_trace -w {w.txt} -o traces",
    f"simai_serving -m {{{INPUTS}/models/llama3-8b.yaml}} --gpu-type H100 "
    f"--engine {{{INPUTS}/engines/vllm.yaml}} --requests 4 --isl 64 --osl 4 "
    "--rate 5",
    "simai_sweep run {sweep.yaml}",
]
MORE_THAN_ONCE = [
    f"simai_planner -m {{{INPUTS}/models/llama3-8b.yaml}} --gpu H100 --gpus 8 "
    "--global-batch 8 --seq-length 1024",
    "simai_physical -w {w.txt} -n t.txt --collectives ring --hosts hosts.txt",
]


class PipesTest(unittest.TestCase):

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        for name, text in (("fabric.yaml", FABRIC), ("jobs.yaml", JOBS),
                           ("failures.yaml", FAILURES),
                           ("events.yaml", EVENTS), ("sweep.yaml", SWEEP),
                           ("hosts.txt", "localhost slots=8\n")):
            (self.folder / name).write_text(text)
        (self.folder / "w.txt").write_text(
            (INPUTS / "workloads/collectives_8gpu.txt").read_text())
        self.assertEqual(
            self.run_in_bash("gen_topo -topo Spectrum-X -g 8 -gt H100 -o t.txt")
            .returncode, 0)

    def run_in_bash(self, command):
        for brace, shell in (("{", "<(cat "), ("}", ")")):
            command = command.replace(brace, shell)
        path = f"{OPTIONS.bin}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(["bash", "-c", command], cwd=self.folder,
                              env={**os.environ, "PATH": path}, text=True,
                              capture_output=True, timeout=120)

    def test_what_is_read_once_may_be_a_pipe(self):
        for command in ONCE:
            with self.subTest(command=command):
                done = self.run_in_bash(command)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_read_again_is_an_error_of_one_line(self):
        for command in MORE_THAN_ONCE:
            with self.subTest(command=command):
                done = self.run_in_bash(command)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(
                    done.stderr,
                    r"^\w+: error: /dev/fd/\d+: cannot be read: nothing comes "
                    r"through this pipe; .*\n$")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default=OPTIONS.bin)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.bin = OPTIONS.bin.resolve()
    unittest.main(argv=sys.argv[:1] + rest)
