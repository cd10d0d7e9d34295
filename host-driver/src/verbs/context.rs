//! The device, shared by everything that is made of it.

use super::completion_queue::CompletionQueue;
use super::events::CompletionEvents;
use super::frames::{self, Frame};
use super::ledger::Core;
use super::memory::Memory;
use super::protection_domain::ProtectionDomain;
use super::refused::Refused;
use crate::bus::{self, Access, FunctionBar, FunctionMemory, OpenError};
use crate::device::access::{Accesses, Bar, Dma};
use crate::device::config::Config;
use crate::device::counters::InUse;
use crate::device::error::DriverError;
use crate::device::ids::TransmitRing;
use crate::device::rings::{Event, Transmitted};
use crate::device::Device;
use crate::monitor::Monitor;
use rnic_abi::counters::Counter;
use rnic_abi::sizes::Sizes;
use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// An open device. Clones are the same one. It is reset and given up when the last clone and the
/// last object made of it have gone, or by [`Context::close`].
///
/// ```no_run
/// use rnic_driver::verbs::Context;
/// use rnic_driver::{Config, DriverError};
///
/// let context = Context::open("vfio-user:/run/rnic.sock", Config::default())?;
/// let domain = context.protection_domain()?;
/// let refused = context.close().expect_err("there is a domain");
/// println!("{refused}"); // the device is in use by Protection Domain 0; close these first
/// drop(domain);
/// let context = refused.object.expect("it is open");
/// context.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Context<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    core: Arc<Core<B, D>>,
}

impl Context {
    /// Open the device at `address` ([`bus::open`]).
    ///
    /// # Errors
    /// As there.
    pub fn open(address: &str, config: Config) -> Result<Self, OpenError> {
        Ok(Self::new(bus::open(address, config)?)?)
    }

    /// As [`FunctionMemory::allocate_huge`].
    ///
    /// # Errors
    /// [`DriverError::Memory`].
    pub fn allocate_huge(&self, octets: usize) -> Result<Memory, DriverError> {
        Memory::make(&self.core, octets, Access::ReadWrite, |dma| {
            dma.allocate_huge("memory", octets)
        })
    }

    /// Give the device memory of the caller, as [`FunctionMemory::map_memfd`]. With
    /// [`Access::Read`] it can only be sent ([`Memory::part`]), or be a region that peers only
    /// read: the IOMMU refuses the device's writes.
    ///
    /// # Errors
    /// [`DriverError::Memory`].
    pub fn map_memfd(
        &self,
        file: BorrowedFd,
        offset: u64,
        octets: usize,
        access: Access,
    ) -> Result<Memory, DriverError> {
        Memory::make(&self.core, octets, access, |dma| {
            dma.map_memfd(file, offset, octets, access)
        })
    }

    /// A file that is readable when one of `queues` has a completion. They share a vector, of which
    /// the device has eight.
    ///
    /// # Errors
    /// [`DriverError::Exhausted`]; [`DriverError::InUse`] if a queue has such a file,
    /// [`DriverError::Duplicate`] if one is there twice; [`DriverError::OtherContext`],
    /// [`DriverError::Gone`].
    pub fn completion_events(
        &self,
        queues: &[&CompletionQueue],
    ) -> Result<CompletionEvents, DriverError> {
        CompletionEvents::create(&self.core, queues)
    }
}

impl<B: Bar, D: Dma> Context<B, D> {
    /// A device that was opened and not used yet.
    ///
    /// # Errors
    /// [`DriverError::InUse`]: it has connections, regions or completion queues, which have another
    /// owner. It is dropped, as [`Device`] describes.
    pub fn new(device: Device<B, D>) -> Result<Self, DriverError> {
        match device.is_unused() {
            true => Ok(Self {
                core: Core::new(device),
            }),
            false => Err(DriverError::InUse {
                what: "the device".to_owned(),
                by: "what was opened without this context".to_owned(),
            }),
        }
    }

    pub(crate) fn core(&self) -> &Arc<Core<B, D>> {
        &self.core
    }

    /// Reset the device, and free all memory. Returns what it was opened with.
    ///
    /// # Errors
    /// The context and [`DriverError::InUse`], with the objects that there are. Without it
    /// [`DriverError::ResetTimeout`] or [`DriverError::Gone`]: the device is given up, and its
    /// memory is kept until the process ends.
    pub fn close(self) -> Result<(B, D), Refused<Option<Self>>> {
        self.core.close().map_err(|refused| {
            let context = refused.object.map(|core| Self { core });
            Refused::new(context, refused.error)
        })
    }

