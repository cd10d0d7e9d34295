//! Frames as they arrive: every split, every wrong octet, every length.
use super::*;

/// START-003, START-023, START-024, START-025: each way in which the 20 octets of a frame can be
/// cut into arrivals, for both roles: 2^19 of them. The last octet decides, none before.
#[test]
fn a_frame_is_the_same_however_it_is_cut() {
    let (requested, replied) = (request(0xc0, 1, b""), reply(0x40, 1, b""));
    let want = agreed(Settings::default(), &replied);
    let cut = |frame: &[u8], cuts: u32, feed: &mut dyn FnMut(&[u8])| {
        let mut from = 0;
        for end in 1..=frame.len() {
            if end == frame.len() || cuts >> (end - 1) & 1 == 1 {
                feed(&frame[from..end]);
                from = end;
            }
        }
    };
    let (empty_responder, empty_initiator) = (
        responder(Settings::default()),
        initiator(Settings::default()),
    );
    for cuts in 0..1 << 19 {
        let mut end = empty_responder.clone();
        cut(&requested, cuts, &mut |octets| {
            assert_eq!(end.feed(octets), octets.len());
        });
        let Some(ResponderOutput::Request(found)) = end.poll(0) else {
            panic!("cuts {cuts:#x}");
        };
        assert!(found.markers && found.crc && found.revision == 1);
        // The other role with every 64th, which are all cuts of the last octets.
        if cuts % 64 != 0 {
            continue;
        }
        let mut end = empty_initiator.clone();
        cut(&replied, cuts, &mut |octets| {
            assert_eq!(end.feed(octets), octets.len());
        });
        assert_eq!(end.poll(0), Some(InitiatorOutput::Agreed(want.clone())));
    }
}

/// START-001, START-003, START-034: frames of all lengths of Private Data in three arrivals; the
/// octet after the frame is not taken.
#[test]
fn private_data_ends_where_the_frame_says() {
    let data: Vec<u8> = (0..512).map(|n| (n * 7) as u8).collect();
    for length in [0, 1, 2, 3, 4, 5, 64, 255, 256, 257, 511, 512] {
        let frame = request(0x40, 1, &data[..length]);
        for first in 0..=frame.len() {
            for second in [first, first + 1, frame.len() - 1] {
                if !(first..=frame.len()).contains(&second) {
                    continue;
                }
                let mut end = responder(Settings::default());
                let parts = [&frame[..first], &frame[first..second], &frame[second..]];
                for part in parts {
                    assert_eq!(end.feed(part), part.len());
                }
                let Some(ResponderOutput::Request(found)) = end.poll(0) else {
                    panic!("{length} octets cut at {first} and {second}");
                };
                assert_eq!(found.private_data, data[..length]);
            }
        }
    }
}

/// START-003, START-034, START-041, START-042: at each octet of a frame an end wants those that are
/// missing of its header, and then of its Private Data: whoever reads no more leaves the first
/// octet after it in TCP. A whole frame wants none, nor does one that TCP's end has cut short.
#[test]
fn no_octet_after_a_frame_is_wanted() {
    let (requested, replied) = (request(0x40, 1, b"abcde"), reply(0x40, 1, b"abcde"));
    for found in 0..=25 {
        let want = if found < 20 { 20 - found } else { 25 - found };
        let mut one = responder(Settings::default());
        one.feed(&requested[..found]);
        let mut other = initiator(Settings::default());
        other.feed(&replied[..found]);
        assert_eq!((one.wanted_octets(), other.wanted_octets()), (want, want));
        one.on_close();
        other.on_close();
        assert_eq!((one.wanted_octets(), other.wanted_octets()), (0, 0));
    }
}

