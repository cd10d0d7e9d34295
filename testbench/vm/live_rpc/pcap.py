"""A capture written as a pcap file (magic number 0xa1b2c3d4, link type 1: Ethernet)."""

import struct

OCTETS_MAX = 1 << 18


def write(path, frames):
    """Write frames, a microsecond from one to the next; returns the path."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, OCTETS_MAX, 1))
        for number, frame in enumerate(frames):
            file.write(struct.pack("<IIII", *divmod(number, 1_000_000), len(frame), len(frame)))
            file.write(frame)
    return path
