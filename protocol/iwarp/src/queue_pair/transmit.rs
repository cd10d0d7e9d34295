//! What leaves, in which order: the Terminate before all else, the ready-to-receive message before
//! what is posted, work requests and Read Responses in turns, each message whole (DDP-021).

use super::event::Place;
use super::pair::{Origin, QueuePair, Sending};
use super::work::{Host, Operation, WorkRequest};
use crate::framer::{Message, Piece, Record, Source, Ulpdu, Unreadable};
use crate::startup::Rtr;
use rnic_wire::ddp::errors::{RDMAP_CATASTROPHIC, RDMAP_STAG};
use rnic_wire::ddp::read_request::ReadRequestRepr;

/// A Read as ready-to-receive message: nothing from nowhere (MPA2-005).
const RTR_READ: ReadRequestRepr = ReadRequestRepr {
    sink_stag: 0,
    sink_to: 0,
    size: 0,
    source_stag: 0,
    source_to: 0,
};

/// What leaves next.
#[derive(Copy, Clone)]
enum Choice {
    /// The message that has begun to leave.
    Current,
    Terminate,
    Rtr(Rtr),
    Work,
    Response,
}

/// A queue pair and its host as the source of a framer's ULPDUs.
struct Outgoing<'a, H: Host> {
    pair: &'a mut QueuePair,
    host: &'a mut H,
}

impl QueuePair {
    /// The next record for TCP, if there is anything to send. Copied octets are in `out`, whose
    /// capacity is used again.
    pub fn transmit(&mut self, host: &mut impl Host, out: &mut Vec<u8>) -> Option<Record> {
        let record = self.next_record(host, out);
        if !self.unreadable {
            return record;
        }
        self.unreadable = false;
        self.give_up_unreadable();
        // What was whole before the payload that could not be read leaves first.
        record.or_else(|| self.next_record(host, out))
    }

    fn next_record(&mut self, host: &mut impl Host, out: &mut Vec<u8>) -> Option<Record> {
        let mut framer = self.framer;
        let record = framer.next_record(&mut Outgoing { pair: self, host }, out);
        self.framer = framer;
        self.settle();
        record
    }

    /// A payload is gone, with its region: nothing can be sent in its place.
    fn give_up_unreadable(&mut self) {
        match self.last_taken {
            Some((Origin::Response, asked)) => {
                let segment = asked.and_then(|asked| asked.refused());
                let place = asked.map_or(Place::Here, |asked| Place::ReadRequest(asked.msn));
                self.refuse(RDMAP_STAG, place, segment.as_ref());
            }
            _ => {
                self.sends.unreadable(self.framer.stream_offset());
                self.refuse(RDMAP_CATASTROPHIC, Place::Here, None);
            }
        }
    }

    fn choose(&self) -> Option<Choice> {
        if self.unreadable {
            return None;
        }
        if let Some((_, origin)) = &self.current {
            let waits = *origin == Origin::Response && !self.responder.has_room();
            return (!waits).then_some(Choice::Current);
        }
        match &self.sending {
            Sending::Terminate(_) => return Some(Choice::Terminate),
            Sending::Finished => return None,
            Sending::Open | Sending::Closing if self.held => return None,
            Sending::Open | Sending::Closing => {}
        }
        if let Some(rtr) = self.rtr {
            return Some(Choice::Rtr(rtr));
        }
        let work = self.sends.next().is_some().then_some(Choice::Work);
        let response = self.responder.is_ready().then_some(Choice::Response);
        match self.responded_last {
            true => work.or(response),
            false => response.or(work),
        }
    }

    /// A message of which no part has left.
    fn begin(&self, choice: Choice) -> Option<(Message, Origin)> {
        match choice {
            // It has begun already.
            Choice::Current => self.current,
            Choice::Terminate => match self.sending {
                Sending::Terminate(message) => Some((message, Origin::Terminate)),
                _ => None,
            },
            Choice::Rtr(rtr) => Some((self.rtr_message(rtr), Origin::Rtr(rtr))),
            Choice::Work => {
                let work = self.sends.next()?;
                Some((self.message(work), Origin::Work))
            }
            Choice::Response => {
                let message = self.responder.next()?;
                Some((message, Origin::Response))
            }
        }
    }

