"""Machines of the rows, as networks."""

import dataclasses
import math
import re

from .rows import LeftOut, integer, read_zero, take

# What a NIC loses to its neighbours with each doubling of the servers; that of
# RoCE was fitted, see docs/accuracy.md.
INFINIBAND_CONGESTION = 0.03
ROCE_CONGESTION = 0.1


@dataclasses.dataclass(frozen=True)
class System:
    """A kind of machine: what its collectives reach, in GB/s of bus bandwidth.

    Sources: nccl-tests tables that were published for these GPUs (A100 232,
    H100 all-gather 344 to 361, B200 all-reduce of 4 674), 93 % of the rate of
    the NIC; PCIe: the fits in SimuMax's a100_pcie system file.
    """

    pattern: str
    gpu: str
    server: int  # GPUs that NVLink or PCIe joins.
    node_GBps: float
    nic_GBps: float = 46.5
    # The rate is divided by 1 + this x log2(servers).
    congestion: float = INFINIBAND_CONGESTION
    all_to_all_GBps: float = 0  # Within a server, where it is another.
    # (group size, GB/s) where it depends on that: of neighbours, and of ranks
    # that are TP apart, which cross the sockets.
    by_size: tuple = ()
    apart: tuple = ()


SYSTEMS = (
    System("A100.*PCIe", "a100-pcie-80gb", 8, 13.5,
           by_size=((2, 22.5), (4, 22.2), (8, 13.5)),
           apart=((2, 4.2), (4, 7.9), (8, 13.5))),
    System("A100.*4x100Gb", "a100-sxm-80gb", 8, 232, nic_GBps=5.8,
           congestion=ROCE_CONGESTION),
    System("A100-40GB", "a100-sxm-40gb", 8, 232, nic_GBps=23.2,
           congestion=ROCE_CONGESTION),
    System("A100", "a100-sxm-80gb", 8, 232, nic_GBps=23.2),
    System("A800", "a800-sxm-80gb", 8, 155, nic_GBps=23.2),
    System("GH200", "gh200", 1, 0, nic_GBps=46.5),
    System("H100.*1600Gb", "h100-sxm", 8, 360, nic_GBps=23.2,
           congestion=ROCE_CONGESTION),
    System("H100", "h100-sxm", 8, 360),
    System("H200", "h200", 8, 362),
    System("GB300", "gb300", 72, 680, all_to_all_GBps=622),
    System("GB200", "gb200", 72, 680, all_to_all_GBps=622),
    System("B300", "b300", 8, 680, all_to_all_GBps=577),
    System("B200", "b200", 8, 680, all_to_all_GBps=577),
)


# What gpu_type may say beside the GPU.
WORDS = (
    r"\b(?:a100|a800|gh200|h100|h200|gb300|gb200|b300|b200)\b",
    r"\b(?:dgx|hgx|selene|nvidia|nvl72)\b", r"\bsxm\d?\b", r"nvlink pairs/",
    r"\bpcie\b", r"\b(?P<count>\d+) ?x ?(?P<each>\d+) ?gb?(?:/s|ps|it/s)?",
    r"\b(?P<sum>\d+) ?gb(?:/s|ps|it/s)", r"\b\d+ ?gb\b", r"\bhbm3e?\b",
    r"\b(?:ib|infiniband|hdr|ndr|roce)\b", r"\bbetween nodes\b",
    r"\bper gpu\b", r"\b\d+ ?(?:/|per )node\b", r"\b1 node\b",
)
NIC_EFFICIENCY = 0.93


def find_system(row):
    gpu = row.get("gpu_type") or ""
    if "not stated" in gpu:
        raise LeftOut("the GPU is not stated")
    system = next((system for system in SYSTEMS
                   if re.search(system.pattern, gpu)), None)
    is_pcie = "pcie" in gpu.lower()
    if system is None or is_pcie != ("pcie" in system.gpu):
        raise LeftOut(f"no description of the GPU {gpu!r}")
    return with_stated_nics(system, gpu, take(WORDS, row, "gpu_type"))


def with_stated_nics(system, gpu, found):
    """The system with the rate of NICs of the row, where it states another."""
    if "count" in found:
        per_gpu = int(found["count"]) * int(found["each"]) / system.server
    elif "sum" in found:
        per_gpu = int(found["sum"])
        if "per gpu" not in gpu.lower():
            per_gpu /= system.server
    else:
        return system
    rate = NIC_EFFICIENCY * per_gpu / 8
    if abs(rate / system.nic_GBps - 1) < 0.01:  # Those of SYSTEMS are rounded.
        return system
    congestion = (ROCE_CONGESTION if "roce" in gpu.lower()
                  else INFINIBAND_CONGESTION)
    return dataclasses.replace(system, nic_GBps=rate, congestion=congestion)


def rate_of(group, rates):
    return next(rate for size, rate in rates if group <= size)


def servers_of(row, system):
    """(GPUs of a server, servers); of a rack, as many as make equal parts."""
    gpus = integer(row, "gpus")
    stated = re.search(r"(\d+) ?(?:/|per )node", row["gpu_type"])
    server = min(int(stated[1]) if stated else system.server, gpus)
    while server > 8 and gpus % server:
        server -= 1
    return server, gpus // server


def bus_bandwidths(row, system, server):
    """By dimension and collective, where they are not those of the cluster."""
    tp = integer(row, "tp")
    if system.by_size:
        data = integer(row, "gpus") // (tp * integer(row, "pp"))
        rates = {"TP": rate_of(tp, system.by_size),
                 "DP": rate_of(data,
                               system.apart if tp > 1 else system.by_size),
                 "EP": rate_of(integer(row, "ep"), system.by_size)}
        kinds = ("allreduce", "allgather", "reducescatter", "alltoall")
        return {dimension: dict.fromkeys(kinds, rate)
                for dimension, rate in rates.items()}
    rates = {}
    stage, _, group = read_zero(row)
    if (stage == 1 and group and group * tp <= server
            and integer(row, "gpus") > server):
        # Parameters are gathered within the server.
        rates["DP"] = {"allgather": system.node_GBps}
    if system.all_to_all_GBps:
        for dimension, size in (("EP", integer(row, "ep")),
                                ("CP", tp * integer(row, "cp"))):
            if size <= server:
                rates[dimension] = {"alltoall": system.all_to_all_GBps}
    return rates


def network_options(row, system, folder):
    """A cluster without a topology file."""
    server, servers = servers_of(row, system)
    nic = system.nic_GBps / (1 + system.congestion * math.log2(servers))
    options = ["-g", row["gpus"], "-g_p_s", str(server), "-nic", f"{nic:.4g}"]
    if server > 1:
        options += ["-nv", str(system.node_GBps)]
    rates = bus_bandwidths(row, system, server)
    if not rates:
        return options
    file = folder / "busbw.yaml"
    file.write_text("measured\n" + "".join(
        f"{dimension}:\n" + "".join(f"  {kind}: {rate}\n"
                                    for kind, rate in of_kind.items())
        for dimension, of_kind in rates.items()), encoding="utf-8")
    return options + ["--busbw", file]
