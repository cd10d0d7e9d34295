//! How a message is to leave: decided once, before its header is written.
use super::message::{Item, Message};
use super::plan::{Body, Plan};
use crate::wire::{header_octets, Form, Header, Padding};
use std::fmt;

/// What bounds a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// The longest Send to the peer, header included.
    pub inline_octets: u32,
    /// Items of at least so many octets become read chunks even if they fit (RFC 5666, 3.5).
    pub chunk_octets_min: u32,
    /// The peer can issue RDMA Reads (RPC-037).
    pub reads: bool,
    /// Items may be padded to this alignment, if they have at least so many octets.
    pub padding: Option<Padding>,
}

/// What bounds a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyLimits {
    /// The longest Send to the peer, header included.
    pub inline_octets: u32,
    /// The peer reads chunks of replies and says `RDMA_DONE` (RFC 5666 alone, and if the program
    /// permits).
    pub read_list: bool,
}

/// The message fits into nothing that the peer takes (RPC-011).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoWay;

impl fmt::Display for NoWay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the message is longer than everything that the peer offers for it")
    }
}

impl std::error::Error for NoWay {}

/// The items of a message for which `chosen` holds, as bits.
fn bits(message: &Message, mut chosen: impl FnMut(usize, &Item) -> bool) -> u64 {
    let items = message.items().iter().enumerate();
    items
        .map(|(index, item)| u64::from(chosen(index, item)) << index)
        .sum()
}

/// Segments of the write chunks and of the reply chunk.
#[derive(Clone, Copy)]
struct Lists<W> {
    writes: W,
    reply: Option<usize>,
}

impl<W: Iterator<Item = usize> + Clone> Lists<W> {
    /// The plan with these choices. Each read chunk is of one segment, so that the peer can
    /// invalidate its handle.
    fn plan(&self, message: &Message, form: Form, body: Body, read: u64, written: u64) -> Plan {
        let reads = read.count_ones() as usize + usize::from(body == Body::ReadChunk);
        let header_octets = header_octets(form, reads, self.writes.clone(), self.reply);
        let mut plan = Plan {
            form,
            body,
            read,
            written,
            header_octets,
            stream_octets: 0,
        };
        plan.stream_octets = plan.pieces(message).map(|piece| piece.octets()).sum();
        plan
    }
}

impl Plan {
    /// The way of a call that offers write chunks of so many segments each, and a reply chunk of so
    /// many. The first of these that fits: items padded in the Send; long items as chunks, the
    /// others in the Send; every item as a chunk; all that is left as chunk, too.
    ///
    /// # Errors
    /// Nothing fits, or the peer cannot read.
    pub fn call<W>(
        message: &Message,
        limits: &CallLimits,
        writes: W,
        reply: Option<usize>,
    ) -> Result<Self, NoWay>
    where
        W: IntoIterator<Item = usize>,
        W::IntoIter: Clone,
    {
        let lists = Lists {
            writes: writes.into_iter(),
            reply,
        };
        let fits = |plan: &Self| plan.send_octets() <= u64::from(limits.inline_octets);
        let from = |least: u32| bits(message, |_, item| item.place.length >= least.max(1));
        if let Some(padding) = limits.padding.filter(|padding| padding.is_valid()) {
            // Above every other opaque, which the peer would else take to be padded as well.
            let threshold = message.opaque_octets_max().saturating_add(1);
            let threshold = padding.threshold.max(threshold);
            let padding = Padding {
                threshold,
                ..padding
            };
            let plan = lists.plan(message, Form::Msgp(padding), Body::Send, 0, 0);
            if from(threshold) != 0 && fits(&plan) {
                return Ok(plan);
            }
        }
        if !limits.reads {
            return Some(lists.plan(message, Form::Msg, Body::Send, 0, 0))
                .filter(fits)
                .ok_or(NoWay);
        }
        let long = from(limits.chunk_octets_min);
        let ways = [
            (Form::Msg, Body::Send, long),
            (Form::Msg, Body::Send, from(1)),
            (Form::Nomsg, Body::ReadChunk, long),
        ];
        let ways = ways.into_iter();
        ways.map(|(form, body, read)| lists.plan(message, form, body, read, 0))
            .find(fits)
            .ok_or(NoWay)
    }

    /// The way of the reply to a call with `header`. Every item takes the next write chunk, whole
    /// (RPC-017), and is written there if it fits (RPC-016). The rest goes by the first that fits:
    /// in the Send, into the reply chunk, as read chunks of items, as a read chunk of everything.
    ///
    /// # Errors
    /// Nothing fits.
    pub fn reply(
        message: &Message,
        limits: &ReplyLimits,
        header: &Header<'_>,
    ) -> Result<Self, NoWay> {
        let mut offered = header.writes();
        let written = bits(message, |_, item| {
            let room = offered.next().map(|chunk| chunk.octets());
            item.place.length > 0 && room.is_some_and(|room| room >= item.place.length.into())
        });
        let rest = bits(message, |index, item| {
            written >> index & 1 == 0 && item.place.length > 0
        });
        let reply = header.reply();
        let lists = Lists {
            writes: header.writes().map(|chunk| chunk.count()),
            reply: reply.map(|chunk| chunk.count()),
        };
        let fits = |plan: &Self| {
            let room = reply.map_or(0, |chunk| chunk.octets());
            plan.send_octets() <= u64::from(limits.inline_octets)
                && (plan.body != Body::ReplyChunk || plan.stream_octets <= room)
        };
        let ways = [
            (true, Form::Msg, Body::Send, 0),
            (reply.is_some(), Form::Nomsg, Body::ReplyChunk, 0),
            (limits.read_list, Form::Msg, Body::Send, rest),
            (limits.read_list, Form::Nomsg, Body::ReadChunk, rest),
        ];
        let ways = ways.into_iter().filter(|(allowed, ..)| *allowed);
        ways.map(|(_, form, body, read)| lists.plan(message, form, body, read, written))
            .find(fits)
            .ok_or(NoWay)
    }
}
