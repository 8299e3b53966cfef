#!/usr/bin/env python3
"""Tests scripts/profile by dry runs: collectives, AIOB files, plots, README."""

import pathlib
import shlex
import subprocess
import sys
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True  # The source folders stay as they are.

from profile_test import (  # noqa: E402
    DEEPSEEK, FOLDER, GPT, ProfileTest)

import operator_table  # noqa: E402  (profile_test made the path to these)
import plot  # noqa: E402
import profile_collectives  # noqa: E402
import write_aiob  # noqa: E402


class CollectivesTest(ProfileTest):
    def dry_run(self, *arguments):
        self.assert_runs(profile_collectives, "--dry-run", "--out", self.table,
                         *arguments)
        return self.table.read_text().splitlines()

    def test_bus_bandwidth_is_that_of_nccl_tests(self):
        lines = self.dry_run("--min-bytes", 1 << 20, "--max-bytes", 1 << 20)
        # 20 us and 2^20 bytes at a bus bandwidth of 360 GB/s; 8 ranks.
        self.assertEqual(lines, [
            "gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us,"
            "algbw_GBps,busbw_GBps",
            "dry run,1,8,not stated,all_reduce,1048576,25.097,41.781,73.116",
            "dry run,1,8,not stated,all_gather,1048576,22.549,46.503,40.690",
            "dry run,1,8,not stated,reduce_scatter,1048576,22.549,46.503,40.690",
            "dry run,1,8,not stated,all_to_all,1048576,22.549,46.503,40.690",
            "dry run,1,8,not stated,send_recv,1048576,22.913,45.764,45.764"])

    def test_sizes_divide_over_the_ranks(self):
        lines = self.dry_run("--ranks", 12, "--nodes", 2, "--ops", "all_gather",
                             "--min-bytes", 8, "--max-bytes", 2000,
                             "--factor", 10)
        # 24 bytes are one element for each rank.
        sizes = [line.split(",")[1:6:4] for line in lines[1:]]
        self.assertEqual(sizes, [["2", "24"], ["2", "72"], ["2", "792"]])

    def test_refuses_ranks_that_make_no_group(self):
        self.assert_refuses(
            profile_collectives,
            "profile_collectives: a collective needs at least 2 ranks",
            "--dry-run", "--ranks", 1)
        self.assert_refuses(
            profile_collectives,
            "profile_collectives: 9 ranks are not a multiple of 2 nodes",
            "--dry-run", "--ranks", 9, "--nodes", 2)

    def test_refuses_options_that_do_nothing(self):
        status, _, err = self.run_main(
            profile_collectives, "--ranks", 8, "--out", self.table)
        self.assertEqual(status, 2)
        self.assertIn("--ranks and --nodes are for a dry run", err)


class AiobTest(ProfileTest):
    def write(self, *arguments):
        return ("--table", self.table, "--parameters", 10**9, "--out",
                self.root / "aiob.txt", *arguments)

    def sections(self, *arguments):
        self.assert_runs(write_aiob, *self.write(*arguments))
        lines = (self.root / "aiob.txt").read_text().splitlines()
        self.assertEqual(lines[0], "train_iter:50")
        sections = {}
        for at in range(1, len(lines), 4):
            value = lines[at + 1].split()[1]
            self.assertEqual(lines[at + 1 : at + 4], [
                f"    time_gpu_{key}: {value}" for key in ("max", "min", "avg")
            ])
            sections[lines[at].removesuffix(":")] = float(value)
        return sections

    def test_sections_are_sums_of_operators(self):
        times = {}
        for row in self.dry_run(*GPT):
            # The first of an operator is that of the forward pass.
            times.setdefault(row["operator"], float(row["time_us"]))
        found = self.sections(*GPT)
        norm, add = times["layer_norm"], times["residual_add"]
        expected = {
            "Emb": times["embedding"],
            "layernorm": norm,
            "atten_qkv": times["qkv_linear"],
            "atten_flash": times["rope"] + times["attention"],
            "atten_linear": times["output_linear"] + add,
            "layernorm2": norm,
            "mlp_linear_1": times["ffn_up"],
            "mlp_gelu": times["gelu"],
            "mlp_linear_2": times["ffn_down"] + add,
            "layernorm_post": norm,
            "logit_time": times["logits"],
        }
        # AICB adds two of it. The largest that was measured is 2^28.
        largest = operator_table.read_table(self.table)[-1].time_us
        expected["param_time"] = largest * 10**9 / 2**28 / 2
        self.assertEqual(list(found), list(expected))
        for name, value in expected.items():
            self.assertAlmostEqual(found[name], value, places=2, msg=name)

    def test_experts_take_the_place_of_the_plain_blocks(self):
        model = ["--config", self.config(DEEPSEEK), "--ep", 8, "--tokens", 4096]
        rows = self.dry_run(*model)
        times = {}
        for row in rows:
            times.setdefault(row["operator"], float(row["time_us"]))
        found = self.sections(*model)
        self.assertAlmostEqual(
            found["mlp_linear_1"],
            sum(times[name] for name in (
                "shared_up", "router", "permute", "experts_up")), places=2)
        self.assertAlmostEqual(
            found["atten_qkv"],
            sum(times[name] for name in ("kv_down", "kv_up", "q_up", "q_down")),
            places=2)

    def refuses(self, message, *arguments):
        self.assert_refuses(write_aiob, "write_aiob: " + message,
                            *self.write(*arguments))
        self.assertFalse((self.root / "aiob.txt").exists())

    def test_refuses_a_table_of_another_model(self):
        self.dry_run(*GPT)
        self.refuses(
            f"{self.table}: no qkv_linear precision=bf16 groups=1 m=2048 "
            "n=3072 k=4096: measure it with profile_operators and the same "
            "flags", *GPT, "--tp", 4)

    def test_refuses_to_choose_a_gpu(self):
        self.dry_run(*GPT)
        text = self.table.read_text()
        other = text.replace("H100,", "H200,").split("\n", 1)[1]
        self.table.write_text(text + other)
        self.refuses(f"{self.table}: holds H100, H200: choose one with --gpu",
                     *GPT)
        self.refuses(f'{self.table}: no GPU "A100"; it holds H100, H200',
                     *GPT, "--gpu", "A100")
        self.sections(*GPT, "--gpu", "H200")

    def test_refuses_a_broken_table(self):
        self.dry_run(*GPT)
        header, first, *_ = self.table.read_text().splitlines()
        for line, message in (
            (first.replace("17.300", "nan"),
             '2: time_us is "nan", not a number above 0'),
            (first.replace("33554432", "x"), '2: bytes is "x", not a number'),
            (first.replace("33554432", ""),
             "2: no shape: expected m, keys or bytes"),
            (first.replace("bf16,", "bf16,7"),
             "2: groups does not go with the others"),
            (first.replace("bf16", "int8"),
             '2: precision is "int8", not one of fp32, bf16, fp8'),
            (first + ",", "2: 21 cells, not 20"),
        ):
            self.table.write_text(f"{header}\n{line}\n")
            self.refuses(f"{self.table}:{message}", *GPT)
        self.table.write_text("gpu,operator\n")
        self.refuses(f"{self.table}:1: the header must be {header}", *GPT)
        self.table.write_text(header + "\n")
        self.refuses(f"{self.table}: holds no rows", *GPT)


