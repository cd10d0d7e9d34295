//! Records of FPDUs: verdicts, beats and ends.
use super::super::*;
use crate::messages::FpduKind;
use rnic_hdl_tools::testkit::simulate;

/// Sends an FPDU of `beats` beats; gives the record and, with the cycle counted from the last
/// beat, the verdict.
fn pass(
    info: FpduInfo,
    beats: usize,
    good: [bool; 2],
) -> (FpduRecord, Option<(usize, FpduVerdict)>) {
    let mut uut = simulate!(RecordMaker::<2>::default());
    uut.marker_bad.next = !good[1];
    uut.header.next = 0x5a5au64.into();
    let (mut record, mut verdict) = (None, None);
    let header_after = beats.min(2) - 1 + 3;
    for cycle in 0..beats + 20 {
        uut.begins.next = cycle == 0;
        // The next FPDU may follow after the pause.
        uut.info.next = if cycle < beats + 3 {
            info
        } else {
            FpduInfo::default()
        };
        if cycle == beats + 3 {
            uut.begins.next = true;
        }
        uut.header_valid.next = cycle == header_after;
        uut.crc_valid.next = cycle == beats + 3;
        uut.crc_good.next = good[0];
        uut.settle();
        if uut.record_valid.val() {
            assert_eq!(record.replace(uut.record.val()), None);
        }
        if uut.verdict_valid.val() {
            let seen = (cycle - (beats - 1), uut.verdict.val());
            assert_eq!(verdict.replace(seen), None);
        }
        uut.tick();
    }
    (record.expect("a record"), verdict)
}

fn info(kind: FpduKind) -> FpduInfo {
    FpduInfo {
        kind,
        connection: 7u64.into(),
        sequence: 0xffff_fff0u64.into(),
        ulpdu_length: 9300u64.into(),
        wire_octets: 9380u64.into(),
        markers: true,
        crc: true,
        ..Default::default()
    }
}

#[test]
fn a_verdict_follows_the_last_beat_in_five_cycles() {
    for beats in [1, 2, 3, 30] {
        for good in [[false, false], [false, true], [true, false], [true, true]] {
            for kind in [FpduKind::Normal, FpduKind::Check, FpduKind::OutOfOrder] {
                let (cycle, verdict) = pass(info(kind), beats, good).1.expect("a verdict");
                assert_eq!(cycle, 5, "{kind:?}, {beats} beats");
                assert_eq!([verdict.crc_good, verdict.marker_good], good);
            }
            for kind in [FpduKind::Place, FpduKind::Host] {
                assert_eq!(pass(info(kind), beats, good).1, None, "{kind:?}");
            }
        }
    }
}

#[test]
fn what_the_connection_has_not_is_good() {
    for (crc, markers) in [(false, true), (true, false), (false, false)] {
        let info = FpduInfo {
            crc,
            markers,
            ..info(FpduKind::Normal)
        };
        let (_, verdict) = pass(info, 4, [false, false]).1.expect("a verdict");
        assert_eq!([verdict.crc_good, verdict.marker_good], [!crc, !markers]);
    }
}

#[test]
fn a_record_says_its_beats_and_where_it_ends() {
    for (kind, words) in [
        (FpduKind::Normal, (9300 + 9) / 4),
        (FpduKind::OutOfOrder, (9300 + 9) / 4),
        (FpduKind::Check, 0),
        (FpduKind::Place, (9300 + 9) / 4),
        (FpduKind::Host, 9300usize.div_ceil(4)),
    ] {
        for beats in [1, 2, 6] {
            let (record, _) = pass(info(kind), beats, [true, true]);
            assert_eq!(record.kind, kind);
            assert_eq!(record.header, 0x5a5au64);
            assert_eq!(record.beats.to_u64() as usize, usize::div_ceil(words, 4));
            let end = 0xffff_fff0u32.wrapping_add(9380);
            assert_eq!(record.sequence_end.to_u64() as u32, end);
        }
    }
}
