#!/usr/bin/env python3
"""Feeds mutated input files to the whole programs.

usage: mutated_inputs_test.py --bin DIR [--count N] [--seed N] [--only NAME]
                              [--keep DIR] [--places]

The seeds are those of the fuzzers and the files in inputs/. Each is changed
in one to four places, with words of tests/fuzz/dictionaries among other things,
and read by a program under a limit of memory and of time. A run fails the test
if it
  - ends by a signal or with another code than 0, 1 and 2,
  - does not end in time,
  - ends with 2 without exactly one line of an error, with nothing that cannot
    be printed, that names the file and the line in it, or
  - leaves a temporary file, or with 2 any result, behind.
For each failure, its input is kept and the command is printed that repeats it.
Input I of a seed is the same on each machine, so --first I repeats it, too.
"""

import argparse
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

REPO = pathlib.Path(__file__).resolve().parents[2]
CORPUS = REPO / "tests/fuzz/corpus"
MEMORY_BYTES = 3 << 29  # 1.5 GiB
SECONDS = 20
LARGEST_SEED = 20_000  # bytes; larger ones take the time of many small ones

NUMBERS = [b"0", b"-1", b"1", b"2", b"3", b"7", b"8", b"16", b"1e3", b"0.5",
           b"100000", b"16777216", b"2147483647", b"2147483648",
           b"4294967295", b"9223372036854775807", b"9223372036854775808",
           b"1e300", b"1e999", b"nan", b"-0.0", b"1e-300", b""]

WORKLOAD = """HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 \
pp: 1 vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0
2
attention -1 1000 ALLREDUCE 4096 0 NONE 0 0 NONE 0 0
grad_gather -1 1000 NONE 0 0 NONE 0 0 ALLGATHER 4096 0
"""

SIZES = "--world-size 8 --micro-batch 1 --global-batch 8 --seq-length 128"
SMALL = "-b 64K -e 64K"
TOPOLOGY = "inputs/topologies/one_server_8_h100.txt"
FABRIC = "inputs/discovered/four_dgx_h100_ibnetdiscover.txt"

SIMUMAX = CORPUS / "simumax"
VIDUR = REPO / "inputs/vidur"
LLAMA = "compute/a100/meta-llama/Meta-Llama-3-8B"
ON_VIDUR = ("simai_vidur --profiles VIDUR/ --replica-config-model-name "
            "meta-llama/Meta-Llama-3-8B -o OUT ")
OF_FOREST = "--random-forrest-execution-time-predictor-config-"
FEW = ("--synthetic-request-generator-config-num-requests 4 "
       "--fixed-request-length-generator-config-decode-tokens 4 ")

