//! Fragments of IP packets, put together. No formats, no clock.
//!
//! ```text
//!  fragment --> of a packet that is known, or one of DATAGRAMS_MAX --> all there? --> payload
//!                   |                                                      |
//!                   +-- overlaps another, or contradicts it: forgotten     +-- not in TIME_US
//! ```
//!
//! Memory: [`DATAGRAMS_MAX`] payloads of up to 65,535 octets. One more takes the place of the one
//! that has waited longest, so that fragments which nobody completes keep no others out for long.
//! Only packets for connections are kept: whoever speaks to the driver's connections sends with DF,
//! or fragments as long as its path makes it (RFC 5044 section 11.2, option 2).

use std::net::IpAddr;

/// Packets that wait for fragments.
pub(super) const DATAGRAMS_MAX: usize = 8;
/// How long one waits (RFC 8200 section 4.5; within what RFC 1122 section 3.3.2 has).
pub(super) const TIME_US: u64 = 60_000_000;
/// Octets of a payload, at most.
const OCTETS_MAX: usize = 65_535;
/// Offsets are multiples of these.
const UNIT_OCTETS: usize = 8;

/// Whose fragment it is (RFC 791 section 3.2, RFC 8200 section 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub from: IpAddr,
    pub to: IpAddr,
    pub identification: u32,
}

/// A fragment's payload, and where it belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment<'a> {
    /// Octets of the packet's payload before it.
    pub offset: usize,
    /// Others follow.
    pub more: bool,
    pub payload: &'a [u8],
}

/// What has become of a fragment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The packet's payload is whole.
    Whole(Vec<u8>),
    /// It waits for others, or was there already.
    Kept,
    /// It cannot be one, or contradicts those that came; all of its packet are forgotten.
    Refused,
}

#[derive(Debug)]
struct Datagram {
    key: Key,
    octets: Vec<u8>,
    /// First octet and length of each fragment.
    parts: Vec<(usize, usize)>,
    /// Octets of the payload, once its last fragment is there.
    total: Option<usize>,
    begun: u64,
}

impl Datagram {
    fn received(&self) -> usize {
        self.parts.iter().map(|(_, octets)| octets).sum()
    }

    /// Whether `fragment` overlaps what is there; the same again does not.
    fn contradicts(&self, fragment: &Fragment<'_>) -> bool {
        let (begin, end) = (fragment.offset, fragment.offset + fragment.payload.len());
        let overlaps = |&(first, octets): &(usize, usize)| first < end && begin < first + octets;
        let ends_otherwise = match (self.total, fragment.more) {
            (Some(total), true) => end >= total,
            (Some(total), false) => end != total,
            (None, false) => self
                .parts
                .iter()
                .any(|(first, octets)| first + octets > end),
            (None, true) => false,
        };
        ends_otherwise || self.parts.iter().any(overlaps)
    }
}

/// Packets that wait for fragments.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    datagrams: Vec<Datagram>,
}

impl Fragments {
    /// Take a fragment. `lost` grows by the packets that are forgotten meanwhile.
    pub(super) fn push(
        &mut self,
        key: Key,
        fragment: &Fragment<'_>,
        now: u64,
        lost: &mut u64,
    ) -> Outcome {
        let before = self.datagrams.len();
        self.datagrams
            .retain(|datagram| now.saturating_sub(datagram.begun) < TIME_US);
        *lost += (before - self.datagrams.len()) as u64;
        let (offset, octets) = (fragment.offset, fragment.payload.len());
        let is_cut = fragment.more && octets % UNIT_OCTETS != 0;
        if octets == 0 || is_cut || offset + octets > OCTETS_MAX {
            return Outcome::Refused;
        }
        let index = self.find_or_begin(key, now, lost);
        let datagram = &mut self.datagrams[index];
        if datagram.parts.contains(&(offset, octets)) {
            return Outcome::Kept;
        }
        if datagram.contradicts(fragment) {
            // RFC 5722: none of them is believed.
            self.datagrams.remove(index);
            *lost += 1;
            return Outcome::Refused;
        }
        let end = offset + octets;
        datagram.octets.resize(datagram.octets.len().max(end), 0);
        datagram.octets[offset..end].copy_from_slice(fragment.payload);
        datagram.parts.push((offset, octets));
        if !fragment.more {
            datagram.total = Some(end);
        }
        match datagram.total == Some(datagram.received()) {
            true => Outcome::Whole(self.datagrams.remove(index).octets),
            false => Outcome::Kept,
        }
    }

