#!/usr/bin/env python3
"""Tests that the charting library in the repository is the one it is said to be.

scripts/bundle_charts --check compares it byte by byte, but needs npm; this test
reads only what is in the repository.
"""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "astra-core/pages/echarts"


def read(name):
    return (FOLDER / name).read_text(encoding="utf-8")


class BundleChartsTest(unittest.TestCase):
    def test_has_the_version_that_is_pinned(self):
        wanted = json.loads(read("package.json"))["dependencies"]["echarts"]
        self.assertRegex(wanted, r"^\d+\.\d+\.\d+$")
        packages = json.loads(read("package-lock.json"))["packages"]
        self.assertEqual(packages["node_modules/echarts"]["version"], wanted)
        self.assertTrue(read("echarts.min.js").startswith(
            f"/*! Apache ECharts {wanted}, Apache License 2.0. */\n"))

    def test_pins_every_package_by_its_checksum_and_not_by_its_place(self):
        lock = read("package-lock.json")
        self.assertNotIn("resolved", lock)
        self.assertNotIn("://", lock)
        for name, package in json.loads(lock)["packages"].items():
            if name:
                self.assertIn("integrity", package, name)

    def test_has_the_licence_of_each_package_that_is_part_of_it(self):
        packages = json.loads(read("package-lock.json"))["packages"]
        parts = {name.removeprefix("node_modules/")
                 for name, package in packages.items()
                 if name and not package.get("dev")}
        texts = re.findall(r"^--- ([\w-]+)/", read("LICENSE.echarts"), re.M)
        self.assertEqual(set(texts), parts)

    def test_can_stand_within_a_script_and_evaluates_no_text(self):
        library = read("echarts.min.js")
        for text in ("</script", "<!--", "eval(", "Function(", "XMLHttpRequest",
                     "fetch(", "import("):
            self.assertNotIn(text, library)


if __name__ == "__main__":
    unittest.main()
