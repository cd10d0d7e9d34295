//! The sending half of a connection: records, windows, loss recovery, the end of the stream.
//!
//! ```text
//!  push -> pending -> scoreboard -> acknowledged -> Acked
//!            |   ^        |  ^
//!            |   |        |  `-- ACK, SACK: [`acks`]     lost segments leave before pending ones
//!            v   |        v
//!          the next segment, within min(congestion window, peer's window); timers: `timers`
//! ```
//!
//! A record leaves in one segment and, if it has to be sent again, with the same bounds. It is
//! split only where nothing else helps, and then for good: if it is larger than the maximum segment
//! size, or if the peer's window has stayed smaller than it for a time-out (MPA-030).
//!
//! Memory: [`Settings::records_max`] records pending or to be reported, and as many segments in
//! flight; twice as many while segments are split ([`Settings::memory_octets_max`]).
pub mod acks;
mod sending;
mod timers;
mod types;

pub use types::{Agreed, Emission, Record, SenderCounts, RECORD_OCTETS_MAX};

use crate::congestion::{Algorithm, Congestion};
use crate::error::PushError;
use crate::rto::RtoEstimator;
use crate::scoreboard::Scoreboard;
use crate::seq::SeqNumber;
use crate::settings::{Settings, TimeOut, EMSS_OCTETS_MIN};
use std::collections::VecDeque;
use types::{Fin, Limit, Pending, Recovery, Undo, Window};

/// The sending half.
#[derive(Clone, Debug, Hash)]
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
    undo: Option<Undo>,
    /// SND.NXT at the last loss: what RFC 6582 calls recover, plus one.
    recover: SeqNumber,
    /// When the congestion window was last reduced, but by the timer.
    reduced_us: u64,
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
            undo: None,
            recover: agreed.first - 1,
            reduced_us: now_us,
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

    /// Octets on the heap at most: vectors take up to twice what is in them.
    pub(crate) const fn heap_octets_max(records_max: usize) -> usize {
        let record = size_of::<Pending>() + size_of::<u64>();
        2 * (records_max + 1) * record + Scoreboard::heap_octets_max(2 * records_max + 1)
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
}
