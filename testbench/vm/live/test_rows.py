"""What rows look for is found, and is missed if it is not there."""

import itertools
import json
import pathlib
import socket
import struct
import tempfile
import threading
import unittest

import bandwidth
import keepalive
import listing
import monitor
import options
import wire
from processes import Failed

GUEST, OURS = 1, 0
ACK, PSH, SYN, FIN = 0x10, 0x08, 0x02, 0x01


def frame(side, sequence, acknowledgement, flags=ACK, payload=b""):
    """A TCP segment over IPv4, whose checksums nobody looks at."""
    hosts, ports = (bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2])), (7174, 50000)
    tcp = struct.pack(">HHIIBBHHH", ports[side], ports[1 - side], sequence, acknowledgement, 0x50,
                      flags, 1000, 0, 0) + payload
    ip = struct.pack(">BBHIBBH", 0x45, 0, 20 + len(tcp), 0, 64, 6, 0)
    return bytes(12) + b"\x08\x00" + ip + hosts[side] + hosts[1 - side] + tcp


# Numbers wrap after four octets of the guest's.
OPENED = [
    frame(GUEST, 0xFFFFFFFB, 0, SYN),
    frame(OURS, 1000, 0xFFFFFFFC, SYN | ACK),
    frame(GUEST, 0xFFFFFFFC, 1001),
    frame(GUEST, 0xFFFFFFFC, 1001, ACK | PSH, b"four"),
    frame(OURS, 1001, 0),
]
PROBE, ANSWER = frame(GUEST, 0xFFFFFFFF, 1001), frame(OURS, 1001, 0)
OUR_PROBE, GUESTS_ANSWER = frame(OURS, 1000, 0), frame(GUEST, 0, 1001)


def probes(frames):
    """Of a connection that the guest has opened."""
    ends = wire.segment(OPENED[0]).ends
    return keepalive.probes(OPENED + frames, wire.Connection(ends, 0xFFFFFFFB))


class Probes(unittest.TestCase):
    """Probes of a capture."""

    def test_those_of_both_ends_are_counted(self):
        self.assertEqual(probes([]), [(0, 0), (0, 0)])
        self.assertEqual(probes([PROBE, ANSWER, OUR_PROBE, GUESTS_ANSWER, PROBE, ANSWER]),
                         [(2, 2), (1, 1)])

    def test_one_without_an_answer_is_none_with_one(self):
        self.assertEqual(probes([PROBE, PROBE, ANSWER]), [(2, 1), (0, 0)])
        self.assertEqual(probes([OUR_PROBE]), [(0, 0), (1, 0)])
        less = frame(OURS, 1001, 0xFFFFFFFF)
        self.assertEqual(probes([PROBE, less]), [(1, 0), (0, 0)])

    def test_octets_and_a_fin_are_no_probes(self):
        octet, fin = frame(GUEST, 0xFFFFFFFF, 1001, payload=b"r"), frame(GUEST, 0, 1001, FIN | ACK)
        self.assertEqual(probes([octet, ANSWER, fin, frame(OURS, 1001, 1)]), [(0, 0), (0, 0)])


class Runs(unittest.TestCase):
    """Rows of bandwidth."""

    def test_each_pair_of_options_is_run_on_the_model(self):
        runs = [run[:5] for run in bandwidth.RUNS if run[5] == "model"]
        self.assertLessEqual(len(bandwidth.RUNS), 16)
        for one, other in itertools.combinations(range(5), 2):
            wanted = itertools.product({run[one] for run in runs}, {run[other] for run in runs})
            self.assertEqual({(run[one], run[other]) for run in runs}, set(wanted))

    def test_there_are_more_messages_than_go_at_a_time(self):
        for row in bandwidth.rows():
            self.assertGreater(row.count(), row.depth)


class Options(unittest.TestCase):
    """Rows of options that meet."""

    def test_each_pair_that_there_is_is_run(self):
        never = {("client", "revision 1"), ("client", "read")}
        values = [set(column) for column in zip(*options.RUNS)]
        for one, other in itertools.combinations(range(len(values)), 2):
            wanted = set(itertools.product(values[one], values[other])) - never
            self.assertEqual({(run[one], run[other]) for run in options.RUNS}, wanted)


class Listed(unittest.TestCase):
    """All rows of the verb."""

    def test_a_quarter_of_those_on_the_model_is_on_rtl_too(self):
        rows = listing.listed()
        on_model = {row.name for row in rows if row.dut == "model"}
        on_rtl = {row.name.replace(", RTL", "", 1) for row in rows if row.dut == "rtl"}
        self.assertEqual(len(on_model) + len(on_rtl), len(rows), "two rows have a name")
        self.assertGreaterEqual(4 * len(on_rtl), len(on_model))


class InUse(unittest.TestCase):
    """A monitor that tells of one connection too many, for a while or for ever."""

    def answered(self, counts, seconds):
        """`expect` of none, with these counts of connections, one each time it is asked."""
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
            path = pathlib.Path(folder) / "monitor"
            listener.bind(str(path))
            listener.listen()

            def answer():
                for count in counts:
                    client, _ = listener.accept()
                    with client:
                        client.recv(100)
                        client.sendall(json.dumps({"version": 1, "info": {
                            "connections_open": count, "regions_registered": 1, "free_pages": 9,
                            "pools": {"spans": {"used": 0, "size": 4}}}}).encode() + b"\n")

            threading.Thread(target=answer, daemon=True).start()
            before = {"connections_open": 0, "regions_registered": 1, "free_pages": 9, "spans": 0}
            monitor.expect(path, before, seconds)

    def test_what_is_freed_late_is_freed(self):
        self.answered([1, 0], 10)

    def test_what_stays_is_told(self):
        with self.assertRaisesRegex(Failed, "'connections_open': 1"):
            self.answered([1] * 100, 0.1)


if __name__ == "__main__":
    unittest.main()
