"""Machines of the rows, as systems of inputs/systems."""

import dataclasses
import pathlib
import re

from .rows import LeftOut, integer, take

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "inputs" / "systems"
MOST_SERVERS = 1024  # Selene and others are larger than what one can order.


@dataclasses.dataclass(frozen=True)
class System:
    """The system of inputs/systems on which rows of a kind were measured."""

    pattern: str
    name: str
    gpu: str
    server: int = 8
    transport: str = ""  # Another than the system's.
    nics: tuple[int, int] | None = None  # Number in a server, Gbit/s.
    # Measured bus bandwidths in GB/s by (group size, rate), where no model of
    # the links is known: of neighbours, and of ranks that are TP apart, which
    # cross the sockets. Source: the fits in SimuMax's a100_pcie system file.
    by_size: tuple = ()
    apart: tuple = ()


SYSTEMS = (
    System("A100.*PCIe", "a100-pcie", "a100-pcie-80gb",
           by_size=((2, 22.5), (4, 22.2), (8, 13.5)),
           apart=((2, 4.2), (4, 7.9), (8, 13.5))),
    System("A100.*4x100Gb", "dgx-a100", "a100-sxm-80gb", transport="roce",
           nics=(4, 100)),
    System("A100-40GB", "oci-a100", "a100-sxm-40gb"),
    System("A100", "dgx-a100", "a100-sxm-80gb"),
    System("A800", "a800", "a800-sxm-80gb"),
    System("GH200", "gh200", "gh200", server=1),
    System("H100.*1600Gb", "dgx-h100", "h100-sxm", transport="oci-roce",
           nics=(8, 200)),
    System(r"H100.*HBM2e \(500 W limit\)", "dgx-h100", "h100-sxm-500w"),
    System("H100", "dgx-h100", "h100-sxm"),
    System("H200", "dgx-h200", "h200"),
    System("GB300", "gb300-nvl72", "gb300", server=72),
    System("GB200", "gb200-nvl72", "gb200", server=72),
    System("B300", "dgx-b300", "b300"),
    System("B200", "dgx-b200", "b200"),
)


# Words that gpu_type may have beside the GPU.
WORDS = (
    r"\bhbm2e \(500 w limit\)",
    r"\b(?:a100|a800|gh200|h100|h200|gb300|gb200|b300|b200)\b",
    r"\b(?:dgx|hgx|selene|nvidia|nvl72)\b", r"\bsxm\d?\b", r"nvlink pairs/",
    r"\bpcie\b", r"\b(?P<count>\d+) ?x ?(?P<each>\d+) ?gb?(?:/s|ps|it/s)?",
    r"\b(?P<sum>\d+) ?gb(?:/s|ps|it/s)", r"\b\d+ ?gb\b", r"\bhbm3e?\b",
    r"\b(?:ib|infiniband|hdr|ndr|roce)\b", r"\bbetween nodes\b",
    r"\bper gpu\b", r"\b\d+ ?(?:/|per )node\b", r"\b1 node\b",
)


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
    """The system with the NICs of the row, where it states them."""
    if "count" in found:
        nics = (int(found["count"]), int(found["each"]))
    elif "sum" in found:
        each = int(found["sum"])
        if "per gpu" not in gpu.lower():
            each /= system.server
        nics = (system.server, each)
    else:
        return system
    if system.nics and nics[0] * nics[1] == system.nics[0] * system.nics[1]:
        return system
    transport = system.transport or ("roce" if "roce" in gpu.lower() else "")
    return dataclasses.replace(system, nics=nics, transport=transport)


def rate_of(group, rates):
    return next(rate for size, rate in rates if group <= size)


def bus_bandwidths(row, system):
    """By dimension and collective, where no model of the links is known."""
    tp = integer(row, "tp")
    data = integer(row, "gpus") // (tp * integer(row, "pp"))
    rates = {"TP": rate_of(tp, system.by_size),
             "DP": rate_of(data, system.apart if tp > 1 else system.by_size),
             "EP": rate_of(integer(row, "ep"), system.by_size)}
    kinds = ("allreduce", "allgather", "reducescatter", "alltoall")
    return {dimension: dict.fromkeys(kinds, rate)
            for dimension, rate in rates.items()}


def system_file(system, folder):
    """The system as a file, with the NICs of the row."""
    text = (FOLDER / f"{system.name}.yaml").read_text(encoding="utf-8")
    values = {"gpu": system.gpu, "transport": system.transport,
              "max_servers": MOST_SERVERS}
    if system.nics:
        values["nics_per_server"], values["nic_Gbps"] = system.nics
    for key, value in values.items():
        if value:
            text = re.sub(rf"(?m)^{key}: .*$", f"{key}: {value}", text)
    path = folder / "system.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def network_options(row, system, folder):
    options = ["--system", system_file(system, folder)]
    if not system.by_size:
        return options
    file = folder / "busbw.yaml"
    file.write_text("measured\n" + "".join(
        f"{dimension}:\n" + "".join(f"  {kind}: {rate}\n"
                                    for kind, rate in of_kind.items())
        for dimension, of_kind in bus_bandwidths(row, system).items()),
        encoding="utf-8")
    return options + ["--busbw", file]
