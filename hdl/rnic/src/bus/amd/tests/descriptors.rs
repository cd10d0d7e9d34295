//! Descriptors of AMD's block, from the tables of PG213, and what stands beside them in `tuser`.
use super::packets::payload_words;
use pcie_sim::tlp::Completion;
use pcie_sim::{Header, Kind, Tlp};

/// A packet on one of the block's streams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packet {
    /// Descriptor and payload.
    pub words: Vec<u32>,
    /// First and last byte enables, as in a header.
    pub enables: u8,
    /// Sequence number of a request.
    pub number: u8,
}

/// Words of a descriptor of which each field is a first bit and a value.
fn words(count: usize, fields: &[(u32, u64)]) -> Vec<u32> {
    let whole = fields
        .iter()
        .fold(0u128, |sum, &(low, value)| sum | u128::from(value) << low);
    (0..count)
        .map(|word| (whole >> (32 * word)) as u32)
        .collect()
}

/// Traffic class and attributes, the class's first bit being `low`.
fn traffic(header: &Header, low: u32) -> [(u32, u64); 4] {
    let traffic = header.traffic;
    [
        (low, traffic.class.into()),
        (low + 3, traffic.no_snoop.into()),
        (low + 4, traffic.relaxed_ordering.into()),
        (low + 5, traffic.id_ordering.into()),
    ]
}

/// A memory request on RQ or CQ; `number` is that of RQ.
pub fn request(tlp: &Tlp, number: u8) -> Packet {
    let (request, kind) = match tlp.header.kind {
        Kind::MRd(request) => (request, 0),
        Kind::MWr(request) => (request, 1),
        other => panic!("{other:?}"),
    };
    let mut fields = vec![
        (0, request.address),
        (64, tlp.header.length.dwords() as u64),
        (75, kind),
        (80, request.requester.bits().into()),
        (96, request.tag.into()),
    ];
    fields.extend(traffic(&tlp.header, 121));
    let mut words = words(4, &fields);
    words.extend(payload_words(tlp));
    Packet {
        words,
        enables: request.enables.bits(),
        number,
    }
}

fn completion_of(header: &Header) -> Completion {
    match header.kind {
        Kind::Cpl(completion) | Kind::CplD(completion) => completion,
        other => panic!("{other:?}"),
    }
}

/// A completion on CC.
pub fn answer(tlp: &Tlp) -> Packet {
    let completion = completion_of(&tlp.header);
    let mut fields = vec![
        (0, completion.lower_address.into()),
        (16, completion.byte_count.into()),
        (32, tlp.payload.len() as u64 / 4),
        (43, completion.status.field().into()),
        (48, completion.requester.bits().into()),
        (64, completion.tag.into()),
        (72, completion.completer.bits().into()),
    ];
    fields.extend(traffic(&tlp.header, 89));
    let mut words = words(3, &fields);
    words.extend(payload_words(tlp));
    Packet {
        words,
        ..Packet::default()
    }
}

/// A completion on RC with an error code; the address has 12 bits there.
pub fn completion(tlp: &Tlp, error: u32, high_address: u32) -> Packet {
    let mut packet = answer(tlp);
    packet.words[0] |= high_address << 7 | error << 12;
    packet.words[1] |= u32::from(tlp.header.traffic.poisoned) << 14;
    packet
}
