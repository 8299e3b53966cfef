"""The named differences between the lines of both sides' logs.

Lines are compared as multisets of each phase, and those of the forward passes
also in order: AICB runs the backward pass of the modules of a layer in the
order of the forward pass (L03). Of ZeRO, the bytes of each kind are compared.
"""

import collections
import csv
import re

from aicb_comparison.sizes import ids_of_parts

Row = collections.namedtuple("Row", "phase type group ranks size place")


def shape_of(text):
    """The product of ((m k) (k n)), the same for its transposed form."""
    first, second = (
        [int(word) for word in operand.split()]
        for operand in re.findall(r"\(([\d ]+)\)", text)
    )
    rows = 1
    for number in first[:-1]:
        rows *= number
    outer = sorted((rows, second[-1]))
    return f"{outer[0]} x {outer[1]} over {first[-1]}"


def place_of(stage):
    """The module of a stage, where rules tell it from others."""
    for name, words in (("embedding", ("Embedding", "embedding")),
                        ("final", ("final_column", "cross_entropy")),
                        ("experts", ("MOE", "moe_"))):  # fmt: skip
        if any(word in stage for word in words):
            return name
    return ""


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        rows = []
        for words in csv.DictReader(file):
            kind = words["comm_type"].removeprefix("CommType.")
            stage, size = words["stage"], words["msg_size"]
            phase = re.split(r"[._]", stage)[0]
            place = place_of(stage)
            if kind == "computation":
                size = shape_of(size)
            elif kind in ("isend", "irecv"):
                # AICB says forward_step of all but the last ones.
                phase, place = "message", words["additional"]
            elif place == "final" and kind == "all_reduce":
                place = ""  # AICB has those of the loss beside its modules.
            group = words["comm_group"].removeprefix("CommGroup.")
            ranks = words["comm_group_size"]
            rows.append(Row(phase, kind, group, ranks, size, place))
    return rows


def parameters(s, row, count, side):
    """The reduction of gradients, and the gathering of parameters."""
    scales = {"reduce_scatter": 4, "all_reduce": 4, "all_gather": 2}
    if row.phase != "step" or row.group not in ("dp_group", "ep_dp_group"):
        return []
    size, scale = int(row.size), scales[row.type]
    held = s.aicb_experts() if s.moe_layers else {}
    theirs, ours = {**s.aicb_parts(), **held}, s.our_parts()
    if row.group == "ep_dp_group":
        expected, ids = scale * sum(s.our_experts().values()), ["P09"]
    elif side == "ours":
        expected, ids = scale * sum(ours.values()), ids_of_parts(theirs, ours)
    else:
        expected = scale * sum(theirs.values()) // s.pp
        ids = ids_of_parts(theirs, ours)
        ids += ["P10", "L05"] * (s.pp > 1) + ["P09"] * bool(s.moe_layers)
    often = 2 if s.pp > 1 and side == "aicb" else 1
    return ids if (size, count) == (expected, often) else []


def prepared(s, row, count, side):
    """What AICB's Megatron and DeepSpeed do before the first iteration."""
    if side != "aicb" or row.phase != "init":
        return []
    return ["L01"] * (count == {
        ("all_reduce", "dp_group", "8"): 4,
        ("all_reduce", "pp_group", "8"): 3,
        ("all_gather", "dp_group", "32"): 1,
        ("broadcast", "tp_group", "24"): 1,
        ("all_gather", "dp_group", "64"): 1,
    }.get((row.type, row.group, row.size)))  # fmt: skip


def data(s, row, count, side):
    sizes = ("40", str(8 * (s.flags.world_size + s.tokens)))
    is_data = row.type == "broadcast" and row.size in sizes
    return ["L02"] * (side == "aicb" and is_data and count == s.ga)


def loss(s, row, count, side):
    is_mean = row[:3] == ("forward", "all_reduce", "dp_group")
    return ["L04"] * (side == "aicb" and is_mean and row.size == "4"
                      and count == s.ga)  # fmt: skip


def norms(s, row, count, side):
    if row[:3] != ("step", "all_reduce", "tp_group"):
        return []
    if row.size == "4":  # Numbers: AICB has one in each step, we four.
        return ["L07"] * (side == "ours" and count == 4 - (1 + (s.pp > 1)))
    size = 0 if side == "aicb" else s.our_summed()
    return ["L06"] * (int(row.size) == size)


def embedding(s, row, count, side):
    if row.place != "embedding" or count != s.ga:
        return []
    expected = "all_reduce"
    if side == "ours":
        forward = row.phase == "forward"
        expected = "reduce_scatter" if forward else "all_gather"
    if row.type != expected or int(row.size) != s.hidden_bytes:
        return []
    if s.sp:
        return ["C07"]
    return ["C08"] * (side == "aicb" and row.phase == "backward")


def final(s, row, count, side):
    """AICB never runs the logits."""
    if side != "ours" or row.place != "final" or s.pp > 1:
        return []
    if row.type == "computation":
        return ["L10"]
    return ["L10"] * (int(row.size) == s.hidden_bytes and count == s.ga)


