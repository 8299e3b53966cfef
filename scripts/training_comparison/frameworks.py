"""What frameworks do whatever the row, and options of our programs for it."""

import dataclasses
import re

from .rows import LeftOut, integer, read_dtype, read_recompute, read_zero


@dataclasses.dataclass(frozen=True)
class Framework:
    """Which framework published a row, and what it counts as memory."""

    pattern: str  # Regular expression for the source and the kind of GPU.
    name: str  # For gen_workload --framework; inputs/frameworks has its facts.
    release: str = ""  # "@0.12"; empty: the newest.
    notes: str = ""  # Regular expression for the notes of its rows.
    options: tuple[str, ...] = ()  # Options of gen_workload for all rows.
    # Regular expression for models whose recipe also predicts a second token.
    mtp_models: str = "$^"
    has_deep_ep: bool = False  # Where no token is dropped: hides EP, takes SMs.
    # Its published memory: what PyTorch reserves, in GB of 10^9 B. Otherwise
    # what is allocated, in GiB.
    reserved: bool = False
    decimal_gb: bool = False


# SimuMax: Megatron-LM with all overlap off; on B200 the loss is fused, and
# Transformer Engine is 2.11; on A100 Megatron-LM is 0.12.0rc3 (its issue 5).
# Megatron-Core: its README, of H100. MLPerf: submitters run NVIDIA's code for
# NeMo, whose name their folders of results have.
# TorchTitan: torchtitan/components/metrics.py (max_reserved, GiB).
# Megatron-Bridge: mtp_num_layers of its recipes deepseek_v3.py and glm45.py.
# NeMo's containers, and the release of Megatron-Bridge in them: its releases on
# GitHub, of which 0.6.0 is "NeMo Framework 26.08". Rows of 2024 are older than
# all of them.
NEMO_RELEASES = {
    "26.08": "0.6", "26.06": "0.5", "26.04": "0.4", "26.02": "0.3",
    "25.11": "0.2", "25.09": "0.1", "24.09": "0.1", "v5.1": "0.1",
}
FRAMEWORKS = (
    Framework("SimuMax.*B200", "megatron",
              options=("--fused-loss", "--transformer-engine", "2.11")),
    Framework("SimuMax", "megatron", "@0.12"),
    Framework("Megatron-Bridge|NeMo|MLPerf", "megatron-bridge", has_deep_ep=True,
              mtp_models=r"deepseek[-_ ]?v3|glm[-_ ]?4\.5"),
    Framework("Megatron-Core|Megatron.*[HB][12]00", "megatron-core"),
    Framework("InternEvo", "internevo", reserved=True, decimal_gb=True),
    Framework("TorchTitan", "torchtitan-compiled", notes=r"torch\.compile",
              reserved=True),
    Framework("TorchTitan", "torchtitan", reserved=True),
    Framework("MosaicML", "mosaicml"),
    Framework("Megatron|Korthikanti", "megatron"),
)


def find_framework(row):
    told = f"{row.get('source') or ''} {row.get('gpu_type') or ''}"
    notes = row.get("notes") or ""
    return next((framework for framework in FRAMEWORKS
                 if re.search(framework.pattern, told)
                 and re.search(framework.notes, notes)), None)


def release_of(row, framework):
    """The release that ran, "@0.1"; empty: the newest."""
    if framework.name != "megatron-bridge":
        return framework.release
    told = row.get("source") or ""
    return next(("@" + release for words, release in NEMO_RELEASES.items()
                 if words in told), "")


def uses_deep_ep(row, framework):
    model = (row.get("model") or "").lower()
    return framework.has_deep_ep and "dropless" in model


def sharding_options(row, framework):
    stage, is_fsdp, group = read_zero(row)
    ranks = integer(row, "gpus") // (integer(row, "tp") * integer(row, "pp"))
    if stage != 1 and group and group != ranks:
        raise LeftOut(f"zero {row['zero']!r}: no model of shards over {group} "
                      f"of {ranks} ranks")
    if is_fsdp and framework.name == "megatron":  # These rows use PyTorch's.
        if stage == 3:
            return ["--framework", "fsdp"]
        # SHARD_GRAD_OP: parameters stay whole from one step to the next.
        return ["--framework", "deepspeed", "--zero", "2"]
    options = ["--framework", framework.name + release_of(row, framework),
               "--zero", str(stage)]
    if stage == 1 and group and group < ranks:
        options += ["--zero-group", str(group)]
    return options


def framework_options(row, framework, assumed):
    """What the columns zero, recompute and dtype mean for gen_workload."""
    options = sharding_options(row, framework) + list(framework.options)
    if framework.name != "megatron":
        assumed.append(f"what {framework.name} does by default")
    recompute = read_recompute(row, assumed)
    options += ["--recompute", recompute,
                "--dtype", read_dtype(row, assumed)]
    if re.search(framework.mtp_models, row.get("model") or "", re.I):
        options += ["--mtp-num-layers", "1"]
    if integer(row, "flash_attn") == 0:
        options.append("--no-flash-attn")
    return options


def overlap_options(row, framework):
    """What hides behind computation, for simai_analytical."""
    return ["--ep-overlap", "1"] if uses_deep_ep(row, framework) else []
