"""Runs simai_simulator in a mode of --accelerate, and measures it."""

import dataclasses
import json
import os
import re
import subprocess
import threading
import time

OVER_LIMIT = "over the limit"
REFUSED = "too large for memory"

# In the order of the table; the first one is what the others are compared with.
KNOWN_MODES = ("off", "exact", "bounded")

# All packet-hops, in "simulated" of run.json, and those that were not executed,
# in cost.json.
ALL, SKIPPED = "packet_hops", "replayed_packet_hops"


@dataclasses.dataclass(frozen=True)
class Mode:
    name: str
    options: tuple  # Of the command line.


@dataclasses.dataclass
class Result:
    problem: str = ""  # Why there are no figures.
    wall_s: float = 0
    cpu_s: float = 0
    peak_mib: float = 0
    executed: int = 0
    skipped: int = 0


def modes_of(programs):
    """The modes that --help names; one without options if it names none."""
    text = subprocess.run([programs / "simai_simulator", "--help"], text=True,
                          capture_output=True, check=True).stdout
    option = re.search(r"^ +--accelerate\b(.*)$", text, re.MULTILINE)
    named = re.findall(r"[a-z]+", option[1]) if option else []
    modes = tuple(Mode(name, ("--accelerate", name))
                  for name in KNOWN_MODES if name in named)
    return modes or (Mode("off", ()),)


def modes_for(case_options, modes):
    """The modes of a case: flows, and SimAI's queue pairs, are not spared."""
    is_whole = "--fidelity" in case_options or "-c" in case_options
    return (Mode("off", ()),) if is_whole else modes


def simulate(programs, inputs, mode, folder, limit):
    """The result of a run, which leaves its files in `folder`."""
    command = [programs / "simai_simulator", *inputs, *mode.options,
               "-o", folder]
    begin = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], text=True,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    ended = threading.Event()

    def kill():
        ended.set()
        process.kill()

    timer = threading.Timer(limit, kill)
    timer.start()
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    timer.cancel()
    result = Result(wall_s=time.monotonic() - begin,
                    cpu_s=usage.ru_utime + usage.ru_stime,
                    peak_mib=usage.ru_maxrss / 1024)
    if ended.is_set():
        result.problem = OVER_LIMIT
    elif process.returncode != 0:
        is_refused = "--force" in error and "free" in error
        lines = error.strip().splitlines() or [f"exit {process.returncode}"]
        result.problem = REFUSED if is_refused else lines[-1]
    else:
        run, cost = (json.loads((folder / name).read_text())
                     for name in ("run.json", "cost.json"))
        result.skipped = cost[SKIPPED]
        result.executed = run["simulated"][ALL] - result.skipped
    return result
