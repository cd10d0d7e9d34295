//! What an end has seen and refused, by name.
use crate::wire::Refused;

/// Names of the counters of messages, sent and received, by the number of their type.
const TYPES: [[&str; 2]; 5] = [
    ["sent_msg", "received_msg"],
    ["sent_nomsg", "received_nomsg"],
    ["sent_msgp", "received_msgp"],
    ["sent_done", "received_done"],
    ["sent_error", "received_error"],
];

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counts of one [`Endpoint`](crate::Endpoint) over all of its connections.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
            /// Messages sent, by the number of their type: RDMA_MSG is 0, RDMA_ERROR is 4.
            pub sent: [u64; TYPES.len()],
            /// Messages received whose type has a number of these.
            pub received: [u64; TYPES.len()],
            /// Received headers that were refused, by [`Refused::index`].
            pub refused: [u64; Refused::ALL.len()],
        }

        impl Counters {
            /// Every counter with its name; those of messages under the type's, those of refused
            /// headers under the reason's.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                let own = [$((stringify!($name), self.$name),)*];
                let refused = Refused::ALL.map(|refused| {
                    (refused.name(), self.refused[refused.index()])
                });
                let counts = self.sent.into_iter().zip(self.received).zip(TYPES);
                let types = counts.flat_map(|((sent, received), names)| {
                    [(names[0], sent), (names[1], received)]
                });
                own.into_iter().chain(types).chain(refused)
            }
        }
    };
}

counters! {
    /// Calls sent, those that went again included.
    calls_sent,
    /// Replies received for them.
    replies_received,
    /// Calls that went again on another connection.
    calls_repeated,
    /// Calls received.
    calls_received,
    /// Replies sent.
    replies_sent,
    /// DONEs sent.
    dones_sent,
    /// DONEs received that were awaited.
    dones_received,
    /// ERR_VERS and ERR_CHUNK sent.
    errors_sent,
    /// RDMA_ERROR received for a call that was in flight.
    errors_received,
    /// Replies to no call in flight: unknown, or a second one. Dropped.
    stray_replies,
    /// RDMA_ERROR for no call in flight. Dropped.
    stray_errors,
    /// DONEs that nobody awaits. Dropped.
    stray_dones,
    /// Calls to an end that serves none. Dropped.
    stray_calls,
    /// Calls of an XID that is being worked on. Dropped.
    repeated_xids,
    /// Calls beyond all receives: the connection was closed.
    excess_calls,
    /// Errors that were not sent because too many were waiting.
    dropped_errors,
    /// Grants of 0, taken as 1.
    zero_grants,
    /// Grants above the receives for replies, cut.
    cut_grants,
    /// Replies whose segments are not those of the offer: the connection was closed.
    foreign_segments,
    /// Messages that invalidated a handle of another call: the connection was closed.
    foreign_invalidations,
    /// Replies that are wrong in another way; their call failed.
    bad_replies,
    /// Replies with a read list from a peer that may not send one; their call failed.
    forbidden_read_lists,
    /// Replies that fit into nothing the caller offered; answered by ERR_CHUNK.
    unsendable_replies,
    /// Replies held back until a DONE came.
    held_replies,
    /// Connections closed because a call was not answered in time.
    call_time_outs,
    /// Connections closed because a DONE did not come in time.
    done_time_outs,
    /// Connections closed because a Read was not answered in time.
    read_time_outs,
    /// Connections that ended.
    disconnects,
    /// Calls or replies that waited for a free STag.
    entry_waits,
    /// Calls or replies that waited for memory of the pool.
    pool_waits,
    /// Read and write chunks exposed.
    exposures,
    /// Handles of these that the peer invalidated.
    invalidations,
    /// Octets of items that were copied because a Send gathers too few pieces, or into a long call.
    copied_octets,
    /// CONF_RDMA calls refused.
    refused_configurations,
}

impl Counters {
    pub(crate) fn refuse(&mut self, refused: Refused) {
        self.refused[refused.index()] += 1;
    }

    /// A message that was sent, from its header on.
    pub(crate) fn note_sent(&mut self, message: &[u8]) {
        note(&mut self.sent, message);
    }

    /// A message that was received, from its header on.
    pub(crate) fn note_received(&mut self, message: &[u8]) {
        note(&mut self.received, message);
    }
}

/// The type is the fourth word of a header, whatever its version.
fn note(counts: &mut [u64; TYPES.len()], message: &[u8]) {
    let number = message.get(12..).and_then(|rest| rest.first_chunk());
    let number = number.map(|word| u32::from_be_bytes(*word) as usize);
    if let Some(count) = number.and_then(|number| counts.get_mut(number)) {
        *count += 1;
    }
}
