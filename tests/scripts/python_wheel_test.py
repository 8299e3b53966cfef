#!/usr/bin/env python3
"""Tests scripts/wheel: packs the programs, installs the wheel and calls it.

Where python3-venv is not, nothing is installed.

Usage: python_wheel_test.py [--bin DIR]
"""

import argparse
import base64
import csv
import hashlib
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = ROOT / "build" / "release" / "bin"
PROGRAM = """
import simai
topology = simai.topo(topology="Spectrum-X", gpus=8, gpu_type="H100")
print(len(topology.path.read_bytes()), simai.__version__)
try:
    simai.topo(gpus="many")
except simai.Error as error:
    print(error)
"""


def run(*command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)


def pack(folder, programs=None):
    """Returns the path of a wheel that scripts/wheel writes."""
    done = run(sys.executable, ROOT / "scripts" / "wheel",
               "--bin", programs or BIN, "--out", folder)
    if done.returncode != 0:
        raise AssertionError(done.stdout)
    return pathlib.Path(done.stdout.strip())


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.wheel = pack(cls.folder)

    def test_the_bytes_depend_on_the_programs_alone(self):
        again = pack(self.folder / "again")
        self.assertEqual(again.name, self.wheel.name)
        self.assertEqual(again.read_bytes(), self.wheel.read_bytes())

    def test_the_record_lists_each_file_with_its_hash(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            record, = (name for name in names if name.endswith("/RECORD"))
            rows = list(csv.reader(io.StringIO(
                archive.read(record).decode("utf-8"))))
            self.assertEqual([row[0] for row in rows], names)
            for name, digest, size in rows[:-1]:
                contents = archive.read(name)
                value = base64.urlsafe_b64encode(
                    hashlib.sha256(contents).digest()).decode().rstrip("=")
                self.assertEqual((digest, size),
                                 (f"sha256={value}", str(len(contents))))
        self.assertEqual(rows[-1], [record, "", ""])
        self.assertIn("simai/bin/simai_planner", names)
        self.assertIn("simai/py.typed", names)

    def test_an_installed_wheel_imports_and_runs(self):
        venv = self.folder / "venv"
        made = run(sys.executable, "-m", "venv", venv)
        if made.returncode != 0:
            self.skipTest("python3-venv is not installed")
        done = run(venv / "bin" / "pip", "install", "--no-index", self.wheel)
        self.assertEqual(done.returncode, 0, done.stdout)
        called = run(venv / "bin" / "python", "-c", PROGRAM, cwd=self.folder)
        version = self.wheel.name.split("-")[1]
        size = len(self.topology())
        self.assertEqual(
            called.stdout, f"{size} {version}\n--gpus is \"many\": expected a "
            "whole number from 1 to 16777216\n")
        said = run(venv / "bin" / "simai", "topo", "--version")
        self.assertEqual(said.stdout, f"gen_topo {version}\n")
        said = run(venv / "bin" / "python", "-m", "simai", "plan", "--version")
        self.assertEqual(said.stdout, f"simai_planner {version}\n")

    def topology(self):
        path = self.folder / "topology.txt"
        run(BIN / "gen_topo", "-topo", "Spectrum-X", "-g", "8", "-gt", "H100",
            "-o", path, check=True)
        return path.read_bytes()


class RefusalsTest(unittest.TestCase):
    def test_a_folder_without_a_program_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "bin").mkdir()
            done = self.refused(folder / "bin")
            self.assertEqual(done, f"wheel: {folder}/python/simai: expected "
                             "the Python package of this build; cmake --build "
                             "--preset release makes it\n")
            package = folder / "python" / "simai"
            shutil.copytree(BIN.parent / "python" / "simai", package,
                            symlinks=True)
            for program in BIN.iterdir():
                if program.name != "gen_topo":
                    (folder / "bin" / program.name).symlink_to(program)
            self.assertEqual(self.refused(folder / "bin"),
                             f"wheel: {folder}/bin: lacks gen_topo\n")
            (folder / "bin" / "gen_topo").write_text("#!/bin/sh\n", "utf-8")
            self.assertEqual(
                self.refused(folder / "bin"),
                f"wheel: {folder}/bin/gen_topo: expected a program of Linux\n")

    def refused(self, programs):
        done = run(sys.executable, ROOT / "scripts" / "wheel", "--bin",
                   programs, "--out", programs.parent)
        self.assertEqual(done.returncode, 1)
        return done.stdout


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=BIN)
    options, rest = parser.parse_known_args()
    BIN = options.bin.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
