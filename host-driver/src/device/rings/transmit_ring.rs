//! A transmit ring in memory: units of frames, the report, and the area of copied octets.
//!
//! ```text
//!  push: frame -> copies, units -> doorbell        tail
//!  poll: report -> head -> statuses -> results     head <= tail
//! ```
//!
//! Units and copies are in memory before the doorbell is written (`Bar`). The device writes the
//! status of a frame before the report that passes it, so the driver reads the report first, with
//! Acquire ordering. Room is free again when a frame's result was polled, and not before: its head
//! holds the status.

use super::copy_area::CopyArea;
use super::transmit_frame::{Piece, TransmitFrame};
use crate::device::access::{Dma, DmaBuffer, Registers};
use crate::device::error::DriverError;
use crate::device::ids::TransmitRing;
use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_abi::registers;
use rnic_abi::transmit_ring::{
    ELEMENTS_MAX, REPORT_OCTETS, STATUS_READ_FAILED, STATUS_REFUSED, STATUS_WORD, STOPPED,
    UNIT_OCTETS,
};
use std::collections::VecDeque;

/// Octets kept for the report, to a multiple of which its address is aligned.
const REPORT_ROOM: usize = 64;
const _: () = assert!(REPORT_OCTETS <= REPORT_ROOM);
/// Octets to copy for each unit: headers of 256 octets for a frame of two units.
const COPY_OCTETS_PER_UNIT: usize = 128;
/// Least octets to copy: a frame of any length fits half of it, with each piece aligned.
const COPY_OCTETS_MIN: usize = 1 << 15;
const _: () = assert!(2 * (MAX_FRAME_OCTETS + 8 * 64) <= COPY_OCTETS_MIN);

/// What became of a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TransmitResult {
    /// The device has all its octets, and sends it.
    Sent,
    /// The device refused its head; the driver refuses what the device would, so this is a fault of
    /// one of them. The frame is not sent.
    Refused,
    /// The device could not read its octets. The frame is not sent in any part.
    ReadFailed,
    /// The ring stopped before the frame, which is not sent.
    NotSent,
}

/// The result of a frame. Its memory is free.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Transmitted {
    /// The ring it was on.
    pub ring: TransmitRing,
    /// Its cookie.
    pub cookie: u64,
    /// What became of it.
    pub result: TransmitResult,
}

/// A frame whose result was not polled yet.
#[derive(Debug)]
struct Outstanding {
    cookie: u64,
    /// Number of its first unit, modulo 2^32.
    first: u32,
    /// That after its last unit.
    end: u32,
    /// End of its copies.
    copies_end: u64,
}

/// What the ring does.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum State {
    Running,
    /// The device could not read units. It does nothing until the ring is set up again.
    Stopped,
    /// The device reported what cannot be: nothing that it says is believed any more.
    Broken {
        what: &'static str,
        value: u32,
    },
}

/// A ring, and the frames on it.
#[derive(Debug)]
pub(crate) struct UnitRing {
    ring: TransmitRing,
    buffer: DmaBuffer,
    units_log2: u32,
    state: State,
    /// Units written.
    tail: u32,
    /// The tail that the device knows.
    announced: u32,
    /// Frames beyond it.
    staged: usize,
    /// Units that the device is done with, as it reported.
    head: u32,
    copies: CopyArea,
    frames: VecDeque<Outstanding>,
    /// Results of frames from before the ring was set up again.
    settled: VecDeque<Transmitted>,
}

impl UnitRing {
    /// An empty ring of `1 << units_log2` units.
    pub(crate) fn allocate(
        dma: &mut impl Dma,
        ring: TransmitRing,
        units_log2: u32,
    ) -> Result<Self, DriverError> {
        let units_octets = UNIT_OCTETS << units_log2;
        let copy_octets = (COPY_OCTETS_PER_UNIT << units_log2).max(COPY_OCTETS_MIN);
        let name = match ring {
            TransmitRing::Control => "control transmit ring",
            TransmitRing::Bulk => "bulk transmit ring",
        };
        let buffer = dma.allocate(name, units_octets + REPORT_ROOM + copy_octets, 4096)?;
        let copies = DmaBuffer {
            address: buffer.address + (units_octets + REPORT_ROOM) as u64,
            octets: copy_octets,
        };
        Ok(Self {
            ring,
            buffer,
            units_log2,
            state: State::Running,
            tail: 0,
            announced: 0,
            staged: 0,
            head: 0,
            copies: CopyArea::new(copies),
            frames: VecDeque::new(),
            settled: VecDeque::new(),
        })
    }

