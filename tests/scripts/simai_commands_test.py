#!/usr/bin/env python3
"""Runs our side of every row of docs/simai-commands.md.

A row has the command of SimAI or AICB, what to type here, and what differs.
What to type here must end with exit code 0 and, where nothing differs, have
every option of the other command.

Usage: simai_commands_test.py --bin DIR
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "simai-commands.md"
TIME_LIMIT = 120  # Seconds for one command.
FEWEST_ROWS = 30  # Fewer are found only if the table is not understood.
ROW = re.compile(r"^\| `([^`]+)`[^|]*\| (?:`([^`]+)`|none) \| ?([^|]*)\|$")


def rows():
    """Yields (their command, ours or None, what differs)."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("| ") or line.startswith(
            ("| SimAI |", "| AICB |")
        ):
            continue
        match = ROW.match(line)
        if match is None:
            sys.exit(f"{FILE}: no row of three columns: {line}")
        yield match[1], match[2], match[3].strip()


def options(command):
    """Returns the names of the options and of the variables set before."""
    words = shlex.split(command)
    return {
        word.split("=")[0]
        for word in words
        if word.startswith("-") or word.startswith("AS_")
    } - {"-m"}  # Of python3 too.


def mistakes(theirs, ours, differs, folder, path):
    """Yields what is wrong with a row."""
    if not differs and not options(theirs) <= options(ours):
        missing = ", ".join(sorted(options(theirs) - options(ours)))
        yield f"lacks {missing}, and no difference is named: {ours}"
    result = subprocess.run(
        ["bash", "-c", ours], cwd=folder, env={**os.environ, "PATH": path},
        capture_output=True, text=True, timeout=TIME_LIMIT, check=False,
    )
    if result.returncode != 0:
        yield f"exit {result.returncode}: {ours}\n{result.stderr}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    path = f"{parser.parse_args().bin.resolve()}:{os.environ['PATH']}"
    found = list(rows())
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "inputs", pathlib.Path(folder) / "inputs")
        for theirs, ours, differs in found:
            if ours is None:
                if not differs:
                    wrong.append(f"says neither what to type nor why: {theirs}")
                continue
            wrong += mistakes(theirs, ours, differs, folder, path)
    if len(found) < FEWEST_ROWS:
        wrong.append(f"{len(found)} rows: expected {FEWEST_ROWS} or more")
    print("\n".join(wrong + [f"{len(found) - len(wrong)} passed, "
                             f"{len(wrong)} failed"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