/// START-003, START-020, START-033: 65,535 octets of revision 0 in small arrivals, up to what the
/// application takes, and none more.
#[test]
fn the_longest_private_data_arrives() {
    let data: Vec<u8> = (0..0xffffu32).map(|n| (n >> 3) as u8).collect();
    let frame = request(0x40, 0, &data);
    for arrival in [1, 7, 536, 1460, 65_555] {
        let mut end = responder(permissive());
        for octets in frame.chunks(arrival) {
            assert_eq!(end.poll(0), None);
            assert_eq!(end.feed(octets), octets.len());
        }
        let Some(ResponderOutput::Request(found)) = end.poll(0) else {
            panic!("in arrivals of {arrival}");
        };
        assert_eq!(found.private_data, data);
    }
}

/// START-007, START-010, START-015, START-024, MPA-056: each octet of the key with each other
/// value, judged at the 16th octet and not before.
#[test]
fn a_key_with_a_wrong_octet_is_refused_by_that_octet() {
    let frames = [request(0x40, 1, b""), reply(0x40, 1, b"")];
    for octet in 0..16 {
        for value in 0..=255 {
            for (frame, is_request) in frames.iter().zip([true, false]) {
                let expected = frame[octet];
                if value == expected {
                    continue;
                }
                let mut wrong = frame.clone();
                wrong[octet] = value;
                let (mut one, mut other) = (
                    responder(Settings::default()),
                    initiator(Settings::default()),
                );
                let error = if is_request {
                    assert_eq!(one.feed(&wrong[..15]), 15);
                    assert_eq!(one.poll(0), None);
                    one.feed(&wrong[15..16]);
                    let Some(ResponderOutput::Failed(error)) = one.poll(0) else {
                        panic!("octet {octet} is {value:#x}");
                    };
                    error
                } else {
                    assert_eq!(other.feed(&wrong[..15]), 15);
                    assert_eq!(other.poll(0), None);
                    other.feed(&wrong[15..16]);
                    let Some(InitiatorOutput::Failed { error, fallback }) = other.poll(0) else {
                        panic!("octet {octet} is {value:#x}");
                    };
                    assert_eq!(fallback, None);
                    error
                };
                let swapped = octet == 9 && [b'p', b'q'].contains(&value);
                let want = match (swapped, is_request) {
                    (true, true) => StartupError::ReplyToResponder,
                    (true, false) => StartupError::BothInitiate,
                    (false, _) => StartupError::Key {
                        octet,
                        found: value,
                        expected,
                    },
                };
                assert_eq!(error, want);
                assert_eq!(error.octet(), Some(octet));
                assert_eq!(error.cause().code, 4);
            }
        }
    }
}

/// START-024: the hexadecimal octet rules, not the lower-case letter of the prose.
#[test]
fn the_prose_spelling_of_the_key_is_refused() {
    let mut frame = request(0x40, 1, b"");
    frame[11] = b'f';
    let error = responder_error(Settings::default(), &frame);
    assert_eq!(
        error.to_string(),
        "octet 11 of the peer's key is 0x66 and not 0x46"
    );
}

