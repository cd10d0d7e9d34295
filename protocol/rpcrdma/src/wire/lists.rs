//! Iterators over the chunk lists of a header that was checked.
use super::segment::{ReadSegment, Segment, READ_SEGMENT_OCTETS, SEGMENT_OCTETS};
use super::WORD_OCTETS;

/// A word at the head of `octets`, and the rest.
pub(super) fn word(octets: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = octets.split_first_chunk::<WORD_OCTETS>()?;
    Some((u32::from_be_bytes(*word), rest))
}

/// Entries of a read list, in order.
#[derive(Clone, Debug)]
pub struct Reads<'a> {
    octets: &'a [u8],
}

impl<'a> Reads<'a> {
    pub(super) fn new(octets: &'a [u8]) -> Self {
        Self { octets }
    }
}

impl Iterator for Reads<'_> {
    type Item = ReadSegment;

    fn next(&mut self) -> Option<ReadSegment> {
        let (1, octets) = word(self.octets)? else {
            return None;
        };
        let (entry, rest) = octets.split_first_chunk::<READ_SEGMENT_OCTETS>()?;
        self.octets = rest;
        Some(ReadSegment::read(entry))
    }
}

/// Chunks of a write list, in order: one for each result (RPC-012).
#[derive(Clone, Debug)]
pub struct WriteChunks<'a> {
    octets: &'a [u8],
}

impl<'a> WriteChunks<'a> {
    pub(super) fn new(octets: &'a [u8]) -> Self {
        Self { octets }
    }
}

impl<'a> Iterator for WriteChunks<'a> {
    type Item = WriteChunk<'a>;

    fn next(&mut self) -> Option<WriteChunk<'a>> {
        let (1, octets) = word(self.octets)? else {
            return None;
        };
        let (chunk, rest) = WriteChunk::split(octets)?;
        self.octets = rest;
        Some(chunk)
    }
}

/// A counted array of segments: a chunk of a write list, or a reply chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteChunk<'a> {
    octets: &'a [u8],
}

impl<'a> WriteChunk<'a> {
    /// The chunk at the head of `octets`, and what comes after it.
    pub(super) fn split(octets: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (count, octets) = word(octets)?;
        let length = (count as usize).checked_mul(SEGMENT_OCTETS)?;
        let (octets, rest) = octets.split_at_checked(length)?;
        Some((Self { octets }, rest))
    }

    /// How many segments there are.
    #[must_use]
    pub fn count(self) -> usize {
        self.octets.len() / SEGMENT_OCTETS
    }

    /// The segments, in order.
    #[must_use]
    pub fn segments(self) -> Segments<'a> {
        Segments {
            octets: self.octets,
        }
    }

    /// Octets of all segments.
    #[must_use]
    pub fn octets(self) -> u64 {
        self.segments()
            .map(|segment| u64::from(segment.length))
            .sum()
    }
}

/// Segments of a chunk, in order.
#[derive(Clone, Debug)]
pub struct Segments<'a> {
    octets: &'a [u8],
}

impl Iterator for Segments<'_> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let (segment, rest) = self.octets.split_first_chunk::<SEGMENT_OCTETS>()?;
        self.octets = rest;
        Some(Segment::read(segment))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.octets.len() / SEGMENT_OCTETS;
        (count, Some(count))
    }
}

impl ExactSizeIterator for Segments<'_> {}
