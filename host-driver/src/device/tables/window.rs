//! Memory windows: each opens a part of a region to one connection, under an STag of its own.
//!
//! To the device a window is a region that is bound to a connection. The driver checks that it lies
//! inside of its region, and that a region outlives its windows.

use super::region::RegionConfig;
use crate::device::error::DriverError;
use crate::device::ids::ConnectionId;
use rnic_abi::tables::RIGHT_REMOTE_INVALIDATE;
use std::collections::BTreeMap;

/// A window that its peer addresses by its STag.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// STag of the window.
    pub stag: u32,
    /// STag of the region that it opens.
    pub region: u32,
    /// The connection that may use it.
    pub connection: ConnectionId,
    /// Rights, `rnic_abi::tables::RIGHT_*`; the region itself may have none.
    pub rights: u32,
    /// Tagged Offset of its first octet.
    pub tagged_offset: u64,
    /// Offset of its first octet in the region, in octets.
    pub offset: u64,
    /// Octets.
    pub octets: u64,
}

/// Which STags are windows, and of which regions.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    /// stag_index of the region, by the stag_index of the window.
    regions: BTreeMap<u32, u32>,
}

impl Windows {
    /// The region that a window is to the device, if it may be opened.
    ///
    /// `region` is the present state of the region it names; `protection_domain` belongs to its
    /// connection.
    pub(crate) fn as_region(
        &self,
        config: &WindowConfig,
        region: &RegionConfig,
        protection_domain: u16,
    ) -> Result<RegionConfig, DriverError> {
        let refuse = |reason| {
            let stag = config.region;
            Err(DriverError::Window { stag, reason })
        };
        if region.stag != config.region {
            return refuse("has another key by now");
        }
        if self.contains(region.stag) {
            return refuse("is a window; name the region it opens");
        }
        if region.rights & RIGHT_REMOTE_INVALIDATE != 0 {
            return refuse("may be invalidated by a peer, which would not close its windows");
        }
        let is_other = |owner: ConnectionId| owner != config.connection;
        if region.protection_domain != protection_domain || region.connection.is_some_and(is_other)
        {
            return refuse("is not open to the connection");
        }
        let end = config.offset.checked_add(config.octets);
        if end.is_none_or(|end| end > region.octets) {
            return Err(DriverError::Configuration {
                what: "the window's last octet",
                value: end.map_or(u64::MAX, |end| end.saturating_sub(1)),
                allowed: "inside of the region",
            });
        }
        Ok(RegionConfig {
            stag: config.stag,
            rights: config.rights,
            protection_domain,
            connection: Some(config.connection),
            tagged_offset: config.tagged_offset,
            octets: config.octets,
            address: region.address.wrapping_add(config.offset),
        })
    }

    /// Whether `stag` is a window.
    pub(crate) fn contains(&self, stag: u32) -> bool {
        self.regions.contains_key(&(stag >> 8))
    }

    /// A window has been opened.
    pub(crate) fn insert(&mut self, config: &WindowConfig) {
        self.regions.insert(config.stag >> 8, config.region >> 8);
    }

    /// A window has been closed.
    pub(crate) fn remove(&mut self, stag: u32) {
        self.regions.remove(&(stag >> 8));
    }

    /// Refuses to change or remove a window as if it were a region, or a region with windows.
    pub(crate) fn check_plain(&self, stag: u32) -> Result<(), DriverError> {
        let refuse = |reason| Err(DriverError::Window { stag, reason });
        if self.contains(stag) {
            return refuse("is a window; unbind it, and bind it again");
        }
        if self.regions.values().any(|&region| region == stag >> 8) {
            return refuse("has windows; unbind them first");
        }
        Ok(())
    }
}
