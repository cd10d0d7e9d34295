//! The DDP header of a segment that the device refused, as an Error entry holds it.
//!
//! The entry holds the header without its reserved bits, which are zero in what a sender of RFC
//! 5041 emits (`rnic_abi::cqe`).

use rnic_abi::errors::LAYER_MPA;
use rnic_wire::ddp::control::{FLAG_LAST, FLAG_TAGGED};
use rnic_wire::ddp::{tagged, untagged};

/// The DDP header of a segment that the device refused, its reserved bits zero.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct RefusedHeader {
    octets: [u8; untagged::HEADER_OCTETS],
}

impl RefusedHeader {
    /// The header in an Error entry, if there is one (`rnic_abi::cqe`).
    pub(crate) fn decode(words: &[u32; 8]) -> Option<Self> {
        let is_tagged = words[0] >> 10 & 1 == 1;
        let needed = if is_tagged {
            tagged::HEADER_OCTETS
        } else {
            untagged::HEADER_OCTETS
        };
        if words[1] & 0xf == LAYER_MPA || (words[1] >> 16) < needed as u32 {
            return None;
        }
        let mut octets = [0; untagged::HEADER_OCTETS];
        // T, L, DV; RV, opcode.
        let bits = |low: u32, mask: u32| (words[0] >> low & mask) as u8;
        octets[0] = (bits(10, 1) * FLAG_TAGGED) | (bits(11, 1) * FLAG_LAST) | bits(12, 3);
        octets[1] = bits(14, 3) << 6 | bits(4, 0xf);
        for (target, word) in octets[2..].chunks_exact_mut(4).zip(&words[3..7]) {
            target.copy_from_slice(&word.to_be_bytes());
        }
        Some(Self { octets })
    }

    /// 14 octets of a tagged header, 18 of an untagged one, as on the wire.
    pub fn octets(&self) -> &[u8] {
        match self.octets[0] & FLAG_TAGGED != 0 {
            true => &self.octets[..tagged::HEADER_OCTETS],
            false => &self.octets,
        }
    }
}
