#!/usr/bin/env python3
"""Reads every capture in its folder and prints facts.toml: what a receiver must find in each.

    python3 facts.py > facts.toml

It shares no code with the receivers that are tested against it: octets are put together from the
frames with all retransmissions known, FPDUs are walked from the start-up frames on, every CRC32C is
computed. A flow that a receiver without out-of-order arrival cannot take whole has a second set of
facts, [flow.in_order]: what the octets that came in order hold.
"""
import hashlib
import struct
import sys
from pathlib import Path

OPCODES = ["rdma_write", "read_request", "read_response", "send", "send_invalidate", "send_se",
           "send_se_invalidate", "terminate"]
CIRCLE = 1 << 32


def crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


CRC_TABLE = crc_table()


def crc32c(octets):
    value = 0xFFFFFFFF
    for octet in octets:
        value = value >> 8 ^ CRC_TABLE[(value ^ octet) & 0xFF]
    return value ^ 0xFFFFFFFF


def frames(path):
    data = path.read_bytes()
    assert data[:4] == b"\xd4\xc3\xb2\xa1", f"{path}: no little-endian pcap"
    at = 24
    while at < len(data):
        captured, original = struct.unpack_from("<II", data, at + 8)
        assert captured == original, f"{path}: cut frame"
        yield data[at + 16:at + 16 + captured]
        at += 16 + captured


def address(octets):
    if len(octets) == 4:
        return ".".join(map(str, octets))
    # The captures use one run of zero groups from the second group on.
    groups = [f"{value:x}" for value in struct.unpack("!8H", octets)]
    head = 1 if groups[1:4] == ["0"] * 3 else 0
    last = max(place for place in range(8) if groups[place] == "0")
    return "[" + ":".join(groups[:head]) + "::" + ":".join(groups[last + 1:]) + "]"


def tcp_segment(frame):
    """(source, destination, sequence, flags, payload) of a frame, or None."""
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    kind, ip = frame[at:at + 2], frame[at + 2:]
    if kind == b"\x08\x00" and ip[9] == 6:
        header, end = (ip[0] & 15) * 4, struct.unpack_from("!H", ip, 2)[0]
        source, destination = ip[12:16], ip[16:20]
    elif kind == b"\x86\xdd" and ip[6] == 6:
        header, end = 40, 40 + struct.unpack_from("!H", ip, 4)[0]
        source, destination = ip[8:24], ip[24:40]
    else:
        return None
    tcp = ip[header:end]
    source_port, destination_port, sequence = struct.unpack_from("!HHI", tcp)
    payload = tcp[(tcp[12] >> 4) * 4:]
    return (f"{address(source)}:{source_port}", f"{address(destination)}:{destination_port}",
            sequence, tcp[13], payload)


class Stream:
    """The octets one end sent, from the one after its SYN."""

    def __init__(self, initial):
        self.first = (initial + 1) % CIRCLE
        self.pieces = []

    def add(self, frame, sequence, payload):
        distance = (sequence - self.first) % CIRCLE
        if distance >= CIRCLE // 2:
            distance -= CIRCLE
        if payload:
            self.pieces.append((frame, distance, payload))

    def whole(self):
        octets = bytearray()
        for _, at, payload in sorted(self.pieces, key=lambda piece: piece[1]):
            if at <= len(octets) < at + len(payload):
                octets += payload[len(octets) - at:]
        return bytes(octets)

    def arrival(self, octets):
        """The frame with which the first `octets` octets were all there."""
        missing = set(range(octets))
        for frame, at, payload in self.pieces:
            missing -= set(range(at, at + len(payload)))
            if not missing:
                return frame
        raise ValueError("octets that never came")

    def in_order(self, start, first_frame):
        """Where the octets from `start` on end for a receiver that drops what is ahead."""
        end = start
        for frame, at, payload in self.pieces:
            if frame >= first_frame and at <= end:
                end = max(end, at + len(payload))
        return end


def fpdus(octets, markers, checked):
    """ULPDUs of the whole FPDUs that a stream of full operation opens with."""
    at = 0
    while True:
        start, plain, needed = at, bytearray(), 2
        while len(plain) < needed:
            if markers and at % 512 == 0:
                at += 4
            run = min(needed - len(plain), 512 - at % 512 if markers else needed)
            plain += octets[at:at + run]
            at += run
            if at > len(octets):
                return
            if len(plain) == 2:
                needed = (2 + struct.unpack("!H", plain)[0] + 3) // 4 * 4 + 4
        good = struct.pack("<I", crc32c(octets[start:at - 4])) == octets[at - 4:at]
        assert good or not checked, "no capture here has an FPDU with a wrong CRC"
        yield bytes(plain[2:2 + struct.unpack_from("!H", plain)[0]])


