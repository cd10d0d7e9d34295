"""Linux' software iWARP (siw), in a guest under QEMU, talks to the served device.

    make live                  all rows
    make live ROWS="RTL"       those with one of these words in their names
    make live PEER=1           the cases of `rnic peer` against siw, in place of the rows

Packages, module and image are kept in .tools/live by content; nothing is installed, and root is not
needed. QEMU emulates: KVM is not used. Captures of all tries stay in build/live.

Environment: DEBIAN_MIRROR, where packages are, if apt of this machine does not know one;
CARGO_TARGET_DIR, where our programs are built.

Status: 0, all rows passed; 1, one failed; 2, something that is needed is missing. Verdicts about
siw are findings: with PEER=1 the status is 0 when all cases were played.
"""

import pathlib
import tempfile

import scripted
import verb
import wire
from bench import Try
from guests import Guests
from listing import listed
from processes import Failed
from report import Log, table
from verb import PROGRAMS, ROOT

CAPTURES = ROOT / "build" / "live"
LOG = Log("live", CAPTURES / "log")
TRIES = 3

# Frames are those of TCP that were delivered; lost ones are the hub's; "again" are segments whose
# octets had been delivered before.
HEAD = ["row", "tries", "result", "s", "frames", "lost", "again", "Request", "Reply", "first FPDU",
        "replay", "tshark"]


def cells(row, tries, ran, problem):
    """A row of the table."""
    result = problem or ran.result()
    seconds = f"{ran.ended:.1f}" if ran.ended else ""
    first = next(iter(ran.connections), None)
    of_wire = [""] * 6
    if first:
        frames = sum(each.frames for each in ran.connections)
        again = sum(each.again() for each in ran.connections)
        start_ups = [wire.start_up_text(octets) for octets in first.start_ups()]
        of_wire = [str(frames), str(ran.lost), str(again), *start_ups, first.first_text()]
    replay = "" if ran.replayed is None else f"{ran.replayed} FPDUs"
    return [row.name, str(tries), result, seconds, *of_wire, replay,
            ran.dissected]


class Bench(Guests):
    """Tries of rows."""

    def tried(self, row):
        """A row, at most TRIES times: its cells, and what was wrong with the last try."""
        name = row.name.replace(", ", "-").replace(" ", "-").replace("%", "percent")
        for count in range(1, TRIES + 1):
            capture = CAPTURES / f"{name}-try{count}.pcapng"
            with tempfile.TemporaryDirectory(prefix="live-") as folder:
                guest, folder = self.booted(), pathlib.Path(folder)
                ran = (row.trial() or Try)(PROGRAMS, guest, folder, self.wires[1], row, capture)
                ran.guests = self
                try:
                    ran.run()
                    problem = ""
                except Failed as failed:
                    problem = f"failed: {failed}"
                    # A program that hangs, or a kernel that has met a fault, may spoil all others.
                    self.drop()
            LOG.note(f"{row.name}, try {count}: {problem or 'passed'}")
            if not problem:
                break
        if capture.exists():
            ran.connections = ran.connections or wire.connections(capture)
        return cells(row, count, ran, problem), problem


def guests():
    """A bench, and a folder for it."""
    return verb.guests(Bench, CAPTURES, LOG)


def run_peer(words):
    """The cases of `rnic peer`."""
    with guests() as (bench, folder):
        lines, counts = scripted.run(
            PROGRAMS / "rnic", bench, folder, CAPTURES / "peer", words, LOG.note)
    print(table(lines))
    counted = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    print(f"live: {len(lines) - 1} cases: {counted}")
    return 0


def main(words):
    """The verb."""
    verb.expect(("rnic", "rping", "bandwidth"), "live")
    if words[:1] == ["--peer"]:
        return run_peer(words[1:])
    chosen = verb.chosen(listed(), words)
    with guests() as (bench, folder):
        lines, failed = verb.play(bench, folder, chosen, HEAD, LOG)
    return verb.report(lines, failed, "live")


if __name__ == "__main__":
    verb.end_with(main, "live")
