//! Envelope check against the rows of the table from length to opcode.
use super::super::*;
use rnic_hdl_tools::testkit::{simulate, Random};
use StreamError::*;

/// The rows of the table from length to opcode.
fn expected(segment: &DdpSegment, is_open: bool, is_first: bool, version: u64) -> u64 {
    if segment.zero_length {
        return if is_first {
            0
        } else {
            MpaLocalCatastrophic as u64
        };
    }
    let versions = if segment.tagged {
        DdpTaggedVersion
    } else {
        DdpUntaggedVersion
    };
    let rows = [
        (segment.short, DdpShortHeader),
        (segment.ddp_version != version, versions),
        (segment.rdmap_version != version, RdmapVersion),
        (!segment.tagged && (segment.qn_bad || !is_open), DdpQn),
        (segment.opcode_bad, RdmapOpcode),
    ];
    let first = rows.iter().find(|(fails, _)| *fails);
    first.map_or(0, |(_, error)| *error as u64)
}

#[test]
fn the_first_failing_test_wins() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(EnvelopeCheck::default());
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3000 {
        let mut rare = || random.chance(1, 6);
        let mut segment = DdpSegment {
            zero_length: rare(),
            short: rare(),
            tagged: rare(),
            opcode_bad: rare(),
            qn_bad: rare(),
            ..DdpSegment::default()
        };
        let (is_open, is_first) = (!rare(), rare());
        let version = random.below(2);
        let other = |random: &mut Random| {
            if random.chance(1, 6) {
                random.below(4)
            } else {
                version
            }
        };
        segment.ddp_version = other(&mut random).into();
        segment.rdmap_version = other(&mut random).into();
        uut.segment.next = segment;
        uut.is_open.next = is_open;
        uut.is_first.next = is_first;
        uut.version.next = version == 1;
        uut.ticks(2);
        let error = expected(&segment, is_open, is_first, version);
        assert_eq!(uut.error.val(), error, "{segment:?}");
        assert_eq!(uut.refused.val(), error != 0, "{segment:?}");
        seen.insert(error);
    }
    assert_eq!(seen.len(), 8, "only {seen:?} were met");
}
