//! A received message, taken apart without a copy.
use super::message::Item;
use super::rounded;
use crate::place::Place;
use crate::wire::{Header, Padding, Refused, WORD_OCTETS};
use std::fmt;

/// An opaque of a received message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque<'a> {
    /// It is among the inline octets.
    Inline {
        /// The data, without roundup.
        octets: &'a [u8],
        /// The same data in the memory that the message was received in, if that is known; aligned
        /// as was agreed, if the message is padded.
        place: Option<Place>,
    },
    /// It is a chunk.
    Chunk(Place),
}

impl Opaque<'_> {
    /// Octets of the data.
    #[must_use]
    pub fn length(&self) -> u32 {
        match self {
            // A count said so.
            Self::Inline { octets, .. } => octets.len() as u32,
            Self::Chunk(place) => place.length,
        }
    }

    /// Where the data is in registered memory.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Inline { place, .. } => *place,
            Self::Chunk(place) => Some(*place),
        }
    }
}

/// Why a stream cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// It ends within a field.
    Truncated,
    /// A count is above what the reader of the field allows.
    TooLong,
    /// A number is none of those that the protocol gives a meaning.
    Unknown,
    /// Octets are left after the last field.
    Trailing,
    /// A chunk is wrong: the call is refused as a whole.
    Chunk(Refused),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => formatter.write_str("the message ends within a field"),
            Self::TooLong => formatter.write_str("a count is too high"),
            Self::Unknown => formatter.write_str("a number without a meaning"),
            Self::Trailing => formatter.write_str("octets after the last field"),
            Self::Chunk(refused) => refused.fmt(formatter),
        }
    }
}

impl std::error::Error for DecodeError {}

/// Reads fields of a message, in order.
///
/// ```
/// use rpcrdma::place::{MemoryId, Place};
/// use rpcrdma::stream::{Item, Opaque, Reader};
///
/// // A word, and the count of an opaque whose five octets were read from the peer.
/// let inline = [0, 0, 0, 9, 0, 0, 0, 5];
/// let sink = Place { memory: MemoryId(1), offset: 4096, length: 5 };
/// let chunks = [Item { position: 8, place: sink }];
/// let mut reader = Reader::new(&inline).with_chunks(&chunks);
/// assert_eq!(reader.u32()?, 9);
/// assert_eq!(reader.opaque(1 << 20)?, Opaque::Chunk(sink));
/// reader.finish()?;
/// # Ok::<(), rpcrdma::stream::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    inline: &'a [u8],
    /// Inline octets that were read.
    at: usize,
    /// Octets of the unreduced stream that were read.
    position: u64,
    chunks: &'a [Item],
    results: &'a [Place],
    padding: Option<Padding>,
    /// Octets of the Send before the inline ones.
    header_octets: u64,
    origin: Option<Place>,
}

impl<'a> Reader<'a> {
    /// A reader of a reduced stream, from its first octet on.
    #[must_use]
    pub fn new(inline: &'a [u8]) -> Self {
        Self {
            inline,
            at: 0,
            position: 0,
            chunks: &[],
            results: &[],
            padding: None,
            header_octets: 0,
            origin: None,
        }
    }

    /// A reader of the body of a Send, which was received at the head of `origin`.
    #[must_use]
    pub fn of_send(header: &Header<'a>, origin: Option<Place>) -> Self {
        Self {
            padding: header.padding(),
            header_octets: header.octets() as u64,
            origin,
            ..Self::new(header.body())
        }
    }

    /// With read chunks, by ascending position: each with the place that all its octets are in now.
    /// The position 0 chunk is not among them, but is the stream.
    #[must_use]
    pub fn with_chunks(self, chunks: &'a [Item]) -> Self {
        Self { chunks, ..self }
    }

    /// With the chunks of a returned write list, each with the octets that were written into it.
    #[must_use]
    pub fn with_results(self, results: &'a [Place]) -> Self {
        Self { results, ..self }
    }

