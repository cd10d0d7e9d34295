//! Memory that the device may access, owned by an object.
//!
//! ```text
//!  Context::allocate, allocate_huge, map_memfd --> Memory --> register     --> MemoryRegion
//!                                                    ^  |---> post_receive --> Received
//!                                                    |  +---> Part of a frame
//!                                                    +--- what ends gives it back
//! ```

use super::frames::Part;
use super::ledger::{expect_same, Core, Ledger, MemoryRecord, Object};
use super::place::Place;
use super::refused::Refused;
use crate::bus::{Access, FunctionBar, FunctionMemory};
use crate::device::access::{Bar, Dma, DmaBuffer};
use crate::device::error::DriverError;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Memory that the device may access and does not write at present. Dropping it frees it, once no
/// frame that was handed to the device needs it any more.
///
/// ```no_run
/// use rnic_driver::verbs::Context;
/// use rnic_driver::Config;
///
/// let context = Context::open("vfio-user:/run/rnic.sock", Config::default())?;
/// let mut memory = context.allocate(4096)?;
/// memory.write(0, b"octets are copied in and out")?;
/// let mut first = [0; 6];
/// memory.read(0, &mut first)?;
/// assert_eq!(&first, b"octets");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Memory<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    core: Arc<Core<B, D>>,
    id: u64,
    place: Place,
    is_moved: bool,
}

/// Memory that was not registered or posted; `None` if the device may have it.
pub type MemoryRefused<B = FunctionBar, D = FunctionMemory> = Refused<Option<Memory<B, D>>>;

impl<B: Bar, D: Dma> Memory<B, D> {
    /// `octets` octets of the buffer that `make` returns.
    pub(crate) fn make(
        core: &Arc<Core<B, D>>,
        octets: usize,
        access: Access,
        make: impl FnOnce(&mut D) -> Result<DmaBuffer, DriverError>,
    ) -> Result<Self, DriverError> {
        let mut ledger = core.lock();
        let buffer = make(ledger.device().dma())?;
        let id = ledger.add_handle(Object::Memory(octets));
        let record = MemoryRecord {
            buffer,
            octets,
            access,
            holders: 1,
        };
        ledger.memory.insert(id, record);
        let place = ledger.place(id);
        Ok(Self::of(core, id, place))
    }

    /// The object of memory whose hold is handed over.
    pub(crate) fn of(core: &Arc<Core<B, D>>, id: u64, place: Place) -> Self {
        Self {
            core: Arc::clone(core),
            id,
            place,
            is_moved: false,
        }
    }

    /// Its octets.
    pub fn octets(&self) -> usize {
        self.place.octets
    }

    /// What the device may do to it.
    pub fn access(&self) -> Access {
        self.place.access
    }

    /// Copy octets out, from `offset` on.
    ///
    /// # Errors
    /// [`DriverError::Configuration`]: they are not all inside.
    pub fn read(&self, offset: usize, out: &mut [u8]) -> Result<(), DriverError> {
        let address = self.place.part(offset, out.len())?;
        self.core.lock().device().dma().read(address, out);
        Ok(())
    }

    /// Copy octets in, from `offset` on. A frame that is on its way may be sent with the old octets
    /// or the new ones.
    ///
    /// # Errors
    /// [`DriverError::Configuration`]: they are not all inside. [`DriverError::ReadOnly`].
    pub fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), DriverError> {
        let address = self.place.writable_part(offset, data.len())?;
        self.core.lock().device().dma().write(address, data);
        Ok(())
    }

    /// A part of it, for a frame ([`Context::transmit`](super::Context::transmit)).
    ///
    /// # Errors
    /// [`DriverError::Configuration`]: it is not all inside.
    pub fn part(&self, range: Range<usize>) -> Result<Part<'_>, DriverError> {
        Part::new(&self.core, self.id, &self.place, range)
    }

    /// Refuses memory of another device, or that the device may not write.
    pub(crate) fn expect_receivable(&self, core: &Arc<Core<B, D>>) -> Result<(), DriverError> {
        expect_same(core, &self.core, "memory")?;
        match self.access() {
            Access::ReadWrite => Ok(()),
            Access::Read => Err(DriverError::ReadOnly {
                what: "a received message",
            }),
        }
    }

    pub(crate) fn core(&self) -> &Arc<Core<B, D>> {
        &self.core
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Its hold is another record's from now on.
    pub(crate) fn hand_over(mut self, ledger: &mut Ledger<B, D>) {
        ledger.handles.remove(&self.id);
        self.is_moved = true;
    }
}

impl<B: Bar, D: Dma> Drop for Memory<B, D> {
    fn drop(&mut self) {
        if !self.is_moved {
            let mut ledger = self.core.lock();
            ledger.handles.remove(&self.id);
            ledger.release_memory(self.id);
        }
    }
}

impl<B: Bar, D: Dma> fmt::Debug for Memory<B, D> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_tuple("Memory").field(&self.place).finish()
    }
}

impl<B: Bar, D: Dma> Ledger<B, D> {
    /// Where memory is.
    pub(crate) fn place(&self, id: u64) -> Place {
        let record = self.memory[&id];
        Place {
            address: record.buffer.address,
            octets: record.octets,
            access: record.access,
        }
    }
}
