#!/usr/bin/env python3
"""Lists where the constants of inputs/gpus come from, for docs/accuracy.

Usage: gpu_constants.py [--write | --check]
  --write  writes the table into docs/accuracy/constants.md, between its markers
  --check  fails where the page has another table
"""

import argparse
import collections
import pathlib
import re
import sys

import accuracy_page

GPUS = pathlib.Path(__file__).resolve().parent.parent / "inputs" / "gpus"
ORIGIN = re.compile(r'^  - grade: (\w+)\n    source: "((?:[^"\\]|\\.)*)"\n'
                    r"    of: \[([^]]*)\]$", re.M)
GRADES = ("stated", "measured", "derived", "guessed")


def origins(path):
    """(grade, source, constants) of each line of a GPU's file."""
    text = path.read_text(encoding="utf-8")
    found = [tuple(re.sub(r"\s+", " ", part) for part in match.groups())
             for match in ORIGIN.finditer(text)]
    if len(found) != text.count("- grade:"):
        sys.exit(f"{path}: an origin has another form than those above")
    return found


def table():
    """A row for each grade and source, with the GPUs that share it."""
    rows = collections.defaultdict(list)
    for path in sorted(GPUS.glob("*.yaml")):
        for row in origins(path):
            rows[row].append(path.stem)
    lines = ["| grade | constants | GPUs | source |", "|---|---|---|---|"]
    for grade, source, constants in sorted(
            rows, key=lambda row: (GRADES.index(row[0]), row[1:])):
        names = ", ".join(f"`{name}`" for name in constants.split(", "))
        gpus = ", ".join(rows[grade, source, constants])
        lines.append(f"| {grade} | {names} | {gpus} | {source} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = table()
    if arguments.check:
        page, _, old, _ = accuracy_page.part("gpu_constants")
        if text == old:
            return 0
        print(f"docs/accuracy/{page.name} has another table of the constants of "
              "GPUs: run scripts/gpu_constants.py --write")
        return 1
    return accuracy_page.publish("gpu_constants", text, arguments.write, False)


if __name__ == "__main__":
    sys.exit(main())
