#!/usr/bin/env python3
"""Opens the pages that the programs write in a browser, as readers do.

Each page must come without complaint and without network, be readable in light
and dark, have its charts in words, let readers sort tables, read charts and zoom
by keyboard, and show the numbers of the files beside it, in tables also without
scripts. Skips where Chromium is not installed.

Usage: report_pages_test.py --bin DIR [--screenshots FOLDER]

  --screenshots FOLDER  writes NAME.png, the part of each page that docs/images
                        has, and NAME-light.png and NAME-dark.png, whole pages
"""

import argparse
import collections
import csv
import decimal
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

import browser as browsers

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = pathlib.Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
BIN = pathlib.Path()
SCREENSHOTS = None
MOST_BYTES = 5_000_000  # Of a page.
LEAST_CONTRAST = 4.5  # WCAG 2.1, criterion 1.4.3.
TOP = 900  # Pixels of a page in its picture in the documents, but of these
# the part from one element to another:
SHOWN = {"iteration": ("header", "#timeline"),
         "packets": ("#queues", "#queues details"),
         "plan": ("#terms", "#memory"),
         "serving": ("header", "#latencies details")}
Decimal = decimal.Decimal
GIB = 2**30

QUICK_START = ["simai_analytical",
               "-w", str(ROOT / "inputs/workloads/gpt_22b_128gpu.txt"),
               "-n", str(ROOT / "inputs/topologies/spectrum_x_128_a100.txt")]
TOPOLOGY = "gen_topo -topo Spectrum-X -g 1024 -gt H100 -o cluster.txt".split()
WORKLOAD = ("gen_workload -m gpt-175b --gpu-type H100 --gpus 1024 --tp 8 "
            "--pp 8 --global-batch 128 --micro-batch 1 --seq-length 2048 "
            "--format program -o work.yaml").split()
LARGE = "simai_analytical -w work.yaml -n cluster.txt".split()
HPN = "gen_topo -topo AlibabaHPN -g 32 -gt H100 -o hpn.txt".split()
EXCHANGE = """HYBRID_TRANSFORMER model_parallel_NPU_group: 32 all_gpus: 32
1
exchange -1 1000 ALLTOALL 16777216 0 NONE 0 0 NONE 0 0
"""
PACKETS = ("simai_simulator -w exchange.txt -n hpn.txt --sample 20us "
           "--report").split()
PATTERN = ("simai_simulator -n hpn.txt --sample 20us --report --pattern "
           "permutation:bytes=1MB,shift=8+incast:bytes=64kB,senders=20").split()
SWEEP = """simai_sweep: 1
axes:
  tp: [2, 4, 8]
  rate: [200, 400]
gen_topo: {topology: Spectrum-X, gpu: 16, gpu-type: H100,
           bandwidth: "${rate}Gbps"}
gen_workload: {model: llama3-8b, gpu: H100, gpus: 16, tp: "${tp}",
               seq-length: 4096, global-batch: 16, format: program}
simai_analytical: {}
"""
PLAN = ("simai_planner -m llama3-8b --gpu H100 --gpus 16 --global-batch 64 "
        "--seq-length 8192 --framework megatron-core --pp 1,2,4").split()
SERVING = ("simai_serving -m llama3-8b --gpu H100 --engine vllm@0.14 "
           "--requests 200 --isl 1024 --osl 128").split()


def rows_of(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(
        line for line in lines if not line.startswith("#")))


