//! A host that answers reads in random legal pieces and order, and does each thing wrong on
//! purpose.
use pcie_sim::check::{check, Direction};
use pcie_sim::choices::Seeded;
use pcie_sim::completer::complete_read;
use pcie_sim::tlp::{Completion, CompletionStatus};
use pcie_sim::{
    Bdf, CompletionSplit, Header, Kind, Length, Limits, ReadCompletionBoundary, Tlp, TransferSize,
};
use rnic_hdl_tools::testkit::Random;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Requester id of the engine.
pub const DEVICE_ID: u16 = 0x0318;

/// The octet of host memory at `address`.
pub fn octet(address: u64) -> u8 {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// What is wrong with the answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One completion is poisoned.
    Poisoned,
    /// One completion has this status, and is the last.
    Status(CompletionStatus),
    /// One completion has a wrong Byte Count.
    ByteCount,
    /// One completion has a wrong Lower Address.
    LowerAddress,
    /// The last completion has a doubleword too many.
    TooLong,
    /// One completion ends between two boundaries; the rest of it follows.
    Cut,
    /// A successful completion without data before one.
    NoData,
    /// The beats of one completion hold a doubleword fewer than Length says.
    ShortBeats,
    /// ... or go on for another beat.
    LongBeats,
    /// From one completion on there is none.
    Silent,
    /// All completions come, but later than the time-out.
    Late,
    /// The last completion comes twice. It is not for this read any more.
    Twice,
    /// Another completion, for a tag that is never used or for another requester.
    Stray,
}

impl Fault {
    /// Every fault, each status by itself.
    pub const ALL: [Self; 15] = [
        Self::Poisoned,
        Self::Status(CompletionStatus::UnsupportedRequest),
        Self::Status(CompletionStatus::CompleterAbort),
        Self::Status(CompletionStatus::ConfigurationRetry),
        Self::ByteCount,
        Self::LowerAddress,
        Self::TooLong,
        Self::Cut,
        Self::NoData,
        Self::ShortBeats,
        Self::LongBeats,
        Self::Silent,
        Self::Late,
        Self::Twice,
        Self::Stray,
    ];

    /// The read it hits ends in error.
    pub fn fails(self) -> bool {
        !matches!(self, Self::Twice | Self::Stray)
    }

    /// The tag is lost until the link is reset.
    pub fn loses_tag(self) -> bool {
        use Fault::*;
        matches!(self, ByteCount | LowerAddress | TooLong | Cut | Silent)
    }
}

/// One beat of the completion stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Beat {
    pub header: [u32; 4],
    pub data: Vec<u8>,
    pub keep: u32,
    pub last: bool,
    /// With `last`: no further completion of this tag is due.
    frees: Option<u8>,
}

/// A packet, its payload as the stream has it, and what follows from it.
#[derive(Clone, Debug)]
struct Packet {
    tlp: Tlp,
    /// Octets of payload on the stream.
    octets: usize,
    frees: Option<u8>,
    /// The next packet follows at once.
    holds: bool,
}

#[derive(Debug)]
struct Answer {
    ready: u64,
    packets: VecDeque<Packet>,
}

/// How the host behaves.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub limits: Limits,
    pub split: CompletionSplit,
    /// Cycles from a request to its first completion.
    pub latency: u64,
    /// Cycles more, for each request.
    pub spread: u64,
    pub reorders: bool,
    /// A packet begins in so many of 8 cycles in which none is under way, and ...
    pub begins_of_8: u64,
    /// ... goes on in so many of 8.
    pub goes_on_of_8: u64,
    /// A packet that is no completion comes in so many of 64 such cycles.
    pub other_of_64: u64,
    /// Cycles after which an answer that is late has come too late.
    pub late: u64,
}

