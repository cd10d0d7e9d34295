//! A device as a receiver: what it accepts, and the event it composes. In order, ranges beyond
//! gaps, duplicates; joined until the event is taken.
use crate::link::Wire;
use rnic_tcp::{handover::Handover, SeqNumber, Snapshot};
use std::collections::VecDeque;

pub struct Device {
    snapshot: Snapshot,
    window: u32,
    /// Octets from RCV.NXT on that are here, out of order: the first one is missing.
    out_of_order: VecDeque<Option<u8>>,
    in_order: Vec<u8>,
    pending: bool,
    fin: Option<SeqNumber>,
    snd_nxt_seen: bool,
}

impl Device {
    pub fn new(handover: &Handover) -> Self {
        Self {
            snapshot: Snapshot {
                rcv_nxt: handover.rcv_nxt,
                seg_ack: handover.snd_una,
                seg_wnd: handover.seg_wnd,
                ..Snapshot::default()
            },
            window: handover.window_octets,
            out_of_order: VecDeque::new(),
            in_order: Vec::new(),
            pending: false,
            fin: None,
            snd_nxt_seen: false,
        }
    }

    /// Takes a frame; true if it goes to the host as well.
    pub fn on_frame(&mut self, wire: &Wire) -> bool {
        let head = &wire.head;
        let snapshot = &mut self.snapshot;
        if head.flags.syn || head.flags.rst || (head.flags.fin && wire.payload.is_empty()) {
            return true;
        }
        self.pending = true;
        let length = wire.payload.len() as u32;
        let offset = head.seq.distance_from(snapshot.rcv_nxt);
        if length == 0 && !(0..self.window as i32).contains(&offset) {
            snapshot.answer_now = true;
            return false;
        }
        self.on_ack(wire);
        if length == 0 {
            return !head.options.sack.is_empty();
        }
        if head.flags.fin {
            self.fin = Some(head.seq + length);
        }
        self.on_octets(wire);
        false
    }

    fn on_ack(&mut self, wire: &Wire) {
        let (head, snapshot) = (&wire.head, &mut self.snapshot);
        let same = head.ack == snapshot.seg_ack && head.window == snapshot.seg_wnd;
        if same && wire.payload.is_empty() {
            snapshot.duplicate_acks = snapshot.duplicate_acks.wrapping_add(1);
        }
        if !self.snd_nxt_seen || !head.ack.is_before(snapshot.seg_ack) {
            (snapshot.seg_ack, snapshot.seg_wnd) = (head.ack, head.window);
            self.snd_nxt_seen = true;
        }
    }

    fn on_octets(&mut self, wire: &Wire) {
        let snapshot = &mut self.snapshot;
        let (before, had_ranges) = (snapshot.rcv_nxt, !self.out_of_order.is_empty());
        let offset = wire.head.seq.distance_from(before);
        let mut kept = 0;
        for (at, &octet) in (i64::from(offset)..).zip(&wire.payload) {
            if !(0..i64::from(self.window)).contains(&at) {
                continue;
            }
            let at = at as usize;
            if self.out_of_order.len() <= at {
                self.out_of_order.resize(at + 1, None);
            }
            kept += u32::from(self.out_of_order[at].is_none());
            self.out_of_order[at].get_or_insert(octet);
        }
        while let Some(Some(octet)) = self.out_of_order.front() {
            self.in_order.push(*octet);
            snapshot.rcv_nxt += 1;
            self.out_of_order.pop_front();
        }
        if snapshot.rcv_nxt == before {
            snapshot.answers = snapshot.answers.wrapping_add(1);
        } else if had_ranges {
            snapshot.answer_now = true;
        }
        if kept == 0 || snapshot.rcv_nxt != before {
            return;
        }
        let offset = offset as usize;
        let left = (0..offset)
            .rev()
            .take_while(|&at| self.out_of_order[at].is_some());
        let right = self
            .out_of_order
            .iter()
            .skip(offset)
            .take_while(|octet| octet.is_some());
        let (left, right) = (left.count() as u32, right.count() as u32);
        snapshot.range = Some((wire.head.seq - left, wire.head.seq + right));
    }

    /// The event that is due, with the octets that came in order.
    pub fn event(&mut self) -> Option<(Snapshot, Vec<u8>)> {
        if !std::mem::take(&mut self.pending) {
            return None;
        }
        let mut snapshot = self.snapshot;
        snapshot.fin = self.fin;
        self.snapshot.answer_now = false;
        let rcv_nxt = self.snapshot.rcv_nxt;
        snapshot.range = snapshot.range.filter(|range| range.0.is_after(rcv_nxt));
        Some((snapshot, std::mem::take(&mut self.in_order)))
    }
}
