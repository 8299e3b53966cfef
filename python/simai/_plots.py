"""Draws what a run is about, with matplotlib."""

from __future__ import annotations


def plot(result, ax=None):
    """Draws the first table of `result` that a function here is for."""
    for name, draw in _DRAWINGS.items():
        if name in result.tables and result.tables[name]:
            axes = _axes(ax)
            draw(axes, result.tables[name])
            return axes
    known = ", ".join(_DRAWINGS)
    raise ValueError(f"nothing to draw: the run wrote none of the tables "
                     f"{known}")


def _axes(ax):
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib",
                          name="matplotlib") from error
    return pyplot.subplots()[1]


def _draw_plans(axes, plans):
    """Training layouts: a point for each, time over memory."""
    best = [plan for plan in plans if plan["is_pareto_optimal"]]
    rest = [plan for plan in plans if not plan["is_pareto_optimal"]]
    for group, color, label in (
        (rest, "tab:gray", "other plans"),
        (best, "tab:blue", "no plan is better in both"),
    ):
        axes.scatter([plan["allocated_gib"] for plan in group],
                     [plan["iteration_s"] for plan in group],
                     color=color, label=label)
    for plan in best:
        axes.annotate(plan["rank"],
                      (plan["allocated_gib"], plan["iteration_s"]),
                      xytext=(4, 4), textcoords="offset points")
    _label(axes, "allocated memory of a GPU (GiB)", "iteration (s)")


def _draw_front(axes, front):
    """Deployments: what a GPU gives over what a user gets."""
    for pools in dict.fromkeys(row["pools"] for row in front):
        rows = [row for row in front if row["pools"] == pools]
        axes.scatter([row["tokens_per_s_per_user"] for row in rows],
                     [row["output_tokens_per_s_per_gpu"] for row in rows],
                     label=f"{pools} pools")
    _label(axes, "tokens/s of a user", "output tokens/s of a GPU")


def _draw_curve(axes, curve):
    """Latencies of requests over the load."""
    is_rate = curve[0]["rate_per_s"] is not None
    load = [row["rate_per_s" if is_rate else "concurrency"] for row in curve]
    for latency in "ttft", "tpot":
        for quantile in "p50", "p99":
            axes.plot(load, [row[f"{latency}_{quantile}_ms"] for row in curve],
                      marker="o", label=f"{latency} {quantile}")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    _label(axes, "requests/s" if is_rate else "requests in flight", "ms")


def _draw_collective(axes, sizes):
    """Bus bandwidth of a collective over its size."""
    axes.plot([row["bytes"] for row in sizes],
              [row["busbw_GBps"] for row in sizes], marker="o",
              label="bus bandwidth")
    axes.set_xscale("log", base=2)
    _label(axes, "bytes", "GB/s")


def _draw_goodput(axes, points):
    """Goodput over the work between checkpoints."""
    points = sorted(points, key=lambda row: row["interval_s"])
    minutes = [row["interval_s"] / 60 for row in points]
    axes.plot(minutes, [row["goodput"] for row in points], marker="o",
              label="formula")
    axes.fill_between(minutes, [row["simulated_p5"] for row in points],
                      [row["simulated_p95"] for row in points], alpha=0.3,
                      label="simulated, nine of ten runs")
    axes.set_xscale("log")
    _label(axes, "work between checkpoints (min)", "share of the time")


def _draw_breakdown(axes, parts):
    """Where the time of an iteration goes: a bar for each stage."""
    stages = list(dict.fromkeys(row["stage"] for row in parts))
    begins = dict.fromkeys(stages, 0.0)
    for kind in dict.fromkeys(map(_kind, parts)):
        widths = {stage: sum(row["time_us"] / 1e3 for row in parts
                             if row["stage"] == stage and _kind(row) == kind)
                  for stage in stages}
        axes.barh(list(map(str, stages)), list(widths.values()),
                  left=list(begins.values()), label=kind)
        for stage in stages:
            begins[stage] += widths[stage]
    axes.invert_yaxis()
    _label(axes, "ms", "stage")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))  # Beside the bars.


def _kind(part):
    """Returns what a part of a breakdown is: collectives by their group."""
    is_network = part["category"] == "network"
    return part["group"] if is_network else part["category"]


def _label(axes, x, y):
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend()


_DRAWINGS = {
    "front": _draw_front,
    "plans": _draw_plans,
    "curve": _draw_curve,
    "collective": _draw_collective,
    "goodput": _draw_goodput,
    "breakdown": _draw_breakdown,
}
