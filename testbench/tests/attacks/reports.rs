//! What software relies on when it sends and waits: an interrupt after every report, whenever the
//! one before was sent, and a checksum that begins at any octet.

use crate::bare::{simulation, Bare};
use crate::scene::pattern;
use pcie_sim::memory::Memory;
use rnic_abi::interrupts::{CONTROL_MASKED, ENTRY_OCTETS, TABLE};
use rnic_driver::{
    Bar, Config, InsertChecksum, InterruptSource, Piece, QueueId, TransmitFrame, TransmitRing,
};
use rnic_sim::WriteObserver;
use std::cell::Cell;
use std::rc::Rc;

/// Where the first ring lies.
const FIRST: u64 = 0x1_0000_0000;
/// Where interrupts are written.
const MESSAGE: u64 = 0xfee0_0000;
/// Cycles between a Send and the frame after it: more than the former takes longer to its entry.
const GAPS: usize = 160;
/// Frames before a mask, and cycles from the last one to it: while their interrupts are sent.
const FRAMES: usize = 6;
const MASKS: usize = 200;
/// log2 of the buffers of the queue: one for each gap.
const BUFFERS_LOG2: u32 = 8;

/// Whether the last write was an interrupt.
#[derive(Clone, Debug, Default)]
struct Reported(Rc<Cell<bool>>);

impl WriteObserver for Reported {
    fn written(&mut self, _now: u64, address: u64, _octets: usize, _memory: &Memory) {
        self.0.set(address == MESSAGE);
    }
}

/// Vector 0, which whatever is reported raises, as an operating system sets it up.
fn set_up_vector(bare: &mut Bare) -> Reported {
    let reported = Reported::default();
    {
        let mut simulation = bare.simulation.borrow_mut();
        let window = MESSAGE..MESSAGE + 4;
        simulation.complex_mut().add_interrupt_window(window);
        simulation.set_msix(true, false);
        simulation.observe_writes(Box::new(reported.clone()));
    }
    let entry = [MESSAGE as u32, 0, 1, 0].map(u32::to_le_bytes).concat();
    assert_eq!(entry.len(), ENTRY_OCTETS as usize);
    bare.bar.write(TABLE, &entry);
    for source in [
        InterruptSource::Completion(QueueId::default()),
        InterruptSource::HostFrame,
        InterruptSource::Event,
    ] {
        let routed = bare.device.route_interrupt(source, Some(0));
        routed.expect("there is such a vector");
    }
    reported
}

/// Interrupts since the last call.
fn interrupts(bare: &Bare) -> usize {
    let mut simulation = bare.simulation.borrow_mut();
    let complex = simulation.complex_mut();
    std::iter::from_fn(|| complex.next_interrupt()).count()
}

/// PCI Express 6.1.4: a Send and a host frame raise the same vector, the second one at any cycle
/// around the message of the first.
#[test]
fn each_report_is_followed_by_an_interrupt() {
    let mut bare = Bare::open(simulation(256), Config::default(), FIRST, BUFFERS_LOG2);
    let reported = set_up_vector(&mut bare);
    for gap in 0..GAPS {
        bare.sender.send(b"report");
        bare.send_all();
        bare.simulation.borrow_mut().run(gap);
        let frame = bare.host_frame(60, gap as u8);
        bare.push(&frame, false);
        bare.run_until_idle();
        assert!(
            reported.0.get(),
            "no interrupt after the last report, gap {gap}"
        );
        assert_eq!((bare.received().len(), bare.host_frames().len()), (1, 1));
    }
    bare.assert_clean();
}

/// PCI Express 6.1.4.4: masking holds from the answer of the next read on, whatever the device is
/// at, and whatever the host is slow to take.
#[test]
fn no_interrupt_follows_the_read_after_a_mask() {
    let mut bare = Bare::open(simulation(256), Config::default(), FIRST, 2);
    set_up_vector(&mut bare);
    bare.simulation.borrow_mut().set_stall(0.4);
    let control = TABLE + ENTRY_OCTETS - 4;
    let mut held_back = 0;
    for round in 0..MASKS {
        // A message waits behind the octets of the next frame.
        for _ in 0..FRAMES {
            let frame = bare.host_frame(300, round as u8);
            bare.push(&frame, false);
        }
        bare.simulation.borrow_mut().run(round);
        bare.bar.write32(control, CONTROL_MASKED);
        assert_eq!(bare.bar.read32(control), CONTROL_MASKED);
        interrupts(&bare);
        bare.run_until_idle();
        assert_eq!(interrupts(&bare), 0, "round {round}");
        bare.bar.write32(control, 0);
        bare.run_until_idle();
        held_back += interrupts(&bare);
        assert_eq!(bare.host_frames().len(), FRAMES);
    }
    assert!(held_back > 0, "no interrupt was masked");
}

/// RFC 1071 section 1: a frame without a CRC is summed from any octet on, and sums up to zero.
#[test]
fn a_checksum_begins_at_any_octet() {
    let config = Config {
        bulk_units_log2: 4,
        ..Config::default()
    };
    let mut bare = Bare::open(simulation(256), config, FIRST, 2);
    for start in 0..20 {
        let place = start + 16;
        let mut octets = pattern(100 + start);
        // What software has summed: nothing.
        octets[place..place + 2].fill(0);
        let frame = TransmitFrame {
            pieces: &[Piece::Octets(&octets)],
            checksum: Some(InsertChecksum { start, place }),
            crc: None,
            cookie: 0,
        };
        let pushed = bare.device.transmit(TransmitRing::Bulk, &frame);
        pushed.expect("the ring has room");
        bare.run_until_idle();
        let sent = bare.simulation.borrow_mut().next_sent();
        let sent = sent.expect("it was sent").octets;
        assert_eq!(
            ones_sum(&sent[start..]),
            0xffff,
            "summed from octet {start}"
        );
        assert_eq!(sent[..place], octets[..place]);
        assert_eq!(sent[place + 2..], octets[place + 2..]);
        while bare.device.poll_transmitted().expect("a report").is_some() {}
    }
}

/// Ones' complement sum of 16-bit words, the last one padded.
fn ones_sum(octets: &[u8]) -> u32 {
    let words = octets.chunks(2).map(|word| {
        let low = word.get(1).copied().unwrap_or(0);
        u32::from(u16::from_be_bytes([word[0], low]))
    });
    let sum = words.sum::<u32>();
    let sum = (sum & 0xffff) + (sum >> 16);
    (sum & 0xffff) + (sum >> 16)
}
