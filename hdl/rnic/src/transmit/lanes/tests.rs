//! Lanes of every place, and octets one by one.
use super::*;
use rnic_hdl_tools::testkit::{bits_of, lockstep, lockstep_combinational, octets_of};

/// Frames one after the other, beats with gaps between them; each mask against its definition.
fn masks<const K: usize, const O: usize, const H: usize>(name: &str) {
    let (mut place, mut beat, mut left) = (0u64, 0u64, 0);
    lockstep!(name, LaneMask::<K, O, H>::default(), 2000, |uut, random| {
        if beat > 0 {
            for lane in 0..K {
                let octet = (beat - 1) * K as u64 + lane as u64;
                assert_eq!(
                    uut.mask.val().get_bit(lane),
                    octet >= place,
                    "octet {octet}"
                );
            }
        }
        uut.step.next = false;
        uut.load.next = false;
        if left == 0 {
            place = match random.below(3) {
                0 => random.below(3 * K as u64),
                1 => random.below(1 << 14),
                _ => K as u64 * random.below(5),
            };
            uut.load.next = true;
            uut.place.next = place.into();
            (beat, left) = (1, random.below(12));
        } else if random.chance(2, 3) {
            uut.step.next = true;
            beat += 1;
            left -= 1;
        }
    });
}

#[test]
fn lanes_from_a_place_on() {
    masks::<8, 3, 11>("lane_mask_8");
    masks::<16, 4, 10>("lane_mask_16");
    masks::<64, 6, 8>("lane_mask_64");
}

#[test]
fn octets_are_masked_one_by_one() {
    let mut expected: Option<Vec<u8>> = None;
    let block = MaskOctets::<128, 16>::default();
    lockstep_combinational("mask_octets", block, 300, |uut, random| {
        if let Some(expected) = &expected {
            assert_eq!(&octets_of(uut.masked.val()), expected);
        }
        let data: Vec<u8> = (0..16).map(|_| random.bits() as u8).collect();
        let (keep, flip) = (random.below(1 << 16), random.below(1 << 16));
        let octet = |(lane, octet): (usize, &u8)| {
            let kept = if keep >> lane & 1 == 1 { *octet } else { 0 };
            if flip >> lane & 1 == 1 {
                !kept
            } else {
                kept
            }
        };
        expected = Some(data.iter().enumerate().map(octet).collect());
        uut.data.next = bits_of(&data);
        uut.keep.next = keep.into();
        uut.flip.next = flip.into();
    });
}

#[test]
fn octets_are_replaced_one_by_one() {
    let mut expected: Option<Vec<u8>> = None;
    let block = ReplaceOctets::<64, 8>::default();
    lockstep_combinational("replace_octets", block, 300, |uut, random| {
        if let Some(expected) = &expected {
            assert_eq!(&octets_of(uut.replaced.val()), expected);
        }
        let data: Vec<u8> = (0..8).map(|_| random.bits() as u8).collect();
        let (first, second) = (random.bits() as u32, random.bits() as u16);
        let (first_lanes, second_lanes) = (random.below(256), random.below(256));
        let octet = |(lane, octet): (usize, &u8)| {
            if second_lanes >> lane & 1 == 1 {
                second.to_le_bytes()[lane % 2]
            } else if first_lanes >> lane & 1 == 1 {
                first.to_le_bytes()[lane % 4]
            } else {
                *octet
            }
        };
        expected = Some(data.iter().enumerate().map(octet).collect());
        uut.data.next = bits_of(&data);
        uut.first.next = u64::from(first).into();
        uut.second.next = u64::from(second).into();
        uut.first_lanes.next = first_lanes.into();
        uut.second_lanes.next = second_lanes.into();
    });
}
