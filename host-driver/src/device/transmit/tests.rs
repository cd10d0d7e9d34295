//! The rings of an open device.
use super::*;
use crate::device::access::DmaBuffer;
use crate::device::config::Config;
use crate::device::error::FrameError;
use crate::device::rings::{Piece, TransmitResult};
use crate::testing::memory::Memory;
use crate::testing::transmit::Fate;
use crate::testing::{NoMemory, Tables};
use rnic_abi::registers::{self, TX_CONTROL_EXTENDED_TAGS};

const CONFIG: fn() -> Config = || Config {
    control_units_log2: 4,
    bulk_units_log2: 5,
    max_read_request_octets: 256,
    read_timeout_us: 1234,
    ..Config::default()
};

fn device() -> Device<Tables, Memory> {
    Device::open(Tables::default(), Memory::new(5), CONFIG()).expect("opens")
}

fn frame<'a>(pieces: &'a [Piece<'a>], cookie: u64) -> TransmitFrame<'a> {
    TransmitFrame {
        pieces,
        checksum: None,
        crc: None,
        cookie,
    }
}

const HEADER: [Piece; 1] = [Piece::Octets(&[1; 60])];

#[test]
fn rings_are_set_up_in_memory_of_their_own() {
    let mut device = device();
    let bar = device.bar.double();
    assert_eq!(bar.transmit.setups, 2);
    assert_eq!(bar.registers[&registers::READ_MAX_REQUEST], 1);
    assert_eq!(bar.registers[&registers::READ_TIMEOUT], 1234);
    let mut ends = 0;
    for (ring, units_log2) in [(0, 4), (1, 5)] {
        let bar = device.bar.double();
        let value = |register| bar.registers[&registers::tx_register(ring, register)];
        assert_eq!(value(registers::TX_UNITS_LOG2), units_log2);
        let [base, report] = [registers::TX_BASE_LOW, registers::TX_REPORT_LOW].map(value);
        let DmaBuffer { address, octets } = device.transmit_rings[ring as usize]
            .as_ref()
            .expect("it is on")
            .buffer();
        assert_eq!((u64::from(base), base % 4096, report % 64), (address, 0, 0));
        assert!(report >= base + (32 << units_log2) && (report as usize) < base as usize + octets);
        assert!(address >= ends, "each has its own");
        ends = address + octets as u64;
    }
}

#[test]
fn a_ring_without_units_is_off() {
    let opened = Device::open(Tables::default(), Memory::new(3), Config::default());
    let mut device = opened.expect("opens with three rings");
    for ring in TransmitRing::ALL {
        let off = Err(DriverError::TransmitOff { ring });
        assert_eq!(device.transmit(ring, &frame(&HEADER, 0)), off);
        assert_eq!(device.restart_transmit(ring), off);
    }
    assert_eq!(device.poll_transmitted(), Ok(None));
    let bar = device.bar.double();
    assert_eq!(bar.transmit.setups, 0);
    assert!(!bar.registers.contains_key(&registers::READ_TIMEOUT));
}

/// All that the device wrote becomes visible.
fn see_all(memory: &mut Memory) {
    for (address, word) in memory.pending.take() {
        memory.write(address, &word.to_le_bytes());
    }
}

#[test]
fn results_of_control_frames_come_first() {
    let mut device = device();
    for ring in [TransmitRing::Bulk, TransmitRing::Control] {
        let cookie = u64::from(ring.number());
        assert_eq!(device.transmit(ring, &frame(&HEADER, cookie)), Ok(()));
        let bar = device.bar.double();
        let sent = bar.transmit.step(&device.dma, ring, Fate::Sent);
        assert_eq!(sent, Some(vec![1; 60]));
    }
    see_all(&mut device.dma);
    for ring in [TransmitRing::Control, TransmitRing::Bulk] {
        let sent = Transmitted {
            ring,
            cookie: u64::from(ring.number()),
            result: TransmitResult::Sent,
        };
        assert_eq!(device.poll_transmitted(), Ok(Some(sent)));
    }
    assert_eq!(device.poll_transmitted(), Ok(None));
}

#[test]
fn a_ring_that_broke_does_not_hide_the_results_of_the_other() {
    let mut device = device();
    for ring in TransmitRing::ALL {
        assert_eq!(device.transmit(ring, &frame(&HEADER, 7)), Ok(()));
    }
    let bar = device.bar.double();
    let report = bar.registers[&registers::TX_REPORT_LOW];
    bar.transmit
        .step(&device.dma, TransmitRing::Bulk, Fate::Sent);
    see_all(&mut device.dma);
    device.dma.write(u64::from(report), &9u32.to_le_bytes());
    let first = device.poll_transmitted().expect("it is of the other ring");
    assert_eq!(first.map(|first| first.ring), Some(TransmitRing::Bulk));
    let broken = device.poll_transmitted();
    let ring = TransmitRing::Control;
    let what = "the head";
    let error = DriverError::TransmitReport {
        ring,
        what,
        value: 9,
    };
    assert_eq!(broken, Err(error));
}

#[test]
fn a_stopped_ring_is_restarted() {
    let mut device = device();
    let ring = TransmitRing::Control;
    let running = Err(DriverError::TransmitRunning { ring });
    assert_eq!(device.restart_transmit(ring), running);
    assert_eq!(device.transmit(ring, &frame(&HEADER, 7)), Ok(()));
    let bar = device.bar.double();
    bar.transmit.step(&device.dma, ring, Fate::Stopped);
    see_all(&mut device.dma);
    assert_eq!(device.restart_transmit(ring), Ok(()));
    let back = Transmitted {
        ring,
        cookie: 7,
        result: TransmitResult::NotSent,
    };
    assert_eq!(device.poll_transmitted(), Ok(Some(back)));
    assert_eq!(device.transmit(ring, &frame(&HEADER, 8)), Ok(()));
}

#[test]
fn loopback_leaves_the_rest_of_its_register() {
    let mut device = device();
    let rest = TX_CONTROL_EXTENDED_TAGS;
    device.bar.double().registers.insert(TX_CONTROL, rest);
    for (is_on, expected) in [(true, rest | TX_CONTROL_LOOPBACK), (false, rest)] {
        assert_eq!(device.set_loopback(is_on), Ok(()));
        assert_eq!(device.bar.double().registers[&TX_CONTROL], expected);
    }
}

/// The frame is refused although the device is gone: nothing is asked of it.
#[test]
fn a_frame_is_not_handed_to_a_device_that_is_known_to_be_gone() {
    let opened = Device::open(Tables::default(), NoMemory, CONFIG());
    let mut device = opened.expect("opens");
    device.bar.double().gone_after = Some(0);
    let ring = TransmitRing::Bulk;
    assert_eq!(device.check_present(), Err(DriverError::Gone));
    let accesses = device.bar.double().accesses;
    for _ in 0..100 {
        let sent = device.transmit(ring, &frame(&HEADER, 0));
        assert_eq!(sent, Err(DriverError::Gone));
    }
    let refused = Err(DriverError::Frame(FrameError::Pieces { pieces: 0 }));
    assert_eq!(device.transmit(ring, &frame(&[], 0)), refused);
    assert_eq!(device.set_loopback(true), Err(DriverError::Gone));
    assert_eq!(device.bar.double().accesses, accesses);
}
