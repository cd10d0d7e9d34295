"""Two ends of ours, with markers, over a wire that loses: each break of the capture is a fault.

The capture is made here, of a few FPDUs: testbench/captures has none of two such ends.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import fpdus
import octets
import wire
from test_octets import HEAD, pcapng, summed

ONE, OTHER = bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2])
SYN, FIN, RST, ACK = 2, 1, 4, 16
# Where the FPDUs of `Stream.send` begin, as in the streams.
START_UP = 20


def frame(source, target, sequence, flags, payload=b""):
    """An Ethernet frame of TCP with right checksums."""
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(payload), 0, 0, 64, 6, 0) + source + target
    ip = ip[:10] + struct.pack(">H", octets.checksum(ip)) + ip[12:]
    tcp = struct.pack(">HHIIBBHHH", 7174, 7174, sequence, 0, 0x50, flags, 65535, 0, 0)
    return summed(bytearray(bytes(12) + b"\x08\x00" + ip + tcp + payload))


def start_up(key):
    """A start-up frame of revision 1 that asks for markers and CRC."""
    return key + bytes([0xC0, 1, 0, 0])


class Stream:
    """FPDUs one after another, with markers."""

    def __init__(self):
        self.octets, self.pieces = bytearray(), []

    def send(self, number, text, opcode=3, queue=0, first=1):
        """A whole Send of an FPDU."""
        ulpdu = struct.pack(">BBIIII", 0x41, 0x40 | opcode, 0, queue, number, 0) + text
        plain = struct.pack(">H", len(ulpdu)) + ulpdu + bytes(-(2 + len(ulpdu)) % 4)
        begin, length_at = len(self.octets), None
        for at in range(0, len(plain) + 4, 4):
            if len(self.octets) % 512 == 0:
                pointer = 0 if length_at is None else len(self.octets) - length_at
                self.octets += struct.pack(">HH", 0, pointer * first)
            length_at = len(self.octets) if length_at is None else length_at
            if at == len(plain):
                self.octets += wire.crc32c(bytes(self.octets[begin:]))
            self.octets += plain[at:at + 4]
        self.pieces.append((begin, bytes(self.octets[begin:])))


def stream(count=8, **last):
    """A stream of Sends of 300 octets; `last` changes the last one."""
    made = Stream()
    for number in range(1, count + 1):
        made.send(number, bytes([number]) * 299, **(last if number == count else {}))
    return made


class Judged(unittest.TestCase):
    """The judge finds what is broken, and nothing else."""

    def capture(self, sent, ends=FIN):
        """Frames of a connection in which the first end has sent these pieces, and the other one
        the same FPDUs; each has closed, with a FIN or an RST."""
        frames = [frame(ONE, OTHER, 99, SYN), frame(OTHER, ONE, 499, SYN | ACK),
                  frame(ONE, OTHER, 100, ACK, start_up(b"MPA ID Req Frame")),
                  frame(OTHER, ONE, 500, ACK, start_up(b"MPA ID Rep Frame"))]
        for begin, piece in sent:
            frames.append(self.piece(begin, piece))
        for begin, piece in stream().pieces:
            frames.append(frame(OTHER, ONE, 500 + START_UP + begin, ACK, piece))
        end = max(begin + len(piece) for begin, piece in sent)
        return frames + [frame(ONE, OTHER, 100 + START_UP + end, ends | ACK)]

    def piece(self, begin, octets_of):
        """The segment of the first end's FPDUs from an octet on."""
        return frame(ONE, OTHER, 100 + START_UP + begin, ACK, octets_of)

    def verdict(self, frames, dropped=()):
        """What the script prints, by its own process."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, name) for name in ("delivered", "dropped")]
            for path, some in zip(paths, (frames, dropped)):
                path.write_bytes(pcapng(some))
            script = pathlib.Path(__file__).with_name("judge.py")
            ran = subprocess.run([sys.executable, script, *paths], capture_output=True, text=True)
            self.assertEqual(ran.stderr, "")
            return ran.returncode, ran.stdout

    def expect(self, frames, *words, dropped=()):
        """The verdict is a fault with these words."""
        status, text = self.verdict(frames, dropped)
        self.assertEqual(status, 1)
        for word in words:
            self.assertIn(word, text)

    def test_as_it_was_made(self):
        """A segment that was lost and came again as it was; the counts."""
        pieces = stream().pieces
        frames = self.capture(pieces[:3] + [pieces[2]] + pieces[3:])
        status, text = self.verdict(frames, [self.piece(*pieces[1])])
        self.assertEqual(status, 0, text)
        for count in ('"fpdus": 16', '"markers": 12', '"again": 1', '"lost": 1', '"faults": []'):
            self.assertIn(count, text)

    def test_nothing_to_judge(self):
        """A capture without FPDUs is none that is right."""
        self.assertEqual(self.verdict([])[0], 1)
        self.expect(self.capture(stream().pieces)[:3], "it has not started up")

    def test_checksums(self):
        """An octet of IP, of TCP, in a frame that was delivered or lost."""
        for at, what in ((22, "IP header"), (HEAD - 6, "TCP segment")):
            frames = self.capture(stream().pieces)
            whole = bytearray(frames[5])
            frames[5][at] ^= 1
            self.expect(frames, f"frame 6: the checksum of its {what}")
            lost, frames[5] = frames[5], whole
            self.expect(frames, f"lost frame 1: the checksum of its {what}", dropped=[lost])

    def test_bounds_of_what_was_delivered(self):
        """Two overlap, without a common beginning; one lies in another."""
        pieces = stream().pieces
        whole = bytes(stream().octets)
        for begin, end in ((4, 320), (8, 16), (0, 8), (320, len(whole))):
            again = [(begin, whole[begin:end])]
            self.expect(self.capture(pieces + again), "with other bounds before")

    def test_bounds_of_what_was_lost(self):
        """The original was lost: what comes again is compared with it."""
        pieces, whole = stream().pieces, bytes(stream().octets)
        frames = self.capture(pieces)
        for begin, end in ((0, 8), (4, 320), (0, 640)):
            self.expect(frames, "with other bounds before",
                        dropped=[self.piece(begin, whole[begin:end])])

    def test_other_octets(self):
        """What comes again has another octet; the original was delivered or lost."""
        pieces = stream().pieces
        begin, text = pieces[3]
        other = begin, text[:60] + bytes([text[60] ^ 1]) + text[61:]
        self.expect(self.capture(pieces + [other]), "were sent again as others")
        self.expect(self.capture(pieces), "were sent again as others",
                    dropped=[self.piece(*other)])

    def changed(self, at, mask=1):
        """The capture with an octet of the first end's FPDUs changed, checksums right."""
        found = []
        for begin, text in stream().pieces:
            text = bytearray(text)
            if begin <= at < begin + len(text):
                text[at - begin] ^= mask
            found.append((begin, bytes(text)))
        return self.capture(found)

    def test_crcs(self):
        """An octet of payload, of a marker, of a pad, of a CRC."""
        first = len(stream(1).octets)
        for at in (100, 512, first - 5, first - 1):
            self.expect(self.changed(at), "its CRC is not that of its octets")

    def test_markers(self):
        """One whose pointer is another, under a CRC that is right."""
        self.expect(self.capture(stream(2, first=2).pieces), "the marker at 532 points", "not")

    def test_headers(self):
        """An opcode on another queue, a message that is not the next."""
        self.expect(self.capture(stream(opcode=1).pieces), "Read Request on queue 0")
        made = stream()
        made.send(10, b"skips one")
        self.expect(self.capture(made.pieces), "message 10, offset 0 of queue 0, where 9, 0")
        self.expect(self.capture(stream(opcode=9).pieces), "opcode 9")

    def test_the_end(self):
        """A stream that ends in an FPDU may have been reset."""
        pieces = stream().pieces
        cut = pieces[:-1] + [(pieces[-1][0], pieces[-1][1][:100])]
        self.expect(self.capture(cut), "its stream ends 100 octets into an FPDU")
        self.expect(self.capture(cut, ends=0), "its stream ends 100 octets into an FPDU")
        status, text = self.verdict(self.capture(cut, ends=RST))
        self.assertEqual(status, 0, text)

    def test_markers_are_found_wherever_they_fall(self):
        """Before a length, in a header, before a CRC."""
        places = set()
        for count in range(0, 520, 4):
            made = Stream()
            made.send(1, bytes(count))
            made.send(2, bytes(40))
            found, end = fpdus.walk(bytes(made.octets), 0, True)
            self.assertEqual((len(found), end), (2, len(made.octets)))
            for fpdu in found:
                self.assertTrue(fpdu.has_crc)
                for place, marker, distance in fpdu.markers:
                    self.assertEqual(struct.unpack(">HH", marker), (0, distance))
                    places.add(place - fpdu.at)
        # 64 octets, 68 with a marker: the CRC is after the marker at 60.
        self.assertTrue({0, 4, 20, 60} <= places, sorted(places))


if __name__ == "__main__":
    unittest.main()
