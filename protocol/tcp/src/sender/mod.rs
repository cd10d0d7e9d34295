//! The sending half of a connection: records, windows, loss recovery, the end of the stream.
//!
//! ```text
//!  push -> pending -> scoreboard -> acknowledged -> Acked
//!            |   ^        |  ^
//!            |   |        |  `-- ACK, SACK: [`acks`]     lost segments leave before pending ones
//!            v   |        v
//!          the next segment, within min(congestion window, peer's window); timers: [`timers`]
//! ```
//!
//! A record leaves in one segment and, if it has to be sent again, with the same bounds. It is split
//! only where nothing else helps, and then for good: if it is larger than the maximum segment size,
//! or if the peer's window has stayed smaller than it for a time-out (MPA-030).
//!
//! Memory: [`Settings::records_max`] records of 24 octets pending or to be reported, and as many
//! segments of 56 octets in flight; twice as many while segments are split.
pub mod acks;
pub mod timers;

use crate::congestion::{Algorithm, Congestion};
use crate::error::PushError;
use crate::rto::RtoEstimator;
use crate::scoreboard::Scoreboard;
use crate::segment::Piece;
use crate::seq::SeqNumber;
use crate::settings::{Settings, TimeOut, EMSS_OCTETS_MIN};
use std::collections::VecDeque;

/// Octets of a record, at most: an FPDU of the largest ULPDU, rounded down to what 16 bits count.
pub const RECORD_OCTETS_MAX: u32 = 65_535;

/// Octets in sequence space that are in use at most, so that numbers keep their order.
const FLIGHT_OCTETS_MAX: u32 = 1 << 30;

/// A record to be sent. The caller keeps its octets, unchanged, until it is acknowledged.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// How the caller calls it; comes back in pieces and with the acknowledgement.
    pub id: u64,
    /// How many octets it has, 1 to 65,535.
    pub octets: u32,
}

/// What the sender wants to send.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Emission {
    /// Octets of a record; `push` with the last of them.
    Data {
        /// Sequence number.
        seq: SeqNumber,
        /// Which.
        piece: Piece,
        /// They end the record.
        push: bool,
    },
    /// The FIN.
    Fin {
        /// Its sequence number.
        seq: SeqNumber,
    },
    /// A segment without payload that the peer has to answer, at SND.UNA - 1.
    Probe {
        /// Its sequence number.
        seq: SeqNumber,
    },
}

#[derive(Copy, Clone, Debug)]
struct Pending {
    record: Record,
    sent_octets: u32,
}

/// The peer's window (RFC 9293 section 3.10.7.4).
#[derive(Copy, Clone, Debug)]
struct Window {
    octets: u32,
    shift: u8,
    /// SND.WL1 and SND.WL2: the segment that the window is from.
    seq: SeqNumber,
    ack: SeqNumber,
    /// As in the header.
    unscaled: u16,
    /// The largest there was (MAX.SND.WND of RFC 5961 section 5).
    max_octets: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Recovery {
    /// No loss is known.
    None,
    /// Fast recovery, until `point` is acknowledged.
    Fast { point: SeqNumber },
    /// After a time-out, until `point` is acknowledged.
    TimeOut { point: SeqNumber },
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Fin {
    No,
    Wanted,
    Sent(SeqNumber),
}

/// Why the last call of [`Sender::next`] gave nothing.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Limit {
    Application,
    Congestion,
    Window,
}

/// Counters of the sender.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct SenderCounts {
    /// Segments with payload that were sent for the first time.
    pub segments: u64,
    /// Octets that were sent for the first time.
    pub octets: u64,
    /// Segments that were sent again.
    pub retransmitted_segments: u64,
    /// Octets that were sent again.
    pub retransmitted_octets: u64,
    /// Duplicate ACKs that arrived.
    pub duplicate_acks: u64,
    /// Fast recoveries.
    pub fast_recoveries: u64,
    /// Retransmissions that were found lost without the timer.
    pub lost_retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub time_outs: u64,
    /// Probes of a window that was closed.
    pub window_probes: u64,
    /// Pieces that records were split into beyond the first.
    pub splits: u64,
}

/// The sending half.
#[derive(Clone, Debug)]
pub struct Sender {
    una: SeqNumber,
    nxt: SeqNumber,
    window: Window,
    emss_octets: u16,
    records_max: usize,
    pending: VecDeque<Pending>,
    acknowledged: VecDeque<u64>,
    scoreboard: Scoreboard,
    rto: RtoEstimator,
    congestion: Congestion,
    recovery: Recovery,
    /// SND.NXT at the last loss: what RFC 6582 calls recover, plus one.
    recover: SeqNumber,
    sack: bool,
    duplicate_acks: u32,
    /// NewReno: octets by which duplicate ACKs have widened the window.
    inflation_octets: u64,
    /// The next retransmission may leave whatever the window.
    force: bool,
    limit: Limit,
    fin: Fin,
    timer_us: Option<u64>,
    persist_us: Option<u64>,
    probe_due: bool,
    /// Time-outs without progress in between.
    attempts: u32,
    /// When the peer last showed progress, or octets were first in flight.
    progress_us: u64,
    last_sent_us: u64,
    give_up_us: u64,
    attempts_max: u32,
    /// The transmit ring is full.
    blocked: bool,
    counts: SenderCounts,
}

