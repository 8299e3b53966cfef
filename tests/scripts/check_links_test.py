#!/usr/bin/env python3
"""Tests scripts/check_links.py."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # The source folders stay as they are.
sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts")
)

import check_links  # noqa: E402  (needs the path above)


class CheckLinksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("docs/README.md", "# Pages\n\n[one](one.md)\n")
        self.write("docs/one.md", "# One\n\n## A part\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self):
        """Returns (exit status, the lines it printed)."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = check_links.main(self.root)
        return status, said.getvalue().splitlines()

    def assert_accepts(self, name, text):
        self.write(name, text)
        self.assertEqual(self.check(), (0, []))

    def assert_refuses(self, name, text, *errors):
        self.write(name, text)
        self.assertEqual(self.check(), (1, list(errors)))

    def test_accepts_files_anchors_and_addresses(self):
        self.write("docs/images/a.png", "")
        self.assert_accepts(
            "README.md", "# Us\n\n[a](docs/one.md#a-part), [b](#us),\n"
            "![c](docs/images/a.png), [`d`](docs/one.md), [e\nf](docs/README.md),\n"
            "[g](https://example.org/x.md#y), [h](mailto:a@example.org)\n")

    def test_refuses_a_file_that_is_not_there(self):
        self.assert_refuses(
            "a/README.md", "\n[x](../docs/two.md) and ![y](y.png)\n",
            "a/README.md:2: no file docs/two.md",
            "a/README.md:2: no file a/y.png")

    def test_refuses_a_link_whose_label_is_code_over_two_lines(self):
        self.assert_refuses("a.md", "[`x\ny`](z.h)\n", "a.md:2: no file z.h")

    def test_refuses_a_folder(self):
        self.assert_refuses(
            "a.md", "[x](docs)\n",
            "a.md:1: docs is a folder; name its README.md or another file")

    def test_refuses_an_anchor_without_heading(self):
        self.assert_refuses(
            "a.md", "# A\n\n[x](docs/one.md#part), [y](#b), [z](z.h#L1)\n",
            "a.md:3: docs/one.md has no heading #part",
            "a.md:3: a.md has no heading #b",
            "a.md:3: no file z.h")

    def test_spells_anchors_as_github_does(self):
        self.assertEqual(
            check_links.anchors_of(
                "# What it's: `a_b.csv`, [c](d.md) -- e\n## Twice\n## Twice ##\n"
                "## CamelCase 2\n```\n# code\n```\n"),
            {"what-its-a_bcsv-c----e", "twice", "twice-1", "camelcase-2"})

    def test_passes_over_code(self):
        self.assert_accepts(
            "a.md", "```sh\n[x](y)\n# z\n```\n`[x](y)` ``[x`](y)``\n"
            "  ~~~\n  [x](y)\n  ~~~\n")

    def test_reads_what_follows_a_block_of_code(self):
        self.assert_refuses("a.md", "````\n```\n````\n[x](y)\n",
                            "a.md:4: no file y")

    def test_refuses_a_mention_of_a_page_that_is_not_there(self):
        self.assert_refuses(
            "a/b.cc", "\n// See docs/one.md#a-part and docs/two.md.\n"
            "// Source: SimuMax, docs/FULL_RESULTS.md; vllm/docs/x.md.\n"
            '"docs/one.md#other"',
            "a/b.cc:2: no file docs/two.md",
            "a/b.cc:4: docs/one.md has no heading #other")

    def test_refuses_a_page_that_nothing_leads_to(self):
        self.write("docs/two.md", "[three](three.md)\n")
        self.write("docs/three.md", "[two](two.md)\n")
        self.assertEqual(self.check(), (1, [
            f"docs/{name}.md: no link leads to this page from docs/README.md"
            for name in ("three", "two")]))

    def test_passes_over_what_is_built(self):
        self.assert_accepts("build/a.md", "[x](y)\n")


if __name__ == "__main__":
    unittest.main()
