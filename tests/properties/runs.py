"""Runs the built programs for one random case, and reads what they write."""

import contextlib
import csv
import json
import pathlib
import random
import shlex
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Broken(Exception):
    """A property does not hold."""


class Refused(Exception):
    """A program refused its input: exit 2 and one line that says why."""


class Case:
    """A random case: its random numbers, its folder, the commands it ran.

    The random numbers depend on the seed and on the name of the property only,
    so that one property can be repeated without the others.
    """

    def __init__(self, bin_folder, folder, seed, name):
        self.bin = bin_folder
        self.folder = folder
        self.rng = random.Random(f"{seed} {name}")
        self.commands = []
        self.num_results = 0

    def expect(self, holds, message):
        if not holds:
            raise Broken(message)

    def path(self, name):
        return self.folder / name

    def write(self, name, text):
        self.path(name).write_text(text)
        return name

    def run(self, program, *arguments):
        """Returns what the program printed; Refused where it exits with 2."""
        command = [program, *map(str, arguments)]
        self.commands.append(shlex.join(command))
        result = subprocess.run(
            [self.bin / program, *command[1:]], cwd=self.folder,
            capture_output=True, text=True, timeout=120, check=False)
        if result.returncode == 0:
            return result
        said = result.stderr.strip().splitlines() or ["nothing"]
        errors = [line for line in said if ": error: " in line]
        self.expect(result.returncode == 2 and errors == said[-1:],
                    f"exit {result.returncode}, and it said: {said[-1]}")
        raise Refused(said[-1])

    def generate(self, options, name="program.yaml"):
        """Runs gen_workload with `options`, a mapping; returns the file."""
        self.run("gen_workload", *words_of(options), "-o", name)
        return name

    def simulate(self, program, workload, network, *options):
        """Runs `workload` on a network, the options that say which."""
        self.num_results += 1
        folder = f"results_{self.num_results}"
        self.run(program, "-w", workload, *network, *options, "-o", folder)
        return Results(self.path(folder))

    def analytical(self, workload, network, *options):
        return self.simulate("simai_analytical", workload, network, *options)


def words_of(options):
    """The command line of a mapping; None is the value of a flag."""
    words = []
    for name, value in options.items():
        words += [f"--{name}"] if value is None else [f"--{name}", str(value)]
    return words


def picoseconds(text):
    """Of microseconds with six decimals, without rounding."""
    whole, _, decimals = text.partition(".")
    return int(whole + decimals.ljust(6, "0"))


class Results:
    """The files that a run wrote."""

    def __init__(self, folder):
        self.folder = folder
        self.json = json.loads((folder / "run.json").read_text())
        self.time = self.json["result"]["iteration_ps"]

    @property
    def iteration(self):
        return self.json["iteration"]

    def rows(self, name):
        lines = (self.folder / name).read_text().splitlines()
        return list(csv.DictReader(
            line for line in lines if not line.startswith("#")))

    def text(self, name):
        return (self.folder / name).read_text()

    def stage_peaks(self):
        """The bytes that each stage allocates at most, by stage."""
        peaks = {}
        for row in self.rows("memory.csv"):
            peak = int(row["allocated_bytes"])
            peaks[row["stage"]] = max(peak, peaks.get(row["stage"], 0))
        return peaks


@contextlib.contextmanager
def case_folder(keep, seed, name):
    """A folder for a case, which stays where `keep` says where."""
    if keep is None:
        with tempfile.TemporaryDirectory() as folder:
            yield pathlib.Path(folder)
        return
    folder = keep / f"{seed}_{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    yield folder
