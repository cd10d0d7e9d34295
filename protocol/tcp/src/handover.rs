//! The switch: the receiver moves to hardware while the peer goes on sending (START-042). Its rules
//! as functions of numbers.
//!
//! ```text
//!                 S, the first octet of full operation
//!  -- start-up ---|--- FPDUs ---->
//!   software: kept,   not kept, not acknowledged: they come again, and hardware takes them
//!   acknowledged
//! ```
//!
//! 1. Software never acknowledges or keeps an octet from S on: [`limit`].
//! 2. Frames that software sees late change nothing: [`late`].
//! 3. The device is opened with the acknowledgement and the window that software has:
//!    [`Handover`].
//! 4. Segments that straddle S are cut there when they are sent again: [`cut`].
//! 5. Octets from S on that the device took before the Reply was sent end the connection:
//!    [`early`].
//! 6. The right edge never moves left, and acknowledgements of both ways join at their maximum:
//!    [`right_edge`], [`join_acks`].
use crate::error::HandoverError;
use crate::seq::SeqNumber;

/// With what hardware opens the connection's context.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Handover {
    /// RCV.NXT: S.
    pub rcv_nxt: SeqNumber,
    /// Octets of the receive window, no less than what was announced.
    pub window_octets: u32,
    /// The latest acceptable SEG.ACK.
    pub snd_una: SeqNumber,
    /// The window that came with it, as in the header.
    pub seg_wnd: u16,
    /// Shift of this end's windows.
    pub receive_shift: u8,
    /// Shift of the peer's windows.
    pub send_shift: u8,
}

/// Rule 1: the switch can be at `at` if nothing after it was `acknowledged`.
///
/// # Errors
/// If it was: nobody would send those octets again.
pub fn limit(at: SeqNumber, acknowledged: SeqNumber) -> Result<(), HandoverError> {
    if acknowledged.is_after(at) {
        return Err(HandoverError::Acknowledged { at, acknowledged });
    }
    Ok(())
}

/// What software does with the octets of a frame that reaches it after the switch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Late {
    /// All are below S and were received before: ignored.
    Known,
    /// Some are from S on: dropped and not acknowledged, so that they come again.
    Dropped,
}

/// Rule 2.
pub fn late(switch: SeqNumber, seq: SeqNumber, octets: u32) -> Late {
    if (seq + octets).is_after(switch) {
        Late::Dropped
    } else {
        Late::Known
    }
}

/// Rule 4: octets of a segment before S, and from S on.
pub fn cut(switch: SeqNumber, seq: SeqNumber, octets: u32) -> (u32, u32) {
    let front = switch.octets_since(seq).min(octets);
    (front, octets - front)
}

/// Rule 5: the device has octets from S on although the Reply has not left; they may have been
/// placed, and nobody is told of them. True: reset the connection.
pub fn early(switch: SeqNumber, device_rcv_nxt: SeqNumber, reply_was_sent: bool) -> bool {
    !reply_was_sent && device_rcv_nxt.is_after(switch)
}

/// Rule 6: the right edge of the receive window.
pub fn right_edge(before: SeqNumber, now: SeqNumber) -> SeqNumber {
    before.later(now)
}

/// Rule 6: SND.UNA after an acknowledgement by either way; one of what was never sent, or of less
/// than is known, changes nothing.
pub fn join_acks(snd_una: SeqNumber, snd_nxt: SeqNumber, ack: SeqNumber) -> SeqNumber {
    if ack.is_within(snd_una, snd_nxt) {
        ack
    } else {
        snd_una
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: SeqNumber = SeqNumber(3);

    /// START-042, rule 1, at S and one octet beyond.
    #[test]
    fn nothing_after_the_switch_may_be_acknowledged() {
        assert_eq!(limit(S, S - 100), Ok(()));
        assert_eq!(limit(S, S), Ok(()));
        let acknowledged = S + 1;
        let refused = Err(HandoverError::Acknowledged {
            at: S,
            acknowledged,
        });
        assert_eq!(limit(S, acknowledged), refused);
    }

    /// START-042, rules 2 and 4: segments that end at S, straddle it and begin there, over a wrap.
    #[test]
    fn segments_around_the_switch_are_known_or_come_again() {
        for (before, octets, expected, parts) in [
            (10, 10, Late::Known, (10, 0)),
            (10, 11, Late::Dropped, (10, 1)),
            (10, 9, Late::Known, (9, 0)),
            (0, 1, Late::Dropped, (0, 1)),
            (0, 0, Late::Known, (0, 0)),
        ] {
            assert_eq!(late(S, S - before, octets), expected);
            assert_eq!(cut(S, S - before, octets), parts);
        }
        assert_eq!(late(S, S + 5, 1), Late::Dropped);
        assert_eq!(cut(S, S + 5, 7), (0, 7));
    }

    /// START-041, START-042, rule 5.
    #[test]
    fn octets_that_came_before_the_reply_end_the_connection() {
        assert!(early(S, S + 1, false));
        assert!(!early(S, S, false) && !early(S, S + 1, true));
    }

    /// START-042, rule 6.
    #[test]
    fn edges_and_acknowledgements_only_grow() {
        assert_eq!(right_edge(S, S - 1), S);
        assert_eq!(right_edge(S, S + 1), S + 1);
        let (una, nxt) = (S - 10, S + 10);
        for (ack, joined) in [(una - 1, una), (una, una), (nxt, nxt), (nxt + 1, una)] {
            assert_eq!(join_acks(una, nxt, ack), joined);
        }
    }
}
