//! A wire with faults: a hub on a thread of its own.

use rnic_device::hub::medium::Counts;
use rnic_device::hub::record::Record;
use rnic_device::hub::{Records, Running, Settings};
use rnic_device::link::LinkKind;
use rnic_output::Claims;
use std::path::{Path, PathBuf};

/// Joins all its ports until it is ended or dropped.
pub struct Wire {
    hub: Option<Running>,
    pub ports: Vec<PathBuf>,
    /// Frames as they were delivered.
    pub capture: PathBuf,
}

impl Wire {
    /// Sockets in `folder` for ports.
    pub fn new(folder: &Path, ports: usize, settings: Settings) -> Self {
        Self::with_tap(folder, ports, None, settings)
    }

    /// As [`Wire::new`], and one more port, an interface of Linux of this name.
    pub fn with_tap(folder: &Path, ports: usize, tap: Option<&str>, settings: Settings) -> Self {
        let ports: Vec<PathBuf> = (0..ports)
            .map(|port| folder.join(format!("port{port}")))
            .collect();
        let tap = tap.map(|name| LinkKind::Tap(name.to_owned()));
        let sockets = ports.iter().cloned().map(LinkKind::Unix);
        let kinds: Vec<LinkKind> = sockets.chain(tap).collect();
        let capture = folder.join("delivered.pcapng");
        let output = Claims::new().output("--pcap", &capture);
        let names = ["1", "2", "3"].into_iter().take(kinds.len());
        let record = Record::begin(output.expect("a new file"), names);
        let records = Records {
            delivered: Some(record.expect("there is room")),
            dropped: None,
        };
        let hub = Running::open(&kinds, settings, records).expect("ports enough");
        Self {
            hub: Some(hub),
            ports,
            capture,
        }
    }

    /// End it; what has become of the frames of each port.
    pub fn end(&mut self) -> Vec<Counts> {
        let hub = self.hub.take();
        hub.map_or(Vec::new(), |hub| hub.end().expect("it runs to the end"))
    }
}
