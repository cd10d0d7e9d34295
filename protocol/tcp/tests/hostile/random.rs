//! 10^8 octets of random and mutated segments, and events of a device, against one connection: no
//! panic, and no more memory than it says.
use crate::memory::Gauge;
use crate::peer::{head, Scripted, ACK};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_tcp::{
    Flags, Head, Options, Output, Record, Segment, SeqNumber, Settings, Snapshot, State,
};

/// A number near those in use, or any.
fn near(random: &mut ChaCha8Rng, base: i64) -> i64 {
    match random.random_range(0..10) {
        0 => random.random_range(0..1i64 << 32),
        1..=4 => base,
        _ => base + random.random_range(-3_000..3_000i64),
    }
}

fn mutated(random: &mut ChaCha8Rng, seq: i64, ack: i64) -> Head {
    let rare = |random: &mut ChaCha8Rng| random.random_ratio(1, 40);
    let flags = Flags {
        ack: !rare(random),
        syn: rare(random),
        fin: rare(random),
        rst: random.random_ratio(1, 400),
        psh: random.random(),
    };
    let (seq, ack) = (near(random, seq), near(random, ack));
    let mut head = head(flags, seq, ack);
    head.window = if rare(random) {
        random.random()
    } else {
        20_000
    };
    for _ in 0..random.random_range(0..3) {
        let left = near(random, ack);
        let base = head.ack;
        let right = random.random_range(-100..4_000i64);
        head.options
            .sack
            .push(base + left as u32, base + (left + right) as u32);
    }
    head
}

/// What a hostile peer, a slow application and a clock can do in any order.
fn run(seed: u64, steps: u32, gauge: &Gauge) -> (u64, [bool; 10]) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut peer = Scripted::established();
    let payload = [7u8; 2_000];
    let (mut octets, mut seen) = (0, [false; 10]);
    let mut id = 0;
    let (mut snd_una, mut rcv_nxt) = (0, 0);
    let mut buffer = [0; 3_000];
    for _ in 0..steps {
        seen[peer.tcp.state() as usize] = true;
        if peer.tcp.state() == State::Closed {
            (peer, rcv_nxt, snd_una) = (Scripted::established(), 0, 0);
        }
        match random.random_range(0..12) {
            0..=6 => {
                let mut head = mutated(&mut random, rcv_nxt, snd_una);
                if random.random_ratio(1, 8) {
                    // Options of random octets, where they can be read.
                    let octets: [u8; 40] = random.random();
                    head.options = Options::parse(&octets).unwrap_or(head.options);
                }
                let payload = &payload[..random.random_range(0..=2_000)];
                let payload = if random.random() { payload } else { &[] };
                octets += payload.len() as u64 + 20;
                peer.tcp.on_segment(&Segment { head, payload }, peer.now_us);
            }
            7 => {
                let octets = random.random_range(1..4_000);
                id += u64::from(peer.tcp.push(Record { id, octets }).is_ok());
            }
            8 => {
                peer.tcp.read(&mut buffer[..random.random_range(0..3_000)]);
            }
            9 => peer.now_us += random.random_range(0..2_000_000),
            10 if random.random_ratio(1, 20) => match random.random_range(0..6) {
                0 => peer.tcp.close(),
                1 => drop(peer.tcp.limit_stream(random.random_range(0..100))),
                2 => drop(peer.tcp.hand_over(random.random_range(0..100_000))),
                3 => drop(peer.tcp.set_emss(random.random_range(64..1_460))),
                4 => peer.tcp.set_blocked(random.random()),
                _ => peer.tcp.begin_startup(peer.now_us),
            },
            _ => {
                let ack = near(&mut random, snd_una);
                let snapshot = Snapshot {
                    rcv_nxt: head(ACK, near(&mut random, rcv_nxt), 0).seq,
                    seg_ack: head(ACK, 0, ack).ack,
                    seg_wnd: random.random(),
                    duplicate_acks: random.random(),
                    answers: random.random(),
                    range: random.random_ratio(1, 3).then(|| {
                        let left = head(ACK, near(&mut random, rcv_nxt), 0).seq;
                        (left, left + random.random_range(0..5_000))
                    }),
                    fin: random
                        .random_ratio(1, 300)
                        .then(|| head(ACK, rcv_nxt, 0).seq),
                    answer_now: random.random(),
                };
                peer.tcp.on_device(&snapshot, peer.now_us);
            }
        }
        for output in peer.outputs() {
            if let Output::Segment(sent) = output {
                let sent = sent.head;
                rcv_nxt = i64::from(sent.ack.distance_from(SeqNumber(crate::peer::IRS + 1)));
                snd_una = i64::from(sent.seq.distance_from(SeqNumber(crate::peer::ISS) + 1));
            }
        }
        let settings = Settings::default();
        assert!(peer.tcp.room() <= settings.records_max as usize);
        gauge.verify(&settings, "at random");
    }
    (octets, seen)
}

/// RFC 9293, MUST-7 and beyond: nothing that arrives makes the connection panic, loop or grow.
#[test]
fn random_segments_neither_panic_nor_loop() {
    let (mut octets, mut seen) = (0, [false; 10]);
    let gauge = Gauge::new();
    let mut seed = 0;
    while octets < 100_000_000 {
        let (run_octets, run_seen) = run(seed, 1_000, &gauge);
        (octets, seed) = (octets + run_octets, seed + 1);
        (0..10).for_each(|state| seen[state] |= run_seen[state]);
    }
    println!("{octets} octets of segments in {seed} runs");
    let states = [
        State::Established,
        State::FinWait1,
        State::CloseWait,
        State::Closed,
    ];
    assert!(states.iter().all(|&state| seen[state as usize]), "{seen:?}");
}
