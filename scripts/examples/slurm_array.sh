#!/usr/bin/env bash
# Usage: sbatch --array=1-N slurm_array.sh SWEEP.yaml
#
# Point N of a sweep as a task of a job array that you submit yourself, with
# what `simai_sweep run SWEEP.yaml --count` prints for N. It needs a folder that
# all nodes see. `simai_sweep run SWEEP.yaml --scheduler slurm` does the same,
# with many points in a task. A task that is requeued leaves out what is over.
#
# Once all are through, `simai_sweep run SWEEP.yaml` collects and compares.

#SBATCH --job-name=sweep
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --requeue

set -euo pipefail

exec simai_sweep run "$1" --point "$SLURM_ARRAY_TASK_ID" --jobs 1 --quiet
