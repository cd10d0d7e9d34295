//! Regions and the checks of an STag (RFC 5041 sections 7.1 and 8.2, RFC 5040 section 5).

use rnic_abi::errors::StreamError;
use rnic_abi::tables::RIGHT_REMOTE_INVALIDATE;
use rnic_driver::{ConnectionId, RegionConfig};
use std::collections::HashMap;

/// Who uses an STag.
#[derive(Copy, Clone, Debug)]
pub struct User {
    /// Connection.
    pub connection: u16,
    /// Its Protection Domain.
    pub protection_domain: u16,
}

#[derive(Copy, Clone, Debug)]
struct Region {
    config: RegionConfig,
    valid: bool,
}

impl Region {
    /// Both associations are asked for (RFC 5041 section 8.2): the Protection Domain always, the
    /// stream if the region is bound to one.
    fn belongs_to(&self, user: User) -> bool {
        let bound_to = self.config.connection;
        self.config.protection_domain == user.protection_domain
            && bound_to.is_none_or(|connection| connection.0 == user.connection)
    }
}

/// All registered regions by stag_index.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    by_index: HashMap<u32, Region>,
}

impl Regions {
    /// Register a region, or make it valid again.
    pub fn register(&mut self, config: &RegionConfig) {
        self.write(config, true);
    }

    /// As [`register`](Self::register), of a region that may be invalid.
    pub fn write(&mut self, config: &RegionConfig, valid: bool) {
        let config = *config;
        self.by_index
            .insert(config.stag >> 8, Region { config, valid });
    }

    /// Take a region away.
    pub fn deregister(&mut self, stag: u32) {
        self.by_index.remove(&(stag >> 8));
    }

    /// Take away what is bound to a connection.
    pub fn deregister_bound(&mut self, connection: ConnectionId) {
        self.by_index
            .retain(|_, region| region.config.connection != Some(connection));
    }

    /// Bus address for `length` octets (at least 1) at `offset` of `stag`, with `right`.
    pub fn resolve(
        &self,
        user: User,
        stag: u32,
        offset: u64,
        length: u64,
        right: u32,
    ) -> Result<u64, StreamError> {
        let region = self.by_index.get(&(stag >> 8));
        let usable = |region: &&Region| region.valid && region.config.stag == stag;
        let region = region.filter(usable).ok_or(StreamError::DdpStag)?;
        if !region.belongs_to(user) {
            return Err(StreamError::DdpAssociation);
        }
        if region.config.rights & right == 0 {
            return Err(StreamError::RdmapAccess);
        }
        let end = offset.checked_add(length).ok_or(StreamError::DdpWrap)?;
        let base = region.config.tagged_offset;
        let limit = u128::from(base) + u128::from(region.config.octets);
        if offset < base || u128::from(end) > limit {
            return Err(StreamError::DdpBounds);
        }
        Ok(region.config.address.wrapping_add(offset - base))
    }

    /// Octets of the region of `stag`; 0 if there is none.
    pub fn octets(&self, stag: u32) -> u64 {
        let region = self.by_index.get(&(stag >> 8));
        region.map_or(0, |region| region.config.octets)
    }

    /// Invalidate `stag` on the peer's word (RDMAP-014).
    pub fn invalidate(&mut self, user: User, stag: u32) -> Result<(), StreamError> {
        let region = self.by_index.get_mut(&(stag >> 8)).filter(|region| {
            region.valid
                && region.config.stag == stag
                && region.belongs_to(user)
                && region.config.rights & RIGHT_REMOTE_INVALIDATE != 0
        });
        region.ok_or(StreamError::RdmapInvalidate)?.valid = false;
        Ok(())
    }
}
