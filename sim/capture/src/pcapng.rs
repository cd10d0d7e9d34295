//! Frames into a pcapng file: little endian, microseconds, Ethernet, several interfaces.
//!
//! The blocks are `pcap-parser`'s, which reads captures, too.

use pcap_parser::{
    EnhancedPacketBlock, InterfaceDescriptionBlock, Linktype, OptionCode, PcapNGOption,
    SectionHeaderBlock, ToVec,
};
use std::borrow::Cow;

/// Time stamps are in 10^-6 s.
const MICROSECONDS: u8 = 6;
const SNAP_OCTETS: u32 = 1 << 18;
/// Octets of the section are not known beforehand.
const UNKNOWN: i64 = -1;

/// The head of a file whose frames came by interfaces of these names.
pub fn head<'a>(interfaces: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
    let mut octets = block(SectionHeaderBlock {
        block_type: 0,
        block_len1: 0,
        bom: 0,
        major_version: 0,
        minor_version: 0,
        section_len: UNKNOWN,
        options: vec![],
        block_len2: 0,
    });
    for name in interfaces {
        octets.extend(block(InterfaceDescriptionBlock {
            block_type: 0,
            block_len1: 0,
            linktype: Linktype::ETHERNET,
            reserved: 0,
            snaplen: SNAP_OCTETS,
            options: vec![name_option(name)],
            block_len2: 0,
            if_tsresol: MICROSECONDS,
            if_tsoffset: 0,
        }));
    }
    octets
}

/// What is added for a frame that came by interface number `interface`, `microseconds` after
/// 1 January 1970.
pub fn frame(interface: u32, microseconds: u64, frame: &[u8]) -> Vec<u8> {
    block(EnhancedPacketBlock {
        block_type: 0,
        block_len1: 0,
        if_id: interface,
        ts_high: (microseconds >> 32) as u32,
        ts_low: microseconds as u32,
        caplen: frame.len() as u32,
        origlen: frame.len() as u32,
        data: frame,
        options: vec![],
        block_len2: 0,
    })
}

/// A block; its type and lengths are filled in here.
fn block(mut block: impl ToVec) -> Vec<u8> {
    block.to_vec().expect("memory takes all")
}

/// `if_name`, padded as options are.
fn name_option(name: &str) -> PcapNGOption<'_> {
    let mut value = name.as_bytes().to_vec();
    value.resize(value.len().next_multiple_of(4), 0);
    PcapNGOption {
        code: OptionCode::IfName,
        len: name.len() as u16,
        value: Cow::Owned(value),
    }
}

#[cfg(test)]
mod tests;
