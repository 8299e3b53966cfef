"""The named differences between the lines of both sides' SimAI workloads.

A rule explains one difference: of the cells of one column in a pair of lines,
or of a line that only one side has. Its check recomputes both sides, so that a
rule explains nothing else than what docs/aicb-differences.md says of its id.
"""

import re

from aicb_comparison.commands import padded
from aicb_comparison.sizes import ids_of_parts

NONE = ("NONE", 0)
GROUPS = {"_EP": "EP", "_DP_EP": "DP_EP"}


def group_of(kind, column):
    """The dimension of a collective such as ALLTOALL_EP."""
    suffix = kind[kind.index("_"):] if "_" in kind else ""
    return GROUPS.get(suffix, "DP" if column == "wg" else "TP")


def is_of_one_rank(s, name, column, cell):
    """Whether AICB writes this collective although its group is one rank."""
    kind, size = cell
    if kind == "NONE" or s.group(group_of(kind, column)) > 1:
        return False
    if name.startswith("moe_grad_norm"):
        return size in (2 * sum(s.aicb_experts().values()),
                        4 * sum(s.aicb_experts().values()))  # fmt: skip
    if kind == "ALLTOALL_EP":
        return size in (combined(s, s.hidden_bytes),
                        dispatched(s, s.hidden_bytes))  # fmt: skip
    if name == "mlp_moelayer":
        return size == 2 * s.flags.num_experts * s.ep * s.tp
    kinds = {"attention_row": "REDUCESCATTER", "mlp_row": "REDUCESCATTER",
             "attention_column": "ALLGATHER", "mlp_column": "ALLGATHER",
             "final_column": "ALLGATHER"}  # fmt: skip
    again = 2 if s.flags.recompute_activations else 1
    return kind == kinds.get(name, "ALLREDUCE") and size in (
        s.hidden_bytes, again * s.hidden_bytes) \
        and column != "wg" and not s.flags.aiob_enable


def sums(s, theirs, ours, scale, their_parts, our_parts):
    """The ids of the parts, where the parts give both sizes."""
    if theirs != scale * sum(their_parts.values()):
        return []
    if ours != scale * sum(our_parts.values()):
        return []
    ids = ids_of_parts(their_parts, our_parts)
    return ids + ["P10"] * (s.pp > 1)


def parameters(scale):
    """AICB counts other parameters outside of experts."""
    def check(s, theirs, ours):
        if theirs[0] != ours[0]:
            return []
        return sums(s, theirs[1], ours[1], scale, s.aicb_parts(),
                    s.our_parts())  # fmt: skip
    return check


def expert_parameters(scale):
    def check(s, theirs, ours):
        if theirs[0] != ours[0]:
            return []
        return sums(s, theirs[1], ours[1], scale, s.aicb_experts(),
                    s.our_experts())  # fmt: skip
    return check


def lost(kind):
    """A collective of the backward pass that AICB loses."""
    def check(s, theirs, ours):
        size = s.hidden_bytes
        is_lost = theirs in (NONE, ("NONE", size), ("REDUCESCATTER", 0))
        return is_lost and ours == (kind, size)
    return check


def recomputed(s, theirs, ours):
    size = s.hidden_bytes
    return (s.flags.recompute_activations and theirs[0] == ours[0]
            and (theirs[1], ours[1]) == (2 * size, size))  # fmt: skip


def embedding(kind, with_learned_positions):
    """With sequence parallelism the sum is scattered, or, where learned
    positions are added to it, split afterwards."""
    def check(s, theirs, ours):
        size = s.hidden_bytes
        aicb = (NONE, ("NONE", size), ("ALLREDUCE", size))
        is_learned = s.our_replicated()["positions"] > 0
        expected = with_learned_positions if is_learned else kind
        return s.sp and theirs in aicb and ours == (expected, size)
    return check


def embedding_gradient(s, theirs, ours):
    return (not s.sp and theirs == ("ALLREDUCE", s.hidden_bytes)
            and ours == NONE)  # fmt: skip


