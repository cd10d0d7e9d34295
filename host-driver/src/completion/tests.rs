//! Tests: an entry is taken only when it is whole, whenever the driver looks.
use super::ring::LAST_WORD_OFFSET;
use super::*;
use crate::device::Config;
use crate::error::DriverError;
use crate::testing::memory::{Access, Memory};
use crate::testing::Tables;
use rnic_abi::cqe::{CQE_OCTETS, PHASE};

fn device() -> Device<Tables, Memory> {
    let config = Config {
        completion_entries_log2: 1,
        host_slots_log2: 1,
        ..Config::default()
    };
    Device::open(Tables::default(), Memory::new(2), config).expect("opens")
}

/// Entry `number` of a queue of two, a Read Response of `stag`.
fn entry(number: u32, stag: u32) -> [u32; 8] {
    let phase = if number & 2 == 0 { PHASE } else { 0 };
    [
        KIND_READ_RESPONSE | 5 << 16,
        stag,
        0x10,
        0x20,
        0x30,
        0,
        0,
        phase | number,
    ]
}

fn stag_of(completion: Completion) -> u32 {
    match completion {
        Completion::ReadResponse {
            stag,
            tagged_offset_end,
            sequence_end,
            ..
        } => {
            assert_eq!((tagged_offset_end, sequence_end), (0x20_0000_0010, 0x30));
            stag
        }
        other => panic!("{other:?}"),
    }
}

/// The words of an entry become visible one by one while the driver polls: it takes the entry
/// whole, and only once its phase has turned. A driver that reads the other words first takes old
/// ones.
#[test]
fn an_entry_is_read_only_behind_its_phase() {
    let mut device = device();
    let queue = device.completions.buffer.address;
    for number in 0..7 {
        let place = queue + u64::from(number & 1) * CQE_OCTETS as u64;
        let words = entry(number, 0x100 + number);
        let writes = words
            .iter()
            .zip(0..)
            .map(|(&word, i)| (place + 4 * i, word));
        device.dma.pending.replace(writes.collect());
        device.dma.accesses.borrow_mut().clear();
        let (mut polls, mut found) = (0, None);
        while found.is_none() {
            polls += 1;
            found = device.poll_completion();
        }
        assert_eq!(found.map(stag_of), Some(0x100 + number));
        assert_eq!(polls, 8, "one word a look, the phase last");
        let phase = Access::Acquire(place + LAST_WORD_OFFSET as u64);
        let mut expected = vec![phase; 8];
        expected.push(Access::Read(place, LAST_WORD_OFFSET));
        assert_eq!(*device.dma.accesses.borrow(), expected, "entry {number}");
        assert_eq!(device.poll_completion(), None, "of the pass before");
    }
}

/// The same of a slot of the host ring: frame, then its header.
#[test]
fn a_host_frame_is_read_only_behind_its_phase() {
    let mut device = device();
    let slot = device.host_ring.address;
    let header = [8, 0, 0, PHASE];
    let frame = [(slot + 16, 0x0403_0201), (slot + 20, 0x0807_0605)];
    let header = header
        .iter()
        .zip(0..)
        .map(|(&word, i)| (slot + 4 * i, word));
    device
        .dma
        .pending
        .replace(frame.into_iter().chain(header).collect());
    let mut found = (0..6).map(|_| device.poll_host_frame()).collect::<Vec<_>>();
    assert_eq!(found.pop(), Some(Some(vec![1, 2, 3, 4, 5, 6, 7, 8])));
    assert_eq!(found, vec![None; 5]);
    let accesses = device.dma.accesses.borrow();
    let phases = accesses
        .iter()
        .take_while(|&&access| access == Access::Acquire(slot + 12));
    assert_eq!(phases.count(), 6);
    assert_eq!(
        accesses[6..],
        [Access::Read(slot, 4), Access::Read(slot + 16, 8)]
    );
}

#[test]
fn without_memory_for_its_rings_a_device_is_not_opened() {
    for (allocations, missing) in [(0, "completion queue"), (1, "host receive ring")] {
        let memory = Memory::new(allocations);
        let opened = Device::open(Tables::default(), memory, Config::default());
        let error = opened.expect_err("there is no memory");
        let DriverError::OutOfMemory { name, octets } = &error else {
            panic!("{error}");
        };
        assert!(name == missing && *octets > 0, "{error}");
        assert!(error.to_string().contains(missing));
    }
}
