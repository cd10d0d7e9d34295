//! Random packets: memory requests and completions with every field drawn.
use pcie_sim::tlp::{AddressFormat, Completion, CompletionStatus, MemoryRequest, Traffic};
use pcie_sim::{Bdf, ByteEnables, Header, Kind, Length, Tlp};
use rnic_hdl_tools::testkit::Random;

/// Any traffic class and attributes.
fn traffic(random: &mut Random) -> Traffic {
    Traffic {
        class: random.below(8) as u8,
        id_ordering: random.chance(1, 2),
        relaxed_ordering: random.chance(1, 2),
        no_snoop: random.chance(1, 2),
        ..Traffic::default()
    }
}

fn octets(random: &mut Random, dwords: usize) -> Vec<u8> {
    (0..4 * dwords).map(|_| random.below(256) as u8).collect()
}

/// A memory request of up to `most` doublewords.
pub fn memory(random: &mut Random, is_write: bool, most: usize) -> Tlp {
    let dwords = match random.below(6) {
        0 => 1,
        1 => most,
        _ => 1 + random.below(most as u64) as usize,
    };
    let long = random.below(2) << 32;
    let address =
        long | (random.below(1 << 20) * 4096 + random.below(1024 - dwords as u64 + 1) * 4);
    let enables = match dwords {
        1 => ByteEnables::new(random.below(16) as u8, 0),
        _ => ByteEnables::new(15 << random.below(4), 15 >> random.below(4)),
    };
    let request = MemoryRequest {
        requester: Bdf::from_bits(random.below(1 << 16) as u16),
        tag: random.below(256) as u8,
        enables,
        format: AddressFormat::for_address(address),
        address,
    };
    let payload = octets(random, if is_write { dwords } else { 0 });
    Tlp {
        header: Header {
            traffic: traffic(random),
            length: Length::from_dwords(dwords).expect("1 to 1024"),
            kind: if is_write {
                Kind::MWr(request)
            } else {
                Kind::MRd(request)
            },
        },
        payload,
    }
}

/// A completion of up to `most` doublewords, or one without data.
pub fn completion(random: &mut Random, most: usize) -> Tlp {
    let dwords = random.below(most as u64 + 1) as usize;
    let completion = Completion {
        completer: Bdf::from_bits(random.below(1 << 16) as u16),
        status: match dwords {
            0 if random.chance(1, 2) => CompletionStatus::CompleterAbort,
            0 => CompletionStatus::UnsupportedRequest,
            _ => CompletionStatus::Successful,
        },
        byte_count_modified: false,
        byte_count: match random.below(4) {
            0 => 4096,
            _ => 4 * dwords.max(1) as u16,
        },
        requester: Bdf::from_bits(random.below(1 << 16) as u16),
        tag: random.below(256) as u8,
        lower_address: 4 * random.below(32) as u8,
    };
    let (length, kind) = match dwords {
        0 => (Length::RESERVED, Kind::Cpl(completion)),
        _ => (
            Length::from_dwords(dwords).expect("1 to 1024"),
            Kind::CplD(completion),
        ),
    };
    Tlp {
        header: Header {
            traffic: traffic(random),
            length,
            kind,
        },
        payload: octets(random, dwords),
    }
}

pub fn packed(header: &Header) -> [u32; 4] {
    let mut words = [0; 4];
    let packed = header.pack().expect("well formed");
    words[..packed.len()].copy_from_slice(&packed);
    words
}

/// The payload as doublewords.
pub fn payload_words(tlp: &Tlp) -> Vec<u32> {
    let words = tlp.payload.chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes(word.try_into().expect("four octets")))
        .collect()
}
