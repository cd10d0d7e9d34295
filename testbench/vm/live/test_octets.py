"""A capture that is broken on purpose has each check fail; as it was made it passes all.

    python3 -m unittest discover -s testbench/vm/live

The capture is one of `make live`, as testbench/captures has it: our end is 192.0.2.1.
"""

import pathlib
import shutil
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import dissector
import fpdus
import octets
import spoiler
import terminate
import wire
from processes import Failed

CAPTURES = pathlib.Path(__file__).resolve().parents[2] / "captures"
OUR, THEIR = "192.0.2.1", "192.0.2.2"
# Section and interface of a pcapng, for tshark.
SECTION = (struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
           + struct.pack("<IIHHII", 1, 20, 1, 0, 0, 20))
# Octets of a frame before those of TCP's payload: no end has options but in a SYN.
HEAD = 54
WRITE, READ_REQUEST, READ_RESPONSE, SEND, TERMINATE = 0, 1, 2, 3, 7


def captured(name="live-client"):
    """The frames of a capture of the project."""
    data, at, found = (CAPTURES / f"{name}.pcap").read_bytes(), 24, []
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        found.append(bytearray(data[at + 16:at + 16 + length]))
        at += 16 + length
    return found


def pcapng(frames):
    """Frames as `rnic hub` writes them, without blocks that the reader passes over."""
    blocks = b""
    for frame in frames:
        padded = bytes(frame) + bytes(-len(frame) % 4)
        length = 32 + len(padded)
        blocks += struct.pack("<IIIIIII", 6, length, 0, 0, 0, len(frame), len(frame))
        blocks += padded + struct.pack("<I", length)
    return blocks


def payload(frame):
    """TCP's payload."""
    part = wire.segment(bytes(frame))
    return part.payload if part else b""


def is_from(frame, address):
    """Whether it is a frame of TCP of this sender."""
    part = wire.segment(bytes(frame))
    return bool(part) and part.ends[0][0] == address


def summed(frame):
    """The frame with a checksum of TCP that is right."""
    end = 14 + struct.unpack_from(">H", frame, 16)[0]
    frame[50:52] = bytes(2)
    pseudo = bytes(frame[26:34]) + struct.pack(">HH", 6, end - 34)
    frame[50:52] = struct.pack(">H", octets.checksum(pseudo + frame[34:end]))
    return frame


def sealed(frame):
    """The frame, of which one FPDU is the payload, with a CRC and a checksum that are right."""
    end = 14 + struct.unpack_from(">H", frame, 16)[0]
    frame[end - 4:end] = wire.crc32c(frame[HEAD:end - 4])
    return summed(frame)


def place(frames, address, opcode, number=0):
    """Where the frame is of which an FPDU of this sender and kind is the payload."""
    found = []
    for index, frame in enumerate(frames):
        octets_of = payload(frame)
        if is_from(frame, address) and len(octets_of) > 20 and octets_of[2] & 0x3F == 1:
            length = (2 + struct.unpack_from(">H", octets_of)[0] + 3) // 4 * 4 + 4
            if length == len(octets_of) and octets_of[3] == 0x40 | opcode:
                found.append(index)
    return found[number]


