"""Rows in which the guest's program, or the whole guest, is killed in the middle of a transfer.

Our end, told to wait for 5 s, ends by itself and says why. A second program on the same device
finds it as new, and serves, or is served by, the guest that is there then.
"""

import dataclasses
import signal
import time

import monitor
from bench import OCTETS, OURS, PORT, Try
from machine import ADDRESS
from processes import Failed, wait_until
from rows import CLIENT_DELAY_US, Row

TIMEOUT = 5
# Beside the time-out: two processes share the machine with others.
SLACK = 3
# For what is no time-out of theirs.
PATIENCE = 60
# Pings that are through before; and those of the second program.
BEGUN, NEXT = 20, 3
WITHOUT_END = 1_000_000
# What our program says: siw closes for who is killed, with a FIN or, if octets are left, an RST; or
# the regions go first, and a Read or a Write of ours is refused. For a whole guest nobody closes.
GONE = ("has closed in the middle of", "has ended before a", "nothing is posted for",
        "the peer reset the connection", "(0x1, 0x00): invalid STag")
SILENT = ("not acknowledged", "keepalive probes were not answered", "has kept this end waiting")


@dataclasses.dataclass
class Killed(Row):
    """One end of the guest's, or all of it."""

    # The whole guest, or the program alone.
    whole: bool = False

    def trial(self):
        """What a try of this row is."""
        return Killing


class Killing(Try):
    """A try of such a row."""

    in_turn = 2

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.seconds = TIMEOUT

    def client(self, device):
        """Our end has opened the connection."""
        job = self.guest.start(f"exec rping -s -C {WITHOUT_END} -S {OCTETS}", 60)
        self.guest.wait_listening(PORT, job)
        more = ["-c", "-a", ADDRESS[4], "-S", OCTETS]
        with self.ours(device, *more, "-C", WITHOUT_END) as ours:
            self.kill(ours, job)
        job = self.guest.start(f"exec rping -s -C {NEXT} -S {OCTETS}", 60)
        self.guest.wait_listening(PORT, job)
        with self.ours(device, *more, "-C", NEXT, "-V") as ours:
            self.end_well(ours, job)

    def server(self, device):
        """The guest has opened it."""
        command = f"exec rping -c -a {OURS[4]} -S {OCTETS} -V"
        with self.ours(device, "-s") as ours:
            job = self.guest.start(f"{command} -C {WITHOUT_END}", 60)
            self.kill(ours, job)
        path = self.folder / "monitor"
        with self.ours(device, "-s", "-P", "--monitor", path) as ours:
            ours.until(lambda: "listening" in ours.text(), PATIENCE)
            before = monitor.in_use(path)
            job = self.guest.start(f"{command} -C {NEXT}", 60)
            if job.wait() != 0:
                raise Failed(f"the next client: {job.complaint()}; {ours.said()}")
            monitor.expect(path, before, TIMEOUT)

    def ours(self, device, *options):
        """Our end, with a short timeout."""
        return self.program(device, *options, "--keepalive", 1)

    def kill(self, ours, job):
        """In the middle of a transfer; our end ends within its time-out."""
        ours.until(lambda: ours.text().count("ping data") >= BEGUN, PATIENCE)
        if self.row.whole:
            self.guests.guest.process.stop(signal.SIGKILL)
            self.guests.drop()
        else:
            self.guest.run("killall -KILL rping")
        begun = time.monotonic()
        status = ours.wait(TIMEOUT + SLACK)
        self.took = time.monotonic() - begun
        known = SILENT if self.row.whole else GONE
        is_known = status == 2 and any(said in ours.said() for said in known)
        # A client that is killed between two pings has closed as one that is done.
        is_done = status == 0 and self.row.ours == "server" and not self.row.whole
        if not is_known and not is_done:
            raise Failed(f"our rping: status {status}: {ours.said()}")
        if self.row.whole:
            self.guest = self.guests.booted()
            self.guest.parameters({})
        else:
            wait_until(lambda: job.status() is not None, TIMEOUT, "the program that was killed")

    def end_well(self, ours, job):
        """The second program."""
        if ours.wait(PATIENCE) != 0:
            raise Failed(f"our next rping: {ours.said()}; {job.complaint()}")
        if job.wait() != 0:
            raise Failed(f"the guest's next rping: {job.complaint()}")

    def result(self):
        """With the time that our end took."""
        return f"passed, after {self.took:.1f} s"


def rows():
    """All of them."""
    for ours in ("client", "server"):
        delay = CLIENT_DELAY_US if ours == "client" else 0
        yield Killed(f"{ours}, guest's program killed", ours, connections=2, delay_us=delay)
        yield Killed(f"{ours}, guest killed", ours, connections=2, delay_us=delay, whole=True)
