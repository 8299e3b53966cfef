"""Flows of simai_simulator beside those of SimAI 1.6 on ns-3.

The folders ns3_flows and ns3_congestion of the data hold the flows of single
collectives: who sent what to whom, when, and how long it took. The same
collective runs here, once for each seed. Seed 1 has the source ports of SimAI
and hence its paths; each other seed moves the ports by 1,111.
"""

import collections
import csv
import gzip
import re
import statistics

CONTROLS = {1: "dcqcn", 3: "hpcc", 7: "timely", 8: "dctcp", 10: "hpcc_pint"}
COMPUTE_US = 556

# Name of the run in ns3_flows: topology, tensor-parallel size, collective,
# dimension, bytes, send latency in us, seeds. Times of single flows are those
# of one draw of the paths, so they are compared for seed 1.
FLOWS = {
    "dcn256_dp_16M": ("-topo DCN+ -g 256 -psn 64 -bw 400Gbps", 8, "ALLREDUCE",
                      "dp", 16 << 20, 2, 8),
    "dcn256_dp_128M": ("-topo DCN+ -g 256 -psn 64 -bw 400Gbps", 8, "ALLREDUCE",
                       "dp", 128 << 20, 2, 1),
    "dcn128dt_dp_16M": ("-topo DCN+ --dt -g 128 -asn 2 -psn 8", 8, "ALLREDUCE",
                        "dp", 16 << 20, 2, 1),
    "sx256_dp_16M": ("-topo Spectrum-X -g 256", 8, "ALLREDUCE", "dp", 16 << 20,
                     2, 1),
    "allreduce_16g_64M": ("-topo Spectrum-X -g 16", 16, "ALLREDUCE", "tp",
                          64 << 20, 3, 1),
    "allgather_16g_64M": ("-topo Spectrum-X -g 16", 16, "ALLGATHER", "tp",
                          64 << 20, 3, 1),
    "reducescatter_16g_64M": ("-topo Spectrum-X -g 16", 16, "REDUCESCATTER",
                              "tp", 64 << 20, 3, 1),
    "alltoall_16g_64M": ("-topo Spectrum-X -g 16", 16, "ALLTOALL", "tp",
                         64 << 20, 3, 1),
}

# When the last flow of dcn256_dp_16M ends after the compute, in us: the mean of
# nine runs of SimAI whose send latencies differ by nanoseconds. Where paths
# collide a single run says little.
DCN256_MEAN_US = 1429

# Of ns3_congestion: topology, tensor-parallel size, expert-parallel size,
# collective, dimension, bytes.
CONGESTION = {
    "one16_16M": ("-topo Spectrum-X -g 16 -psn 1", 16, 1, "ALLTOALL", "tp",
                  16 << 20),
    "sx32_16M": ("-topo Spectrum-X -g 32 -psn 4", 32, 1, "ALLTOALL", "tp",
                 16 << 20),
    "ep8_16M": ("-topo Spectrum-X -g 64 -psn 1", 8, 8, "ALLTOALL_EP", "tp",
                16 << 20),
    "dcn64_dp64M": ("-topo DCN+ -g 64 -npa 16 -psn 4", 8, 1, "ALLREDUCE", "dp",
                    64 << 20),
}


def gpus_of(topology):
    words = topology.split()
    return int(words[words.index("-g") + 1])


def workload_of(topology, tensor, experts, operation, dimension, size):
    tp = f"{operation} {size} 1" if dimension == "tp" else "NONE 0 1"
    dp = f"{operation} {size} 1" if dimension == "dp" else "NONE 0 1"
    return ("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: "
            f"{tensor} ep: {experts} pp: 1 vpp: 8 ga: 1 all_gpus: "
            f"{gpus_of(topology)} checkpoints: 0 checkpoint_initiates: 0\n1\n"
            f"embedding_layer -1 {COMPUTE_US * 1000} {tp} NONE 0 1 {dp}\n")


def read(path):
    with gzip.open(path, "rt") as file:
        return list(csv.DictReader(file))


class Flows:
    """Completion times in us, and when the last flow ends after the compute."""

    def __init__(self, times, last):
        self.times = times
        self.mean = statistics.fmean(times)
        self.last = last


def their_flows(path):
    rows = read(path)
    times = [int(row["fct_ns"]) / 1000 for row in rows]
    last = max(int(row["start_ns"]) + int(row["fct_ns"]) for row in rows)
    return Flows(times, last / 1000 - COMPUTE_US)


def our_rows(folder):
    with (folder / "flows.csv").open() as file:
        return list(csv.DictReader(file))


def our_flows(folder):
    rows = our_rows(folder)
    return Flows([float(row["fct_us"]) for row in rows],
                 max(float(row["finish_us"]) for row in rows) - COMPUTE_US)


