#!/usr/bin/env python3
"""Tests the Python package simai, beside the programs that it calls.

Where pandas or matplotlib are not, what needs them is skipped.

Usage: python_package_test.py [--package DIR] [--bin DIR]
"""

import argparse
import ast
import concurrent.futures
import csv
import gc
import inspect
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = ROOT / "build" / "release" / "bin"
PACKAGE = ROOT / "build" / "release" / "python"

TOPOLOGY = ROOT / "inputs" / "topologies" / "one_server_8_h100.txt"
SIMUMAX = [ROOT / "inputs" / "simumax" / name for name in (
    "llama3-8b.json", "tp1_pp2_dp4_mbs1.json", "a100_pcie.json")]
MODEL = {"model": "llama3-8b", "gpu_type": "H100", "gpus": 8, "tp": 4, "pp": 2,
         "global_batch": 8, "seq_length": 1024, "format": "program"}
HELP_OPTION = re.compile(r"^  --([\w-]+)", re.M)


def installed(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def stub_functions():
    """Returns {name: {keyword: type}} of the package's stub."""
    tree = ast.parse((PACKAGE / "simai" / "__init__.pyi").read_text("utf-8"))
    return {node.name: {argument.arg: ast.unparse(argument.annotation)
                        for argument in node.args.kwonlyargs}
            for node in tree.body if isinstance(node, ast.FunctionDef)}


def help_of(*words):
    return subprocess.run([BIN / words[0], *words[1:], "--help"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


class StandIn:
    """While it is entered, a script of the shell stands for gen_topo."""

    def __init__(self, script):
        self.script = script

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name) / "gen_topo"
        path.write_text(f"#!/bin/sh\n{self.script}\n", encoding="utf-8")
        path.chmod(0o755)
        self.patch = unittest.mock.patch.object(
            simai._process, "BIN", path.parent)
        self.patch.start()
        return path.parent

    def __exit__(self, *_):
        self.patch.stop()
        self.folder.cleanup()


class OptionsTest(unittest.TestCase):
    """What editors are told, beside what the programs say of themselves."""

    def test_the_stub_has_the_options_of_each_program(self):
        functions = stub_functions()
        functions.pop("read", None)
        programs = dict(re.findall(r"(?m)^  (\w+) +\w.* \((\w+)\)$",
                                   help_of("simai")))
        self.assertEqual(list(functions), list(programs))
        for command, program in programs.items():
            text = help_of(program)
            if command == "sweep":
                commands = re.findall(r"(?m)^  (\w+) [A-Z]+", text)
                text = "".join(help_of(program, name) for name in commands)
            names = {name.replace("-", "_")
                     for name in HELP_OPTION.findall(text)}
            self.assertEqual(set(functions[command]) - {"stdin"}, names,
                             command)

    def test_functions_have_the_signature_of_the_stub(self):
        for name, keywords in stub_functions().items():
            parameters = inspect.signature(getattr(simai, name)).parameters
            self.assertEqual(list(parameters)[1:], list(keywords), name)

    def test_types_follow_the_names_of_values(self):
        workload = stub_functions()["workload"]
        self.assertEqual(workload["sp"], "bool | None")
        self.assertEqual(workload["gpus"], "int | None")
        self.assertEqual(workload["stage_layers"],
                         "int | Sequence[object] | None")
        self.assertTrue(workload["model"].startswith("Literal['deepseek-v2'"))
        self.assertTrue(workload["model"].endswith("| str | _File | None"))
        self.assertEqual(stub_functions()["collective"]["min_bytes"],
                         "int | str | None")

    def test_help_has_the_text_of_the_program(self):
        self.assertIn("tp, t, tensor_model_parallel_size N: tensor "
                      "parallelism (default 1)", simai.workload.__doc__)
        self.assertEqual(simai.workload.__module__, "simai")

    def test_the_version_is_that_of_the_programs(self):
        said = simai.topo(version=True).output
        self.assertEqual(said, f"gen_topo {simai.__version__}\n")


class ArgumentsTest(unittest.TestCase):
    def words(self, option="", **arguments):
        """Returns what an option with the value `option` becomes."""
        from simai import _arguments, _programs
        (keyword, value), = arguments.items()
        table = _programs.Option(keyword, (), option, "", "", ())
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        writer = _arguments.Writer(pathlib.Path(self.folder.name))
        return _arguments.option_words(table, keyword, value, writer)

    def test_values_become_words(self):
        for value, option, word in (
            (8, "N", ["--the-name=8"]),
            (0.25, "X", ["--the-name=0.25"]),
            (-1, "N", ["--the-name=-1"]),
            ("10 ms", "TIME", ["--the-name=10 ms"]),
            ([1, 2, 4], "LIST", ["--the-name=1,2,4"]),
            (range(1, 3), "LIST", ["--the-name=1,2"]),
            ({"A": 1, "B": "x"}, "KEY=VALUE", ["--the-name=A=1,B=x"]),
            (True, "", ["--the-name"]),
            (False, "", []),
            (None, "", []),
            (None, "N", []),
            (True, "[0|1]", ["--the-name=1"]),
            (False, "[0|1]", ["--the-name=0"]),
            (True, "N", ["--the-name=true"]),
            (pathlib.Path("a/b"), "FILE", ["--the-name=a/b"]),
        ):
            self.assertEqual(self.words(option, the_name=value), word)

    def test_dictionaries_become_files(self):
        word, = self.words("FILE", events={"at": pathlib.Path("a"), "x": [1]})
        path = pathlib.Path(word.partition("=")[2])
        self.assertEqual(path.name, "events.yaml")
        self.assertEqual(json.loads(path.read_text("utf-8")),
                         {"at": os.path.abspath("a"), "x": [1]})
        word, = self.words("NAME|FILE", model={"model_type": "llama"})
        self.assertTrue(word.endswith("/model.json"))
        word, = self.words("FILES", simumax=[{}, "b.json", {}])
        names = [os.path.basename(name) for name in word.split(",")]
        self.assertEqual(names, ["simumax.yaml", "b.json", "simumax-2.yaml"])

    def test_data_frames_become_tables(self):
        frame = unittest.mock.Mock(spec=["to_csv"])
        frame.to_csv.return_value = "a,b\n1,2\n"
        word, = self.words("FILE,...", measured=frame)
        frame.to_csv.assert_called_once_with(index=False)
        path = pathlib.Path(word.partition("=")[2])
        self.assertEqual(path.name, "measured.csv")
        self.assertEqual(path.read_text("utf-8"), "a,b\n1,2\n")

    def test_rows_become_tables(self):
        rows = [{"a": 1, "b": "x, y"}, {"a": None, "c": True}]
        expected = 'a,b,c\n1,"x, y",\n,,true\n'
        for option, value in (("FILE", rows),
                              ("FILE,...", simai.Table("t", [], rows))):
            word, = self.words(option, trace=value)
            path = pathlib.Path(word.partition("=")[2])
            self.assertEqual(path.name, "trace.csv")
            self.assertEqual(path.read_text("utf-8"), expected)

    def test_another_type_is_a_type_error(self):
        with self.assertRaisesRegex(
                TypeError, "^gpus is of type object: expected a number, text"):
            simai.topo(gpus=object())
        with self.assertRaisesRegex(
                TypeError, "^a value of type set in a dictionary: expected"):
            simai.simulate(events={"events": set()})


class ErrorsTest(unittest.TestCase):
    def check(self, message, exit_code, function, *operands, **options):
        with self.assertRaises(simai.Error) as caught:
            function(*operands, **options)
        self.assertEqual(str(caught.exception), message)
        self.assertEqual(caught.exception.exit_code, exit_code)

    def test_an_error_is_the_line_that_the_program_prints(self):
        self.check('unknown option "--gpus-tpye"; did you mean --gpu-type '
                   'NAME|FILE? (--help lists all)', 2, simai.workload,
                   gpus_tpye=3)
        self.check("--tp is \"three\": expected a whole number from 1 to "
                   "16777216", 2, simai.workload, **{**MODEL, "tp": "three"})
        self.check('unknown command "rnu"; did you mean "run"? (known: run, '
                   'resume, retry, status, export, compare)', 2, simai.sweep,
                   "rnu", "a.yaml")
        self.check('unexpected argument "8": every value follows an option', 2,
                   simai.topo, 8)

    def test_places_in_dictionaries_have_no_folder(self):
        model, strategy, system = (json.loads(path.read_text("utf-8"))
                                   for path in SIMUMAX)
        with self.assertRaisesRegex(
                simai.Error, r"^simumax\.yaml:\d+:\d+: world_size is 8: "
                "expected a multiple of tp_size x cp_size x pp_size = 6"):
            simai.plan(simumax=[SIMUMAX[0], {**strategy, "tp_size": 3},
                                system])

    def test_a_run_that_was_stopped_has_its_results(self):
        with self.assertRaisesRegex(
                simai.Error, r"^stopped at 1000\.000 us of simulated time, with "
                r"[\d.]+ % of the work done$") as caught:
            simai.simulate(workload=simai.workload(**MODEL), topology=TOPOLOGY,
                           fidelity="flow", stop_at="1ms")
        self.assertEqual(caught.exception.exit_code, 1)
        self.assertEqual(caught.exception.program, "simai_simulator")
        self.assertIn("iteration", caught.exception.result.tables)

    def test_a_program_that_crashes_is_an_error(self):
        with StandIn("kill -SEGV $$"):
            self.check("gen_topo was ended by SIGSEGV", -signal.SIGSEGV,
                       simai.topo)
        with StandIn("exit 3"):
            self.check("gen_topo ended with exit code 3", 3, simai.topo)

    def test_warnings_are_warnings(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = simai.topo(topology="DCN+", gpus=16, gpu_type="H100",
                                nics_per_aswitch=16, psw_switch_num=2)
        message = ("tier 1 (ASW) is oversubscribed 8:1: 6400 Gbps down, "
                   "800 Gbps up")
        self.assertEqual(result.warnings, [message])
        self.assertEqual([(str(one.message), one.category, one.filename)
                          for one in caught],
                         [(message, simai.InputWarning, __file__)])


class ProcessTest(unittest.TestCase):
    def test_progress_goes_to_stderr(self):
        with StandIn("echo ' 42 %  simulated 1.250 ms' >&2; echo done"):
            with unittest.mock.patch("sys.stderr") as stream:
                self.assertEqual(simai.topo().output, "done\n")
        stream.write.assert_called_once_with(" 42 %  simulated 1.250 ms\n")

    def test_stdin_is_what_the_caller_gives(self):
        with StandIn("exec cat"):
            self.assertEqual(simai.topo().output, "")
            self.assertEqual(simai.topo(stdin="a\nb").output, "a\nb")
            self.assertEqual(simai.topo(stdin=[{"tp": 8}, {}]).output,
                             '{"tp": 8}\n{}\n')

    def test_much_output_is_read(self):
        with StandIn("i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); "
                     "echo 'a line of forty characters, not counting it'; "
                     "echo gen_topo: warning: w$i >&2; done"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = simai.topo()
        self.assertEqual(result.output.count("\n"), 3000)
        self.assertEqual(result.warnings[-1], "w3000")

    def test_an_interrupt_ends_the_program(self):
        with StandIn("echo $$ >pid.new && mv pid.new pid; exec sleep 60"
                     ) as folder:
            script = ("import pathlib, sys\n"
                      f"sys.path.insert(0, {str(PACKAGE)!r})\n"
                      "import simai\n"
                      f"simai._process.BIN = pathlib.Path({str(folder)!r})\n"
                      "try:\n  simai.topo()\n"
                      "except KeyboardInterrupt:\n  print('interrupted')\n")
            temporary = folder / "temporary"
            temporary.mkdir()
            process = subprocess.Popen(
                [sys.executable, "-c", script], cwd=folder, text=True,
                stdout=subprocess.PIPE,
                env={**os.environ, "TMPDIR": str(temporary)})
            limit = time.monotonic() + 20
            while not (folder / "pid").exists():
                self.assertLess(time.monotonic(), limit)
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)  # To Python alone.
            self.assertEqual(process.communicate(timeout=20)[0],
                             "interrupted\n")
            with self.assertRaises(ProcessLookupError):
                os.kill(int((folder / "pid").read_text()), 0)
            self.assertEqual(list(temporary.iterdir()), [])

    def test_threads_call_side_by_side(self):
        def time_of(tp):
            workload = simai.workload(**{**MODEL, "tp": tp})
            return simai.analyze(workload=workload,
                                 topology=TOPOLOGY).summary["iteration_ms"]

        degrees = [1, 2, 4] * 8
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            times = list(threads.map(time_of, degrees))
        self.assertEqual(times, [time_of(tp) for tp in degrees[:3]] * 8)
        self.assertEqual(len(set(times)), 3)


class ResultsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.workload = simai.workload(**MODEL)
        cls.analyzed = simai.analyze(workload=cls.workload, topology=TOPOLOGY)

    def test_files_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            subprocess.run(
                [BIN / "gen_workload", *(
                    f"--{name.replace('_', '-')}={value}"
                    for name, value in MODEL.items()),
                 "-o", folder / "workload"], check=True,
                stdout=subprocess.DEVNULL)
            said = subprocess.run(
                [BIN / "simai_analytical", "-w", "workload", "-n", TOPOLOGY,
                 "-o", "analyze"], check=True, stdout=subprocess.PIPE,
                text=True, cwd=folder).stdout
            self.assertEqual(self.workload.path.read_bytes(),
                             (folder / "workload").read_bytes())
            self.assertEqual(self.analyzed.output, said)
            names = sorted(path.name for path in (folder / "analyze").iterdir())
            self.assertEqual(list(self.analyzed.files), names)
            for name in set(names) - {"cost.json", "run.json"}:
                self.assertEqual(self.analyzed.files[name].read_bytes(),
                                 (folder / "analyze" / name).read_bytes())
            said = json.loads((folder / "analyze" / "run.json").read_text())
            self.assertEqual(self.analyzed.json["run"], said)

    def test_tables_have_the_rows_of_the_file(self):
        for name, table in self.analyzed.tables.items():
            with open(self.analyzed.files[f"{name}.csv"], newline="") as file:
                rows = list(csv.DictReader(
                    line for line in file if not line.startswith("#")))
            self.assertEqual(len(table), len(rows), name)
            self.assertEqual(table.columns, list(rows[0]), name)
            for row, fields in zip(table, rows):
                for column, field in fields.items():
                    value = row[column]
                    if isinstance(value, float):
                        self.assertEqual(value, float(field))
                    else:
                        self.assertEqual("" if value is None else str(value),
                                         field)

    def test_columns_have_one_type(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "t.csv").write_text(
                "# a comment\n"
                'whole,number,flag,text,none,mixed\n'
                '1,1,true,"a, b",,1\n'
                "-2,2.5e-3,false,,,x\n"
                ",,,nan,,3\n", encoding="utf-8")
            table = simai.read(folder).tables["t"]
        self.assertEqual(list(table), [
            {"whole": 1, "number": 1.0, "flag": True, "text": "a, b",
             "none": None, "mixed": "1"},
            {"whole": -2, "number": 0.0025, "flag": False, "text": None,
             "none": None, "mixed": "x"},
            {"whole": None, "number": None, "flag": None, "text": "nan",
             "none": None, "mixed": "3"}])
        self.assertIsInstance(table[0]["number"], float)
        self.assertIsInstance(table[0]["whole"], int)

    def test_a_summary_has_the_names_and_values_of_a_sweep(self):
        sweep = simai.sweep("run", {
            "simai_sweep": 1, "axes": {"seed": [1]},
            "simai_analytical": {"workload": self.workload.path,
                                 "topology": TOPOLOGY, "jitter": 0.1,
                                 "seed": "${seed}"}}, jobs=1)
        point, = sweep.tables["results"]
        run = simai.analyze(workload=self.workload, topology=TOPOLOGY,
                            jitter=0.1, seed=1)
        own = {"number", "key", "state", "reason", "seed", "exit_code",
               "wall_s", "cpu_s", "peak_memory_mib", "host", "ended",
               "attempts"}
        self.assertEqual(
            {name: value for name, value in point.items() if name not in own},
            run.summary)
        self.assertIn("exposed_TP_ms", run.summary)

    def test_every_program_that_runs_has_a_summary(self):
        for name, run in {
            "goodput": simai.goodput(gpus=64, gpu_mtbf="1000h", restart="1min",
                                     checkpoint="5s", trials=10),
            "output_tokens_per_s": simai.serve(
                model="llama3-8b", gpu_type="H100", requests=8, isl=64, osl=8,
                concurrency=2),
            "average_busbw_GBps": simai.collective(
                system="dgx-h100", min_bytes="1M", max_bytes="1M"),
            "tokens_per_s_per_gpu": simai.plan(simumax=SIMUMAX),
        }.items():
            self.assertGreater(run.summary[name], 0, name)
            self.assertNotIn(tempfile.gettempdir(), run.output)

    def test_dictionaries_and_paths_give_the_same(self):
        paths = simai.plan(simumax=SIMUMAX)
        contents = simai.plan(simumax=[json.loads(path.read_text("utf-8"))
                                       for path in SIMUMAX])
        self.assertEqual(dict(contents.json), dict(paths.json))
        self.assertEqual(
            paths.json["compute_result"]["duration_time_per_iter"], "5.5547 s")

    def test_a_trace_is_an_input(self):
        program = simai.workload(**MODEL)
        trace = simai.trace(workload=program)
        run = simai.simulate(chakra=trace, topology=TOPOLOGY, fidelity="flow")
        self.assertIn("ranks", run.tables)
        with self.assertRaisesRegex(TypeError, "no trace of Chakra"):
            simai.simulate(chakra=program, topology=TOPOLOGY)

    def test_a_sweep_that_is_not_through_has_a_status(self):
        sweep = {"simai_sweep": 1, "axes": {"size": ["1M", "x"]},
                 "simai_collective": {"system": "dgx-h100",
                                      "min-bytes": "${size}",
                                      "max-bytes": "${size}"}}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "two.yaml"
            path.write_text(json.dumps(sweep))
            with self.assertRaisesRegex(
                    simai.Error, "^1 of 2 points failed; point 2: simai_coll"):
                simai.sweep("run", path, output=f"{folder}/out")
            with self.assertRaises(simai.Error) as caught:
                simai.sweep("status", f"{folder}/out")
            self.assertIn("1 finished, 1 failed", caught.exception.result.output)

    def test_a_model_may_be_a_dictionary(self):
        shape = {"name": "tiny", "layers": 2, "hidden": 512,
                 "vocabulary": 1000, "attention": {
                     "kind": "full", "heads": 8, "kv_heads": 8, "head_dim": 64},
                 "feed_forward": {"ffn": 2048, "gated": True}}
        config = {"model_type": "llama", "num_hidden_layers": 2,
                  "hidden_size": 512, "vocab_size": 1000,
                  "num_attention_heads": 8, "intermediate_size": 2048,
                  "_name_or_path": "tiny"}
        texts = [simai.workload(**{**MODEL, "model": model, "pp": 1}
                                ).path.read_text() for model in (shape, config)]
        self.assertEqual(*texts)

    def test_flags_that_stop_a_program_need_no_place_for_files(self):
        for function, options in (
            (simai.workload, {"list_models": True}),
            (simai.workload, {"list_gpus": True}),
            (simai.workload, {"list_frameworks": True}),
            (simai.collective, {"list_systems": True}),
            (simai.analyze, {"columns": True}),
            (simai.simulate, {"workload": self.workload, "topology": TOPOLOGY,
                              "fidelity": "flow", "estimate": True}),
        ):
            result = function(**options)
            self.assertGreater(len(result.output), 50)
            self.assertEqual(result.files, {})
            with self.assertRaisesRegex(KeyError, "the run has no tables"):
                result.frame()

    def test_layouts_of_an_optimizer_are_answered(self):
        answers = simai.plan(
            model="llama3-8b", gpu_type="H100", gpus=8, global_batch=8,
            seq_length=1024, objective=True, stdin=[{"tp": 8}, {"tp": 3}])
        legal = [json.loads(line)["legal"]
                 for line in answers.output.splitlines()]
        self.assertEqual(legal, [True, False])

    def test_a_folder_lasts_as_long_as_its_result(self):
        result = simai.topo(topology="Spectrum-X", gpus=8, gpu_type="H100")
        folder = os.path.dirname(result.path)
        self.assertTrue(os.path.exists(folder))
        path = result.path
        del result
        gc.collect()
        self.assertEqual(path.read_text().split()[0], "81")
        del path
        gc.collect()
        self.assertFalse(os.path.exists(folder))

    def test_parts_of_a_result_outlast_it(self):
        def run():
            return simai.collective(system="dgx-h100", min_bytes="1M",
                                    max_bytes="1M")

        self.assertEqual(run().tables["collective"][0]["bytes"], 1 << 20)
        self.assertEqual(run().json["run"]["program"], "simai_collective")
        self.assertIn("busbw", run().files["collective.csv"].read_text())

    def test_the_caller_may_choose_the_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cluster.txt"
            result = simai.topo(topology="Spectrum-X", gpus=8, gpu_type="H100",
                                output=path)
            self.assertEqual(result.files, {"cluster.txt": path})
            run = simai.analyze(workload=self.workload, n=result,
                                o=f"{folder}/run")
            self.assertEqual(run.path, pathlib.Path(folder) / "run")
            again = simai.read(f"{folder}/run")
            self.assertEqual(again.summary, run.summary)
            with self.assertRaises(NotADirectoryError):
                simai.read(path)

    def test_a_notebook_shows_what_is_printed(self):
        with StandIn("echo 'a < b'"):
            result = simai.topo()
        self.assertEqual(result._repr_html_(), "<pre>a &lt; b\n</pre>")
        self.assertEqual(str(result), "a < b\n")
        self.assertEqual(repr(result), "<Result of gen_topo: no files>")

    def test_what_is_not_there_is_named(self):
        with self.assertRaisesRegex(
                KeyError, r"no table 'plans' \(there are: breakdown, "):
            self.analyzed.frame("plans")
        with self.assertRaisesRegex(TypeError, "the run wrote no file"):
            simai.analyze(workload=simai.workload(list_models=True))
        with self.assertRaisesRegex(ValueError, "nothing to draw"):
            self.workload.plot()


@unittest.skipUnless(installed("pandas"), "pandas is not installed")
class FramesTest(unittest.TestCase):
    def test_a_frame_has_the_rows_and_types_of_the_table(self):
        run = simai.collective(system="dgx-h100", min_bytes="1M",
                               max_bytes="4M")
        frame = run.frame()
        self.assertEqual(list(frame["bytes"]), [1 << 20, 1 << 21, 1 << 22])
        self.assertEqual(frame["bytes"].dtype.kind, "i")
        self.assertEqual(frame["busbw_GBps"].dtype.kind, "f")
        self.assertEqual(frame.to_dict("records"),
                         list(run.tables["collective"]))

    def test_a_frame_is_an_input(self):
        import pandas
        requests = [
            {"TIMESTAMP": "2023-11-16 18:15:46.6805900", "ContextTokens": 64,
             "GeneratedTokens": 4},
            {"TIMESTAMP": "2023-11-16 18:15:47.6805900", "ContextTokens": 128,
             "GeneratedTokens": 8}]
        runs = [simai.serve(model="llama3-8b", gpu_type="H100", trace=trace)
                for trace in (requests, pandas.DataFrame(requests))]
        self.assertEqual(list(runs[0].frame("requests")["prompt_tokens"]),
                         [64, 128])
        self.assertEqual(runs[0].tables["requests"], runs[1].tables["requests"])


@unittest.skipUnless(installed("matplotlib"), "matplotlib is not installed")
class PlotsTest(unittest.TestCase):
    def test_each_kind_of_run_is_drawn(self):
        import matplotlib
        matplotlib.use("Agg")
        job = {"model": "llama3-8b", "gpu_type": "H100"}
        serve = {**job, "isl": 64, "osl": 8}
        run = simai.analyze(workload=simai.workload(**MODEL),
                            topology=TOPOLOGY)
        for labels, run in {
            ("ms", "stage"): run,
            ("allocated memory of a GPU (GiB)", "iteration (s)"): simai.plan(
                **job, gpus=8, global_batch=8, seq_length=1024, pp=1),
            ("requests in flight", "ms"): simai.serve(
                **serve, requests=8, concurrency=[1, 2]),
            ("requests/s", "ms"): simai.serve(**serve, requests=8,
                                              rate=[1, 2]),
            ("tokens/s of a user", "output tokens/s of a GPU"): simai.serve(
                **serve, plan=True, gpus=1, slo_ttft=500, slo_tpot=50),
            ("bytes", "GB/s"): simai.collective(
                system="dgx-h100", min_bytes="1M", max_bytes="4M"),
            ("work between checkpoints (min)", "share of the time"):
                simai.goodput(gpus=64, gpu_mtbf="1000h", restart="1min",
                              checkpoint="5s", trials=10),
        }.items():
            axes = run.plot()
            self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), labels)
            self.assertIs(run.plot(axes), axes)
            matplotlib.pyplot.close("all")

    def test_bars_of_a_stage_add_up_to_the_iteration(self):
        import matplotlib
        matplotlib.use("Agg")
        run = simai.analyze(workload=simai.workload(**MODEL),
                            topology=TOPOLOGY)
        axes = run.plot()
        ends = [bar.get_x() + bar.get_width() for bar in axes.patches
                if bar.get_y() + bar.get_height() / 2 == 0]
        self.assertAlmostEqual(max(ends), run.summary["iteration_ms"],
                               places=4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", type=pathlib.Path, default=PACKAGE)
    parser.add_argument("--bin", type=pathlib.Path, default=BIN)
    options, rest = parser.parse_known_args()
    BIN, PACKAGE = options.bin.resolve(), options.package.resolve()
    sys.path.insert(0, str(PACKAGE))
    import simai
    unittest.main(argv=[sys.argv[0], *rest])