def tally(ulpdus, regions):
    """Facts of FPDUs; `regions` are the extents of the STags by STag."""
    opcodes, messages, open_messages = {}, [], {}
    images = {stag: bytearray(high - low) for stag, (low, high) in regions.items()}
    count = 0
    for ulpdu in ulpdus:
        count += 1
        if not ulpdu:
            continue  # the ready-to-receive message of revision 2
        opcode = ulpdu[1] & 15
        opcodes[opcode] = opcodes.get(opcode, 0) + 1
        if ulpdu[0] & 0x80:
            stag, offset = struct.unpack_from("!IQ", ulpdu, 2)
            if len(ulpdu) > 14:
                offset -= regions[stag][0]
                images[stag][offset:offset + len(ulpdu) - 14] = ulpdu[14:]
            continue
        qn, msn, offset = struct.unpack_from("!III", ulpdu, 6)
        message = open_messages.setdefault((qn, msn), bytearray())
        message[offset:] = ulpdu[18:]
        if ulpdu[0] & 0x40:
            digest = hashlib.sha256(open_messages.pop((qn, msn))).hexdigest()
            messages.append(f"{qn} {msn} {OPCODES[opcode]} {offset + len(ulpdu) - 18} {digest}\n")
    return {"fpdus": count, "opcodes": opcodes, "messages": messages, "images": images}


def extents(ulpdus):
    regions = {}
    for ulpdu in ulpdus:
        if ulpdu and ulpdu[0] & 0x80 and len(ulpdu) > 14:
            stag, offset = struct.unpack_from("!IQ", ulpdu, 2)
            low, high = regions.get(stag, (offset, offset))
            regions[stag] = (min(low, offset), max(high, offset + len(ulpdu) - 14))
    return regions


def connections(path):
    """Every connection as ((source, stream), (source, stream)), the one who sent SYN first."""
    found, current, count = [], {}, 0
    for frame, octets in enumerate(frames(path)):
        count += 1
        segment = tcp_segment(octets)
        if segment is None:
            continue
        source, destination, sequence, flags, payload = segment
        if flags & 0x12 == 0x02:
            known = current.get((source, destination))
            if known is None or known.first != (sequence + 1) % CIRCLE:
                current.pop((destination, source), None)
                current[(source, destination)] = Stream(sequence)
                found.append([source, destination, current[(source, destination)], None])
            continue
        if flags & 0x12 == 0x12 and (source, destination) not in current:
            current[(source, destination)] = Stream(sequence)
            found[-1][3] = current[(source, destination)]
        if (source, destination) in current:
            current[(source, destination)].add(frame, sequence, payload)
    return count, found


def show(facts):
    opcodes = ", ".join(f"{OPCODES[number]} = {count}"
                        for number, count in sorted(facts["opcodes"].items()))
    print(f"fpdus = {facts['fpdus']}")
    print(f"opcodes = {{ {opcodes} }}")
    print(f"messages = {len(facts['messages'])}")
    lines = "".join(facts["messages"]).encode()
    print(f'messages_sha256 = "{hashlib.sha256(lines).hexdigest()}"')


def show_regions(facts, regions, table):
    for stag in sorted(regions):
        low, high = regions[stag]
        print(f"[[{table}.region]]")
        print(f'stag = "{stag:#010x}"')
        print(f'base = "{low:#x}"')
        print(f"octets = {high - low}")
        print(f'sha256 = "{hashlib.sha256(facts["images"][stag]).hexdigest()}"')


def show_flow(source, destination, stream, start, revision, markers, crc):
    whole = stream.whole()
    ulpdus = list(fpdus(whole[start:], markers, crc))
    regions = extents(ulpdus)
    facts = tally(ulpdus, regions)
    # A connection is offloaded with the frame after its start-up frame, or with that frame itself
    # if octets of full operation share it.
    arrival = stream.arrival(start)
    shared = len(whole) > start and stream.arrival(start + 1) == arrival
    end = stream.in_order(start, arrival + (0 if shared else 1))
    print()
    print("[[capture.flow]]")
    print(f'source = "{source}"')
    print(f'destination = "{destination}"')
    print(f"revision = {revision}")
    print(f"markers = {str(markers).lower()}")
    print(f"crc = {str(crc).lower()}")
    show(facts)
    in_order = tally(fpdus(whole[start:end], markers, crc), regions)
    show_regions(facts, regions, "capture.flow")
    if end < len(whole):
        print("[capture.flow.in_order]")
        show(in_order)
        show_regions(in_order, regions, "capture.flow.in_order")


def show_capture(path):
    count, found = connections(path)
    started = []
    for source, destination, client, server in found:
        octets = [side.whole() if side else b"" for side in (client, server)]
        keys = [side[:16] for side in octets]
        if keys == [b"MPA ID Req Frame", b"MPA ID Rep Frame"] and not octets[1][16] & 0x20:
            started.append((source, destination, client, server, octets))
    print()
    print("[[capture]]")
    print(f'file = "{path.name}"')
    print(f'sha256 = "{hashlib.sha256(path.read_bytes()).hexdigest()}"')
    print(f"frames = {count}")
    print(f"connections = {len(started)}")
    for source, destination, client, server, octets in started:
        flags = [side[16] for side in octets]
        starts = [20 + struct.unpack_from("!H", side, 18)[0] for side in octets]
        revision = octets[1][17]
        crc = bool((flags[0] | flags[1]) & 0x40)
        # M of a start-up frame is about what its sender receives.
        show_flow(source, destination, client, starts[0], revision, bool(flags[1] & 0x80), crc)
        show_flow(destination, source, server, starts[1], revision, bool(flags[0] & 0x80), crc)


def main():
    print("# What a receiver must have found in each capture; printed by facts.py.")
    print("# messages_sha256 is over a line for each message in order of completion:")
    print("# queue, MSN, opcode, octets, SHA-256.")
    for path in sorted(Path(__file__).parent.glob("*.pcap")):
        show_capture(path)


if __name__ == "__main__":
    sys.exit(main())
