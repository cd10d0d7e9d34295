//! What must hold for any traffic.

use crate::rig::{pattern, Rig, BUFFERS, MSS, REGION_OCTETS, REGION_TO, STAG};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rnic_abi::counters::Counter;
use rnic_abi::events::FpduTrace;
use rnic_driver::Completion;
use rnic_testbench::traffic::{Cutter, StreamConfig};

/// One message of a stream.
#[derive(Clone, Debug)]
enum Message {
    Write { at: usize, octets: usize },
    Response { at: usize, octets: usize },
    Send { octets: usize },
}

fn message() -> impl Strategy<Value = Message> {
    let octets = prop_oneof![Just(0usize), 1usize..40, 40usize..2500];
    prop_oneof![
        (0usize..2500, octets.clone()).prop_map(|(at, octets)| Message::Write { at, octets }),
        (0usize..2500, octets.clone()).prop_map(|(at, octets)| Message::Response { at, octets }),
        octets.prop_map(|octets| Message::Send { octets }),
    ]
}

fn stream() -> impl Strategy<Value = StreamConfig> {
    (
        any::<bool>(),
        any::<bool>(),
        0u8..2,
        any::<u32>(),
        128usize..3000,
    )
        .prop_map(
            |(markers, crc, version, sequence_start, mulpdu)| StreamConfig {
                markers,
                crc,
                version,
                sequence_start,
                mulpdu,
            },
        )
}

fn put(rig: &mut Rig, messages: &[Message]) {
    let mut sends = 0;
    for message in messages {
        match *message {
            Message::Write { at, octets } => {
                rig.sender
                    .rdma_write(STAG, REGION_TO + at as u64, &pattern(octets));
            }
            Message::Response { at, octets } => {
                rig.read_and_respond(STAG, REGION_TO + at as u64, &pattern(octets));
            }
            Message::Send { octets } if sends < BUFFERS => {
                sends += 1;
                rig.sender.send(&pattern(octets));
            }
            Message::Send { .. } => (),
        }
    }
}

/// All that an application sees, and what the trace says of FPDUs.
#[derive(Debug, PartialEq, Eq)]
struct Result {
    region: Vec<u8>,
    buffers: Vec<Vec<u8>>,
    completions: Vec<Completion>,
    fpdus: Vec<FpduTrace>,
}

fn result(rig: &Rig) -> Result {
    assert_eq!(rig.model.memory.violations, []);
    Result {
        region: rig.region().to_vec(),
        buffers: (1..=BUFFERS as u32)
            .map(|msn| rig.buffer(0, msn).to_vec())
            .collect(),
        completions: rig.completions(),
        fpdus: rig.model.fpdus.clone(),
    }
}

/// What the messages leave behind, without any network between.
fn expected_region(messages: &[Message]) -> Vec<u8> {
    let mut region = vec![0; REGION_OCTETS];
    for message in messages {
        if let Message::Write { at, octets } | Message::Response { at, octets } = *message {
            region[at..at + octets].copy_from_slice(&pattern(octets));
        }
    }
    region
}

