"""Timing on a GPU with torch: warm-up, CUDA events, medians."""

import contextlib
import dataclasses
import datetime
import importlib
import math
import os
import re
import statistics
import subprocess
import tempfile

from operator_table import PEAKS, ProfileError

OUTLIER = 1.5  # A run of this many times the median is one.
# What is written between runs: more than any L2 cache holds, and long enough
# (0.2 ms on an H100) for the CPU to start what is timed.
FLUSH_BYTES = 512 << 20

# What a kernel raises that this GPU, shape or version of torch does not have;
# out of memory is a RuntimeError too.
KERNEL_ERRORS = (RuntimeError, NotImplementedError, AttributeError, TypeError,
                 ValueError, AssertionError, ImportError)


def load_torch():
    """Returns torch, where there is a GPU to use it on."""
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise ProfileError(
            "torch is not installed; use --dry-run to see what would be "
            "measured"
        ) from error
    if not torch.cuda.is_available():
        raise ProfileError(
            "torch sees no GPU; use --dry-run to see what would be measured"
        )
    return torch


@contextlib.contextmanager
def compiler_caches():
    """Keeps what torch.compile writes in a folder that is then removed."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "torch")
        os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")
        yield


def short_name(device):
    """Returns "H100" for "NVIDIA H100 80GB HBM3"; others in full.

    Only where nothing in the name tells of another module than that of PEAKS,
    such as PCIe, NVL or a smaller memory.
    """
    name = device.removeprefix("NVIDIA ")
    first, *rest = re.split("[ -]", name)
    plain = re.compile(r"SXM\d?|HBM\d\w?|(80|96|141|180)GB")
    if first in PEAKS and all(plain.fullmatch(word) for word in rest):
        return first
    return name


def ask_driver(field):
    """Returns what nvidia-smi says of the first GPU, or "unknown"."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    command = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader",
               f"--id={first}"]
    try:
        said = subprocess.run(command, capture_output=True, text=True,
                              timeout=30, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return said.replace(",", " ") or "unknown"


def versions(torch):
    """Returns date, driver, torch and CUDA for the column `source`."""
    return "; ".join([
        datetime.date.today().isoformat(),
        f"driver {ask_driver('driver_version')}",
        f"torch {torch.__version__}",
        f"CUDA {torch.version.cuda}",
    ])


def summary(samples, what):
    """Returns (median, number of outliers) of times in us."""
    if not all(math.isfinite(sample) and sample > 0 for sample in samples):
        raise ProfileError(f"{what}: a time is not a number above 0")
    median = statistics.median(samples)
    return median, sum(sample > OUTLIER * median for sample in samples)


@dataclasses.dataclass(frozen=True)
class Measured:
    kernel: str
    time_us: float
    outliers: int


class Timer:
    def __init__(self, torch, warmup, runs, flush):
        self._torch = torch
        self._warmup = warmup
        self._runs = runs
        self._flush = torch.empty(
            FLUSH_BYTES, dtype=torch.int8, device="cuda") if flush else None

    def fastest(self, kernels, what):
        """Returns the fastest of (name, make) that runs; make gives run.

        The operands of one are freed before those of the next are made.
        """
        found, refusals = [], []
        for name, make in kernels:
            try:
                samples = self._samples(make(), f"{what}: {name}")
            except KERNEL_ERRORS as error:
                reason = str(error).strip().splitlines() or [repr(error)]
                refusals.append(f"{name}: {reason[0]}")
                continue
            found.append(Measured(name, *summary(samples, f"{what}: {name}")))
        if not found:
            raise RuntimeError("; ".join(refusals))
        return min(found, key=lambda measured: measured.time_us)

    def _samples(self, run, what):
        """Returns the times of runs in us."""
        events = self._torch.cuda.Event
        for _ in range(self._warmup):
            result = run()
        self._check(result, what)
        pairs = []
        for _ in range(self._runs):
            if self._flush is not None:
                self._flush.zero_()
            pairs.append((events(enable_timing=True),
                          events(enable_timing=True)))
            pairs[-1][0].record()
            run()
            pairs[-1][1].record()
        self._torch.cuda.synchronize()
        return [1e3 * begin.elapsed_time(end) for begin, end in pairs]

    def _check(self, result, what):
        results = result if isinstance(result, (tuple, list)) else [result]
        for tensor in results:
            if tensor is not None and tensor.isnan().any().item():
                raise ProfileError(f"{what}: the result holds NaN")
