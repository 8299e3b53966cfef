#!/usr/bin/env python3
"""Runs the examples in Markdown files and compares what they print.

A fenced block marked `console` holds commands and what they print:

    ```console
    $ gen_topo --template spectrum_x \\
    >   -o topology.txt
    wrote topology.txt
    ...
    $ gen_topo --template no_such
    ...
    [exit 2]
    ```

A line of `...` stands for any number of lines, none included. Output is
stdout and stderr together; blanks at line ends and blank lines at its end do
not count, nor do lines of progress, which only slow machines show. A command
must exit with 0 unless its output closes with [exit N]. One that takes longer
than TIME_LIMIT is stopped, which is [exit 124].

The commands of one file run in order in one empty folder that holds a copy of
inputs/. Each has a bash of its own, so `cd` does not outlast its line.

A block marked `sh` is not run. It may hold only commands that set up or build
the project, so that no example escapes the check.

Usage: check_examples.py [--bin DIR] [FILE...]
"""

import argparse
import dataclasses
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_FILES = (
    "README.md",
    "docs/*.md",
    "docs/*/*.md",
    "*/README.md",
    "*/*/README.md",
)
TIME_LIMIT = "120"  # Seconds for one command.

FENCE = re.compile(r"^( *)(`{3,}|~{3,}) *([\w-]*)(.*)$")
PROGRESS = re.compile(r"^ *\d+ %  simulated [\d.]+ ms(  .*)?$")
EXIT = re.compile(r"^\[exit \d+\]$")
NOT_RUN = re.compile(
    r"^(git clone|cd|(\./)?scripts/\w+|cmake|ctest)( [^;|&`$()]*)?$"
)
OTHER_SHELLS = {"bash", "shell", "shell-session", "zsh"}


class ExampleError(Exception):
    """A block that does not follow the rules above; says where."""


@dataclasses.dataclass
class Block:
    language: str
    line: int  # Of its first line of text, from 1.
    text: list[str]


@dataclasses.dataclass
class Example:
    line: int
    command: str
    output: list[str]  # With "..." and, where not 0, "[exit N]".


def read_blocks(lines):
    """Returns the fenced blocks of a Markdown file."""
    blocks, fence, indent = [], None, 0
    for number, line in enumerate(lines, 1):
        match = FENCE.match(line)
        if fence is None:
            # Inline code may start a line with backticks, and closes there.
            if match and "`" not in match[4]:
                indent, fence = len(match[1]), match[2]
                blocks.append(Block(match[3], number + 1, []))
        elif match and match[2].startswith(fence) and not match[3] + match[4]:
            fence = None
        else:
            # A block inside a list is indented as a whole.
            leading = len(line) - len(line.lstrip(" "))
            blocks[-1].text.append(line[min(indent, leading) :])
    if fence is not None:
        raise ExampleError(f"{blocks[-1].line - 1}: this block has no end")
    return blocks


def read_examples(block):
    """Returns the commands of a `console` block with their output."""
    examples = []
    for number, line in enumerate(block.text, block.line):
        last = examples[-1] if examples else None
        if last and last.command.endswith("\\"):
            if not line.startswith("> "):
                raise ExampleError(
                    f"{number}: a line after a backslash starts with '> '"
                )
            last.command += "\n" + line[2:]
        elif line.startswith("$ "):
            examples.append(Example(number, line[2:], []))
        elif last:
            last.output.append(line)
        elif line.strip():
            raise ExampleError(f"{number}: output before the first command")
    return examples


def check_not_run(block):
    """Raises where an `sh` block holds a command that must be run."""
    line = ""
    for number, part in enumerate(block.text, block.line):
        line += part
        if line.endswith("\\"):
            line = line[:-1]
        else:
            check_line(number, line)
            line = ""
    if line:
        raise ExampleError(f"{block.line}: this block ends with a backslash")


def check_line(number, line):
    """Raises where a line of an `sh` block holds another command."""
    code = re.sub(r"(^|\s)#.*", "", line).replace("$(nproc)", "N")
    for command in code.split("&&"):
        if code.strip() and not NOT_RUN.match(command.strip()):
            raise ExampleError(
                f"{number}: `{command.strip()}` may not stand in an sh "
                "block, where it is not run; use a console block"
            )


