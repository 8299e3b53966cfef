"""Whether predictions order the layouts of a model as measurements do.

A group is what one source measured of one model, on as many GPUs of one type,
with one length of sequences and one precision, in several layouts. Layouts are
compared by tokens a second, since their batches may differ.
"""

import collections
import itertools
import statistics

COLUMNS = ("source", "model", "gpu_type", "gpus", "seq", "dtype")


def groups_of(rows):
    """[(name, [(measured, predicted)])] in sequences a second."""
    groups = collections.defaultdict(list)
    for row in rows:
        if not row["error_pct"]:
            continue
        predicted = float(row["predicted_iter_time_s"])
        measured = predicted / (1 + float(row["error_pct"]) / 100)
        batch = float(row["global_batch"])
        groups[tuple(row[name] for name in COLUMNS)].append(
            (batch / measured, batch / predicted))
    return [(name, rates) for name, rates in sorted(groups.items())
            if len(rates) > 1]


def rank_correlation(rates):
    """Kendall's tau-a: 1 if all pairs are in the same order, -1 if none is."""
    signs = [(a[0] - b[0]) * (a[1] - b[1])
             for a, b in itertools.combinations(rates, 2)]
    return sum((sign > 0) - (sign < 0) for sign in signs) / len(signs)


def loss_of_best(rates):
    """The share of time that taking the predicted best costs."""
    best = max(rate[0] for rate in rates)
    return best / max(rates, key=lambda rate: rate[1])[0] - 1


def page(rows):
    """The table of docs/accuracy/training.md; empty without groups."""
    groups = groups_of(rows)
    if not groups:
        return ""
    losses = [loss_of_best(rates) for _, rates in groups]
    right = sum(loss == 0 for loss in losses)
    correlations = [rank_correlation(rates) for _, rates in groups]
    count = sum(len(rates) for _, rates in groups)
    return (
        f"{len(groups)} models were measured in several layouts on the same "
        f"GPUs, {count} in all. The mean rank correlation (Kendall) of "
        f"predicted and measured order is {statistics.mean(correlations):.2f}, "
        f"and {right} of the {len(groups)} best layouts are predicted as the "
        f"best. Who takes the predicted best loses "
        f"{100 * statistics.median(losses):.1f} % of the time in the median, "
        f"{100 * statistics.mean(losses):.1f} % in the mean and "
        f"{100 * max(losses):.1f} % at most.\n\n")
