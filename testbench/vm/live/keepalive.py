"""A row in which nothing is sent for two minutes but the probes of either end's TCP.

    guest: rping -c pings, is stopped (SIGSTOP) for 120 s, and pings on --> rping -s of ours

siw's sockets are told to probe by a parameter that image.py adds (`keepalive_s`).
"""

import time

import monitor
import wire
from bench import OCTETS, OURS, Try
from processes import Failed
from rows import Row

IDLE_SECONDS = 120
# Of either end; one a second, less what the timers take.
PROBES = 100
# Pings before the client is stopped: it has to have more.
BEFORE = 20


class Idle(Row):
    """The row."""

    def trial(self):
        """What a try of this row is."""
        return Idling


class Idling(Try):
    """A try of it."""

    def server(self, device):
        """The guest's client is stopped, and goes on."""
        self.seconds = 2 * IDLE_SECONDS
        row, path = self.row, self.folder / "monitor"
        options = ["-P", "--keepalive", 1, "--monitor", path]
        with self.listening(device, *options) as ours:
            before = monitor.in_use(path)
            command = f"exec rping -c -a {OURS[4]} -C {row.pings} -S {OCTETS} -v -V"
            job = self.guest.start(command, self.seconds)
            ours.until(lambda: ours.text().count("ping data") >= BEFORE, 20)
            self.guest.run("killall -STOP rping")
            time.sleep(IDLE_SECONDS)
            if job.status() is not None:
                raise Failed("the guest's client was through before it was stopped")
            self.guest.run("killall -CONT rping")
            self.guest_ends(job)
            ours.until(lambda: "pings of" in ours.text(), 10)
            monitor.expect(path, before, 10)

    def judge(self):
        """Each end has probed, and was answered."""
        super().judge()
        self.probes = probes(wire.frames(self.capture), self.connections[0])
        for end, (sent, answered) in zip(("the guest", "our end"), self.probes):
            if answered < PROBES or sent > answered + 1:
                raise Failed(f"{end} has sent {sent} probes, of which {answered} were answered")

    def result(self):
        """With the probes of both."""
        (_, guest), (_, ours) = self.probes
        return f"passed, {guest} probes of siw, {ours} of ours"


def probes(frames, connection):
    """For the end that opened the connection, and the other: probes, and those answered.

    A probe has the octet before the next one as its number (RFC 9293, 3.8.4), and no more; its
    answer acknowledges up to the next one.
    """
    last, sent, answered, waits = [None, None], [0, 0], [0, 0], [None, None]
    for part in filter(None, map(wire.segment, frames)):
        if set(part.ends) != set(connection.ends):
            continue
        side = int(part.ends != connection.ends)
        if part.flags & 0x07 or part.payload:
            # FIN, SYN and RST are no probes; octets, SYN and FIN count.
            end = part.sequence + len(part.payload) + bool(part.flags & 0x03)
            last[side] = end % (1 << 32)
        elif last[side] is not None and (part.sequence + 1) % (1 << 32) == last[side]:
            sent[side] += 1
            waits[side] = last[side]
        if waits[1 - side] is not None and part.acknowledgement == waits[1 - side]:
            answered[1 - side] += 1
            waits[1 - side] = None
    return list(zip(sent, answered))


def rows():
    """It."""
    yield Idle("server, idle for 120 s, keepalive", "server", siw={"keepalive_s": 1}, pings=400)