def counts(s, theirs, ours):
    f = s.flags
    size = f.num_experts * s.ep * s.tp
    expected = ("ALLGATHER_EP", 8 * size) if s.ep > 1 else NONE
    aicb = ("ALLGATHER", 2 * size)
    return theirs in (aicb, NONE) and ours == expected


def latent(rank):
    """AICB gathers hidden states where there are latent vectors."""
    def check(s, theirs, ours):
        f = s.flags
        width = rank(f) or f.hidden_size
        size = 2 * s.tokens * width
        ids = ["C16"] if size != s.hidden_bytes else []
        if theirs == ("ALLGATHER", s.hidden_bytes):
            return ids if ours == ("ALLGATHER", size) else []
        is_lost = theirs in (NONE, ("REDUCESCATTER", 0))
        return ids + ["C06"] if is_lost and ours == ("REDUCESCATTER", size) \
            else []
    return check


def printed(s, theirs, ours):
    return theirs[0] == "NONE" and theirs[1] in (0, s.hidden_bytes) \
        and ours == NONE


def prompts(kind, ratio):
    """AICB's prefill has one sequence, whatever the micro-batch."""
    def check(s, theirs, ours):
        f = s.flags
        one = 2 * f.seq_length * f.hidden_size
        if f.phase != "prefill" or f.micro_batch == 1 or theirs[0] != kind:
            return False
        sizes = (ratio(s, one), ratio(s, f.micro_batch * one))
        return ours[0] == kind and (theirs[1], ours[1]) == sizes
    return check


def combined(s, size):
    """What one rank sends of tokens with `size` bytes in all."""
    return size * s.flags.moe_router_topk // s.tp


def dispatched(s, size):
    return int(combined(s, size) * 0.515625)  # 8 bits, and a scale for 128.


def shared_experts(s, theirs, ours):
    return theirs == NONE and s.tp > 1 and ours == (
        "ALLREDUCE", s.hidden_bytes)  # fmt: skip


# Id (where the check does not say), name, column, check.
PAIRS = [
    ("", "grad_gather", "wg", parameters(2)),
    ("", "grad_param_comm", "wg", parameters(4)),
    ("", "moe_grad_norm1", "wg", expert_parameters(2)),
    ("", "moe_grad_norm2", "wg", expert_parameters(4)),
    ("C09", "attention_(column|row|layer)", "fwd", recomputed),
    ("", "attention_q_column", "fwd|ig", latent(lambda f: f.q_lora_rank)),
    ("", "attention_kv_column", "fwd|ig",
     latent(lambda f: f.kv_lora_rank + f.qk_rope_dim)),
    ("C06", ".*_column", "ig", lost("REDUCESCATTER")),
    ("C06", ".*_row", "ig", lost("ALLGATHER")),
    ("C06", "(attention|mlp)_layer", "ig", lost("ALLREDUCE")),
    ("C07", "embedding_layer", "fwd",
     embedding("REDUCESCATTER", "ALLREDUCE")),
    ("C07", "embedding_layer", "ig", embedding("ALLGATHER", "ALLGATHER")),
    ("C08", "embedding_layer", "ig", embedding_gradient),
    ("C11", "mlp_moelayer", "fwd", counts),
    ("I01", "attention_(layer|gdn)|dense_mlp", "fwd",
     prompts("ALLREDUCE", lambda s, size: size)),
    ("I01", "moe_route", "fwd", prompts("ALLTOALL_EP", dispatched)),
    ("I01", "moe_expert", "fwd", prompts("ALLTOALL_EP", combined)),
    ("I04", "shared_experts", "fwd", shared_experts),
    ("C14", ".*", "fwd|ig|wg", printed),
]  # fmt: skip


def only(item, column, kind, size):
    """Whether a line has this collective, or none, and no other."""
    cells = {**dict.fromkeys(item.cells, NONE), column: (kind, size)}
    return item.cells == cells


def is_silent(s, item):
    return all(cell == NONE for cell in item.cells.values())


def over_tensor(kind, column, size):
    """A check: this collective, or none where TP is 1."""
    def check(s, item):
        cell = (kind, size(s)) if s.tp > 1 else NONE
        return only(item, column, *cell)
    return check


