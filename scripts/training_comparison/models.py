"""Models of the rows: what a family of models has that no column says."""

import dataclasses
import json
import re

from .rows import LeftOut, integer, read_ffn


@dataclasses.dataclass(frozen=True)
class Family:
    """A family of models whose shape is known but for the sizes of a row."""

    pattern: str  # Is searched in the model's name, whatever the case.
    gated: bool = True  # The feed-forward part; with it RMS norm and RoPE.
    has_experts: bool = False
    head_dim: int = 0  # 0: hidden / heads.
    attention: str = ""  # Further keys of full attention.
    latent: bool = False  # MLA, with the dimensions of DeepSeek-V2 and V3.
    query_rank: int = 0  # Of MLA; 0: queries are not compressed.
    positions: str = "learned"  # Where it is not gated.


# The first that fits counts. Sources: the config.json of each on Hugging Face;
# arXiv 2104.04473 and 2205.05198 (GPT of Megatron-LM), 2402.16819 (Nemotron-4).
FAMILIES = (
    Family(r"gpt[-_ ]?oss", has_experts=True, head_dim=64,
           attention="qkv_bias: true, output_bias: true, sinks: true, "
           "window: 128, window_every: 2"),
    Family(r"kimi[-_ ]?k2", has_experts=True, latent=True, query_rank=1536),
    Family(r"deepseek[-_ ]?v2[-_ ]?lite|moonlight", has_experts=True,
           latent=True),
    Family(r"deepseek[-_ ]?(v[23]|r1)", has_experts=True, latent=True,
           query_rank=1536),
    Family(r"qwen[-_ ]?3.*[-_ ]a\d+b|qwen[-_ ]?3[-_ ]?moe", has_experts=True,
           head_dim=128),
    Family(r"qwen[-_ ]?3", head_dim=128),
    Family(r"qwen.*[-_ ]a\d+|qwen.*moe", has_experts=True),
    Family(r"mixtral|dbrx|grok[-_ ]?1|deepseek[-_ ]?moe", has_experts=True),
    Family(r"mistral[-_ ]?(nemo|small)", head_dim=128),
    Family(r"llama|internlm|mistral|qwen|baichuan|vicuna|\byi\b|"
           r"deepseek[-_ ]?(llm|coder)"),
    Family(r"nemotron|megatron|turing|mt[-_ ]?nlg|llemma|neox|pythia|\bopt\b|"
           r"bloom|gpt", gated=False),
    Family(r"mpt", gated=False, positions="alibi"),
)
# Models whose names begin like those above, and which are built otherwise.
UNLIKE = re.compile(r"qwen[-_ ]?3([-_ ]?next|\.)|llama[-_ ]?4|"
                    r"nemotron[-_ ]?[a-z]", re.I)


def find_family(row):
    name = (row.get("model") or "").strip()
    for family in FAMILIES:
        if re.search(family.pattern, name, re.I) and not UNLIKE.search(name):
            return family
    raise LeftOut(f"model {name!r} is not known")


def attention_lines(row, family):
    heads = integer(row, "heads")
    if family.latent:
        return ("attention: {kind: latent, heads: %d, q_lora_rank: %d, "
                "kv_lora_rank: 512, nope_head_dim: 128, rope_head_dim: 64, "
                "v_head_dim: 128}" % (heads, family.query_rank))
    hidden = integer(row, "hidden")
    if not family.head_dim and hidden % heads:
        raise LeftOut(f"heads {heads} do not divide hidden {hidden}")
    more = f", {family.attention}" if family.attention else ""
    return ("attention: {kind: full, heads: %d, kv_heads: %d, head_dim: %d%s}"
            % (heads, integer(row, "kv_heads", heads),
               family.head_dim or hidden // heads, more))


def model_yaml(row):
    """The model file of a row: what its columns say, and its family's rest."""
    family = find_family(row)
    ffn = read_ffn(row)
    if family.has_experts != bool(ffn["experts"]):
        raise LeftOut(f"model {row['model']!r} has "
                      f"{'experts' if family.has_experts else 'no experts'}, "
                      f"unlike ffn {row['ffn']!r}")
    gated = family.gated
    lines = [f"name: {json.dumps(row['model'])}", "source: [measured row]",
             "no_published_count: a measured row",
             f"layers: {integer(row, 'layers')}",
             f"hidden: {integer(row, 'hidden')}",
             f"vocabulary: {integer(row, 'vocab', 51200)}",
             f"max_positions: {integer(row, 'seq')}",
             f"positions: {'rotary' if gated else family.positions}",
             f"tied_embeddings: {'false' if gated else 'true'}",
             f"norm: {'rms' if gated else 'layer'}",
             attention_lines(row, family)]
    lines.append("feed_forward: {ffn: %d, gated: %s}"
                 % (ffn["dense_ffn"], str(gated).lower()))
    if ffn["experts"]:
        lines.append("experts: {%s}" % ", ".join(
            f"{key}: {ffn[key]}" for key in ("ffn", "experts", "top_k",
                                             "shared_ffn", "dense_layers")))
    return "\n".join(lines) + "\n"
