"""Measures a bed with plain sockets: round trips, streams, rings, incasts.

All ends are processes of this machine, so they share one clock.
"""

import os
import socket
import struct
import time

import bed as beds

PORT = 7000
BUFFER = bytes(1 << 18)
START_DELAY = 0.3  # Seconds until all processes are there and wait.


class Connection:
    """A TCP connection between two hosts; both ends are open here."""

    def __init__(self, bed, source, target, port):
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        try:
            beds.enter(bed.hosts[target].namespace)
            listener = socket.create_server(("", port))
            beds.enter(bed.hosts[source].namespace)
            self.sender = socket.create_connection(
                (bed.hosts[target].address, port))
            self.receiver, _ = listener.accept()
            listener.close()
        finally:
            beds.enter(f"/proc/self/fd/{home}")
            os.close(home)
        for end in (self.sender, self.receiver):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self):
        self.sender.close()
        self.receiver.close()


def receive(end, size):
    view = memoryview(bytearray(min(size, len(BUFFER))))
    while size:
        got = end.recv_into(view[:min(size, len(view))])
        if not got:
            raise beds.BedError("a connection ended early")
        size -= got


def send(end, size):
    view = memoryview(BUFFER)
    while size:
        size -= end.send(view[:min(size, len(view))])


def in_processes(works):
    """Runs functions, each in a process; returns their results, numbers."""
    pipes = []
    for work in works:
        reading, writing = os.pipe()
        if os.fork() == 0:
            code = 1
            try:
                beds.begin_on_host()
                os.write(writing, b"".join(struct.pack("d", x) for x in work()))
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        pipes.append(reading)
    results = []
    for reading in pipes:
        with os.fdopen(reading, "rb") as pipe:
            data = pipe.read()
        results.append(struct.unpack(f"{len(data) // 8}d", data))
        os.wait()
    return results


def round_trips(bed, source, target, size, count):
    """Returns the sorted times in us from sending `size` to having it back."""
    connection = Connection(bed, source, target, PORT)

    def ask():
        times = []
        for _ in range(count):
            begin = time.monotonic()
            send(connection.sender, size)
            receive(connection.sender, size)
            times.append((time.monotonic() - begin) * 1e6)
        return times

    def answer():
        for _ in range(count):
            receive(connection.receiver, size)
            send(connection.receiver, size)
        return []

    times, _ = in_processes([ask, answer])
    connection.close()
    return sorted(times)


def streams(bed, pairs, size):
    """Sends `size` from each source to its target, all beginning at once.

    Returns the seconds until each has arrived, in the order of `pairs`.
    """
    connections = [Connection(bed, source, target, PORT + i)
                   for i, (source, target) in enumerate(pairs)]
    # The first bytes let the window grow to what it is in the midst of a run.
    for connection in connections:
        in_processes([lambda c=connection: send(c.sender, 1 << 20) or [],
                      lambda c=connection: receive(c.receiver, 1 << 20) or []])
    begin = time.monotonic() + START_DELAY

    def source_of(connection):
        def work():
            time.sleep(max(0, begin - time.monotonic()))
            send(connection.sender, size)
            return []
        return work

    def target_of(connection):
        def work():
            receive(connection.receiver, size)
            return [time.monotonic() - begin]
        return work

    results = in_processes([target_of(c) for c in connections] +
                           [source_of(c) for c in connections])
    for connection in connections:
        connection.close()
    return [result[0] for result in results[:len(pairs)]]


def quantile(values, share):
    """Returns a quantile of sorted values, by nearest rank."""
    return values[min(len(values) - 1, int(share * len(values)))]


class CpuLoad:
    """How busy the cores are, and the wire alone, from `with` to its end."""

    def __init__(self, wire):
        self.wire = wire

    def _read(self):
        with open("/proc/stat", encoding="ascii") as file:
            fields = [int(x) for x in file.readline().split()[1:9]]
        with open(f"/proc/{self.wire}/stat", encoding="ascii") as file:
            own = file.read().rpartition(")")[2].split()
        return (time.monotonic(), sum(fields) - fields[3] - fields[4],
                int(own[11]) + int(own[12]))

    def __enter__(self):
        self.before = self._read()
        return self

    def __exit__(self, *unused):
        wall, busy, wire = (b - a for a, b in zip(self.before, self._read()))
        ticks = os.sysconf("SC_CLK_TCK")
        self.cores = busy / ticks / wall
        self.wire_cores = wire / ticks / wall

    def __str__(self):
        return (f"{self.cores:.2f} cores busy, {self.wire_cores:.2f} of them "
                "simai_wire")


def report(bed, size):
    """Prints what the bed does: round trips, one stream, a ring, an incast."""
    wire = bed.process.pid
    count = len(bed.hosts)
    for bytes_, repeats in ((8, 2000), (1 << 20, 20)):
        with CpuLoad(wire) as load:
            times = round_trips(bed, 0, count - 1, bytes_, repeats)
        shares = {f"p{share}": quantile(times, share / 100)
                  for share in (10, 50, 90, 99)}
        print(f"round trip of {bytes_} B, in us: "
              + ", ".join(f"{name} {time:.1f}" for name, time in shares.items())
              + f", most {times[-1]:.1f}; {load}", flush=True)
    # Pairs of hosts, and how many of them share the busiest link.
    patterns = {
        "one stream": ([(0, count - 1)], 1),
        "ring": ([(i, (i + 1) % count) for i in range(count)], 1),
        "far ring": ([(i, (i + count // 4) % count) for i in range(count)], 1),
        "incast": ([(i, 0) for i in range(1, count)], count - 1),
    }
    payload_bps = bed.hosts[0].rate_bps * bed.payload_share()
    for name, (pairs, sharing) in patterns.items():
        with CpuLoad(wire) as load:
            times = sorted(streams(bed, pairs, size))
        least = 8 * size * sharing / payload_bps
        print(f"{name} of {len(pairs)} x {size >> 20} MiB, in ms: first "
              f"{times[0] * 1e3:.1f}, last {times[-1] * 1e3:.1f}, at line rate "
              f"{least * 1e3:.1f}; {load}", flush=True)
