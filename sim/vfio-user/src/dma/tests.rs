use super::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::fs::{fcntl_add_seals, ftruncate, memfd_create, MemfdFlags};

fn memory(octets: u64) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create("guest", flags).expect("memory");
    ftruncate(&file, octets).expect("memory");
    file
}

fn request(address: u64, size: u64, offset: u64, access: Access) -> protocol::DmaMap {
    protocol::DmaMap {
        argsz: 32,
        flags: access.flags(),
        offset,
        address,
        size,
    }
}

fn map(dma: &DmaMap, file: &OwnedFd, request: protocol::DmaMap) -> Result<(), Errno> {
    let file = file.try_clone().expect("a descriptor");
    dma.map(&request, Some(file), false)
}

/// A guest behind an emulated IOMMU maps page by page, out of order.
#[test]
fn all_maps_of_a_file_share_one_mapping() {
    let file = memory(1 << 28);
    let dma = DmaMap::default();
    let lines = || std::fs::read_to_string("/proc/self/maps").expect("text");
    let mappings = || lines().matches("memfd:guest").count();
    for index in 0..MAPS_MAX as u64 {
        let scattered = index * 40_503 % 65_536;
        let page = request(index * 8192, 4096, scattered * 4096, Access::READ_WRITE);
        map(&dma, &file, page).expect("room");
    }
    assert_eq!((dma.map_count(), dma.file_count()), (MAPS_MAX, 1));
    // Other tests of this process map files of this name too, a few.
    assert!(mappings() < 100, "{} mappings", mappings());
    let more = map(&dma, &file, request(1 << 40, 4096, 0, Access::READ));
    assert_eq!(more, Err(Errno::NOSPC));
    dma.write(8192, b"page 1 is far away").expect("mapped");
    let mut octets = [0; 18];
    let read = rustix::io::pread(&file, &mut octets, 40_503 * 4096);
    assert_eq!(read, Ok(18));
    assert_eq!(&octets, b"page 1 is far away");
    dma.remove(&(0..=u64::MAX));
    assert_eq!((dma.map_count(), dma.file_count()), (0, 0));
}

#[test]
fn a_mapping_grows_with_its_file() {
    let file = memory(4096);
    let dma = DmaMap::default();
    map(&dma, &file, request(0, 4096, 0, Access::READ_WRITE)).expect("mapped");
    let past = request(4096, 4096, 4096, Access::READ_WRITE);
    assert_eq!(map(&dma, &file, past), Err(Errno::INVAL));
    ftruncate(&file, 8192).expect("memory");
    map(&dma, &file, past).expect("mapped");
    assert_eq!(dma.file_count(), 1);
    dma.write(4090, &[7; 12]).expect("both are mapped");
    let mut octets = [0; 14];
    rustix::io::pread(&file, &mut octets, 4089).expect("read");
    assert_eq!(octets, [0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0]);
}

#[test]
fn a_file_opened_for_reading_is_mapped_for_reading() {
    let file = memory(4096);
    rustix::io::pwrite(&file, &[9; 4096], 0).expect("written");
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
    let read_only = OwnedFd::from(std::fs::File::open(path).expect("opened"));
    let dma = DmaMap::default();
    let writable = request(0, 4096, 0, Access::READ_WRITE);
    assert_eq!(map(&dma, &read_only, writable), Err(Errno::ACCESS));
    map(&dma, &read_only, request(0, 4096, 0, Access::READ)).expect("mapped");
    let mut octets = [0; 4];
    assert_eq!(dma.read(10, &mut octets), Ok(()));
    assert_eq!(octets, [9; 4]);
    assert_eq!(dma.write(10, &[1]), Err(DmaFault::Forbidden { iova: 10 }));
    // The same file once more, now by a descriptor that can write.
    map(&dma, &file, request(4096, 4096, 0, Access::WRITE)).expect("mapped");
    assert_eq!(dma.file_count(), 1);
    assert_eq!(dma.write(4096, &[1]), Ok(()));
    assert_eq!(dma.read(0, &mut octets), Ok(()));
    assert_eq!(octets, [1, 9, 9, 9]);
}

#[test]
fn what_is_no_memory_is_refused() {
    let dma = DmaMap::default();
    let directory = OwnedFd::from(std::fs::File::open("/proc/self/fd").expect("opened"));
    let null = OwnedFd::from(std::fs::File::open("/dev/zero").expect("opened"));
    for file in [directory, null] {
        let refused = map(&dma, &file, request(0, 1, 0, Access::READ));
        assert_eq!(refused, Err(Errno::INVAL));
    }
    let file = memory(4096);
    for (address, size, offset) in [
        (0, 0, 0),
        (u64::MAX, 2, 0),
        (0, 4097, 0),
        (0, 4096, 1),
        (0, 2, u64::MAX),
        (0, u64::MAX, 0),
    ] {
        let refused = map(&dma, &file, request(address, size, offset, Access::READ));
        assert_eq!(
            refused,
            Err(Errno::INVAL),
            "{address:#x} {size:#x} {offset:#x}"
        );
    }
    for flags in [0, 4, 7, 1 << 31] {
        let odd = protocol::DmaMap {
            flags,
            ..request(0, 4096, 0, Access::READ)
        };
        assert_eq!(map(&dma, &file, odd), Err(Errno::INVAL), "flags {flags:#x}");
    }
    assert_eq!((dma.map_count(), dma.file_count()), (0, 0));
    // The last octets there are.
    map(
        &dma,
        &file,
        request(u64::MAX - 4095, 4096, 0, Access::READ_WRITE),
    )
    .expect("mapped");
    assert_eq!(dma.may_write(u64::MAX - 4095, 4096), Ok(()));
    let past = DmaFault::Unmapped { iova: 0 };
    assert_eq!(dma.write(u64::MAX, &[1, 2]), Err(past));
    assert_eq!(dma.may_read(u64::MAX, u64::MAX), Err(past));
}

