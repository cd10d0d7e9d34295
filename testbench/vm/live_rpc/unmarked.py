"""A copy of a capture without markers, for a reader that loses its way in them.

    capture: frames, some again, some late --> octets of each end, in order
             Request M | marker FPDU with marker ... --> Request | FPDU FPDU ..., a frame for each

A marker is four octets at each multiple of 512 octets of the stream after the start-up frame (RFC
5044, 4.3). The CRC has them, too (4.4), so that each FPDU gets one of its own. Each is copied when
the frame with its last octet has come: what the two ends say stays in order.
"""

import ipaddress
import struct

import fpdus
import pcap
import wire
from processes import Failed

# The octet of a start-up frame with its flags (7.1).
FLAGS_AT = 16
SYN, PSH, ACK = 0x02, 0x08, 0x10
WINDOW = 65_535


class Side:
    """One end's octets: what is copied of them."""

    def __init__(self):
        # Octets of the start-up frame; the octet after the last FPDU that was copied.
        self.start, self.at = 0, 0
        # Of the copy.
        self.sequence = 0

    def units(self, direction):
        """What is whole now: a start-up frame, FPDUs."""
        if not self.start:
            frame = direction.start_up()
            if frame is None:
                return
            if not frame[FLAGS_AT] & fpdus.ASKS_FOR_MARKERS:
                raise Failed("an end wants no markers, and is to have an unmarked copy")
            self.start = self.at = len(frame)
            flags = frame[FLAGS_AT] & ~fpdus.ASKS_FOR_MARKERS
            yield frame[:FLAGS_AT] + bytes([flags]) + frame[FLAGS_AT + 1:]
        found, self.at = fpdus.walk(direction.octets, self.start, True, self.at)
        for each in found:
            fpdu = struct.pack(">H", len(each.ulpdu)) + each.ulpdu + each.pad
            yield fpdu + wire.crc32c(fpdu)


class Copied:
    """A connection."""

    def __init__(self, syn):
        self.connection = wire.Connection(syn.ends, syn.sequence)
        self.sides = [Side(), Side()]

    def opened(self):
        """The frames that open it."""
        frames = [self.frame(0, SYN), self.frame(1, SYN | ACK)]
        for side in self.sides:
            side.sequence = 1
        return [*frames, self.frame(0, ACK)]

    def add(self, part):
        """Frames of what a segment has made whole."""
        self.connection.add(part)
        side = int(part.ends != self.connection.ends)
        frames = []
        for unit in self.sides[side].units(self.connection.directions[side]):
            frames.append(self.frame(side, PSH | ACK, unit))
            self.sides[side].sequence += len(unit)
        return frames

    def frame(self, side, flags, payload=b""):
        """A frame of IPv4; its checksums are left out."""
        ends = self.connection.ends if side == 0 else self.connection.ends[::-1]
        addresses = [ipaddress.ip_address(address).packed for address, _ in ends]
        acknowledged = self.sides[1 - side].sequence + (flags == SYN | ACK) if flags & ACK else 0
        tcp = struct.pack(">HHIIBBHHH", ends[0][1], ends[1][1], self.sides[side].sequence,
                          acknowledged, 0x50, flags, WINDOW, 0, 0) + payload
        ip = struct.pack(">BBHIBBH", 0x45, 0, 20 + len(tcp), 0, 64, 6, 0)
        return bytes(12) + b"\x08\x00" + ip + b"".join(addresses) + tcp


def frames(capture):
    """The copy's frames."""
    found = {}
    for frame in wire.frames(capture):
        part = wire.segment(frame)
        if part is None:
            continue
        key = frozenset(part.ends)
        known = found.get(key)
        is_syn = part.flags & 0x12 == SYN
        if is_syn and (known is None or known.connection.directions[0].first != part.sequence + 1):
            found[key] = Copied(part)
            yield from found[key].opened()
        if key in found:
            yield from found[key].add(part)


def copy(capture):
    """A copy beside the capture."""
    return pcap.write(capture.with_suffix(".unmarked.pcap"), frames(capture))
