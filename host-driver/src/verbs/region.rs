//! A region: memory that peers reach by its STag.
//!
//! ```text
//!  Memory --> register --> MemoryRegion --> close: fenced --> Memory
//!                               |
//!                               +-- dropped: fenced, freed; with windows or reads after the last
//! ```

use super::frames::Part;
use super::ledger::{expect_same, Core, Object, RegionRecord};
use super::memory::{Memory, MemoryRefused};
use super::place::Place;
use super::refused::Refused;
use super::rights::Rights;
use crate::bus::{Access, FunctionBar, FunctionMemory};
use crate::device::access::{Bar, Dma};
use crate::device::error::DriverError;
use crate::device::ids::ConnectionId;
use crate::device::tables::RegionConfig;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How a region is registered.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionOptions {
    /// What peers may do with it.
    pub rights: Rights,
    /// Tagged Offset of its first octet.
    pub tagged_offset: u64,
    /// Its STag; `None`: one that no peer can guess.
    pub stag: Option<u32>,
}

/// A region of memory that peers reach by its STag. It owns its memory, which is freed only when
/// the device writes nothing more to it.
///
/// ```no_run
/// use rnic_driver::verbs::{Context, RegionOptions, Rights};
/// use rnic_driver::Config;
///
/// let context = Context::open("vfio-user:/run/rnic.sock", Config::default())?;
/// let domain = context.protection_domain()?;
/// let options = RegionOptions {
///     rights: Rights::REMOTE_WRITE,
///     ..RegionOptions::default()
/// };
/// let region = domain.register(context.allocate(1 << 20)?, &options)?;
/// println!("the peer may write {} octets to {:#010x}", region.octets(), region.stag());
/// let memory = region.close()?; // From here on the device does not write it.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MemoryRegion<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    core: Arc<Core<B, D>>,
    id: u64,
    memory: u64,
    place: Place,
}

impl<B: Bar, D: Dma> MemoryRegion<B, D> {
    /// Register `memory` in a domain, or for one connection of it.
    pub(crate) fn register(
        core: &Arc<Core<B, D>>,
        protection_domain: u16,
        connection: Option<ConnectionId>,
        memory: Memory<B, D>,
        options: &RegionOptions,
    ) -> Result<Self, MemoryRefused<B, D>> {
        let place = memory.place();
        let mut ledger = core.lock();
        let registered = check(core, &memory, options).and_then(|()| {
            let stag = options.stag.map_or_else(|| ledger.view().draw_stag(), Ok)?;
            let config = RegionConfig {
                stag,
                rights: options.rights.bits(),
                protection_domain,
                connection,
                tagged_offset: options.tagged_offset,
                octets: place.octets as u64,
                address: place.address,
            };
            let device = ledger.device();
            device.register_region(&config).map(|()| config)
        });
        let config = match registered {
            Ok(config) => config,
            Err(error) => {
                if !may_have_taken_effect(&error) {
                    drop(ledger);
                    return Err(Refused::new(Some(memory), error));
                }
                // The device may have the region: this hold is never released.
                memory.hand_over(&mut ledger);
                return Err(Refused::new(None, error));
            }
        };
        let (id, memory_id) = (ledger.add_handle(Object::Region(config.stag)), memory.id());
        memory.hand_over(&mut ledger);
        ledger.hold_protection_domain(protection_domain);
        let record = RegionRecord {
            config,
            memory: memory_id,
            holders: 1,
            is_registered: true,
        };
        ledger.regions.insert(id, record);
        drop(ledger);
        Ok(Self {
            core: Arc::clone(core),
            id,
            memory: memory_id,
            place,
        })
    }

    /// Its STag.
    pub fn stag(&self) -> u32 {
        self.config().stag
    }

    /// Tagged Offset of its first octet.
    pub fn tagged_offset(&self) -> u64 {
        self.config().tagged_offset
    }

    /// Its octets.
    pub fn octets(&self) -> usize {
        self.place.octets
    }

    /// Whether peers can use its STag: one of them may have invalidated it, or its connection was
    /// closed.
    ///
    /// # Errors
    /// [`DriverError::TableTimeout`], [`DriverError::Gone`].
    pub fn is_valid(&self) -> Result<bool, DriverError> {
        let mut ledger = self.core.lock();
        let record = ledger.regions[&self.id];
        match record.is_registered {
            true => ledger.device().region_valid(record.config.stag),
            false => Ok(false),
        }
    }

