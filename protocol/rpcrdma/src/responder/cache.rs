//! Replies that were sent, for calls that come again on another connection.
use std::collections::VecDeque;

/// What makes two calls the same: who calls, without the port, which a new connection changes;
/// the XID; and what is called, since an XID may come again after a client's restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheKey {
    /// The peer's address, IPv4 mapped into IPv6.
    pub peer: u128,
    /// The transaction.
    pub xid: u32,
    /// Program, version and procedure.
    pub procedure: (u32, u32, u32),
}

/// What is known of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cached<'a> {
    /// Nothing: it is new, and from now on in progress.
    New,
    /// It came before and is being worked on: drop this one.
    InProgress,
    /// Its RPC reply, without any header of the transport.
    Replied(&'a [u8]),
}

#[derive(Clone, Debug)]
struct Entry {
    key: CacheKey,
    is_replied: bool,
    octets: Vec<u8>,
}

/// RPC replies by call, within bounds: the oldest goes first. A server looks here before it does
/// what must not be done twice (RFC 5666 section 8); the reply is put into whatever the new
/// call's chunks ask for.
///
/// ```
/// use rpcrdma::{CacheKey, Cached, ReplyCache};
///
/// let mut cache = ReplyCache::new(64, 4_096);
/// let key = CacheKey { peer: 1, xid: 7, procedure: (100_003, 3, 12) };
/// assert_eq!(cache.begin(key), Cached::New);
/// assert_eq!(cache.begin(key), Cached::InProgress);
/// cache.end(key, b"the RPC reply");
/// assert_eq!(cache.begin(key), Cached::Replied(b"the RPC reply"));
/// ```
#[derive(Clone, Debug)]
pub struct ReplyCache {
    entries: VecDeque<Entry>,
    entries_max: usize,
    octets_max: usize,
}

impl ReplyCache {
    /// A cache of `entries_max` calls, at least 1, with replies of at most `octets_max` octets.
    #[must_use]
    pub fn new(entries_max: usize, octets_max: usize) -> Self {
        Self {
            entries: VecDeque::with_capacity(entries_max.max(1)),
            entries_max: entries_max.max(1),
            octets_max,
        }
    }

    fn find(&self, key: CacheKey) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.key == key)
    }

    /// A call has come.
    pub fn begin(&mut self, key: CacheKey) -> Cached<'_> {
        let Some(at) = self.find(key) else {
            let oldest = match self.entries.len() == self.entries_max {
                true => self.entries.pop_front(),
                false => None,
            };
            let mut octets = oldest.map_or_else(Vec::new, |entry| entry.octets);
            octets.clear();
            self.entries.push_back(Entry {
                key,
                is_replied: false,
                octets,
            });
            return Cached::New;
        };
        let entry = &self.entries[at];
        match entry.is_replied {
            true => Cached::Replied(&entry.octets),
            false => Cached::InProgress,
        }
    }

    /// Its reply is known. One that is too long is forgotten, and so is the call: it would be
    /// done again.
    pub fn end(&mut self, key: CacheKey, reply: &[u8]) {
        let Some(at) = self.find(key) else {
            return;
        };
        if reply.len() > self.octets_max {
            self.entries.remove(at);
            return;
        }
        let entry = &mut self.entries[at];
        entry.is_replied = true;
        entry.octets.clear();
        entry.octets.extend_from_slice(reply);
    }

    /// The call was not done: it may come again as a new one.
    pub fn forget(&mut self, key: CacheKey) {
        if let Some(at) = self.find(key) {
            self.entries.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(xid: u32) -> CacheKey {
        CacheKey {
            peer: 9,
            xid,
            procedure: (1, 2, 3),
        }
    }

    #[test]
    fn the_oldest_goes_first() {
        let mut cache = ReplyCache::new(2, 8);
        for xid in 1..=3 {
            assert_eq!(cache.begin(key(xid)), Cached::New);
            cache.end(key(xid), &[xid as u8]);
        }
        assert_eq!(cache.begin(key(2)), Cached::Replied(&[2]));
        assert_eq!(cache.begin(key(3)), Cached::Replied(&[3]));
        assert_eq!(cache.begin(key(1)), Cached::New);
    }

    #[test]
    fn every_part_of_the_key_counts() {
        let mut cache = ReplyCache::new(8, 8);
        assert_eq!(cache.begin(key(1)), Cached::New);
        assert_eq!(cache.begin(CacheKey { peer: 8, ..key(1) }), Cached::New);
        assert_eq!(
            cache.begin(CacheKey {
                procedure: (1, 2, 4),
                ..key(1)
            }),
            Cached::New
        );
        assert_eq!(cache.begin(key(1)), Cached::InProgress);
    }

    #[test]
    fn long_replies_and_calls_that_were_not_done_are_forgotten() {
        let mut cache = ReplyCache::new(8, 4);
        for (octets, expected) in [(4, Cached::Replied(&[5; 4])), (5, Cached::New)] {
            cache.begin(key(octets));
            cache.end(key(octets), &vec![5; octets as usize]);
            assert_eq!(cache.begin(key(octets)), expected);
        }
        cache.begin(key(9));
        cache.forget(key(9));
        assert_eq!(cache.begin(key(9)), Cached::New);
        cache.end(key(77), &[1]);
        assert_eq!(
            cache.begin(key(77)),
            Cached::New,
            "one that never began has no reply"
        );
    }
}
