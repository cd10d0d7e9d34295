//! Frames that the whole device sends, against an independent builder.
use rnic_abi::counters::Counter;
use rnic_capture::pcap::capture_file;
use rnic_driver::{Config, Device, Dma, DmaBuffer, Piece, TransmitFrame, TransmitRing};
use rnic_effort::skipped;
use rnic_sim::{attach, ReadPath, Simulation, SimulationConfig};
use rnic_testbench::transmit::{run, Case, Totals};
use std::cell::RefCell;
use std::process::Command;
use std::rc::Rc;

/// Limits of heads of which none may be sent, and none may be given up.
const NEVER_SENT: [&str; 2] = ["an element without octets", "the end of addresses"];
const NEVER_GIVEN_UP: [&str; 2] = ["a CRC and where a sum starts", "carries of a checksum"];
/// What reads that were spoiled were for.
const SPOILED: [&str; 4] = [
    "a completion of no read",
    "a frame's octets",
    "units of a ring",
    "tags that starve",
];

/// Runs in which every limit is met.
#[track_caller]
fn runs() -> u64 {
    rnic_effort::count("runs", 4, 8)
}

/// Runs of a fixed seed.
fn agrees(width: usize, runs: u64, silicon: bool) {
    let mut totals = Totals::default();
    for number in 0..runs {
        let case = Case {
            seed: 1,
            run: number,
            width,
            silicon,
        };
        let done = run(case).expect("the core is there");
        let differences = done.differences;
        assert!(
            differences.is_empty(),
            "rnic fuzz --transmit --width {width} --seed 1 --only {number}: {differences:#?}"
        );
        totals.add(&done.totals);
    }
    println!("{}", totals.text());
    assert!(totals.checksums > totals.drawn / 2 && totals.crcs > totals.drawn / 4);
    assert!(totals.pieces > 2 * totals.drawn && totals.unreadable > 0);
    for (limit, &[sent, given_up]) in &totals.limits {
        assert_eq!(sent == 0, NEVER_SENT.contains(limit), "{limit}");
        assert_eq!(given_up == 0, NEVER_GIVEN_UP.contains(limit), "{limit}");
    }
    for kind in SPOILED {
        assert!(totals.spoiled.contains_key(kind), "{kind}");
    }
}

#[test]
fn frames_leave_as_they_were_built_64() {
    agrees(64, runs(), false);
}

#[test]
fn frames_leave_as_they_were_built_128() {
    if rnic_effort::is_left_out("W = 128") {
        return;
    }
    agrees(128, 8, false);
}

#[test]
fn frames_leave_as_they_were_built_512() {
    agrees(512, runs(), false);
}

