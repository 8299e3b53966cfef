"""GPUs of the rows."""

import pathlib
import re

from .frameworks import uses_deep_ep

GPUS = pathlib.Path(__file__).resolve().parents[2] / "inputs" / "gpus"

# SMs that DeepEP takes; the default of Megatron-Core's moe_deepep_num_sms.
DEEP_EP_SMS = 20


def gpu_file(system):
    return GPUS / f"{system.gpu}.yaml"


def calibrated(system, key):
    """A number of the GPU's file; 1 where it has none."""
    found = re.search(rf"^ *{key}: *([\d.]+)$",
                      gpu_file(system).read_text(encoding="utf-8"), re.M)
    return float(found[1]) if found else 1.0


def gpu_options(row, system, framework):
    """The GPU's file, and how much of it is left."""
    options = ["--gpu", gpu_file(system)]
    if uses_deep_ep(row, framework):
        left = 1 - DEEP_EP_SMS / calibrated(system, "sms")
        load = left * calibrated(system, "training_load")
        options += ["--load", f"{load:.4g}"]
    return options
