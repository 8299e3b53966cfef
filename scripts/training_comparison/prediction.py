"""From a row to a prediction."""

import json
import re
import subprocess

from .frameworks import find_framework, framework_options, overlap_options
from .gpus import gpu_options
from .rows import LeftOut, integer, read_experts
from .systems import find_system, network_options

TIME_LIMIT = 120  # Seconds for one program.

UNGATED = re.compile(r"gpt|mpt|megatron|turing|nemotron|opt|bloom|neox|llemma",
                     re.I)
# MLA is told by the model, not by the columns.
LATENT = re.compile(r"deepseek[-_ ]?v[23]|deepseekv[23]|deepseek-r1", re.I)


def attention_lines(row, model):
    heads = integer(row, "heads")
    if LATENT.search(model):
        q_rank = 1536 if integer(row, "hidden") > 4096 else 0
        return ("attention: {kind: latent, heads: %d, q_lora_rank: %d, "
                "kv_lora_rank: 512, nope_head_dim: 128, rope_head_dim: 64, "
                "v_head_dim: 128}" % (heads, q_rank))
    head_dim = integer(row, "hidden") // heads
    if re.search(r"qwen3", model, re.I):
        head_dim = 128
    return ("attention: {kind: full, heads: %d, kv_heads: %d, head_dim: %d}"
            % (heads, integer(row, "kv_heads", heads), head_dim))


def is_gated(row, model):
    """By its name; and four times the hidden size is the width of a GPT."""
    text = (row.get("ffn") or "").strip()
    is_gpt = text.isdigit() and int(text) == 4 * integer(row, "hidden")
    return not is_gpt and not UNGATED.search(model)


def model_yaml(row):
    """The model file of a row: what its columns say, and its family's rest."""
    model = row.get("model") or "model"
    gated = is_gated(row, model)
    positions = "alibi" if "mpt" in model.lower() else "learned"
    experts = read_experts(row.get("ffn") or "")
    lines = [f"name: {json.dumps(model)}", "source: [measured row]",
             "no_published_count: a measured row",
             f"layers: {integer(row, 'layers')}",
             f"hidden: {integer(row, 'hidden')}",
             f"vocabulary: {integer(row, 'vocab', 51200)}",
             f"max_positions: {integer(row, 'seq')}",
             f"positions: {'rotary' if gated else positions}",
             f"tied_embeddings: {'false' if gated else 'true'}",
             f"norm: {'rms' if gated else 'layer'}",
             attention_lines(row, model)]
    yes = str(bool(gated)).lower()
    if experts:
        dense = experts.pop("dense_ffn")
        lines += ["feed_forward: {ffn: %d, gated: true}" % dense,
                  "experts: {%s}" % ", ".join(
                      f"{key}: {value}" for key, value in experts.items())]
    else:
        lines.append("feed_forward: {ffn: %d, gated: %s}"
                     % (integer(row, "ffn"), yes))
    return "\n".join(lines) + "\n"


def layout_options(row):
    gpus = integer(row, "gpus")
    sizes = {name: integer(row, name, 1) for name in ("tp", "pp", "cp", "ep")}
    options = ["--world-size", str(gpus)]
    for name, size in sizes.items():
        options += [f"--{name}", str(size)]
    if sizes["ep"] > 1:
        options += ["--etp", "1"]
    if sizes["cp"] > 1 and "SimuMax" in (row.get("source") or ""):
        options += ["--cp-method", "all-to-all"]  # The only one it models.
    vpp = integer(row, "vpp", 1)
    if vpp > 1 and sizes["pp"] > 1:
        options += ["--vpp", str(vpp)]
    if sizes["tp"] > 1 and (integer(row, "sp", 0) or sizes["ep"] > 1):
        options.append("--sp")
    for name, column in (("--micro-batch", "micro_batch"),
                         ("--global-batch", "global_batch"),
                         ("--seq-length", "seq")):
        options += [name, str(integer(row, column))]
    return options


def run(command):
    """Runs one of our programs; its one line of error is why a row is out."""
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=TIME_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        raise LeftOut(f"no result within {TIME_LIMIT} s") from None
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        raise LeftOut((errors or ["failed"])[-1].split("error: ")[-1]
                      .removeprefix("illegal layout: "))


def part_layers(row):
    """Of each chunk: the embedding and the loss count as a layer each."""
    parts = integer(row, "pp") * integer(row, "vpp")
    each, left = divmod(integer(row, "layers") + 2, parts)
    layers = [each] * (parts - left) + [each + 1] * left
    layers[0] -= 1
    layers[-1] -= 1
    return ",".join(map(str, layers))


def generate(row, options, program, bin_dir, assumed):
    """Writes the program."""
    command = [bin_dir / "gen_workload", "--format", "program", "-o", program]
    command += options + layout_options(row)
    try:
        run(command)
    except LeftOut as reason:
        if not str(reason).startswith("VPP"):
            raise
        assumed.append(f"uneven chunks, for {reason}")
        run(command + ["--stage-layers", part_layers(row)])


def predict(row, folder, bin_dir, assumed):
    """Seconds of an iteration, and GiB, or None."""
    if not (row.get("micro_batch") or "").strip():
        assumed.append("a micro-batch of 1")
        row = dict(row, micro_batch="1")
    system, framework = find_system(row), find_framework(row)
    folder.mkdir(parents=True, exist_ok=True)
    model, program = folder / "model.yaml", folder / "program.yaml"
    model.write_text(model_yaml(row), encoding="utf-8")
    options = (["--model", model] + gpu_options(row, system, framework)
               + framework_options(row, framework, assumed))
    generate(row, options, program, bin_dir, assumed)
    run([bin_dir / "simai_analytical", "-w", program, "-o", folder]
        + network_options(row, system, folder)
        + overlap_options(row, framework))
    result = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return (result["result"]["iteration_ps"] * 1e-12,
            result.get("memory", {}).get("reserved_memory_gib"))
