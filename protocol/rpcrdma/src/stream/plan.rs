//! How a message leaves, as it was decided.
use super::message::{Item, Message};
use crate::wire::Form;

/// Where the octets of the reduced stream are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// After the header.
    Send,
    /// In the first read chunk, of position 0 (RPC-032).
    ReadChunk,
    /// In the reply chunk (RPC-033).
    ReplyChunk,
}

/// How an item leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// In the stream.
    Stream,
    /// As a read chunk.
    Read,
    /// By RDMA Write, into the write chunk with the item's number.
    Write,
}

/// How a message leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) form: Form,
    pub(super) body: Body,
    /// A bit for each item, the lowest for the first one.
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) header_octets: usize,
    pub(super) stream_octets: u64,
}

impl Plan {
    /// The type of the message.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// Where the reduced stream is.
    #[must_use]
    pub fn body(&self) -> Body {
        self.body
    }

    /// How the item with this number leaves.
    #[must_use]
    pub fn carriage(&self, item: usize) -> Carriage {
        let has = |bits: u64| {
            u32::try_from(item)
                .is_ok_and(|item| bits.checked_shr(item).is_some_and(|bits| bits & 1 == 1))
        };
        if has(self.written) {
            Carriage::Write
        } else if has(self.read) {
            Carriage::Read
        } else {
            Carriage::Stream
        }
    }

    /// Octets of the header: of a call with the lists that were given, of a reply with those of
    /// its call.
    #[must_use]
    pub fn header_octets(&self) -> usize {
        self.header_octets
    }

    /// Octets of the reduced stream, pad included.
    #[must_use]
    pub fn stream_octets(&self) -> u64 {
        self.stream_octets
    }

    /// Octets of the Send.
    #[must_use]
    pub fn send_octets(&self) -> u64 {
        let stream = if self.body == Body::Send {
            self.stream_octets
        } else {
            0
        };
        self.header_octets as u64 + stream
    }

    /// Items that are read chunks.
    pub fn reads<'m>(&self, message: &'m Message) -> impl Iterator<Item = Item> + 'm {
        self.carried(message, Carriage::Read).map(|(_, item)| item)
    }

    /// Items that are written, with the numbers of their write chunks.
    pub fn writes<'m>(&self, message: &'m Message) -> impl Iterator<Item = (usize, Item)> + 'm {
        self.carried(message, Carriage::Write)
    }

    fn carried<'m>(
        &self,
        message: &'m Message,
        carriage: Carriage,
    ) -> impl Iterator<Item = (usize, Item)> + 'm {
        let plan = *self;
        let items = message.items().iter().copied().enumerate();
        items.filter(move |(index, _)| plan.carriage(*index) == carriage)
    }
}
