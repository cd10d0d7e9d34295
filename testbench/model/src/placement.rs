//! Host memory as the device may write it: named pieces at bus addresses, nothing between them.
//!
//! A piece may be larger than the machine's memory: of a large one, pages are made when they are
//! written. Which octets were written is known, so nobody needs to read the others.

use rangemap::RangeSet;
use std::collections::BTreeMap;
use std::ops::Range;

/// Octets of a page of a large piece.
const PAGE_OCTETS: usize = 4096;
/// A piece of no more octets is there from the beginning.
const DENSE_OCTETS_MAX: u64 = 1 << 16;

/// Octets of an FPDU that may be in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Bus address of the first one.
    pub address: u64,
    /// The octets.
    pub data: Vec<u8>,
}

/// Mapped memory. A write outside of it is kept as a violation and changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pieces: BTreeMap<u64, Piece>,
    /// Writes that left mapped memory: address and octets.
    pub violations: Vec<(u64, usize)>,
    /// Memory is somebody else's: what is written is put here, in order, and nothing is mapped.
    pub handed_on: Option<Vec<Placement>>,
}

/// Octets from one bus address on; zero until they are written.
#[derive(Clone, Debug)]
struct Piece {
    octets: u64,
    content: Content,
    /// By their distance from the first one.
    written: RangeSet<u64>,
}

#[derive(Clone, Debug)]
enum Content {
    Dense(Vec<u8>),
    /// By number of the page.
    Pages(BTreeMap<u64, Box<[u8; PAGE_OCTETS]>>),
}

impl Memory {
    /// Map `octets` zeroed octets at `address`.
    pub fn map(&mut self, address: u64, octets: usize) {
        let octets = octets as u64;
        let content = match octets > DENSE_OCTETS_MAX {
            true => Content::Pages(BTreeMap::new()),
            false => Content::Dense(vec![0; octets as usize]),
        };
        let piece = Piece {
            octets,
            content,
            written: RangeSet::new(),
        };
        self.pieces.insert(address, piece);
    }

    /// Unmap the piece that starts at `address`.
    pub fn unmap(&mut self, address: u64) {
        self.pieces.remove(&address);
    }

    /// The device writes `data` at `address`.
    pub fn write(&mut self, address: u64, data: &[u8]) {
        if let Some(handed_on) = &mut self.handed_on {
            let data = data.to_vec();
            return handed_on.push(Placement { address, data });
        }
        let piece = self.pieces.range_mut(..=address).next_back();
        let target = piece.and_then(|(base, piece)| {
            let from = address - base;
            let end = from.checked_add(data.len() as u64)?;
            (end <= piece.octets).then_some((from, piece))
        });
        match target {
            Some((from, piece)) => piece.write(from, data),
            None => self.violations.push((address, data.len())),
        }
    }

    /// `octets` octets from `address`, if they are in one mapped piece.
    pub fn read(&self, address: u64, octets: usize) -> Option<Vec<u8>> {
        let (base, piece) = self.pieces.range(..=address).next_back()?;
        let from = address - base;
        let end = from.checked_add(octets as u64)?;
        (end <= piece.octets).then(|| piece.read(from, octets))
    }

    /// Where the device has written between `address` and `octets` octets after it, in one mapped
    /// piece: bus addresses in order, none next to another.
    pub fn written(&self, address: u64, octets: u64) -> Vec<Range<u64>> {
        let Some((&base, piece)) = self.pieces.range(..=address).next_back() else {
            return Vec::new();
        };
        let within = address - base..(address - base).saturating_add(octets);
        let parts = piece.written.overlapping(&within);
        let clipped =
            parts.map(|part| base + part.start.max(within.start)..base + part.end.min(within.end));
        clipped.collect()
    }
}

impl Piece {
    fn write(&mut self, from: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        self.written.insert(from..from + data.len() as u64);
        let pages = match &mut self.content {
            Content::Dense(octets) => {
                return octets[from as usize..][..data.len()].copy_from_slice(data);
            }
            Content::Pages(pages) => pages,
        };
        let mut done = 0;
        for (page, within) in parts(from, data.len()) {
            let octets = pages
                .entry(page)
                .or_insert_with(|| Box::new([0; PAGE_OCTETS]));
            let next = done + within.len();
            octets[within].copy_from_slice(&data[done..next]);
            done = next;
        }
    }

    fn read(&self, from: u64, octets: usize) -> Vec<u8> {
        let pages = match &self.content {
            Content::Dense(content) => return content[from as usize..][..octets].to_vec(),
            Content::Pages(pages) => pages,
        };
        let mut found = vec![0; octets];
        let mut done = 0;
        for (page, within) in parts(from, octets) {
            let next = done + within.len();
            if let Some(octets) = pages.get(&page) {
                found[done..next].copy_from_slice(&octets[within]);
            }
            done = next;
        }
        found
    }
}

/// The pages that `octets` octets from `from` on lie in, and where in each.
fn parts(from: u64, octets: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
    let (mut at, end) = (from, from + octets as u64);
    std::iter::from_fn(move || {
        if at == end {
            return None;
        }
        let (page, start) = (at / PAGE_OCTETS as u64, (at % PAGE_OCTETS as u64) as usize);
        let octets = (PAGE_OCTETS - start).min((end - at) as usize);
        at += octets as u64;
        Some((page, start..start + octets))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A piece of 2^46 octets takes what is written of it.
    #[test]
    fn a_piece_takes_memory_where_it_is_written() {
        let (base, octets) = (0x1_0000_0123, 1_usize << 46);
        let mut memory = Memory::default();
        memory.map(base, octets);
        let last = base + octets as u64 - 3;
        let data: Vec<u8> = (0..10_000).map(|octet| octet as u8).collect();
        memory.write(base + 4090, &data);
        memory.write(last, &[1, 2, 3]);
        memory.write(last + 1, &[9; 3]);
        assert_eq!(memory.violations, [(last + 1, 3)]);
        assert_eq!(memory.read(base + 4090, data.len()), Some(data));
        assert_eq!(memory.read(last - 1, 4), Some(vec![0, 1, 2, 3]));
        assert_eq!(memory.read(last, 4), None);
        let written = memory.written(base, octets as u64);
        assert_eq!(written, [base + 4090..base + 14_090, last..last + 3]);
        let within = base + 5000..base + 5010;
        assert_eq!(
            memory.written(within.start, 10),
            std::slice::from_ref(&within)
        );
        assert_eq!(memory.written(base + 20_000, 10), []);
    }

    /// Both kinds of piece, at the limit between them, hold the same.
    #[test]
    fn large_and_small_pieces_hold_the_same() {
        for octets in [DENSE_OCTETS_MAX, DENSE_OCTETS_MAX + 1] {
            let mut memory = Memory::default();
            memory.map(0, octets as usize);
            memory.write(octets - 5000, &[7; 5000]);
            memory.write(octets - 1, &[7; 2]);
            assert_eq!(memory.violations.len(), 1);
            let found = memory.read(octets - 5001, 5001).expect("it is mapped");
            assert!(found[0] == 0 && found[1..].iter().all(|&octet| octet == 7));
        }
    }
}
