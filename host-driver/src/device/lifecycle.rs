//! How a device is opened and closed: both begin with a reset.
//!
//! ```text
//!  open:  identity, revision -> reset -> counters read -> rings allocated -> programmed -> enabled
//!  close: reset -> rings freed
//!            |
//!            +-- does not end, or the device is gone: no memory is freed, ever
//! ```

use super::Device;
use crate::device::access::{table, Bar, Dma, DmaBuffer, PresentBar, Registers};
use crate::device::config::Config;
use crate::device::counters::Counters;
use crate::device::error::DriverError;
use crate::device::ids::{ConnectionId, QueueId, TransmitRing};
use crate::device::rings::{CompletionQueues, EventRing, HostRing, UnitRing};
use crate::device::tables::{ConnectionTable, ReceivePool, RegionConfig, RegionTable};
use rnic_abi::limits::RESET_CYCLES;
use rnic_abi::registers::{self, CONTROL, CONTROL_ENABLE, CONTROL_RESET};
use rnic_abi::sizes::Sizes;
use rnic_abi::transmit_ring::RINGS;

/// Cycles of the device that one read of a register takes, at least.
const READ_CYCLES_MIN: u64 = 12;
/// Reads of CONTROL before a reset counts as hanging: a hundred times the cycles it takes. The rest
/// is for the TLP under way, which the host may accept slowly.
const MAX_POLLS: u64 = 100 * RESET_CYCLES.div_ceil(READ_CYCLES_MIN);

/// The rings of a device.
struct Rings {
    completions: CompletionQueues,
    host_ring: HostRing,
    events: EventRing,
    transmit_rings: [Option<UnitRing>; RINGS],
}

impl Rings {
    /// Rings in memory of their own, each of which is put in `allocated`.
    fn allocate(
        dma: &mut impl Dma,
        config: &Config,
        allocated: &mut Vec<DmaBuffer>,
    ) -> Result<Self, DriverError> {
        let completions = CompletionQueues::allocate(dma, config.completion_entries_log2)?;
        allocated.extend(completions.buffers());
        let (slots_log2, slot_octets_log2) = (config.host_slots_log2, config.host_slot_octets_log2);
        let host_ring = HostRing::allocate(dma, slots_log2, slot_octets_log2)?;
        allocated.push(host_ring.buffer());
        let events = EventRing::allocate(dma, config.event_entries_log2)?;
        allocated.push(events.buffer());
        let mut transmit_rings = [const { None }; RINGS];
        for (place, ring) in transmit_rings.iter_mut().zip(TransmitRing::ALL) {
            if let Some(units_log2) = config.units_log2(ring) {
                let ring = UnitRing::allocate(dma, ring, units_log2)?;
                allocated.push(ring.buffer());
                *place = Some(ring);
            }
        }
        Ok(Self {
            completions,
            host_ring,
            events,
            transmit_rings,
        })
    }
}

impl<B: Bar, D: Dma> Device<B, D> {
    /// Check the identity and revision, reset the device, set up rings and payload size, then
    /// enable reception. It does not matter who used the device before, and how that ended: after
    /// the reset its tables are empty and it writes to no memory from before.
    ///
    /// # Errors
    /// [`DriverError::Configuration`], [`DriverError::Identity`], [`DriverError::Revision`],
    /// [`DriverError::Sizes`];
    /// [`DriverError::ResetTimeout`], [`DriverError::Gone`], after which the device may still write
    /// to memory that an earlier driver gave it; what [`Dma::allocate`] returns.
    pub fn open(bar: B, mut dma: D, config: Config) -> Result<Self, DriverError> {
        config.check()?;
        let mut bar = PresentBar::new(bar);
        expect_identity(&mut bar)?;
        let capabilities = bar.read(registers::CAPABILITIES)?;
        let sizes = Sizes::decode(capabilities).ok_or(DriverError::Sizes { capabilities })?;
        reset(&mut bar)?;
        let counters = Counters::from_now(&mut bar)?;
        // The device does not know of the rings yet: if one fails, the others are freed.
        let mut allocated = Vec::new();
        let rings = match Rings::allocate(&mut dma, &config, &mut allocated) {
            Ok(rings) => rings,
            Err(error) => {
                allocated.into_iter().for_each(|buffer| dma.free(buffer));
                return Err(error);
            }
        };
        let mut device = Self {
            bar,
            dma,
            completions: rings.completions,
            host_ring: rings.host_ring,
            events: rings.events,
            transmit_rings: rings.transmit_rings,
            connections: ConnectionTable::of_connections(sizes.connections()),
            regions: RegionTable::of_regions(sizes.regions()),
            sizes,
            queues: ReceivePool::default(),
            counters,
        };
        match device.start(&config) {
            Ok(()) => Ok(device),
            Err(error) => Err(device.abandon(error)),
        }
    }

    /// Reset the device, then free the rings. When this returns `Ok`, the device writes nothing
    /// more to memory, and its connections, regions and queues are gone; buffers and regions may be
    /// freed.
    ///
    /// # Errors
    /// [`DriverError::ResetTimeout`] or [`DriverError::Gone`]: the device may still write to
    /// memory. Then nothing is freed: `D` is not returned and is never dropped, so that the memory
    /// stays allocated and mapped until the process ends.
    pub fn close(mut self) -> Result<(B, D), DriverError> {
        if let Err(error) = reset(&mut self.bar) {
            return Err(self.abandon(error));
        }
        for buffer in self.completions.buffers() {
            self.dma.free(buffer);
        }
        self.dma.free(self.host_ring.buffer());
        self.dma.free(self.events.buffer());
        for ring in self.transmit_rings.iter().flatten() {
            self.dma.free(ring.buffer());
        }
        Ok((self.bar.into_inner(), self.dma))
    }