    /// A new Protection Domain.
    ///
    /// # Errors
    /// [`DriverError::Exhausted`].
    pub fn protection_domain(&self) -> Result<ProtectionDomain<B, D>, DriverError> {
        ProtectionDomain::create(&self.core)
    }

    /// Memory for regions, messages and frames, zeroed, at a multiple of 64.
    ///
    /// # Errors
    /// What [`Dma::allocate`] returns.
    pub fn allocate(&self, octets: usize) -> Result<Memory<B, D>, DriverError> {
        Memory::make(&self.core, octets, Access::ReadWrite, |dma| {
            dma.allocate("memory", octets.max(1), 64)
        })
    }

    /// A completion queue of at least `1 << entries_log2` entries, 1..=16, all for the caller: as
    /// [`Device::create_completion_queue`].
    ///
    /// # Errors
    /// As there; [`DriverError::Exhausted`].
    pub fn completion_queue(
        &self,
        entries_log2: u32,
    ) -> Result<CompletionQueue<B, D>, DriverError> {
        CompletionQueue::create(&self.core, entries_log2)
    }

    /// Send a frame, as [`Device::transmit`]. It holds the memory of its pieces until its result is
    /// polled.
    ///
    /// # Errors
    /// As there; [`DriverError::OtherContext`]; [`DriverError::InUse`] while there is an endpoint.
    pub fn transmit(&self, ring: TransmitRing, frame: &Frame) -> Result<(), DriverError> {
        self.core.lock().expect_no_endpoint()?;
        frames::transmit(&self.core, ring, frame)
    }

    /// As [`Device::poll_transmitted`]; none while there is an endpoint.
    ///
    /// # Errors
    /// As there.
    pub fn poll_transmitted(&self) -> Result<Option<Transmitted>, DriverError> {
        let mut ledger = self.core.lock();
        match ledger.has_endpoint {
            true => Ok(None),
            false => ledger.poll_transmitted(),
        }
    }

    /// As [`Device::restart_transmit`].
    ///
    /// # Errors
    /// As there.
    pub fn restart_transmit(&self, ring: TransmitRing) -> Result<(), DriverError> {
        self.core.lock().device().restart_transmit(ring)
    }

    /// As [`Device::poll_host_frame`]; none while there is an endpoint.
    pub fn poll_host_frame(&self) -> Option<Vec<u8>> {
        let mut ledger = self.core.lock();
        let is_free = !ledger.has_endpoint;
        is_free.then(|| ledger.device().poll_host_frame()).flatten()
    }

    /// As [`Device::poll_event`]; none while there is an endpoint.
    pub fn poll_event(&self) -> Option<Event> {
        let mut ledger = self.core.lock();
        let is_free = !ledger.has_endpoint;
        is_free.then(|| ledger.device().poll_event()).flatten()
    }

    /// As [`Device::set_hold_off`].
    ///
    /// # Errors
    /// As there.
    pub fn set_hold_off(&self, vector: u8, microseconds: u32) -> Result<(), DriverError> {
        self.core.lock().device().set_hold_off(vector, microseconds)
    }

    /// As [`Device::sizes`].
    pub fn sizes(&self) -> Sizes {
        self.core.lock().view().sizes()
    }

    /// As [`Device::counter`].
    ///
    /// # Errors
    /// [`DriverError::Gone`].
    pub fn counter(&self, counter: Counter) -> Result<u32, DriverError> {
        self.core.lock().device().counter(counter)
    }

    /// As [`Device::counters`].
    ///
    /// # Errors
    /// [`DriverError::Gone`].
    pub fn counters(&self) -> Result<Vec<(Counter, u32)>, DriverError> {
        self.core.lock().device().counters()
    }

    /// As [`Device::accesses`].
    #[must_use]
    pub fn accesses(&self) -> Accesses {
        self.core.lock().device().accesses()
    }

    /// As [`Device::in_use`].
    ///
    /// # Errors
    /// [`DriverError::TableTimeout`], [`DriverError::Gone`].
    pub fn in_use(&self) -> Result<InUse, DriverError> {
        self.core.lock().device().in_use()
    }

    /// Serve a monitor of the device, as [`Monitor::serve`].
    ///
    /// # Errors
    /// As there.
    pub fn serve_monitor(&self, monitor: &mut Monitor) -> io::Result<()> {
        monitor.serve(self.core.lock().device())
    }

    /// As [`Device::check_present`].
    ///
    /// # Errors
    /// [`DriverError::Gone`].
    pub fn check_present(&self) -> Result<(), DriverError> {
        self.core.lock().device().check_present()
    }
}

impl<B: Bar, D: Dma> Clone for Context<B, D> {
    fn clone(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
        }
    }
}

impl<B: Bar, D: Dma> fmt::Debug for Context<B, D> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("Context")
    }
}
