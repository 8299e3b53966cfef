"""Constants of one GPU's interconnect, made from those of other GPUs.

A part of compare_collectives.py. It answers how far predictions are off for a
GPU that nobody has measured yet. The interconnect of the GPU keeps what data
sheets and NCCL's source tell (link rate, NVLS, copies at half the rate of the
memory). Every constant that was fitted to measurements of that GPU is replaced
by a mean over the interconnects of the other GPUs.

The rules follow from what a constant means:

- A rate (a key that ends in GBps) is a share of the link rate. The mean is of
  these shares.
- The time of a ramp fills pipelines whose chunks have the same size on every
  GPU, so it is shorter on faster links. The mean is of the times multiplied by
  the link rates.
- NCCL's source states an efficiency of NVLS by generation. The mean is of the
  fitted efficiencies as multiples of NCCL's.
- Latencies are factors on NCCL's constants. There are two rules, and both are
  reported: the means of the factors of the others, or NCCL's constants as they
  are.
- Other shares, factors, launches and sizes are the same on every GPU. The mean
  is of the values themselves.

Means are geometric, or arithmetic where a value is 0. The size of a ramp or of
a spread counts only where there is a ramp or a spread. An interconnect without
NVLS has no part in the constants of NVLS. A pattern that no other interconnect
has takes the constants of the ring, as in a file without the pattern.
"""

import math
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
SYSTEMS = ROOT / "inputs" / "systems"

# By GPU as tables name it: a system that has the GPU, and its interconnect.
LEFT_OUT = {"H100": ("dgx-h100", "nvlink4"), "B200": ("dgx-b200", "nvlink5")}
# Interconnects whose constants were fitted to measurements: A100; H100 and
# H200; B200.
FITTED = ("nvlink3", "nvlink4", "nvlink5")
RULES = ("latencies of the others", "latencies of NCCL")

# NCCL, src/graph/tuning.cc: nvlsEfficiency, of Hopper and Blackwell.
NVLS_EFFICIENCY = {"nvlink4": 0.85, "nvlink5": 0.74}
# Half the rate of the memory, by the data sheet.
KEPT = ("copy_GBps",)
PACE = {"efficiency": 1.0, "ramp_us": 0.0, "ramp_MiB": 1.0}
LATENCY = {"start": 1.0, "hop": 1.0, "spread": 0.0, "spread_KiB": 16.0}
# A size, and the constant without which the size has no meaning.
SIZES = {"ramp_MiB": "ramp_us", "spread_KiB": "spread"}


def read_interconnect(name):
    """(link rate, {key: value or {key: value}}) of an interconnect."""
    path = SYSTEMS / "interconnects" / f"{name}.yaml"
    text = path.read_text(encoding="utf-8")
    rate = float(re.search(r"^GBps: ([\d.]+)", text, re.M)[1])
    calibration = text.split("\ncalibration:\n")[1]
    constants = {}
    for key, value in re.findall(r"^  (\w+): (\{.*?\}|[\d.]+)$", calibration,
                                 re.M | re.S):
        constants[key] = float(value) if value[0] != "{" else {
            name: float(number)
            for name, number in re.findall(r"(\w+): ([\d.]+)", value)}
    keys = set(re.findall(r"^  (\w+):", calibration, re.M)) - {"origin"}
    if keys != set(constants):
        raise ValueError(f"{path}: not understood: "
                         f"{sorted(keys - set(constants))}")
    return rate, constants


def mean(values):
    if min(values) > 0:
        return math.exp(sum(map(math.log, values)) / len(values))
    return sum(values) / len(values)


def unit_of(key, name, interconnect, rate):
    """What the constant `name` of the group `key` is proportional to."""
    if name == "ramp_us":
        return 1 / rate
    if key.startswith("nvls") and name == "efficiency":
        return NVLS_EFFICIENCY[interconnect]
    return 1


def mean_of_group(key, defaults, interconnect):
    """The constants of the pattern or latency `key` of `interconnect`."""
    rate, _ = read_interconnect(interconnect)
    groups = []
    for other in FITTED:
        other_rate, constants = read_interconnect(other)
        if other != interconnect and key in constants:
            groups.append((other, other_rate, {**defaults, **constants[key]}))
    if not groups and "efficiency" in defaults:
        return mean_of_group("ring", defaults, interconnect)
    made = {}
    for name, default in defaults.items():
        values = [group[name] / unit_of(key, name, other, other_rate)
                  for other, other_rate, group in groups
                  if name not in SIZES or group[SIZES[name]] > 0]
        made[name] = (mean(values) * unit_of(key, name, interconnect, rate)
                      if values else default)
    return made


def constants_without(interconnect, rule):
    """The constants of `interconnect`, made from the others of FITTED."""
    rate, own = read_interconnect(interconnect)
    others = [read_interconnect(name) for name in FITTED
              if name != interconnect]
    made = {}
    for key, value in own.items():
        if key in KEPT:
            made[key] = value
        elif key.startswith("latency_"):
            made[key] = (dict(LATENCY) if rule == "latencies of NCCL" else
                         mean_of_group(key, LATENCY, interconnect))
        elif isinstance(value, dict):
            made[key] = mean_of_group(key, PACE, interconnect)
        elif key.endswith("GBps"):
            made[key] = rate * mean([constants[key] / other_rate
                                     for other_rate, constants in others])
        else:
            made[key] = mean([constants[key] for _, constants in others])
    return made


def as_yaml(value):
    if not isinstance(value, dict):
        return f"{value:.4g}"
    return "{" + ", ".join(f"{k}: {v:.4g}" for k, v in value.items()) + "}"


def system_without(gpu, rule):
    """The text of a system file for `gpu` with constants of other GPUs."""
    system, interconnect = LEFT_OUT[gpu]
    text = (SYSTEMS / f"{system}.yaml").read_text(encoding="utf-8")
    line = f"interconnect: {interconnect}\n"
    if text.count(line) != 1 or "interconnect_calibration" in text:
        raise ValueError(f"{system}.yaml: expected one line {line!r} and no "
                         "constants of its own")
    others = ", ".join(name for name in FITTED if name != interconnect)
    block = (f"interconnect_calibration:\n  origin: means of {others}; {rule}\n"
             + "".join(f"  {key}: {as_yaml(value)}\n" for key, value in
                       constants_without(interconnect, rule).items()))
    return text.replace(line, line + block)
