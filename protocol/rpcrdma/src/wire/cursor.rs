//! The structure of a header, read in the order of its octets within the caps.
use super::header::{ErrorBody, Padding};
use super::lists::{word, WriteChunk};
use super::segment::READ_SEGMENT_OCTETS;
use super::{code, Caps, Refused, EXTRA_WORDS};

/// Octets that are not read yet, and how much of the caps is used.
pub(super) struct Cursor<'a, 'c> {
    octets: &'a [u8],
    segments: u32,
    caps: &'c Caps,
}

impl<'a, 'c> Cursor<'a, 'c> {
    pub(super) fn new(octets: &'a [u8], caps: &'c Caps) -> Self {
        Self {
            octets,
            segments: 0,
            caps,
        }
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.octets
    }

    fn word(&mut self) -> Result<u32, Refused> {
        let (word, rest) = word(self.octets).ok_or(Refused::Truncated)?;
        self.octets = rest;
        Ok(word)
    }

    /// Whether an optional value follows.
    fn option(&mut self) -> Result<bool, Refused> {
        match self.word()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Refused::Option),
        }
    }

    pub(super) fn padding(&mut self) -> Result<Padding, Refused> {
        Ok(Padding {
            align: self.word()?,
            threshold: self.word()?,
        })
    }

    pub(super) fn error(&mut self) -> Result<ErrorBody, Refused> {
        let mut word = || self.word().map_err(|_| Refused::ShortError);
        Ok(match word()? {
            code::ERR_VERS => ErrorBody::Versions {
                low: word()?,
                high: word()?,
            },
            code::ERR_CHUNK => ErrorBody::Chunk,
            code => {
                let mut words = [0; EXTRA_WORDS];
                for extra in &mut words {
                    *extra = word()?;
                }
                ErrorBody::Other { code, words }
            }
        })
    }

    /// Counts `count` segments more.
    fn count(&mut self, count: u32) -> Result<(), Refused> {
        self.segments = self.segments.saturating_add(count);
        if self.segments > self.caps.segments_max {
            return Err(Refused::Segments);
        }
        Ok(())
    }

    /// The octets of the read list, its last word included.
    pub(super) fn reads(&mut self) -> Result<&'a [u8], Refused> {
        let all = self.octets;
        while self.option()? {
            let rest = self.octets.get(READ_SEGMENT_OCTETS..);
            self.octets = rest.ok_or(Refused::Truncated)?;
            self.count(1)?;
        }
        Ok(&all[..all.len() - self.octets.len()])
    }

    fn chunk(&mut self) -> Result<WriteChunk<'a>, Refused> {
        let all = self.octets;
        let count = self.word()?;
        // Nothing is believed of the count until as many segments are there.
        let (chunk, rest) = WriteChunk::split(all).ok_or(Refused::Count)?;
        self.count(count)?;
        self.octets = rest;
        Ok(chunk)
    }

    /// The octets of the write list, its last word included.
    pub(super) fn writes(&mut self) -> Result<&'a [u8], Refused> {
        let all = self.octets;
        let mut chunks = 0;
        while self.option()? {
            self.chunk()?;
            chunks += 1;
            if chunks > self.caps.write_chunks_max {
                return Err(Refused::WriteChunks);
            }
        }
        Ok(&all[..all.len() - self.octets.len()])
    }

    pub(super) fn reply(&mut self) -> Result<Option<WriteChunk<'a>>, Refused> {
        self.option()?.then(|| self.chunk()).transpose()
    }
}
