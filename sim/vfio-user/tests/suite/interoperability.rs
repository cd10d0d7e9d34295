//! Each end against the other implementation in Rust, the crate `vfio_user` 0.1.7.
//!
//! What of it shapes these tests:
//!
//! - Its client does not look at error replies: a region read that is refused waits for data that
//!   never comes. It is only asked for what succeeds.
//! - Its client takes `resettable` from the flag the wrong way round; the flag is asserted with our
//!   client, and against its server.
//! - Its client's maps are always for reading and writing.
//! - Its constant for unmapping everything is bit 2, where `linux/vfio.h` has bit 1. Its client
//!   never sends it, and its server passes flags on unseen; our client's flag arrives as bit 1.
//! - Its server reports an error of the backend with errno 0, which our client reports as `EIO`.
//! - Its server reads the data of a write after it has checked the region, so a write to a region
//!   it does not have leaves the stream out of step. Only a read is tried there.
//! - Its server sends a file for a region only with a list of areas.
//! - Its server takes one descriptor a message, as its capabilities say: our client sends eight
//!   eventfds in eight messages.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rnic_vfio_user::protocol::{region_flags, set_irqs_flags, unmap_flags, IRQ_INTX, IRQ_MSIX};
use rnic_vfio_user::{Access, Client, ClientError, Errno, Server, SessionEnd};
use vfio_user::{DmaMapFlags, DmaUnmapFlags, ServerBackend};

use crate::common::*;

#[test]
fn their_client_uses_our_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("device");
    let server = Server::bind(&path).expect("bound");
    let server = thread::spawn(move || {
        let mut ready = [rustix::event::PollFd::new(
            &server,
            rustix::event::PollFlags::IN,
        )];
        rustix::event::poll(&mut ready, None).expect("one descriptor");
        let mut session = server.accept().expect("a socket").expect("a client");
        serve(&mut session)
    });
    let mut client = vfio_user::Client::new(&path).expect("connected");
    assert!(!client.resettable(), "inverted: the flag is set");
    let sizes: Vec<u64> = (0..9)
        .map(|i| client.region(i).expect("a region").size)
        .collect();
    assert_eq!(sizes, [4096, 0, 4 << 20, 0, 0, 0, 64, 256, 0]);
    assert_eq!(
        client.region(0).expect("a region").flags,
        region_flags::READ | region_flags::WRITE
    );
    assert_eq!(
        client.region(6).expect("a region").flags,
        region_flags::READ
    );

    let mut identity = [0; 4];
    client
        .region_read(CONFIGURATION, 0, &mut identity)
        .expect("read");
    assert_eq!(identity, [0xf4, 0x1a, 0x0d, 0xf0]);
    client.region_write(0, 0x123, b"octets").expect("written");
    let mut octets = [0; 6];
    client.region_read(0, 0x123, &mut octets).expect("read");
    assert_eq!(&octets, b"octets");

    let memory = memory(2 * PAGE);
    client
        .dma_map(PAGE, 0x1_0000, PAGE, memory.as_raw_fd())
        .expect("mapped");
    let status = |client: &mut vfio_user::Client| {
        let registers = [
            &0x1_0ff0u64.to_ne_bytes()[..],
            &[16, 0, 0, 0],
            &[1, 0, 0, 0],
        ];
        client
            .region_write(0, IOVA, &registers.concat())
            .expect("written");
        let mut status = [0; 4];
        client.region_read(0, STATUS, &mut status).expect("read");
        u32::from_ne_bytes(status)
    };
    assert_eq!(status(&mut client), 0);
    assert!(contents(&memory, 2 * PAGE)[0x1ff0..]
        .iter()
        .all(|octet| *octet == FILL));
    client.dma_unmap(0x1_0000, PAGE).expect("unmapped");
    assert_eq!(status(&mut client), 1);

    let irqs = client.get_irq_info(IRQ_MSIX).expect("information");
    assert_eq!((irqs.index, irqs.flags, irqs.count), (IRQ_MSIX, 1, VECTORS));
    let event = event();
    let flags = set_irqs_flags::DATA_EVENTFD | set_irqs_flags::ACTION_TRIGGER;
    let trigger = |client: &mut vfio_user::Client| {
        client
            .region_write(0, TRIGGER, &3u32.to_ne_bytes())
            .expect("written");
        signals(&event)
    };
    client
        .set_irqs(IRQ_MSIX, flags, 3, 1, &[event.as_raw_fd()])
        .expect("set");
    assert_eq!(trigger(&mut client), 1);
    client
        .set_irqs(IRQ_MSIX, flags, 3, 1, &[])
        .expect("taken away");
    assert_eq!(trigger(&mut client), 0);
    client.reset().expect("reset");
    let mut resets = [0; 4];
    client.region_read(0, RESETS, &mut resets).expect("read");
    assert_eq!(u32::from_ne_bytes(resets), 1);
    client.shutdown().expect("shut down");
    assert_eq!(server.join().expect("no panic"), SessionEnd::Closed);
}

