"""The FPDUs of one direction, walked from its start-up frame on, and what is wrong with them.

Written from RFC 5044, 5041 and 5040; it shares no code with the driver or its device.

    Reply | FPDU FPDU ... Terminate |          what an end owes, here `strict`: PAD of zeros,
            |                                  reserved bits zero, the version of its revision
            +-- ULPDU_Length, DDP and RDMAP header, payload, PAD, CRC

What neither end may send is looked for in both directions: FPDUs that are cut, CRCs that are not
theirs, segments without a whole header, opcodes on other queues, messages out of order or with gaps,
Read Responses that nobody has asked for, anything after a Terminate. Where the other end has asked
for markers, each is checked: it points to the length of the FPDU that it is in (RFC 5044, 4.3).
"""

import collections
import dataclasses
import struct

from wire import OPCODES, TAGGED_HEAD, UNTAGGED_HEAD, crc32c

TAGGED = {0, 2}
WRITE, READ_REQUEST, READ_RESPONSE, TERMINATE = 0, 1, 2, 7
QUEUES = {1: 1, 3: 0, 4: 0, 5: 0, 6: 0, 7: 2}
REQUEST_OCTETS = 28
RESERVED_DDP, RESERVED_RDMAP = 0x3C, 0x30
# Octets from one marker to the next, of the start-up frame's flag that asks for them, of a marker.
SPACING, ASKS_FOR_MARKERS, MARKER_OCTETS = 512, 0x80, 4


@dataclasses.dataclass
class Fpdu:
    """An FPDU: the octet of the stream that it begins with, and its parts."""

    at: int
    ulpdu: bytes
    pad: bytes
    has_crc: bool
    # Of each marker: where it is, its octets, how far from the length it is.
    markers: list = dataclasses.field(default_factory=list)

    def opcode(self):
        """Its opcode, or None if it has no header."""
        return self.ulpdu[1] & 15 if len(self.ulpdu) >= 2 else None


def piece(octets, start, at, count, markers):
    """`count` octets from `at` on without the markers among them; where those are; the end."""
    inner, places = bytearray(), []
    while count:
        step = count
        if markers:
            if (at - start) % SPACING == 0:
                places.append(at)
                at += MARKER_OCTETS
            step = min(count, SPACING - (at - start) % SPACING)
        inner += octets[at:at + step]
        at, count = at + step, count - step
    return bytes(inner), places, at


def walk(octets, start, markers=False, at=None):
    """The whole FPDUs of a stream whose first octet is `start`, from `at` on or from there; the
    octet after the last one."""
    found, at = [], start if at is None else at
    while True:
        head, places, _ = piece(octets, start, at, 2, markers)
        if len(head) < 2:
            break
        length_at = at + MARKER_OCTETS * len(places)
        length = struct.unpack(">H", head)[0]
        padded = (2 + length + 3) // 4 * 4
        fpdu, places, end = piece(octets, start, at, padded + 4, markers)
        if end > len(octets):
            break
        # The CRC covers markers too, one before the length and one before itself.
        has_crc = crc32c(bytes(octets[at:end - 4])) == fpdu[padded:]
        # A marker before the length is no octet of the FPDU yet: it points nowhere.
        pointers = [(place, bytes(octets[place:place + 4]), max(place - length_at, 0))
                    for place in places]
        found.append(Fpdu(at, fpdu[2:2 + length], fpdu[2 + length:padded], has_crc, pointers))
        at = end
    return found, at


