"""Clusters as topology files: random ones, and changes to them."""

from fractions import Fraction

RATE_UNITS = {"kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12,
              "bps": 1}
TIME_UNITS = {"ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1, "s": 10**12}


def _quantity(text, units):
    for unit, scale in units.items():
        if text.endswith(unit):
            value = Fraction(text[:-len(unit)]) * scale
            assert value.denominator == 1
            return int(value)
    raise ValueError(text)


class Topology:
    """Cables are tuples: two nodes, bits per second, picoseconds."""

    def __init__(self, gpus_per_server, nv_switches, switches, gpu, cables):
        self.gpus_per_server = gpus_per_server
        self.nv_switches = nv_switches
        self.switches = switches
        self.gpu = gpu
        self.cables = cables

    @staticmethod
    def parse(text):
        head, ids, *cables = text.splitlines()
        _, per_server, num_nv, _, _, gpu = head.split()
        ids = [int(word) for word in ids.split()]
        read = [line.split() for line in cables if line.strip()]
        return Topology(
            int(per_server), ids[:int(num_nv)], ids[int(num_nv):], gpu,
            [(int(a), int(b), _quantity(rate, RATE_UNITS),
              _quantity(delay, TIME_UNITS)) for a, b, rate, delay, _ in read])

    @property
    def num_gpus(self):
        return (min(self.nv_switches + self.switches)
                if self.nv_switches or self.switches else
                1 + max(max(cable[:2]) for cable in self.cables))

    def text(self):
        nodes = self.num_gpus + len(self.nv_switches) + len(self.switches)
        head = (f"{nodes} {self.gpus_per_server} {len(self.nv_switches)} "
                f"{len(self.switches)} {len(self.cables)} {self.gpu}")
        ids = " ".join(map(str, self.nv_switches + self.switches))
        lines = [f"{a} {b} {rate}bps {delay}ps 0"
                 for a, b, rate, delay in self.cables]
        return "\n".join([head, ids, *lines]) + "\n"

    def slower(self, factor):
        """The same with 1/factor of all rates and factor times all delays."""
        assert all(rate % factor == 0 for _, _, rate, _ in self.cables)
        return self.with_cables([(a, b, rate // factor, delay * factor)
                                 for a, b, rate, delay in self.cables])

    def faster(self, rng):
        """The same, in which all cables of some rates are faster."""
        rates = sorted({rate for _, _, rate, _ in self.cables})
        chosen = rng.sample(rates, rng.randint(1, len(rates)))
        factor = rng.choice([2, 3, 4])
        return self.with_cables(
            [(a, b, rate * factor if rate in chosen else rate, delay)
             for a, b, rate, delay in self.cables])

    def renumbered(self, rng):
        """The same, whose switches have other numbers and another order."""
        old = self.nv_switches + self.switches
        new = dict(zip(old, rng.sample(old, len(old))))
        cables = [(new.get(a, a), new.get(b, b), rate, delay)
                  for a, b, rate, delay in self.cables]
        rng.shuffle(cables)
        return Topology(self.gpus_per_server,
                        [new[i] for i in self.nv_switches],
                        [new[i] for i in self.switches], self.gpu, cables)

    def with_cables(self, cables):
        return Topology(self.gpus_per_server, self.nv_switches, self.switches,
                        self.gpu, cables)

    def egress(self, gpu):
        """Bits per second from a GPU into its NVSwitches, and beyond."""
        to_nv = to_nics = 0
        for a, b, rate, _ in self.cables:
            if gpu not in (a, b):
                continue
            if {a, b} & set(self.nv_switches):
                to_nv += rate
            else:
                to_nics += rate
        return to_nv, to_nics


NVLINK_GBPS = (1200, 2400, 2880, 3600, 7200)
NIC_GBPS = (100, 200, 400, 800)
DELAYS_NS = (0, 20, 500, 1000, 3000)


def divisors(number, most=10**9):
    return [i for i in range(1, min(number, most) + 1) if number % i == 0]


def rails(rng, gpus, per_server, gpu, spines=None):
    """Servers with an NVSwitch; leaf switches, one for each rail, or one for
    each two servers; spines that connect all leaves."""
    servers = gpus // per_server
    nvlink, nic = rng.choice(NVLINK_GBPS), rng.choice(NIC_GBPS)
    up = rng.choice(NIC_GBPS)
    near, far = 1000 * rng.choice(DELAYS_NS), 1000 * rng.choice(DELAYS_NS)
    by_rail = rng.random() < 0.5
    leaves = per_server if by_rail else (servers + 1) // 2
    spines = spines or rng.choice([1, 1, 2, 4])
    first_leaf = gpus + servers
    cables = []
    for rank in range(gpus):
        server, index = divmod(rank, per_server)
        leaf = index if by_rail else server // 2
        cables.append((rank, gpus + server, nvlink * 10**9, near))
        cables.append((rank, first_leaf + leaf, nic * 10**9, far))
    for leaf in range(leaves):
        for spine in range(spines):
            cables.append((first_leaf + leaf, first_leaf + leaves + spine,
                           up * 10**9, far))
    return Topology(per_server, list(range(gpus, gpus + servers)),
                    list(range(first_leaf, first_leaf + leaves + spines)), gpu,
                    cables)


def two_level(gpus, per_server, gpu, nvlink_gbps, nic_gbps, near=25, far=500):
    """Servers with an NVSwitch, and one switch above all: nothing is shared.
    Delays are in nanoseconds."""
    servers = gpus // per_server
    cables = []
    for rank in range(gpus):
        cables.append((rank, gpus + rank // per_server, nvlink_gbps * 10**9,
                       near * 1000))
        cables.append((rank, gpus + servers, nic_gbps * 10**9, far * 1000))
    return Topology(per_server, list(range(gpus, gpus + servers)),
                    [gpus + servers], gpu, cables)


def from_template(case, gpus, per_server, gpu):
    """What gen_topo draws."""
    rng = case.rng
    name = rng.choice(["Spectrum-X", "AlibabaHPN", "DCN+"])
    case.run("gen_topo", "-topo", name, "-g", gpus, "-gps", per_server, "-gt",
             gpu, "-psn", rng.choice([1, 2, 4, 8]),
             "-bw", f"{rng.choice(NIC_GBPS)}Gbps", "-o", "drawn.txt")
    return Topology.parse(case.path("drawn.txt").read_text())
