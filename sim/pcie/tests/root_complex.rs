//! What the root complex promises beyond moving octets: order, latency, timeouts, interrupts.

use pcie_sim::configuration::{register, Bar, ConfigurationSpace, Identity, Msix};
use pcie_sim::link::{enumerate, exchange, EnumerationError};
use pcie_sim::memory::{Access, DeviceMemory, MemoryError};
use pcie_sim::tlp::CompletionStatus;
use pcie_sim::{
    BarDevice, Bdf, Direction, Endpoint, Interrupt, Kind, Limits, RootComplex, RootComplexSettings,
    Tlp, TransferError, TransferSize, Violation,
};
use std::cell::RefCell;
use std::rc::Rc;

const FUNCTION: Bdf = Bdf::new(3, 0, 0);
const WINDOW: u64 = 0xfee0_0000;

/// Remembers what is written to it, access by access.
#[derive(Default)]
struct Recorder(Vec<(u8, u64, Vec<u8>)>);

impl BarDevice for Recorder {
    fn read(&mut self, _now: u64, _bar: u8, offset: u64, data: &mut [u8]) {
        for (at, octet) in (offset..).zip(data) {
            *octet = at as u8;
        }
    }

    fn write(&mut self, _now: u64, bar: u8, offset: u64, data: &[u8]) {
        self.0.push((bar, offset, data.to_vec()));
    }
}

fn host(settings: RootComplexSettings) -> RootComplex {
    let mut host = RootComplex::new(settings);
    host.memory_mut()
        .map("memory", 0x1000, 0x1000, Access::READ_WRITE)
        .expect("free");
    host.add_interrupt_window(WINDOW..WINDOW + 0x1000);
    host
}

fn endpoint() -> Endpoint<Recorder> {
    let registers = Bar {
        index: 0,
        octets: 0x1000,
        wide: false,
        prefetchable: false,
    };
    let interrupts = Bar {
        index: 4,
        octets: 0x1000,
        wide: true,
        prefetchable: false,
    };
    let msix = Msix {
        vector_count: 3,
        table_bar: 4,
        table_offset: 0,
        pending_bar: 4,
        pending_offset: 0x800,
    };
    let bars = [registers, interrupts];
    let space = ConfigurationSpace::new(Identity::default(), &bars, Some(msix)).expect("legal");
    Endpoint::new(space, Recorder::default())
}

/// Host, device, and the bases of its two BARs.
fn joined() -> (RootComplex, Endpoint<Recorder>, [u64; 2]) {
    let (mut host, mut device) = (host(RootComplexSettings::default()), endpoint());
    let bars = enumerate(0, &mut host, &mut device, FUNCTION, 0xc000_0100).expect("answers");
    assert_eq!(bars.iter().map(|bar| bar.index).collect::<Vec<_>>(), [0, 4]);
    (host, device, [bars[0].base, bars[1].base])
}

fn mrd(tag: u8, address: u64, octets: usize) -> Tlp {
    Tlp::memory_read(FUNCTION, tag, address, octets).expect("short")
}

fn mwr(address: u64, data: &[u8]) -> Tlp {
    Tlp::memory_write(FUNCTION, address, data).expect("short")
}

#[test]
fn a_read_sees_every_write_before_it_and_none_after() {
    let mut host = host(RootComplexSettings {
        read_latency_ticks: 50,
        ..Default::default()
    });
    host.upstream(0, mwr(0x1004, &[1, 2, 3, 4]));
    host.upstream(0, mrd(0, 0x1004, 4));
    host.upstream(0, mwr(0x1004, &[9, 9, 9, 9]));
    let completion = host.next_downstream(50).expect("ready");
    assert_eq!(completion.payload, [1, 2, 3, 4]);
}

#[test]
fn completions_leave_after_the_latency_and_never_before() {
    let mut host = host(RootComplexSettings {
        read_latency_ticks: 50,
        ..Default::default()
    });
    host.upstream(7, mrd(0, 0x1000, 4));
    assert_eq!(host.next_downstream(56), None);
    assert!(!host.is_idle());
    assert!(host.next_downstream(57).is_some());
    assert!(host.is_idle());
}

