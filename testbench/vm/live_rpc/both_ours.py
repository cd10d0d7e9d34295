"""Rows without Linux: both ends ours, on two devices in software, and every type of message.

    every_type --+--> capture --(markers taken out)--> tshark --> as many of each type, and
                 +--> log of headers, of both ends <------------> the same fields
"""

import collections
import subprocess
import tempfile
import time

import headers
import tshark
import unmarked
from device import last, replay
from dissect import TYPES
from processes import Failed
from stage import expect

SECONDS = 120
REPLAY_SECONDS = 300
# Of the ends, in `every_type`.
CLIENT = "192.0.2.1"
# A client closes for ERR_VERS, and neither a call of the server's nor the reply to the call that
# fails by it need leave, or be read.
UNHEARD = 2


def once(programs, row, capture):
    """One try: facts, seconds, what the replay and tshark say of the capture."""
    begun = time.monotonic()
    with tempfile.NamedTemporaryFile(prefix="live-rpc-", mode="r") as log:
        command = [programs / "examples" / "every_type", capture, log.name]
        ran = subprocess.run(command + ([] if row.lossy else ["--plain"]), capture_output=True,
                             text=True, timeout=SECONDS)
        lines = log.read().splitlines()
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
    if not tshark.is_there():
        return facts, seconds, [f"{fpdus} FPDUs", tshark.MISSING]
    if row.lossy:
        # tshark loses its way in a stream with markers.
        capture = unmarked.copy(capture)
    says = f"{named(capture, sent, received)}; {alike(capture, lines)}"
    return facts, seconds, [f"{fpdus} FPDUs", says]


def named(capture, sent, received):
    """Words for the table; fails if tshark does not name each type as often as the ends have it."""
    counts = collections.Counter()
    for kinds, malformed in tshark.fields(capture, "rpcordma || _ws.malformed",
                                          "rpcordma.msg_type", "_ws.malformed"):
        if malformed:
            raise Failed(f"tshark: a frame is malformed: {malformed}")
        counts.update(kinds.split(","))
    found = [counts[kind] for kind in TYPES]
    counted = [to_server + to_client for to_server, to_client in zip(sent, received)]
    expect("messages that tshark names, without RDMA_MSG", found[1:], counted[1:])
    # The client does not look at replies that are on their way.
    expect("whether tshark names each RDMA_MSG", 0 <= found[0] - counted[0] <= UNHEARD, True)
    return ", ".join(f"{count} {TYPES[kind]}" for kind, count in zip(TYPES, found))


def exchanged(lines):
    """Lines of the log of both ends, as the client has them: what was sent, and what was heard."""
    ways = {"client sent": ("sent", 0), "server received": ("sent", 1),
            "server sent": ("received", 0), "client received": ("received", 1)}
    found = [collections.Counter(), collections.Counter()]
    for line in lines:
        end, way, header = line.split(" ", 2)
        way, which = ways[f"{end} {way}"]
        found[which][f"{way} {header}"] += 1
    return found


def unheard(sent, heard):
    """Messages of one end that the other one has not heard of; fails if there may be none such."""
    for line in heard - sent:
        raise Failed(f"nobody has sent what an end has heard: {line}")
    missing = sent - heard
    for line in missing:
        if not line.startswith("received ") or not line.endswith(" MSG"):
            raise Failed(f"an end has not heard: {line}")
    if sum(missing.values()) > UNHEARD:
        raise Failed(f"the client has not heard {list(missing.elements())}")
    return missing


def alike(capture, lines):
    """Words for the table; fails if a header is not as tshark and both ends have it."""
    sent, heard = exchanged(lines)
    found = headers.dissected(capture, {CLIENT})
    # What was not heard may not even have left.
    stayed = unheard(sent, heard) - collections.Counter(found)
    return headers.compare(found, sent - stayed, headers.sends(capture), False)
