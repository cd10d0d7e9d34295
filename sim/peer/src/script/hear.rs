//! What of the target's is waited for, and how a connection has ended.

use super::expect::Outcome;
use super::state::{pattern, Region, State, Stop};
use super::step::{Awaited, Which};
use crate::ddp::{self, ReadRequest, Terminate};
use crate::kept::End;
use crate::mpa::{StartFrame, Stream, FLAG_REJECTED};
use std::time::Duration;

/// Octets of a message of `rping`.
const RECORD_OCTETS: usize = 16;
/// How long an end may take to follow a Terminate.
const END_PATIENCE: Duration = Duration::from_secs(2);

fn broken(what: String) -> Stop {
    Stop::Came(Outcome::Broken(what))
}

/// A Terminate that came, in either layout.
fn terminated(ulpdu: &[u8], end: Option<End>) -> Outcome {
    match (Terminate::checked(ulpdu), Terminate::swapped(ulpdu)) {
        (Ok(terminate), Err(_)) => Outcome::Terminate(terminate, end),
        (Err(_), Ok(terminate)) => Outcome::Swapped(terminate, end),
        // Without flags both can be read: layers are 0 to 2, and so are types.
        (Ok(terminate), Ok(swapped)) => {
            let (layer, kind, _) = terminate.cause;
            let is_known = matches!((layer, kind), (0 | 1, 0..=2) | (2, 0));
            match is_known {
                true => Outcome::Terminate(terminate, end),
                false => Outcome::Swapped(swapped, end),
            }
        }
        (Err(fault), Err(_)) => Outcome::Broken(format!("Terminate: {fault}")),
    }
}

/// What a stream that is over, or has a Terminate in it, ends with; `None`: neither.
fn ending(stream: &Stream, taken: usize, end: Option<End>) -> Option<Outcome> {
    if let Some(fault) = &stream.fault {
        return Some(Outcome::Broken(fault.to_string()));
    }
    let later = stream.ulpdus.get(taken..).unwrap_or_default();
    let is_terminate = |ulpdu: &Vec<u8>| {
        ulpdu.len() >= 2 && ulpdu[0] & 0x80 == 0 && ddp::opcode(ulpdu) == ddp::TERMINATE
    };
    if let Some(at) = later.iter().position(is_terminate) {
        // RDMAP-020.
        if at + 1 < later.len() || stream.rest_octets > 0 {
            return Some(Outcome::Broken("octets follow its Terminate".into()));
        }
        return Some(terminated(&later[at], end));
    }
    match end {
        Some(End::Fin) if stream.rest_octets > 0 => {
            let octets = stream.rest_octets;
            let what = format!("{octets} octets before its FIN are no whole FPDU");
            Some(Outcome::Broken(what))
        }
        end => end.map(Outcome::Closed),
    }
}

