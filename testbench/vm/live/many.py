"""Rows about connections that come and go: nothing of them is left on either side.

    guest: three clients that end well, one that is killed, again and again --> rping -s -P of ours

What our end has in use afterwards is asked at its monitor; the guest is asked for its objects of
RDMA, and what its kernel has said.
"""

import dataclasses
import re

import monitor
from bench import OURS, Try
from processes import Failed, wait_until
from rows import Row

# What has ended is freed when both ends have closed.
FREED_SECONDS = 10
# None of these is to be in what its kernel says.
WORDS = ["siw", "iw_cm", "rdma", "infiniband", "TCP"]
# For 200 clients, of whom some hang.
SECONDS = 300
# Once in some hundred times rping does not end when it has closed its connection, and is killed, or
# ends badly: our end says whether it has pinged.
# Now and then the RDMA address resolution takes a port of TIME-WAIT, and rping hangs, too: that one
# is no connection. A client that would go on is killed when a file has some of its pings.
ROUNDS = """
no_port() { grep -q 'Cannot assign' /tmp/errors; }

well() {
    timeout -s KILL 5 rping -c -a %(peer)s -C 1 -S 64 -V 2>/tmp/errors
    status=$?
    if no_port; then well; return; fi
    [ $status = 0 ] || echo badly
}

cut() {
    : >/tmp/pings
    : >/tmp/errors
    rping -c -a %(peer)s -C 1000000 -S 64 -v >>/tmp/pings 2>>/tmp/errors &
    client=$!
    until grep -q ping /tmp/pings || no_port; do usleep 10000; done
    kill -KILL $client
    wait $client
    if no_port; then cut; else echo killed; fi
}

for round in $(seq %(rounds)d); do
    well && well && well && cut
done"""


@dataclasses.dataclass
class Many(Row):
    """So many rounds of four clients."""

    rounds: int = 50

    def trial(self):
        """What a try of this row is."""
        return Coming


class Coming(Try):
    """A try of such a row."""

    def server(self, device):
        """Clients come and go; then nothing is in use that was not before."""
        row = self.row
        before_guest, path = self.guest.objects(), self.folder / "monitor"
        self.guest.run("dmesg -c >/dev/null")
        with self.listening(device, "-P", "--monitor", path) as ours:
            before = monitor.in_use(path)
            script = ROUNDS % {"rounds": row.rounds, "peer": OURS[row.family]}
            job = self.guest.start(script, SECONDS)
            if job.wait() != 0:
                raise Failed(f"a client: {job.complaint()}; {ours.said()}")
            wait_until(lambda: len(ends(ours.text())) >= row.connections, FREED_SECONDS,
                       f"the end of {row.connections} connections at our rping")
            self.badly = job.printed().count("badly\n")
            self.count(job.printed(), ends(ours.text()))
            monitor.expect(path, before, FREED_SECONDS)
        left = self.guest.objects()
        if left != before_guest:
            raise Failed(f"the guest has '{left}', where it had '{before_guest}'")
        lines = self.guest.run("dmesg").splitlines()
        said = [line for line in lines if any(word in line for word in WORDS)]
        if said:
            raise Failed(f"the guest's kernel: {said[0]}")

    def count(self, printed, ended):
        """As many as there should be have pinged once; others were cut, in mid-ping or not."""
        rounds, killed = self.row.rounds, printed.count("killed\n")
        once = sum(line.startswith("1 pings of") for line in ended)
        self.failed = sum(line.startswith("rping: ") for line in ended)
        if (killed, once) != (rounds, 3 * rounds):
            raise Failed(f"{killed} clients of {rounds} were killed, {once} of {3 * rounds} have"
                         " pinged once")
        if not self.failed:
            raise Failed("none was killed in the middle of a ping")

    def result(self):
        """With what rping has done."""
        return f"passed, {self.failed} cut in mid-ping, rping ended badly {self.badly} times"


def ends(text):
    """Lines of a server about connections that have ended."""
    return re.findall(r"^(?:\d+ pings of|rping: ).*$", text, re.MULTILINE)


def rows():
    """All of them."""
    yield Many("server, 200 connections, 50 killed", "server", connections=200)
