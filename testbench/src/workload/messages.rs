//! What one direction has to say: messages of a seed, and the stream they make.
//!
//! Each direction has STags of its own, so that one device may play every receiver. RDMA Writes
//! and Read Responses fill one region each from an odd Tagged Offset just below 2^32 upwards,
//! without overlap, so that memory at the end does not depend on the order of placement; so do
//! messages to STags that were invalidated before. Read Responses are not tied to the Read
//! Requests of the other direction.

use crate::traffic::sender::Sender;
use crate::workload::describe::{Mix, Workload};
use crate::workload::faults::Injected;
use crate::workload::neighbours;
use crate::workload::oddity::Oddity;
use crate::workload::purpose::{generator as odd_generator, Purpose};
use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng;
use rnic_abi::limits::REGIONS;
use rnic_wire::ddp::errors::RDMAP_ACCESS;
use rnic_wire::ddp::rdmap::{Opcode, QN_READ_REQUEST, QN_SEND, QN_TERMINATE};
use rnic_wire::ddp::read_request::ReadRequestRepr;
use rnic_wire::ddp::terminate::{Terminate, TerminateRepr};

/// Octets of the Send that opens a stream.
const OPENING_OCTETS: usize = 16;
/// Octets left out between two writes are fewer than this.
const SPACE_OCTETS_MAX: u64 = 16;
/// Regions that all directions together may ask of a device: half of what it has.
const REGION_BUDGET: usize = REGIONS / 2;
/// One region of a direction takes RDMA Writes, one Read Responses.
const TAGGED_REGIONS: usize = 2;
const STAG_INDEX: u32 = 0x10_0000;
const STAG_INDICES_LOG2: u32 = 12;
/// Upper octet of the stag indices of the first direction whose STags are neighbours.
const NEIGHBOURS_UPPER: u8 = 0x20;

/// A message as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// What it is.
    pub opcode: Opcode,
    /// MSN of an untagged message.
    pub msn: Option<u32>,
    /// STag written or invalidated; 0 if none is.
    pub stag: u32,
    /// Tagged Offset of its first octet, of a tagged message.
    pub to: u64,
    /// Its octets.
    pub data: Vec<u8>,
}

/// Makes the messages of a direction.
struct Speaker<'a> {
    sender: &'a mut Sender,
    generator: &'a mut ChaCha8Rng,
    /// Tagged Offsets of the next RDMA Write, Read Response, and message to an STag that was
    /// invalidated.
    next_to: [u64; TAGGED_REGIONS + 1],
    /// Number that distinguishes its stag indices from those of others: the direction's, or the
    /// connection's.
    owner: usize,
    /// Keys of all STags.
    key: u8,
    /// Stag indices, if they are neighbours.
    indices: Vec<u32>,
    /// How often a message is odd, and what that is drawn from.
    terminate: f64,
    reuse: f64,
    oddities: ChaCha8Rng,
    injected: &'a mut Injected,
    /// STags invalidated so far, and how many there may be.
    invalidated: usize,
    invalidated_max: usize,
    sent: Vec<SentMessage>,
}

/// Send the Send that opens a stream and the messages of `workload` as direction number
/// `direction`.
pub fn speak(
    sender: &mut Sender,
    workload: &Workload,
    direction: usize,
    generator: &mut ChaCha8Rng,
    injected: &mut Injected,
) -> Vec<SentMessage> {
    let directions = 2 * workload.connections;
    for qn in [QN_SEND, QN_READ_REQUEST, QN_TERMINATE] {
        sender.set_next_msn(qn, workload.msn_start);
    }
    let mut oddities = odd_generator(workload.seed, Purpose::OddMessages, direction);
    let indices = match workload.neighbours {
        true => neighbours::stag_indices(NEIGHBOURS_UPPER + direction as u8),
        false => Vec::new(),
    };
    // Keys that share a slot leave few places to each other, and some to all other keys.
    let (known, budget) = match workload.neighbours {
        true => (indices.len() / 2, REGION_BUDGET / 2),
        false => (usize::MAX, REGION_BUDGET),
    };
    let owner = match workload.same_stags {
        true => direction / 2,
        false => direction,
    };
    let mut speaker = Speaker {
        owner,
        sender,
        generator,
        next_to: [workload.to_start; TAGGED_REGIONS + 1],
        key: oddities.random(),
        indices,
        terminate: workload.faults.rate(Oddity::Terminate),
        reuse: workload.faults.rate(Oddity::Reuse),
        oddities,
        injected,
        invalidated: 0,
        invalidated_max: known.min(budget / directions) - TAGGED_REGIONS,
        sent: Vec::new(),
    };
    speaker.say(Opcode::Send, OPENING_OCTETS);
    for _ in 0..workload.messages {
        let octets = speaker.generator.random_range(workload.sizes.clone());
        let opcode = speaker.choose(&workload.mix);
        speaker.say(opcode, octets);
    }
    speaker.sent
}

