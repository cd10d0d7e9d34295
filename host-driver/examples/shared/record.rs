//! Frames of an endpoint into a pcapng capture.

use rnic_driver::verbs::endpoint::Tap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// A tap that writes `path` anew.
///
/// # Errors
/// The file cannot be made.
pub fn record(path: &Path) -> Result<Tap, String> {
    let file = File::create(path);
    let tap = file.and_then(|file| Tap::pcapng(BufWriter::new(file)));
    tap.map_err(|error| format!("--pcap {}: {error}", path.display()))
}
