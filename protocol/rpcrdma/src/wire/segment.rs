//! Segments of remote memory (RPC-001, RPC-030).
use super::WORD_OCTETS;

/// A range of remote memory, `xdr_rdma_segment`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// The steering tag of the memory.
    pub handle: u32,
    /// Octets of the range.
    pub length: u32,
    /// The tagged offset of the first octet.
    pub offset: u64,
}

/// A segment of a read chunk, `xdr_read_chunk`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReadSegment {
    /// Octets of the XDR stream before the item: as if nothing of it were a chunk, roundup of
    /// earlier items included. All segments of an item have the same one (RPC-008).
    pub position: u32,
    /// Where the octets are.
    pub segment: Segment,
}

/// Octets of a segment.
pub(super) const SEGMENT_OCTETS: usize = 4 * WORD_OCTETS;
/// Octets of an entry of the read list.
pub(super) const READ_SEGMENT_OCTETS: usize = WORD_OCTETS + SEGMENT_OCTETS;

impl Segment {
    /// The segment that the octets of a view hold.
    pub(super) fn read(octets: &[u8; SEGMENT_OCTETS]) -> Self {
        let [h0, h1, h2, h3, l0, l1, l2, l3, offset @ ..] = *octets;
        Self {
            handle: u32::from_be_bytes([h0, h1, h2, h3]),
            length: u32::from_be_bytes([l0, l1, l2, l3]),
            offset: u64::from_be_bytes(offset),
        }
    }

    pub(super) fn append(self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(&self.handle.to_be_bytes());
        buffer.extend_from_slice(&self.length.to_be_bytes());
        buffer.extend_from_slice(&self.offset.to_be_bytes());
    }

    /// The last octet is within 64 bits of address.
    pub(super) fn has_end(self) -> bool {
        let last = u64::from(self.length).saturating_sub(1);
        self.offset.checked_add(last).is_some()
    }

    /// The segment and `other` have an octet in common.
    pub(super) fn overlaps(self, other: Self) -> bool {
        let end = |segment: Self| u128::from(segment.offset) + u128::from(segment.length);
        let begin = self.offset.max(other.offset);
        self.handle == other.handle && u128::from(begin) < end(self).min(end(other))
    }
}

impl ReadSegment {
    pub(super) fn read(octets: &[u8; READ_SEGMENT_OCTETS]) -> Self {
        let [p0, p1, p2, p3, segment @ ..] = octets;
        let position = u32::from_be_bytes([*p0, *p1, *p2, *p3]);
        Self {
            position,
            segment: Segment::read(segment),
        }
    }

    pub(super) fn append(self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(&self.position.to_be_bytes());
        self.segment.append(buffer);
    }
}

/// `segments` of a chunk with the lengths of what was written into it: `octets`, in order and
/// without gaps (RPC-013, RPC-016). Segments that got nothing have length 0, as do all of a chunk
/// that is not used.
pub fn shortened<I>(segments: I, octets: u64) -> Shortened<I::IntoIter>
where
    I: IntoIterator<Item = Segment>,
{
    Shortened {
        segments: segments.into_iter(),
        octets,
    }
}

/// Segments with the lengths of what was written; see [`shortened`].
#[derive(Clone, Debug)]
pub struct Shortened<I> {
    segments: I,
    octets: u64,
}

impl<I: Iterator<Item = Segment>> Iterator for Shortened<I> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let segment = self.segments.next()?;
        let length = self.octets.min(u64::from(segment.length));
        self.octets -= length;
        Some(Segment {
            length: length as u32,
            ..segment
        })
    }
}
