#!/usr/bin/env python3
"""Tests simai_sweep on a Slurm cluster, as its user sees it.

Usage: sweep_test.py [--bin DIR] [--if-installed] [TEST...]

The cluster is real and of this host alone: see cluster.py. The test passes, and
says why, where the host cannot run one; with --if-installed also where Slurm's
programs are not there.
"""

import argparse
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True  # The source folder stays as it is.

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from cluster import SlurmCluster, missing_programs, obstacle  # noqa: E402
from tests.testing.many_points import many_points  # noqa: E402

BIN = ROOT / "build" / "release" / "bin"
LIMIT = 120  # Seconds for one command or one thing to happen.
POLL = 0.02

# The slowest first. One of 64 GPUs takes a tenth of a second or two, for every
# message of every GPU is simulated.
MANY = many_points("[64, 32, 16, 8]", "[5, 4, 3, 2, 1]",
                   "{fidelity: analytical, collectives: ring}")

# 4 points of a second and more, so that a test sees some of them run.
SLOW = MANY.replace("[64, 32, 16, 8]", "[128]").replace(
    "to: 1000", "to: 400").replace("[5, 4, 3, 2, 1]", "[24]")

# "task 3 of job 12, restart 0, on node1", the first line of a run of a task.
START = re.compile(r"^task (\d+) of job (\d+), restart (\d+), on (\w+)$",
                   re.MULTILINE)

CLUSTER = None  # Of all tests.


def setUpModule():
    global CLUSTER
    stack = contextlib.ExitStack()
    CLUSTER = stack.enter_context(SlurmCluster(nodes=2, cpus_per_node=2))
    unittest.addModuleCleanup(stack.close)


