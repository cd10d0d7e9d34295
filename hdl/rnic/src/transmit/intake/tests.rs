//! Frames of every length: sum and CRC register, what is stored, and how each frame ended.
use super::*;
use rnic_hdl_tools::testkit::{bits_of, lockstep, octets_of, settle, Random};
use std::collections::VecDeque;

/// The register of CRC32C over `octets` in place of zeros, one bit at a time.
fn register(state: u32, octets: &[u8]) -> u32 {
    octets.iter().fold(state, |state, octet| {
        (0..8).fold(state ^ u32::from(*octet), |state, _| {
            state >> 1 ^ if state & 1 == 1 { 0x82f6_3b78 } else { 0 }
        })
    })
}

/// A frame, its job, and what is wrong with it.
struct Frame {
    octets: Vec<u8>,
    job: FrameJob,
    error: bool,
}

fn frame(random: &mut Random) -> Frame {
    let most = if random.chance(1, 5) { 500 } else { 90 };
    let octets = 14 + random.below(most);
    let first = random.below(octets - 4);
    let covered = 1 + random.below(octets - 4 - first);
    let job = FrameJob {
        ring: random.chance(1, 2),
        units: (1 + random.below(9)).into(),
        refused: random.chance(1, 6),
        octets: octets.into(),
        has_checksum: true,
        sum_start: random.below(octets - 1).into(),
        checksum_place: 0u64.into(),
        has_crc: random.chance(1, 2),
        crc_first: first.into(),
        crc_place: (first + covered).into(),
    };
    Frame {
        octets: (0..octets).map(|_| random.bits() as u8).collect(),
        job,
        error: random.chance(1, 8),
    }
}

impl Frame {
    /// The sum without the CRC's place, modulo 65535, octets at odd places being high halves.
    fn sum(&self) -> u64 {
        let (start, place) = (self.job.sum_start.to_u64(), self.job.crc_place.to_u64());
        let counts =
            |at: u64| at >= start && !(self.job.has_crc && (place..place + 4).contains(&at));
        let octets = (0u64..).zip(&self.octets).filter(|(at, _)| counts(*at));
        octets
            .map(|(at, octet)| u64::from(*octet) << (8 * (at % 2)))
            .sum::<u64>()
            % 65535
    }

    /// The register at the end of the beat with the last octet of the CRC's place.
    fn crc_state(&self, lanes: usize) -> u32 {
        let (first, place) = (self.job.crc_first.index(), self.job.crc_place.index());
        let end = (place + 4).div_ceil(lanes) * lanes;
        register(
            register(u32::MAX, &self.octets[first..place]),
            &vec![0; end - place],
        )
    }
}

/// What the finisher is given of `frame`, whose last beat came so many cycles ago.
fn check_finished(frame: &Frame, cycles: u64, total: u64, crc_state: u64, lanes: usize) {
    if cycles == 3 {
        let (sum, carry) = (total & 0xffff, total >> 16);
        assert_eq!((sum + carry) % 65535, frame.sum());
    }
    if cycles == 5 && frame.job.has_crc {
        assert_eq!(crc_state, u64::from(frame.crc_state(lanes)));
    }
}

fn takes<
    const D: usize,
    const K: usize,
    const O: usize,
    const H: usize,
    const G: usize,
    const NW: usize,
    const KN: usize,
    const AW: usize,
    const AK: usize,
