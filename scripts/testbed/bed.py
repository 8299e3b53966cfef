"""A bed: hosts of this machine, joined by simai_wire.

    with Bed(wire, "topology.txt") as bed:
        bed.spawn(0, ["ip", "address"]).wait()

The hosts and their devices belong to the process simai_wire and end with it.
"""

import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess

# From linux/sched.h and linux/prctl.h.
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1

# What Ethernet adds to a packet: header 14, FCS 4, preamble 8, gap 12.
ETHERNET = 38
# What IP (20) and TCP with timestamps (32) take of a packet.
TCP_HEADERS = 52
# The largest packet that TCP hands to the device in one piece; the bucket of
# the host's queue must hold it.
LARGEST_PIECE = 65536

# Settings of each host. The buffers bound what a connection has under way, so
# that queues of switches need not drop (see README.md).
SETTINGS = {
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv4/tcp_congestion_control": "reno",
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_slow_start_after_idle": "0",
}

LIBC = ctypes.CDLL(None, use_errno=True)


class BedError(Exception):
    """A bed cannot be had; says why."""


def address(host):
    """Returns the IPv4 address of a host, as simai_wire has it."""
    number = (10 << 24) + 1 + host
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def enter(namespace):
    """Moves the calling thread to a network namespace, given by its path."""
    descriptor = os.open(namespace, os.O_RDONLY)
    try:
        if LIBC.setns(descriptor, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns " + namespace)
    finally:
        os.close(descriptor)


def die_with_parent():
    """Has the kernel end the calling process when its parent ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


CORES = sorted(os.sched_getaffinity(0))


def begin_wire():
    """Gives simai_wire, the calling process, the last core as far as it can.

    It spins while there is traffic, and real-time policies stop such a process
    for 50 ms of each second in which something else waits. A session is a group
    of the scheduler where autogroups are on; nice counts within it only.
    """
    os.setsid()
    os.sched_setaffinity(0, CORES[-1:])
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    try:
        with open("/proc/self/autogroup", "w", encoding="ascii") as file:
            file.write("-20")
    except OSError:
        pass  # A kernel without autogroups.


def begin_on_host():
    """Prepares the calling process for a host.

    It ends when its parent ends, runs as soon as data are there for it, and
    stays off the core of simai_wire if there is another one.
    """
    die_with_parent()
    os.sched_setaffinity(0, CORES[:-1] or CORES)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def obstacle():
    """Returns why no bed can be had on this machine, or None."""
    if os.geteuid() != 0:
        return "a bed needs root"
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"a bed needs TUN devices, but /dev/net/tun: {error.strerror}"
    for program in ("ip", "tc", "nsenter", "unshare"):
        if shutil.which(program) is None:
            return (f"a bed needs {program}, which is missing (packages "
                    "iproute2 and util-linux)")
    if subprocess.run(["unshare", "--net", "true"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        return "a bed needs network namespaces, and may not make them here"
    try:
        subprocess.run(["true"], preexec_fn=begin_on_host, check=True)
    except subprocess.SubprocessError:
        return "a bed needs real-time priorities, and may not have them here"
    return None


class Host:
    """One host: its number, name, address, rate of its links, namespace."""

    def __init__(self, number, rate_bps, namespace):
        self.number = number
        self.name = f"host{number}"
        self.address = address(number)
        self.rate_bps = rate_bps
        self.namespace = namespace

    def configure(self, mtu, window_kib):
        """Brings up the device, its queue and the settings of TCP.

        The queue sends no faster than the links do, so that data wait in it
        and not in the device: there each connection knows what of its own data
        wait, as with a NIC.
        """
        rate = self.rate_bps * mtu // (mtu + ETHERNET)
        commands = [
            "ip link set lo up",
            f"ip link set eth0 mtu {mtu} txqueuelen 10000 up",
            f"ip address add {self.address}/8 dev eth0",
            f"tc qdisc replace dev eth0 root tbf rate {rate}bit"
            f" burst {2 * LARGEST_PIECE} limit {1 << 28}",
        ]
        window = window_kib * 1024
        settings = dict(SETTINGS)
        settings["net/ipv4/tcp_wmem"] = f"4096 {window} {window}"
        settings["net/ipv4/tcp_rmem"] = f"4096 {2 * window} {2 * window}"
        commands += [f"echo {value} > /proc/sys/{name}"
                     for name, value in settings.items()]
        done = subprocess.run(
            ["nsenter", "--net=" + self.namespace, "sh", "-ec",
             "\n".join(commands)],
            stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise BedError(f"{self.name}: {done.stderr.strip()}")

    def command(self, command):
        """Returns `command` as run on this host."""
        return ["nsenter", "--net=" + self.namespace, *command]


class Bed:
    """A bed, from `with` to its end."""

    def __init__(self, wire, topology, mtu=9000, window_kib=2048,
                 wire_options=(), ends_with_parent=True):
        self.mtu = mtu
        self.window_kib = window_kib
        self.hosts = []
        self.report = ""
        command = [str(wire), "--topology", str(topology), *wire_options]
        if ends_with_parent:
            command.append("--until-eof")
        self.process = subprocess.Popen(
            command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.PIPE if ends_with_parent else subprocess.DEVNULL,
            preexec_fn=begin_wire)
        try:
            self._read_hosts()
            for host in self.hosts:
                host.configure(mtu, window_kib)
        except BaseException:
            self.process.kill()
            self.process.communicate()
            raise

    def _read_hosts(self):
        for line in self.process.stdout:
            words = line.split()
            if words == ["ready"]:
                return
            if len(words) != 4 or words[0] != "host":
                break
            self.hosts.append(Host(int(words[1]), int(words[2]), words[3]))
        raise BedError(self.process.stderr.read().strip() or "simai_wire ended")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.end()

    def payload_share(self):
        """Returns the share of a link's rate that is payload of TCP."""
        return (self.mtu - TCP_HEADERS) / (self.mtu + ETHERNET)

    def spawn(self, number, command, **options):
        """Starts `command` on a host; it ends with this process."""
        return subprocess.Popen(self.hosts[number].command(command),
                                preexec_fn=begin_on_host, **options)

    def end(self):
        """Ends the bed and what runs on its hosts; `report` says what it did."""
        if self.process.poll() is not None:
            return
        end_processes_of(self.hosts)
        self.process.terminate()
        self.report, errors = self.process.communicate(timeout=10)
        if self.process.returncode:
            raise BedError(errors.strip() or "simai_wire failed")


def namespace_number(path):
    """Returns what tells a namespace from others, or None if it is gone."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


def processes_of(hosts):
    """Returns the processes that run on `hosts`."""
    wanted = {namespace_number(host.namespace) for host in hosts} - {None}
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not re.fullmatch(r"\d+", entry.name):
            continue
        if namespace_number(entry / "ns" / "net") in wanted:
            found.append(int(entry.name))
    return found


def end_processes_of(hosts):
    for process in processes_of(hosts):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
