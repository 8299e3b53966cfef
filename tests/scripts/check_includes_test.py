#!/usr/bin/env python3
"""Tests scripts/check_includes.py."""

import contextlib
import io
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True  # The source folders stay as they are.
sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts")
)

import check_includes  # noqa: E402  (needs the path above)

UNITS = "class TimePs {\n  int count;\n};\nconstexpr TimePs Us(int n) {}\n"


class CheckIncludesTest(unittest.TestCase):
    def lacking(self, **texts):
        """What is said of these files; "a_h" stands for topology/a.h."""
        paths = {f"topology/{name.replace('_', '.')}": text
                 for name, text in texts.items()}
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            missing = check_includes.check_own(paths)
        self.assertEqual(missing, len(out.getvalue().splitlines()))
        return out.getvalue()

    def test_finds_what_only_one_header_declares(self):
        self.assertEqual(
            self.lacking(units_h=UNITS, a_cc="TimePs Twice(TimePs time);\n"),
            "topology/a.cc lacks #include of topology/units.h, "
            "which declares TimePs\n")
        self.assertEqual(
            self.lacking(units_h=UNITS, a_cc="  return Us(3);\n"),
            "topology/a.cc lacks #include of topology/units.h, "
            "which declares Us\n")
        self.assertEqual(
            self.lacking(a_h="inline constexpr int kMost = 3;\n",
                         b_cc="  return n < kMost;\n"),
            "topology/b.cc lacks #include of topology/a.h, "
            "which declares kMost\n")

        self.assertEqual(
            self.lacking(a_h="#define CHECK_THAT(x)\n",
                         b_cc="  CHECK_THAT(1);\n"),
            "topology/b.cc lacks #include of topology/a.h, "
            "which declares CHECK_THAT\n")

    def test_a_header_may_come_with_another(self):
        self.assertEqual(
            self.lacking(units_h=UNITS,
                         a_h='#include "topology/units.h"\n',
                         a_cc='#include "topology/a.h"\n  TimePs time;\n'), "")

    def test_leaves_names_of_others_alone(self):
        self.assertEqual(
            self.lacking(units_h=UNITS,
                         a_cc="enum class TimePs { kOne };\n",
                         b_cc="  other::TimePs time = list.Us(3);\n",
                         c_cc='// TimePs\n  Say("TimePs");\n',
                         d_cc="template <class TimePs>\n  TimePs x;\n"), "")
        # Which of two headers is meant is not known.
        self.assertEqual(
            self.lacking(a_h="class Port {\n", b_h="class Port {\n",
                         a_cc="  Port port;\n"), "")


if __name__ == "__main__":
    unittest.main()
