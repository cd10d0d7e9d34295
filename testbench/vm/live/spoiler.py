"""A wire that spoils one Send of the frames that come in at its listening end.

    who connects ==> PATH ==> octet of the first Send's payload turned, checksum right ==> TARGET
                          <== as it is <==

TCP takes the segment, and the FPDU in it has a wrong CRC (RFC 5044, 8, error 2). What is sent again
is spoilt again. Both sockets have frames as QEMU's `-netdev stream` has them: a length of four
octets, then the frame.
"""

import contextlib
import socket
import struct
import threading

import wire
from octets import checksum

SEND = 3
# Of the payload of a Send: after the length and the header.
TURNED = 2 + wire.UNTAGGED_HEAD + 8
SECONDS = 10


def spoil(frame):
    """An IPv4 frame with an octet of its TCP payload turned, and a checksum for that."""
    head = 14 + (frame[14] & 15) * 4
    end = 14 + struct.unpack_from(">H", frame, 16)[0]
    spoilt = bytearray(frame)
    spoilt[head + (frame[head + 12] >> 4) * 4 + TURNED] ^= 0xFF
    spoilt[head + 16:head + 18] = bytes(2)
    pseudo = bytes(frame[26:34]) + struct.pack(">HH", 6, end - head)
    spoilt[head + 16:head + 18] = struct.pack(">H", checksum(pseudo + spoilt[head:end]))
    return bytes(spoilt)


def is_send(part):
    """Whether a TCP segment begins with a Send of an octet to turn."""
    payload = part.payload
    # The opcode of a start-up frame is a letter.
    return len(payload) > TURNED and payload[2] == 0x41 and payload[3] == 0x40 | SEND


class Spoiler:
    """Listens at `path` from now on; whoever comes is joined with `target`."""

    def __init__(self, path, target, spoils_listener=True):
        self.target, self.spoils_listener, self.sequence = str(target), spoils_listener, None
        self.ends, self.listener = [], socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(1)
        threading.Thread(target=self._join, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for end in [self.listener, *self.ends]:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _join(self):
        with contextlib.suppress(OSError):
            one, _ = self.listener.accept()
            other = socket.socket(socket.AF_UNIX)
            other.connect(self.target)
            self.ends = [one, other]
            for source, sink, spoils in ((one, other, self.spoils_listener),
                                         (other, one, not self.spoils_listener)):
                threading.Thread(target=self._pump, args=(source, sink, spoils),
                                 daemon=True).start()

    def _pump(self, source, sink, spoils):
        stream = source.makefile("rb")
        with contextlib.suppress(OSError, ValueError, struct.error):
            while head := stream.read(4):
                frame = stream.read(struct.unpack(">I", head)[0])
                sink.sendall(head + (self._spoilt(frame) if spoils else frame))

    def _spoilt(self, frame):
        part = wire.segment(frame)
        if part is None or not is_send(part):
            return frame
        if self.sequence is None:
            self.sequence = part.sequence
        return spoil(frame) if part.sequence == self.sequence else frame
