//! A PCI Express transaction-layer model: root complex, endpoint, memory and a monitor.
//!
//! ```text
//!        +-- RootComplex ----------------+              +-- Endpoint ------------------+
//!        |  Memory    regions, access    |   upstream   |  ConfigurationSpace   BARs   |
//!   host |  Monitor   every broken rule  | <----------- |  MsixTable       interrupts  | device
//!        |  Requester BAR accesses, tags | -----------> |  Requester       DMA, tags   |
//!        +-------------------------------+  downstream  +------------------------------+
//! ```
//!
//! It is meant for test benches: put a device under test, such as simulated hardware, in the
//! endpoint's place, hand its packets to [`RootComplex::upstream`] (or, as header dwords, to
//! [`RootComplex::upstream_dwords`]), give it what [`RootComplex::next_downstream`] returns, and
//! ask [`RootComplex::monitor`] at the end whether a rule was broken.
//!
//! * **Packets** ([`tlp`]): values that can hold broken packets too; packed and parsed.
//! * **Rules** ([`check`], [`monitor`], [`Violation`]): each broken rule has a name, and is kept
//!   with its time and packet. Nothing a device sends can make the model panic.
//! * **Memory** ([`memory`]): a write that is not allowed changes no octet.
//! * **The link** ([`flow_control`], [`ordering`]): credits of posted and non-posted requests and
//!   of completions, stalls, and packets that pass each other only where table 2-40 permits it.
//! * **A host as hosts are** ([`RootComplexSettings`], [`Faults`], [`Reset`]): reads answered in
//!   random legal pieces and any legal order, or not at all, poisoned, refused or wrong; resets in
//!   the middle. Off unless asked for.
//! * **Time** is a count of ticks that the caller passes in. There is no clock, no thread, no
//!   input or output, and every random choice follows from a seed or a script ([`choices`]): the
//!   same calls give the same results.
//!
//! Source: PCI Express Base Specification, revision 5.0. Not modelled: data link and physical
//! layer, switches, virtual channels, I/O and locked requests, atomics, prefixes, digests.
//!
//! # Example
//!
//! A device of 4 KiB of registers that fills a host buffer, then interrupts.
//!
//! ```
//! use pcie_sim::configuration::{register, Bar, ConfigurationSpace, Identity, Msix};
//! use pcie_sim::link::{enumerate, exchange};
//! use pcie_sim::memory::Access;
//! use pcie_sim::{BarDevice, Bdf, Endpoint, RootComplex, RootComplexSettings};
//!
//! struct Registers([u8; 4096]);
//! impl BarDevice for Registers {
//!     fn read(&mut self, _now: u64, _bar: u8, offset: u64, data: &mut [u8]) {
//!         data.copy_from_slice(&self.0[offset as usize..][..data.len()]);
//!     }
//!     fn write(&mut self, _now: u64, _bar: u8, offset: u64, data: &[u8]) {
//!         self.0[offset as usize..][..data.len()].copy_from_slice(data);
//!     }
//! }
//!
//! // The device: one BAR, two interrupt vectors in its upper half.
//! let bar = Bar { index: 0, octets: 4096, wide: true, prefetchable: false };
//! let msix = Msix {
//!     vector_count: 2,
//!     table_bar: 0,
//!     table_offset: 0x800,
//!     pending_bar: 0,
//!     pending_offset: 0xc00,
//! };
//! let space = ConfigurationSpace::new(Identity::default(), &[bar], Some(msix))?;
//! let mut device = Endpoint::new(space, Registers([0; 4096]));
//!
//! // The host: a buffer that the device may write, and a place for interrupts.
//! let mut host = RootComplex::new(RootComplexSettings::default());
//! host.memory_mut().map("buffer", 0x10_0000, 0x7f0, Access::WRITE)?;
//! host.add_interrupt_window(0xfee0_0000..0xfee0_1000);
//! let function = Bdf::new(1, 0, 0);
//! let bars = enumerate(0, &mut host, &mut device, function, 0x8000_0000)?;
//!
//! // Vector 1: address, data, unmasked. Then MSI-X Enable.
//! let entry = bars[0].base + 0x800 + 16;
//! let words = [0xfee0_0000u32, 0, 0x41, 0];
//! host.write_bar(1, entry, &words.map(u32::to_le_bytes).concat());
//! host.write_configuration(1, function, register::MSIX_CONTROL, &[0x00, 0x80])?;
//! exchange(1, &mut host, &mut device);
//!
//! // The device writes 300 octets from an odd address on, and interrupts.
//! device.write_memory(0x10_07ed - 300, &[0x5a; 300])?;
//! device.raise_interrupt(1);
//! exchange(2, &mut host, &mut device);
//! assert_eq!(host.memory().slice(0x10_07ed - 300, 300)?, [0x5a; 300]);
//! assert_eq!(host.next_interrupt().map(|interrupt| interrupt.data), Some(0x41));
//! assert!(host.monitor().verdict().is_ok());
//!
//! // One octet past the buffer: refused as a whole, and reported.
//! device.write_memory(0x10_07ee, &[0xff; 3])?;
//! exchange(3, &mut host, &mut device);
//! let record = host.monitor().verdict().unwrap_err();
//! assert_eq!(
//!     record.to_string(),
//!     "tick 3, Upstream: write of 3 octets to 0x1007ee leaves mapped memory"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod tlp;
mod byte_enables;
mod limits;
pub mod choices;
mod reset;
pub mod flow_control;
pub mod ordering;
mod violation;
pub mod check;
pub mod monitor;
pub mod memory;
pub mod split;
pub mod completer;
pub mod requester;
pub mod root_complex;
pub mod configuration;
pub mod msix;
pub mod endpoint;
pub mod link;

pub use byte_enables::ByteEnables;
pub use check::Direction;
pub use completer::CompletionSplit;
pub use configuration::ConfigurationSpace;
pub use endpoint::{BarDevice, Endpoint};
pub use limits::{Limits, ReadCompletionBoundary, TransferSize};
pub use memory::Memory;
pub use monitor::{Monitor, Record};
pub use requester::{Mismatch, Token, TransferError};
pub use reset::Reset;
pub use root_complex::{Fault, Faults, Interrupt, RootComplex, RootComplexSettings};
pub use tlp::{octets_from_dwords, Bdf, Header, Kind, Length, Tlp};
pub use violation::Violation;

/// The code of the readme, which has to compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
