//! Memory windows: a part of a region, open to one connection under an STag of its own.
//!
//! To the device a window is a region that is bound to a connection. That it lies inside of a
//! region, and that no region goes away under its windows, is kept here.

use crate::bar::Bar;
use crate::connection::Connection;
use crate::device::Device;
use crate::dma::Dma;
use crate::error::DriverError;
use crate::region::RegionConfig;
use rnic_abi::tables::RIGHT_REMOTE_INVALIDATE;

/// A window as its peer may name it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// STag of the window.
    pub stag: u32,
    /// STag of the region that it opens.
    pub region: u32,
    /// The connection that may use it.
    pub connection: Connection,
    /// Rights, `rnic_abi::tables::RIGHT_*`; the region itself may have none.
    pub rights: u32,
    /// Tagged Offset of its first octet.
    pub tagged_offset: u64,
    /// Octets of the region in front of it.
    pub offset: u64,
    /// Octets.
    pub octets: u64,
}

impl<B: Bar, D: Dma> Device<B, D> {
    /// Open a part of a region to a connection of its Protection Domain, until
    /// [`Device::unbind_window`], the end of the connection, or the peer's Send with Invalidate if
    /// the window has that right (what is left is then taken away as by the owner).
    ///
    /// # Errors
    /// Those of [`Device::register_region`]; [`DriverError::Window`] if the region is a window, may
    /// be invalidated by peers, or belongs to others; [`DriverError::Configuration`] if the window
    /// is not inside of it.
    pub fn bind_window(&mut self, config: &WindowConfig) -> Result<(), DriverError> {
        let region = *self.region(config.region)?;
        let connection = self.connection_config(config.connection)?;
        let refuse = |reason| {
            let stag = config.region;
            Err(DriverError::Window { stag, reason })
        };
        if region.stag != config.region {
            return refuse("has another key by now");
        }
        if self.windows.contains_key(&(region.stag >> 8)) {
            return refuse("is a window; name the region it opens");
        }
        if region.rights & RIGHT_REMOTE_INVALIDATE != 0 {
            return refuse("may be invalidated by a peer, and its windows would stay");
        }
        let is_other = |owner: Connection| owner != config.connection;
        if region.protection_domain != connection.protection_domain
            || region.connection.is_some_and(is_other)
        {
            return refuse("is not the connection's");
        }
        let end = config.offset.checked_add(config.octets);
        if end.is_none_or(|end| end > region.octets) {
            return Err(DriverError::Configuration {
                what: "the window's last octet",
                value: end.map_or(u64::MAX, |end| end.saturating_sub(1)),
                allowed: "inside of the region",
            });
        }
        self.register_region(&RegionConfig {
            stag: config.stag,
            rights: config.rights,
            protection_domain: region.protection_domain,
            connection: Some(config.connection),
            tagged_offset: config.tagged_offset,
            octets: config.octets,
            address: region.address.wrapping_add(config.offset),
        })?;
        self.windows.insert(config.stag >> 8, region.stag >> 8);
        Ok(())
    }

    /// Close a window. When this returns, nothing is written under its STag any more.
    ///
    /// # Errors
    /// [`DriverError::Unknown`] if there is no window of that STag.
    pub fn unbind_window(&mut self, stag: u32) -> Result<(), DriverError> {
        if !self.windows.contains_key(&(stag >> 8)) {
            return Err(DriverError::Unknown {
                what: "window with STag",
                id: u64::from(stag),
            });
        }
        self.take_region(stag)?;
        self.windows.remove(&(stag >> 8));
        Ok(())
    }

    /// A region may change or go: it is no window, and has none.
    pub(crate) fn check_no_window(&self, stag: u32) -> Result<(), DriverError> {
        let refuse = |reason| Err(DriverError::Window { stag, reason });
        if self.windows.contains_key(&(stag >> 8)) {
            return refuse("is a window; unbind it, and bind it again");
        }
        if self.windows.values().any(|&region| region == stag >> 8) {
            return refuse("has windows; unbind them first");
        }
        Ok(())
    }

