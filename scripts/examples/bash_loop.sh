#!/usr/bin/env bash
# Usage: bash_loop.sh
#
# Four simulations in a plain loop, with gen_topo and the others on PATH. Each
# run has a name, and so a folder of results, of its own; the loop ends at the
# first that fails. simai_sweep does more: see gnu_parallel.sh.

set -euo pipefail

mkdir -p inputs_of_loop
gen_workload --model gpt-7b --num-layers 4 --gpu-type H100 --gpus 64 --tp 8 \
  --global-batch 64 --seq-length 2048 --format program \
  --output inputs_of_loop/gpt-7b.yaml

for rate in 100Gbps 200Gbps 400Gbps 800Gbps; do
  topology=inputs_of_loop/$rate.txt
  gen_topo -topo Spectrum-X -g 64 -gt H100 -bw "$rate" -o "$topology" >/dev/null
  simai_analytical -w inputs_of_loop/gpt-7b.yaml -n "$topology" \
    --result "gpt-7b_$rate" | tail -n 1
done
