//! FPDUs beyond a gap that a receiver may have placed (RFC 5044 section 4.3; MPA-044, MPA-045).
//!
//! The model places FPDUs only in order. The hardware may place one beyond a gap if it passes every
//! check; when it checks depends on the cycle. So the model notes what *may* be in memory: the
//! payload of each FPDU that could be located and passed every check at some time since the
//! receivers were last idle. All other octets are as the model left them.
//!
//! ```text
//!  span (a segment that followed nothing) -> FPDU with a marker in it -> FPDU -> FPDU ...
//!                                            good: noted, go on      bad: stop here
//! ```
//!
//! A note is removed when its FPDU is delivered: memory then holds the octets for certain. Where an
//! error or a Terminate stops a stream, the FPDUs after it are not delivered, but the hardware may
//! have placed some from a span before it came to that point of the stream. So what has come in
//! order goes on being read, with what follows it, until the receivers are idle. It is read with
//! the state in which nothing has been delivered since they were: a region that an FPDU of the
//! stream invalidates may serve those after it until then.

use super::placement::Placement;
use super::reorder::ClosedRange;
use super::Model;

impl Model {
    /// The receivers are idle: regions and state that were valid before and are no longer serve no
    /// FPDU from now on.
    pub fn mark_idle(&mut self) {
        self.regions_when_idle.clone_from(&self.regions);
        for stream in self.streams.values_mut() {
            stream.ddp_when_idle.clone_from(&stream.ddp);
            stream.tcp.closed = ClosedRange::default();
        }
    }

    /// Payload that FPDUs beyond a gap may have left in memory.
    pub fn out_of_order_placements(&self) -> impl Iterator<Item = &Placement> {
        let streams = self.streams.values();
        let open = streams.flat_map(|stream| stream.out_of_order.values());
        open.chain(&self.left_out_of_order)
    }

    /// Read the FPDUs beyond a gap of every connection: a table has changed.
    pub(super) fn read_all_out_of_order(&mut self) {
        let connections: Vec<u16> = self.streams.keys().copied().collect();
        for connection in connections {
            self.read_out_of_order(connection);
        }
    }

    /// Note what the FPDUs beyond a gap of `connection` may place.
    pub(super) fn read_out_of_order(&mut self, connection: u16) {
        let stream = self.streams.get_mut(&connection);
        let stream = stream.expect("its connection is open");
        if !self.notes_out_of_order {
            stream.tcp.closed = ClosedRange::default();
            return;
        }
        let (mpa, ddp, regions) = (&stream.mpa, &stream.ddp_when_idle, &self.regions_when_idle);
        if ddp.stopped() {
            return;
        }
        // Of what is delivered nothing is noted.
        let delivered = stream.delivered;
        let is_ahead =
            |sequence: u32| delivered.is_none_or(|last| (sequence.wrapping_sub(last) as i32) > 0);
        let notes = &mut stream.out_of_order;
        let mut note = |from: u32, position: u64, octets: &[u8], first: bool| {
            let mut read = 0;
            loop {
                let sequence = from.wrapping_add((position + read as u64) as u32);
                let proven = first && read == 0;
                let Some((fpdu, wire_octets)) = mpa.beyond(sequence, &octets[read..], proven)
                else {
                    return read;
                };
                let Ok(placed) = ddp.would_place(connection, &fpdu, regions) else {
                    return read;
                };
                if let Some((address, data)) = placed.filter(|_| is_ahead(sequence)) {
                    notes.insert(sequence, Placement { address, data });
                }
                read += wire_octets;
            }
        };
        let tcp = &mut stream.tcp;
        let from = tcp.rcv_nxt;
        tcp.out_of_order
            .read_spans(|position, octets, first| note(from, position, octets, first));
        let from = tcp.closed.sequence();
        tcp.closed
            .read_spans(|position, octets, first| note(from, position, octets, first));
    }
}
