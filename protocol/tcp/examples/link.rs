//! Goodput over a simulated link, and how fairly connections share one: `cargo run --release -p
//! rnic-tcp --example link [SEEDS]`.
//!
//! Each figure is the least of ten seeds, or of as many as are asked for. The bottleneck carries
//! 100 Mb/s, frames of 1,514 octets; its queue holds one bandwidth-delay product, at least 32 KiB.
//! A figure below its goal ends in `!`, and the exit status is then 1.
//!
//! | link             | goal                                                             |
//! |------------------|------------------------------------------------------------------|
//! | without loss     | 95 % of the bottleneck, reordered and duplicated segments or not |
//! | 0.1 and 1 % loss | 70 % of Mathis' bound, or of the bottleneck where that is less   |
//! | 5 % loss         | never longer without an octet than four time-outs in a row take  |
//! | four connections | Jain index 0.95, median of the seeds                             |
//!
//! Octets are compared where the product is 10 KB; every other invariant of the tests' pair holds
//! in all runs: each octet once and in order, no record with other bounds.
#[allow(unused)]
#[path = "../tests/pair/device.rs"]
mod device;
#[allow(unused)]
#[path = "../tests/pair/end.rs"]
mod end;
#[allow(unused)]
#[path = "../tests/pair/link.rs"]
mod link;
#[allow(unused)]
#[path = "../tests/pair/pair.rs"]
mod pair;

use link::Path;
use pair::{Pair, CLIENT, SERVER};
use rnic_tcp::{Algorithm, Settings};

const OCTETS_A_SECOND: u64 = 12_500_000;
const RECORD_OCTETS: u32 = 1_460;
const FRAME_OCTETS: u64 = 1_514;

fn settings(algorithm: Algorithm) -> Settings {
    Settings {
        algorithm,
        receive_octets: 64 << 20,
        window_shift: 11,
        records_max: 1 << 16,
        ..Settings::default()
    }
}

fn path(product_octets: u64) -> Path {
    Path {
        delay_us: product_octets * 1_000_000 / OCTETS_A_SECOND / 2,
        octets_a_second: OCTETS_A_SECOND,
        queue_octets: product_octets.max(32 << 10),
        ..Path::default()
    }
}

fn begin(path: Path, algorithm: Algorithm, seed: u64) -> Pair {
    let mut pair = Pair::new([settings(algorithm); 2], path, seed);
    let compares = path.delay_us < 1_000;
    pair.ends.iter_mut().for_each(|end| end.compares = compares);
    pair
}

/// Records for as long as the run lasts.
fn refill(pair: &mut Pair) {
    let waiting = pair.ends[CLIENT].waiting.len();
    if waiting < 10_000 {
        pair.ends[CLIENT].send((waiting..20_000).map(|_| RECORD_OCTETS));
    }
}

/// What a run found, or the worst of several.
#[derive(Copy, Clone, Debug)]
struct Found {
    /// Octets a second, after a quarter of the time.
    rate: f64,
    /// The longest time without an octet, in microseconds.
    pause_us: u64,
}

impl Found {
    fn worse(self, other: Self) -> Self {
        Self {
            rate: self.rate.min(other.rate),
            pause_us: self.pause_us.max(other.pause_us),
        }
    }
}

fn run(path: Path, algorithm: Algorithm, seed: u64, time_us: u64) -> Found {
    const SLICES: u64 = 2_000;
    let mut pair = begin(path, algorithm, seed);
    let (mut begin, mut last, mut heard_us, mut pause_us) = (0, 0, pair.now_us, 0);
    for slice in 0..SLICES {
        refill(&mut pair);
        pair.drive_for(time_us / SLICES);
        let received = pair.ends[SERVER].received;
        if received > last {
            heard_us = pair.now_us;
        }
        (last, pause_us) = (received, pause_us.max(pair.now_us - heard_us));
        if slice == SLICES / 4 {
            begin = received;
        }
    }
    let rate = (last - begin) as f64 * 1e6 / (time_us * 3 / 4) as f64;
    Found { rate, pause_us }
}

/// The worst of `seeds` runs, half of them on another thread.
fn worst(path: Path, algorithm: Algorithm, time_us: u64, seeds: u64) -> Found {
    let best = Found {
        rate: f64::INFINITY,
        pause_us: 0,
    };
    let some = move |first: u64| {
        let found = (first..seeds).step_by(2);
        let found = found.map(|seed| run(path, algorithm, seed, time_us));
        found.fold(best, Found::worse)
    };
    std::thread::scope(|scope| {
        let others = scope.spawn(move || some(1));
        let even = some(0);
        even.worse(others.join().expect("no run panics"))
    })
}

/// Mathis: octets a second of a sender that grows by a segment each round trip, whether
/// acknowledgements are delayed or not, as one that counts octets does (RFC 3465).
fn mathis(path: Path) -> f64 {
    let rtt = (2 * path.delay_us) as f64 / 1e6;
    let rate = f64::from(path.loss) / 1e6;
    f64::from(RECORD_OCTETS) / rtt * (1.5 / rate).sqrt()
}

