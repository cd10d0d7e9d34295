//! A file of the peer in our address space: octets are copied in and out, by pointers only.
//!
//! The peer can write the memory at any time, so no Rust reference to it is ever formed: octets
//! move by volatile loads and stores. Addresses ascend, and each aligned word of eight octets is
//! one load or store, so a driver that polls the last word of an entry sees the words below it as
//! they were written before.
//!
//! The range is checked against the file's size when it is mapped. A peer that later shrinks its
//! file takes the memory away under the mapping: the next access to it raises SIGBUS, which ends
//! this process. Files with `F_SEAL_SHRINK` cannot do that.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{fence, Ordering};

use memmap2::{MmapOptions, MmapRaw};

/// Octets that are moved by one load or store.
const WORD_OCTETS: usize = size_of::<u64>();

/// The start of a file, mapped and shared.
pub(crate) struct Mapped {
    memory: MmapRaw,
    writable: bool,
}

impl Mapped {
    /// Maps the first `octets` of `file`, which the caller knows to be that long.
    pub fn new(file: BorrowedFd, octets: usize, writable: bool) -> io::Result<Self> {
        let mut options = MmapOptions::new();
        options.len(octets);
        let memory = if writable {
            options.map_raw(&file)?
        } else {
            options.map_raw_read_only(&file)?
        };
        Ok(Self { memory, writable })
    }

    /// Octets that are mapped.
    pub fn octets(&self) -> u64 {
        self.memory.len() as u64
    }

    /// It may be written.
    pub fn writable(&self) -> bool {
        self.writable
    }

    /// Reads octets. Panics if they are not all mapped: the caller has checked its table.
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        let mut from = self.pointer(offset, out.len()).cast_const();
        for piece in Pieces::new(from as usize, out.len()) {
            let place = &mut out[piece.at..][..piece.octets];
            if piece.octets == WORD_OCTETS {
                // SAFETY: `pointer` checked that all octets are mapped, `Pieces` that this word is
                // aligned. The mapping lives as long as `self`. No reference is formed, and any
                // bit pattern is a u64.
                let word = unsafe { from.cast::<u64>().read_volatile() };
                place.copy_from_slice(&word.to_ne_bytes());
            } else {
                // SAFETY: as above; an octet is always aligned.
                place[0] = unsafe { from.read_volatile() };
            }
            from = from.wrapping_add(piece.octets);
        }
        // What is read later is not older than this.
        fence(Ordering::Acquire);
    }

    /// Writes octets. Panics if they are not all mapped and writable: the caller has checked.
    pub fn write(&self, offset: u64, data: &[u8]) {
        assert!(
            self.writable,
            "a map that may be written has such a mapping"
        );
        // What was written earlier is visible before this.
        fence(Ordering::Release);
        let mut to = self.pointer(offset, data.len());
        for piece in Pieces::new(to as usize, data.len()) {
            let octets = &data[piece.at..][..piece.octets];
            match octets.try_into() {
                // SAFETY: `pointer` checked that all octets are mapped, the assertion that they
                // may be written, `Pieces` that this word is aligned. The mapping lives as long as
                // `self`. No reference is formed.
                Ok(word) => unsafe { to.cast::<u64>().write_volatile(u64::from_ne_bytes(word)) },
                // SAFETY: as above; an octet is always aligned.
                Err(_) => unsafe { to.write_volatile(octets[0]) },
            }
            to = to.wrapping_add(piece.octets);
        }
    }

    /// Where `octets` octets are, all of them mapped.
    fn pointer(&self, offset: u64, octets: usize) -> *mut u8 {
        let end = offset.checked_add(octets as u64);
        assert!(
            end.is_some_and(|end| end <= self.octets()),
            "the table has no map past its file's mapping"
        );
        self.memory.as_mut_ptr().wrapping_add(offset as usize)
    }
}

/// Octets to move at once: an aligned word, or one octet.
struct Piece {
    at: usize,
    octets: usize,
}

/// Cuts octets from `address` on into pieces.
struct Pieces {
    address: usize,
    at: usize,
    end: usize,
}

impl Pieces {
    fn new(address: usize, octets: usize) -> Self {
        Self {
            address,
            at: 0,
            end: octets,
        }
    }
}

impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let (at, left) = (self.at, self.end - self.at);
        let aligned = (self.address + at) % WORD_OCTETS == 0;
        let octets = match left {
            0 => return None,
            WORD_OCTETS.. if aligned => WORD_OCTETS,
            _ => 1,
        };
        self.at += octets;
        Some(Piece { at, octets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{ftruncate, memfd_create, MemfdFlags};
    use std::os::fd::AsFd;

    #[test]
    fn every_alignment_and_length_moves_exactly_its_octets() {
        let file = memfd_create("mapped", MemfdFlags::CLOEXEC).expect("memory");
        ftruncate(&file, 64).expect("memory");
        let mapped = Mapped::new(file.as_fd(), 64, true).expect("mapped");
        for offset in 0..16u64 {
            for octets in 0..40usize {
                mapped.write(0, &[0xa5; 64]);
                let data: Vec<u8> = (0..octets as u8).map(|octet| octet ^ 0x5a).collect();
                mapped.write(offset, &data);
                let mut expected = [0xa5; 64];
                expected[offset as usize..][..octets].copy_from_slice(&data);
                let mut all = [0; 64];
                mapped.read(0, &mut all);
                assert_eq!(all, expected, "{octets} octets at {offset}");
                let mut back = vec![0; octets];
                mapped.read(offset, &mut back);
                assert_eq!(back, data, "{octets} octets at {offset}");
            }
        }
    }

    #[test]
    fn aligned_words_move_at_once() {
        let pieces: Vec<usize> = Pieces::new(6, 20).map(|piece| piece.octets).collect();
        assert_eq!(pieces, [1, 1, 8, 8, 1, 1]);
    }

    #[test]
    #[should_panic(expected = "past its file's mapping")]
    fn an_access_past_the_mapping_panics() {
        let file = memfd_create("mapped", MemfdFlags::CLOEXEC).expect("memory");
        ftruncate(&file, 64).expect("memory");
        let mapped = Mapped::new(file.as_fd(), 64, true).expect("mapped");
        mapped.write(57, &[0; 8]);
    }
}
