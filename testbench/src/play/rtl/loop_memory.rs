//! Memory of the frame that a device sends to itself, and how the device is set up for that.

use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_abi::transmit_ring::{FRAME_OCTETS_MIN, UNITS_LOG2_MIN};
use rnic_driver::{Bar, Config, Device, Dma, DmaBuffer, DriverError};

/// Places at which the second piece begins, one after the other.
const ALIGNMENTS: u64 = 67;

/// Memory of the frame that is sent.
#[derive(Debug)]
pub(super) struct LoopMemory {
    buffer: DmaBuffer,
    sent: u64,
}

impl LoopMemory {
    /// Memory for one frame of `device`, which loops its frames back from now on.
    pub(super) fn begin<B: Bar, D: Dma>(device: &mut Device<B, D>) -> Result<Self, DriverError> {
        let octets = MAX_FRAME_OCTETS + ALIGNMENTS as usize;
        let buffer = device.dma().allocate("looped frame", octets, 4096)?;
        device.set_loopback(true)?;
        Ok(Self { buffer, sent: 0 })
    }

    /// Bus address of the next frame's second piece: another alignment each time.
    pub(super) fn next_address(&mut self) -> u64 {
        let address = self.buffer.address + self.sent % ALIGNMENTS;
        self.sent += 1;
        address
    }
}

/// `config` with the ring that the frames are put on.
pub(super) fn config(config: &Config) -> Config {
    Config {
        bulk_units_log2: UNITS_LOG2_MIN,
        ..*config
    }
}

/// Whether a device can send `frame`.
pub fn is_looped(frame: &[u8]) -> bool {
    (FRAME_OCTETS_MIN..=MAX_FRAME_OCTETS).contains(&frame.len())
}