class Direction:
    """FPDUs of one end, judged: `problems`; what they ask for and answer."""

    def __init__(self, octets, start, version, crc, strict, markers=False):
        self.version, self.crc, self.strict = version, crc, strict
        self.fpdus, end = walk(octets, start, markers)
        self.problems, self.bad_crcs, self.kinds = [], 0, collections.Counter()
        # Numbers of messages by queue; octets of what is not whole: untagged, tagged.
        self.numbers, self.untagged, self.tagged = collections.Counter(), 0, None
        # (STag, TO, octets) of Read Requests, and of whole Read Responses.
        self.asked, self.answered, self.terminate = [], [], None
        for fpdu in self.fpdus:
            self._fpdu(fpdu)
        self.rest = len(octets) - end

    def _wrong(self, fpdu, what):
        self.problems.append(f"the FPDU at octet {fpdu.at}: {what}")

    def _fpdu(self, fpdu):
        if self.crc and not fpdu.has_crc:
            self.bad_crcs += 1
            self._wrong(fpdu, "its CRC is not that of its octets")
            return
        self._markers(fpdu)
        if self.strict and any(fpdu.pad):
            self._wrong(fpdu, f"PAD is {fpdu.pad.hex()}")
        if self.terminate is not None:
            self._wrong(fpdu, "it is after a Terminate")
        if not fpdu.ulpdu and fpdu is self.fpdus[0]:
            # A ready-to-receive message (RFC 6581, 8).
            self.kinds["empty"] += 1
            return
        opcode = fpdu.opcode()
        is_tagged = bool(fpdu.ulpdu and fpdu.ulpdu[0] & 0x80)
        if len(fpdu.ulpdu) < (TAGGED_HEAD if is_tagged else UNTAGGED_HEAD):
            self._wrong(fpdu, f"{len(fpdu.ulpdu)} octets are no whole header")
            return
        if opcode >= len(OPCODES) or is_tagged != (opcode in TAGGED):
            self._wrong(fpdu, f"opcode {opcode} in a segment with T {int(is_tagged)}")
            return
        self.kinds[OPCODES[opcode]] += 1
        self._versions(fpdu)
        (self._tagged if is_tagged else self._untagged)(fpdu, opcode)

    def _markers(self, fpdu):
        for place, marker, distance in fpdu.markers:
            reserved, pointer = struct.unpack(">HH", marker)
            if pointer != distance:
                self._wrong(fpdu, f"the marker at {place} points {pointer} octets back, not"
                                  f" {distance}")
            if self.strict and reserved:
                self._wrong(fpdu, f"reserved octets of the marker at {place} are {reserved:#x}")

    def _versions(self, fpdu):
        ddp, rdmap = fpdu.ulpdu[:2]
        if (ddp & 3, rdmap >> 6) != (self.version, self.version):
            self._wrong(fpdu, f"versions {ddp & 3} and {rdmap >> 6}, not {self.version}")
        if self.strict and (ddp & RESERVED_DDP or rdmap & RESERVED_RDMAP):
            self._wrong(fpdu, "a reserved bit is set")

    def _tagged(self, fpdu, opcode):
        stag, to = struct.unpack_from(">IQ", fpdu.ulpdu, 2)
        payload = len(fpdu.ulpdu) - TAGGED_HEAD
        if self.tagged is None:
            self.tagged = [opcode, stag, to, 0]
        begun, first, start, octets = self.tagged
        if (opcode, stag, to) != (begun, first, (start + octets) % (1 << 64)):
            self._wrong(fpdu, f"opcode {opcode}, STag {stag:#x}, TO {to:#x} where opcode {begun},"
                              f" STag {first:#x}, TO {start + octets:#x} goes on")
        self.tagged[3] += payload
        if fpdu.ulpdu[0] & 0x40:
            if opcode == READ_RESPONSE:
                self.answered.append(tuple(self.tagged[1:]))
            self.tagged = None

    def _untagged(self, fpdu, opcode):
        queue, number, offset = struct.unpack_from(">III", fpdu.ulpdu, 6)
        payload = fpdu.ulpdu[UNTAGGED_HEAD:]
        if queue != QUEUES[opcode]:
            self._wrong(fpdu, f"{OPCODES[opcode]} on queue {queue}")
        if (number, offset) != (self.numbers[queue] + 1, self.untagged):
            self._wrong(fpdu, f"message {number}, offset {offset} of queue {queue}, where"
                              f" {self.numbers[queue] + 1}, {self.untagged} is next")
        self.untagged += len(payload)
        if opcode == READ_REQUEST and len(payload) != REQUEST_OCTETS:
            self._wrong(fpdu, f"a Read Request of {len(payload)} octets")
        elif opcode == READ_REQUEST:
            self.asked.append(struct.unpack_from(">IQI", payload))
        elif opcode == TERMINATE:
            self.terminate = payload
        if fpdu.ulpdu[0] & 0x40:
            self.numbers[queue], self.untagged = number, 0


def of(connection, ours):
    """Both directions of a connection whose start-up is whole; `ours`: addresses of our end."""
    frames = connection.start_ups()
    crc = any(frame[16] & 0x40 for frame in frames)
    revision = frames[1][17]
    found = []
    for side, (direction, frame) in enumerate(zip(connection.directions, frames)):
        is_ours = connection.ends[side][0] in ours
        # siw has version 1 in each revision (docs/live.md); whom it talks to says so.
        version = int(revision > 0 or not is_ours)
        markers = bool(frames[1 - side][16] & ASKS_FOR_MARKERS)
        found.append(Direction(direction.octets, len(frame), version, crc, is_ours, markers))
    return found


def unasked(one, other):
    """What is wrong with the Read Responses of `one` to `other`, in the order of asking."""
    problems = []
    for number, answer in enumerate(one.answered):
        if number >= len(other.asked):
            problems.append(f"Read Response {number + 1}: nobody has asked for it")
        elif answer[2] != other.asked[number][2] or answer[2] and answer != other.asked[number]:
            problems.append(f"Read Response {number + 1} is (STag, TO, octets) {answer}, where"
                            f" {other.asked[number]} was asked for")
    return problems