#[test]
fn a_completion_does_not_pass_a_write_queued_before_it_was_ready() {
    let mut host = host(RootComplexSettings {
        read_latency_ticks: 50,
        ..Default::default()
    });
    host.upstream(0, mrd(0, 0x1000, 4));
    host.write_bar(49, 0xc000_0000, &[1]);
    host.upstream(49, mrd(1, 0x1000, 4));
    host.write_bar(50, 0xc000_0000, &[2]);
    let kinds: Vec<Kind> = (0..4)
        .filter_map(|_| host.next_downstream(99))
        .map(|tlp| tlp.header.kind)
        .collect();
    assert!(
        matches!(
            kinds[..],
            [Kind::MWr(_), Kind::CplD(_), Kind::MWr(_), Kind::CplD(_)]
        ),
        "{kinds:?}"
    );
}

#[test]
fn requests_without_a_tag_wait_and_let_writes_pass() {
    let limits = Limits {
        tag_count: 1,
        ..Limits::default()
    };
    let mut host = host(RootComplexSettings {
        limits,
        ..Default::default()
    });
    host.read_bar(0, 0xc000_0000, 4);
    host.read_bar(0, 0xc000_0004, 4);
    host.write_bar(0, 0xc000_0000, &[1]);
    assert!(matches!(
        host.next_downstream(0).expect("sent").header.kind,
        Kind::MRd(_)
    ));
    assert!(matches!(
        host.next_downstream(0).expect("sent").header.kind,
        Kind::MWr(_)
    ));
    assert_eq!(host.next_downstream(0), None);
    assert!(!host.is_idle());
}

#[test]
fn a_device_that_never_answers_is_given_up_and_named() {
    let settings = RootComplexSettings {
        completion_timeout_ticks: Some(100),
        ..Default::default()
    };
    let mut host = host(settings);
    let token = host.read_bar(5, 0xc000_0000, 4);
    assert!(host.next_downstream(5).is_some());
    assert_eq!(host.poll(105, token), Ok(None));
    assert_eq!(
        host.poll(106, token),
        Err(TransferError::TimedOut { ticks: 100 })
    );
    assert_eq!(host.poll(106, token), Err(TransferError::UnknownToken));
    assert_eq!(host.monitor().outstanding_count(Direction::Downstream), 1);
    host.monitor_mut().finish(200);
    let violation = host.monitor().records()[0].violation;
    assert_eq!(
        violation,
        Violation::RequestNotCompleted { tag: 0, owed: 4 }
    );
}

#[test]
fn reads_that_nothing_answers_fail_with_unsupported_request() {
    let (mut host, mut device, [_, last]) = joined();
    let outside = host.read_bar(1, last + 0x1000, 4);
    // The first half is answered; the transfer fails all the same.
    let across = host.read_bar(1, last + 0xffe, 4);
    let other = host.read_configuration(1, Bdf::new(3, 0, 1), register::VENDOR_ID);
    exchange(1, &mut host, &mut device);
    let refused = Err(TransferError::Status(CompletionStatus::UnsupportedRequest));
    for token in [outside, across, other] {
        assert_eq!(host.poll(1, token), refused);
    }
    assert_eq!(host.monitor().verdict(), Ok(()), "a refusal breaks no rule");
}

#[test]
fn a_device_without_bus_mastering_sends_no_request() {
    let (mut host, mut device, _) = joined();
    host.write_configuration(1, FUNCTION, register::COMMAND, &[0x02, 0])
        .expect("one dword");
    exchange(1, &mut host, &mut device);
    assert_eq!(
        device.write_memory(0x1000, &[1]),
        Err(TransferError::BusMasterDisabled)
    );
    assert_eq!(
        device.read_memory(1, 0x1000, 1),
        Err(TransferError::BusMasterDisabled)
    );
    assert!(device.raise_interrupt(0));
    assert_eq!(device.next_upstream(1), None);
}

#[test]
fn interrupts_wait_for_bus_mastering() {
    let (mut host, mut device, [_, table]) = joined();
    let entry = [WINDOW as u32, 0, 8, 0].map(u32::to_le_bytes).concat();
    host.write_bar(1, table, &entry);
    let control = register::MSIX_CONTROL;
    host.write_configuration(1, FUNCTION, control, &[0, 0x80])
        .expect("one dword");
    host.write_configuration(1, FUNCTION, register::COMMAND, &[0x02, 0])
        .expect("one dword");
    exchange(1, &mut host, &mut device);
    assert!(device.raise_interrupt(0));
    exchange(2, &mut host, &mut device);
    assert_eq!(host.next_interrupt(), None);
    host.write_configuration(3, FUNCTION, register::COMMAND, &[0x06, 0])
        .expect("one dword");
    exchange(3, &mut host, &mut device);
    assert_eq!(
        host.next_interrupt().map(|interrupt| interrupt.data),
        Some(8)
    );
}

