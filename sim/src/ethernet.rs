//! The Ethernet side: frames are cut into beats and spaced as on a wire.

use crate::core::FrameBeat;
use std::collections::VecDeque;

/// Octets of preamble, FCS and gap that a wire adds to each frame (8 + 4 + 12).
pub const WIRE_OVERHEAD_OCTETS: usize = 24;

/// A frame to be received.
#[derive(Clone, Debug)]
struct Frame {
    octets: Vec<u8>,
    error: bool,
}

/// Frames in order, sent to the core one beat per cycle.
#[derive(Debug)]
pub struct FrameSource {
    queue: VecDeque<Frame>,
    beat_octets: usize,
    /// Octets of the first frame already sent.
    given: usize,
    /// Wire time until the next frame may start, in octets times `rate.0`.
    owed: i64,
    /// No new frame may start.
    paused: bool,
    /// Wire rate as a fraction: `rate.1` octets in `rate.0` cycles.
    rate: (u32, u32),
}

impl FrameSource {
    /// A source for a path of `width` bits that sends frames at line rate.
    pub fn new(width: usize) -> Self {
        let beat_octets = width / 8;
        Self {
            queue: VecDeque::new(),
            beat_octets,
            given: 0,
            owed: 0,
            paused: false,
            rate: (1, beat_octets as u32),
        }
    }

    /// Set the wire rate to `octets` octets in `cycles` cycles instead of one beat per cycle; with
    /// 0 cycles there are no gaps. A frame still takes one cycle per beat; only the gap after it
    /// changes.
    pub fn set_rate(&mut self, cycles: u32, octets: u32) {
        self.rate = (cycles, octets);
    }

    /// Hold back new frames, or release them.
    pub fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// Append a frame, without FCS.
    ///
    /// # Panics
    /// If the frame is empty: a MAC delivers no such frame.
    pub fn push(&mut self, octets: Vec<u8>, error: bool) {
        assert!(!octets.is_empty(), "a frame has at least one octet");
        self.queue.push_back(Frame { octets, error });
    }

    /// Drop the frames that have not started.
    pub fn clear(&mut self) {
        self.queue.truncate(usize::from(self.given > 0));
    }

    /// Octets of a full beat.
    pub fn beat_octets(&self) -> usize {
        self.beat_octets
    }

    /// Frames not yet sent completely.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// The beat of this cycle, if the wire has one.
    pub fn beat(&mut self) -> Option<FrameBeat<'_>> {
        if self.given == 0 && (self.paused || self.owed > 0) {
            return None;
        }
        let frame = self.queue.front()?;
        let end = (self.given + self.beat_octets).min(frame.octets.len());
        let last = end == frame.octets.len();
        Some(FrameBeat {
            octets: &frame.octets[self.given..end],
            last,
            error: last && frame.error,
        })
    }

    /// Advance to the next cycle; `given` says whether this cycle's beat was used. Returns true if
    /// that was the last beat of a frame.
    pub fn advance(&mut self, given: bool) -> bool {
        let mut ended = false;
        if given {
            let length = self
                .queue
                .front()
                .expect("a beat comes from a frame")
                .octets
                .len();
            if self.given == 0 {
                let wire = (length + WIRE_OVERHEAD_OCTETS) as i64;
                self.owed = self.owed.max(-i64::from(self.rate.1)) + wire * i64::from(self.rate.0);
            }
            self.given += self.beat_octets;
            if self.given >= length {
                self.queue.pop_front();
                self.given = 0;
                ended = true;
            }
        }
        self.owed -= i64::from(self.rate.1);
        self.owed = self
            .owed
            .max(-i64::from(self.rate.1) * i64::from(self.rate.0));
        ended
    }
}