    /// Program a device that has been reset, and enable it.
    fn start(&mut self, config: &Config) -> Result<(), DriverError> {
        config.program(&mut self.bar)?;
        self.completions.program(&mut self.bar)?;
        self.host_ring.program(&mut self.bar)?;
        self.events.program(&mut self.bar)?;
        if self.transmit_rings.iter().any(Option::is_some) {
            config.program_reads(&mut self.bar)?;
        }
        for ring in self.transmit_rings.iter().flatten() {
            ring.program(&mut self.bar)?;
        }
        self.bar.write(CONTROL, CONTROL_ENABLE)?;
        // A read is answered after the posted writes before it have taken effect: from here on the
        // device receives.
        self.bar.read(CONTROL).map(|_| ())
    }

    /// Give up a device that may still write to memory: its memory is never freed.
    fn abandon(self, error: DriverError) -> DriverError {
        std::mem::forget(self.dma);
        error
    }

    /// Whether the device still answers. Polls read memory only, so they do not notice that it is
    /// gone; ask here when they have found nothing for longer than expected.
    ///
    /// # Errors
    /// [`DriverError::Gone`].
    pub fn check_present(&mut self) -> Result<(), DriverError> {
        self.bar.read(registers::IDENTITY).map(|_| ())
    }
}

fn expect_identity(bar: &mut impl Registers) -> Result<(), DriverError> {
    let found = bar.read(registers::IDENTITY)?;
    if found != registers::IDENTITY_VALUE {
        return Err(DriverError::Identity {
            found,
            expected: registers::IDENTITY_VALUE,
        });
    }
    let found = bar.read(registers::REVISION)?;
    if found != registers::REVISION_VALUE {
        return Err(DriverError::Revision {
            found,
            expected: registers::REVISION_VALUE,
        });
    }
    Ok(())
}

/// Reset the device, and wait until it is ready. From then on it writes nothing to memory, finds no
/// connection and no region, and does not accept frames.
///
/// # Errors
/// [`DriverError::ResetTimeout`] or [`DriverError::Gone`], after which the device may still write.
fn reset(bar: &mut impl Registers) -> Result<(), DriverError> {
    bar.write(CONTROL, CONTROL_RESET)?;
    for _ in 0..MAX_POLLS {
        if bar.read(CONTROL)? & CONTROL_RESET == 0 {
            return Ok(());
        }
    }
    Err(DriverError::ResetTimeout)
}

/// What `verbs` asks besides: what is in use, and where a stream stands that is to end.
#[cfg(target_os = "linux")]
impl<B: Bar, D: Dma> Device<B, D> {
    /// Whether nothing was opened, registered or created since the device was opened.
    pub(crate) fn is_unused(&self) -> bool {
        self.connections.is_empty() && self.regions.is_empty() && self.completions.count() == 1
    }

    /// Whether a region or a window has the stag_index of `stag`.
    pub(crate) fn has_stag(&self, stag: u32) -> bool {
        self.regions.has_index(stag >> 8)
    }

    /// Entries of a completion queue; `None`: it does not exist.
    pub(crate) fn completion_entries(&self, queue: QueueId) -> Option<u32> {
        self.completions.entries(queue)
    }

    /// The region or window that `stag` leads to, if it is valid.
    pub(crate) fn valid_region(&mut self, stag: u32) -> Result<Option<RegionConfig>, DriverError> {
        let found = self.regions.find_valid(&mut self.bar, stag)?;
        Ok(found.copied())
    }

    /// Wait until what a connection has accepted so far is in memory, completions included. It
    /// reads the connection's entry of table `MPA`, which waits for segments before it, and fences
    /// with an entry of no region.
    pub(crate) fn settle(&mut self, connection: ConnectionId) -> Result<(), DriverError> {
        self.bar.check()?;
        table::read(&mut self.bar, rnic_abi::tables::MPA, connection.0.into())?;
        self.regions.fence(&mut self.bar)
    }

    /// Whether [`Device::poll_completion_queue`] would return a completion now.
    pub(crate) fn has_completion(&self, queue: QueueId) -> bool {
        self.completions.has_next(&self.dma, queue)
    }

    /// Have a connection, whose stream has failed by what the driver found, place nothing in
    /// regions any more. It stays open: TCP goes on to acknowledge.
    pub(crate) fn take_regions(&mut self, connection: ConnectionId) -> Result<(), DriverError> {
        self.bar.check()?;
        self.connections.take_regions(&mut self.bar, connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tables;

    #[test]
    fn a_reset_is_awaited() {
        let mut tables = Tables {
            reset_reads: 399,
            ..Tables::default()
        };
        tables.registers.insert(CONTROL, CONTROL_ENABLE);
        assert_eq!(reset(&mut tables), Ok(()));
        assert_eq!((tables.resets, tables.accesses), (1, 401));
        assert_eq!(tables.read(CONTROL), Ok(0));
    }

    #[test]
    fn a_reset_that_does_not_end_is_reported() {
        let mut tables = Tables {
            reset_reads: u32::MAX,
            ..Tables::default()
        };
        assert_eq!(reset(&mut tables), Err(DriverError::ResetTimeout));
        assert_eq!(tables.accesses as u64, 1 + MAX_POLLS);
    }

    /// All ones have the bit of a reset under way; they are none.
    #[test]
    fn a_device_that_goes_during_its_reset_is_gone() {
        let mut bar = PresentBar::new(Tables {
            reset_reads: u32::MAX,
            gone_after: Some(5),
            ..Tables::default()
        });
        assert_eq!(reset(&mut bar), Err(DriverError::Gone));
        let value_and_identity = 2;
        assert_eq!(bar.double().accesses, 5 + value_and_identity);
    }
}