fn rig(config: StreamConfig, messages: &[Message]) -> Rig {
    let mut rig = Rig::new(config);
    put(&mut rig, messages);
    rig
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// MPA-046, MPA-047, MPA-048, MPA-049, MPA-050, MPA-051, MPA-063, MPA-065: wherever the stream
    /// is cut, into single octets too, the result is the same, and it is what was sent.
    #[test]
    fn no_segmentation_changes_the_result(
        config in stream(),
        messages in prop::collection::vec(message(), 1..12),
        mss in prop_oneof![1usize..40, 40usize..1448],
        seed: u64,
    ) {
        let mut whole = rig(config, &messages);
        whole.deliver();
        prop_assert_eq!(whole.stopped(), None);
        let whole = result(&whole);
        prop_assert_eq!(&whole.region, &expected_region(&messages));
        for cutter in Cutter::ALL {
            let mut cut = rig(config, &messages);
            let mut generator = ChaCha8Rng::seed_from_u64(seed);
            for segment in cutter.cut(cut.sender.fpdus(), mss, &mut generator) {
                cut.segment(segment.start, segment.end);
            }
            prop_assert_eq!(&result(&cut), &whole, "{:?}, mss {}", cutter, mss);
            prop_assert_eq!(cut.model.held_octets(), 0);
        }
    }

    /// MPA-038, DDP-023: segments that come again, alone or with others, change nothing.
    #[test]
    fn no_repetition_changes_the_result(
        config in stream(),
        messages in prop::collection::vec(message(), 1..8),
        repeats in prop::collection::vec((0usize..100, 1usize..MSS), 0..40),
    ) {
        let mut once = rig(config, &messages);
        once.deliver();
        let mut again = rig(config, &messages);
        let end = again.sender.stream().len();
        let mut at = 0;
        for (back, octets) in repeats {
            // Each segment starts at or before the next octet expected.
            let start = at - at * back / 100;
            let stop = end.min(start + octets);
            if start < stop {
                again.segment(start, stop);
                at = at.max(stop);
            }
        }
        for start in (at..end).step_by(MSS) {
            again.segment(start, end.min(start + MSS));
        }
        prop_assert_eq!(result(&again), result(&once));
    }

    /// MPA-022, MPA-042, MPA-054: with CRC, an FPDU with a flipped bit is not placed, nor is
    /// anything after it; what stands before it is.
    #[test]
    fn no_flipped_bit_is_placed(
        config in stream(),
        messages in prop::collection::vec(message(), 1..6),
        place: prop::sample::Index,
        bit in 0u32..8,
    ) {
        let config = StreamConfig { crc: true, ..config };
        let mut bad = rig(config, &messages);
        let octets = bad.sender.stream().len();
        prop_assume!(octets > 0);
        let at = place.index(octets);
        let fpdus = bad.sender.fpdus().to_vec();
        let hit = fpdus.iter().position(|fpdu| fpdu.octets.contains(&at)).expect("in an FPDU");
        // What a good receiver makes of the FPDUs before it.
        let mut good = rig(config, &messages);
        let end = fpdus[hit].octets.start;
        for start in (0..end).step_by(MSS) {
            good.segment(start, end.min(start + MSS));
        }
        bad.sender.stream_mut()[at] ^= 1 << bit;
        bad.deliver();
        let (bad_result, good_result) = (result(&bad), result(&good));
        prop_assert_eq!(bad_result.region, good_result.region);
        prop_assert_eq!(bad_result.buffers, good_result.buffers);
        prop_assert_eq!(&bad_result.fpdus[..hit], &good_result.fpdus[..]);
        prop_assert_eq!(bad.counter(Counter::Fpdus), hit as u32);
        // A length that grew may leave the FPDU waiting for octets; else the stream has stopped.
        prop_assert!(bad.stopped().is_some() || bad.model.held_octets() > 0);
    }

    /// MPA-061: octets that are no FPDUs at all are never placed.
    #[test]
    fn random_octets_place_nothing(
        markers: bool,
        octets in prop::collection::vec(any::<u8>(), 1..4000),
    ) {
        let mut rig = Rig::new(StreamConfig { markers, ..StreamConfig::default() });
        let first = rig.sender.config().sequence_start;
        for (number, piece) in octets.chunks(MSS).enumerate() {
            let sequence = first.wrapping_add((number * MSS) as u32);
            let frame = rig.builder.segment(sequence, 1, 0x10, piece);
            rig.model.receive(&frame, false);
        }
        prop_assert!(rig.untouched());
    }

    /// Any frame at all: it is counted once, dropped, passed or accepted.
    #[test]
    fn every_frame_has_one_fate(frame in prop::collection::vec(any::<u8>(), 0..200), error: bool) {
        let mut rig = Rig::new(StreamConfig::default());
        rig.model.receive(&frame, error);
        let fates: u32 = rig.counted().iter().map(|&(_, count)| count).sum();
        prop_assert_eq!((fates, rig.counter(Counter::Frames)), (1, 1));
    }
}
