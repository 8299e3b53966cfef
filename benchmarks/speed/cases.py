"""The cases: inputs that the programs make, and options of simai_simulator.

To add one, add a line to LARGE or SMALL.
"""

import csv
import dataclasses
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import compare_simai  # noqa: E402  (after the line above)

# Lists no messages, so that collectives may be counted again.
NETWORK = "simai_network: 1\nrecord: {flows: false}\n"


def run(command):
    done = subprocess.run([str(part) for part in command], text=True,
                          capture_output=True)
    if done.returncode != 0:
        sys.exit(f"speed: error: {' '.join(map(str, command))}: "
                 f"{done.stderr.strip()}")


@dataclasses.dataclass(frozen=True)
class Case:
    """A workload on a topology.

    `workload` is a list of options of gen_workload, or the text of a workload.
    `network` is the text of a network file, or empty where options name one.
    """

    name: str
    topology: tuple
    workload: object
    options: tuple = ()
    network: str = NETWORK

    def prepare(self, programs, folder):
        """Makes the inputs; returns the options of simai_simulator."""
        topology = folder / "topology"
        run([programs / "gen_topo", *self.topology, "-o", topology])
        if isinstance(self.workload, str):
            workload = folder / "workload.txt"
            workload.write_text(self.workload)
        else:
            workload = folder / "workload.yaml"
            run([programs / "gen_workload", *self.workload, "--format",
                 "program", "-o", workload])
        inputs = ["-w", workload, "-n", topology, *self.options]
        if self.network:
            network = folder / "network.yaml"
            network.write_text(self.network)
            inputs += ["-c", network]
        return inputs


def spectrum(gpus, *options):
    return ("-topo", "Spectrum-X", "-g", str(gpus), *options)


def training(model, gpus, batch, *options, sequence=2048):
    return ("-m", model, "--gpu", "H100", "--gpus", str(gpus), "--global-batch",
            str(batch), "--seq-length", str(sequence), *options)


def all_reduces(gpus, tensor, tensor_bytes, data_bytes):
    """A layer that reduces over TP in the forward pass and then over DP."""
    tp = f"ALLREDUCE {tensor_bytes}" if tensor_bytes else "NONE 0"
    return ("HYBRID_TRANSFORMER model_parallel_NPU_group: "
            f"{tensor} ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: {gpus}\n1\n"
            f"layer -1 1000 {tp} 1000 NONE 0 1000 ALLREDUCE {data_bytes} 0\n")


def incast(senders, target, size):
    """Other traffic: each sender has one message for one GPU, all at once."""
    lines = [f"  - {{source: {source}, target: {target}, bytes: {size}, "
             "interval: 1s, start: 0us, stop: 1us}" for source in senders]
    return NETWORK + "background:\n" + "\n".join(lines) + "\n"


# What repeats nowhere: tensor-parallel groups that span servers, whose
# collectives share NICs with gradients that are reduced behind them.
OVERLAPPED = ("--tp", "16", "--sp", "--overlap", "gradients,parameters")

LARGE = (
    Case("gpt13b_128_gbs16", spectrum(128),
         training("gpt-13b", 128, 16, "--tp", "8")),
    Case("gpt13b_128_gbs128", spectrum(128),
         training("gpt-13b", 128, 128, "--tp", "8")),
    Case("gpt22b_128", spectrum(128),
         training("gpt-22b", 128, 32, "--tp", "8", "--pp", "4")),
    Case("mixtral_64", spectrum(64),
         training("mixtral-8x7b", 64, 16, "--tp", "4", "--ep", "8", "--sp")),
    Case("dcn_collisions_256",
         ("-topo", "DCN+", "-g", "256", "-psn", "64", "-bw", "400Gbps"),
         all_reduces(256, 8, 0, 128 << 20)),
    Case("incast_32", spectrum(32), all_reduces(32, 8, 16 << 20, 64 << 20),
         network=incast(range(16, 32), 0, "4MiB")),
    Case("overlapped_64", spectrum(64),
         training("gpt-7b", 64, 8, "--num-layers", "4", *OVERLAPPED)),
    Case("gpt175b_1024", spectrum(1024),
         training("gpt-175b", 1024, 1536, "--tp", "8", "--pp", "8")),
    Case("llama405b_16384_flow", spectrum(16384, "--pods", "4"),
         training("llama3-405b", 16384, 2048, "--tp", "8", "--pp", "16"),
         ("--fidelity", "flow")),
    Case("llama405b_16384_packet", spectrum(16384, "--pods", "4"),
         training("llama3-405b", 16384, 2048, "--tp", "8", "--pp", "16")),
)

SMALL = (
    Case("small_gpt", spectrum(16),
         training("gpt-7b", 16, 8, "--tp", "4", "--num-layers", "1",
                  "--vocab-size", "4096", "--hidden-size", "1024",
                  sequence=256)),
    Case("small_flow", spectrum(16),
         training("gpt-7b", 16, 8, "--tp", "4", "--num-layers", "1",
                  "--vocab-size", "4096", "--hidden-size", "1024",
                  sequence=256), ("--fidelity", "flow")),
    Case("small_dcn_collisions",
         ("-topo", "DCN+", "-g", "32", "-npa", "16", "-psn", "4"),
         all_reduces(32, 8, 0, 1 << 20)),
    Case("small_incast", spectrum(16), all_reduces(16, 8, 1 << 20, 1 << 20),
         network=incast(range(8, 16), 0, "256KiB")),
    Case("small_overlapped", spectrum(32),
         training("gpt-7b", 32, 2, "--num-layers", "1", "--vocab-size", "4096",
                  "--hidden-size", "1024", *OVERLAPPED, sequence=256)),
)


def measured_case(row):
    """A row of simai_ns3_runs.csv as a case; None if it is of no known form."""
    case = compare_simai.case_of(row)
    if case is None:
        return None
    latency_ns = case.latency_us * 1000
    options = ["--collectives", "simai", "--send-latency", f"{latency_ns}ns",
               "-c", compare_simai.CONF]
    if case.nvls:
        options += ["--nccl", "NCCL_ALGO=NVLS"]
    return Case(f"ns3_{case.name}", tuple(case.topology),
                compare_simai.workload_of(case), tuple(options), network="")


def choose(is_small, data):
    """The cases, and a remark on what is left out ("" if nothing is)."""
    if is_small:
        return list(SMALL), ""
    if data is None:
        return list(LARGE), "without --data: no collectives of SimAI's runs"
    if not data.exists():
        return list(LARGE), f"{data} is missing: no collectives of SimAI's runs"
    with data.open(newline="") as file:
        found = [measured_case(row) for row in csv.DictReader(file)]
    return [case for case in found if case is not None] + list(LARGE), ""