impl Manner {
    /// A host in a hurry that does nothing wrong.
    pub const fn brisk(late: u64) -> Self {
        Self {
            limits: Limits {
                max_payload: TransferSize::Octets256,
                max_read_request: TransferSize::Octets512,
                read_completion_boundary: ReadCompletionBoundary::Octets64,
                tag_count: 256,
                zero_length_writes: false,
            },
            split: CompletionSplit::Largest,
            latency: 4,
            spread: 0,
            reorders: false,
            begins_of_8: 8,
            goes_on_of_8: 8,
            other_of_64: 0,
            late,
        }
    }
}

/// The host.
pub struct Completer {
    pub manner: Manner,
    /// Octets of memory that are not what [`octet`] says.
    pub written: HashMap<u64, u8>,
    answers: Vec<Answer>,
    beats: VecDeque<Beat>,
    /// Tags of which a completion is still due.
    pub open: BTreeSet<u8>,
    pub lost: BTreeSet<u8>,
    /// Requests taken.
    pub requests: u64,
}

impl Completer {
    pub fn new(manner: Manner) -> Self {
        Self {
            manner,
            written: HashMap::new(),
            answers: Vec::new(),
            beats: VecDeque::new(),
            open: BTreeSet::new(),
            lost: BTreeSet::new(),
            requests: 0,
        }
    }

    /// Every answer has been sent.
    pub fn is_idle(&self) -> bool {
        self.answers.is_empty() && self.beats.is_empty()
    }

    /// The link goes down: nothing that is on its way arrives.
    pub fn reset_link(&mut self) {
        self.answers.clear();
        self.beats.clear();
        self.open.clear();
        self.lost.clear();
    }

    fn octet(&self, address: u64) -> u8 {
        let written = self.written.get(&address);
        written.copied().unwrap_or_else(|| octet(address))
    }

    /// Takes a request; returns address and octets.
    pub fn request(
        &mut self,
        now: u64,
        header: [u32; 4],
        fault: Option<Fault>,
        random: &mut Random,
    ) -> (u64, usize) {
        let long = header[0] >> 29 & 1 == 1;
        assert!(long || header[3] == 0, "no doubleword 3");
        let header = Header::parse(&header[..if long { 4 } else { 3 }]).expect("a header");
        let tlp = Tlp {
            header,
            payload: Vec::new(),
        };
        check(
            &tlp,
            Direction::Upstream,
            &self.manner.limits,
            |violation| panic!("{violation}"),
        );
        let Kind::MRd(read) = header.kind else {
            panic!("the engine sends reads, not {header:?}")
        };
        assert_eq!(read.requester.bits(), DEVICE_ID);
        assert!(read.enables.contiguous(header.length), "one span");
        let span = read.enables.span(header.length);
        assert!(
            self.open.insert(read.tag),
            "tag {} is used again while a completion of it is due",
            read.tag
        );
        let data: Vec<u8> = (0..header.length.octets() as u64)
            .map(|offset| self.octet(read.address + offset))
            .collect();
        let completions = complete_read(
            &header,
            &data,
            Bdf::new(0, 0, 0),
            &self.manner.limits,
            self.manner.limits.read_completion_boundary,
            self.manner.split,
            &mut Seeded::new(random.bits()),
        );
        if fault.is_some_and(Fault::loses_tag) {
            self.lost.insert(read.tag);
        }
        let delay = match fault {
            Some(Fault::Late) => self.manner.late,
            _ => self.manner.latency + random.below(self.manner.spread + 1),
        };
        let packets = spoil(completions, fault, random);
        if !packets.is_empty() {
            let ready = now + delay;
            self.answers.push(Answer { ready, packets });
        }
        self.requests += 1;
        (read.address + span.start as u64, span.len())
    }

