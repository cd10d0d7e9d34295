//! Frames for the tests of acceptance: their ends meet the ends of ranges and window.
use super::model::{Stream, ACK, FIN};
use crate::messages::{FrameVerdict, PageChain, SegmentInfo};
use crate::receive::tcp::context::QueuedFrame;
use rnic_hdl_tools::testkit::Random;

/// Purpose of a stretch of traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mood {
    /// Mostly in order, with every other row of the acceptance table.
    Ordered,
    /// Every kind of overlap.
    Mixed,
    /// Small segments apart from each other: many ranges.
    Scattered,
    /// Small segments apart from each other, and long ones over many of them.
    Bridging,
}

/// A frame, and whether it belongs to the stream's connection.
pub fn random_frame(
    stream: &Stream,
    mood: Mood,
    serial: u64,
    random: &mut Random,
) -> (QueuedFrame, bool) {
    let (distance, length) = match mood {
        Mood::Ordered => ordered(stream, random),
        Mood::Mixed if random.chance(1, 8) => ordered(stream, random),
        Mood::Bridging if random.chance(1, 3) => bridging(stream, random),
        Mood::Mixed => meeting(stream, random),
        Mood::Scattered | Mood::Bridging => scattered(random),
    };
    let strange = mood == Mood::Ordered;
    let flags = match random.below(16) {
        0 if strange => random.below(64),
        1 | 2 => ACK | FIN,
        _ => ACK | (random.below(2) << 3),
    };
    let offset = 56 + random.below(100);
    // SEG.ACK and SEG.WND are often those of the last segment, or all but one of them.
    let (ack, wnd) = (random.chance(1, 2), random.chance(1, 2));
    let seg_ack = [random.below(1 << 32), u64::from(stream.ack)][usize::from(ack)];
    let seg_wnd = [random.below(1 << 16), u64::from(stream.wnd)][usize::from(wnd)];
    let host = strange && random.chance(1, 20);
    let segment = SegmentInfo {
        verdict: if host {
            FrameVerdict::Host
        } else {
            FrameVerdict::Tcp
        },
        frame_octets: (offset + length).into(),
        flags: flags.into(),
        checksum_good: !(strange && random.chance(1, 16)),
        more_options: serial % 8 == 0,
        seg_seq: u64::from((stream.next + distance) as u32).into(),
        seg_ack: seg_ack.into(),
        seg_wnd: seg_wnd.into(),
        payload_offset: offset.into(),
        payload_octets: length.into(),
    };
    let pages = PageChain {
        head_page: (serial % 512).into(),
        tail_page: random.below(512).into(),
    };
    let frame = QueuedFrame { segment, pages };
    (frame, !(strange && random.chance(1, 12)))
}

/// At rcv_nxt, or at one of the edges of the window.
fn ordered(stream: &Stream, random: &mut Random) -> (i64, u64) {
    let length = match random.below(9) {
        0 | 8 => 0,
        1 => 1,
        2 => random.below(9000),
        _ => random.below(1500),
    };
    let distance: i64 = match random.below(10) {
        0 => -(random.below(2000) as i64),
        1 => i64::from(stream.window) - 2 + random.below(4) as i64,
        2 => 1 + random.below(1 << 16) as i64,
        3 => -(length as i64) + random.below(3) as i64 - 1,
        _ => 0,
    };
    (distance, length)
}

/// Both ends at, or next to, ends of ranges, or anywhere near.
fn meeting(stream: &Stream, random: &mut Random) -> (i64, u64) {
    let place = |random: &mut Random| {
        let count = stream.ranges.len() as u64;
        match random.below(4) {
            0 | 1 if count > 0 => {
                let range = stream.ranges[random.below(count) as usize];
                let end = [range.left, range.right][random.below(2) as usize];
                end - stream.next + [0, 0, -1, 1][random.below(4) as usize]
            }
            2 if random.chance(1, 4) => random.below(3) as i64 - 1,
            _ => random.below(3000) as i64 + 1,
        }
    };
    let (first, second) = (place(random), place(random));
    let (left, right) = (first.min(second), first.max(second));
    (left, ((right - left) as u64).clamp(1, 8900))
}

fn scattered(random: &mut Random) -> (i64, u64) {
    (1 + 40 * random.below(120) as i64, 1 + random.below(30))
}

/// From rcv_nxt, or from somewhere, over many ranges.
fn bridging(stream: &Stream, random: &mut Random) -> (i64, u64) {
    let span = stream
        .ranges
        .last()
        .map_or(4000, |last| last.right - stream.next);
    let distance = match random.below(3) {
        0 => -(random.below(50) as i64),
        1 => 1 + random.below(500) as i64,
        _ => 0,
    };
    let length = 1 + random.below(span as u64 + 100);
    (distance, length.min(8900))
}
