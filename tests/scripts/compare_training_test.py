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
    # Three GPUs, of which the memory was measured and not the time.
    "InternEvo,x,d,4,1024,8,8,2816,32000,512,3,A800-80GB,1,3,,1,1,1,0,"
    "1 (all ranks),full,1,4,1,bf16,,,,20,",
    "InternEvo,x,d,2,1024,8,8,2816,32000,512,16,A100-80GB-SXM,1,1,,16,1,1,0,"
    '"1, shard group = 8 ranks",full,1,16,1,bf16,1,,,,',
    "NeMo,x,d,4,1024,8,8,2816,32000,512,16,DGX-H100,2,2,2,4,1,1,1,1,none,"
    "1,16,1,FP8,1,,,,",
    # 9 layers over 6 chunks: with the embedding and the loss 1, 2, 2, 2, 2, 2.
    "Megatron-LM,x,gpt,9,1024,8,8,4096,32000,512,8,A100-80GB-SXM,1,2,3,4,1,1,0,"
    "1,none,1,16,1,bf16,1,,,,",
)
STATUS = [
    "ok",
    "ok",
    "left out: no description of the GPU 'Abacus'",
    "left out: TP 3 x PP 1 does not divide the 8 GPUs: there is no whole DP",
    "ok; a micro-batch of 1",
    "ok",
    "ok",
    "ok; overlapped data parallelism",
    "ok; overlapped data parallelism",
    "ok; overlapped data parallelism",
    "ok; uneven chunks, for VPP 3 does not divide the 4 layers of a pipeline "
    "stage",
]

# Stands in for simai_analytical.
MEASURES_MEMORY = """#!/usr/bin/env python3
import pathlib, sys
folder = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
folder.joinpath("run.json").write_text(
    '{"result": {"iteration_ps": 1.1e12}, '
    '"memory": {"reserved_memory_gib": 18.62645149}}')  # 20 x 10^9 B.
"""


class CompareTrainingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_on(self, table, bin_dir=None):
        return subprocess.run(
            [sys.executable, SCRIPT, table, "--out", self.folder / "out",
             "--bin", bin_dir or BIN],
            capture_output=True, text=True, check=False)  # fmt: skip

    def rows(self):
        path = self.folder / "out" / "comparison.csv"
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            return reader.fieldnames, list(reader)

    def test_predicts_what_it_can_and_says_why_not_the_rest(self):
        table = self.folder / "table.csv"
        table.write_text("\n".join([COLUMNS, *ROWS]) + "\n", encoding="utf-8")
        done = self.run_on(table)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("one node, TP <= 8, PP = 1: 4 rows", done.stdout)
        self.assertIn("finished", done.stdout.splitlines()[-1])
        columns, rows = self.rows()
        self.assertEqual(
            columns,
            [*COLUMNS.split(","), "predicted_iter_time_s", "error_pct",
             "predicted_mem_gib", "status"])  # fmt: skip
        self.assertEqual([row["status"] for row in rows], STATUS)
        for row in rows:
            is_predicted = row["status"].startswith("ok")
            self.assertEqual(bool(row["predicted_iter_time_s"]), is_predicted)
            self.assertEqual(
                bool(row["error_pct"]),
                is_predicted and bool(row["measured_iter_time_s"]))
        predicted = float(rows[0]["predicted_iter_time_s"])
        self.assertAlmostEqual(float(rows[0]["error_pct"]),
                               100 * (predicted - 1), places=1)

    def test_compares_memory_with_and_without_a_time(self):
        bin_dir = self.folder / "bin"
        bin_dir.mkdir()
        bin_dir.joinpath("gen_workload").symlink_to(BIN / "gen_workload")
        analytical = bin_dir / "simai_analytical"
        analytical.write_text(MEASURES_MEMORY, encoding="utf-8")
        analytical.chmod(0o755)
        table = self.folder / "table.csv"
        table.write_text(
            "\n".join([COLUMNS, ROWS[0].replace("1,,,,", "1,,,25,"),
                       ROWS[7]]) + "\n", encoding="utf-8")  # fmt: skip
        done = self.run_on(table, bin_dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        _, rows = self.rows()
        self.assertEqual([row["predicted_mem_gib"] for row in rows],
                         ["18.6265", "18.6265"])
        self.assertEqual([row["error_pct"] for row in rows], ["+10.00", ""])
        memory = done.stdout.split("memory:")[1]
        self.assertIn("  a: 1 rows, median error -20.00 %", memory)
        self.assertIn("  InternEvo: 1 rows, median error +0.00 %", memory)

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
