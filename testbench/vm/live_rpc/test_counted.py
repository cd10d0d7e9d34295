"""What rows count is read and compared, and a difference is found.

    python3 -m unittest discover -s testbench/vm/live_rpc
"""

import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "live"))

# pylint: disable=wrong-import-position
import counters
import nfs
from processes import Failed

# Of Linux 6.1, shortened.
MOUNTSTATS = """device rootfs mounted on / with fstype rootfs
device 192.0.2.1:/ mounted on /mnt with fstype nfs statvers=1.1
\tsec:\tflavor=1,pseudoflavor=1
\tbytes:\t3893 3894 8406945 8388608 8392501 8392502 1000 1001\x20
\txprt:\trdma 0 0 1 0 0 10790 10790 0 10790 0 680 2366 24 21393232 8702618 5004
device 10.0.2.2:/ mounted on /tcp with fstype nfs statvers=1.1
\tbytes:\t1 2 3 4 5 6 7 8\x20
\txprt:\ttcp 725 0 2 0 0 10776 10776 0 10776 0 2 0 0
"""


class Mountstats(unittest.TestCase):
    """Lines of /proc/self/mountstats."""

    def test_a_line_is_that_of_its_mount(self):
        bytes_of = [nfs.numbers(MOUNTSTATS, "bytes:", at)[2:4] for at in ("/mnt", "/tcp")]
        self.assertEqual(bytes_of, [[8_406_945, 8_388_608], [3, 4]])
        self.assertEqual(nfs.numbers(MOUNTSTATS, "xprt:\trdma", "/mnt")[10:13], [680, 2366, 24])

    def test_a_mount_or_a_line_that_is_not_there_is_none(self):
        for what, at in (("bytes:", "/"), ("bytes:", "/none"), ("xprt:\trdma", "/tcp")):
            with self.assertRaisesRegex(Failed, "has no line"):
                nfs.numbers(MOUNTSTATS, what, at)


class Counters(unittest.TestCase):
    """What Linux' server is to have counted."""

    def test_segments_are_counted_by_who_uses_them(self):
        lines = [
            "sent xid 0x00000001 vers 1 credits 32 MSG",
            "sent xid 0x00000002 vers 1 credits 32 MSG read 84 0x1:10:0x0 read 84 0x2:6:0x0",
            "sent xid 0x00000003 vers 1 credits 32 NOMSG read 0 0x3:9:0x0 reply 0x4:900:0x0",
            "sent xid 0x00000004 vers 1 credits 32 MSG write 0x5:8:0x0 0x6:8:0x8 write 0x7:8:0x0",
            "received xid 0x4 vers 1 credits 64 MSG write 0x5:8:0x0 0x6:0:0x8 write 0x7:1:0x0",
        ]
        self.assertEqual(counters.expected(lines), {"recv": 4, "read": 3, "write": 2})

    def test_a_reply_counts_by_its_pieces(self):
        used = "received xid 0x00000001 vers 1 credits 64 NOMSG reply 0x1:{}:0x0"
        unused = "received xid 0x00000001 vers 1 credits 64 MSG reply 0x1:0:0x0"
        for octets, pieces, written in ((68, counters.pieces_3, 3), (4096, counters.pieces_4, 1),
                                        (4097, counters.pieces_4, 2)):
            counts = counters.expected([used.format(octets), unused], pieces)
            self.assertEqual(counts, {"recv": 0, "read": 0, "write": written})


if __name__ == "__main__":
    unittest.main()
