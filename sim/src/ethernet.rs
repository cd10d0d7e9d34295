//! The Ethernet side: frames are cut into beats and spaced as on a wire, and put together again.

use crate::core::{FrameBeat, TxBeat};
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

/// A frame that the device has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFrame {
    /// Cycle in which the MAC took its last beat.
    pub cycle: u64,
    /// Octets, without FCS.
    pub octets: Vec<u8>,
    /// It is not whole; a MAC spoils its FCS.
    pub error: bool,
}

/// Cycles that a pause takes to the sender, and a frame that has begun by then to the MAC, while
/// another one is on the wire.
const PAUSE_CYCLES_MAX: u32 = 2_400;

/// The MAC's transmit side: takes frames at the rate of the wire.
#[derive(Debug)]
pub struct FrameSink {
    beat_octets: usize,
    /// Beats of the frame under way.
    open: Vec<u8>,
    in_frame: bool,
    /// Wire time until the next frame may start, in octets times `rate.0`.
    owed: i64,
    /// `owed` when the frame under way began.
    begun_with: i64,
    rate: (u32, u32),
    /// Whether no frame may begin, and since which call of [`take`](Self::take).
    paused: bool,
    paused_cycles: u32,
    sent: VecDeque<SentFrame>,
}

impl FrameSink {
    /// A sink for a path of `width` bits; the wire takes a beat a cycle.
    pub fn new(width: usize) -> Self {
        Self {
            beat_octets: width / 8,
            open: Vec::new(),
            in_frame: false,
            owed: 0,
            begun_with: 0,
            rate: (1, width as u32 / 8),
            paused: false,
            paused_cycles: 0,
            sent: VecDeque::new(),
        }
    }

    /// As [`FrameSource::set_rate`].
    pub fn set_rate(&mut self, cycles: u32, octets: u32) {
        self.rate = (cycles, octets);
    }

    /// Let no frame begin from now on, or let them begin again.
    pub fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// Whether no frame may begin.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Whether a beat is taken in this cycle.
    pub fn is_ready(&self) -> bool {
        self.in_frame || self.owed <= 0
    }

    /// Take the beat of cycle `now`, if there was one while [`is_ready`](Self::is_ready).
    ///
    /// # Panics
    /// If a beat but the last is not full, or a frame pauses: the wire cannot wait. If a frame
    /// begins although none may.
    pub fn take(&mut self, now: u64, beat: Option<TxBeat>) {
        let is_ready = self.is_ready();
        self.paused_cycles = match self.paused {
            true => self.paused_cycles.saturating_add(1),
            false => 0,
        };
        let begun_with = self.owed.max(-i64::from(self.rate.1));
        self.owed -= i64::from(self.rate.1);
        let floor = -i64::from(self.rate.1) * i64::from(self.rate.0);
        self.owed = self.owed.max(floor);
        let Some(beat) = beat.filter(|_| is_ready) else {
            assert!(!self.in_frame, "cycle {now}: a frame pauses");
            return;
        };
        if !self.in_frame {
            assert!(
                self.paused_cycles < PAUSE_CYCLES_MAX,
                "cycle {now}: a frame begins {} cycles after a pause",
                self.paused_cycles
            );
            // As the source: what a frame leaves of its last cycle counts for the next one.
            self.begun_with = begun_with;
        }
        let octets = beat.data.iter().flat_map(|dword| dword.to_le_bytes());
        self.open.extend(octets.take(beat.octets));
        assert!(
            beat.last || beat.octets == self.beat_octets,
            "cycle {now}: a beat has a hole"
        );
        self.in_frame = !beat.last;
        if !beat.last {
            return;
        }
        let octets = std::mem::take(&mut self.open);
        let beats = octets.len().div_ceil(self.beat_octets) as i64;
        let wire = (octets.len() + WIRE_OVERHEAD_OCTETS) as i64 * i64::from(self.rate.0);
        self.owed = self.begun_with + wire - beats * i64::from(self.rate.1);
        self.sent.push_back(SentFrame {
            cycle: now,
            octets,
            error: beat.error,
        });
    }

    /// The oldest frame not yet read.
    pub fn next_sent(&mut self) -> Option<SentFrame> {
        self.sent.pop_front()
    }

    /// Drop the frame under way, and those not yet read.
    pub fn clear(&mut self) {
        self.open.clear();
        self.in_frame = false;
        self.sent.clear();
    }
}
