"""Compares the results of two runs of one case."""

import csv
import dataclasses
import json

# cost.json holds times of the run itself. run.json also holds the options and
# how much was simulated, so only these parts of it are compared.
NOT_COMPARED = ("cost.json", "run.json")
PARTS = ("finished", "result", "iteration", "memory")
# Of these parts: what counts how the simulation went, not what came of it.
COUNTS = ("events",)
TIME = "time_us"  # Of collectives.csv.
TOTAL = "iteration_ps"  # Of "result" in run.json.


@dataclasses.dataclass
class Report:
    is_same: bool
    lines: list


def parts_of(folder):
    run = json.loads((folder / "run.json").read_text())
    parts = {name: run.get(name) for name in PARTS}
    parts["result"] = {key: value for key, value in run["result"].items()
                       if key not in COUNTS}
    return parts


def first_difference(path, other):
    """The number of the first line that differs; 0 if none does."""
    with path.open("rb") as a, other.open("rb") as b:
        number = 0
        for number, line in enumerate(a, 1):
            if line != b.readline():
                return number
        return number + 1 if b.readline() else 0


def different_files(before, after):
    names = {path.name for folder in (before, after)
             for path in folder.iterdir()} - set(NOT_COMPARED)
    lines = []
    for name in sorted(names):
        missing = [folder for folder in (before, after)
                   if not (folder / name).exists()]
        if missing:
            lines.append(f"{name}: only one of both runs wrote it")
            continue
        number = first_difference(before / name, after / name)
        if number:
            lines.append(f"{name}: differs from line {number} on")
    if parts_of(before) != parts_of(after):
        lines.append("run.json: " + ", ".join(
            name for name, value in parts_of(before).items()
            if value != parts_of(after)[name]) + " differ")
    return lines


def error(before, after):
    if before == after:
        return 0.0
    return abs(after / before - 1) if before else float("inf")


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def identity(row):
    return tuple(row[key] for key in ("layer", "phase", "collective", "group",
                                      "first_rank", "bytes"))


def times_of(folder):
    """Times of collectives by what they are and which of its kind they are."""
    times, seen = {}, {}
    for row in rows_of(folder / "collectives.csv"):
        key = identity(row)
        seen[key] = seen.get(key, 0) + 1
        times[(*key, seen[key])] = float(row[TIME])
    return times


def errors(before, after):
    """Lines with the largest error of a collective and that of the iteration."""
    expected, found = times_of(before), times_of(after)
    lines = []
    if expected.keys() != found.keys():
        lines.append("collectives.csv: other collectives")
    both = [(error(expected[key], found[key]), key)
            for key in expected.keys() & found.keys()]
    if both:
        largest, key = max(both)
        lines.append(f"largest error of {len(both)} collectives: "
                     f"{100 * largest:.4f} % ({key[0]} {key[1]} {key[2]} of "
                     f"rank {key[4]}, number {key[6]})")
    totals = [parts_of(folder)["result"][TOTAL] for folder in (before, after)]
    lines.append(f"error of the iteration: {100 * error(*totals):.4f} %")
    return lines


def folders(before, after, is_bounded):
    """What differs between the files of two runs."""
    lines = different_files(before, after)
    is_same = not lines
    if is_bounded:
        lines = errors(before, after)
    return Report(is_same, lines)
