"""Every option of simai_serving changes what becomes of requests, is refused, or
is warned of.

The options come from --help, so that a new one without a draw here fails.
"""

import json
import re

from options import listed
from runs import Refused, words_of

# Options that rightly change nothing, each with the reason.
WITHOUT_CHANGE = {
    "help": "stops", "version": "stops", "output": "is in each command",
    "threads": "changes no result", "exhaustive": "finds the same",
    "compare-table": "takes no other option",
    "gpu-memory-utilization": "changes only how much of the cache is in use",
    "beside-first-gpu": "moves the job among servers that are alike",
}

# What the base has beside the option, or instead of what is in DENSE; REMOVED
# takes an option out.
REMOVED = object()
DENSE = {"model": "llama3-8b", "gpu-type": "h100-sxm", "requests": 24,
         "isl": 512, "osl": 24, "rate": 40}
MOE = {"model": "qwen3-30b-a3b", "isl": 128, "osl": 12}
RANKS = {**MOE, "attention-dp": 2}
POOLS = {"decode-replicas": 1}
SESSIONS = {"turns": 3, "turn-wait-ms": 20}
HOST = {**SESSIONS, "num-gpu-blocks": 200, "host-kv-gib": 4, "host-kv-gbps": 40}
DRAFTS = {"speculative-tokens": 3, "acceptance-rate": 0.6}
LIMITS = {"slo-ttft": 60, "slo-tpot": 12}
CAPACITY = {**LIMITS, "slo-tpot": 8, "capacity": None, "rate": REMOVED,
            "requests": 50}
PLAN = {**LIMITS, "plan": None, "gpus": 2, "rate": REMOVED, "requests": 10}
CURVE = {"rate": "10,40"}
FABRIC = {**POOLS, "fidelity": "flow", "topology": "sixteen.txt",
          "decode-first-gpu": 8, "rate": 400}
LOADING = {"load-weights": "storage", "replicas": 2, "topology": "sixteen.txt",
           "rate": 400}
SPLIT = {**FABRIC, "replicas": 2, "decode-replicas": 2}

# The values to set against one another, which must act differently, and the
# base; the value None alone stands for a flag, which is set against nothing.
DRAWS = {
    "model": (["llama3-8b", "qwen3-8b", "llama2-13b"], {}),
    "gpu-type": (["h100-sxm", "a100-sxm-80gb", "h200"], {}),
    "dtype": (["bfloat16", "fp8"], {}),
    "tp": ([1, 2, 4], {}), "pp": ([1, 2, 4], {}),
    "ep": ([1, 2, 4], {**MOE, "tp": 4}),
    "attention-dp": ([1, 2, 4], MOE), "replicas": ([1, 2, 3], {}),
    "topology": (["sixteen.txt", "slow.txt"], {"tp": 4, "replicas": 4}),
    "system": (["dgx-h100", "aws-p4d"], {"tp": 4}),
    "engine": (["vllm", "sglang", "trtllm"], {}),
    "scheduler": (["vllm", "sglang", "orca"], {}),
    "router": (["round-robin", "random"], {"replicas": 4}),
    "max-num-batched-tokens": ([128, 700, 2048], {"rate": 200}),
    "max-num-seqs": ([1, 4, 12], {"rate": 200}),
    "num-gpu-blocks": ([40, 80, 900], {}),
    "speculative-tokens": ([1, 2, 5], {"acceptance-rate": 0.6}),
    "acceptance-rate": ([0.2, 0.6, 0.9], DRAFTS),
    "draft-model": (["mtp", "llama3-8b"], {**DRAFTS, "model": "llama3-70b",
                                           "tp": 4}),
    "host-kv-gib": ([0.05, 4], HOST), "host-kv-gbps": ([1, 200], HOST),
    "prefill-schedule-interval": ([1, 5, 9], RANKS),
    "prefill-delay-passes": ([2, 6], {**RANKS, "engine": "sglang"}),
    "trace": (["one.csv", "two.csv"], {"isl": REMOVED, "osl": REMOVED,
                                       "rate": REMOVED}),
    "load-weights": (["storage", "replica"], LOADING),
    "storage-first-gpu": ([4, 8], {**LOADING, "fidelity": "flow"}),
    "requests": ([7, 12, 24], {}), "isl": ([64, 128, 900], {}),
    "osl": ([2, 8, 24], {}), "rate": ([5, 20, 80], {}),
    "concurrency": ([1, 4, 8], {"rate": REMOVED}),
    "shared-prefix": ([0, 256, 400], {}),
    "prefix-groups": ([1, 4], {"shared-prefix": 256}),
    "turns": ([1, 2, 3], {}), "turn-wait-ms": ([1, 50], {"turns": 2}),
    "turn-wait-cv": ([0, 1], {**SESSIONS, "turns": 2}),
    "seed": ([0, 1, 2], {}),
    "decode-replicas": ([1, 2, 3], POOLS), "decode-tp": ([1, 2, 4], POOLS),
    "decode-pp": ([1, 2], POOLS),
    "decode-ep": ([1, 2, 4], {**MOE, **POOLS, "decode-tp": 4}),
    "decode-attention-dp": ([1, 2, 4], {**MOE, **POOLS}),
    "decode-router": (["round-robin", "random"], {"decode-replicas": 4}),
    "decode-max-num-batched-tokens": ([1, 2, 4], {**POOLS, "rate": 400}),
    "decode-max-num-seqs": ([1, 3], {**POOLS, "rate": 400}),
    "decode-num-gpu-blocks": ([40, 90], {**POOLS, "rate": 400}),
    "decode-first-gpu": ([1, 8], {**POOLS, "topology": "sixteen.txt"}),
    "kv-transfer": (["whole", "layerwise"], POOLS),
    "first-token": (["decode", "prefill"], POOLS),
    "fidelity": (["flow", "packet"], SPLIT),
    "network": (["small.yaml", "large.yaml"], {**SPLIT, "fidelity": "packet",
                                               "requests": 4}),
    "beside": (["small.txt", "large.txt"], FABRIC),
    "capacity": ([None], {**LIMITS, "rate": REMOVED, "concurrency": 4}),
    "plan": ([None], {**LIMITS, "rate": REMOVED, "concurrency": 4}),
    "gpus": ([1, 2, 4], PLAN), "pools": (["shared", "separate"], PLAN),
    "slo-share": ([0.1, 0.999], CAPACITY), "top": ([1, 2], PLAN),
    "steps": ([None], {}), "timeline": ([None], {}),
    "result": (["one", "other"], {}),
    "slo-ttft": ([10, 18, 1000], {}), "slo-tpot": ([1, 1000], {}),
    "slo-e2e": ([1, 100000], {}), "curves": (["other"], CURVE),
}


