//! Start-up frames, good and malformed.

use super::expect::{flags, Outcome};
use super::state::{State, Stop};
use super::step::{Frame, Rtr, Start};
use crate::ddp;
use crate::mpa::{self, Framing, StartFrame, KEY_REPLY, KEY_REQUEST, PEER_TO_PEER};

/// B of enhanced data, in its first 16 bits: a zero-length FPDU (RFC 6581, 9.1).
const RTR_FPDU: u16 = 0x4000;
/// C, in the second 16: a zero-length Write.
const RTR_WRITE: u16 = 0x8000;
/// D, beside it: a zero-length Read.
const RTR_READ: u16 = 0x4000;

/// Bits of ready-to-receive messages in both words.
fn rtr_words(kinds: &[Rtr]) -> [u16; 2] {
    let mut words = [0; 2];
    for kind in kinds {
        match kind {
            Rtr::Fpdu => words[0] |= RTR_FPDU,
            Rtr::Write => words[1] |= RTR_WRITE,
            Rtr::Read => words[1] |= RTR_READ,
        }
    }
    words
}

impl Start {
    fn flags(&self) -> u8 {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        flag(self.markers, mpa::FLAG_MARKERS) | flag(self.crc, mpa::FLAG_CRC)
    }

    /// The words of a Request.
    fn words(&self) -> [u16; 2] {
        let mut words = rtr_words(&self.rtr);
        if !self.rtr.is_empty() {
            words[0] |= PEER_TO_PEER;
        }
        [words[0] | self.ird, words[1] | self.ord]
    }

    fn frame(&self, key: &[u8; 16], revision: u8) -> Vec<u8> {
        match revision {
            2 => mpa::start_enhanced(key, self.flags(), self.words(), b""),
            revision => mpa::start(key, self.flags(), revision, b""),
        }
    }
}

/// A frame as the case has it; its flags and revision.
fn written(frame: &Frame, own: &[u8; 16], other: &[u8; 16]) -> (Vec<u8>, u8) {
    let mut key = if frame.other_key { *other } else { *own };
    if let Some([at, bits]) = frame.key_flip {
        key[usize::from(at)] ^= bits;
    }
    let flags = flags(&frame.flags).expect("checked with the case");
    let has_words = flags & mpa::FLAG_ENHANCED != 0 && !frame.bare;
    let words = frame.enhanced.or(has_words.then_some([1, 1]));
    let mut private_data = words.map_or(Vec::new(), |words| words.map(u16::to_be_bytes).concat());
    private_data.resize(private_data.len() + usize::from(frame.private), 0x5a);
    let mut octets = mpa::start(&key, flags | frame.reserved, frame.revision, &private_data);
    if let Some(length) = frame.length {
        octets[18..20].copy_from_slice(&length.to_be_bytes());
    }
    octets.truncate(frame.keep.unwrap_or(usize::MAX));
    if frame.early {
        octets.extend(Framing::new(false).fpdu(&ddp::send(1, &[0; 16])).octets);
    }
    (octets, flags)
}

