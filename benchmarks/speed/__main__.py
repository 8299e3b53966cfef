#!/usr/bin/env python3
"""Times simai_simulator on cases that matter, in each mode of --accelerate.

A row is a case. For each mode it has the wall and processor time of the run,
its peak memory, and the packet-hops that were executed and that were skipped.
Below a row stands what is different from the first mode: the names of files
whose bytes differ, and for the mode "bounded" the largest error of a collective
and the error of the iteration.

A peak below that of Python, some 17 MiB, reads as that of Python: the kernel counts
the process that starts the program.

Modes are those that simai_simulator --help names; a program without --accelerate
has one. A run that takes longer than --limit is ended, and one that does not fit
into memory is refused; the table says so. On a shared machine compare figures of
one row with one another.

Exit status: 1 if a run failed, or if a mode that claims to be exact wrote other
results; 0 otherwise.

Usage: benchmarks/speed --bin DIR [--only NAME] [--small] [--limit SECONDS]
                        [--data simai_ns3_runs.csv] [--list]
"""

import argparse
import pathlib
import sys
import tempfile

import cases
import compare
import runs
import table


def arguments_of(words):
    parser = argparse.ArgumentParser(
        prog="speed", description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path,
                        help="folder of the built programs")
    parser.add_argument("--only", metavar="NAME", default="",
                        help="only cases whose name begins with NAME")
    parser.add_argument("--small", action="store_true",
                        help="only the small cases, which take seconds")
    parser.add_argument("--limit", metavar="SECONDS", type=float, default=600,
                        help="longest run (default 600)")
    parser.add_argument("--data", metavar="FILE", type=pathlib.Path,
                        help="simai_ns3_runs.csv: adds its collectives")
    parser.add_argument("--list", action="store_true",
                        help="print the names of the cases and stop")
    return parser.parse_args(words)


def run_case(case, modes, arguments, folder):
    """Prints the row of `case`; returns whether all is as it should be."""
    inputs = case.prepare(arguments.bin, folder)
    modes = runs.modes_for(case.options, modes)
    results = {mode: runs.simulate(arguments.bin, inputs, mode,
                                   folder / mode.name, arguments.limit)
               for mode in modes}
    print(table.row(case.name, results.values()), flush=True)
    well = all(result.problem in ("", runs.OVER_LIMIT, runs.REFUSED)
               for result in results.values())
    for mode in modes[1:]:
        if results[modes[0]].problem or results[mode].problem:
            continue
        report = compare.folders(folder / modes[0].name, folder / mode.name,
                                 is_bounded=mode.name == "bounded")
        for line in report.lines:
            print(f"    {mode.name}: {line}", flush=True)
        well = well and (report.is_same or mode.name == "bounded")
    return well


def main(words):
    arguments = arguments_of(words)
    arguments.bin = arguments.bin.resolve()
    chosen, remark = cases.choose(arguments.small, arguments.data)
    if remark:
        print(remark)
    chosen = [case for case in chosen if case.name.startswith(arguments.only)]
    if not chosen:
        sys.exit(f"speed: error: no case begins with \"{arguments.only}\": "
                 "--list prints all names")
    if arguments.list:
        print("\n".join(case.name for case in chosen))
        return 0
    modes = runs.modes_of(arguments.bin)
    print(table.header(modes))
    well = True
    for case in chosen:
        with tempfile.TemporaryDirectory() as name:
            well = run_case(case, modes, arguments, pathlib.Path(name)) and well
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