class SweepTest(unittest.TestCase):
    def setUp(self):
        # What a path may hold and sbatch takes for something else.
        temporary = tempfile.TemporaryDirectory(prefix="it's 5%a of ")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.addCleanup(self.cancel_jobs)

    def cancel_jobs(self):
        """No task may write to the folder when it is removed."""
        CLUSTER.run("scancel", "--quiet", "--partition=test")
        self.wait_for(lambda: not CLUSTER.run("squeue", "-h"), "no end")

    def start(self, *arguments):
        process = subprocess.Popen(
            [BIN / "simai_sweep", *arguments], cwd=self.folder,
            env=CLUSTER.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def end(self, process, expect=0):
        """Returns what `process` printed."""
        said = process.communicate(timeout=LIMIT)[0]
        self.assertEqual(process.returncode, expect,
                         said + "\n" + CLUSTER.logs())
        return said

    def sweep(self, *arguments, expect=0):
        return self.end(self.start(*arguments), expect)

    def slurm(self, *arguments, expect=0):
        return self.sweep(*arguments, "--scheduler", "slurm", expect=expect)

    def wait_for(self, condition, what):
        deadline = time.monotonic() + LIMIT
        while not (value := condition()):
            self.assertLess(time.monotonic(), deadline,
                            what + "\n" + CLUSTER.logs())
            time.sleep(POLL)
        return value

    def tasks(self):
        """Returns (state, node) of each task in the queue, by its id."""
        lines = CLUSTER.run("squeue", "-h", "-r", "-o",
                            "%i|%T|%N").splitlines()
        return {name: (state, node)
                for name, state, node in (line.split("|") for line in lines)}

    def keys(self, name, array, task):
        """Returns the keys of a task's points."""
        path = self.folder / "results" / name / "slurm" / array / "keys"
        return path.read_text().splitlines()[int(task) - 1].split()

    def records(self, name, keys=("*",)):
        """Returns the times of the records that are there, by key."""
        points = self.folder / "results" / name / "points"
        return {path.parent.name: path.stat().st_mtime_ns for key in keys
                for path in points.glob(f"{key}/record.json")}

    def starts(self, name, array="1"):
        """Returns (task, restarts, node) of each run of a task, in order."""
        found = []
        folder = self.folder / "results" / name / "slurm" / array
        for path in sorted(folder.glob("*.log")):
            found += [(task, restarts, node) for task, _, restarts, node
                      in START.findall(path.read_text())]
        return found

    def arrays(self, name):
        return sorted(os.listdir(self.folder / "results" / name / "slurm"))

    def running_task(self, name, done, node=""):
        """Returns the id of a task that runs, with so many points done."""
        for task, (state, where) in self.tasks().items():
            keys = self.keys(name, "1", task.partition("_")[2])
            if (state == "RUNNING" and where.startswith(node)
                    and len(self.records(name, keys)) in done):
                return task
        return None

    def check_all_once(self, name, num_points):
        """Each point has finished, in one run, and has one row."""
        rows = self.sweep("export", f"results/{name}", "--cost").splitlines()
        header = rows[0].split(",")
        cells = [dict(zip(header, row.split(","))) for row in rows[1:]]
        self.assertEqual([cell["point"] for cell in cells],
                         [str(i + 1) for i in range(num_points)])
        self.assertEqual({(cell["state"], cell["attempts"]) for cell in cells},
                         {("finished", "1")})
        self.assertEqual(len(self.records(name)), num_points)
        self.assertIn("; 0 run now", self.slurm("resume", f"results/{name}"))

    def requeue_one(self, name):
        """Returns a task sent back, and its records before it ran again."""
        task = self.wait_for(lambda: self.running_task(name, range(1, 5)),
                             "no task")
        CLUSTER.run("scontrol", "requeue", task)
        self.wait_for(lambda: self.tasks()[task][0] == "PENDING", "no requeue")
        index = task.partition("_")[2]
        records = self.records(name, self.keys(name, "1", index))
        self.assertTrue(1 <= len(records) <= 9, records)
        return index, records

    def drain_node2(self, name):
        """Returns the tasks that had not started when it took no more."""
        self.wait_for(lambda: self.running_task(name, range(5), "node2"),
                      "no task")
        CLUSTER.run("scontrol", "update", "nodename=node2", "state=drain",
                    "reason=test")
        self.addCleanup(CLUSTER.run, "scontrol", "update", "nodename=node2",
                        "state=resume")
        tasks = self.tasks()
        running = [task for task in tasks if tasks[task][1] == "node2"]
        self.assertTrue(running, "nothing ran there any more")
        waiting = [task for task in tasks if tasks[task][0] == "PENDING"]
        self.assertGreater(len(waiting), 3, "too little was left")
        return {task.partition("_")[2] for task in waiting}

    # Though a task is sent back and a node taken away.
    def test_gives_what_a_local_run_gives(self):
        (self.folder / "many.yaml").write_text(MANY)
        self.sweep("run", "many.yaml", "-o", "local", "--quiet")
        run = ("run", "many.yaml", "--scheduler", "slurm",
               "--points-per-task", "10")
        first = self.start(*run)
        self.wait_for(lambda: self.tasks(), "no array")
        second = self.start(*run)  # It waits for the first.
        requeued, before = self.requeue_one("many")
        late = self.drain_node2("many")
        said = self.end(first)
        self.assertRegex(said, r"\nsubmitted  job \d+: 20 tasks of 10 points, "
                         r"logs in .*/results/many/slurm/1\n")
        self.assertIn("many: 200 finished, 0 failed, 0 not run; 200 run now",
                      said)
        self.assertRegex(self.end(second),
                         r"waiting .*\n(.*\n)*.*200 finished.*; 0 run now")
        self.assertEqual(self.arrays("many"), ["1"])
        self.assertEqual(
            CLUSTER.run("sinfo", "-h", "-n", "node2", "-o", "%T"), "drained\n")

        starts = self.starts("many")
        runs = sorted((int(task), restarts) for task, restarts, _ in starts)
        self.assertEqual(runs, sorted(
            [(task, "0") for task in range(1, 21)] + [(int(requeued), "1")]))
        self.assertEqual({node for _, _, node in starts}, {"node1", "node2"})
        self.assertEqual({node for task, restarts, node in starts
                          if task in late and (task, restarts) != (
                              requeued, "0")}, {"node1"})
        # What the task had done was not done again.
        self.assertEqual(self.records("many", before), before)

        self.check_all_once("many", 200)
        self.assertEqual(self.sweep("export", "results/many", "--csv"),
                         self.sweep("export", "local", "--csv"))

    def test_an_array_that_nobody_waits_for_is_collected(self):
        (self.folder / "slow.yaml").write_text(SLOW)
        said = self.slurm("run", "slow.yaml", "--no-wait")
        self.assertIn("0 finished, 0 failed, 4 not run", said)
        said = self.sweep("resume", "results/slow", expect=2)
        self.assertIn("still holds points of this sweep", said)
        self.assertIn("run by     Slurm job",
                      self.sweep("status", "results/slow", expect=1))
        said = self.slurm("resume", "results/slow")
        self.assertRegex(said, r"\nqueued     4 points in job \d+ already, ")
        self.assertIn("4 finished, 0 failed, 0 not run; 4 run now", said)
        self.assertEqual(self.arrays("slow"), ["1"])
        self.check_all_once("slow", 4)

    def test_an_array_outlives_who_waits_for_it(self):
        (self.folder / "slow.yaml").write_text(SLOW)
        process = self.start("run", "slow.yaml", "--scheduler", "slurm")
        self.wait_for(lambda: self.records("slow"), "no record")
        process.send_signal(signal.SIGTERM)
        said = self.end(process, expect=143)
        self.assertRegex(said, r"\ngoes on    job \d+: ")
        self.assertRegex(said, r"\nstopped    slow: ")
        self.wait_for(lambda: len(self.records("slow")) == 4, "no end")
        self.assertIn("4 finished, 0 failed, 0 not run",
                      self.sweep("status", "results/slow"))
        self.assertEqual(self.arrays("slow"), ["1"])
        self.check_all_once("slow", 4)

    def process_of(self, task):
        """Returns the id of the process that a task is."""
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                words = (path.parent / "cmdline").read_bytes().split(b"\0")
                variables = path.read_bytes().split(b"\0")
                if (words[0].endswith(b"simai_sweep")
                        and os.fsencode(self.folder) in b"".join(words)
                        and b"SLURM_ARRAY_TASK_ID=%d" % task in variables):
                    return int(path.parent.name)
        return None

    def test_points_whose_task_was_killed_fail_and_are_run_again(self):
        (self.folder / "slow.yaml").write_text(SLOW)
        process = self.start("run", "slow.yaml", "--scheduler", "slurm",
                             "--points-per-task", "2")
        os.kill(self.wait_for(lambda: self.process_of(2), "no task"),
                signal.SIGKILL)
        said = self.end(process, expect=1)
        log = self.folder / "results" / "slow" / "slurm" / "1" / "2.log"
        lost = re.findall(
            r"^failed     point (\d) \(.*\): task 2 of Slurm job \d+ ended "
            r"without a result: see (.*/2\.log)", said, re.MULTILINE)
        self.assertIn(("4", str(log)), lost)
        self.assertTrue(log.exists())
        self.assertIn(f"{4 - len(lost)} finished, {len(lost)} failed, 0 not "
                      "run; 4 run now", said)
        self.assertRegex(self.sweep("status", "results/slow", expect=1),
                         r"\nfailed     points? (3-)?4: task 2 of Slurm job ")
        said = self.slurm("retry", "results/slow")
        self.assertIn(f"4 finished, 0 failed, 0 not run; {len(lost)} run now",
                      said)

    def test_says_why_slurm_refuses(self):
        (self.folder / "slow.yaml").write_text(SLOW)
        said = self.slurm("run", "slow.yaml", "--partition", "other",
                          expect=2)
        self.assertIn("error: sbatch: error: invalid partition specified: "
                      "other; ", said)
        self.assertEqual(self.arrays("slow"), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default=BIN,
                        help="folder of the programs")
    parser.add_argument("--if-installed", action="store_true",
                        help="pass where Slurm is not installed")
    options, rest = parser.parse_known_args()
    BIN = options.bin.resolve()
    if missing := missing_programs():
        said = "not installed: " + ", ".join(missing)
        if not options.if_installed:
            sys.exit(said)
        print("skipped: " + said)
        sys.exit(0)
    if said := obstacle():
        print("skipped: " + said)
        sys.exit(0)
    unittest.main(argv=[sys.argv[0], *rest])