    /// The beat of this cycle.
    pub fn next(&mut self, now: u64, lanes: usize, random: &mut Random) -> Option<Beat> {
        if self.beats.is_empty() {
            if !random.chance(self.manner.begins_of_8, 8) {
                return None;
            }
            if random.chance(self.manner.other_of_64, 64) {
                self.beats = beats(&other_packet(random), lanes);
            } else {
                let ready: Vec<usize> = (0..self.answers.len())
                    .filter(|place| self.answers[*place].ready <= now)
                    .collect();
                let chosen = match self.manner.reorders {
                    true => random.below(ready.len().max(1) as u64) as usize,
                    false => 0,
                };
                let place = *ready.get(chosen)?;
                self.send(place, lanes);
            }
        } else if !random.chance(self.manner.goes_on_of_8, 8) {
            return None;
        }
        let beat = self.beats.pop_front()?;
        if let Some(tag) = beat.frees.filter(|_| beat.last) {
            self.open.remove(&tag);
        }
        Some(beat)
    }

    /// Puts the next packet of an answer on the stream, with those that follow at once.
    fn send(&mut self, place: usize, lanes: usize) {
        loop {
            let packets = &mut self.answers[place].packets;
            let packet = packets.pop_front().expect("an answer is never empty");
            let ends = packets.is_empty();
            self.beats.extend(beats(&packet, lanes));
            if ends {
                self.answers.remove(place);
            }
            if ends || !packet.holds {
                return;
            }
        }
    }
}

/// The beats of a packet.
fn beats(packet: &Packet, lanes: usize) -> VecDeque<Beat> {
    let packed = packet
        .tlp
        .header
        .pack()
        .expect("a header that can be written");
    let mut header = [0; 4];
    for (to, from) in header.iter_mut().zip(packed.iter()) {
        *to = *from;
    }
    let mut payload = packet.tlp.payload.clone();
    payload.resize(packet.octets, 0xee);
    let mut chunks: Vec<Vec<u8>> = payload.chunks(4 * lanes).map(<[u8]>::to_vec).collect();
    if chunks.is_empty() {
        chunks.push(Vec::new());
    }
    let count = chunks.len();
    let beat = |(index, data): (usize, Vec<u8>)| Beat {
        header,
        keep: ((1u64 << (data.len() / 4)) - 1) as u32,
        data,
        last: index + 1 == count,
        frees: packet.frees,
    };
    chunks.into_iter().enumerate().map(beat).collect()
}

/// A posted write or a message to this function.
fn other_packet(random: &mut Random) -> Packet {
    let payload: Vec<u8> = (0..4 * (1 + random.below(24)))
        .map(|_| random.bits() as u8)
        .collect();
    let address = random.bits() & 0xffff_f000;
    let tlp = Tlp::memory_write(Bdf::new(0, 0, 0), address, &payload).expect("a short one");
    Packet {
        octets: tlp.payload.len(),
        tlp,
        frees: None,
        holds: false,
    }
}

fn completion_of(tlp: &mut Tlp) -> &mut Completion {
    match &mut tlp.header.kind {
        Kind::CplD(completion) | Kind::Cpl(completion) => completion,
        other => panic!("{other:?}"),
    }
}

fn without_data(tlp: &Tlp, status: CompletionStatus) -> Tlp {
    let mut tlp = tlp.clone();
    let mut completion = *completion_of(&mut tlp);
    completion.status = status;
    tlp.header.kind = Kind::Cpl(completion);
    tlp.header.length = Length::RESERVED;
    tlp.payload.clear();
    tlp
}

fn set_payload(tlp: &mut Tlp, payload: Vec<u8>) {
    tlp.header.length = Length::from_dwords(payload.len() / 4).expect("1 to 1024");
    tlp.payload = payload;
}

