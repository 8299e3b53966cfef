#!/usr/bin/env python3
"""Tests the Python module simai.

Runs with the Python that the module is built for. Where it was not built, the
test says so and passes.

Usage: python_module_test.py --module DIR --inputs DIR
"""

import argparse
import json
import pathlib
import sys
import unittest

OPTIONS = argparse.Namespace()  # Of the command line.
NAMES = ("llama3-8b.json", "tp1_pp2_dp4_mbs1.json", "a100_pcie.json")


def paths():
    return [OPTIONS.inputs / name for name in NAMES]


def dicts():
    return [json.loads(path.read_text("utf-8")) for path in paths()]


class PythonModuleTest(unittest.TestCase):
    def test_paths_and_dicts_give_the_same(self):
        result = simai.simulate(*paths())
        self.assertEqual(simai.simulate(*map(str, paths())), result)
        self.assertEqual(simai.simulate(*dicts()), result)
        self.assertAlmostEqual(result["summary"]["duration_ms"], 5554.7,
                               delta=0.05)
        self.assertEqual(result["compute_result"]["duration_time_per_iter"],
                         "5.5547 s")
        self.assertEqual(result["warnings"], [])

    def test_the_arguments_have_names(self):
        model, strategy, system = dicts()
        strategy["tp_sise"] = 2
        result = simai.simulate(system=system, strategy=strategy, model=model)
        self.assertEqual(len(result["warnings"]), 1)
        self.assertIn('unknown key "tp_sise" has no effect; did you mean '
                      '"tp_size"?', result["warnings"][0])

    def test_refused_input_is_a_value_error(self):
        model, strategy, system = dicts()
        strategy["tp_size"] = 3
        with self.assertRaisesRegex(
                ValueError, r"^strategy:1:\d+: world_size is 8: expected a "
                "multiple of tp_size x cp_size x pp_size = 6"):
            simai.simulate(model, strategy, system)
        strategy["tp_size"] = float("nan")
        with self.assertRaisesRegex(ValueError, 'tp_size is "NaN"'):
            simai.simulate(model, strategy, system)
        with self.assertRaisesRegex(ValueError, "none.json"):
            simai.simulate("none.json", strategy, system)

    def test_another_type_is_a_type_error(self):
        model, strategy, _ = dicts()
        with self.assertRaisesRegex(
                TypeError, "^system is of type int: expected a dict or a path"):
            simai.simulate(model, strategy, 3)
        with self.assertRaises(TypeError):
            simai.simulate(model)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--module", type=pathlib.Path, required=True)
    parser.add_argument("--inputs", type=pathlib.Path, required=True)
    OPTIONS, rest = parser.parse_known_args()
    if not list(OPTIONS.module.glob("simai.*")):
        print("python_module: skipped: the module was not built (pybind11-dev "
              "and python3-dev)")
        sys.exit()
    sys.path.insert(0, str(OPTIONS.module))
    import simai
    unittest.main(argv=[sys.argv[0], *rest])
