#!/usr/bin/env python3
"""Loads memory_snapshot.pickle as PyTorch's memory viewer does.

The sum of live blocks must peak at the allocated memory of the summary, blocks
must not overlap, and the file may hold only opcodes that the viewer knows.

Usage: memory_snapshot_test.py --bin DIR
"""

import argparse
import csv
import json
import pathlib
import pickle
import pickletools
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path()
MODEL = ["-m", "llama3-8b", "--gpu", "H100", "--seq-length", "4096"]
EXPERTS = ["-m", "deepseek-v3", "--gpu", "H800", "--seq-length", "4096"]
LAYOUTS = {
    "one stage": MODEL + "--gpus 8 --tp 2 --global-batch 16".split(),
    "interleaved": MODEL + ("--gpus 16 --tp 2 --pp 4 --vpp 2 --sp "
                            "--recompute full --global-batch 64").split(),
    "gpipe": MODEL + ("--gpus 8 --pp 4 --schedule gpipe "
                      "--global-batch 24").split(),
    "halves": MODEL + ("--gpus 8 --pp 4 --schedule zb-v "
                       "--global-batch 32").split(),
    "side by side": EXPERTS + ("--gpus 128 --pp 8 --ep 16 --etp 1 "
                               "--schedule dualpipe "
                               "--global-batch 512").split(),
}
# What MemoryViz.js unpickles.
OPCODES = set("""APPEND APPENDS BINFLOAT BINGET BININT BININT1 BININT2 BINPUT
    BINUNICODE DICT EMPTY_DICT EMPTY_LIST EMPTY_TUPLE FRAME LIST LONG1
    LONG_BINGET LONG_BINPUT MARK MEMOIZE NEWFALSE NEWTRUE NONE PROTO SETITEM
    SETITEMS SHORT_BINUNICODE STOP TUPLE TUPLE1 TUPLE2 TUPLE3""".split())