/// What the handshake agreed on, for the sender.
#[derive(Copy, Clone, Debug)]
pub struct Agreed {
    /// Number of the first octet: ISS + 1.
    pub first: SeqNumber,
    /// SEG.SEQ, SEG.ACK and SEG.WND of the segment that completed the handshake.
    pub seq: SeqNumber,
    /// Its window in octets.
    pub window_octets: u32,
    /// Its window as it was in the header.
    pub window_unscaled: u16,
    /// Shift of the peer's later windows.
    pub shift: u8,
    /// Largest segment, in octets.
    pub emss_octets: u16,
    /// Both ends read SACK.
    pub sack: bool,
    /// Round-trip time of the SYN, if it was sent once.
    pub rtt_us: Option<u64>,
    /// The SYN had to be sent again.
    pub syn_was_lost: bool,
}

impl Sender {
    /// For a connection that has just been established.
    pub fn new(settings: &Settings, agreed: &Agreed, now_us: u64) -> Self {
        let emss_octets = agreed.emss_octets.max(EMSS_OCTETS_MIN);
        let mut rto = RtoEstimator::new(&settings.time_outs);
        if agreed.syn_was_lost {
            rto.syn_was_lost();
        }
        if let Some(rtt_us) = agreed.rtt_us {
            rto.sample(rtt_us);
        }
        let algorithm: Algorithm = settings.algorithm;
        Self {
            una: agreed.first,
            nxt: agreed.first,
            window: Window {
                octets: agreed.window_octets,
                shift: agreed.shift,
                seq: agreed.seq,
                ack: agreed.first,
                unscaled: agreed.window_unscaled,
                max_octets: agreed.window_octets,
            },
            emss_octets,
            records_max: settings.records_max as usize,
            pending: VecDeque::new(),
            acknowledged: VecDeque::new(),
            scoreboard: Scoreboard::new(agreed.first),
            rto,
            congestion: Congestion::new(algorithm, emss_octets, agreed.syn_was_lost),
            recovery: Recovery::None,
            recover: agreed.first - 1,
            sack: agreed.sack,
            duplicate_acks: 0,
            inflation_octets: 0,
            force: false,
            limit: Limit::Application,
            fin: Fin::No,
            timer_us: None,
            persist_us: None,
            probe_due: false,
            attempts: 0,
            progress_us: now_us,
            last_sent_us: now_us,
            give_up_us: settings.time_outs.get(TimeOut::RetransmissionTime),
            attempts_max: settings.time_outs.get(TimeOut::RetransmissionCount) as u32,
            blocked: false,
            counts: SenderCounts::default(),
        }
    }

    /// Queue a record.
    ///
    /// # Errors
    /// If there is no room, the record has no octets or too many, or the stream has been ended.
    pub fn push(&mut self, record: Record) -> Result<(), PushError> {
        if self.fin != Fin::No {
            return Err(PushError::Closed);
        }
        let Record { octets, .. } = record;
        if !(1..=RECORD_OCTETS_MAX).contains(&octets) {
            return Err(PushError::Octets { octets });
        }
        if self.records() >= self.records_max {
            let records_max = self.records_max as u32;
            return Err(PushError::Full { records_max });
        }
        self.pending.push_back(Pending {
            record,
            sent_octets: 0,
        });
        Ok(())
    }

    /// Records that take room: those pending, in flight, or acknowledged and not yet reported. A
    /// record of several segments counts for each that is in flight.
    fn records(&self) -> usize {
        self.pending.len() + self.scoreboard.len() + self.acknowledged.len()
    }

    /// Records for which there is room.
    pub fn room(&self) -> usize {
        self.records_max.saturating_sub(self.records())
    }

    /// A FIN follows the last record.
    pub fn finish(&mut self) {
        if self.fin == Fin::No {
            self.fin = Fin::Wanted;
        }
    }

    /// The peer has acknowledged the FIN.
    pub fn is_finished(&self) -> bool {
        matches!(self.fin, Fin::Sent(seq) if self.una.is_after(seq))
    }

    /// Everything that was sent is acknowledged, and nothing is waiting.
    pub fn is_idle(&self) -> bool {
        self.scoreboard.is_empty() && self.pending.is_empty() && self.fin != Fin::Wanted
    }

    /// The next record that has been acknowledged, in the order in which they were pushed.
    pub fn next_acknowledged(&mut self) -> Option<u64> {
        self.acknowledged.pop_front()
    }

    /// Segments with payload and FIN wait while the transmit ring is full.
    pub fn set_blocked(&mut self, blocked: bool) {
        self.blocked = blocked;
    }

    /// The path's maximum segment size has changed, in octets.
    pub fn set_emss(&mut self, emss_octets: u16) {
        self.emss_octets = emss_octets.max(EMSS_OCTETS_MIN);
        self.congestion.set_emss(self.emss_octets);
    }

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
        self.scoreboard.resend(index, self.nxt, now_us);
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

    /// Send the next octets for the first time, or the FIN behind them.
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
    fn start_timer(&mut self, now_us: u64) {
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

    fn usable_octets(&self) -> u64 {
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
