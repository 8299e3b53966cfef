#!/usr/bin/env python3
"""Checks properties of the built programs on random programs and clusters.

Usage: properties_test.py --bin DIR [--cases N] [--seed N] [--only PROPERTY]
                          [--keep DIR]

Case i has the seed N + i and checks three of the properties, in turn; with
--only each case checks that one. Prints for each failure what is wrong and a
command that repeats it, and exits with 1. The same seed draws the same cases.
--keep leaves the files of all cases in a folder, for a look at them.
"""

import sys

import laws
import options
import serving
import suite

PROPERTIES = {
    "breakdown": laws.breakdown_adds_up,
    "critical-path": laws.critical_path_adds_up,
    "bandwidth": laws.bandwidth_never_slows,
    "halving": laws.halving,
    "renumbering": laws.renumbering,
    "unrolling": laws.unrolling,
    "micro-batch-memory": laws.memory_of_micro_batch,
    "zero": laws.optimizer_of_zero,
    "weak-scaling": laws.weak_scaling,
    "limits": laws.physical_limits,
    "decode": laws.decode_above_memory,
    "options": options.every_option_acts,
    "serving-options": serving.every_option_acts,
    "repeated": laws.repeated,
}

if __name__ == "__main__":
    sys.exit(suite.run(__doc__, PROPERTIES, cases=200, per_case=3))
