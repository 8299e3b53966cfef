#!/usr/bin/env python3
"""Tests simai: that each command becomes its program, and what simai says.

Usage: simai_test.py [--bin DIR]
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = ROOT / "build" / "release" / "bin"

PROGRAMS = {
    "topo": "gen_topo",
    "workload": "gen_workload",
    "analyze": "simai_analytical",
    "simulate": "simai_simulator",
    "collective": "simai_collective",
    "fit": "simai_fit",
    "compare": "simai_compare",
    "goodput": "simai_goodput",
    "physical": "simai_physical",
    "plan": "simai_planner",
    "serve": "simai_serving",
    "trace": "simai_trace",
    "sweep": "simai_sweep",
    "vidur": "simai_vidur",
}
# Stands for a program: prints its process and its arguments, one a line.
STAND_IN = """#!/usr/bin/env bash
echo "$$"
printf '%s\\n' "${0##*/}" "$@"
echo 'to stderr' >&2
exit 7
"""
KNOWN = ('(known: topo, workload, analyze, simulate, collective, fit, plan, '
         'serve, compare, goodput, trace, physical, sweep, vidur, help)')


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False,
                          **options)


class RealProgramsTest(unittest.TestCase):
    """simai as it is built, beside the programs."""

    def simai(self, *arguments):
        return run(BIN / "simai", *arguments)

    def test_prints_the_help_of_the_program(self):
        for command, program in PROGRAMS.items():
            expected = run(BIN / program, "--help")
            self.assertEqual(expected.returncode, 0)
            for arguments in ([command, "--help"], [command, "-h"],
                              ["help", command]):
                done = self.simai(*arguments)
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (0, expected.stdout, ""), arguments)
        self.assertEqual(self.simai("help", "sweep", "run").stdout,
                         run(BIN / "simai_sweep", "run", "--help").stdout)

    def test_leaves_errors_to_the_program(self):
        done = self.simai("topo", "--no-such")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^gen_topo: error: unknown option [^\n]*"
                                      r"\n$")

    def test_prints_the_version_as_the_programs_do(self):
        done = self.simai("--version")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(
            done.stdout.replace("simai", "gen_topo"),
            run(BIN / "gen_topo", "--version").stdout)
        self.assertEqual(self.simai("sweep", "--version").stdout,
                         run(BIN / "simai_sweep", "--version").stdout)

    def test_lists_each_command_and_three_examples(self):
        text = self.simai("--help").stdout
        for command, program in PROGRAMS.items():
            self.assertRegex(text, rf"(?m)^  {command} +\w.* \({program}\)$")
        self.assertEqual(len(re.findall(r"(?m)^    simai ", text)), 3)
        self.assertLess(max(map(len, text.splitlines())), 81)
        for arguments in ([], ["-h"], ["help"], ["help", "--help"]):
            done = self.simai(*arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (0, text, ""), arguments)

    def test_names_the_nearest_command(self):
        for word, question in {
            "analyse": '; did you mean "analyze"?',
            "tpoo": '; did you mean "topo"?',
            "sim": '; did you mean "simulate"?',
            "TOPO": '; did you mean "topo"?',
            "hepl": '; did you mean "help"?',
            "quux": "",
            "": "",
        }.items():
            for arguments in ([word], [word, "--help"], ["help", word]):
                done = self.simai(*arguments)
                self.assertEqual(
                    (done.returncode, done.stdout, done.stderr),
                    (2, "", f'simai: error: unknown command "{word}"{question} '
                            f"{KNOWN}\n"), arguments)

    def test_refuses_an_option_that_is_none(self):
        done = self.simai("--verbose")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr,
                         r'^simai: error: unknown option "--verbose"[^\n]*\n$')

    def test_says_where_stdout_is_full(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BIN / "simai"], stdout=full, check=False,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("simai: error: stdout: cannot be written", done.stderr)


class StandInsTest(unittest.TestCase):
    """simai in a folder with scripts in place of the programs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a b ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        shutil.copy(BIN / "simai", self.folder)
        for program in PROGRAMS.values():
            self.write(program, STAND_IN)

    def write(self, program, text):
        path = self.folder / program
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def test_becomes_the_program_with_the_arguments_as_they_are(self):
        arguments = ["-g", "8", "", "a  b", "--", "help", "-o=é'\"$(x)*", "  "]
        for command, program in PROGRAMS.items():
            process = subprocess.Popen(
                [self.folder / "simai", command, *arguments],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            out, error = process.communicate()
            # The process is the same, so whoever stops simai stops the program.
            self.assertEqual(
                out.split("\n"),
                [str(process.pid), program, *arguments, ""])
            self.assertEqual((process.returncode, error), (7, "to stderr\n"))

    def test_ends_by_the_signal_that_ends_the_program(self):
        self.write("gen_topo", "#!/usr/bin/env bash\nkill -TERM $$\n")
        done = run(self.folder / "simai", "topo")
        self.assertEqual(done.returncode, -signal.SIGTERM)

    def test_gives_stdin_to_the_program(self):
        self.write("gen_topo", "#!/usr/bin/env bash\nexec cat\n")
        done = run(self.folder / "simai", "topo", input="some text")
        self.assertEqual(done.stdout, "some text")

    def test_finds_the_programs_beside_itself(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "simai").symlink_to(self.folder / "simai")
        path = f"{elsewhere}:{os.environ['PATH']}"
        for command in (
            [elsewhere / "simai"],
            ["./simai"],
            ["bash", "-c", 'simai "$@"', "bash"],
        ):
            done = run(*command, "sweep", cwd=elsewhere,
                       env={**os.environ, "PATH": path})
            self.assertEqual((done.returncode, done.stdout.split("\n")[1]),
                             (7, "simai_sweep"), command)

    def test_names_a_program_that_is_missing(self):
        program = self.folder / "gen_topo"
        program.unlink()
        for arguments in (["topo", "-g", "8"], ["help", "topo"]):
            done = run(self.folder / "simai", *arguments)
            self.assertEqual(
                (done.returncode, done.stdout, done.stderr),
                (2, "", f"simai: error: {program}: cannot be run: No such file "
                        "or directory\n"))
        program.write_text(STAND_IN, encoding="utf-8")  # Not executable.
        done = run(self.folder / "simai", "topo")
        self.assertEqual(
            (done.returncode, done.stderr),
            (2, f"simai: error: {program}: cannot be run: Permission denied\n"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=BIN)
    options, rest = parser.parse_known_args()
    BIN = options.bin.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
