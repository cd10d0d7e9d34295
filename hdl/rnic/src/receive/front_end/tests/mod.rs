//! The front end against a reference reader written from the standards, at every width.
mod lockstep;
mod packets;
mod reference;
mod rig;
mod rows;

use super::verdict::*;
use super::{FrontEnd128, FrontEnd512, FrontEnd64};
use crate::messages::FrameVerdict;
use packets::{mend_ipv4_checksum, network_offset, octets, shape, tcp_frame, Shape};
use rig::{play, Outcome, Rig, Stimulus};
use rnic_hdl_tools::testkit::Random;
use rows::{ethernet_rows, ip_rows, tcp_rows};

/// Idle beats that keep Ethernet's gap, rounded down to whole beats, and one frame in two cycles.
fn ethernet_gap<R: Rig>(frame_octets: usize) -> usize {
    let beats = frame_octets.div_ceil(R::OCTETS);
    let spilled =
        usize::from(frame_octets.div_ceil(R::OCTETS) != (frame_octets + 2).div_ceil(R::OCTETS));
    (20 / R::OCTETS)
        .max(spilled)
        .max(2usize.saturating_sub(beats))
}

/// Plays `frames` and compares everything with the reference.
fn check<R: Rig>(frames: &[Stimulus], random: &mut Random) -> Outcome {
    let outcome = play::<R>(frames, random);
    let context = format!("{} octets a beat", R::OCTETS);
    assert_eq!(outcome.readings.len(), frames.len(), "{context}");
    assert_eq!(outcome.stored.len(), frames.len(), "{context}");
    assert_eq!(outcome.count_words.len(), frames.len(), "{context}");
    for (index, frame) in frames.iter().enumerate() {
        let context = format!("frame {index}: {frame:02x?}, {context}");
        matches_reference::<R>(&outcome, index, frame, &context);
    }
    outcome
}

/// Entry `index` of `outcome` equals the reference for `frame`.
fn matches_reference<R: Rig>(outcome: &Outcome, index: usize, frame: &Stimulus, context: &str) {
    let expected = reference::read(&frame.octets, frame.enabled, frame.mac_error);
    let actual = &outcome.readings[index];
    assert_eq!(actual.verdict, expected.verdict, "verdict of {context}");
    assert_eq!(actual.segment, expected.segment, "segment of {context}");
    let pulses = 1 << COUNT_FRAMES | expected.reason.map_or(0, |bit| 1 << bit);
    assert_eq!(outcome.count_words[index], pulses, "counts of {context}");
    let kept = frame.octets.len().min(9216);
    if frame.octets.len() <= 9216 {
        assert_eq!(actual.frame_octets, expected.frame_octets, "{context}");
    }
    let stored = &outcome.stored[index];
    assert_eq!(&stored[..2], [0, 0], "pad of {context}");
    assert_eq!(
        stored[2..2 + kept],
        frame.octets[..kept],
        "stored octets of {context}"
    );
    // The whole beats of pad and frame, and no more.
    let beats = (kept + 2).div_ceil(R::OCTETS);
    assert_eq!(stored.len(), beats * R::OCTETS, "length of {context}");
}

