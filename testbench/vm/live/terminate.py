"""Rows in which an end makes a mistake, and the other one ends the connection with a Terminate.

    guest errs     faulty -s: Writes, Reads, Sends to rping -c of ours, which terminates
    our end errs   rping -s of ours believes the records of faulty -c, and siw terminates

A CRC is spoilt on the wire between the two. What is checked: the Terminate on the wire; what our
program says; completions, events and the kernel's log of the guest.
"""

import dataclasses

import fpdus
from bench import OURS, PORT, Try
from device import Device
from machine import ADDRESS
from processes import Failed
from rows import CLIENT_DELAY_US, Row
from spoiler import Spoiler

FLUSHED = "completion: receive: Work Request Flushed Error"
TOO_LONG = "completion: receive: local length error"
ENDED = "connection: RDMA_CM_EVENT_DISCONNECTED"
# What siw may raise where it terminates, in ibv_event_type_str's words; which of them, and whether
# any, differs from one run to the next. Where it is terminated it raises none.
EVENTS = ("event: invalid request local work queue error",
          "event: local access violation work queue error",
          "event: local work queue catastrophic error")


@dataclasses.dataclass
class Mistake(Row):
    """One mistake of one end."""

    # For `faulty`; a CRC is spoilt where it makes none.
    fault: str = "none"
    # The first octets of the Terminate, as they are on the wire.
    control: str = ""
    # What the guest's program says, beside the end of the connection.
    guest: tuple = ()

    def good(self):
        """The cell of a try that passed."""
        return f"passed, Terminate {self.control}" if self.control else "passed, no Terminate"

    def trial(self):
        """What a try of this row is."""
        return Mistaken


class SpoiltDevice(Device):
    """A device between whom and the guest a spoiler is; the capture has what it has spoilt."""

    def __init__(self, *arguments, sender, **options):
        super().__init__(*arguments, **options)
        between = self.folder / "between"
        if sender == "our":
            self.spoiler = lambda: Spoiler(between, self.wire)
            command, wire = self.serve_command, self.wire
        else:
            # The hub connects, and what comes back to it is spoilt.
            bench = self.hub_command[3].removeprefix("unix-connect:")
            self.spoiler = lambda: Spoiler(between, bench, spoils_listener=False)
            command, wire = self.hub_command, bench
        place = command.index(f"unix-connect:{wire}")
        command[place] = f"unix-connect:{between}"

    def __enter__(self):
        self.between = self.spoiler()
        return super().__enter__()

    def __exit__(self, *details):
        super().__exit__(*details)
        self.between.__exit__()


class Mistaken(Try):
    """A try of such a row."""

    def device(self):
        """As of other rows; or with a wire that spoils."""
        if not self.row.spoilt:
            return super().device()
        sender = "our" if self.row.spoilt in OURS.values() else "guest"
        return SpoiltDevice(self.programs, self.folder, self.bench, self.capture, sender=sender,
                            dut=self.row.dut, delay_us=self.row.delay_us)

    def client(self, device):
        """The guest errs."""
        self.guest.run("dmesg -c >/dev/null")
        job = self.guest.start(f"exec faulty -s {self.row.fault}", self.seconds)
        self.guest.wait_listening(PORT, job)
        more = ["-a", ADDRESS[4], "-C", 3, "-S", 4096]
        with self.program(device, "-c", *more) as ours:
            self.ends(ours, job)

    def server(self, device):
        """Our end errs."""
        self.guest.run("dmesg -c >/dev/null")
        with self.listening(device) as ours:
            job = self.guest.start(f"exec faulty -c {OURS[4]} {self.row.fault}", self.seconds)
            self.ends(ours, job)

    def ends(self, ours, job):
        """Both ends end, and say why."""
        row = self.row
        self.ours_ends(ours, job)
        # Writes and Sends may have been acknowledged by TCP before; receives never end well then.
        ended = "a Read has ended as Flushed" if row.fault.startswith("read") else "has ended as Flushed"
        if row.ours == "server" and row.control and ended not in ours.text():
            raise Failed(f"our rping was to say '{ended}': {ours.said()}")
        status, printed = job.wait(), job.printed()
        if status != 0:
            raise Failed(f"the guest's program: status {status}: {job.complaint()}")
        lines = printed.splitlines()
        events = [line for line in lines if line.startswith("event: ")]
        strange = [line for line in events if row.ours == "client" or line not in EVENTS]
        if strange:
            raise Failed(f"the guest's queue pair: {strange[0]}")
        for line in (*row.guest, *([ENDED] if row.control else [])):
            if line not in lines:
                raise Failed(f"the guest's program does not say '{line}': {job.complaint()}")

    def judge(self):
        """The Terminate, of the end that has not erred; and what the guest's kernel says of it."""
        row = self.row
        super().judge()
        # In both roles the end that opened the connection is led to terminate it.
        one, other = fpdus.of(self.connections[0], set(OURS.values()))
        found = (one.terminate or b"").hex()
        if other.terminate or found[:8] != row.control:
            raise Failed(f"the Terminate is '{found}', where {row.control or 'none'} was expected")
        if row.ours != "client":
            return
        if row.control[4:] != NO_HEADERS and not repeats(one.terminate, other.fpdus):
            raise Failed(f"no segment of the guest's has the headers of the Terminate: {found}")
        # siw takes the type for the layer (docs/live.md).
        layer, kind, code = row.control[1], row.control[0], int(row.control[2:4], 16)
        heard = f"siw: got TERMINATE. layer {layer}, type {kind}, code {code}"
        if heard not in self.guest.run("dmesg"):
            raise Failed(f"the guest's kernel does not say '{heard}'")


