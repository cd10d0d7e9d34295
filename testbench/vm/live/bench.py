"""One try of a row: a hub of its own, a served device, a program at either end, the replay.

    guest -- hub of the guest -- hub of the try -- rnic serve -- our program
                                  |  faults
                                  +--> pcapng --> rnic play --dut model

QEMU never connects again, so the hub beside it stays for all rows; the other one writes the try's
capture.
"""

import re
import time

import octets
import wire
from device import Device, replay
from dissector import dissect
from machine import ADDRESS
from processes import Failed, Process
from rows import Row

OURS = {4: "192.0.2.1", 6: "fd00::1"}
PREFIX = {4: 24, 6: 64}
PORT = 7174
# Of a ping where rows do not differ.
OCTETS = Row.octets
# One tool; one try has a minute more for its start and its replay.
TOOL_SECONDS = {"model": 15, "rtl": 60}
# Pings that take no longer than that.
FEW = 50


def pattern(number, count):
    """The text of rping's buffer of `count` octets in this iteration."""
    text = f"rdma-ping-{number}: "
    letters = (chr(65 + (number + index) % 58) for index in range(count))
    return (text + "".join(letters))[:count - 1]


class Try:
    """What one try needs, and what it has found."""

    # Programs that take the device, one after the other; 0: as many as there are clients.
    in_turn = 0

    def __init__(self, programs, guest, folder, bench, row, capture):
        self.programs, self.guest, self.folder = programs, guest, folder
        self.bench, self.row, self.capture = bench, row, capture
        is_long = row.connections > 1 or row.pings > FEW
        self.seconds = TOOL_SECONDS[row.dut] * (3 if is_long else 1)
        self.connections, self.replayed, self.pings = [], None, ""
        self.ended, self.lost, self.dissected = None, 0, ""
        self.dropped = capture.with_suffix(".dropped.pcapng") if "loss" in row.faults else None
        # Who boots another guest, for rows that take one.
        self.guests = None

    def result(self):
        """The cell of a try that passed."""
        good = self.row.good()
        return f"{good}, {self.pings} ms" if self.pings else good

    def run(self):
        """Run it; raises Failed."""
        row = self.row
        self.guest.parameters(row.siw)
        device = self.device()
        with device:
            begun = time.monotonic()
            getattr(self, row.ours)(device.socket)
            self.ended = time.monotonic() - begun
        self.lost = device.lost()
        self.guest.check()
        if row.ours != "ping":
            self.judge()
        self.check_octets()
        if row.ours != "ping" and row.first:
            self.replayed = replay(self.programs, self.capture, row.bad_crcs)

    def device(self):
        """The served device of this try."""
        row = self.row
        # A client is a process for each connection.
        clients = self.in_turn or (row.connections if row.ours == "client" else 1)
        return Device(self.programs, self.folder, self.bench, self.capture, dut=row.dut,
                      clients=clients, faults=row.faults, delay_us=row.delay_us,
                      dropped=self.dropped)

    def check_octets(self):
        """Nothing is wrong with the octets of the capture, as two readers see them."""
        row, frames = self.row, list(wire.frames(self.capture))
        ours = set(OURS.values())
        wrong = octets.problems(frames, self.connections, ours, row.spoilt)
        if wrong:
            more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
            raise Failed(f"on the wire: {wrong[0]}{more}")
        if row.ours != "ping" and row.first and not row.faults:
            self.dissected = dissect(self.capture, self.connections, ours, row.bad_crcs)

    def program(self, device, role, *options):
        """Our end."""
        row = self.row
        own = f"{OURS[row.family]}/{PREFIX[row.family]}"
        command = [self.programs / "rping", f"vfio-user:{device}", role, "--own", own, "-v",
                   "--timeout", self.seconds, *row.options, *options]
        return Process("our rping", command, self.folder / "ours")

    def listening(self, device, *options):
        """Our end, when it waits for the guest."""
        ours = self.program(device, "-s", *options)
        try:
            ours.until(lambda: "listening" in ours.text(), self.seconds)
        except BaseException:
            ours.stop()
            raise
        return ours

    def ping(self, device):
        """Our end answers ARP, NDP and echo."""
        ping = {4: "ping", 6: "ping6"}[self.row.family]
        with self.listening(device):
            text = self.guest.run(f"{ping} -c 10 -i 0.2 -W 5 {OURS[self.row.family]}", 30)
        self.pings = re.search(r"= (\S+) ms", text).group(1)

    def client(self, device):
        """Our end opens the connection, or one after another, each on a device that is new."""
        row, address = self.row, ADDRESS[self.row.family]
        is_many = row.connections > 1
        options = f"-a {address} -C {row.pings} -S {row.octets} -v{' -P' if is_many else ''}"
        job = self.guest.start(f"exec rping -s {options}", self.seconds)
        self.guest.wait_listening(PORT, job)
        more = ["-a", address, "-C", row.pings, "-S", row.octets, "-V"]
        for _ in range(row.connections):
            with self.program(device, "-c", *more) as ours:
                self.ours_ends(ours, job)
        # One that serves many does not end, nor one that has rejected.
        if is_many or row.refused:
            self.guest.run("killall rping || true")
        else:
            self.guest_ends(job)

    def server(self, device):
        """The guest opens the connection, or one after another."""
        row = self.row
        is_many = row.connections > 1
        command = f"rping -c -a {OURS[row.family]} -C {row.pings} -S {row.octets} -v -V"
        loop = f"for i in $(seq {row.connections}); do {command} || exit; done"
        with self.listening(device, *(["-P"] if is_many else [])) as ours:
            job = self.guest.start(loop if is_many else f"exec {command}", self.seconds)
            if is_many:
                self.guest_ends(job)
            else:
                self.ours_ends(ours, job)
                self.guest_ends(job)

    def ours_ends(self, ours, job):
        """Our end ends as it should."""
        status, refused = ours.wait(self.seconds + 15), self.row.refused
        if refused and refused not in ours.text():
            raise Failed(f"our rping was to say '{refused}': status {status}: {ours.said()}")
        if not refused and status != 0:
            raise Failed(f"our rping: status {status}: {ours.said()}; {job.complaint()}")
        if not refused:
            self.check_data(ours.text(), 1, "our end")

    def guest_ends(self, job):
        """The guest's end, too."""
        status = job.wait()
        if self.row.refused:
            return
        if status != 0:
            raise Failed(f"the guest's rping: status {status}: {job.complaint()}")
        self.check_data(job.printed(), self.row.connections, "the guest")

    def check_data(self, text, connections, whose):
        """Each buffer that was printed is rping's."""
        seen = re.findall(r"ping data: ([^\n]*)", text)
        row = self.row
        expected = [pattern(number, row.octets) for number in range(row.pings)] * connections
        if seen != expected:
            right = sum(a == b for a, b in zip(seen, expected))
            raise Failed(f"{whose} has {len(seen)} buffers, {right} of {len(expected)} are right")

    def judge(self):
        """What the capture says is what the row says."""
        row = self.row
        self.connections = wire.connections(self.capture, self.dropped)
        whole = [each for each in self.connections if all(each.start_ups())]
        if len(whole) != row.connections:
            raise Failed(f"{len(whole)} connections of {row.connections} have started")
        for connection in whole:
            request, reply = connection.start_ups()
            if (request[17], reply[17]) != (row.revision, row.revision):
                raise Failed(f"revisions are {request[17]} and {reply[17]}, not {row.revision}")
            if connection.first_text() != row.start_up():
                raise Failed(f"first FPDU: {connection.first_text()}; not {row.start_up()}")
