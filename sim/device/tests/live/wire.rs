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
    /// Frames that were lost: what comes again is compared with them.
    pub dropped: PathBuf,
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
        let [capture, dropped] = ["delivered", "dropped"].map(|name| {
            let path = folder.join(name);
            path.with_extension("pcapng")
        });
        let mut claims = Claims::new();
        let mut begin = |option: &'static str, path: &Path| {
            let output = claims.output(option, path).expect("a new file");
            let names = ["1", "2", "3"].into_iter().take(kinds.len());
            Record::begin(output, names).expect("there is room")
        };
        let records = Records {
            delivered: Some(begin("--pcap", &capture)),
            dropped: Some(begin("--dropped", &dropped)),
        };
        let hub = Running::open(&kinds, settings, records).expect("ports enough");
        Self {
            hub: Some(hub),
            ports,
            capture,
            dropped,
        }
    }

    /// End it; what has become of the frames of each port.
    pub fn end(&mut self) -> Vec<Counts> {
        let hub = self.hub.take();
        hub.map_or(Vec::new(), |hub| hub.end().expect("it runs to the end"))
    }
}