class Broken(unittest.TestCase):
    """Each of these breaks a capture in one way."""

    def setUp(self):
        self.frames = captured()

    def found(self, spoilt=None, dropped=()):
        """What is wrong with the frames."""
        with tempfile.TemporaryDirectory() as folder:
            path, lost = pathlib.Path(folder, "capture"), pathlib.Path(folder, "dropped")
            path.write_bytes(pcapng(self.frames))
            lost.write_bytes(pcapng(dropped))
            connections = wire.connections(path, lost)
            self.assertTrue(all(connections[0].start_ups()))
            return octets.problems(list(wire.frames(path)), connections, {OUR}, spoilt)

    def expect(self, *words, **more):
        """One finding has these words, and a frame's or an end's place."""
        found = self.found(**more)
        self.assertTrue(any(all(word in line for word in words) for line in found), found)

    def test_as_it_was_made(self):
        """Nothing is wrong."""
        self.assertEqual(self.found(), [])

    def test_checksums(self):
        """An octet of an IP header; one of TCP."""
        for at, what in ((22, "its IP header"), (HEAD - 6, "its TCP segment")):
            self.frames = captured()
            index = place(self.frames, OUR, SEND)
            self.frames[index][at] ^= 1
            self.expect(f"frame {index + 1}: the checksum of {what}")
        self.frames = captured()
        self.frames[index] = self.frames[index][:-1]
        self.expect(f"frame {index + 1}: it is shorter than its IP header says")

    def test_octets_that_are_sent_again(self):
        """Other octets, of either end; other bounds, of ours alone; both lost at first, too."""
        for address in (OUR, THEIR):
            self.frames = captured()
            index = place(self.frames, address, SEND)
            again = bytearray(self.frames[index])
            self.frames.insert(index + 1, again)
            self.assertEqual(self.found(), [])
            again[HEAD + 30] ^= 1
            self.expect(f"{address}: octets from 24 on were sent again as others"
                        if address == OUR else f"{address}: octets from", "as others")
        index = place(self.frames, OUR, SEND)
        for begin, count in ((0, 20), (8, 20)):
            for is_lost in (False, True):
                self.frames = captured()
                part = bytearray(self.frames[index])
                sequence = struct.unpack_from(">I", part, 38)[0] + begin
                struct.pack_into(">H", part, 16, 40 + count)
                struct.pack_into(">I", part, 38, sequence)
                part = part[:HEAD] + part[HEAD + begin:HEAD + begin + count]
                part[24:26] = bytes(2)
                part[24:26] = struct.pack(">H", octets.checksum(part[14:34]))
                if not is_lost:
                    self.frames.insert(index + 1, summed(part))
                self.expect(f"{OUR}: octets", "with other bounds before",
                            dropped=[part] if is_lost else [])

    def change(self, address, opcode, at, mask, number=0):
        """An octet of an FPDU, whose CRC is right all the same."""
        self.frames = captured()
        index = place(self.frames, address, opcode, number)
        self.frames[index][HEAD + at] ^= mask
        sealed(self.frames[index])

    def test_crc(self):
        """A CRC that is not that of its octets; one that was spoilt on purpose, and none."""
        index = place(self.frames, THEIR, SEND)
        self.frames[index][HEAD + 30] ^= 1
        summed(self.frames[index])
        self.expect(f"{THEIR}: the FPDU at octet", "its CRC is not that of its octets")
        self.assertEqual(self.found(spoilt=THEIR), [])
        self.frames = captured()
        self.expect(f"{THEIR}: it has no FPDU that was spoilt", spoilt=THEIR)

    def test_headers(self):
        """Versions, reserved bits, opcodes, queues, numbers, offsets, lengths."""
        for address, opcode, at, mask, number, what in (
            (OUR, SEND, 2, 0x02, 0, "versions 3 and 1, not 1"),
            (THEIR, SEND, 3, 0xC0, 0, "versions 1 and 2, not 1"),
            (OUR, SEND, 2, 0x04, 0, "a reserved bit is set"),
            (OUR, SEND, 3, 0x20, 0, "a reserved bit is set"),
            (OUR, SEND, 3, 0x08, 0, "opcode 11 in a segment with T 0"),
            (OUR, SEND, 3, 0x01, 0, "opcode 2 in a segment with T 0"),
            (OUR, SEND, 11, 0x01, 0, "Send on queue 1"),
            (THEIR, SEND, 15, 0x04, 1, "message 6, offset 0 of queue 0, where 2, 0 is next"),
            (OUR, SEND, 19, 0x01, 0, "message 1, offset 1 of queue 0, where 1, 0 is next"),
            (OUR, READ_RESPONSE, 7, 0x01, 1, "goes on"),
            (THEIR, WRITE, 15, 0x04, 1, "goes on"),
        ):
            self.change(address, opcode, at, mask, number)
            self.expect(f"{address}: the FPDU at octet", what)

    def test_what_siw_may_do(self):
        """Reserved bits are what our own end owes."""
        self.change(THEIR, SEND, 2, 0x04)
        self.assertEqual(self.found(), [])

    def shorter(self, address, opcode, count, number=0):
        """An FPDU with so many octets fewer in its ULPDU, which are PAD: nothing else changes."""
        self.frames = captured()
        index = place(self.frames, address, opcode, number)
        self.frames[index][HEAD + 1] -= count
        return self.frames[index]

    def test_pad(self):
        """PAD of ours is zero; siw's need not be."""
        for address in (OUR, THEIR):
            frame = self.shorter(address, SEND, 1)
            frame[HEAD + 35] = 0
            sealed(frame)
            self.assertEqual(self.found(), [])
            frame[HEAD + 35] = 1
            sealed(frame)
            if address == THEIR:
                self.assertEqual(self.found(), [])
            else:
                self.expect(f"{OUR}: the FPDU at octet", "PAD is 01")

    def test_lengths(self):
        """A Read Request of 27 octets; a ULPDU of 17, whose CRC is where it ends."""
        sealed(self.shorter(THEIR, READ_REQUEST, 1))
        self.expect(f"{THEIR}: the FPDU at octet", "a Read Request of 27 octets")
        frame = self.shorter(OUR, SEND, 17)
        frame[HEAD + 20:HEAD + 24] = wire.crc32c(frame[HEAD:HEAD + 20])
        summed(frame)
        self.expect(f"{OUR}: the FPDU at octet 24", "17 octets are no whole header")

    def test_reads(self):
        """A Read Response to another place than was asked for, and one too many."""
        for number in range(3):
            index = place(self.frames, OUR, READ_RESPONSE, number)
            self.frames[index][HEAD + 4] ^= 1
            sealed(self.frames[index])
        self.expect(f"{OUR}: Read Response 1 is (STag, TO, octets)", "was asked for")
        self.change(THEIR, READ_REQUEST, 3, READ_REQUEST ^ SEND, 9)
        self.expect(f"{OUR}: Read Response 10: nobody has asked for it")

    def test_a_length_that_is_too_long(self):
        """The next FPDU is taken for a part of it."""
        index = place(self.frames, OUR, SEND)
        self.frames[index][HEAD] ^= 1
        summed(self.frames[index])
        self.expect(f"{OUR}: the FPDU at octet", "its CRC is not that of its octets")

    def test_a_terminate_is_the_last(self):
        """An FPDU after one."""
        index = place(self.frames, OUR, SEND)
        self.frames[index][HEAD + 3] = 0x40 | TERMINATE
        self.frames[index][HEAD + 8:HEAD + 12] = struct.pack(">I", 2)
        sealed(self.frames[index])
        self.expect(f"{OUR}: the FPDU at octet", "it is after a Terminate")

    def test_the_end(self):
        """A FIN where a message goes on."""
        last = [index for index, frame in enumerate(self.frames) if is_from(frame, OUR)
                and payload(frame)][-1]
        self.assertEqual(payload(self.frames[last])[3], 0x40 | SEND)
        self.frames[last][HEAD + 2] ^= 0x40
        sealed(self.frames[last])
        self.expect(f"{OUR}: its FIN cuts a message; 0 octets of an FPDU are there")
        self.frames = captured()
        frame = self.frames[last]
        struct.pack_into(">H", frame, 16, 40 + 36)
        frame[24:26] = bytes(2)
        frame[24:26] = struct.pack(">H", octets.checksum(frame[14:34]))
        self.frames[last] = summed(frame[:HEAD + 36])
        self.expect(f"{OUR}: its FIN cuts a message; 36 octets of an FPDU are there")