    /// The ring's memory.
    pub(crate) fn buffer(&self) -> DmaBuffer {
        self.buffer
    }

    /// Set up the ring in the device.
    pub(crate) fn program(&self, bar: &mut impl Registers) -> Result<(), DriverError> {
        let (base, report) = (self.buffer.address, self.report());
        for (register, value) in [
            (registers::TX_BASE_LOW, base as u32),
            (registers::TX_BASE_HIGH, (base >> 32) as u32),
            (registers::TX_REPORT_LOW, report as u32),
            (registers::TX_REPORT_HIGH, (report >> 32) as u32),
            // The last one: it sets the ring up.
            (registers::TX_UNITS_LOG2, self.units_log2),
        ] {
            bar.write(registers::tx_register(self.ring.number(), register), value)?;
        }
        Ok(())
    }

    /// Whether a frame of these pieces, of which `copied` are copied, finds room now.
    pub(crate) fn has_room(&self, pieces: usize, copied: &[usize]) -> bool {
        let units = rnic_abi::transmit_ring::units(pieces as u32);
        self.has_units(units) && self.copies.find(copied.iter().copied()).is_some()
    }

    fn has_units(&self, units: u32) -> bool {
        let oldest = self.frames.front().map_or(self.tail, |frame| frame.first);
        let in_use = self.tail.wrapping_sub(oldest);
        in_use + units <= 1 << self.units_log2
    }

    /// Put a frame on the ring; the device learns of it by [`UnitRing::announce`]. If this fails,
    /// nothing of it is on the ring.
    pub(crate) fn stage(
        &mut self,
        dma: &mut impl Dma,
        frame: &TransmitFrame,
    ) -> Result<(), DriverError> {
        let ring = self.ring;
        frame.check().map_err(DriverError::Frame)?;
        self.check_state()?;
        if self.state == State::Stopped {
            return Err(DriverError::TransmitStopped { ring });
        }
        let copied = frame.pieces.iter().filter_map(|piece| match piece {
            Piece::Octets(octets) => Some(octets.len()),
            Piece::Memory(_) => None,
        });
        let has_room = self.has_units(frame.units());
        let Some(copies) = has_room.then(|| self.copies.find(copied)).flatten() else {
            return Err(DriverError::TransmitFull { ring });
        };
        let mut addresses = copies.addresses.into_iter();
        let mut elements = [DmaBuffer::default(); ELEMENTS_MAX];
        for (element, piece) in elements.iter_mut().zip(frame.pieces) {
            *element = match piece {
                Piece::Memory(buffer) => *buffer,
                Piece::Octets(octets) => {
                    let address = addresses.next().expect("one for each copied piece");
                    dma.write(address, octets);
                    let octets = octets.len();
                    DmaBuffer { address, octets }
                }
            };
        }
        let mut end = self.tail;
        let encoded = frame.encode(&elements[..frame.pieces.len()]);
        for unit in &encoded[..frame.units() as usize] {
            dma.write(self.unit(end), unit);
            end = end.wrapping_add(1);
        }
        self.copies.take(copies.end);
        self.frames.push_back(Outstanding {
            cookie: frame.cookie,
            first: self.tail,
            end,
            copies_end: copies.end,
        });
        self.tail = end;
        self.staged += 1;
        Ok(())
    }

    /// Frames that the device has not been told of.
    pub(crate) fn staged(&self) -> usize {
        self.staged
    }

    /// Tell the device of all frames that were staged: one register write.
    pub(crate) fn announce(&mut self, bar: &mut impl Registers) -> Result<(), DriverError> {
        if self.staged == 0 {
            return Ok(());
        }
        let tail = registers::tx_register(self.ring.number(), registers::TX_TAIL);
        bar.write(tail, self.tail)?;
        (self.announced, self.staged) = (self.tail, 0);
        Ok(())
    }

    /// The next result, if there is one.
    pub(crate) fn poll(&mut self, dma: &impl Dma) -> Result<Option<Transmitted>, DriverError> {
        if let Some(settled) = self.settled.pop_front() {
            return Ok(Some(settled));
        }
        if self.frames.is_empty() {
            return Ok(None);
        }
        if !self.is_passed(self.frames.front()) {
            self.read_report(dma)?;
        }
        self.next_result(dma)
    }

