//! The device under test, and what every check does with it: send, receive, wait.

use crate::outcome::Failure;
use rnic_driver::bus::AnyDevice;
use rnic_driver::{InterruptSource, Piece, TransmitFrame, TransmitResult, TransmitRing};
use std::time::{Duration, Instant};

/// Vector of the host receive ring.
pub(super) const HOST_VECTOR: u8 = 0;

/// The device, and how long whatever is expected of it may take.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) device: AnyDevice,
    pub(super) patience: Duration,
}

impl Bench {
    pub(super) fn new(device: AnyDevice, patience: Duration) -> Self {
        Self { device, patience }
    }

    /// From here on the device receives what it sends, and nothing else; what the wire brought
    /// before is dropped.
    pub(super) fn begin(&mut self) -> Result<(), Failure> {
        self.device.set_loopback(true)?;
        self.device
            .route_interrupt(InterruptSource::HostFrame, Some(HOST_VECTOR))?;
        self.drop_host_frames();
        Ok(())
    }

    pub(super) fn drop_host_frames(&mut self) {
        while self.device.poll_host_frame().is_some() {}
    }

    /// Send a frame, in two pieces, and wait until the device has taken its octets.
    pub(super) fn send(&mut self, ring: TransmitRing, frame: &[u8]) -> Result<(), Failure> {
        let (head, rest) = frame.split_at(frame.len() / 2);
        self.device.transmit(
            ring,
            &TransmitFrame {
                pieces: &[Piece::Octets(head), Piece::Octets(rest)],
                checksum: None,
                crc: None,
                cookie: 1,
            },
        )?;
        let name = ring.name();
        let what = format!("the result of a frame on the {name} ring");
        let sent = self.until(&what, |device| Ok(device.poll_transmitted()?))?;
        match (sent.ring == ring, sent.result) {
            (true, TransmitResult::Sent) => Ok(()),
            (_, other) => Err(format!("a frame on the {name} ring: {other:?}").into()),
        }
    }

    /// The next frame of the host receive ring.
    pub(super) fn host_frame(&mut self) -> Result<Vec<u8>, Failure> {
        let what = "a frame that was sent";
        self.until(what, |device| Ok(device.poll_host_frame()))
    }

    /// Poll until there is something.
    pub(super) fn until<T>(
        &mut self,
        what: &str,
        poll: impl Fn(&mut AnyDevice) -> Result<Option<T>, Failure>,
    ) -> Result<T, Failure> {
        let began = Instant::now();
        loop {
            if let Some(found) = poll(&mut self.device)? {
                return Ok(found);
            }
            // A device that is gone, or served and quiet, is found out by an access.
            self.device.check_present()?;
            if began.elapsed() > self.patience {
                let seconds = self.patience.as_secs();
                return Err(format!("{what} has not come in {seconds} s").into());
            }
            std::thread::yield_now();
        }
    }
}