    /// Make it valid again with a new key, so that no peer can use the STag it knows. Returns the
    /// new STag.
    ///
    /// # Errors
    /// [`DriverError::InUse`] if it has windows or outstanding reads; [`DriverError::Unknown`] if
    /// its connection was closed; [`DriverError::Random`], [`DriverError::TableTimeout`],
    /// [`DriverError::Gone`].
    pub fn renew(&mut self) -> Result<u32, DriverError> {
        let mut ledger = self.core.lock();
        ledger.expect_unshared(self.id)?;
        let RegionRecord {
            config,
            is_registered,
            ..
        } = ledger.regions[&self.id];
        if !is_registered {
            return Err(DriverError::Unknown {
                what: "region with STag",
                id: config.stag.into(),
            });
        }
        let stag = ledger.view().draw_next_key(config.stag)?;
        let config = RegionConfig { stag, ..config };
        ledger.device().renew_region(&config)?;
        let record = ledger.regions.get_mut(&self.id);
        record.expect("it is this one's").config = config;
        ledger.handles.insert(self.id, Object::Region(stag));
        Ok(stag)
    }

    /// Copy octets out, from `offset` on. The device may write them meanwhile: each may be the old
    /// one or the new one.
    ///
    /// # Errors
    /// [`DriverError::Configuration`]: they are not all inside.
    pub fn read(&self, offset: usize, out: &mut [u8]) -> Result<(), DriverError> {
        let address = self.place.part(offset, out.len())?;
        self.core.lock().device().dma().read(address, out);
        Ok(())
    }

    /// Copy octets in, from `offset` on.
    ///
    /// # Errors
    /// [`DriverError::Configuration`]: they are not all inside. [`DriverError::ReadOnly`].
    pub fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), DriverError> {
        let address = self.place.writable_part(offset, data.len())?;
        self.core.lock().device().dma().write(address, data);
        Ok(())
    }

    /// A part of it, for a frame: what a Read Response carries.
    ///
    /// # Errors
    /// [`DriverError::Configuration`]: it is not all inside.
    pub fn part(&self, range: Range<usize>) -> Result<Part<'_>, DriverError> {
        Part::new(&self.core, self.memory, &self.place, range)
    }

    /// Deregister it. When this returns, the device writes nothing more to its memory.
    ///
    /// # Errors
    /// The region, as it was: [`DriverError::InUse`] with the windows and reads that hold it;
    /// [`DriverError::TableTimeout`], [`DriverError::Gone`].
    pub fn close(self) -> Result<Memory<B, D>, Refused<Self>> {
        let core = Arc::clone(&self.core);
        let mut ledger = core.lock();
        let fenced = ledger.expect_unshared(self.id);
        if let Err(error) = fenced.and_then(|()| ledger.fence_region(self.id)) {
            drop(ledger);
            return Err(Refused::new(self, error));
        }
        ledger.handles.remove(&self.id);
        ledger.hold_memory(self.memory);
        ledger.forget_region(self.id);
        let object = Object::Memory(self.place.octets);
        ledger.handles.insert(self.memory, object);
        Ok(Memory::of(&core, self.memory, self.place))
    }

    pub(crate) fn core(&self) -> &Arc<Core<B, D>> {
        &self.core
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    fn config(&self) -> RegionConfig {
        self.core.lock().regions[&self.id].config
    }
}

/// Refuses memory of another device, or that the device may not write.
fn check<B: Bar, D: Dma>(
    core: &Arc<Core<B, D>>,
    memory: &Memory<B, D>,
    options: &RegionOptions,
) -> Result<(), DriverError> {
    expect_same(core, memory.core(), "memory")?;
    check_rights(memory.access(), options.rights)
}

/// Refuses rights that let the device write what it may only read.
pub(crate) fn check_rights(access: Access, rights: Rights) -> Result<(), DriverError> {
    match access == Access::Read && rights.let_the_device_write() {
        true => Err(DriverError::ReadOnly {
            what: "a region or window with a right to write",
        }),
        false => Ok(()),
    }
}

/// Whether the device may have done what failed.
pub(crate) fn may_have_taken_effect(error: &DriverError) -> bool {
    matches!(
        error,
        DriverError::TableTimeout { .. } | DriverError::Gone | DriverError::ResetTimeout
    )
}

impl<B: Bar, D: Dma> Drop for MemoryRegion<B, D> {
    fn drop(&mut self) {
        let mut ledger = self.core.lock();
        // Whoever closed it has taken its handle.
        if ledger.handles.remove(&self.id).is_some() {
            // A region that could not be fenced stays in the ledger, with its memory.
            let _ = ledger.release_region(self.id);
        }
    }
}

impl<B: Bar, D: Dma> fmt::Debug for MemoryRegion<B, D> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let config = self.config();
        formatter
            .debug_tuple("MemoryRegion")
            .field(&config)
            .finish()
    }
}
