//! What arrives: results of frames, events, completions, frames of the host path.

use super::engine::{initial_sequence, random, Engine};
use super::live::Live;
use super::pair::{Pair, PairHost};
use super::pcapng::Way;
use super::settings::emss_octets;
use crate::device::access::{Bar, Dma};
use crate::device::rings::{Completion, Event, Reason, TransmitResult};
use crate::stack::segments::read;
use crate::stack::{Arrived, Ends};
use crate::verbs::ledger::{Entry, Ledger};
use rnic_iwarp::queue_pair::{Delivered, Received};
use rnic_iwarp::terminate::Refused;
use rnic_tcp::{reset_for, Outgoing, Segment, SeqNumber, Snapshot, State};
use rnic_wire::ddp::errors::Cause;
use rnic_wire::ddp::rdmap::{QN_READ_REQUEST, QN_SEND, QN_TERMINATE};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Entries of a ring that are taken before others get their turn.
const TAKEN_MAX: usize = 64;
/// How far an initial sequence number is ahead of the connection before it, at most.
const AHEAD: u32 = 1 << 24;

/// Where an FPDU is in the peer's stream, in octets from SeqStart.
fn stream_offset(pair: &mut Pair, sequence: u32) -> u64 {
    let distance = sequence.wrapping_sub(pair.sequence_start);
    // The stream goes on by less than 2^31 octets from one completion to the next, or it is one
    // without messages: then the offset is right modulo 2^32.
    let ahead = distance.wrapping_sub(pair.named_octets as u32) as i32;
    let place = pair.named_octets as i64 + i64::from(ahead);
    let place = u64::try_from(place).unwrap_or(distance.into());
    pair.named_octets = pair.named_octets.max(place);
    place
}

impl<B: Bar, D: Dma> Engine<B, D> {
    /// Results of frames: their memory is free, and rings have room.
    pub(super) fn take_results(&mut self, ledger: &mut Ledger<B, D>) -> bool {
        let mut has_room = false;
        // A ring that reports what cannot be has none.
        while let Ok(Some(transmitted)) = ledger.poll_transmitted() {
            has_room = true;
            match transmitted.result {
                TransmitResult::Sent => {}
                TransmitResult::Refused | TransmitResult::ReadFailed => self.counts.not_sent += 1,
                TransmitResult::NotSent => {
                    self.counts.not_sent += 1;
                    let _ = ledger.device().restart_transmit(transmitted.ring);
                }
            }
        }
        if has_room {
            for key in std::mem::take(&mut self.blocked) {
                self.enqueue(key);
            }
        }
        has_room
    }

    /// Events of connections; says whether there may be more.
    pub(super) fn take_events(&mut self, ledger: &mut Ledger<B, D>, now: u64) -> bool {
        for _ in 0..TAKEN_MAX {
            let Some(event) = ledger.device().poll_event() else {
                return false;
            };
            let key = self.key_of(event.connection);
            let found = key.and_then(|key| Some((key, self.with_wire(key, ledger, now)?)));
            let Some((key, (live, wire))) = found else {
                self.counts.late += 1;
                continue;
            };
            live.tcp.on_device(&snapshot(live.answers, &event), now);
            live.answers = event.duplicate_acks_due;
            if event.reasons.contains(Reason::FirstFpdu) {
                live.receive(Received::FirstFpdu, wire.ledger);
            }
            if live.queue() {
                self.queued.push_back(key);
            }
        }
        true
    }

    /// Completions of connections; says whether there may be more.
    pub(super) fn take_completions(&mut self, ledger: &mut Ledger<B, D>, now: u64) -> bool {
        for _ in 0..TAKEN_MAX {
            let Some(entry) = ledger.next_entry(self.queue) else {
                return false;
            };
            let (completion, memory) = match entry {
                Entry::Received(completion, memory) => (completion, Some(memory)),
                Entry::Read(completion, _) | Entry::Other(completion) => (completion, None),
            };
            let number = match completion {
                Completion::Receive { connection, .. }
                | Completion::ReadResponse { connection, .. }
                | Completion::Error { connection, .. } => Some(connection),
                Completion::Unknown(_) => None,
            };
            let key = number.and_then(|number| self.key_of(number));
            let found = key.and_then(|key| Some((key, self.with_wire(key, ledger, now)?)));
            match found {
                Some((key, (live, wire))) => {
                    live.on_completion(&completion, memory, wire.ledger);
                    if live.queue() {
                        self.queued.push_back(key);
                    }
                }
                None => {
                    self.counts.late += 1;
                    if let Some(memory) = memory {
                        ledger.release_memory(memory);
                    }
                }
            }
        }
        true
    }

