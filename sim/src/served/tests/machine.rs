//! A client with memory and eventfds, and the device that it is served, in one thread.
//!
//! ```text
//!   file   [ guard | mapped, for the device to read and write | guard ]
//!   IOVA           ^ IOVA                                     ^ + MAPPED_OCTETS
//! ```
//!
//! Time in the device passes where a test runs it, and a little with each access of BAR0. What the
//! client asks for by messages is answered meanwhile.

use super::super::*;
use pcie_sim::configuration::COMMAND_BUS_MASTER;
use rnic_driver::{Bar, Config, Device, Dma, DmaBuffer, DriverError, InterruptSource};
use rnic_vfio_user::{Access, Client};
use rustix::event::{eventfd, EventfdFlags};
use rustix::fs::{ftruncate, memfd_create, MemfdFlags};
use rustix::io::{pread, pwrite, read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::thread;

/// Bus address of the mapped memory.
pub(super) const IOVA: u64 = 0x1_0000_0000;
/// Octets of it, and of each guard.
pub(super) const MAPPED_OCTETS: u64 = 1 << 20;
pub(super) const GUARD_OCTETS: u64 = 1 << 16;
/// Command: BAR0 answers, memory is reached.
pub(super) const ENABLED: u16 = COMMAND_MEMORY | COMMAND_BUS_MASTER;
/// The vector of frames for the host.
pub(super) const HOST_VECTOR: u8 = 2;
const GUARD: u8 = 0xa5;
const FILE_OCTETS: usize = (2 * GUARD_OCTETS + MAPPED_OCTETS) as usize;

pub(super) type Driver = Device<Registers, Memory>;

/// A client and its device.
pub(super) struct Machine {
    pub(super) simulation: Rc<RefCell<Simulation>>,
    pub(super) device: Rc<RefCell<ServedDevice>>,
    session: Session,
    client: Client,
    file: Rc<OwnedFd>,
}

impl Machine {
    /// A new device with its first client.
    pub(super) fn new() -> Self {
        let simulation = Simulation::new(&crate::SimulationConfig {
            max_payload_octets: 512,
            ..crate::SimulationConfig::default()
        });
        let simulation = Rc::new(RefCell::new(simulation.expect("the core is there")));
        let device = Rc::new(RefCell::new(ServedDevice::new(&simulation)));
        Self::connect(simulation, device)
    }

    /// Another client, with memory of its own, of the same device.
    pub(super) fn next_client(&self) -> Self {
        Self::connect(Rc::clone(&self.simulation), Rc::clone(&self.device))
    }

    fn connect(simulation: Rc<RefCell<Simulation>>, device: Rc<RefCell<ServedDevice>>) -> Self {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        let mut session = Session::over(theirs.into());
        device.borrow_mut().begin(&session);
        let client = answer(&mut session, &device, || Client::over(ours.into()));
        let file = memfd_create("machine", MemfdFlags::CLOEXEC).expect("memory");
        ftruncate(&file, FILE_OCTETS as u64).expect("memory");
        let guard = [GUARD; GUARD_OCTETS as usize];
        for at in [0, GUARD_OCTETS + MAPPED_OCTETS] {
            assert_eq!(pwrite(&file, &guard, at), Ok(guard.len()));
        }
        let mut machine = Self {
            simulation,
            device,
            session,
            client: client.expect("versions agree"),
            file: Rc::new(file),
        };
        let file = Rc::clone(&machine.file);
        let fd = file.as_fd();
        let access = Access::READ_WRITE;
        let mapped =
            machine.call(|client| client.map(IOVA, MAPPED_OCTETS, fd, GUARD_OCTETS, access));
        mapped.expect("it is memory");
        machine
    }

    /// What the client does by messages.
    pub(super) fn call<T: Send>(&mut self, ask: impl FnOnce(&mut Client) -> T + Send) -> T {
        let Self {
            session,
            device,
            client,
            ..
        } = self;
        answer(session, device, move || ask(client))
    }

    pub(super) fn read_configuration(&mut self, offset: u16, octets: usize) -> Vec<u8> {
        let mut out = vec![0; octets];
        let mut device = self.device.borrow_mut();
        let read = device.read(REGION_CONFIGURATION, offset.into(), &mut out);
        read.expect("configuration space answers");
        out
    }

    pub(super) fn write_configuration(&mut self, offset: u16, data: &[u8]) {
        let mut device = self.device.borrow_mut();
        let written = device.write(REGION_CONFIGURATION, offset.into(), data);
        written.expect("configuration space answers");
    }

    pub(super) fn read_bar(&mut self, offset: u64, octets: usize) -> Vec<u8> {
        let mut out = vec![0; octets];
        let read = self.device.borrow_mut().read(0, offset, &mut out);
        read.expect("BAR0 answers");
        out
    }

    pub(super) fn write_bar(&mut self, offset: u64, data: &[u8]) {
        let written = self.device.borrow_mut().write(0, offset, data);
        written.expect("BAR0 answers");
    }

    pub(super) fn set_command(&mut self, command: u16) {
        self.write_configuration(register::COMMAND, &command.to_le_bytes());
    }

    /// An eventfd for each of `vectors`; those of the other vectors stay as they are.
    pub(super) fn assign(&mut self, vectors: &[u8]) -> Vec<Rc<OwnedFd>> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let new = |_| Rc::new(eventfd(0, flags).expect("an eventfd"));
        let events: Vec<Rc<OwnedFd>> = vectors.iter().map(new).collect();
        for (vector, event) in vectors.iter().zip(&events) {
            let event: BorrowedFd = event.as_fd();
            let vector = u32::from(*vector);
            let set = self.call(|client| client.set_irqs(IRQ_MSIX, vector, &[Some(event)]));
            set.expect("there is such a vector");
        }
        events
    }

    /// How often `event` was signalled since it was last asked.
    pub(super) fn signals(&self, event: &OwnedFd) -> u64 {
        let mut count = [0; 8];
        match read(event, &mut count) {
            Ok(8) => u64::from_ne_bytes(count),
            result => {
                assert_eq!(result, Err(Errno::AGAIN));
                0
            }
        }
    }

    /// A driver that has opened the device; its memory begins at [`IOVA`] anew.
    pub(super) fn open(&mut self) -> Driver {
        let config = Config {
            completion_entries_log2: 8,
            host_slots_log2: 6,
            host_slot_octets_log2: 11,
            event_entries_log2: 6,
            ..Config::default()
        };
        let memory = Memory {
            file: Rc::clone(&self.file),
            next: IOVA,
        };
        let opened = Device::open(Registers(Rc::clone(&self.device)), memory, config);
        opened.expect("it opens")
    }

    /// Frames for the host raise [`HOST_VECTOR`].
    pub(super) fn route_host_frames(&mut self, driver: &mut Driver) {
        let routed = driver.route_interrupt(InterruptSource::HostFrame, Some(HOST_VECTOR));
        routed.expect("there is such a vector");
    }

    pub(super) fn push(&mut self, frame: Vec<u8>) {
        self.simulation.borrow_mut().push_frame(frame, false);
    }

    pub(super) fn run(&mut self, cycles: usize) {
        self.device.borrow_mut().run(cycles);
    }

    /// All octets of the file.
    pub(super) fn contents(&self) -> Vec<u8> {
        let mut octets = vec![0; FILE_OCTETS];
        assert_eq!(pread(&*self.file, &mut octets[..], 0), Ok(FILE_OCTETS));
        octets
    }

    /// No octet beside the mapped memory has changed.
    pub(super) fn guards_are_whole(&self) -> bool {
        let octets = self.contents();
        let (below, rest) = octets.split_at(GUARD_OCTETS as usize);
        let (_, above) = rest.split_at(MAPPED_OCTETS as usize);
        below.iter().chain(above).all(|octet| *octet == GUARD)
    }
}

