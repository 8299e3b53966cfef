"""The sweep of 200 points that several tests run."""


def many_points(gpus="[8, 16, 32, 64]", layers="[1, 2, 3, 4, 5]",
                options="{}"):
    """Returns a sweep file of 4 x 10 x 5 points of some milliseconds; `options`
    are those of simai_analytical."""
    return f"""\
simai_sweep: 1
axes:
  gpus: {gpus}
  rate: {{from: 100, to: 1000, step: 100}}
  layers: {layers}
gen_topo: {{topo: Spectrum-X, g: "${{gpus}}", gt: H100, bw: "${{rate}}Gbps"}}
gen_workload:
  model: gpt-7b
  num_layers: ${{layers}}
  gpu: H100
  world_size: ${{gpus}}
  tp: 8
  global_batch: ${{gpus}}
  seq_length: 1024
  format: program
simai_analytical: {options}
"""