    /// Frames of the host path; says whether there may be more.
    pub(super) fn take_frames(&mut self, ledger: &mut Ledger<B, D>, now: u64) -> bool {
        for _ in 0..TAKEN_MAX {
            let Some(frame) = ledger.device().poll_host_frame() else {
                return false;
            };
            if let Some(tap) = &self.tap {
                tap.show(Way::Received, &frame);
            }
            match self.interface.receive(&frame, now) {
                None => {}
                Some(Arrived::Tcp { from, to, segment }) => match read(from, to, &segment) {
                    Ok((ends, segment)) => self.on_segment(&ends, &segment, ledger, now),
                    Err(_) => self.counts.malformed += 1,
                },
                Some(Arrived::TooBig {
                    from,
                    to,
                    mtu_octets,
                    header,
                }) => self.on_smaller_mtu(from, to, mtu_octets, header),
            }
        }
        true
    }

    fn on_segment(
        &mut self,
        ends: &Ends,
        segment: &Segment<'_>,
        ledger: &mut Ledger<B, D>,
        now: u64,
    ) {
        let mut successor = None;
        if let Some(&key) = self.by_ends.get(ends) {
            let live = self.lives.get_mut(&key);
            // One that is closed is none, whoever has its handle: the peer may have missed our RST
            // (RFC 9293 section 3.10.7.1).
            if let Some(live) = live.filter(|live| live.tcp.state() != State::Closed) {
                successor = live.tcp.successor(&segment.head);
                if successor.is_none() {
                    live.tcp.on_segment(segment, now);
                    if live.tcp.readable_octets() > 0 {
                        live.notice.raise();
                    }
                    self.enqueue(key);
                    return;
                }
                // A new connection takes the place of one in TIME-WAIT (RFC 9293 section 3.6.1).
                self.by_ends.remove(ends);
            }
        }
        if let Some(listening) = self.listening(ends.own) {
            let iss = || successor.map_or_else(initial_sequence, |least| least + random() % AHEAD);
            listening.tcp.on_segment(ends.peer, segment, iss, now);
            listening.notice.raise();
            return;
        }
        self.refuse(ends, segment, ledger, now);
    }

    /// A segment of no connection, of an earlier owner's too (RFC 9293 section 3.10.7.1).
    fn refuse(&mut self, ends: &Ends, segment: &Segment<'_>, ledger: &mut Ledger<B, D>, now: u64) {
        let mut wire = self.wire(ledger, now);
        if segment.head.flags.rst || !wire.has_control_room() {
            wire.counts.unanswered += 1;
            return;
        }
        wire.counts.resets += 1;
        let head = reset_for(segment);
        let outgoing = Outgoing { head, piece: None };
        if wire.send(ends, &outgoing, None).is_err() {
            wire.counts.unanswered += 1;
        }
    }

    /// Connections that others open.
    pub(super) fn poll_listeners(&mut self, ledger: &mut Ledger<B, D>, now: u64) {
        for index in 0..self.listeners.len() {
            while self.wire(ledger, now).has_control_room() {
                let listening = &mut self.listeners[index];
                let own = listening.own;
                let Some((peer, outgoing)) = listening.tcp.poll(now) else {
                    break;
                };
                let ends = Ends { own, peer };
                if self.wire(ledger, now).send(&ends, &outgoing, None).is_err() {
                    self.counts.unanswered += 1;
                }
            }
        }
    }

    /// Nobody listens on `own` any more. What is waiting there is reset, as far as the ring has
    /// room: another peer hears it in the answer to its next segment.
    pub(super) fn stop_listening(&mut self, own: SocketAddr, now: u64) {
        if let Some(listening) = self.listening(own) {
            listening.tcp.abort();
        }
        let core = Arc::clone(&self.core);
        self.poll_listeners(&mut core.lock(), now);
        self.listeners.retain(|listening| listening.own != own);
    }

    /// A connection that was opened to `own`, if there is one.
    pub(super) fn accept(&mut self, own: SocketAddr) -> Option<(Ends, rnic_tcp::Connection)> {
        let (peer, tcp) = self.listening(own)?.tcp.accept()?;
        Some((Ends { own, peer }, tcp))
    }

    fn on_smaller_mtu(&mut self, from: IpAddr, to: IpAddr, mtu_octets: u16, header: [u8; 8]) {
        let port = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let ends = Ends {
            own: SocketAddr::new(from, port(0)),
            peer: SocketAddr::new(to, port(2)),
        };
        let seq = SeqNumber(u32::from_be_bytes([
            header[4], header[5], header[6], header[7],
        ]));
        let key = self.by_ends.get(&ends).copied();
        let live = key.and_then(|key| self.lives.get_mut(&key));
        let Some(live) = live.filter(|live| live.tcp.is_in_flight(seq)) else {
            self.counts.forged_reports += 1;
            return;
        };
        let emss = emss_octets(mtu_octets, from);
        // The interface passes on what an MTU can be; a size as before changes nothing.
        if emss < live.tcp.emss_octets() && live.tcp.set_emss(emss).is_ok() {
            if let Some(pair) = &mut live.pair {
                pair.machine.set_emss(emss.into());
            }
        }
        if let Some(key) = key {
            self.enqueue(key);
        }
    }
}