/// Serves messages of `session` until `ask` has its answers.
fn answer<T: Send>(
    session: &mut Session,
    device: &RefCell<ServedDevice>,
    ask: impl FnOnce() -> T + Send,
) -> T {
    thread::scope(|scope| {
        let asks = scope.spawn(ask);
        while !asks.is_finished() {
            let served = session.serve_one(&mut *device.borrow_mut());
            served.expect("the client stays");
            thread::yield_now();
        }
        asks.join().expect("the client does not panic")
    })
}

/// A frame that no connection takes: it goes to the host ring.
pub(super) fn frame(number: u8, octets: usize) -> Vec<u8> {
    let mut frame = vec![number; octets];
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}

/// Octets of which neighbours differ.
pub(super) fn pattern(octets: usize) -> Vec<u8> {
    (0..octets).map(|at| (at * 31 + 7) as u8).collect()
}

/// BAR0 as a driver accesses it.
pub(super) struct Registers(Rc<RefCell<ServedDevice>>);

impl Bar for Registers {
    fn read32(&mut self, offset: u32) -> u32 {
        let mut octets = [0; 4];
        let read = self.0.borrow_mut().read(0, offset.into(), &mut octets);
        read.expect("BAR0 answers");
        u32::from_le_bytes(octets)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        let octets = value.to_le_bytes();
        let written = self.0.borrow_mut().write(0, offset.into(), &octets);
        written.expect("BAR0 answers");
    }
}

/// The mapped memory as a driver allocates and accesses it; nothing is given back.
pub(super) struct Memory {
    file: Rc<OwnedFd>,
    next: u64,
}

impl Dma for Memory {
    fn allocate(&mut self, _: &str, octets: usize, align: u64) -> Result<DmaBuffer, DriverError> {
        let address = self.next.next_multiple_of(align.max(64));
        self.next = address + octets as u64;
        assert!(self.next <= IOVA + MAPPED_OCTETS, "the memory is too small");
        let buffer = DmaBuffer { address, octets };
        self.write(address, &vec![0; octets]);
        Ok(buffer)
    }

    fn free(&mut self, _: DmaBuffer) {}

    fn read_u32_acquire(&self, address: u64) -> u32 {
        let mut octets = [0; 4];
        self.read(address, &mut octets);
        u32::from_le_bytes(octets)
    }

    fn read(&self, address: u64, out: &mut [u8]) {
        let octets = out.len();
        assert_eq!(
            pread(&*self.file, out, address - IOVA + GUARD_OCTETS),
            Ok(octets)
        );
    }

    fn write(&mut self, address: u64, data: &[u8]) {
        let at = address - IOVA + GUARD_OCTETS;
        assert_eq!(pwrite(&*self.file, data, at), Ok(data.len()));
    }
}