    fn find_or_begin(&mut self, key: Key, now: u64, lost: &mut u64) -> usize {
        let found = self
            .datagrams
            .iter()
            .position(|datagram| datagram.key == key);
        found.unwrap_or_else(|| {
            if self.datagrams.len() == DATAGRAMS_MAX {
                // They stand in the order in which they began.
                self.datagrams.remove(0);
                *lost += 1;
            }
            self.datagrams.push(Datagram {
                key,
                octets: Vec::new(),
                parts: Vec::new(),
                total: None,
                begun: now,
            });
            self.datagrams.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::seq::SliceRandom;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn key(identification: u32) -> Key {
        Key {
            from: [10, 0, 0, 2].into(),
            to: [10, 0, 0, 1].into(),
            identification,
        }
    }

    fn push(fragments: &mut Fragments, id: u32, all: &[u8], at: (usize, usize)) -> Outcome {
        let fragment = Fragment {
            offset: at.0,
            more: at.0 + at.1 < all.len(),
            payload: &all[at.0..at.0 + at.1],
        };
        fragments.push(key(id), &fragment, 0, &mut 0)
    }

    /// MPA-064: in any order, each as often as it comes, of several packets at a time.
    #[test]
    fn fragments_make_their_packet_in_any_order() {
        let all: Vec<u8> = (0..6_001).map(|index| index as u8).collect();
        let places: Vec<(usize, usize)> = (0..6_001)
            .step_by(1_480)
            .map(|at| (at, 1_480.min(6_001 - at)))
            .collect();
        for seed in 0..200 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let (mut fragments, mut order) = (Fragments::default(), places.repeat(2));
            order.shuffle(&mut random);
            let outcomes = order.iter().map(|&at| push(&mut fragments, 1, &all, at));
            let whole: Vec<Outcome> = outcomes.filter(|one| *one != Outcome::Kept).collect();
            assert!(!whole.is_empty(), "seed {seed}");
            assert!(whole.iter().all(|one| *one == Outcome::Whole(all.clone())));
        }
    }

    /// RFC 5722: what overlaps, or ends twice, ends the packet; limits are those of IP.
    #[test]
    fn fragments_that_contradict_each_other_are_forgotten() {
        let all = [7; 64];
        let fragment = |offset, more, octets: usize| Fragment {
            offset,
            more,
            payload: &all[..octets],
        };
        for (first, second) in [
            (fragment(0, true, 16), fragment(8, true, 16)),
            (fragment(16, false, 8), fragment(32, false, 8)),
            (fragment(16, false, 8), fragment(24, true, 8)),
            (fragment(32, true, 8), fragment(16, false, 8)),
        ] {
            let (mut fragments, mut lost) = (Fragments::default(), 0);
            assert_eq!(fragments.push(key(1), &first, 0, &mut lost), Outcome::Kept);
            assert_eq!(
                fragments.push(key(1), &second, 0, &mut lost),
                Outcome::Refused
            );
            assert_eq!((lost, fragments.datagrams.len()), (1, 0));
        }
        let mut fragments = Fragments::default();
        for refused in [
            fragment(0, true, 0),
            fragment(0, true, 12),
            fragment(65_528, false, 8),
        ] {
            assert_eq!(
                fragments.push(key(1), &refused, 0, &mut 0),
                Outcome::Refused
            );
        }
        let last = fragment(65_528, false, 7);
        assert_eq!(fragments.push(key(1), &last, 0, &mut 0), Outcome::Kept);
    }

    #[test]
    fn packets_that_are_not_completed_go_in_time_and_for_others() {
        let (mut fragments, mut lost) = (Fragments::default(), 0);
        let half = Fragment {
            offset: 0,
            more: true,
            payload: &[1; 8],
        };
        for id in 0..DATAGRAMS_MAX as u32 + 1 {
            fragments.push(key(id), &half, u64::from(id), &mut lost);
        }
        assert_eq!((lost, fragments.datagrams.len()), (1, DATAGRAMS_MAX));
        assert_eq!(fragments.datagrams[0].key, key(1));
        fragments.push(key(99), &half, TIME_US + 4, &mut lost);
        // Those of 1 to 4 are too old; that of 5 is not.
        assert_eq!((lost, fragments.datagrams.len()), (5, DATAGRAMS_MAX - 3));
    }
}
