"""What is run: each row is a program at either end, with what start-up has to agree on.

    guest: siw, 192.0.2.2, fd00::2            bench: the served device, 192.0.2.1, fd00::1
"""

import dataclasses

from machine import RTR


@dataclasses.dataclass
class Row:
    """One run of rping, or of ping."""

    name: str
    # The end that is ours: client, server; "ping": an endpoint that only answers.
    ours: str
    # Agreed on.
    revision: int = 2
    crc: bool = True
    # The first FPDU.
    first: str = "Send"
    # Parameters of siw, options of our program.
    siw: dict = dataclasses.field(default_factory=dict)
    options: tuple = ()
    family: int = 4
    # What the hub does to frames: its options, and the share of them.
    faults: dict = dataclasses.field(default_factory=dict)
    # From port to port, each way.
    delay_us: int = 0
    pings: int = 10
    # Of one of them.
    octets: int = 4096
    connections: int = 1
    dut: str = "model"
    # The connection cannot be used, and our program has to say this.
    refused: str = ""
    # Which end had a CRC spoilt on its way, by its address, and how many FPDUs have a bad one.
    spoilt: str = ""
    bad_crcs: int = 0

    def good(self):
        """The cell of a try that passed."""
        return "refused, as expected" if self.refused else "passed"

    def trial(self):
        """What a try of this row is; None: that of rping."""

    def start_up(self):
        """What the start-up frames have to say of the first FPDU."""
        if not self.first:
            return "no FPDU"
        crc = "CRC" if self.crc else "no CRC"
        return f"initiator: {self.first}, {crc}"


# In revision 0 siw sends version 1 of DDP, where that revision has 0.
VERSION = "invalid DDP version"
# Linux' rping accepts with as many reads as the Request has, and one of revision 1 has none: it
# cannot read, and closes.
NO_READS = "has closed in the middle of a ping"
REFUSED = {("client", 0): VERSION, ("server", 0): VERSION, ("client", 1): NO_READS}


def start_ups(ours):
    """Each revision, with CRC and without."""
    for revision in (2, 1, 0):
        for crc in (True, False):
            refused = REFUSED.get((ours, revision), "")
            yield Row(
                f"{ours}, revision {revision}, {'CRC' if crc else 'no CRC'}", ours, revision, crc,
                siw={"mpa_version": revision, "mpa_crc_required": int(crc)},
                options=("--revision", str(revision), *(() if crc else ("--no-crc",))),
                refused=refused)


def peer_to_peer():
    """Ready-to-receive messages; siw as responder prefers a Write."""
    yield Row("client, peer to peer", "client", first="empty Write", options=("--peer-to-peer",))
    # Of those that siw offers together our end takes a Write, too.
    kinds = (("write", "empty Write"), ("read", "empty Read Request"), ("any", "empty Write"))
    for kind, first in kinds:
        yield Row(f"server, peer to peer, {kind}", "server", first=first,
                  siw={"peer_to_peer": 1, "rtr_type": RTR[kind]})


# siw does not notice what comes between its Reply and its taking over of the socket: a client waits
# for as long as a wire of some length would have it wait.
CLIENT_DELAY_US = 4000


def rows():
    """All rows, in order."""
    for row in listed():
        if row.ours == "client":
            row.delay_us = CLIENT_DELAY_US
        yield row


# A wire on which everything happens.
EACH = {"loss": 0.02, "duplicate": 0.02, "reorder": 0.02}


def listed():
    """What each row is."""
    yield Row("ping", "ping")
    yield Row("client, stock siw", "client")
    yield Row("server, stock siw", "server")
    yield from start_ups("client")
    yield from start_ups("server")
    # Either end's wish has CRC used (RFC 5044, 7.1), but siw as responder forgets its own.
    yield Row("client, CRC by siw alone", "client", crc=False, siw={"mpa_crc_required": 1},
              options=("--no-crc",))
    yield Row("server, CRC by siw alone", "server", siw={"mpa_crc_required": 1},
              options=("--no-crc",))
    yield from peer_to_peer()
    # siw has none: as responder it rejects, as initiator it closes at the Reply.
    for ours, said in (("client", "reject"), ("server", "0 pings of")):
        yield Row(f"{ours}, markers", ours, options=("--markers",), first="", refused=said)
    for ours in ("ping", "client", "server"):
        yield Row(f"{ours}, IPv6", ours, family=6)
    for ours in ("client", "server"):
        yield Row(f"{ours}, 1 % lost", ours, faults={"loss": 0.01}, pings=50)
        yield Row(f"{ours}, 2 % lost, 2 % twice, 2 % overtaken", ours, faults=EACH, pings=100)
        yield Row(f"{ours}, 20 connections", ours, connections=20)
    yield Row("server, 5 % lost", "server", faults={"loss": 0.05})
    yield Row("ping, RTL", "ping", dut="rtl")
    for ours in ("client", "server"):
        yield Row(f"{ours}, RTL", ours, dut="rtl")
        yield Row(f"{ours}, RTL, IPv6", ours, dut="rtl", family=6)
    yield Row("server, RTL, revision 1, no CRC", "server", 1, False, dut="rtl",
              siw={"mpa_version": 1}, options=("--no-crc",))
    yield Row("server, RTL, peer to peer, read", "server", first="empty Read Request", dut="rtl",
              siw={"peer_to_peer": 1, "rtr_type": RTR["read"]})
    yield Row("client, RTL, peer to peer", "client", first="empty Write", dut="rtl",
              options=("--peer-to-peer",))
    for ours in ("client", "server"):
        yield Row(f"{ours}, RTL, 1 % lost", ours, dut="rtl", faults={"loss": 0.01}, pings=50)
    yield Row("server, RTL, 2 % lost, 2 % twice, 2 % overtaken", "server", dut="rtl", faults=EACH,
              pings=100)
    yield Row("server, RTL, 20 connections", "server", dut="rtl", connections=20)
