#!/usr/bin/env python3
"""Checks cluster.py by hand, where Slurm is installed.

Six tasks of an array, of which two may run at once, append to one file. One is
requeued as it runs. Then a node is drained, and the rest must end on the other.

Usage: cluster_check.py
"""

import contextlib
import sys
import time

sys.dont_write_bytecode = True  # The source folder stays as it is.

from cluster import SlurmCluster, missing_programs  # noqa: E402

TASKS = 6
AT_ONCE = 2
TIME_LIMIT = 60  # Seconds for all tasks.
SCRIPT = """\
#!/bin/sh
say() {
  echo "$1 $SLURM_ARRAY_TASK_ID ${SLURM_RESTART_COUNT:-0} $SLURMD_NODENAME" \\
    >> events
}
say begin
sleep 2
say end
"""


@contextlib.contextmanager
def timed(what):
    start = time.monotonic()
    yield
    print(f"{time.monotonic() - start:6.2f} s  {what}")


def require(condition, what):
    if not condition:
        raise AssertionError(what)


class Array:
    """The tasks of the array, as squeue and the file tell of them."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.deadline = time.monotonic() + TIME_LIMIT
        script = cluster.folder / "task.sh"
        script.write_text(SCRIPT)
        self.job = cluster.run(
            "sbatch", "--parsable", "--requeue", f"--chdir={cluster.folder}",
            f"--array=0-{TASKS - 1}%{AT_ONCE}", "--output=/dev/null",
            str(script)).strip()

    def queue(self):
        """Returns (state, node) by id of each task that is not done."""
        lines = self.cluster.run("squeue", "-h", "-r", "-j", self.job, "-o",
                                 "%i|%T|%N").splitlines()
        tasks = {i: (state, node)
                 for i, state, node in (line.split("|") for line in lines)}
        running = [i for i in tasks if tasks[i][0] == "RUNNING"]
        require(len(running) <= AT_ONCE, f"run at once: {running}")
        return tasks

    def wait(self, condition, what):
        while not condition(tasks := self.queue()):
            require(time.monotonic() < self.deadline, f"{what}: {tasks}")
            time.sleep(0.1)
        return tasks

    def events(self):
        """Returns (begin or end, task, restarts, node) in their order."""
        lines = (self.cluster.folder / "events").read_text().splitlines()
        return [tuple(line.split()) for line in lines]


def on_node(tasks, node):
    """Returns the ids of the tasks that are there."""
    return [i for i in tasks if tasks[i][1] == node]


def check(cluster):
    array = Array(cluster)
    with timed("until a task runs on each node"):
        tasks = array.wait(
            lambda t: on_node(t, "node1") and on_node(t, "node2"), "no start")
    requeued = on_node(tasks, "node1")[0]
    with timed(f"scontrol requeue {requeued}, until it runs again"):
        cluster.run("scontrol", "requeue", requeued)
        array.wait(lambda t: t[requeued][0] == "PENDING", "not requeued")
        array.wait(lambda t: on_node(t, "node2"), "nothing to drain")
        cluster.run("scontrol", "update", "nodename=node2", "state=drain",
                    "reason=test")
        before = {i.partition("_")[2] for i in on_node(array.queue(), "node2")}
        old = len(array.events())
        array.wait(lambda t: t[requeued][0] == "RUNNING", "does not run again")
    with timed("until all have ended"):
        array.wait(lambda t: not t, "left over")
    state = cluster.run("sinfo", "-h", "-n", "node2", "-o", "%T").strip()
    require(state == "drained", f"node2 is {state}")
    check_events(array.events(), old, before, requeued.partition("_")[2])


def check_events(events, old, before, requeued):
    """Checks the file; `before` were on node2 when it had `old` lines."""
    late = [e for e in events[old:]
            if e[0] == "begin" and e[1] not in before and e[3] != "node1"]
    require(not late, f"not on the node that is left: {late}")
    ends = sorted((task, restarts) for what, task, restarts, _ in events
                  if what == "end")
    expected = [(str(task), "1" if str(task) == requeued else "0")
                for task in range(TASKS)]
    require(ends == expected, f"ends of tasks: {events}")


def main():
    missing = missing_programs()
    if missing:
        sys.exit("not installed: " + ", ".join(missing))
    with contextlib.ExitStack() as stack:
        with timed("start"):
            cluster = stack.enter_context(
                SlurmCluster(nodes=2, cpus_per_node=1))
        try:
            check(cluster)
        except Exception:
            print(cluster.logs())
            raise
        with timed("end"):
            stack.close()


if __name__ == "__main__":
    main()
