"""The core as a function of cocotbext-pcie's device, and as the two sides of an Ethernet MAC.

    RootComplex <-> Device <-> Function: configuration space
                                  |  ^
        tlp_request, tlp_completion  tlp_send, tlp_read
                                  v  |
                              ferrowarp_rnic

Configuration requests end here, as they do in a hard block; TLPs of memory pass to the core and
back as they are. function_id, msix_enable and msix_mask follow configuration space.
"""

import collections
import random
import struct

import cocotb
from cocotb.triggers import Event, RisingEdge
from cocotbext.pcie.core.caps import MsixCapability
from cocotbext.pcie.core.endpoint import Endpoint
from cocotbext.pcie.core.tlp import Tlp, TlpType

import registers


class Source:
    """One of the core's TLP streams inward: a TLP a beat after the other, tuser with each."""

    def __init__(self, dut, name):
        self.clock = dut.clk
        self.pins = {end: getattr(dut, f"{name}_{end}") for end in ("tdata", "tlast", "tvalid")}
        self.header, self.ready = getattr(dut, f"{name}_tuser"), getattr(dut, f"{name}_tready")
        # The request stream has no tkeep: the header says how much of the payload there is.
        self.keep = getattr(dut, f"{name}_tkeep", None)
        self.octets = len(self.pins["tdata"]) // 8
        self.waiting, self.wake = collections.deque(), Event()
        self.pins["tvalid"].value = 0

    def put(self, tlp):
        self.waiting.append(tlp)
        self.wake.set()

    async def run(self):
        while True:
            if not self.waiting:
                self.wake.clear()
                await self.wake.wait()
                await RisingEdge(self.clock)
            await self.send(self.waiting.popleft())

    async def send(self, tlp):
        header, payload = bytes(tlp.pack_header()), bytes(tlp.data) if tlp.has_data() else b""
        words = struct.unpack(f">{len(header) // 4}L", header)
        self.header.value = sum(word << 32 * place for place, word in enumerate(words))
        beats = range(0, max(len(payload), 1), self.octets)
        for start in beats:
            beat = payload[start : start + self.octets]
            self.pins["tdata"].value = int.from_bytes(beat, "little")
            if self.keep is not None:
                self.keep.value = (1 << len(beat)) - 1
            self.pins["tlast"].value = int(start == beats[-1])
            self.pins["tvalid"].value = 1
            await RisingEdge(self.clock)
            while not self.ready.value:
                await RisingEdge(self.clock)
        self.pins["tvalid"].value = 0


class Sink:
    """One of the core's TLP streams outward, for `take`; it stalls in a quarter of the cycles."""

    def __init__(self, dut, name, take):
        self.clock, self.take, self.random = dut.clk, take, random.Random(name)
        self.valid, self.ready = getattr(dut, f"{name}_tvalid"), getattr(dut, f"{name}_tready")
        self.header = getattr(dut, f"{name}_tuser")
        # A read request is a header and a beat.
        self.data = getattr(dut, f"{name}_tdata", None)
        self.keep, self.last = (getattr(dut, f"{name}_{end}", None) for end in ("tkeep", "tlast"))
        self.ready.value = 0

    async def run(self):
        header, payload, ready = None, bytearray(), 0
        while True:
            await RisingEdge(self.clock)
            # What the core saw at this edge, and what it sees at the next one.
            is_taken, ready = ready and self.valid.value, int(self.random.random() < 0.75)
            self.ready.value = ready
            if not is_taken:
                continue
            if header is None:
                header = int(self.header.value)
            if self.data is not None:
                keep = int(self.keep.value)
                octets = int(self.data.value).to_bytes(len(self.data) // 8, "little")
                payload += octets[: keep.bit_count()]
                if keep & (keep + 1):
                    raise ValueError(f"tkeep has a hole: {keep:#x}")
            if self.last is None or self.last.value:
                await self.take(unpacked(header, payload))
                header, payload = None, bytearray()


def unpacked(header, payload):
    """The TLP of a header as the core gives it: doubleword 0 in bits 31:0."""
    words = [header >> 32 * place & 0xFFFFFFFF for place in range(4)]
    four = words[0] >> 29 & 1
    return Tlp.unpack(bytearray(struct.pack(f">{3 + four}L", *words[: 3 + four])) + payload)


class Function(Endpoint):
    """Configuration space of the function, and the core behind it."""

    def __init__(self, dut):
        super().__init__()
        self.dut = dut
        # Numbers for this test: the core has no configuration space.
        self.vendor_id, self.device_id, self.class_code = 0x1234, 0x0001, 0x020000
        self.configure_bar(0, registers.BAR0_OCTETS)
        self.msix_cap = MsixCapability()
        self.msix_cap.msix_table_size = registers.VECTORS - 1
        self.msix_cap.msix_table_bar_indicator_register = 0
        self.msix_cap.msix_table_offset = registers.MSIX_TABLE
        self.msix_cap.msix_pba_bar_indicator_register = 0
        self.msix_cap.msix_pba_offset = registers.MSIX_PENDING
        self.register_capability(self.msix_cap)
        self.requests = Source(dut, "tlp_request")
        self.completions = Source(dut, "tlp_completion")
        # BAR0 has 32 bits, so requests for it have three doublewords of header.
        for kind in (TlpType.MEM_READ, TlpType.MEM_WRITE):
            self.register_rx_tlp_handler(kind, self.request)

    async def request(self, tlp):
        self.requests.put(tlp)

    async def handle_tlp(self, tlp):
        if tlp.is_completion():
            tlp.release_fc()
            self.completions.put(tlp)
        else:
            await super().handle_tlp(tlp)

    async def follow_configuration(self):
        while True:
            await RisingEdge(self.dut.clk)
            self.dut.function_id.value = int(self.pcie_id)
            self.dut.msix_enable.value = int(self.msix_cap.msix_enable)
            self.dut.msix_mask.value = int(self.msix_cap.msix_function_mask)

    def start(self):
        """Begin to move TLPs; the clock runs."""
        for part in (
            self.requests,
            self.completions,
            Sink(self.dut, "tlp_send", self.upstream_send),
            Sink(self.dut, "tlp_read", self.upstream_send),
        ):
            cocotb.start_soon(part.run())
        cocotb.start_soon(self.follow_configuration())
