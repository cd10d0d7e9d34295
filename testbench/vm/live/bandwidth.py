"""Rows of `bandwidth`: Sends, Writes or Reads at a time, with the guest's program of that name.

    guest: bandwidth -s or -c (bandwidth.c)  <-->  bandwidth of ours, --verify

Both ends compare the octets that they get. Each pair of options is in one of the rows.
"""

import dataclasses
import json

from bench import OURS, PORT, PREFIX, Try
from device import Device
from machine import ADDRESS
from processes import Failed, Process
from rows import CLIENT_DELAY_US, Row

FIRST = {"send": "Send", "write": "Write", "read": "Read Request"}
# Octets of a row, about, and messages of a connection: its readers take their time.
TOTAL, MOST = 1 << 20, 200
SECONDS = 60


@dataclasses.dataclass
class Measured(Row):
    """One run."""

    operation: str = "send"
    size: int = 2
    depth: int = 1

    def count(self):
        """Messages of each connection; more than go at a time."""
        count = TOTAL // self.size // self.connections
        return max(self.depth + 4, min(MOST, count))

    def trial(self):
        """What a try of this row is."""
        return Measuring


class Measuring(Try):
    """A try of it."""

    def device(self):
        """For one program, however many connections it has."""
        row = self.row
        return Device(self.programs, self.folder, self.bench, self.capture, dut=row.dut,
                      clients=1, delay_us=row.delay_us)

    def ours(self, device, role, *options):
        """Our end."""
        command = [self.programs / "bandwidth", f"vfio-user:{device}", role,
                   "--own", f"{OURS[4]}/{PREFIX[4]}", "--verify", "--timeout", SECONDS,
                   "--connections", self.row.connections, *options]
        return Process("our bandwidth", command, self.folder / "ours")

    def client(self, device):
        """Our end posts."""
        row = self.row
        job = self.guest.start(f"exec bandwidth -s {row.connections}", SECONDS)
        self.guest.wait_listening(PORT, job)
        load = ["-a", ADDRESS[4], "--operation", row.operation, "-S", row.size,
                "--depth", row.depth, "-C", row.count(), "--json"]
        with self.ours(device, "-c", *load) as ours:
            self.both_end(ours, job)
            report = json.loads(ours.text())
        self.rate = report["megabits_per_second"]
        self.expect_messages(report["messages"])

    def server(self, device):
        """The guest posts."""
        row = self.row
        with self.ours(device, "-s") as ours:
            ours.until(lambda: "listening" in ours.text(), SECONDS)
            job = self.guest.start(
                f"exec bandwidth -c {OURS[4]} {row.connections} {row.operation} {row.size}"
                f" {row.depth} {row.count()}", SECONDS)
            self.both_end(ours, job)
        messages, _, self.rate = job.printed().split()[:3]
        self.rate = float(self.rate)
        self.expect_messages(int(messages))

    def both_end(self, ours, job):
        """Both ends end well."""
        status = ours.wait(SECONDS + 15)
        if status != 0:
            raise Failed(f"our bandwidth: status {status}: {ours.said()}; {job.complaint()}")
        if job.wait() != 0:
            raise Failed(f"the guest's bandwidth: {job.complaint()}; {ours.said()}")

    def expect_messages(self, messages):
        """All have gone."""
        wanted = self.row.count() * self.row.connections
        if messages != wanted:
            raise Failed(f"{messages} messages of {wanted}")

    def result(self):
        """With the throughput as it came."""
        return f"passed, {self.rate:.2f} Mbit/s"


# A Write of 1,442 octets is two more than one FPDU has here.
#   operation, our role, octets, depth, connections, device
RUNS = [
    ("send", "client", 2, 1, 1, "model"),
    ("send", "server", 61, 16, 8, "model"),
    ("send", "client", 1442, 16, 8, "model"),
    ("send", "server", 4096, 1, 1, "model"),
    ("send", "server", 65536, 16, 1, "model"),
    ("write", "server", 2, 16, 8, "model"),
    ("write", "client", 61, 1, 1, "model"),
    ("write", "server", 1442, 1, 1, "model"),
    ("write", "client", 4096, 16, 8, "model"),
    ("write", "client", 65536, 1, 8, "model"),
    ("read", "server", 2, 16, 1, "model"),
    ("read", "client", 61, 1, 8, "model"),
    ("read", "client", 1442, 16, 1, "model"),
    ("read", "server", 4096, 1, 8, "model"),
    ("read", "server", 65536, 16, 8, "model"),
    ("write", "server", 4096, 16, 8, "rtl"),
]


def rows():
    """All of them."""
    for operation, ours, size, depth, connections, dut in RUNS:
        on_rtl = ", RTL" if dut == "rtl" else ""
        plural = "s" if connections > 1 else ""
        name = (f"bandwidth, {operation}, {ours}{on_rtl}, {size} octets, depth {depth},"
                f" {connections} connection{plural}")
        yield Measured(name, ours, first=FIRST[operation], connections=connections, dut=dut,
                       delay_us=CLIENT_DELAY_US if ours == "client" else 0,
                       operation=operation, size=size, depth=depth)
