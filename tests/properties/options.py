"""Every option of gen_workload changes the output, is refused, or is warned of.

The options come from --help, so that a new one without a draw here fails.
"""

import re

import setups
from runs import Refused, words_of

# Options that rightly change nothing, each with the reason.
WITHOUT_CHANGE = {
    "help": "stops", "version": "stops", "list-models": "stops",
    "list-gpus": "stops", "list-frameworks": "stops", "model": "is in each command",
    "output": "is in each command", "use-flash-attn": "says the default",
    "use-distributed-optimizer": "says the default of megatron",
    "weights-in-experts": "says the default of megatron",
    "dtype": "float16 takes the time of bfloat16",
    "overlap": "hides what the layout has, and nothing where it has none of it",
    "force": "lets a run that is too large go on",
}

# Values to draw from; None stands for a flag.
VALUES = {
    "model-name": ["other"], "num-layers": [2, 3, 4, 6, 8, 12],
    "hidden-size": [512, 768, 1024, 2048, 4096],
    "num-attention-heads": [4, 8, 16, 32, 64],
    "num-query-groups": [1, 2, 4, 8, 16, 32],
    "ffn-hidden-size": [640, 1280, 3072], "vocab-size": [16000, 64000, 99999],
    "max-position-embeddings": [4096, 8192, 16384],
    "num-experts": [2, 4, 8, 16, 64], "moe-router-topk": [1, 2, 3, 4, 5],
    "moe-ffn-hidden-size": [384, 768, 1536], "n-shared-expert": [1, 2, 3],
    "n-dense-layers": [0, 1, 2],
    "gpus": [1, 2, 4, 8, 16, 32, 64, 128], "tp": [1, 2, 4, 8, 16],
    "cp": [1, 2, 4], "pp": [1, 2, 4, 8], "vpp": [1, 2, 4], "dp": [3, 5, 7],
    "ep": [1, 2, 4, 8], "etp": [1, 2, 4, 8],
    "schedule": ["gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "dualpipe"],
    "order": ["tp-cp-ep-pp-dp", "tp-pp-cp-ep-dp"],
    "stage-layers": ["1,3", "3,1", "1,1,1,1", "1,2", "1,2,2,3", "1,1,1,5"],
    "first-stage-layers": [1, 2, 3], "last-stage-layers": [1, 2, 3],
    "cp-method": ["ring", "all-gather", "all-to-all"],
    "micro-batch": [1, 2, 4, 8], "global-batch": [8, 16, 32, 64, 128],
    "seq-length": [128, 512, 2048, 8192],
    "phase": ["prefill", "decode"], "batch": [2, 8, 32],
    "cached": [128, 1024], "engine": ["vllm", "trtllm"],
    "framework": ["megatron", "fsdp"],
    "zero": [0, 1, 2, 3], "recompute": ["none", "selective", "full"],
    "zero-group": [1, 2, 4], "optimizer-workspace": [4, 8],
    "transformer-engine": ["2.1", "2.11"],
    "recompute-modules": ["core_attn", "layernorm", "op"],
    "recompute-num-layers": [1, 2], "recompute-method": ["block", "uniform"],
    "mtp-num-layers": [1, 2],
    "moment-dtype": ["fp32", "bf16"],
    "grad-dtype": ["fp32", "bf16"], "bucket-size": [1000, 10**12],
    "moe-skew": [0.25, 0.5, 1], "moe-capacity": [1.25, 2],
    "make-vocab-size-divisible-by": [4096, 99991, 300007],
    "gpu-type": ["h100-sxm", "a100-sxm-80gb", "h200", "b200", "h20"],
    "table-gpu": ["h100-sxm", "h200"],
    "load": [0.2, 0.4], "attention-speed": [0.05, 0.2],
    "format": ["simai", "program", "vidur", "aicb-log"],
    "pp-rank": [0, 1], "operator-table": ["operators.csv"],
    "comp-filepath": ["aiob.txt"], "activation-func": ["gelu"],
    "moe-routing-strategy": ["balanced"], "result-dir": ["results"],
    "begin-size": ["1M"], "end-size": ["1G"], "test-comm": ["all_reduce"],
    "config": ["config.json"],
}

SIZES = [64, 256, 512]  # For an option with a number that is not listed above.

# Options whose effect needs another one in the base: its possible values.
COMPANIONS = {
    "model-name": {"explain": [None]},
    "pp-rank": {"format": ["simai", "aicb-log"]},
    "computation-enable": {"format": ["aicb-log", "program"]},
    "table-gpu": {"operator-table": ["operators.csv"]},
    "recompute-method": {"recompute-num-layers": [2]},
    "bucket-size": {"overlap-grad-reduce": [None]},
    "batch": {"phase": ["prefill", "decode"]},
    "engine": {"phase": ["prefill", "decode"]},
    "cached": {"phase": ["prefill"]}, "phase": {"phase": ["decode"]},
}
# Options that contradict an option, which the base must not have.
EXCLUDED = {
    "recompute-activations": ["recompute"],
    "recompute-modules": ["recompute"], "batch": ["micro-batch"],
    "vpp": ["schedule"], "framework": ["zero"],
    "stage-layers": ["account-for-embedding", "account-for-loss"],
}
# Conditions on the base for the option to be taken at all.
NEEDS = {
    **dict.fromkeys(("schedule", "vpp", "stage-layers", "first-stage-layers",
                     "last-stage-layers", "account-for-embedding",
                     "account-for-loss", "pp-rank"),
                    lambda base, model: base.get("pp", 1) > 1),
    **dict.fromkeys(("moe-skew", "fp8-dispatch"),
                    lambda base, model: base.get("ep", 1) > 1),
    "cp-method": lambda base, model: base.get("cp", 1) > 1,
    **dict.fromkeys(("recompute-num-layers", "recompute-method"),
                    lambda base, model: base.get("recompute") == "full"),
    "shared-expert-overlap": lambda base, model: re.search(
        "shared_ffn: [1-9]", model),
}
INFERENCE = ("gpus", "tp", "pp", "ep", "etp", "batch", "micro-batch",
             "seq-length", "dtype", "moe-capacity", "fp8-dispatch",
             "gpu-type", "load", "operator-table", "format")

# Times of whole modules, far from those of any formula.
AIOB = """train_iter:10
Emb:
    time_gpu_max: 900000
    time_gpu_min: 700000
    time_gpu_avg: 800000
"""
# A product as --explain shows it: operator, m, n, k.
PRODUCT = re.compile(r"^ +(\w+) +bf16 (\d+) x (\d+) x (\d+):", re.M)


def listed(case, program="gen_workload"):
    """The options that --help lists, each with its sort of value, or None."""
    text = case.run(program, "--help").stdout
    found = {}
    for line in text.splitlines():
        if match := re.match(
                r"  --([a-z0-9-]+)(?:, -[^ ]+)*(?: ([A-Z|,.]+))? ", line):
            found[match[1]] = match[2]
    return found


# Where a flag says what the model or the base says already.
ALREADY_SO = {
    "swiglu": lambda model: "gated: true" in model,
    "moe-enable": lambda model: "experts:" in model,
    "add-bias-linear": lambda model: "bias: true" in model,
}


def _draw_base(case, name):
    """A setup without the option, in which the option might act."""
    wanted = COMPANIONS.get(name, {})
    may_need = case.rng.random() < 0.8 and NEEDS.get(name)
    needs_experts = (re.search("expert|moe|dense|fp8-dispatch|etp", name) and
                     name != "moe-enable" and case.rng.random() < 0.8)

    def is_wanted(options):
        model = setups.model_text(case, options)
        return (not ALREADY_SO.get(name, lambda _: False)(model) and
                (not may_need or may_need(options, model)) and
                (not needs_experts or "experts:" in model))

    if "phase" in wanted or name in INFERENCE and case.rng.random() < 0.3:
        phase = case.rng.choice(wanted.get("phase", ["prefill", "decode"]))
        base = setups.inference(case, phase, is_wanted)
    else:
        base = setups.training(case, is_wanted)
    for companion, values in wanted.items():
        if companion != "phase":
            base[companion] = case.rng.choice(values)
    for other in (name, *EXCLUDED.get(name, ())):
        base.pop(other, None)
    return base


def _write_tables(case, base):
    """Measurements of a product that the base has."""
    without = {key: value for key, value in base.items()
               if key != "operator-table"}
    said = case.run("gen_workload", *words_of(without), "--explain", "-o",
                    "explained").stdout
    gpu = base["gpu-type"] if "gpu-type" in base else "h100-sxm"
    rows = [f"{gpu},{op},bf16,{m},{n},{k},{7000 + i},made up"
            for i, (op, m, n, k) in enumerate(PRODUCT.findall(said)[:1])]
    header = "gpu,operator,precision,m,n,k,time_us,source"
    case.write("operators.csv", "\n".join([header, *rows]) + "\n")
    case.write("aiob.txt", AIOB)


def _outcome(case, options):
    """What gen_workload writes and prints, and its warnings, or None."""
    try:
        said = case.run("gen_workload", *words_of(options), "-o", "out")
    except Refused:
        return None
    return case.path("out").read_text() + said.stdout, said.stderr


def _choices(case, name, kind):
    """What to set against one another: two or three values, or the flag and
    nothing. Values that differ must act differently: one may be the default."""
    if kind is None:
        return [{}, {name: None}]
    values = VALUES.get(name, SIZES if kind in ("N", "X") else [])
    case.expect(values, f"--{name} has no values in {__file__}")
    few = case.rng.sample(values, min(3, len(values)))
    return [{name: value} for value in few] + ([{}] if len(few) == 1 else [])


def _check(case, name, kind):
    base = _draw_base(case, name)
    if name in ("operator-table", "table-gpu", "comp-filepath"):
        _write_tables(case, base)
    names = "|".join([name, *COMPANIONS.get(name, ())])
    no_effect = re.compile(rf"--({names})\b.* (no effect|ignored)")
    seen = {}
    for choice in _choices(case, name, kind):
        outcome = _outcome(case, {**base, **choice})
        if outcome is None or no_effect.search(outcome[1]):
            continue
        said = " ".join(words_of(choice)) or "nothing"
        other = seen.setdefault(outcome[0], said)
        case.expect(other == said, f"{said} gives the same as {other}, and no "
                    "warning says so")


def every_option_acts(case):
    """Three options of gen_workload, each beside a base without it."""
    found = listed(case)
    known = VALUES.keys() | WITHOUT_CHANGE.keys() | COMPANIONS.keys()
    unknown = known - found.keys()
    case.expect(len(found) > 60 and not unknown,
                f"--help lists {len(found)} options, not {sorted(unknown)}")
    names = sorted(found.keys() - WITHOUT_CHANGE.keys())
    for name in case.rng.sample(names, 3):
        _check(case, name, found[name])
