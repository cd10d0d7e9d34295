//! Who answers for a device: the device itself, which is opened for it, or its owner's monitor.

use crate::address::Address;
use crate::outcome::Failure;
use rnic_abi::counters::ALL;
use rnic_driver::bus::{self, AnyDevice, OpenError};
use rnic_driver::monitor::{
    report, Body, Client, ConnectionReport, Info, MonitorError, RegionReport, Request,
};
use rnic_driver::Config;
use std::collections::BTreeMap;
use std::time::Duration;

/// Time in which an application serves its monitor, however long a turn of its loop takes.
pub(crate) const MONITOR_PATIENCE: Duration = Duration::from_secs(5);

/// Rings that are not used, so that opening is quick and locks little memory.
pub(crate) const SMALL: fn() -> Config = || Config {
    completion_entries_log2: 6,
    host_slots_log2: 4,
    event_entries_log2: 6,
    ..Config::default()
};

/// Who answers.
pub(crate) enum Source {
    /// The device, which this process has opened and thereby reset.
    Device(Box<AnyDevice>),
    /// The application that has it open.
    Monitor(Client),
}

/// Names and values of counters, in the order of the device; those that only the other side knows
/// come last.
pub(crate) type Values = Vec<(String, u32)>;

/// The driver knows of devices alone; here an owner's monitor has an address, too.
fn with_monitors(error: OpenError) -> Failure {
    match error {
        OpenError::Address { .. } => format!(
            "{error}; write monitor:PATH, as `rnicctl list` prints it, for one that a program has \
             open"
        )
        .into(),
        error => error.into(),
    }
}

impl Source {
    /// Opens the device, or finds that its owner answers.
    pub(crate) fn open(address: &Address) -> Result<Self, Failure> {
        Ok(match address {
            Address::Device(address) => {
                let opened = bus::open(address, SMALL());
                Self::Device(Box::new(opened.map_err(with_monitors)?))
            }
            Address::Monitor(path) => Self::Monitor(Client::new(path, MONITOR_PATIENCE)),
        })
    }

    pub(crate) fn info(&mut self) -> Result<Info, Failure> {
        match self.ask(Request::Info)? {
            Body::Info(info) => Ok(info),
            other => Err(unexpected(&other)),
        }
    }

    pub(crate) fn counters(&mut self) -> Result<Values, Failure> {
        match self.ask(Request::Counters)? {
            Body::Counters(counters) => Ok(in_order(counters)),
            other => Err(unexpected(&other)),
        }
    }

    /// `None`: the device was just opened, so it has none.
    pub(crate) fn regions(&mut self) -> Result<Option<Vec<RegionReport>>, MonitorError> {
        match self {
            Self::Device(_) => Ok(None),
            Self::Monitor(client) => client.regions().map(Some),
        }
    }

    /// `None`: the device was just opened, so it has none.
    pub(crate) fn connections(&mut self) -> Result<Option<Vec<ConnectionReport>>, MonitorError> {
        match self {
            Self::Device(_) => Ok(None),
            Self::Monitor(client) => client.connections().map(Some),
        }
    }

    /// Resets a device that was opened; no other device is disturbed.
    pub(crate) fn close(self) -> Result<(), Failure> {
        if let Self::Device(device) = self {
            device.close()?;
        }
        Ok(())
    }

    fn ask(&mut self, request: Request) -> Result<Body, Failure> {
        let body = match self {
            Self::Device(device) => report(device, request),
            Self::Monitor(client) => client.ask(request)?,
        };
        match body {
            Body::Error(reason) => Err(reason.into()),
            body => Ok(body),
        }
    }
}

fn unexpected(body: &Body) -> Failure {
    format!("the monitor answered another question: {body:?}; ask it again").into()
}

fn in_order(mut counters: BTreeMap<String, u32>) -> Values {
    let known = ALL.iter().filter_map(|counter| {
        let name = counter.name();
        counters.remove_entry(name)
    });
    let mut values: Values = known.collect();
    values.extend(counters);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_in_the_order_of_the_device_and_unknown_ones_last() {
        let counters = [("fpdus", 1), ("a_new_one", 2), ("frames", 3)];
        let counters = counters.map(|(name, value)| (name.to_owned(), value));
        let values = in_order(counters.clone().into());
        let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["frames", "fpdus", "a_new_one"]);
    }
}
