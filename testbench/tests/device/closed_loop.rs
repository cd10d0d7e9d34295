//! Peers that send again what the device drops whole: 1,024 connections at once, each with an FPDU
//! open at the end of every segment but its last, in 512 pages of packet memory; and some whose
//! FPDUs take more than half of these pages each.
//!
//! Each peer knows of the device what the driver would acknowledge, rcv_nxt and the ranges received
//! beyond it, and sends what is not there: what was accepted is never sent again. All take turns at
//! random.

mod world;

use rnic_abi::counters::Counter;
use rnic_abi::limits::CONNECTIONS;
use rnic_driver::Config;
use world::{End, Loop, Shape};

const SEED: u64 = 0x0015_f8c1;
/// Rounds, one turn of each peer that has something left, in which one of a thousand may find no
/// room; 21 were measured.
const ROUNDS_OF_A_THOUSAND_MAX: u32 = 64;
/// The same where silent peers hold the memory and the others proceed one at a time; 116 measured.
const ROUNDS_WITH_SILENT_MAX: u32 = 350;
/// Rounds in all for each long FPDU: its window doubles from one segment to all 45 in seven, and
/// the peer whose turn it is may have begun another one before; 5.5 were measured.
const ROUNDS_OF_A_LONG_FPDU_MAX: u32 = 8;
/// Pages of the longest frame of short FPDUs.
const FRAME_PAGES: u32 = 5;
/// Peers that begin an FPDU and fall silent, more than memory holds, and the others.
const SILENT: usize = 320;
const OTHERS: usize = 48;
/// Segments of a window of 203,000 octets.
const WIDE_WINDOW: usize = 140;
/// Peers that fill packet memory with short FPDUs.
const FULL_OF_SHORT: usize = 200;
/// log2 of the cycles that a silent turn lasts where peers fall silent: less than these rounds.
const SHORT_HOLD_LOG2: u32 = 13;

fn seed() -> u64 {
    let given = std::env::var("RNIC_SEED").ok();
    given.map_or(SEED, |seed| seed.parse().expect("RNIC_SEED is a number"))
}

/// The counters after a run that came to its end: the reserve was needed, nothing that was accepted
/// was sent again, and each FPDU was placed once.
fn check_counters(world: &mut Loop, rounds_max: u32, seed: u64) {
    let counters = world.counters();
    let fpdus: usize = world
        .peers
        .iter()
        .map(|peer| peer.sender.fpdus().len())
        .sum();
    println!(
        "seed {seed}: {} frames in {} cycles, {} rounds without progress at most, {:?}",
        world.frames,
        world.simulation.borrow().now(),
        world.most_waits,
        counters
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(counter, count)| (counter.name(), *count))
            .collect::<Vec<_>>()
    );
    assert_eq!(counters[&Counter::Fpdus] as usize, fpdus, "seed {seed}");
    for again in [Counter::DropTcpDuplicate, Counter::TcpTrimmed] {
        assert_eq!(counters[&again], 0, "{}, seed {seed}", again.name());
    }
    assert!(counters[&Counter::DropTcpNoRoom] > 0, "seed {seed}");
    assert!(
        world.most_waits <= rounds_max,
        "{} rounds, seed {seed}",
        world.most_waits
    );
}

/// In-order traffic never starves: all connections go on, whoever else has an FPDU open.
#[test]
fn a_thousand_connections_with_open_fpdus_all_come_to_their_ends() {
    let seed = seed();
    let mut world = Loop::with_peers(Config::default(), seed, &vec![Shape::short(); CONNECTIONS]);
    assert_eq!(world.run(0..CONNECTIONS), End::Done, "seed {seed}");
    world.check(seed);
    check_counters(&mut world, ROUNDS_OF_A_THOUSAND_MAX, seed);
}

/// Peers that fall silent in mid-FPDU, one of them during its turn, and hold all memory but the
/// reserve, do not stop the others, and continue when they come back.
#[test]
fn silent_peers_with_open_fpdus_leave_the_others_going_on() {
    let seed = seed();
    let config = Config {
        reserve_hold_log2: SHORT_HOLD_LOG2,
        ..Config::default()
    };
    let mut world = Loop::with_peers(config, seed, &vec![Shape::short(); SILENT + OTHERS]);
    for number in 0..SILENT {
        world.turn(number);
    }
    world.simulation.borrow_mut().run_until_idle();
    let free = world.simulation.borrow().free_pages();
    let few = config.in_order_reserve + FRAME_PAGES;
    assert!(free < few, "{free} pages are free, seed {seed}");
    let others = world.run(SILENT..SILENT + OTHERS);
    assert_eq!(others, End::Done, "seed {seed}");
    let free = world.simulation.borrow().free_pages();
    assert!(free < few, "{free} pages are free, seed {seed}");
    assert_eq!(world.run(0..SILENT), End::Done, "seed {seed}");
    world.check(seed);
    check_counters(&mut world, ROUNDS_WITH_SILENT_MAX, seed);
}

