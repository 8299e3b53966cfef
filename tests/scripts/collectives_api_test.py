#!/usr/bin/env python3
"""Tests the installed library with examples/estimate_collective.

Installs the build into a folder with a space in its name, moves it, and builds
and runs the example as a user does, with CMake and with pkg-config.

Usage: collectives_api_test.py --build DIR --cmake FILE --generator NAME
"""

import argparse
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples/estimate_collective"
OPTIONS = argparse.Namespace()  # Of the command line.


def run(*command, exit_code=0):
    """Returns what a command that exits with `exit_code` prints."""
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != exit_code:
        raise AssertionError(
            f"{command} exits {done.returncode}:\n{done.stdout}"
        )
    return done.stdout


class CollectivesApiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="collectives api ")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        first = cls.folder / "first prefix"
        run(OPTIONS.cmake, "--install", OPTIONS.build, "--prefix", first)
        cls.prefix = first.rename(cls.folder / "the prefix")
        cls.bin = cls.folder / "build"
        run(
            *(OPTIONS.cmake, "-G", OPTIONS.generator),
            *("-S", EXAMPLE, "-B", cls.bin),
            *("-D", f"CMAKE_PREFIX_PATH={cls.prefix}"),
            *("-D", "CMAKE_BUILD_TYPE=Release"),
            *("-D", "CMAKE_C_FLAGS=-Wall -Wextra -pedantic -Werror"),
            *("-D", "CMAKE_CXX_FLAGS=-Wall -Wextra -pedantic -Werror"),
        )
        run(OPTIONS.cmake, "--build", cls.bin)

    def test_c_prints_an_estimate(self):
        self.check_estimate(self.bin / "one_estimate")

    def check_estimate(self, program):
        line = run(program, "dgx-h100", "all_reduce", 2**30, 16)
        match = re.fullmatch(
            r"all_reduce of 1073741824 bytes, 16 GPUs of dgx-h100: "
            r"([\d.]+) us, busbw ([\d.]+) GB/s \(\w+, Simple\)\n",
            line,
        )
        self.assertIsNotNone(match, line)
        # The factor of bus bandwidth is 2 (n - 1) / n.
        busbw = 2 * 15 / 16 * 2**30 / float(match[1]) / 1000
        self.assertAlmostEqual(float(match[2]), busbw, delta=0.1)

    def test_c_names_a_mistake(self):
        line = run(
            *(self.bin / "one_estimate", "dgx-h10", "all_reduce", 1, 8),
            exit_code=2,
        )
        self.assertRegex(
            line, '^one_estimate: unknown system "dgx-h10"; did you mean '
        )

    def test_cpp_prints_a_sweep(self):
        lines = run(
            *(self.bin / "sweep_sizes", "dgx-h100", "all_gather", 8),
            "NCCL_ALGO=Ring",
        ).splitlines()
        self.assertEqual(len(lines), 6)
        times = [float(line.split()[1]) for line in lines[1:]]
        self.assertEqual(times, sorted(times))
        for line in lines[1:]:
            self.assertIn("Ring/", line)

    def test_cpp_names_a_mistake(self):
        line = run(
            *(self.bin / "sweep_sizes", "dgx-h100", "all_gather", 8),
            "NCCL_ALGO=Rin",
            exit_code=2,
        )
        self.assertRegex(
            line, '^sweep_sizes: unknown NCCL_ALGO "Rin"; did you mean "Ring"'
        )

    def test_installs_the_programs_too(self):
        for name in ("gen_topo", "gen_workload", "simai_analytical"):
            self.assertTrue((self.prefix / "bin" / name).is_file(), name)

    def test_shows_nothing_but_the_functions_of_the_header(self):
        header = ROOT / "collectives/api/simai_collectives.h"
        declared = set(re.findall(r"(simai_\w+)\(", header.read_text()))
        (library,) = self.prefix.glob("lib*/**/libsimai_collectives.so")
        symbols = run("nm", "-D", "--defined-only", library).split()[2::3]
        self.assertEqual(sorted(symbols), sorted(declared))

    @unittest.skipUnless(shutil.which("pkg-config"), "needs pkg-config")
    def test_builds_with_pkg_config(self):
        (pc,) = self.prefix.glob("lib*/**/simai-collectives.pc")
        flags = run(
            *("env", f"PKG_CONFIG_PATH={pc.parent}"),
            *("pkg-config", "--cflags", "--libs", "simai-collectives"),
        )
        program = self.folder / "with pkg-config"
        lib = pc.parent.parent
        run(
            *("cc", "-std=c99", EXAMPLE / "main.c", "-o", program),
            *(*shlex.split(flags), f"-Wl,-rpath,{lib}"),
        )
        self.check_estimate(program)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--generator", default="Unix Makefiles")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