    /// Take everything away that is bound to a connection: windows, then regions.
    pub(crate) fn deregister_bound(&mut self, connection: Connection) -> Result<(), DriverError> {
        let regions = self.regions.iter().flatten();
        let bound = regions.filter(|region| region.connection == Some(connection));
        let stags: Vec<u32> = bound.map(|region| region.stag).collect();
        let (windows, regions): (Vec<u32>, Vec<u32>) = stags
            .into_iter()
            .partition(|stag| self.windows.contains_key(&(stag >> 8)));
        windows
            .into_iter()
            .try_for_each(|stag| self.unbind_window(stag))?;
        regions
            .into_iter()
            .try_for_each(|stag| self.deregister_region(stag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{connected, device, NoMemory, Tables};
    use rnic_abi::tables::{REGION, RIGHT_REMOTE_WRITE, RIGHT_STREAM_BOUND};

    const REGION_STAG: u32 = 0x0011_1111;
    const WINDOW_STAG: u32 = 0x0022_2222;

    fn region() -> RegionConfig {
        RegionConfig {
            stag: REGION_STAG,
            rights: 0,
            protection_domain: 3,
            connection: None,
            tagged_offset: 0x5000,
            octets: 0x1000,
            address: 0x9_0000,
        }
    }

    fn window(connection: Connection) -> WindowConfig {
        WindowConfig {
            stag: WINDOW_STAG,
            region: REGION_STAG,
            connection,
            rights: RIGHT_REMOTE_WRITE,
            tagged_offset: 0,
            offset: 0x800,
            octets: 0x800,
        }
    }

    fn with_window() -> (Device<Tables, NoMemory>, Connection) {
        let (mut device, connection) = connected();
        device.register_region(&region()).expect("there is room");
        device
            .bind_window(&window(connection))
            .expect("it is inside");
        (device, connection)
    }

    fn refused(device: &mut Device<Tables, NoMemory>, config: &WindowConfig) -> bool {
        let bound = device.bind_window(config);
        matches!(bound, Err(DriverError::Window { .. }))
    }

    /// DDP-048: the entry names one connection, and the window's part of the region.
    #[test]
    fn a_window_is_a_region_bound_to_its_connection() {
        let (device, connection) = with_window();
        let words = device.bar.written[&(REGION, 1)];
        assert_eq!(words[0] & 0x1f, RIGHT_REMOTE_WRITE | RIGHT_STREAM_BOUND);
        assert_eq!(words[1] >> 16, u32::from(connection.0));
        assert_eq!((words[2], words[4]), (0, 0x800));
        assert_eq!(words[6], 0x9_0800);
    }

    #[test]
    fn a_window_reaches_to_the_regions_last_octet_and_no_further() {
        let (mut device, connection) = connected();
        device.register_region(&region()).expect("there is room");
        for (offset, octets) in [(0x800, 0x801), (0x1001, 0), (u64::MAX, 2), (2, u64::MAX)] {
            let config = WindowConfig {
                offset,
                octets,
                ..window(connection)
            };
            let bound = device.bind_window(&config);
            let is_outside = matches!(bound, Err(DriverError::Configuration { .. }));
            assert!(is_outside, "{offset:#x}, {octets:#x}");
        }
        let whole = WindowConfig {
            offset: 0,
            octets: 0x1000,
            ..window(connection)
        };
        device.bind_window(&whole).expect("it is inside");
    }

    #[test]
    fn a_region_stays_as_it_is_under_its_windows() {
        let (mut device, _) = with_window();
        for stag in [REGION_STAG, WINDOW_STAG] {
            let renewed = device.renew_region(&RegionConfig { stag, ..region() });
            let gone = device.deregister_region(stag);
            assert!(
                matches!(renewed, Err(DriverError::Window { .. })),
                "{stag:#x}"
            );
            assert!(matches!(gone, Err(DriverError::Window { .. })), "{stag:#x}");
        }
        device.unbind_window(WINDOW_STAG).expect("it is bound");
        device
            .deregister_region(REGION_STAG)
            .expect("nothing is bound");
        let again = device.unbind_window(WINDOW_STAG);
        assert!(matches!(again, Err(DriverError::Unknown { .. })));
    }

    #[test]
    fn windows_are_opened_only_of_what_is_the_connections() {
        let (mut device, connection) = with_window();
        let another = WindowConfig {
            stag: 0x0033_3333,
            ..window(connection)
        };
        let within = WindowConfig {
            region: WINDOW_STAG,
            ..another
        };
        assert!(refused(&mut device, &within), "a window in a window");
        let old_key = WindowConfig {
            region: REGION_STAG ^ 1,
            ..another
        };
        assert!(refused(&mut device, &old_key), "another key");
        let foreign = RegionConfig {
            stag: 0x0044_4444,
            protection_domain: 4,
            ..region()
        };
        let bound = RegionConfig {
            stag: 0x0055_5555,
            connection: Some(Connection(connection.0 + 1)),
            ..region()
        };
        let open_to_peers = RegionConfig {
            stag: 0x0066_6666,
            rights: RIGHT_REMOTE_INVALIDATE,
            ..region()
        };
        for config in [foreign, bound, open_to_peers] {
            device.register_region(&config).expect("there is room");
            let region = config.stag;
            let window = WindowConfig { region, ..another };
            assert!(refused(&mut device, &window), "{config:?}");
        }
        let closed = WindowConfig {
            connection: Connection(connection.0 + 1),
            ..another
        };
        let bound = device.bind_window(&closed);
        assert!(matches!(bound, Err(DriverError::Unknown { .. })));
        device.bind_window(&another).expect("a second one is fine");
    }

    /// The next connection of that id finds none of it.
    #[test]
    fn what_is_bound_to_a_connection_goes_with_it() {
        let (mut device, connection) = with_window();
        let bound = RegionConfig {
            stag: 0x0077_7777,
            connection: Some(connection),
            ..region()
        };
        device.register_region(&bound).expect("there is room");
        device.close_connection(connection).expect("it is open");
        let is_valid = |entry| device.bar.written[&(REGION, entry)][0] >> 31 == 1;
        assert_eq!([0, 1, 2].map(is_valid), [true, false, false]);
        device
            .deregister_region(REGION_STAG)
            .expect("no window is left");
    }

    #[test]
    fn without_a_region_there_is_no_window() {
        let config = window(Connection(0));
        let bound = device().bind_window(&config);
        assert!(matches!(bound, Err(DriverError::Unknown { .. })));
    }
}
