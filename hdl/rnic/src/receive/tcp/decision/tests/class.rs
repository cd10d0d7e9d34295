//! Classes of frames: the first test that fails decides.
use super::super::*;
use crate::messages::{FrameVerdict, SegmentInfo};
use rnic_hdl_tools::testkit::lockstep;

#[test]
fn first_failing_test_gives_the_class() {
    let (mut expected, mut seen) = (FrameClass::Foreign, [0usize; 6]);
    let uut = FrameClassifier::default();
    lockstep!("frame_classifier", uut, 4_000, |uut, random| {
        assert_eq!(uut.is_data.val(), expected == FrameClass::Data);
        let is_ack = matches!(expected, FrameClass::PureAck | FrameClass::OptionsAck);
        let is_kept = expected == FrameClass::Data || is_ack;
        assert_eq!(uut.is_kept.val(), is_kept);
        let to_host = matches!(
            expected,
            FrameClass::Foreign | FrameClass::Control | FrameClass::OptionsAck
        );
        assert_eq!(uut.to_host.val(), to_host);
        let counts = match expected {
            FrameClass::BadChecksum => 1 << COUNT_CHECKSUM,
            FrameClass::Control => 1 << COUNT_CONTROL,
            FrameClass::PureAck | FrameClass::OptionsAck => 1 << COUNT_PURE_ACK,
            FrameClass::Foreign | FrameClass::Data => 0u64,
        };
        assert_eq!(uut.counts.val(), counts);
        seen[expected as usize] += 1;
        let tcp = random.chance(7, 8);
        let (connected, good) = (random.chance(7, 8), random.chance(7, 8));
        let flags = [random.below(64), 0, 1][random.below(3) as usize];
        let more_options = random.chance(1, 2);
        let octets = [0, random.below(9000)][random.below(2) as usize];
        uut.frame.next.segment = SegmentInfo {
            verdict: if tcp {
                FrameVerdict::Tcp
            } else {
                FrameVerdict::Host
            },
            checksum_good: good,
            more_options,
            flags: flags.into(),
            payload_octets: octets.into(),
            ..SegmentInfo::default()
        };
        uut.connected.next = connected;
        uut.classify.next = random.chance(3, 4);
        if uut.classify.next {
            expected = match (tcp && connected, good) {
                (false, _) => FrameClass::Foreign,
                (true, false) => FrameClass::BadChecksum,
                _ if flags & 0b100110 != 0 => FrameClass::Control,
                _ if flags & 1 != 0 && octets == 0 => FrameClass::Control,
                _ if octets == 0 && more_options => FrameClass::OptionsAck,
                _ if octets == 0 => FrameClass::PureAck,
                _ => FrameClass::Data,
            };
        }
    });
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}
