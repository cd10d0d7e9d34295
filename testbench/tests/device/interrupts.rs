//! MSI-X of the whole device: an interrupt comes after what it reports, once for what its vector
//! has raised, and not while it may not.
//!
//! ```text
//!  frames --> device --> host ring, completion queue, events, reports --> memory
//!                 \-----> message (after these) --------------------> interrupt window
//! ```

use rnic_abi::interrupts::{CONTROL_MASKED, ENTRY_OCTETS, PENDING, TABLE, VECTORS};
use rnic_abi::limits::MAX_RECEIVE_WINDOW;
use rnic_driver::{
    Bar, Completion, Config, Device, Dma, InterruptSource, Piece, QueueId, TransmitFrame,
    TransmitRing,
};
use rnic_sim::{attach, SimBar, SimDma, Simulation, SimulationConfig};
use rnic_testbench::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK};
use rnic_testbench::traffic::{Sender, StreamConfig};
use std::cell::RefCell;
use std::rc::Rc;

/// Where interrupts of even and of odd vectors are written: below and above 4 GiB.
const WINDOWS: [u64; 2] = [0xfee0_0000, 0x12_fee0_1000];
const WINDOW_OCTETS: u64 = 0x1000;
/// Cycles of a microsecond at W = 64, and in which a frame is over.
const TICK_CYCLES: u64 = 156;
const SETTLED_CYCLES: usize = 2_000;
const HOST_VECTOR: u8 = 2;
const QUEUE_VECTOR: u8 = 5;
const EVENT_VECTOR: u8 = 6;
const TRANSMIT_VECTOR: u8 = 7;

/// A device with a vector for each source.
struct Interrupted {
    simulation: Rc<RefCell<Simulation>>,
    bar: SimBar,
    device: Device<SimBar, SimDma>,
}

impl Interrupted {
    fn new(width: usize, stall: f64) -> Self {
        let simulation = Simulation::new(&SimulationConfig {
            width,
            stall,
            ..SimulationConfig::default()
        });
        let simulation = Rc::new(RefCell::new(simulation.expect("the core is there")));
        for window in WINDOWS {
            let window = window..window + WINDOW_OCTETS;
            simulation
                .borrow_mut()
                .complex_mut()
                .add_interrupt_window(window);
        }
        simulation.borrow_mut().set_msix(true, false);
        let (mut bar, dma) = attach(&simulation);
        let config = Config {
            bulk_units_log2: 6,
            event_delay_log2: 0,
            ..Config::default()
        };
        let mut device = Device::open(bar.clone(), dma, config).expect("it opens");
        set_up_vectors(&mut bar);
        for (source, vector) in [
            (InterruptSource::HostFrame, HOST_VECTOR),
            (InterruptSource::Completion(QueueId(0)), QUEUE_VECTOR),
            (InterruptSource::Event, EVENT_VECTOR),
            (InterruptSource::Transmitted, TRANSMIT_VECTOR),
        ] {
            let routed = device.route_interrupt(source, Some(vector));
            assert_eq!(routed, Ok(()), "{source:?}");
        }
        Self {
            simulation,
            bar,
            device,
        }
    }

    fn receive(&mut self, frame: Vec<u8>) {
        self.simulation.borrow_mut().push_frame(frame, false);
    }

    /// Vectors of the interrupts so far, each with its cycle.
    fn interrupts(&mut self) -> Vec<(u64, u8)> {
        let mut found = Vec::new();
        while let Some(interrupt) = self.simulation.borrow_mut().complex_mut().next_interrupt() {
            let vector = interrupt.data.wrapping_sub(0x40);
            assert!(vector < VECTORS as u32, "{interrupt:?}");
            assert_eq!(interrupt.address, address(vector), "{interrupt:?}");
            found.push((interrupt.now, vector as u8));
        }
        found
    }

    fn vectors(&mut self) -> Vec<u8> {
        let found = self.interrupts().into_iter();
        found.map(|(_, vector)| vector).collect()
    }

    fn run(&mut self, cycles: usize) {
        self.simulation.borrow_mut().run(cycles);
    }

    /// Run until there is an interrupt; its vector.
    fn next(&mut self) -> u8 {
        for _ in 0..SETTLED_CYCLES {
            self.run(1);
            if let [(_, vector)] = self.interrupts()[..] {
                return vector;
            }
        }
        panic!("no interrupt");
    }

    fn assert_clean(&self) {
        let simulation = self.simulation.borrow();
        let records = simulation.complex().monitor().records();
        assert!(records.is_empty(), "{records:?}");
    }
}

/// Where the message of a vector goes.
fn address(vector: u32) -> u64 {
    WINDOWS[vector as usize % 2] + 4 * u64::from(vector)
}

/// What the operating system does: address and data of each vector, unmasked.
fn set_up_vectors(bar: &mut SimBar) {
    for vector in 0..VECTORS as u32 {
        let entry = TABLE + vector * ENTRY_OCTETS;
        bar.write32(entry, address(vector) as u32);
        bar.write32(entry + 4, (address(vector) >> 32) as u32);
        bar.write32(entry + 8, 0x40 + vector);
        bar.write32(entry + 12, 0);
    }
}

fn control(vector: u8) -> u32 {
    TABLE + u32::from(vector) * ENTRY_OCTETS + 12
}

/// A frame that no connection takes.
fn host_frame(number: u8) -> Vec<u8> {
    let mut frame = vec![number; 200];
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}

