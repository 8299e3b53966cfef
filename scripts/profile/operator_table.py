"""The operator table: shapes of operators with their times, as a CSV file.

A row is one operator of one shape on one GPU. A cell is empty where a column
does not apply to the operator: a product has groups, m, n and k; attention has
batch to backward; what is bound by memory has bytes, read and written. The
format is that of workload/operators/operator_table.h.
"""

import csv
import dataclasses
import math


class ProfileError(Exception):
    """What the user has to mend, in one line."""


@dataclasses.dataclass(frozen=True)
class Shape:
    """What an operator works on. Two are equal where their cells are."""

    operator: str
    precision: str
    groups: int | None = None
    m: int | None = None
    n: int | None = None
    k: int | None = None
    batch: int | None = None
    queries: int | None = None
    keys: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    qk_dim: int | None = None
    v_dim: int | None = None
    causal: bool | None = None  # The last query sees all keys.
    window: int | None = None  # Looks back at most this far; 0: to the first.
    backward: bool | None = None
    bytes: int | None = None
    # How it is run, which the table does not hold. Of a product: the layout of
    # its operands, as of "forward", "input_gradient" or "weight_gradient". Of
    # the others: "forward" or "backward".
    part: str = dataclasses.field(default="forward", compare=False)
    rows: int = dataclasses.field(default=0, compare=False)
    width: int = dataclasses.field(default=0, compare=False)
    choices: int = dataclasses.field(default=0, compare=False)

    def __str__(self):
        cells = (
            f"{name}={cell_of(getattr(self, name))}"
            for name in CELLS[1:]
            if getattr(self, name) is not None
        )
        return " ".join([self.operator, *cells])