/// What an event says, for TCP.
fn snapshot(answers: u8, event: &Event) -> Snapshot {
    let has = |reason| event.reasons.contains(reason);
    // The device counts those segments without acceptance that have payload.
    let is_counted = event.duplicate_acks_due != answers;
    let is_unanswered = has(Reason::NotAccepted) && !is_counted;
    let answer_now = has(Reason::GapFilled) || has(Reason::Push) || has(Reason::Fin);
    let range = event.changed;
    Snapshot {
        rcv_nxt: SeqNumber(event.rcv_nxt),
        seg_ack: SeqNumber(event.seg_ack),
        seg_wnd: event.seg_wnd,
        duplicate_acks: event.duplicate_acks_seen,
        answers: event.duplicate_acks_due,
        range: range.map(|range| (SeqNumber(range.left), SeqNumber(range.right))),
        fin: event.fin.map(SeqNumber),
        answer_now: answer_now || is_unanswered,
    }
}

impl Live {
    /// Give the machine of the queue pair what the device has.
    fn receive<B: Bar, D: Dma>(&mut self, received: Received<'_>, ledger: &mut Ledger<B, D>) {
        if let (Some(pair), Some(resources)) = (&mut self.pair, &mut self.resources) {
            let mut host = PairHost { ledger, resources };
            pair.machine.on_received(received, &mut host);
        }
    }

    fn on_completion<B: Bar, D: Dma>(
        &mut self,
        completion: &Completion,
        memory: Option<u64>,
        ledger: &mut Ledger<B, D>,
    ) {
        match *completion {
            Completion::Receive {
                qn,
                opcode,
                msn,
                length,
                invalidated_stag,
                sequence_end,
                ..
            } => {
                if let Some(pair) = &mut self.pair {
                    stream_offset(pair, sequence_end);
                }
                let delivered =
                    Delivered::new((opcode as u8).into(), msn, length, invalidated_stag);
                match (qn, delivered) {
                    (QN_SEND, Some(delivered)) => {
                        self.keep_arrived(memory, ledger);
                        self.receive(Received::Send(delivered), ledger);
                        return;
                    }
                    (QN_READ_REQUEST, _) => self.on_read_request(msn, length as usize, ledger),
                    (QN_TERMINATE, _) => self.on_terminate(length as usize, ledger),
                    _ => {}
                }
                if let Some(memory) = memory {
                    ledger.release_memory(memory);
                }
            }
            Completion::ReadResponse { .. } => self.receive(Received::ReadResponse, ledger),
            Completion::Error { .. } => self.on_error(completion, ledger),
            Completion::Unknown(_) => {}
        }
    }

    /// The memory of a message: the user's with the completion, or its region's as before.
    fn keep_arrived<B: Bar, D: Dma>(&mut self, memory: Option<u64>, ledger: &mut Ledger<B, D>) {
        let is_lent = self.lent.pop_front().unwrap_or_default();
        let Some(memory) = memory else {
            return;
        };
        self.arrived.push_back((!is_lent).then_some(memory));
        if is_lent {
            ledger.release_memory(memory);
        }
    }

    fn on_read_request<B: Bar, D: Dma>(
        &mut self,
        msn: u32,
        octets: usize,
        ledger: &mut Ledger<B, D>,
    ) {
        let Some(resources) = &mut self.resources else {
            return;
        };
        let payload = resources.take_read_request(ledger, octets);
        let payload = &payload;
        self.receive(Received::ReadRequest { msn, payload }, ledger);
    }

    fn on_terminate<B: Bar, D: Dma>(&mut self, octets: usize, ledger: &mut Ledger<B, D>) {
        let Some(resources) = &self.resources else {
            return;
        };
        let payload = resources.take_terminate(ledger, octets);
        self.receive(Received::Terminate { payload: &payload }, ledger);
    }

    fn on_error<B: Bar, D: Dma>(&mut self, completion: &Completion, ledger: &mut Ledger<B, D>) {
        let (
            Completion::Error {
                layer,
                error_type,
                code,
                ulpdu_length,
                sequence,
                header,
                ..
            },
            Some(pair),
        ) = (completion, &mut self.pair)
        else {
            return;
        };
        let stream_offset = stream_offset(pair, *sequence);
        let segment = header.and_then(|header| Refused::new(*ulpdu_length as u16, header.octets()));
        let received = Received::Refused {
            cause: Cause {
                layer: *layer as u8,
                error_type: *error_type as u8,
                code: *code as u8,
            },
            stream_offset,
            segment,
        };
        self.receive(received, ledger);
    }
}