def hidden(s):
    return s.hidden_bytes


def all_parts(s):
    """Everything that is not of experts, and experts once more."""
    return sum(s.aicb_parts().values()) + (
        sum(s.aicb_experts().values()) if s.moe_layers else 0)  # fmt: skip


def grad_norm(s, item):
    total = all_parts(s)
    if item.cells != {"fwd": ("ALLGATHER", 2 * total), "ig": NONE,
                      "wg": ("REDUCESCATTER", 4 * total)}:  # fmt: skip
        return []
    ids = ids_of_parts(s.aicb_parts(), s.our_parts())
    return ["C01", *ids] + ["P09"] * bool(s.moe_layers)


def split_grad_norm(kind, scale):
    def check(s, item):
        size = scale * sum(s.our_parts().values())
        return not s.flags.aiob_enable and only(item, "wg", kind, size)
    return check


def all_gradients(s, item):
    return not s.sp and only(item, "ig", "ALLREDUCE", 2 * all_parts(s))


def replicated(s, item):
    return s.sp and only(item, "ig", "ALLREDUCE", s.our_summed())


def no_experts(kind):
    def check(s, item):
        return s.moe_layers == 0 and only(item, "wg", kind, 0)
    return check


def unsharded(kind, scale):
    def check(s, item):
        size = scale * sum(s.aicb_parts().values())
        return s.dp == 1 and only(item, "wg", kind, size)
    return check


def embedding_norm(s, item):
    size = 2 * s.flags.vocab_size * s.flags.hidden_size
    if s.sp and item.before != "final_column":
        return False
    return only(item, "fwd", "ALLREDUCE", size)


def loss(s, item):
    return only(item, "fwd", "ALLREDUCE", 4 * s.tokens)


def last_loss(s, item):
    if s.tp == 1:
        return ["C12"] if loss(s, item) else []
    return ["C15"] if s.pp > 1 and loss(s, item) else []


def numbers(s, item):
    return s.tp == 1 and only(item, "fwd", "ALLREDUCE", 4)


def last_logits(s, item):
    """Which the first of the stages lacks."""
    forward = {NONE, ("ALLGATHER", s.hidden_bytes)}
    gradient = {NONE, ("REDUCESCATTER", 0)}
    return (s.pp > 1 and item.cells["fwd"] in forward
            and item.cells["ig"] in gradient
            and item.cells["wg"] == NONE)  # fmt: skip


def unsplit_logits(s, item):
    gradient = over_tensor("ALLREDUCE", "ig", hidden)
    return not (s.sp or s.inference) and gradient(s, item)


def inferred_logits(s, item):
    size = 2 * s.flags.micro_batch * padded(s.flags.vocab_size, s.tp)
    gathered = over_tensor("ALLGATHER", "fwd", lambda _: size)
    return s.inference and gathered(s, item)


def once(s):
    return 1


def each(s):
    return s.ga


def moe(s):
    return s.flags.num_layers - s.flags.n_dense_layers


