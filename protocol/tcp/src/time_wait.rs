//! TIME-WAIT (RFC 9293 section 3.6.1): the peer may not know that its FIN has arrived.
use crate::segment::{Head, Segment};
use crate::seq::SeqNumber;

/// What a segment calls for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// An ACK.
    Ack,
    /// Nothing.
    Nothing,
}

/// What is left of a connection that this end closed first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimeWait {
    snd_nxt: SeqNumber,
    rcv_nxt: SeqNumber,
    deadline_us: u64,
}

impl TimeWait {
    /// Both FINs counted in the numbers.
    pub fn new(snd_nxt: SeqNumber, rcv_nxt: SeqNumber, now_us: u64, time_wait_us: u64) -> Self {
        Self {
            snd_nxt,
            rcv_nxt,
            deadline_us: now_us.saturating_add(time_wait_us),
        }
    }

    /// When the connection ends.
    pub fn deadline_us(&self) -> u64 {
        self.deadline_us
    }

    /// Take a segment. The peer's FIN, when it comes again, starts the time again. RST is ignored,
    /// so that an old one cannot end the wait (RFC 1337).
    pub fn on_segment(&mut self, segment: &Segment, now_us: u64, time_wait_us: u64) -> Answer {
        let Head { flags, seq, .. } = segment.head;
        if flags.rst {
            return Answer::Nothing;
        }
        let fin = seq + segment.payload.len() as u32 + 1;
        if flags.fin && !flags.syn && fin == self.rcv_nxt {
            self.deadline_us = now_us.saturating_add(time_wait_us);
            return Answer::Ack;
        }
        // Pure ACKs that repeat what is known need no answer, or two ends could answer for ever.
        let is_known = segment.sequence_octets() == 0 && seq == self.rcv_nxt;
        if is_known {
            Answer::Nothing
        } else {
            Answer::Ack
        }
    }

    /// Whether `syn` may open a connection of the same ends: its sequence number is beyond those of
    /// this one (RFC 9293 section 3.6.1, MAY-2). The new one has to begin beyond what this end
    /// sent.
    pub fn successor(&self, syn: &Head) -> Option<SeqNumber> {
        let is_syn = syn.flags.syn && !syn.flags.ack && !syn.flags.rst;
        (is_syn && syn.seq.is_after(self.rcv_nxt)).then(|| self.snd_nxt + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Flags;

    fn segment(seq: u32, flags: Flags, payload: &[u8]) -> Segment<'_> {
        let head = Head {
            seq: SeqNumber(seq),
            flags,
            ..Head::default()
        };
        Segment { head, payload }
    }

    const ACK: Flags = Flags {
        ack: true,
        syn: false,
        fin: false,
        rst: false,
        psh: false,
    };

    fn waiting() -> TimeWait {
        TimeWait::new(SeqNumber(500), SeqNumber(1_000), 0, 60)
    }

    /// TCP-009: RFC 9293 section 3.10.7.4, eighth: the FIN again restarts the time; nothing else
    /// does.
    #[test]
    fn only_the_fin_again_starts_the_time_again() {
        let fin = Flags { fin: true, ..ACK };
        let mut time_wait = waiting();
        let answer = time_wait.on_segment(&segment(999, fin, &[]), 7, 60);
        assert_eq!((answer, time_wait.deadline_us()), (Answer::Ack, 67));
        for (other, answer) in [
            (segment(1_000, fin, &[]), Answer::Ack),
            (segment(998, ACK, &[1]), Answer::Ack),
            (segment(1_000, ACK, &[]), Answer::Nothing),
            (segment(999, ACK, &[]), Answer::Ack),
            (
                segment(1_000, Flags { rst: true, ..ACK }, &[]),
                Answer::Nothing,
            ),
        ] {
            assert_eq!(time_wait.on_segment(&other, 50, 60), answer, "{other:?}");
            assert_eq!(time_wait.deadline_us(), 67);
        }
        let data_and_fin = segment(996, fin, &[1, 2, 3]);
        assert_eq!(time_wait.on_segment(&data_and_fin, 50, 60), Answer::Ack);
        assert_eq!(time_wait.deadline_us(), 110);
    }

    /// TCP-010: RFC 9293, MAY-2: a SYN one beyond the last number, and at it.
    #[test]
    fn a_syn_beyond_the_last_number_may_open_a_new_connection() {
        let syn = Flags {
            syn: true,
            ack: false,
            ..ACK
        };
        let successor = |seq, flags| waiting().successor(&segment(seq, flags, &[]).head);
        assert_eq!(successor(1_001, syn), Some(SeqNumber(501)));
        assert_eq!(successor(1_000, syn), None);
        assert_eq!(successor(1_001, Flags { ack: true, ..syn }), None);
        assert_eq!(successor(1_001, Flags { rst: true, ..syn }), None);
        assert_eq!(successor(1_001, ACK), None);
    }
}
