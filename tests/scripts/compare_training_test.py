#!/usr/bin/env python3
"""Tests of compare_training on a small table, with the built programs."""

import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # The source folders stay as they are.
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from training_comparison import frameworks, models, rows  # noqa: E402

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
    "b,x,mixtral,2,1024,8,4,256 x8 top2,32000,512,8,DGX-H100,1,1,1,8,8,1,0,1,none,"
    "1,8,1,FP8,0.01,,,,",
    "c,x,mpt,2,1024,8,8,4096,32000,512,8,A100-40GB,1,1,1,8,1,1,0,"
    "3 (FSDP FULL_SHARD),full,1,8,1,bf16,0.01,,,,",
    # Three GPUs, of which the memory was measured and not the time.
    "InternEvo,x,llama,4,1024,8,8,2816,32000,512,3,A800-80GB,1,3,,1,1,1,0,"
    "1 (all ranks),full,1,4,1,bf16,,,,20,",
    "InternEvo,x,llama,2,1024,8,8,2816,32000,512,16,A100-80GB-SXM,1,1,,16,1,1,0,"
    '"1, shard group = 8 ranks",full,1,16,1,bf16,1,,,,',
    "NeMo,x,llama,4,1024,8,8,2816,32000,512,16,DGX-H100,2,2,2,4,1,1,1,1,none,"
    "1,16,1,FP8,1,,,,",
    # 9 layers over 6 chunks: with the embedding and the loss 1, 2, 2, 2, 2, 2.
    "Megatron-LM,x,gpt,9,1024,8,8,4096,32000,512,8,A100-80GB-SXM,1,2,3,4,1,1,0,"
    "1,none,1,16,1,bf16,1,,,,",
)
STATUS = [
    "ok; a framework that hides nothing",
    "ok; a framework that hides nothing",
    "left out: no description of the GPU 'Abacus'",
    "left out: dp 4 does not fit: TP 3, PP 1 and CP 1 on 8 GPUs",
    "ok; a micro-batch of 1; a framework that hides nothing",
    "ok; a framework that hides nothing",
    "ok; a framework that hides nothing",
    "ok; no interleaving; what internevo does by default",
    "ok; what internevo does by default",
    "ok; what megatron-bridge does by default",
    "ok; uneven chunks, for VPP 3 does not divide the 4 layers of a pipeline "
    "stage",
]

# The first row with one cell in place, and what its status quotes.
NOT_UNDERSTOOD = (
    ("model", "Whisperer", "'Whisperer'"),
    ("model", "Kimi-K2", "'Kimi-K2'"),  # It has experts, ffn none.
    ("ffn", "4096 or so", "'4096 or so'"),
    ("vocab", "big", "'big'"),
    ("layers", "2.5", "'2.5'"),
    ("heads", "eight", "'eight'"),
    ("seq", "8k", "'8k'"),
    ("gpus", "some", "'some'"),
    ("gpu_type", "A100-80GB-SXM (500 W limit)", "'500 w limit'"),
    ("gpu_type", "H100 PCIe", "'H100 PCIe'"),
    ("tp", "", "no tp"),
    ("vpp", "auto", "'auto'"),
    ("ep", "x", "'x'"),
    ("cp", "ring", "'ring'"),
    ("sp", "perhaps", "'perhaps'"),
    ("zero", "4", "'4'"),
    ("zero", "3 (HYBRID)", "'hybrid'"),
    ("zero", "1 or 2", "'1 or 2'"),
    ("recompute", "block", "'block'"),
    ("micro_batch", "1.5", "'1.5'"),
    ("global_batch", "nan", "'nan'"),
    ("flash_attn", "v9", "'v9'"),
    ("dtype", "int8", "'int8'"),
    ("measured_iter_time_s", "fast", "'fast'"),
    ("measured_mem_gib", "much", "'much'"),
)