# Commands that read the seeds of each kind of input. FILE is the mutated file, OUT the output; WORKLOAD,
# PROGRAM and TOPOLOGY are files for 8 GPUs, FABRIC is an InfiniBand fabric, APPLICATION, EXECUTION and SYSTEM those of Calculon;
# SIMUMAX is the folder of those of SimuMax, VIDUR that of the tables of Vidur.
READERS = {
    "model": ("yaml", ["inputs/models/*.yaml", "corpus/model/*"], [
        f"gen_workload -m FILE --gpu H100 {SIZES} --tp 2 --sp --format "
        "program -o OUT",
        f"gen_workload -m FILE --gpu H100 {SIZES} --pp 2 -o OUT",
        "gen_workload -m FILE --gpu H100 --world-size 8 --tp 8 --batch 1 "
        "--seq-length 128 --phase decode -o OUT"]),
    "simumax_model": ("json", ["inputs/simumax/llama3-8b.json",
                               "corpus/simumax/model_*"], [
        "simai_planner --simumax FILE,"
        "SIMUMAX/strategy_chunks.json,SIMUMAX/system.json -o OUT",
        "simai_planner --simumax FILE,"
        "SIMUMAX/strategy_recompute.json,SIMUMAX/system.json -o OUT"]),
    "simumax_strategy": ("json", ["inputs/simumax/tp1_pp2_dp4_mbs1.json",
                                  "corpus/simumax/strategy_*"], [
        "simai_planner --simumax SIMUMAX/model_dense.json,FILE,"
        "SIMUMAX/system.json -o OUT",
        "simai_planner --simumax SIMUMAX/model_moe.json,FILE,"
        "SIMUMAX/system.json -o OUT"]),
    "simumax_system": ("json", ["corpus/simumax/system*"], [
        "simai_planner --simumax SIMUMAX/model_moe.json,"
        "SIMUMAX/strategy_recompute.json,FILE -o OUT"]),
    "hugging_face": ("json", ["corpus/hugging_face/*"], [
        f"gen_workload -m FILE --gpu H100 {SIZES} --format program -o OUT"]),
    "gpu": ("yaml", ["inputs/gpus/*.yaml", "corpus/gpu/*"], [
        f"gen_workload -m llama2-7b --gpu FILE {SIZES} --tp 2 -o OUT"]),
    "operator_table": ("csv", ["corpus/operator_table/*"], [
        f"gen_workload -m llama2-7b --gpu H100 --operator-table FILE {SIZES} "
        "--table-gpu H100 -o OUT"]),
    "fitted_operators": ("txt", ["corpus/fitted_operators/*"], [
        f"gen_workload -m llama2-7b --gpu H100 --operator-table FILE {SIZES} "
        "-o OUT"]),
    "aiob": ("txt", ["corpus/aiob/*"], [
        f"gen_workload -m gpt-7b --aiob --comp-filepath FILE {SIZES} -o OUT"]),
    "topology": ("txt", ["inputs/topologies/*.txt", "corpus/topology/*"], [
        "simai_analytical -w WORKLOAD -n FILE -o OUT",
        "simai_analytical -w WORKLOAD -n FILE --system dgx-h100 -o OUT",
        "simai_simulator -w WORKLOAD -n FILE --estimate",
        "simai_simulator -w WORKLOAD -n FILE --fidelity flow -o OUT"]),
    "workload": ("txt", ["inputs/workloads/*.txt", "corpus/workload/*",
                         "WORKLOAD"], [
        "simai_analytical -w FILE -n TOPOLOGY -o OUT",
        "simai_analytical -w FILE -g 8 -g_p_s 8 -gpu_type H100 -o OUT",
        "simai_simulator -w FILE -n TOPOLOGY --estimate"]),
    "program": ("yaml", ["corpus/program/*", "PROGRAM"], [
        "simai_analytical -w FILE -n TOPOLOGY -o OUT",
        "simai_simulator -w FILE -n TOPOLOGY --estimate"]),
    "bus_bandwidth": ("yaml", ["inputs/busbw/*.yaml",
                               "corpus/bus_bandwidth/*"], [
        "simai_analytical -w WORKLOAD -n TOPOLOGY --busbw FILE -o OUT"]),
    "system": ("yaml", ["inputs/systems/*.yaml", "corpus/system/*"], [
        f"simai_collective --system FILE {SMALL} -o OUT",
        f"simai_collective --system FILE --nodes 2 {SMALL} -o OUT",
        "simai_analytical -w WORKLOAD -n TOPOLOGY --system FILE -o OUT"]),
    "nccl_options": ("txt", ["corpus/nccl_options/*"], [
        f"simai_collective --system dgx-h100 --nccl-file FILE {SMALL} "
        "-o OUT"]),
    "network": ("yaml", ["inputs/networks/*.yaml", "corpus/network_file/*"], [
        "simai_simulator -w WORKLOAD -n TOPOLOGY -c FILE --estimate",
        "simai_simulator -w WORKLOAD -n TOPOLOGY -c FILE --stop-at 100us "
        "-o OUT",
        "simai_simulator -w WORKLOAD -n TOPOLOGY -c FILE --fidelity flow "
        "-o OUT"]),
    "simai_conf": ("conf", ["inputs/networks/*.conf", "corpus/simai_conf/*"], [
        "simai_simulator -w WORKLOAD -n TOPOLOGY -c FILE --estimate",
        "simai_simulator -w WORKLOAD -n TOPOLOGY -c FILE --stop-at 100us "
        "-o OUT"]),
    "schedule": ("yaml", ["inputs/schedules/*.yaml", "corpus/schedule/*"], [
        f"simai_collective --system dgx-h100 --algorithm FILE {SMALL} -o OUT",
        f"simai_collective --system dgx-h100 --gpus 4 --algorithm FILE {SMALL} "
        "--op alltoall -o OUT"]),
    "msccl": ("xml", ["inputs/schedules/*.xml", "corpus/msccl/*"], [
        f"simai_collective --system dgx-h100 --gpus 4 --algorithm FILE {SMALL} "
        "-o OUT"]),
    "nccl_tests_log": ("txt", ["corpus/nccl_tests_log/*"], [
        "simai_collective --system dgx-h100 --op all_reduce --compare FILE "
        "-o OUT"]),
    "kernel_table": ("csv", ["corpus/kernel_table/*"], [
        "simai_fit --compare-table FILE --gpu H200 -o OUT",
        "gen_workload -m llama2-7b --gpu H100 --world-size 8 --tp 8 --batch 1 "
        "--seq-length 128 --phase decode --operator-table FILE -o OUT"]),
    "measured_table": ("csv", ["corpus/measured_table/*"], [
        "simai_collective --compare-table FILE -o OUT"]),
    "inspector_log": ("txt", ["corpus/inspector_log/*"], [
        "simai_collective --system dgx-h100 --servers 2 --gpus-per-server 4 "
        f"{SMALL} --op all_reduce --measured FILE -o OUT"]),
    "inference_engine": ("yaml", ["inputs/engines/*.yaml",
                                  "corpus/inference_engine/*"], [
        f"simai_collective --system dgx-h100 {SMALL} --op all_reduce --engine "
        "FILE -o OUT"]),
    "dispatcher": ("yaml", ["inputs/dispatchers/*.yaml",
                            "corpus/dispatcher/*.yaml"], [
        f"simai_collective --system dgx-h100 {SMALL} --op dispatch --dispatcher "
        "FILE --routing experts=8,top_k=2,dispatch_bytes=64,combine_bytes=64 "
        "-o OUT"]),
    "framework": ("yaml", ["inputs/frameworks/*.yaml",
                           "corpus/framework/*.yaml"], [
        "gen_workload -m llama2-7b --gpu-type H100 --gpus 8 --tp 2 --sp "
        "--global-batch 8 --seq-length 4096 --framework FILE -o OUT"]),
    "calculon_application": ("json", ["APPLICATION"], [
        "simai_planner --calculon FILE,EXECUTION,SYSTEM -o OUT"]),
    "calculon_execution": ("json", ["EXECUTION"], [
        "simai_planner --calculon APPLICATION,FILE,SYSTEM -o OUT"]),
    "calculon_system": ("json", ["SYSTEM"], [
        "simai_planner --calculon APPLICATION,EXECUTION,FILE -o OUT"]),
    "evo_config": ("yaml", ["inputs/internevo/*.yaml",
                            "corpus/evo_config/*.yaml"], [
        "simai_planner --config FILE --world-size 16 --gpu A800 -o OUT"]),
    "vidur_compute": ("csv", [f"inputs/vidur/{LLAMA}/mlp.csv",
                              "corpus/vidur_table/mlp.csv"], [
        f"{ON_VIDUR}{FEW}{OF_FOREST}compute-input-file FILE"]),
    "vidur_attention": ("csv", [f"inputs/vidur/{LLAMA}/attention.csv",
                                "corpus/vidur_table/attention.csv"], [
        f"{ON_VIDUR}{FEW}{OF_FOREST}attention-input-file FILE"]),
    "vidur_trace": ("csv", ["corpus/vidur_table/trace.csv",
                            "corpus/vidur_table/lengths.csv"], [
        f"{ON_VIDUR}--request-generator-config-type trace_replay "
        "--trace-request-generator-config-trace-file FILE"]),
    "iteration_file": ("yaml", ["corpus/iteration_file/*.yaml"], [
        "simai_fit --iteration FILE -o OUT"]),
    "request_trace": ("csv", ["corpus/request_trace/*"], [
        "simai_serving -m llama3-8b --gpu H100 --trace FILE --requests 4 "
        "-o OUT",
        "simai_serving -m llama3-8b --gpu H100 --trace FILE --requests 4 "
        "--engine sglang --concurrency 2 -o OUT"]),
    "serving_points": ("csv", ["corpus/serving_points/*"], [
        "simai_serving --compare-table FILE -o OUT"]),
    "events_file": ("yaml", ["corpus/events_file/*.yaml"], [
        "simai_simulator -w WORKLOAD -n TOPOLOGY --fidelity flow --events FILE "
        "-o OUT"]),
    "fabric": ("yaml", ["corpus/fabric/*.yaml"], [
        "gen_topo --fabric FILE -o OUT"]),
    "ibnetdiscover": ("txt", ["inputs/discovered/*.txt",
                              "corpus/ibnetdiscover/*"], [
        "gen_topo --ibnetdiscover FILE -o OUT",
        "gen_topo --ibnetdiscover FILE -gps 4 --gpu-type A100 -o OUT"]),
    "nccl_topology": ("xml", ["inputs/discovered/*.xml",
                              "corpus/nccl_topology/*"], [
        "gen_topo --ibnetdiscover FABRIC --nccl-topology FILE -o OUT"]),
    "jobs_file": ("yaml", ["corpus/jobs_file/*.yaml"], [
        "simai_simulator --jobs FILE -n TOPOLOGY --fidelity flow -o OUT"]),
    "sweep": ("yaml", ["inputs/sweeps/*.yaml", "corpus/sweep/*.yaml"], [
        *["simai_sweep run FILE --count"] * 9,
        "simai_sweep run FILE --dry-run -o OUT"]),
}
DICTIONARIES = {"yaml": "yaml", "json": "yaml", "xml": "xml", "txt": "text",
                "csv": "text", "conf": "text"}

