#!/usr/bin/env python3
"""Tests scripts/check_python_examples.py."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # The source folders stay as they are.
sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts")
)

import check_python_examples  # noqa: E402  (needs the path above)

PAGE = """\
Text.

```python
from pathlib import Path
a = 1
print(Path("inputs/x").read_text(), a)
```

```text
hello 1
```

```python
a += 1
```

```text
of no block: the one above prints nothing
```
"""


class CheckPythonExamplesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        (self.root / "inputs").mkdir()
        (self.root / "inputs" / "x").write_text("hello", "utf-8")
        self.page = self.root / "README.md"

    def run_main(self, *arguments):
        """Returns (exit status, what it printed)."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = check_python_examples.main(arguments, self.root)
        return status, said.getvalue()

    def test_names_what_differs(self):
        self.page.write_text(PAGE.replace("hello 1", "hello 2"), "utf-8")
        status, said = self.run_main()
        self.assertEqual(status, 1)
        self.assertEqual(said.splitlines(), [
            "README.md:3:", "--- stored", "+++ printed", "@@ -1 +1 @@",
            "-hello 2", "+hello 1"])

    def test_the_blocks_of_a_page_are_one_program(self):
        text = PAGE[:PAGE.rindex("\n```text")]
        text += "\n```python\nprint(a)\n```\n\n```text\n2\n```\n"
        self.page.write_text(text, "utf-8")
        self.assertEqual(self.run_main(), (0, ""))

    def test_writes_what_is_printed(self):
        self.page.write_text(PAGE.replace("hello 1", "old"), "utf-8")
        self.assertEqual(self.run_main("--write"), (0, ""))
        self.assertEqual(self.page.read_text("utf-8"),
                         PAGE[:PAGE.rindex("\n```text")])
        self.assertEqual(self.run_main(), (0, ""))

    def test_names_the_line_that_fails(self):
        self.page.write_text("\n```python\na = 1\na.b\n```\n", "utf-8")
        status, said = self.run_main()
        self.assertEqual(status, 1)
        self.assertTrue(said.startswith("README.md:2:\n"), said)
        self.assertIn(", line 4,", said)
        self.assertIn("AttributeError: 'int' object has no attribute 'b'", said)

    def test_skips_what_is_not_installed(self):
        self.page.write_text(
            "```python\nraise ImportError('no', name='pandas')\n```\n",
            "utf-8")
        self.assertEqual(self.run_main(), (
            0, "README.md: skipped: pandas is not installed\n"))
        self.page.write_text("```python\nimport no_such\n```\n", "utf-8")
        with self.assertRaises(ImportError):
            self.run_main()

    def test_runs_the_cells_of_notebooks(self):
        folder = self.root / "examples" / "notebooks"
        folder.mkdir(parents=True)
        path = folder / "a.ipynb"
        code = {"cell_type": "code", "source": ["print(1)\n", "print(2)"],
                "outputs": []}
        path.write_text(json.dumps(
            {"cells": [{"cell_type": "markdown", "source": ["Text."]}, code]}))
        status, said = self.run_main()
        self.assertEqual(status, 1)
        self.assertTrue(
            said.startswith("examples/notebooks/a.ipynb, code cell 1:\n"), said)
        self.assertEqual(self.run_main("--write"), (0, ""))
        cells = json.loads(path.read_text("utf-8"))["cells"]
        self.assertEqual(cells[1]["outputs"], [
            {"name": "stdout", "output_type": "stream",
             "text": ["1\n", "2\n"]}])
        self.assertEqual(self.run_main(), (0, ""))


if __name__ == "__main__":
    unittest.main()
