"""Linux' NFS client and server, in a guest under QEMU, talk RPC over RDMA to our programs.

    make live-rpc                  all rows
    make live-rpc ROWS="RTL"       those with one of these words in their names

The guest is that of `make live`, with a second Ethernet device for MOUNT and NFS over TCP.
Captures of all tries stay in build/live-rpc.

Environment: as of `make live`.

Status: 0, all rows passed; 1, one failed; 2, something that is needed is missing.
"""

import os
import pathlib
import platform
import shutil
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# What both verbs use: packages, image, guest, device.
sys.path.append(str(HERE.parent / "live"))

# pylint: disable=wrong-import-position
import image
import packages
from device import Device, replay
from dissect import dissect
from guests import Guests
from nfs import Nfs
from processes import Failed, Process
from report import Log, table
from rows import rows
from stage import Stage

ROOT = HERE.parents[2]
TOOLS = ROOT / ".tools" / "live"
CAPTURES = ROOT / "build" / "live-rpc"
PROGRAMS = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release"
LOG = Log("live-rpc", CAPTURES / "log")
TRIES = 3
REPLAY_SECONDS = 300
# The verilated library is built when it is first wanted.
LIBRARY_SECONDS = 900
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
        seconds = time.monotonic() - begun
        for path in guest.folder.glob("data*"):
            path.unlink()
        has_wire = row.transport == "rdma"
        said = ["", ""]
        if has_wire:
            said = [f"{replay(PROGRAMS, capture, REPLAY_SECONDS)} FPDUs", dissect(capture)]
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


def warm(folder):
    """Have the verilated library built before anything waits for it."""
    socket = folder / "warm"
    command = [PROGRAMS / "rnic", "serve", "--vfio-user", socket, "--dut", "rtl"]
    with Process("rnic serve --dut rtl", command, folder / "warm.log") as serve:
        serve.until(socket.exists, LIBRARY_SECONDS)


def run(chosen):
    """All rows; the number of those that failed."""
    fetched = packages.fetch(TOOLS, LOG.say)
    guest_image = image.make(fetched, TOOLS, LOG.say)
    shutil.rmtree(CAPTURES, ignore_errors=True)
    CAPTURES.mkdir(parents=True)
    lines, failed, begun = [HEAD], 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="live-rpc-") as name:
        folder = pathlib.Path(name)
        if any(row.dut == "rtl" for row in chosen):
            LOG.say("the verilated library")
            warm(folder)
        with Bench(PROGRAMS, folder, fetched, guest_image, LOG, has_host=True) as bench:
            for row in chosen:
                line, problem = bench.tried(row)
                lines.append(line)
                failed += bool(problem)
    print((fetched / "versions").read_text(), end="")
    print(f"{bench.boots} boots, {time.monotonic() - begun:.0f} s in all")
    print(table(lines))
    return failed


def main(words):
    """The verb."""
    if platform.machine() != "x86_64":
        raise packages.Missing("the guest's programs are of x86_64, this machine is not")
    chosen = [row for row in rows() if not words or any(word in row.name for word in words)]
    if not chosen:
        raise packages.Missing(f"no row has {' or '.join(words)} in its name")
    for program in ("rnic", "nfs_server", "nfs_copy", "rpc_ping"):
        if not (PROGRAMS / program).exists():
            raise packages.Missing(f"{PROGRAMS / program} is missing; make live-rpc builds it")
    failed = run(chosen)
    print(f"live-rpc: {len(chosen) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    # Ends what is running, as any error does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main(sys.argv[1:]))
    except packages.Missing as missing:
        print(f"live-rpc: {missing}", file=sys.stderr)
        sys.exit(2)
    except Failed as failed:
        print(f"live-rpc: failed: {failed}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
