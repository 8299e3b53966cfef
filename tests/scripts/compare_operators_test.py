#!/usr/bin/env python3
"""Tests scripts/compare_operators.

Usage: compare_operators_test.py [--bin DIR]
"""

import argparse
import csv
import gzip
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = ROOT / "build" / "release" / "bin"
TABLE = """# x; the same in all rows: framework=VLLM; op_name=gemm
gemm_dtype,m,n,k,latency
bfloat16,32768,65536,12288,60.324
int3,1,2,3,4
"""


def compare(*arguments):
    return subprocess.run([ROOT / "scripts" / "compare_operators", *arguments,
                           "--bin", BIN], capture_output=True, text=True,
                          check=False)


class CompareOperatorsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_packed_table_is_compared_row_by_row(self):
        table = self.folder / "gemm_vllm.csv.gz"
        with gzip.open(table, "wt") as file:
            file.write(TABLE)
        out = self.folder / "out"
        done = compare(table, "--gpu", "H100", "--out", out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.endswith("finished   gemm_vllm: 2 rows\n"))
        with open(out / "comparison.csv", newline="") as file:
            first, second = csv.DictReader(file)
        self.assertEqual(first["status"], "ok: measured")
        self.assertLess(abs(float(first["error_pct"])), 0.6)
        self.assertEqual(second["predicted_ms"], "")
        self.assertIn('unknown gemm_dtype "int3"', second["status"])
        self.assertEqual(sorted(path.name for path in out.iterdir()),
                         ["comparison.csv", "summary.txt"])

    def test_a_missing_table_is_skipped(self):
        done = compare("none.csv.gz", "--gpu", "H100", "--out", self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "skipped: none.csv.gz is not there\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=BIN)
    options, rest = parser.parse_known_args()
    BIN = options.bin
    unittest.main(argv=[sys.argv[0], *rest])