impl State<'_> {
    /// What the connection ends with, if it does in this time. An RST after a FIN is no end:
    /// whoever sends it has closed.
    pub(crate) fn ended(&self) -> Outcome {
        let outcome = self.first_end();
        if !self.stranger.has_heard_fin(self.port) {
            return outcome;
        }
        match outcome {
            Outcome::Closed(End::Reset) => Outcome::Closed(End::Fin),
            Outcome::Terminate(terminate, Some(End::Reset)) => {
                Outcome::Terminate(terminate, Some(End::Fin))
            }
            Outcome::Swapped(terminate, Some(End::Reset)) => {
                Outcome::Swapped(terminate, Some(End::Fin))
            }
            other => other,
        }
    }

    fn first_end(&self) -> Outcome {
        if !self.is_operating {
            return self.start_ended();
        }
        let look = |patience| {
            self.talk.within(patience, |stream, end| {
                let outcome = ending(stream, self.taken, end)?;
                Some((outcome, end.is_some()))
            })
        };
        match look(self.patience) {
            None => Outcome::Silent,
            Some((Outcome::Broken(what), _)) => Outcome::Broken(what),
            Some((outcome, true)) => outcome,
            // A Terminate: its end follows, or something that must not.
            Some((outcome, false)) => {
                let _ = self.talk.conn.end_within(END_PATIENCE);
                look(Duration::ZERO).map_or(outcome, |(later, _)| later)
            }
        }
    }

    fn start_ended(&self) -> Outcome {
        let came = self.talk.conn.within(self.patience, |kept, _| {
            if let Some(frame) = StartFrame::read(&kept.received) {
                return Some(match frame.has(FLAG_REJECTED) {
                    true => Outcome::Rejected(frame),
                    false => Outcome::Reply(frame),
                });
            }
            let end = kept.end?;
            Some(match kept.received.len() {
                0 => Outcome::Closed(end),
                octets => Outcome::Broken(format!("{octets} octets before its end are no frame")),
            })
        });
        came.unwrap_or(Outcome::Silent)
    }

    /// The target's next ULPDU.
    fn next(&mut self) -> Result<Vec<u8>, Stop> {
        let taken = self.taken;
        let came = self.talk.within(self.patience, |stream, end| {
            let is_over = ending(stream, taken, end).is_some();
            let next = stream.ulpdus.get(taken).cloned();
            match next.filter(|_| !is_terminated(stream, taken)) {
                Some(ulpdu) => Some(Some(ulpdu)),
                None => is_over.then_some(None),
            }
        });
        match came {
            Some(Some(ulpdu)) => {
                self.taken += 1;
                Ok(ulpdu)
            }
            _ => Err(Stop::Came(self.ended())),
        }
    }

    /// The payload of the target's next message, which is to be an untagged one of one segment.
    fn untagged(&mut self, name: &str, qn: u32, opcodes: &[u8]) -> Result<Vec<u8>, Stop> {
        let ulpdu = self.next()?;
        let numbers = match qn {
            0 => &mut self.sends,
            _ => &mut self.reads,
        };
        let msn = numbers.theirs;
        numbers.theirs += 1;
        let is_so = |opcode: &u8| {
            let header = ddp::untagged(*opcode, qn, msn, 0);
            ulpdu.starts_with(&header)
        };
        match opcodes.iter().any(is_so) {
            true => Ok(ulpdu[ddp::UNTAGGED_OCTETS..].to_vec()),
            false => Err(broken(format!(
                "{name} was due, message {msn} of queue {qn}; what came is {:02x?}",
                &ulpdu[..ulpdu.len().min(ddp::UNTAGGED_OCTETS)]
            ))),
        }
    }

    /// Tagged segments of the target's that fill `region`, and their octets.
    fn tagged(&mut self, name: &str, opcode: u8, region: Region) -> Result<Vec<u8>, Stop> {
        let mut octets = Vec::new();
        loop {
            let ulpdu = self.next()?;
            let mut header = ddp::tagged(opcode, region.stag, region.to + octets.len() as u64);
            let data = ulpdu.get(ddp::TAGGED_OCTETS..).unwrap_or_default();
            let is_last = octets.len() + data.len() >= region.octets as usize;
            if !is_last {
                header[0] &= !ddp::LAST;
            }
            if !ulpdu.starts_with(&header) || octets.len() + data.len() > region.octets as usize {
                return Err(broken(format!(
                    "{name} of {} octets was due, after {} of them; what came is {:02x?} and {} \
                     octets",
                    region.octets,
                    octets.len(),
                    &ulpdu[..ulpdu.len().min(ddp::TAGGED_OCTETS)],
                    data.len()
                )));
            }
            octets.extend_from_slice(data);
            if is_last {
                return Ok(octets);
            }
        }
    }

    /// A Read Response without octets: that of a Read that is a ready-to-receive message.
    pub(crate) fn empty_response(&mut self) -> Result<(), Stop> {
        let region = Region {
            to: 0,
            octets: 0,
            ..super::state::SINK
        };
        let name = "a Read Response without octets";
        self.tagged(name, ddp::READ_RESPONSE, region).map(|_| ())
    }

    fn message(&mut self, name: &str) -> Result<Vec<u8>, Stop> {
        // Send, with Solicited Event or without.
        let message = self.untagged(name, 0, &[ddp::SEND, ddp::SEND_SOLICITED])?;
        match message.len() {
            RECORD_OCTETS => Ok(message),
            octets => Err(broken(format!("{name} has {octets} octets; is it rping?"))),
        }
    }

    /// Wait for something of the target's.
    pub(crate) fn wait(&mut self, awaited: Awaited) -> Result<(), Stop> {
        match awaited {
            Awaited::Request => {
                let request = self.start_frame()?;
                self.switch(&request);
                Ok(())
            }
            Awaited::Reply => self.accepted().map(|_| ()),
            Awaited::Acknowledged => self.acknowledged(),
            Awaited::Read => self.read_request(),
            Awaited::GoAhead => self.message("a message to go ahead").map(|_| ()),
            Awaited::Write => self.written(),
            Awaited::Source => {
                let record = self.message("the record of what is to be read")?;
                self.source = Region::read(&record);
                Ok(())
            }
            Awaited::Sink => {
                let record = self.message("the record of what is to be written")?;
                self.sink = Region::read(&record);
                Ok(())
            }
            Awaited::Response => {
                let octets = self.asked_octets;
                let region = Region {
                    octets,
                    ..self.own(Which::Sink)
                };
                self.response = self.tagged("a Read Response", ddp::READ_RESPONSE, region)?;
                Ok(())
            }
            Awaited::Fin => match self.ended() {
                Outcome::Closed(End::Fin) => Ok(()),
                other => Err(Stop::Came(other)),
            },
        }
    }

    fn acknowledged(&self) -> Result<(), Stop> {
        match self.talk.conn.acknowledged_within(self.patience) {
            true => Ok(()),
            false => Err(broken("TCP does not acknowledge what was sent".into())),
        }
    }

    /// The Read of what the peer's record has offered.
    fn read_request(&mut self) -> Result<(), Stop> {
        let request = self.untagged("a Read Request", 1, &[ddp::READ_REQUEST])?;
        let header = ddp::untagged(ddp::READ_REQUEST, 1, 1, 0);
        let request = ReadRequest::checked(&[&header[..], &request].concat());
        let own = self.own(Which::Source);
        let is_so = |request: &ReadRequest| {
            (request.source_stag, request.source_to, request.octets)
                == (own.stag, own.to, own.octets)
        };
        match request.filter(is_so) {
            Some(request) => {
                self.read = Some(request);
                Ok(())
            }
            None => Err(broken(format!(
                "its Read Request is not of what was offered: {request:02x?}"
            ))),
        }
    }

    /// The Write of what was read, and the message after it.
    fn written(&mut self) -> Result<(), Stop> {
        let region = self.own(Which::Sink);
        let octets = self.tagged("a Write", ddp::WRITE, region)?;
        let sent = pattern(region.octets);
        if let Some(at) = (0..sent.len()).find(|&at| octets[at] != sent[at]) {
            return Err(broken(format!(
                "octet {at} of its Write is {:#04x}; it has read {:#04x}",
                octets[at], sent[at]
            )));
        }
        self.message("the message after its Write").map(|_| ())
    }
}

