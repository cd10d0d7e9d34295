"""What Linux' server is to have counted, derived from what our client has logged of its messages.

    our log: sent ... read 96 HANDLE:LENGTH:OFFSET  --> rdma_stat_recv, rdma_stat_read
             received ... write HANDLE:LENGTH:OFFSET -> rdma_stat_write

A read segment that was offered is one that it has pulled; a segment of a write chunk that comes
back with octets is one that it has written. A reply in a reply chunk is written from the pieces in
which Linux has it, and each piece counts (svc_rdma_send_reply_chunk() of Linux 6.1).
"""

import re

SEGMENT = re.compile(r"0x[0-9a-f]+:(\d+):0x[0-9a-f]+")
KINDS = {"read", "write", "reply"}
# Of an NFSv4 reply the first piece is a page, and the second one is all others.
PAGE = 4096


def pieces_3(_octets):
    """Of a listing by NFSv3: what precedes the names, the names, what follows them."""
    return 3


def pieces_4(octets):
    """Of a compound."""
    return 1 + (octets > PAGE)


def segments(line):
    """Kind and octets of each segment of a message, empty ones, too."""
    kind, found = "", []
    for word in line.split():
        segment = SEGMENT.fullmatch(word)
        if word in KINDS:
            kind = word
        elif segment:
            found.append((kind, int(segment.group(1))))
    return found


def expected(lines, pieces=pieces_3):
    """Messages received, segments read and pieces written by Linux for these lines of a log."""
    counts = {"recv": 0, "read": 0, "write": 0}
    for line in lines:
        is_sent = line.startswith("sent ")
        counts["recv"] += is_sent
        for kind, octets in segments(line):
            if is_sent and kind == "read":
                counts["read"] += 1
            elif not is_sent and kind == "write":
                counts["write"] += octets > 0
            elif not is_sent and kind == "reply" and octets:
                counts["write"] += pieces(octets)
    return counts
