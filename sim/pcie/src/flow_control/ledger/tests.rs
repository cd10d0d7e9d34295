use super::*;
use crate::flow_control::Units;
use crate::tlp::{Bdf, CompletionStatus, Tlp};
use proptest::prelude::*;

const SIZE: TransferSize = TransferSize::Octets256;
const DEVICE: Bdf = Bdf::new(1, 0, 0);

fn write(octets: usize) -> Tlp {
    Tlp::memory_write(DEVICE, 0x1000, &vec![0; octets]).expect("short")
}

fn read() -> Tlp {
    Tlp::memory_read(DEVICE, 0, 0x1000, 64).expect("short")
}

fn refusal() -> Tlp {
    let status = CompletionStatus::UnsupportedRequest;
    Tlp::completion_without_data(&read().header, DEVICE, status).expect("a read is answered")
}

fn finite(headers: u16, data: u16) -> Advertised {
    let units = (Units::Finite(headers), Units::Finite(data));
    Advertised {
        posted: units,
        non_posted: units,
        completion: units,
    }
}

#[test]
fn a_class_without_credits_waits_and_the_others_go_on() {
    let packets = [write(256), read(), refusal()];
    for (spent, _) in packets.iter().enumerate() {
        let mut flow = FlowControl::new(finite(1, 16), SIZE).expect("enough for one packet");
        assert_eq!(flow.consume(0, &packets[spent].header), []);
        for (at, packet) in packets.iter().enumerate() {
            assert_eq!(flow.admits(&packet.header), at != spent, "{spent}, {at}");
            let class = FlowClass::of(&packet.header);
            assert_eq!(flow.ready(class), at != spent, "{spent}, {at}");
        }
    }
}

#[test]
fn data_credits_run_out_by_themselves() {
    let mut flow = FlowControl::new(finite(9, 17), SIZE).expect("enough");
    assert_eq!(flow.consume(0, &write(256).header), []);
    assert_eq!(flow.available(FlowClass::Posted, CreditKind::Data), Some(1));
    assert!(flow.admits(&write(16).header));
    assert!(!flow.admits(&write(17).header));
    assert!(
        !flow.ready(FlowClass::Posted),
        "the largest packet does not fit"
    );
}

#[test]
fn infinite_credits_never_run_out_and_read_as_zero() {
    let mut flow = FlowControl::new(Advertised::INFINITE, SIZE).expect("infinite");
    for _ in 0..5000 {
        assert_eq!(flow.consume(0, &write(256).header), []);
    }
    assert!(flow.ready(FlowClass::Posted));
    for kind in CreditKind::ALL {
        assert_eq!(flow.available(FlowClass::Posted, kind), None);
        let credits = Credits::for_payload(256);
        assert_eq!(flow.release(0, FlowClass::Posted, credits), Ok(()));
        assert_eq!(flow.credit_limit_field(FlowClass::Posted, kind), 0);
    }
}

#[test]
fn a_packet_without_credits_is_named_for_each_kind_it_lacks_and_counted() {
    let mut flow = FlowControl::new(finite(1, 20), SIZE).expect("enough");
    let shortage = |kind, needed, available| Shortage {
        class: FlowClass::Posted,
        kind,
        needed,
        available,
    };
    flow.consume(0, &write(256).header);
    let lacking = [
        shortage(CreditKind::Header, 1, 0),
        shortage(CreditKind::Data, 5, 4),
    ];
    assert_eq!(flow.consume(0, &write(80).header), lacking);
    // 21 consumed of 20: one packet released leaves 15, not 16.
    let credits = Credits::for_payload(256);
    assert_eq!(flow.release(1, FlowClass::Posted, credits), Ok(()));
    let left = flow.available(FlowClass::Posted, CreditKind::Data);
    assert_eq!(left, Some(15));
}

#[test]
fn credits_come_back_when_they_are_due() {
    let flow = FlowControl::new(Advertised::minimum(SIZE), SIZE).expect("the minimum");
    let mut flow = flow.returning_after(10);
    flow.consume(5, &write(4).header);
    flow.advance(14);
    assert!(!flow.ready(FlowClass::Posted));
    flow.advance(15);
    assert!(flow.ready(FlowClass::Posted));
    assert_eq!(
        flow.credit_limit_field(FlowClass::Posted, CreditKind::Header),
        2
    );
    assert_eq!(
        flow.credit_limit_field(FlowClass::Posted, CreditKind::Data),
        17
    );
}

#[test]
fn more_than_is_held_cannot_be_released() {
    let mut flow = FlowControl::new(finite(4, 64), SIZE).expect("enough");
    flow.consume(0, &write(32).header);
    let (class, kind) = (FlowClass::Posted, CreditKind::Data);
    let too_much = NotHeld {
        class,
        kind,
        returned: 3,
        held: 2,
    };
    let result = flow.release(0, class, Credits::for_payload(33));
    assert_eq!(result, Err(too_much));
    assert_eq!(flow.available(class, CreditKind::Header), Some(3));
    assert_eq!(flow.release(0, class, Credits::for_payload(32)), Ok(()));
    assert_eq!(flow.available(class, CreditKind::Header), Some(4));
}

#[test]
fn a_reset_gives_every_credit_back_at_once_and_none_twice() {
    let flow = FlowControl::new(finite(1, 16), SIZE).expect("enough");
    let mut flow = flow.returning_after(10);
    flow.consume(0, &write(256).header);
    flow.reset();
    flow.advance(100);
    assert_eq!(
        flow.available(FlowClass::Posted, CreditKind::Data),
        Some(16)
    );
}

proptest! {
    // The specification compares counters that wrap: a packet may be sent if
    // (CREDIT_LIMIT - CUMULATIVE_CREDITS_REQUIRED) mod 2^n <= 2^n / 2 (section 2.6.1.1).
    #[test]
    fn wrapping_counters_decide_as_these_do(
        headers in 1u16..=127,
        data in 16u16..=2047,
        steps in prop::collection::vec((any::<bool>(), 0usize..=256), 1..600),
    ) {
        let mut flow = FlowControl::new(finite(headers, data), SIZE).expect("in range");
        let mut held = VecDeque::new();
        // CREDITS_CONSUMED of the specification.
        let mut consumed = [0u64; 2];
        for (send, octets) in steps {
            let packet = write(octets);
            let cost = Credits::of(&packet.header);
            let admitted = CreditKind::ALL.into_iter().all(|kind| {
                let values = field_values(kind);
                let required = (consumed[kind as usize] + u64::from(cost.get(kind))) % values;
                let limit = u64::from(flow.credit_limit_field(FlowClass::Posted, kind));
                (limit + values - required) % values <= values / 2
            });
            prop_assert_eq!(flow.admits(&packet.header), admitted);
            if send && admitted {
                prop_assert_eq!(flow.consume(0, &packet.header), []);
                for kind in CreditKind::ALL {
                    let field = &mut consumed[kind as usize];
                    *field = (*field + u64::from(cost.get(kind))) % field_values(kind);
                }
                held.push_back(cost);
            } else if let Some(cost) = held.pop_front() {
                prop_assert_eq!(flow.release(0, FlowClass::Posted, cost), Ok(()));
            }
            // What the receiver holds never exceeds what it offered.
            let total = |kind| held.iter().map(|cost| u64::from(cost.get(kind))).sum::<u64>();
            prop_assert!(total(CreditKind::Header) <= headers.into());
            prop_assert!(total(CreditKind::Data) <= data.into());
        }
    }
}
