#!/usr/bin/env python3
"""Sets the four ways to time a collective against one another.

Usage: differential_test.py --bin DIR [--cases N] [--seed N] [--only PROPERTY]
                            [--keep DIR]

The closed form, every message by itself (--fidelity analytical), flows that
share links, and packets take the same random small case: a collective of 1 KiB to 64 MiB over 2 to 32 GPUs, or a small
program. The bounds stand beside each check, with what they are made of. The
options are those of properties_test.py; a case checks one of the properties.
"""

import json
import sys

import setups
import suite
import topologies
from runs import Refused

KINDS = ("ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL")
SIZES = [1024 * 4**i for i in range(9)]
PAYLOAD, HEADER, ACK = 4096, 82, 86  # Bytes of packets, as by default.
FLOW_WIRE = (PAYLOAD + HEADER) / PAYLOAD
PACKET_WIRE = (PAYLOAD + HEADER + ACK) / PAYLOAD


class Collective:
    """A collective over groups of `ranks` neighbours, and where it runs."""

    def __init__(self, case, drawn):
        self.case = case
        self.topology = drawn
        rng = case.rng
        self.ranks = rng.choice(
            [d for d in topologies.divisors(drawn.num_gpus) if d > 1])
        self.kind = rng.choice(KINDS)
        self.bytes = rng.choice(SIZES)
        self.where = setups.network(case, drawn)
        case.write("w.txt",
                   f"HYBRID_TRANSFORMER model_parallel_NPU_group: {self.ranks} "
                   f"all_gpus: {drawn.num_gpus} ep: 1 pp: 1 vpp: 1 ga: 1\n1\n"
                   f"layer -1 0 {self.kind} {self.bytes} 0 NONE 0 0 NONE 0 0\n")

    @property
    def steps(self):
        return (self.ranks - 1) * (2 if self.kind == "ALLREDUCE" else 1)

    @property
    def wire(self):
        """The bytes that a rank sends."""
        return self.steps * self.bytes / self.ranks

    @property
    def in_a_server(self):
        return self.topology.gpus_per_server % self.ranks == 0

    def packet_time(self):
        """Of the slowest cable, in picoseconds."""
        rate = min(cable[2] for cable in self.topology.cables)
        return (PAYLOAD + HEADER) * 8e12 / rate

    def delay(self, hops):
        """Of all steps, each over so many of the longest cables."""
        longest = max(cable[3] for cable in self.topology.cables)
        return self.steps * hops * longest

    def at(self, fidelity, *options):
        return self.case.simulate("simai_simulator", "w.txt", self.where,
                                  "--fidelity", fidelity, *options).time

    def expect(self, low, value, high, what):
        self.case.expect(
            low <= value <= high,
            f"{self.kind} of {self.bytes} B over {self.ranks} of "
            f"{self.topology.num_gpus} GPUs: {what} {value} ps, expected "
            f"{low:.0f} to {high:.0f}")


RINGS = ("--collectives", "ring")


def _draw_two_level(case):
    rng = case.rng
    gpus = rng.choice([2, 4, 8, 16, 32])
    return topologies.two_level(
        gpus, setups.per_server(rng, gpus), "H100",
        rng.choice(topologies.NVLINK_GBPS), rng.choice(topologies.NIC_GBPS),
        rng.choice(topologies.DELAYS_NS), rng.choice(topologies.DELAYS_NS))


def _rings(run):
    """The four times of a collective without software, and what rounding may
    add up to: a picosecond here and there, and a byte of each step."""
    return (*(run.at(fidelity, *RINGS)
              for fidelity in ("closed-form", "analytical", "flow", "packet")),
            run.steps * (2 + run.packet_time() / (PAYLOAD + HEADER)) + 2)


def _expect_packets(run, flow, packet, others):
    """Packets take as long as flows, with acknowledgements on the wire.

    A step may wait for 10 packets in queues. Beyond a server the steps of a
    rank overlap; where `others` send over the same cables, too, queues fill,
    and DCQCN slows senders down by more than their share, most of all in
    all-to-alls, which are many to one.
    """
    wire = PACKET_WIRE / FLOW_WIRE
    if not run.in_a_server:
        wire = 2.5 if run.kind == "ALLTOALL" else 1.4 if others else 1.25
    run.expect(0.9 * flow, packet,
               wire * flow + 10 * run.steps * run.packet_time(), "packets")


def nothing_shared(case):
    """One switch connects all servers, so no two groups or rings share a link.

    The closed form takes for each step the delay of the slowest path; a
    message that of its own. Flows carry headers of 82 B for 4096 B, and a step
    waits until the last switch has forwarded a packet. Two steps of a rank in
    flight share its port, which delays the first: by at most 15 % in all, and
    6 packets a step.
    """
    run = Collective(case, _draw_two_level(case))
    closed, messages, flow, packet, rounding = _rings(run)
    again = case.simulate("simai_analytical", "w.txt", run.where, "--fidelity",
                          "analytical", *RINGS).time
    case.expect(again == messages, f"{again} ps by simai_analytical, {messages} "
                f"by simai_simulator")
    run.expect(closed - run.delay(2) - rounding, messages, closed + rounding,
               "messages")
    most = FLOW_WIRE if run.in_a_server else 1.15 * FLOW_WIRE
    run.expect(messages, flow,
               most * messages + 6 * run.steps * run.packet_time(), "flows")
    _expect_packets(run, flow, packet, others=False)


