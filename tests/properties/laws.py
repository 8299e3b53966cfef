"""The properties: each takes a case, and raises where it does not hold.

A property draws its own setups. The tolerance of each is stated beside it;
times are rounded to whole picoseconds, once for each step of a collective.
"""

import re

import topologies
from program_text import ProgramText, with_slower_computation
from runs import picoseconds, words_of
from setups import (GPUS, draw_network, inference, memory_bandwidth, model_text,
                    network, per_server, topology, training)

# What rounding may add up to, as a share of the iteration.
ROUNDING = 1e-5
# A module of --explain, how often it runs, its parameters on a GPU.
MODULE = re.compile(r"^  (\w+), (\d+) times: (\d+) parameters", re.M)


def _read_program(case, name="program.yaml"):
    return ProgramText(case.path(name).read_text())


def _close(a, b, tolerance=ROUNDING):
    return abs(a - b) <= tolerance * max(abs(a), abs(b)) + 1


def breakdown_adds_up(case):
    """The parts of each stage, of the summary and of EndToEnd.csv are the
    iteration, to the picosecond; computation is what the program says."""
    options = training(case)
    run = case.analytical("program.yaml", draw_network(case, options))
    stages = {}
    for row in run.rows("breakdown.csv"):
        parts = stages.setdefault(int(row["stage"]), {})
        parts[row["category"]] = (parts.get(row["category"], 0) +
                                  picoseconds(row["time_us"]))
    case.expect(len(stages) == options["pp"], f"{len(stages)} stages")
    program = _read_program(case)
    for stage, parts in stages.items():
        case.expect(sum(parts.values()) == run.time,
                    f"stage {stage}: {parts} is not {run.time}")
        if program.schedule != "dualpipe":  # Runs one of two chunks.
            expected = program.compute(program.stages[stage])
            case.expect(parts["compute"] == expected,
                        f"stage {stage} computes {parts['compute']} ps, "
                        f"the program has {expected}")
    for part in (run.json["result"], run.iteration):
        total = (part["compute_ps"] + part["slowed_ps"] + part["bubble_ps"] +
                 sum(part["exposed_ps"].values()) + part.get("transfer_ps", 0))
        case.expect(total == run.time, f"{total} is not {run.time}")
    names, totals = run.text("EndToEnd.csv").splitlines()[0:2]
    columns = dict(zip(names.split(", "), totals.split(", ")))
    columns = {name: picoseconds(text.split(" ")[0])
               for name, text in columns.items() if name != "File name"}
    total = columns.pop("Total time")
    shown = sum(columns[name] for name in
                ("total exposed comm", "total comp", "bubble time",
                 "Expose_PP_comm"))
    case.expect(shown == total == run.time,
                f"EndToEnd.csv adds up to {shown} of {run.time}")


def critical_path_adds_up(case):
    """Steps follow one another without a gap from 0 to the iteration."""
    options = training(case)
    run = case.analytical("program.yaml", draw_network(case, options))
    parts = run.iteration["critical_path_ps"]
    case.expect(sum(parts.values()) == run.time,
                f"the parts {parts} are not {run.time}")
    end = total = 0
    for row in run.rows("critical_path.csv"):
        took = picoseconds(row["time_us"]) * int(row["repeats"])
        start = picoseconds(row["start_us"])
        case.expect(start == end, f"a step starts at {start}, not {end}")
        end, total = start + took, total + took
    case.expect(total == run.time, f"the steps take {total} of {run.time}")
    for bound in ("ideal_network_ps", "ideal_compute_ps"):
        case.expect(run.iteration[bound] <= run.time * (1 + ROUNDING),
                    f"{bound} is {run.iteration[bound]} of {run.time}")


def bandwidth_never_slows(case):
    """Faster cables, of all rates or of some, never make it slower.

    The law is one of rings: for faster links NCCL may choose a protocol that is
    slower, as it does where it goes from LL to Simple on B200.
    """
    options = training(case)
    drawn = topology(case, options)
    before = case.analytical("program.yaml", network(case, drawn),
                             "--collectives", "ring")
    after = case.analytical(
        "program.yaml", network(case, drawn.faster(case.rng), "faster.txt"),
        "--collectives", "ring")
    case.expect(after.time <= before.time * (1 + ROUNDING),
                f"{after.time} ps with faster cables, {before.time} without")


def halving(case):
    """Rates doubled, computation and delays halved: half the time.

    It is run the other way around, since halves need not be whole: rates
    halved, computation and delays doubled take twice as long. It holds of the
    closed form and, without NCCL's latencies, of the messages and of flows.
    """
    options = training(case)
    drawn = topology(case, options)
    slow = with_slower_computation(
        case.path("program.yaml").read_text(), 2)
    case.write("slow.yaml", slow)
    program, extra = case.rng.choice([
        ("simai_analytical", []), ("simai_analytical", []),
        ("simai_analytical", ["--fidelity", "analytical"]),
        ("simai_simulator", ["--fidelity", "flow"]),
    ]) if options["gpus"] <= 16 else ("simai_analytical", [])
    extra = [*extra, "--collectives", "ring"]
    before = case.simulate(program, "program.yaml", network(case, drawn),
                           *extra)
    after = case.simulate(program, "slow.yaml",
                          network(case, drawn.slower(2), "slow.txt"), *extra)
    case.expect(_close(after.time, 2 * before.time),
                f"{after.time} ps is not twice {before.time}")