def _write_inputs(case, name):
    """The files that draws name, where the option needs one."""
    for file, rates in (("sixteen.txt", ()),
                        ("slow.txt", ("--nvlink-bw", "20Gbps"))):
        case.run("gen_topo", "--gpus", 24 if name == "beside" else 16,
                 "--gpu-type", "H100", *rates, "-o", file)
    if name == "beside":
        for file, length in (("small.txt", 256), ("large.txt", 4096)):
            case.run("gen_workload", "-m", "gpt-7b", "--num-layers", 1,
                     "--gpu-type", "h100-sxm", "--gpus", 8, "--micro-batch", 1,
                     "--global-batch", 8, "--seq-length", length, "-o", file)
    if name == "network":
        for file, payload in (("small.yaml", "1KiB"), ("large.yaml", "8KiB")):
            case.write(file, f"simai_network: 1\nnic:\n  payload: {payload}\n")
    if name == "trace":
        for file, tokens in (("one.csv", 100), ("two.csv", 300)):
            case.write(file, "TIMESTAMP,ContextTokens,GeneratedTokens\n" +
                       "".join(f"2023-11-16 18:15:{46 + i}.0,{tokens},9\n"
                               for i in range(4)))
    if name == "curves":
        case.run("simai_serving", *words_of({**DENSE, "rate": "20,30"}),
                 "-o", "other")


def _base(name, without):
    base = {**DENSE, **without}
    base.pop(name, None)
    return {key: value for key, value in base.items() if value is not REMOVED}


def _outcome(case, options):
    """The results, without what only repeats the options; None if refused."""
    try:
        said = case.run("simai_serving", *words_of(options), "-o", "out")
    except Refused:
        return None
    folder = case.path("out")
    names = sorted(file.name for file in folder.iterdir() if file.is_file())
    texts = [(folder / file).read_text() for file in names
             if file.endswith(".csv") or file == "serving.html"]
    run = folder / "run.json"
    beside = json.loads(run.read_text()).get("beside") if run.exists() else None
    texts.append(str(beside and beside["iteration_ms_mean"]))
    for file in names:
        (folder / file).unlink()
    return "\n".join([*names, *texts]), said.stderr


def _check(case, name):
    values, without = DRAWS[name]
    base = _base(name, without)
    _write_inputs(case, name)
    few = case.rng.sample(values, min(2, len(values)))
    choices = [{name: value} for value in few] + ([{}] if len(few) == 1 else [])
    no_effect = re.compile(rf"--{name}\b.* (no effect|ignored)")
    seen = {}
    taken = 0
    for choice in choices:
        outcome = _outcome(case, {**base, **choice})
        if outcome is None:
            continue
        taken += 1
        if no_effect.search(outcome[1]):
            continue
        said = " ".join(words_of(choice)) or "nothing"
        other = seen.setdefault(outcome[0], said)
        case.expect(other == said, f"{said} gives the same as {other}, and no "
                    "warning says so")
    case.expect(taken > 0, f"no value of --{name} is taken")


def every_option_acts(case):
    """One option of simai_serving, beside a base without it."""
    found = listed(case, "simai_serving")
    known = DRAWS.keys() | WITHOUT_CHANGE.keys()
    case.expect(found.keys() == known,
                f"--help and this table differ in {sorted(found.keys() ^ known)}")
    _check(case, case.rng.choice(sorted(DRAWS)))
