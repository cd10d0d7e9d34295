"""What rows count is read and compared, and a difference is found.

    python3 -m unittest discover -s testbench/vm/live_rpc
"""

import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "live"))

# pylint: disable=wrong-import-position
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


if __name__ == "__main__":
    unittest.main()