    /// Set up a stopped ring again. The results of all its frames can be polled.
    pub(crate) fn restart(
        &mut self,
        bar: &mut impl Registers,
        dma: &mut impl Dma,
    ) -> Result<(), DriverError> {
        self.read_report(dma)?;
        if self.state != State::Stopped {
            return Err(DriverError::TransmitRunning { ring: self.ring });
        }
        while let Some(result) = self.next_result(dma)? {
            self.settled.push_back(result);
        }
        // The device writes no further report before the ring is set up.
        dma.write(self.report(), &[0; REPORT_OCTETS]);
        self.program(bar)?;
        (self.tail, self.head) = (0, 0);
        (self.announced, self.staged) = (0, 0);
        self.state = State::Running;
        Ok(())
    }

    /// The result of the oldest frame, if the device is done with it or will never be.
    fn next_result(&mut self, dma: &impl Dma) -> Result<Option<Transmitted>, DriverError> {
        let Some(frame) = self.frames.front() else {
            return Ok(None);
        };
        let result = if self.is_passed(Some(frame)) {
            // Of each frame: a report may be seen in parts, so its count of failures does not say
            // that the frames which its head passes were sent (ADR 47).
            let mut status = [0; 4];
            dma.read(self.unit(frame.first) + 4 * STATUS_WORD as u64, &mut status);
            match u32::from_le_bytes(status) {
                0 => TransmitResult::Sent,
                STATUS_REFUSED => TransmitResult::Refused,
                STATUS_READ_FAILED => TransmitResult::ReadFailed,
                value => return self.break_down("the status", value),
            }
        } else if self.state == State::Stopped {
            TransmitResult::NotSent
        } else {
            return Ok(None);
        };
        let frame = self.frames.pop_front().expect("it was found above");
        self.copies.free(frame.copies_end);
        Ok(Some(Transmitted {
            ring: self.ring,
            cookie: frame.cookie,
            result,
        }))
    }

    /// Has the device reported that it is done with the frame?
    fn is_passed(&self, frame: Option<&Outstanding>) -> bool {
        // Both are at most a ring before the tail.
        let before_tail = |index: u32| self.tail.wrapping_sub(index);
        frame.is_some_and(|frame| before_tail(frame.end) >= before_tail(self.head))
    }

    /// Read the report, and believe it if it can be true.
    fn read_report(&mut self, dma: &impl Dma) -> Result<(), DriverError> {
        self.check_state()?;
        if self.state == State::Stopped {
            return Ok(());
        }
        let report = self.report();
        // Of one report the device writes the head first; so this head is not older than that stop.
        let stopped = dma.read_u32_acquire(report + 8);
        let head = dma.read_u32_acquire(report);
        if stopped & !STOPPED != 0 {
            return self.break_down("the stop word", stopped);
        }
        // Nothing but the ends of frames between the last head and the tail that the device knows.
        let before_tail = |index: u32| self.tail.wrapping_sub(index);
        let frames_before = self
            .frames
            .partition_point(|frame| before_tail(frame.end) > before_tail(head));
        let is_end = |frame: &Outstanding| frame.end == head;
        let forwards =
            (before_tail(self.announced)..=before_tail(self.head)).contains(&before_tail(head));
        let is_possible = head == self.head || self.frames.get(frames_before).is_some_and(is_end);
        if !forwards || !is_possible {
            return self.break_down("the head", head);
        }
        self.head = head;
        if stopped == STOPPED {
            self.state = State::Stopped;
        }
        Ok(())
    }

    /// The device reported what cannot be.
    fn break_down<T>(&mut self, what: &'static str, value: u32) -> Result<T, DriverError> {
        self.state = State::Broken { what, value };
        let ring = self.ring;
        Err(DriverError::TransmitReport { ring, what, value })
    }

    fn check_state(&self) -> Result<(), DriverError> {
        let ring = self.ring;
        match self.state {
            State::Running | State::Stopped => Ok(()),
            State::Broken { what, value } => Err(DriverError::TransmitReport { ring, what, value }),
        }
    }

    /// Bus address of unit number `number`.
    fn unit(&self, number: u32) -> u64 {
        let index = number & ((1 << self.units_log2) - 1);
        self.buffer.address + u64::from(index) * UNIT_OCTETS as u64
    }

    /// Bus address of the report.
    fn report(&self) -> u64 {
        self.buffer.address + ((UNIT_OCTETS as u64) << self.units_log2)
    }
}

#[cfg(test)]
mod tests;
