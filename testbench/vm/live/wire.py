"""What a capture says of its TCP connections: start-up, who sends first, what is sent again.

In: a pcapng of `rnic hub --pcap`, frames in the order in which they were delivered. Out: for each
connection, by its SYN, what was agreed on and how many frames it took.

    SYN --> initiator's octets:  Request | FPDU FPDU ...
            responder's octets:  Reply   | FPDU FPDU ...

A start-up frame is 20 octets and its Private Data (RFC 5044, 7.1). An FPDU is 2 octets of length,
the ULPDU, a pad and a CRC (4.2); the ULPDU's first octets are those of DDP and RDMAP.
"""

import dataclasses
import ipaddress
import struct

KEYS = {b"MPA ID Req Frame": "Request", b"MPA ID Rep Frame": "Reply"}
OPCODES = ["Write", "Read Request", "Read Response", "Send", "Send Inv", "Send SE", "Send SE Inv",
           "Terminate"]
# Octets of an FPDU without payload: length, header of DDP and RDMAP, no pad, CRC.
TAGGED_HEAD, UNTAGGED_HEAD = 14, 18
CRC_TABLE = []
for _value in range(256):
    for _ in range(8):
        _value = _value >> 1 ^ (0x82F63B78 if _value & 1 else 0)
    CRC_TABLE.append(_value)


def crc32c(octets):
    """CRC32C as MPA has it (RFC 5044, 4.4): the octets of the field."""
    crc = 0xFFFFFFFF
    for octet in octets:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ octet) & 0xFF]
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def frames(path):
    """The frames of a pcapng file that this machine's octet order has written."""
    data, at = path.read_bytes(), 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            captured = struct.unpack_from("<I", data, at + 20)[0]
            yield data[at + 28:at + 28 + captured]
        at += length


@dataclasses.dataclass
class Segment:
    """A TCP segment with its ends."""

    ends: tuple
    sequence: int
    acknowledgement: int
    flags: int
    payload: bytes


def segment(frame):
    """The TCP segment of an Ethernet frame, or None."""
    kind = frame[12:14]
    if kind == b"\x08\x00" and frame[23] == 6:
        head, end = 14 + (frame[14] & 15) * 4, 14 + struct.unpack_from(">H", frame, 16)[0]
        addresses = frame[26:30], frame[30:34]
    elif kind == b"\x86\xdd" and frame[20] == 6:
        head, end = 54, 54 + struct.unpack_from(">H", frame, 18)[0]
        addresses = frame[22:38], frame[38:54]
    else:
        return None
    ports = struct.unpack_from(">HH", frame, head)
    payload = frame[head + (frame[head + 12] >> 4) * 4:end]
    ends = tuple((str(ipaddress.ip_address(address)), port)
                 for address, port in zip(addresses, ports))
    return Segment(ends, *struct.unpack_from(">II", frame, head + 4), frame[head + 13], payload)


class Direction:
    """Octets of one end, put together."""

    def __init__(self, first):
        self.first, self.octets, self.later = first, bytearray(), {}
        self.segments = self.again = 0
        # All that was sent: where its octets begin, and the octets.
        self.pieces, self.has_ended = [], False

    def note(self, segment):
        """A segment that was sent, delivered or not: where its octets begin."""
        offset = (segment.sequence - self.first + (1 << 31)) % (1 << 32) - (1 << 31)
        self.pieces.append((offset, segment.payload))
        return offset

    def add(self, segment):
        """A segment with octets."""
        offset = self.note(segment)
        self.segments += 1
        known = len(self.octets)
        if offset < known or offset in self.later:
            self.again += 1
        self.later.setdefault(max(offset, 0), segment.payload[max(0, -offset):])
        for start in sorted(self.later):
            if start > len(self.octets):
                break
            self.octets += self.later.pop(start)[len(self.octets) - start:]

    def has(self, sequence):
        """Whether a sequence number is of this direction's octets."""
        return (sequence - self.first) % (1 << 32) <= len(self.octets)

    def start_up(self):
        """Octets of the start-up frame, once it is whole."""
        if len(self.octets) < 20:
            return None
        whole = 20 + struct.unpack_from(">H", self.octets, 18)[0]
        return bytes(self.octets[:whole]) if len(self.octets) >= whole else None


class Connection:
    """Two directions: the one that opened it first."""

    def __init__(self, ends, sequence):
        self.ends, self.frames, self.resets = ends, 0, 0
        self.directions = [Direction(sequence + 1), None]
        self.first = None

    def add(self, segment):
        """A segment of either end, in order of delivery."""
        side = int(segment.ends != self.ends)
        self.frames += 1
        self.resets += segment.flags >> 2 & 1
        if self.directions[side] is None:
            self.directions[side] = Direction(segment.sequence + 1)
        direction = self.directions[side]
        if segment.payload:
            direction.add(segment)
        direction.has_ended |= bool(segment.flags & 1)
        start_up = direction.start_up()
        if self.first is None and start_up and len(direction.octets) > len(start_up):
            self.first = side

    def again(self):
        """Segments that were delivered after their octets."""
        return sum(direction.again for direction in self.directions if direction)

    def start_ups(self):
        """The Request and the Reply, as octets or None."""
        return [direction and direction.start_up() for direction in self.directions]

    def fpdu(self, side):
        """The first FPDU of a side: its ULPDU, and whether its CRC is one."""
        direction = self.directions[side]
        start = len(direction.start_up() or b"")
        length = struct.unpack_from(">H", direction.octets, start)[0]
        end = start + (2 + length + 3) // 4 * 4
        fpdu = bytes(direction.octets[start:end])
        return fpdu[2:2 + length], crc32c(fpdu) == bytes(direction.octets[end:end + 4])

    def first_text(self):
        """Which end sent the first FPDU, and what it is."""
        if self.first is None:
            return "no FPDU"
        ulpdu, has_crc = self.fpdu(self.first)
        opcode = ulpdu[1] & 15
        name = OPCODES[opcode] if opcode < len(OPCODES) else f"opcode {opcode}"
        head = TAGGED_HEAD if ulpdu[0] & 0x80 else UNTAGGED_HEAD
        is_empty = len(ulpdu) == head or name == "Read Request" and ulpdu[30:34] == bytes(4)
        end = ["initiator", "responder"][self.first]
        return f"{end}: {'empty ' * is_empty}{name}, {'CRC' if has_crc else 'no CRC'}"


def connections(path, dropped=None):
    """The connections of a capture whose SYN is in it; `dropped` has frames that were lost."""
    found, order = {}, []
    for frame in frames(path):
        part = segment(frame)
        if part is None:
            continue
        key = frozenset(part.ends)
        is_syn = part.flags & 0x12 == 0x02
        known = found.get(key)
        if is_syn and (known is None or known.directions[0].first != part.sequence + 1):
            found[key] = Connection(part.ends, part.sequence)
            order.append(found[key])
        if key in found:
            found[key].add(part)
    for frame in frames(dropped) if dropped else []:
        part = segment(frame)
        if part and part.payload:
            note_lost(order, part)
    return order


def note_lost(connections, part):
    """A segment that was lost, into the connection whose ends and octets it has."""
    for connection in connections:
        side = int(part.ends != connection.ends)
        direction = connection.directions[side]
        if set(part.ends) == set(connection.ends) and direction and direction.has(part.sequence):
            direction.note(part)


def start_up_text(octets):
    """A start-up frame in short: flags, revision, Private Data."""
    if octets is None:
        return "none"
    private = octets[20:].hex()
    return f"{octets[16]:02x} {octets[17]}" + (f" {private}" if private else "")