class Snapshot(unittest.TestCase):
    """Runs a layout, and replays its trace."""

    def run_program(self, *command):
        result = subprocess.run(
            [BIN / command[0], *command[1:]], cwd=self.folder.name,
            capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def snapshot(self, layout, *options):
        self.run_program("gen_workload", *layout, "--format", "program", "-o",
                         "w.yaml")
        system = "h800" if "H800" in layout else "dgx-h100"
        self.run_program("simai_analytical", "-w", "w.yaml", "--system",
                         system, "-o", "out", "--memory-snapshot", *options)
        folder = pathlib.Path(self.folder.name) / "out"
        peaks = {}
        lines = (folder / "memory.csv").read_text().splitlines()[1:]
        for row in csv.DictReader(lines):
            stage = int(row["stage"])
            peaks[stage] = max(peaks.get(stage, 0), int(row["allocated_bytes"]))
        return (folder / "memory_snapshot.pickle").read_bytes(), peaks

    def replay(self, snapshot):
        """Returns the peak of live blocks, and the blocks at the end."""
        (segment,), (trace,) = snapshot["segments"], snapshot["device_traces"]
        begin = segment["address"]
        end = begin + segment["total_size"]
        live, total, peak, now = {}, 0, 0, 0
        for event in trace:
            self.assertGreaterEqual(event["time_us"], now)
            now = event["time_us"]
            addr, size = event["addr"], event["size"]
            for frame in event["frames"]:
                self.assertEqual(set(frame), {"filename", "line", "name"})
            self.assertEqual(len(event["frames"]), 2)
            if event["action"] == "alloc":
                self.assertTrue(begin <= addr and addr + size <= end)
                self.assertNotIn(addr, live)
                live[addr] = size
                total += size
            else:
                self.assertEqual(live[addr], size)
                if event["action"] == "free_completed":
                    del live[addr]
                    total -= size
            peak = max(peak, total)
        return peak, live

    def check_blocks(self, segment, live):
        """The blocks of the segment are the live ones, without gaps."""
        address = segment["address"]
        found = {}
        for block in segment["blocks"]:
            self.assertEqual(block["address"], address)
            address += block["size"]
            if block["state"] == "active_allocated":
                found[block["address"]] = block["size"]
        self.assertEqual(address - segment["address"], segment["total_size"])
        self.assertEqual(found, live)
        self.assertEqual(segment["allocated_size"], sum(live.values()))

    def test_live_blocks_peak_at_the_allocated_memory(self):
        for name, layout in LAYOUTS.items():
            with self.subTest(name):
                data, peaks = self.snapshot(layout)
                snapshot = pickle.loads(data)
                peak, live = self.replay(snapshot)
                self.assertEqual(peak, max(peaks.values()))
                self.check_blocks(snapshot["segments"][0], live)

    def test_each_stage_has_its_own(self):
        for stage in range(4):
            data, peaks = self.snapshot(LAYOUTS["interleaved"],
                                        "--snapshot-stage", str(stage))
            snapshot = pickle.loads(data)
            self.assertEqual(self.replay(snapshot)[0], peaks[stage])
            frame = snapshot["device_traces"][0][0]["frames"][1]
            self.assertEqual(frame["filename"], f"stage {stage}")

    def test_a_stage_that_is_not_there_is_an_error(self):
        self.run_program("gen_workload", *LAYOUTS["interleaved"], "--format",
                         "program", "-o", "w.yaml")
        result = subprocess.run(
            [BIN / "simai_analytical", "-w", "w.yaml", "--system", "dgx-h100",
             "--memory-snapshot", "--snapshot-stage", "4"],
            cwd=self.folder.name, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertTrue(result.stderr.endswith(
            "error: --snapshot-stage is 4: w.yaml has stages 0 to 3\n"))

    def test_stages_csv_has_the_same_peaks(self):
        _, peaks = self.snapshot(LAYOUTS["interleaved"])
        text = (pathlib.Path(self.folder.name) / "out/stages.csv").read_text()
        rows = list(csv.DictReader(text.splitlines()))
        stages = [row for row in rows if row["chunk"] == ""]
        self.assertEqual(len(rows), 3 * len(stages))
        for row in stages:
            held = sum(int(row[name + "_bytes"]) for name in (
                "weights", "gradients", "optimizer", "cache", "peak_saved",
                "peak_workspace"))
            self.assertEqual(int(row["allocated_bytes"]), held)
            self.assertEqual(held, peaks[int(row["stage"])])
            for name in ("forward_us", "recompute_us", "waiting_us"):
                chunks = [float(each[name]) for each in rows
                          if each["stage"] == row["stage"] and each["chunk"]]
                self.assertAlmostEqual(float(row[name]), sum(chunks), 5)
                self.assertGreater(float(row[name]), 0)

    def test_the_trace_has_the_same_peaks(self):
        for name in ("interleaved", "side by side"):
            _, peaks = self.snapshot(LAYOUTS[name], "--trace")
            folder = pathlib.Path(self.folder.name) / "out"
            trace = json.loads((folder / "trace.json").read_text())
            highest, last = {}, {}
            for event in trace["traceEvents"]:
                if event["ph"] != "C":
                    continue
                stage = int(event["name"].removeprefix("stage "))
                self.assertGreater(event["ts"], last.get(stage, -1))
                last[stage] = event["ts"]
                highest[stage] = max(highest.get(stage, 0),
                                     event["args"]["GiB"])
            self.assertEqual(
                {stage: gib * 2**30 for stage, gib in highest.items()}, peaks)

    def test_the_viewer_knows_all_opcodes(self):
        data, _ = self.snapshot(LAYOUTS["interleaved"])
        names = [opcode.name for opcode, _, _ in pickletools.genops(data)]
        self.assertLessEqual(set(names), OPCODES)
        self.assertEqual(data[:2], b"\x80\x04")

    def test_times_are_those_of_the_iteration(self):
        data, _ = self.snapshot(LAYOUTS["one stage"], "--unroll")
        trace = pickle.loads(data)["device_traces"][0]
        folder = pathlib.Path(self.folder.name) / "out"
        text = (folder / "iteration.csv").read_text()
        rows = list(csv.DictReader(text.splitlines()))
        finish = max(float(row["finish_us"]) for row in rows)
        # The workspace of the optimizer is the last to go; then nothing but
        # what hides no more follows.
        self.assertLessEqual(trace[-1]["time_us"], finish)
        self.assertGreater(trace[-1]["time_us"], 0.9 * finish)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    BIN = arguments.bin.resolve()
    unittest.main(argv=sys.argv[:1] + rest)
