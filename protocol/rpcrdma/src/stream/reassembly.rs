//! One stream of all that a message consists of, by a copy.
use super::rounded;
use crate::place::Place;
use crate::wire::WORD_OCTETS;
use std::io::{self, Read};

/// What comes between two inline octets of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splice {
    /// Octets of the unreduced stream before the data.
    pub position: u32,
    /// Inline octets that are passed over: pad, which is no part of the stream.
    pub pad_octets: u32,
    /// The data; none if it follows inline.
    pub place: Option<Place>,
}

/// The unreduced stream of a received message. `fetch` copies the octets of a place out of
/// registered memory.
///
/// ```
/// use rpcrdma::place::{MemoryId, Place};
/// use rpcrdma::stream::{Reassembly, Splice};
/// use std::io::Read;
///
/// let memory = *b"..hello..";
/// let place = Place { memory: MemoryId(0), offset: 2, length: 5 };
/// let splices = [Splice { position: 4, pad_octets: 0, place: Some(place) }];
/// let mut stream = Vec::new();
/// Reassembly::new(&[0, 0, 0, 5], &splices, |place, octets| {
///     octets.copy_from_slice(&memory[place.offset as usize..place.end() as usize]);
/// })
/// .read_to_end(&mut stream)?;
/// assert_eq!(stream, b"\0\0\0\x05hello\0\0\0");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Reassembly<'a, F> {
    inline: &'a [u8],
    splices: &'a [Splice],
    position: u64,
    /// Data and roundup of the splice that the stream is in.
    place: Option<Place>,
    roundup: usize,
    fetch: F,
}

impl<'a, F: FnMut(Place, &mut [u8])> Reassembly<'a, F> {
    /// A stream of inline octets and `splices`, which are in the order of their positions.
    pub fn new(inline: &'a [u8], splices: &'a [Splice], fetch: F) -> Self {
        Self {
            inline,
            splices,
            position: 0,
            place: None,
            roundup: 0,
            fetch,
        }
    }

    /// Enters the splices of the present position.
    fn enter(&mut self) -> io::Result<()> {
        while self.place.is_none() && self.roundup == 0 {
            let Some((splice, rest)) = self.splices.split_first() else {
                break;
            };
            if u64::from(splice.position) > self.position {
                break;
            }
            self.splices = rest;
            let after = self.inline.get(splice.pad_octets as usize..);
            self.inline = after.ok_or(io::ErrorKind::UnexpectedEof)?;
            self.place = splice.place.filter(|place| place.length > 0);
            let octets = splice.place.map_or(0, |place| place.length);
            self.roundup = (rounded(octets) - u64::from(octets)) as usize;
        }
        Ok(())
    }

    /// Octets of the place that the stream is in.
    fn read_place(&mut self, place: Place, buffer: &mut [u8]) -> usize {
        let count = buffer.len().min(place.length as usize);
        // Both parts are within the place.
        let taken = place.first(count as u32);
        (self.fetch)(taken, &mut buffer[..count]);
        let rest = place.part(count as u32, place.length - count as u32);
        self.place = rest.filter(|rest| rest.length > 0);
        count
    }

    /// Inline octets up to the next splice.
    fn read_inline(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let next = self
            .splices
            .first()
            .map(|splice| u64::from(splice.position) - self.position);
        let upto = next
            .and_then(|next| usize::try_from(next).ok())
            .unwrap_or(usize::MAX);
        if self.inline.is_empty() && next.is_some() {
            if upto >= WORD_OCTETS {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            // RFC 5666, 3.7: nothing is inline, so that the next position is met by roundup.
            let count = upto.min(buffer.len());
            buffer[..count].fill(0);
            return Ok(count);
        }
        let count = upto.min(buffer.len()).min(self.inline.len());
        let (octets, rest) = self.inline.split_at(count);
        buffer[..count].copy_from_slice(octets);
        self.inline = rest;
        Ok(count)
    }
}

impl<F: FnMut(Place, &mut [u8])> Read for Reassembly<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.enter()?;
        let count = if let Some(place) = self.place {
            self.read_place(place, buffer)
        } else if self.roundup > 0 {
            let count = buffer.len().min(self.roundup);
            buffer[..count].fill(0);
            self.roundup -= count;
            count
        } else {
            self.read_inline(buffer)?
        };
        self.position += count as u64;
        Ok(count)
    }
}
