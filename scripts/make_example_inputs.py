#!/usr/bin/env python3
"""Writes the example inputs of inputs/ again, or checks that they are current.

The workloads are one training iteration each, from a formula that fits on a
page: dense GPT layers with sequence parallelism, times at a fixed share of the
GPU's peak. `gen_topo` writes the topologies. vidur_comparison/tables.py has the
formula of the tables of `inputs/vidur`.

Usage: make_example_inputs.py --bin DIR [--check]
"""

import argparse
import dataclasses
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # The source folders stay as they are.

from vidur_comparison import tables  # noqa: E402

INPUTS = pathlib.Path(__file__).resolve().parent.parent / "inputs"

# A100: 312 TFLOP/s dense BF16 (NVIDIA A100 data sheet, 2020), of which matrix
# products reach a bit more than the 44 to 52 % that whole iterations reach,
# communication included (D. Narayanan et al., SC 2021, table 1).
A100_FLOPS = 312e12
GEMM_SHARE = 0.55

TOPOLOGIES = {
    "one_server_8_h100.txt": "-topo Spectrum-X -g 8 -psn 1",
    "spectrum_x_128_a100.txt": "-topo Spectrum-X -g 128 -gt A100 "
                               "-bw 200Gbps -apbw 200Gbps -nvbw 2400Gbps",
    "nvl72_2_racks.txt": "-topo NVL -g 144",
}


@dataclasses.dataclass
class Gpt:
    """A dense GPT and how it is spread over GPUs."""
    layers: int
    hidden: int
    vocabulary: int
    sequence: int
    micro_batch: int
    micro_batches: int
    tensor: int
    gpus: int

    @property
    def tokens(self):
        return self.micro_batch * self.sequence

    @property
    def parameters_per_rank(self):
        per_layer = 12 * self.hidden**2 + 13 * self.hidden
        embedding = self.vocabulary * self.hidden
        return (self.layers * per_layer + embedding) // self.tensor

    def ns(self, flops):
        """Time of `flops`, spread over the tensor group."""
        return round(flops / self.tensor / (A100_FLOPS * GEMM_SHARE) * 1e9)


NONE = ("NONE", 0)


def line(name, forward, input_gradient, weight_gradient, update=0):
    """One layer; each phase is (ns, (type, bytes))."""
    fields = [name, -1]
    for ns, (kind, size) in (forward, input_gradient, weight_gradient):
        fields += [ns, kind, size]
    return "\t".join(str(field) for field in fields + [update])


def gpt_layer(gpt):
    """Attention and MLP, each a column- and a row-parallel product.

    FLOPs of the forward pass: V. Korthikanti et al., "Reducing Activation
    Recomputation in Large Transformer Models", MLSys 2023, appendix A.
    """
    bsh = gpt.tokens * gpt.hidden
    core = 4 * bsh * gpt.sequence
    products = [("attention_column", 6 * bsh * gpt.hidden, core),
                ("attention_row", 2 * bsh * gpt.hidden, 0),
                ("mlp_column", 8 * bsh * gpt.hidden, 0),
                ("mlp_row", 8 * bsh * gpt.hidden, 0)]
    activation = 2 * bsh
    lines = []
    for name, flops, extra in products:
        gather, scatter = ("ALLGATHER", activation), ("REDUCESCATTER", activation)
        is_column = name.endswith("column")
        lines.append(line(
            name,
            (gpt.ns(flops + extra), gather if is_column else scatter),
            (gpt.ns(flops + 2 * extra), scatter if is_column else gather),
            (gpt.ns(flops), NONE)))
    return lines


def gpt_workload(gpt):
    """The iteration in the order that AICB uses: gradients first in the file,
    hence last in the backward pass."""
    parameters = gpt.parameters_per_rank
    activation = 2 * gpt.tokens * gpt.hidden
    logits = 2 * gpt.tokens * gpt.hidden * gpt.vocabulary
    lines = [
        line("grad_gather", (0, NONE), (0, NONE),
             (0, ("ALLGATHER", 2 * parameters))),
        line("grad_param_comm", (0, NONE), (0, NONE),
             (0, ("REDUCESCATTER", 4 * parameters))),
    ]
    for _ in range(gpt.micro_batches):
        lines.append(line("embedding_layer", (0, ("REDUCESCATTER", activation)),
                          (0, NONE), (0, NONE)))
        for _ in range(gpt.layers):
            lines += gpt_layer(gpt)
        lines.append(line("final_column",
                          (gpt.ns(logits), ("ALLGATHER", activation)),
                          (gpt.ns(logits), ("REDUCESCATTER", activation)),
                          (gpt.ns(logits), NONE)))
    header = (f"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: "
              f"{gpt.tensor} ep: 1 pp: 1 vpp: 1 ga: {gpt.micro_batches} "
              f"all_gpus: {gpt.gpus} checkpoints: 0 checkpoint_initiates: 0 "
              f"pp_comm: 0")
    return "\n".join([header, str(len(lines)), *lines]) + "\n"


def micro_workload():
    """Each collective once, over the 8 GPUs of a server."""
    kinds = ["ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL"]
    lines = [line(kind.lower(), (1000, (kind, 16 << 20)), (0, NONE), (0, NONE))
             for kind in kinds]
    header = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 "
              "ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 "
              "checkpoint_initiates: 0 pp_comm: 0")
    return "\n".join([header, str(len(lines)), *lines]) + "\n"


WORKLOADS = {
    "collectives_8gpu.txt": micro_workload,
    # GPT-22B: the shape of V. Korthikanti et al., MLSys 2023, table 3.
    "gpt_22b_128gpu.txt": lambda: gpt_workload(
        Gpt(layers=48, hidden=6144, vocabulary=51200, sequence=2048,
            micro_batch=4, micro_batches=2, tensor=8, gpus=128)),
}


def topology(bin_folder, options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "topology"
        subprocess.run([bin_folder / "gen_topo", *options.split(), "-o", path],
                       check=True, stdout=subprocess.DEVNULL)
        return path.read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path,
                        help="folder of the built programs")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; fail where a file differs")
    arguments = parser.parse_args()

    files = {INPUTS / "workloads" / name: make()
             for name, make in WORKLOADS.items()}
    for name, options in TOPOLOGIES.items():
        files[INPUTS / "topologies" / name] = topology(
            arguments.bin.resolve(), options)
    for name, make in tables.EXAMPLE.items():
        files[INPUTS / "vidur" / name] = make()
    stale = [path for path, text in files.items()
             if not path.exists() or path.read_text() != text]
    if arguments.check:
        for path in stale:
            print(f"{path.relative_to(INPUTS.parent)}: differs from what "
                  f"{pathlib.Path(__file__).name} makes")
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
