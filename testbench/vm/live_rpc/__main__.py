"""Linux' NFS client and server, in a guest under QEMU, talk RPC over RDMA to our programs.

    make live-rpc                  all rows
    make live-rpc ROWS="RTL"       those with one of these words in their names
    make live-rpc-long             20 cuts, two mounts at once, everything over IPv6

The guest is that of `make live`, with a second Ethernet device for MOUNT and NFS over TCP.
Captures of all tries stay in build/live-rpc.

Environment: as of `make live`.

Status: 0, all rows passed; 1, one failed; 2, something that is needed is missing.
"""

import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# What both verbs use: packages, image, guest, device.
sys.path.append(str(HERE.parent / "live"))

# pylint: disable=wrong-import-position
import both_ours
import headers
import verb
from device import Device, replay
from dissect import dissect
from guests import Guests
from nfs import Nfs
from processes import Failed
from report import Log
from rows import long_rows, rows
from stage import Stage
from verb import PROGRAMS, ROOT

CAPTURES = ROOT / "build" / "live-rpc"
LOG = Log("live-rpc", CAPTURES / "log")
TRIES = 3
REPLAY_SECONDS = 300
HEAD = ["row", "tries", "result", "s", "what was counted", "replay", "tshark"]


class Bench(Guests):
    """Tries of rows."""

    nfs = None

    def drop(self):
        super().drop()
        self.nfs = None

    def ready(self):
        """A guest whose NFS is up."""
        guest = self.booted()
        if self.nfs is None:
            self.nfs = Nfs(guest)
        return guest

    def once(self, row, capture):
        """One try: facts, seconds, what the replay and tshark say of the capture."""
        if row.alone:
            return both_ours.once(PROGRAMS, row, capture)
        guest = self.ready()
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="live-rpc-") as name:
            folder = pathlib.Path(name)
            device = Device(PROGRAMS, folder, self.wires[1], capture, dut=row.dut,
                            delay_us=row.delay_us)
            with device:
                stage = Stage(PROGRAMS, guest, self.nfs, folder, device, row)
                row.run(stage)
                if device.serve.process.poll() is not None:
                    raise Failed(f"rnic serve has ended: {device.serve.said()}")
            self.nfs.check(row.may_complain)
            logs = [headers.logged(path) for path in stage.headers]
        seconds = time.monotonic() - begun
        for path in guest.folder.glob("data*"):
            path.unlink()
        has_wire = row.transport == "rdma"
        said = ["", ""]
        if has_wire:
            said = [f"{replay(PROGRAMS, capture, seconds=REPLAY_SECONDS)} FPDUs",
                    dissect(capture, logs, row, stage.killed)]
        return stage.facts, seconds, said

    def tried(self, row):
        """A row, at most TRIES times: its cells, and what was wrong with the last try."""
        name = row.name.replace(", ", "-").replace(" ", "-").replace("'", "")
        for count in range(1, TRIES + 1):
            facts, seconds, said, problem = {}, 0, ["", ""], ""
            try:
                facts, seconds, said = self.once(row, CAPTURES / f"{name}-try{count}.pcapng")
            except Failed as failed:
                problem = f"failed: {failed}"
                # A program that hangs, or a kernel that has met a fault, may spoil all others.
                self.drop()
            LOG.note(f"{row.name}, try {count}: {problem or 'passed'}")
            if not problem:
                break
        counted = ", ".join(f"{name} {value}" for name, value in facts.items())
        result = problem or "passed"
        return [row.name, str(count), result, f"{seconds:.1f}", counted, *said], problem


def main(words):
    """The verb."""
    verb.expect(("rnic", "nfs_server", "nfs_copy", "rpc_ping"), "live-rpc")
    is_long = "--long" in words
    words = [word for word in words if word != "--long"]
    chosen = verb.chosen(long_rows() if is_long else rows(), words)
    bench = verb.guests(Bench, CAPTURES, LOG, has_host=True)
    with bench as (bench, folder):
        lines, failed = verb.play(bench, folder, chosen, HEAD, LOG)
    return verb.report(lines, failed, "live-rpc")


if __name__ == "__main__":
    verb.end_with(main, "live-rpc")
