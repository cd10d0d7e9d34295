//! The small receiver: octets that arrive before hardware has the connection (streaming mode).
//!
//! ```text
//!      read            RCV.NXT       a range                    edge: read + capacity
//!       | to be read     |   gap   |#########|                    |
//!  -----+----------------+---------+---------+----------+---------+----> sequence numbers
//!                                                     limit: the switch, once it is known
//! ```
//!
//! It keeps octets in order and up to [`ranges_max`] ranges beyond gaps,
//! of overlapping segments the octets that came first. With a *limit* it neither keeps nor
//! acknowledges what lies beyond it, and it forgets what it had kept there, which is possible as
//! long as that was not acknowledged. Memory: [`Settings::receive_octets`], taken when the first
//! octet arrives and given back once the receiver is in hardware.
//!
//! [`Settings::receive_octets`]: crate::Settings::receive_octets
use crate::error::HandoverError;
use crate::handover;
use crate::ranges::{ranges_max, Ranges};
use crate::seq::SeqNumber;

/// What became of the octets of a segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// They are in order; `filled_gap` if ranges were waiting.
    InOrder {
        /// RFC 5681 section 4.2: to be acknowledged at once.
        filled_gap: bool,
    },
    /// They lie beyond a gap, and are kept.
    OutOfOrder,
    /// None was kept: duplicates, outside of the window or beyond the limit, or no range is free.
    Nothing,
}

/// The receiver.
#[derive(Clone, Debug, Hash)]
pub struct Receiver {
    next: SeqNumber,
    read: SeqNumber,
    buffer: Vec<u8>,
    /// Where the octet of `read` is in the buffer.
    start: usize,
    capacity: u32,
    shift: u8,
    ranges: Ranges,
    /// Number after the last octet that the peer was allowed to send.
    edge: SeqNumber,
    /// RCV.NXT as it was last sent; the FIN not counted.
    acknowledged: SeqNumber,
    limit: Option<SeqNumber>,
    /// Number of the peer's FIN.
    fin: Option<SeqNumber>,
    /// Octets of the window once hardware has the receiver.
    device_window: Option<u32>,
}

impl Receiver {
    /// For a stream whose first octet has the number `first`.
    pub fn new(first: SeqNumber, capacity: u32, shift: u8) -> Self {
        Self {
            next: first,
            read: first,
            buffer: Vec::new(),
            start: 0,
            capacity,
            shift,
            ranges: Ranges::new(ranges_max(capacity)),
            edge: first,
            acknowledged: first,
            limit: None,
            fin: None,
            device_window: None,
        }
    }

    /// Octets on the heap at most.
    pub(crate) const fn heap_octets_max(capacity: u32) -> usize {
        let range = size_of::<(SeqNumber, SeqNumber)>();
        capacity as usize + 2 * ranges_max(capacity) * range
    }

    /// RCV.NXT of octets alone.
    pub fn next(&self) -> SeqNumber {
        self.next
    }

    /// The number to acknowledge: RCV.NXT, the peer's FIN counted.
    pub fn ack(&self) -> SeqNumber {
        self.next + u32::from(self.is_ended())
    }

    /// All octets before the peer's FIN are here.
    pub fn is_ended(&self) -> bool {
        self.fin == Some(self.next)
    }

    /// The number of the peer's FIN, as far as it is known.
    pub fn fin(&self) -> Option<SeqNumber> {
        self.fin
    }

    /// Ranges beyond a gap.
    pub fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// Hardware has the receiver.
    pub fn is_handed_over(&self) -> bool {
        self.device_window.is_some()
    }

    /// RFC 9293 section 3.4, table 6: a segment of `octets` octets of sequence space at `seq`
    /// overlaps the window. With a window of 0 only its left edge does.
    pub fn is_acceptable(&self, seq: SeqNumber, octets: u32) -> bool {
        let (first, window) = (self.ack(), self.window_octets());
        let in_window = |number: SeqNumber| number.0.wrapping_sub(first.0) < window;
        match (octets, window) {
            (0, 0) => seq == first,
            (0, _) => in_window(seq),
            (_, 0) => false,
            (_, _) => in_window(seq) || in_window(seq + (octets - 1)),
        }
    }

    /// RCV.WND.
    pub fn window_octets(&self) -> u32 {
        self.edge.octets_since(self.ack())
    }

    /// Take the payload of a segment.
    pub fn on_octets(&mut self, seq: SeqNumber, payload: &[u8]) -> Arrival {
        if self.is_handed_over() {
            return Arrival::Nothing;
        }
        let end = self
            .limit
            .map_or(self.edge, |limit| limit.earlier(self.edge));
        let end = self.fin.map_or(end, |fin| fin.earlier(end));
        let whole = (seq, seq + payload.len() as u32);
        let (left, right) = (whole.0.later(self.next), whole.1.earlier(end));
        if !left.is_before(right) {
            return Arrival::Nothing;
        }
        if left != self.next && !self.ranges.has_room(left, right) {
            return Arrival::Nothing;
        }
        let skipped = left.octets_since(seq) as usize;
        let Some(octets) = payload.get(skipped..skipped + right.octets_since(left) as usize) else {
            return Arrival::Nothing;
        };
        self.store(left, octets);
        if left != self.next {
            let before = self.ranges.as_slice().last().copied();
            self.ranges.insert(left, right);
            let is_news = before != self.ranges.as_slice().last().copied();
            return if is_news {
                Arrival::OutOfOrder
            } else {
                Arrival::Nothing
            };
        }
        let filled_gap = !self.ranges.is_empty();
        self.next = self.ranges.advance(right);
        Arrival::InOrder { filled_gap }
    }

