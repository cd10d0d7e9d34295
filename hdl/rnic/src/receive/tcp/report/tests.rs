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
            }
            uut.reset.next = random.chance(1, 100);
            uut.connection.next = random.wide();
            uut.decided.next = random.chance(1, 2);
            uut.is_data.next = random.chance(1, 2);
            uut.accept.next = random.chance(1, 2);
            uut.walked.next = random.chance(1, 2);
            uut.ooo.next = random.chance(1, 2);
            uut.refused.next = random.chance(1, 2);
            uut.acknowledges.next = random.chance(1, 2);
            uut.same_ack.next = random.chance(1, 2);
            uut.push.next = random.chance(1, 2);
            uut.earlier.next = context(random.chance(1, 2));
            uut.after.next = context(random.chance(1, 2));
            uut.left.next = random.wide();
            uut.right.next = random.wide();
            uut.begins.next = random.chance(1, 8);
        }
    );
    assert!(reported > 1_000, "{reported}");
}
