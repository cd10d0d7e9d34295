//! Frames through the device's own transmit rings: it sends them to itself.
//!
//! ```text
//!  frame --> memory, two pieces --> bulk ring --> read, sent, looped back --> front end
//! ```

use super::loop_memory::is_looped;
use super::Rtl;
use rnic_driver::{Dma, DmaBuffer, Piece, TransmitFrame, TransmitResult, TransmitRing};

/// Octets of a frame's first piece at most, which the driver copies.
const COPIED_OCTETS: usize = 54;
/// Cycles within which a frame has its result.
const RESULT_CYCLES_MAX: u64 = 100_000;

impl Rtl {
    /// Have the device send `frame` to itself, and wait until it has left; false if frames are not
    /// looped back, or it cannot be sent. Then loopback is off until the next one.
    pub(super) fn send_looped(&mut self, frame: &[u8]) -> bool {
        let Some(looped) = &mut self.looped else {
            return false;
        };
        let present = "the simulated device is not removed";
        let is_looped = is_looped(frame);
        self.device.set_loopback(is_looped).expect(present);
        if !is_looped {
            return false;
        }
        let (copied, rest) = frame.split_at(frame.len().min(COPIED_OCTETS));
        let address = looped.next_address();
        self.device.dma().write(address, rest);
        let octets = rest.len();
        let pieces = [
            Piece::Octets(copied),
            Piece::Memory(DmaBuffer { address, octets }),
        ];
        let used = if rest.is_empty() { 1 } else { 2 };
        let looped = TransmitFrame {
            pieces: &pieces[..used],
            checksum: None,
            crc: None,
            cookie: 0,
        };
        let sent = self.device.transmit(TransmitRing::Bulk, &looped);
        sent.expect("there is room for one frame");
        let start = self.simulation.borrow().now();
        let transmitted = loop {
            self.simulation.borrow_mut().run(8);
            let polled = self.device.poll_transmitted().expect("sound reports");
            if let Some(transmitted) = polled {
                break transmitted;
            }
            let waited = self.simulation.borrow().now() - start;
            assert!(waited < RESULT_CYCLES_MAX, "a frame has no result");
        };
        assert_eq!(transmitted.result, TransmitResult::Sent);
        // Two cycles a beat at most, and the way through finisher and sender.
        let beats = frame.len() as u64 / 8;
        self.simulation.borrow_mut().run((2 * beats + 64) as usize);
        true
    }
}