/// START-026, START-028, START-029, START-030, START-031, START-032: all 256 values of the flags
/// with all 256 revisions, in both roles. Reserved flags change nothing.
#[test]
fn flags_and_revisions_of_all_values() {
    let data = [0, 4, 0, 4];
    for flags in 0..=255u8 {
        for revision in 0..=255u8 {
            let error = StartupError::Revision {
                found: revision,
                lowest: 0,
                highest: 2,
            };
            let found = responder_after(permissive(), &request(flags, revision, &data));
            let enhanced = revision == 2 && flags & 0x10 != 0;
            match found {
                Some(ResponderOutput::Request(found)) => {
                    assert!(revision <= 2);
                    assert_eq!((found.markers, found.crc), (flags >= 128, flags & 64 != 0));
                    assert_eq!(found.enhanced.is_some(), enhanced);
                    assert_eq!(found.private_data.is_empty(), enhanced);
                }
                found => {
                    assert!(revision > 2);
                    assert_eq!(found, Some(ResponderOutput::Failed(error)));
                }
            }
            let found = initiator_after(permissive(), &reply(flags, revision, &data));
            match found {
                Some(InitiatorOutput::Agreed(found)) => {
                    assert!(revision <= 2 && flags & 0x20 == 0);
                    assert_eq!((found.markers_out, found.markers_in), (flags >= 128, false));
                    assert_eq!(found.private_data.is_empty(), enhanced);
                    assert_eq!((found.crc, found.revision), (true, revision));
                    let depth = if enhanced { 4 } else { 16 };
                    assert_eq!((found.ird, found.ord), (depth, depth));
                }
                Some(InitiatorOutput::Rejected(found)) => {
                    assert!(revision <= 2 && flags & 0x20 != 0);
                    assert_eq!(found.private_data.is_empty(), enhanced);
                }
                found => {
                    assert!(revision > 2);
                    let fallback = None;
                    assert_eq!(found, Some(InitiatorOutput::Failed { error, fallback }));
                }
            }
        }
    }
}

/// START-020, START-033, START-034, MPA2-001, MPA2-007: every PD_Length at 20 octets, before any
/// of it has come: the limits are 65,535, 512, 512 with 4 of them enhanced, and the application's.
#[test]
fn lengths_are_judged_with_the_header() {
    for (revision, flags, application) in [
        (0, 0x40, 0xffff),
        (0, 0x40, 64),
        (1, 0x40, 0xffff),
        (1, 0x50, 64),
        (2, 0x40, 0xffff),
        (2, 0x50, 0xffff),
        (2, 0x50, 64),
    ] {
        let settings = Settings {
            private_data_octets_max: application,
            ..permissive()
        };
        let enhanced = if revision == 2 && flags & 0x10 != 0 {
            4
        } else {
            0
        };
        let ulp = application.min(if revision == 0 {
            0xffff
        } else {
            512 - enhanced
        });
        let max_octets = ulp + enhanced;
        for length in 0..=0xffffusize {
            let mut header = request(flags, revision, b"");
            header[18..].copy_from_slice(&(length as u16).to_be_bytes());
            let mut end = responder(settings);
            end.feed(&header);
            let found_octets = length;
            let want = if length < enhanced {
                Some(StartupError::EnhancedLength { found_octets })
            } else if length > max_octets {
                Some(StartupError::PrivateDataLength {
                    found_octets,
                    max_octets,
                })
            } else {
                None
            };
            match end.poll(0) {
                Some(ResponderOutput::Failed(error)) => assert_eq!(Some(error), want),
                Some(ResponderOutput::Request(_)) => assert_eq!((want, length), (None, 0)),
                None => assert_eq!(want, None),
            }
        }
    }
}

/// Octets at random in arrivals at random: never a panic, at most the frame is taken, and an output
/// that is a failure or a frame.
#[test]
fn random_octets_do_no_harm() {
    use rand::{Rng, SeedableRng};
    let seed = 0x1a2b;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    for run in 0..20_000 {
        let mut stream = match run % 3 {
            0 => request(random.random(), random.random_range(0..4), &[0; 40]),
            1 => reply(random.random(), random.random_range(0..4), &[0; 40]),
            _ => vec![0; 60],
        };
        for _ in 0..random.random_range(0..4) {
            let at = random.random_range(0..stream.len());
            stream[at] = random.random();
        }
        let (mut one, mut other) = (responder(permissive()), initiator(permissive()));
        let mut rest = &stream[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(random.random_range(1..=rest.len()));
            assert!(one.feed(now) <= now.len(), "seed {seed} run {run}");
            assert!(other.feed(now) <= now.len(), "seed {seed} run {run}");
            rest = later;
        }
        one.on_close();
        other.on_close();
        assert!(one.poll(0).is_some(), "seed {seed} run {run}");
        assert!(other.poll(0).is_some(), "seed {seed} run {run}");
    }
}
