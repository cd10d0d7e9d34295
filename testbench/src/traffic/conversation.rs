//! A whole connection: handshake, MPA start-up, segments of both sides in any order, FIN.
//!
//! What leaves are frames in the order they were asked for. Each side acknowledges what the other
//! has sent so far; loss, reordering and repetition are for the caller to do to the frames.

use crate::traffic::frame::{FrameBuilder, FLAG_ACK, FLAG_FIN, FLAG_PSH, FLAG_SYN};
use rnic_wire::mpa::startup::{EnhancedData, Role, StartupFrame, StartupRepr, DEPTH_UNSPECIFIED};

/// Who sends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// Sends SYN and the MPA Request.
    Initiator = 0,
    /// Sends the MPA Reply.
    Responder = 1,
}

impl Side {
    /// The other side.
    pub const fn peer(self) -> Self {
        match self {
            Self::Initiator => Self::Responder,
            Self::Responder => Self::Initiator,
        }
    }
}

/// The start-up frame of `side`, which asks for markers in what it receives (START-027) and for
/// CRCs according to `markers` and `crc`; in revision 2 with a peer-to-peer start by an empty FPDU
/// and depths unspecified.
pub fn startup_frame(
    side: Side,
    markers: bool,
    crc: bool,
    revision: u8,
    private_data: &[u8],
) -> StartupRepr<'_> {
    let enhanced = EnhancedData {
        peer_to_peer: true,
        rtr_fpdu: true,
        rtr_write: false,
        rtr_read: false,
        ird: DEPTH_UNSPECIFIED,
        ord: DEPTH_UNSPECIFIED,
    };
    StartupRepr {
        role: match side {
            Side::Initiator => Role::Request,
            Side::Responder => Role::Reply,
        },
        markers,
        crc,
        rejected: false,
        revision,
        enhanced: (revision == 2).then_some(enhanced),
        private_data,
    }
}

/// A connection and its frames so far.
#[derive(Clone, Debug)]
pub struct Conversation {
    builders: [FrameBuilder; 2],
    /// Sequence number of each side's next octet.
    next: [u32; 2],
    frames: Vec<Vec<u8>>,
}

impl Conversation {
    /// A connection whose frames the two builders make, with these initial sequence numbers, each
    /// given for the initiator and the responder; its handshake is done.
    pub fn open(builders: [FrameBuilder; 2], initial_sequence: [u32; 2]) -> Self {
        let mut conversation = Self {
            builders,
            next: initial_sequence,
            frames: Vec::new(),
        };
        conversation.put(Side::Initiator, FLAG_SYN, &[]);
        conversation.put(Side::Responder, FLAG_SYN | FLAG_ACK, &[]);
        conversation.put(Side::Initiator, FLAG_ACK, &[]);
        conversation
    }

    /// Send a start-up frame.
    pub fn startup(&mut self, side: Side, frame: &StartupRepr) {
        let mut octets = vec![0; frame.buffer_len()];
        frame.emit(&mut StartupFrame::new_unchecked(&mut octets));
        self.segment(side, &octets);
    }

    /// Send the next octets of a side's stream in one segment.
    pub fn segment(&mut self, side: Side, payload: &[u8]) {
        self.put(side, FLAG_ACK | FLAG_PSH, payload);
    }

    /// Send octets of a side's stream out of turn or again, acknowledging all of the other side's
    /// before `acknowledgement`; without octets it is an acknowledgement alone.
    pub fn segment_at(&mut self, side: Side, sequence: u32, acknowledgement: u32, payload: &[u8]) {
        let builder = self.builders[side as usize].clone();
        let push = if payload.is_empty() { 0 } else { FLAG_PSH };
        let flags = FLAG_ACK | push;
        self.segment_by(side, &builder, sequence, acknowledgement, flags, payload);
    }

