use super::*;
use crate::bus::memfd::{self, Pages};

fn file(octets: u64) -> OwnedFd {
    memfd::create("test", octets, Pages::Normal).expect("a memfd")
}

/// As `include/uapi/linux/vfio.h` has them: `_IO(';', 100 + n)`.
#[test]
fn ioctls_have_their_numbers() {
    let numbers = [VFIO_DEVICE_RESET, VFIO_IOMMU_GET_INFO, VFIO_IOMMU_MAP_DMA];
    assert_eq!(numbers, [0x3b6f, 0x3b70, 0x3b71]);
    assert_eq!(size_of::<vfio_iommu_type1_dma_map>(), 32);
}

/// A file stands for the device's: its second page is BAR0.
#[test]
fn mapped_registers_are_little_endian_doublewords() {
    let device = file(8192);
    let registers = MappedRegisters::map(device.as_fd(), 4096, 4096).expect("maps");
    registers.write32(0xffc, 0x0403_0201);
    let mut octets = [0; 4];
    rustix::io::pread(&device, &mut octets, 8188).expect("reads");
    assert_eq!(octets, [1, 2, 3, 4]);
    rustix::io::pwrite(&device, &[0x0d, 0x0c, 0x0b, 0x0a], 4096).expect("writes");
    assert_eq!(registers.read32(0), 0x0a0b_0c0d);
}

#[test]
#[should_panic(expected = "register 0x1000 is in the BAR")]
fn a_register_after_the_map_is_not_accessed() {
    let registers = MappedRegisters::map(file(8192).as_fd(), 0, 4096).expect("maps");
    registers.read32(0x1000);
}

#[test]
#[should_panic(expected = "a doubleword at 0x2")]
fn a_register_that_is_not_aligned_is_not_accessed() {
    let registers = MappedRegisters::map(file(4096).as_fd(), 0, 4096).expect("maps");
    registers.write32(2, 0);
}

#[test]
fn a_map_is_the_part_of_the_file_that_was_asked_for() {
    let file = file(3 * 4096);
    let clone = file.try_clone().expect("a clone");
    let memory = SharedMemory::map(clone, 4096, 4096, Access::ReadWrite).expect("maps");
    memory.write(4095, &[0x77]);
    let mut octets = [0; 3 * 4096];
    rustix::io::pread(&file, &mut octets, 0).expect("reads");
    let written: Vec<_> = (0..octets.len()).filter(|at| octets[*at] != 0).collect();
    assert_eq!(written, [8191]);
    assert_eq!((memory.octets(), memory.file_offset()), (4096, 4096));
}

#[test]
#[should_panic(expected = "8 octets at 0xff9 are in a map of 4096")]
fn octets_after_a_map_are_not_accessed() {
    let memory = SharedMemory::map(file(8192), 0, 4096, Access::ReadWrite).expect("maps");
    memory.at(0xff9, 8);
}
