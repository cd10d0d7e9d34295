//! Answers and long FPDUs against their definitions, one cycle later.
use super::*;
use rnic_abi::registers::LONG_FPDU_OCTETS;
use rnic_hdl_tools::testkit::{lockstep, Random};

#[test]
fn reports_the_incomplete_fpdu_and_long_ones() {
    let (mut status, mut long) = (None, None);
    let mut seen = [0usize; 4];
    let uut = FpduStatusReport::default();
    lockstep!("fpdu_status", uut, 6_000, |uut, random| {
        assert_eq!(uut.status_valid.val(), status.is_some());
        if let Some(expected) = status {
            assert_eq!(uut.status.val(), expected);
            seen[usize::from(expected.known) + usize::from(expected.busy)] += 1;
        }
        assert_eq!(uut.long_fpdu.val(), long.is_some());
        if let Some(connection) = long {
            assert_eq!(uut.long_connection.val(), connection);
            seen[3] += 1;
        }
        let edge = |at: u64, random: &mut Random| match random.below(3) {
            0 => 0,
            1 => at - 1 + random.below(2),
            _ => random.below(1 << 18),
        };
        let available = edge(8, random);
        uut.current.next.avail = available.into();
        uut.current.next.missing = random.wide();
        uut.current.next.busy = random.chance(1, 4);
        uut.current.next.has_next = random.chance(1, 3);
        uut.current.next.stopped = random.chance(1, 3);
        uut.query.next = random.chance(1, 2);
        let context = uut.current.next;
        status = uut.query.next.then_some(FpduStatus {
            busy: context.busy || (context.has_next && !context.stopped),
            empty: available == 0,
            known: available >= 8,
            missing: context.missing,
        });
        let need = edge(u64::from(LONG_FPDU_OCTETS), random);
        uut.job_done.next.need = need.into();
        uut.job_done.next.connection = random.wide();
        uut.job_done_valid.next = random.chance(1, 2);
        let is_long = uut.job_done_valid.next && need >= u64::from(LONG_FPDU_OCTETS);
        long = is_long.then_some(uut.job_done.next.connection);
    });
    assert!(seen.iter().all(|&times| times > 100), "{seen:?}");
}