>(
    name: &str,
) {
    let mut frames: VecDeque<Frame> = VecDeque::new();
    // Frames whose job was taken, and the next beat of the first one.
    let (mut open, mut stored) = (None::<(Frame, usize)>, Vec::<u8>::new());
    let mut finishing: VecDeque<(u64, Frame)> = VecDeque::new();
    let (mut now, mut good, mut bad, mut crcs) = (0u64, 0, 0, 0);
    let (mut job_at_hand, mut room) = (false, false);
    let block = FrameIntake::<D, K, O, H, G, NW, KN, AW, AK>::default();
    lockstep!(name, block, 5000, |uut, random| {
        now += 1;
        frames.extend(frames.is_empty().then(|| frame(random)));
        if let Some((since, frame)) = finishing.front() {
            let (total, state) = (uut.sum.val().to_u64(), uut.crc_state.val().to_u64());
            check_finished(frame, now - since, total, state, K);
            if now == since + 5 {
                crcs += usize::from(frame.job.has_crc);
                finishing.pop_front();
            }
        }
        uut.job.next = frames[0].job;
        job_at_hand |= random.chance(1, 2);
        uut.job_valid.next = job_at_hand;
        room |= random.chance(1, 2);
        uut.frame_end_room.next = room;
        uut.finish_ready.next |= random.chance(1, 2);
        uut.finish_ready.next &= finishing.is_empty();
        uut.bulk_settles.next = now % 1000 > 900;
        uut.beat_valid.next = open.is_some() && random.chance(5, 6);
        if let Some((frame, at)) = &open {
            let mut beat: Vec<u8> = frame.octets[*at..].iter().take(K).copied().collect();
            let last = at + K >= frame.octets.len();
            // What lies after the frame is anything.
            beat.resize_with(K, || random.bits() as u8);
            uut.beat_data.next = bits_of(&beat);
            uut.beat_last.next = last;
            uut.beat_error.next = last && frame.error;
        }
        settle(uut);

        let end = uut.frame_end_valid.val().then(|| uut.frame_end.val());
        assert!(end.is_none() || std::mem::take(&mut room));
        assert!(!uut.finish_start.val() || uut.finish_ready.next);
        if let Some((frame, at)) = &mut open {
            if uut.beat_valid.next && uut.beat_ready.val() {
                assert!(uut.store_write.val());
                stored.extend(octets_of(uut.store_data.val()));
                *at += K;
                let fails = frame.error || frame.job.ring && uut.bulk_settles.next;
                assert_eq!(uut.store_commit.val(), uut.beat_last.next && !fails);
                assert_eq!(uut.store_commit.val(), uut.finish_start.val());
                assert_eq!(uut.store_rollback.val(), uut.beat_last.next && fails);
                let words = frame.octets.len().div_ceil(K) as u64;
                let refund = u64::from(uut.store_rollback.val()) * words;
                assert_eq!(uut.refund.val(), refund);
                if uut.beat_last.next {
                    let end = end.expect("the frame is over");
                    assert_eq!((end.ring, end.units), (frame.job.ring, frame.job.units));
                    assert_eq!(end.status, if fails { 2u64 } else { 0 });
                    assert_eq!(stored[..frame.octets.len()], frame.octets);
                    stored.clear();
                    let (frame, _) = open.take().expect("it is open");
                    if fails {
                        bad += 1;
                    } else {
                        assert_eq!(uut.finish_job.val(), frame.job);
                        finishing.push_back((now, frame));
                        good += 1;
                    }
                }
            } else {
                assert!(!uut.store_write.val() && !uut.finish_start.val() && end.is_none());
            }
        } else if uut.job_valid.next && uut.job_ready.val() {
            let frame = frames.pop_front().expect("it is on offer");
            job_at_hand = false;
            if frame.job.refused {
                let end = end.expect("it is over at once");
                assert_eq!((end.ring, end.units), (frame.job.ring, frame.job.units));
                assert_eq!(end.status, 1u64);
            } else {
                assert_eq!(end, None);
                open = Some((frame, 0));
            }
        }
    });
    assert!(good > 100 && bad > 20 && crcs > 40, "{good}, {bad}, {crcs}");
}

#[test]
fn frames_are_taken_128() {
    takes::<128, 16, 4, 10, 1, 128, 16, 64, 8>("frame_intake_128");
}

#[test]
fn frames_are_taken_512() {
    takes::<512, 64, 6, 8, 4, 128, 16, 160, 20>("frame_intake_512");
}
