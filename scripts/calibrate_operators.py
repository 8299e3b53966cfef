#!/usr/bin/env python3
"""Fits the calibration of inputs/gpus to measured operators.

Prints, for each GPU that has data, the fitted constants and, by operator, how
far the formulas of workload/operators/roofline.h then are from the times
measured: the median of |model / measured - 1|, its 90th percentile, and the
median of model / measured - 1. A constant holds for a GPU, never for a shape.

The data are public and not part of this project; --data is a folder with
  estimator/  the CSV files of estimate-train-time (MIT): A100-SXM, GH200
  vidur/      the mlp.csv files of microsoft/vidur (MIT): A100-SXM, H100-SXM
  simumax/    the system files of SimuMax (Apache-2.0): A100-PCIe, B200

Usage: calibrate_operators.py --data DIR | --check
  --check  print the values that the tests of roofline.h state, and stop
"""

import argparse
import csv
import json
import math
import pathlib
import random
import re
import statistics
import sys

# (m, n, rate): as in gemm_time.cc.
TILES = ((256, 128, 1.0), (128, 256, 1.0), (128, 128, 0.90),
         (128, 64, 0.81), (64, 128, 0.81), (64, 64, 0.73), (16, 64, 0.59))
SPLITS = (1, 2, 4, 8)
LEAST_PART_OF_K = 512
BYTES_PER_SPLIT_RESULT = 8
SOFTMAX_DIMS = 110
BLOCK_QUERIES = 128
ATTENTION_BACKWARD = 2.5

# Rows of each operator that a fit looks at.
SAMPLES = 80
# GPT-NeoX: 50257 tokens, padded to a multiple of 128 for each tensor rank.
NEOX_VOCABULARY = 50257
# Fits see no kernel that is shorter: Vidur rounds to a microsecond.
SHORTEST_US = 5


# ---- The formulas, as in gemm_time.cc and roofline.cc; microseconds. ----

def gemm_us(gpu, c, groups, m, n, k):
  """The time of a BF16 product; `c` is a calibration."""
  rate_per_sm = gpu["bf16"] * 1e6 * c["gemm"] / gpu["sms"]
  if groups > 1:
    rate_per_sm *= c["grouped_gemm"]
  bytes_per_us = gpu["memory_GBps"] * 1e3 * c["memory"]
  best = math.inf
  for tile_m, tile_n, rate in TILES:
    tiles = groups * math.ceil(m / tile_m) * math.ceil(n / tile_n)
    for split in SPLITS:
      waves = math.ceil(tiles * split / gpu["sms"])
      part = max(k / split, LEAST_PART_OF_K) if split > 1 else k
      depth = part + c["tile_fill_k"]
      time = waves * 2 * tile_m * tile_n * depth / (rate_per_sm * rate)
      if split > 1:
        time += groups * m * n * BYTES_PER_SPLIT_RESULT / bytes_per_us
      best = min(best, time)
  memory = 2 * groups * (m * k + k * n + m * n) / bytes_per_us
  return max(best, memory) + c["kernel_us"]


def attention_us(gpu, c, batch, length, heads, kv_heads, qk, v, backward):
  """Causal flash attention in BF16, as many queries as keys."""
  share = c["attention_backward" if backward else "attention_forward"]
  pairs = length * (length + 1) / 2
  flops = 2 * batch * heads * pairs * (qk + v)
  moved = 2 * batch * length * (heads + kv_heads) * (qk + v)
  if backward:
    flops *= ATTENTION_BACKWARD
    moved *= 2
  compute = (flops * (1 + SOFTMAX_DIMS / (qk + v)) /
             (gpu["bf16"] * 1e6 * share))
  if length >= BLOCK_QUERIES:
    blocks = batch * heads * math.ceil(length / BLOCK_QUERIES)
    compute *= 1 + gpu["sms"] / (2 * blocks)
  memory = moved / (gpu["memory_GBps"] * 1e3 * c["memory"])
  return max(compute, memory) + c["kernel_us"]


def stream_us(gpu, c, name, moved):
  share = c["memory_of"].get(name, c["memory"])
  return moved / (gpu["memory_GBps"] * 1e3 * share) + c["kernel_us"]


def model_us(gpu, c, kernels):
  """The time of `kernels`, (kind, arguments...) each, one after the other."""
  kinds = {"gemm": gemm_us, "attention": attention_us, "stream": stream_us}
  return sum(kinds[kind](gpu, c, *shape) for kind, *shape in kernels)


# ---- The data: lists of (operator, kernels, measured microseconds). ----

