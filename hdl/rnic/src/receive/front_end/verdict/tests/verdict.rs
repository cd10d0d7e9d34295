//! The verdict against the front end's table in ARCHITECTURE.md.
use super::super::*;
use crate::messages::FrameVerdict;
use rnic_hdl_tools::testkit::{simulate, Random};

/// Everything that decides, drawn so that each test of the table is often the first to fail.
#[derive(Debug)]
struct Case {
    disabled: bool,
    mac_error: bool,
    too_long: bool,
    is_ip: bool,
    ipv6: bool,
    header_bad: bool,
    header_good: bool,
    not_for_tcp: bool,
    frame_octets: u64,
    ip_end: u64,
    segment_octets: u64,
    data_offset: u64,
}

impl Case {
    fn draw(random: &mut Random) -> Self {
        let mut rare = || random.chance(1, 8);
        let (disabled, mac_error, too_long, runt) = (rare(), rare(), rare(), rare());
        let (header_bad, not_for_tcp) = (rare(), rare());
        let (is_ip, header_good) = (!rare(), !rare());
        let frame_octets = if runt { 10 + random.below(5) } else { 60 };
        Self {
            disabled,
            mac_error,
            too_long,
            is_ip,
            ipv6: random.chance(1, 2),
            header_bad,
            header_good,
            not_for_tcp,
            frame_octets,
            ip_end: frame_octets + random.below(3) * random.below(2) + 1,
            segment_octets: 18 + random.below(30),
            data_offset: 4 + random.below(6),
        }
    }

    /// The front end's table in ARCHITECTURE.md, top down.
    fn expected(&self) -> (FrameVerdict, Option<usize>) {
        let drop = |bit| (FrameVerdict::Drop, Some(bit));
        match self {
            case if case.disabled => drop(COUNT_DISABLED),
            case if case.mac_error => drop(COUNT_MAC_ERROR),
            case if case.frame_octets < 14 => drop(COUNT_RUNT),
            case if case.too_long => drop(COUNT_TOO_LONG),
            case if !case.is_ip => (FrameVerdict::Host, None),
            case if case.header_bad => drop(COUNT_IP_MALFORMED),
            case if case.ip_end > case.frame_octets + 2 => drop(COUNT_IP_MALFORMED),
            case if !case.ipv6 && !case.header_good => drop(COUNT_IP_CHECKSUM),
            case if case.not_for_tcp => (FrameVerdict::Host, None),
            case if case.segment_octets < 20 => drop(COUNT_TCP_MALFORMED),
            case if case.data_offset < 5 => drop(COUNT_TCP_MALFORMED),
            case if 4 * case.data_offset > case.segment_octets => drop(COUNT_TCP_MALFORMED),
            _ => (FrameVerdict::Tcp, None),
        }
    }
}

#[test]
fn first_failing_test_decides() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(Verdict::default());
    let mut seen = [0; 9];
    for _ in 0..3000 {
        let case = Case::draw(&mut random);
        uut.control.next = FrameControl {
            end: true,
            disabled: case.disabled,
            mac_error: case.mac_error,
            too_long: case.too_long,
            frame_octets: case.frame_octets.into(),
            ..Default::default()
        };
        uut.fields.next = IpFields {
            is_ip: case.is_ip,
            ipv6: case.ipv6,
            header_bad: case.header_bad,
            not_for_tcp: case.not_for_tcp,
            ip_end: case.ip_end.into(),
            stored_octets: (case.frame_octets + 2).into(),
            segment_octets: case.segment_octets.into(),
            payload_start: 9u64.into(),
            ..Default::default()
        };
        uut.word3.next = (case.data_offset << 4).into();
        uut.tick();
        uut.control.next.end = false;
        uut.header_good.next = case.header_good;
        uut.settle();
        let (verdict, reason) = case.expected();
        assert!(uut.frame_info_valid.val());
        let info = uut.frame_info.val().segment;
        assert_eq!(info.verdict, verdict, "{case:?}");
        uut.tick();
        assert!(!uut.frame_info_valid.val());
        let pulses = 1 | reason.map_or(0, |bit| 1 << bit);
        assert_eq!(uut.counts.val(), pulses, "{case:?}");
        if verdict == FrameVerdict::Tcp {
            assert_eq!(info.payload_offset, 4 * (9 + case.data_offset));
            assert_eq!(
                info.payload_octets,
                case.segment_octets - 4 * case.data_offset
            );
        }
        seen[reason.unwrap_or(if verdict == FrameVerdict::Host { 0 } else { 8 })] += 1;
    }
    assert!(seen.iter().all(|&times| times > 30), "{seen:?}");
}

/// Options that are the timestamps of RFC 7323 appendix A, and all others.
#[test]
fn options_other_than_timestamps_are_reported() {
    let mut uut = simulate!(Verdict::default());
    for (data_offset, octets, expected) in [
        (5u64, [1, 1, 8, 10], false),
        (8, [1, 1, 8, 10], false),
        (8, [1, 1, 5, 10], true),
        (8, [8, 10, 0, 0], true),
        (9, [1, 1, 8, 10], true),
        (6, [0, 0, 0, 0], true),
    ] {
        uut.control.next.end = true;
        uut.word3.next = (data_offset << 4).into();
        uut.word5.next = u64::from(u32::from_le_bytes(octets)).into();
        uut.tick();
        uut.settle();
        let found = uut.frame_info.val().segment.more_options;
        assert_eq!(found, expected, "{data_offset}, {octets:?}");
    }
}

#[test]
fn a_refused_frame_is_counted_in_a_cycle_without_another() {
    let mut uut = simulate!(Verdict::default());
    uut.overrun.next = true;
    uut.control.next.end = true;
    uut.settle();
    assert!(uut.overrun_counted.val());
    assert!(!uut.frame_info_valid.val());
    uut.tick();
    assert_eq!(uut.counts.val(), 1 << COUNT_FRAMES | 1 << COUNT_MAC_ERROR);
    assert!(
        !uut.overrun_counted.val(),
        "a frame's own verdict comes first"
    );
    assert!(uut.frame_info_valid.val());
}