# Stands in for simai_analytical.
MEASURES_MEMORY = """#!/usr/bin/env python3
import pathlib, sys
folder = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
folder.joinpath("run.json").write_text(
    '{"result": {"iteration_ps": 1.1e12}, '
    '"memory": {"allocated_memory_gib": 17.5, '
    '"reserved_memory_gib": 18.62645149}}')  # 20 x 10^9 B.
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
             "predicted_allocated_gib", "predicted_reserved_gib", "status"])  # fmt: skip
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
        self.assertEqual([row["predicted_allocated_gib"] for row in rows],
                         ["17.5", "17.5"])
        self.assertEqual([row["predicted_reserved_gib"] for row in rows],
                         ["18.6265", "18.6265"])
        self.assertEqual([row["error_pct"] for row in rows], ["+10.00", ""])
        memory = done.stdout.split("memory:")[1]
        # Allocated memory in GiB; for InternEvo, reserved memory in GB.
        self.assertIn("  a: 1 rows, median error -30.00 %", memory)
        self.assertIn("  InternEvo: 1 rows, median error +0.00 %", memory)

    def test_a_word_that_is_not_understood_leaves_the_row_out(self):
        names = COLUMNS.split(",")
        cells = dict(zip(names, DENSE.format(time="1").split(",")))
        table = self.folder / "table.csv"
        with open(table, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            for column, cell, _ in NOT_UNDERSTOOD:
                row = dict(cells, **{column: cell})
                if not cell:  # Else it follows from DP.
                    row["dp"] = ""
                writer.writerow(row)
        done = self.run_on(table)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        _, found = self.rows()
        for row, (column, cell, quoted) in zip(found, NOT_UNDERSTOOD):
            with self.subTest(column=column, cell=cell):
                self.assertTrue(row["status"].startswith("left out: "))
                self.assertIn(quoted, row["status"])
                self.assertEqual(row["predicted_iter_time_s"], "")

    def test_skips_a_table_that_is_not_there(self):
        done = self.run_on(self.folder / "none.csv")
        self.assertEqual(done.returncode, 0)
        self.assertIn("skipped: there is no", done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])


class UnderstandsTest(unittest.TestCase):
    def test_words_of_other_frameworks(self):
        def zero(text):
            return rows.read_zero({"zero": text})

        self.assertEqual(zero("SHARD_GRAD_OP"), (2, True, None))
        self.assertEqual(zero("3 (FSDP FULL_SHARD)"), (3, True, None))
        self.assertEqual(zero("NO_SHARD"), (0, False, None))
        self.assertEqual(zero("3 (FSDP group 64)"), (3, True, 64))
        self.assertEqual(zero("1, shard group = 8 ranks"), (1, False, 8))
        for text, meaning in (("full (every layer)", "full"),
                              ("selective (attention core)", "selective")):
            assumed = []
            self.assertEqual(rows.read_recompute({"recompute": text}, assumed),
                             meaning)
            self.assertEqual(assumed, [])

    def test_shards_of_gradients_alone_keep_whole_parameters(self):
        row = {"zero": "SHARD_GRAD_OP", "gpus": "8", "tp": "1", "pp": "1"}
        self.assertEqual(
            frameworks.sharding_options(row, frameworks.Framework("", "megatron")),
            ["--framework", "deepspeed", "--zero", "2"])

    def test_a_size_that_is_missing_follows_from_the_others(self):
        assumed = []
        row = {"gpus": "16", "tp": "2", "dp": "4", "cp": "1", "ep": "1",
               "vpp": "1", "sp": "0", "micro_batch": "1"}
        self.assertEqual(rows.with_layout(row, assumed)["pp"], "2")
        self.assertEqual(assumed, ["PP 2, which follows from DP"])
        with self.assertRaisesRegex(rows.LeftOut, "no tp"):
            rows.with_layout(dict(row, tp=""), [])

    def test_families_have_their_own_attention(self):
        row = {"layers": "2", "hidden": "2880", "heads": "64", "kv_heads": "8",
               "ffn": "2880 x128 experts top4", "seq": "4096"}
        self.assertIn("kv_heads: 8, head_dim: 64, ",
                      models.model_yaml(dict(row, model="GPT-OSS 120B")))
        self.assertIn("attention: {kind: latent, heads: 64, q_lora_rank: 1536",
                      models.model_yaml(dict(row, model="Kimi-K2")))
        with self.assertRaisesRegex(rows.LeftOut, "'Qwen3-Next-80B-A3B'"):
            models.model_yaml(dict(row, model="Qwen3-Next-80B-A3B"))
        # 2880 / 7 is no head size.
        with self.assertRaisesRegex(rows.LeftOut, "heads 7"):
            models.model_yaml(dict(row, model="Mixtral", heads="7"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=BIN)
    options, rest = parser.parse_known_args()
    BIN = options.bin.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
