#!/usr/bin/env python3
"""A Slurm cluster of this host alone, for as long as one test runs.

    with SlurmCluster(nodes=2, cpus_per_node=2) as cluster:
        cluster.run("sbatch", "--wrap", "hostname")

It is real: munged, slurmctld and a slurmd for each node, on 127.0.0.1, as the
user who runs the test, with files in a temporary folder only. A client reaches
it through SLURM_CONF, which is in `environment`. Jobs run as the same user.

The programs belong to a keeper, which is this file run as a program. It starts
what it is told to on stdin. When that closes, because the test ends or is
killed, it ends all that came of them, jobs included, and removes the folder.
"""

import ctypes
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = ("sbatch", "scancel", "scontrol", "sinfo", "squeue")

CGROUPS = "/sys/fs/cgroup"

TIME_LIMIT = 30  # Seconds for all of the start, and for one client.
KILL_WAIT = 2  # Seconds from asking a job or a daemon to end to SIGKILL.
POLL = 0.05
LOG_LINES = 40

# The path stands in slurm.conf, and that of a Unix socket has 107 bytes at
# most. The longest is that of a step, in spool.
FOLDER = re.compile(r"[\w./+-]{1,70}", re.ASCII)

# From linux/prctl.h.
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

# A client obeys these too, and the test may itself run in a job.
CLIENT_VARIABLES = ("SLURM", "SBATCH_", "SQUEUE_", "SINFO_", "SCANCEL_")

# What is not the default, and why:
# - cred_expire: a task that is requeued waits for it; the least is 5.
# - linuxproc, none: a container may have no cgroups, and no PAM.
# - config_overrides: the nodes claim more CPUs and memory than the host has.
# - SchedulerParameters: an array starts within a second, not within 30.
# - ReturnToService: a node that was down for a moment is used again.
# - MinJobAge: how long `squeue -t all` shows a job that ended.
CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
SlurmctldSyslogDebug=quiet
SlurmdSyslogDebug=quiet
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
JobRequeue=1
KillWait={kill_wait}
MinJobAge={min_job_age}
SlurmdTimeout=30
ReturnToService=2
MailProg=/bin/true
{nodes}
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODE = ("NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
        "CPUs={cpus} RealMemory=65536 State=UNKNOWN")


class SlurmError(Exception):
    """A client failed or the cluster did not start; says why."""


def find_program(name):
    """Returns the path, or None; daemons lie where no user's PATH leads."""
    path = os.environ.get("PATH", os.defpath)
    return shutil.which(name, path=path + ":/usr/sbin:/sbin")


def missing_programs():
    """Returns the names of the programs that are needed and not installed."""
    return [p for p in DAEMONS + CLIENTS if find_program(p) is None]


def obstacle():
    """Returns why no cluster can start on this host, or None."""
    if not os.path.ismount(CGROUPS):
        return f"{CGROUPS} is not mounted, and slurmd does not start without it"
    return None