#[test]
fn only_enabled_octets_reach_a_bar() {
    let (mut host, mut device, [base, _]) = joined();
    host.write_bar(1, base + 0x10e, &[1, 2, 3, 4, 5]);
    exchange(1, &mut host, &mut device);
    assert_eq!(device.device().0, [(0, 0x10e, vec![1, 2, 3, 4, 5])]);
    let token = host.read_bar(2, base + 0x203, 3);
    exchange(2, &mut host, &mut device);
    assert_eq!(host.poll(2, token), Ok(Some(vec![3, 4, 5])));
}

#[test]
fn an_interrupt_stays_after_the_writes_before_it() {
    let (mut host, mut device, [_, table]) = joined();
    let entry = [WINDOW as u32 + 0x10, 0, 0x1234_5678, 0]
        .map(u32::to_le_bytes)
        .concat();
    host.write_bar(1, table + 32, &entry);
    host.write_configuration(1, FUNCTION, register::MSIX_CONTROL, &[0, 0x80])
        .expect("one dword");
    exchange(1, &mut host, &mut device);
    device.write_memory(0x1000, &[7; 300]).expect("bus master");
    assert!(device.raise_interrupt(2));
    assert!(!device.raise_interrupt(3), "there are three vectors");
    while host.statistics().interrupts == 0 {
        let tlp = device.next_upstream(9).expect("writes, then the interrupt");
        host.upstream(9, tlp);
    }
    assert_eq!(host.memory().slice(0x1000, 300), Ok(&[7; 300][..]));
    let (requester, address, data) = (FUNCTION, WINDOW + 0x10, 0x1234_5678);
    assert_eq!(
        host.next_interrupt(),
        Some(Interrupt {
            now: 9,
            requester,
            address,
            data
        })
    );
    assert_eq!(host.next_interrupt(), None);
}

#[test]
fn a_masked_vector_is_pending_until_it_is_unmasked_and_then_sent_once() {
    let (mut host, mut device, [_, table]) = joined();
    let masked = [WINDOW as u32, 0, 5, 1].map(u32::to_le_bytes).concat();
    host.write_bar(1, table + 16, &masked);
    host.write_configuration(1, FUNCTION, register::MSIX_CONTROL, &[0, 0x80])
        .expect("one dword");
    exchange(1, &mut host, &mut device);
    device.raise_interrupt(1);
    device.raise_interrupt(1);
    let pending = host.read_bar(2, table + 0x800, 8);
    exchange(2, &mut host, &mut device);
    assert_eq!(
        host.poll(2, pending),
        Ok(Some(vec![0b10, 0, 0, 0, 0, 0, 0, 0]))
    );
    assert_eq!(host.next_interrupt(), None);
    // Function Mask holds back a vector that is not masked itself.
    host.write_configuration(3, FUNCTION, register::MSIX_CONTROL, &[0, 0xc0])
        .expect("one dword");
    host.write_bar(3, table + 16 + 12, &[0]);
    exchange(3, &mut host, &mut device);
    assert_eq!(host.next_interrupt(), None);
    host.write_configuration(4, FUNCTION, register::MSIX_CONTROL, &[0, 0x80])
        .expect("one dword");
    exchange(4, &mut host, &mut device);
    assert_eq!(
        host.next_interrupt().map(|interrupt| interrupt.data),
        Some(5)
    );
    assert_eq!(host.next_interrupt(), None);
    let pending = host.read_bar(5, table + 0x800, 8);
    exchange(5, &mut host, &mut device);
    assert_eq!(host.poll(5, pending), Ok(Some(vec![0; 8])));
    let read_back = host.read_bar(6, table + 16, 16);
    exchange(6, &mut host, &mut device);
    let unmasked = [WINDOW as u32, 0, 5, 0].map(u32::to_le_bytes).concat();
    assert_eq!(host.poll(6, read_back), Ok(Some(unmasked)));
}

