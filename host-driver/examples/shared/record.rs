//! Frames of an endpoint into a pcapng capture: an interface for each way.

use rnic_capture::pcapng;
use rnic_driver::verbs::endpoint::{Tap, Way};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A tap that writes `path` anew. What can no longer be written ends the capture, not the program.
///
/// # Errors
/// The file cannot be made.
pub fn record(path: &Path) -> Result<Tap, String> {
    let failed = |error| format!("--pcap {}: {error}", path.display());
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    let head = pcapng::head(["received", "sent"]);
    file.write_all(&head).map_err(failed)?;
    Ok(Tap::new(move |way, frame: &[u8]| {
        let interface = match way {
            Way::Received => 0,
            Way::Sent => 1,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let microseconds = now.map_or(0, |now| now.as_micros() as u64);
        let block = pcapng::frame(interface, microseconds, frame);
        // Whole blocks: the capture can be read whenever the program ends.
        let _ = file.write_all(&block).and_then(|()| file.flush());
    }))
}
