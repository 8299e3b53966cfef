"""Draws models, GPUs, layouts and clusters at random."""

import re

import topologies
from runs import ROOT, Refused

# Bundled GPUs with what gen_topo and topology files call them.
GPUS = {"h100-sxm": "H100", "a100-sxm-80gb": "A100", "h200": "H200",
        "b200": "B200", "h20": "H20", "a800-sxm-80gb": "A800"}
BUNDLED = ("llama3-8b", "gpt-7b", "mpt-7b", "mixtral-8x7b", "qwen3-30b-a3b",
           "deepseek-v2-lite", "gpt-oss-120b", "qwen3-next-80b-a3b")
MAX_GPUS = 64


def memory_bandwidth(gpu):
    """Bytes per second of a bundled GPU."""
    text = (ROOT / "inputs" / "gpus" / f"{gpu}.yaml").read_text()
    return float(re.search(r"^memory_GBps: (\S+)", text, re.M)[1]) * 1e9


def model_text(case, options):
    """The file of the setup's model."""
    name = str(options["model"])
    if name.endswith(".yaml"):
        return case.path(name).read_text()
    return (ROOT / "inputs" / "models" / f"{name}.yaml").read_text()


def _attention(rng, heads, width):
    if rng.random() < 0.25:
        return (f"{{kind: latent, heads: {heads}, kv_lora_rank: 256, "
                f"q_lora_rank: {rng.choice([0, 384])}, nope_head_dim: {width}, "
                f"rope_head_dim: 64, v_head_dim: {width}}}")
    groups = rng.choice(topologies.divisors(heads))
    window = ", window: 128, window_every: 2" if rng.random() < 0.15 else ""
    return (f"{{kind: full, heads: {heads}, kv_heads: {groups}, "
            f"head_dim: {width}{window}}}")


def _experts(rng, ffn):
    experts = rng.choice([4, 8, 16, 32])
    shared = rng.choice([0, 0, ffn])
    return (f"{{experts: {experts}, top_k: {rng.choice([1, 2, 4])}, "
            f"ffn: {ffn}, shared_ffn: {shared}, "
            f"dense_layers: {rng.choice([0, 0, 1])}}}")


def draw_model(case, with_experts=None, name="model.yaml"):
    """Writes a model of our own; returns its file."""
    rng = case.rng
    heads, width = rng.choice([8, 16, 32]), rng.choice([64, 128])
    ffn = rng.choice([512, 1024, 2816, 4096])
    if with_experts is None:
        with_experts = rng.random() < 0.4
    positions = rng.choice(["rotary", "rotary", "learned"])
    lines = [
        "name: drawn", "source: drawn at random",
        "no_published_count: it is drawn at random",
        f"layers: {rng.choice([2, 4, 8])}",
        f"hidden: {rng.choice([512, 1024, 2048])}",
        f"vocabulary: {rng.choice([8000, 32000, 50257])}",
        f"positions: {positions}", "max_positions: 8192",
        f"tied_embeddings: {rng.choice(['true', 'false'])}",
        f"norm: {rng.choice(['rms', 'layer'])}",
        f"dropout: {rng.choice(['true', 'false'])}",
        f"attention: {_attention(rng, heads, width)}",
        f"feed_forward: {{ffn: {ffn}, gated: {rng.choice(['true', 'false'])}}}",
    ]
    if with_experts:
        lines.append(f"experts: {_experts(rng, rng.choice([256, 1024, 2048]))}")
    return case.write(name, "\n".join(lines) + "\n")


def _draw_base(case):
    """The model and the GPU of any setup."""
    rng = case.rng
    if rng.random() < 0.3:
        model = {"model": rng.choice(BUNDLED),
                 "num-layers": rng.choice([4, 8])}
    else:
        model = {"model": draw_model(case)}
    return {**model, "gpu-type": rng.choice(list(GPUS))}


def _flags(rng, names, share):
    return {name: None for name in names if rng.random() < share}


