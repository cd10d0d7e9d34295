//! Frames that wait to be sent again.

use rnic_capture::segment::Segment;
use std::collections::BTreeMap;

/// Frames played before a flow whose end was put off is tried again.
const POSTPONE_FRAMES: usize = 128;

/// A frame that waits, or may have to again.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) frame: usize,
    pub(super) octets: Vec<u8>,
}

impl Waiting {
    /// Does it hold octets beyond `rcv_nxt`?
    pub(super) fn reaches_beyond(&self, rcv_nxt: u32) -> bool {
        segment_of(&self.octets).is_some_and(|(first, octets)| {
            let end = first.wrapping_add(u32::from(octets));
            end.wrapping_sub(rcv_nxt) as i32 > 0
        })
    }

    /// May the device hold octets of it? A wrong checksum means that it dropped the segment, and a
    /// control segment is the host's.
    pub(super) fn may_be_held(&self) -> bool {
        Segment::of_frame(&self.octets).is_some_and(|segment| {
            !segment.payload.is_empty() && segment.checksum_good && !segment.is_control()
        })
    }
}

/// What is to be sent again.
#[derive(Debug, Default)]
pub(super) struct Resend {
    /// By flow; frames of none under `None`.
    pub(super) waiting: BTreeMap<Option<usize>, Vec<Waiting>>,
    /// The device gave up what it held of the flow that is sent again.
    pub(super) gave_up: bool,
    /// By flow: segments taken that may lie beyond a gap.
    pub(super) taken: BTreeMap<usize, Vec<Waiting>>,
    pub(super) pushed: usize,
    /// `RCV.NXT` of each flow when something moved last, and the fewest frames that have waited
    /// since: what is taken beyond a gap and given up again has not moved.
    pub(super) rcv_nxt: BTreeMap<usize, u32>,
    pub(super) fewest: usize,
    /// Octets of the shortest frame for which there were no pages in this round.
    pub(super) no_pages_for: usize,
    /// Flows that have ended while others held what they still need, with the frame at which they
    /// were last tried.
    pub(super) postponed: BTreeMap<usize, usize>,
    pub(super) faults: Vec<String>,
}

impl Resend {
    /// What never found room though it was in order.
    pub(super) fn faults(&mut self) -> Vec<String> {
        std::mem::take(&mut self.faults)
    }

    /// Was the end of `flow` put off, and is it too early before frame `frame` to try again?
    pub(super) fn is_postponed(&self, flow: usize, frame: usize) -> bool {
        let last = self.postponed.get(&flow);
        last.is_some_and(|last| frame - last < POSTPONE_FRAMES)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// Sequence number and octets of a segment with payload.
pub(super) fn segment_of(frame: &[u8]) -> Option<(u32, u16)> {
    let segment = Segment::of_frame(frame)?;
    let octets = segment.payload.len() as u16;
    (octets > 0).then_some((segment.sequence, octets))
}
