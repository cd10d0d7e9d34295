"""Judges a capture of iWARP connections, from the octets alone: nothing of the project is used.

    python3 judge.py CAPTURE.pcapng

Each direction of each TCP connection is reassembled. Then the start-up frame is read, and every
FPDU after it: markers where the peer asked for them, length, CRC32C. A segment with payload that
comes again must have the bounds of the first time: an FPDU is never cut otherwise. Prints a JSON
object; ends with status 1 if something is wrong.

Left out: what no capture holds, such as octets that were never delivered. A stream may end in the
middle of an FPDU only if it was reset.
"""

import json
import struct
import sys

TABLE = []
for value in range(256):
    for _ in range(8):
        value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    TABLE.append(value)


def crc32c(octets):
    crc = 0xFFFFFFFF
    table = TABLE
    for octet in octets:
        crc = table[(crc ^ octet) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def frames(path):
    """Octets of the frames of a little-endian pcapng file."""
    with open(path, "rb") as file:
        octets = file.read()
    at = 0
    while at + 12 <= len(octets):
        kind, length = struct.unpack_from("<II", octets, at)
        if kind == 6:
            captured = struct.unpack_from("<I", octets, at + 20)[0]
            yield octets[at + 28 : at + 28 + captured]
        at += length


def segments(path):
    """(ends, seq, flags, payload) of each TCP segment."""
    for frame in frames(path):
        kind = frame[12:14]
        if kind == b"\x08\x00":
            head = (frame[14] & 15) * 4
            total = struct.unpack_from(">H", frame, 16)[0]
            if frame[23] != 6:
                continue
            source, target = frame[26:30], frame[30:34]
            tcp = frame[14 + head : 14 + total]
        elif kind == b"\x86\xdd" and frame[20] == 6:
            length = struct.unpack_from(">H", frame, 18)[0]
            source, target = frame[22:38], frame[38:54]
            tcp = frame[54 : 54 + length]
        else:
            continue
        ports = tcp[:4]
        seq = struct.unpack_from(">I", tcp, 4)[0]
        payload = tcp[(tcp[12] >> 4) * 4 :]
        yield (source + ports[:2], target + ports[2:]), seq, tcp[13], payload


class Direction:
    """The octets of one direction, by their distance from the first one."""

    def __init__(self, isn):
        self.first = isn + 1 & 0xFFFFFFFF
        self.octets = bytearray()
        self.beyond = {}
        self.bounds = {}
        self.again = 0
        self.rebound = []
        self.differs = []
        self.reset = False

    def take(self, seq, payload):
        at = self.place(seq)
        known = self.bounds.get(at)
        if known is None:
            self.bounds[at] = len(payload)
        else:
            self.again += 1
            if known != len(payload):
                self.rebound.append(at)
        if at < len(self.octets):
            old = self.octets[at : at + len(payload)]
            if old != payload[: len(old)]:
                self.differs.append(at)
        self.beyond.setdefault(at, payload)
        while True:
            end = len(self.octets)
            ready = [at for at in self.beyond if at <= end]
            if not ready:
                return
            for at in ready:
                payload = self.beyond.pop(at)
                if at + len(payload) > len(self.octets):
                    self.octets += payload[len(self.octets) - at :]

    def place(self, seq):
        """Octets from the first one; streams of more than 2^31 octets are not judged."""
        return seq - self.first & 0xFFFFFFFF


def fpdus(stream, start, markers, crc):
    """FPDUs in `stream` from `start` on; what is wrong with the first that is, and the rest."""
    count, at = 0, start
    while at < len(stream):
        begin = at
        covered = bytearray()
        wanted, length_at = None, begin
        while wanted is None or len(covered) < wanted:
            if markers and (at - start) % 512 == 0:
                if at + 4 > len(stream):
                    return count, None, len(stream) - begin
                # From ULPDU_Length to the marker; 0 before it (RFC 5044 section 4.3).
                distance = at - length_at if wanted else 0
                pointer = struct.unpack_from(">H", stream, at + 2)[0]
                if pointer != distance:
                    return count, f"marker at {at} points {pointer} octets back, not {distance}", 0
                covered += stream[at : at + 4]
                wanted = wanted and wanted + 4
                at += 4
                continue
            if at >= len(stream):
                return count, None, len(stream) - begin
            step = 512 - (at - start) % 512 if markers else 1 << 30
            if wanted is None:
                # ULPDU_Length is never cut by a marker, which is at a multiple of four.
                length = struct.unpack_from(">H", stream, at)[0] if at + 2 <= len(stream) else None
                if length is None:
                    return count, None, len(stream) - begin
                length_at = at
                inner = 2 + length
                inner += -inner % 4 + 4
                wanted = len(covered) + inner
                continue
            part = stream[at : at + min(step, wanted - len(covered))]
            covered += part
            at += len(part)
        if crc and crc32c(covered[:-4]) != struct.unpack("<I", covered[-4:])[0]:
            return count, f"the CRC of the FPDU at {begin} is wrong", 0
        count += 1
    return count, None, 0


def start_up(stream):
    """Flags, and where full operation begins; None without a whole frame."""
    if len(stream) < 20 or stream[:7] != b"MPA ID ":
        return None
    private = struct.unpack_from(">H", stream, 18)[0]
    return stream[16], 20 + private


def main():
    directions = {}
    for ends, seq, flags, payload in segments(sys.argv[1]):
        if flags & 2:
            directions.setdefault((ends, seq), Direction(seq))
        found = [value for (key, _), value in directions.items() if key == ends]
        if not found:
            continue
        if flags & 4:
            found[-1].reset = True
        elif payload:
            found[-1].take(seq, payload)
    totals = {"directions": 0, "fpdus": 0, "octets": 0, "again": 0, "faults": []}
    for (ends, isn), one in directions.items():
        back = [value for (key, _), value in directions.items() if key == ends[::-1]]
        name = f"{ends[0].hex()}>{ends[1].hex()}"
        faults = [f"octets at {at} were sent again otherwise" for at in one.differs]
        faults += [f"octets at {at} were sent again with other bounds" for at in one.rebound]
        own, peer = start_up(one.octets), start_up(back[-1].octets) if back else None
        if own and peer:
            crc = bool((own[0] | peer[0]) & 0x40)
            count, fault, rest = fpdus(one.octets, own[1], bool(peer[0] & 0x80), crc)
            totals["fpdus"] += count
            faults += [fault] if fault else []
            if rest and not (one.reset or back[-1].reset):
                faults.append(f"the stream ends {rest} octets into an FPDU")
        totals["directions"] += 1
        totals["octets"] += len(one.octets)
        totals["again"] += one.again
        totals["faults"] += [f"{name}: {fault}" for fault in faults]
    print(json.dumps(totals))
    sys.exit(1 if totals["faults"] else 0)


main()
