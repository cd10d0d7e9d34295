//! Transport memory in blocks, with a share for each client.
use crate::place::{MemoryId, Place};

/// Octets of a block.
const BLOCK_OCTETS: u32 = 16 << 10;

/// Registered memory for read chunks and long messages, shared by all connections of a program.
///
/// A client takes no more than its share, and never more than half of what is free, unless all of
/// it is: many greedy clients leave room for one more that asks for little. What is refused waits
/// until something is put back.
///
/// ```
/// use rpcrdma::place::{MemoryId, Place};
/// use rpcrdma::Pool;
///
/// let memory = Place { memory: MemoryId(3), offset: 0, length: 1 << 20 };
/// let mut pool = Pool::new(memory, 512 << 10);
/// let sink = pool.take(7, 100_000).expect("all is free");
/// assert_eq!(sink.length, 100_000);
/// assert!(pool.take(7, 500_000).is_none(), "above the share");
/// pool.put(sink);
/// assert_eq!(pool.octets_in_use(), 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pool {
    memory: MemoryId,
    offset: u64,
    /// Blocks of the run that begins here, and its client; 0 blocks if none does.
    runs: Vec<(u32, u32)>,
    is_taken: Vec<bool>,
    free_blocks: u32,
    share_blocks: u32,
    /// Blocks of each client that has ever had some.
    held: Vec<u32>,
    /// Where the next search begins.
    next: u32,
}

impl Pool {
    /// A pool over `place`, of which a client gets at most `share_octets`. Below 16 KiB there is
    /// nothing to share. The longest call that is served at once is a quarter of the pool.
    #[must_use]
    pub fn new(place: Place, share_octets: u32) -> Self {
        let blocks = place.length / BLOCK_OCTETS;
        Self {
            memory: place.memory,
            offset: place.offset,
            runs: vec![(0, 0); blocks as usize],
            is_taken: vec![false; blocks as usize],
            free_blocks: blocks,
            share_blocks: share_octets.div_ceil(BLOCK_OCTETS),
            held: Vec::new(),
            next: 0,
        }
    }

    /// The most that a client can ever have at once.
    #[must_use]
    pub fn octets_max(&self) -> u64 {
        let blocks = self.runs.len() as u64;
        blocks.min(u64::from(self.share_blocks)) * u64::from(BLOCK_OCTETS)
    }

    /// The most that so many clients can have together, however they ask: their shares, or what
    /// they leave of the pool. Where two shares more are left, in one piece, the next client is
    /// served at once, also with the longest call that its own share allows.
    #[must_use]
    pub fn octets_held_max(&self, clients: u32) -> u64 {
        let all = self.runs.len() as u32;
        let mut free = all;
        for client in 0..clients {
            let most = if client == 0 { all } else { free / 2 };
            free -= most.min(self.share_blocks);
        }
        u64::from(all - free) * u64::from(BLOCK_OCTETS)
    }

    /// Octets of all blocks that are taken.
    #[must_use]
    pub fn octets_in_use(&self) -> u64 {
        (self.runs.len() as u64 - u64::from(self.free_blocks)) * u64::from(BLOCK_OCTETS)
    }

    /// Octets of the blocks that `client` has.
    #[must_use]
    pub fn octets_of(&self, client: u32) -> u64 {
        let blocks = self.held.get(client as usize).copied();
        u64::from(blocks.unwrap_or(0)) * u64::from(BLOCK_OCTETS)
    }

    /// `octets` for `client`; `None` while there is no room for it.
    pub fn take(&mut self, client: u32, octets: u32) -> Option<Place> {
        let blocks = octets.div_ceil(BLOCK_OCTETS).max(1);
        if self.held.len() <= client as usize {
            self.held.resize(client as usize + 1, 0);
        }
        let is_all_free = self.free_blocks as usize == self.runs.len();
        let held = self.held[client as usize] + blocks;
        if held > self.share_blocks || !is_all_free && held > self.free_blocks / 2 {
            return None;
        }
        let begin = self.find(blocks)?;
        self.is_taken[begin as usize..][..blocks as usize].fill(true);
        self.runs[begin as usize] = (blocks, client);
        self.free_blocks -= blocks;
        self.held[client as usize] = held;
        self.next = begin + blocks;
        Some(Place {
            memory: self.memory,
            offset: self.offset + u64::from(begin) * u64::from(BLOCK_OCTETS),
            length: octets,
        })
    }

    /// The first block of `blocks` free ones in a row, searched from `next` on and around.
    fn find(&self, blocks: u32) -> Option<u32> {
        let within = |begin: u32, end: u32| {
            let mut first = begin;
            for block in begin..end {
                if self.is_taken[block as usize] {
                    first = block + 1;
                } else if block + 1 - first == blocks {
                    return Some(first);
                }
            }
            None
        };
        let all = self.runs.len() as u32;
        within(self.next, all).or_else(|| within(0, all))
    }