fn interrupts_follow(width: usize, stall: f64) {
    let mut host = Interrupted::new(width, stall);
    for number in 0..10 {
        host.receive(host_frame(number));
        assert_eq!(host.next(), HOST_VECTOR);
        let received = host.device.poll_host_frame();
        assert_eq!(received, Some(host_frame(number)), "after its slot");
    }
    let frame = TransmitFrame {
        pieces: &[Piece::Octets(&[9; 64])],
        checksum: None,
        crc: None,
        cookie: 3,
    };
    host.device
        .transmit(TransmitRing::Bulk, &frame)
        .expect("there is room");
    assert_eq!(host.next(), TRANSMIT_VECTOR);
    let transmitted = host.device.poll_transmitted().expect("sound reports");
    assert_eq!(transmitted.map(|frame| frame.cookie), Some(3));

    let stream = StreamConfig::default();
    let builder = FrameBuilder::new(Endpoint::host(1, 40_000), Endpoint::host(2, 4_420));
    let config = builder.connection(&stream, MAX_RECEIVE_WINDOW, 1);
    let connection = host.device.open_connection(&config).expect("there is room");
    host.device
        .open_queue(connection, 0, 3)
        .expect("there is room");
    let buffer = host
        .device
        .dma()
        .allocate("buffer", 64, 64)
        .expect("memory is there");
    host.device
        .post_receive(connection, 0, buffer)
        .expect("there is room");
    let mut sender = Sender::new(stream);
    sender.send(&[1, 2, 3]);
    host.receive(builder.segment(sender.sequence(0), 1, FLAG_ACK, sender.stream()));
    let mut vectors = vec![host.next()];
    if vectors == [QUEUE_VECTOR] {
        let completion = host.device.poll_completion();
        assert!(
            matches!(completion, Some(Completion::Receive { .. })),
            "{completion:?}"
        );
    }
    host.run(SETTLED_CYCLES);
    vectors.extend(host.vectors());
    assert!(vectors.contains(&QUEUE_VECTOR), "{vectors:?}");
    assert!(vectors.contains(&EVENT_VECTOR), "{vectors:?}");
    assert!(host.device.poll_event().is_some());
    assert!(vectors.len() <= 4, "{vectors:?}");
    host.assert_clean();
}

#[test]
fn interrupts_follow_what_they_report_64() {
    interrupts_follow(64, 0.0);
    interrupts_follow(64, 0.7);
}

#[test]
fn interrupts_follow_what_they_report_512() {
    interrupts_follow(512, 0.3);
}

/// Masked by its entry, by the function, or off: no interrupt, and the frame is there all the same.
#[test]
fn masked_vectors_wait() {
    let mut host = Interrupted::new(64, 0.0);
    host.bar.write32(control(HOST_VECTOR), CONTROL_MASKED);
    for number in 0..3 {
        host.receive(host_frame(number));
    }
    host.run(SETTLED_CYCLES);
    assert!(host.vectors().is_empty());
    assert_eq!(host.bar.read32(PENDING), 1 << HOST_VECTOR);
    host.bar.write32(control(HOST_VECTOR), 0);
    host.run(SETTLED_CYCLES);
    assert_eq!(host.vectors(), [HOST_VECTOR], "one for three");
    assert_eq!(host.bar.read32(PENDING), 0);
    host.simulation.borrow_mut().set_msix(true, true);
    host.receive(host_frame(3));
    host.run(SETTLED_CYCLES);
    assert!(host.vectors().is_empty());
    host.simulation.borrow_mut().set_msix(true, false);
    assert_eq!(host.next(), HOST_VECTOR);
    host.simulation.borrow_mut().set_msix(false, false);
    host.receive(host_frame(4));
    host.run(SETTLED_CYCLES);
    assert_eq!((host.vectors(), host.bar.read32(PENDING)), (vec![], 0));
    for number in 0..5 {
        assert_eq!(host.device.poll_host_frame(), Some(host_frame(number)));
    }
    host.assert_clean();
}

/// A vector interrupts once in its hold-off, and the last frame is not forgotten.
#[test]
fn hold_off_joins_interrupts() {
    const MICROSECONDS: u32 = 20;
    let mut host = Interrupted::new(64, 0.0);
    assert_eq!(host.device.set_hold_off(HOST_VECTOR, MICROSECONDS), Ok(()));
    for number in 0..200 {
        host.receive(host_frame(number));
    }
    host.simulation.borrow_mut().run_until_idle();
    host.run(20 * TICK_CYCLES as usize);
    let cycles: Vec<u64> = host
        .interrupts()
        .into_iter()
        .map(|(cycle, _)| cycle)
        .collect();
    let least = u64::from(MICROSECONDS - 1) * TICK_CYCLES;
    assert!(
        cycles.windows(2).all(|pair| pair[1] - pair[0] >= least),
        "{cycles:?}"
    );
    assert!((2..10).contains(&cycles.len()), "{cycles:?}");
    let last_write = host.simulation.borrow().last_write();
    assert!(
        cycles.last().is_some_and(|&last| last >= last_write),
        "{cycles:?}, {last_write}"
    );
}

/// After a reset no vector is unmasked and no source has one.
#[test]
fn a_reset_ends_interrupts() {
    let mut host = Interrupted::new(64, 0.0);
    host.bar.write32(control(HOST_VECTOR), CONTROL_MASKED);
    host.receive(host_frame(0));
    host.run(SETTLED_CYCLES);
    let (bar, dma) = host.device.close().expect("the reset ends");
    host.device = Device::open(bar, dma, Config::default()).expect("it opens");
    assert_eq!(host.bar.read32(PENDING), 0);
    assert_eq!(host.bar.read32(control(EVENT_VECTOR)), CONTROL_MASKED);
    set_up_vectors(&mut host.bar);
    host.receive(host_frame(1));
    host.run(SETTLED_CYCLES);
    assert!(host.vectors().is_empty());
    assert_eq!(host.device.poll_host_frame(), Some(host_frame(1)));
}
