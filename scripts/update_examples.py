#!/usr/bin/env python3
"""Writes what the examples in Markdown files print now into these files.

Where an example differs, each run of its lines between two `...` becomes the
run of as many lines of the new output that is most like it, in order. Read the
difference before it is committed: the text around an example may quote it.

Usage: update_examples.py --bin DIR FILE...
"""

import argparse
import difflib
import os
import pathlib
import re
import shutil
import sys
import tempfile

import check_examples


def likeness(old, new):
    """From 0 to 1; numbers do not count."""
    old, new = (re.sub(r"[\d.]+", "#", line) for line in (old, new))
    if old == new:
        return 1
    return difflib.SequenceMatcher(None, old, new).ratio()


def fitted(expected, actual):
    """`expected` with the lines of `actual` in place of its own."""
    if "..." not in expected:
        return actual
    runs = [[]]
    for line in expected:
        if line == "...":
            runs.append([])
        else:
            runs[-1].append(line)
    at = len(runs[0])
    updated = actual[:at]
    for run in runs[1:-1]:
        starts = range(at, len(actual) - len(run) + 1)
        start = max(starts, key=lambda first: sum(
            likeness(old, actual[first + i]) for i, old in enumerate(run)))
        updated += ["...", *actual[start:start + len(run)]]
        at = start + len(run)
    if not runs[-1]:
        return [*updated, "..."]
    # The last run goes to the end, which may have got more lines.
    start = max(range(at, len(actual)),
                key=lambda first: likeness(runs[-1][0], actual[first]))
    return [*updated, "...", *actual[start:]]


def update(path, environment):
    """Runs the examples of a file and writes it again; returns its changes."""
    lines = path.read_text(encoding="utf-8").splitlines()
    changes = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(check_examples.ROOT / "inputs",
                        pathlib.Path(folder, "inputs"))
        for example in check_examples.read_file(path):
            actual = check_examples.run(example.command, folder, environment)
            expected = check_examples.tidy(example.output)
            if not check_examples.matches(expected, actual):
                first = example.line + example.command.count("\n")
                changes.append((first, len(expected),
                                fitted(expected, actual)))
    for first, count, updated in reversed(changes):
        command = lines[first - 1]
        indent = command[:len(command) - len(command.lstrip(" "))]
        lines[first:first + count] = [indent + line for line in updated]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(changes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path,
                        help="folder of the built programs")
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    path = os.pathsep.join([str(options.bin.resolve()), os.environ["PATH"]])
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PATH": path}
    for file in options.files:
        print(f"{file}: {update(file, environment)} examples updated")


if __name__ == "__main__":
    sys.exit(main())
