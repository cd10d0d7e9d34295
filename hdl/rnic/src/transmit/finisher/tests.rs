//! CRC32C and checksum of ranges of any length at any place.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, Random};

/// The register of CRC32C, from all ones, over `octets`, one bit at a time.
fn register(octets: &[u8]) -> u32 {
    octets.iter().fold(u32::MAX, |state, octet| {
        (0..8).fold(state ^ u32::from(*octet), |state, _| {
            state >> 1 ^ if state & 1 == 1 { 0x82f6_3b78 } else { 0 }
        })
    })
}

fn zeros(state: u32, octets: usize) -> u32 {
    (0..8 * octets).fold(state, |state, _| {
        state >> 1 ^ if state & 1 == 1 { 0x82f6_3b78 } else { 0 }
    })
}

/// A frame's job, what intake says of it, and the patch.
fn frame(lanes: usize, random: &mut Random) -> (FrameJob, u32, u32, FramePatch) {
    let has_crc = random.chance(3, 4);
    let count = 1 + random.below(9);
    let covered: Vec<u8> = (0..count).map(|_| random.bits() as u8).collect();
    let place = covered.len() as u64 + random.below(9000);
    let start = match random.below(2) {
        0 => place.saturating_sub(3) + random.below(10),
        _ => random.below(9000),
    };
    let crc = crc32c::crc32c(&covered);
    let over = (lanes - (place as usize + 4) % lanes) % lanes;
    let state = zeros(register(&covered), 4 + over);
    let (sum, carry) = match random.below(6) {
        0 => (0, 0),
        1 => (0xffff, 0xffff),
        _ => (random.bits() as u16, random.bits() as u16),
    };
    let mut total = u64::from(sum) + u64::from(carry);
    for (index, octet) in crc.to_le_bytes().into_iter().enumerate() {
        let at = place + index as u64;
        if has_crc && at >= start {
            total += u64::from(octet) << (8 * (at % 2));
        }
    }
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    let mut lanes_of_crc = [0; 4];
    for (index, octet) in crc.to_le_bytes().into_iter().enumerate() {
        lanes_of_crc[(place as usize + index) % 4] = if has_crc { octet } else { 0 };
    }
    let job = FrameJob {
        ring: false,
        units: 2u64.into(),
        refused: false,
        octets: random.below(9217).into(),
        has_checksum: random.chance(1, 2),
        sum_start: start.into(),
        checksum_place: random.below(9000).into(),
        has_crc,
        crc_first: (place - covered.len() as u64).into(),
        crc_place: place.into(),
    };
    let patch = FramePatch {
        octets: job.octets,
        has_checksum: job.has_checksum,
        checksum_place: job.checksum_place,
        checksum: (!total & 0xffff).into(),
        has_crc,
        crc_place: job.crc_place,
        crc: u64::from(u32::from_le_bytes(lanes_of_crc)).into(),
    };
    (job, u32::from(carry) << 16 | u32::from(sum), state, patch)
}

fn finishes<const O: usize, const P: usize>(name: &str) {
    let mut at_hand: Option<(FrameJob, u32, u32, FramePatch)> = None;
    let (mut since, mut finished) = (0u64, 0);
    lockstep!(name, Finisher::<O, P>::default(), 6000, |uut, random| {
        uut.start.next = false;
        uut.patch_ready.next = random.chance(1, 2);
        // Both are right in one cycle only.
        uut.sum.next = random.wide();
        uut.crc_state.next = random.wide();
        since += 1;
        // So is the job.
        uut.job.next = frame(1 << O, random).0;
        if let Some((job, sum, state, patch)) = &at_hand {
            if since == 1 {
                uut.job.next = *job;
            }
            if since == 2 + SUM_CYCLE {
                uut.sum.next = u64::from(*sum).into();
            }
            if since == 2 + CRC_CYCLE {
                uut.crc_state.next = u64::from(*state).into();
            }
            if uut.patch_valid.val() {
                assert_eq!(uut.patch.val(), *patch);
                if uut.patch_ready.next {
                    at_hand = None;
                    finished += 1;
                }
            }
        } else if uut.ready.val() && random.chance(1, 2) {
            let next = frame(1 << O, random);
            uut.start.next = true;
            at_hand = Some(next);
            since = 0;
        }
    });
    assert!(finished > 150, "{finished}");
}

#[test]
fn sums_are_finished_128() {
    finishes::<4, 2>("finisher_128");
}

#[test]
fn sums_are_finished_512() {
    finishes::<6, 4>("finisher_512");
}