def tidy(output):
    """Returns lines without what a reader cannot see."""
    lines = [line.rstrip() for line in output]
    lines = [line for line in lines if not PROGRESS.match(line)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def exit_of(lines):
    """Returns the closing "[exit N]", or nothing."""
    return [line for line in lines[-1:] if EXIT.match(line)]


def matches(expected, actual):
    """Whether lines are as expected, where "..." is any number of lines."""
    if exit_of(expected) != exit_of(actual):
        return False  # Which "..." must not hide.
    parts = [[]]
    for line in expected:
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    first, *middle = parts
    if not middle:
        return first == actual
    last = middle.pop()
    if actual[: len(first)] != first:
        return False
    rest = actual[len(first) :]
    for part in middle:  # Each at the first place it fits.
        starts = range(len(rest) - len(part) + 1)
        fits = (i for i in starts if rest[i : i + len(part)] == part)
        start = next(fits, None)
        if start is None:
            return False
        rest = rest[start + len(part) :]
    return rest[len(rest) - len(last) :] == last


def run(command, folder, environment):
    """Returns what a command prints, closed by "[exit N]" where N is not 0."""
    done = subprocess.run(
        # Unlike our own time limit, `timeout` also stops what bash started.
        ["timeout", "--kill-after=5", TIME_LIMIT, "bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = tidy(done.stdout.decode(errors="replace").split("\n"))
    status = done.returncode
    if status:
        # As bash counts: 128 and the signal that ended it.
        output.append(f"[exit {status if status > 0 else 128 - status}]")
    return output


def run_examples(name, examples, inputs, environment):
    """Prints the mismatches of one file; returns their number."""
    mismatches = 0
    with tempfile.TemporaryDirectory() as folder:
        if inputs.is_dir():
            shutil.copytree(inputs, pathlib.Path(folder, "inputs"))
        for example in examples:
            actual = run(example.command, folder, environment)
            expected = tidy(example.output)
            if not matches(expected, actual):
                print(f"{name}:{example.line}: {example.command}")
                sides = (expected, actual, "expected", "actual")
                print(*difflib.unified_diff(*sides, lineterm=""), sep="\n")
                mismatches += 1
    return mismatches


def read_file(path):
    """Returns the examples of a Markdown file, and checks its other blocks."""
    examples = []
    for block in read_blocks(path.read_text(encoding="utf-8").splitlines()):
        if block.language == "console":
            examples += read_examples(block)
        elif block.language == "sh":
            check_not_run(block)
        elif block.language in OTHER_SHELLS:
            raise ExampleError(
                f"{block.line - 1}: mark a block console or sh, not "
                f"{block.language}"
            )
    return examples


def main(arguments, root=ROOT):
    parser = argparse.ArgumentParser(
        description="Runs the examples in Markdown files and compares what "
        "they print. Exits with 1 where they differ."
    )
    parser.add_argument(
        "--bin", type=pathlib.Path, help="folder to put first on PATH"
    )
    parser.add_argument(
        "files",
        nargs="*",
        type=pathlib.Path,
        metavar="FILE",
        help="default: " + " ".join(DEFAULT_FILES),
    )
    options = parser.parse_args(arguments)
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    if options.bin:
        if not options.bin.is_dir():
            parser.error(f"--bin: no folder {options.bin}")
        path = [str(options.bin.resolve()), environment["PATH"]]
        environment["PATH"] = os.pathsep.join(path)
    readme = root / "README.md"
    # A page may fit several patterns.
    paths = options.files or [readme] + sorted(
        {path for glob in DEFAULT_FILES[1:] for path in root.glob(glob)}
    )
    for path in paths:
        if not path.is_file():
            parser.error(f"no file {path}")

    errors, commands, files = 0, 0, 0
    for path in paths:
        name = os.path.relpath(path)
        try:
            examples = read_file(path)
        except ExampleError as error:
            print(f"{name}:{error}")
            errors += 1
            continue
        if path.resolve() == readme and not examples:
            print(f"{name}:1: holds no example")
            errors += 1
        if examples:
            inputs = root / "inputs"
            errors += run_examples(name, examples, inputs, environment)
            commands += len(examples)
            files += 1
    print(f"ran {commands} commands in {files} files; {errors} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
