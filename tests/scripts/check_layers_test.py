#!/usr/bin/env python3
"""Tests scripts/check_layers.py."""

import contextlib
import io
import pathlib
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # The source folders stay as they are.
sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts")
)

import check_layers  # noqa: E402  (needs the path above)


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.rows = []  # Of the table in docs/architecture/layers.md.

    def library(self, name, *deps, private=""):
        deps = "\n    ".join(deps)
        private = f"  PRIVATE_DEPS\n    {private}\n" if private else ""
        self.write(f"{name}/CMakeLists.txt",
                   f"astra_library({name}\n  SOURCES\n    {name}.h\n"
                   f"  DEPS\n    absl::status\n    {deps}\n{private})\n")
        uses = re.findall(r"astra::(\w+)", deps + private)
        self.rows.append(f"| `astra::{name}` | `{name}` | "
                         f"{', '.join(uses) or 'nothing'} |\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def source(self, name, *headers):
        self.write(name, "".join(f'#include "{h}"\n' for h in headers))

    def check(self):
        """Returns (exit status, the lines it printed)."""
        self.write("docs/architecture/layers.md", "".join(self.rows))
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = check_layers.main(self.root)
        return status, said.getvalue().splitlines()

    def test_accepts_what_the_targets_name(self):
        self.library("top", "astra::middle", "astra::base")
        self.library("middle", "astra::base")
        self.library("base")
        self.source("base/base.h")
        self.source("middle/middle.h", "base/base.h", "absl/status/status.h")
        self.source("top/top.h", "middle/middle.h")
        self.source("top/top.cc", "top/top.h", "base/base.h")
        self.assertEqual(self.check(), (0, []))

    def test_refuses_what_only_another_target_names(self):
        self.library("top", "astra::middle")
        self.library("middle", "astra::base")
        self.library("base")
        self.source("base/base.h")
        self.source("middle/middle.h", "base/base.h")
        self.source("top/top.h", "middle/middle.h")
        self.source("top/parts/part.cc", "base/base.h")
        self.assertEqual(self.check(), (1, [
            "top/parts/part.cc: includes base/base.h, but astra::top does not "
            "name astra::base in its DEPS"]))

    def test_refuses_private_dependencies_of_headers(self):
        self.library("top", private="astra::base")
        self.library("base")
        self.source("base/base.h")
        self.source("top/top.h", "base/base.h")
        self.assertEqual(self.check(), (1, [
            "top/top.h: is a header and includes base/base.h, but astra::top "
            "names astra::base only in PRIVATE_DEPS"]))

    def test_refuses_dependencies_without_use(self):
        self.library("top", "astra::base")
        self.library("base")
        self.source("base/base.h")
        self.source("top/top.h")
        self.assertEqual(self.check(), (1, [
            "top/CMakeLists.txt: astra::top names astra::base, and none of its "
            "sources includes it"]))

    def test_refuses_circles_of_targets(self):
        self.library("one", "astra::two")
        self.library("two", "astra::one")
        self.source("one/a.h")
        self.source("one/b.h", "two/d.h")
        self.source("two/c.h", "one/a.h")
        self.source("two/d.h")
        self.assertEqual(self.check(), (1, ["targets name one another: one, "
                                            "two"]))

    def test_takes_a_header_and_its_source_for_one_file(self):
        self.library("base")
        self.source("base/a.h")
        self.source("base/a.cc", "base/a.h", "base/b.h")
        self.source("base/b.h", "base/c.h")
        self.source("base/c.h")
        self.source("base/c.cc", "base/c.h", "base/a.h")
        self.source("base/d.cc", "base/a.h")
        self.assertEqual(self.check(), (1, [
            "files include one another: base/a -> base/b, base/b -> base/c, "
            "base/c -> base/a"]))

    def test_leaves_tests_and_built_files_alone(self):
        self.library("top", "astra::base")
        self.library("base")
        self.source("base/base.h")
        self.source("top/top.h", "base/base.h")
        self.source("tests/top_test.cc", "top/top.h", "base/base.h")
        self.source("build/dev/made.cc", "base/base.h")
        self.assertEqual(self.check(), (0, []))

    def test_refuses_a_table_that_says_otherwise(self):
        self.library("base")
        self.library("top", "astra::base")
        self.source("base/base.h")
        self.source("top/top.h", "base/base.h")
        self.rows[:] = ["| `astra::base`, a program | `base`, `more` | all of "
                        "them |\n",
                        "| `astra::top` | `top` | nothing |\n"]
        self.assertEqual(self.check(), (1, [
            "docs/architecture/layers.md: expected of astra::base: `base` | nothing",
            "docs/architecture/layers.md: expected of astra::top: `top` | base"]))

    def test_refuses_a_folder_without_targets(self):
        self.assertEqual(self.check(), (1, []))


if __name__ == "__main__":
    unittest.main()
