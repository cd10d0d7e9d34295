//! A received header as a view.
use super::lists::{word, Reads, WriteChunk, WriteChunks};
use super::segment::{ReadSegment, Segment};
use super::{EXTRA_WORDS, VERSION};

/// The transaction of a message, which any header begins with (RPC-024); `None` if it is shorter.
#[must_use]
pub fn xid(octets: &[u8]) -> Option<u32> {
    word(octets).map(|(xid, _)| xid)
}

/// How opaque items of a padded message are aligned (RFC 5666, 3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Padding {
    /// Items begin at a multiple of this many octets from the start of the Send.
    pub align: u32,
    /// Items of at least this many octets do.
    pub threshold: u32,
}

impl Padding {
    /// A power of two of at least a word; nothing else keeps the words of the stream together.
    #[must_use]
    pub fn is_valid(self) -> bool {
        self.align.is_power_of_two() && self.align >= 4
    }

    /// Pad before the data of an item of `length` octets whose count ends `at` octets after the
    /// start of the Send. RFC 5666, 3.9 has the sender pad "at or above" the threshold and the
    /// receiver skip "where the length exceeds" it: this crate does both at or above. An item
    /// without octets has nothing to align.
    #[must_use]
    pub fn pad(self, at: u64, length: u32) -> u32 {
        if length == 0 || length < self.threshold {
            return 0;
        }
        let align = u64::from(self.align.max(1));
        (at.next_multiple_of(align) - at) as u32
    }
}

/// What is wrong, of an error message (RPC-031).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorBody {
    /// The version is not one of those that the peer has.
    Versions {
        /// The lowest.
        low: u32,
        /// The highest.
        high: u32,
    },
    /// The header or the chunks of a call are wrong.
    Chunk,
    /// A code without a name.
    Other {
        /// The code.
        code: u32,
        /// What follows it.
        words: [u32; EXTRA_WORDS],
    },
}

/// The type of a message (RPC-026).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The RPC message follows.
    Msg,
    /// The RPC message is in a chunk.
    Nomsg,
    /// The RPC message follows, with pad before long items.
    Msgp(Padding),
    /// All reads of a reply's chunks are over.
    Done,
    /// A call was refused.
    Error(ErrorBody),
}

/// A header that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    pub(super) xid: u32,
    pub(super) credits: u32,
    pub(super) kind: Kind,
    pub(super) reads: &'a [u8],
    pub(super) writes: &'a [u8],
    pub(super) reply: Option<WriteChunk<'a>>,
    pub(super) body: &'a [u8],
    pub(super) octets: usize,
}

impl<'a> Header<'a> {
    /// The transaction (RPC-025).
    #[must_use]
    pub fn xid(&self) -> u32 {
        self.xid
    }

    /// The version, which is the only one there is.
    #[must_use]
    pub fn version(&self) -> u32 {
        VERSION
    }

    /// Credits: asked for in a call, granted in a reply (RPC-006).
    #[must_use]
    pub fn credits(&self) -> u32 {
        self.credits
    }

    /// The type, with the words that only it has.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Alignment of items in the body, if it is padded.
    #[must_use]
    pub fn padding(&self) -> Option<Padding> {
        match self.kind {
            Kind::Msgp(padding) => Some(padding),
            _ => None,
        }
    }

    /// Segments of the read list.
    #[must_use]
    pub fn reads(&self) -> Reads<'a> {
        Reads::new(self.reads)
    }

    /// Chunks of the write list.
    #[must_use]
    pub fn writes(&self) -> WriteChunks<'a> {
        WriteChunks::new(self.writes)
    }

    /// The reply chunk.
    #[must_use]
    pub fn reply(&self) -> Option<WriteChunk<'a>> {
        self.reply
    }

    /// Every segment of the write list, then of the reply chunk.
    pub fn results(&self) -> impl Iterator<Item = Segment> + Clone + 'a {
        let reply = self.reply.into_iter();
        self.writes().chain(reply).flat_map(WriteChunk::segments)
    }

    /// The RPC message after the header; nothing if the type has none.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Octets of the header: where in the Send the body begins.
    #[must_use]
    pub fn octets(&self) -> usize {
        self.octets
    }

    /// Octets of all read chunks, and those of position 0 among them.
    #[must_use]
    pub fn read_octets(&self) -> (u64, u64) {
        let mut all = (0, 0);
        for ReadSegment { position, segment } in self.reads() {
            all.0 += u64::from(segment.length);
            all.1 += if position == 0 {
                u64::from(segment.length)
            } else {
                0
            };
        }
        all
    }

    /// The only handle of all lists, which is what a peer may invalidate (RFC 8166, 3.4.2); `None`
    /// if there are several, or none.
    #[must_use]
    pub fn single_handle(&self) -> Option<u32> {
        let reads = self.reads().map(|read| read.segment.handle);
        let mut handles = reads.chain(self.results().map(|segment| segment.handle));
        let first = handles.next()?;
        handles.all(|handle| handle == first).then_some(first)
    }
}