def renumbering(case):
    """The numbers and the order of switches and cables change no time."""
    options = training(case)
    drawn = topology(case, options)
    before = case.analytical("program.yaml", network(case, drawn))
    after = case.analytical(
        "program.yaml",
        network(case, drawn.renumbered(case.rng), "renumbered.txt"))
    case.expect(after.time == before.time,
                f"{after.time} ps with other numbers, {before.time} before")


def unrolling(case):
    """--unroll gives the same times, stage by stage, and the same memory."""
    options = training(case)
    where = draw_network(case, options)
    few = case.analytical("program.yaml", where)
    every = case.analytical("program.yaml", where, "--unroll")
    case.expect(few.time == every.time,
                f"{every.time} ps with --unroll, {few.time} without")
    for name in ("breakdown.csv", "EndToEnd.csv"):
        case.expect(few.text(name) == every.text(name),
                    f"{name} differs with --unroll")
    case.expect(few.json["memory"] == every.json["memory"],
                "the memory differs with --unroll")


def memory_of_micro_batch(case):
    """A micro-batch of twice the size never takes less memory in any stage,
    and more is saved for the backward pass; as many micro-batches as before."""
    options = training(case)
    where = draw_network(case, options)
    before = case.analytical("program.yaml", where)
    larger = {**options, "micro-batch": 2 * options["micro-batch"],
              "global-batch": 2 * options["global-batch"]}
    after = case.analytical(case.generate(larger, "larger.yaml"), where)
    peaks = before.stage_peaks()
    for stage, peak in after.stage_peaks().items():
        case.expect(peak >= peaks[stage],
                    f"stage {stage} needs {peak} B with a micro-batch of "
                    f"{larger['micro-batch']}, {peaks[stage]} with half")
    small, large = _read_program(case), _read_program(case, "larger.yaml")
    for one, two in zip(small.stages, large.stages):
        saved = [small.memory(one, "saved"), large.memory(two, "saved")]
        case.expect(1.5 * saved[0] <= saved[1] <= 2 * saved[0],
                    f"a stage saves {saved[0]:.0f} B, then {saved[1]:.0f}")


def _of_zero(case, options, zero):
    """Memory and time of the optimizer by stage, with a ZeRO stage."""
    name = case.generate({**options, "zero": zero}, f"zero_{zero}.yaml")
    program = _read_program(case, name)
    return [(program.memory(stage, "optimizer"), program.optimizer_time(stage))
            for stage in program.stages]


def optimizer_of_zero(case):
    """The optimizer's memory and time fall together with ZeRO.

    Its time is that of its states, which falls as the memory, and up to ZeRO 1
    that of clearing all gradients, below 0.2 of the whole; 60 us are the
    starts of kernels and rounding.
    """
    # Half of the time TP splits experts less than what is dense.
    split_less = case.rng.random() < 0.5

    def is_wanted(options):
        if options.keys() & {"overlap-grad-reduce", "overlap-param-gather"}:
            return False
        tp = options["tp"]
        return not split_less or (options.get("etp", tp) < tp and
                                  "experts:" in model_text(case, options))

    options = training(case, is_wanted)
    start = 60e6
    whole = _of_zero(case, options, 0)
    before = whole
    for zero in (1, 2, 3) if options["pp"] == 1 else (1,):
        now = _of_zero(case, options, zero)
        for all_of, last, part in zip(whole, before, now):
            said = (f"with ZeRO {zero} the optimizer has {part[0]:.0f} of "
                    f"{all_of[0]:.0f} B, and takes {part[1]} of {all_of[1]} ps")
            case.expect(part[0] <= last[0] and part[1] <= last[1], said)
            share = part[0] / all_of[0] if all_of[0] else 1
            rest = 0.2 if zero == 1 else 0.02
            case.expect(part[1] <= (share + rest) * all_of[1] + start, said)
            case.expect(part[1] >= 0.8 * share * all_of[1] - start, said)
        before = now


