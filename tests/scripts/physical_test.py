"""Runs simai_physical with processes of this host: complete runs, ranks that
are killed, and whoever else comes to its ports.

    physical_test.py --bin build/release/bin [--kills 3] [--ranks 8]
"""

import argparse
import csv
import json
import os
import pathlib
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OPTIONS = argparse.Namespace(bin=ROOT / "build" / "release" / "bin", kills=3,
                             ranks=8)
SECRET = "a secret of the tests"
ENVIRONMENT = {**os.environ, "SIMAI_SECRET": SECRET}
for variable in ("OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"):
    ENVIRONMENT.pop(variable, None)
# So long may the others take to notice that one is lost, on a busy machine.
SECONDS_TO_NOTICE = 15
# Over libfabric, but without a device: what every host can do.
FABRIC = ("--transport", "rdma", "--provider", "tcp")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def workload(ranks, layers, compute_ns=100_000, sizes=(65536,)):
    """SimAI's text: each layer computes, and then has a collective of TP."""
    kinds = ("ALLREDUCE", "ALLTOALL", "ALLGATHER", "REDUCESCATTER")
    head = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD "
            f"model_parallel_NPU_group: {ranks} ep: 1 pp: 1 vpp: 1 ga: 1 "
            f"all_gpus: {ranks} checkpoints: 0 checkpoint_initiates: 0 "
            "pp_comm: 0")
    rows = [
        "\t".join([f"layer{i}", "-1", str(compute_ns), kinds[i % 4],
                   str(sizes[i % len(sizes)]), "0", "NONE", "0", "0", "NONE",
                   "0", "0"]) for i in range(layers)
    ]
    return "\n".join([head, str(layers), *rows]) + "\n"


def sockets_of(port):
    """States, but TIME_WAIT, of the sockets of this host that have the port."""
    time_wait = "06"
    states = []
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        cells = line.split()
        ports = [int(cell.split(":")[1], 16) for cell in cells[1:3]]
        if port in ports and cells[3] != time_wait:
            states.append(cells[3])
    return states


def processes_of(folder):
    """Ids of the processes that run in the folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if os.readlink(entry / "cwd") == str(folder):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def has_libfabric():
    """Whether the program can send over libfabric's provider tcp."""
    done = subprocess.run([OPTIONS.bin / "simai_physical", "-w", "w", "-n", "n",
                           "--rank", "1", "--coordinator", "a", *FABRIC],
                          env=ENVIRONMENT, text=True, capture_output=True)
    return "without libfabric" not in done.stderr