/// A cell of the table, and whether its goal is met.
fn cell(path: Path, found: Found) -> (String, bool) {
    let most = OCTETS_A_SECOND as f64 * f64::from(RECORD_OCTETS) / FRAME_OCTETS as f64;
    let bound = match path.loss {
        0 => most,
        _ => mathis(path).min(most),
    };
    let percent = found.rate * 100.0 / bound;
    let name = if bound < most { "M" } else { "" };
    // The queue doubles the round trip; four time-outs in a row take fifteen of the first.
    let time_out_us = (4 * path.delay_us + 40_000).max(200_000);
    let is_met = match path.loss {
        0 => percent >= 95.0,
        1..=10_000 => percent >= 70.0,
        _ => found.rate > 0.0 && found.pause_us < 15 * time_out_us,
    };
    let mark = if is_met { " " } else { "!" };
    let pause = found.pause_us as f64 / 1e6;
    (format!("{percent:.1} %{name} {pause:>5.2} s{mark}"), is_met)
}

/// Loss, reordering and duplication, in a million.
const LINKS: [(u32, u32, u32); 12] = [
    (0, 0, 0),
    (0, 10_000, 0),
    (0, 50_000, 0),
    (0, 100_000, 0),
    (0, 0, 10_000),
    (0, 100_000, 10_000),
    (1_000, 0, 0),
    (1_000, 100_000, 10_000),
    (10_000, 0, 0),
    (10_000, 10_000, 10_000),
    (50_000, 0, 0),
    (50_000, 100_000, 10_000),
];

/// True: every goal is met.
fn table(algorithm: Algorithm, seeds: u64) -> bool {
    println!(
        "{algorithm:?}: goodput of the bottleneck, or of Mathis' bound (M) where that is less, and \
         the longest pause"
    );
    println!(
        "{:>7} {:>8} {:>7} {:>20} {:>20} {:>20}",
        "loss", "reorder", "double", "10 KB", "1 MB", "10 MB"
    );
    let mut is_met = true;
    for (loss, reordering, duplication) in LINKS {
        let percent = |rate: u32| format!("{} %", f64::from(rate) / 10_000.0);
        print!(
            "{:>7} {:>8} {:>7}",
            percent(loss),
            percent(reordering),
            percent(duplication)
        );
        for (product_octets, seconds) in [(10_000, 2), (1_000_000, 12), (10_000_000, 80)] {
            let path = Path {
                loss,
                reordering,
                duplication,
                ..path(product_octets)
            };
            // With losses the window takes longer to be what they allow, and less is sent.
            let seconds = if loss > 0 { 5 * seconds } else { seconds };
            let (text, cell_is_met) =
                cell(path, worst(path, algorithm, seconds * 1_000_000, seeds));
            is_met &= cell_is_met;
            print!(" {text:>20}");
        }
        println!();
    }
    is_met
}

/// Jain's index of four connections over one bottleneck, for 60 s; the median. Their delays differ
/// by up to a frame's time, as hosts' do, or losses would fall on the same one each time.
fn fairness(algorithm: Algorithm, seeds: u64) -> bool {
    let mut found: Vec<f64> = (0..seeds).map(|seed| jain(algorithm, seed)).collect();
    found.sort_by(f64::total_cmp);
    // Of an even number the lower one.
    let (least, median) = (found[0], found[(found.len() - 1) / 2]);
    println!("{algorithm:?}: Jain index, median {median:.3}, least {least:.3}");
    median >= 0.95
}

fn jain(algorithm: Algorithm, seed: u64) -> f64 {
    let path = path(250_000);
    let mut pairs: Vec<Pair> = (0..4)
        .map(|index| begin(path, algorithm, 4 * seed + index))
        .collect();
    let shared = pairs[0].link.busy_until_us.clone();
    for (index, pair) in pairs.iter_mut().enumerate() {
        pair.link.busy_until_us = shared.clone();
        pair.link.path.jitter_us = 120;
        // They begin at different times, up to a second apart.
        pair.now_us += (seed * 7_919 + 104_729 * index as u64) % 1_000_000;
    }
    loop {
        let earliest = pairs
            .iter_mut()
            .min_by_key(|pair| pair.next_us().map(|next| next.max(pair.now_us)));
        let pair = earliest.expect("four");
        refill(pair);
        pair.flush();
        if !pair.step() || pair.now_us > 60_000_000 {
            break;
        }
    }
    let rates: Vec<f64> = pairs
        .iter()
        .map(|pair| pair.ends[SERVER].received as f64)
        .collect();
    let (sum, squares) = (
        rates.iter().sum::<f64>(),
        rates.iter().map(|rate| rate * rate).sum::<f64>(),
    );
    sum * sum / (4.0 * squares)
}

fn main() {
    let seeds = std::env::args().nth(1);
    let seeds = seeds.map_or(Ok(10), |seeds| seeds.parse::<u64>());
    let seeds = seeds.expect("a number of seeds").max(1);
    let mut is_met = true;
    for algorithm in [Algorithm::NewReno, Algorithm::Cubic] {
        is_met &= fairness(algorithm, seeds);
        is_met &= table(algorithm, seeds);
    }
    if !is_met {
        println!("a goal is not met");
        std::process::exit(1);
    }
}