    /// The next ULPDU, where it comes from, and whether it is the last of its message.
    fn next_ulpdu(&mut self, mulpdu: usize) -> Option<(Ulpdu, Origin, bool)> {
        let choice = self.choose()?;
        if let Choice::Rtr(Rtr::Fpdu) = choice {
            return Some((Ulpdu::empty(), Origin::Rtr(Rtr::Fpdu), true));
        }
        if self.current.is_none() {
            self.current = self.begin(choice);
        }
        let (message, origin) = self.current.as_mut()?;
        let (ulpdu, origin) = (message.next(mulpdu)?, *origin);
        let last = message.is_done();
        if last {
            self.current = None;
        }
        Some((ulpdu, origin, last))
    }

    fn rtr_message(&self, rtr: Rtr) -> Message {
        match rtr {
            Rtr::Read => Message::read_request(self.version, self.read_msn, &RTR_READ),
            // A zero-length FPDU has no message: this one is not used.
            Rtr::Write | Rtr::Fpdu => Message::write(self.version, 0, 0, Default::default()),
        }
    }

    fn message(&self, work: &WorkRequest) -> Message {
        match work.operation {
            Operation::Send {
                solicited,
                invalidate_stag,
            } => Message::send(
                self.version,
                self.send_msn,
                solicited,
                invalidate_stag,
                work.payload,
            ),
            Operation::Write { stag, to } => Message::write(self.version, stag, to, work.payload),
            Operation::Read {
                sink_stag,
                sink_to,
                source_stag,
                source_to,
                octets,
            } => {
                let request = ReadRequestRepr {
                    sink_stag,
                    sink_to,
                    size: octets,
                    source_stag,
                    source_to,
                };
                Message::read_request(self.version, self.read_msn, &request)
            }
        }
    }

    /// A part of the next request has left; `last` if it is the last one.
    fn work_left(&mut self, host: &mut impl Host, end: u64, last: bool) {
        self.responded_last = false;
        let operation = self.sends.next_begun().map(|work| work.operation);
        match operation {
            Some(Operation::Read {
                sink_stag,
                sink_to,
                octets,
                ..
            }) => {
                host.expect_read(sink_stag, sink_to, octets);
                self.sends.left_read(self.read_msn);
                self.read_msn = self.read_msn.wrapping_add(1);
            }
            operation => {
                self.sends.left(end, last);
                if last && matches!(operation, Some(Operation::Send { .. })) {
                    self.send_msn = self.send_msn.wrapping_add(1);
                }
            }
        }
    }

    fn left(&mut self, host: &mut impl Host, origin: Origin, ulpdu: &Ulpdu, end: u64, last: bool) {
        match origin {
            Origin::Work => self.work_left(host, end, last),
            Origin::Response => {
                self.responded_last = true;
                if last {
                    host.repost_read_buffer();
                }
                self.responder.left(end, ulpdu.octets() as u64, last);
            }
            Origin::Rtr(rtr) => {
                self.rtr = None;
                if rtr == Rtr::Read {
                    host.expect_read(RTR_READ.sink_stag, RTR_READ.sink_to, RTR_READ.size);
                    self.sends.left_rtr_read();
                    self.read_msn = self.read_msn.wrapping_add(1);
                }
            }
            Origin::Terminate => self.finish_sending(),
        }
    }
}

impl<H: Host> Source for Outgoing<'_, H> {
    fn peek(&self, mulpdu: usize) -> Option<usize> {
        match self.pair.choose()? {
            Choice::Current => self.pair.current.as_ref()?.0.next_octets(mulpdu),
            Choice::Rtr(Rtr::Fpdu) => Some(0),
            // Asked before and after each FPDU of a stream of requests: no message is made for it.
            Choice::Work => Some(self.pair.sends.next()?.first_octets(mulpdu)),
            choice => self.pair.begin(choice)?.0.next_octets(mulpdu),
        }
    }

    fn take(&mut self, mulpdu: usize, end: u64) -> Option<Ulpdu> {
        let (ulpdu, origin, last) = self.pair.next_ulpdu(mulpdu)?;
        let asked = match origin {
            Origin::Response => self.pair.responder.first().copied(),
            _ => None,
        };
        self.pair.last_taken = Some((origin, asked));
        self.pair.left(self.host, origin, &ulpdu, end, last);
        Some(ulpdu)
    }

    fn read(&mut self, piece: &Piece, into: &mut [u8]) -> Result<(), Unreadable> {
        let read = self.host.read(piece, into);
        self.pair.unreadable |= read.is_err();
        read
    }
}
