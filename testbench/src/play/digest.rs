//! SHA-256 of memory of which most may never have been written.
//!
//! In: a receiver and a place in its memory. Out: the hash of all octets there, and of each range
//! that was written. Memory that was not written is zero, and is hashed without being read.

use crate::play::dut::Dut;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// A longer place has no hash of all its octets.
pub const OCTETS_MAX: u64 = 1 << 30;
/// Octets that were never written, of which a flow's places may have so many hashed together: of
/// what comes after only the written ranges have hashes. They take a second.
pub const ZEROS_MAX: u64 = 1 << 31;
/// Octets read and hashed at a time.
const PART_OCTETS: u64 = 1 << 20;

/// A range of a region that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Octets of the region before it.
    pub offset: u64,
    /// Octets.
    pub length: u64,
    /// SHA-256 of them.
    pub sha256: String,
}

/// The ranges that were written in `octets` octets from `address` on.
pub fn written(dut: &dyn Dut, address: u64, octets: u64) -> Vec<Written> {
    let ranges = dut.written(address, octets).into_iter();
    let hashed = ranges.map(|range| {
        let mut hasher = Sha256::new();
        read(dut, &mut hasher, range.start, range.end);
        Written {
            offset: range.start - address,
            length: range.end - range.start,
            sha256: hexadecimal(&hasher.finalize()),
        }
    });
    hashed.collect()
}

/// SHA-256 of `octets` octets from `address` on; `zeros_left` are the octets that may be hashed
/// without having been written, and are counted down. `None` if there are too many of either.
pub fn sha256(dut: &dyn Dut, address: u64, octets: u64, zeros_left: &mut u64) -> Option<String> {
    let ranges = dut.written(address, octets);
    let written: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    if octets > OCTETS_MAX || octets - written > *zeros_left {
        return None;
    }
    *zeros_left -= octets - written;
    let mut hasher = Sha256::new();
    let mut at = address;
    for range in ranges {
        zeros(&mut hasher, range.start - at);
        read(dut, &mut hasher, range.start, range.end);
        at = range.end;
    }
    zeros(&mut hasher, address + octets - at);
    Some(hexadecimal(&hasher.finalize()))
}

fn read(dut: &dyn Dut, hasher: &mut Sha256, start: u64, end: u64) {
    let mut at = start;
    while at < end {
        let octets = (end - at).min(PART_OCTETS);
        hasher.update(dut.read(at, octets as usize));
        at += octets;
    }
}

fn zeros(hasher: &mut Sha256, mut octets: u64) {
    static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
    while octets > 0 {
        let part = octets.min(ZEROS.len() as u64);
        hasher.update(&ZEROS[..part as usize]);
        octets -= part;
    }
}

fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|octet| format!("{octet:02x}")).collect()
}
