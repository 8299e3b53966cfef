#!/usr/bin/env python3
"""Tests what bash completes by, and the man pages, beside the programs.

Usage: shell_files_test.py [--bin DIR] [--share DIR]
"""

import argparse
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = ROOT / "build" / "release" / "bin"
SHARE = ROOT / "build" / "release" / "share"

TOPOLOGY = ROOT / "inputs" / "topologies" / "one_server_8_h100.txt"
WORKLOAD = ROOT / "inputs" / "workloads" / "collectives_8gpu.txt"
MODEL = ("-m llama3-8b --world-size 8 --tp 4 --pp 2 --global-batch 8 "
         "--seq-length 1024").split()
RUN = ["-w", WORKLOAD, "-n", TOPOLOGY]
PLAN = ("-m llama3-8b --gpu H100 --gpus 8 --global-batch 8 --seq-length 1024 "
        "--pp 1").split()
OPTION = re.compile(r"^  --[\w-]+.*", re.M)
TIME_LIMIT = 20  # Seconds for bash to answer.

# The line up to the cursor, and the values that may follow. Words as bash takes
# them apart.
ASK = """
ask() {
  COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
  "_$2"
  printf '%s\\n' "${COMPREPLY[@]}"
  printf '\\0'
}
"""

# A line for each option with values, which are behind it.
LIST_VALUES = """
source "$1"
_PROGRAM_table "$2" ''
for name in "${names[@]}"; do
  _PROGRAM_table "$2" "${name%% *}"
  if ((${#words[@]} > 0)); then echo "${name%% *} ${words[*]}"; fi
done
"""

# Where the program refuses a value that it does not know, it lists those that
# it does. Here: the command lines that make it do so, by program and option;
# else that of the program alone. Several: what is known is all of it.
SERVE = ("-m llama3-8b --gpu H100 --requests 8 --isl 64 --osl 8 "
         "--concurrency 2 --tp 2").split()
REFUSALS = {
    "gen_topo": [[]],
    "gen_workload": [MODEL],
    "gen_workload --engine": [
        "-m llama3-8b --gpus 8 --tp 8 --phase decode --batch 4 "
        "--seq-length 1024".split()],
    "gen_workload --model": [MODEL[2:]],
    "gen_workload --recompute-method": [
        [*MODEL, "--recompute", "full", "--recompute-num-layers", "1"]],
    "gen_workload --table-gpu": [[*MODEL, "--operator-table", "none.csv"]],
    "simai_analytical": [RUN],
    "simai_analytical --gpu-type": [
        "-w w -g 8 -g_p_s 8 -nic 50".split()],  # fmt: skip
    "simai_analytical --nic-type": ["-w w -g 8 -g_p_s 8 -nv 400".split()],
    "simai_collective": [["--system", "dgx-h100"]],
    "simai_collective --system": [[]],
    "simai_collective --algorithm": [
        ["--system", "dgx-h100", "--op", op]
        for op in ("all_reduce", "all_gather", "reduce_scatter", "alltoall",
                   "sendrecv", "broadcast", "reduce", "gather", "scatter",
                   "dispatch", "combine")
    ],
    "simai_compare": [["none", "other"]],
    "simai_fit": [["--compare-table", "none.csv", "--gpu", "H100"]],
    "simai_fit --gpu": [["--compare-table", "none.csv"]],
    "simai_fit --trees": [["--tables", "none.csv"]],
    "simai_goodput": ["--gpus 8 --checkpoint 1s --failures none.yaml".split()],
    "simai_trace": [["-w", "w"]],
    "simai_trace --gpu-type": [["--chakra", "x"]],
    "simai_physical": [[*RUN, "--hosts", "h"]],
    "simai_planner": [PLAN],
    "simai_planner --model": [PLAN[2:]],
    "simai_planner --recompute-method": [
        [*PLAN, "--recompute", "full", "--recompute-num-layers", "1"]],
    "simai_planner --gpu-type": [PLAN[:2] + PLAN[4:]],
    "simai_serving": [[*SERVE, "--replicas", "2"]],
    "simai_serving --model": [SERVE[2:]],
    "simai_serving --gpu-type": [SERVE[:2] + SERVE[4:]],
    "simai_simulator": [RUN],
    "simai_simulator --gpu-type": [
        "-w w -g 8 -g_p_s 8 -nic 50".split()],  # fmt: skip
    "simai_simulator --nic-type": ["-w w -g 8 -g_p_s 8 -nv 400".split()],
    "simai_sweep": [["run", "none.yaml"]],
    "simai_vidur": [["--cluster-config-num-replicas", "2"]],
}
# Other spellings, which are known too and not offered.
SPELLINGS = {
    "gen_workload --framework": {"Megatron", "DeepSpeed", "DeepSeek"},
    "gen_workload --dtype": {"bf16", "fp16"},
    "simai_planner --framework": {"Megatron", "DeepSpeed", "DeepSeek"},
    "simai_planner --dtype": {"bf16", "fp16"},
    "simai_serving --dtype": {"bf16", "fp16"},
}
# A log of nccl-tests, which an example reads. Shortened from g2_auto.log of
# https://github.com/waynehacking8/nccl-collectives-bench.
LOG = """\
NCCL version 2.29.2+cuda13.1
# Collective test starting: all_reduce_perf
#  Rank  0 Group  0 Pid 1 on node1 device  0 [0000:41:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid 1 on node1 device  1 [0000:44:00] NVIDIA H100 80GB HBM3
 8589934592 2147483648 float sum -1 24730.0 347.35 347.35 0 24747.1 347.11 \
347.11 0
"""
# A table of samples, which an example reads.
OPERATORS = "gpu,operator,precision,m,n,k,time_us\n" + "".join(
    f"H100,linear,bf16,{m},4096,4096,{m / 10}\n" for m in range(64, 2048, 64))
