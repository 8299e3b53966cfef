#!/usr/bin/env python3
"""Compares gen_workload with outputs of AICB's generator.

The folder holds pairs of files: NAME.cmd, a command line of AICB's, and
NAME.txt, what it wrote. For each, gen_workload runs with the same options, and
the items of both are compared in order: names, collectives and sizes, not
times. A difference counts as explained only where a rule that
docs/aicb-differences.md names recomputes both sides of it; anything else is
printed and makes the exit status 1.

Usage: compare_aicb.py --bin DIR [--data DIR] [--out DIR]
"""

import argparse
import collections
import dataclasses
import difflib
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # The source folders stay as they are.

from aicb_comparison import commands  # noqa: E402  (after the line above)
from aicb_comparison import log_rules, simai_rules, vidur_rules  # noqa: E402
from aicb_comparison.sizes import Sizes  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_DATA = ROOT.parent / "shared" / "data" / "simai" / "aicb"


@dataclasses.dataclass
class Item:
    """A layer of SimAI's format."""

    line: int
    name: str
    before: str  # The name of the line before, if any.
    cells: dict[str, tuple[str, int]]  # By "fwd", "ig", "wg".


class Tally:
    """What the comparison of one pair found."""

    def __init__(self):
        self.lines = 0
        self.equal = 0
        self.ids = collections.Counter()
        self.unexplained = []

    def count(self, ids, what):
        """Counts a line: equal, explained by `ids`, or not, as `what` says."""
        self.lines += 1
        if what:
            self.unexplained += what
            return
        self.ids.update(set(ids))
        self.equal += not ids


class Failure(Exception):
    """A file that cannot be compared; says why."""


def read_items(path):
    """Returns the header words and the items of a SimAI workload."""
    lines = path.read_text(encoding="utf-8").splitlines()
    items = []
    for number, line in enumerate(lines[2:], 3):
        words = line.split()
        if len(words) != 12:
            raise Failure(f"{path.name}:{number}: not 12 columns")
        cells = {
            column: (words[at], int(words[at + 1]))
            for column, at in (("fwd", 3), ("ig", 6), ("wg", 9))
        }
        before = items[-1].name if items else ""
        items.append(Item(number, words[0], before, cells))
    return read_header(lines[0]), items


def read_header(line):
    """Returns {key: value}; of the lists of checkpoints, their length."""
    policy, *words = line.split()
    return {"policy": policy} | {
        key[:-1]: value
        for key, value in zip(words, words[1:])
        if key.endswith(":")
    }


def align(theirs, ours):
    """Yields pairs, either of which may be None, in the order of `theirs`."""
    names = [item.name for item in theirs]
    matcher = difflib.SequenceMatcher(
        None, names, [item.name for item in ours], autojunk=False
    )
    for what, i, i_end, j, j_end in matcher.get_opcodes():
        if what == "equal":
            yield from zip(theirs[i:i_end], ours[j:j_end])
        else:
            yield from ((item, None) for item in theirs[i:i_end])
            yield from ((None, item) for item in ours[j:j_end])


def rename(theirs, ours):
    """Calls the first of our lines, where AICB has one, as AICB does."""
    known = {item.name for item in theirs}
    for item, after in zip(ours, ours[1:]):
        name = item.name[:-1]
        if item.name[-1] == "1" and name in known and item.name not in known:
            item.name = after.before = name


def said(cell):
    kind, size = cell
    return f"{kind} {size}"


def compare_pair(sizes, theirs, ours, tally):
    """Compares a line that both sides have."""
    ids, what = [], []
    for column, cell in theirs.cells.items():
        other = ours.cells[column]
        if cell == other:
            continue
        found = simai_rules.explain_cell(
            sizes, theirs.name, column, cell, other
        )
        ids += found
        if not found:
            what.append(
                f"line {theirs.line}, {theirs.name}, {column}: "
                f"{said(cell)}; ours (line {ours.line}) {said(other)}"
            )
    tally.count(ids, what)


def compare_lines(sizes, side, items, tally):
    """Compares the lines that one side has."""
    found = collections.defaultdict(int)
    for item in items:
        ids, count = simai_rules.explain_line(sizes, side, item)
        cells = ", ".join(f"{c} {said(cell)}" for c, cell in item.cells.items())
        what = f"line {item.line}, {item.name}, only {side}: {cells}"
        tally.count(ids, [] if ids else [what])
        if ids:
            found[item.name, count] += 1
    for (name, expected), count in found.items():
        if count != expected:
            tally.unexplained.append(
                f"{name}: {count} lines only {side}, expected {expected}"
            )


