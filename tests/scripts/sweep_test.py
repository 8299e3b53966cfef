#!/usr/bin/env python3
"""Tests of simai_sweep as users run it: killed, twice at once, from scripts."""

import argparse
import csv
import fcntl
import io
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True  # The source folder stays as it is.
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.testing.many_points import many_points  # noqa: E402

EXAMPLES = ROOT / "scripts" / "examples"
BIN = ROOT / "build" / "release" / "bin"
LIMIT = 300  # Seconds for one command; more is a hang.

MANY = many_points()

# The second point fails: there is no TP of 0.
FEW = """\
simai_sweep: 1
axes:
  tp: [1, 0, 4]
gen_topo: {topo: Spectrum-X, g: 8, gt: H100}
gen_workload: {model: gpt-7b, num_layers: 1, gpu: H100, world_size: 8,
  tp: "${tp}", global_batch: 8, seq_length: 512}
simai_analytical: {}
"""

SIZES = """\
simai_sweep: 1
axes: {{size: [{}]}}
simai_collective: {{system: dgx-h100, min-bytes: "${{size}}",
  max-bytes: "${{size}}"}}
"""


class SweepTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="sweep test ")
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def start(self, *arguments, **options):
        return subprocess.Popen(
            [BIN / "simai_sweep", *arguments], cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            **options)

    def sweep(self, *arguments, expect=0):
        """Returns what simai_sweep prints."""
        process = self.start(*arguments)
        out, error = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, expect, out + error)
        return out + error

    def rows(self, folder, query):
        path = self.folder / folder / "sweep.db"
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            return database.execute(query).fetchall()

    def csv(self, folder):
        return list(csv.DictReader(io.StringIO(
            self.sweep("export", folder, "--csv"))))

    def test_killed_twenty_times_every_point_is_there_once(self):
        self.write("many.yaml", MANY)
        begin = time.monotonic()
        self.sweep("run", "many.yaml", "-o", "whole", "--quiet")
        whole = time.monotonic() - begin
        random.seed(7)
        kills = 0
        while kills < 20:
            process = self.start("run", "many.yaml", "-o", "killed", "--quiet")
            try:
                # Some must be left at the end, on a faster machine too.
                process.wait(random.uniform(0, whole / 40))
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
        self.assertEqual(kills, 20)
        before = len(list(self.folder.glob("killed/points/*/record.json")))
        self.assertLess(before, 200, "it was through before the last kill")
        self.sweep("resume" if before else "run",
                   "killed" if before else "many.yaml",
                   *([] if before else ["-o", "killed"]), "--quiet")
        self.assertEqual(self.rows("killed", "PRAGMA integrity_check"),
                         [("ok",)])
        self.assertEqual(
            self.rows("killed", "SELECT count(*), min(number), max(number),"
                      " count(DISTINCT key) FROM results WHERE"
                      " state = 'finished'"), [(200, 1, 200, 200)])
        # Each was recorded once: none ran again after it was over.
        self.assertEqual(
            self.rows("killed", "SELECT count(*), sum(attempts) FROM runs"),
            [(200, 200)])
        self.assertEqual(self.sweep("export", "killed"),
                         self.sweep("export", "whole"))

    def test_what_a_killed_sweep_ran_is_killed_with_it(self):
        self.write("slow.yaml", FEW.replace("tp: [1, 0, 4]", "tp: [1]")
                   .replace("g: 8", "g: 1024")
                   .replace("world_size: 8", "world_size: 1024")
                   .replace("global_batch: 8", "global_batch: 1024")
                   .replace("simai_analytical: {}",
                            "simai_analytical: {fidelity: analytical}"))
        process = self.start("run", "slow.yaml")
        log = None
        while log is None or "$ simai_analytical" not in log.read_text():
            self.assertIsNone(process.poll(), "it ended too soon")
            log = next(self.folder.glob("results/slow/points/*/log.txt"), None)
        process.kill()
        process.communicate()
        deadline = time.monotonic() + 10
        while self.processes_in_folder():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def processes_in_folder(self):
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if os.fsencode(self.folder) in path.read_bytes():
                    found.append(path)
            except OSError:
                pass  # It ended meanwhile.
        return found

    def test_sweeps_at_once_in_one_folder_do_not_disturb_each_other(self):
        small = MANY.replace("[1, 2, 3, 4, 5]", "[1]")
        self.write("a.yaml", small)
        self.write("b.yaml", small.replace("H100", "A100"))
        names = ("a", "b", "a", "b")
        started = [self.start("run", f"{name}.yaml") for name in names]
        said = [process.communicate(timeout=LIMIT) for process in started]
        for process, (out, error) in zip(started, said):
            self.assertEqual(process.returncode, 0, out + error)
        # One of the two processes of a sweep ran all points, the other none.
        for name in "ab":
            ends = sorted(out.splitlines()[-1].split("; ")[1].split(",")[0]
                          for it, (out, _) in zip(names, said) if it == name)
            self.assertEqual(ends, ["0 run now", "40 run now"])
        self.assertEqual(
            [self.rows(f"results/{name}", "SELECT count(*), sum(attempts)"
                       " FROM runs WHERE state = 'finished'")
             for name in "ab"], [[(40, 40)], [(40, 40)]])
        self.assertNotEqual(self.csv("results/a"), self.csv("results/b"))

    def test_tells_what_failed_and_runs_it_again(self):
        self.write("few.yaml", FEW)
        said = self.sweep("run", "few.yaml", expect=1)
        self.assertIn("failed     point 2 (tp=0): gen_workload: ", said)
        self.assertIn("finished   few: 2 finished, 1 failed, 0 not run; "
                      "3 run now", said)
        self.assertIn("0 run now",
                      self.sweep("resume", "results/few", expect=1))
        self.assertIn("1 run now",
                      self.sweep("retry", "results/few", expect=1))
        self.assertEqual(
            self.rows("results/few", "SELECT attempts FROM runs ORDER BY 1"),
            [(1,), (1,), (2,)])
        status = self.sweep("status", "results/few", expect=1)
        self.assertIn("2 finished, 1 failed, 0 not run", status)
        self.assertIn("failed     point 2: gen_workload: ", status)

    def test_an_illegal_layout_is_left_out_with_its_rule(self):
        self.write("few.yaml", FEW.replace("[1, 0, 4]", "[1, 3, 4, 5, 16]"))
        said = self.sweep("run", "few.yaml")
        self.assertIn(
            "points     5: 2 finished, 3 left out as illegal, 0 failed", said)
        self.assertIn("left out   3: TP 3 x PP 1 does not divide the 8 GPUs: "
                      "there is no whole DP (or with other numbers)\n", said)
        self.assertIn("finished   few: 2 finished, 3 left out as illegal, "
                      "0 failed, 0 not run; 5 run now", said)
        status = self.sweep("status", "results/few")
        self.assertIn("left out   3: TP 3 x PP 1 does not divide", status)
        self.assertIn("0 run now", self.sweep("retry", "results/few"))
        self.assertEqual([row["state"] for row in self.csv("results/few")],
                         ["finished", "illegal", "finished", "illegal",
                          "illegal"])
        self.assertIn("does not divide",
                      (self.folder / "results/few/report.html").read_text())
        said = self.sweep("run", "few.yaml", "--dry-run", "-o", "dry")
        self.assertIn("left out   point 2 (tp=3): TP 3 x PP 1 does not", said)

    def test_a_sweep_without_a_legal_layout_says_so(self):
        self.write("few.yaml", FEW.replace("[1, 0, 4]", "[3, 5]"))
        for quiet in ((), ("-q",), ("--json",)):
            said = self.sweep("run", "few.yaml", *quiet, expect=1)
            self.assertIn(
                "simai_sweep: error: no point of the sweep has a legal layout; "
                "point 1: TP 3 x PP 1 does not divide the 8 GPUs", said)
        self.assertIn("left out   2: TP 3",
                      self.sweep("status", "results/few", expect=1))

    def test_points_that_fail_are_named_where_nothing_else_is(self):
        self.write("sizes.yaml", SIZES.format("1M, x"))
        said = self.sweep("run", "sizes.yaml", "-q", expect=1)
        self.assertRegex(said, r"\Asimai_sweep: error: 1 of 2 points failed; "
                               r"point 2: simai_collective: --min-bytes is .*\n\Z")

    def test_names_that_no_point_has_are_errors(self):
        wrong = {
            "require: [tim_us < 30]":
                "no point is feasible; point 1: cannot tell whether tim_us < "
                '30: unknown variable "tim_us"; did you mean "time_us"?\n',
            "objectives: [{minimize: tim_us}]":
                'unknown metric "tim_us"; did you mean "time_us"?',
        }
        for number, (line, reason) in enumerate(wrong.items()):
            self.write("sizes.yaml", SIZES.format("1M, 2M") + line + "\n")
            said = self.sweep("run", "sizes.yaml", "-q", "-o", f"wrong{number}",
                              expect=1)
            self.assertIn(f"simai_sweep: error: {reason}", said)
        self.assertIn('"finished":2,"infeasible":2,',
                      self.sweep("status", "wrong0", "--json"))

    def test_a_closed_stdout_is_not_the_lock(self):
        self.write("sizes.yaml", SIZES.format("1M, 2M"))
        process = subprocess.run(
            ["bash", "-c", 'exec "$@" >&-', "bash", BIN / "simai_sweep", "run",
             "sizes.yaml", "-o", "closed"], cwd=self.folder,
            stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
        self.assertEqual(
            (process.returncode, process.stderr),
            (2, "simai_sweep: error: stdout: cannot be written: Bad file "
                "descriptor\n"))
        self.assertRegex((self.folder / "closed/sweep.lock").read_text(),
                         r"\A[0-9]+ on [^\n]*\Z")

    # TP 1 communicates least, but a GPU of 80 GB does not hold it.
    def test_what_does_not_fit_wins_only_where_it_is_allowed(self):
        text = """\
simai_sweep: 1
name: memory
axes: {tp: [1, 8]}
gen_topo: {topo: Spectrum-X, g: 8, gt: H100}
gen_workload: {model: llama3-70b, num_layers: 8, gpu: H100, world_size: 8,
  tp: "${tp}", sp: true, micro_batch: 2, global_batch: 16, seq_length: 8192,
  format: program}
simai_analytical: {}
"""
        self.write("memory.yaml", text)
        said = self.sweep("run", "memory.yaml")
        self.assertIn("points     2: 2 finished (1 infeasible), ", said)
        self.assertIn("infeasible 1: does not fit: allocated_memory_gib is above "
                      "gpu_memory_gib", said)
        self.assertIn("best       point 2: tp=8", said)
        self.assertIn("does not fit",
                      (self.folder / "results/memory/report.html").read_text())
        rows = self.csv("results/memory")
        self.assertEqual([row["fits"] for row in rows], ["0", "1"])
        self.assertGreater(float(rows[0]["allocated_memory_gib"]),
                           float(rows[0]["gpu_memory_gib"]))
        self.assertLess(float(rows[0]["iteration_ms"]),
                        float(rows[1]["iteration_ms"]))
        self.write("memory.yaml", text + "allow: does-not-fit\n")
        said = self.sweep("run", "memory.yaml")
        self.assertIn("best       point 1: tp=1", said)
        self.assertIn("warning    1 point does not fit into the memory of its "
                      "GPU", said)

    def test_a_damaged_record_is_named_and_its_point_runs_again(self):
        self.write("few.yaml", FEW.replace("[1, 0, 4]", "[1, 2, 4]"))
        self.sweep("run", "few.yaml", "-q")
        record = next(self.folder.glob("results/few/points/*/record.json"))
        record.write_text("{")
        os.remove(self.folder / "results/few/sweep.db")
        said = self.sweep("resume", "results/few")
        self.assertIn(f"simai_sweep: warning: {record}: is no record of a run",
                      said)
        self.assertIn("its point counts as not run", said)
        self.assertIn("few: 3 finished, 0 failed, 0 not run; 1 run now", said)
        json.loads(record.read_text())

    def test_a_damaged_database_may_be_deleted(self):
        self.write("few.yaml", FEW.replace("[1, 0, 4]", "[1, 2, 4]"))
        self.sweep("run", "few.yaml", "-q")
        before = self.sweep("export", "results/few")
        database = self.folder / "results/few/sweep.db"
        database.write_bytes(b"x" * 5000)
        for command in ("resume", "status", "compare"):
            said = self.sweep(command, "results/few", expect=2)
            self.assertIn("sweep.db: is damaged: it is no database; it is safe "
                          "to delete it: simai_sweep resume makes it again",
                          said)
        database.unlink()
        self.assertIn("; 0 run now", self.sweep("resume", "results/few"))
        self.assertEqual(self.sweep("export", "results/few"), before)

    def test_what_killed_writers_left_is_removed(self):
        self.write("few.yaml", FEW.replace("[1, 0, 4]", "[1]"))
        self.sweep("run", "few.yaml", "-q")
        for place in ("", "inputs/"):
            self.write(f"results/few/{place}a.{os.uname().nodename}"
                       ".999999999.tmp", "")
        self.sweep("resume", "results/few", "-q")
        self.assertEqual(list(self.folder.rglob("*.tmp")), [])

    def test_a_wait_for_another_process_is_told_also_when_quiet(self):
        self.write("few.yaml", FEW.replace("[1, 0, 4]", "[1]"))
        self.sweep("run", "few.yaml", "-q")
        with open(self.folder / "results/few/sweep.lock", "r+",
                  encoding="utf-8") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            lock.truncate(0)
            lock.write("77 on node5")
            lock.flush()
            process = self.start("resume", "results/few", "-q")
            self.assertEqual(
                process.stderr.readline(),
                "simai_sweep: warning: waiting for process 77 on node5, which "
                "runs this sweep\n")
        out, error = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, out, error), (0, "", ""))

    def test_an_edited_sweep_keeps_what_it_has_run(self):
        self.write("few.yaml", FEW.replace("[1, 0, 4]", "[1, 4]"))
        self.sweep("run", "few.yaml")
        self.write("few.yaml", FEW.replace("[1, 0, 4]", "[2, 4, 1]"))
        self.assertIn("1 run now", self.sweep("run", "few.yaml"))
        self.assertEqual([row["tp"] for row in self.csv("results/few")],
                         ["2", "4", "1"])

    def test_a_changed_input_file_runs_its_points_again(self):
        self.write("few.yaml", """\
simai_sweep: 1
axes: {tp: [1, 2]}
gen_topo: {topo: Spectrum-X, g: 8, gt: H100}
gen_workload: {model: model.yaml, gpu: H100, world_size: 8, tp: "${tp}",
  global_batch: 8, seq_length: 512}
simai_analytical: {}
""")
        model = (ROOT / "inputs/models/gpt-7b.yaml").read_text()
        self.write("model.yaml", model)
        self.sweep("run", "few.yaml")
        self.assertIn("0 run now", self.sweep("run", "few.yaml"))
        self.write("model.yaml", model + "\n# A comment.\n")
        self.assertIn("2 run now", self.sweep("run", "few.yaml"))

    def test_stops_when_told_to_and_says_so(self):
        self.write("many.yaml", MANY)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start("run", "many.yaml", "-o", f"{code}")
            while not list(self.folder.glob(f"{code}/points/*/record.json")):
                time.sleep(0.01)
            process.send_signal(number)
            out, error = process.communicate(timeout=LIMIT)
            self.assertEqual(process.returncode, code, out + error)
            self.assertRegex(
                out.splitlines()[-1],
                f"^stopped    many: .*; stopped by {number.name}; "
                "simai_sweep resume .* goes on$")
        self.assertEqual(self.processes_in_folder(), [])

    def test_a_point_that_takes_too_long_fails(self):
        self.write("few.yaml", FEW.replace("[1, 0, 4]", "[1]"))
        said = self.sweep("run", "few.yaml", "--timeout", "1ms", expect=1)
        self.assertIn("took longer than --timeout 0.001 s", said)

    def test_a_dry_run_lists_all_and_writes_nothing(self):
        self.write("few.yaml", FEW.replace(
            "gen_topo", "exclude: [tp == 0]\ngen_topo", 1))
        said = self.sweep("run", "few.yaml", "--dry-run")
        self.assertIn("point      1      to run    tp=1\n", said)
        self.assertIn("left out   tp=0: excluded by tp == 0\n", said)
        self.assertIn("from 2 points that were tried", said)
        self.assertEqual(os.listdir(self.folder), ["few.yaml"])
        self.assertEqual(self.sweep("run", "few.yaml", "--count"), "2\n")

    def test_a_dry_run_tells_what_would_fail(self):
        self.write("few.yaml", FEW)
        said = self.sweep("run", "few.yaml", "--dry-run", expect=1)
        self.assertIn("failed     point 2 (tp=0): gen_workload: ", said)
        self.write("few.yaml", FEW.replace("[1, 0, 4]", "[1]")
                   + "objectives: {minimize: iteration_mss}\n")
        said = self.sweep("run", "few.yaml", "--dry-run", expect=1)
        self.assertIn('did you mean "iteration_ms"?', said)

    def test_recorded_commands_run_when_pasted_elsewhere(self):
        self.write("few.yaml", FEW.replace("[1, 0, 4]", "[1]"))
        self.sweep("run", "few.yaml", "-q")
        record = next(self.folder.glob("results/few/points/*/record.json"))
        script = "\n".join(json.loads(record.read_text())["commands"])
        environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}")
        subprocess.run(["bash", "-ec", script], cwd="/", env=environment,
                       check=True, capture_output=True)

    def test_points_run_from_outside_are_collected(self):
        self.write("few.yaml", FEW)
        self.sweep("run", "few.yaml", "--point", "1,3", "-q")
        said = self.sweep("status", "results/few", expect=2)
        self.assertIn("simai_sweep resume results/few", said)
        self.assertIn("1 run now",
                      self.sweep("resume", "results/few", expect=1))
        self.write("more.yaml", FEW)
        said = self.sweep("run", "more.yaml", "--point", "1", "-o",
                          "results/few", expect=2)
        self.assertIn('holds the sweep "few", not "more"', said)

    def test_json_lines_are_json(self):
        self.write("few.yaml", FEW)
        *lines, error = self.sweep("run", "few.yaml", "--json",
                                   expect=1).splitlines()
        self.assertIn("simai_sweep: error: 1 of 3 points failed; point 2", error)
        events = [json.loads(line) for line in lines]
        self.assertEqual(sorted(event["event"] for event in events),
                         ["begin", "end", "point", "point", "point"])
        points = [json.loads(line) for line in
                  self.sweep("export", "results/few",
                             "--json").splitlines()]
        self.assertEqual([point["state"] for point in points],
                         ["finished", "failed", "finished"])
        best = self.sweep("compare", "results/few", "--json").splitlines()
        self.assertEqual(len(best), 2)
        status = json.loads(self.sweep("status", "results/few", "--json",
                                       expect=1))
        self.assertEqual(status["failed"], 1)
        self.assertEqual(self.sweep("status", "results/few", "--quiet",
                                    expect=1), "")

    def test_two_sweeps_are_compared(self):
        self.write("a.yaml", FEW.replace("[1, 0, 4]", "[1, 4]"))
        self.write("b.yaml", FEW.replace("[1, 0, 4]", "[1, 4]").replace(
            "gt: H100", "gt: H100, bw: 100Gbps"))
        self.sweep("run", "a.yaml", "-q")
        self.sweep("run", "b.yaml", "-q")
        said = self.sweep("compare", "results/a", "results/b")
        self.assertIn("iteration_ms", said)

    def run_example(self, name, *arguments):
        """Runs a script of scripts/examples with the programs on PATH."""
        environment = dict(os.environ)
        environment["PATH"] = f"{BIN}:{environment['PATH']}"
        result = subprocess.run(
            ["bash", EXAMPLES / name, *arguments], cwd=self.folder,
            env=environment, timeout=LIMIT, text=True, capture_output=True,
            check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_the_bash_loop_runs(self):
        said = self.run_example("bash_loop.sh")
        self.assertEqual(said.count("finished"), 4)
        self.assertEqual(
            len(list(self.folder.glob("results/*/EndToEnd.csv"))), 4)

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is missing")
    def test_gnu_parallel_runs_a_sweep(self):
        self.write("few.yaml", FEW.replace("[1, 0, 4]", "[1, 2, 4, 8]"))
        said = self.run_example("gnu_parallel.sh", "few.yaml")
        self.assertIn("few: 4 finished, 0 failed, 0 not run; 0 run now", said)
        self.assertEqual(
            self.rows("results/few", "SELECT count(*), sum(attempts)"
                      " FROM runs"), [(4, 4)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default=BIN,
                        help="folder of the programs")
    options, rest = parser.parse_known_args()
    BIN = options.bin.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
