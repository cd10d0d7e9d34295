use super::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_capture::pcap::capture_file;
use std::fs;

/// Frame `number`: `octets` octets that no other frame has.
pub(super) fn frame(number: usize, octets: usize) -> Vec<u8> {
    let seed = number as u64 + 1;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..octets).map(|_| random.random()).collect()
}

#[test]
fn a_link_is_named_by_its_kind_and_its_path() {
    let pcap = |path: &str| Ok(LinkKind::Pcap(path.into()));
    let unix = |path: &str| Ok(LinkKind::Unix(path.into()));
    for (text, kind) in [
        ("none", Ok(LinkKind::None)),
        ("pcap:a/b.pcap", pcap("a/b.pcap")),
        ("pcap:unix:x", pcap("unix:x")),
        ("unix:/run/x", unix("/run/x")),
        ("unix:a b:c", unix("a b:c")),
        ("tap:rnic0", Ok(LinkKind::Tap("rnic0".to_owned()))),
    ] {
        assert_eq!(text.parse(), kind, "{text}");
    }
    for text in [
        "", "none:", "None", "pcap", "pcap:", "unix", "unix:", "tap:", ":x", "a.pcap",
    ] {
        let refused = text.parse::<LinkKind>();
        let message = "use none, pcap:FILE, unix:PATH, unix-connect:PATH or tap:NAME".to_owned();
        assert_eq!(refused, Err(message), "{text:?}");
    }
}

#[test]
fn without_a_peer_nothing_comes_and_what_is_sent_is_gone() {
    let mut link = LinkKind::None.open().expect("it needs nothing");
    for _ in 0..2 {
        link.send(&frame(0, 60)).expect("it is dropped");
        assert_eq!(link.receive().expect("nothing"), None);
        assert!(link.fd().is_none() && !link.has_frame() && !link.wants_write());
        link.restart();
    }
}

#[test]
fn a_capture_waits_for_the_first_frame_and_begins_anew_for_each_client() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("some.pcap");
    let frames: Vec<_> = (0..40)
        .map(|number| frame(number, 60 + 7 * number))
        .collect();
    fs::write(&path, capture_file(&frames)).expect("room");
    let mut link = LinkKind::Pcap(path).open().expect("a capture");
    assert!(link.fd().is_none());
    let other = frame(99, 64);
    // How much of it each client sees until the next one comes.
    for taken in [40, 0, 1, 39, 40] {
        assert!(!link.has_frame(), "it waits");
        assert_eq!(link.receive().expect("a capture"), None, "it waits");
        for (number, frame) in frames.iter().enumerate().take(taken) {
            // Further frames change nothing.
            link.send(&other).expect("a capture");
            assert!(link.has_frame());
            let next = link.receive().expect("a capture");
            assert_eq!(next.as_ref(), Some(frame), "frame {number}");
        }
        if taken == frames.len() {
            link.send(&other).expect("a capture");
            assert!(!link.has_frame(), "it is over");
            assert_eq!(link.receive().expect("a capture"), None, "it is over");
        }
        link.restart();
    }
}

#[test]
fn a_link_that_cannot_be_opened_is_refused_by_its_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("nowhere/x");
    for kind in [LinkKind::Pcap(path.clone()), LinkKind::Unix(path)] {
        let refused = kind
            .open()
            .expect_err("there is no such folder")
            .to_string();
        assert!(refused.contains("nowhere/x"), "{refused}");
    }
}
