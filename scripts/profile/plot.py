#!/usr/bin/env python3
"""Draws what was measured: the share of the peak, or bus bandwidth, over size.

Usage: plot.py TABLE --out FILE.svg

TABLE is what profile_operators or profile_collectives wrote. Needs nothing but
Python.
"""

import argparse
import csv
import math
import sys
from xml.sax.saxutils import escape

sys.dont_write_bytecode = True  # Nothing is written but --out.

import profile_collectives  # noqa: E402
from operator_table import (  # noqa: E402
    COLUMNS, Peaks, ProfileError, bytes_of, flops_of, open_text, peaks_of,
    read_positive, read_table)

WIDTH, HEIGHT = 760, 420  # Of a panel.
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 40, 50
# Distinct also for the colour-blind. Source: Okabe and Ito, 2008.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
           "#000000", "#F0E442")
DASHES = ("", "6 3", "2 3")  # Once all colours are used.


def operator_panels(rows, peaks_for):
    """Returns (title, x label, y label, {name: points}) for each kind."""
    compute, memory = {}, {}
    for row in rows:
        peaks = peaks_for(row.gpu)
        name = f"{row.gpu} {row.shape.operator}"
        if row.shape.backward:
            name += " backward"
        if flops := flops_of(row.shape):
            if row.shape.precision not in peaks.tflops:
                raise ProfileError(f"{row.gpu} has no {row.shape.precision}")
            peak = peaks.tflops[row.shape.precision]
            point = flops / 1e9, flops / (row.time_us * peak * 1e4)
            compute.setdefault(name, []).append(point)
        else:
            moved = bytes_of(row.shape)
            share = moved / (row.time_us * peaks.gb_per_s * 10)
            memory.setdefault(name, []).append((moved / 1e6, share))
    panels = [
        ("Products and attention", "GFLOP", "% of peak FLOP/s", compute),
        ("Bound by memory", "MB read and written", "% of peak bandwidth",
         memory),
    ]
    return [panel for panel in panels if panel[3]]


def collective_panels(path):
    with open_text(path) as file:
        lines = csv.DictReader(file)
        series = {}
        for cells in lines:
            where = f"{path}:{lines.line_num}"
            name = (f"{cells['gpu']} {cells['collective']} "
                    f"{cells['gpus_total']} ranks")
            size, bandwidth = (read_positive(key, cells[key] or "", where)
                               for key in ("bytes", "busbw_GBps"))
            series.setdefault(name, []).append((size / 1e6, bandwidth))
    return [("Collectives", "MB", "bus bandwidth, GB/s", series)]


def panels_of(options):
    with open_text(options.table) as file:
        header = tuple(next(csv.reader(file), ()))
    if header == profile_collectives.COLUMNS:
        panels = collective_panels(options.table)
    elif header == COLUMNS:
        given = None
        if options.peak_tflops and options.peak_gb_per_s:
            tflops = options.peak_tflops
            given = Peaks({"fp32": tflops, "bf16": tflops, "fp8": 2 * tflops},
                          options.peak_gb_per_s)
        panels = operator_panels(read_table(options.table),
                                 lambda gpu: given or peaks_of(gpu))
    else:
        raise ProfileError(
            f"{options.table}:1: not the header of an operator table or of a "
            "table of collectives"
        )
    if not any(series for _, _, _, series in panels):
        raise ProfileError(f"{options.table}: holds no rows")
    return panels


def step_of(largest):
    """Returns a round distance of about five marks up to `largest`."""
    rough = largest / 5
    power = 10 ** math.floor(math.log10(rough))
    return next(s * power for s in (1, 2, 5, 10) if s * power >= rough)


class Panel:
    """One diagram: sizes on a logarithmic axis, values from 0."""

    def __init__(self, offset, panel):
        self._offset = offset
        self._title, self._x_label, self._y_label, self._series = panel
        points = [p for series in self._series.values() for p in series]
        self._low = math.floor(math.log10(min(x for x, _ in points)))
        self._high = max(self._low + 1,
                         math.ceil(math.log10(max(x for x, _ in points))))
        largest = max(y for _, y in points)
        self._step = step_of(largest)
        self._top = self._step * math.ceil(largest / self._step)

    def _x(self, size):
        share = (math.log10(size) - self._low) / (self._high - self._low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def _y(self, value):
        height = HEIGHT - TOP - BOTTOM
        return self._offset + TOP + (1 - value / self._top) * height

    def _line(self, x0, y0, x1, y1):
        return (f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" '
                f'y2="{y1:.1f}" stroke="#ccc"/>')

    def _text(self, x, y, text, anchor="middle"):
        return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
                f'{escape(text)}</text>')

    def _axes(self):
        left, right, base = LEFT, WIDTH - RIGHT, self._y(0)
        for power in range(self._low, self._high + 1):
            x = self._x(10.0 ** power)
            yield self._line(x, self._y(self._top), x, base)
            yield self._text(x, base + 18, f"{10.0 ** power:g}")
        for index in range(round(self._top / self._step) + 1):
            value = index * self._step
            yield self._line(left, self._y(value), right, self._y(value))
            yield self._text(left - 6, self._y(value) + 4, f"{value:g}", "end")
        middle = (left + right) / 2
        yield self._text(middle, self._offset + 24, self._title)
        yield self._text(middle, base + 38, self._x_label)
        yield self._text(left, self._offset + 24, self._y_label)

    def _curve(self, index, name, points):
        colour = COLOURS[index % len(COLOURS)]
        dash = DASHES[index // len(COLOURS) % len(DASHES)]
        places = [(self._x(x), self._y(y)) for x, y in sorted(points)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield (f'<polyline points="{path}" fill="none" stroke="{colour}" '
               f'stroke-dasharray="{dash}"/>')
        for x, y in places:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>'
        y = self._offset + TOP + 16 * index
        x = WIDTH - RIGHT + 12
        yield (f'<line x1="{x}" y1="{y}" x2="{x + 20}" y2="{y}" '
               f'stroke="{colour}" stroke-dasharray="{dash}"/>')
        yield self._text(x + 26, y + 4, name, "start")

    def lines(self):
        yield from self._axes()
        for index, (name, points) in enumerate(self._series.items()):
            yield from self._curve(index, name, points)


def draw(panels):
    """Returns the panels, one below the other, as SVG."""
    height = HEIGHT * len(panels)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for index, panel in enumerate(panels):
        lines += Panel(index * HEIGHT, panel).lines()
    return "\n".join([*lines, "</svg>", ""])


def above_zero(text):
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise ValueError(text)
    return value


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="plot", allow_abbrev=False,
        description="Draws a table of operators or collectives.")
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("--out", required=True, metavar="FILE",
                        help="SVG file to write; one that exists is replaced")
    parser.add_argument("--peak-tflops", type=above_zero, metavar="N",
                        help="dense BF16 peak of a GPU that is not known here")
    parser.add_argument("--peak-gb-per-s", type=above_zero, metavar="N",
                        help="its peak memory bandwidth, 10^9 B/s")
    options = parser.parse_args(arguments)
    if bool(options.peak_tflops) != bool(options.peak_gb_per_s):
        parser.error("--peak-tflops and --peak-gb-per-s go together")
    try:
        picture = draw(panels_of(options))
        with open_text(options.out, "w") as file:
            file.write(picture)
    except ProfileError as error:
        print(f"plot: {error}", file=sys.stderr)
        return 2
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