def cell_of(value):
    """Returns a value as the table writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


CELLS = tuple(f.name for f in dataclasses.fields(Shape) if f.compare)
COLUMNS = ("gpu", *CELLS, "time_us", "source")


@dataclasses.dataclass(frozen=True)
class Row:
    gpu: str
    shape: Shape
    time_us: float
    source: str


@dataclasses.dataclass(frozen=True)
class Peaks:
    """What a GPU can do: dense 10^12 FLOP/s by precision, 10^9 B/s."""

    tflops: dict[str, float]
    gb_per_s: float


# The SXM modules.
# Source: NVIDIA's data sheets of A100, H100, H200, H20 and DGX B200, without
# sparsity; the export variants H800 and H20 as resellers give them.
PEAKS = {
    "A100": Peaks({"bf16": 312}, 2039),
    "H100": Peaks({"bf16": 989.4, "fp8": 1978.9}, 3352),
    "H200": Peaks({"bf16": 989.4, "fp8": 1978.9}, 4800),
    "H800": Peaks({"bf16": 989.4, "fp8": 1978.9}, 3352),
    "H20": Peaks({"bf16": 148, "fp8": 296}, 4000),
    "B200": Peaks({"bf16": 2250, "fp8": 4500}, 8000),
}
PRECISIONS = ("bf16", "fp8")
BYTES_OF = {"fp32": 4, "bf16": 2, "fp8": 1}

# The guess of a dry run: every operator reaches this share of the peaks, after
# this time.
GUESSED_SHARE = 0.7
GUESSED_START_US = 3.0


def pairs_of(shape):
    """Returns how many pairs of a query and a key one head works on."""
    pairs = shape.queries * shape.keys
    if shape.causal:
        pairs -= shape.queries * (shape.queries - 1) // 2
    return pairs


def flops_of(shape):
    """Returns the floating-point operations; 0 where memory is the bound."""
    if shape.m is not None:
        return 2 * shape.groups * shape.m * shape.n * shape.k
    if shape.queries is not None:
        # The backward pass has five products where the forward has two.
        # Source: T. Dao, "FlashAttention-2", arXiv 2307.08691.
        flops = 2 * shape.batch * shape.heads * pairs_of(shape)
        flops *= shape.qk_dim + shape.v_dim
        return flops * 5 // 2 if shape.backward else flops
    return 0


def bytes_of(shape):
    """Returns the bytes of operands and results, each moved once."""
    size = BYTES_OF[shape.precision]
    if shape.m is not None:
        operands = (shape.m + shape.n) * shape.k * size
        # Results of FP8 products are BF16.
        return shape.groups * (operands + shape.m * shape.n * max(size, 2))
    if shape.queries is not None:
        heads = shape.queries * shape.heads + shape.keys * shape.kv_heads
        moved = shape.batch * heads * (shape.qk_dim + shape.v_dim) * size
        return 2 * moved if shape.backward else moved  # With gradients.
    return shape.bytes


def least_us(shape, peaks):
    """Returns the time at the peaks: the roofline."""
    compute = 0.0
    if flops := flops_of(shape):
        if shape.precision not in peaks.tflops:
            raise ProfileError(f"{shape}: no peak for {shape.precision}")
        compute = flops / (peaks.tflops[shape.precision] * 1e6)
    return max(compute, bytes_of(shape) / (peaks.gb_per_s * 1e3))


def guessed_us(shape, peaks):
    return GUESSED_START_US + least_us(shape, peaks) / GUESSED_SHARE


def peaks_of(gpu, precision="bf16"):
    if gpu not in PEAKS:
        raise ProfileError(
            f'the peaks of "{gpu}" are not known; known are {", ".join(PEAKS)}'
        )
    if precision not in PEAKS[gpu].tflops:
        raise ProfileError(f"{gpu} has no {precision}")
    return PEAKS[gpu]


class Writer:
    """Writes a table row by row, so that a broken run leaves what it has."""

    def __init__(self, file):
        self._file = file
        self._csv = csv.writer(file, lineterminator="\n")
        self._write(COLUMNS)

    def add(self, row):
        cells = (cell_of(getattr(row.shape, name)) for name in CELLS)
        self._write([row.gpu, *cells, f"{row.time_us:.3f}", row.source])

    def _write(self, cells):
        self._csv.writerow(cells)
        self._file.flush()


def read_table(path):
    """Returns the rows of a table."""
    rows = []
    with open_text(path) as file:
        lines = csv.reader(file)
        if tuple(next(lines, ())) != COLUMNS:
            raise ProfileError(
                f"{path}:1: the header must be {','.join(COLUMNS)}"
            )
        for cells in lines:
            where = f"{path}:{lines.line_num}"
            if len(cells) != len(COLUMNS):
                raise ProfileError(
                    f"{where}: {len(cells)} cells, not {len(COLUMNS)}"
                )
            rows.append(read_row(dict(zip(COLUMNS, cells)), where))
    return rows


def read_row(cells, where):
    if cells["precision"] not in BYTES_OF:
        raise ProfileError(
            f'{where}: precision is "{cells["precision"]}", not one of '
            f'{", ".join(BYTES_OF)}'
        )
    shape = Shape(cells["operator"], cells["precision"],
                  **read_sizes(cells, where))
    time_us = read_positive("time_us", cells["time_us"], where)
    return Row(cells["gpu"], shape, time_us, cells["source"])


# What a row is follows from the first of these that it fills. It has the
# columns beside it, where None must be filled and others stand for empty cells.
KINDS = {
    "m": {"groups": "1", "m": None, "n": None, "k": None},
    "keys": {"batch": None, "queries": None, "keys": None, "heads": None,
             "kv_heads": None, "qk_dim": None, "v_dim": None,
             "causal": "true", "window": "0", "backward": "false"},
    "bytes": {"bytes": None},
}


def read_sizes(cells, where):
    """Returns the fields of Shape that a row fills."""
    filled = [name for name in CELLS[2:] if cells[name]]
    kind = next((KINDS[name] for name in KINDS if name in filled), None)
    if kind is None:
        raise ProfileError(f"{where}: no shape: expected m, keys or bytes")
    for name in filled:
        if name not in kind:
            raise ProfileError(f"{where}: {name} does not go with the others")
    return {name: read_size(name, cells[name] or empty, where)
            for name, empty in kind.items()}


def read_size(name, text, where):
    if name in ("causal", "backward"):
        if text not in ("true", "false"):
            raise ProfileError(
                f'{where}: {name} is "{text}", not true or false'
            )
        return text == "true"
    if not text:
        raise ProfileError(f"{where}: {name} is empty")
    if not (text.isascii() and text.isdigit()):
        raise ProfileError(f'{where}: {name} is "{text}", not a number')
    return int(text)


def read_positive(name, text, where):
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise ProfileError(f'{where}: {name} is "{text}", not a number above 0')
    return value


def open_text(path, mode="r"):
    """Opens a file, without the system's words for what goes wrong."""
    try:
        return open(path, mode, encoding="utf-8", newline="")
    except OSError as error:
        raise ProfileError(f"{path}: {error.strerror}") from error
