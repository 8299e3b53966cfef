"""What a command line of AICB asks for, and gen_workload's line for the same.

AICB's defaults and presets are those of utils/utils.py and of
scripts/megatron_workload_with_aiob.sh in its repository.
"""

import argparse
import dataclasses
import math
import re
import shlex

MODULE = re.compile(r"-m workload_generator\.(\w+) ?(.*)")
SCRIPT = re.compile(r"megatron_workload_with_aiob\.sh ?(.*)")

# AICB's flags with a value, and its defaults.
NUMBERS = {
    "world_size": 1, "tensor_model_parallel_size": 1,
    "pipeline_model_parallel": 1, "expert_model_parallel_size": 1,
    "global_batch": 4, "micro_batch": 1, "num_layers": 24,
    "hidden_size": 1024, "seq_length": 2048, "num_attention_heads": None,
    "ffn_hidden_size": None, "vocab_size": 32000,
    "max_position_embeddings": 4096, "num_experts": 1, "moe_router_topk": 1,
    "n_dense_layers": 3, "n_shared_expert": 2, "qk_rope_dim": 64,
    "qk_nope_dim": 128, "q_lora_rank": 1536, "kv_lora_rank": 512,
    "v_head_dim": 128, "make_vocab_size_divisible_by": 128, "stage": 3,
    "reduce_bucket_size": 500000000, "allgather_bucket_size": 500000000,
    "begin_size": 1048576, "end_size": 1048576, "iter_num": 500,
}
TEXTS = {"frame": "Megatron", "phase": "decode", "comp_filepath": None,
         "test_comm": "all_reduce"}
SWITCHES = {
    "enable_sequence_parallel", "swiglu", "add_bias_linear", "moe_enable",
    "recompute_activations", "aiob_enable", "use_distributed_optimizer",
    "contiguous_gradients", "computation_enable",
}
# Those that change neither side's collectives.
WITHOUT_EFFECT = {
    "epoch_num", "model_name", "gpu_type", "dtype", "result_dir",
    "aiob_forward_loops", "moe_routing_strategy", "activation_func",
    "param_persistence_threshold", "model_persistence_threshold",
    "max_live_parameters", "prefetch_bucket_size", "pp_rank",
    "multi_all_reduce_enable",
}
SWITCHES_WITHOUT_EFFECT = {
    "workload_only", "use_flash_attn", "moe_grouped_gemm", "amp_enabled",
    "enable_visual", "overlap_version",
}

# The shell script's own names, its defaults, and its presets, which it sets
# after the options and so instead of them.
SCRIPT_NAMES = {
    "tp": "tensor_model_parallel_size", "pp": "pipeline_model_parallel",
    "ep": "expert_model_parallel_size", "experts": "num_experts",
    "topk": "moe_router_topk", "sp": "enable_sequence_parallel",
    "sp-enable": "enable_sequence_parallel", "aiob": "aiob_enable",
    "flash_attn": "use_flash_attn", "grouped_gemm": "moe_grouped_gemm",
    "recompute": "recompute_activations",
}
SCRIPT_DEFAULTS = {
    "world_size": 32, "tensor_model_parallel_size": 8, "global_batch": 1024,
    "num_layers": 40, "seq_length": 4096, "hidden_size": 5120,
    "num_attention_heads": 40, "vocab_size": 50257,
}


def shape(layers, hidden, heads, ffn=None, **others):
    return {"num_layers": layers, "hidden_size": hidden,
            "num_attention_heads": heads, "ffn_hidden_size": ffn, **others}


PRESETS = {
    "7": shape(36, 4096, 32, tensor_model_parallel_size=4),
    "13": shape(40, 5120, 40),
    "22": shape(48, 6144, 64, tensor_model_parallel_size=8),
    "175": shape(96, 12288, 96, tensor_model_parallel_size=8),
    "405": shape(128, 16384, 128, 53248),
    "moe": shape(32, 4096, 32, 14336, tensor_model_parallel_size=4,
                 moe_enable=True),
    "deepseek671": shape(
        61, 18432, 128, 2048, tensor_model_parallel_size=1, num_experts=256,
        n_shared_expert=1, n_dense_layers=3, frame="DeepSeek"),
    "deepseek236": shape(
        60, 12288, 128, 1536, tensor_model_parallel_size=1, num_experts=160,
        n_shared_expert=2, n_dense_layers=1, frame="DeepSeek"),
    "deepseek16": shape(
        27, 10944, 16, 1408, tensor_model_parallel_size=1, num_experts=64,
        n_shared_expert=2, n_dense_layers=1, q_lora_rank=0, frame="DeepSeek"),
}

