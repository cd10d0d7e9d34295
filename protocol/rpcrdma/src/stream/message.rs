//! An RPC message that is to be sent.
use super::rounded;
use crate::place::Place;
use crate::wire::WORD_OCTETS;
use std::fmt;

/// Items of one message: more are written inline.
pub const ITEMS_MAX: usize = 64;

/// A range of registered memory in an XDR stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Item {
    /// Octets of the unreduced stream before its data.
    pub position: u32,
    /// The data, without roundup.
    pub place: Place,
}

/// A message has more items than [`ITEMS_MAX`], or more octets than a position can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch;

impl fmt::Display for TooMuch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "more than {ITEMS_MAX} items, or 4 GiB, in a message"
        )
    }
}

impl std::error::Error for TooMuch {}

/// An RPC message: inline octets, and items that are not among them. It is used again after
/// [`Message::clear`], and then allocates nothing for messages that are not longer than before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Message {
    inline: Vec<u8>,
    items: Vec<Item>,
    /// Octets of the items with roundup.
    item_octets: u64,
    /// No counted opaque among the inline octets is longer.
    opaque_octets_max: u32,
}

impl Message {
    /// A message without octets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets octets and items.
    pub fn clear(&mut self) {
        self.inline.clear();
        self.items.clear();
        self.item_octets = 0;
        self.opaque_octets_max = 0;
    }

    /// A word.
    pub fn u32(&mut self, value: u32) {
        self.inline.extend_from_slice(&value.to_be_bytes());
    }

    /// A double word.
    pub fn u64(&mut self, value: u64) {
        self.inline.extend_from_slice(&value.to_be_bytes());
    }

    /// Octets of a fixed length, or fields that are XDR already; rounded up by zeros.
    pub fn fixed(&mut self, octets: &[u8]) {
        // They may hold a count and as many octets as follow it.
        self.note_opaque(octets.len().saturating_sub(WORD_OCTETS));
        self.append(octets);
    }

    /// A counted opaque or string that stays inline.
    ///
    /// # Errors
    /// It has more octets than a count can say.
    pub fn opaque(&mut self, octets: &[u8]) -> Result<(), TooMuch> {
        let length = u32::try_from(octets.len()).map_err(|_| TooMuch)?;
        self.note_opaque(octets.len());
        self.u32(length);
        self.append(octets);
        Ok(())
    }

    fn append(&mut self, octets: &[u8]) {
        self.inline.extend_from_slice(octets);
        let end = self.inline.len().next_multiple_of(WORD_OCTETS);
        self.inline.resize(end, 0);
    }

    fn note_opaque(&mut self, octets: usize) {
        let octets = u32::try_from(octets).unwrap_or(u32::MAX);
        self.opaque_octets_max = self.opaque_octets_max.max(octets);
    }

    /// A counted opaque of which the program says that it may be a chunk (RPC-007): its count, and
    /// where its data is.
    ///
    /// # Errors
    /// There are too many items, or octets before it.
    pub fn item(&mut self, place: Place) -> Result<(), TooMuch> {
        let position = self.octets() + WORD_OCTETS as u64;
        let end = position + rounded(place.length);
        let position = u32::try_from(position).map_err(|_| TooMuch)?;
        if self.items.len() == ITEMS_MAX || u32::try_from(end).is_err() {
            return Err(TooMuch);
        }
        self.u32(place.length);
        self.items.push(Item { position, place });
        self.item_octets += rounded(place.length);
        Ok(())
    }

    /// The octets of the stream without the items.
    #[must_use]
    pub fn inline(&self) -> &[u8] {
        &self.inline
    }

    /// The items, in order.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Octets of the unreduced stream.
    #[must_use]
    pub fn octets(&self) -> u64 {
        self.inline.len() as u64 + self.item_octets
    }

    /// An upper bound of the counted opaques among the inline octets: a padded message says a
    /// threshold above it, so that only items are padded.
    #[must_use]
    pub fn opaque_octets_max(&self) -> u32 {
        self.opaque_octets_max
    }
}