#[test]
fn only_sealed_memory_is_taken_if_asked_for() {
    let file = memory(4096);
    let dma = DmaMap::default();
    let whole = request(0, 4096, 0, Access::READ);
    let send = || Some(file.try_clone().expect("a descriptor"));
    assert_eq!(dma.map(&whole, send(), true), Err(Errno::PERM));
    fcntl_add_seals(&file, SealFlags::SHRINK).expect("sealed");
    assert_eq!(dma.map(&whole, send(), true), Ok(()));
}

const SPACE: u64 = 96;
const FILE: u64 = 64;

/// Each octet of the address space: the file, the place in it, and what is allowed.
type Octet = Option<(Option<(usize, u64)>, Access)>;

/// What an access of `octets` must return, looking at one octet after the other.
fn expected(space: &[Octet], iova: u64, octets: u64, asked: Access) -> Result<(), DmaFault> {
    let mut fault = None;
    for iova in iova..iova + octets {
        fault = fault.or(match space.get(iova as usize).copied().flatten() {
            None => Some(DmaFault::Unmapped { iova }),
            Some((_, access)) if !access.allows(asked) => Some(DmaFault::Forbidden { iova }),
            Some((None, _)) => Some(DmaFault::NotReachable { iova }),
            Some(_) => None,
        });
    }
    fault.map_or(Ok(()), Err)
}

/// Maps, unmappings and accesses at random, against an array of octets.
#[test]
fn maps_behave_as_an_array_of_octets() {
    for seed in 0..40 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let files = [memory(FILE), memory(FILE)];
        let mut contents = [[0u8; FILE as usize]; 2];
        let mut space: Vec<Octet> = vec![None; SPACE as usize];
        let dma = DmaMap::default();
        for step in 0..400 {
            let place = format!("seed {seed}, step {step}");
            let iova = random.random_range(0..SPACE);
            let octets = random.random_range(1..=(SPACE - iova).min(24));
            let touched = iova as usize..(iova + octets) as usize;
            match random.random_range(0..4) {
                0 => {
                    let access = Access {
                        read: random.random_bool(0.8),
                        write: random.random_bool(0.8),
                    };
                    let offset = random.random_range(0..=FILE - octets);
                    let file = [Some(0), Some(1), None][random.random_range(0..3)];
                    let send = file.map(|file: usize| files[file].try_clone().expect("one"));
                    let result = dma.map(&request(iova, octets, offset, access), send, false);
                    let free = space[touched.clone()].iter().all(Option::is_none);
                    let wanted = match access.flags() {
                        0 => Err(Errno::INVAL),
                        _ if !free => Err(Errno::EXIST),
                        _ => Ok(()),
                    };
                    assert_eq!(result, wanted, "{place}");
                    for (at, octet) in touched.enumerate().filter(|_| wanted.is_ok()) {
                        let file = file.map(|file| (file, offset + at as u64));
                        space[octet] = Some((file, access));
                    }
                }
                1 => {
                    let range = iova..=iova + octets - 1;
                    if let Ok(count) = dma.covered(&range) {
                        let before = dma.map_count();
                        dma.remove(&range);
                        assert_eq!(dma.map_count(), before - count, "{place}");
                        space[touched].fill(None);
                    }
                }
                2 => {
                    let data: Vec<u8> = (0..octets).map(|_| random.random()).collect();
                    let wanted = expected(&space, iova, octets, Access::WRITE);
                    assert_eq!(dma.may_write(iova, octets), wanted, "{place}");
                    assert_eq!(dma.write(iova, &data), wanted, "{place}");
                    for (octet, data) in touched.zip(data).filter(|_| wanted.is_ok()) {
                        let (file, offset) = space[octet].expect("mapped").0.expect("a file");
                        contents[file][offset as usize] = data;
                    }
                }
                _ => {
                    let wanted = expected(&space, iova, octets, Access::READ);
                    let mut out = vec![0xa5; octets as usize];
                    assert_eq!(dma.read(iova, &mut out), wanted, "{place}");
                    for (octet, out) in touched.zip(out) {
                        let file = space[octet].and_then(|(file, _)| file);
                        let held = file.map(|(file, at)| contents[file][at as usize]);
                        let wanted = wanted.map_or(0xa5, |()| held.expect("a file"));
                        assert_eq!(out, wanted, "{place}");
                    }
                }
            }
            for (file, content) in files.iter().zip(&contents) {
                let mut octets = [0; FILE as usize];
                rustix::io::pread(file, &mut octets, 0).expect("read");
                assert_eq!(octets, *content, "{place}");
            }
        }
    }
}

#[test]
fn a_map_is_not_cut_in_two() {
    let dma = DmaMap::default();
    let file = memory(4096);
    map(&dma, &file, request(100, 10, 0, Access::READ)).expect("mapped");
    map(&dma, &file, request(110, 10, 0, Access::READ)).expect("mapped");
    assert_eq!(dma.covered(&(0..=99)), Ok(0));
    assert_eq!(dma.covered(&(100..=119)), Ok(2));
    assert_eq!(dma.covered(&(110..=u64::MAX)), Ok(1));
    for range in [99..=100, 100..=108, 101..=109, 119..=119, 100..=118] {
        assert_eq!(dma.covered(&range), Err(Errno::INVAL), "{range:?}");
    }
}
