#!/usr/bin/env python3
"""Tests what scripts/compare_physical makes of results."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

loader = importlib.machinery.SourceFileLoader(
    "compare_physical", str(ROOT / "scripts" / "compare_physical"))
compare_physical = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("compare_physical", loader))
loader.exec_module(compare_physical)


class ComparePhysicalTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def results(self, name, iteration_ps, times):
        """Writes a run whose collectives are {(name, bytes): [us, ...]}."""
        folder = self.folder / name
        folder.mkdir()
        lines = ["collective,group,ranks,bytes,time_us"]
        lines += [f"{collective},TP,16,{size},{time}"
                  for (collective, size), all_times in times.items()
                  for time in all_times]
        (folder / "collectives.csv").write_text("\n".join(lines) + "\n")
        (folder / "run.json").write_text(
            json.dumps({"result": {"iteration_ps": iteration_ps}}))
        return folder

    def test_errors_of_large_collectives_are_gathered(self):
        small = ("all-reduce", 65536)
        large = ("all-to-all", 1 << 20)
        folders = {
            "measured": self.results("measured", 2_000_000_000,
                                     {small: [10], large: [100, 900, 200]}),
            "flow": self.results("flow", 1_900_000_000,
                                 {small: [5], large: [190]}),
            "packet": self.results("packet", 2_200_000_000,
                                   {small: [20], large: [210]}),
        }
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            errors = compare_physical.print_errors("some", folders)
        # Against the median of the three, 200 us.
        self.assertEqual(errors, {"flow": [5], "packet": [5]})
        self.assertRegex(out.getvalue(),
                         r"all-reduce +TP +16 +65536 +10.0 +5.0 +-50.0% "
                         r"+20.0 +100.0%\n")
        self.assertRegex(out.getvalue(),
                         r"all of it, ms +2.0 +1.9 +-5.0% +2.2 +10.0%\n")

    def test_the_workload_has_both_collectives_in_all_sizes(self):
        path = self.folder / "collectives.txt"
        compare_physical.write_collectives(path, 16)
        head, count, *layers = path.read_text().splitlines()
        self.assertIn("\tmodel_parallel_NPU_group:\t16\t",
                      head.replace(" ", "\t"))
        self.assertEqual((count, len(layers)), ("12", 12))
        self.assertEqual(layers[-1].split("\t")[3:5], ["ALLTOALL", "67108864"])


if __name__ == "__main__":
    unittest.main()
