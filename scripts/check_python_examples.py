#!/usr/bin/env python3
"""Runs the examples in Python of pages and notebooks, and checks their output.

In a page, a block marked `python` is run; a block marked `text` directly below
it holds what it prints. The blocks of a page are one program. In a notebook,
the code cells are run in order, and the only output that a cell stores is the
text that it prints. Each file runs in a folder with a copy of inputs/.

Where pandas or matplotlib are not, a file that imports them is skipped from
there on.

Usage: check_python_examples.py [--package DIR] [--write] [FILE...]

  --package DIR  folder of the package (default: build/release/python)
  --write        write what the examples print into the files
"""

import argparse
import contextlib
import difflib
import io
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = ("README.md", "docs/guide/*.md", "examples/notebooks/*.ipynb")
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?",
    re.M | re.S)
OPTIONAL = ("pandas", "matplotlib")


class ExampleError(Exception):
    """An example that fails, or prints something else; says where."""


def run(code, where, namespace):
    """Returns what `code` prints."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, where, "exec"), namespace)
    except ImportError:
        raise
    except Exception as error:
        raise ExampleError(f"{where}:\n{traceback.format_exc(limit=-1)}"
                           ) from error
    return printed.getvalue()


def compare(where, expected, printed):
    if expected != printed:
        lines = difflib.unified_diff(
            expected.splitlines(), printed.splitlines(), "stored", "printed",
            lineterm="")
        raise ExampleError("\n".join([f"{where}:", *lines]))


def check_page(path, text, is_written):
    """Runs the blocks of a page, and returns its text with their output."""
    namespace = {}

    def replaced(match):
        line = text.count("\n", 0, match.start()) + 1
        where = f"{path}:{line}"
        printed = run("\n" * line + match["code"], where, namespace)
        if not is_written:
            compare(where, match["output"] or "", printed)
        output = f"\n```text\n{printed}```\n" if printed else ""
        return f"```python\n{match['code']}```\n{output}"

    return BLOCK.sub(replaced, text)


def check_notebook(path, text, is_written):
    """Runs the cells of a notebook, and returns its text with their output."""
    notebook = json.loads(text)
    namespace = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        where = f"{path}, code cell {number}"
        printed = run("".join(cell["source"]), where, namespace)
        stored = "".join(line for output in cell["outputs"]
                         for line in output["text"])
        if not is_written:
            compare(where, stored, printed)
        cell["outputs"] = [{"name": "stdout", "output_type": "stream",
                            "text": printed.splitlines(keepends=True)}
                           ] if printed else []
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def check(path, root, is_written):
    """Runs the examples of a file, and writes their output if asked to."""
    text = path.read_text("utf-8")
    function = check_notebook if path.suffix == ".ipynb" else check_page
    if function is check_page and not BLOCK.search(text):
        return
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root / "inputs", pathlib.Path(folder) / "inputs")
        os.chdir(folder)
        try:
            new = function(path.relative_to(root), text, is_written)
        finally:
            os.chdir(before)
    if is_written and new != text:
        path.write_text(new, "utf-8")


def main(arguments, root):
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", type=pathlib.Path,
                        default=root / "build" / "release" / "python")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(options.package.resolve()))
    os.environ["MPLBACKEND"] = "Agg"  # Draws without a screen.
    files = [path.resolve() for path in options.files] or [
        path for pattern in FILES for path in sorted(root.glob(pattern))]
    failures = 0
    for path in files:
        try:
            check(path, root, options.write)
        except ImportError as error:
            if error.name not in OPTIONAL:
                raise
            print(f"{path.relative_to(root)}: skipped: {error.name} is not "
                  "installed")
        except ExampleError as error:
            failures += 1
            print(error)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], ROOT))
