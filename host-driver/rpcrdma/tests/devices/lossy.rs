//! A wire between two devices that loses frames.

use rnic_device::hub::medium::Counts;
use rnic_device::hub::record::Record;
use rnic_device::hub::{Rate, Records, Running, Settings};
use rnic_device::link::LinkKind;
use rnic_output::Claims;
use std::path::Path;
use tempfile::TempDir;

/// A hub with a port for each device, on a thread.
pub struct Wire {
    /// Links of the devices.
    pub links: [String; 2],
    hub: Running,
    _folder: TempDir,
}

impl Wire {
    /// One that loses frames of both ends at this rate. What it delivers is written into a capture.
    pub fn new(loss: f64, capture: Option<&Path>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = [0, 1].map(|port| folder.path().join(format!("wire{port}")));
        let links = [0, 1].map(|port: usize| format!("unix-connect:{}", paths[port].display()));
        let settings = Settings {
            loss: Rate::new(loss).expect("it is one"),
            seed: 51,
            ..Settings::default()
        };
        let record = capture.map(|path| {
            let output = Claims::new().output_over_capture("the capture", path);
            let output = output.expect("a file");
            Record::begin(output, ["client", "server"]).expect("there is room")
        });
        let records = Records {
            delivered: record,
            dropped: None,
        };
        let hub = Running::open(&paths.map(LinkKind::Unix), settings, records);
        Self {
            links,
            hub: hub.expect("it listens"),
            _folder: folder,
        }
    }

    /// What has become of the frames of each end.
    pub fn counts(self) -> Vec<Counts> {
        self.hub.end().expect("the hub has not failed")
    }
}
