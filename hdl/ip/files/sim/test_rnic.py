"""Smoke test of the core in a third-party bench: cocotb, a root complex, a MAC.

    1  enumerates the function, reads IDENTITY, REVISION and CAPABILITIES from BAR0
    2  resets the device, sets up the host receive ring and MSI-X, enables reception
    3  receives frames: the octets and the entry of each are in host memory, an interrupt follows;
       one that the MAC marks as damaged leaves nothing
    4  sends a frame that the core reads from host memory

Every wait is bounded in cycles of the core. The last line is the rate of the simulation.
"""

import random
import struct
import time

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from cocotbext.pcie.core import Device, RootComplex

import registers
from function import Function

# Of the simulation, in nanoseconds: 156.25 MHz.
PERIOD_NS = 6.4
TICK_CYCLES = 156
# Longer than any step of this test takes, in cycles.
PATIENCE_CYCLES = 4000
SLOTS_LOG2, SLOT_OCTETS_LOG2 = 1, 11
# 128 octets, the smallest that PCI Express has.
MAX_PAYLOAD_128 = 0
UNITS_LOG2 = 4
# Ethernet's local experimental type (IEEE 802): such a frame belongs to no connection.
EXPERIMENTAL = bytes.fromhex("88b5")


def frame_of(octets, seed):
    """A frame of so many octets, without FCS."""
    addresses = bytes.fromhex("020000000001020000000002")
    payload = random.Random(seed).randbytes(octets - len(addresses) - len(EXPERIMENTAL))
    return addresses + EXPERIMENTAL + payload


class Bench:
    """The device, its host, and the MAC."""

    def __init__(self, dut):
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk, PERIOD_NS, unit="ns").start())
        dut.rst.value, dut.tick.value, dut.tx_pause.value = 1, 0, 0
        dut.function_id.value, dut.msix_enable.value, dut.msix_mask.value = 0, 0, 0
        self.function = Function(dut)
        self.complex = RootComplex()
        self.complex.make_port().connect(Device(self.function))
        receive = AxiStreamBus.from_prefix(dut, "rx_frame")
        transmit = AxiStreamBus.from_prefix(dut, "tx_frame")
        self.receive = AxiStreamSource(receive, dut.clk, dut.rst)
        self.transmit = AxiStreamSink(transmit, dut.clk, dut.rst)
        self.interrupts = 0

    async def tick(self):
        while True:
            await ClockCycles(self.dut.clk, TICK_CYCLES - 1)
            self.dut.tick.value = 1
            await RisingEdge(self.dut.clk)
            self.dut.tick.value = 0

    async def interrupt(self):
        self.interrupts += 1

    async def start(self):
        """Power up and enumerate, as firmware does."""
        await ClockCycles(self.dut.clk, 16)
        self.dut.rst.value = 0
        self.function.start()
        cocotb.start_soon(self.tick())
        await self.complex.enumerate()
        self.device = self.complex.find_device(self.function.pcie_id)
        await self.device.enable_device()
        await self.device.set_master()
        self.bar = self.device.bar_window[0]

    async def read(self, register):
        return struct.unpack("<L", await self.bar.read(register, 4))[0]

    async def write(self, register, value):
        await self.bar.write(register, struct.pack("<L", value))

    async def until(self, what, condition):
        """Waits for a condition; names it if it does not come."""
        for _ in range(PATIENCE_CYCLES):
            if condition():
                return
            await RisingEdge(self.dut.clk)
        raise AssertionError(f"not within {PATIENCE_CYCLES} cycles: {what}")

    async def write_address(self, low, high, address):
        await self.write(low, address & 0xFFFFFFFF)
        await self.write(high, address >> 32)


async def identify(bench):
    identity = await bench.read(registers.IDENTITY)
    expected = registers.IDENTITY_VALUE
    assert identity == expected, f"IDENTITY is {identity:#010x}, not {expected:#010x}"
    assert await bench.read(registers.REVISION) == registers.REVISION_VALUE
    capabilities = await bench.read(registers.CAPABILITIES)
    assert capabilities & 0x3FF == registers.WIDTH
    assert 1 << (capabilities >> 10 & 0xF) == registers.CONNECTIONS


