"""What the columns of a row say."""

import re


class LeftOut(Exception):
    """Why a row cannot be predicted."""


def integer(row, column, default=None):
    text = (row.get(column) or "").strip()
    if not text:
        if default is None:
            raise LeftOut(f"no {column}")
        return default
    try:
        return int(float(text))
    except ValueError:
        raise LeftOut(f"{column} {text!r} is not a number") from None


def number(row, column):
    """None where the row has none."""
    text = (row.get(column) or "").strip()
    try:
        return float(text) if text else None
    except ValueError:
        raise LeftOut(f"{column} {text!r} is not a number") from None


def read_experts(text):
    """"1536 x160 experts top6 + 3072 shared", perhaps "N dense(3) /" before."""
    found = re.search(r"(\d+) *x *(\d+)(?: experts)? +top *(\d+)"
                      r"(?: *\+ *(\d+) shared)?", text)
    if not found:
        return None
    ffn, experts, top_k, shared = found.groups()
    dense = re.match(r"(\d+) dense(?: *\((\d+)\))?", text)
    return {"ffn": int(ffn), "experts": int(experts), "top_k": int(top_k),
            "shared_ffn": int(shared or 0),
            "dense_layers": int(dense[2] or 1) if dense else 0,
            "dense_ffn": int(dense[1]) if dense else 0}


def read_zero(row):
    """The stage, if it is FSDP, and the ranks that a shard group has, if told.

    "1", "1 (all ranks)", "1, shard group = 8 ranks", "3 (FSDP group 64)".
    """
    text = (row.get("zero") or "").lower()
    stage = re.search(r"\d", text)
    group = re.search(r"group *=? *(\d+)", text)
    return (int(stage[0]) if stage else 1, "fsdp" in text,
            int(group[1]) if group else None)