def compare_headers(sizes, theirs, ours, tally):
    ids, what = [], []
    for key in sorted(set(theirs) | set(ours)):
        one, other = theirs.get(key), ours.get(key)
        if one == other:
            continue
        found = simai_rules.explain_header(sizes, key, one, other)
        ids += found
        if not found:
            what.append(f"line 1, {key}: {one}; ours {other}")
    tally.count(ids, what)


def compare_simai(sizes, their_path, our_paths, tally):
    header, theirs = read_items(their_path)
    our_header, ours = read_items(our_paths[0])
    for path in our_paths[1:]:
        ours += read_items(path)[1]
    compare_headers(sizes, header, our_header, tally)
    rename(theirs, ours)
    pairs = list(align(theirs, ours))
    for one, other in pairs:
        if one and other:
            compare_pair(sizes, one, other, tally)
    only_theirs = [one for one, other in pairs if other is None]
    only_ours = [other for one, other in pairs if one is None]
    compare_lines(sizes, "aicb", only_theirs, tally)
    compare_lines(sizes, "ours", only_ours, tally)


def run(program, command, folder, name):
    """Returns the files that gen_workload writes for a command of AICB's."""
    model = folder / f"{name}.yaml"
    if command.flags.frame in ("DeepSeek", "DeepSpeed"):
        model.write_text(commands.model_file(command.flags), encoding="utf-8")
    options = commands.options_of(command, model)
    pipeline = command.flags.pipeline_model_parallel
    # AICB lists the layers of all stages in inference, else those of one.
    stages = range(pipeline if command.kind == "inference" else 1)
    paths = []
    for stage in stages:
        path = folder / f"{name}.{stage}.txt"
        line = [program, *options, "-o", path]
        if pipeline > 1 and command.kind != "vidur":
            line += ["--pp-rank", stage]
        done = subprocess.run(
            [str(word) for word in line],
            capture_output=True,
            check=False,
            text=True,
        )
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise Failure(said[-1] if said else f"exit {done.returncode}")
        paths.append(path)
    return paths


def compare(program, path, folder):
    """Returns the tally of a pair, of which `path` is the .cmd file."""
    tally = Tally()
    try:
        command = commands.parse(path.read_text(encoding="utf-8"))
        sizes = Sizes(command)
        output = path.with_suffix(".txt")
        if command.kind == "collective test":
            log_rules.compare_test(sizes, output, tally)
            return tally
        files = run(program, command, folder, path.stem)
        if command.kind == "vidur":
            vidur_rules.compare(sizes, output, files[0], tally)
        elif command.kind == "megatron log":
            log_rules.compare_megatron(sizes, output, files[0], tally)
        elif command.kind == "deepspeed log":
            log_rules.compare_deepspeed(sizes, output, files[0], tally)
        else:
            compare_simai(sizes, output, files, tally)
        tally.ids.update(["S01"] * bool(command.forced))
    except (commands.CommandError, Failure) as error:
        tally.unexplained.append(str(error))
    return tally


def print_table(tallies):
    width = max(len(name) for name in tallies)
    print(f"{'file':<{width}}  lines  equal  unexplained  by difference")
    for name, tally in tallies.items():
        ids = " ".join(f"{i}:{n}" for i, n in sorted(tally.ids.items()))
        print(
            f"{name:<{width}} {tally.lines:>6} {tally.equal:>6} "
            f"{len(tally.unexplained):>12}  {ids}"
        )


def main(arguments):
    parser = argparse.ArgumentParser(
        description="Compares gen_workload with outputs of AICB's generator. "
        "Exits with 1 where a difference has no explanation."
    )
    parser.add_argument(
        "--bin", type=pathlib.Path, required=True, help="gen_workload's folder"
    )
    parser.add_argument(
        "--data",
        type=pathlib.Path,
        default=DEFAULT_DATA,
        help="folder of .cmd and .txt files (default: %(default)s)",
    )
    parser.add_argument(
        "--out", type=pathlib.Path, help="folder to keep our outputs in"
    )
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        print(f"skipped: no folder {options.data}")
        return 0
    program = options.bin.resolve() / "gen_workload"
    if not program.is_file():
        parser.error(f"--bin: no file {program}")
    paths = [
        path
        for path in sorted(options.data.glob("*.cmd"))
        if path.with_suffix(".txt").is_file()
    ]
    if not paths:
        print(f"skipped: no pairs of files in {options.data}")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = options.out or pathlib.Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        tallies = {path.stem: compare(program, path, folder) for path in paths}
    print_table(tallies)
    bad = sum(len(tally.unexplained) for tally in tallies.values())
    for stem, tally in tallies.items():
        for what in tally.unexplained[:20]:
            print(f"{stem}: {what}")
        if len(tally.unexplained) > 20:
            print(f"{stem}: and {len(tally.unexplained) - 20} more")
    print(f"finished: {len(tallies)} files, {bad} unexplained differences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