/// The same test at every width.
macro_rules! at_every_width {
    ($($(#[$doc:meta])* $name:ident => $body:ident;)*) => { $(
        mod $name {
            use super::*;
            $(#[$doc])* #[test] fn w64() { $body::<FrontEnd64>(); }
            $(#[$doc])* #[test] fn w128() { $body::<FrontEnd128>(); }
            $(#[$doc])* #[test] fn w512() { $body::<FrontEnd512>(); }
        }
    )* };
}

at_every_width! {
    headers_of_every_shape_are_read => every_shape;
    every_payload_length_is_read => every_length;
    every_drop_and_host_reason_is_told => every_reason;
    frames_of_random_octets_match_the_reference => noise;
    damaged_frames_match_the_reference => damaged;
    long_frames_are_cut_and_dropped => long_frames;
    a_burst_without_gaps_is_taken_whole => burst;
    a_flood_of_single_beats_is_counted_and_breaks_nothing => flood;
    latency_is_as_documented => latency;
}

fn spaced<R: Rig>(octets: Vec<u8>) -> Stimulus {
    Stimulus {
        gap_beats: ethernet_gap::<R>(octets.len()),
        ..Stimulus::new(octets)
    }
}

/// VLAN tags x IPv4 of every IHL, IPv6 x TCP options, payload and padding at random.
fn every_shape<R: Rig>() {
    let mut random = Random::from_environment();
    let mut frames = Vec::new();
    for tags in 0..3 {
        for ip in 0..12 {
            for tcp in 0..11 {
                let shape = Shape {
                    tags,
                    ipv4_options: (ip < 11).then_some(4 * ip),
                    tcp_options: 4 * tcp,
                    payload: random.below(101) as usize,
                };
                let mut frame = tcp_frame(&mut random, shape);
                if random.chance(1, 4) {
                    let padding = random.below(40) as usize;
                    frame.extend(octets(&mut random, padding));
                }
                let idle_of_8 = random.below(3) * random.below(2);
                frames.push(Stimulus {
                    idle_of_8,
                    ..spaced::<R>(frame)
                });
            }
        }
    }
    let outcome = check::<R>(&frames, &mut random);
    let good =
        |reading: &reference::Reading| reading.segment.as_ref().is_some_and(|s| s.checksum_good);
    assert!(
        outcome.readings.iter().all(good),
        "all frames are whole TCP segments"
    );
}

fn every_length<R: Rig>() {
    let mut random = Random::from_environment();
    let mut frames = Vec::new();
    for payload in 0..=100 {
        let shape = Shape {
            payload,
            ..shape(&mut random)
        };
        frames.push(spaced::<R>(tcp_frame(&mut random, shape)));
    }
    check::<R>(&frames, &mut random);
}

/// Every row of the front end's table in ARCHITECTURE.md but the one for long frames.
fn every_reason<R: Rig>() {
    let mut random = Random::from_environment();
    let mut frames = ip_rows(&mut random);
    for ipv4 in [true, false] {
        frames.extend(ethernet_rows(&mut random, ipv4));
        frames.extend(tcp_rows(&mut random, ipv4));
    }
    for frame in &mut frames {
        frame.gap_beats = ethernet_gap::<R>(frame.octets.len());
    }
    let outcome = check::<R>(&frames, &mut random);
    for (bit, &count) in outcome.counts.iter().enumerate() {
        assert!(
            count > 0 || bit == COUNT_TOO_LONG,
            "no frame for bit {bit} of counts"
        );
    }
    for verdict in [FrameVerdict::Drop, FrameVerdict::Host, FrameVerdict::Tcp] {
        assert!(outcome
            .readings
            .iter()
            .any(|reading| reading.verdict == verdict));
    }
}

/// Octets drawn from those that decide something, so that noise gets past the first test.
fn noise<R: Rig>() {
    let mut random = Random::from_environment();
    let likely = [
        0x81, 0x00, 0x88, 0xa8, 0x08, 0x86, 0xdd, 0x45, 0x60, 0x06, 0x50, 0x00, 0x28,
    ];
    let mut frames = Vec::new();
    for _ in 0..300 {
        let longest = if random.chance(1, 2) { 30 } else { 140 };
        let size = 1 + random.below(longest) as usize;
        let mut frame = octets(&mut random, size);
        for octet in &mut frame {
            if random.chance(1, 2) {
                *octet = likely[random.below(likely.len() as u64) as usize];
            }
        }
        let types: [&[u8]; 6] = [
            &[8, 0],
            &[0x86, 0xdd],
            &[0x81, 0, 0, 0, 8, 0],
            &[0x81, 0],
            &[0x88, 0xa8, 0, 0, 0x81, 0, 0, 0, 0x86, 0xdd],
            &[],
        ];
        let chosen = types[random.below(6) as usize];
        for (place, octet) in chosen.iter().enumerate() {
            if let Some(place) = frame.get_mut(12 + place) {
                *place = *octet;
            }
        }
        frames.push(Stimulus {
            enabled: !random.chance(1, 20),
            mac_error: random.chance(1, 20),
            idle_of_8: random.below(5),
            ..spaced::<R>(frame)
        });
    }
    check::<R>(&frames, &mut random);
}

/// Whole frames with a few octets changed, or cut short, or too long for what they say.
fn damaged<R: Rig>() {
    let mut random = Random::from_environment();
    let mut frames = Vec::new();
    for _ in 0..300 {
        let shape = shape(&mut random);
        let mut frame = tcp_frame(&mut random, shape);
        let at = network_offset(&frame);
        for _ in 0..random.below(3) {
            let reach = frame.len().min(at + 64) as u64;
            let place = random.below(reach) as usize;
            frame[place] ^= 1 << random.below(8);
        }
        if random.chance(1, 4) {
            let size = 1 + random.below(frame.len() as u64) as usize;
            frame.truncate(size);
        }
        if frame.len() > at + 60 && frame[at] >> 4 == 4 && random.chance(1, 2) {
            mend_ipv4_checksum(&mut frame);
        }
        frames.push(spaced::<R>(frame));
    }
    check::<R>(&frames, &mut random);
}

/// At the limit, beyond it by every rest of a beat, and far beyond it; sane frames between them.
fn long_frames<R: Rig>() {
    let mut random = Random::from_environment();
    let mut frames = Vec::new();
    let sizes = [
        9213, 9214, 9215, 9216, 9217, 9218, 9222, 9223, 9224, 9225, 9280, 9281, 19000,
    ];
    for size in sizes {
        let shape = Shape {
            payload: 9000,
            ..shape(&mut random)
        };
        let mut frame = tcp_frame(&mut random, shape);
        let missing = size - frame.len();
        frame.extend(octets(&mut random, missing));
        let mut long = spaced::<R>(frame);
        long.mac_error = size == 9225;
        frames.push(long);
        let shape = packets::shape(&mut random);
        frames.push(spaced::<R>(tcp_frame(&mut random, shape)));
    }
    let outcome = check::<R>(&frames, &mut random);
    assert_eq!(outcome.counts[COUNT_TOO_LONG], 8);
    assert_eq!(outcome.counts[COUNT_MAC_ERROR], 1);
}

/// Five frames of every size class come without a single idle beat; then the wire rests.
fn burst<R: Rig>() {
    let mut random = Random::from_environment();
    let mut frames = Vec::new();
    for round in 0..60 {
        for place in 0..5 {
            let mut frame = match round % 3 {
                0 => {
                    let size = 1 + random.below(R::OCTETS as u64) as usize;
                    octets(&mut random, size)
                }
                _ => {
                    let shape = shape(&mut random);
                    tcp_frame(&mut random, shape)
                }
            };
            if round % 3 == 1 {
                let rest = R::OCTETS - frame.len() % R::OCTETS;
                frame.extend(octets(&mut random, rest));
            }
            frames.push(Stimulus {
                gap_beats: if place == 0 { 12 } else { 0 },
                ..Stimulus::new(frame)
            });
        }
    }
    check::<R>(&frames, &mut random);
}

/// Beats that are frames, in every cycle: what is refused is counted, the rest is right.
fn flood<R: Rig>() {
    let mut random = Random::from_environment();
    let mut frames = Vec::new();
    for round in 0..400 {
        let full = round / 100 % 2 == 0;
        let size = if full {
            R::OCTETS
        } else {
            1 + random.below(R::OCTETS as u64) as usize
        };
        frames.push(Stimulus::new(octets(&mut random, size)));
    }
    let shape = shape(&mut random);
    frames.push(Stimulus {
        gap_beats: 40,
        ..Stimulus::new(tcp_frame(&mut random, shape))
    });
    let mut outcome = play::<R>(&frames, &mut random);
    assert_eq!(outcome.counts[COUNT_FRAMES], frames.len());
    let refused = outcome.counts[COUNT_MAC_ERROR];
    assert_eq!(outcome.stored.len(), frames.len() - refused);
    assert!(
        (150..260).contains(&refused),
        "{refused} of {} refused",
        frames.len()
    );
    // Refused frames are counted in the cycles between the others.
    outcome
        .count_words
        .retain(|&word| word & 1 << COUNT_MAC_ERROR == 0);
    let mut index = 0;
    for frame in &frames {
        let stored = outcome.stored.get(index);
        if stored.is_some_and(|stored| stored[2..].starts_with(&frame.octets)) {
            matches_reference::<R>(&outcome, index, frame, &format!("frame {frame:02x?}"));
            index += 1;
        }
    }
    assert_eq!(
        index,
        outcome.stored.len(),
        "every stored frame was one of the wire"
    );
}

fn latency<R: Rig>() {
    let mut random = Random::from_environment();
    for payload in 0..70 {
        let shape = Shape {
            tags: 0,
            ipv4_options: Some(0),
            tcp_options: 0,
            payload,
        };
        let frame = tcp_frame(&mut random, shape);
        let spilled = (frame.len() + R::OCTETS - 1) % R::OCTETS >= R::OCTETS - 2;
        let outcome = check::<R>(&[Stimulus::new(frame)], &mut random);
        let documented = match R::OCTETS {
            8 => 6,
            16 => 7,
            _ => 8,
        };
        assert_eq!(
            outcome.latencies,
            [documented + u64::from(spilled)],
            "payload {payload}"
        );
    }
}
