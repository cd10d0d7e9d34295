//! Memory of the client: one octet, a page and an octet, a gigabyte of which little exists.

use crate::host::{allocate, open, pattern, read, register, Stream};
use crate::server::{with_each, Server};
use rnic_driver::bus::Access;
use rnic_driver::{Completion, DmaBuffer};
use rustix::fs::{fcntl_add_seals, fstat, ftruncate, memfd_create, MemfdFlags, SealFlags};
use std::os::fd::AsFd;
use std::time::Instant;

const GIGABYTE: usize = 1 << 30;

#[test]
fn regions_of_any_size_are_written_to_their_last_octet() {
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let mut device = open(&server);
        let mut stream = Stream::open(&mut device, 2_001, 3);

        // One octet, among others that stay.
        let around = allocate(&mut device, 64);
        let address = around.address + 3;
        register(&mut device, 0x100, DmaBuffer { address, octets: 1 });
        stream.sender.rdma_write(0x100, 0, &[0x5a]);
        stream.settle(&mut device, &mut peer);
        let expected: Vec<u8> = (0..64).map(|at| if at == 3 { 0x5a } else { 0 }).collect();
        assert_eq!(read(&mut device, around), expected);

        // A page and an octet.
        let page = allocate(&mut device, 4_097);
        register(&mut device, 0x200, page);
        stream.sender.rdma_write(0x200, 0, &pattern(1, 4_097));
        stream.settle(&mut device, &mut peer);
        assert!(read(&mut device, page) == pattern(1, 4_097));

        // A gigabyte of the test's own, of which both ends and the middle are written.
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("gigabyte", flags).expect("memory");
        ftruncate(&file, GIGABYTE as u64).expect("it is sparse");
        fcntl_add_seals(&file, SealFlags::SHRINK).expect("it can be sealed");
        let mapped = device
            .dma()
            .map_memfd(file.as_fd(), 0, GIGABYTE, Access::ReadWrite);
        register(&mut device, 0x300, mapped.expect("it is sealed"));
        let places = [0, GIGABYTE / 2 - 500, GIGABYTE - 1_000];
        for (number, at) in places.into_iter().enumerate() {
            stream
                .sender
                .rdma_write(0x300, at as u64, &pattern(number, 1_000));
        }
        stream.settle(&mut device, &mut peer);
        for (number, at) in places.into_iter().enumerate() {
            let mut found = vec![0; 1_000];
            assert_eq!(
                rustix::io::pread(&file, &mut found[..], at as u64),
                Ok(1_000)
            );
            assert!(found == pattern(number, 1_000), "at {at}");
        }
        let blocks = fstat(&file).expect("a file").st_blocks;
        assert!(blocks * 512 < 1 << 20, "{blocks} blocks: it was sparse");

        // An octet beyond the region is refused, and stops the stream.
        stream.sender.rdma_write(0x100, 1, &[0xff]);
        peer.send(stream.frames());
        let refused = crate::host::next_completion(&mut device);
        assert!(matches!(refused, Completion::Error { .. }), "{refused:?}");
        assert_eq!(read(&mut device, around), expected);
        device.close().expect("it answers");
    });
}

#[test]
fn a_thousand_regions_are_registered_and_deregistered() {
    const REGIONS: usize = 1_000;
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let mut device = open(&server);
        let mut stream = Stream::open(&mut device, 2_002, 1);
        let memory = allocate(&mut device, 64 * REGIONS);
        let stag = |number: usize| (number as u32 + 1) << 8 | 0x42;
        let start = Instant::now();
        for number in 0..REGIONS {
            let address = memory.address + 64 * number as u64;
            register(
                &mut device,
                stag(number),
                DmaBuffer {
                    address,
                    octets: 64,
                },
            );
        }
        println!("{:?} for {REGIONS} regions", start.elapsed());
        // The first, the last and one in between are written.
        let written = [0, 500, REGIONS - 1];
        for number in written {
            stream
                .sender
                .rdma_write(stag(number), 0, &pattern(number, 64));
        }
        stream.settle(&mut device, &mut peer);
        let expected: Vec<u8> = (0..REGIONS)
            .flat_map(|number| match written.contains(&number) {
                true => pattern(number, 64),
                false => vec![0; 64],
            })
            .collect();
        assert!(read(&mut device, memory) == expected);
        let start = Instant::now();
        for number in 0..REGIONS {
            let deregistered = device.deregister_region(stag(number));
            assert_eq!(deregistered, Ok(()), "region {number}");
        }
        println!("{:?} for {REGIONS} deregistrations", start.elapsed());
        assert!(device.deregister_region(stag(0)).is_err());
        stream.sender.rdma_write(stag(500), 0, &[0xee; 64]);
        peer.send(stream.frames());
        let refused = crate::host::next_completion(&mut device);
        assert!(matches!(refused, Completion::Error { .. }), "{refused:?}");
        assert!(read(&mut device, memory) == expected);
        device.close().expect("it answers");
    });
}
