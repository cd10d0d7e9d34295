"""Rows in which our program is killed in the middle of a transfer, and siw stays.

    our rping, SIGKILL --> the next one on that device --> an RST for what siw still sends

siw's server lives on and serves the next client; its client ends and says what it has waited for.
Then the guest has nothing that it had not before.
"""

import signal

from bench import OCTETS, OURS, PORT, Try
from killed import BEGUN, NEXT, PATIENCE, WITHOUT_END
from machine import ADDRESS
from processes import Failed, wait_until
from rows import CLIENT_DELAY_US, Row

# Far more than an RST for one of the probes, a second apart, takes.
FREED_SECONDS = 30


class Left(Row):
    """Our end is killed."""

    def trial(self):
        """What a try of this row is."""
        return Leaving


class Leaving(Try):
    """A try of such a row."""

    in_turn = 3

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.seconds = PATIENCE

    def client(self, device):
        """Our end has opened the connection, to a server for many."""
        job = self.guest.start(f"exec rping -s -P -S {OCTETS}", 2 * PATIENCE)
        self.guest.wait_listening(PORT, job)
        idle = self.guest.held()
        more = ["-c", "-a", ADDRESS[4], "-S", OCTETS]
        with self.program(device, *more, "-C", WITHOUT_END) as ours:
            self.kill(ours)
        with self.program(device, *more, "-C", NEXT, "-V") as ours:
            if ours.wait(PATIENCE) != 0:
                raise Failed(f"our next rping: {ours.said()}; {job.complaint()}")
        # Who has the device answers the probes of the connection that was left.
        with self.listening(device):
            self.freed(idle)
        if job.status() is not None:
            raise Failed(f"the guest's server has ended: {job.complaint()}")
        self.guest.run("killall rping")

    def server(self, device):
        """The guest has opened it."""
        idle = self.guest.held()
        command = f"exec rping -c -a {OURS[4]} -S {OCTETS} -V"
        with self.listening(device) as ours:
            job = self.guest.start(f"{command} -C {WITHOUT_END}", PATIENCE)
            self.kill(ours)
        with self.listening(device) as ours:
            # rping says so, and its status is 0 all the same.
            if job.wait() == 0 and "wait for" not in job.complaint():
                raise Failed(f"the guest's client says that all went well: {job.complaint()}")
            following = self.guest.start(f"{command} -C {NEXT}", PATIENCE)
            if following.wait() != 0:
                raise Failed(f"the next client: {following.complaint()}; {ours.said()}")
        self.freed(idle)

    def kill(self, ours):
        """In the middle of a transfer."""
        ours.until(lambda: ours.text().count("ping data") >= BEGUN, PATIENCE)
        ours.stop(signal.SIGKILL)

    def freed(self, idle):
        """The guest has what it had."""
        wait_until(lambda: self.guest.held() == idle, FREED_SECONDS,
                   "the end of the connection that our program left")


def rows():
    """Both; the server also on RTL, where the next owner resets the core in mid-traffic."""
    for ours, dut in (("client", "model"), ("server", "model"), ("server", "rtl")):
        delay = CLIENT_DELAY_US if ours == "client" else 0
        on_rtl = ", RTL" if dut == "rtl" else ""
        yield Left(f"{ours}{on_rtl}, our program killed", ours, connections=2, delay_us=delay,
                   siw={"keepalive_s": 1}, dut=dut)