impl State<'_> {
    fn put(&self, octets: &[u8], singly: bool) {
        match singly {
            true => self.talk.conn.send_singly(octets),
            false => self.talk.conn.send(octets),
        }
    }

    /// Send a Request as the case has it.
    pub(crate) fn request(&mut self, frame: &Frame) {
        let (octets, flags) = written(frame, &KEY_REQUEST, &KEY_REPLY);
        self.own_frame = (flags, frame.revision);
        self.put(&octets, frame.singly);
    }

    /// Send a Reply as the case has it, once the Request is there.
    pub(crate) fn reply(&mut self, frame: &Frame) -> Result<(), Stop> {
        let request = self.start_frame()?;
        let (octets, flags) = written(frame, &KEY_REPLY, &KEY_REQUEST);
        self.own_frame = (flags, frame.revision);
        self.put(&octets, frame.singly);
        self.switch(&request);
        Ok(())
    }

    /// The target's start-up frame.
    pub(crate) fn start_frame(&mut self) -> Result<StartFrame, Stop> {
        let came = self.talk.conn.within(self.patience, |kept, _| {
            let frame = StartFrame::read(&kept.received).map(Ok);
            frame.or_else(|| kept.end.map(Err))
        });
        match came {
            Some(Ok(frame)) => Ok(frame),
            Some(Err(end)) => Err(Stop::Came(Outcome::Closed(end))),
            None => Err(Stop::Came(Outcome::Silent)),
        }
    }

    /// A good start-up of the end that opens.
    pub(crate) fn start_client(&mut self, start: &Start) -> Result<StartFrame, Stop> {
        self.put(&start.frame(&KEY_REQUEST, start.revision), start.singly);
        self.own_frame = (start.flags(), start.revision);
        let reply = self.accepted()?;
        if !start.rtr.is_empty() {
            self.ready_to_receive(start, &reply)?;
        }
        Ok(reply)
    }

    /// The Reply to what was sent, which accepts; full operation begins.
    pub(crate) fn accepted(&mut self) -> Result<StartFrame, Stop> {
        let reply = self.start_frame()?;
        let broken = |what: String| Err(Stop::Came(Outcome::Broken(what)));
        if reply.key != KEY_REPLY {
            return broken(format!(
                "its frame has the key {:02x?} (START-024)",
                reply.key
            ));
        }
        if reply.has(mpa::FLAG_REJECTED) {
            return Err(Stop::Came(Outcome::Rejected(reply)));
        }
        let (flags, revision) = self.own_frame;
        // START-044.
        if reply.revision > revision {
            let higher = reply.revision;
            return broken(format!(
                "its Reply to revision {revision} has revision {higher}"
            ));
        }
        if reply.has(mpa::FLAG_ENHANCED) && flags & mpa::FLAG_ENHANCED == 0 && revision < 2 {
            return broken("its Reply has S, the Request has not (RFC 6581, 9)".into());
        }
        self.switch(&reply);
        Ok(reply)
    }

    /// What follows their frame is of full operation, if it is anything but the end.
    pub(crate) fn switch(&mut self, theirs: &StartFrame) {
        let (flags, _) = self.own_frame;
        let markers = [
            theirs.has(mpa::FLAG_MARKERS),
            flags & mpa::FLAG_MARKERS != 0,
        ];
        let crc = (theirs.flags | flags) & mpa::FLAG_CRC != 0;
        self.talk.switch(theirs.octets(), markers, crc);
        self.is_operating = true;
    }

    /// MPA2-005: the one of the offered ready-to-receive messages that the Reply has chosen.
    fn ready_to_receive(&mut self, start: &Start, reply: &StartFrame) -> Result<(), Stop> {
        let words = reply.enhanced().unwrap_or_default();
        let chosen = start.rtr.iter().find(|kind| {
            let bits = rtr_words(&[**kind]);
            words[0] & bits[0] == bits[0] && words[1] & bits[1] == bits[1]
        });
        let Some(chosen) = chosen.filter(|_| words[0] & PEER_TO_PEER != 0) else {
            let what = "its Reply has no A, or none of the RTRs that were offered (RFC 6581, 9.2)";
            return Err(Stop::Came(Outcome::Broken(what.into())));
        };
        match chosen {
            Rtr::Fpdu => _ = self.talk.say(&[]),
            Rtr::Write => _ = self.talk.say(&ddp::write(0, 0, &[])),
            Rtr::Read => {
                let request = ddp::ReadRequest {
                    sink_stag: super::state::SINK.stag,
                    sink_to: 0,
                    octets: 0,
                    source_stag: 1,
                    source_to: 0,
                };
                self.talk.say(&request.ulpdu(self.reads.ours));
                self.reads.ours += 1;
                self.empty_response()?;
            }
        }
        Ok(())
    }

    /// A good start-up of the end that waits.
    pub(crate) fn start_server(&mut self, start: &Start) -> Result<StartFrame, Stop> {
        let request = self.start_frame()?;
        if request.key != KEY_REQUEST {
            let what = format!("its frame has the key {:02x?} (START-024)", request.key);
            return Err(Stop::Came(Outcome::Broken(what)));
        }
        let words = request.enhanced().unwrap_or_default();
        if words[0] & PEER_TO_PEER != 0 {
            let why = "the target asks for the peer-to-peer model, which these cases have not";
            return Err(Stop::Unseen(why.into()));
        }
        // START-044: no higher revision than the Request's.
        let revision = request.revision.min(start.revision);
        self.own_frame = (start.flags(), revision);
        self.put(&start.frame(&KEY_REPLY, revision), start.singly);
        self.switch(&request);
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames are what the documents have, unless the case has it otherwise.
    #[test]
    fn a_frame_is_written_as_the_case_has_it() {
        let octets = |frame: Frame| written(&frame, &KEY_REQUEST, &KEY_REPLY).0;
        let good = octets(Frame::default());
        assert_eq!(
            good,
            mpa::start_enhanced(&KEY_REQUEST, mpa::FLAG_CRC, [1, 1], b"")
        );
        let bare = Frame {
            bare: true,
            private: 3,
            ..Frame::default()
        };
        assert_eq!(octets(bare)[16..], [0x50, 2, 0, 3, 0x5a, 0x5a, 0x5a]);
        let plain = Frame {
            flags: "M".into(),
            revision: 1,
            reserved: 0x0f,
            key_flip: Some([11, 0x20]),
            length: Some(513),
            keep: Some(19),
            ..Frame::default()
        };
        assert_eq!(
            octets(plain)[10..],
            [0x20, 0x66, 0x72, 0x61, 0x6d, 0x65, 0x8f, 1, 2]
        );
        let other = Frame {
            other_key: true,
            early: true,
            ..Frame::default()
        };
        let found = octets(other);
        assert_eq!(found[..16], KEY_REPLY);
        assert_eq!(found.len(), 24 + 40, "and an FPDU");
    }

    #[test]
    fn ready_to_receive_messages_have_their_bits() {
        let start = Start {
            rtr: vec![Rtr::Fpdu, Rtr::Write, Rtr::Read],
            ird: 3,
            ord: 4,
            ..Start::default()
        };
        assert_eq!(start.words(), [0xc003, 0xc004]);
        assert_eq!(Start::default().words(), [1, 1]);
    }
}
