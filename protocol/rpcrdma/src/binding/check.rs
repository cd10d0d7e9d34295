//! Chunks of a call against what its program lets be chunks.
use super::rpc::CallHeader;
use super::{Items, Program};
use crate::stream::rounded;
use crate::wire::{Header, ReadSegment, Refused, WORD_OCTETS};

/// Octets of the shortest call: its ten words, and the count of an item.
const POSITION_MIN: u32 = 11 * WORD_OCTETS as u32;

/// Items that a header has read chunks for: their positions and octets, in order.
fn chunks<'h>(header: &Header<'h>) -> impl Iterator<Item = (u32, u64)> + 'h {
    let mut reads = header.reads().filter(|read| read.position != 0).peekable();
    std::iter::from_fn(move || {
        let ReadSegment { position, segment } = reads.next()?;
        let mut octets = u64::from(segment.length);
        while let Some(read) = reads.next_if(|read| read.position == position) {
            octets += u64::from(read.segment.length);
        }
        Some((position, octets))
    })
}

impl Program<'_> {
    /// Checks the read chunks of a call before any of them is read. `inline` is the reduced stream:
    /// the body of the header, or what was read from its chunk of position 0. What
    /// [`Items::Anywhere`] allows is left to the `Reader` that decodes it.
    ///
    /// # Errors
    /// [`Refused::Protected`], [`Refused::NotEligible`], [`Refused::ItemLength`].
    pub fn check_chunks(
        &self,
        header: &Header<'_>,
        call: &CallHeader<'_>,
        inline: &[u8],
    ) -> Result<(), Refused> {
        let mut chunks = chunks(header);
        if call.credential.protects_body() {
            // A body that is encrypted or summed is one item; there is none to be placed elsewhere.
            let apart = chunks.next().is_some() || header.writes().next().is_some();
            return if apart {
                Err(Refused::Protected)
            } else {
                Ok(())
            };
        }
        // Of a procedure that does not exist the caller learns by an RPC reply.
        let procedure = self.procedure(call.procedure);
        let items = procedure.map_or(Items::Anywhere(0), |procedure| procedure.arguments);
        match items {
            Items::None => none(chunks),
            Items::Last => last(chunks, inline),
            Items::Anywhere(most) => anywhere(chunks, most),
        }
    }
}

fn none(mut chunks: impl Iterator<Item = (u32, u64)>) -> Result<(), Refused> {
    chunks.next().map_or(Ok(()), |_| Err(Refused::NotEligible))
}

fn last(mut chunks: impl Iterator<Item = (u32, u64)>, inline: &[u8]) -> Result<(), Refused> {
    let Some((position, octets)) = chunks.next() else {
        return Ok(());
    };
    none(chunks)?;
    if position < POSITION_MIN || position as usize != inline.len() {
        return Err(Refused::NotEligible);
    }
    let count = inline
        .last_chunk()
        .map_or(0, |count| u32::from_be_bytes(*count));
    if octets != u64::from(count) && octets != rounded(count) {
        return Err(Refused::ItemLength);
    }
    Ok(())
}

fn anywhere(chunks: impl Iterator<Item = (u32, u64)>, most: u32) -> Result<(), Refused> {
    let mut count = 0;
    for (position, _) in chunks {
        count += 1;
        if count > most || position < POSITION_MIN {
            return Err(Refused::NotEligible);
        }
    }
    Ok(())
}