def sampled(path):
  rows = list(csv.DictReader(path.open()))
  random.seed(1)
  return random.sample(rows, SAMPLES) if len(rows) > SAMPLES else rows


def read_estimator(folder, gpu):
  """Training operators of GPT-NeoX, forward and backward."""
  samples = []

  def rows_of(name):
    for row in sampled(folder / f"{gpu}_{name}_fp16.csv"):
      values = {k: float(v) for k, v in row.items() if k}
      tokens = int(values["b"] * values["l"])
      yield (tokens, int(values.get("dim", 0)), int(values.get("mp", 1)),
             values["F_dur(us)"], values["B_dur(us)"])

  def vocabulary(mp):
    return 128 * math.ceil(NEOX_VOCABULARY / (128 * mp))

  shapes = {  # (k, n), by dimension and tensor ranks.
      "linear1": ("qkv_linear", lambda d, mp: (d, 3 * d // mp)),
      "linear2": ("output_linear", lambda d, mp: (d // mp, d)),
      "linear3": ("ffn_up", lambda d, mp: (d, 4 * d // mp)),
      "linear4": ("ffn_down", lambda d, mp: (4 * d // mp, d)),
      "linear_final": ("logits", lambda d, mp: (d, vocabulary(mp))),
  }
  for name, (operator, shape) in shapes.items():
    for m, d, mp, forward, backward in rows_of(name):
      k, n = shape(d, mp)
      samples.append((operator + " forward", [("gemm", 1, m, n, k)], forward))
      samples.append((operator + " backward",
                      [("gemm", 1, m, k, n), ("gemm", 1, k, n, m)], backward))

  # Bytes of an element, forward and backward.
  streams = {
      "layernorm": ("layer_norm", 4, 6, lambda d, mp: d),
      "gelu": ("gelu", 4, 6, lambda d, mp: 4 * d // mp),
      "res_add": ("residual_add", 6, 6, lambda d, mp: d),
      "parallel_cross_entropy_128": ("cross_entropy", 38, 12,
                                     lambda d, mp: vocabulary(mp)),
  }
  for name, (operator, forward_b, backward_b, width) in streams.items():
    for tokens, d, mp, forward, backward in rows_of(name):
      elements = tokens * width(d, mp)
      for passing, moved, us in (("forward", forward_b * elements, forward),
                                 ("backward", backward_b * elements, backward)):
        samples.append((f"{operator} {passing}",
                        [("stream", operator, moved)], us))

  # Adam reads a BF16 gradient and three FP32 states, and writes those and the
  # parameter in BF16.
  for row in sampled(folder / f"{gpu}_firstStage_optimizer_fp16.csv"):
    mp, d, layers, us = (float(row[key]) for key in (
        "mp", "dim", "encoders", "dur(us)"))
    parameters = 12 * layers * d * d / mp + vocabulary(mp) * d
    samples.append(("adam", [("stream", "adam", 28 * parameters)], us))
  return samples


def read_vidur(folder):
  """Inference operators, forward, by tokens and tensor ranks."""
  samples = []
  for path in sorted(folder.glob("**/mlp.csv")):
    for row in sampled(path):
      tokens = int(row["num_tokens"])
      tp = int(row["num_tensor_parallel_workers"])
      h, ffn = int(row["n_embd"]), int(row["n_expanded_embd"]) // tp
      head = h // int(row["n_head"])
      q, kv = h // tp, max(1, int(row["n_kv_head"]) // tp) * head
      kernels = {
          "attn_pre_proj": ("qkv_linear", ("gemm", 1, tokens, q + 2 * kv, h)),
          "attn_post_proj": ("output_linear", ("gemm", 1, tokens, h, q)),
          "mlp_up_proj": ("ffn_up", ("gemm", 1, tokens, 2 * ffn, h)),
          "mlp_down_proj": ("ffn_down", ("gemm", 1, tokens, h, ffn)),
          "input_layernorm": ("rms_norm",
                              ("stream", "rms_norm", 4 * tokens * h)),
          "attn_rope": ("rope", ("stream", "rope", 4 * tokens * (q + kv))),
          "mlp_act": ("swiglu", ("stream", "swiglu", 6 * tokens * ffn)),
          "add": ("residual_add",
                  ("stream", "residual_add", 6 * tokens * h)),
          "emb": ("embedding", ("stream", "embedding", 4 * tokens * h)),
      }
      size = "small" if tokens <= 256 else "large"
      for column, (operator, kernel) in kernels.items():
        ms = row[f"time_stats.{column}.median"]
        if ms and float(ms) * 1e3 >= SHORTEST_US:
          samples.append((f"{operator} {size}", [kernel], float(ms) * 1e3))
  return samples


def read_simumax(path, pads_values):
  """Efficiencies by shape, of products, grouped products and attention.

  Attention kernels that pad values to the width of keys are another operator
  where these widths differ, and left out.
  """
  operators = json.loads(path.read_text())["accelerator"]["op"]
  samples = []

  def cases(name):
    table = operators[name]
    for text, share in table["accurate_efficient_factor"].items():
      fields = dict(part.split("=") for part in text.split(", "))
      yield fields, table["tflops"] * 1e6 * share

  for f, rate in cases("matmul"):
    b, m, k, n = (int(f[key]) for key in ("b", "m", "k", "n"))
    samples.append((f"gemm {f['layout']}", [("gemm", b, m, n, k)],
                    2 * b * m * k * n / rate))
  for f, rate in cases("group_matmul"):
    g, m, n, k = (int(f[key]) for key in ("ng", "M", "N", "K"))
    shape = {"fwd": (m, n, k), "bwd_grad_act": (m, k, n),
             "bwd_grad_w": (n, k, m)}[f["stage"]]
    samples.append((f"grouped gemm {f['stage']}", [("gemm", g, *shape)],
                    2 * g * m * k * n / rate))
  for name, passes, backward in (("sdp_fwd", 1, False),
                                 ("sdp_bwd", ATTENTION_BACKWARD, True)):
    for f, rate in cases(name):
      b, s, heads, kv, qk, v = (int(f[key]) for key in (
          "batch", "seq_len", "head_num", "kv_head_num", "qk_head_dim",
          "v_head_dim"))
      if pads_values and qk != v:
        continue
      # Its FLOPs are those of attention without a mask.
      flops = passes * 2 * b * heads * s * s * (qk + v)
      samples.append((f"attention {'backward' if backward else 'forward'}",
                      [("attention", b, s, heads, kv, qk, v, backward)],
                      flops / rate))
  return samples


def read_simumax_memory(path, gpu):
  """The share of the memory bandwidth of most operators."""
  bandwidth = json.loads(path.read_text())["accelerator"]["bandwidth"]
  reached = bandwidth["default"]["gbps"] * 2**30 / 1e9
  reached *= bandwidth["default"]["efficient_factor"]
  return reached / gpu["memory_GBps"]


# ---- The fit. ----

def errors(gpu, c, samples):
  """log(model / measured), by operator."""
  result = {}
  for operator, kernels, measured in samples:
    result.setdefault(operator, []).append(
        math.log(model_us(gpu, c, kernels) / measured))
  return result


def loss(gpu, c, samples):
  """Each operator counts alike; an outlier as a factor of e at most."""
  return statistics.mean(
      statistics.mean(min(abs(x), 1) for x in of_one)
      for of_one in errors(gpu, c, samples).values())


def fit(gpu, c, keys, samples, limits):
  """Moves one constant at a time, up or down, by ever smaller factors.

  Without samples there are no such constants.
  """
  if not samples:
    return {key: value for key, value in c.items() if key not in keys}
  best, factor = loss(gpu, c, samples), 1.3
  while factor > 1.01:
    moved = False
    for key in keys:
      for by in (factor, 1 / factor):
        low, high = limits.get(key, (1e-3, 1))
        trial = {**c, key: min(max(c[key] * by, low), high)}
        trial_loss = loss(gpu, trial, samples)
        if trial_loss < best - 1e-6:
          best, c, moved = trial_loss, trial, True
          break
    if not moved:
      factor = math.sqrt(factor)
  return c


def fit_streams(gpu, c, samples):
  """The share of the memory bandwidth, by operator."""
  shares = {}
  for operator, kernels, measured in samples:
    (_, name, moved), = kernels
    # Short kernels say more of kernel_us than of the memory.
    if measured > 4 * c["kernel_us"]:
      shares.setdefault(name, []).append(
          moved / (gpu["memory_GBps"] * 1e3 * (measured - c["kernel_us"])))
  return {**c, "memory_of": {name: min(1, statistics.median(of_one))
                             for name, of_one in sorted(shares.items())}}


def calibrate(gpu, samples):
  def of_kind(kind, grouped=None):
    return [s for s in samples if s[1][0][0] == kind and
            (grouped is None or (s[1][0][1] > 1) == grouped)]

  c = {"gemm": 0.8, "grouped_gemm": 1.0, "memory": 0.8, "kernel_us": 4.0,
       "tile_fill_k": 100.0, "attention_forward": 0.7,
       "attention_backward": 0.6, "memory_of": {}}  # Where the fit begins.
  # The most that any product of a search over shapes reaches.
  limits = {"gemm": (0.1, gpu["most"]), "kernel_us": (2, 8),
            "tile_fill_k": (64, 256), "memory": (0.6, 0.9)}
  keys = ["gemm", "tile_fill_k"]
  if "memory_share" in gpu:  # Its products are too large to tell.
    c["memory"] = gpu["memory_share"]
  else:
    keys += ["kernel_us", "memory"]
  c = fit(gpu, c, keys, of_kind("gemm", False), limits)
  c = fit(gpu, c, ("grouped_gemm",), of_kind("gemm", True),
          {"grouped_gemm": (0.1, 1)})
  c = fit(gpu, c, ("attention_forward", "attention_backward"),
          of_kind("attention"), {})
  return fit_streams(gpu, c, of_kind("stream"))


# ---- The report. ----

def read_gpu(name):
  """The few numbers of inputs/gpus/NAME.yaml that the formulas need."""
  root = pathlib.Path(__file__).resolve().parent.parent
  text = (root / "inputs/gpus" / f"{name}.yaml").read_text()
  return {key: float(re.search(rf"^ *{key}: *([0-9.]+)", text, re.M)[1])
          for key in ("sms", "bf16", "memory_GBps")}


def print_report(name, gpu, samples):
  c = calibrate(gpu, samples)
  print(f"\n{name}")
  for key, value in c.items():
    if key != "memory_of":
      print(f"  {key:<20} {value:.3f}")
  for key, value in c["memory_of"].items():
    print(f"  memory_of {key:<20} {value:.3f}")
  print(f"  {'operator':<26}{'rows':>6}{'median':>9}{'p90':>9}{'bias':>9}")
  everything = []
  for operator, logs in sorted(errors(gpu, c, samples).items()):
    everything += logs
    print_line(operator, logs)
  print_line("all", everything)


def print_line(operator, logs):
  off = sorted(abs(math.exp(x) - 1) for x in logs)
  bias = math.exp(statistics.median(logs)) - 1
  print(f"  {operator:<26}{len(off):>6}{statistics.median(off):>9.1%}"
        f"{off[int(0.9 * len(off))]:>9.1%}{bias:>+9.1%}")


def check():
  """The GPU of roofline_test.cc."""
  gpu = {"sms": 100, "bf16": 100, "memory_GBps": 1000}
  c = {"gemm": 0.5, "grouped_gemm": 0.8, "memory": 0.5, "kernel_us": 2,
       "tile_fill_k": 64, "attention_forward": 0.5, "attention_backward": 0.4,
       "memory_of": {"layer_norm": 0.25}}
  for kernel in (("gemm", 1, 2560, 1280, 448),
                 ("attention", 1, 1280, 10, 10, 100, 100, False),
                 ("stream", "layer_norm", 1_000_000)):
    print(f"{kernel}: {model_us(gpu, c, [kernel]):.6f} us")


def main():
  parser = argparse.ArgumentParser(
      description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument("--data", type=pathlib.Path)
  parser.add_argument("--check", action="store_true")
  arguments = parser.parse_args()
  if arguments.check:
    check()
    return
  if arguments.data is None or not arguments.data.is_dir():
    print("skipped: no such folder")
    return
  data = arguments.data
  estimator = data / "estimator/regressors"
  # With the most of its BF16 peak that a search over shapes reached.
  # Source: S. Bekman, "Machine Learning Engineering", compute/accelerator,
  # table of maximum achievable matmul FLOPS; none for B200.
  for name, most, samples in (
      ("a100-sxm-80gb", 0.87,
       read_estimator(estimator / "Perlmutter/operator",
                      "NVIDIAA100-SXM4-80GB") +
       read_vidur(data / "vidur/compute/a100")),
      ("h100-sxm", 0.81, read_vidur(data / "vidur/compute/h100")),
      ("gh200", 0.84, read_estimator(estimator / "Vista/operator",
                                     "NVIDIAGH200120GB"))):
    print_report(name, {**read_gpu(name), "most": most}, samples)
  for name, most, file, pads_values in (
      ("a100-pcie-80gb", 0.82, "a100_pcie.json", True),
      ("b200", 0.80, "b200_bf16_ceperm.json", False)):
    path = data / "simumax/system" / file
    gpu = read_gpu(name)
    gpu |= {"most": most, "memory_share": read_simumax_memory(path, gpu)}
    print_report(name, gpu, read_simumax(path, pads_values))


if __name__ == "__main__":
  sys.exit(main())