    /// As [`Conversation::segment_at`], with these flags, and in a frame that `builder` makes.
    pub fn segment_by(
        &mut self,
        side: Side,
        builder: &FrameBuilder,
        sequence: u32,
        acknowledgement: u32,
        flags: u8,
        payload: &[u8],
    ) {
        let own = side as usize;
        let frame = builder.segment(sequence, acknowledgement, flags, payload);
        self.frames.push(frame);
        // What was sent before counts once; sequence space is a circle.
        let end = sequence.wrapping_add(payload.len() as u32);
        if end.wrapping_sub(self.next[own]) as i32 > 0 {
            self.next[own] = end;
        }
    }

    /// Send an acknowledgement alone.
    pub fn acknowledge(&mut self, side: Side) {
        self.put(side, FLAG_ACK, &[]);
    }

    /// Close both halves.
    pub fn close(&mut self) {
        self.put(Side::Initiator, FLAG_FIN | FLAG_ACK, &[]);
        self.put(Side::Responder, FLAG_FIN | FLAG_ACK, &[]);
        self.acknowledge(Side::Initiator);
    }

    /// Sequence number of a side's next octet; after its start-up frame this is SeqStart.
    pub fn next_sequence(&self, side: Side) -> u32 {
        self.next[side as usize]
    }

    /// What makes the frames of a side.
    pub fn builder(&self, side: Side) -> &FrameBuilder {
        &self.builders[side as usize]
    }

    /// A frame that is none of the connection's.
    pub fn insert(&mut self, frame: Vec<u8>) {
        self.frames.push(frame);
    }

    /// The newest frame, to be damaged.
    ///
    /// # Panics
    /// If there is none since the last [`Conversation::take_frames`].
    pub fn last_frame_mut(&mut self) -> &mut Vec<u8> {
        self.frames.last_mut().expect("a frame was just sent")
    }

    /// The frames since the last call.
    pub fn take_frames(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.frames)
    }

    fn put(&mut self, side: Side, flags: u8, payload: &[u8]) {
        let (own, peer) = (side as usize, side.peer() as usize);
        let sequence = self.next[own];
        let acknowledgement = match flags & FLAG_ACK {
            0 => 0,
            _ => self.next[peer],
        };
        let frame = self.builders[own].segment(sequence, acknowledgement, flags, payload);
        self.frames.push(frame);
        // SYN and FIN take a number each.
        let controls = (flags & (FLAG_SYN | FLAG_FIN)).count_ones();
        self.next[own] = sequence
            .wrapping_add(payload.len() as u32)
            .wrapping_add(controls);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::frame::Endpoint;

    /// SYN takes a number; SeqStart is the one after the start-up frame.
    #[test]
    fn sequence_numbers_count_octets_syn_and_fin() {
        let end = |host: u8| Endpoint::host(host, 4420);
        let builders = [
            FrameBuilder::new(end(1), end(2)),
            FrameBuilder::new(end(2), end(1)),
        ];
        let mut conversation = Conversation::open(builders, [u32::MAX, 100]);
        conversation.segment(Side::Initiator, b"MPA ID Req Frame");
        assert_eq!(conversation.next_sequence(Side::Initiator), 16);
        conversation.close();
        assert_eq!(conversation.next_sequence(Side::Initiator), 17);
        assert_eq!(conversation.next_sequence(Side::Responder), 102);
        assert_eq!(conversation.take_frames().len(), 7);
        assert!(conversation.take_frames().is_empty());
    }

    /// Octets out of turn and again: the stream's end is after the highest one.
    #[test]
    fn octets_sent_again_count_once() {
        let end = |host: u8| Endpoint::host(host, 7174);
        let builders = [
            FrameBuilder::new(end(1), end(2)),
            FrameBuilder::new(end(2), end(1)),
        ];
        let mut conversation = Conversation::open(builders, [u32::MAX - 10, 100]);
        let side = Side::Initiator;
        let starts = [(5, 30), (u32::MAX - 9, 15), (5, 10)];
        for (sequence, octets) in starts {
            conversation.segment_at(side, sequence, 101, &vec![7; octets]);
            assert_eq!(conversation.next_sequence(side), 35);
        }
        conversation.segment_at(side, 35, 101, &[]);
        assert_eq!(conversation.next_sequence(side), 35);
        assert_eq!(conversation.take_frames().len(), 7);
    }
}
