//! Frames of the endpoint's own, for whoever writes captures.
//!
//! ```text
//!  host ring --> interface, TCP          staged --> rings
//!       |                                   |
//!       +--> Way::Received                  +--> Way::Sent: gathered, CRC and checksum put in
//! ```
//!
//! Frames of connections in full operation do not come to the host, so what they carry is not here:
//! a hub, or a switch's mirror port, sees that.

use super::pcapng::{Capture, Way};
use crate::device::access::Dma;
use crate::device::rings::{Piece, TransmitFrame};
use rnic_wire::mpa::crc32c;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Called with each frame, without FCS, on the thread that has it: it must be quick, and call
/// nothing of the endpoint.
type Observer = dyn FnMut(Way, &[u8]) + Send;

/// Who sees the frames of an endpoint. Clones are the same one.
///
/// ```
/// use rnic_driver::verbs::endpoint::{Tap, Way};
///
/// let tap = Tap::new(|way, frame: &[u8]| match way {
///     Way::Received => println!("{} octets came", frame.len()),
///     Way::Sent => println!("{} octets left", frame.len()),
/// });
/// // settings.tap = Some(tap);
/// # drop(tap);
/// ```
#[derive(Clone)]
pub struct Tap(Arc<Mutex<Observer>>);

impl Tap {
    /// `observer` sees every frame, in order.
    pub fn new(observer: impl FnMut(Way, &[u8]) + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(observer)))
    }

    /// Every frame goes into `writer`, a new file as a rule, as pcapng with an interface for each
    /// way. Each is written and flushed at once; what can no longer be written ends the capture,
    /// with a record of level warn, and not the endpoint.
    ///
    /// ```no_run
    /// use rnic_driver::verbs::endpoint::{EndpointSettings, Tap};
    /// use std::fs::File;
    /// use std::io::{self, BufWriter};
    ///
    /// fn capture(settings: &mut EndpointSettings) -> io::Result<()> {
    ///     let file = BufWriter::new(File::create("endpoint.pcapng")?);
    ///     settings.tap = Some(Tap::pcapng(file)?);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// Those of the writer at the head of the capture.
    pub fn pcapng(writer: impl Write + Send + 'static) -> io::Result<Self> {
        let mut capture = Capture::begin(writer)?;
        Ok(Self::new(move |way, frame: &[u8]| capture.add(way, frame)))
    }

    pub(super) fn show(&self, way: Way, frame: &[u8]) {
        let mut observer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        observer(way, frame);
    }

    /// A frame that the device is to gather and complete.
    pub(super) fn show_sent(&self, frame: &TransmitFrame<'_>, memory: &impl Dma) {
        let mut octets = Vec::with_capacity(frame.octets());
        for piece in frame.pieces {
            match *piece {
                Piece::Octets(run) => octets.extend_from_slice(run),
                Piece::Memory(run) => {
                    let at = octets.len();
                    octets.resize(at + run.octets, 0);
                    memory.read(run.address, &mut octets[at..]);
                }
            }
        }
        complete(frame, &mut octets);
        self.show(Way::Sent, &octets);
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tap")
    }
}

/// What the device inserts (`rnic_abi::transmit_ring`); a frame that it refuses stays as it is.
fn complete(frame: &TransmitFrame<'_>, octets: &mut [u8]) {
    if let Some(crc) = frame.crc {
        let end = crc.first + crc.octets;
        let field = octets.get(crc.first..end).map(crc32c::field);
        let place = octets.get_mut(end..end + crc32c::CRC_OCTETS);
        if let (Some(field), Some(place)) = (field, place) {
            place.copy_from_slice(&field);
        }
    }
    if let Some(checksum) = frame.checksum {
        let covered = octets.get(checksum.start..).unwrap_or_default();
        let words = covered.chunks(2);
        let mut sum: u64 = words
            .map(|word| u64::from(word[0]) << 8 | word.get(1).copied().map_or(0, u64::from))
            .sum();
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        if let Some(place) = octets.get_mut(checksum.place..checksum.place + 2) {
            place.copy_from_slice(&(!(sum as u16)).to_be_bytes());
        }
    }
}
