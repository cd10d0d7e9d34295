//! Records through good and bad links.
use super::*;
use rnic_tcp::Settings;

fn records(count: u32, octets: u32) -> impl Iterator<Item = u32> {
    (0..count).map(move |_| octets)
}

#[test]
fn records_both_ways() {
    let mut pair = Pair::plain();
    pair.ends[CLIENT].send(records(1_000, 1_460));
    pair.ends[SERVER].send((0..500).map(|index| 1 + index * 7 % 1_460));
    pair.transfer();
    assert_eq!(
        pair.ends[CLIENT]
            .tcp()
            .statistics()
            .sent
            .retransmitted_segments,
        0
    );
}

/// All faults at once, with and without SACK.
#[test]
fn every_octet_arrives_once_through_a_bad_link() {
    for seed in 0..20 {
        let path = Path {
            delay_us: 500,
            octets_a_second: 12_500_000,
            queue_octets: 50_000,
            loss: 30_000,
            duplication: 20_000,
            reordering: 50_000,
        };
        let sack = seed % 2 == 0;
        let settings = Settings {
            sack,
            ..Settings::default()
        };
        let mut pair = Pair::new([settings; 2], path, seed);
        pair.ends[CLIENT].send(records(700, 1_460));
        pair.ends[SERVER].send((0..500).map(|index| 1 + index * 7 % 1_460));
        pair.transfer();
        let sent = pair.ends[CLIENT].tcp().statistics().sent;
        println!("{seed} {} us {sent:?}", pair.now_us);
    }
}
