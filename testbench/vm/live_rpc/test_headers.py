"""Logs of headers are compared, and each kind of difference is found.

    python3 -m unittest discover -s testbench/vm/live_rpc
"""

import pathlib
import struct
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "live"))

# pylint: disable=wrong-import-position
import apart
import both_ours
import headers
import tails
import unmarked
import wire
from processes import Failed


def sent(xid, kind="MSG"):
    """A line."""
    return f"sent xid {xid:#010x} vers 1 credits 2 {kind}"


def received(xid, kind="MSG"):
    """Another one."""
    return sent(xid, kind).replace("sent", "received")


class Logged(unittest.TestCase):
    """A log and what it is compared with."""

    def test_a_line_that_was_not_finished_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "log"
            for text, lines in (("", []), ("a\nb\n", ["a", "b"]), ("a\nb", ["a"]), ("a", [])):
                path.write_text(text)
                self.assertEqual(headers.logged(path), lines)

    def test_lines_without_another_are_those_that_are_not_read(self):
        said = headers.compare([sent(1)], [sent(1), sent(2)], 2, False)
        self.assertEqual(said, "1 headers are alike, 1 are not read")
        for found, lines, count in (([sent(2)], [sent(1)], 1), ([sent(1)], [sent(1), sent(2)], 1),
                                    ([sent(1), sent(1)], [sent(1)], 2), ([sent(1)], [sent(1)], 2)):
            with self.assertRaises(Failed):
                headers.compare(found, lines, count, False)


class Killed(unittest.TestCase):
    """The log of a program that was killed lacks its end alone."""

    before, after = [sent(1), received(1)], [sent(1), received(1), sent(9)]
    whole = [sent(2), received(2), sent(3), received(3), sent(4), received(4), sent(5)]

    def compare(self, log, found=None, unread=0):
        """A capture of three programs, the second one killed."""
        found = self.before + (found or self.whole) + self.after
        return tails.compare(found, [self.before, log, self.after], 1, len(found) + unread)

    def test_a_whole_log_and_one_without_its_end_are_alike(self):
        for missing in (0, 1, 3):
            said = self.compare(self.whole[:len(self.whole) - missing])
            self.assertEqual(said, f"12 headers are alike but for {missing} at the end of a log")

    def test_an_end_is_as_long_as_the_credits(self):
        self.compare(self.whole[:4] + [received(4)])
        with self.assertRaisesRegex(Failed, "on their way"):
            self.compare([received(2), received(3), received(4)])

    def test_a_line_in_the_middle_is_missed(self):
        for number in range(5):
            with self.assertRaisesRegex(Failed, "and later ones"):
                self.compare(self.whole[:number] + self.whole[number + 1:])

    def test_a_line_that_is_another_one_is_missed(self):
        with self.assertRaisesRegex(Failed, "and later ones"):
            self.compare([sent(2, "NOMSG"), *self.whole[1:]])

    def test_what_was_posted_may_have_stayed(self):
        said = self.compare([*self.whole, sent(6), sent(7)])
        self.assertIn("but for 2 at the end", said)
        with self.assertRaisesRegex(Failed, "on their way"):
            self.compare([*self.whole, sent(6), sent(7), sent(8)])

    def test_what_is_not_read_is_counted(self):
        found = self.whole[:2] + self.whole[3:]
        self.assertIn(", 1 are not read", self.compare(self.whole, found, 1))
        with self.assertRaisesRegex(Failed, "1 others"):
            self.compare(self.whole, found)
        with self.assertRaisesRegex(Failed, "0 others"):
            self.compare(self.whole, unread=5)

    def test_the_logs_of_others_are_whole(self):
        found = self.before + self.whole + self.after
        with self.assertRaisesRegex(Failed, "and later ones"):
            tails.compare(found, [self.before[1:], self.whole, self.after], 1, len(found))
        with self.assertRaisesRegex(Failed, "1 others"):
            tails.compare(found, [[*self.before, sent(7)], self.whole, self.after], 1, len(found))


class BothOurs(unittest.TestCase):
    """Logs of both ends."""

    def test_what_one_has_sent_the_other_one_has_heard(self):
        lines = ["client " + sent(1), "server " + received(1), "server " + sent(2),
                 "client " + received(2)]
        ways = both_ours.exchanged(lines)
        self.assertEqual([sorted(way.elements()) for way in ways], [[received(2), sent(1)]] * 2)
        self.assertFalse(both_ours.unheard(*ways))

    def test_two_messages_of_the_server_may_not_be_heard(self):
        missing = [f"server {sent(number)}" for number in range(3)]
        self.assertEqual(both_ours.unheard(*both_ours.exchanged(missing[:2])).total(), 2)
        for lines in (missing, ["client " + sent(1)], ["server " + sent(1, "NOMSG")],
                      ["client " + received(1)]):
            with self.assertRaises(Failed):
                both_ours.unheard(*both_ours.exchanged(lines))


