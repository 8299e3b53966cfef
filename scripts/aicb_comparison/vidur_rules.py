"""The named differences between the lines of both sides' Vidur files."""

from aicb_comparison.simai_rules import combined, dispatched


def read(path):
    """Returns (layer, part) and the bytes it communicates, line by line."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return [((row[0], row[1]), int(row[3])) for row in rows]


def explain(s, part, theirs, ours):
    """The ids that explain two sizes; none where they are not explained."""
    f = s.flags
    batch = f.micro_batch if f.phase == "prefill" else 1
    size = s.hidden_bytes // batch  # AICB's.
    ids = ["I01"] if batch > 1 else []
    if part in ("attention", "mlp"):
        expected = (size * (s.tp > 1), s.hidden_bytes * (s.tp > 1))
        return ids if (theirs, ours) == expected else []

    def moe(size):
        return (dispatched(s, size) + combined(s, size)) * (s.ep > 1)

    one_rank = dispatched(s, size) + combined(s, size)
    shared = s.hidden_bytes * (s.tp > 1) * s.has_shared_experts
    gathered = s.hidden_bytes * (s.tp > 1)
    if theirs != one_rank or ours != moe(s.hidden_bytes) + shared + gathered:
        return []
    return (ids + ["I04"] * bool(shared) + ["I05"] * bool(gathered)
            + ["C12"] * (s.ep == 1))  # fmt: skip


def compare(s, their_path, our_path, tally):
    theirs, ours = read(their_path), read(our_path)
    if [key for key, _ in theirs] != [key for key, _ in ours]:
        tally.count([], ["other layers, or in another order"])
        return
    for number, ((key, size), (_, our_size)) in enumerate(zip(theirs, ours), 2):
        ids = [] if size == our_size else explain(s, key[1], size, our_size)
        what = f"line {number}, {' '.join(key)}: {size}; ours {our_size}"
        is_explained = ids or size == our_size
        tally.count(ids, [] if is_explained else [what])
