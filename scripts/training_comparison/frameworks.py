"""What frameworks do whatever the row, and options of our programs for it."""

import dataclasses
import re

from .rows import LeftOut, integer, read_dtype, read_recompute, read_zero


@dataclasses.dataclass(frozen=True)
class Framework:
    """What a framework does whatever the row: its defaults, as documented."""

    pattern: str  # Of the source, and of the kind of GPU.
    hides_gradients: bool = False  # Reduced behind the last backward pass.
    hides_parameters: bool = False  # Gathered behind the first forward pass.
    overlaps_tp: bool = False  # With parts of products.
    attention_speed: float = 1.0  # Against FlashAttention 2.
    has_own_fsdp: bool = False  # Not PyTorch's.
    gradients: str = "fp32"  # As they are summed.
    fuses_loss: bool = False
    optimizer_workspace: int = 0  # Bytes a parameter while it runs.
    pads_vocabulary: bool = True
    fills_last_stages: bool = False  # With the layers that are over.
    has_deep_ep: bool = False  # Where no token is dropped: hides EP, takes SMs.
    keeps_wgrads: bool = False  # Transformer Engine 2.3 or later.
    own_selective: bool = False  # "selective" is not that of Megatron.
    # Its published memory: what PyTorch reserves, in GB of 10^9 B. Otherwise
    # what is allocated, in GiB.
    reserved: bool = False
    decimal_gb: bool = False


# SimuMax: Megatron-LM with all overlap off; the loss fused on B200, and not on
# A100-PCIe. NeMo and Megatron-Bridge: "Communication Overlap" in the manual of
# Megatron-Bridge and its scripts/performance. Megatron-Core: its README, of
# H100.
# InternEvo: configs/7B_sft.py and its manual, which installs FlashAttention
# 1.0.5, half as fast as the second (T. Dao, arXiv 2307.08691), and its loss;
# its optimizer is PyTorch's AdamW, and its partition_uniform() cuts stages.
# TorchTitan: torchtitan/components/metrics.py (max_reserved, GiB) and
# activation_checkpoint.py (every second product is run again).
FRAMEWORKS = (
    Framework("SimuMax.*B200", fuses_loss=True, keeps_wgrads=True),
    Framework("SimuMax"),
    Framework("Megatron-Bridge|NeMo", hides_gradients=True,
              hides_parameters=True, overlaps_tp=True, has_own_fsdp=True,
              gradients="bf16", fuses_loss=True, has_deep_ep=True),
    Framework("Megatron-Core|Megatron.*[HB][12]00", hides_gradients=True,
              hides_parameters=True, overlaps_tp=True, has_own_fsdp=True),
    Framework("InternEvo", hides_gradients=True, attention_speed=0.5,
              gradients="bf16", fuses_loss=True, optimizer_workspace=8,
              pads_vocabulary=False, fills_last_stages=True, reserved=True,
              decimal_gb=True),
    Framework("TorchTitan", own_selective=True, reserved=True),
    Framework("Megatron|MosaicML|Korthikanti|MLPerf"),
)


def find_framework(row):
    told = f"{row.get('source') or ''} {row.get('gpu_type') or ''}"
    return next((framework for framework in FRAMEWORKS
                 if re.search(framework.pattern, told)), None)


def uses_deep_ep(row, framework):
    model = (row.get("model") or "").lower()
    return framework.has_deep_ep and "dropless" in model


def sharding_options(row, framework):
    stage, is_fsdp, group = read_zero(row)
    ranks = integer(row, "gpus") // (integer(row, "tp") * integer(row, "pp"))
    if stage != 1 and group and group != ranks:
        raise LeftOut(f"zero {row['zero']!r}: no model of shards over {group} "
                      f"of {ranks} ranks")
    if is_fsdp and not framework.has_own_fsdp:
        if stage == 3:
            return ["--framework", "fsdp"]
        # SHARD_GRAD_OP: parameters stay whole from one step to the next.
        return ["--zero", "2", "--grad-dtype", "bf16",
                "--make-vocab-size-divisible-by", "0"]
    options = ["--zero", str(stage), "--grad-dtype", framework.gradients]
    if stage == 1 and group and group < ranks:
        options += ["--zero-group", str(group)]
    if stage < 2 and framework.hides_gradients:
        options.append("--overlap-grad-reduce")
        if stage == 1 and framework.hides_parameters:
            options.append("--overlap-param-gather")
    return options


def framework_options(row, framework, assumed):
    """What the columns zero, recompute and dtype mean for gen_workload."""
    options = sharding_options(row, framework)
    if "--overlap-grad-reduce" in options:
        assumed.append("overlapped data parallelism")
    recompute = read_recompute(row, assumed)
    if recompute == "selective" and framework.own_selective:
        raise LeftOut("recompute 'selective' of this framework is not that of "
                      "Megatron")
    options += ["--recompute", recompute,
                "--dtype", read_dtype(row, assumed)]
    if integer(row, "flash_attn") == 0:
        options.append("--no-flash-attn")
    return (options + kernel_options(row, framework)
            + stage_options(row, framework))


def kernel_options(row, framework):
    """Kernels that frameworks have or lack."""
    options = []
    if framework.fuses_loss:
        options.append("--fused-loss")
    if framework.attention_speed != 1:
        options += ["--attention-speed", str(framework.attention_speed)]
    if framework.optimizer_workspace:
        options += ["--optimizer-workspace", str(framework.optimizer_workspace)]
    if framework.keeps_wgrads:
        options.append("--wgrad-buffers")
    if not framework.pads_vocabulary:
        options += ["--make-vocab-size-divisible-by", "0"]
    if (framework.overlaps_tp and integer(row, "tp") > 1
            and integer(row, "sp")):
        options.append("--tp-overlap")
    return options


def stage_options(row, framework):
    """How layers are spread over stages, where gen_workload has another way."""
    stages = integer(row, "pp")
    each, left = divmod(integer(row, "layers"), stages)
    if not framework.fills_last_stages or not left:
        return []
    layers = [each] * (stages - left) + [each + 1] * left
    return ["--stage-layers", ",".join(map(str, layers))]


def overlap_options(row, framework):
    """What hides behind computation, for simai_analytical."""
    return ["--ep-overlap", "1"] if uses_deep_ep(row, framework) else []
