//! Every condition, fault and choice is drawn and reaches the receiver.

use crate::{on_the_model, runs, settings};
use rnic_abi::counters::Counter;
use rnic_testbench::fuzz::{Campaign, Case};
use rnic_testbench::play::Condition;
use rnic_testbench::traffic::Cutter;
use rnic_testbench::workload::{generate, Injected, IpFamily, Markers, Oddity, Resend, Workload};

/// Runs over which every condition and every refusal must occur, in a short run and in a long one.
const RUNS_MODEL: [u64; 2] = [100, 200];
/// Workloads over which every kind of fault and every choice must be drawn.
const DRAWS: u64 = 100;

/// Draws reach the receiver: each condition occurs, each oddity is sent, and their effects are
/// counted.
#[test]
fn every_condition_is_met_and_what_it_leads_to_is_counted() {
    let settings = settings("met", 1, 64);
    let mut campaign = Campaign::with_player(settings, on_the_model);
    for run in 0..runs(RUNS_MODEL) {
        let failure = campaign.run(run).expect("the model plays everything");
        assert_eq!(failure, None);
    }
    let totals = campaign.totals;
    println!("{}", totals.text());
    for condition in Condition::ALL {
        assert!(
            totals.conditions.contains_key(&condition),
            "{}",
            condition.name()
        );
    }
    // Full queues, and so missing buffers, depend on the driver: the model has none.
    let counters = [
        Counter::DropRunt,
        Counter::DropFrameTooLong,
        Counter::DropTcpOutsideWindow,
        Counter::DropTcpNoRoom,
        Counter::DropHostRingFull,
        Counter::DropHostFrameTooLong,
        Counter::RefuseDdpStag,
        Counter::RefuseDdpAssociation,
        Counter::RefuseDdpWrap,
        Counter::RefuseDdpBounds,
        Counter::RefuseDdpMo,
        Counter::RefuseDdpTooLong,
        Counter::RefuseRdmapInvalidate,
        Counter::RefuseRdmapReadResponse,
    ];
    for counter in counters {
        assert!(totals.counters[counter.name()] > 0, "{}", counter.name());
    }
}

/// Does some drawn workload have it?
fn drawn(workloads: &[Workload], what: &str, has: impl Fn(&Workload) -> bool) {
    assert!(workloads.iter().any(has), "{what} is never drawn");
}

#[test]
fn every_fault_and_every_choice_is_drawn() {
    let cases = (0..DRAWS).map(|run| Case::draw(1, run));
    let workloads: Vec<Workload> = cases.map(|case| case.workload).collect();
    let mut injected = Injected::default();
    for workload in &workloads {
        let generation = generate(workload).expect("what is drawn can be made");
        injected.add(&generation.summary.faults);
    }
    for (kind, count) in injected.by_kind() {
        let is_odd = Oddity::ALL.iter().any(|oddity| oddity.name() == kind);
        let least = if is_odd { DRAWS / 20 } else { DRAWS / 2 };
        assert!(count >= least, "{kind}: {count} in {DRAWS} runs");
    }
    for cutter in Cutter::ALL {
        drawn(&workloads, "a cutter", |w| w.cutter == cutter);
    }
    for markers in [
        Markers::Off,
        Markers::Initiator,
        Markers::Responder,
        Markers::Both,
    ] {
        drawn(&workloads, "a use of markers", |w| w.markers == markers);
    }
    for ip in [IpFamily::V4, IpFamily::V6, IpFamily::Both] {
        drawn(&workloads, "an IP version", |w| w.ip == ip);
    }
    for resend in [Resend::All, Resend::Lost, Resend::Never] {
        drawn(&workloads, "a way to send again", |w| {
            w.faults.resend == resend
        });
    }
    for either in [false, true] {
        drawn(&workloads, "CRC or none", |w| w.crc == either);
        drawn(&workloads, "timestamps or none", |w| w.timestamps == either);
    }
    for count in 0..=2 {
        drawn(&workloads, "a revision", |w| {
            usize::from(w.revision) == count
        });
        drawn(&workloads, "a number of tags", |w| w.vlan.len() == count);
    }
    drawn(&workloads, "neighbours in the hash tables", |w| {
        w.neighbours
    });
    drawn(&workloads, "MSNs that wrap", |w| w.msn_start > 1);
    drawn(&workloads, "Tagged Offsets up to 2^64", |w| {
        w.to_start > u64::MAX - 1_000_000
    });
    drawn(&workloads, "one connection", |w| w.connections == 1);
    drawn(&workloads, "many connections", |w| w.connections > 24);
    drawn(&workloads, "a message of 64 KiB", |w| {
        *w.sizes.end() > 60_000
    });
    drawn(&workloads, "a stream past 2^32", |w| {
        w.sequence_start.is_some_and(|start| start > 0xffff_0000)
    });
}