def free_ports(count):
    """Returns ports of 127.0.0.1 that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def listens(family, address):
    with socket.socket(family) as client:
        return client.connect_ex(address) == 0


def is_running(pid):
    """Whether the process, given as text, is there and no zombie."""
    return bool(pid) and os.path.exists(f"/proc/{pid}/exe")


class SlurmCluster:
    """The cluster, from `with` to its end."""

    def __init__(self, nodes=2, cpus_per_node=2, min_job_age=300):
        """Its nodes are node1, node2, ...; `min_job_age` is in seconds."""
        self.node_names = [f"node{i + 1}" for i in range(nodes)]
        self.cpus_per_node = cpus_per_node
        self.min_job_age = min_job_age
        self.folder = None
        self.environment = None
        self._keeper = None
        self._daemons = []  # (name, process id as text)

    def __enter__(self):
        missing = missing_programs()
        if missing:
            raise SlurmError("not installed: " + ", ".join(missing))
        if said := obstacle():
            raise SlurmError(said)
        self._keeper = start_keeper()
        try:
            self.folder = pathlib.Path(self._keeper.stdout.readline().strip())
            self._start(time.monotonic() + TIME_LIMIT)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_):
        try:
            self._cancel_jobs()
        finally:
            self._end()

    def run(self, *command, limit=TIME_LIMIT):
        """Runs a client and returns its stdout; raises if it fails."""
        try:
            result = subprocess.run(
                command, env=self.environment, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            raise SlurmError(f"{' '.join(command)}: took more than {limit} s"
                             ) from None
        if result.returncode != 0:
            raise SlurmError(f"{' '.join(command)}: exit "
                             f"{result.returncode}: {result.stderr.strip()}")
        return result.stdout

    def logs(self):
        """Returns the last lines of each log."""
        parts = []
        for name, _ in self._daemons:
            path = self.folder / f"{name}.log"
            # munged, and one that could not start, say all on stderr.
            if not path.exists() or path.stat().st_size == 0:
                path = path.with_suffix(".out")
            if path.exists():
                lines = path.read_text(errors="replace").splitlines()
                parts += [f"==> {path.name} <==", *lines[-LOG_LINES:]]
        return "\n".join(parts)

    def _start(self, deadline):
        if not FOLDER.fullmatch(str(self.folder)):
            raise SlurmError(f"{self.folder}: a path for Slurm matches "
                             f"{FOLDER.pattern}; TMPDIR says where")
        port = self._write_files()
        munge_socket = str(self.folder / "munge.socket")
        # Forced, as else all users must have access to its folder.
        self._start_daemon(
            "munged", "munged", "--foreground", "--force",
            f"--socket={munge_socket}", f"--key-file={self.folder}/munge.key",
            f"--log-file={self.folder}/munged.log",
            f"--pid-file={self.folder}/munged.pid",
            f"--seed-file={self.folder}/munged.seed")
        self._wait(lambda: listens(socket.AF_UNIX, munge_socket), deadline)
        self._start_daemon("slurmctld", "slurmctld", "-D")
        # A slurmd that finds no controller sleeps before it tries again.
        self._wait(lambda: listens(socket.AF_INET, ("127.0.0.1", port)),
                   deadline)
        for name in self.node_names:
            self._start_daemon(name, "slurmd", "-D", "-N", name)
        self._wait(self._all_idle, deadline)

    def _write_files(self):
        """Writes what the daemons read; returns the controller's port."""
        controller_port, *node_ports = free_ports(1 + len(self.node_names))
        host = socket.gethostname().partition(".")[0]
        nodes = [NODE.format(name=name, host=host, port=port,
                             cpus=self.cpus_per_node)
                 for name, port in zip(self.node_names, node_ports)]
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=host, controller_port=controller_port,
            user=pwd.getpwuid(os.getuid()).pw_name, folder=self.folder,
            kill_wait=KILL_WAIT, min_job_age=self.min_job_age,
            nodes="\n".join(nodes)))
        for name in ("state", *(f"spool.{n}" for n in self.node_names)):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)  # munged refuses one that others can read.
        key.write_bytes(os.urandom(128))
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(CLIENT_VARIABLES)}
        self.environment["SLURM_CONF"] = str(self.folder / "slurm.conf")
        return controller_port

    def _start_daemon(self, name, program, *arguments):
        order = {"command": [find_program(program), *arguments],
                 "environment": self.environment, "output": f"{name}.out"}
        self._keeper.stdin.write(json.dumps(order) + "\n")
        self._keeper.stdin.flush()
        self._daemons.append((name, self._keeper.stdout.readline().strip()))

    def _wait(self, condition, deadline):
        while not condition():
            for name, pid in self._daemons:
                if not is_running(pid):
                    raise SlurmError(f"{name} ended\n{self.logs()}")
            if time.monotonic() > deadline:
                raise SlurmError(f"the cluster did not start in {TIME_LIMIT} "
                                 f"s\n{self.logs()}")
            time.sleep(POLL)

    def _all_idle(self):
        try:
            states = self.run("sinfo", "-h", "-N", "-o", "%T").split()
        except SlurmError:
            return False  # The logs say why, if it stays so.
        return states == ["idle"] * len(self.node_names)

    def _cancel_jobs(self):
        """Lets jobs end as they would by scancel; the keeper kills the rest."""
        if not is_running(dict(self._daemons)["slurmctld"]):
            return  # A client would wait for it.
        deadline = time.monotonic() + KILL_WAIT
        try:
            self.run("scancel", "--quiet", "--partition=test", limit=KILL_WAIT)
            while (self.run("squeue", "-h", limit=KILL_WAIT)
                   and time.monotonic() < deadline):
                time.sleep(POLL)
        except SlurmError:
            pass  # It may be what the test is about.

    def _end(self):
        # Only the keeper has the other ends.
        self._keeper.stdin.close()
        self._keeper.stdout.read()  # Until the keeper ends.
        self._keeper.stdout.close()


def start_keeper():
    """Returns a process whose stdin and stdout are those of the keeper."""
    starter = subprocess.Popen(
        [sys.executable, os.path.abspath(__file__)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, start_new_session=True)
    starter.wait()
    return starter


def keep():
    """Is the keeper: obeys stdin to its end, then clears all away."""
    # Whoever kills a test and its children, as ctest does, must not find this.
    if os.fork():
        os._exit(0)
    libc = ctypes.CDLL(None, use_errno=True)
    # Whatever loses its parent, such as the steps of a slurmd, comes here.
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Leaves no zombies.

    def prepare():
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-")).resolve()
    try:
        print(folder, flush=True)
        for line in sys.stdin:
            order = json.loads(line)
            with open(folder / order["output"], "wb") as output:
                process = subprocess.Popen(
                    order["command"], env=order["environment"], cwd=folder,
                    stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                    preexec_fn=prepare)
            print(process.pid, flush=True)
    finally:
        end_descendants()
        shutil.rmtree(folder)


def end_descendants():
    """Asks them to end, and kills those left after KILL_WAIT."""
    for pid in descendants():
        send(pid, signal.SIGTERM)
    deadline = time.monotonic() + KILL_WAIT
    while left := descendants():
        if time.monotonic() > deadline:
            for pid in left:
                send(pid, signal.SIGKILL)
        time.sleep(POLL)


def descendants():
    """Returns the ids of the processes below this one."""
    children = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name stands in parentheses and may hold any character.
            parent = path.read_bytes().rpartition(b")")[2].split()[1]
        except OSError:
            continue  # It ended meanwhile.
        children.setdefault(int(parent), []).append(int(path.parent.name))
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


if __name__ == "__main__":
    keep()
