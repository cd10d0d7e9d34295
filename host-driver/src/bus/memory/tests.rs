use super::*;
use crate::bus::testing::{Step, TestFunction};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::fs::{ftruncate, memfd_create, MemfdFlags};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

const PAGE: usize = 4096;

fn memory() -> (TestFunction, FunctionMemory) {
    let function = TestFunction::new();
    let owned = PciFunction::new(function.owned()).expect("eventfds");
    let memory = FunctionMemory::new(owned).expect("addresses");
    (function, memory)
}

fn sealed(octets: usize) -> OwnedFd {
    memfd::create("test", octets as u64, Pages::Normal).expect("a memfd")
}

fn reason(result: Result<DmaBuffer, DriverError>) -> String {
    match result {
        Err(DriverError::Memory { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn device_and_driver_see_the_same_octets() {
    let (function, mut memory) = memory();
    for octets in [1, 100, PAGE, 1 << 17] {
        let buffer = memory.allocate("buffer", octets, 64).expect("room");
        let data: Vec<u8> = (0..octets).map(|at| at as u8 ^ 0x5a).collect();
        memory.write(buffer.address, &data);
        assert_eq!(function.inside().device_reads(buffer.address, octets), data);
        function
            .inside()
            .device_writes(buffer.address, &vec![0xee; octets]);
        let mut out = vec![0; octets];
        memory.read(buffer.address, &mut out);
        assert_eq!(out, vec![0xee; octets]);
    }
}

/// Copies are made of words where they are aligned, and of octets at their ends.
#[test]
fn copies_of_any_place_and_length_move_these_octets_alone() {
    let (function, mut memory) = memory();
    let buffer = memory.allocate("buffer", 64, 64).expect("room");
    for from in 0..20 {
        for octets in 0..40 {
            memory.write(buffer.address, &[0x11; 64]);
            let data: Vec<u8> = (0..octets).map(|at| at as u8 | 0x80).collect();
            memory.write(buffer.address + from as u64, &data);
            let mut expected = [0x11; 64];
            expected[from..from + octets].copy_from_slice(&data);
            assert_eq!(function.inside().device_reads(buffer.address, 64), expected);
            let mut out = vec![0; octets];
            memory.read(buffer.address + from as u64, &mut out);
            assert_eq!(out, data, "{octets} octets from {from}");
        }
    }
    memory.write(buffer.address, &[1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(memory.read_u32_acquire(buffer.address + 4), 0x0807_0605);
}

#[test]
fn small_buffers_share_a_map_and_large_ones_have_their_own() {
    let (function, mut memory) = memory();
    let small: Vec<_> = (0..16)
        .map(|_| memory.allocate("ring", PAGE, PAGE as u64).expect("room"))
        .collect();
    let [Step::Map(arena, octets, Access::ReadWrite)] = function.steps()[..] else {
        panic!("one map");
    };
    assert_eq!((arena % ARENA_OCTETS, octets as u64), (0, ARENA_OCTETS));
    let mut addresses: Vec<_> = small.iter().map(|buffer| buffer.address).collect();
    addresses.dedup();
    assert_eq!(addresses.len(), 16);
    assert!(addresses.iter().all(|address| address % PAGE as u64 == 0));
    let large = memory
        .allocate("slots", 4 << 20, PAGE as u64)
        .expect("room");
    let mapped = Step::Map(large.address, 4 << 20, Access::ReadWrite);
    assert_eq!(function.steps(), [mapped]);
    assert_eq!(large.address % LARGE_PAGE_OCTETS, 0);
    memory.free(large);
    assert_eq!(function.steps(), [Step::Unmap(large.address, 4 << 20)]);
    // The arena is unmapped with its last piece.
    for (index, buffer) in small.into_iter().enumerate() {
        assert_eq!(function.steps(), [], "before buffer {index} is free");
        memory.free(buffer);
    }
    assert_eq!(function.steps(), [Step::Unmap(arena, ARENA_OCTETS)]);
    assert!(memory.maps.is_empty());
}

#[test]
fn a_second_arena_is_mapped_when_the_first_is_full() {
    let (function, mut memory) = memory();
    let pieces = (ARENA_OCTETS / PIECE_OCTETS_MAX) as usize;
    for _ in 0..pieces + 1 {
        memory
            .allocate("piece", PIECE_OCTETS_MAX as usize, 1)
            .expect("room");
    }
    let (first, second) = match function.steps()[..] {
        [Step::Map(first, ..), Step::Map(second, ..)] => (first, second),
        ref other => panic!("{other:?}"),
    };
    assert!(
        second >= first + ARENA_OCTETS + PAGE as u64,
        "a gap is between them"
    );
}

#[test]
fn memory_is_zero_when_it_is_used_again() {
    let (function, mut memory) = memory();
    let kept = memory.allocate("kept", 64, 64).expect("room");
    for octets in [1, 64, 100, PAGE, 1 << 18] {
        let first = memory.allocate("first", octets, 64).expect("room");
        memory.write(first.address, &vec![0xff; octets]);
        memory.free(first);
        let second = memory.allocate("second", octets, 64).expect("room");
        assert_eq!(first, second, "first fit");
        let seen = function.inside().device_reads(second.address, octets);
        assert_eq!(seen, vec![0; octets]);
        memory.free(second);
    }
    assert_eq!(function.inside().device_reads(kept.address, 64), [0; 64]);
}

/// Until the device has given memory back, neither its address nor its pages are used again.
#[test]
fn what_the_function_keeps_is_never_used_again() {
    let (function, mut memory) = memory();
    let first = memory.allocate("first", 1 << 18, 1).expect("room");
    memory.write(first.address, b"first");
    function.inside().keeps_maps = true;
    memory.free(first);
    function.inside().keeps_maps = false;
    let second = memory.allocate("second", 1 << 18, 1).expect("room");
    assert!(second.address > first.address + first.octets as u64);
    memory.write(second.address, b"other");
    assert_eq!(function.inside().device_reads(first.address, 5), b"first");
    drop(memory);
    assert_eq!(function.inside().maps.len(), 1);
}

#[test]
fn a_map_that_fails_leaves_nothing_half_done() {
    let (function, mut memory) = memory();
    let before = memory.addresses.clone();
    for (kind, expected) in [
        (
            io::ErrorKind::OutOfMemory,
            "out of memory: the device's memory is locked, and the limit may be too low; \
             `ulimit -l` shows it in KiB, and LimitMEMLOCK= or limits.conf raises it",
        ),
        (
            io::ErrorKind::StorageFull,
            "no storage space: Linux allows no more maps; allocate fewer, larger buffers",
        ),
        (io::ErrorKind::PermissionDenied, "permission denied"),
    ] {
        for octets in [64, 1 << 20] {
            function.inside().map_error = Some(kind);
            let error = memory.allocate("ring", octets, 64).expect_err("it fails");
            assert_eq!(
                error.to_string(),
                format!("failed to give the device {octets} octets of memory for ring: {expected}")
            );
        }
        function.inside().map_error = Some(kind);
        let file = sealed(PAGE);
        let mapped = memory.map_memfd(file.as_fd(), 0, PAGE, Access::Read);
        assert_eq!(reason(mapped), expected);
    }
    assert_eq!(memory.addresses, before);
    assert!(memory.maps.is_empty());
    assert_eq!(function.steps(), []);
    memory.allocate("ring", 64, 64).expect("room");
}

#[test]
fn addresses_run_out_and_come_back() {
    let function = TestFunction::new();
    let end = LOWEST_ADDRESS + 4 * PAGE as u64;
    // Below the lowest address nothing is used; a page and its gap leave two pages.
    function.inside().space.ranges = std::iter::once(0..end).collect();
    let owned = PciFunction::new(function.owned()).expect("eventfds");
    let mut memory = FunctionMemory::new(owned).expect("addresses");
    let file = sealed(4 * PAGE);
    let mut map = |octets| memory.map_memfd(file.as_fd(), 0, octets, Access::ReadWrite);
    assert_eq!(
        reason(map(4 * PAGE)),
        "no free range of bus addresses is large enough; free memory first"
    );
    let first = map(PAGE).expect("room");
    assert_eq!(first.address, LOWEST_ADDRESS);
    let second = map(PAGE).expect("room");
    assert_eq!(second.address, LOWEST_ADDRESS + 2 * PAGE as u64);
    assert!(map(PAGE).is_err());
    memory.free(first);
    let third = memory.map_memfd(file.as_fd(), 0, PAGE, Access::ReadWrite);
    assert_eq!(third.expect("room").address, first.address);
}

#[test]
fn a_page_of_the_bus_may_be_larger_than_the_machines() {
    let function = TestFunction::new();
    function.inside().space.page_octets = 1 << 16;
    let owned = PciFunction::new(function.owned()).expect("eventfds");
    let mut memory = FunctionMemory::new(owned).expect("addresses");
    let buffer = memory.allocate("buffer", (1 << 17) + 1, 1).expect("room");
    let mapped = Step::Map(buffer.address, 3 << 16, Access::ReadWrite);
    assert_eq!(function.steps(), [mapped]);
    assert_eq!(buffer.address % (1 << 16), 0);
}

#[test]
fn memory_of_the_caller_is_mapped_at_one_address() {
    let (function, mut memory) = memory();
    let file = sealed(8 * PAGE);
    let mine = SharedMemory::map(
        file.try_clone().expect("a clone"),
        0,
        8 * PAGE,
        Access::ReadWrite,
    );
    let mine = mine.expect("maps");
    mine.write(2 * PAGE, b"mine");
    let offset = 2 * PAGE as u64;
    let mapped = memory.map_memfd(file.as_fd(), offset, 3 * PAGE, Access::Read);
    let buffer = mapped.expect("maps");
    drop(file);
    assert_eq!(buffer.octets, 3 * PAGE);
    let step = Step::Map(buffer.address, 3 * PAGE, Access::Read);
    assert_eq!(function.steps(), [step]);
    assert_eq!(function.inside().device_reads(buffer.address, 4), b"mine");
    let mut out = [0; 4];
    memory.read(buffer.address, &mut out);
    assert_eq!(&out, b"mine");
    memory.free(buffer);
    let step = Step::Unmap(buffer.address, 3 * PAGE as u64);
    assert_eq!(function.steps(), [step]);
    // It is the caller's again, as it was.
    mine.read(2 * PAGE, &mut out);
    assert_eq!(&out, b"mine");
}

/// A file that the caller may only read is enough for memory that is only read.
#[test]
fn a_file_for_reading_is_mapped_for_reading() {
    let (function, mut memory) = memory();
    let file = sealed(PAGE);
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let for_reading = std::fs::File::open(path).expect("opens");
    let refused = memory.map_memfd(for_reading.as_fd(), 0, PAGE, Access::ReadWrite);
    assert_eq!(reason(refused), "Permission denied (os error 13)");
    assert_eq!(function.steps(), []);
    let mapped = memory.map_memfd(for_reading.as_fd(), 0, PAGE, Access::Read);
    assert!(mapped.is_ok());
}

#[test]
#[should_panic(expected = "memory that is mapped for reading is written")]
fn memory_for_reading_is_not_written() {
    let (_function, mut memory) = memory();
    let file = sealed(PAGE);
    let buffer = memory.map_memfd(file.as_fd(), 0, PAGE, Access::Read);
    memory.write(buffer.expect("maps").address, &[1]);
}

/// DDP-057: what is given to the device is mapped by this process first, all of it, and stays.
#[test]
fn memory_of_the_caller_that_could_vanish_is_refused() {
    let (function, mut memory) = memory();
    let file = sealed(4 * PAGE);
    let mut map =
        |offset, octets| reason(memory.map_memfd(file.as_fd(), offset, octets, Access::ReadWrite));
    for (offset, octets) in [(0, 0), (0, 100), (64, PAGE)] {
        let expected =
            format!("{octets} octets at offset {offset} are not whole pages of 4096 octets");
        assert_eq!(map(offset, octets), expected);
    }
    let beyond = format!(
        "{} octets at offset 4096 are not in a file of 16384",
        4 * PAGE
    );
    assert_eq!(map(PAGE as u64, 4 * PAGE), beyond);
    let last = u64::MAX - PAGE as u64 + 1;
    assert!(map(last, PAGE).ends_with("are not in a file of 16384"));
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let open = memfd_create("open", flags).expect("a memfd");
    ftruncate(&open, PAGE as u64).expect("grows");
    let refused = memory.map_memfd(open.as_fd(), 0, PAGE, Access::ReadWrite);
    assert_eq!(
        reason(refused),
        "the file could shrink while the device uses it: make it with memfd_create and \
         MFD_ALLOW_SEALING, and add F_SEAL_SHRINK"
    );
    assert_eq!(function.steps(), []);
}

/// Both ends are right: a machine may have huge pages or not.
#[test]
fn huge_pages_are_given_or_asked_for() {
    let (function, mut memory) = memory();
    match memory.allocate_huge("buffers", 3 << 20) {
        Ok(buffer) => {
            assert_eq!(
                (buffer.octets, buffer.address % LARGE_PAGE_OCTETS),
                (3 << 20, 0)
            );
            let step = Step::Map(buffer.address, 4 << 20, Access::ReadWrite);
            assert_eq!(function.steps(), [step]);
            memory.free(buffer);
        }
        Err(error) => {
            let text = error.to_string();
            let advice = "set aside huge pages of 2 MiB, as root: `echo COUNT > \
                          /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages`";
            assert!(text.ends_with(advice), "{text}");
            assert_eq!(function.steps(), []);
            println!("SKIPPED: huge pages, as none are set aside");
        }
    }
}

#[test]
#[should_panic(expected = "is not allocated")]
fn what_is_not_allocated_is_not_freed() {
    let (_function, mut memory) = memory();
    let buffer = memory.allocate("buffer", 100, 64).expect("room");
    memory.free(DmaBuffer {
        octets: 64,
        ..buffer
    });
}

#[test]
#[should_panic(expected = "are not mapped")]
fn octets_beyond_a_map_are_not_read() {
    let (_function, mut memory) = memory();
    let buffer = memory.allocate("buffer", 1 << 17, 64).expect("room");
    memory.read(buffer.address + (1 << 17) - 4, &mut [0; 5]);
}

#[test]
fn a_dropped_memory_takes_all_maps_from_the_function() {
    let (function, mut memory) = memory();
    memory.allocate("ring", 64, 64).expect("room");
    memory.allocate("slots", 1 << 20, 64).expect("room");
    drop(memory);
    assert!(function.inside().maps.is_empty());
    assert_eq!(function.steps().last(), Some(&Step::Dropped));
}

#[test]
fn absurd_sizes_are_errors() {
    let (_function, mut memory) = memory();
    for octets in [usize::MAX, usize::MAX / 2] {
        assert!(memory.allocate("all", octets, 64).is_err());
        assert!(memory.allocate_huge("all", octets).is_err());
    }
    assert!(memory.allocate("far", 64, 1 << 63).is_err());
    let none = memory.allocate("none", 0, 64).expect("room");
    memory.free(none);
    assert!(memory.maps.is_empty());
}

/// Whatever is allocated and freed in which order: each buffer keeps its octets, and in the end
/// everything is free. To replay a failure, run this with the seed that it printed alone.
#[test]
fn random_buffers_keep_their_octets() {
    for seed in 0..6 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (function, mut memory) = memory();
        let before = memory.addresses.clone();
        let mut held: Vec<(DmaBuffer, u8)> = Vec::new();
        for step in 0..300 {
            if random.random_bool(0.48) && !held.is_empty() {
                let (buffer, octet) = held.swap_remove(random.random_range(0..held.len()));
                let seen = function
                    .inside()
                    .device_reads(buffer.address, buffer.octets);
                let is_kept = seen.iter().all(|seen| *seen == octet);
                assert!(is_kept, "seed {seed}, step {step}: {buffer:x?}");
                memory.free(buffer);
            } else {
                let octets_log2 = random.random_range(1..18);
                let octets = random.random_range(1..1 << octets_log2);
                let align = 1 << random.random_range(0..14);
                let buffer = memory.allocate("random", octets, align).expect("room");
                assert_eq!(buffer.address % align, 0, "seed {seed}, step {step}");
                let seen = function.inside().device_reads(buffer.address, octets);
                assert!(
                    seen.iter().all(|octet| *octet == 0),
                    "seed {seed}, step {step}"
                );
                memory.write(buffer.address, &vec![step as u8; octets]);
                held.push((buffer, step as u8));
            }
        }
        held.into_iter().for_each(|(buffer, _)| memory.free(buffer));
        assert_eq!(memory.addresses, before, "seed {seed}");
        assert!(function.inside().maps.is_empty(), "seed {seed}");
    }
}