SAMPLES = "mp,b,l,dim,F_dur(us),B_dur(us)\n" + "".join(
    f"1,2,{positions},4096,{positions / 4},{positions / 2}\n"
    for positions in range(1024, 4096, 256))
# A table of kernels, which an example reads.
ITERATIONS = """name: ours
gen_workload: {model: llama2-7b, gpu: H100, gpus: 8, seq-length: 4096,
  global-batch: 8}
simai_analytical: {system: dgx-h100}
iterations: [{seconds: 0.8}]
"""
KERNELS = """\
op_name,gemm_dtype,m,n,k,latency
gemm,bfloat16,64,4096,4096,0.0121
"""
# In a man page: what an example is for, and its command.
EXAMPLE = re.compile(
    r"(?:\.PP\n)?([^.]+?)\n\.PP\n\.RS 4\n\.nf\n(.*?)\.fi\n\.RE\n", re.S)
# The escapes of roff that there are.
ESCAPES = {
    "\\(aq": "'", "\\(ga": "`", "\\(ha": "^", "\\(ti": "~", "\\(dq": '"',
    "\\fB": "", "\\fI": "", "\\fP": "", "\\&": "", "\\-": "-", "\\e": "\\",
}  # fmt: skip
SWEEP_COMMANDS = [[name] for name in (
    "run", "resume", "retry", "status", "export", "compare")]  # fmt: skip
# The commands whose options with values are compared. That of simai has none:
# bash completes its program.
COMMANDS = {"simai_sweep": "run", "simai": "topo"}
# Takes any text. What is offered are GPUs.
ANY_TEXT = {"gen_topo --gpu-type": ["gen_workload", *MODEL, "--gpu"]}


def programs():
    return sorted(os.listdir(SHARE / "bash-completion" / "completions"))


def run(*command, cwd):
    return subprocess.run([BIN / command[0], *command[1:]], cwd=cwd,
                          capture_output=True, text=True, check=False)


def pieces(line):
    """Returns the words of a line as bash has them in COMP_WORDS."""
    words = re.findall(r"[=:]+|(?:\\.|\"[^\"]*\"?|'[^']*'?|[^=:\s])+", line)
    if line.endswith(" "):
        words.append("")
    return words


class ShellTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a b ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def touch(self, *names):
        for name in names:
            self.folder.joinpath(name).touch()

    def completions(self, *lines):
        """Returns for each line what may replace its last piece, in order."""
        program = lines[0].split()[0]
        source = SHARE / "bash-completion" / "completions" / program
        script = [f"source {shlex.quote(str(source))}", ASK]
        script += (shlex.join(["ask", line, *pieces(line)]) for line in lines)
        done = subprocess.run(
            ["bash", "--norc", "--noprofile", "-c", "\n".join(script)],
            cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answers = done.stdout.split("\0")[:-1]
        return [answer.strip("\n").split("\n") if answer.strip("\n") else []
                for answer in answers]

    def assert_offers(self, line, *expected):
        self.assertEqual(self.completions(line), [list(expected)], line)


class CompletionTest(ShellTest):
    def test_offers_long_options_and_short_ones_with_their_dashes(self):
        self.assert_offers("gen_topo -to", "-topo")
        self.assert_offers("gen_topo --to", "--topology")
        self.assert_offers("gen_topo -nvb", "-nvbw")
        self.assert_offers("gen_topo --nv_sw", "--nv-switch-per-server")
        self.assertEqual(
            self.completions("gen_topo ")[0][:3],
            ["--topology", "-topo", "--fabric"])

    def test_offers_no_option_twice(self):
        self.assert_offers("gen_topo -topo NVL --d", "--dt", "--dp",
                           "--describe", "--draw")
        self.assert_offers("gen_topo -dt -topo NVL --d", "--dp", "--describe",
                           "--draw")
        self.assert_offers("gen_topo --topology=NVL -to")
        # A value is not an option.
        self.assert_offers("gen_topo --output --dt --d", "--dt", "--dp",
                           "--describe", "--draw")

    def test_offers_the_values_of_an_option_by_any_of_its_names(self):
        self.assert_offers("gen_topo --topology D", "DCN+")
        self.assert_offers("gen_topo -topo D", "DCN+")
        self.assert_offers("gen_topo -topology Spec", "Spectrum-X")
        fidelities = ["closed-form", "analytical", "flow", "packet"]
        self.assert_offers("simai_simulator --fidelity ", *fidelities)
        self.assert_offers("simai_simulator --fidelity=", *fidelities)
        self.assert_offers("simai_simulator --fidelity=f", "flow")
        self.assert_offers("gen_workload --grad_dtype f", "fp32")

    def test_offers_a_value_whose_case_is_another(self):
        self.assert_offers("gen_workload --gpu=L4", "l40s")
        self.assert_offers("simai_collective --op ALL_R", "all_reduce")
        self.assert_offers("simai_collective --op all-r", "all_reduce")

    def test_offers_nothing_where_nothing_is_known(self):
        self.assert_offers("gen_topo -g ")
        self.assert_offers("gen_topo --no-such ", *self.completions(
            "gen_topo ")[0])
        self.assert_offers("gen_topo --no-such=")
        self.assert_offers("gen_topo --ro=")
        self.assert_offers("gen_topo --topology X")
        self.assert_offers("simai_sweep no-such ")
        self.assert_offers("simai_sweep no-such --")

    def test_offers_files_whatever_their_names(self):
        self.touch("my file.txt", "my-file.txt", "c=d:e.txt")
        self.folder.joinpath("my folder").mkdir()
        mine = ["my file.txt", "my folder", "my-file.txt"]
        for line in ("simai_analytical -w m", "simai_analytical -w=m",
                     "simai_analytical --workload=m"):
            self.assertEqual(sorted(self.completions(line)[0]), mine, line)
        self.assert_offers("simai_analytical -w my\\ fi", "my file.txt")
        self.assert_offers('simai_analytical -w "my fi', "my file.txt")
        self.assert_offers("simai_analytical --workload='my fi", "my file.txt")
        # Only what stands behind the last "=" or ":" is replaced.
        self.assert_offers("simai_analytical -w c=d:", "e.txt")
        self.assert_offers("simai_analytical -w c=", "d:e.txt")
        self.assert_offers("simai_analytical -o m", "my folder")
        self.assert_offers("simai_collective --compare my-", "my-file.txt")

    def test_offers_files_beside_names(self):
        self.touch("llama3-mine.yaml")
        self.assert_offers("gen_workload -m llama3-", "llama3-405b",
                           "llama3-70b", "llama3-8b", "llama3-mine.yaml")
        self.assert_offers("gen_workload -m LLAMA2-1", "llama2-13b")
        self.touch("LLAMA2-mine.yaml")
        self.assert_offers("gen_workload -m LLAMA2-", "LLAMA2-mine.yaml")

    def test_offers_files_behind_a_comma(self):
        self.touch("a.csv", "b.csv")
        self.assert_offers("gen_workload --operator-table a.csv,b",
                           "a.csv,b.csv")
        self.assert_offers("gen_workload --operator-table=a.csv,",
                           "a.csv,a.csv", "a.csv,b.csv")

    def test_offers_commands_then_their_operands_and_options(self):
        self.touch("a.yaml", "b.yml", "c.txt")
        self.folder.joinpath("d").mkdir()
        self.assert_offers("simai_sweep ", "run", "resume", "retry", "status",
                           "export", "compare")
        self.assert_offers("simai_sweep re", "resume", "retry")
        self.assert_offers("simai_sweep --v", "--version")
        self.assert_offers("simai_sweep run ", "d", "a.yaml", "b.yml")
        self.assert_offers("simai_sweep run --jobs 4 a", "a.yaml")
        self.assert_offers("simai_sweep run a.yaml --sch", "--scheduler")
        self.assert_offers("simai_sweep run --scheduler=s", "slurm")
        self.assert_offers("simai_sweep status ", "d")
        self.assert_offers("simai_sweep status --po", "--points")
        self.assert_offers("simai_sweep compare d ", "d")
        self.assert_offers("simai_compare d ", "d")
        self.assertEqual(self.completions("simai_sweep compare d d ")[0][0],
                         "--top")

    def test_offers_the_commands_of_simai(self):
        commands = ["topo", "workload", "analyze", "simulate", "collective",
                    "fit", "plan", "serve", "compare", "goodput", "trace",
                    "physical", "sweep", "vidur", "help"]
        self.assert_offers("simai ", *commands)
        self.assert_offers("simai he", "help")
        self.assert_offers("simai --v", "--version")
        self.assert_offers("simai help ", *commands)
        self.assert_offers("simai help s", "simulate", "serve", "sweep")
        self.assert_offers("simai no-such ")

    def test_offers_behind_a_command_of_simai_what_its_program_does(self):
        self.touch("my file.txt", "my-file.txt", "a.csv", "s.yaml")
        for command, program, rests in (
            ("topo", "gen_topo",
             ["", "-to", "--topology=D", "-topo NVL --d", "-topo D"]),
            ("workload", "gen_workload",
             ["--gpu ", "-m llama3-", "--operator-table=a.csv,"]),
            ("analyze", "simai_analytical", ["-w m", "-w 'my f", "-v "]),
            ("simulate", "simai_simulator", ["--fidelity=f", "-w my\\ fi"]),
            ("collective", "simai_collective", ["--op ALL_R", "--sys"]),
            ("sweep", "simai_sweep",
             ["", "re", "run ", "run s.yaml --sch", "run --scheduler=s"]),
        ):  # fmt: skip
            expected = self.completions(*(f"{program} {r}" for r in rests))
            self.assertEqual(
                self.completions(*(f"simai {command} {r}" for r in rests)),
                expected)
            # Blanks and the path of the program are no part of the command.
            self.assertEqual(
                self.completions(*(f"simai  {command}  {r}" for r in rests)),
                expected)
            self.assertNotIn([], expected)


class ValuesTest(ShellTest):
    def offered(self):
        """Returns the values offered, by "PROGRAM --OPTION"."""
        offered = {}
        for program in programs():
            command = COMMANDS.get(program, "")
            source = SHARE / "bash-completion" / "completions" / program
            script = LIST_VALUES.replace("PROGRAM", program)
            done = subprocess.run(
                ["bash", "--norc", "-c", script, "bash", source, command],
                capture_output=True, text=True, check=True)  # fmt: skip
            for line in done.stdout.splitlines():
                option, *values = line.split()
                offered[f"{program} {option}"] = values
        return offered

    def known(self, option, arguments):
        """Returns the values that a program lists where it knows one not."""
        program, flag = option.split()
        value = "no-such-value"
        done = run(program, *arguments, flag, value, cwd=self.folder)
        match = re.search(f'unknown .*"{value}".* \\(known: (.*)\\)',
                          done.stderr)
        self.assertTrue(match, f"{option}: {done.stderr}")
        return match.group(1).split(", ")

    def test_offers_what_the_programs_know(self):
        offered = self.offered()
        for option, values in offered.items():
            if option in ANY_TEXT:
                continue
            cases = REFUSALS.get(option) or REFUSALS[option.split()[0]]
            known = set()
            for arguments in cases:
                known.update(self.known(option, arguments))
            known -= SPELLINGS.get(option, set())
            self.assertEqual(set(values), known, option)
        for option in [*REFUSALS, *SPELLINGS, *ANY_TEXT]:
            if "--" in option:
                self.assertIn(option, offered)
        self.assertIn("simai_simulator --collectives", offered)
        self.assertIn("simai_sweep --scheduler", offered)

    def test_offers_names_where_any_is_accepted(self):
        offered = self.offered()
        for option, check in ANY_TEXT.items():
            for value in offered[option]:
                done = run(*check, value, "-o", "out", cwd=self.folder)
                self.assertEqual((done.returncode, value), (0, value))


class ManPageTest(ShellTest):
    def page(self, program):
        return (SHARE / "man" / "man1" / f"{program}.1").read_text("ascii")

    def plain(self, program):
        """Returns the page without what tells roff how to print it."""
        text = self.page(program)
        for escape, character in ESCAPES.items():
            text = text.replace(escape, character)
        return text

    def commands(self, program):
        return SWEEP_COMMANDS if program == "simai_sweep" else [[]]

    def test_holds_every_option_and_what_help_says_of_it(self):
        for program in programs():
            page = " ".join(self.plain(program).split())
            for command in self.commands(program):
                done = run(program, *command, "--help", cwd=self.folder)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                options = list(OPTION.finditer(done.stdout))
                # simai only has the options that every program has.
                fewest = {"simai": 2, "simai_compare": 4}.get(program, 5)
                self.assertGreaterEqual(len(options), fewest)
                for match in options:
                    line = " ".join(match.group().split())
                    self.assertIn(f".TP {line} ", page, program)

    def test_is_of_known_requests_and_escapes(self):
        request = re.compile(
            r"\.(TH .*|ad l|S[HS] .*|TP|PP|RS( 4)?|RE|nf|fi|br|I \".*\"|"
            r"BR \w+ \(1\),?)$")
        for program in programs():
            text = self.page(program)
            for line in text.splitlines():
                self.assertEqual(line, line.rstrip(), program)
                if line.startswith("."):
                    self.assertRegex(line, request, program)
                else:
                    self.assertRegex(line, r"^[^']", program)
            for escape in ESCAPES:
                text = text.replace(escape, "")
            self.assertNotIn("\\", text, program)

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_is_printed_without_a_warning(self):
        for program in programs():
            done = subprocess.run(
                ["groff", "-man", "-ww", "-Tutf8", "-P-cbou"],
                input=self.page(program), capture_output=True, text=True,
                check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), program)
            self.assertIn("EXIT STATUS", done.stdout)

    def test_names_every_file_that_a_run_writes(self):
        """But for those that some option alone asks for, with all of these."""
        model = [*MODEL, "--gpu", "H100", "--format", "program"]
        for command in (
            ["gen_workload", *model, "-o", "w"],
            ["simai_analytical", "-w", "w", "-n", TOPOLOGY, "--trace", "-o",
             "simai_analytical"],
            ["simai_simulator", "-w", "w", "-n", TOPOLOGY, "--trace",
             "--simai-files", "--sample", "1s", "--capture", "0-8",
             "--stop-at", "1us", "-o", "simai_simulator"],
            ["simai_collective", "--system", "dgx-h100", "-e", "1K", "-o",
             "simai_collective"],
        ):  # fmt: skip
            done = run(*command, cwd=self.folder)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            for path in self.folder.glob(f"{command[0]}/*"):
                self.assertIn(f"results/NAME/{path.name}\n",
                              self.plain(command[0]))

    def examples(self, program):
        """Returns (what it is for, its command) of each example."""
        section = self.plain(program).split("\n.SH EXAMPLES\n")[1]
        return EXAMPLE.findall(section.split(".SH ")[0])

    def test_gives_the_examples_that_help_ends_with(self):
        for program in programs():
            text = "\nExamples:\n"
            for purpose, command in self.examples(program):
                text += f"  {purpose}\n{textwrap.indent(command, ' ' * 4)}"
            done = run(program, "--help", cwd=self.folder)
            self.assertTrue(done.stdout.endswith(text), f"{program}: {text}")
            self.assertLess(max(map(len, text.splitlines())), 81)

    def test_gives_examples_that_work_one_after_the_other(self):
        """Besides, they read a log, tables, iterations, hosts and a sweep."""
        text = run("simai_sweep", "--help", cwd=self.folder).stdout
        sweep = text.split("the shortest:\n\n")[1].split("\n\n")[0]
        self.folder.joinpath("sweep.yaml").write_text(
            textwrap.dedent(sweep), encoding="utf-8")
        self.folder.joinpath("two_gpus.log").write_text(LOG, encoding="utf-8")
        self.folder.joinpath("A100_linear1_fp16.csv").write_text(
            SAMPLES, encoding="utf-8")
        self.folder.joinpath("gemm_vllm.csv").write_text(
            KERNELS, encoding="utf-8")
        for path in (ROOT / "inputs" / "simumax").glob("*.json"):
            self.folder.joinpath(path.name).write_bytes(path.read_bytes())
        shutil.copytree(ROOT / "inputs" / "vidur",
                        self.folder / "data" / "profiling")
        self.folder.joinpath("operators.csv").write_text(
            OPERATORS, encoding="utf-8")
        self.folder.joinpath("iterations.yaml").write_text(
            ITERATIONS, encoding="utf-8")
        self.folder.joinpath("hosts.txt").write_text(
            "localhost slots=8\n", encoding="utf-8")
        environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
        for program in programs():
            examples = self.examples(program)
            self.assertGreater(len(examples), 1, program)
            for _, command in examples:
                self.assertEqual(command.split()[0], program)
                done = subprocess.run(
                    ["bash", "-c", command], cwd=self.folder, env=environment,
                    capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, command), (0, command),
                                 done.stderr)


