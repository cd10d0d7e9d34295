//! TCP options that the crate uses: maximum segment size, window scale, SACK permitted and SACK.
//!
//! ```text
//!  kind 2 | 4 |   MSS   |            RFC 9293 section 3.7.1
//!  kind 3 | 3 | shift |              RFC 7323 section 2.2
//!  kind 4 | 2 |                      RFC 2018 section 2
//!  kind 5 | n | left edge | right edge | up to four times    RFC 2018 section 3
//! ```
//!
//! Timestamps are neither offered nor answered (module `connection`), other options are passed over
//! by their length. Options that are malformed are an error that names the octet; a segment with
//! them is to be dropped (RFC 9293, MUST-7).
use crate::seq::SeqNumber;
use thiserror::Error;

mod kind {
    pub const END: u8 = 0;
    pub const NO_OPERATION: u8 = 1;
    pub const MSS: u8 = 2;
    pub const WINDOW_SCALE: u8 = 3;
    pub const SACK_PERMITTED: u8 = 4;
    pub const SACK: u8 = 5;
}

/// Octets that options take in a header, at most.
pub const OPTION_OCTETS_MAX: usize = 40;
/// SACK blocks of a segment, at most: four fit beside nothing but two octets of padding.
pub const SACK_BLOCKS_MAX: usize = 4;
/// Largest shift of a window (RFC 7323 section 2.3); larger ones are taken as this.
pub const WINDOW_SHIFT_MAX: u8 = 14;
const BLOCK_OCTETS: usize = 8;

/// Why options cannot be read. Octets count from the first of the options.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
pub enum OptionError {
    /// An option has no length, or one that passes the end of the header.
    #[error("the option of kind {kind} at octet {at_octet} passes the end of the header")]
    Truncated {
        /// Its kind.
        kind: u8,
        /// Where it begins.
        at_octet: usize,
    },
    /// An option has a length that its kind cannot have.
    #[error("the option of kind {kind} at octet {at_octet} has length {length_octets}")]
    Length {
        /// Its kind.
        kind: u8,
        /// Where it begins.
        at_octet: usize,
        /// Its length octet.
        length_octets: u8,
    },
}

/// Up to four SACK blocks, each the numbers of its first octet and of the one after its last.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct SackBlocks {
    blocks: [(SeqNumber, SeqNumber); SACK_BLOCKS_MAX],
    count: u8,
}

impl SackBlocks {
    /// Append a block, if there is room.
    pub fn push(&mut self, left: SeqNumber, right: SeqNumber) {
        if let Some(block) = self.blocks.get_mut(usize::from(self.count)) {
            *block = (left, right);
            self.count += 1;
        }
    }

    /// The blocks, in the order of the segment.
    pub fn as_slice(&self) -> &[(SeqNumber, SeqNumber)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// There is none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// The options of a segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct Options {
    /// Maximum segment size that the sender of the segment can receive, in octets.
    pub mss: Option<u16>,
    /// Shift of the windows that it will announce.
    pub window_shift: Option<u8>,
    /// It can read SACK blocks.
    pub sack_permitted: bool,
    /// What it has received beyond a gap.
    pub sack: SackBlocks,
}

impl Options {
    /// Read the options of a header.
    ///
    /// # Errors
    /// The first option that is malformed.
    pub fn parse(octets: &[u8]) -> Result<Self, OptionError> {
        let mut options = Self::default();
        let mut at_octet = 0;
        while let Some(&kind) = octets.get(at_octet) {
            match kind {
                kind::END => break,
                kind::NO_OPERATION => at_octet += 1,
                _ => {
                    let truncated = OptionError::Truncated { kind, at_octet };
                    let &length_octets = octets.get(at_octet + 1).ok_or(truncated)?;
                    let wrong = OptionError::Length {
                        kind,
                        at_octet,
                        length_octets,
                    };
                    if length_octets < 2 {
                        return Err(wrong);
                    }
                    let end = at_octet + usize::from(length_octets);
                    let value = octets.get(at_octet + 2..end).ok_or(truncated)?;
                    options.read(kind, value).ok_or(wrong)?;
                    at_octet = end;
                }
            }
        }
        Ok(options)
    }

    /// Take over an option; `None` if its length is not one of its kind.
    fn read(&mut self, kind: u8, value: &[u8]) -> Option<()> {
        match kind {
            kind::MSS => self.mss = Some(u16::from_be_bytes(value.try_into().ok()?)),
            kind::WINDOW_SCALE => {
                let [shift] = value.try_into().ok()?;
                self.window_shift = Some(shift.min(WINDOW_SHIFT_MAX));
            }
            kind::SACK_PERMITTED => {
                let [] = value.try_into().ok()?;
                self.sack_permitted = true;
            }
            kind::SACK => {
                if value.is_empty() || value.len() % BLOCK_OCTETS != 0 {
                    return None;
                }
                for block in value.chunks_exact(BLOCK_OCTETS) {
                    let (left, right) = block.split_at(BLOCK_OCTETS / 2);
                    let number = |octets: &[u8]| {
                        octets
                            .try_into()
                            .ok()
                            .map(u32::from_be_bytes)
                            .map(SeqNumber)
                    };
                    self.sack.push(number(left)?, number(right)?);
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Octets that [`Self::emit`] writes, a multiple of four.
    pub fn octets(&self) -> usize {
        let blocks = self.sack.as_slice().len();
        let sack = if blocks > 0 {
            4 + BLOCK_OCTETS * blocks
        } else {
            0
        };
        let present = [
            self.mss.is_some(),
            self.window_shift.is_some(),
            self.sack_permitted,
        ];
        4 * present.into_iter().filter(|present| *present).count() + sack
    }

    /// Write the options and return how many octets they take, a multiple of four. Each option is
    /// aligned to four octets by the no-operations before it, as RFC 7323 appendix A has it.
    pub fn emit(&self, buffer: &mut [u8; OPTION_OCTETS_MAX]) -> usize {
        let mut octets = 0;
        let mut write = |option: &[u8]| {
            if let Some(room) = buffer.get_mut(octets..octets + option.len()) {
                room.copy_from_slice(option);
                octets += option.len();
            }
        };
        if let Some(mss) = self.mss {
            let [high, low] = mss.to_be_bytes();
            write(&[kind::MSS, 4, high, low]);
        }
        if self.sack_permitted {
            write(&[
                kind::NO_OPERATION,
                kind::NO_OPERATION,
                kind::SACK_PERMITTED,
                2,
            ]);
        }
        if let Some(shift) = self.window_shift {
            write(&[kind::NO_OPERATION, kind::WINDOW_SCALE, 3, shift]);
        }
        let blocks = self.sack.as_slice();
        if !blocks.is_empty() {
            let length = 2 + (BLOCK_OCTETS * blocks.len()) as u8;
            write(&[kind::NO_OPERATION, kind::NO_OPERATION, kind::SACK, length]);
            for (left, right) in blocks {
                write(&left.0.to_be_bytes());
                write(&right.0.to_be_bytes());
            }
        }
        octets
    }
}

#[cfg(test)]
mod tests;
