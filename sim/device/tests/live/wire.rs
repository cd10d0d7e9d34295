//! A wire with faults: a hub on a thread of the test.

use rnic_device::hub::medium::Counts;
use rnic_device::hub::record::Record;
use rnic_device::hub::{Hub, Records, Settings};
use rnic_device::link::LinkKind;
use rnic_output::Claims;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

/// Joins all its ports until it is dropped.
pub struct Wire {
    end: Option<std::os::unix::net::UnixStream>,
    thread: Option<JoinHandle<Vec<Counts>>>,
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
        let (end, theirs) = std::os::unix::net::UnixStream::pair().expect("sockets");
        let ports: Vec<PathBuf> = (0..ports)
            .map(|port| folder.join(format!("port{port}")))
            .collect();
        let tap = tap.map(|name| LinkKind::Tap(name.to_owned()));
        let sockets = ports.iter().cloned().map(LinkKind::Unix);
        let kinds: Vec<LinkKind> = sockets.chain(tap).collect();
        let capture = folder.join("delivered.pcapng");
        let (ready, is_ready) = mpsc::channel();
        let path = capture.clone();
        let thread = thread::spawn(move || {
            let links = kinds
                .iter()
                .map(|kind| kind.open_privately().expect("it listens"));
            let output = Claims::new().output("--pcap", &path).expect("a new file");
            let record = Record::begin(output, ["1", "2", "3"].into_iter().take(kinds.len()));
            let records = Records {
                delivered: Some(record.expect("there is room")),
                dropped: None,
            };
            let hub = Hub::new(links.collect(), settings, records, theirs.into());
            let mut hub = hub.expect("ports enough");
            ready.send(()).expect("it is waited for");
            hub.run().expect("it runs to the end");
            hub.counts()
        });
        is_ready.recv().expect("it is there");
        Self {
            end: Some(end),
            thread: Some(thread),
            ports,
            capture,
        }
    }

    /// End it; what has become of the frames of each port.
    pub fn end(&mut self) -> Vec<Counts> {
        self.end.take();
        let thread = self.thread.take();
        thread.map_or(Vec::new(), |thread| {
            thread.join().expect("it does not panic")
        })
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
