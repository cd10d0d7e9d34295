//! Frames of every length with patches at every place.
use super::*;
use rnic_hdl_tools::testkit::{bits_of, lockstep, octets_of, Random};
use std::collections::VecDeque;

/// A patch, the words of its frame, and the frame that leaves.
fn frame(word: usize, random: &mut Random) -> (FramePatch, Vec<Vec<u8>>, Vec<u8>) {
    let most = if random.chance(1, 4) { 400 } else { 60 };
    let octets = 14 + random.below(most) as usize;
    let mut frame: Vec<u8> = (0..octets).map(|_| random.bits() as u8).collect();
    let words = frame.chunks(word).map(<[u8]>::to_vec).collect();
    let (crc, checksum) = (random.bits() as u32, random.bits() as u16);
    let crc_place = random.below(octets as u64 - 3) as usize;
    let checksum_place = match random.below(3) {
        0 => crc_place + random.below(3) as usize,
        _ => random.below(octets as u64 - 1) as usize,
    };
    let (has_crc, has_checksum) = (random.chance(1, 2), random.chance(1, 2));
    if has_crc {
        for at in crc_place..crc_place + 4 {
            frame[at] = crc.to_le_bytes()[at % 4];
        }
    }
    if has_checksum {
        for at in checksum_place..checksum_place + 2 {
            frame[at] = checksum.to_le_bytes()[at % 2];
        }
    }
    let patch = FramePatch {
        octets: (octets as u64).into(),
        has_checksum,
        checksum_place: (checksum_place as u64).into(),
        checksum: u64::from(checksum).into(),
        has_crc,
        crc_place: (crc_place as u64).into(),
        crc: u64::from(crc).into(),
    };
    (patch, words, frame)
}

fn sends<const W: usize, const WK: usize, const WO: usize, const WH: usize, const D: usize>(
    name: &str,
) {
    let mut patches: VecDeque<FramePatch> = VecDeque::new();
    let mut words: VecDeque<Vec<u8>> = VecDeque::new();
    let mut frames: VecDeque<Vec<u8>> = VecDeque::new();
    let mut received: Vec<u8> = Vec::new();
    let (mut sent, mut counted) = (0, 0);
    let block = Sender::<W, WK, WO, WH, D>::default();
    lockstep!(name, block, 4000, |uut, random| {
        if patches.len() < 3 {
            let (patch, more, frame) = frame(D / 8, random);
            patches.push_back(patch);
            words.extend(more);
            frames.push_back(frame);
        }
        uut.pause.next = random.chance(1, 10);
        uut.patch_valid.next = random.chance(1, 2);
        if let Some(patch) = patches.front() {
            uut.patch.next = *patch;
        }
        uut.word_valid.next = random.chance(3, 4) && !words.is_empty();
        if let Some(word) = words.front() {
            uut.word.next = bits_of(word);
        }
        uut.frame_ready.next = random.chance(2, 3);
        let beat = octets_of(uut.frame_data.val());
        if uut.frame_valid.val() && uut.frame_ready.next {
            let octets = uut.frame_octets.val().to_u64() as usize;
            let last = uut.frame_last.val();
            assert!(last || octets == WK);
            received.extend(&beat[..octets]);
            if last {
                assert_eq!(Some(std::mem::take(&mut received)), frames.pop_front());
                sent += 1;
            }
        }
        rnic_hdl_tools::testkit::settle(uut);
        if uut.patch_valid.val() && uut.patch_ready.val() {
            assert!(!uut.pause.val());
            patches.pop_front();
        }
        if uut.word_valid.val() && uut.word_ready.val() {
            words.pop_front();
        }
        counted += u64::from(uut.sent.val());
    });
    assert!(
        sent > 80 && counted >= sent && counted <= sent + 3,
        "{sent} of {counted}"
    );
}

#[test]
fn frames_are_patched_and_sent_64() {
    sends::<64, 8, 3, 11, 128>("sender_64");
}

#[test]
fn frames_are_patched_and_sent_128() {
    sends::<128, 16, 4, 10, 128>("sender_128");
}

#[test]
fn frames_are_patched_and_sent_512() {
    sends::<512, 64, 6, 8, 512>("sender_512");
}