def _draw_layout(rng):
    while True:
        tp, cp = rng.choice([1, 2, 4, 8]), rng.choice([1, 1, 1, 2])
        pp, dp = rng.choice([1, 1, 2, 4]), rng.choice([1, 2, 2, 4, 8])
        if tp * cp * pp * dp <= MAX_GPUS:
            break
    layout = {"gpus": tp * cp * pp * dp, "tp": tp, "pp": pp}
    if cp > 1:
        layout["cp"] = cp
        layout["cp-method"] = rng.choice(["ring", "all-gather", "all-to-all"])
    if tp > 1 and rng.random() < 0.6:
        layout["sp"] = None
    if rng.random() < 0.5:
        layout["ep"] = rng.choice(topologies.divisors(tp * cp * dp, 8))
        if rng.random() < 0.5:
            layout["etp"] = rng.choice([1, tp])
    return layout, dp


def _draw_schedule(rng, layout):
    if layout["pp"] == 1:
        return {}
    name = rng.choice(["gpipe", "1f1b", "interleaved", "zb-h1", "zb-v",
                       "dualpipe"])
    two_chunks = name in ("interleaved", "zb-v", "dualpipe")
    return {"schedule": name, **({"vpp": 2} if two_chunks else {})}


def _draw_training(case):
    rng = case.rng
    layout, dp = _draw_layout(rng)
    micro = rng.choice([1, 1, 2, 4])
    return {
        **_draw_base(case), **layout, **_draw_schedule(rng, layout),
        "micro-batch": micro,
        "global-batch": micro * dp * rng.choice([1, 2, 4, 8, 16, 40]),
        "seq-length": rng.choice([256, 1024, 4096]),
        "zero": rng.choice([0, 1, 1, 2, 3]),
        "recompute": rng.choice(["none", "selective", "full"]),
        **_flags(rng, ["overlap-grad-reduce", "overlap-param-gather",
                       "tp-overlap", "shared-expert-overlap", "fused-loss"],
                 0.25),
        "format": "program",
    }


def _draw_inference(case, phase):
    rng = case.rng
    tp, dp = rng.choice([1, 2, 4, 8]), rng.choice([1, 2, 4])
    pp = rng.choice([1, 1, 2])
    options = {
        **_draw_base(case), "phase": phase, "gpus": tp * pp * dp,
        "tp": tp, "pp": pp, "batch": rng.choice([1, 4, 16, 64]),
        "seq-length": rng.choice([256, 1024, 4096]), "format": "program",
    }
    if rng.random() < 0.3:
        options["ep"] = rng.choice(topologies.divisors(tp * dp, 8))
    return options


def _until_legal(case, draw, is_wanted):
    said = []
    for _ in range(10000):
        options = draw()
        if not is_wanted(options):
            continue
        try:
            case.generate(options)
            return options
        except Refused as error:
            said.append(error)
        case.expect(len(said) < 200, f"200 draws were refused: {said[-1]}")
    case.expect(False, "no draw is wanted")


def training(case, is_wanted=lambda options: True):
    """A training setup that gen_workload takes; program.yaml is its program."""
    return _until_legal(case, lambda: _draw_training(case), is_wanted)


def inference(case, phase, is_wanted=lambda options: True):
    """The same of an inference step."""
    return _until_legal(case, lambda: _draw_inference(case, phase), is_wanted)


def per_server(rng, gpus):
    return rng.choice(topologies.divisors(gpus, 8)[-2:])


def topology(case, options):
    """A cluster of as many GPUs as the setup has."""
    rng, gpus = case.rng, options["gpus"]
    gpu = GPUS[options["gpu-type"]]
    size = per_server(rng, gpus)
    if rng.random() < 0.4:
        return topologies.from_template(case, gpus, size, gpu)
    return topologies.rails(rng, gpus, size, gpu)


def network(case, drawn, name="topology.txt"):
    """Writes a topology; returns the options that say so."""
    return ["-n", case.write(name, drawn.text())]


def draw_network(case, options):
    """The options that name a random cluster for the setup."""
    return network(case, topology(case, options))