# AICB's inference models: what it looks for in the name, our model, and what
# its configuration has (the vocabulary is our model's).
INFERENCE = {
    "DeepSeek": ("deepseek-v3", {
        "num_layers": 61, "hidden_size": 7168, "moe_router_topk": 8,
        "n_dense_layers": 3, "vocab_size": 129280}),
    "Qwen3-Moe": ("qwen3-moe-235b-a22b", {
        "num_layers": 94, "hidden_size": 4096, "moe_router_topk": 8,
        "n_dense_layers": 0, "vocab_size": 151936}),
    "Qwen3-Next": ("qwen3-next-80b-a3b", {
        "num_layers": 48, "hidden_size": 2048, "moe_router_topk": 10,
        "n_dense_layers": 0, "vocab_size": 151936}),
}

KINDS = {
    "SimAI_training_workload_generator": "training",
    "SimAI_inference_workload_generator": "inference",
    "Vidur_workload_generator": "vidur",
    "generate_megatron_workload": "megatron log",
    "generate_deepspeed_stage1_2_workload": "deepspeed log",
    "generate_deepspeed_stage3_workload": "deepspeed log",
    "generate_collective_test": "collective test",
}


class CommandError(Exception):
    """A command line that is none of AICB's."""


@dataclasses.dataclass
class Command:
    kind: str  # One of KINDS.
    flags: argparse.Namespace  # All of NUMBERS, TEXTS and SWITCHES.
    model: str = ""  # Of inference: our name.
    forced: tuple[str, ...] = ()  # Flags that a preset has overruled.


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise CommandError(message)


