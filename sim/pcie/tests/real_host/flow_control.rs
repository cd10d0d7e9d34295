//! Credits that run out and classes that stall: everything arrives, and nothing deadlocks.

use crate::bench::{pattern, Bench, FUNCTION, SINK};
use pcie_sim::choices::{Choice, Choices, Seeded};
use pcie_sim::flow_control::{Advertised, FlowClass, FlowControl, Stall, Units};
use pcie_sim::Direction::{Downstream, Upstream};
use pcie_sim::{Kind, RootComplexSettings, Tlp, Violation};

fn least(bench: &Bench, ticks: u64) -> FlowControl {
    let size = bench.host.settings().limits.max_payload;
    let flow = FlowControl::new(Advertised::minimum(size), size).expect("the minimum");
    flow.returning_after(ticks)
}

#[test]
fn with_the_fewest_credits_and_any_stall_every_octet_arrives() {
    for percent in [0, 5, 20, 60] {
        let mut bench = Bench::new(RootComplexSettings::default());
        for direction in [Upstream, Downstream] {
            let flow = least(&bench, 7);
            bench.host.set_flow_control(direction, flow);
            let stall = Stall::new(percent.into()).with_percent_each(percent);
            bench.host.set_stall(direction, stall);
        }
        let data = pattern(3, 3000);
        bench.device.write_memory(SINK + 5, &data).expect("master");
        let reads: Vec<_> = (0..5).map(|at| bench.read(at * 1111, 1500)).collect();
        bench.host.write_bar(0, bench.bar + 1, &data[..700]);
        let back = bench.host.read_bar(0, bench.bar + 1, 700);
        for (at, token) in reads.into_iter().enumerate() {
            let expected = pattern(at as u64 * 1111, 1500);
            assert_eq!(bench.result(token), Ok(expected), "{percent} %");
        }
        bench.run(2000);
        let found = bench.host.poll(bench.now, back);
        assert_eq!(found, Ok(Some(data[..700].to_vec())), "{percent} %");
        assert_eq!(bench.host.memory().slice(SINK + 5, 3000), Ok(&data[..]));
        bench.finish();
    }
}

#[test]
fn stalls_and_scarce_credits_cost_time() {
    let ticks = |credits: bool, percent: u8| {
        let mut bench = Bench::new(RootComplexSettings::default());
        if credits {
            let flow = least(&bench, 7);
            bench.host.set_flow_control(Upstream, flow);
        }
        let stall = Stall::new(1).with_percent(FlowClass::Posted, percent);
        bench.host.set_stall(Upstream, stall);
        bench
            .device
            .write_memory(SINK, &[1; 0x4000])
            .expect("master");
        (1..10_000)
            .find(|_| {
                bench.tick();
                bench.host.statistics().writes == 64
            })
            .expect("all arrive")
    };
    assert_eq!(ticks(false, 0), 64);
    // One packet in eight ticks: its credits come back after seven.
    assert_eq!(ticks(true, 0), 63 * 7 + 1);
    assert!((96..180).contains(&ticks(false, 50)));
}

#[test]
fn blocked_requests_of_a_device_hold_up_neither_its_writes_nor_its_completions() {
    let mut bench = Bench::new(RootComplexSettings::default());
    bench.host.stall_mut(Upstream).block(FlowClass::NonPosted);
    let read = bench.read(0, 64);
    bench.device.write_memory(SINK, &[7; 600]).expect("master");
    let back = bench.host.read_bar(0, bench.bar, 4);
    bench.run(100);
    assert_eq!(bench.host.memory().slice(SINK, 600), Ok(&[7; 600][..]));
    let found = bench.host.poll(bench.now, back);
    assert_eq!(found, Ok(Some(vec![0; 4])));
    assert_eq!(bench.device.poll(bench.now, read), Ok(None));
    bench.host.stall_mut(Upstream).unblock(FlowClass::NonPosted);
    assert_eq!(bench.result(read), Ok(pattern(0, 64)));
    bench.finish();
}

