//! Early runs: what a connection received beyond a gap, by the numbers that TCP gives the runs.
//!
//! ```text
//! arrived.left, arrived.right --> [ runs ] --> left_run, right_run
//!                                    ^                 |
//!                                    +---- sums <------+-- frame
//! ```
//!
//! | enters     | an accepted message that opens, lengthens, joins or ends a run; its frame   |
//! | leaves     | the runs it touches; the run it leaves is written                           |
//! | latency    | `fetch` to `load_right`: 2 cycles, to `load_left`: 3; what was loaded counts |
//! |            | from the next cycle on, `joined_octets` one later                           |
//! | throughput | one message at a time                                                       |
//! | units      | octets; slots as in [`QueuedFrame`]                                         |
//!
//! Frames of a run are linked as those of a stream are, so that a run joins another one, or the
//! stream, by one link, however many frames it holds.
use super::context::{EarlyRun, QueuedFrame};
use crate::common::ram::SdpRam;
use crate::messages::Accepted;
use rust_hdl::prelude::*;

/// First and last frame of every early run.
#[derive(LogicBlock, Default)]
pub struct EarlyRuns {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// The message; it holds from `fetch` to `write`.
    pub arrived: Signal<In, Accepted>,
    /// Its octets as a queued frame.
    pub frame: Signal<In, QueuedFrame>,
    /// Run `right` is to be read, and in the next cycle run `left`.
    pub fetch: Signal<In, Bit>,
    /// `right` is at the RAM's output.
    pub load_right: Signal<In, Bit>,
    /// `left` is at the RAM's output.
    pub load_left: Signal<In, Bit>,
    /// The run that the octets belong to from now on is written.
    pub write: Signal<In, Bit>,
    /// The run that follows the octets; counts from the cycle after `load_right` on.
    pub right_run: Signal<Out, EarlyRun>,
    /// The run that the octets follow; counts from the cycle after `load_left` on.
    pub left_run: Signal<Out, EarlyRun>,
    /// Octets of the message and of `right_run`; counts from two cycles after `load_right` on.
    pub joined_octets: Signal<Out, Bits<18>>,
    runs: SdpRam<EarlyRun, 8>,
    right_kept: DFF<EarlyRun>,
    left_kept: DFF<EarlyRun>,
    joined: DFF<Bits<18>>,
    written: Signal<Local, EarlyRun>,
    arrived_octets: Signal<Local, Bits<18>>,
    behind: Signal<Local, Bits<18>>,
}

impl Logic for EarlyRuns {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, right_kept, left_kept, joined);
        self.runs.clock.next = self.clock.val();
        self.right_run.next = self.right_kept.q.val();
        self.left_run.next = self.left_kept.q.val();
        self.joined_octets.next = self.joined.q.val();

        self.runs.read_address.next = self.arrived.val().left;
        if self.fetch.val() {
            self.runs.read_address.next = self.arrived.val().right;
        }
        if self.load_right.val() {
            self.right_kept.d.next = self.runs.read_data.val();
        }
        if self.load_left.val() {
            self.left_kept.d.next = self.runs.read_data.val();
        }
        self.arrived_octets.next = bit_cast::<18, 14>(self.arrived.val().octets);
        self.behind.next = self.arrived_octets.val();
        if self.arrived.val().has_right {
            self.behind.next = self.arrived_octets.val() + self.right_kept.q.val().octets;
        }
        self.joined.d.next = self.behind.val();

        // First the left run's frames, then this one, then the right run's.
        self.written.next.head = self.frame.val();
        self.written.next.last_slot = self.frame.val().slot;
        self.written.next.octets = self.joined.q.val();
        if self.arrived.val().has_left {
            self.written.next.head = self.left_kept.q.val().head;
            self.written.next.octets = self.left_kept.q.val().octets + self.joined.q.val();
        }
        if self.arrived.val().has_right {
            self.written.next.last_slot = self.right_kept.q.val().last_slot;
        }
        // A run that is only lengthened at its front keeps its number.
        self.runs.write_address.next = self.arrived.val().left;
        if self.arrived.val().has_right & !self.arrived.val().has_left {
            self.runs.write_address.next = self.arrived.val().right;
        }
        self.runs.write_data.next = self.written.val();
        self.runs.write_enable.next = self.write.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{lockstep, Random};

    fn random_message(random: &mut Random) -> Accepted {
        Accepted {
            octets: (1 + random.below(9000)).into(),
            has_left: random.chance(1, 2),
            left: random.below(6).into(),
            has_right: random.chance(1, 2),
            right: (6 + random.below(6)).into(),
            ..Accepted::default()
        }
    }

    /// What the run of these octets is afterwards, and its number.
    fn joined(runs: &[EarlyRun], message: &Accepted, frame: QueuedFrame) -> (usize, EarlyRun) {
        let (left, right) = (message.left.index(), message.right.index());
        let mut parts = vec![EarlyRun {
            head: frame,
            last_slot: frame.slot,
            octets: message.octets.to_u64().into(),
        }];
        if message.has_left {
            parts.insert(0, runs[left]);
        }
        if message.has_right {
            parts.push(runs[right]);
        }
        let number = match (message.has_left, message.has_right) {
            (false, true) => right,
            _ => left,
        };
        let octets: u64 = parts.iter().map(|part| part.octets.to_u64()).sum();
        let run = EarlyRun {
            head: parts[0].head,
            last_slot: parts[parts.len() - 1].last_slot,
            octets: (octets & 0x3_ffff).into(),
        };
        (number, run)
    }

    #[test]
    fn lockstep_with_verilog_and_runs_join_end_to_end() {
        let mut runs = vec![EarlyRun::default(); 12];
        let mut cycle = 0;
        lockstep(
            "early_runs",
            EarlyRuns::default(),
            7000,
            |uut| &mut uut.clock,
            |uut, random| {
                let step = cycle % 7;
                if step == 0 {
                    uut.arrived.next = random_message(random);
                    uut.frame.next.head_page = random.wide();
                    uut.frame.next.octets = uut.arrived.next.octets;
                    uut.frame.next.slot = random.wide();
                }
                uut.fetch.next = step == 0;
                uut.load_right.next = step == 2;
                uut.load_left.next = step == 3;
                uut.write.next = step == 5;
                let message = uut.arrived.next;
                if step == 4 {
                    let (left, right) = (message.left.index(), message.right.index());
                    assert_eq!(uut.right_run.val(), runs[right], "{random}");
                    assert_eq!(uut.left_run.val(), runs[left], "{random}");
                    let behind = runs[right].octets.to_u64() * u64::from(message.has_right);
                    let octets = (message.octets.to_u64() + behind) & 0x3_ffff;
                    assert_eq!(uut.joined_octets.val(), octets, "{random}");
                }
                if step == 5 {
                    let (number, run) = joined(&runs, &message, uut.frame.next);
                    runs[number] = run;
                }
                cycle += 1;
            },
        );
    }
}
