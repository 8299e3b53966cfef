"""How well predicted orders of deployments hold; a part of compare_serving.

Points that serve the same model and lengths with the same engine on the same GPU
are one group. Its front is the points that no other beats in both output tokens
a second and GPU, and 1 / TPOT. Figures are the share of the layouts (TP, PP, EP)
of the measured front that the predicted front has too, and what taking the
predicted best point under a limit of TPOT costs: how far its measured rate is
below that of the measured best.
"""

import collections
import statistics

LIMITS_MS = (10, 15, 20, 30, 50)
GROUP = ("model", "gpu", "framework", "precision", "isl", "osl")


def _rate(row, ttft_ms, tpot_ms):
    """Output tokens a second and GPU of a closed loop."""
    tokens = float(row["osl"])
    seconds = (ttft_ms + tpot_ms * (tokens - 1)) / 1000
    gpus = float(row["tp"] or 1) * float(row["pp"] or 1)
    return float(row["concurrency"]) * tokens / seconds / gpus


def _points(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        if not (row["status"].startswith("ok") and row["tpot_error_pct"] and
                row["ttft_error_pct"]):
            continue
        measured = float(row["tpot_ms"]), float(row["ttft_ms"])
        predicted = (float(row["predicted_tpot_ms"]),
                     float(row["predicted_ttft_ms"]))
        groups[tuple(row[name] for name in GROUP)].append({
            "layout": (row["tp"], row["pp"], row["ep"]),
            "measured": (measured[0], _rate(row, measured[1], measured[0])),
            "predicted": (predicted[0], _rate(row, predicted[1], predicted[0])),
        })
    return {key: points for key, points in sorted(groups.items())
            if len({point["layout"] for point in points}) > 1}


def _front(points, which):
    """The layouts of the points that no other beats."""
    kept = set()
    best = 0
    for point in sorted(points, key=lambda p: (p[which][0], -p[which][1])):
        if point[which][1] > best:
            best = point[which][1]
            kept.add(point["layout"])
    return kept


def _best(points, which, limit):
    within = [point for point in points if point[which][0] <= limit]
    return max(within, key=lambda point: point[which][1], default=None)


def page_of(rows):
    """The figures of docs/accuracy/serving.md."""
    groups = _points(rows)
    if not groups:
        return ""
    found = number = 0
    losses = []
    over = 0
    for points in groups.values():
        measured = _front(points, "measured")
        found += len(measured & _front(points, "predicted"))
        number += len(measured)
        for limit in LIMITS_MS:
            best = _best(points, "measured", limit)
            chosen = _best(points, "predicted", limit)
            if best is None or chosen is None:
                continue
            over += chosen["measured"][0] > 1.1 * limit
            losses.append(max(0, 1 - chosen["measured"][1] /
                              best["measured"][1]))
    losses.sort()
    return (
        f"Orders: {len(groups)} groups of points have several layouts. Of the "
        f"{number} layouts on their measured fronts {found} are on the "
        f"predicted ones, {100 * found / number:.0f} %. Taking the predicted "
        f"best under {len(losses)} limits of TPOT costs "
        f"{100 * statistics.median(losses):.1f} % of the rate in the median, "
        f"{100 * statistics.mean(losses):.1f} % in the mean and "
        f"{100 * losses[int(0.9 * (len(losses) - 1))]:.1f} % at the 90th "
        f"percentile; {over} of these points miss the limit by more than "
        f"10 %.\n")
