//! What leaves next: lost segments before records that wait, then the FIN, each within both
//! windows.
use super::types::{Emission, Fin, Limit};
use super::Sender;
use crate::segment::Piece;
use crate::seq::SeqNumber;

/// Octets in sequence space that are in use at most, so that numbers keep their order.
const FLIGHT_OCTETS_MAX: u32 = 1 << 30;

impl Sender {
    /// What is to be sent next. `None` until something arrives or a deadline passes.
    pub fn next(&mut self, now_us: u64) -> Option<Emission> {
        if self.blocked {
            self.limit = Limit::Application;
            return None;
        }
        let emission = match self.scoreboard.first_lost() {
            Some(index) => self.again(index, now_us),
            None => self.fresh(now_us),
        };
        let emission = emission.or_else(|| self.probe(now_us));
        if emission.is_some() {
            self.last_sent_us = now_us;
        }
        emission
    }

    /// Send a lost segment again.
    fn again(&mut self, index: usize, now_us: u64) -> Option<Emission> {
        let entry = *self.scoreboard.entry(index)?;
        if entry.piece.is_some() {
            let room = self.room_in_window(entry.seq);
            let mut octets = entry.octets().min(self.emss_octets.into());
            if octets > room {
                octets = self.cut_to_window(room)?;
            }
            if !self.force && !self.fits_congestion(octets) {
                self.limit = Limit::Congestion;
                return None;
            }
            if octets < entry.octets() {
                // Twice the segments that may be in flight: the bound of the head of this file.
                if self.scoreboard.len() >= 2 * self.records_max {
                    self.limit = Limit::Application;
                    return None;
                }
                self.scoreboard.split(index, octets);
                self.counts.splits += 1;
            }
        }
        self.force = false;
        self.scoreboard.resend(index, now_us);
        if index == 0 {
            // Its acknowledgement takes a round trip, of which the timer has used a part.
            self.timer_us = None;
        }
        if let Some(undo) = &mut self.undo {
            undo.sent_again += 1;
        }
        self.start_timer(now_us);
        let entry = *self.scoreboard.entry(index)?;
        self.counts.retransmitted_segments += 1;
        self.counts.retransmitted_octets += u64::from(entry.octets());
        Some(match entry.piece {
            Some(piece) => Emission::Data {
                seq: entry.seq,
                piece,
                push: entry.is_last,
            },
            None => Emission::Fin { seq: entry.seq },
        })
    }

    /// Send the next octets for the first time, or the FIN after them.
    fn fresh(&mut self, now_us: u64) -> Option<Emission> {
        let Some(front) = self.pending.front().copied() else {
            self.limit = Limit::Application;
            return self.first_fin(now_us);
        };
        if self.scoreboard.len() >= self.records_max {
            self.limit = Limit::Application;
            return None;
        }
        if self.scoreboard.is_empty() && now_us.saturating_sub(self.last_sent_us) > self.rto_us() {
            self.congestion.restart();
        }
        let rest = front.record.octets - front.sent_octets;
        let mut octets = rest.min(self.emss_octets.into());
        let room = self.room_in_window(self.nxt);
        if octets > room {
            octets = self.cut_to_window(room)?;
        }
        if !self.fits_congestion(octets) {
            self.limit = Limit::Congestion;
            return None;
        }
        let piece = Piece {
            id: front.record.id,
            offset_octets: front.sent_octets,
            octets,
        };
        let push = octets == rest;
        if push {
            self.pending.pop_front();
        } else if let Some(front) = self.pending.front_mut() {
            front.sent_octets += octets;
            self.counts.splits += 1;
        }
        let seq = self.nxt;
        self.launch(Some(piece), push, now_us);
        self.counts.segments += 1;
        self.counts.octets += u64::from(octets);
        Some(Emission::Data { seq, piece, push })
    }

    fn first_fin(&mut self, now_us: u64) -> Option<Emission> {
        if self.fin != Fin::Wanted {
            return None;
        }
        let seq = self.nxt;
        self.fin = Fin::Sent(seq);
        self.launch(None, false, now_us);
        Some(Emission::Fin { seq })
    }

    fn launch(&mut self, piece: Option<Piece>, is_last: bool, now_us: u64) {
        if self.scoreboard.is_empty() {
            self.progress_us = now_us;
        }
        self.scoreboard.push(self.nxt, piece, is_last, now_us);
        self.nxt += piece.map_or(1, |piece| piece.octets);
        self.start_timer(now_us);
    }

    /// RFC 6298 (5.1): the timer runs while something is in flight.
    pub(super) fn start_timer(&mut self, now_us: u64) {
        self.persist_us = None;
        if self.timer_us.is_none() {
            self.timer_us = Some(now_us.saturating_add(self.rto_us()));
        }
    }

    fn rto_us(&self) -> u64 {
        self.rto.rto_us()
    }

    /// Octets from `seq` on that the peer's window has room for.
    fn room_in_window(&self, seq: SeqNumber) -> u32 {
        let edge = self.una + self.window.octets.min(FLIGHT_OCTETS_MAX);
        edge.octets_since(seq)
    }

    /// RFC 6675 (C), or RFC 5681 with the window as NewReno has widened it. One segment is always
    /// possible.
    fn fits_congestion(&self, octets: u32) -> bool {
        let flying = self.scoreboard.flying_octets();
        flying == 0 || flying + u64::from(octets) <= self.usable_octets()
    }

    pub(super) fn usable_octets(&self) -> u64 {
        self.congestion.window_octets() + self.inflation_octets
    }

    /// The next segment does not fit `room`. It waits, so that its record stays whole, unless that
    /// has not helped for a time-out (RFC 9293 section 3.8.6.2.1): then it is cut.
    fn cut_to_window(&mut self, room: u32) -> Option<u32> {
        self.limit = Limit::Window;
        if room == 0 || !self.probe_due {
            return None;
        }
        self.probe_due = false;
        Some(room)
    }
}