class PlotTest(ProfileTest):
    def draw(self, *arguments):
        path = self.root / "plot.svg"
        self.assert_runs(plot, self.table, "--out", path, *arguments)
        root = xml.etree.ElementTree.parse(path).getroot()
        name = "{http://www.w3.org/2000/svg}"
        texts = [element.text for element in root.iter(name + "text")]
        return texts, list(root.iter(name + "polyline"))

    def test_draws_a_curve_for_each_operator(self):
        self.dry_run(*GPT, 4096)
        texts, curves = self.draw()
        for text in ("% of peak FLOP/s", "% of peak bandwidth",
                     "H100 attention backward", "H100 layer_norm"):
            self.assertIn(text, texts)
        self.assertEqual(len(curves), 14)

    def test_draws_collectives(self):
        self.assert_runs(profile_collectives, "--dry-run", "--out", self.table)
        texts, curves = self.draw()
        self.assertIn("dry run send_recv 8 ranks", texts)
        self.assertEqual(len(curves), 5)

    def test_draws_a_gpu_with_given_peaks(self):
        self.dry_run(*GPT, "--operators", "logits")
        self.table.write_text(
            self.table.read_text().replace("H100,", "<X>,"))
        texts, _ = self.draw("--peak-tflops", 100, "--peak-gb-per-s", 1000)
        self.assertIn("<X> logits", texts)
        self.assert_refuses(
            plot, 'plot: the peaks of "<X>" are not known; known are A100, '
            "H100, H200, H800, H20, B200", self.table, "--out", "x.svg")

    def test_refuses_another_file(self):
        self.table.write_text("a,b\n")
        self.assert_refuses(
            plot, f"plot: {self.table}:1: not the header of an operator table "
            "or of a table of collectives", self.table, "--out", "x.svg")


class ReadmeTest(ProfileTest):
    def test_commands_run_dry_and_write_only_what_they_say(self):
        before = sorted(path.name for path in FOLDER.iterdir())
        self.config(DEEPSEEK)
        commands = [line for line in
                    (FOLDER / "README.md").read_text().splitlines()
                    if line.startswith(("scripts/profile/", "torchrun "))]
        self.assertEqual(len(commands), 6)
        for command in commands:
            words = shlex.split(command)
            while not words[0].startswith("scripts/profile/"):
                words.pop(0)  # What torchrun itself is told.
            script = FOLDER / pathlib.Path(words.pop(0)).name
            if script.name.startswith("profile_") and "--dry-run" not in words:
                words.append("--dry-run")
            result = subprocess.run(
                [sys.executable, "-W", "error", script, *words],
                cwd=self.root, capture_output=True, text=True, check=False)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(
            sorted(path.name for path in self.root.iterdir()),
            ["aiob.txt", "collectives.csv", "collectives.svg", "config.json",
             "operators.csv", "operators.svg"])
        self.assertEqual(
            sorted(path.name for path in FOLDER.iterdir()), before)


if __name__ == "__main__":
    unittest.main()
