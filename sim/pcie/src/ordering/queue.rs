//! The packets of one direction, in the order in which they came, leaving in an order that the
//! table permits.
//!
//! ```text
//!   push -->  [ oldest | ... | newest ]  --> next(may this one be sent?)
//!                 a packet leaves if it may pass every one before it
//! ```
//!
//! The oldest packet goes first unless it may not be sent, or [`Choices`] let another pass. A
//! packet that must be able to pass a blocked one always does.

use std::borrow::Borrow;
use std::collections::VecDeque;

use super::table::{passing, Ordered, Passing};
use crate::choices::{Choice, Choices};
use crate::tlp::Tlp;

/// One direction's packets.
///
/// ```
/// use pcie_sim::ordering::OrderedQueue;
/// use pcie_sim::flow_control::FlowClass;
/// use pcie_sim::{Bdf, Tlp};
///
/// let device = Bdf::new(1, 0, 0);
/// let mut queue = OrderedQueue::new();
/// queue.push(Tlp::memory_read(device, 0, 0x1000, 64).unwrap());
/// queue.push(Tlp::memory_write(device, 0x2000, &[1]).unwrap());
/// // Non-posted requests are blocked: the write passes.
/// let admits = |tlp: &Tlp| FlowClass::of(&tlp.header) != FlowClass::NonPosted;
/// let sent = queue.next(admits).unwrap();
/// assert_eq!(FlowClass::of(&sent.header), FlowClass::Posted);
/// assert_eq!(queue.next(admits), None);
/// ```
#[derive(Clone, Debug)]
pub struct OrderedQueue<T = Tlp> {
    // The table's view of each packet, so that it is not taken from the header for each pair.
    packets: VecDeque<(Ordered, T)>,
}

impl<T> Default for OrderedQueue<T> {
    fn default() -> Self {
        Self {
            packets: VecDeque::new(),
        }
    }
}

impl<T: Borrow<Tlp>> OrderedQueue<T> {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the newest packet.
    pub fn push(&mut self, packet: T) {
        let ordered = Ordered::of(&packet.borrow().header);
        self.packets.push_back((ordered, packet));
    }

