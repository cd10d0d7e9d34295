//! The receiver moves to hardware (module [`handover`](crate::handover)), and hardware reports.
use super::Connection;
use crate::error::HandoverError;
use crate::handover::Handover;
use crate::options::SackBlocks;
use crate::output::State;
use crate::sender::acks::AckReport;
use crate::seq::SeqNumber;
use crate::settings::TimeOut;

/// What an event of the device says: its connection when the event was composed. The caller makes
/// it of an entry of the event ring.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Snapshot {
    /// RCV.NXT: octets alone, without a FIN.
    pub rcv_nxt: SeqNumber,
    /// SEG.ACK of the acceptable segments, the highest.
    pub seg_ack: SeqNumber,
    /// The window that came with it, as in the header.
    pub seg_wnd: u16,
    /// Duplicate ACKs received, modulo 256, since the context was written.
    pub duplicate_acks: u8,
    /// Segments that call for a duplicate ACK, modulo 256, since the context was written.
    pub answers: u8,
    /// The range beyond RCV.NXT that changed last.
    pub range: Option<(SeqNumber, SeqNumber)>,
    /// Number of a FIN that came with payload.
    pub fin: Option<SeqNumber>,
    /// An acknowledgement is due at once: a gap was filled, PSH or FIN, or a segment without
    /// payload that is not acceptable. The device joins what can wait into one event, so that is
    /// acknowledged at once too, if RCV.NXT has moved.
    pub answer_now: bool,
}

impl Connection {
    /// Start-up begins: from here to the hand-over, [`Self::end_startup`] or the peer's FIN the
    /// time is limited.
    pub fn begin_startup(&mut self, now_us: u64) {
        let limit_us = self.time_out_us(TimeOut::Startup);
        self.startup_us = Some(now_us.saturating_add(limit_us));
    }

    /// Start-up has ended without a switch; the stream goes on.
    pub fn end_startup(&mut self) {
        self.startup_us = None;
        if let Some(receiver) = &mut self.receiver {
            receiver.remove_limit();
        }
    }

    /// The stream ends `ahead_octets` after what has been read, and MPA begins there. Octets
    /// after it are forgotten and come again. To be called before the next [`Self::poll`] when a
    /// segment has brought more than the start-up frame.
    ///
    /// # Errors
    /// If octets after it have been acknowledged: the connection is to be aborted (START-041). If
    /// the peer cannot send any more.
    pub fn limit_stream(&mut self, ahead_octets: u32) -> Result<(), HandoverError> {
        let receives = self.state.receives();
        let receiver = self.receiver.as_mut().filter(|_| receives);
        receiver.ok_or(HandoverError::State)?.limit(ahead_octets)
    }

    /// Give the receiver to hardware, with a window of `window_octets`. From here on payload of
    /// segments is ignored, and [`Self::on_device`] tells what arrived.
    ///
    /// # Errors
    /// Without a limit, before all octets up to it have been read, twice, or if the peer
    /// cannot send any more.
    pub fn hand_over(&mut self, window_octets: u32) -> Result<Handover, HandoverError> {
        let receives = self.state.receives();
        let receiver = self.receiver.as_mut().filter(|_| receives);
        let receiver = receiver.ok_or(HandoverError::State)?;
        let sender = self.sender.as_ref().ok_or(HandoverError::State)?;
        let rcv_nxt = receiver.hand_over(window_octets)?;
        self.startup_us = None;
        Ok(Handover {
            rcv_nxt,
            window_octets: receiver.device_window().unwrap_or(window_octets),
            snd_una: sender.una(),
            seg_wnd: sender.window_unscaled(),
            receive_shift: receiver.shift(),
            send_shift: sender.window_shift(),
        })
    }

    /// Take an event of the device. Before the hand-over it is ignored.
    pub fn on_device(&mut self, snapshot: &Snapshot, now_us: u64) {
        if !self.is_handed_over() || matches!(self.state, State::Closed | State::TimeWait) {
            return;
        }
        self.counts.events += 1;
        self.heard(now_us);
        let answers = snapshot.answers.wrapping_sub(self.device.answers);
        let duplicates = snapshot
            .duplicate_acks
            .wrapping_sub(self.device.duplicate_acks);
        self.device.answers = snapshot.answers;
        self.device.duplicate_acks = snapshot.duplicate_acks;
        if let Some(receiver) = &mut self.receiver {
            let moved = receiver.on_device(snapshot.rcv_nxt, snapshot.range);
            if moved || snapshot.answer_now {
                self.schedule.at_once();
            }
        }
        self.schedule.duplicates(answers.into());
        let report = AckReport {
            ack: snapshot.seg_ack,
            window: snapshot.seg_wnd,
            seq: None,
            sack: SackBlocks::default(),
            duplicates: duplicates.into(),
        };
        self.on_ack_report(&report, now_us);
        if let Some(fin) = snapshot.fin {
            self.on_device_fin(fin, now_us);
        }
        if let Some((fin, end)) = self.beyond_fin(snapshot) {
            return self.abort_beyond_fin(fin, end);
        }
        self.on_peer_end(now_us);
    }

    /// The peer's FIN, and how far the device has octets after it. The device does not know of a
    /// FIN without payload, which is for the host.
    fn beyond_fin(&self, snapshot: &Snapshot) -> Option<(SeqNumber, SeqNumber)> {
        let fin = self.receiver.as_ref()?.fin()?;
        let range = snapshot.range.map_or(snapshot.rcv_nxt, |(_, right)| right);
        let end = snapshot.rcv_nxt.later(range);
        end.is_after(fin).then_some((fin, end))
    }

    /// A FIN that came with payload takes effect once all before it is here.
    fn on_device_fin(&mut self, fin: SeqNumber, now_us: u64) {
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        if receiver.fin().is_none() && !receiver.next().is_after(fin) {
            receiver.on_fin(fin);
        }
        if receiver.fin() != Some(fin) || receiver.next().is_after(fin) {
            let end = receiver.next().later(fin);
            let fin = receiver.fin().unwrap_or(fin);
            return self.abort_beyond_fin(fin, end);
        }
        self.on_peer_end(now_us);
    }
}
