"""What the columns of a row say.

A cell is understood as a whole or not at all: a word that no rule here knows
leaves the row out, and the reason quotes it.
"""

import math
import re


class LeftOut(Exception):
    """Why a row cannot be predicted."""


def text_of(row, column):
    return (row.get(column) or "").strip()


def integer(row, column, default=None):
    text = text_of(row, column)
    if not text:
        if default is None:
            raise LeftOut(f"no {column}")
        return default
    value = number(row, column)
    if value != math.floor(value) or value < 0:
        raise LeftOut(f"{column} {text!r} is not a whole number")
    return int(value)


def number(row, column):
    """None where the row has none."""
    text = text_of(row, column)
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise LeftOut(f"{column} {text!r} is not a number")
    return value


def not_understood(row, column):
    return LeftOut(f"{column} {text_of(row, column)!r} is not understood")


def take(patterns, row, column):
    """The named groups of all patterns found; what is left over is refused."""
    left, found = text_of(row, column).lower(), {}
    for pattern in patterns:
        for match in re.finditer(pattern, left):
            for key, value in match.groupdict().items():
                if value and found.setdefault(key, value) != value:
                    raise not_understood(row, column)
        left = re.sub(pattern, ",", left)
    left = re.sub(r"[\s,;:()_-]+", " ", left).strip()
    if left:
        raise LeftOut(f"{column} {text_of(row, column)!r}: {left!r} is not "
                      "understood")
    return found


FFN = re.compile(
    r"(?:(?P<dense>\d+)(?: dense)?(?: *\((?P<layers>\d+)\))? */ *)?"
    r"(?P<ffn>\d+) *x *(?P<experts>\d+)(?: experts)?,? +top[- ]?(?P<top>\d+)"
    r"(?: *\+ *(?P<shared>\d+) shared)?", re.I)


def read_ffn(row):
    """The feed-forward part: "14336", "768 x128 top8", or more in full
    "18432 dense(3) / 2048 x256 experts top8 + 2048 shared"."""
    text = text_of(row, "ffn")
    if not text:
        raise LeftOut("no ffn")
    if text.isdigit():
        return {"dense_ffn": int(text), "experts": 0}
    found = FFN.fullmatch(text)
    if not found:
        raise not_understood(row, "ffn")
    dense = int(found["dense"] or 0)
    return {"dense_ffn": dense, "ffn": int(found["ffn"]),
            "experts": int(found["experts"]), "top_k": int(found["top"]),
            "shared_ffn": int(found["shared"] or 0),
            "dense_layers": int(found["layers"] or 1) if dense else 0}


ZERO = (
    r"fsdp2?", r"full_shard", r"shard_grad_op", r"no_shard",
    r"\bgroup *=? *(?P<group>\d+)(?: *ranks)?", r"all ranks",
    r"distributed optimizer", r"\bddp\b", r"\bshard\b", r"\bnone\b",
    r"not stated",
    r"(?:\bzero[- ]?)?(?<![\d.])(?P<stage>[0-3])(?![\d.])",
)


def read_zero(row, assumed=None):
    """The stage, if it is FSDP, and the ranks that a shard group has, if told.

    "1", "1 (all ranks)", "1, shard group = 8 ranks", "3 (FSDP group 64)",
    "FULL_SHARD"; SHARD_GRAD_OP of FSDP is stage 2, NO_SHARD 0.
    """
    text = text_of(row, "zero").lower()
    found = take(ZERO, row, "zero")
    words = {word: stage for word, stage in (
        ("full_shard", 3), ("shard_grad_op", 2), ("no_shard", 0), ("ddp", 0),
        ("none", 0),
        ("distributed optimizer", 1)) if word in text}
    stages = {*words.values(), *({int(found["stage"])} if "stage" in found
                                 else ())}
    is_fsdp = "fsdp" in text or "shard_" in text or "_shard" in text
    if not stages and is_fsdp:
        stages = {3}
    if len(stages) > 1:
        raise not_understood(row, "zero")
    if not stages and assumed is not None:
        assumed.append("ZeRO 1")
    stage = stages.pop() if stages else 1
    return (stage, is_fsdp and stage >= 2,
            int(found["group"]) if "group" in found else None)


