"""What tshark says of a capture: FPDUs by sender and kind, their CRCs, what is malformed.

It is another reader than wire.py and fpdus.py, and has to find what they find.
"""

import collections
import re

import fpdus
import tshark
from processes import Failed
from wire import OPCODES

SOURCE = re.compile(r"^Internet Protocol Version [46], Src: (\S+),")
OPCODE = re.compile(r"OpCode: .*\(0x([0-9a-f]+)\)")
GOOD, BAD = "(Good CRC32)", "CRC check: "
# A port that the guest has chosen may be that of another protocol.
IWARP_FIRST = "tcp.try_heuristic_first:TRUE"
# It takes Sends of such octets as it finds for RPC.
NOT_INSIDE = ["--disable-protocol", "rpcordma"]


def counts(text):
    """From what `tshark -V` prints: kinds by sender, good CRCs, bad ones, malformed lines."""
    kinds, good, bad, malformed, source = collections.Counter(), 0, 0, [], ""
    for line in text.splitlines():
        if found := SOURCE.match(line):
            source = found.group(1)
        elif found := OPCODE.search(line):
            kinds[source, OPCODES[int(found.group(1), 16)]] += 1
        elif GOOD in line:
            good += 1
        elif BAD in line:
            bad += 1
        elif "Malformed" in line:
            malformed.append(line.strip())
    return kinds, good, bad, malformed


def expected(connections, ours):
    """The same of our own readers: kinds by sender, FPDUs whose CRC is in use."""
    kinds, checked = collections.Counter(), 0
    for connection in connections:
        if not all(connection.start_ups()):
            continue
        for (address, _), side in zip(connection.ends, fpdus.of(connection, ours)):
            for fpdu in side.fpdus:
                # One of no octets has no header.
                if fpdu.ulpdu:
                    kinds[address, OPCODES[fpdu.opcode()]] += 1
            checked += len(side.fpdus) if side.crc else 0
    return kinds, checked


def dissect(capture, connections, ours, bad_crcs):
    """How many FPDUs both have found; fails if they differ, or if something is malformed."""
    if not tshark.is_there():
        return tshark.MISSING
    text = tshark.read(capture, "-o", IWARP_FIRST, *NOT_INSIDE, "-V", "-O",
                       "iwarp_mpa,iwarp_ddp_rdmap")
    kinds, good, bad, malformed = counts(text)
    our_kinds, checked = expected(connections, ours)
    if malformed:
        raise Failed(f"tshark: {malformed[0]}")
    if kinds != our_kinds:
        one, other = kinds - our_kinds, our_kinds - kinds
        raise Failed(f"tshark finds {dict(one)} more and {dict(other)} fewer than we do")
    if (good, bad) != (checked - bad_crcs, bad_crcs):
        raise Failed(f"tshark: {good} good CRCs and {bad} bad ones of {checked}")
    return f"{sum(kinds.values())} FPDUs"