/// The packets of an answer with `fault` in a random place.
fn spoil(completions: Vec<Tlp>, fault: Option<Fault>, random: &mut Random) -> VecDeque<Packet> {
    let packet = |tlp: Tlp| Packet {
        octets: tlp.payload.len(),
        tlp,
        frees: None,
        holds: false,
    };
    let mut packets: VecDeque<Packet> = completions.into_iter().map(packet).collect();
    let count = packets.len();
    let at = random.below(count as u64) as usize;
    let last = count - 1;
    match fault {
        None | Some(Fault::Late) => {}
        Some(Fault::Poisoned) => packets[at].tlp.header.traffic.poisoned = true,
        Some(Fault::Status(status)) => {
            packets[at] = packet(without_data(&packets[at].tlp, status));
            packets.truncate(at + 1);
        }
        Some(Fault::ByteCount) => {
            let completion = completion_of(&mut packets[at].tlp);
            // 0 stands for 4096.
            completion.byte_count = match completion.byte_count ^ 1 << random.below(12) {
                0 => 4096,
                other => other,
            };
        }
        Some(Fault::LowerAddress) => {
            let completion = completion_of(&mut packets[at].tlp);
            completion.lower_address ^= 1 << random.below(7);
        }
        Some(Fault::TooLong) => {
            let mut payload = packets[last].tlp.payload.clone();
            payload.extend([0xa5; 4]);
            set_payload(&mut packets[last].tlp, payload.clone());
            packets[last].octets = payload.len();
        }
        Some(Fault::Cut) => cut(&mut packets, at),
        Some(Fault::NoData) => {
            let status = CompletionStatus::Successful;
            let mut empty = packet(without_data(&packets[at].tlp, status));
            empty.holds = random.chance(1, 2);
            packets.insert(at, empty);
        }
        Some(Fault::ShortBeats) => packets[at].octets -= 4,
        Some(Fault::LongBeats) => packets[at].octets += 4 * (1 + random.below(20) as usize),
        Some(Fault::Silent) => packets.truncate(at),
        Some(Fault::Twice) => {
            packets[last].holds = true;
            packets.push_back(packets[last].clone());
        }
        Some(Fault::Stray) => {
            let mut stray = packets[at].clone();
            let completion = completion_of(&mut stray.tlp);
            match random.below(3) {
                0 => completion.tag |= 1 << (6 + random.below(2)),
                1 => completion.tag ^= 0xc0,
                _ => completion.requester = Bdf::from_bits(DEVICE_ID ^ 1 << random.below(16)),
            }
            packets.insert(at, stray);
        }
    }
    // The tag comes back with the last packet that is for it.
    let ours = |packet: &Packet| match packet.tlp.header.kind {
        Kind::CplD(completion) | Kind::Cpl(completion) => {
            (completion.requester.bits() == DEVICE_ID && completion.tag < 64)
                .then_some(completion.tag)
        }
        _ => None,
    };
    if !fault.is_some_and(Fault::loses_tag) {
        let twice = usize::from(fault == Some(Fault::Twice));
        let place = packets.len() - 1 - twice;
        packets[place].frees = ours(&packets[place]);
    }
    packets
}

/// The completion at `at`, in two pieces that meet between two boundaries; none from there on if it
/// is too short for that.
fn cut(packets: &mut VecDeque<Packet>, at: usize) {
    let mut first = packets[at].clone();
    let mut second = first.clone();
    let payload = first.tlp.payload.clone();
    let completion = completion_of(&mut second.tlp);
    let skipped = completion.lower_address & 3;
    let start = usize::from(completion.lower_address - skipped);
    let between = |octets: &usize| (start + octets) % 64 != 0;
    let places = (1..payload.len() / 4).map(|dwords| 4 * dwords);
    let Some(octets) = places.rev().find(between) else {
        packets.truncate(at);
        return;
    };
    completion.byte_count -= octets as u16 - u16::from(skipped);
    completion.lower_address = (start + octets) as u8 & 0x7f;
    set_payload(&mut first.tlp, payload[..octets].to_vec());
    first.octets = octets;
    set_payload(&mut second.tlp, payload[octets..].to_vec());
    second.octets = payload.len() - octets;
    packets[at] = first;
    packets.insert(at + 1, second);
}