async def open_device(bench):
    """Reset, host ring, interrupts, enable; the order is that of the driver."""
    await bench.write(registers.CONTROL, registers.CONTROL_RESET)
    for _ in range(PATIENCE_CYCLES):
        if not await bench.read(registers.CONTROL) & registers.CONTROL_RESET:
            break
    else:
        raise AssertionError("the reset does not end")
    await bench.write(registers.MAX_PAYLOAD, MAX_PAYLOAD_128)
    address, ring = bench.complex.alloc_region(1 << (SLOTS_LOG2 + SLOT_OCTETS_LOG2))
    await bench.write_address(
        registers.HOST_RING_BASE_LOW, registers.HOST_RING_BASE_HIGH, address
    )
    await bench.write(registers.HOST_RING_CONSUMER, 0)
    await bench.write(registers.HOST_RING_SLOT_OCTETS_LOG2, SLOT_OCTETS_LOG2)
    await bench.write(registers.HOST_RING_SLOTS_LOG2, SLOTS_LOG2)
    await bench.device.alloc_irq_vectors(1, registers.VECTORS)
    bench.device.request_irq(0, bench.interrupt)
    await bench.write(registers.RING_ROUTES, registers.ROUTE_HOST_TO_VECTOR_0)
    await bench.write(registers.CONTROL, registers.CONTROL_ENABLE)
    # A read is answered after the writes before it: from here on the device receives.
    await bench.read(registers.CONTROL)
    return ring


async def receive(bench, ring, number, octets):
    """Gives a frame to the core and looks for it in slot `number` of the ring."""
    frame = frame_of(octets, seed=number)
    start = number << SLOT_OCTETS_LOG2

    def slot():
        return bytes(ring[start : start + (1 << SLOT_OCTETS_LOG2)])

    await bench.receive.send(AxiStreamFrame(frame))
    expected = struct.pack("<4L", octets, 0, 0, registers.PHASE | number)
    header = registers.SLOT_HEADER_OCTETS
    await bench.until(f"the entry of frame {number}", lambda: slot()[12:header] == expected[12:])
    assert slot()[:header] == expected
    assert slot()[header : header + octets] == frame, f"frame {number} is not what was sent"
    assert not any(slot()[header + octets :]), f"octets after frame {number}"
    await bench.until("an interrupt", lambda: bench.interrupts == number + 1)
    assert await bench.read(registers.HOST_RING_PRODUCER) == number + 1


async def transmit(bench, octets):
    """Sends a frame in two pieces from host memory."""
    frame = frame_of(octets, seed=octets)
    address, memory = bench.complex.alloc_region(4096)
    # Places in the region; the second piece begins at an odd octet.
    units, report, first, second = 0, 1024, 2048, 3077
    cut = octets // 3
    memory[first : first + cut] = frame[:cut]
    memory[second : second + octets - cut] = frame[cut:]
    head = struct.pack("<8L", octets | 2 << registers.ELEMENTS_SHIFT, *[0] * 7)
    elements = struct.pack("<QLLQLL", address + first, cut, 0, address + second, octets - cut, 0)
    memory[units : units + 64] = head + elements
    await bench.write_address(registers.TX_BASE_LOW, registers.TX_BASE_HIGH, address)
    await bench.write_address(registers.TX_REPORT_LOW, registers.TX_REPORT_HIGH, address + report)
    await bench.write(registers.TX_UNITS_LOG2, UNITS_LOG2)
    await bench.write(registers.TX_TAIL, 2)
    await bench.until("the frame on the wire", lambda: not bench.transmit.empty())
    sent = bench.transmit.recv_nowait()
    assert bytes(sent.tdata) == frame, "the frame on the wire is not what memory holds"
    assert not any(sent.tuser if isinstance(sent.tuser, list) else [sent.tuser])
    await bench.until(
        "the report", lambda: bytes(memory[report : report + 16]) == struct.pack("<4L", 2, 0, 0, 0)
    )


@cocotb.test()
async def smoke(dut):
    began = time.perf_counter()
    bench = Bench(dut)
    await bench.start()
    await identify(bench)
    ring = await open_device(bench)
    await receive(bench, ring, number=0, octets=301)
    damaged = frame_of(128, seed=9)
    await bench.receive.send(AxiStreamFrame(damaged, tuser=[0] * 127 + [1]))
    # A frame after it is in the next slot: the damaged one took none.
    await receive(bench, ring, number=1, octets=1514)
    await transmit(bench, octets=1003)
    cycles = round(get_sim_time("ns") / PERIOD_NS)
    seconds = time.perf_counter() - began
    rate = cycles / seconds
    print(f"cocotb: {cycles} cycles in {seconds:.2f} s ({rate:.0f} cycles/s)", flush=True)