# The header control bits and those after them.
NO_HEADERS = "0000"


def repeats(terminate, sent):
    """Whether a Terminate has length and headers of a segment that was sent (RFC 5040, 4.8)."""
    length, headers = int.from_bytes(terminate[4:6], "big"), terminate[6:]
    return any(len(fpdu.ulpdu) == length and fpdu.ulpdu.startswith(headers) for fpdu in sent)


def guest_errs():
    """Our Terminates: layer and type, code, flags, as RFC 5040, 4.8, has them."""
    for name, fault, control, said in (
        ("Write with a bad key", "write-key", "1100c000", "DDP (0x1, 0x00): invalid STag"),
        ("Write out of bounds", "write-bounds", "1101c000", "DDP (0x1, 0x01): base or bounds"),
        ("Write without the right", "write-rights", "0102c000",
         "RDMAP (0x1, 0x02): access rights"),
        ("Read with a bad key", "read-key", "0100e000", "RDMAP (0x1, 0x00): invalid STag"),
        ("Read out of bounds", "read-bounds", "0101e000", "RDMAP (0x1, 0x01): base or bounds"),
        ("Read without the right", "read-rights", "0102e000", "RDMAP (0x1, 0x02): access rights"),
        ("Send without a receive", "no-receive", "1202c000",
         "DDP (0x2, 0x02): no buffer for the MSN"),
        ("Send longer than its receive", "too-long", "1205c000",
         "DDP (0x2, 0x05): message too long"),
        ("Send with a bad CRC", "none", "20020000", "MPA (0x0, 0x02): CRC32C mismatch"),
    ):
        spoilt = ADDRESS[4] if fault == "none" else ""
        yield Mistake(f"Terminate by us, {name}", "client", refused=said, fault=fault,
                      control=control, guest=(FLUSHED,), delay_us=CLIENT_DELAY_US, spoilt=spoilt,
                      bad_crcs=int(bool(spoilt)))


def our_end_errs():
    """siw's Terminates, as siw has them."""
    for name, fault, control, said, guest in (
        ("Write with a bad key", "write-key", "11000300", "DDP (0x1, 0x00): invalid STag",
         (FLUSHED,)),
        ("Write out of bounds", "write-bounds", "11010300", "DDP (0x1, 0x01): base or bounds",
         (FLUSHED,)),
        # siw: a right that is missing is an STag that is not valid.
        ("Write without the right", "write-rights", "11000300", "DDP (0x1, 0x00): invalid STag",
         (FLUSHED,)),
        ("Read with a bad key", "read-key", "10000700", "RDMAP (0x1, 0x00): invalid STag", ()),
        ("Read out of bounds", "read-bounds", "10010700", "RDMAP (0x1, 0x01): base or bounds", ()),
        # siw does not look for the right.
        ("Read without the right", "read-rights", "", "has closed in the middle", ("answered",)),
        ("Send without a receive", "no-receive", "21020300",
         "DDP (0x2, 0x02): no buffer for the MSN", ()),
        # siw: no buffer, too.
        ("Send longer than its receive", "too-long", "21020300",
         "DDP (0x2, 0x02): no buffer for the MSN", (TOO_LONG,)),
        ("Send with a bad CRC", "none", "02020000", "MPA (0x0, 0x02): CRC32C mismatch", ()),
    ):
        spoilt = OURS[4] if fault == "none" else ""
        yield Mistake(f"Terminate by siw, {name}", "server", refused=said, fault=fault,
                      control=control, guest=guest, spoilt=spoilt, bad_crcs=int(bool(spoilt)))


# By us, what the core finds on its way in: the key, the bounds, the receive, the CRC. By siw, the
# end in the middle of a Write, of a Read and of a Send of ours.
ON_RTL = {
    "Terminate by us": ("Write with a bad key", "Write out of bounds",
                        "Send longer than its receive", "Send with a bad CRC"),
    "Terminate by siw": ("Write with a bad key", "Read out of bounds", "Send with a bad CRC"),
}


def rows():
    """All of them."""
    on_model = [*guest_errs(), *our_end_errs()]
    yield from on_model
    for row in on_model:
        by_whom, name = row.name.split(", ")
        if name in ON_RTL[by_whom]:
            yield dataclasses.replace(row, name=f"{by_whom}, RTL, {name}", dut="rtl")
