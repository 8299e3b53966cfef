#!/usr/bin/env python3
"""Tests scripts/compare_aicb.py."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # The source folders stay as they are.
sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts")
)

import compare_aicb  # noqa: E402  (needs the path above)
from aicb_comparison import commands, log_rules, simai_rules  # noqa: E402
from aicb_comparison.sizes import Sizes  # noqa: E402

# One block, hidden 8, feed-forward 32, TP 2, DP 2, one micro-batch of one
# sequence of 4: hidden states of 2 x 4 x 8 = 64 B.
#
# Parameters: attention 4 x 8 x 8 / 2 = 128, feed-forward 2 x 8 x 32 / 2 = 256,
# embedding 256 / 2 x 8 = 1024. AICB: four embeddings, logits of 1024, 4 x 8
# positions, norms of 16: 128 + 256 + 4096 + 1024 + 32 + 16 = 5552. We: one
# embedding, 16 x 8 positions, three norms of 16: 128 + 256 + 1024 + 128 + 48 =
# 1584.
COMMAND = (
    "# cwd: anywhere\n"
    "python3 -m workload_generator.SimAI_training_workload_generator "
    "--frame=Megatron --num_layers=1 --hidden_size=8 --num_attention_heads=2 "
    "--vocab_size=200 --max_position_embeddings=16 --seq_length=4 "
    "--world_size=4 --tensor_model_parallel_size=2 --global_batch=2 "
    "--enable_sequence_parallel --aiob_enable --comp_filepath=Example.txt\n"
)
HEADER = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 "
    "vpp: 1 ga: 1 all_gpus: 4 checkpoints: 0 checkpoint_initiates: 0 "
    "pp_comm: 0"
)
ENDS = [("cross_entropy", 3, 16), ("optimizer", 4, 4)]


def layer(name, forward="NONE 0", gradient="NONE 0", weight="NONE 0"):
    return [name, "-1", "1", *forward.split(), "1", *gradient.split(), "1",
            *weight.split(), "100"]  # fmt: skip


def text_of(layers):
    layers = layers + [
        layer(f"{name}{i + 1}", f"ALLREDUCE {size}")
        for name, count, size in ENDS
        for i in range(count)
    ]
    lines = ["\t".join(words) for words in layers]
    return "\n".join([HEADER, str(len(lines)), *lines]) + "\n"


AICB = [
    layer("grad_gather", weight="ALLGATHER 11104"),
    layer("grad_param_comm", weight="REDUCESCATTER 22208"),
    layer("grad_param_compute"),
    layer("embedding_grads", gradient="ALLREDUCE 64"),
    layer("moe_grad_norm1", weight="ALLGATHER_DP_EP 0"),
    layer("moe_grad_norm2", weight="REDUCESCATTER_DP_EP 0"),
    layer("embedding_layer", "ALLREDUCE 64"),
    layer("attention_column", "ALLGATHER 64", "REDUCESCATTER 0"),
    layer("attention_row", "REDUCESCATTER 64", "ALLGATHER 64"),
    layer("mlp_column", "ALLGATHER 64", "REDUCESCATTER 0"),
    layer("mlp_row", "REDUCESCATTER 64", "ALLGATHER 64"),
    layer("final_column", "ALLGATHER 64", "REDUCESCATTER 0"),
]
OURS = [
    layer("grad_gather", weight="ALLGATHER 3168"),
    layer("grad_param_comm", weight="REDUCESCATTER 6336"),
    layer("grad_param_compute"),
    layer("layernorm", gradient="ALLREDUCE 192"),  # 4 x 48.
    layer("embedding_layer", "ALLREDUCE 64", "ALLGATHER 64"),
    layer("attention_column", "ALLGATHER 64", "REDUCESCATTER 64"),
    layer("attention_row", "REDUCESCATTER 64", "ALLGATHER 64"),
    layer("mlp_column", "ALLGATHER 64", "REDUCESCATTER 64"),
    layer("mlp_row", "REDUCESCATTER 64", "ALLGATHER 64"),
    layer("final_column", "ALLGATHER 64", "REDUCESCATTER 64"),
]

# Writes what lies beside it into the file behind -o.
PROGRAM = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
cp "$(dirname "$0")/ours.txt" "$2"
"""


class CompareTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a b ")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.data = self.root / "data"
        self.data.mkdir()
        program = self.root / "gen_workload"
        program.write_text(PROGRAM, encoding="utf-8")
        program.chmod(0o755)

    def run_main(self, *arguments):
        """Returns (exit status, the lines that it printed)."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = compare_aicb.main(
                ["--bin", str(self.root), "--data", str(self.data), *arguments]
            )
        return status, said.getvalue().splitlines()

    def compare(self, theirs=None, ours=None, command=COMMAND):
        """Compares one pair of files."""
        (self.data / "x.cmd").write_text(command, encoding="utf-8")
        (self.data / "x.txt").write_text(
            text_of(theirs or AICB), encoding="utf-8"
        )
        (self.root / "ours.txt").write_text(
            text_of(ours or OURS), encoding="utf-8"
        )
        return self.run_main()

    def changed(self, layers, at, column, text):
        layers = [list(words) for words in layers]
        layers[at][column : column + 2] = text.split()
        return layers

    def test_explains_known_differences(self):
        status, lines = self.compare()
        self.assertEqual(status, 0)
        # 12 + 1 + 7 lines of both, and the header.
        self.assertEqual(
            lines[1].split(),
            ["x", "21", "11", "0", "C02:1", "C03:1", "C04:2", "C06:3",
             "C07:1", "P01:2", "P02:2", "P03:2", "P05:2"],
        )  # fmt: skip
        self.assertEqual(
            lines[2:], ["finished: 1 files, 0 unexplained differences"]
        )

    def test_a_size_beside_the_formula_is_not_explained(self):
        theirs = self.changed(AICB, 0, 9, "ALLGATHER 11105")
        status, lines = self.compare(theirs)
        self.assertEqual(status, 1)
        self.assertEqual(
            lines[2:],
            ["x: line 3, grad_gather, wg: ALLGATHER 11105; ours (line 3) "
             "ALLGATHER 3168",
             "finished: 1 files, 1 unexplained differences"],
        )  # fmt: skip

    def test_our_own_error_is_not_explained(self):
        ours = self.changed(OURS, 6, 6, "ALLGATHER 32")
        status, lines = self.compare(ours=ours)
        self.assertEqual(status, 1)
        self.assertEqual(
            lines[2],
            "x: line 11, attention_row, ig: ALLGATHER 64; ours (line 9) "
            "ALLGATHER 32",
        )

    def test_a_missing_line_is_not_explained(self):
        status, lines = self.compare(AICB[:7] + AICB[8:])
        self.assertEqual(status, 1)
        self.assertEqual(
            lines[2],
            "x: line 8, attention_column, only ours: fwd ALLGATHER 64, ig "
            "REDUCESCATTER 64, wg NONE 0",
        )

    def test_a_line_too_many_is_not_explained(self):
        status, lines = self.compare(AICB[:4] + AICB[3:])
        self.assertEqual(status, 1)
        self.assertIn("only aicb", lines[2])

    def test_lines_in_another_place_are_not_explained(self):
        swapped = AICB[:3] + [AICB[4], AICB[3]] + AICB[5:]
        self.assertEqual(self.compare(swapped)[0], 1)

    def test_a_header_value_is_compared(self):
        self.compare()
        path = self.data / "x.txt"
        text = path.read_text(encoding="utf-8").replace("ga: 1", "ga: 2")
        path.write_text(text, encoding="utf-8")
        status, lines = self.run_main()
        self.assertEqual(status, 1)
        self.assertEqual(lines[2], "x: line 1, ga: 2; ours 1")

    def test_names_a_command_that_is_not_known(self):
        status, lines = self.compare(command="make me a workload\n")
        self.assertEqual(status, 1)
        self.assertEqual(
            lines[2], "x: no generator of AICB in 'make me a workload'"
        )

    def test_skips_without_data(self):
        status, lines = self.run_main("--data", str(self.root / "none"))
        self.assertEqual(status, 0)
        self.assertEqual(
            lines, [f"skipped: no folder {self.root / 'none'}"]
        )

    def test_skips_a_folder_without_pairs(self):
        (self.data / "x.cmd").write_text(COMMAND, encoding="utf-8")
        self.assertEqual(
            self.run_main(),
            (0, [f"skipped: no pairs of files in {self.data}"]),
        )


class CommandTest(unittest.TestCase):
    def test_reads_defaults_and_derives_the_rest(self):
        command = commands.parse(COMMAND)
        self.assertEqual(command.kind, "training")
        self.assertEqual(command.flags.ffn_hidden_size, 32)
        self.assertEqual(command.flags.pipeline_model_parallel, 1)
        self.assertEqual(Sizes(command).vocabulary, 256)

    def test_a_preset_overrules_what_was_given(self):
        command = commands.parse(
            "sh scripts/megatron_workload_with_aiob.sh -m 7 --tp 2 --world_size"
            " 8 --aiob_enable\n"
        )
        self.assertEqual(command.flags.tensor_model_parallel_size, 4)
        self.assertEqual(command.flags.hidden_size, 4096)
        self.assertEqual(command.forced, ("tensor_model_parallel_size",))

    def test_experts_of_deepseek_are_gated_without_swiglu(self):
        command = commands.parse(
            "python3 -m workload_generator.SimAI_training_workload_generator "
            "--frame=DeepSeek --num_layers=2 --hidden_size=8 "
            "--num_attention_heads=2 --ffn_hidden_size=4 --num_experts=4 "
            "--n_dense_layers=1 --n_shared_expert=1"
        )
        self.assertIn(
            "feed_forward: {ffn: 4, gated: true}",
            commands.model_file(command.flags),
        )
        # One dense block: three matrices of 8 x 4.
        self.assertEqual(Sizes(command).our_parts()["mlp"], 3 * 8 * 4)

    def test_finds_the_model_of_inference(self):
        command = commands.parse(
            "python3 -m workload_generator.SimAI_inference_workload_generator "
            "Qwen3-Moe-235B default.json --phase decode --micro_batch 4"
        )
        self.assertEqual(command.model, "qwen3-moe-235b-a22b")
        self.assertEqual(command.flags.hidden_size, 4096)
        options = commands.options_of(command, None)
        self.assertIn("--fp8-dispatch", options)


class RulesTest(unittest.TestCase):
    def setUp(self):
        self.sizes = Sizes(commands.parse(COMMAND))

    def explain(self, name, column, theirs, ours):
        return simai_rules.explain_cell(
            self.sizes, name, column, theirs, ours
        )

    def test_a_lost_collective_has_the_size_of_hidden_states(self):
        lost = ("REDUCESCATTER", 0)
        explain = self.explain
        self.assertEqual(
            explain("mlp_column", "ig", lost, ("REDUCESCATTER", 64)), ["C06"]
        )
        self.assertEqual(
            explain("mlp_column", "ig", lost, ("REDUCESCATTER", 32)), []
        )
        self.assertEqual(
            explain("mlp_column", "ig", lost, ("ALLGATHER", 64)), []
        )

    def test_a_group_of_two_explains_nothing(self):
        self.assertEqual(
            self.explain("mlp_column", "fwd", ("ALLGATHER", 64), ("NONE", 0)),
            [],
        )


class LogTest(unittest.TestCase):
    def test_a_product_is_the_same_transposed(self):
        forward = log_rules.shape_of("((2048 1 5120) (5120 3840))")
        self.assertEqual(forward, "2048 x 3840 over 5120")
        self.assertEqual(
            log_rules.shape_of("((3840 5120) (5120 2048))"), forward
        )

    def test_finds_the_module_of_a_stage(self):
        self.assertEqual(
            log_rules.place_of("forward.MegatronEmbedding"), "embedding"
        )
        self.assertEqual(
            log_rules.place_of("backward.embedding_layer"), "embedding"
        )
        self.assertEqual(log_rules.place_of("step.optimizer"), "")


if __name__ == "__main__":
    unittest.main()