class PhysicalCase(unittest.TestCase):
    """Starts ranks in a folder of their own, and ends them."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.running = []
        self.addCleanup(self.kill_all)

    def kill_all(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def run_program(self, program, *arguments, code=0):
        done = subprocess.run([OPTIONS.bin / program, *arguments],
                              cwd=self.folder, env=ENVIRONMENT, text=True,
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def make_inputs(self, ranks, **options):
        self.run_program("gen_topo", "-topo", "Spectrum-X", "-g", str(ranks),
                         "-gt", "H100", "-gps", "1", "-o", "topo.txt")
        (self.folder / "w.txt").write_text(workload(ranks, **options))
        (self.folder / "hosts.txt").write_text(
            f"localhost slots={ranks}\n")

    def start(self, *arguments, collectives="ring", **variables):
        process = subprocess.Popen(
            [OPTIONS.bin / "simai_physical", "-w", "w.txt", "-n", "topo.txt",
             "--collectives", collectives, *arguments], cwd=self.folder,
            env={**ENVIRONMENT, **variables}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.running.append(process)
        return process

    def start_rank(self, rank, port, *arguments, **variables):
        return self.start("--rank", str(rank), "--coordinator",
                          f"127.0.0.1:{port}", *arguments, **variables)

    def end_of(self, process, seconds=30):
        out, error = process.communicate(timeout=seconds)
        return process.returncode, out, error

    def collectives(self, folder):
        with open(self.folder / folder / "collectives.csv") as file:
            return list(csv.DictReader(file))

    def rows(self, folder):
        """What was sent, without its times."""
        keys = ("layer", "phase", "collective", "group", "first_rank", "ranks",
                "bytes", "algorithm")
        return sorted(
            tuple(row[key] for key in keys)
            for row in self.collectives(folder)
            for _ in range(int(row["count"])))

    def wait_until_connected(self, port, ranks):
        """Until all other ranks have a connection to rank 0 at the port."""
        established = "01"
        end = time.monotonic() + 60
        while time.monotonic() < end:
            # Both ends are sockets of this host.
            if sockets_of(port).count(established) >= 2 * (ranks - 1):
                return
            time.sleep(0.05)
        self.fail("not all ranks have connected")

    # Whichever rank it is and whenever, all others end soon and name it.
    def kill_ranks(self, *arguments):
        ranks = OPTIONS.ranks
        self.make_inputs(ranks, layers=2000, compute_ns=5_000_000,
                         sizes=(1 << 14, 1 << 18))
        draws = random.Random(1)
        for _ in range(OPTIONS.kills):
            port = free_port()
            processes = [self.start_rank(rank, port, *arguments)
                         for rank in range(ranks)]
            # Who never came would be missed later.
            self.wait_until_connected(port, ranks)
            time.sleep(draws.uniform(0.5, 3))
            lost = draws.randrange(ranks)
            with self.subTest(lost=lost):
                self.assertIsNone(processes[lost].poll(),
                                  "the run is over too soon")
                processes[lost].send_signal(signal.SIGKILL)
                killed = time.monotonic()
                for rank, process in enumerate(processes):
                    code, _, error = self.end_of(process)
                    if rank != lost:
                        self.assertEqual(code, 1)
                        self.assertRegex(error, rf"rank {lost}\b.* was lost")
                self.assertLess(time.monotonic() - killed, SECONDS_TO_NOTICE)
                self.assertEqual(processes_of(self.folder), [])
                self.assertEqual(sockets_of(port), [])


class PhysicalTest(PhysicalCase):
    """Runs over TCP."""

    # The rows are those of the simulation, but for their times.
    def test_a_launched_run_has_the_collectives_of_a_simulated_one(self):
        self.make_inputs(4, layers=8, sizes=(1 << 16, 1 << 20))
        self.run_program("simai_simulator", "-w", "w.txt", "-n", "topo.txt",
                         "--collectives", "ring", "--fidelity", "flow", "-o",
                         "simulated")
        process = self.start("--hosts", "hosts.txt", "-o", "measured",
                             "--compare", "simulated", "--iterations", "3")
        code, out, error = self.end_of(process)
        self.assertEqual((code, error), (0, ""))
        self.assertIn("finished   w: ", out)
        self.assertIn("median of the errors of collectives of 1 MiB", out)
        self.assertEqual(self.rows("measured"), self.rows("simulated"))
        for row in self.collectives("measured"):
            self.assertGreater(float(row["time_us"]), 0)
        run = json.loads((self.folder / "measured/run.json").read_text())
        self.assertEqual(len(run["physical"]["iterations_ps"]), 3)
        # Computing is waiting, at least as long as the workload says.
        self.assertGreater(run["result"]["iteration_ps"], 8 * 100_000_000)
        self.assertEqual(processes_of(self.folder), [])

    def test_ranks_find_their_places_in_what_mpirun_says(self):
        self.make_inputs(3, layers=4)
        processes = [
            self.start("-o", "out", OMPI_COMM_WORLD_RANK=str(rank),
                       OMPI_COMM_WORLD_SIZE="3", OMPI_COMM_WORLD_LOCAL_SIZE="3",
                       PMIX_NAMESPACE=str(os.getpid())) for rank in range(3)
        ]
        ends = [self.end_of(process) for process in processes]
        self.assertEqual([end[0] for end in ends], [0, 0, 0], ends)
        self.assertIn("finished", ends[0][1])
        self.assertEqual([end[1] for end in ends[1:]], ["", ""])
        self.assertEqual(len(self.collectives("out")), 4)

    def test_a_killed_rank_ends_the_run(self):
        self.kill_ranks()

    def test_a_launcher_that_is_killed_takes_its_ranks_along(self):
        self.make_inputs(4, layers=2000, compute_ns=5_000_000)
        launcher = self.start("--hosts", "hosts.txt")
        time.sleep(1)
        self.assertGreater(len(processes_of(self.folder)), 4)
        launcher.kill()
        end = time.monotonic() + SECONDS_TO_NOTICE
        while processes_of(self.folder) and time.monotonic() < end:
            time.sleep(0.05)
        launcher.communicate()
        self.assertEqual(processes_of(self.folder), [])

    def test_a_launched_rank_that_cannot_start_is_named(self):
        self.make_inputs(2, layers=2)
        (self.folder / "hosts.txt").write_text("localhost\nother\n")
        code, _, error = self.end_of(
            self.start("--hosts", "hosts.txt", "--remote-shell", "false"))
        self.assertEqual(code, 1)
        self.assertEqual(
            error, "simai_physical: error: the process of rank 1 on other has "
            "ended with exit code 1\n")

    def test_a_rank_with_another_secret_is_told_and_the_run_goes_on(self):
        self.make_inputs(2, layers=4)
        port = free_port()
        first = self.start_rank(0, port)
        code, _, error = self.end_of(
            self.start_rank(1, port, SIMAI_SECRET="another secret of theirs"))
        self.assertEqual(code, 2)
        self.assertEqual(
            error, "simai_physical: error: rank 0, which coordinates, at "
            f"127.0.0.1:{port} has another secret\n")
        second = self.start_rank(1, port)
        self.assertEqual(self.end_of(second)[0], 0)
        code, out, error = self.end_of(first)
        self.assertEqual(code, 0, error)
        self.assertIn("a connection from 127.0.0.1 was refused", error)

    def test_a_rank_with_another_workload_is_told_and_the_run_goes_on(self):
        self.make_inputs(2, layers=4)
        port = free_port()
        first = self.start_rank(0, port)
        code, _, error = self.end_of(
            self.start_rank(1, port, "--iterations", "2"))
        self.assertEqual(code, 1)
        self.assertIn("the workload, cluster or options of rank 1 on", error)
        self.assertIn("differ from those of the coordinator", error)
        self.assertEqual(self.end_of(self.start_rank(1, port))[0], 0)
        self.assertEqual(self.end_of(first)[0], 0)

    # The system decides how NCCL lays its channels, so that two ranks with
    # different ones would send different messages.
    def test_a_rank_with_another_system_file_is_told(self):
        self.make_inputs(2, layers=4)
        system = (ROOT / "inputs/systems/dgx-h100.yaml").read_text()
        for name, rate in (("ours", 400), ("same", 400), ("other", 200)):
            (self.folder / f"{name}.yaml").write_text(
                system.replace("nic_Gbps: 400", f"nic_Gbps: {rate}"))

        def start(rank, port, system):
            return self.start("--system", system, "--nccl", "NCCL_ALGO=Ring",
                              "--rank", str(rank), "--coordinator",
                              f"127.0.0.1:{port}", collectives="nccl")

        port = free_port()
        first = start(0, port, "ours.yaml")
        code, _, error = self.end_of(start(1, port, "other.yaml"))
        self.assertEqual(code, 1)
        self.assertIn("the workload, cluster or options of rank 1 on", error)
        self.assertEqual(self.end_of(start(1, port, "same.yaml"))[0], 0)
        self.assertEqual(self.end_of(first)[0], 0)

    # mpirun ends the other ranks once rank 0 has ended with an error, before
    # they report the same one.
    def test_the_first_rank_of_mpirun_reports_an_error_of_all(self):
        self.make_inputs(2, layers=2)
        (self.folder / "w.txt").write_text("nothing\n")
        first, second = [
            self.start("-o", "out", OMPI_COMM_WORLD_RANK=str(rank),
                       OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_LOCAL_SIZE="2",
                       PMIX_NAMESPACE=str(os.getpid())) for rank in range(2)
        ]
        code, _, error = self.end_of(first)
        self.assertEqual(code, 2)
        self.assertRegex(error, "^simai_physical: error: w.txt:1:.*\n$")
        second.terminate()
        self.assertEqual(self.end_of(second)[2], "")

    def test_another_rank_of_mpirun_reports_an_error_of_its_own(self):
        self.make_inputs(2, layers=2)
        (self.folder / "w.txt").write_text("nothing\n")
        code, _, error = self.end_of(
            self.start(OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="2",
                       OMPI_COMM_WORLD_LOCAL_SIZE="2"))
        self.assertEqual(code, 2)
        self.assertRegex(error, "^simai_physical: error: w.txt:1:.*\n$")

    # A port scan, garbage, and somebody who says nothing or hears nothing.
    def test_strangers_do_not_stop_a_run(self):
        self.make_inputs(2, layers=400, compute_ns=5_000_000)
        port = free_port()
        first = self.start_rank(0, port)
        strangers = []
        end = time.monotonic() + 10
        while not strangers and time.monotonic() < end:
            try:
                strangers.append(socket.create_connection(("127.0.0.1", port)))
            except OSError:
                time.sleep(0.05)
        for i in range(200):
            stranger = socket.create_connection(("127.0.0.1", port))
            if i % 4 == 0:
                stranger.sendall(random.Random(i).randbytes(1000))
            elif i % 4 == 1:
                stranger.sendall(b"simai-physical:2" + bytes(31))
            elif i % 4 == 2:
                stranger.close()
            strangers.append(stranger)
        second = self.start_rank(1, port)
        self.assertEqual(self.end_of(second, 60)[0], 0)
        code, out, error = self.end_of(first)
        self.assertEqual(code, 0, error)
        self.assertIn("finished", out)
        self.assertIn("is no simai_physical of this version", error)
        for stranger in strangers:
            stranger.close()

    def test_ranks_that_never_come_are_named(self):
        self.make_inputs(4, layers=2)
        port = free_port()
        processes = [
            self.start_rank(rank, port, "--join-limit", "1") for rank in (0, 2)
        ]
        for process in processes:
            code, _, error = self.end_of(process)
            self.assertEqual(code, 1)
            self.assertEqual(
                error, "simai_physical: error: rank(s) 1, 3 have not joined "
                "within --join-limit, 1 s\n")

    # A refusal comes at once; a rank must not try again as often as it can.
    def test_a_rank_waits_idly_for_its_coordinator(self):
        self.make_inputs(2, layers=2)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        port = free_port()
        code, _, error = self.end_of(
            self.start_rank(1, port, "--join-limit", "2"))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(code, 1)
        self.assertRegex(
            error, "^simai_physical: error: rank 1 on .* cannot reach rank 0, "
            f"which coordinates, at 127.0.0.1:{port} within 2 s: Connection "
            "refused\n$")
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime -
                        before.ru_stime, 0.5)

    def test_measurements_that_cannot_be_compared_are_kept(self):
        self.make_inputs(2, layers=1)
        self.end_of(self.start("--hosts", "hosts.txt", "-o", "other"))
        rows = self.folder / "other/collectives.csv"
        rows.write_text(rows.read_text().replace(",all-reduce,", ",broadcast,"))
        code, _, error = self.end_of(
            self.start("--hosts", "hosts.txt", "-o", "out", "--compare",
                       "other"))
        self.assertEqual(code, 2)
        self.assertIn("error: --compare is other: no collective of the", error)
        self.assertEqual(len(self.collectives("out")), 1)

    def test_a_run_that_takes_too_long_ends(self):
        self.make_inputs(2, layers=2000, compute_ns=5_000_000)
        code, _, error = self.end_of(
            self.start("--hosts", "hosts.txt", "--time-limit", "1"))
        self.assertEqual(code, 1)
        self.assertEqual(
            error, "simai_physical: error: the run takes longer than "
            "--time-limit, 1 s; iteration 0 lacks rank(s) 0, 1\n")
        self.assertEqual(processes_of(self.folder), [])

    def test_what_has_no_effect_is_refused(self):
        self.make_inputs(2, layers=2)
        for arguments, message in (
            ((), "nothing says where the ranks run: give --hosts FILE, or "
             "start simai_physical with mpirun or srun, or each rank with "
             "--rank N"),
            (("--hosts", "hosts.txt", "--rank", "0"),
             "--rank has no effect: --hosts starts the ranks"),
            (("--rank", "0", "--remote-shell", "rsh"),
             "--remote-shell has no effect: only --hosts starts ranks"),
            (("--rank", "0"), "--coordinator is missing: --rank does not say "
             "on which host rank 0 is"),
            (("--rank", "1", "--coordinator", "a", "--compare", "b"),
             "--compare has no effect: rank 0 writes the results"),
            (("--rank", "1", "--coordinator", "a", "--time-limit", "9"),
             "--time-limit has no effect: rank 0 ends a run that takes too "
             "long"),
            (("--rank", "5", "--coordinator", "127.0.0.1"),
             "--rank is 5: the workload has ranks 0 to 1"),
        ):
            with self.subTest(arguments=arguments):
                code, _, error = self.end_of(self.start(*arguments))
                self.assertEqual(
                    (code, error), (2, f"simai_physical: error: {message}\n"))

    def test_ranks_meet_at_addresses_of_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as listener:
                listener.bind(("::1", 0))
                port = listener.getsockname()[1]
        except OSError:
            self.skipTest("this host has no IPv6")
        self.make_inputs(2, layers=4)
        ends = [self.end_of(process) for process in [
            self.start("--rank", str(rank), "--coordinator", f"[::1]:{port}")
            for rank in range(2)]]
        self.assertEqual([end[0] for end in ends], [0, 0], ends)


class FabricTest(PhysicalCase):
    """Runs over libfabric's provider tcp, which needs no device."""

    @classmethod
    def setUpClass(cls):
        if not has_libfabric():
            raise unittest.SkipTest("built without libfabric")

    def network_of(self, folder):
        run = json.loads((self.folder / folder / "run.json").read_text())
        return run["physical"]

    def run_both(self):
        """Runs w.txt over TCP and over the provider; both send the same."""
        for name, options in (("tcp", ()), ("fabric", FABRIC)):
            code, out, error = self.end_of(
                self.start("--hosts", "hosts.txt", "-o", name, *options))
            self.assertEqual((code, error), (0, ""))
        self.assertEqual(self.rows("fabric"), self.rows("tcp"))
        return out

    # All-reduces, all-to-alls, all-gathers and reduce-scatters, of messages
    # that take a part of a slot and many slots.
    def test_it_sends_what_tcp_sends(self):
        self.make_inputs(4, layers=12, sizes=(100, 1 << 16, 1 << 20, 9 << 20,
                                              33))
        out = self.run_both()
        self.assertRegex(out, r"^physical   4 ranks on 1 host\(s\) over "
                         r"libfabric's tcp\S*, which is no RDMA, device\(s\) "
                         r"lo; 12 collectives and messages\n")
        network = self.network_of("fabric")
        self.assertEqual((network["transport"], network["is_rdma"],
                          network["devices"]), ("rdma", False, ["lo"] * 4))
        self.assertRegex(network["provider"], "^tcp")
        self.assertEqual(self.network_of("tcp")["transport"], "tcp")

    def test_an_iteration_sends_what_tcp_sends(self):
        self.make_inputs(4, layers=1)
        self.run_program(
            "gen_workload", "-m", "llama3-8b", "--gpu-type", "H100", "--gpus",
            "4", "--tp", "2", "--pp", "2", "--num-layers", "2",
            "--global-batch", "2", "--micro-batch", "1", "--seq-length", "64",
            "--vocab-size", "1024", "--format", "program", "-o", "w.txt")
        self.run_both()

    # The provider shm has nothing to wait for: ranks poll it, as they poll a
    # device.
    def test_a_provider_that_is_polled(self):
        self.make_inputs(2, layers=4, sizes=(100, 1 << 20))
        code, out, error = self.end_of(
            self.start("--hosts", "hosts.txt", "--transport", "rdma",
                       "--provider", "shm", "-o", "out"))
        self.assertEqual((code, error), (0, ""))
        self.assertEqual(len(self.collectives("out")), 4)

    def test_a_killed_rank_ends_the_run(self):
        self.kill_ranks(*FABRIC)

    # Everybody can connect to the endpoint of a rank, but not write to it.
    def test_garbage_at_endpoints_does_not_stop_a_run(self):
        self.make_inputs(2, layers=400, compute_ns=5_000_000)
        process = self.start("--hosts", "hosts.txt", *FABRIC)
        ports = set()
        end = time.monotonic() + 10
        while len(ports) < 2 and time.monotonic() < end:
            time.sleep(0.1)
            ports = self.listening_ports()
        self.assertGreaterEqual(len(ports), 2)
        strangers = [socket.create_connection(("127.0.0.1", port))
                     for port in ports for _ in range(4)]
        for i, stranger in enumerate(strangers):
            stranger.sendall(random.Random(i).randbytes(1000))
        code, out, error = self.end_of(process)
        for stranger in strangers:
            stranger.close()
        self.assertEqual(code, 0, error)
        self.assertIn("finished", out)

    def listening_ports(self):
        """Ports at which the processes of the folder listen."""
        inodes = set()
        for process in processes_of(self.folder):
            for entry in pathlib.Path(f"/proc/{process}/fd").glob("*"):
                try:
                    inodes.add(os.readlink(entry))
                except OSError:
                    pass
        ports = set()
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and f"socket:[{cells[9]}]" in inodes:
                ports.add(int(cells[1].split(":")[1], 16))
        return ports

    def test_a_device_or_provider_that_is_not_there_is_named(self):
        self.make_inputs(2, layers=2)
        for arguments, message in (
            (("--provider", "tpc"), "--provider is \"tpc\", for which libfabric "
             "finds no device on this host"),
            (("--provider", "tcp", "--device", "l0"), "--device is \"l0\", "
             "which libfabric's provider tcp"),
            ((), "there is no RDMA device on this host: libfabric finds none "
             "for verbs;ofi_rxm or efa; use --transport tcp, or name another "
             "one of its providers with --provider\n"),
        ):
            if not arguments and os.path.exists("/dev/infiniband"):
                continue
            with self.subTest(arguments=arguments):
                code, _, error = self.end_of(
                    self.start("--hosts", "hosts.txt", "--transport", "rdma",
                               *arguments))
                self.assertEqual(code, 1)
                self.assertEqual(error.count("\n"), 1, error)
                self.assertRegex(error, r"^simai_physical: error: rank \d on "
                                 r"\S+ gave up: ")
                self.assertIn(message, error)

    def test_what_has_no_effect_is_refused(self):
        self.make_inputs(2, layers=2)
        (self.folder / "devices.txt").write_text(
            "localhost slots=2 device=mlx5_0\n")
        for arguments, message in (
            (("--device", "lo"),
             "--device has no effect: --transport tcp needs no device"),
            (("--hosts", "devices.txt"), "devices.txt: device=mlx5_0 of "
             "localhost has no effect: --transport tcp needs no device"),
            ((*FABRIC, "--local-rank", "1"),
             "--local-rank has no effect: --hosts starts the ranks"),
            (("--transport", "rdma", "--device", "a,,b"), "--device is "
             "\"a,,b\": expected a name, or several with commas"),
            (("--transport", "rmda"), "unknown --transport \"rmda\"; did you mean "
             "\"rdma\"? (known: tcp, rdma)"),
        ):
            with self.subTest(arguments=arguments):
                code, _, error = self.end_of(
                    self.start(*(() if "--hosts" in arguments else
                                 ("--hosts", "hosts.txt")), *arguments))
                self.assertEqual(
                    (code, error), (2, f"simai_physical: error: {message}\n"))


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser(description=__doc__)
    PARSER.add_argument("--bin", type=pathlib.Path, default=OPTIONS.bin)
    PARSER.add_argument("--kills", type=int, default=3)
    PARSER.add_argument("--ranks", type=int, default=8)
    OPTIONS, REST = PARSER.parse_known_args()
    OPTIONS.bin = OPTIONS.bin.resolve()
    unittest.main(argv=[sys.argv[0], *REST])