# These errors name no line: they are of a file as a whole, of two files together,
# or of a file beside an option. FILE is the changed file, OTHER another one.
WITHOUT_A_LINE = [
    "out of memory: ",
    # A table of Vidur as a whole.
    r"FILE: (no row has|fewer than 2 rows of|no requests)",
    r"FILE: expected a file named GPU_OPERATOR_PRECISION\.csv",
    r"illegal layout: ",
    # The file lacks what an option asks for; the error names the key.
    r"\d+ servers: \S+ has at most \d+ \(max_servers\)",
    r"--op is \w+, but FILE is of \w+",
    # The topology of FILE lacks something.
    r"(FILE: )?GPU \d+ has no link, NVLink or PCIe, to others of its server",
    r"a server of \S+ has 1 GPU \(gpus_per_server\), ",
    r"sequence length \d+ is beyond the \d+ learned positions "
    r"\(max_positions\)",
    r"\d+ positions are beyond the \d+ learned ones \(max_positions\)",
    r"FILE: \w+ has no effect with --fidelity ",
    r"FILE: --system .+ has the GPU \S+, but OTHER has ",
    r"FILE: none of its \d+ rows can be used: ",
    r"--measured has no effect: nothing there was measured for ",
    r"FILE: expected measured times: ",
    r"FILE: does not tell",
    # A changed model or system lets the execution beside it break a rule, or
    # needs more memory.
    r"OTHER/calculon/\S+\.json:\d+:\d+: ",
    r"(FILE|OTHER\.json): mem[12] has ",
    r"FILE: (pipeline|tensor|weight|zero1) size \d+ ",
    r"--model_size is missing: ",
    r"\w+ pp \d+ .+: a group lies unevenly on servers of \d+",
    # A model that the strategy beside it does not suit, whose line is named.
    r"OTHER/simumax/strategy_\w+\.json:\d+:\d+: ",
    # A request of a trace that no replica can hold, or that comes too late.
    r"request \d+ has \d+ prompt and \d+ output tokens: ",
    r"block_tokens is \d+: expected a divisor of ",
    "the simulation passes 100 days",
    # A fabric and a server that do not fit.
    r"(FILE|OTHER): no host has ",
    r"FILE is for \d+ GPUs \(\w+\), OTHER has \d+",
    r"OTHER is for \d+ GPUs \(\w+\), FILE has \d+",
]