class Pages(unittest.TestCase):
    """Makes each page once, and opens it in one browser."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.browser = cls.enterClassContext(browsers.Browser())

    def make(self, *command):
        done = subprocess.run([BIN / command[0], *command[1:]],
                              cwd=self.folder, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def ask(self, name, *arguments):
        """Calls a function of the file beside this one, in the page."""
        return self.browser.run(f"{SCRIPTS}\nreturn {name}(...arguments);",
                                *arguments)

    def table(self, label):
        """Returns the rows of a table, each as cells by column."""
        table = self.ask("tableOf", label)
        self.assertIsNotNone(table, f"no table {label}")
        head, *rows = table
        return [dict(zip(head, row)) for row in rows]

    def same(self, shown, value, what):
        """What is shown is `value`, rounded to the digits shown."""
        digits = -Decimal(shown).as_tuple().exponent
        least = Decimal(1).scaleb(-digits)
        self.assertLessEqual(abs(Decimal(shown) - Decimal(value)),
                             least * Decimal("0.500001"), what)

    def open(self, path, name):
        """Opens a page and checks what holds for all of them."""
        self.assertLess(path.stat().st_size, MOST_BYTES)
        self.browser.prefer("light")
        self.browser.open(path)
        self.assertEqual(self.browser.log("browser"), [])
        self.assertEqual(self.browser.requests(), [path.resolve().as_uri()])
        self.assertEqual(self.ask("withoutWords"), [])
        self.assertEqual(self.ask("wideParts"), [])
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            self.assertEqual(self.ask("faintTexts", LEAST_CONTRAST), [], scheme)
            if SCREENSHOTS:
                (SCREENSHOTS / f"{name}-{scheme}.png").write_bytes(
                    self.browser.picture())
        self.browser.prefer("light")
        if SCREENSHOTS:
            top, bottom = 0, TOP
            if name in SHOWN:
                top, bottom = self.ask("placeOf", *SHOWN[name])
            (SCREENSHOTS / f"{name}.png").write_bytes(
                self.browser.picture(top, bottom))
        self.check_charts()
        self.assertEqual(self.browser.log("browser"), [])

    def check_charts(self):
        """Charts are drawn, say what their tables say, and heed the keyboard."""
        planes = self.browser.find("figure[data-chart] .plane")
        for chart, plane in zip(self.ask("chartsOf"), planes, strict=True):
            spec = chart["spec"]
            self.assertEqual(chart["role"], "application")
            self.assertTrue(chart["label"].startswith(spec["label"]))
            self.assertGreater(chart["shapes"], 1, spec["label"])
            if chart["rows"] is None:
                self.assertIn("has the numbers", spec["label"])
            else:
                self.assertEqual(chart["caption"], spec["label"])
                self.check_numbers(spec, chart["rows"])
            self.check_keys(spec, plane)

    def check_numbers(self, spec, rows):
        """What is drawn are the numbers of the table."""
        if spec["kind"] == "pie":
            drawn = [[slice["name"]] for slice in spec["slices"]]
        elif spec["kind"] == "bars":
            drawn = [[bar["name"], *bar["parts"], bar["whole"]]
                     for bar in spec["bars"]]
        elif spec["kind"] == "timeline":
            drawn = [[row["name"], begin, end, spec["kinds"][kind]["name"]]
                     for row in spec["rows"]
                     for begin, end, kind, *_ in row["spans"]]
        else:
            drawn = self.points_of(spec["lines"])
        self.assertEqual(len(rows), len(drawn))
        for row, expected in zip(rows, drawn):
            for cell, value in zip(row, expected):
                if isinstance(value, str):
                    self.assertEqual(cell, value)
                    continue
                # The table has fewer digits, or the chart has: nine.
                digits = -Decimal(cell).as_tuple().exponent
                self.assertAlmostEqual(
                    float(cell), value, msg=(row, expected),
                    delta=0.51 * 10.0**-digits + 1e-8 * abs(value))

    @staticmethod
    def points_of(lines):
        """Returns points as their table has them; see line_chart.cc."""
        for shared in (0, 1):
            columns = [[point[shared] for point in line["points"]]
                       for line in lines]
            if all(column == columns[0] for column in columns):
                others = [[point[1 - shared] for point in line["points"]]
                          for line in lines]
                return list(zip(columns[0], *others))
        return [[line["name"], *point[:2]] for line in lines
                for point in line["points"]]

    def check_keys(self, spec, plane):
        """Arrows read the first number, and zooming says what is shown."""
        self.browser.press(plane, browsers.RIGHT)
        said = self.ask("saidBy", plane)
        first = {"pie": "slices", "bars": "bars", "timeline": "rows",
                 "lines": "lines"}[spec["kind"]]
        if spec["kind"] != "lines" or len(spec["lines"][0]["points"][0]) < 4:
            self.assertTrue(said.startswith(spec[first][0]["name"]), said)
        else:
            self.assertEqual(said, spec["lines"][0]["points"][0][3])
        if spec["kind"] == "pie":
            return
        self.browser.press(plane, "0")
        whole = self.ask("saidBy", plane)
        self.assertRegex(whole, r": \S+ to \S+$")
        self.browser.press(plane, "+")
        self.assertNotEqual(self.ask("saidBy", plane), whole)
        self.browser.press(plane, "0")
        self.assertEqual(self.ask("saidBy", plane), whole)

    def check_sorting(self):
        """Tables sort by a click, and back by the Enter key."""
        tables = self.browser.find("table.sortable")
        for table in tables:
            count = self.browser.run(
                "return arguments[0].tHead.rows[0].cells.length", table)
            for column in range(count):
                button = self.browser.run(
                    "return arguments[0].querySelectorAll('thead button')"
                    "[arguments[1]]", table, column)
                self.browser.click(button)
                self.check_order(table, column, "ascending")
                self.browser.press(button, browsers.ENTER)
                self.check_order(table, column, "descending")
        return len(tables)

    def check_order(self, table, column, order):
        said, values = self.ask("columnOf", table, column)
        self.assertEqual(said, order)
        filled = [value for value in values if value != ""]
        self.assertEqual(values[:len(filled)], filled, "empty cells come last")
        try:
            numbers = [float(value) for value in filled]
        except ValueError:
            return
        self.assertEqual(numbers, sorted(numbers, reverse=order != "ascending"))

    def check_zoom(self, total):
        """The timeline zooms and moves, and readers walk through its spans."""
        (plane,) = self.browser.find("#timeline .plane")
        (chart,) = [chart["spec"] for chart in self.ask("chartsOf")
                    if chart["spec"]["kind"] == "timeline"]
        end = max(row["spans"][-1][1] for row in chart["rows"])
        self.assertLessEqual(abs(Decimal(end) / total - 1), Decimal("1e-8"))
        half = (0.25, 0.75)
        moved = (0.375, 0.875)
        for keys, shares in ((["+"], half), ([browsers.SHIFT, browsers.RIGHT], moved),
                             ([browsers.SHIFT, browsers.LEFT], half),
                             (["-"], (0, 1)), (["+"], half), (["0"], (0, 1))):
            self.browser.press(plane, *keys)
            said = self.ask("saidBy", plane).removeprefix("ms: ").split(" to ")
            for text, share in zip(said, shares, strict=True):
                self.assertAlmostEqual(float(text), share * end,
                                       delta=1e-5 * end)
        rows = chart["rows"]
        self.browser.press(plane, browsers.DOWN)
        for key, row, span in ((browsers.UP, 0, 0), (browsers.RIGHT, 0, 1),
                               (browsers.DOWN, 1, 1), (browsers.LEFT, 1, 0)):
            self.browser.press(plane, key)
            begin, end, kind, *text = rows[row]["spans"][span]
            what = text[0] if text else chart["kinds"][kind]["name"]
            said = self.ask("saidBy", plane)
            self.assertTrue(said.startswith(f"{rows[row]['name']}, "), said)
            self.assertIn(f" ms: {what}", said)

    # --- Runs of a workload.

    def check_run(self, folder, part="module"):
        """The numbers of report.html are those of the files beside it.

        `part` is what its tables call the parts of a workload.
        """
        run = json.loads((folder / "run.json").read_text())
        total = Decimal(run["result"]["iteration_ps"]) / 10**9
        facts = self.ask("factsOf")
        self.same(facts["Iteration"].removesuffix(" ms"), total, "iteration")
        self.check_collectives(folder, part)
        links = {row["link"]: row for row in rows_of(folder / "links.csv")}
        for row in self.table("The busiest links"):
            link = links[row["number"]]
            self.same(row["GB"], Decimal(link["bytes"]) / 10**9, row)
            # A share of links.csv is rounded itself.
            used = 100 * float(link["utilisation"])
            self.assertAlmostEqual(float(row["% used"]), used, delta=0.0051)
        return total

    def check_collectives(self, folder, part):
        sums = collections.defaultdict(lambda: [0, Decimal(0), Decimal(0)])
        for row in rows_of(folder / "collectives.csv"):
            entry = sums[tuple(row[name] for name in (
                "layer", "phase", "group", "collective"))]
            count, time = int(row["count"]), Decimal(row["time_us"])
            entry[0] += count
            entry[1] += count * time / 1000
            entry[2] = max(entry[2], time / 1000)
        table = self.table("Collectives")
        self.assertEqual(len(table), min(len(sums), 200))
        for row in table:
            count, time, longest = sums[row[part], row["phase"],
                                        row["group"], row["collective"]]
            self.assertEqual(int(row["count"]), count)
            self.same(row["all ms"], time, row)
            self.same(row["longest ms"], longest, row)

    def check_path(self, folder, total, part="module"):
        sums = collections.defaultdict(Decimal)
        for row in rows_of(folder / "critical_path.csv"):
            what = "compute"
            if row["kind"] != "compute":
                what = f"{row['collective']} over {row['group']}"
            sums[row["name"], row["phase"], what] += (
                int(row["repeats"]) * Decimal(row["time_us"]) / 1000)
        table = self.table("Critical path")
        self.assertEqual(len(table), len(sums))
        for row in table:
            time = sums[row[part], row["phase"], row["what"]]
            self.same(row["ms"], time, row)
            self.same(row["% of the iteration"], 100 * time / total, row)

    def check_breakdown(self, folder):
        names = {"transfer": "messages"}
        sums = collections.defaultdict(Decimal)
        for row in rows_of(folder / "breakdown.csv"):
            part = names.get(row["category"], row["category"])
            if part == "network":
                part = row["group"]
            sums[f"stage {row['stage']}, rank {row['rank']}", part] += (
                Decimal(row["time_us"]) / 1000)
        bars = self.table("Where the time of an iteration goes")
        self.assertEqual({bar["bar"] for bar in bars},
                         {name for name, _ in sums})
        for bar in bars:
            for column, value in bar.items():
                if column.endswith(" ms"):
                    part = bar["bar"], column.removesuffix(" ms")
                    self.same(value, sums.pop(part, 0), bar)
        self.assertEqual(sum(sums.values()), 0)

    def check_memory(self, folder):
        text = self.browser.run(
            "return document.querySelector('#memory pre').textContent")
        shown = [line.split() for line in text.splitlines()]
        shown = {cells[0]: cells for cells in shown if cells[0].isdigit()}
        stages = [row for row in rows_of(folder / "stages.csv")
                  if not row["chunk"]]
        self.assertEqual(len(shown), len(stages))
        for row in stages:
            cells = shown[row["stage"]]
            for at, name in ((1, "weights"), (6, "allocated"), (7, "reserved")):
                self.same(cells[at], Decimal(row[f"{name}_bytes"]) / GIB, row)

    def test_the_quick_start(self):
        folder = self.folder / "quick_start"
        self.make(*QUICK_START, "--report", "-o", str(folder))
        self.open(folder / "report.html", "quick-start")
        self.check_run(folder)
        self.assertEqual(self.check_sorting(), 2)

    def test_a_page_without_scripts(self):
        self.make(*QUICK_START, "--report", "-v", "-o", "plain")
        self.addCleanup(self.browser.run_scripts, True)
        self.browser.run_scripts(False)
        for name, labels in (
                ("report", ["Collectives", "The busiest links"]),
                ("chart", ["one iteration: "])):
            self.browser.open(self.folder / f"plain/{name}.html")
            for label in labels:
                self.assertGreater(len(self.browser.find(
                    f"table[aria-label^='{label}'] tbody tr")), 0)
            self.assertEqual(self.browser.find("figure svg"), [])

    def test_a_large_iteration(self):
        folder = self.folder / "large"
        self.make(*TOPOLOGY)
        self.make(*WORKLOAD)
        self.make(*LARGE, "--report", "-o", str(folder))
        self.open(folder / "report.html", "iteration")
        total = self.check_run(folder)
        self.check_path(folder, total)
        self.check_breakdown(folder)
        self.check_memory(folder)
        self.assertEqual(self.check_sorting(), 3)
        self.check_zoom(total)

    def test_a_trace(self):
        folder = self.folder / "trace"
        for command in (
                "gen_topo -topo Spectrum-X -g 16 -gt H100 -o small.txt",
                "gen_workload -m llama3-8b --gpu-type H100 --gpus 16 --tp 4 "
                "--pp 2 --num-layers 4 --global-batch 8 --micro-batch 1 "
                "--seq-length 2048 --format program -o small.yaml",
                "simai_trace -w small.yaml -o traces",
                "simai_analytical --chakra traces/small -n small.txt --report "
                f"-o {folder}"):
            self.make(*command.split())
        self.open(folder / "report.html", "trace")
        total = self.check_run(folder, "node")
        self.check_path(folder, total, "node")
        self.assertEqual(self.check_sorting(), 3)
        self.check_zoom(total)

    def test_packets(self):
        folder = self.folder / "packets"
        self.make(*HPN)
        (self.folder / "exchange.txt").write_text(EXCHANGE)
        self.make(*PACKETS, "-o", str(folder))
        self.open(folder / "report.html", "packets")
        self.check_run(folder)
        self.assertEqual(self.check_sorting(), 3)
        links = {row["link"]: row for row in rows_of(folder / "links.csv")}
        table = self.table("The longest queues")
        longest = sorted(int(row["max_queue_bytes"]) for row in links.values())
        self.assertEqual(len(table), 20)
        for row in table:
            link = links[row["number"]]
            queue = int(link["max_queue_bytes"])
            self.same(row["longest kB"], Decimal(queue) / 1000, row)
            self.assertGreaterEqual(queue, longest[-20])
            self.assertEqual(row["marked"], link["marked"])
            self.same(row["paused ms"], Decimal(link["paused_us"]) / 1000, row)
        self.check_messages(rows_of(folder / "flows.csv"))

    def test_patterns(self):
        folder = self.folder / "patterns"
        self.make(*HPN)
        self.make(*PATTERN, "-o", str(folder))
        self.open(folder / "report.html", "patterns")
        rows = rows_of(folder / "completions.csv")
        table = self.table("Completion times by pattern")
        self.assertEqual([row["pattern"] for row in table],
                         ["permutation", "incast", "all"])
        for shown, row in zip(table, rows, strict=True):
            self.assertEqual(shown["messages"], row["messages"])
            for heading, column in (("mean us", "mean_us"),
                                    ("median us", "median_us"),
                                    ("p99 us", "p99_us"),
                                    ("longest us", "max_us"),
                                    ("goodput GB/s", "goodput_GBps")):
                self.same(shown[heading], row[column], row)
        self.check_messages(rows_of(folder / "flows.csv"))

    def check_messages(self, flows):
        """Percentiles are within 0.6 %, and the longest are exact."""
        *_, row = self.table("Times of messages by size")
        self.assertEqual(int(row["messages"]), len(flows))
        for name, column, largest in (
                ("{} us", "fct_us", "longest us"),
                ("slowdown {}", "slowdown", "largest slowdown")):
            values = sorted(float(flow[column]) for flow in flows)
            for percent in (50, 99):
                at = math.ceil(percent / 100 * len(values)) - 1
                shown = float(row[name.format(f"p{percent}")])
                self.assertAlmostEqual(shown / values[at], 1, delta=0.006)
            self.assertAlmostEqual(float(row[largest]), values[-1], delta=1e-3)

    def test_runs_side_by_side(self):
        folders = []
        for name, option in (("first", []),
                             ("second", ["--nccl", "NCCL_PROTO=LL128"])):
            folders.append(self.folder / name)
            self.make(*QUICK_START, *option, "-o", name)
        self.make("simai_compare", "first", "second", "-o", "compared")
        self.open(self.folder / "compared/comparison.html", "comparison")
        runs = [json.loads((folder / "run.json").read_text())
                for folder in folders]
        times = [Decimal(run["result"]["iteration_ps"]) / 10**9 for run in runs]
        row = self.table("Figures of the runs")[0]
        self.same(row["first"], times[0], row)
        self.same(row["second"], times[1], row)
        self.assertGreater(times[1], times[0])
        self.same(row["difference"], times[1] - times[0], row)
        self.same(row["difference %"], 100 * (times[1] / times[0] - 1), row)
        self.check_totals(folders)
        self.assertEqual(
            self.table("Inputs that differ"),
            [{"input": "model.collectives.nccl", "first": "",
              "second": "NCCL_PROTO=LL128"}])
        self.assertEqual(self.check_sorting(), 3)

    def check_totals(self, folders):
        table = self.table("Collectives by group and kind")
        for folder in folders:
            sums = collections.defaultdict(Decimal)
            for row in rows_of(folder / "collectives.csv"):
                sums[row["group"], row["collective"]] += (
                    int(row["count"]) * Decimal(row["time_us"]) / 1000)
            self.assertEqual(len(table), len(sums))
            for row in table:
                self.same(row[f"ms in {folder.name}"],
                          sums[row["group"], row["collective"]], row)

    def test_a_sweep(self):
        folder = self.folder / "swept"
        (self.folder / "sweep.yaml").write_text(SWEEP)
        self.make("simai_sweep", "run", "sweep.yaml", "-o", "swept")
        self.open(folder / "report.html", "sweep")
        shown = self.browser.run(
            "return document.querySelectorAll('#table tbody tr').length")
        points = list((folder / "points").iterdir())
        self.assertEqual(len(points), 6)
        self.assertEqual(shown, len(points))
        for section, said in (("best", "compute "), ("steps", "compute "),
                              ("pareto", "Point ")):
            (plane,) = self.browser.find(f"#{section} > :not(#steps) .plane, "
                                         f"#{section} > figure .plane")
            self.browser.press(plane, browsers.RIGHT)
            self.assertIn(said, self.ask("saidBy", plane))

    # --- Plans and served requests.

    def test_a_plan(self):
        folder = self.folder / "plan"
        self.make(*PLAN, "-o", str(folder))
        self.open(folder / "plan.html", "plan")
        plans = rows_of(folder / "plans.csv")
        table = self.table("Plans, the fastest first")
        self.assertEqual(len(table), len(plans))
        columns = {column: column.lower().replace(" ", "_").replace("%", "pct")
                   for column in table[0] if column != "layout"}
        columns |= {"Pareto optimal": "is_pareto_optimal"}
        for row, plan in zip(table, plans):
            self.assertEqual({name: row[name] for name in columns},
                             {name: plan[key] for name, key in columns.items()})
        bars = self.table("Where the time of an iteration goes")
        for at, bar in enumerate(bars):
            self.assertEqual(bar["bar"].split(":")[0], str(at + 1))
            self.same(bar["whole"].removesuffix(" s"),
                      plans[at]["iteration_s"], bar)
        self.assertGreaterEqual(self.check_sorting(), 1)

    def test_served_requests(self):
        folder = self.folder / "served"
        self.make(*SERVING, "--rate", "10", "-o", str(folder))
        self.open(folder / "serving.html", "serving")
        metrics = {row["metric"]: row["value"]
                   for row in rows_of(folder / "metrics.csv")}
        for row in self.table("Latencies in milliseconds"):
            name = {"e2e/tokens": "normalized_e2e"}.get(row["ms"], row["ms"])
            for figure in ("mean", "p50", "p90", "p95", "p99", "max"):
                self.same(row[figure],
                          Decimal(metrics[f"{name}_{figure}"]) / 1000, row)
        ttft = self.table("Time to the first token: share of them at or below "
                          "a time")
        self.assertEqual(len(ttft), 101)
        self.same(ttft[100]["ms"], Decimal(metrics["ttft_max"]) / 1000,
                  "the longest")
        (steps, *_) = self.table("What bounds the steps")
        self.same(steps["whole"].removesuffix(" s"), sum(
            Decimal(value) for name, value in metrics.items()
            if name.startswith("step_")), "steps")

    def test_a_curve_of_loads(self):
        folder = self.folder / "curve"
        self.make(*SERVING, "--rate", "5,10,20", "-o", str(folder))
        self.open(folder / "serving.html", "curve")
        points = rows_of(folder / "curve.csv")
        table = self.table("The points of the curve")
        self.assertEqual(len(table), 3)
        for row, point in zip(table, points):
            for column, value in row.items():
                self.assertEqual(value, point[column.replace(" ", "_")])
        self.assertEqual(self.check_sorting(), 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--screenshots", type=pathlib.Path)
    options, rest = parser.parse_known_args()
    BIN = options.bin.resolve()
    SCREENSHOTS = options.screenshots
    if browsers.missing():
        print(f"skipped: not installed: {', '.join(browsers.missing())} "
              "(scripts/setup --dev)")
        sys.exit()
    if SCREENSHOTS:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + rest)