class Terminal:
    """Bash at a terminal, where programs only say what they were given."""

    def __init__(self, folder):
        self.result = folder / ".arguments"
        start = folder / ".bashrc"
        lines = []
        for name in programs():
            completion = SHARE / "bash-completion" / "completions" / name
            lines.append(f"source {shlex.quote(str(completion))}")
            lines.append(f"{name}() {{ printf '%s\\0' \"$@\" >~/.new; "
                         "mv ~/.new ~/.arguments; }")
        start.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.controller, terminal = pty.openpty()
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb",
            "INPUTRC": "/dev/null", "HISTFILE": "/dev/null",
        }  # fmt: skip
        self.bash = subprocess.Popen(
            ["bash", "--noprofile", "--rcfile", start, "-i"], cwd=folder,
            env=environment, stdin=terminal, stdout=terminal, stderr=terminal,
            start_new_session=True)
        os.close(terminal)

    def close(self):
        self.bash.kill()
        self.bash.wait()
        os.close(self.controller)

    def type(self, keys):
        """Returns the arguments of the program that is called by `keys`."""
        self.result.unlink(missing_ok=True)
        os.write(self.controller, keys.encode() + b"\n")
        shown = b""
        end = time.monotonic() + TIME_LIMIT
        while not self.result.exists():
            if select.select([self.controller], [], [], 0.05)[0]:
                shown += os.read(self.controller, 4096)
            if time.monotonic() > end:
                raise AssertionError(f"no answer to {keys!r}: {shown!r}")
        text = self.result.read_text(encoding="utf-8")
        return text.split("\0")[:-1]


