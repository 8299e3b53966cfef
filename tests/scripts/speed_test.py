"""Tests benchmarks/speed: the small cases, and a program that has modes.

The program with modes is the real one behind a script, which knows
--accelerate and changes a time in the result of the modes that it is told to.

Usage: speed_test.py --bin DIR
"""

import argparse
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEED = ROOT / "benchmarks" / "speed"
sys.path.insert(0, str(SPEED))
import cases  # noqa: E402  (after the line above)
import runs  # noqa: E402

PROGRAMS = None  # The folder of --bin.

# Takes --accelerate away. The time of the first collective becomes 2 % longer
# in the modes that CHANGED names.
WRAPPER = """#!{python}
import os, pathlib, subprocess, sys
words = sys.argv[1:]
if "--help" in words:
    print("  --accelerate NAME   off (default), exact or bounded")
    sys.exit(0)
mode = "off"
if "--accelerate" in words:
    place = words.index("--accelerate")
    mode = words[place + 1]
    del words[place:place + 2]
done = subprocess.run(["{program}", *words])
if mode in os.environ.get("CHANGED", "").split():
    path = pathlib.Path(words[words.index("-o") + 1]) / "collectives.csv"
    lines = path.read_text().splitlines()
    time = lines[0].split(",").index("time_us")
    first = lines[1].split(",")
    first[time] = str(float(first[time]) * 1.02)
    lines[1] = ",".join(first)
    path.write_text("\\n".join(lines) + "\\n")
sys.exit(done.returncode)
"""


def speed(programs, *words, changed=""):
    return subprocess.run(
        [sys.executable, SPEED, "--bin", programs, *words], text=True,
        capture_output=True, env={**os.environ, "CHANGED": changed})


class SpeedTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.with_modes = pathlib.Path(self.folder.name)
        wrapper = self.with_modes / "simai_simulator"
        wrapper.write_text(WRAPPER.format(
            python=sys.executable, program=PROGRAMS / "simai_simulator"))
        wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
        for name in ("gen_topo", "gen_workload"):
            (self.with_modes / name).symlink_to(PROGRAMS / name)

    def test_small_cases_run_in_each_mode(self):
        done = speed(PROGRAMS, "--small")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        modes = runs.modes_of(PROGRAMS)
        rows = done.stdout.splitlines()[2:]
        rows = [row.split() for row in rows if not row.startswith(" ")]
        self.assertEqual([row[0] for row in rows],
                         [case.name for case in cases.SMALL])
        for row in rows:
            columns = 1 if row[0] == "small_flow" else len(modes)
            self.assertEqual(len(row), 1 + 5 * columns, row)
            self.assertGreater(float(row[4]), 0, row)  # Hops of the first.

    def test_modes_are_those_of_the_help_text(self):
        modes = [mode.name for mode in runs.modes_of(self.with_modes)]
        self.assertEqual(modes, ["off", "exact", "bounded"])

    def test_equal_results_need_no_word(self):
        done = speed(self.with_modes, "--small", "--only", "small_dcn",
                     changed="bounded")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 5)
        self.assertRegex(lines[3], r"^    bounded: largest error of \d+ "
                         r"collectives: 2\.0000 % \(layer wg all-reduce of "
                         r"rank 0, number 1\)$")
        self.assertEqual(lines[4],
                         "    bounded: error of the iteration: 0.0000 %")

    def test_an_exact_mode_that_differs_fails(self):
        done = speed(self.with_modes, "--small", "--only", "small_dcn",
                     changed="exact")
        self.assertEqual(done.returncode, 1)
        self.assertIn("\n    exact: collectives.csv: differs from line 2 on\n",
                      done.stdout)

    def test_a_run_ends_at_the_limit(self):
        done = speed(PROGRAMS, "--small", "--only", "small_gpt", "--limit",
                     "0.0001")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[-1],
                         "^small_gpt +over the limit")

    def test_measured_collectives_are_left_out_where_they_are_missing(self):
        done = speed(PROGRAMS, "--list", "--data", "none.csv")
        self.assertTrue(done.stdout.startswith("none.csv is missing: "))
        self.assertIn("\ngpt13b_128_gbs16\n", done.stdout)

    def test_a_measured_collective_is_a_case(self):
        table = self.with_modes / "runs.csv"
        table.write_text("name,e2e_comm_us_rank0\n"
                         "alltoall_8g_1M,5.809\nunknown,1\n")
        done = speed(PROGRAMS, "--data", table, "--only", "ns3_")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[-1],
                         r"^ns3_alltoall_8g_1M +\d")

    def test_an_unknown_case_is_an_error(self):
        done = speed(PROGRAMS, "--small", "--only", "none")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "speed: error: no case begins with "
                         "\"none\": --list prints all names\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    known, rest = parser.parse_known_args()
    PROGRAMS = known.bin.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
