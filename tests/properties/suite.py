"""Runs properties on random cases, and says how to repeat one that failed."""

import argparse
import pathlib
import subprocess
import sys
import time
import traceback

from runs import Broken, Case, Refused, case_folder


def failure_of(case, check):
    """What is wrong with a case, or None."""
    try:
        check(case)
    except (Broken, Refused, subprocess.TimeoutExpired) as error:
        return f"{error}"
    except Exception:  # A file that cannot be read is a failure, too.
        return traceback.format_exc()
    return None


def run_case(properties, arguments, seed, name):
    """Returns the lines that say what failed."""
    with case_folder(arguments.keep, seed, name) as folder:
        case = Case(arguments.bin.resolve(), folder, seed, name)
        failure = failure_of(case, properties[name])
    if failure is None:
        return []
    return [f"FAILED {name}, seed {seed}: {failure}",
            f"  repeat: {sys.executable} {sys.argv[0]} --bin {arguments.bin} "
            f"--cases 1 --seed {seed} --only {name}",
            *(f"  ran: {command}" for command in case.commands[-4:])]


def read_arguments(doc, properties, cases):
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path,
                        help="folder of the built programs")
    parser.add_argument("--cases", type=int, default=cases)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=properties, metavar="PROPERTY",
                        help=", ".join(properties))
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR",
                        help="leave the files of all cases there")
    return parser.parse_args()


def run(doc, properties, cases, per_case=1):
    """Case i has the seed --seed + i and checks `per_case` of the properties,
    in turn; with --only that one. Returns the exit code."""
    arguments = read_arguments(doc, properties, cases)
    names = list(properties)
    took = dict.fromkeys([arguments.only] if arguments.only else names, 0.0)
    failed = 0
    for i in range(arguments.cases):
        in_turn = [names[(i * per_case + j) % len(names)]
                   for j in range(per_case)]
        for name in [arguments.only] if arguments.only else in_turn:
            start = time.monotonic()
            lines = run_case(properties, arguments, arguments.seed + i, name)
            took[name] += time.monotonic() - start
            failed += bool(lines)
            for line in lines:
                print(line, flush=True)
    print("seconds:", ", ".join(f"{name} {s:.1f}" for name, s in took.items()))
    print(f"{arguments.cases} cases, {failed} failed")
    return 1 if failed else 0