def spines_alike(folder, path):
    """How many flows that had a choice at a switch took that of ns-3, of how
    many. Next hops count from the highest node down."""
    theirs = {}
    for row in read(path):
        if int(row["choices"]) > 1:
            key = int(row["src"]), int(row["dst"]), int(row["sport"]) - 10000
            theirs[key] = (int(row["node"]), int(row["choices"]),
                           int(row["idx"]))
    ends = [[int(node) for node in row["path"].split(">")]
            for row in our_rows(folder)]
    highest = {}
    for line in (folder.parent / "topology").read_text().splitlines()[2:]:
        one, other = map(int, line.split()[:2])
        highest[one] = max(highest.get(one, 0), other)
        highest[other] = max(highest.get(other, 0), one)
    starts = collections.defaultdict(list)
    for row, nodes in zip(our_rows(folder), ends):
        starts[nodes[0], nodes[-1]].append(
            (float(row["start_us"]), int(row["channel"]), nodes))
    alike = 0
    for flows in starts.values():
        for ordinal, (_, _, nodes) in enumerate(sorted(flows)):
            choice = theirs.get((nodes[0], nodes[-1], ordinal))
            if choice is None:
                continue
            here, _, index = choice
            alike += (here in nodes and
                      nodes[nodes.index(here) + 1] == highest[here] - index)
    return alike, len(theirs)


def percent(ours, theirs):
    return 100 * (ours / theirs - 1)


class Comparison:
    """`simulate(name, topology, workload, network, latency_us, seed)` runs
    simai_simulator and gives its folder of results."""

    def __init__(self, data, conf, out, simulate):
        self.data = data / "simai"
        self.conf = conf
        self.out = out
        self.simulate = simulate

    def network(self, control):
        """simai.conf with another congestion control."""
        path = self.out / f"simai_cc{control}.conf"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(re.sub(r"(?m)^CC_MODE .*$", f"CC_MODE {control}",
                               self.conf.read_text()))
        return path

    def compare_flows(self, matches):
        for name, case in FLOWS.items():
            path = self.data / "ns3_flows" / f"{name}.fct.csv.gz"
            if not path.exists() or not matches(name):
                continue
            topology, tensor, operation, dimension, size, latency, seeds = case
            workload = workload_of(topology, tensor, 1, operation, dimension,
                                   size)
            folders = [self.simulate(name, topology, workload, self.conf,
                                     latency, seed)
                       for seed in range(1, seeds + 1)]
            theirs, ours = their_flows(path), our_flows(folders[0])
            line = (f"{name:<22} {len(ours.times):>6} flows, mean "
                    f"{theirs.mean:.2f} us, ours {ours.mean:.2f} "
                    f"({percent(ours.mean, theirs.mean):+.2f} %); last "
                    f"{theirs.last:.1f} us, ours {ours.last:.1f} "
                    f"({percent(ours.last, theirs.last):+.2f} %)")
            paths = path.with_name(f"{name}.path.csv.gz")
            if paths.exists():
                alike, num = spines_alike(folders[0], paths)
                if num > 0:
                    line += f"; {alike} of {num} on the spine of ns-3"
            print(line, flush=True)
            if name == "dcn256_dp_16M":
                lasts = [our_flows(folder).last for folder in folders]
                mean = statistics.fmean(lasts)
                print(f"{name:<22} mean of {len(lasts)} seeds {mean:.1f} us "
                      f"({min(lasts):.1f} to {max(lasts):.1f}), of ns-3 "
                      f"{DCN256_MEAN_US} "
                      f"({percent(mean, DCN256_MEAN_US):+.2f} %)", flush=True)

    def compare_controls(self, matches):
        for name, case in CONGESTION.items():
            for control, word in sorted(CONTROLS.items()):
                self.compare_control(f"{name}_{word}", name, control, case,
                                     matches)

    def compare_control(self, label, name, control, case, matches):
        folder = self.data / "ns3_congestion"
        runs = [path for path in sorted(folder.glob(f"{name}*_cc{control}.*"))
                if re.fullmatch(rf"{name}(_p\d+|_r\d+)?_cc{control}\.csv\.gz",
                                path.name)]
        if not runs or not matches(label):
            return
        # Each port of ours is one of SimAI's; its chance in marking is another
        # seed of ours.
        topology, tensor, experts, operation, dimension, size = case
        workload = workload_of(topology, tensor, experts, operation, dimension,
                               size)
        theirs = [their_flows(path) for path in runs]
        ours = [our_flows(self.simulate(label, topology, workload,
                                        self.network(control), 6, seed))
                for seed in range(1, len(runs) + 1)]
        mean = [statistics.fmean(run.mean for run in side)
                for side in (theirs, ours)]
        last = [statistics.fmean(run.last for run in side)
                for side in (theirs, ours)]
        print(f"{label:<22} {len(runs):>2} runs, mean {mean[0]:.2f} us, ours "
              f"{mean[1]:.2f} ({percent(mean[1], mean[0]):+.2f} %); last "
              f"{last[0]:.1f} us, ours {last[1]:.1f} "
              f"({percent(last[1], last[0]):+.2f} %)", flush=True)
