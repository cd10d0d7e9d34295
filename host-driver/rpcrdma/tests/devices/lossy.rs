//! A wire between two devices that loses frames.

use rnic_device::hub::medium::Counts;
use rnic_device::hub::record::Record;
use rnic_device::hub::{Hub, Rate, Records, Settings};
use rnic_device::link::LinkKind;
use rnic_output::Claims;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use tempfile::TempDir;

/// A hub with a port for each device, on a thread.
pub struct Wire {
    /// What the devices are told.
    pub links: [String; 2],
    thread: JoinHandle<Vec<Counts>>,
    end: UnixStream,
    _folder: TempDir,
}

impl Wire {
    /// One that loses frames of both ends at this rate. What it delivers is written into a capture.
    pub fn new(loss: f64, capture: Option<&Path>) -> Self {
        let capture = capture.map(Path::to_owned);
        let folder = tempfile::tempdir().expect("a folder");
        let paths = [0, 1].map(|port| folder.path().join(format!("wire{port}")));
        let links = [0, 1].map(|port: usize| format!("unix-connect:{}", paths[port].display()));
        let (end, is_ending) = UnixStream::pair().expect("sockets");
        let (ready, is_ready) = mpsc::channel();
        let thread = thread::spawn(move || {
            let open = |path| LinkKind::Unix(path).open_privately().expect("it listens");
            let ports = paths.into_iter().map(open).collect();
            let settings = Settings {
                loss: Rate::new(loss).expect("it is one"),
                seed: 51,
                ..Settings::default()
            };
            let record = capture.map(|path| {
                let output = Claims::new().output_over_capture("the capture", &path);
                let output = output.expect("a file");
                Record::begin(output, ["client", "server"]).expect("there is room")
            });
            let records = Records {
                delivered: record,
                dropped: None,
            };
            let hub = Hub::new(ports, settings, records, is_ending.into());
            let mut hub = hub.expect("two ports");
            ready.send(()).expect("it waits");
            hub.run().expect("the ports are there");
            hub.counts()
        });
        is_ready.recv().expect("the hub runs");
        Self {
            links,
            thread,
            end,
            _folder: folder,
        }
    }

    /// What has become of the frames of each end.
    pub fn counts(self) -> Vec<Counts> {
        drop(self.end);
        self.thread.join().expect("the hub has not failed")
    }
}