def read_recompute(row, assumed):
    text = text_of(row, "recompute").lower()
    if text in ("", "not stated", "unknown"):
        assumed.append("no recomputation")
        return "none"
    for pattern, meaning in (
            (r"none|no|off|0", "none"),
            (r"full(?: *\((?:every|all) (?:layers?|blocks?)\))?", "full"),
            (r"selective(?: *\((?:core attention|attention core|"
             r"core_attn|attention)\))?", "selective")):
        if re.fullmatch(pattern, text):
            return meaning
    raise not_understood(row, "recompute")


def read_dtype(row, assumed):
    text = text_of(row, "dtype").lower()
    if not text:
        assumed.append("BF16")
        return "bfloat16"
    # Megatron-Bridge's recipes: a scale for a tensor, current (CS) or delayed
    # (DS), for a block (SC), and microscaling (MX).
    for pattern, meaning in (
            (r"(?:amp_)?(?:bf16|bfloat16)", "bfloat16"),
            (r"(?:amp_)?(?:fp16|float16|half)", "float16"),
            (r"fp8(?:[-_](?:cs|ds))?|float8", "fp8"),
            (r"fp8[-_](?:sc|block)", "fp8_block"),
            (r"fp8[-_]mx|mxfp8", "mxfp8"),
            (r"nvfp4|fp4", "nvfp4")):
        if re.fullmatch(rf"(?:{pattern})(?: *\(container default\))?", text):
            return meaning
    if " or " in text:
        raise LeftOut(f"dtype {text_of(row, 'dtype')!r}: not one precision")
    raise not_understood(row, "dtype")


def read_switch(row, column, default):
    text = text_of(row, column).lower()
    if text in ("", "not stated"):
        return default
    for words, meaning in ((("1", "yes", "true", "on"), True),
                           (("0", "no", "false", "off", "none"), False)):
        if text in words:
            return meaning
    raise not_understood(row, column)


def with_layout(row, assumed):
    """The row with all sizes of its layout, each of them a number.

    One of TP, PP and DP that is missing follows from the others; two missing
    leave the row out.
    """
    gpus = integer(row, "gpus")
    sizes = {name: integer(row, name, 0) for name in ("tp", "pp", "dp")}
    for name in ("cp", "ep", "vpp"):
        sizes[name] = integer(row, name, 0)
    if not sizes["cp"]:
        sizes["cp"] = 1
        assumed.append("CP 1")
    missing = [name for name in ("tp", "pp") if not sizes[name]]
    if len(missing) > 1 or (missing and not sizes["dp"]):
        raise LeftOut(f"no {missing[0]}")
    stated = math.prod(size for name, size in sizes.items()
                       if size and name in ("tp", "pp", "dp", "cp"))
    if missing:
        if gpus % stated:
            raise LeftOut(f"no {missing[0]}: {gpus} GPUs do not divide by the "
                          f"{stated} of the others")
        sizes[missing[0]] = gpus // stated
        assumed.append(f"{missing[0].upper()} {gpus // stated}, which follows "
                       "from DP")
    elif sizes["dp"] and gpus not in (stated, stated // sizes["cp"]):
        raise LeftOut(f"dp {sizes['dp']} does not fit: TP {sizes['tp']}, PP "
                      f"{sizes['pp']} and CP {sizes['cp']} on {gpus} GPUs")
    if not sizes["ep"]:
        sizes["ep"] = 1
        if read_ffn(row)["experts"]:
            assumed.append("EP 1")
    if not sizes["vpp"]:
        sizes["vpp"] = 1
        if sizes["pp"] > 1:
            assumed.append("no interleaving")
    if not text_of(row, "micro_batch"):
        assumed.append("a micro-batch of 1")
        row = dict(row, micro_batch="1")
    if sizes["tp"] > 1 and text_of(row, "sp").lower() in ("", "not stated"):
        assumed.append("no sequence parallelism")
    return dict(row, sp="1" if read_switch(row, "sp", False) else "0",
                flash_attn="1" if read_switch(row, "flash_attn", True) else "0",
                **{name: str(size) for name, size in sizes.items()})