def by_hand(case):
    """In a server the closed form is a + b S to the picosecond of a step."""
    run = Collective(case, _draw_two_level(case))
    if not run.in_a_server:
        return
    nvlink = run.topology.egress(0)[0]
    delay = 2 * run.topology.cables[0][3]
    steps = 1 if run.kind == "ALLTOALL" else run.steps
    expected = steps * delay + run.wire * 8e12 / nvlink
    run.expect(expected - run.steps - 1, run.at("closed-form", *RINGS),
               expected + run.steps + 1, "closed form")


def one_path(case):
    """Rings and groups share links, and each pair has one path only.

    The closed form knows what the busiest link carries, and flows share it; a
    message by itself knows nothing of others and is never slower than either.
    """
    rng = case.rng
    gpus = rng.choice([4, 8, 16, 32])
    run = Collective(case, topologies.rails(
        rng, gpus, setups.per_server(rng, gpus), "H100", spines=1))
    closed, messages, flow, packet, rounding = _rings(run)
    run.expect(0, messages, closed + rounding, "messages")
    run.expect(max(messages, closed - run.delay(4) - rounding), flow,
               FLOW_WIRE * closed + 2 * run.steps * run.packet_time(), "flows")
    _expect_packets(run, flow, packet, others=True)


def as_built(case):
    """The clusters of gen_topo as they are, with bounds in microseconds.

    Each step of the closed form is charged the delay of the slowest path, 2 us
    at most. A step of flows takes up to 0.25 us longer, and up to 2.1 times as
    long where AlibabaHPN's paths collide. Packets are within 1 % of flows with
    acknowledgements, and 0.05 us a step. Those of all-to-alls meet, which costs
    up to 25 % and 2 us.
    """
    rng = case.rng
    name = rng.choice(["Spectrum-X", "DCN+", "AlibabaHPN"])
    size = rng.choice([1, 2, 4, 8])
    servers = rng.choice([2, 3, 4, 6, 8] if size == 1 else [1, 2, 3, 4])
    case.run("gen_topo", "-topo", name, "-g", servers * size, "-gps", size,
             "-gt", "H100", "-o", "drawn.txt")
    run = Collective(case, topologies.Topology.parse(
        case.path("drawn.txt").read_text()))
    closed, messages, flow, packet, rounding = _rings(run)
    direct = run.kind == "ALLTOALL"
    steps = 1 if direct else run.steps
    run.expect(messages - rounding, closed,
               messages + (0 if direct else 2e6 * steps) + rounding,
               "closed form")
    message = max(1, run.bytes // run.ranks)
    wire = messages * (1 + HEADER * -(-message // PAYLOAD) / message)
    most = 2.1 * wire if name == "AlibabaHPN" else wire + 0.25e6 * steps
    run.expect(messages, flow, most + rounding, "flows")
    expected = flow * PACKET_WIRE / FLOW_WIRE
    spread = 0.01 * expected + (2e6 if direct else 0.05e6 * steps) + rounding
    most = 1.25 * expected if direct else expected
    run.expect(expected - spread, packet, most + spread, "packets")


def many_paths(case):
    """Paths of equal cost: a hash puts flows on one link where others are free.

    The closed form spreads them evenly; collisions cost at most a factor of 4
    in clusters of this size. Flows and packets take the same paths.
    """
    rng = case.rng
    gpus = rng.choice([8, 16, 32])
    run = Collective(case, topologies.from_template(
        case, gpus, setups.per_server(rng, gpus), "H100"))
    closed, messages, flow, packet, rounding = _rings(run)
    run.expect(0, messages, closed + rounding, "messages")
    run.expect(messages, flow,
               4 * closed + 2 * run.steps * run.packet_time(), "flows")
    _expect_packets(run, flow, packet, others=True)


def nccl(case):
    """NCCL's choice on servers of 8 H100, each GPU with a NIC of 400 Gbps.

    A collective alone takes the time of its closed form as messages, to the
    percent that pacing leaves; with headers, flows are no faster. Hashes may put
    flows on one link. Packets add acknowledgements, and NVLSTree's queues.
    """
    rng = case.rng
    gpus = rng.choice([8, 16, 32])
    case.run("gen_topo", "-topo", rng.choice(["Spectrum-X", "AlibabaHPN"]),
             "-g", gpus, "-gps", 8, "-gt", "H100", "-nvbw", "3600Gbps", "-bw",
             "400Gbps", "-o", "drawn.txt")
    run = Collective(case, topologies.Topology.parse(
        case.path("drawn.txt").read_text()))
    closed, messages, flow, packet = (
        run.at(fidelity, "--system", "dgx-h100")
        for fidelity in ("closed-form", "analytical", "flow", "packet"))
    run.expect(0.99 * closed, messages, 1.01 * closed, "messages")
    run.expect(0.99 * messages, flow, 2 * messages, "flows")
    run.expect(0.9 * flow, packet, 1.25 * flow, "packets")


def small_program(case):
    """An iteration with overlap and pipelines, where nothing is shared but the
    ports of a rank, by its own dimensions.

    The closed form charges the delay of the slowest path for each step, which
    may be a quarter of a short iteration. It lets collectives that overlap pass
    one another; flows share the port, and messages wait in it until those
    before them are sent: up to 1.7 times as long.
    """
    rng = case.rng
    options = setups.training(case, lambda drawn: (
        2 <= drawn["gpus"] <= 16 and drawn["seq-length"] <= 1024 and
        drawn["global-batch"] <= 8 * drawn["micro-batch"]))
    gpus = options["gpus"]
    where = setups.network(case, topologies.two_level(
        gpus, setups.per_server(rng, gpus), setups.GPUS[options["gpu-type"]],
        rng.choice(topologies.NVLINK_GBPS), rng.choice(topologies.NIC_GBPS)))
    closed = case.analytical("program.yaml", where, *RINGS)
    least = closed.iteration["ideal_network_ps"]
    for fidelity in ("analytical", "flow"):
        run = case.simulate("simai_simulator", "program.yaml", where,
                            "--fidelity", fidelity, *RINGS)
        case.expect(max(least, 0.7 * closed.time) <= run.time <=
                    1.7 * closed.time,
                    f"{run.time} ps with --fidelity {fidelity}, {closed.time} in "
                    f"closed form, {least} without communication")


def _packet_network(case):
    """A network file that may do without ECN or PFC, be short of memory, and have
    flows.csv in each of its forms."""
    rng = case.rng
    lines = ["simai_network: 1",
             f"nic: {{payload: {rng.choice([1024, 4096, 8192])}B, "
             f"packets_per_ack: {rng.choice([1, 1, 4])}, "
             f"window: {rng.choice(['path', 'network'])}, "
             f"completion: {rng.choice(['delivered', 'acknowledged'])}, "
             f"loss_recovery: {rng.choice(['go-back-n', 'selective-repeat'])}}}",
             f"congestion: {{name: "
             f"{rng.choice(['dcqcn', 'dcqcn', 'none', 'hpcc', 'dctcp'])}}}"]
    if rng.random() < 0.3:
        lines.append(f"fabric: {{buffer: {rng.choice([2, 8])}MiB, "
                     f"ecn: {rng.choice(['true', 'false'])}}}")
    lines.append(f"record: {{flows: "
                 f"{rng.choice(['false', 'each', 'summary', 'auto'])}}}")
    return case.write("network.yaml", "\n".join(lines) + "\n")


def replays(case):
    """Collectives that are counted again give the same files, byte for byte, and
    take not many times as many events; with an error bound of 1 %, an iteration
    takes the same time up to that."""
    options = setups.training(case, lambda drawn: (
        2 <= drawn["gpus"] <= 16 and drawn["seq-length"] <= 256 and
        str(drawn["model"]).endswith(".yaml") and
        drawn["global-batch"] <= 8 * drawn["micro-batch"]))
    where = [*setups.draw_network(case, options), "-c", _packet_network(case),
             "--fidelity", case.rng.choice(["packet", "packet", "flow"])]
    if case.rng.random() < 0.5:
        where += RINGS
    if case.rng.random() < 0.3:
        where += ["--start-step", case.rng.choice(["20ns", "3us"])]
    off, exact = (case.simulate("simai_simulator", "program.yaml", where,
                                "--accelerate", name).folder
                  for name in ("off", "exact"))
    files = sorted(path.name for path in off.iterdir())
    case.expect(files == sorted(path.name for path in exact.iterdir()),
                "the two write different files")
    for name in files:
        same = (off / name).read_bytes() == (exact / name).read_bytes()
        case.expect(same or name == "cost.json", f"{name} differs")
    events = [json.loads((folder / "cost.json").read_text("utf-8"))
              ["network_events"] for folder in (off, exact)]
    case.expect(events[1] <= 6 * events[0],
                f"{events[1]} events in place of {events[0]}")
    times = [case.simulate("simai_simulator", "program.yaml", where,
                           "--accelerate", *options).time
             for options in (["exact"],
                             ["bounded", "--exact-events", "0"])]
    case.expect(abs(times[1] - times[0]) <= 0.01 * times[0],
                f"{times[1]} ps with an error bound, {times[0]} exactly")


PROPERTIES = {
    "by-hand": by_hand,
    "nothing-shared": nothing_shared,
    "one-path": one_path,
    "as-built": as_built,
    "many-paths": many_paths,
    "nccl": nccl,
    "small-program": small_program,
    "replays": replays,
}

if __name__ == "__main__":
    sys.exit(suite.run(__doc__, PROPERTIES, cases=250))
