"""What a row runs on: the guest with NFS, a device, our programs, data with known SHA-256."""

import contextlib
import hashlib
import pathlib
import re
import signal

import monitor
from machine import ADDRESS
from nfs import OURS, PREFIX
from processes import Failed, Process, wait_until

HERE = pathlib.Path(__file__).resolve().parent
# One program.
SECONDS = 60
# For what is freed after the end of a connection.
FREED_SECONDS = 30
# Of our end, if nobody is to call it.
UNKNOWN = {4: "192.0.2.9", 6: "fd00::9"}


class Stage:
    """One try of a row."""

    def __init__(self, programs, guest, nfs, folder, device, row):
        self.programs, self.guest, self.nfs, self.folder = programs, guest, nfs, folder
        self.device, self.row, self.count = device, row, 0
        # Where the last server of ours says what it has in use.
        self.monitor = None
        # Logs of headers, one for each run of a program.
        self.headers = []
        # Which of them is that of the program that was killed.
        self.killed = None
        # For the table: what was counted.
        self.facts = {}

    def data(self, octets):
        """A file that the guest sees, too, and its SHA-256: the same octets in each run."""
        self.count += 1
        path = self.guest.folder / f"data{self.count}"
        parts, made = [], 0
        while made < octets:
            parts.append(hashlib.sha512(f"{self.row.name} {octets} {len(parts)}".encode()).digest())
            made += len(parts[-1])
        whole = b"".join(parts)[:octets]
        path.write_bytes(whole)
        return path, hashlib.sha256(whole).hexdigest()

    def command(self, program, *options, addresses=None):
        """One of our programs on the device."""
        family = self.row.family
        own = f"{(addresses or OURS)[family]}/{PREFIX[family]}"
        self.headers.append(self.folder / f"headers{self.count}")
        return [self.programs / program, f"vfio-user:{self.device.socket}", "--own", own,
                "--headers", self.headers[-1], *options]

    def start(self, program, *options):
        """A client of ours, to the guest's server; NFSv4 begins at that one's root."""
        self.count += 1
        handle = [] if "--vers" in options else ["--handle", self.nfs.handle]
        command = self.command(program, "-a", ADDRESS[self.row.family], *handle,
                               "--timeout", 20, *options)
        return Process(program, command, self.folder / f"{program}{self.count}")

    def ours(self, program, *options):
        """Run a client of ours to its end: what it has printed."""
        with self.start(program, *options) as process:
            if process.wait(SECONDS) != 0:
                raise Failed(f"{program} {' '.join(map(str, options))}: {process.said()}")
            return process.text()

    @contextlib.contextmanager
    def server(self, addresses=None):
        """Our server: the TCP port that it has got, and the process."""
        self.count += 1
        self.monitor = self.folder / f"monitor{self.count}"
        command = self.command("nfs_server", "--tcp", "127.0.0.1:0", "--verbose",
                               "--monitor", self.monitor, *self.row.server, addresses=addresses)
        output = self.folder / f"nfs_server{self.count}"
        with Process("nfs_server", command, output) as server:
            listening = re.compile(r"^listening on \S+\]?:\d+$", re.MULTILINE)
            server.until(lambda: listening.search(server.text()), 30)
            yield int(re.search(r":(\d+) over TCP", server.text()).group(1)), server
            if server.process.poll() not in (None, -signal.SIGKILL):
                raise Failed(f"nfs_server has ended: {server.said()}")

    def found(self):
        """What our server has in use of the device before it has a client: the same each time, if
        whoever had the device before has left nothing."""
        with self.server(UNKNOWN):
            return monitor.in_use(self.monitor)

    def kill(self, process):
        """Kill the program that was started last."""
        self.killed = len(self.headers) - 1
        process.stop(signal.SIGKILL)
        expect("status of who was killed", process.process.returncode, -signal.SIGKILL)

    def frees(self, idle):
        """Wait until the guest has as many objects of RDMA as before."""
        wait_until(lambda: self.guest.held() == idle, FREED_SECONDS,
                   f"the guest was to have {idle} again")

    def shell(self, script, seconds=SECONDS, **variables):
        """A script in the guest: a job."""
        head = "".join(f"{name}='{value}'\n" for name, value in variables.items())
        return self.guest.start(head + script, seconds)

    def finish(self, job):
        """What a script has printed."""
        if job.wait() != 0:
            raise Failed(f"in the guest: status {job.status()}: {job.complaint()}")
        return job.printed()


def expect(what, found, expected):
    """Fail if something is not what it should be."""
    if found != expected:
        raise Failed(f"{what}: {found}, not {expected}")


def places(octets, count):
    """So many places in a file, with as much between any two."""
    return [octets * (number + 1) // (count + 1) for number in range(count)]


def in_guest(path):
    """The name of a shared file in the guest."""
    return f"/host/{path.name}"


def facts(text):
    """Lines `fact NAME VALUE`."""
    return dict(re.findall(r"^fact (\S+) (\S+)$", text, re.MULTILINE))
