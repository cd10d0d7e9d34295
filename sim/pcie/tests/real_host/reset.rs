//! Resets in the middle: everything in flight is gone, and nothing of it comes back.

use crate::bench::{pattern, Bench, FUNCTION, SINK};
use pcie_sim::flow_control::{Advertised, CreditKind, FlowClass, FlowControl};
use pcie_sim::{
    Direction, Kind, Reset, RootComplexSettings, Tlp, TransferError, TransferSize, Violation,
};

const BOTH: [Reset; 2] = [Reset::Link, Reset::Function];

fn slow() -> Bench {
    Bench::new(RootComplexSettings {
        read_latency_ticks: 50,
        ..RootComplexSettings::default()
    })
}

#[test]
fn every_transfer_under_way_fails_and_those_after_it_work() {
    for reset in BOTH {
        let mut bench = slow();
        let down = bench.read(0, 700);
        bench.run(10);
        let up = bench.host.read_bar(bench.now, bench.bar, 4);
        bench.device.write_memory(SINK, &[9; 600]).expect("master");
        let written = bench.host.statistics().octets_written;
        let dropped = bench.host.reset(reset);
        bench.device.reset(reset);
        // Two reads cut at 512 octets, three completions, and the read of the BAR.
        assert_eq!(dropped.len(), 4, "{dropped:?}");
        assert_eq!(
            bench.device.poll(bench.now, down),
            Err(TransferError::Reset)
        );
        assert_eq!(bench.host.poll(bench.now, up), Err(TransferError::Reset));
        bench.run(200);
        assert!(bench.host.is_idle());
        assert_eq!(bench.host.statistics().octets_written, written);
        bench.enumerate();
        let again = bench.read(0, 700);
        assert_eq!(bench.result(again), Ok(pattern(0, 700)), "{reset:?}");
        bench.finish();
    }
}

#[test]
fn a_reset_function_answers_nothing_until_it_is_set_up_again() {
    for reset in BOTH {
        let mut bench = slow();
        let limits = *bench.host.monitor().limits();
        assert_eq!(bench.device.configuration().limits(), limits);
        bench.device.reset(reset);
        assert_eq!(
            bench.device.write_memory(SINK, &[1]),
            Err(TransferError::BusMasterDisabled)
        );
        assert!(!bench.device.configuration().memory_enabled());
        // Max_Payload_Size belongs to the link.
        let kept = match reset {
            Reset::Function => limits.max_payload,
            Reset::Link => TransferSize::Octets128,
        };
        assert_eq!(bench.device.configuration().limits().max_payload, kept);
    }
}

#[test]
fn an_earlier_completion_is_named_whoever_sends_it() {
    for reset in BOTH {
        let mut bench = slow();
        bench.read(0, 64);
        bench.run(5);
        // The device takes this read and answers it, but the answer is still on its way.
        let stale = bench.host.read_bar(bench.now, bench.bar, 4);
        bench.tick();
        let answer = bench.device.next_upstream(bench.now).expect("an answer");
        let dropped = bench.host.reset(reset);
        let completion = dropped
            .iter()
            .find(|tlp| matches!(tlp.header.kind, Kind::CplD(_)))
            .expect("the answer of the device's read");
        // A device that does not drop what it was about to send.
        bench.host.upstream(bench.now, answer);
        assert_eq!(bench.host.poll(bench.now, stale), Err(TransferError::Reset));
        // A link that does not drop what the host sent.
        let monitor = bench.host.monitor_mut();
        monitor.observe(bench.now, Direction::Downstream, completion);
        let records = monitor.take_records();
        let found: Vec<_> = records
            .iter()
            .map(|record| (record.direction, record.violation))
            .collect();
        let tag_of = |tlp: &Tlp| match &tlp.header.kind {
            Kind::CplD(completion) => completion.tag,
            other => panic!("{other:?} is no completion with data"),
        };
        let up = records[0].tlp.as_ref().map_or(0, tag_of);
        let down = tag_of(completion);
        let expected = [
            (
                Direction::Upstream,
                Violation::CompletionAfterReset { tag: up },
            ),
            (
                Direction::Downstream,
                Violation::CompletionAfterReset { tag: down },
            ),
        ];
        assert_eq!(found, expected);
    }
}

#[test]
fn a_reset_of_the_link_gives_every_credit_back_and_one_of_the_function_does_not() {
    for reset in BOTH {
        let mut bench = slow();
        let size = bench.host.settings().limits.max_payload;
        let flow = FlowControl::new(Advertised::minimum(size), size).expect("the minimum");
        let flow = flow.returning_after(30);
        bench.host.set_flow_control(Direction::Upstream, flow);
        let write = Tlp::memory_write(FUNCTION, SINK, &[1; 32]).expect("short");
        bench.host.upstream(10, write);
        bench.host.reset(reset);
        let ready = bench.host.ready(11, Direction::Upstream, FlowClass::Posted);
        assert_eq!(ready, reset == Reset::Link, "{reset:?}");
        assert!(bench.host.ready(40, Direction::Upstream, FlowClass::Posted));
        // Not twice: one packet's worth is there, as advertised.
        let monitor = bench.host.monitor();
        let flow = monitor.flow_control(Direction::Upstream).expect("set");
        let left = flow.available(FlowClass::Posted, CreditKind::Data);
        assert_eq!(left, Some(16), "{reset:?}");
    }
}