    /// Octets of the unreduced stream that were read.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Inline octets that are not read yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.inline.len() - self.at
    }

    /// `length` inline octets, none of which is beyond the place of a chunk.
    fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let end = self.position + length as u64;
        if self
            .chunks
            .first()
            .is_some_and(|chunk| u64::from(chunk.position) < end)
        {
            return Err(DecodeError::Chunk(Refused::NotEligible));
        }
        let octets = self
            .inline
            .get(self.at..)
            .and_then(|rest| rest.get(..length));
        let octets = octets.ok_or(DecodeError::Truncated)?;
        self.at += length;
        self.position = end;
        Ok(octets)
    }

    /// Roundup of an inline field of `length` octets. Where no inline octet is left it may be
    /// missing: the stream goes on at the next chunk (RPC-018).
    fn roundup(&mut self, length: u32) -> Result<(), DecodeError> {
        let octets = rounded(length) - u64::from(length);
        if self.remaining() == 0 {
            self.position += octets;
            return Ok(());
        }
        self.take(octets as usize).map(drop)
    }

    /// A word.
    ///
    /// # Errors
    /// The octets end, or a chunk is where the word should be.
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        let word = self.take(WORD_OCTETS)?.first_chunk();
        word.map(|word| u32::from_be_bytes(*word))
            .ok_or(DecodeError::Truncated)
    }

    /// A double word.
    ///
    /// # Errors
    /// As for [`Reader::u32`].
    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        let (high, low) = (u64::from(self.u32()?), u64::from(self.u32()?));
        Ok((high << 32) + low)
    }

    /// An opaque of a fixed length, which neither is a chunk nor is padded.
    ///
    /// # Errors
    /// As for [`Reader::u32`].
    pub fn fixed(&mut self, length: u32) -> Result<&'a [u8], DecodeError> {
        let octets = self.take(length as usize)?;
        self.roundup(length)?;
        Ok(octets)
    }

    fn count(&mut self, max: u32) -> Result<u32, DecodeError> {
        let count = self.u32()?;
        if count > max {
            return Err(DecodeError::TooLong);
        }
        Ok(count)
    }

    /// The data of a counted opaque that is inline, after its pad.
    fn data(&mut self, count: u32) -> Result<Opaque<'a>, DecodeError> {
        let send_at = |at: usize| self.header_octets + at as u64;
        let pad = self
            .padding
            .map_or(0, |padding| padding.pad(send_at(self.at), count));
        let at = self.at.saturating_add(pad as usize);
        let place = u32::try_from(send_at(at)).ok().zip(self.origin);
        let place = place.and_then(|(at, origin)| origin.part(at, count));
        // Pad is no part of the stream: it moves no position.
        self.at = at;
        let octets = self.take(count as usize)?;
        self.roundup(count)?;
        Ok(Opaque::Inline { octets, place })
    }

    /// A counted opaque of at most `max` octets that the program does not let be a chunk; it may be
    /// padded.
    ///
    /// # Errors
    /// As for [`Reader::u32`], or it is too long.
    pub fn inline_opaque(&mut self, max: u32) -> Result<&'a [u8], DecodeError> {
        let count = self.count(max)?;
        match self.data(count)? {
            Opaque::Inline { octets, .. } => Ok(octets),
            Opaque::Chunk(_) => Err(DecodeError::Chunk(Refused::NotEligible)),
        }
    }

    /// A counted opaque of at most `max` octets that the program lets be a chunk: inline, padded, a
    /// read chunk of its position (RPC-014), or the result in the next write chunk (RPC-017).
    ///
    /// # Errors
    /// As for [`Reader::u32`]; or it is too long, or the chunk has another length (RPC-009).
    pub fn opaque(&mut self, max: u32) -> Result<Opaque<'a>, DecodeError> {
        let count = self.count(max)?;
        // The whole chunk is taken, even if the item is elsewhere.
        let written = self.results.split_first().map(|(written, rest)| {
            self.results = rest;
            *written
        });
        let written = written.filter(|written| written.length > 0);
        let read = self.chunks.split_first();
        let read = read.filter(|(chunk, _)| u64::from(chunk.position) == self.position);
        match (read, written) {
            (None, None) => self.data(count),
            (Some((chunk, rest)), None) => {
                self.chunks = rest;
                self.chunk(chunk.place, count)
            }
            (None, Some(place)) => self.chunk(place, count),
            (Some(_), Some(_)) => Err(DecodeError::Chunk(Refused::ItemLength)),
        }
    }

    /// An item that is in a chunk, whose length may include roundup (RPC-020).
    fn chunk(&mut self, place: Place, count: u32) -> Result<Opaque<'a>, DecodeError> {
        if place.length != count && u64::from(place.length) != rounded(count) {
            return Err(DecodeError::Chunk(Refused::ItemLength));
        }
        self.position += rounded(count);
        Ok(Opaque::Chunk(place.first(count)))
    }

    /// Ends a message.
    ///
    /// # Errors
    /// Octets are left; or a chunk is, which then is at no item; or octets were written for a
    /// result that is not in the stream.
    pub fn finish(self) -> Result<(), DecodeError> {
        if !self.chunks.is_empty() {
            return Err(DecodeError::Chunk(Refused::NotEligible));
        }
        if self.results.iter().any(|written| written.length > 0) {
            return Err(DecodeError::Chunk(Refused::ItemLength));
        }
        if self.remaining() > 0 {
            return Err(DecodeError::Trailing);
        }
        Ok(())
    }
}
