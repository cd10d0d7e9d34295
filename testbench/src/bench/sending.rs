//! Frames to send in measurements.
//!
//! A frame is gathered from a header and a payload at an odd address, with a checksum and a CRC32C
//! inserted; a pure ACK is one piece, with a checksum.

use rnic_driver::{
    Device, DmaBuffer, DriverError, InsertChecksum, InsertCrc, Piece, TransmitFrame, TransmitRing,
};
use rnic_sim::{SimBar, SimDma};

/// Cycles from a read request to its completions: about a microsecond at 156.25 MHz.
pub const READ_LATENCY_CYCLES: u64 = 150;
/// Octets of Ethernet's frame check sequence.
pub const FCS_OCTETS: usize = 4;
/// What is sent beside reception, FCS counted.
pub const BESIDE_OCTETS: usize = 1518;
/// Octets that frames are gathered from.
pub const MEMORY_OCTETS: usize = 16 << 10;
/// Ethernet, IPv4 and TCP: where TCP begins, its checksum, and a bulk frame's payload.
const TCP_START: usize = 34;
const CHECKSUM_PLACE: usize = 50;
const PAYLOAD_START: usize = 54;
const CRC_OCTETS: usize = 4;
/// Where payload is in memory.
const PAYLOAD_OFFSET: u64 = 0x101;

/// Hand a frame of `octets` octets, FCS counted, to a ring.
///
/// # Errors
/// A refusal of the driver.
pub fn push(
    device: &mut Device<SimBar, SimDma>,
    memory: DmaBuffer,
    ring: TransmitRing,
    octets: usize,
) -> Result<(), DriverError> {
    let octets = octets - FCS_OCTETS;
    let piece = |start: u64, octets| {
        let address = memory.address + start;
        Piece::Memory(DmaBuffer { address, octets })
    };
    let is_ack = octets < 2 * PAYLOAD_START;
    let pieces = match is_ack {
        true => vec![piece(0, octets)],
        false => vec![
            piece(0, PAYLOAD_START),
            piece(PAYLOAD_OFFSET, octets - PAYLOAD_START),
        ],
    };
    let crc = InsertCrc {
        first: PAYLOAD_START,
        octets: octets.saturating_sub(PAYLOAD_START + CRC_OCTETS),
    };
    let frame = TransmitFrame {
        pieces: &pieces,
        checksum: Some(InsertChecksum {
            start: TCP_START,
            place: CHECKSUM_PLACE,
        }),
        crc: (!is_ack).then_some(crc),
        cookie: 0,
    };
    device.transmit(ring, &frame)
}
