//! Units of both rings find their places; what is dropped, or not whole, does not count.
use super::*;
use rnic_hdl_tools::testkit::{bits_of, lockstep, Random};
use std::collections::VecDeque;

struct Beat {
    octets: Vec<u8>,
    last: bool,
    error: bool,
    ring: usize,
}

/// A read of whole units, or one that fails somewhere.
fn read(lanes: usize, random: &mut Random) -> (usize, Vec<Vec<u8>>, Vec<Beat>) {
    let ring = random.below(2) as usize;
    let count = 1 + random.below(6);
    let units: Vec<Vec<u8>> = (0..count)
        .map(|_| (0..32).map(|_| random.bits() as u8).collect())
        .collect();
    let octets = units.concat();
    let error = random.chance(1, 5);
    let mut beats: Vec<Beat> = octets
        .chunks(lanes)
        .map(|chunk| Beat {
            octets: chunk.to_vec(),
            last: false,
            error,
            ring,
        })
        .collect();
    if error {
        beats.truncate(1 + random.below(beats.len() as u64) as usize);
        let part = random.below(beats[beats.len() - 1].octets.len() as u64 + 1);
        beats
            .last_mut()
            .expect("one at least")
            .octets
            .truncate(part as usize);
    }
    let last = beats.len() - 1;
    beats[last].last = true;
    let whole = if error {
        last * lanes / 32
    } else {
        units.len()
    };
    (ring, units[..whole].to_vec(), beats)
}

fn keeps<const D: usize>(name: &str) {
    let mut beats: VecDeque<Beat> = VecDeque::new();
    // What will be in place, and what is: by ring.
    let mut coming: [VecDeque<Vec<u8>>; 2] = Default::default();
    let mut placed: [Vec<Vec<u8>>; 2] = Default::default();
    // Ring of each read, whether it fails, and the units of the ring that are in place by then.
    let mut ends: VecDeque<(usize, bool, usize)> = VecDeque::new();
    let mut asked: VecDeque<Option<Vec<u8>>> = VecDeque::new();
    let mut seen = 0;
    lockstep!(name, UnitBuffer::<D>::default(), 5000, |uut, random| {
        let two_ago = if asked.len() == 2 {
            asked.pop_front()
        } else {
            None
        };
        if let Some(Some(expected)) = two_ago {
            assert_eq!(uut.piece.val(), bits_of::<96>(&expected));
            seen += 1;
        }
        if beats.is_empty() {
            let (ring, units, more) = read(D / 8, random);
            coming[ring].extend(units);
            let by_then = placed[ring].len() + coming[ring].len();
            ends.push_back((ring, more[0].error, by_then));
            beats.extend(more);
        }
        let beat = &beats[0];
        uut.unit_valid.next = random.chance(3, 4);
        uut.unit_data.next = bits_of(&beat.octets);
        uut.unit_octets.next = (beat.octets.len() as u64).into();
        uut.unit_last.next = beat.last;
        uut.unit_error.next = beat.error;
        uut.unit_ring.next = beat.ring == 1;
        uut.control_slot.next = (placed[0].len() as u64 % 128).into();
        uut.bulk_slot.next = (placed[1].len() as u64 % 128).into();
        // A unit that is in its place for some cycles.
        let ring = random.below(2) as usize;
        let count = placed[ring].len();
        let mut expected = None;
        if count > 1 {
            let unit = count - 1 - random.below(100.min(count as u64 - 1)) as usize;
            let half = random.below(2) as usize;
            let address = (ring << 8 | (unit % 128) << 1 | half) as u64;
            uut.read_address.next = address.into();
            if unit + 2 <= count {
                expected = Some(placed[ring][unit][16 * half..16 * half + 12].to_vec());
            }
        }
        asked.push_back(expected);
        rnic_hdl_tools::testkit::settle(uut);
        if uut.unit_valid.val() && uut.unit_ready.val() {
            beats.pop_front();
        }
        let filled = [uut.control_filled.val(), uut.bulk_filled.val()];
        let ended = [uut.control_ends.val(), uut.bulk_ends.val()];
        for ring in 0..2 {
            if filled[ring] {
                placed[ring].push(coming[ring].pop_front().expect("a whole unit"));
            }
            if ended[ring] {
                let end = (ring, uut.failed.val(), placed[ring].len());
                assert_eq!(ends.pop_front(), Some(end));
            }
        }
    });
    assert!(
        seen > 500 && placed.iter().all(|units| units.len() > 200),
        "{seen}"
    );
}

#[test]
fn units_are_kept_128() {
    keeps::<128>("units_128");
}

#[test]
fn units_are_kept_512() {
    keeps::<512>("units_512");
}

#[test]
fn what_is_dropped_is_not_in_place_but_ends() {
    let (mut filled, mut ended) = (0, 0);
    lockstep!(
        "units_dropped",
        UnitBuffer::<128>::default(),
        400,
        |uut, random| {
            uut.control_drop.next = true;
            uut.unit_data.next = random.wide();
            uut.unit_octets.next = 16.into();
            uut.unit_valid.next = random.chance(1, 2);
            uut.unit_last.next = random.chance(1, 2);
            rnic_hdl_tools::testkit::settle(uut);
            filled += u32::from(uut.control_filled.val());
            ended += u32::from(uut.control_ends.val());
        }
    );
    assert!(filled == 0 && ended > 20);
}
