//! Goodput over a simulated link, and how fairly connections share one: `cargo run --release -p
//! rnic-tcp --example link [SEEDS]`.
//!
//! Each figure is the least of ten seeds, or of as many as are asked for. The bottleneck carries
//! 100 Mb/s, frames of 1,514 octets; its queue holds one bandwidth-delay product, at least 32 KiB.
//! Octets are not compared here, every other invariant of the tests' pair is.
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
    pair.ends.iter_mut().for_each(|end| end.compares = false);
    pair
}

/// Records for as long as the run lasts.
fn refill(pair: &mut Pair) {
    let waiting = pair.ends[CLIENT].waiting.len();
    if waiting < 10_000 {
        pair.ends[CLIENT].send((waiting..20_000).map(|_| RECORD_OCTETS));
    }
}

/// Octets a second after a start of `time_us / 4`.
fn goodput(path: Path, algorithm: Algorithm, seed: u64, time_us: u64) -> f64 {
    let mut pair = begin(path, algorithm, seed);
    let mut received = 0;
    for quarter in 0..4 {
        for _ in 0..100 {
            refill(&mut pair);
            pair.drive_for(time_us / 400);
        }
        if quarter == 0 {
            received = pair.ends[SERVER].received;
        }
    }
    (pair.ends[SERVER].received - received) as f64 * 1e6 / (time_us * 3 / 4) as f64
}

fn least(path: Path, algorithm: Algorithm, time_us: u64, seeds: u64) -> f64 {
    let found = (0..seeds).map(|seed| goodput(path, algorithm, seed, time_us));
    found.fold(f64::INFINITY, f64::min)
}

/// Mathis: segments a round trip at a loss rate, with an ACK for every second segment.
fn mathis(path: Path) -> f64 {
    let rtt = (2 * path.delay_us) as f64 / 1e6;
    let rate = f64::from(path.loss) / 1e6;
    f64::from(RECORD_OCTETS) / rtt * (0.75 / rate).sqrt()
}

fn table(algorithm: Algorithm, seeds: u64) {
    println!("{algorithm:?}: goodput of the bottleneck; of Mathis' bound where that is less");
    println!(
        "{:>12} {:>9} {:>9} {:>12} {:>12} {:>12}",
        "loss", "reorder", "double", "10 KB", "1 MB", "10 MB"
    );
    let most = OCTETS_A_SECOND as f64 * f64::from(RECORD_OCTETS) / FRAME_OCTETS as f64;
    for (loss, reordering, duplication) in [
        (0, 0, 0),
        (1_000, 0, 0),
        (10_000, 0, 0),
        (50_000, 0, 0),
        (0, 10_000, 0),
        (0, 100_000, 0),
        (0, 0, 10_000),
        (10_000, 10_000, 10_000),
    ] {
        let percent = |rate: u32| format!("{} %", f64::from(rate) / 10_000.0);
        print!(
            "{:>12} {:>9} {:>9}",
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
            let found = least(path, algorithm, seconds * 1_000_000, seeds);
            let bound = if loss > 0 {
                mathis(path).min(most)
            } else {
                most
            };
            let name = if bound < most { "M" } else { "" };
            print!(" {:>12}", format!("{:.1} %{name}", found * 100.0 / bound));
        }
        println!();
    }
}

/// Jain's index of four connections over one bottleneck, for 60 s; the median. Their delays differ
/// by up to a frame's time, as hosts' do, or losses would fall on the same one each time.
fn fairness(algorithm: Algorithm, seeds: u64) {
    let mut found: Vec<f64> = (0..seeds).map(|seed| jain(algorithm, seed)).collect();
    found.sort_by(f64::total_cmp);
    let (least, median) = (found[0], found[found.len() / 2]);
    println!("{algorithm:?}: Jain index, median {median:.3}, least {least:.3}");
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
    for algorithm in [Algorithm::NewReno, Algorithm::Cubic] {
        fairness(algorithm, seeds);
        table(algorithm, seeds);
    }
}
