use super::*;
use crate::bus::testing::TestFolder;
use crate::bus::{connect, open, AnyDevice};
use crate::device::access::{Bar, Dma, DmaBuffer};
use crate::device::config::Config;
use crate::device::error::DriverError;
use crate::device::interrupts::InterruptSource;
use crate::testing::Tables;
use rnic_abi::pci::{BAR0_OCTETS, DEVICE_ID, MSIX_VECTORS, VENDOR_ID};
use rnic_abi::registers::{HOST_RING_BASE_LOW, IDENTITY, IDENTITY_VALUE};
use rnic_vfio_user::protocol::{IRQ_COUNT, REGION_CONFIGURATION};
use rnic_vfio_user::{DmaMap, Errno, Irqs, RegionDescription, Server, Session};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fs::{memfd_create, MemfdFlags};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

/// Registers that only this device has. An echo copies octets within memory, each inverted, and
/// then raises vector [`ECHO_VECTOR`].
const ECHO_FROM: u64 = 0xf00;
const ECHO_TO: u64 = 0xf04;
const ECHO_OCTETS: u64 = 0xf08;
/// Octets echoed; all ones: the device could not access them.
const ECHO_DONE: u64 = 0xf0c;
const ECHO_VECTOR: u32 = 2;
/// A write ends the server.
const END: u64 = 0xf10;

const REGIONS: [RegionDescription; 8] = {
    let mut regions = [RegionDescription::ABSENT; 8];
    regions[0] = RegionDescription::new(BAR0_OCTETS);
    regions[REGION_CONFIGURATION as usize] = RegionDescription::new(256);
    regions
};

/// The device of a test: tables that store what is written, and echoes.
struct Echo {
    tables: Tables,
    echo: HashMap<u64, u32>,
    ids: [u16; 2],
    command: u16,
    resets: usize,
    dma: DmaMap,
    irqs: Irqs,
    /// Ranges of addresses that it was asked to leave.
    quiesced: Vec<RangeInclusive<u64>>,
}

impl Echo {
    fn register(&self, offset: u64) -> u32 {
        self.echo.get(&offset).copied().unwrap_or_default()
    }

    fn echo(&mut self) {
        let [from, to, octets] =
            [ECHO_FROM, ECHO_TO, ECHO_OCTETS].map(|offset| self.register(offset));
        let mut data = vec![0; octets as usize];
        let read = self.dma.read(from.into(), &mut data);
        data.iter_mut().for_each(|octet| *octet = !*octet);
        let written = read.and_then(|()| self.dma.write(to.into(), &data));
        let done = if written.is_ok() { octets } else { u32::MAX };
        self.echo.insert(ECHO_DONE, done);
        self.irqs.trigger(IRQ_MSIX, ECHO_VECTOR);
    }
}

impl rnic_vfio_user::Function for Echo {
    fn regions(&self) -> &[RegionDescription] {
        &REGIONS
    }

    fn irq_counts(&self) -> [u32; IRQ_COUNT as usize] {
        [0, 0, MSIX_VECTORS.into(), 0, 0]
    }

    fn read(&mut self, region: u32, offset: u64, out: &mut [u8]) -> Result<(), Errno> {
        match (region, offset) {
            (0, ECHO_FROM..=ECHO_DONE) if out.len() == 4 => {
                out.copy_from_slice(&self.register(offset).to_le_bytes());
            }
            (0, _) if out.len() == 4 => {
                out.copy_from_slice(&self.tables.read32(offset as u32).to_le_bytes());
            }
            (REGION_CONFIGURATION, 0 | 2 | 4 | 6) if out.len() == 2 => {
                let values = [self.ids[0], self.ids[1], self.command, 0];
                out.copy_from_slice(&values[offset as usize / 2].to_le_bytes());
            }
            _ => return Err(Errno::INVAL),
        }
        Ok(())
    }

