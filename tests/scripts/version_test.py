#!/usr/bin/env python3
"""Tests that the version stands in CMakeLists.txt and nowhere else.

Usage: version_test.py --bin DIR
"""

import argparse
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OPTIONS = argparse.Namespace()  # Of the command line.


def output_of(*command):
    return subprocess.run([str(word) for word in command], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


class VersionTest(unittest.TestCase):
    def setUp(self):
        self.version = output_of(ROOT / "scripts/version").strip()

    def test_is_a_release(self):
        self.assertRegex(self.version, r"^\d+\.\d+\.\d+$")

    def test_programs_print_it(self):
        programs = sorted(OPTIONS.bin.iterdir())
        self.assertIn("simai", [program.name for program in programs])
        for program in programs:
            is_fuzzer = program.name.endswith("_fuzz")
            if program.name.startswith(("simai", "gen_")) and not is_fuzzer:
                self.assertEqual(output_of(program, "--version"),
                                 f"{program.name} {self.version}\n")

    def test_changelog_begins_with_it(self):
        first = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(),
                          re.MULTILINE)
        self.assertRegex(
            first[1],
            rf"^{re.escape(self.version)} \((unreleased|\d{{4}}-\d\d-\d\d)\)$")

    def test_what_packages_does_not_repeat_it(self):
        files = [ROOT / "README.md", *(ROOT / "packaging").rglob("*"),
                 *(ROOT / "scripts").iterdir(),
                 ROOT / "docs/guide/install.md"]
        repeats = re.compile(rf"(?<![\d.]){re.escape(self.version)}(?![\d.])")
        self.assertEqual([file for file in files if file.is_file()
                          and repeats.search(file.read_text())], [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    vars(OPTIONS).update(vars(arguments))
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