#[test]
fn header_dwords_are_applied_like_packets() {
    let mut host = host(RootComplexSettings::default());
    let tlp = mwr(0x1fff, &[0x5a]);
    let packed = tlp.header.pack().expect("legal");
    host.upstream_dwords(0, &packed, tlp.payload.clone());
    assert_eq!(host.memory().slice(0x1fff, 1), Ok(&[0x5a][..]));
    assert_eq!(host.monitor().verdict(), Ok(()));
    // Reserved bits are recorded, and otherwise ignored as section 2.2.1 wants it.
    let reserved = [packed[0] | 1 << 23, packed[1], packed[2] - 0xff8];
    host.upstream_dwords(1, &reserved, tlp.payload);
    assert_eq!(host.memory().slice(0x1007, 1), Ok(&[0x5a][..]));
    assert_eq!(host.statistics().writes, 2);
    let violation = host.monitor().records()[0].violation;
    assert_eq!(
        violation,
        Violation::ReservedBitsSet {
            dword: 0,
            bits: 1 << 23
        }
    );
    host.upstream_dwords(2, &[0xffff_ffff, 0, 0], Vec::new());
    assert_eq!(host.statistics().discarded, 1);
}

#[test]
fn enumeration_names_a_bar_that_does_not_fit() {
    let (mut host, mut device) = (host(RootComplexSettings::default()), endpoint());
    let base = 0xffff_f001;
    let result = enumerate(0, &mut host, &mut device, FUNCTION, base);
    assert_eq!(
        result,
        Err(EnumerationError::NoRoom {
            index: 0,
            octets: 0x1000,
            base
        })
    );
}

#[test]
fn enumeration_carries_the_limits_to_the_device() {
    let limits = Limits {
        max_payload: TransferSize::Octets512,
        max_read_request: TransferSize::Octets4096,
        tag_count: 32,
        ..Limits::default()
    };
    let settings = RootComplexSettings {
        limits,
        ..Default::default()
    };
    let (mut host, mut device) = (host(settings), endpoint());
    enumerate(0, &mut host, &mut device, FUNCTION, 0x8000_0000).expect("answers");
    assert_eq!(device.configuration().limits(), limits);
    assert_eq!(device.bdf(), FUNCTION);
}

/// 16 octets at 0x8000 that are not the model's.
#[derive(Debug, Default)]
struct Foreign(RefCell<[u8; 16]>);

impl Foreign {
    fn range(address: u64, octets: usize) -> Result<std::ops::Range<usize>, MemoryError> {
        let start = address.wrapping_sub(0x8000) as usize;
        match start < 16 && octets <= 16 - start {
            true => Ok(start..start + octets),
            false => Err(MemoryError::Unmapped { address, octets }),
        }
    }
}

impl DeviceMemory for Foreign {
    fn may_write(&self, address: u64, octets: usize) -> Result<(), MemoryError> {
        Self::range(address, octets).map(|_| ())
    }

    fn write(&self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        self.0.borrow_mut()[Self::range(address, data.len())?].copy_from_slice(data);
        Ok(())
    }

    fn read(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        data.copy_from_slice(&self.0.borrow()[Self::range(address, data.len())?]);
        Ok(())
    }
}

#[test]
fn a_device_reads_and_writes_the_memory_it_is_given() {
    let mut host = host(RootComplexSettings::default());
    let foreign = Rc::new(Foreign::default());
    host.set_device_memory(Some(foreign.clone()));
    host.upstream(0, mwr(0x8004, &[1, 2, 3, 4]));
    // One octet too many: none is written. The model's own memory is out of reach.
    host.upstream(1, mwr(0x800d, &[9; 4]));
    host.upstream(2, mwr(0x1000, &[9; 4]));
    assert_eq!(foreign.0.borrow()[4..8], [1, 2, 3, 4]);
    assert_eq!(foreign.0.borrow()[12..], [0; 4]);
    assert_eq!(host.memory().slice(0x1000, 4), Ok(&[0; 4][..]));
    assert_eq!(host.statistics().writes_refused, 2);

    host.upstream(3, mrd(0, 0x8004, 4));
    let completion = host.next_downstream(3).expect("answered");
    assert_eq!(completion.payload, [1, 2, 3, 4]);
    host.upstream(4, mrd(1, 0x8010, 4));
    let refusal = host.next_downstream(4).expect("answered");
    assert!(matches!(refusal.header.kind, Kind::Cpl(_)));

    host.set_device_memory(None);
    host.upstream(5, mwr(0x1000, &[7; 4]));
    assert_eq!(host.memory().slice(0x1000, 4), Ok(&[7; 4][..]));
}