# Id (where the check does not say), side, name, the name before, how many
# there are, check.
LINES = [
    ("", "aicb", "grad_norm", "", once, grad_norm),
    ("C01", "ours", "grad_gather", "", once, split_grad_norm("ALLGATHER", 2)),
    ("C01", "ours", "grad_param_comm", "grad_gather", once,
     split_grad_norm("REDUCESCATTER", 4)),
    ("C01", "ours", "grad_param_compute", "(grad_param_comm)?", once,
     is_silent),
    ("C12", "aicb", "grad_gather", "", once, unsharded("ALLGATHER", 2)),
    ("C12", "aicb", "grad_param_comm", "grad_gather", once,
     unsharded("REDUCESCATTER", 4)),
    ("C02", "aicb", "layernorm", "grad_norm|grad_param_compute", once,
     all_gradients),
    ("C02", "ours", "layernorm", "grad_param_compute", once, replicated),
    ("C03", "aicb", "embedding_grads", "grad_param_compute|layernorm", once,
     over_tensor("ALLREDUCE", "ig", hidden)),
    ("C04", "aicb", "moe_grad_norm1", "grad_norm|layernorm|embedding_grads",
     once, no_experts("ALLGATHER_DP_EP")),
    ("C04", "aicb", "moe_grad_norm2", "moe_grad_norm1", once,
     no_experts("REDUCESCATTER_DP_EP")),
    ("C05", "aicb", "embedding_norm", "final_column|mlp_(row|layer|moelayer)",
     each, embedding_norm),
    ("C10", "ours", "cross_entropy", "final_column", each,
     lambda s, item: s.tp == 1 and is_silent(s, item)),
    *(("C10", "ours", f"cross_entropy{i}",
       f"cross_entropy{i - 1}" if i > 1 else "final_column",
       lambda s: s.ga - 1, loss) for i in (1, 2, 3)),
    *(("", "aicb", f"cross_entropy{i}",
       f"cross_entropy{i - 1}" if i > 1
       else "embedding_norm|final_column|mlp_.*", once, last_loss)
      for i in (1, 2, 3)),
    *(("C12", "aicb", f"optimizer{i}",
       f"optimizer{i - 1}" if i > 1 else "cross_entropy3", once, numbers)
      for i in (1, 2, 3, 4)),
    ("C15", "aicb", "final_column", "mlp_.*", each, last_logits),
    ("C13", "ours", "final_column", "mlp_.*", each, unsplit_logits),
    ("C17", "aicb", "attention_linear_q_lora", "embedding_layer|mlp_.*",
     lambda s: s.ga * s.layers,
     lambda s, item: s.flags.q_lora_rank == 0 and is_silent(s, item)),
    ("I02", "aicb", "attention_norm", "(moe_expert)?",
     lambda s: s.flags.num_layers, is_silent),
    ("I02", "aicb", "moe_norm", "attention_(layer|gdn)",
     lambda s: s.flags.num_layers, is_silent),
    ("I03", "ours", "embedding_layer", "", once,
     over_tensor("ALLREDUCE", "fwd", hidden)),
    ("I03", "ours", "final_column", "moe_expert2?", once, inferred_logits),
    ("I05", "ours", "moe_expert2", "moe_expert", moe,
     lambda s, item: s.tp > 1
     and only(item, "fwd", "ALLGATHER", s.hidden_bytes)),
    ("I06", "ours", "shared_experts", "attention_(layer|gdn)", moe,
     over_tensor("ALLREDUCE", "fwd", hidden)),
]  # fmt: skip


def explain_cell(s, name, column, theirs, ours):
    """The ids that explain a difference between two cells; else none."""
    if ours == NONE and is_of_one_rank(s, name, column, theirs):
        return ["C12"]
    for rule, pattern, columns, check in PAIRS:
        if not re.fullmatch(pattern, name):
            continue
        if not re.fullmatch(columns, column):
            continue
        found = check(s, theirs, ours)
        if found:
            return [rule] if rule else found
    return []


def explain_line(s, side, item):
    """The ids of a line that only `side` has, and how many there should be.

    No ids where the line is not explained.
    """
    for rule, of, name, before, count, check in LINES:
        if of != side or item.name != name:
            continue
        if not re.fullmatch(before, item.before):
            continue
        found = check(s, item)
        if found:
            return [rule] if rule else found, count(s)
    return [], 0


def explain_header(s, key, theirs, ours):
    """The ids that explain a difference between two header values."""
    f = s.flags
    if key == "vpp" and (theirs, ours) == (str(s.layers), "1"):
        return ["H01"]
    if key == "mode" and (theirs, ours) == ("1", None):
        return ["H02"]
    if key == "etp" and (theirs, ours) == (None, "1"):
        return ["H05"] * (s.inference and s.tp > 1)
    if key == "pp_comm" and theirs is not None and ours is not None:
        if float(theirs) == float(ours):
            return ["H03"]
        whole = 2 * f.micro_batch * f.seq_length * f.hidden_size
        if s.inference and (theirs, ours) == (str(whole),
                                              str(s.hidden_bytes)):
            return ["H04"]
    return []
