//! The vfio-user protocol: serves a PCI function to a virtual machine, or uses one.
//!
//! ```text
//!     client process (QEMU, a test)          |      server process (a device model)
//!                                            |
//!   Client   BAR accesses, maps, eventfds    |   Function   what the device does
//!     |                                      |      ^        |          |
//!     |                                      |   Session   DmaMap      Irqs
//!     |                                      |      ^        |          |
//!   protocol, one socket <--- messages, file descriptors --> |          |
//!                                            |               |          |
//!   memory of the machine <------------------- mapped -------'          |
//!   eventfds <----------------------------------------------------------'
//! ```
//!
//! * **[`Client`]** asks a server for its regions and interrupts, accesses regions, and gives it
//!   memory and eventfds. A server that is dead or wrong is an error, never a wait without end.
//! * **[`Listener`]** is a socket in the file system, for any protocol.
//! * **[`Server`]** and **[`Session`]** answer a client for a [`Function`]. Nothing blocks, and
//!   there is no thread: a device model calls [`Session::serve_one`] between two of its cycles.
//! * **[`DmaMap`]** is how the device reaches the client's memory, **[`Irqs`]** how it interrupts.
//! * **[`protocol`]** has the messages, for both sides and for tests.
//!
//! What a client sends is not trusted: sizes are bounded before memory is given for them, a
//! message that is wrong gets an error reply and the next one is read where it begins, and an
//! access to memory is checked as a whole before an octet moves. Two things are left. A client can
//! take a file away under its mapping, which ends or stops the server; [`Server::require_sealed`]
//! refuses files with which that is possible. And a client can change its memory at any time: what
//! is read once is a copy, what is read twice may differ.
//!
//! Not supported, and refused as the protocol has it: memory by messages (`DMA_READ`,
//! `DMA_WRITE`), regions that the client maps, eventfds in place of region accesses, migration and
//! dirty pages. The client, though, reports what another server's regions let it map.
//!
//! Source: the vfio-user specification, version 0.1, as QEMU's `vfio-user-pci` has it; the
//! structures are those of `linux/vfio.h`.
//!
//! # Example
//!
//! A device that copies eight octets of memory to the next eight, and interrupts.
//!
//! ```
//! use rnic_vfio_user::protocol::{IRQ_COUNT, IRQ_MSIX};
//! use rnic_vfio_user::{
//!     Access, Client, DmaMap, Errno, Function, Irqs, RegionDescription, Server,
//! };
//! use rustix::event::{eventfd, EventfdFlags};
//! use std::ops::RangeInclusive;
//! use std::os::fd::AsFd;
//!
//! struct Copier {
//!     dma: DmaMap,
//!     irqs: Irqs,
//! }
//! impl Function for Copier {
//!     fn regions(&self) -> &[RegionDescription] {
//!         const { &[RegionDescription::new(4096)] }
//!     }
//!     fn irq_counts(&self) -> [u32; IRQ_COUNT as usize] {
//!         [0, 0, 1, 0, 0]
//!     }
//!     fn read(&mut self, _region: u32, _offset: u64, out: &mut [u8]) -> Result<(), Errno> {
//!         out.fill(0);
//!         Ok(())
//!     }
//!     fn write(&mut self, _region: u32, _offset: u64, data: &[u8]) -> Result<(), Errno> {
//!         let iova = u64::from_ne_bytes(data.try_into().map_err(|_| Errno::INVAL)?);
//!         let mut octets = [0; 8];
//!         self.dma.read(iova, &mut octets).map_err(|_| Errno::FAULT)?;
//!         self.dma.write(iova + 8, &octets).map_err(|_| Errno::FAULT)?;
//!         self.irqs.trigger(IRQ_MSIX, 0);
//!         Ok(())
//!     }
//!     fn reset(&mut self) -> Result<(), Errno> {
//!         Ok(())
//!     }
//!     fn irqs_changed(&mut self, _irqs: &Irqs) {}
//!     fn quiesce(&mut self, _range: RangeInclusive<u64>) {}
//! }
//!
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("copier");
//! let server = Server::bind(&path)?;
//! let device = std::thread::spawn(move || {
//!     let mut session = loop {
//!         if let Some(session) = server.accept().expect("a socket") {
//!             break session;
//!         }
//!         std::thread::yield_now();
//!     };
//!     let mut copier = Copier { dma: session.dma(), irqs: session.irqs() };
//!     // A model would simulate a cycle where this yields.
//!     while session.serve_one(&mut copier).is_ok() {
//!         std::thread::yield_now();
//!     }
//! });
//!
//! let mut client = Client::connect(&path)?;
//! assert_eq!(client.region_info(0)?.octets, 4096);
//! let memory = tempfile::tempfile()?;
//! memory.set_len(4096)?;
//! rustix::io::pwrite(&memory, b"ferrowrp", 0x100)?;
//! client.map(0x10_0000, 4096, memory.as_fd(), 0, Access::READ_WRITE)?;
//! let interrupt = eventfd(0, EventfdFlags::CLOEXEC)?;
//! client.set_irqs(IRQ_MSIX, 0, &[Some(interrupt.as_fd())])?;
//!
//! client.write(0, 0, &0x10_0100u64.to_ne_bytes())?;
//! let mut count = [0; 8];
//! rustix::io::read(&interrupt, &mut count)?;
//! let mut octets = [0; 16];
//! rustix::io::pread(&memory, &mut octets, 0x100)?;
//! assert_eq!(&octets, b"ferrowrpferrowrp");
//!
//! drop(client);
//! device.join().expect("it ends with its client");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs, unsafe_code)]

pub mod protocol;
mod socket;
#[allow(unsafe_code)]
mod mapped;
mod dma;
mod irqs;
mod function;
mod session;
mod listener;
mod server;
mod client;

pub use client::{Client, ClientError, DeviceInfo, IrqInfo, MmapArea, RegionInfo};
pub use dma::{Access, DmaFault, DmaMap, FILES_MAX, MAPS_MAX};
pub use function::{Function, RegionDescription};
pub use irqs::Irqs;
pub use listener::{Listener, ServerError};
pub use rustix::io::Errno;
pub use server::Server;
pub use session::{Served, Session};
pub use socket::SessionEnd;
