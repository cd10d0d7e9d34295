//! Frames of a hub into a pcapng capture: an interface for each port, by which a frame came in.

use rnic_capture::pcapng;
use rnic_output::{Output, OutputError};
use std::time::{SystemTime, UNIX_EPOCH};

/// A capture that is being written.
#[derive(Debug)]
pub struct Record {
    output: Output,
    /// When the hub began, in microseconds of 1970.
    begun_us: u64,
}

impl Record {
    /// Begin a capture with ports of these names; its time begins now.
    ///
    /// # Errors
    /// There is no room for its head.
    pub fn begin<'a>(
        mut output: Output,
        ports: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, OutputError> {
        output.write(&pcapng::head(ports))?;
        let begun = SystemTime::now().duration_since(UNIX_EPOCH);
        let begun_us = begun.map_or(0, |begun| begun.as_micros() as u64);
        Ok(Self { output, begun_us })
    }

    /// A frame that came in at port number `port`, `now` microseconds after the beginning.
    pub(super) fn frame(&mut self, port: usize, now: u64, frame: &[u8]) -> Result<(), OutputError> {
        let block = pcapng::frame(port as u32, self.begun_us + now, frame);
        self.output.write(&block)
    }

    pub(super) fn finish(self) -> Result<(), OutputError> {
        self.output.finish()
    }
}