/// tshark, which shares nothing with this repository, finds every FPDU of the conversations among
/// what was sent, and no wrong CRC or checksum.
#[test]
fn an_independent_dissector_finds_the_sums_right() {
    if Command::new("tshark").arg("--version").output().is_err() {
        skipped("an_independent_dissector_finds_the_sums_right", "tshark");
        return;
    }
    let (mut segments, mut fpdus) = (0, 0);
    for number in 0..4 {
        let case = Case {
            seed: 2,
            run: number,
            width: 64,
            silicon: false,
        };
        let done = run(case).expect("the core is there");
        assert_eq!(done.differences, Vec::<String>::new(), "run {number}");
        let path = format!("{}/sent-{number}.pcap", env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(&path, capture_file(&done.sent)).expect("cargo's folder is writable");
        let output = Command::new("tshark")
            .args(["-r", &path, "-V"])
            .args([
                "-o",
                "tcp.check_checksum:TRUE",
                "-o",
                "ip.check_checksum:TRUE",
            ])
            .output()
            .expect("it was there just now");
        let text = String::from_utf8_lossy(&output.stdout);
        let count = |words: &str| text.matches(words).count() as u64;
        assert_eq!(count("(Good CRC32)"), done.totals.fpdus, "{path}");
        for bad in [
            "(Bad CRC32",
            "[Checksum Status: Bad]",
            "[Header checksum status: Bad]",
        ] {
            assert_eq!(count(bad), 0, "{path}: {bad}");
        }
        segments += count("[Checksum Status: Good]");
        fpdus += done.totals.fpdus;
    }
    println!("{segments} checksums, {fpdus} CRCs");
    assert!(
        segments > 100 && fpdus > 20,
        "{segments} checksums, {fpdus} CRCs"
    );
}

const FRAMES: u8 = 6;
const FRAME_OCTETS: usize = 700;
/// Cycles in which whatever a reset left behind would show.
const QUIET_CYCLES: usize = 5_000;

fn frame(number: u8) -> Vec<u8> {
    (0..FRAME_OCTETS).map(|at| number ^ at as u8).collect()
}

/// A reset at any moment of transmission: no write follows it, frames that have begun to leave end
/// with an error, completions for earlier reads are taken for nothing else, and the next owner's
/// frames leave.
#[test]
fn a_reset_in_mid_transmit_leaves_nothing_behind() {
    let reads = ReadPath {
        latency_cycles: 100,
        ..ReadPath::default()
    };
    let simulation = Simulation::new(&SimulationConfig {
        reads,
        ..SimulationConfig::default()
    });
    let simulation = Rc::new(RefCell::new(simulation.expect("the core is there")));
    let (mut bar, mut dma) = attach(&simulation);
    let config = Config {
        control_units_log2: 4,
        bulk_units_log2: 5,
        ..Config::default()
    };
    let (mut cut, mut whole) = (0, 0);
    for round in 0..40 {
        let mut device = Device::open(bar, dma, config).expect("it opens");
        let memory = device.dma().allocate("frames", 8192, 64);
        let memory = memory.expect("memory is there");
        for number in 0..FRAMES {
            let address = memory.address + u64::from(number) * 1024;
            device.dma().write(address, &frame(number));
            let piece = DmaBuffer {
                address,
                octets: FRAME_OCTETS,
            };
            let frame = TransmitFrame {
                pieces: &[Piece::Memory(piece)],
                checksum: None,
                crc: None,
                cookie: 0,
            };
            let ring = TransmitRing::ALL[usize::from(number % 2)];
            device.transmit(ring, &frame).expect("there is room");
        }
        simulation.borrow_mut().run(53 * round);
        (bar, dma) = device.close().expect("the reset ends");
        dma.free(memory);
        let last = simulation.borrow().last_write();
        simulation.borrow_mut().run(QUIET_CYCLES);
        let mut simulation = simulation.borrow_mut();
        assert_eq!(simulation.last_write(), last, "round {round}");
        while let Some(sent) = simulation.next_sent() {
            let is_whole = (0..FRAMES).any(|number| sent.octets == frame(number));
            assert_ne!(is_whole, sent.error, "round {round}");
            *if sent.error { &mut cut } else { &mut whole } += 1;
        }
    }
    println!("{whole} frames left, {cut} were cut");
    assert!(cut > 5 && whole > 5 * cut, "{whole} left, {cut} were cut");
    let simulation = simulation.borrow();
    let records = simulation.complex().monitor().records();
    assert!(records.is_empty(), "{records:?}");
}

/// Read requests that find no credits stop nothing else: frames are received, registers answer.
/// When credits return, transmission goes on.
#[test]
fn blocked_reads_stop_nothing_else() {
    let reads = ReadPath {
        stall: 1.0,
        ..ReadPath::default()
    };
    let simulation = Simulation::new(&SimulationConfig {
        reads,
        ..SimulationConfig::default()
    });
    let simulation = Rc::new(RefCell::new(simulation.expect("the core is there")));
    let (bar, dma) = attach(&simulation);
    let config = Config {
        bulk_units_log2: 5,
        ..Config::default()
    };
    let mut device = Device::open(bar, dma, config).expect("it opens");
    let sent = TransmitFrame {
        pieces: &[Piece::Octets(&[7; 60])],
        checksum: None,
        crc: None,
        cookie: 9,
    };
    let pushed = device.transmit(TransmitRing::Bulk, &sent);
    pushed.expect("there is room");
    for number in 0..20 {
        simulation.borrow_mut().push_frame(frame(number), false);
        simulation.borrow_mut().run(2_000);
        let received = device.poll_host_frame().expect("it was received");
        assert_eq!(received, frame(number));
        assert_eq!(device.counter(Counter::TxFrames), Ok(0));
        assert_eq!(device.poll_transmitted(), Ok(None));
    }
    simulation.borrow_mut().set_read_stall(0.0);
    simulation.borrow_mut().run(2_000);
    let transmitted = device.poll_transmitted().expect("sound reports");
    assert_eq!(transmitted.map(|frame| frame.cookie), Some(9));
    let left = simulation.borrow_mut().next_sent().expect("it left");
    assert_eq!(left.octets, [7; 60]);
}