/// The thousand without a reserve: packet memory fills up with FPDUs of which no other can come to
/// its end. What the first test shows is thus the reserve's doing.
#[test]
fn without_the_reserve_the_same_connections_stop_each_other() {
    let seed = seed();
    let config = Config {
        in_order_reserve: 0,
        ..Config::default()
    };
    let mut world = Loop::with_peers(config, seed, &vec![Shape::short(); CONNECTIONS]);
    assert_eq!(world.run(0..CONNECTIONS), End::Stuck, "seed {seed}");
    let done = world.peers.iter().filter(|peer| peer.is_done()).count();
    println!("seed {seed}: {done} connections had come to their ends");
    assert!(world.counters()[&Counter::DropNoPage] > 0, "seed {seed}");
}

/// `peers` peers of which each sends FPDUs of 64,000 octets, `writes` of them: each gets everything
/// through, in a bounded number of rounds.
fn long_fpdus_get_through(peers: usize, writes: usize) {
    let seed = seed();
    let mut world = Loop::with_peers(Config::default(), seed, &vec![Shape::long(writes); peers]);
    assert_eq!(world.run(0..peers), End::Done, "seed {seed}");
    world.check(seed);
    let rounds_max = ROUNDS_OF_A_LONG_FPDU_MAX * (peers * writes) as u32;
    println!("{} rounds of {rounds_max}", world.rounds);
    assert!(world.rounds <= rounds_max, "{} rounds", world.rounds);
    check_counters(&mut world, rounds_max, seed);
}

#[test]
fn two_peers_with_fpdus_of_64000_octets_come_to_their_ends() {
    long_fpdus_get_through(2, 4);
}

#[test]
fn four_peers_with_fpdus_of_64000_octets_come_to_their_ends() {
    long_fpdus_get_through(4, 3);
}

#[test]
fn sixteen_peers_with_fpdus_of_64000_octets_come_to_their_ends() {
    long_fpdus_get_through(16, 2);
}

#[test]
fn many_peers_with_fpdus_of_64000_octets_come_to_their_ends() {
    long_fpdus_get_through(rnic_effort::count("peers", 32, 64), 1);
}

/// Two peers; the first has sent 42 segments of the 45 that its FPDU takes, 252 pages, when the
/// other one sends all of its own.
fn second_of_two_comes_late(config: Config, seed: u64) -> (Loop, End) {
    let mut world = Loop::with_peers(config, seed, &[Shape::long(2), Shape::long(2)]);
    world.peers[0].window = 42;
    world.turn(0);
    world.simulation.borrow_mut().run_until_idle();
    world.peers[1].window = 45;
    world.turn(1);
    world.simulation.borrow_mut().run_until_idle();
    let end = world.run(0..2);
    (world, end)
}

/// The reserve that does not grow is smaller than such an FPDU: in the end each of two peers holds
/// what the other one needs, and turns that pass do not change it. With the reserve that grows the
/// same two come to their ends.
#[test]
fn a_reserve_that_does_not_grow_lets_two_peers_with_long_fpdus_stop_each_other() {
    let seed = seed();
    let fixed = Config {
        long_reserve: 0,
        reserve_hold_log2: SHORT_HOLD_LOG2,
        ..Config::default()
    };
    let (world, end) = second_of_two_comes_late(fixed, seed);
    assert_eq!(end, End::Stuck, "seed {seed}");
    let done = world.peers.iter().filter(|peer| peer.is_done()).count();
    assert_eq!(done, 0, "seed {seed}");
    let (mut world, end) = second_of_two_comes_late(Config::default(), seed);
    assert_eq!(end, End::Done, "seed {seed}");
    world.check(seed);
}

/// A peer whose network loses segments, with a window larger than packet memory: octets beyond the
/// gaps fill it, and are discarded where the FPDU before them finds no room. Alone, and together
/// with others of its kind.
#[test]
fn long_fpdus_that_find_memory_full_of_what_follows_them_complete() {
    let seeds = rnic_effort::count("seeds", 1, 2);
    let writes = rnic_effort::count("Writes of a peer", 3, 6);
    for peers in [1, 3] {
        for seed in seed()..seed() + seeds {
            let shape = Shape {
                window_max: WIDE_WINDOW,
                lost_of_16: 4,
                ..Shape::long(writes)
            };
            let mut world = Loop::with_peers(Config::default(), seed, &vec![shape; peers]);
            for number in 0..peers {
                world.peers[number].window = WIDE_WINDOW;
            }
            assert_eq!(world.run(0..peers), End::Done, "{peers} peers, seed {seed}");
            world.check(seed);
            println!("{peers} peers, seed {seed}: {} rounds", world.rounds);
        }
    }
}

/// Long FPDUs come when short ones hold all pages but the first reserve: these come to their ends
/// first, and then the long ones.
#[test]
fn long_fpdus_that_find_memory_full_of_short_ones_come_to_their_ends() {
    let seed = seed();
    let mut shapes = vec![Shape::short(); FULL_OF_SHORT];
    shapes.extend(vec![Shape::long(2); 4]);
    let mut world = Loop::with_peers(Config::default(), seed, &shapes);
    for number in 0..FULL_OF_SHORT {
        world.turn(number);
    }
    world.simulation.borrow_mut().run_until_idle();
    let free = world.simulation.borrow().free_pages();
    let few = Config::default().in_order_reserve + 2 * FRAME_PAGES;
    assert!(free < few, "{free} pages are free, seed {seed}");
    assert_eq!(world.run(0..shapes.len()), End::Done, "seed {seed}");
    world.check(seed);
    check_counters(&mut world, ROUNDS_OF_A_THOUSAND_MAX, seed);
}
