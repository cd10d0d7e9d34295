"""What is wrong with the octets of a capture: checksums, retransmissions, FPDUs.

In: frames as they were delivered and, if some were lost, those. Out: a line for each problem; none
if all is well. Our end is judged by all that an end owes, the other one by what can be told apart
from its own mistakes (docs/live.md has those of siw).

| | our end | the other end |
|---|---|---|
| checksums of IP and TCP | each | each |
| octets that are sent again | the same, between the same bounds | the same |
| FPDUs, messages | see fpdus.py, strict | see fpdus.py |
| the last octet | no half FPDU, no half message before a FIN | the same |

A frame whose FPDU was spoilt on purpose has a good checksum and a bad CRC: `spoilt` is the address
of its sender, of which one FPDU has to be so.
"""

import struct

import fpdus
import wire


def checksum(octets):
    """The sum of RFC 1071: 0 if a checksum among the octets is right."""
    octets = bytes(octets) + b"\0" * (len(octets) % 2)
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def frame_problems(frame):
    """What is wrong with the checksums of a frame of TCP; nothing is with others."""
    if wire.segment(frame) is None:
        return []
    if frame[12:14] == b"\x08\x00":
        head = (frame[14] & 15) * 4
        end = 14 + struct.unpack_from(">H", frame, 16)[0]
        ip, addresses = frame[14:14 + head], frame[26:34]
    else:
        head, end = 40, 54 + struct.unpack_from(">H", frame, 18)[0]
        ip, addresses = None, frame[22:54]
    tcp = frame[14 + head:end]
    pseudo = addresses + struct.pack(">IBBBB", len(tcp), 0, 0, 0, 6)
    found = []
    if end > len(frame):
        found.append("it is shorter than its IP header says")
    if ip is not None and checksum(ip):
        found.append("the checksum of its IP header")
    if checksum(pseudo + tcp):
        found.append("the checksum of its TCP segment")
    return found


def sent_again(direction, is_ours):
    """What is wrong with octets that were sent more than once."""
    problems, bounds = [], set()
    for offset, payload in direction.pieces:
        begin = max(offset, 0)
        known = bytes(direction.octets[begin:offset + len(payload)])
        if known != payload[begin - offset:][:len(known)]:
            problems.append(f"octets from {offset} on were sent again as others")
        bounds.add((offset, offset + len(payload)))
    last = 0
    for begin, end in sorted(bounds):
        if is_ours and begin < last:
            problems.append(f"octets {begin} to {end} were sent with other bounds before")
        last = max(last, end)
    return problems


def connection_problems(connection, sides, ours, spoilt):
    """What is wrong with a connection whose start-up is whole; its FPDUs by side."""
    problems = []
    for side, found in enumerate(sides):
        address, direction = connection.ends[side][0], connection.directions[side]
        wrong = found.problems + fpdus.unasked(found, sides[1 - side])
        if direction.has_ended and (found.rest or found.untagged or found.tagged):
            wrong.append(f"its FIN cuts a message; {found.rest} octets of an FPDU are there")
        if address == spoilt:
            # Those after it go on where it should have been.
            wrong = [] if found.bad_crcs == 1 else ["it has no FPDU that was spoilt"]
        wrong += sent_again(direction, address in ours)
        problems += [f"{address}: {what}" for what in wrong]
    return problems


def problems(frames, connections, ours, spoilt=None):
    """All that is wrong with a capture: its frames, its connections."""
    found = []
    for number, frame in enumerate(frames):
        found += [f"frame {number + 1}: {what}" for what in frame_problems(frame)]
    for connection in connections:
        if all(connection.start_ups()):
            found += connection_problems(connection, fpdus.of(connection, ours), ours, spoilt)
        else:
            for side, direction in enumerate(connection.directions):
                if direction:
                    is_ours = connection.ends[side][0] in ours
                    found += sent_again(direction, is_ours)
    return found