    /// Take memory back. `place` begins where one that was taken does.
    ///
    /// # Panics
    /// If it does not: somebody else's memory would be given out.
    pub fn put(&mut self, place: Place) {
        let begin = place.offset.wrapping_sub(self.offset) / u64::from(BLOCK_OCTETS);
        let run = self.runs.get_mut(begin as usize);
        let run = run.filter(|run| run.0 != 0 && place.memory == self.memory);
        let (blocks, client) = std::mem::take(run.expect("the place was taken from this pool"));
        self.is_taken[begin as usize..][..blocks as usize].fill(false);
        self.free_blocks += blocks;
        self.held[client as usize] -= blocks;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(blocks: u32, share_blocks: u32) -> Pool {
        let place = Place {
            memory: MemoryId(1),
            offset: 4_096,
            length: blocks * BLOCK_OCTETS + 5,
        };
        Pool::new(place, share_blocks * BLOCK_OCTETS)
    }

    /// RPC-041: what is lent to one client is not lent to another.
    #[test]
    fn places_do_not_overlap_and_come_back() {
        let mut pool = pool(64, 64);
        let taken: Vec<Place> = (0..8).map(|c| pool.take(c, 30_000 + c).unwrap()).collect();
        for (index, place) in taken.iter().enumerate() {
            assert_eq!(place.length, 30_000 + index as u32);
            assert!(place.end() <= 4_096 + 64 * u64::from(BLOCK_OCTETS));
            for other in &taken[index + 1..] {
                assert!(place.end() <= other.offset || other.end() <= place.offset);
            }
        }
        assert_eq!(pool.octets_in_use(), 8 * 32_768);
        taken.into_iter().for_each(|place| pool.put(place));
        assert_eq!((pool.octets_in_use(), pool.octets_of(3)), (0, 0));
        assert_eq!(
            pool.take(0, 64 * BLOCK_OCTETS).map(|place| place.offset),
            Some(4_096)
        );
    }

    #[test]
    fn a_client_keeps_to_its_share() {
        let mut pool = pool(64, 4);
        assert_eq!(pool.octets_max(), 4 * u64::from(BLOCK_OCTETS));
        assert!(pool.take(0, 4 * BLOCK_OCTETS + 1).is_none());
        let first = pool.take(0, 3 * BLOCK_OCTETS).expect("within the share");
        assert!(pool.take(0, BLOCK_OCTETS + 1).is_none());
        let second = pool.take(0, BLOCK_OCTETS).expect("just within the share");
        assert!(pool.take(0, 0).is_none(), "a block is the least");
        assert!(
            pool.take(1, 4 * BLOCK_OCTETS).is_some(),
            "another's is not touched"
        );
        pool.put(second);
        pool.put(first);
        assert_eq!(pool.octets_of(0), 0);
    }

    /// RPC-042: of many that never give back each gets less, and the next one still gets some.
    #[test]
    fn greedy_clients_leave_room() {
        let mut pool = pool(256, 64);
        for client in 0..1_000 {
            while pool.take(client, 64 * BLOCK_OCTETS).is_some() {}
            while pool.take(client, 8 * BLOCK_OCTETS).is_some() {}
        }
        assert!(pool.take(1_000, BLOCK_OCTETS).is_some());
    }

    /// RPC-042: whatever clients ask for, and in whatever order, they hold no more than is said of
    /// them; and there are orders in which they do.
    #[test]
    fn clients_hold_no_more_than_is_said() {
        let mut random = 1_u32;
        let mut below = |count: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % count
        };
        for (blocks, share) in [(1, 1), (2, 4), (64, 4), (64, 64), (100, 13)] {
            for clients in 0..12 {
                let (mut greedy, mut any) = (pool(blocks, share), pool(blocks, share));
                for client in 0..clients {
                    let sizes = (1..=share).rev();
                    let _ = sizes
                        .map(|size| greedy.take(client, size * BLOCK_OCTETS))
                        .count();
                }
                for _ in 0..200 * clients {
                    any.take(below(clients), (1 + below(share)) * BLOCK_OCTETS);
                }
                let most = any.octets_held_max(clients);
                assert_eq!(
                    greedy.octets_in_use(),
                    most,
                    "{clients} of {blocks}, {share}"
                );
                assert!(
                    any.octets_in_use() <= most,
                    "{clients} of {blocks}, {share}"
                );
            }
        }
        assert_eq!(pool(64, 4).octets_held_max(8), 32 * u64::from(BLOCK_OCTETS));
        assert_eq!(
            pool(64, 4).octets_held_max(14),
            56 * u64::from(BLOCK_OCTETS)
        );
        // Two shares are left, and one: half of that.
        assert_eq!(
            pool(64, 4).octets_held_max(15),
            60 * u64::from(BLOCK_OCTETS)
        );
        assert_eq!(
            pool(64, 4).octets_held_max(16),
            62 * u64::from(BLOCK_OCTETS)
        );
    }

    #[test]
    fn all_of_it_can_be_taken_at_once() {
        let mut pool = pool(4, 9);
        let all = pool.take(0, 4 * BLOCK_OCTETS).expect("all is free");
        assert!(pool.take(1, 1).is_none());
        pool.put(all);
        assert!(pool.take(1, 1).is_some());
        assert!(
            pool.take(0, 3 * BLOCK_OCTETS).is_none(),
            "more than half of what is free"
        );
    }

    #[test]
    #[should_panic(expected = "taken from this pool")]
    fn what_was_not_taken_is_not_put_back() {
        let mut pool = pool(4, 4);
        let mut place = pool.take(0, 1).expect("free");
        place.offset += u64::from(BLOCK_OCTETS);
        pool.put(place);
    }
}
