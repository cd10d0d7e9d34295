//! A Protection Domain: which connections may use which STags.

use super::completion_queue::CompletionQueue;
use super::connection::Connection;
use super::ledger::{expect_same, list, Core, Ledger, Object};
use super::memory::{Memory, MemoryRefused};
use super::refused::Refused;
use super::region::{MemoryRegion, RegionOptions};
use crate::bus::{FunctionBar, FunctionMemory};
use crate::device::access::{Bar, Dma};
use crate::device::error::DriverError;
use crate::device::tables::{ConnectionConfig, ConnectionKey, NO_DOMAIN};
use std::fmt;
use std::sync::Arc;

/// Numbers of domains that a device can distinguish, but for the one that is no region's.
const DOMAINS: usize = NO_DOMAIN as usize;

/// A Protection Domain. Its connections may use its regions, and no others. Its number is used
/// again when it and all of them have gone.
///
/// ```no_run
/// use rnic_driver::verbs::Context;
/// use rnic_driver::Config;
///
/// let context = Context::open("vfio-user:/run/rnic.sock", Config::default())?;
/// let [a, b] = [context.protection_domain()?, context.protection_domain()?];
/// assert_ne!(a.number(), b.number());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ProtectionDomain<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    core: Arc<Core<B, D>>,
    id: u64,
    number: u16,
}

impl<B: Bar, D: Dma> ProtectionDomain<B, D> {
    /// A domain of its own number.
    pub(crate) fn create(core: &Arc<Core<B, D>>) -> Result<Self, DriverError> {
        let mut ledger = core.lock();
        let mut all = 0..NO_DOMAIN;
        let free = all.find(|number| !ledger.protection_domains.contains_key(number));
        let number = free.ok_or(DriverError::Exhausted {
            what: "Protection Domain",
            limit: DOMAINS,
        })?;
        ledger.protection_domains.insert(number, 1);
        let id = ledger.add_handle(Object::ProtectionDomain(number));
        drop(ledger);
        Ok(Self {
            core: Arc::clone(core),
            id,
            number,
        })
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// Refuses a domain of another context.
    pub(crate) fn expect_of(&self, core: &Arc<Core<B, D>>) -> Result<(), DriverError> {
        expect_same(&self.core, core, "Protection Domain")
    }

    /// Register memory, which every connection of the domain may then reach by its STag.
    ///
    /// # Errors
    /// The memory, and those of [`Device::register_region`](crate::Device::register_region),
    /// [`DriverError::ReadOnly`], [`DriverError::OtherContext`], [`DriverError::Random`]. Without
    /// it [`DriverError::TableTimeout`] or [`DriverError::Gone`]: the device may have it.
    pub fn register(
        &self,
        memory: Memory<B, D>,
        options: &RegionOptions,
    ) -> Result<MemoryRegion<B, D>, MemoryRefused<B, D>> {
        MemoryRegion::register(&self.core, self.number, None, memory, options)
    }

    /// Offload a connection, whose completions go to `queue`. `protection_domain` and
    /// `completion_queue` of `config` have no meaning here.
    ///
    /// # Errors
    /// Those of [`Device::open_connection`](crate::Device::open_connection);
    /// [`DriverError::OtherContext`].
    pub fn open_connection(
        &self,
        queue: &CompletionQueue<B, D>,
        config: &ConnectionConfig,
    ) -> Result<Connection<B, D>, DriverError> {
        Connection::open(&self.core, self.number, queue, config)
    }

    /// Prepare a connection between the ends of `key`, whose completions go to `queue`: its queues
    /// may be opened and receives posted before the first segment can arrive. It receives nothing
    /// until [`Connection::activate`].
    ///
    /// # Errors
    /// Those of [`Device::reserve_connection`](crate::Device::reserve_connection);
    /// [`DriverError::OtherContext`].
    pub fn reserve_connection(
        &self,
        queue: &CompletionQueue<B, D>,
        key: &ConnectionKey,
    ) -> Result<Connection<B, D>, DriverError> {
        Connection::reserve(&self.core, self.number, queue, key)
    }

    /// Give its number back.
    ///
    /// # Errors
    /// The domain, and [`DriverError::InUse`] with the regions and connections that are in it.
    pub fn close(self) -> Result<(), Refused<Self>> {
        let core = Arc::clone(&self.core);
        let mut ledger = core.lock();
        if ledger.protection_domains.get(&self.number) != Some(&1) {
            let what = Object::ProtectionDomain(self.number).to_string();
            let by = ledger.members(self.number);
            drop(ledger);
            return Err(Refused::new(self, DriverError::InUse { what, by }));
        }
        ledger.handles.remove(&self.id);
        ledger.release_protection_domain(self.number);
        Ok(())
    }
}

impl<B: Bar, D: Dma> Drop for ProtectionDomain<B, D> {
    fn drop(&mut self) {
        let mut ledger = self.core.lock();
        // Whoever closed it has taken its handle.
        if ledger.handles.remove(&self.id).is_some() {
            ledger.release_protection_domain(self.number);
        }
    }
}

impl<B: Bar, D: Dma> fmt::Debug for ProtectionDomain<B, D> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "ProtectionDomain({})", self.number)
    }
}

impl<B: Bar, D: Dma> Ledger<B, D> {
    /// What is in a domain, for a message.
    fn members(&self, number: u16) -> String {
        let regions = self.regions.values();
        let regions = regions.filter(|region| region.config.protection_domain == number);
        let regions = regions.map(|region| Object::Region(region.config.stag));
        let open = self.connections.iter();
        let open = open.filter(|(_, open)| open.protection_domain == number);
        let open = open.map(|(connection, _)| Object::Connection(connection.0));
        let names = regions.chain(open).map(|object| object.to_string());
        list(names.collect())
    }
}
