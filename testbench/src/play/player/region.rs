//! A region of a flow: registered with every receiver, and taken from every one.

use crate::play::dut::{each, Dut};
use rnic_driver::{DriverError, RegionConfig, WindowConfig};
use std::collections::BTreeSet;

/// A region of a flow.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) config: RegionConfig,
    /// Registered with the connection.
    pub(super) initial: bool,
    /// Frames before which it must be made valid again.
    pub(super) renewals: Vec<usize>,
    /// The first and the last frame that uses it; none if it is only there.
    pub(super) used: Option<(usize, usize)>,
    /// Taken away by a hostile action.
    pub(super) revoked: bool,
    /// Its place in the plan.
    pub(super) place: usize,
    /// The region that it is a window of, and the octets of that region before it.
    pub(super) parent: Option<(RegionConfig, u64)>,
}

/// A region that several flows use.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) config: RegionConfig,
    /// The open flows among them.
    pub(super) users: BTreeSet<usize>,
}

impl Region {
    /// Give it to every receiver.
    pub(super) fn register(&self, duts: &mut [Box<dyn Dut>]) -> Result<(), DriverError> {
        let Some((parent, offset)) = self.parent else {
            return each(duts, |dut| dut.register(&self.config));
        };
        let RegionConfig {
            stag,
            rights,
            tagged_offset,
            octets,
            ..
        } = self.config;
        let window = WindowConfig {
            stag,
            region: parent.stag,
            connection: self.config.connection.expect("windows are bound"),
            rights,
            tagged_offset,
            offset,
            octets,
        };
        each(duts, |dut| dut.register(&parent))?;
        each(duts, |dut| dut.bind(&window, &self.config))
    }

    /// Take it from every receiver.
    pub(super) fn deregister(&self, duts: &mut [Box<dyn Dut>]) -> Result<(), DriverError> {
        let stag = self.config.stag;
        match self.parent {
            None => each(duts, |dut| dut.deregister(stag)),
            Some((parent, _)) => {
                each(duts, |dut| dut.unbind(stag))?;
                each(duts, |dut| dut.deregister(parent.stag))
            }
        }
    }

    /// Take the region that it is a window of; the window has gone with its connection.
    pub(super) fn close_parent(&self, duts: &mut [Box<dyn Dut>]) -> Result<(), DriverError> {
        match self.parent {
            Some((parent, _)) => each(duts, |dut| dut.deregister(parent.stag)),
            None => Ok(()),
        }
    }
}