/// Whether the next ULPDU is a Terminate.
fn is_terminated(stream: &Stream, taken: usize) -> bool {
    let next = stream.ulpdus.get(taken);
    next.is_some_and(|ulpdu| {
        ulpdu.len() >= 2 && ulpdu[0] & 0x80 == 0 && ddp::opcode(ulpdu) == ddp::TERMINATE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(ulpdus: &[Vec<u8>]) -> Stream {
        Stream {
            ulpdus: ulpdus.to_vec(),
            ..Stream::default()
        }
    }

    fn terminate(payload: &[u8]) -> Vec<u8> {
        [&ddp::untagged(ddp::TERMINATE, 2, 1, 0)[..], payload].concat()
    }

    /// RFC 5040, 4.8: a Terminate is read in either layout, and nothing may follow it.
    #[test]
    fn what_a_stream_ends_with_is_reported() {
        let good = terminate(&[0x12, 3, 0, 0]);
        let fin = Some(End::Fin);
        let Some(Outcome::Terminate(read, None)) =
            ending(&stream(std::slice::from_ref(&good)), 0, None)
        else {
            panic!("a Terminate");
        };
        assert_eq!(read.cause, (1, 2, 3));
        let about = ddp::send(1, b"");
        let odd = [&[0x21, 3, 0x03, 0, 0, 18][..], &about].concat();
        let odd = ending(&stream(&[terminate(&odd)]), 0, fin);
        let Some(Outcome::Swapped(read, _)) = odd else {
            panic!("{odd:?}");
        };
        assert_eq!((read.cause, read.control), ((1, 2, 3), [true, true, false]));
        let bare = ending(&stream(&[terminate(&[0x02, 2, 0, 0])]), 0, fin);
        // Layer 0, type 2 is of RDMAP, so it is taken as it stands.
        assert!(matches!(bare, Some(Outcome::Terminate(..))), "{bare:?}");
        let longer = stream(&[good.clone(), ddp::send(1, b"")]);
        assert!(matches!(ending(&longer, 0, fin), Some(Outcome::Broken(_))));
        let cut = terminate(&[0x12, 3]);
        assert!(matches!(
            ending(&stream(&[cut]), 0, fin),
            Some(Outcome::Broken(_))
        ));
        assert_eq!(
            ending(&stream(&[]), 0, fin),
            Some(Outcome::Closed(End::Fin))
        );
        assert_eq!(ending(&stream(&[ddp::send(1, b"")]), 0, None), None);
        let half = Stream {
            rest_octets: 3,
            ..Stream::default()
        };
        assert!(matches!(ending(&half, 0, fin), Some(Outcome::Broken(_))));
        let reset = ending(&half, 0, Some(End::Reset));
        assert_eq!(reset, Some(Outcome::Closed(End::Reset)));
    }
}