/// What arrived at their server, in order.
#[derive(PartialEq, Debug)]
enum Call {
    Map {
        writable: bool,
        offset: u64,
        address: u64,
        size: u64,
        file: bool,
    },
    Unmap {
        flags: u32,
        address: u64,
        size: u64,
    },
    SetIrqs {
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        files: usize,
    },
    Reset,
}

#[derive(Clone, Default)]
struct Backend {
    calls: Arc<Mutex<Vec<Call>>>,
    memory: Vec<u8>,
}

impl Backend {
    fn record(&self, call: Call) {
        self.calls.lock().expect("no panic").push(call);
    }

    fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls.lock().expect("no panic"))
    }
}

impl ServerBackend for Backend {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        if region == CONFIGURATION {
            return Err(io::ErrorKind::Other.into());
        }
        data.copy_from_slice(&self.memory[offset as usize..][..data.len()]);
        Ok(())
    }

    fn region_write(&mut self, _region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        self.memory[offset as usize..][..data.len()].copy_from_slice(data);
        Ok(())
    }

    fn dma_map(
        &mut self,
        flags: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> io::Result<()> {
        self.record(Call::Map {
            writable: flags.contains(DmaMapFlags::WRITE),
            offset,
            address,
            size,
            file: fd.is_some(),
        });
        Ok(())
    }

    fn dma_unmap(&mut self, flags: DmaUnmapFlags, address: u64, size: u64) -> io::Result<()> {
        let flags = flags.bits();
        self.record(Call::Unmap {
            flags,
            address,
            size,
        });
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.record(Call::Reset);
        Ok(())
    }

    fn set_irqs(
        &mut self,
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        fds: Vec<File>,
    ) -> io::Result<()> {
        let files = fds.len();
        self.record(Call::SetIrqs {
            index,
            flags,
            start,
            count,
            files,
        });
        Ok(())
    }
}

/// Regions as a PCI function has them; half of BAR 0 can be mapped.
fn regions(bar: &OwnedFd) -> Vec<vfio_user::ServerRegion> {
    let access = region_flags::READ | region_flags::WRITE;
    let region = |index: u32| {
        let (size, flags) = match index {
            0 => (PAGE, access | region_flags::MMAP),
            CONFIGURATION => (256, access),
            _ => (0, 0),
        };
        vfio_user::ServerRegion {
            region_info: vfio_bindings::bindings::vfio::vfio_region_info {
                argsz: 32,
                flags,
                index,
                size,
                ..Default::default()
            },
            sparse_areas: Vec::new(),
            mmap_fd: (index == 0).then(|| bar.as_raw_fd()),
        }
    };
    let mut regions: Vec<_> = (0..9).map(region).collect();
    regions[0].sparse_areas.push(vfio_user::SparseArea {
        area: vfio_bindings::bindings::vfio::vfio_region_sparse_mmap_area {
            offset: PAGE / 2,
            size: PAGE / 2,
        },
    });
    regions
}

