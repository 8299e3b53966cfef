#!/usr/bin/env python3
"""Tests of compare_training on a small table, with the built programs."""

import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "scripts" / "compare_training"
BIN = ROOT / "build" / "release" / "bin"

COLUMNS = (
    "source,url_or_file,model,layers,hidden,heads,kv_heads,ffn,vocab,seq,gpus,"
    "gpu_type,tp,pp,vpp,dp,ep,cp,sp,zero,recompute,micro_batch,global_batch,"
    "flash_attn,dtype,measured_iter_time_s,measured_tflops_per_gpu,"
    "measured_mfu,measured_mem_gib,notes"
)
DENSE = ("a,x,gpt-small,2,1024,8,8,4096,32000,512,8,A100-80GB-SXM,2,1,1,4,1,1,"
         "1,1,none,1,8,1,bf16,{time},,,,")
ROWS = (
    DENSE.format(time="1"),
    DENSE.format(time=""),
    DENSE.format(time="1").replace("A100-80GB-SXM", "Abacus"),
    DENSE.format(time="1").replace(",2,1,1,4,", ",3,1,1,4,"),
    DENSE.format(time="1").replace("none,1,8,", "none,,8,"),
    "b,x,moe,2,1024,8,4,256 x8 top2,32000,512,8,DGX-H100,1,1,1,8,8,1,0,1,none,"
    "1,8,1,FP8,0.01,,,,",
    "c,x,mpt,2,1024,8,8,4096,32000,512,8,A100-40GB,1,1,1,8,1,1,0,"
    "3 (FSDP FULL_SHARD),full,1,8,1,bf16,0.01,,,,",
)
STATUS = [
    "ok",
    "left out: no measured time",
    "left out: no description of the GPU 'Abacus'",
    "left out: TP 3 x PP 1 does not divide the 8 GPUs: there is no whole DP",
    "left out: no micro_batch",
    "ok",
    "ok",
]


class CompareTrainingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_on(self, table):
        return subprocess.run(
            [sys.executable, SCRIPT, table, "--out", self.folder / "out",
             "--bin", BIN],
            capture_output=True, text=True, check=False)  # fmt: skip

    def test_predicts_what_it_can_and_says_why_not_the_rest(self):
        table = self.folder / "table.csv"
        table.write_text("\n".join([COLUMNS, *ROWS]) + "\n", encoding="utf-8")
        done = self.run_on(table)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("one node, TP <= 8, PP = 1: 3 rows", done.stdout)
        self.assertIn("finished", done.stdout.splitlines()[-1])
        path = self.folder / "out" / "comparison.csv"
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            self.assertEqual(
                reader.fieldnames,
                [*COLUMNS.split(","), "predicted_iter_time_s", "error_pct",
                 "status"])  # fmt: skip
            rows = list(reader)
        self.assertEqual([row["status"] for row in rows], STATUS)
        for row in rows:
            self.assertEqual(row["status"] == "ok", bool(row["error_pct"]))
        predicted = float(rows[0]["predicted_iter_time_s"])
        self.assertAlmostEqual(float(rows[0]["error_pct"]),
                               100 * (predicted - 1), places=1)

    def test_skips_a_table_that_is_not_there(self):
        done = self.run_on(self.folder / "none.csv")
        self.assertEqual(done.returncode, 0)
        self.assertIn("skipped: there is no", done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=BIN)
    options, rest = parser.parse_known_args()
    BIN = options.bin.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