def marked(fpdus):
    """A stream with markers, and FPDUs whose CRCs have them."""
    stream = bytearray()

    def put(octets):
        for at in range(0, len(octets), 4):
            if len(stream) % 512 == 0:
                stream.extend(bytes(4))
            stream.extend(octets[at:at + 4])

    for fpdu in fpdus:
        start = len(stream)
        put(fpdu)
        put(wire.crc32c(stream[start:]))
    return bytes(stream)


def ethernet(ends, sequence, flags, payload=b""):
    """A frame."""
    tcp = struct.pack(">HHIIBBHHH", ends[0][1], ends[1][1], sequence, 0, 0x50, flags, 99, 0, 0)
    ip = struct.pack(">BBHIBBH", 0x45, 0, 40 + len(payload), 0, 64, 6, 0)
    return bytes(12) + b"\x08\x00" + ip + ends[0][0] + ends[1][0] + tcp + payload


def pcapng(path, frames):
    """Blocks that have frames."""
    with open(path, "wb") as file:
        for frame in frames:
            padded = frame + bytes(-len(frame) % 4)
            length = 32 + len(padded)
            file.write(struct.pack("<IIIQII", 6, length, 0, 0, len(frame), len(frame)) + padded
                       + struct.pack("<I", length))


class Unmarked(unittest.TestCase):
    """A copy without markers."""

    ends = ((bytes([192, 0, 2, 1]), 4000), (bytes([192, 0, 2, 2]), 20_049))
    # Lengths around those of the period, and one with a pad.
    fpdus = [struct.pack(">H", length) + bytes(range(256)) * 5
             for length in (502, 498, 506, 1000, 17)]
    fpdus = [fpdu[:2 + length] + bytes(-(2 + length) % 4)
             for fpdu, length in zip(fpdus, (502, 498, 506, 1000, 17))]

    def copied(self, flags, order=lambda parts: parts):
        """What the initiator's octets are in the copy, each unit a frame."""
        start = b"MPA ID Req Frame" + bytes([flags, 1, 0, 0])
        stream = start + marked(self.fpdus)
        parts = [(at, stream[at:at + 300]) for at in range(0, len(stream), 300)]
        parts = [ethernet(self.ends, (0xFFFFFF00 + at) % (1 << 32), 0x10, part)
                 for at, part in order(parts)]
        opened = [ethernet(self.ends, 0xFFFFFEFF, 2), ethernet(self.ends[::-1], 7, 0x12)]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "capture"
            pcapng(path, opened + parts)
            units = [wire.segment(frame) for frame in unmarked.frames(path)]
        octets = [part.payload for part in units if part.payload]
        at = 1
        for part in units[3:]:
            self.assertEqual((part.sequence, part.ends[0][0]), (at, "192.0.2.1"))
            at += len(part.payload)
        return octets

    def test_fpdus_are_those_between_the_markers(self):
        expected = [b"MPA ID Req Frame\x40\x01\x00\x00",
                    *(fpdu + wire.crc32c(fpdu) for fpdu in self.fpdus)]
        self.assertEqual(self.copied(0xC0), expected)
        self.assertEqual(self.copied(0xC0, lambda parts: parts[::-1] + parts), expected)

    def test_a_stream_without_markers_is_refused(self):
        with self.assertRaisesRegex(Failed, "no markers"):
            self.copied(0x40)


class Apart(unittest.TestCase):
    """Connections with the same ports."""

    ends = ((bytes([192, 0, 2, 1]), 50_000), (bytes([192, 0, 2, 2]), 1024))

    def connection(self, sequence):
        """A SYN that comes again, the answer, octets of both ends."""
        syn = ethernet(self.ends, sequence, 2)
        return [syn, syn, ethernet(self.ends[::-1], 7, 0x12),
                ethernet(self.ends, sequence + 1, 0x10, b"a"),
                ethernet(self.ends[::-1], 8, 0x10, b"b")]

    def test_those_with_ports_of_their_own_are_left(self):
        others = [b"none of TCP" * 5, *self.connection(5)]
        self.assertEqual(apart.frames(others), (others, 0))

    def test_a_later_one_gets_a_port_that_nobody_has(self):
        first, second = self.connection(5), self.connection(900)
        found, count = apart.frames(first + second + self.connection(3000))
        self.assertEqual((found[:5], count), (first, 2))
        for number, port in ((5, 1025), (10, 1026)):
            parts = [wire.segment(frame) for frame in found[number:number + 5]]
            ours, theirs = ("192.0.2.1", port), ("192.0.2.2", 1024)
            self.assertEqual([part.ends for part in parts],
                             [(ours, theirs)] * 2 + [(theirs, ours), (ours, theirs),
                                                     (theirs, ours)])
            self.assertEqual([part.payload for part in parts[2:]], [b"", b"a", b"b"])


if __name__ == "__main__":
    unittest.main()
