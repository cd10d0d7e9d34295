//! Registered memory by number.

use rnic_driver::verbs::{Context, MemoryRegion, ProtectionDomain, RegionOptions, Rights};
use rnic_driver::DriverError;
use rpcrdma::place::{MemoryId, Place};
use rpcrdma::verbs::VerbsError;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Registered memory of a program, shared by its connections.
///
/// Each piece is a region whose own STag lets a peer do nothing: it is the sink of this end's
/// Reads, and what a peer may reach of it, it reaches by a window of its connection.
#[derive(Debug)]
pub struct Memories {
    context: Context,
    domain: ProtectionDomain,
    regions: Mutex<Vec<MemoryRegion>>,
}

impl Memories {
    /// None yet; what is allocated is of `domain`.
    #[must_use]
    pub fn new(context: &Context, domain: ProtectionDomain) -> Self {
        Self {
            context: context.clone(),
            domain,
            regions: Mutex::default(),
        }
    }

    /// The domain, which is that of the connections, too.
    #[must_use]
    pub fn domain(&self) -> &ProtectionDomain {
        &self.domain
    }

    /// `octets` octets, zeroed, until the end of this object.
    ///
    /// # Errors
    /// The system or the device has no room for them.
    pub fn allocate(&self, octets: u32) -> Result<Place, DriverError> {
        let memory = self.context.allocate(octets as usize)?;
        let options = RegionOptions {
            rights: Rights::READ_SINK,
            ..RegionOptions::default()
        };
        let region = self.domain.register(memory, &options);
        let region = region.map_err(|refused| refused.error)?;
        let mut regions = self.regions();
        let number = u32::try_from(regions.len()).unwrap_or(u32::MAX);
        regions.push(region);
        Ok(Place {
            memory: MemoryId(number),
            offset: 0,
            length: octets,
        })
    }

    /// The regions, by number.
    pub(crate) fn regions(&self) -> MutexGuard<'_, Vec<MemoryRegion>> {
        self.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copy `octets` to the beginning of `at`.
    ///
    /// # Errors
    /// [`VerbsError::Place`], with nothing copied.
    pub fn store(&self, at: Place, octets: &[u8]) -> Result<(), VerbsError> {
        let mut regions = self.regions();
        region_of(&regions, at)?;
        if octets.len() > at.length as usize {
            return Err(VerbsError::Place);
        }
        let region = &mut regions[at.memory.0 as usize];
        let written = region.write(at.offset as usize, octets);
        written.map_err(|_| VerbsError::Place)
    }

    /// Fill `into` from the beginning of `at`.
    ///
    /// # Errors
    /// As [`Memories::store`].
    pub fn load(&self, at: Place, into: &mut [u8]) -> Result<(), VerbsError> {
        let regions = self.regions();
        let region = region_of(&regions, at)?;
        if into.len() > at.length as usize {
            return Err(VerbsError::Place);
        }
        let read = region.read(at.offset as usize, into);
        read.map_err(|_| VerbsError::Place)
    }
}

/// The region that has all of `place`.
pub(crate) fn region_of(
    regions: &[MemoryRegion],
    place: Place,
) -> Result<&MemoryRegion, VerbsError> {
    let region = regions.get(place.memory.0 as usize);
    let region = region.filter(|region| place.end() <= region.octets() as u64);
    region.ok_or(VerbsError::Place)
}
