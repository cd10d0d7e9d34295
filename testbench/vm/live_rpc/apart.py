"""A copy of a capture in which no two connections have the same ports, for a reader that takes the
start-up of the second one for an FPDU of the first (tshark 4.0).

Each program of ours takes a port by chance, as RFC 6056 would have it: of some thirty connections
in a capture two have the same one time in forty.
"""

import itertools
import struct

import pcap
import wire

SYN, ACK = 0x02, 0x10
# Ports of copies: below those that a client takes.
LEAST = 1024


def opens(part, known):
    """Whether a segment is the first SYN of a connection; `known` has those of earlier ones."""
    return part.flags & (SYN | ACK) == SYN and known.get(frozenset(part.ends)) != part.sequence


def renumbered(frame, side, port):
    """The frame with another port: the source's is 0, the destination's 1."""
    head = 14 + (frame[14] & 15) * 4 if frame[12:14] == b"\x08\x00" else 54
    at = head + 2 * side
    return frame[:at] + struct.pack(">H", port) + frame[at + 2:]


def frames(all_frames):
    """All of them, with the ports of connections that reuse some changed; and how many do."""
    parts = [wire.segment(frame) for frame in all_frames]
    taken = {end[1] for part in parts if part for end in part.ends}
    free = (port for port in itertools.count(LEAST) if port not in taken)
    known, changed, found, count = {}, {}, [], 0
    for frame, part in zip(all_frames, parts):
        key = part and frozenset(part.ends)
        if part and opens(part, known):
            if key in known:
                changed[key] = (part.ends[0], next(free))
                count += 1
            known[key] = part.sequence
        if key in changed:
            end, port = changed[key]
            frame = renumbered(frame, part.ends.index(end), port)
        found.append(frame)
    return found, count


def copy(capture):
    """The capture, or a copy beside it, if connections have to be told apart."""
    found, count = frames(list(wire.frames(capture)))
    return pcap.write(capture.with_suffix(".apart.pcap"), found) if count else capture