    /// Write octets where no range has any.
    fn store(&mut self, left: SeqNumber, octets: &[u8]) {
        if self.buffer.is_empty() {
            self.buffer = vec![0; self.capacity as usize];
        }
        let (mut at, end) = (left, left + octets.len() as u32);
        while at.is_before(end) {
            let mut ranges = self.ranges.as_slice().iter();
            if let Some(range) = ranges.find(|range| at.is_within(range.0, range.1 - 1)) {
                at = range.1;
                continue;
            }
            let after = self
                .ranges
                .as_slice()
                .iter()
                .filter(|range| range.0.is_after(at));
            let stop = after.fold(end, |stop, range| stop.earlier(range.0));
            let (skip, count) = (
                at.octets_since(left) as usize,
                stop.octets_since(at) as usize,
            );
            self.write(at, &octets[skip..skip + count]);
            at = stop;
        }
    }

    fn write(&mut self, at: SeqNumber, octets: &[u8]) {
        let begin = (self.start + at.octets_since(self.read) as usize) % self.buffer.len();
        let first = octets.len().min(self.buffer.len() - begin);
        self.buffer[begin..begin + first].copy_from_slice(&octets[..first]);
        self.buffer[..octets.len() - first].copy_from_slice(&octets[first..]);
    }

    /// The peer's FIN has this number. Only the first one counts; whether another agrees with it is
    /// for the caller to see.
    pub fn on_fin(&mut self, fin: SeqNumber) {
        if self.fin.is_none() {
            self.fin = Some(fin);
        }
    }

    /// Octets that can be read.
    pub fn readable_octets(&self) -> usize {
        if self.is_handed_over() {
            return 0;
        }
        self.next.octets_since(self.read) as usize
    }

    /// Read octets into `into`, and return how many.
    pub fn read(&mut self, into: &mut [u8]) -> usize {
        let count = into.len().min(self.readable_octets());
        if count == 0 {
            return 0;
        }
        let first = count.min(self.buffer.len() - self.start);
        into[..first].copy_from_slice(&self.buffer[self.start..self.start + first]);
        into[first..count].copy_from_slice(&self.buffer[..count - first]);
        self.start = (self.start + count) % self.buffer.len();
        self.read += count as u32;
        count
    }

    /// The window has grown so far since it was last announced that the peer should know (RFC 9293
    /// section 3.8.6.2.2): by half of the buffer or by a segment.
    pub fn has_opened(&self, emss_octets: u16) -> bool {
        let grown = (self.read + self.capacity).octets_since(self.edge);
        let enough = (self.capacity / 2).min(emss_octets.into()).max(1);
        !self.is_handed_over() && grown >= enough
    }

    /// The window for a header that acknowledges [`Self::ack`]. Its right edge does not move left,
    /// but by less than one unit of the shift where the buffer ends there (RFC 7323 section 2.4).
    /// `shift` is 0 in a SYN.
    pub fn announce(&mut self, shift: u8) -> u16 {
        let end = match self.device_window {
            Some(window) => self.next + window,
            None => self.read + self.capacity,
        };
        let (ack, unit) = (self.ack(), 1u32 << shift);
        let room = end.octets_since(ack);
        let promised = self.edge.octets_since(ack);
        let mut units = room / unit;
        if units * unit < promised && promised.div_ceil(unit) * unit <= room {
            units = promised.div_ceil(unit);
        }
        let window = units.min(u16::MAX.into()) as u16;
        let edge = ack + (u32::from(window) << shift);
        self.edge = handover::right_edge(self.edge, edge);
        self.acknowledged = self.next;
        window
    }

    /// Shift of the windows in headers.
    pub fn shift(&self) -> u8 {
        self.shift
    }

    /// The peer does not scale windows, so neither does this end.
    pub fn without_shift(&mut self) {
        self.shift = 0;
    }

    /// The stream ends `ahead_octets` after what has been read: MPA begins there.
    ///
    /// # Errors
    /// Octets after it have been acknowledged.
    pub fn limit(&mut self, ahead_octets: u32) -> Result<(), HandoverError> {
        let at = self.read + ahead_octets;
        handover::limit(at, self.acknowledged)?;
        self.limit = Some(at);
        self.next = self.next.earlier(at);
        self.ranges.clip(at);
        // A FIN after octets that are not kept will come again.
        self.fin = self.fin.filter(|fin| !fin.is_after(at));
        Ok(())
    }

    /// The stream goes on, after a reject.
    pub fn remove_limit(&mut self) {
        self.limit = None;
    }

    /// Give the receiver to hardware with a window of `window_octets`, and return RCV.NXT.
    ///
    /// # Errors
    /// Without a limit, before it is reached, or twice.
    pub fn hand_over(&mut self, window_octets: u32) -> Result<SeqNumber, HandoverError> {
        if self.is_handed_over() {
            return Err(HandoverError::Twice);
        }
        let switch = self.limit.ok_or(HandoverError::NoLimit)?;
        if self.read != switch {
            return Err(HandoverError::NotThere {
                at: self.read,
                switch,
            });
        }
        // Rule 3 of the switch: no smaller than what was announced.
        self.device_window = Some(window_octets.max(self.edge.octets_since(switch)));
        self.buffer = Vec::new();
        Ok(switch)
    }

    /// The window of the device, once it has the receiver.
    pub fn device_window(&self) -> Option<u32> {
        self.device_window
    }

    /// The device has received octets up to `next`.
    pub fn on_device(&mut self, next: SeqNumber, range: Option<(SeqNumber, SeqNumber)>) -> bool {
        let is_news = next.is_after(self.next);
        self.next = self.next.later(next);
        self.ranges.advance(self.next);
        if let Some((left, right)) = range.filter(|range| range.0.is_after(self.next)) {
            self.ranges.insert(left, right);
        }
        is_news
    }
}

#[cfg(test)]
mod tests;