def read_dictionary(name):
    """The words of a dictionary of libFuzzer."""
    words = []
    for line in (REPO / f"tests/fuzz/dictionaries/{name}.dict").read_text(
            "ascii").splitlines():
        if not line.startswith('"'):
            continue
        escaped = line[1:-1].encode()
        words.append(re.sub(
            rb'\\(x[0-9a-f]{2}|["\\])',
            lambda m: bytes([int(m[1][1:], 16)]) if m[1][:1] == b"x" else m[1],
            escaped))
    return words


class Mutator:
    def __init__(self, rng, seeds, words):
        self.rng, self.seeds, self.words = rng, seeds, words

    def mutated(self):
        data = self.rng.choice(self.seeds)
        if self.rng.random() < 0.3:  # May well be a valid file.
            return self.replace_number(data)
        for _ in range(self.rng.choice([1, 1, 1, 2, 3, 4])):
            data = self.rng.choice(self.WAYS)(self, data)
        return data

    def span(self, data, longest=40):
        begin = self.rng.randrange(len(data) + 1)
        return begin, min(len(data), begin + self.rng.randrange(longest))

    def flip(self, data):
        if not data:
            return data
        i = self.rng.randrange(len(data))
        return data[:i] + bytes([self.rng.randrange(256)]) + data[i + 1:]

    def cut(self, data):
        begin, end = self.span(data)
        return data[:begin] + data[end:]

    def truncate(self, data):
        return data[:self.rng.randrange(len(data) + 1)]

    def repeat(self, data):
        begin, end = self.span(data, 200)
        times = self.rng.choice([2, 2, 3, 50])
        return data[:begin] + data[begin:end] * times + data[end:]

    def insert_word(self, data):
        i = self.rng.randrange(len(data) + 1)
        return data[:i] + self.rng.choice(self.words) + data[i:]

    def replace_token(self, data):
        """Replaces what stands between blanks or marks: a number by another,
        anything by a word."""
        tokens = list(re.finditer(rb'[^\s,:;=<>"\[\]{}]+', data))
        if not tokens:
            return data
        token = self.rng.choice(tokens)
        is_number = re.fullmatch(rb"[-+.0-9e]+", token[0]) is not None
        other = self.rng.choice(
            NUMBERS if is_number and self.rng.random() < 0.9 else self.words)
        return data[:token.start()] + other + data[token.end():]

    def replace_number(self, data):
        numbers = list(re.finditer(rb"(?<![\w.])\d+", data))
        if not numbers:
            return data
        number = self.rng.choice(numbers)
        other = self.rng.choice(
            NUMBERS[:8] + [self.rng.choice(numbers)[0],
                           str(self.rng.randrange(1000)).encode()])
        return data[:number.start()] + other + data[number.end():]

    def swap_tokens(self, data):
        tokens = list(re.finditer(rb"\S+", data))
        if len(tokens) < 2:
            return data
        a, b = sorted(self.rng.sample(tokens, 2), key=lambda t: t.start())
        return (data[:a.start()] + b[0] + data[a.end():b.start()] + a[0] +
                data[b.end():])

    def change_lines(self, data):
        """Leaves out, doubles or moves a line."""
        lines = data.splitlines(keepends=True)
        if not lines:
            return data
        line = lines.pop(self.rng.randrange(len(lines)))
        for _ in range(self.rng.randrange(3)):
            lines.insert(self.rng.randrange(len(lines) + 1), line)
        return b"".join(lines)

    def splice(self, data):
        other = self.rng.choice(self.seeds)
        return (data[:self.rng.randrange(len(data) + 1)] +
                other[self.rng.randrange(len(other) + 1):])

    WAYS = [flip, cut, truncate, repeat, insert_word, insert_word,
            replace_token, replace_token, replace_token, replace_token,
            swap_tokens, change_lines, change_lines, splice]


