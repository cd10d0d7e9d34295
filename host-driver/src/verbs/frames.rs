//! Frames that the device sends, and the memory that it reads for them.
//!
//! A frame holds its memory from [`Context::transmit`](super::Context::transmit) until its result
//! is polled, also if the object that it came from is dropped meanwhile.

use super::frame_memory::FrameMemory;
use super::ledger::{Core, Ledger};
use super::place::Place;
use crate::device::access::{Bar, Dma, DmaBuffer};
use crate::device::error::DriverError;
use crate::device::ids::TransmitRing;
use crate::device::rings::{self, TransmitFrame, Transmitted};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// A part of memory or of a region, for a frame.
#[derive(Copy, Clone, Debug)]
pub struct Part<'a> {
    /// Which context it is of.
    context: usize,
    memory: u64,
    buffer: DmaBuffer,
    object: PhantomData<&'a ()>,
}

impl Part<'_> {
    /// The octets `range` of the memory `memory`, which is at `place`.
    pub(crate) fn new<B: Bar, D: Dma>(
        core: &Arc<Core<B, D>>,
        memory: u64,
        place: &Place,
        range: Range<usize>,
    ) -> Result<Self, DriverError> {
        let octets = range.end.saturating_sub(range.start);
        let address = place.part(range.start, octets)?;
        Ok(Self {
            context: identity(core),
            memory,
            buffer: DmaBuffer { address, octets },
            object: PhantomData,
        })
    }

    /// The number of its memory, and where it is; `None` if it is of another context.
    pub(crate) fn of<B: Bar, D: Dma>(&self, core: &Arc<Core<B, D>>) -> Option<(u64, DmaBuffer)> {
        (self.context == identity(core)).then_some((self.memory, self.buffer))
    }
}

/// A number of a context that no other one has at the same time.
fn identity<B: Bar, D: Dma>(core: &Arc<Core<B, D>>) -> usize {
    Arc::as_ptr(core) as usize
}

/// A run of octets of a frame, whose memory is a part of an object.
pub type Piece<'a> = rings::Piece<'a, Part<'a>>;

/// A frame to send, from Ethernet's destination on, without its FCS.
pub type Frame<'a> = TransmitFrame<'a, Part<'a>>;

/// Hand a frame to the device.
pub(crate) fn transmit<B: Bar, D: Dma>(
    core: &Arc<Core<B, D>>,
    ring: TransmitRing,
    frame: &Frame,
) -> Result<(), DriverError> {
    let mut memory = FrameMemory::default();
    for piece in frame.pieces {
        if let Piece::Memory(part) = piece {
            if part.context != identity(core) {
                return Err(DriverError::OtherContext { what: "memory" });
            }
            memory.add(part.memory);
        }
    }
    let pieces: Vec<rings::Piece> = frame
        .pieces
        .iter()
        .map(|piece| match piece {
            Piece::Memory(part) => rings::Piece::Memory(part.buffer),
            Piece::Octets(octets) => rings::Piece::Octets(octets),
        })
        .collect();
    let frame = TransmitFrame {
        pieces: &pieces,
        checksum: frame.checksum,
        crc: frame.crc,
        cookie: frame.cookie,
    };
    let mut ledger = core.lock();
    stage_held(&mut ledger, ring, &frame, memory)?;
    ledger.device().announce_frames(ring)
}

/// Stage a frame, which needs the memory of these numbers until its result is polled.
pub(crate) fn stage_held<B: Bar, D: Dma>(
    ledger: &mut Ledger<B, D>,
    ring: TransmitRing,
    frame: &TransmitFrame,
    memory: FrameMemory,
) -> Result<(), DriverError> {
    ledger.device().stage_frame(ring, frame)?;
    for &id in memory.numbers() {
        ledger.hold_memory(id);
    }
    ledger.frames[ring.number() as usize].push_back(memory);
    Ok(())
}

impl<B: Bar, D: Dma> Ledger<B, D> {
    /// The next result of a frame, whose memory is released.
    pub(crate) fn poll_transmitted(&mut self) -> Result<Option<Transmitted>, DriverError> {
        let polled = self.device().poll_transmitted()?;
        if let Some(transmitted) = &polled {
            let sent = self.frames[transmitted.ring.number() as usize].pop_front();
            for &id in sent.unwrap_or_default().numbers() {
                self.release_memory(id);
            }
        }
        Ok(polled)
    }
}
