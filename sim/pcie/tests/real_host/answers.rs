//! Answers of a host: split, delayed and reordered by a seed, and legal whatever the seed.

use crate::bench::{pattern, Bench, FUNCTION, SINK, SOURCE};
use pcie_sim::choices::{Choice, Scripted};
use pcie_sim::{
    CompletionSplit, Kind, Limits, ReadCompletionBoundary, RootComplexSettings, Tlp, TransferSize,
};
use std::collections::BTreeSet;

fn random(seed: u64) -> RootComplexSettings {
    RootComplexSettings {
        completion_split: CompletionSplit::Chosen,
        read_latency_ticks: 20,
        read_spread_ticks: 40,
        reorder_completions: true,
        pass_percent: 30,
        seed,
        ..RootComplexSettings::default()
    }
}

/// Tag and octets of each completion that answers eight reads of 500 octets.
fn completions(settings: RootComplexSettings) -> Vec<(u8, usize)> {
    let mut bench = Bench::new(settings);
    for tag in 0..8 {
        let address = SOURCE + u64::from(tag) * 0x1000 + 12;
        let read = Tlp::memory_read(FUNCTION, tag, address, 500).expect("short");
        bench.host.upstream(0, read);
    }
    let mut found = Vec::new();
    for _ in 0..2000 {
        bench.now += 1;
        if let Some(tlp) = bench.take_down() {
            match tlp.header.kind {
                Kind::CplD(completion) => found.push((completion.tag, tlp.payload.len())),
                other => panic!("{other:?} is no completion"),
            }
        }
    }
    // The monitor checks order within a tag, boundaries, Byte Count and Lower Address.
    bench.finish();
    found
}

#[test]
fn each_boundary_and_seed_answers_legally_and_every_octet_arrives() {
    let boundaries = [
        ReadCompletionBoundary::Octets64,
        ReadCompletionBoundary::Octets128,
    ];
    for seed in 0..40 {
        let limits = Limits {
            read_completion_boundary: boundaries[seed as usize % 2],
            max_payload: TransferSize::ALL[seed as usize % 6],
            max_read_request: TransferSize::ALL[seed as usize % 5],
            ..Limits::default()
        };
        let mut bench = Bench::new(RootComplexSettings {
            limits,
            ..random(seed)
        });
        let spans = [(1, 4000), (4097, 1), (7001, 333), (0x8000, 4096), (63, 0)];
        let tokens = spans.map(|(offset, octets)| bench.read(offset, octets));
        for (token, (offset, octets)) in tokens.into_iter().zip(spans) {
            let expected = pattern(offset, octets);
            assert_eq!(bench.result(token), Ok(expected), "seed {seed}");
        }
        bench.finish();
    }
}

#[test]
fn a_seed_repeats_itself_and_another_differs() {
    assert_eq!(completions(random(1)), completions(random(1)));
    assert_ne!(completions(random(1)), completions(random(2)));
}

#[test]
fn splits_and_order_are_drawn() {
    let (mut sizes, mut orders) = (BTreeSet::new(), BTreeSet::new());
    let mut interleaved = 0;
    for seed in 0..20 {
        let found = completions(random(seed));
        let tags: Vec<u8> = found.iter().map(|(tag, _)| *tag).collect();
        sizes.extend(found.iter().map(|(_, octets)| *octets));
        // A tag that comes again after another came between.
        let mut runs = tags.clone();
        runs.dedup();
        interleaved += usize::from(runs.len() > 8);
        let mut seen = BTreeSet::new();
        orders.insert(
            tags.into_iter()
                .filter(|tag| seen.insert(*tag))
                .collect::<Vec<_>>(),
        );
    }
    // From 12 octets into 4 KiB: ends at 64, 128, 192, 256 and so on, at most 256 at a time.
    assert!(sizes.contains(&52) && sizes.contains(&64), "{sizes:?}");
    assert!(sizes.contains(&244) && sizes.contains(&256), "{sizes:?}");
    assert!(orders.len() > 15, "{} orders of 20", orders.len());
    assert!(interleaved > 15, "{interleaved} of 20");
}