class Runner:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.partners = {
            "TOPOLOGY": str(REPO / TOPOLOGY),
            "FABRIC": str(REPO / FABRIC),
            "WORKLOAD": str(folder / "partner.txt"),
            "PROGRAM": str(folder / "partner.yaml"),
            "APPLICATION": str(REPO / "inputs/calculon/megatron-1T.json"),
            "EXECUTION": str(REPO / "inputs/calculon/"
                             "3072_t4_p64_d12_mbs4_full.json"),
            "SYSTEM": str(REPO / "inputs/calculon/a100_80g.json"),
        }
        (folder / "partner.txt").write_text(WORKLOAD)
        subprocess.run(
            [args.bin / "gen_workload", "-m", "llama2-7b", "--num-layers", "2",
             "--gpu", "H100", "--world-size", "8", "--tp", "2", "--pp", "2",
             "--global-batch", "8", "--seq-length", "128", "--format",
             "program", "-o", self.partners["PROGRAM"]],
            check=True, stdout=subprocess.DEVNULL)
        self.failures = []
        self.codes = {}

    def seeds_of(self, name):
        seeds = []
        for pattern in READERS[name][1]:
            if pattern in self.partners:
                paths = [pathlib.Path(self.partners[pattern])]
            elif pattern.startswith("corpus/"):
                paths = sorted(CORPUS.glob(pattern[len("corpus/"):]))
            else:
                paths = sorted(REPO.glob(pattern))
            for path in paths:
                data = path.read_bytes()
                if name == "operator_table":  # Its first line is its name.
                    data = data.split(b"\n", 1)[1]
                if name == "nccl_options":
                    data = data.replace(b",NCCL", b"\nNCCL")
                if len(data) <= LARGEST_SEED:
                    seeds.append(data)
        assert seeds, name
        return seeds

    def run(self, index, name, data, command):
        file = f"in.{READERS[name][0]}"
        (self.folder / file).write_bytes(data)
        words = {"FILE": file, "OUT": "out", **self.partners}
        arguments = [",".join(words.get(part, part) for part in word.split(","))
                     for word in command.split()]
        arguments = [word.replace("SIMUMAX/", f"{SIMUMAX}/")
                     .replace("VIDUR/", f"{VIDUR}/") for word in arguments]
        arguments[0] = str(self.args.bin / arguments[0])
        out = self.folder / "out"
        try:
            done = subprocess.run(
                arguments, cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                timeout=SECONDS)
            code, said = done.returncode, done.stderr
        except subprocess.TimeoutExpired:
            code, said = "time-out", b""
        self.codes[code] = self.codes.get(code, 0) + 1
        wrong = self.wrong(code, said, file)
        if wrong:
            self.report(index, name, file, data, arguments, wrong, said)
        if out.is_dir():
            shutil.rmtree(out)
        else:
            out.unlink(missing_ok=True)

    def wrong(self, code, said, file):
        """What is wrong with a run, or nothing."""
        left = [path.name for path in self.folder.rglob("*")
                if path.name.endswith(".tmp")]
        for name in left:
            (self.folder / name).unlink(missing_ok=True)
        if code not in (0, 1, 2):
            return f"exit {code}"
        if left:
            return f"temporary files are left: {left}"
        if re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", said):
            return "a control character on stderr"
        lines = said.decode(errors="replace").splitlines()
        errors = [line for line in lines if ": warning: " not in line]
        if code == 0:
            return "an error, and exit 0" if errors else None
        if code == 1:  # The run failed, as points of a sweep may.
            return None
        if len(errors) != 1 or ": error: " not in errors[0]:
            return f"{len(errors)} lines of errors"
        if (self.folder / "out").exists():
            return "an output, and exit 2"
        message = errors[0].split(": error: ", 1)[1]
        if any(re.match(form.replace("FILE", re.escape(file)).replace(
                "OTHER", ".+?"), message) for form in WITHOUT_A_LINE):
            return None
        if not re.match(re.escape(file) + r":[1-9]\d*:[1-9]\d*: ", message):
            return "the error has no place"
        return None

    def report(self, index, name, file, data, arguments, wrong, said):
        kept = self.args.keep / f"{self.args.seed}-{index}"
        kept.mkdir(parents=True, exist_ok=True)
        (kept / file).write_bytes(data)
        self.failures.append(wrong)
        print(f"FAILED {name}: {wrong}\n  {said[-500:].decode(errors='replace')}"
              f"\n  repeat: cd {kept} && (ulimit -v {MEMORY_BYTES >> 10}; "
              f"{' '.join(arguments)})\n  or: {sys.argv[0]} --bin "
              f"{self.args.bin} --seed {self.args.seed} --first {index} "
              "--count 1", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(READERS))
    parser.add_argument("--most-failures", type=int, default=20)
    parser.add_argument("--keep", type=pathlib.Path,
                        default=pathlib.Path(tempfile.gettempdir()) /
                        "mutated_inputs")
    args = parser.parse_args()
    args.bin = args.bin.resolve()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(args, pathlib.Path(folder))
        names = [args.only] if args.only else sorted(READERS)
        seeds = {name: runner.seeds_of(name) for name in names}
        words = {name: read_dictionary(DICTIONARIES[READERS[name][0]])
                 for name in names}
        for i in range(args.first, args.first + args.count):
            name = names[i % len(names)]
            rng = random.Random(f"{args.seed} {i}")
            data = Mutator(rng, seeds[name], words[name]).mutated()
            runner.run(i, name, data, rng.choice(READERS[name][2]))
            if len(runner.failures) >= args.most_failures:
                print(f"stopped after {i + 1 - args.first} inputs")
                break
    codes = ", ".join(f"{count} x {code}" for code, count in
                      sorted(runner.codes.items(), key=str))
    print(f"{sum(runner.codes.values())} inputs in "
          f"{time.monotonic() - begin:.0f} s: exit {codes}; "
          f"{len(runner.failures)} failures")
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
