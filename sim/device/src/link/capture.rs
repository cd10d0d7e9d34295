//! `pcap:FILE`: a capture, played from its beginning for each client, as `rnic play` reads it:
//! checksums filled in, long frames cut.

use super::end::{Link, LinkError};
use rnic_capture::ReadOptions;
use std::path::Path;

/// A capture.
#[derive(Debug)]
pub(super) struct CaptureLink {
    frames: Vec<Vec<u8>>,
    /// The next frame; none until the device has sent one.
    next: Option<usize>,
}

impl CaptureLink {
    pub(super) fn read(path: &Path) -> Result<Self, LinkError> {
        let opened = rnic_capture::open(path, &ReadOptions::default())?;
        Ok(Self {
            frames: opened.capture.frames,
            next: None,
        })
    }
}

impl Link for CaptureLink {
    fn restart(&mut self) {
        self.next = None;
    }

    fn has_frame(&self) -> bool {
        self.next.is_some_and(|next| next < self.frames.len())
    }

    fn receive(&mut self) -> Result<Option<Vec<u8>>, LinkError> {
        let Some(next) = &mut self.next else {
            return Ok(None);
        };
        let frame = self.frames.get(*next).cloned();
        *next += usize::from(frame.is_some());
        Ok(frame)
    }

    fn send(&mut self, _frame: &[u8]) -> Result<bool, LinkError> {
        self.next.get_or_insert(0);
        Ok(true)
    }
}
