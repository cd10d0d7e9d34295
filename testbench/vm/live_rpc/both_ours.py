"""Rows without Linux: both ends ours, on two devices in software, and every type of message."""

import collections
import subprocess
import time

import tshark
from device import last, replay
from dissect import TYPES
from processes import Failed
from stage import expect

SECONDS = 120
REPLAY_SECONDS = 300


def once(programs, row, capture):
    """One try: facts, seconds, what the replay and tshark say of the capture."""
    begun = time.monotonic()
    command = [programs / "examples" / "every_type", capture]
    ran = subprocess.run(command + ([] if row.lossy else ["--plain"]), capture_output=True,
                         text=True, timeout=SECONDS)
    if ran.returncode != 0:
        raise Failed(f"every_type: {last(ran.stderr)}")
    printed = dict(line.split(" ", 1) for line in ran.stdout.splitlines())
    sent, received = ([int(word) for word in printed[way].split()] for way in ("sent", "received"))
    lost = int(printed["lost"])
    expect("whether frames of both ends were lost", lost > 0, row.lossy)
    facts = {"sent": "/".join(map(str, sent)), "received": "/".join(map(str, received)),
             "lost": str(lost)}
    seconds = time.monotonic() - begun
    fpdus = replay(programs, capture, seconds=REPLAY_SECONDS)
    # tshark loses its way in a stream with markers, or in which something is missing.
    says = "" if row.lossy else named(capture, sent, received)
    return facts, seconds, [f"{fpdus} FPDUs", says]


def named(capture, sent, received):
    """Words for the table; fails if tshark does not name each type as often as the ends have it."""
    if not tshark.is_there():
        return tshark.MISSING
    counts = collections.Counter()
    for kinds, malformed in tshark.fields(capture, "rpcordma || _ws.malformed",
                                          "rpcordma.msg_type", "_ws.malformed"):
        if malformed:
            raise Failed(f"tshark: a frame is malformed: {malformed}")
        counts.update(kinds.split(","))
    found = [counts[kind] for kind in TYPES]
    counted = [to_server + to_client for to_server, to_client in zip(sent, received)]
    expect("messages that tshark names, without RDMA_MSG", found[1:], counted[1:])
    # The client closes for ERR_VERS, and does not look at replies that are on their way.
    expect("whether tshark names each RDMA_MSG", found[0] >= counted[0], True)
    return ", ".join(f"{count} {TYPES[kind]}" for kind, count in zip(TYPES, found))