def make_parser(names):
    parser = Parser(add_help=False)

    def add(name, **how):
        others = [other for other, same in names.items() if same == name]
        spellings = {name, name.replace("_", "-"), *others}
        parser.add_argument(
            *(f"--{s}" for s in sorted(spellings)), dest=name, **how
        )

    for name in NUMBERS:
        add(name, type=int, default=argparse.SUPPRESS)
    for name in [*TEXTS, *WITHOUT_EFFECT]:
        add(name, default=argparse.SUPPRESS)
    for name in [*SWITCHES, *SWITCHES_WITHOUT_EFFECT]:
        add(name, action="store_true", default=argparse.SUPPRESS)
    parser.add_argument("-m", dest="preset", default=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*")
    return parser


def parse(text):
    """Returns the command in `text`, that of a .cmd file."""
    lines = [line for line in text.splitlines() if line[:1] != "#"]
    line = next((line for line in lines if line.strip()), "")
    module, script = MODULE.search(line), SCRIPT.search(line)
    if module and module[1] in KINDS:
        kind, words, names = KINDS[module[1]], module[2], {}
    elif script:
        kind, words, names = "training", script[1], SCRIPT_NAMES
    else:
        raise CommandError(f"no generator of AICB in {line!r}")
    given = vars(make_parser(names).parse_args(shlex.split(words)))
    preset, model, forced = {}, "", ()
    if script:
        if given.get("preset") not in PRESETS:
            raise CommandError(f"no preset {given.get('preset')!r}")
        preset = PRESETS[given["preset"]]
        forced = tuple(
            name for name in preset if given.get(name, preset[name])
            != preset[name]
        )
        given = {**SCRIPT_DEFAULTS, **given}
    if kind in ("inference", "vidur"):
        name = (given["words"] or [""])[0]
        known = [key for key in INFERENCE if key in name]
        if not known:
            raise CommandError(f"no inference model {name!r}")
        model, preset = INFERENCE[known[0]]
        given = {"seq_length": 1, **given}
    values = {**NUMBERS, **TEXTS, **dict.fromkeys(SWITCHES, False)}
    flags = argparse.Namespace(**{**values, **given, **preset})
    if flags.num_attention_heads is None:
        flags.num_attention_heads = flags.num_layers
    if flags.ffn_hidden_size is None:
        flags.ffn_hidden_size = default_width(flags)
    return Command(kind, flags, model, forced)


def default_width(flags):
    """AICB's width of the feed-forward part."""
    if not flags.swiglu:
        return 4 * flags.hidden_size
    return int((4 * flags.hidden_size * 2 / 3) / 64) * 64


def options_of(command, model_path):
    """Returns gen_workload's options for the same, without --output."""
    f = command.flags
    options = [
        "--world_size", f.world_size,
        "--tensor_model_parallel_size", f.tensor_model_parallel_size,
        "--pipeline_model_parallel", f.pipeline_model_parallel,
        "--expert_model_parallel_size", f.expert_model_parallel_size,
        "--micro_batch", f.micro_batch,
        "--seq_length", f.seq_length,
    ]  # fmt: skip
    if command.kind in ("inference", "vidur"):
        # AICB sends tokens to their experts in FP8, whatever the model.
        options += ["--model", command.model, "--phase", f.phase,
                    "--fp8-dispatch"]  # fmt: skip
        return options + (["--format", "vidur"] * (command.kind == "vidur"))
    options += ["--global_batch", f.global_batch, "--frame", f.frame]
    options += ["--enable_sequence_parallel"] * f.enable_sequence_parallel
    options += ["--recompute_activations"] * f.recompute_activations
    if command.kind.endswith("log"):
        options += ["--format", "aicb-log"]
        # AICB's logs, unlike its workloads, depend on this.
        plain = f.frame == "Megatron" and not f.use_distributed_optimizer
        options += ["--zero", 0] if plain else []
        options += ["--computation_enable"] * f.computation_enable
    if f.frame == "DeepSpeed":
        options += ["--stage", f.stage]
    if f.frame in ("DeepSeek", "DeepSpeed"):
        return options + ["--model", model_path]
    return options + megatron_model(f)


def megatron_model(f):
    options = [
        "--num_layers", f.num_layers,
        "--hidden_size", f.hidden_size,
        "--num_attention_heads", f.num_attention_heads,
        "--ffn_hidden_size", f.ffn_hidden_size,
        "--vocab_size", f.vocab_size,
        # Longer sequences than that have no positions to learn.
        "--max_position_embeddings",
        max(f.max_position_embeddings, f.seq_length),
    ]  # fmt: skip
    options += ["--swiglu"] * f.swiglu
    options += ["--add_bias_linear"] * f.add_bias_linear
    if f.moe_enable:
        options += ["--moe_enable", "--num_experts", f.num_experts,
                    "--moe_router_topk", f.moe_router_topk]  # fmt: skip
    return options


def model_file(f):
    """The model file of what AICB's frames DeepSeek and DeepSpeed build."""
    lines = [
        "name: aicb",
        f"layers: {f.num_layers}",
        f"hidden: {f.hidden_size}",
        f"vocabulary: {f.vocab_size}",
        f"max_positions: {max(f.max_position_embeddings, f.seq_length)}",
    ]
    heads = f.num_attention_heads
    if f.frame == "DeepSpeed":
        lines += [
            f"attention: {{kind: full, heads: {heads}, kv_heads: {heads}, "
            f"head_dim: {f.hidden_size // heads}}}",
            f"feed_forward: {{ffn: {f.ffn_hidden_size}, gated: true}}",
        ]
        return "\n".join(lines) + "\n"
    queries = f"q_lora_rank: {f.q_lora_rank}, " if f.q_lora_rank else ""
    shared = f.n_shared_expert * f.ffn_hidden_size
    lines += [
        f"attention: {{kind: latent, heads: {heads}, {queries}"
        f"kv_lora_rank: {f.kv_lora_rank}, nope_head_dim: {f.qk_nope_dim}, "
        f"rope_head_dim: {f.qk_rope_dim}, v_head_dim: {f.v_head_dim}}}",
        # AICB's DeepSeek has three matrices in an expert, --swiglu or not.
        f"feed_forward: {{ffn: {f.ffn_hidden_size}, gated: true}}",
        f"experts: {{experts: {f.num_experts}, top_k: {f.moe_router_topk}, "
        f"ffn: {f.ffn_hidden_size}, shared_ffn: {shared}, "
        f"dense_layers: {f.n_dense_layers}}}",
    ]
    return "\n".join(lines) + "\n"


def padded(number, multiple):
    return math.ceil(number / multiple) * multiple