#[test]
fn what_a_blocked_class_holds_up_downstream_is_what_the_table_says() {
    // Of a write, a read and a completion that come in this order, those that get through.
    let through = |blocked: FlowClass| {
        let mut bench = Bench::new(RootComplexSettings::default());
        bench.host.stall_mut(Downstream).block(blocked);
        bench.host.write_bar(0, bench.bar, &[1]);
        bench.host.read_bar(0, bench.bar, 4);
        let read = Tlp::memory_read(FUNCTION, 0, SINK, 4).expect("short");
        bench.host.upstream(0, read);
        let mut through = Vec::new();
        for _ in 0..10 {
            bench.now += 1;
            through.extend(bench.take_down().map(|tlp| FlowClass::of(&tlp.header)));
        }
        through
    };
    use FlowClass::{Completion, NonPosted, Posted};
    assert_eq!(through(Posted), []);
    assert_eq!(through(NonPosted), [Posted, Completion]);
    assert_eq!(through(Completion), [Posted, NonPosted]);
}

#[test]
fn a_sender_that_obeys_ready_never_overruns_in_any_cycle() {
    let mut bench = Bench::new(RootComplexSettings::default());
    let size = bench.host.settings().limits.max_payload;
    let advertised = Advertised {
        posted: (Units::Finite(3), Units::Finite(40)),
        ..Advertised::minimum(size)
    };
    let flow = FlowControl::new(advertised, size).expect("above the minimum");
    let flow = flow.returning_after(9);
    bench.host.set_flow_control(Upstream, flow);
    let stall = Stall::new(5).with_percent_each(20);
    bench.host.set_stall(Upstream, stall);
    let mut choices = Seeded::new(6);
    let mut sent = 0;
    for now in 1..3000 {
        if bench.host.ready(now, Upstream, FlowClass::Posted) {
            let octets = 1 + choices.below(Choice::Split, 256) as usize;
            let tlp = Tlp::memory_write(FUNCTION, SINK, &vec![1; octets]).expect("short");
            bench.host.upstream(now, tlp);
            sent += 1;
        }
        if bench.host.ready(now, Upstream, FlowClass::NonPosted) {
            let read = Tlp::memory_read(FUNCTION, 0, SINK, 4).expect("short");
            bench.host.upstream(now, read);
            assert!(bench.host.next_downstream(now).is_some());
        }
    }
    assert!(sent > 400, "{sent}");
    assert_eq!(bench.host.statistics().writes, sent);
    bench.finish();
}

#[test]
fn a_sender_that_does_not_is_named_and_its_packet_is_lost() {
    let mut bench = Bench::new(RootComplexSettings::default());
    let flow = least(&bench, 9);
    bench.host.set_flow_control(Upstream, flow);
    let write = |octet| Tlp::memory_write(FUNCTION, SINK, &[octet]).expect("short");
    bench.host.upstream(1, write(1));
    assert!(!bench.host.ready(9, Upstream, FlowClass::Posted));
    bench.host.upstream(9, write(2));
    let record = bench.host.monitor_mut().take_records().remove(0);
    assert!(
        matches!(
            record.violation,
            Violation::CreditsExceeded { available: 0, .. }
        ),
        "{record}"
    );
    assert_eq!((record.now, record.direction), (9, Upstream));
    assert_eq!(bench.host.memory().slice(SINK, 1), Ok(&[1][..]));
    assert_eq!(bench.host.statistics().discarded, 1);
    assert!(bench.host.ready(18, Upstream, FlowClass::Posted));
}

#[test]
fn a_device_that_releases_nothing_gets_one_packet_of_each_class() {
    let mut bench = Bench::new(RootComplexSettings::default());
    let size = bench.host.settings().limits.max_payload;
    let flow = FlowControl::new(Advertised::minimum(size), size).expect("the minimum");
    bench.host.set_flow_control(Downstream, flow);
    for at in 0..3 {
        bench.host.write_bar(0, bench.bar + at, &[1]);
        bench.host.read_bar(0, bench.bar + at, 1);
    }
    let mut down = || std::iter::from_fn(|| bench.take_down()).collect::<Vec<_>>();
    let first = down();
    let kinds: Vec<Kind> = first.iter().map(|tlp| tlp.header.kind).collect();
    assert!(
        matches!(kinds[..], [Kind::MWr(_), Kind::MRd(_)]),
        "{kinds:?}"
    );
    bench.host.release_credits(5, Downstream, &first[0]);
    bench.now = 5;
    let second: Vec<_> = std::iter::from_fn(|| bench.take_down()).collect();
    assert_eq!(second.len(), 1);
    assert!(matches!(second[0].header.kind, Kind::MWr(_)));
    // More than it holds: its receiver miscounts.
    bench.host.release_credits(6, Downstream, &second[0]);
    bench.host.release_credits(6, Downstream, &second[0]);
    let violation = bench.host.monitor().records()[0].violation;
    assert!(matches!(violation, Violation::CreditsNotHeld(_)));
}