def weak_scaling(case):
    """DP and batch doubled: the iteration grows by no more than the exposed
    collectives of DP and the messages, on a cluster where nothing is shared.

    Without communication it only falls, by what the optimizer saves where more
    ranks share its states.
    """
    options = training(case, lambda options: options["gpus"] <= 32)
    rng = case.rng
    size = per_server(rng, options["gpus"])
    rates = rng.choice(topologies.NVLINK_GBPS), rng.choice(topologies.NIC_GBPS)
    double = {**options, "gpus": 2 * options["gpus"],
              "global-batch": 2 * options["global-batch"]}
    case.generate(double, "double.yaml")
    runs = []
    for setup, name in ((options, "program.yaml"), (double, "double.yaml")):
        drawn = topologies.two_level(setup["gpus"], size,
                                     GPUS[setup["gpu-type"]], *rates)
        runs.append(case.analytical(
            name, network(case, drawn, f"topology_{name}.txt")))
    one, two = (run.iteration for run in runs)
    program = _read_program(case)
    saved = max(program.optimizer_time(stage) for stage in program.stages)
    case.expect(one["ideal_network_ps"] - saved <= two["ideal_network_ps"] <=
                one["ideal_network_ps"],
                f"without communication {one['ideal_network_ps']} ps, with "
                f"twice the DP {two['ideal_network_ps']}")
    path = two["critical_path_ps"]
    added = sum(path.get(key, 0) for key in ("DP", "DP_EP", "messages"))
    case.expect(two["total_ps"] <= one["total_ps"] + added + 1000,
                f"{one['total_ps']} ps, with twice the DP {two['total_ps']}; "
                f"communication explains {added}")
    case.expect(_close(
        two["tokens_per_s_per_gpu"] * two["total_ps"],
        one["tokens_per_s_per_gpu"] * one["total_ps"]),
                "a GPU has other tokens in the same share of the batch")


def physical_limits(case):
    """MFU is below 1, bus bandwidths are below the rates of the cables.

    A ring, or direct messages: within a server the NVLinks of a GPU bound
    them. Across servers a ring leaves a server by all NICs of its members at
    most; of an all-to-all of n ranks, k in each server, (n - k) / (n - 1) do.
    """
    options = training(case)
    drawn = topology(case, options)
    run = case.analytical("program.yaml", network(case, drawn),
                          "--collectives", "ring")
    program = _read_program(case)
    peak = program.gpu["peak_tflops"] * 1e12 * options["gpus"]
    mfu = program.work["model_flops"] / (run.time * 1e-12 * peak)
    case.expect(0 < run.iteration["mfu"] < 1, f"MFU {run.iteration['mfu']}")
    case.expect(_close(mfu, run.iteration["mfu"], 1e-4),
                f"MFU {run.iteration['mfu']}, and by hand {mfu}")
    nvlink, nics = (rate / 8e9 for rate in drawn.egress(0))
    strides = _strides(program.sizes)
    for row in run.rows("collectives.csv"):
        if row["group"] not in strides:
            continue
        first, ranks = int(row["first_rank"]), int(row["ranks"])
        servers = [(first + i * strides[row["group"]]) // drawn.gpus_per_server
                   for i in range(ranks)]
        most = max(servers.count(server) for server in servers)
        if most == ranks:
            limit = nvlink
        elif row["collective"] in ("all-to-all", "dispatch", "combine"):
            limit = nics * (ranks - 1) / (ranks - most)
        else:
            limit = nics * most
        busbw = float(row["busbw_GBps"])
        rounding = 100 / picoseconds(row["time_us"])
        case.expect(busbw <= limit * (1.0001 + rounding),
                    f"{row['collective']} over {ranks} ranks, {most} of them "
                    f"in a server, reaches {busbw} GB/s of {limit}")


def _strides(sizes):
    """From one rank of a group to the next, as docs/formats/workloads.md says."""
    return {"TP": 1, "CP": sizes["tp"], "DP": sizes["tp"], "EP": sizes["etp"],
            "ETP": 1, "DP_EP": sizes["etp"] * sizes["ep"]}


def decode_above_memory(case):
    """A decode step takes longer than reading the weights once, in BF16.

    Its stages run one after another. Left out are embeddings, of which a step
    reads a few rows, and routed experts, of which it may reach a few.
    """
    options = inference(case, "decode")
    run = case.analytical("program.yaml", draw_network(case, options))
    said = case.run("gen_workload", *words_of(options), "--explain", "-o",
                    "again")
    read = sum(2 * int(times) * int(parameters)
               for name, times, parameters in MODULE.findall(said.stdout)
               if not name.startswith(("embedding", "moe_experts")))
    least = read / memory_bandwidth(options["gpu-type"]) * 1e12
    case.expect(read > 0, "--explain names no parameters")
    case.expect(run.time >= least,
                f"{run.time} ps, and its {read} B of weights take {least}")


def repeated(case):
    """The same commands write the same bytes."""
    options = training(case)
    where = draw_network(case, options)
    case.generate(options, "again.yaml")
    case.expect(case.path("program.yaml").read_bytes() ==
                case.path("again.yaml").read_bytes(), "another program")
    runs = [case.analytical("program.yaml", where) for _ in range(2)]
    for file in runs[0].folder.iterdir():
        if file.name not in ("run.json", "cost.json"):
            case.expect(file.read_bytes() ==
                        (runs[1].folder / file.name).read_bytes(), file.name)
    case.expect({**runs[0].json, "name": ""} == {**runs[1].json, "name": ""},
                "run.json differs")
