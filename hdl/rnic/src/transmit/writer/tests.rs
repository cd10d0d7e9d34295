//! Statuses before heads, heads before reports, whatever the rings do.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, octets_of, settle, words_of};
use std::collections::VecDeque;

const BASES: [u64; 2] = [0xffff_f000, 0x8000];
const REPORTS: [u64; 2] = [0x1_2345_6780, 0x100];
const LOG2: u64 = 9;

/// The header of a write of so many lanes.
fn header_of(lanes: usize, address: u64) -> [u32; 4] {
    let enables = if lanes == 1 { 0x0f } else { 0xff };
    let requester = 0x0318_0000 | enables;
    match address >> 32 {
        0 => [0x4000_0000 | lanes as u32, requester, address as u32, 0],
        high => [
            0x6000_0000 | lanes as u32,
            requester,
            high as u32,
            address as u32,
        ],
    }
}

/// The ring whose report is written by a TLP with this header.
fn ring_of(header: [u32; 4]) -> usize {
    let is_long = header[0] >> 29 & 1 == 1;
    let found = REPORTS
        .iter()
        .position(|report| (report >> 32 != 0) == is_long);
    found.expect("one is above 4 GiB, one below")
}

fn writes<const D: usize, const L: usize>(name: &str) {
    let mut ends: VecDeque<FrameEnd> = VecDeque::new();
    let (mut head, mut given_up) = ([0u32; 2], [0u32; 2]);
    let mut reported = [(0u32, 0u32); 2];
    let mut due = [false; 2];
    let (mut now, mut written, mut statuses, mut reports) = (0, None, 0, 0);
    lockstep!(
        name,
        StatusWriter::<D, L>::default(),
        5000,
        |uut, random| {
            now += 1;
            uut.device_id.next = 0x0318u64.into();
            uut.control_base.next = BASES[0].into();
            uut.bulk_base.next = BASES[1].into();
            uut.control_report.next = REPORTS[0].into();
            uut.bulk_report.next = REPORTS[1].into();
            uut.control_units_log2.next = LOG2.into();
            uut.bulk_units_log2.next = LOG2.into();
            uut.control_set_up.next = now == 1;
            uut.bulk_set_up.next = now == 1;
            uut.control_head.next = u64::from(head[0]).into();
            uut.bulk_head.next = u64::from(head[1]).into();
            uut.control_given_up.next = u64::from(given_up[0]).into();
            uut.bulk_given_up.next = u64::from(given_up[1]).into();
            uut.bulk_stops.next = now == 3000;
            uut.bulk_stopped.next = now > 3000;
            if now > 2 && now < 4800 && ends.len() < 4 && random.chance(1, 6) {
                ends.push_back(FrameEnd {
                    ring: random.chance(1, 2),
                    units: (1 + random.below(9)).into(),
                    status: random.below(3).into(),
                });
            }
            uut.frame_end_valid.next = !ends.is_empty();
            if let Some(end) = ends.front() {
                uut.frame_end.next = *end;
            }
            uut.tlp_ready.next = random.chance(1, 2) || now > 4800;
            settle(uut);

            if uut.tlp_valid.val() {
                let lanes = uut.tlp_keep.val().to_u64().trailing_ones() as usize;
                let header: [u32; 4] = words_of(uut.tlp_header.val());
                let data = octets_of(uut.tlp_data.val())[..4 * lanes].to_vec();
                assert!(uut.tlp_last.val());
                let offered = (header, data.clone());
                assert!(
                    written.is_none() || written.as_ref() == Some(&offered),
                    "it changed"
                );
                written = Some(offered);
                if uut.tlp_ready.next {
                    written = None;
                    let word =
                        |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().expect("4"));
                    let ring = match lanes {
                        1 => usize::from(ends[0].ring),
                        _ => ring_of(header),
                    };
                    let address = match lanes {
                        1 => BASES[ring] + 32 * u64::from(head[ring] % (1 << LOG2)) + 28,
                        _ => REPORTS[ring],
                    };
                    assert_eq!(header, header_of(lanes, address));
                    if lanes == 1 {
                        assert_eq!(u64::from(word(0)), ends[0].status.to_u64());
                        statuses += 1;
                    } else {
                        let says = (word(0), word(4));
                        assert!(says.0 <= head[ring] && says >= reported[ring]);
                        assert!(word(8) <= u32::from(ring == 1 && now > 3000) && word(12) == 0);
                        reported[ring] = says;
                        due[ring] = says.0 < head[ring];
                        reports += 1;
                    }
                }
            } else {
                assert_eq!(written, None);
            }
            let passes = [uut.control_passes.val(), uut.bulk_passes.val()];
            if uut.frame_end_ready.val() && uut.frame_end_valid.next {
                let end = ends.pop_front().expect("it was offered");
                let ring = usize::from(end.ring);
                assert!(passes[ring] && !passes[1 - ring]);
                assert_eq!(uut.gave_up.val(), end.status.any());
                assert_eq!(uut.refused.val(), end.status == 1u64);
                head[ring] += end.units.to_u64() as u32;
                given_up[ring] += u32::from(end.status.any());
                due[ring] = true;
            }
        }
    );
    assert_eq!([(head[0], given_up[0]), (head[1], given_up[1])], reported);
    assert_eq!(due, [false; 2]);
    assert!(
        statuses > 100 && reports > 100,
        "{statuses} statuses, {reports} reports"
    );
}

#[test]
fn statuses_and_reports_128() {
    writes::<128, 4>("status_writer_128");
}

#[test]
fn statuses_and_reports_512() {
    writes::<512, 16>("status_writer_512");
}