def messages(s, row, count, side):
    if row.phase != "message" or count != s.ga:
        return []
    size, ranks = s.hidden_bytes, "1"
    if side == "ours":
        size, ranks = size // (s.tp if s.sp else 1), str(s.pp)
    return ["L08"] * ((int(row.size), row.ranks) == (size, ranks))


def experts(s, row, count, side):
    if row.place != "experts":
        return []
    if row.phase == "backward" and side == "ours":
        return ["L09"]
    unit = 2 if side == "aicb" else 8
    size = unit * s.flags.num_experts * s.ep * s.tp
    return ["C11"] * (row.type == "all_gather" and int(row.size) == size
                      and count == s.moe_layers * s.ga)  # fmt: skip


def of_one_rank(s, row, count, side):
    return ["C12"] * (side == "aicb" and row.ranks == "1"
                      and row.phase != "message")  # fmt: skip


RULES = [prepared, data, loss, parameters, norms, embedding, final, messages,
         experts, of_one_rank]  # fmt: skip


def explain(s, row, count, side):
    found = (rule(s, row, count, side) for rule in RULES)
    return next((ids for ids in found if ids), [])


def compare_megatron(s, their_path, our_path, tally):
    theirs, ours = read(their_path), read(our_path)
    their_counts = collections.Counter(theirs)
    our_counts = collections.Counter(ours)
    common = their_counts & our_counts
    for _ in common.elements():
        tally.count([], [])
    for side, more, less in (("aicb", their_counts, our_counts),
                             ("ours", our_counts, their_counts)):  # fmt: skip
        for row, count in sorted((more - less).items()):
            ids = explain(s, row, count, side)
            what = [] if ids else [f"only {side}, {count} times: {row}"]
            for _ in range(count):
                tally.count(ids, what)
                what = []
    if is_order_lost(theirs, ours, common):
        tally.unexplained.append("the forward passes are in another order")
    elif any(row.phase == "backward" for row in common):
        tally.ids["L03"] += 1


def is_order_lost(theirs, ours, common):
    both = [
        [row for row in rows if row.phase == "forward" and row in common]
        for rows in (theirs, ours)
    ]
    return both[0] != both[1]


def sum_of(rows, kinds, phases=("forward", "backward", "step")):
    """The bytes of some kinds, without single numbers."""
    return sum(
        int(row.size)
        for row in rows
        if row.type in kinds and row.phase in phases and int(row.size) > 8
    )


def compare_deepspeed(s, their_path, our_path, tally):
    """Compares sums: AICB fills buckets, we reduce what belongs together."""
    theirs, ours = read(their_path), read(our_path)
    stage, size = s.flags.stage, 2 * s.llama()
    reduced = {"all_reduce", "reduce", "reduce_scatter"}
    ours_reduced = size * (s.ga if stage > 1 else 1)
    check(tally, "Z01", "gradients", sum_of(theirs, reduced), size * s.ga,
          sum_of(ours, reduced), ours_reduced)  # fmt: skip
    gathered = sum_of(theirs, {"all_gather"})
    if stage == 3:
        # Kept, or gathered again in the backward pass.
        per_pass = range(size * s.ga, 2 * size * s.ga + size // 100)
        embedding = 2 * s.flags.vocab_size * s.flags.hidden_size
        expected = s.ga * (2 * size - embedding)
        is_near = gathered in per_pass
        check(tally, "Z05", "parameters", is_near, True,
              sum_of(ours, {"all_gather"}), expected)  # fmt: skip
    else:
        shards = sum(row.type == "all_gather" for row in theirs)
        is_padded = 0 <= gathered - size <= shards * 2 * s.dp
        check(tally, "Z02", "parameters", is_padded, True,
              sum_of(ours, {"all_gather"}), size)  # fmt: skip
    init = [row for row in theirs if row.phase == "init"]
    kinds = ["broadcast"] + ["all_gather"] * (stage == 3)
    for kind in kinds:
        total = sum_of(init, {kind}, phases=("init",))
        check(tally, "L01", f"{kind} of parameters", total, size, 0, 0)
    others = len(init) - sum(row.type in kinds for row in init)
    barriers = 3 if stage == 3 else 1
    check(tally, "L01", "barriers", others, barriers, 0, 0)
    overflow = sum(row.type == "all_reduce" and row.size in ("1", "8")
                   for row in theirs)  # fmt: skip
    check(tally, "Z03", "numbers", overflow, 1 + (stage == 3), 0, 0)


def check(tally, rule, name, theirs, expected, ours, our_expected):
    is_right = theirs == expected and ours == our_expected
    tally.count(
        [rule],
        []
        if is_right
        else [f"{name}: {theirs} of {expected}; ours {ours} of {our_expected}"],
    )


def compare_test(s, their_path, tally):
    """AICB's test of a collective, which gen_workload does not write."""
    f = s.flags
    sizes = [f.begin_size]
    while 2 * sizes[-1] <= f.end_size:
        sizes.append(2 * sizes[-1])
    expected = [f.begin_size] * f.iter_num
    expected += [size for size in sizes for _ in range(f.iter_num)]
    rows = [row for row in read(their_path) if row.type != "epoch_end"]
    found = [int(row.size) for row in rows if row.type == f.test_comm]
    what = [] if found == expected else [f"sizes {found}, not {expected}"]
    for _ in rows:
        tally.count(["T01"], what)
        what = []