impl Speaker<'_> {
    /// A kind of message by its weight.
    fn choose(&mut self, mix: &Mix) -> Opcode {
        let all = Mix::KINDS.map(|kind| mix.weight(kind)).iter().sum();
        let mut ticket = self.generator.random_range(0..all);
        for kind in Mix::KINDS {
            match ticket.checked_sub(mix.weight(kind)) {
                Some(left) => ticket = left,
                None => return kind,
            }
        }
        unreachable!("the ticket is below the sum of all weights")
    }

    fn say(&mut self, opcode: Opcode, octets: usize) {
        let mut data = vec![0; octets];
        self.generator.fill_bytes(&mut data);
        let opcode = self.affordable(opcode);
        if !self.sent.is_empty() && self.oddities.random_bool(self.terminate) {
            return self.say_terminate();
        }
        match opcode {
            Opcode::RdmaWrite | Opcode::ReadResponse => self.say_tagged(opcode, data),
            Opcode::ReadRequest => self.say_request(octets),
            _ => self.say_send(opcode, data),
        }
    }

    /// A Send invalidates each STag once, as its next use would race with the owner's renewal;
    /// when a direction has used up its STags, it sends without.
    fn affordable(&self, opcode: Opcode) -> Opcode {
        match opcode {
            _ if self.invalidated < self.invalidated_max => opcode,
            Opcode::SendInvalidate => Opcode::Send,
            Opcode::SendSolicitedInvalidate => Opcode::SendSolicited,
            other => other,
        }
    }

    fn say_tagged(&mut self, opcode: Opcode, data: Vec<u8>) {
        let mut region = usize::from(opcode == Opcode::ReadResponse);
        let mut stag = self.stag(region);
        if self.invalidated > 0 && self.oddities.random_bool(self.reuse) {
            let again = self.oddities.random_range(0..self.invalidated);
            (region, stag) = (TAGGED_REGIONS, self.stag(TAGGED_REGIONS + again));
            self.injected.add_oddity(Oddity::Reuse);
        }
        let to = self.next_to[region];
        match opcode {
            Opcode::RdmaWrite => self.sender.rdma_write(stag, to, &data),
            _ => self.sender.read_response(stag, to, &data),
        }
        let space = self.generator.random_range(0..SPACE_OCTETS_MAX);
        // What passes 2^64 is refused, and so is what follows it.
        self.next_to[region] = to.saturating_add(data.len() as u64 + space);
        self.sent.push(SentMessage {
            opcode,
            msn: None,
            stag,
            to,
            data,
        });
    }

    fn say_request(&mut self, octets: usize) {
        let request = ReadRequestRepr {
            sink_stag: self.generator.random(),
            sink_to: self.generator.random(),
            size: octets as u32,
            source_stag: self.generator.random(),
            source_to: self.generator.random(),
        };
        let msn = Some(self.sender.read_request(&request));
        let (opcode, data) = (Opcode::ReadRequest, request.octets().to_vec());
        self.sent.push(SentMessage {
            opcode,
            msn,
            stag: 0,
            to: 0,
            data,
        });
    }

    fn say_send(&mut self, opcode: Opcode, data: Vec<u8>) {
        let mut stag = 0;
        if opcode.invalidates() {
            stag = self.stag(TAGGED_REGIONS + self.invalidated);
            self.invalidated += 1;
        }
        let msn = Some(match opcode {
            Opcode::SendInvalidate => self.sender.send_invalidate(stag, &data),
            Opcode::SendSolicited => self.sender.send_solicited(&data),
            Opcode::SendSolicitedInvalidate => self.sender.send_solicited_invalidate(stag, &data),
            _ => self.sender.send(&data),
        });
        self.sent.push(SentMessage {
            opcode,
            msn,
            stag,
            to: 0,
            data,
        });
    }

    /// A Terminate as of a peer whose own check has failed; it goes on all the same.
    fn say_terminate(&mut self) {
        let terminate = TerminateRepr {
            cause: RDMAP_ACCESS,
            segment_length: None,
            ddp_header: &[],
            rdmap_header: &[],
        };
        let mut data = vec![0; terminate.buffer_len()];
        terminate.emit(&mut Terminate::new_unchecked(&mut data));
        let msn = Some(self.sender.terminate(&terminate));
        self.injected.add_oddity(Oddity::Terminate);
        self.sent.push(SentMessage {
            opcode: Opcode::Terminate,
            msn,
            stag: 0,
            to: 0,
            data,
        });
    }

    /// STag of a region of this direction.
    fn stag(&self, region: usize) -> u32 {
        let own = STAG_INDEX | (self.owner as u32) << STAG_INDICES_LOG2 | region as u32;
        let index = self.indices.get(region).copied().unwrap_or(own);
        index << 8 | u32::from(self.key.wrapping_add(region as u8))
    }
}
