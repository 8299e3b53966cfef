#!/usr/bin/env bash
# Usage: gnu_parallel.sh SWEEP.yaml
#
# Runs the points of a sweep with GNU parallel, as any other tool can that runs
# a command for each of some numbers: on several machines too (--sshlogin),
# where they share the folder. Points that are over are left out, so it can be
# stopped and started again. simai_sweep is expected on PATH.

set -euo pipefail

sweep=$1
points=$(simai_sweep run "$sweep" --count)

# It exits with the number of points that failed; those are listed below.
seq "$points" | parallel --will-cite --halt now,fail=20% \
  simai_sweep run "$sweep" --point {} --jobs 1 --quiet || true

# Nothing is left to run: this collects the results and compares them.
simai_sweep run "$sweep"
