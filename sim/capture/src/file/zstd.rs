//! A Zstandard frame, block by block, so that of a file that ends too early each whole block comes
//! out: a decoder keeps its last window back until it has seen the end of the frame.
//!
//! In: a frame from its magic number on. Out: the same octets; in place of a block that is not
//! whole, an empty last one (RFC 8878 section 3.1.1).

use std::io::{self, BufRead, Read};

const MAGIC_OCTETS: usize = 4;
const BLOCK_HEADER_OCTETS: usize = 3;
const CHECKSUM_OCTETS: usize = 4;
/// A raw block without octets that is the last one of its frame.
const EMPTY_LAST_BLOCK: [u8; BLOCK_HEADER_OCTETS] = [1, 0, 0];
/// The type of a block whose one octet is repeated.
const TYPE_REPEATED: u8 = 1;

/// Where the frame is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Next {
    Header,
    Block,
    Checksum,
    Nothing,
}

/// The octets of one frame, its last block replaced if the input ends in it.
#[derive(Debug)]
pub(super) struct WholeBlocks<R> {
    input: R,
    next: Next,
    has_checksum: bool,
    is_cut: bool,
    ready: Vec<u8>,
    given: usize,
}

impl<R: BufRead> WholeBlocks<R> {
    /// The frame that `input` is at.
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            next: Next::Header,
            has_checksum: false,
            is_cut: false,
            ready: Vec::new(),
            given: 0,
        }
    }

    /// The input after the frame, and whether it ended inside of it.
    pub(super) fn into_parts(self) -> (R, bool) {
        (self.input, self.is_cut)
    }

    /// Read on until `octets` are ready, or the input ends; says whether they are.
    fn fill(&mut self, octets: usize) -> io::Result<bool> {
        let missing = octets.saturating_sub(self.ready.len()) as u64;
        self.input
            .by_ref()
            .take(missing)
            .read_to_end(&mut self.ready)?;
        Ok(self.ready.len() >= octets)
    }

    /// What is ready next.
    fn read_on(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.given = 0;
        match self.next {
            Next::Header => self.header(),
            Next::Block => self.block(),
            Next::Checksum => {
                self.is_cut = !self.fill(CHECKSUM_OCTETS)?;
                self.ready.resize(CHECKSUM_OCTETS, 0);
                self.next = Next::Nothing;
                Ok(())
            }
            Next::Nothing => Ok(()),
        }
    }

    /// A header that is not whole is left to the decoder to refuse.
    fn header(&mut self) -> io::Result<()> {
        self.next = Next::Nothing;
        if !self.fill(MAGIC_OCTETS + 1)? {
            return Ok(());
        }
        let descriptor = self.ready[MAGIC_OCTETS];
        let is_single = descriptor & 0x20 != 0;
        let dictionary_octets = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let size_octets = match descriptor >> 6 {
            0 => usize::from(is_single),
            log2 => 1 << log2,
        };
        let window_octets = usize::from(!is_single);
        let rest = window_octets + dictionary_octets + size_octets;
        if self.fill(MAGIC_OCTETS + 1 + rest)? {
            self.has_checksum = descriptor & 4 != 0;
            self.next = Next::Block;
        }
        Ok(())
    }

    fn block(&mut self) -> io::Result<()> {
        let mut is_whole = self.fill(BLOCK_HEADER_OCTETS)?;
        let mut is_last = true;
        if is_whole {
            let header = u32::from_le_bytes([self.ready[0], self.ready[1], self.ready[2], 0]);
            is_last = header & 1 != 0;
            let octets = match (header >> 1 & 3) as u8 {
                TYPE_REPEATED => 1,
                _ => (header >> 3) as usize,
            };
            is_whole = self.fill(BLOCK_HEADER_OCTETS + octets)?;
        }
        self.next = match (is_last || !is_whole, self.has_checksum) {
            (true, true) => Next::Checksum,
            (true, false) => Next::Nothing,
            (false, _) => Next::Block,
        };
        if !is_whole {
            self.is_cut = true;
            self.ready = EMPTY_LAST_BLOCK.to_vec();
        }
        Ok(())
    }
}

impl<R: BufRead> Read for WholeBlocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready.len() {
            self.read_on()?;
        }
        let left = &self.ready[self.given..];
        let octets = left.len().min(buffer.len());
        buffer[..octets].copy_from_slice(&left[..octets]);
        self.given += octets;
        Ok(octets)
    }
}