#[test]
fn without_reordering_answers_keep_the_order_of_their_reads() {
    let settings = RootComplexSettings {
        reorder_completions: false,
        pass_percent: 0,
        ..random(3)
    };
    let tags: Vec<u8> = completions(settings).iter().map(|(tag, _)| *tag).collect();
    assert!(tags.is_sorted(), "{tags:?}");
}

#[test]
fn a_script_chooses_the_answer() {
    let mut bench = Bench::new(RootComplexSettings {
        reorder_completions: true,
        ..RootComplexSettings::default()
    });
    let script = [
        (Choice::Answer, 2),
        (Choice::Answer, 0),
        (Choice::Answer, 0),
    ];
    bench.host.set_choices(Box::new(Scripted::new(script)));
    for tag in 0..3 {
        let read = Tlp::memory_read(FUNCTION, tag, SOURCE, 4).expect("short");
        bench.host.upstream(0, read);
    }
    let mut tags = Vec::new();
    while let Some(tlp) = bench.take_down() {
        if let Kind::CplD(completion) = tlp.header.kind {
            tags.push(completion.tag);
        }
    }
    assert_eq!(tags, [2, 0, 1]);
    bench.finish();
}

#[test]
fn latency_and_spread_bound_the_time_of_an_answer() {
    let settings = RootComplexSettings {
        read_latency_ticks: 20,
        read_spread_ticks: 5,
        ..RootComplexSettings::default()
    };
    let mut taken = BTreeSet::new();
    let mut bench = Bench::new(settings);
    for _ in 0..200 {
        let begin = bench.now;
        let read = Tlp::memory_read(FUNCTION, 0, SOURCE, 4).expect("short");
        bench.host.upstream(begin, read);
        let ticks = (0..100).find(|ticks| {
            bench.now = begin + ticks;
            bench.take_down().is_some()
        });
        taken.insert(ticks.expect("an answer"));
    }
    assert_eq!(taken, (20..=25).collect());
}

#[test]
fn writes_pass_reads_at_random_but_never_each_other() {
    let mut passed = 0;
    for seed in 0..20 {
        let mut bench = Bench::new(RootComplexSettings {
            pass_percent: 50,
            seed,
            ..RootComplexSettings::default()
        });
        // A read of the device's, so that a completion is in between.
        bench.host.write_bar(0, bench.bar, &[1]);
        let read = Tlp::memory_read(FUNCTION, 0, SINK, 4).expect("short");
        bench.host.upstream(0, read);
        bench.host.read_bar(0, bench.bar, 4);
        bench.host.write_bar(0, bench.bar + 4, &[2]);
        let mut order = Vec::new();
        while let Some(tlp) = bench.take_down() {
            order.push(match tlp.header.kind {
                Kind::MWr(request) if request.address == bench.bar => 'a',
                Kind::MWr(_) => 'b',
                Kind::CplD(_) => 'c',
                _ => 'r',
            });
        }
        let place = |name| order.iter().position(|found| *found == name).expect("sent");
        assert_eq!(order.len(), 4);
        assert_eq!(order[0], 'a', "nothing may pass the first write: {order:?}");
        passed += usize::from(place('b') < place('r'));
    }
    assert!((3..18).contains(&passed), "{passed} of 20");
}

#[test]
fn each_completion_of_an_answer_takes_its_own_time() {
    let mut bench = Bench::new(RootComplexSettings {
        completion_split: CompletionSplit::AtEveryBoundary,
        read_latency_ticks: 20,
        read_spread_ticks: 5,
        ..RootComplexSettings::default()
    });
    let delays = [2, 5, 0].map(|ticks| (Choice::Delay, ticks));
    bench.host.set_choices(Box::new(Scripted::new(delays)));
    let read = Tlp::memory_read(FUNCTION, 0, SOURCE, 192).expect("short");
    bench.host.upstream(100, read);
    let mut found = Vec::new();
    for now in 100..200 {
        bench.now = now;
        found.extend(bench.take_down().map(|_| now));
    }
    // The third is ready with the second, and leaves when the link has sent that.
    assert_eq!(found, [122, 127, 128]);
    bench.finish();
}
