//! The block in lockstep with its Verilog; what it reports is compared in the tests of the room.
use super::*;
use rnic_hdl_tools::testkit::lockstep;

#[test]
fn rust_and_verilog_agree() {
    let mut reported = 0;
    let context = |fin| TcpContext {
        fin,
        ..TcpContext::default()
    };
    lockstep!(
        "segment_reporter",
        SegmentReporter::default(),
        4_000,
        |uut, random| {
            if uut.report_valid.val() {
                reported += 1;
                let report = uut.report.val();
                assert!(!report.begins || (report.reasons == 0u64 && !report.changes));
                assert!(!report.begins || !report.acknowledges);
            }
            uut.reset.next = random.chance(1, 100);
            uut.connection.next = random.wide();
            uut.decide.next = random.chance(1, 2);
            uut.settle.next = random.chance(1, 2);
            uut.is_kept.next = random.chance(1, 2);
            uut.verdict.next = random.wide();
            uut.segment.next = SegmentInfo {
                seg_seq: random.wide(),
                payload_octets: random.wide(),
                flags: random.wide(),
                seg_ack: random.wide(),
                seg_wnd: random.wide(),
                ..SegmentInfo::default()
            };
            uut.is_data.next = random.chance(1, 2);
            uut.accept.next = random.chance(1, 2);
            uut.ooo.next = random.chance(1, 2);
            uut.refused.next = random.chance(1, 2);
            uut.acknowledges.next = random.chance(1, 2);
            uut.same_ack.next = random.chance(1, 2);
            uut.current.next = context(random.chance(1, 2));
            uut.after.next = context(random.chance(1, 2));
            uut.changed.next = OutOfOrderRange {
                left: random.wide(),
                right: random.wide(),
                ..OutOfOrderRange::default()
            };
            uut.begins.next = random.chance(1, 8);
        }
    );
    assert!(reported > 1_000, "{reported}");
}

#[test]
fn a_context_is_read_only_through_a_free_port() {
    let mut read = 0;
    lockstep!(
        "event_context_reader",
        EventContextReader::default(),
        2_000,
        |uut, random| {
            if uut.event_context_valid.val() {
                read += 1;
                assert_eq!(uut.event_context.val().ranges, uut.stored.val().ranges);
            }
            assert!(!uut.event_read_taken.val() || uut.port_free.val());
            uut.reset.next = random.chance(1, 100);
            uut.event_read.next = random.chance(1, 2);
            uut.port_free.next = random.chance(1, 2);
            uut.stored.next = TcpContext {
                rcv_nxt: random.wide(),
                seg_ack: random.wide(),
                ranges: random.wide(),
                ..TcpContext::default()
            };
        }
    );
    assert!(read > 300, "{read}");
}
