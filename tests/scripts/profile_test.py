#!/usr/bin/env python3
"""Tests scripts/profile by dry runs, which need no GPU and no torch.

Here: profile_operators.py and what the scripts share.
"""

import contextlib
import csv
import io
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True  # The source folders stay as they are.
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "profile"
sys.path.insert(0, str(FOLDER))

import gpu_kernels  # noqa: E402  (these need the path above)
import gpu_timing  # noqa: E402
import model_shapes  # noqa: E402
import operator_table  # noqa: E402
import profile_operators  # noqa: E402

# GPT-3 6.7B with 2 ranks of tensor parallelism.
GPT = ("--hidden 4096 --heads 32 --vocab 50257 --ffn 16384 --activation gelu "
       "--norm layer_norm --tp 2 --tokens 2048").split()
DEEPSEEK = {
    "hidden_size": 7168, "num_attention_heads": 128, "vocab_size": 129280,
    "intermediate_size": 18432, "first_k_dense_replace": 3,
    "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
    "moe_intermediate_size": 2048, "q_lora_rank": 1536, "kv_lora_rank": 512,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "hidden_act": "silu", "rms_norm_eps": 1e-6,
}
NO_TORCH = "raise ImportError('none')"
NO_GPU = "class cuda:\n    is_available = staticmethod(lambda: False)\n"


class ProfileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a b ")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.table = self.root / "operators.csv"

    def run_main(self, program, *arguments):
        """Returns (exit status, stdout, stderr)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = program.main([str(a) for a in arguments])
            except SystemExit as end:
                status = end.code
        return status, out.getvalue(), err.getvalue()

    def assert_runs(self, program, *arguments):
        status, out, err = self.run_main(program, *arguments)
        self.assertEqual((status, err), (0, ""))
        return out

    def assert_refuses(self, program, message, *arguments):
        self.assertEqual(self.run_main(program, *arguments),
                         (2, "", message + "\n"))

    def dry_run(self, *arguments):
        """Returns the rows of the table of a dry run, as dicts."""
        self.assert_runs(profile_operators, "--dry-run", "--out", self.table,
                         *arguments)
        with open(self.table, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def config(self, values):
        path = self.root / "config.json"
        path.write_text(json.dumps(values), encoding="utf-8")
        return path


def filled(row):
    """Returns the cells of the shape that are not empty."""
    names = operator_table.CELLS[2:]
    return {name: row[name] for name in names if row[name]}


class OperatorsTest(ProfileTest):
    def rows_of(self, operator, *arguments):
        return [row for row in self.dry_run(*arguments)
                if row["operator"] == operator]

    def test_header_is_that_of_the_reader(self):
        self.dry_run(*GPT)
        self.assertEqual(
            self.table.read_text().splitlines()[0],
            "gpu,operator,precision,groups,m,n,k,batch,queries,keys,heads,"
            "kv_heads,qk_dim,v_dim,causal,window,backward,bytes,time_us,source")

    def test_a_linear_layer_is_three_products(self):
        rows = self.rows_of("qkv_linear", *GPT)
        # 3 x 4096 outputs over 2 ranks.
        self.assertEqual(
            [(r["groups"], r["m"], r["n"], r["k"]) for r in rows],
            [("1", "2048", "6144", "4096"), ("1", "2048", "4096", "6144"),
             ("1", "6144", "4096", "2048")])

    def test_the_guess_is_a_share_of_the_roofline(self):
        rows = self.dry_run(*GPT)
        times = {(r["operator"], r["backward"]): float(r["time_us"])
                 for r in reversed(rows)}
        product = 2 * 2048 * 6144 * 4096 / 989.4e6
        self.assertAlmostEqual(
            times["qkv_linear", ""], 3 + product / 0.7, places=3)
        # Query i sees i keys; 16 heads of 128 + 128; FLOPs x 2.5 backward.
        scores = 2 * 16 * (2048 * 2049 / 2) * 256 / 989.4e6
        self.assertAlmostEqual(
            times["attention", "false"], 3 + scores / 0.7, places=3)
        self.assertAlmostEqual(
            times["attention", "true"], 3 + 2.5 * scores / 0.7, places=3)
        # Adam of the smallest size: 28 bytes for each of 2^20.
        self.assertAlmostEqual(
            times["adam", ""], 3 + 28 * 2**20 / 3352e3 / 0.7, places=3)

    def test_rows_say_where_they_come_from(self):
        for row in self.dry_run(*GPT, "--gpu", "A100"):
            self.assertEqual((row["gpu"], row["source"]), ("A100", "dry run"))
            self.assertGreater(float(row["time_us"]), 3)

    def test_streams_have_the_bytes_they_move(self):
        moved = {}
        for row in self.dry_run(*GPT):
            if row["bytes"]:
                moved.setdefault(row["operator"], []).append(int(row["bytes"]))
        hidden = 2048 * 4096 * 2
        ffn = 2048 * 8192 * 2
        self.assertEqual(moved["layer_norm"], [2 * hidden, 3 * hidden])
        self.assertEqual(moved["residual_add"], [3 * hidden])
        self.assertEqual(moved["rope"], [2 * 2048 * 2 * 2048 * 2])
        self.assertEqual(moved["gelu"], [2 * ffn, 3 * ffn])
        self.assertEqual(moved["embedding"], [2 * hidden])
        # 50257 is padded to 2 x 197 x 128.
        self.assertEqual(moved["cross_entropy"], [3 * 2048 * 25216 * 2])
        self.assertEqual(moved["adam"], [28 << 20, 28 << 24, 28 << 28])

    def test_attention_is_of_whole_sequences(self):
        rows = self.rows_of("attention", *GPT, "--kv-heads", 8,
                            "--sequence", 512, "--context", 300)
        same = {"heads": "16", "kv_heads": "4", "qk_dim": "128",
                "v_dim": "128", "causal": "true", "window": "0"}
        prefill = {"batch": "4", "queries": "512", "keys": "512", **same}
        decode = {"batch": "2048", "queries": "1", "keys": "300", **same}
        self.assertEqual([filled(row) for row in rows], [
            prefill | {"backward": "false"}, prefill | {"backward": "true"},
            decode | {"backward": "false"}])

    def test_experts_share_the_tokens_of_all_ranks(self):
        rows = self.rows_of(
            "experts_up", *GPT, "--experts", 8, "--top-k", 2, "--expert-ffn",
            1024, "--ep", 4, "--etp", 1)
        # 4 ranks send 2 copies of 2048 / 2 tokens each to 8 experts.
        self.assertEqual(filled(rows[0]), {
            "groups": "2", "m": "1024", "n": "1024", "k": "4096"})

    def test_reads_a_configuration(self):
        rows = self.dry_run("--config", self.config(DEEPSEEK), "--ep", 8,
                            "--tokens", 4096, "--forward-only")
        found = {(r["operator"], r["groups"], r["n"], r["k"]) for r in rows}
        self.assertLessEqual({
            ("q_down", "1", "1536", "7168"), ("q_up", "1", "24576", "1536"),
            ("kv_down", "1", "576", "7168"), ("kv_up", "1", "32768", "512"),
            ("output_linear", "1", "7168", "16384"),
            ("ffn_up", "1", "36864", "7168"),
            ("ffn_down", "1", "7168", "18432"),
            ("shared_up", "1", "4096", "7168"), ("router", "1", "256", "7168"),
            ("experts_up", "32", "4096", "7168"),
            ("experts_down", "32", "7168", "2048"),
            ("logits", "1", "129280", "7168"),
        }, found)
        [attention] = [r for r in rows if r["operator"] == "attention"]
        self.assertEqual((attention["qk_dim"], attention["v_dim"]),
                         ("192", "128"))
        self.assertNotIn("adam", {r["operator"] for r in rows})

    def test_a_flag_overrides_the_configuration(self):
        rows = self.rows_of("logits", "--config", self.config(DEEPSEEK),
                            "--vocab", 1280, "--tokens", 1)
        self.assertEqual(rows[0]["n"], "1280")

    def test_each_shape_is_there_once(self):
        rows = self.dry_run(*GPT, 4096, 2048)
        keys = [(r["operator"], *filled(r).items()) for r in rows]
        self.assertEqual(len(keys), len(set(keys)))

    def test_every_shape_has_kernels(self):
        torch = types.SimpleNamespace(
            nn=types.SimpleNamespace(functional=types.SimpleNamespace(
                layer_norm=None, gelu=None)),
            ops=types.SimpleNamespace(
                aten=types.SimpleNamespace(gelu_backward=None)))
        parser = profile_operators.parse
        for model in ([*GPT, "--out", "x"],
                      ["--config", str(self.config(DEEPSEEK)), "--tokens",
                       "4096", "--context", "100", "--out", "x"]):
            options = parser(model)
            shapes = model_shapes.shapes_of(
                model_shapes.model_of(options),
                model_shapes.layout_of(options), options.tokens)
            for shape in shapes:
                self.assertTrue(gpu_kernels.kernels_of(torch, shape))

    def test_only_the_operators_asked_for(self):
        rows = self.dry_run(*GPT, "--operators", "rope", "logits")
        self.assertEqual({r["operator"] for r in rows}, {"rope", "logits"})

    def test_a_table_is_read_as_it_was_written(self):
        rows = self.dry_run(*GPT)
        read = operator_table.read_table(self.table)
        self.assertEqual([r.time_us for r in read],
                         [float(r["time_us"]) for r in rows])
        again = io.StringIO()
        writer = operator_table.Writer(again)
        for row in read:
            writer.add(row)
        self.assertEqual(again.getvalue(), self.table.read_text())

    def test_prints_without_a_file(self):
        out = self.assert_runs(profile_operators, "--dry-run", *GPT)
        self.assertIn("  qkv_linear precision=bf16 groups=1 m=2048", out)
        self.assertEqual(list(self.root.iterdir()), [])


class OperatorErrorsTest(ProfileTest):
    def refuses(self, message, *arguments):
        self.table.write_text("kept")
        self.assert_refuses(
            profile_operators, "profile_operators: " + message,
            "--dry-run", "--out", self.table, *arguments)
        self.assertEqual(self.table.read_text(), "kept")

    def test_refuses_what_is_lacking(self):
        self.refuses("the model has no heads: give --heads",
                     "--hidden", 64, "--tokens", 1)
        self.refuses("the model has no top_k: give --top-k",
                     *GPT, "--experts", 8)

    def test_refuses_what_does_not_divide(self):
        self.refuses("heads 32 is not a multiple of --tp 3", *GPT, "--tp", 3)
        self.refuses("hidden 4095 is not a multiple of heads 32: give "
                     "--head-dim", *GPT, "--hidden", 4095)
        self.refuses("kv_heads 16 and --tp 24: neither is a multiple of the "
                     "other", *GPT, "--tp", 24, "--heads", 48, "--head-dim",
                     128, "--kv-heads", 16, "--ffn", 24)
        self.refuses("--tokens 2048 is not a multiple of --sequence 100",
                     *GPT, "--sequence", 100)

    def test_refuses_a_bad_configuration(self):
        bad = self.root / "bad.json"
        bad.write_text("{")
        self.refuses(f"{bad}: not JSON: Expecting property name enclosed in "
                     "double quotes: line 1 column 2 (char 1)",
                     "--config", bad, "--tokens", 1)
        bad.write_text("[1]")
        self.refuses(f"{bad}: not an object", "--config", bad, "--tokens", 1)
        path = self.config(DEEPSEEK | {"hidden_size": "7168"})
        self.refuses(f"{path}: hidden is '7168', not a number",
                     "--config", path, "--tokens", 1)
        self.refuses("no.json: No such file or directory",
                     "--config", "no.json", "--tokens", 1)

    def test_refuses_unknown_names(self):
        self.refuses('the model has no operator "norm"; it has layer_norm, '
                     "qkv_linear, output_linear, attention, rope, "
                     "residual_add, ffn_up, gelu, ffn_down, embedding, logits, "
                     "cross_entropy, adam", *GPT, "--operators", "norm")
        self.refuses('the peaks of "V100" are not known; known are A100, H100, '
                     "H200, H800, H20, B200", *GPT, "--gpu", "V100")
        self.refuses("A100 has no fp8",
                     *GPT, "--gpu", "A100", "--precision", "fp8")

    def test_refuses_a_file_that_cannot_be_written(self):
        path = self.root / "no" / "table.csv"
        self.assert_refuses(
            profile_operators,
            f"profile_operators: {path}: No such file or directory",
            "--dry-run", "--out", path, *GPT)

    def test_needs_a_file_unless_dry(self):
        status, _, err = self.run_main(profile_operators, *GPT)
        self.assertEqual(status, 2)
        self.assertIn("--out is needed, except in a dry run", err)

    def refuses_without(self, torch, message):
        (self.root / "torch.py").write_text(torch)
        environment = os.environ | {"PYTHONPATH": str(self.root)}
        for script, arguments in (("profile_operators", GPT),
                                  ("profile_collectives", [])):
            result = subprocess.run(
                [sys.executable, "-B", "-W", "error",
                 FOLDER / f"{script}.py", *arguments, "--out", self.table],
                capture_output=True, text=True, check=False, env=environment)
            self.assertEqual(
                (result.returncode, result.stdout, result.stderr),
                (2, "", f"{script}: {message}\n"))
            self.assertFalse(self.table.exists())

    def test_needs_torch_and_a_gpu(self):
        hint = "; use --dry-run to see what would be measured"
        self.refuses_without(NO_TORCH, "torch is not installed" + hint)
        self.refuses_without(NO_GPU, "torch sees no GPU" + hint)


class Result:
    """A tensor, to those who only ask whether it holds NaN."""

    def __init__(self, is_nan=False):
        self._is_nan = is_nan

    def isnan(self):
        return self

    def any(self):
        return self

    def item(self):
        return self._is_nan


class TimingTest(unittest.TestCase):
    def setUp(self):
        self.clock = 0.0  # In ms, as CUDA's events.
        test = self

        class Event:
            def __init__(self, enable_timing):
                self.at = None

            def record(self):
                self.at = test.clock

            def elapsed_time(self, end):
                return end.at - self.at

        cuda = types.SimpleNamespace(Event=Event, synchronize=lambda: None)
        torch = types.SimpleNamespace(cuda=cuda)
        self.timer = gpu_timing.Timer(torch, warmup=2, runs=5, flush=False)

    def kernel(self, *times, result=None):
        """Returns what makes a kernel that takes these times in ms."""
        left = list(times)

        def run():
            self.clock += left.pop(0)
            return result

        return lambda: run

    def test_takes_the_median_after_warming_up(self):
        kernel = self.kernel(90, 90, 2, 1, 3, 2, 8, result=Result())
        self.assertEqual(self.timer.fastest([("k", kernel)], "op"),
                         gpu_timing.Measured("k", 2000.0, 1))

    def test_takes_the_fastest_that_runs(self):
        def missing():
            raise AttributeError("no such function")

        kernels = [("a", self.kernel(*[2] * 7)), ("b", missing),
                   ("c", self.kernel(*[1] * 7))]
        self.assertEqual(self.timer.fastest(kernels, "op").kernel, "c")
        with self.assertRaisesRegex(RuntimeError, "b: no such function"):
            self.timer.fastest(kernels[1:2], "op")

    def test_refuses_nan(self):
        kernel = self.kernel(*[1] * 7, result=(Result(), Result(is_nan=True)))
        with self.assertRaisesRegex(operator_table.ProfileError,
                                    "^op: k: the result holds NaN$"):
            self.timer.fastest([("k", kernel)], "op")
        for bad in (math.nan, 0.0, math.inf):
            with self.assertRaisesRegex(operator_table.ProfileError,
                                        "^op: a time is not a number above 0$"):
                gpu_timing.summary([1.0, bad], "op")

    def test_names_only_what_it_is_sure_of(self):
        for device, name in (("NVIDIA H100 80GB HBM3", "H100"),
                             ("NVIDIA A100-SXM4-80GB", "A100"),
                             ("NVIDIA H20", "H20"),
                             ("NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"),
                             ("NVIDIA H100 PCIe", "H100 PCIe"),
                             ("NVIDIA H100 NVL", "H100 NVL")):
            self.assertEqual(gpu_timing.short_name(device), name)


if __name__ == "__main__":
    unittest.main()