/// Their server on a thread, with our client connected.
fn their_server() -> (Client, Backend, JoinHandle<()>) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("device");
    let irq = |index: u32| vfio_user::IrqInfo {
        index,
        flags: 1,
        count: if index == IRQ_MSIX { VECTORS } else { 0 },
    };
    let bar = memory(PAGE);
    let irqs = (0..5).map(irq).collect();
    let server = vfio_user::Server::new(&path, true, irqs, regions(&bar)).expect("bound");
    let backend = Backend {
        memory: vec![0; PAGE as usize],
        ..Backend::default()
    };
    let mut served = backend.clone();
    let server = thread::spawn(move || {
        server.run(&mut served).expect("an orderly end");
        drop(bar);
    });
    let mut client = Client::connect(&path).expect("connected");
    client.set_timeout(Duration::from_secs(60));
    (client, backend, server)
}

#[test]
fn our_client_uses_the_regions_of_their_server() {
    let (mut client, _, server) = their_server();
    assert_eq!(client.server_capabilities().max_msg_fds, 1);
    let info = client.device_info().expect("information");
    assert!(info.pci && info.resettable);
    assert_eq!((info.regions, info.irqs), (9, 5));
    let bar = client.region_info(0).expect("information");
    assert_eq!((bar.octets, bar.readable, bar.writable), (PAGE, true, true));
    let areas: Vec<(u64, u64)> = bar.areas.iter().map(|a| (a.offset, a.octets)).collect();
    assert_eq!(areas, [(PAGE / 2, PAGE / 2)]);
    assert_eq!(
        contents(&bar.file.expect("a file"), PAGE),
        [0; PAGE as usize]
    );
    let configuration = client.region_info(CONFIGURATION).expect("information");
    assert!(configuration.octets == 256 && configuration.areas.is_empty());

    client.write(0, 0x123, b"octets").expect("written");
    client.write_posted(0, 0x126, b"OCT").expect("sent");
    let mut octets = [0; 6];
    client.read(0, 0x123, &mut octets).expect("read");
    assert_eq!(&octets, b"octOCT");
    let refused = |result: Result<(), ClientError>| match result {
        Err(ClientError::Refused { errno, .. }) => errno,
        result => panic!("not refused: {result:?}"),
    };
    assert_eq!(refused(client.read(9, 0, &mut octets)), Errno::INVAL);
    assert_eq!(
        refused(client.read(CONFIGURATION, 0, &mut octets)),
        Errno::IO
    );
    client
        .read(0, 0x123, &mut octets)
        .expect("the session goes on");
    drop(client);
    server.join().expect("no panic");
}

#[test]
fn our_client_gives_memory_and_interrupts_to_their_server() {
    let (mut client, backend, server) = their_server();
    let memory = memory(2 * PAGE);
    client
        .map(0x1000, PAGE, memory.as_fd(), PAGE, Access::READ)
        .expect("mapped");
    client
        .map_unreachable(0x2000, PAGE, Access::READ_WRITE)
        .expect("mapped");
    client.unmap(0x1000, PAGE).expect("unmapped");
    client.unmap_all().expect("unmapped");
    let map = |writable, offset, address, file| Call::Map {
        writable,
        offset,
        address,
        size: PAGE,
        file,
    };
    let unmap = |flags, address, size| Call::Unmap {
        flags,
        address,
        size,
    };
    let expected = [
        map(false, PAGE, 0x1000, true),
        map(true, 0, 0x2000, false),
        unmap(0, 0x1000, PAGE),
        unmap(unmap_flags::ALL, 0, 0),
    ];
    assert_eq!(backend.take(), expected);

    let irqs = client.irq_info(IRQ_MSIX).expect("information");
    assert!(irqs.eventfd && irqs.count == VECTORS && !irqs.maskable);
    assert_eq!(client.irq_info(IRQ_INTX).expect("information").count, 0);
    let event = event();
    let one = Some(event.as_fd());
    client
        .set_irqs(IRQ_MSIX, 2, &[one, one, None])
        .expect("set");
    client.disable_irqs(IRQ_MSIX).expect("disabled");
    client.reset().expect("reset");
    let set = |flags, start, count, files| Call::SetIrqs {
        index: IRQ_MSIX,
        flags,
        start,
        count,
        files,
    };
    let expected = [
        set(0x24, 2, 1, 1),
        set(0x24, 3, 1, 1),
        set(0x24, 4, 1, 0),
        set(0x21, 0, 0, 0),
        Call::Reset,
    ];
    assert_eq!(backend.take(), expected);
    drop(client);
    server.join().expect("no panic");
}