    fn write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<(), Errno> {
        match (region, offset, data) {
            (0, _, &[a, b, c, d]) => {
                let value = u32::from_le_bytes([a, b, c, d]);
                match offset {
                    ECHO_FROM..=END => _ = self.echo.insert(offset, value),
                    _ => self.tables.write32(offset as u32, value),
                }
                if offset == ECHO_OCTETS {
                    self.echo();
                }
            }
            (REGION_CONFIGURATION, 4, &[low, high]) => {
                self.command = u16::from_le_bytes([low, high]);
            }
            _ => return Err(Errno::INVAL),
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Errno> {
        self.resets += 1;
        self.command = 0;
        Ok(())
    }

    fn irqs_changed(&mut self, _: &Irqs) {}

    fn quiesce(&mut self, range: RangeInclusive<u64>) {
        self.quiesced.push(range);
    }
}

/// What a test reads of a device when its session has ended.
struct After {
    command: u16,
    resets: usize,
    device_resets: usize,
    quiesced: Vec<RangeInclusive<u64>>,
    /// Maps before the session's end.
    maps: usize,
}

/// Serves one client, in a thread of its own.
struct Served {
    path: PathBuf,
    thread: JoinHandle<After>,
    _folder: TestFolder,
}

impl Served {
    fn start(ids: [u16; 2]) -> Self {
        let folder = TestFolder::new("vfio-user");
        let path = folder.path().join("socket");
        let mut server = Server::bind(&path).expect("a socket");
        server.require_sealed();
        Self {
            path,
            thread: std::thread::spawn(move || serve(&server, ids)),
            _folder: folder,
        }
    }

    fn address(&self) -> String {
        format!("vfio-user:{}", self.path.display())
    }

    fn open(&self) -> AnyDevice {
        open(&self.address(), Config::default()).expect("opens")
    }

    fn end(self) -> After {
        self.thread.join().expect("the server ends with its client")
    }
}

fn wait_readable(file: impl AsFd) {
    let limit = Timespec {
        tv_sec: 30,
        tv_nsec: 0,
    };
    let ready = poll(&mut [PollFd::new(&file, PollFlags::IN)], Some(&limit));
    assert_eq!(ready, Ok(1), "the client does something");
}

fn serve(server: &Server, ids: [u16; 2]) -> After {
    wait_readable(server);
    let session = server.accept().expect("accepts");
    let mut session: Session = session.expect("a client waits");
    let mut echo = Echo {
        tables: Tables::default(),
        echo: HashMap::new(),
        ids,
        command: 0,
        resets: 0,
        dma: session.dma(),
        irqs: session.irqs(),
        quiesced: Vec::new(),
    };
    let maps = loop {
        // The end of the session releases all of them.
        let maps = echo.dma.map_count();
        if echo.echo.contains_key(&END) {
            break maps;
        }
        match session.serve_one(&mut echo) {
            Ok(rnic_vfio_user::Served::Message) => {}
            Ok(rnic_vfio_user::Served::Idle) => wait_readable(&session),
            Err(_) => break maps,
        }
    };
    After {
        command: echo.command,
        resets: echo.resets,
        device_resets: echo.tables.resets,
        quiesced: echo.quiesced,
        maps,
    }
}

/// Have the device echo one buffer into another; the octets that it echoed.
fn echo(bar: &mut impl Bar, from: DmaBuffer, to: DmaBuffer) -> u32 {
    for (register, value) in [
        (ECHO_FROM, from.address as u32),
        (ECHO_TO, to.address as u32),
        (ECHO_OCTETS, from.octets as u32),
    ] {
        bar.write32(register as u32, value);
    }
    bar.read32(ECHO_DONE as u32)
}

#[test]
fn a_served_device_reads_and_writes_memory_and_interrupts() {
    let served = Served::start([VENDOR_ID, DEVICE_ID]);
    let (mut bar, mut memory) = connect(&served.address()).expect("connects");
    assert_eq!(bar.read32(IDENTITY), IDENTITY_VALUE);
    memory.function().enable_interrupts().expect("enables");
    for octets in [3, 100, 5000, 1 << 18] {
        let from = memory.allocate("from", octets, 64).expect("room");
        let to = memory.allocate("to", octets, 64).expect("room");
        let data: Vec<u8> = (0..octets).map(|at| (at * 7) as u8).collect();
        memory.write(from.address, &data);
        assert_eq!(echo(&mut bar, from, to), octets as u32);
        let mut out = vec![0; octets];
        memory.read(to.address, &mut out);
        assert!(
            out.iter().zip(&data).all(|(out, data)| *out == !data),
            "{octets}"
        );
        let function = memory.function();
        let vector = ECHO_VECTOR as u8;
        assert!(function
            .wait(vector, Some(Duration::from_secs(30)))
            .expect("waits"));
        assert!(!function.wait(vector, Some(Duration::ZERO)).expect("waits"));
        assert!(!function.wait(0, Some(Duration::ZERO)).expect("waits"));
        memory.free(to);
        memory.free(from);
        assert_eq!(
            echo(&mut bar, from, to),
            u32::MAX,
            "nothing is there any more"
        );
    }
    drop((bar, memory));
    let after = served.end();
    assert_eq!((after.command, after.resets, after.maps), (0x0406, 1, 0));
}

/// Memory of the caller that the device may read cannot be written by it.
#[test]
fn a_served_device_has_the_access_that_it_was_given() {
    let served = Served::start([VENDOR_ID, DEVICE_ID]);
    let (mut bar, mut memory) = connect(&served.address()).expect("connects");
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create("caller", flags).expect("a memfd");
    rustix::fs::ftruncate(&file, 1 << 16).expect("grows");
    rustix::fs::fcntl_add_seals(&file, rustix::fs::SealFlags::SHRINK).expect("seals");
    rustix::io::pwrite(&file, b"caller's", 8192).expect("writes");
    let read_only = memory.map_memfd(file.as_fd(), 8192, 4096, Access::Read);
    let writable = memory.map_memfd(file.as_fd(), 16384, 4096, Access::ReadWrite);
    let (read_only, writable) = (read_only.expect("maps"), writable.expect("maps"));
    assert_eq!(echo(&mut bar, writable, read_only), u32::MAX);
    assert_eq!(echo(&mut bar, read_only, writable), 4096);
    let mut out = [0; 8];
    rustix::io::pread(&file, &mut out, 16384).expect("reads");
    assert_eq!(out.map(|octet| !octet), *b"caller's");
    memory.free(read_only);
    assert_eq!(echo(&mut bar, read_only, writable), u32::MAX);
    let range = read_only.address..=read_only.address + 4095;
    drop((bar, memory));
    assert_eq!(served.end().quiesced.first(), Some(&range));
}

#[test]
fn a_served_device_is_opened_used_and_closed() {
    let served = Served::start([VENDOR_ID, DEVICE_ID]);
    let mut device = served.open();
    assert_eq!(device.function().vectors(), 8);
    let route = device.route_interrupt(InterruptSource::Event, Some(1));
    assert_eq!(route, Ok(()));
    assert!(device.poll_event().is_none());
    assert!(device.poll_host_frame().is_none());
    assert_eq!(device.check_present(), Ok(()));
    let (mut bar, memory) = device.close().expect("closes");
    assert_eq!(bar.read32(HOST_RING_BASE_LOW), 0, "it was reset");
    drop((bar, memory));
    let after = served.end();
    assert_eq!((after.resets, after.device_resets, after.maps), (1, 2, 0));
}

/// The process of a device may end at any time.
#[test]
fn a_device_whose_server_has_ended_is_gone() {
    let served = Served::start([VENDOR_ID, DEVICE_ID]);
    let mut device = served.open();
    let function = device.function().clone();
    let end = function.lock().write(Region::Bar0, END, &[0; 4]);
    end.expect("the server ends after it");
    let after = served.end();
    assert!(after.maps > 0);
    assert_eq!(device.check_present(), Err(DriverError::Gone));
    assert!(device.poll_event().is_none());
    let buffer = device.dma().allocate("buffer", 1 << 20, 64);
    assert!(matches!(buffer, Err(DriverError::Memory { .. })));
    assert!(matches!(device.close(), Err(DriverError::Gone)));
}

#[test]
fn another_served_function_is_refused() {
    let served = Served::start([VENDOR_ID, DEVICE_ID + 1]);
    let refused = open(&served.address(), Config::default()).expect_err("another");
    assert_eq!(
        refused.to_string(),
        "the function is 1209:0002, a Ferrowarp RNIC is 1209:0001; check the address"
    );
    let after = served.end();
    assert_eq!((after.command, after.resets), (0, 0), "it was left alone");
}

#[test]
fn a_socket_without_a_server_says_what_to_do() {
    let folder = TestFolder::new("no-server");
    let path = folder.path().join("socket");
    let address = format!("vfio-user:{}", path.display());
    let refused = || open(&address, Config::default()).expect_err("nobody serves");
    assert_eq!(
        refused().to_string(),
        format!(
            "there is no socket {}: start the server of the device first, and check the path",
            path.display()
        )
    );
    // The socket of a server that has ended.
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
    let text = refused().to_string();
    let begin = format!(
        "failed to connect to the vfio-user server at {}",
        path.display()
    );
    let end = "; check that it runs and has no other client; who has the device open may have a \
               monitor, which `rnicctl list` finds";
    assert!(text.starts_with(&begin) && text.ends_with(end), "{text}");
    assert!(matches!(refused(), OpenError::Server { .. }));
}