    /// Packets that have not left.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether all have left.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The packets that have not left, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.packets.iter().map(|(_, packet)| packet)
    }

    /// Takes every packet out, oldest first.
    pub fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.packets.drain(..).map(|(_, packet)| packet)
    }

    /// Takes the oldest packet that `admits` accepts and that may pass those before it.
    pub fn next(&mut self, mut admits: impl FnMut(&T) -> bool) -> Option<T> {
        let place = (0..self.packets.len())
            .find(|place| self.may_leave(*place) && admits(&self.packets[*place].1))?;
        self.packets.remove(place).map(|(_, packet)| packet)
    }

    /// As [`next`](Self::next), but in `percent` of 100 cases any packet that might leave.
    pub fn next_chosen(
        &mut self,
        mut admits: impl FnMut(&T) -> bool,
        choices: &mut dyn Choices,
        percent: u8,
    ) -> Option<T> {
        if self.is_empty() || !choices.percent(Choice::Pass, percent) {
            return self.next(admits);
        }
        let places: Vec<usize> = (0..self.packets.len())
            .filter(|place| self.may_leave(*place) && admits(&self.packets[*place].1))
            .collect();
        if places.is_empty() {
            return None;
        }
        let chosen = choices.below(Choice::Packet, places.len() as u64) as usize;
        let place = *places.get(chosen)?;
        self.packets.remove(place).map(|(_, packet)| packet)
    }

    fn may_leave(&self, place: usize) -> bool {
        let row = &self.packets[place].0;
        let before = self.packets.range(..place);
        before
            .rev()
            .all(|(column, _)| passing(row, column) != Passing::MustNot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::{Scripted, Seeded};
    use crate::flow_control::FlowClass;
    use crate::tlp::{Bdf, CompletionStatus, Kind};
    use proptest::prelude::*;

    const DEVICE: Bdf = Bdf::new(1, 0, 0);

    fn packet(kind: u8, number: u8, relaxed: bool) -> Tlp {
        let read = Tlp::memory_read(DEVICE, number % 4, 0x1000, 64).expect("short");
        let status = CompletionStatus::UnsupportedRequest;
        let mut tlp = match kind {
            0 => Tlp::memory_write(DEVICE, 0x1000, &[number]).expect("short"),
            1 => read,
            2 => Tlp::configuration_write(DEVICE, number, DEVICE, 4, &[1]).expect("one dword"),
            _ => Tlp::completion_without_data(&read.header, DEVICE, status).expect("answered"),
        };
        tlp.header.traffic.relaxed_ordering = relaxed;
        tlp
    }

    // Each packet with its place, to distinguish equal ones.
    fn filled(packets: &[(u8, bool)]) -> OrderedQueue<Numbered> {
        let mut queue = OrderedQueue::new();
        for (place, (kind, relaxed)) in packets.iter().enumerate() {
            queue.push(Numbered(place, packet(*kind, place as u8, *relaxed)));
        }
        queue
    }

    #[derive(Clone, PartialEq, Debug)]
    struct Numbered(usize, Tlp);

    impl Borrow<Tlp> for Numbered {
        fn borrow(&self) -> &Tlp {
            &self.1
        }
    }

    #[test]
    fn without_a_reason_packets_leave_as_they_came() {
        let mut queue = filled(&[(1, false), (0, false), (3, false), (2, true), (0, true)]);
        let left: Vec<usize> = std::iter::from_fn(|| queue.next(|_| true))
            .map(|packet| packet.0)
            .collect();
        assert_eq!(left, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_blocked_read_holds_up_neither_writes_nor_completions() {
        let mut queue = filled(&[(1, false), (0, false), (3, false), (1, false)]);
        let admits = |packet: &Numbered| FlowClass::of(&packet.1.header) != FlowClass::NonPosted;
        assert_eq!(queue.next(admits).map(|packet| packet.0), Some(1));
        assert_eq!(queue.next(admits).map(|packet| packet.0), Some(2));
        assert_eq!(queue.next(admits), None);
        assert_eq!(queue.len(), 2);
    }

    #[test]
    fn a_blocked_write_holds_up_all_that_must_not_pass_it() {
        let admits = |packet: &Numbered| FlowClass::of(&packet.1.header) != FlowClass::Posted;
        let mut queue = filled(&[(0, false), (1, false), (2, false), (3, false), (0, false)]);
        assert_eq!(queue.next(admits), None);
        // Relaxed ordering lets a completion go on, and not a read.
        let mut queue = filled(&[(0, false), (1, true), (3, true)]);
        assert_eq!(queue.next(admits).map(|packet| packet.0), Some(2));
        assert_eq!(queue.next(admits), None);
    }

    #[test]
    fn a_script_makes_a_packet_pass_only_where_it_may() {
        // The write may pass the read; the second completion may pass the first, of another tag.
        let mut queue = filled(&[(1, false), (0, false), (3, false)]);
        let mut choices = Scripted::new([(Choice::Pass, 0), (Choice::Packet, 99)]);
        let first = queue.next_chosen(|_| true, &mut choices, 50);
        assert_eq!(first.map(|packet| packet.0), Some(1), "2 must not pass 1");
    }

    proptest! {
        #[test]
        fn no_order_that_the_table_forbids_ever_leaves(
            packets in prop::collection::vec((0u8..4, any::<bool>()), 1..24),
            blocked in prop::collection::vec(prop::array::uniform3(any::<bool>()), 1..12),
            seed in any::<u64>(),
        ) {
            let mut queue = filled(&packets);
            let mut choices = Seeded::new(seed);
            let mut left: Vec<usize> = Vec::new();
            for tick in 0..400 {
                // The last hundred ticks block nothing, so that all leave.
                let blocked = if tick < 300 { blocked[tick % blocked.len()] } else { [false; 3] };
                let admits = |packet: &Numbered| {
                    !blocked[FlowClass::of(&packet.1.header) as usize]
                };
                let waiting: Vec<Numbered> = queue.iter().cloned().collect();
                let Some(packet) = queue.next_chosen(admits, &mut choices, 60) else {
                    // Deadlock freedom: what only has requests that are not posted before it
                    // cannot have been held up.
                    let only_requests = |packet: &&Numbered| {
                        FlowClass::of(&packet.1.header) == FlowClass::NonPosted
                    };
                    let first = waiting.iter().find(|packet| !only_requests(packet));
                    prop_assert!(first.is_none_or(|packet| !admits(packet)), "{waiting:?}");
                    continue;
                };
                prop_assert!(admits(&packet));
                left.push(packet.0);
            }
            prop_assert_eq!(left.len(), packets.len(), "each leaves once");
            for (at, later) in left.iter().enumerate() {
                for column in left[at + 1..].iter().filter(|earlier| *earlier < later) {
                    let [row, column] = [later, column].map(|place| {
                        let (kind, relaxed) = packets[*place];
                        Ordered::of(&packet(kind, *place as u8, relaxed).header)
                    });
                    prop_assert_ne!(passing(&row, &column), Passing::MustNot);
                }
            }
        }
    }

    #[test]
    fn passing_does_happen() {
        let mut passed = 0;
        for seed in 0..20 {
            let mut queue = filled(&[(1, false), (1, false), (0, false), (1, false)]);
            let mut choices = Seeded::new(seed);
            let first = queue.next_chosen(|_| true, &mut choices, 100).expect("one");
            let is_write = matches!(first.1.header.kind, Kind::MWr(_));
            assert!(is_write || first.0 < 2, "a read must not pass the write");
            passed += usize::from(first.0 > 0);
        }
        assert!(passed > 5, "{passed} of 20");
    }
}