class TerminalTest(ShellTest):
    def setUp(self):
        super().setUp()
        self.touch("my file.txt", "c=d:e.txt", "a.csv", "b.csv", "s.yaml")
        self.folder.joinpath("results").mkdir()
        self.terminal = Terminal(self.folder)
        self.addCleanup(self.terminal.close)

    def test_the_key_tab_completes(self):
        for keys, arguments in {
            "gen_topo -to\tD\t": ["-topo", "DCN+"],
            "gen_topo --topology=D\t--des\t": ["--topology=DCN+",
                                               "--describe"],
            "simai_simulator --fidelity=f\t": ["--fidelity=flow"],
            "simai_simulator --fidelity f\t": ["--fidelity", "flow"],
            "simai_simulator -w my\t-n c\t": ["-w", "my file.txt", "-n",
                                              "c=d:e.txt"],
            "simai_simulator -w my\\ f\t": ["-w", "my file.txt"],
            "simai_simulator -w \"my f\t": ["-w", "my file.txt"],
            "simai_simulator --workload='my f\t": ["--workload=my file.txt"],
            "simai_simulator --workload=my\t": ["--workload=my file.txt"],
            "simai_simulator -w c=d:\t": ["-w", "c=d:e.txt"],
            "simai_simulator -o r\t": ["-o", "results/"],
            "simai_simulator -w ~/my\t": ["-w", f"{self.folder}/my file.txt"],
            # The cursor is behind the p.
            "gen_topo -top -g 8\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\t":
                ["-topo", "-g", "8"],
            "gen_workload --gpu L4\t": ["--gpu", "l40s"],
            "gen_workload --operator-table a.csv,b\t": ["--operator-table",
                                                       "a.csv,b.csv"],
            "simai_sweep ru\ts\t--sch\ts\t": ["run", "s.yaml", "--scheduler",
                                              "slurm"],
            "simai to\t-to\tD\t": ["topo", "-topo", "DCN+"],
            "simai analyze -w my\t-n c\t": ["analyze", "-w", "my file.txt",
                                            "-n", "c=d:e.txt"],
            "simai sw\tru\ts\t": ["sweep", "run", "s.yaml"],
        }.items():  # fmt: skip
            self.assertEqual(self.terminal.type(keys), arguments, keys)

    def test_the_key_tab_completes_where_words_are_not_taken_apart(self):
        self.terminal.type("COMP_WORDBREAKS=' '; gen_topo")
        self.assertEqual(self.terminal.type("simai_simulator --fidelity=f\t"),
                         ["--fidelity=flow"])

    def test_the_key_tab_completes_files_behind_a_redirection(self):
        for keys in ("gen_topo -topo NVL --describe > N\t",
                     "simai_sweep run s.yaml 2>N\t --count"):
            self.touch("New file")
            self.terminal.type(keys)
            self.assertFalse(self.folder.joinpath("N").exists(), keys)
        self.assert_offers("gen_topo -topo NVL > N", "New file")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=BIN)
    parser.add_argument("--share", type=pathlib.Path, default=SHARE)
    options, rest = parser.parse_known_args()
    BIN, SHARE = options.bin.resolve(), options.share.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