class Others(unittest.TestCase):
    """What the rows use besides."""

    def test_spoilt(self):
        """The spoiler turns one octet of the payload, and nothing but the CRC is wrong."""
        frames = captured()
        index = place(frames, THEIR, SEND)
        spoilt = spoiler.spoil(bytes(frames[index]))
        self.assertEqual(octets.frame_problems(spoilt), [])
        differ = [at for at, pair in enumerate(zip(spoilt, frames[index])) if pair[0] != pair[1]]
        self.assertEqual([at for at in differ if at not in (50, 51)], [HEAD + spoiler.TURNED])
        self.assertTrue(spoiler.is_send(wire.segment(bytes(frames[index]))))
        request = next(frame for frame in frames if payload(frame).startswith(b"MPA ID"))
        self.assertFalse(spoiler.is_send(wire.segment(bytes(request))))

    def test_a_terminate_repeats_a_segment(self):
        """Length and header are those of a segment that was sent."""
        ulpdu = bytes([0x41, 0x43, *range(30)])
        sent = [fpdus.Fpdu(0, ulpdu, b"", True)]
        head = bytes([0x12, 5, 0xC0, 0, 0, 32])
        self.assertTrue(terminate.repeats(head + ulpdu[:18], sent))
        self.assertFalse(terminate.repeats(head + ulpdu[1:19], sent))
        self.assertFalse(terminate.repeats(head[:5] + b"\x21" + ulpdu[:18], sent))

    def test_what_tshark_prints(self):
        """Kinds by sender, CRCs and what is malformed."""
        text = ("Internet Protocol Version 4, Src: 192.0.2.1, Dst: 192.0.2.2\n"
                "        CRC check: 0x077375e4 (Good CRC32)\n"
                "            .... 0111 = OpCode: Terminate (0x7)\n"
                "        CRC check: 0x077375e4 (Bad CRC32, should be 0x0)\n"
                "            .... 0011 = OpCode: Send (0x3)\n"
                "[Malformed Packet: IWARP_MPA]\n")
        kinds, good, bad, malformed = dissector.counts(text)
        self.assertEqual(dict(kinds), {(OUR, "Terminate"): 1, (OUR, "Send"): 1})
        self.assertEqual((good, bad, malformed), (1, 1, ["[Malformed Packet: IWARP_MPA]"]))

    @unittest.skipIf(shutil.which("tshark") is None, "tshark is not there")
    def test_tshark_agrees_or_it_fails(self):
        """As it was made; with a CRC that is spoilt; with a message that our readers do not have."""
        with tempfile.TemporaryDirectory() as folder:
            path, frames = pathlib.Path(folder, "capture"), captured()
            path.write_bytes(SECTION + pcapng(frames))
            good = wire.connections(path)
            self.assertEqual(dissector.dissect(path, good, {OUR}, 0), "110 FPDUs")
            index = place(frames, THEIR, SEND)
            whole, frames[index] = frames[index], spoiler.spoil(bytes(frames[index]))
            path.write_bytes(SECTION + pcapng(frames))
            self.assertEqual(dissector.dissect(path, good, {OUR}, 1), "110 FPDUs")
            with self.assertRaisesRegex(Failed, "109 good CRCs and 1 bad ones of 110"):
                dissector.dissect(path, good, {OUR}, 0)
            whole[HEAD + 3] ^= 0x06
            frames[index] = sealed(whole)
            path.write_bytes(SECTION + pcapng(frames))
            with self.assertRaisesRegex(Failed, "'Send SE'.* more and .*'Send'.* fewer"):
                dissector.dissect(path, good, {OUR}, 0)


if __name__ == "__main__":
    unittest.main()
