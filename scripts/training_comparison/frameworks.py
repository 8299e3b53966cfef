"""What frameworks do whatever the row, and options of our programs for it."""

import dataclasses
import re

from .rows import LeftOut, integer, read_zero


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


# SimuMax: Megatron-LM with all overlap off; the loss fused on B200, and not on
# A100-PCIe. NeMo and Megatron-Bridge: "Communication Overlap" in the manual of
# Megatron-Bridge and its scripts/performance. Megatron-Core: its README, of
# H100.
# InternEvo: configs/7B_sft.py and its manual, which installs FlashAttention
# 1.0.5, half as fast as the second (T. Dao, arXiv 2307.08691), and its loss;
# its optimizer is PyTorch's AdamW, and its partition_uniform() cuts stages.
FRAMEWORKS = (
    Framework("SimuMax.*B200", fuses_loss=True),
    Framework("SimuMax"),
    Framework("Megatron-Bridge|NeMo", hides_gradients=True,
              hides_parameters=True, overlaps_tp=True, has_own_fsdp=True,
              gradients="bf16", fuses_loss=True, has_deep_ep=True),
    Framework("Megatron-Core|Megatron.*[HB][12]00", hides_gradients=True,
              hides_parameters=True, overlaps_tp=True, has_own_fsdp=True),
    Framework("InternEvo", hides_gradients=True, attention_speed=0.5,
              gradients="bf16", fuses_loss=True, optimizer_workspace=8,
              pads_vocabulary=False, fills_last_stages=True),
    Framework(""),
)


def find_framework(row):
    told = f"{row.get('source') or ''} {row.get('gpu_type') or ''}"
    return next(framework for framework in FRAMEWORKS
                if re.search(framework.pattern, told))


def uses_deep_ep(row, framework):
    model = (row.get("model") or "").lower()
    return framework.has_deep_ep and "dropless" in model


def sharding_options(row, framework):
    stage, is_fsdp, group = read_zero(row)
    if is_fsdp and not framework.has_own_fsdp:
        return ["--framework", "fsdp"]
    options = ["--zero", str(stage), "--grad-dtype", framework.gradients]
    ranks = integer(row, "gpus") // (integer(row, "tp", 1)
                                     * integer(row, "pp", 1))
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
    recompute = (row.get("recompute") or "").strip()
    if recompute not in ("none", "selective", "full"):
        assumed.append("no recomputation")
        recompute = "none"
    options += ["--recompute", recompute]
    dtype = (row.get("dtype") or "").lower()
    if "fp4" in dtype:
        raise LeftOut("no model of FP4 products")
    options += ["--dtype", "fp8" if "fp8" in dtype else "bfloat16"]
    if integer(row, "flash_attn", 1) == 0:
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
    if not framework.pads_vocabulary:
        options += ["--make-vocab-size-divisible-by", "0"]
    if (framework.overlaps_tp and integer(row, "tp", 1) > 1
            and integer(row, "sp", 0)):
        options.append("--tp-overlap")
    return options


def stage_options(row, framework):
    """How layers are spread over stages, where it is not as gen_workload does."""
    stages = integer(row, "pp", 1)
    each, left = divmod(integer(row, "layers"), stages)
    if not framework.fills_last_stages or not left:
        return []
    layers = [each] * (stages - left) + [each + 1] * left
    return ["--stage-layers", ",".join(map(str, layers))]


def overlap_options(row, framework):
    """What hides behind computation, for simai_analytical."""
    return ["--ep-overlap", "1"] if uses_deep_ep(row, framework) else []
