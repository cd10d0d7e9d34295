//! Frames into a pcapng capture, an interface for each way: little endian, microseconds.
//!
//! Three blocks of few fields, which are written here: a library would bring a parser with it.
//!
//! ```text
//!  section header, 28 octets | interface "received" | interface "sent" | a packet for each frame
//! ```

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// Which way a frame went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the wire, by the host ring.
    Received,
    /// To the wire.
    Sent,
}

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// By its octets a reader learns their order.
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Major 1, minor 0.
const VERSION: u32 = 1;
const LINK_ETHERNET: u32 = 1;
const OPTION_NAME: u16 = 2;
/// Octets of a block but its body: type and length, and the length again.
const FRAME_OCTETS: usize = 12;
/// In the order of [`number`].
const INTERFACES: [&str; 2] = ["received", "sent"];

/// The interface of a way.
fn number(way: Way) -> u32 {
    match way {
        Way::Received => 0,
        Way::Sent => 1,
    }
}

fn push_word(octets: &mut Vec<u8>, word: u32) {
    octets.extend_from_slice(&word.to_le_bytes());
}

/// Zeros up to a whole word.
fn pad(octets: &mut Vec<u8>) {
    octets.resize(octets.len().next_multiple_of(4), 0);
}

/// A block of a padded body.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let octets = (body.len() + FRAME_OCTETS) as u32;
    let mut block = Vec::with_capacity(octets as usize);
    push_word(&mut block, kind);
    push_word(&mut block, octets);
    block.extend_from_slice(body);
    push_word(&mut block, octets);
    block
}

/// What a capture begins with.
fn head() -> Vec<u8> {
    let mut body = Vec::new();
    push_word(&mut body, BYTE_ORDER_MAGIC);
    push_word(&mut body, VERSION);
    // Octets of the section are not known beforehand.
    body.extend_from_slice(&u64::MAX.to_le_bytes());
    let mut octets = block(SECTION_HEADER, &body);
    for name in INTERFACES {
        let mut body = Vec::new();
        push_word(&mut body, LINK_ETHERNET);
        // Frames have no length at which they are cut.
        push_word(&mut body, 0);
        body.extend_from_slice(&OPTION_NAME.to_le_bytes());
        body.extend_from_slice(&(name.len() as u16).to_le_bytes());
        body.extend_from_slice(name.as_bytes());
        pad(&mut body);
        // The end of the options.
        push_word(&mut body, 0);
        octets.extend(block(INTERFACE_DESCRIPTION, &body));
    }
    octets
}

/// What is added for a frame, `microseconds` after 1 January 1970.
fn packet(way: Way, microseconds: u64, frame: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(frame.len() + 24);
    push_word(&mut body, number(way));
    push_word(&mut body, (microseconds >> 32) as u32);
    push_word(&mut body, microseconds as u32);
    // As many octets were captured as there were.
    push_word(&mut body, frame.len() as u32);
    push_word(&mut body, frame.len() as u32);
    body.extend_from_slice(frame);
    pad(&mut body);
    block(ENHANCED_PACKET, &body)
}

/// A capture that is being written.
pub(super) struct Capture<W: Write> {
    /// None any more after an error: what follows half of a block cannot be read.
    writer: Option<W>,
}

impl<W: Write> Capture<W> {
    /// Begin one.
    ///
    /// # Errors
    /// Those of the writer.
    pub(super) fn begin(mut writer: W) -> io::Result<Self> {
        writer.write_all(&head())?;
        writer.flush()?;
        Ok(Self {
            writer: Some(writer),
        })
    }

    /// Add a frame that goes by now. Whole blocks are written and flushed: the capture can be read
    /// whenever the program ends.
    pub(super) fn add(&mut self, way: Way, frame: &[u8]) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let microseconds = now.map_or(0, |now| now.as_micros() as u64);
        let block = packet(way, microseconds, frame);
        let Some(writer) = &mut self.writer else {
            return;
        };
        let written = writer.write_all(&block).and_then(|()| writer.flush());
        if let Err(error) = written {
            log::warn!("the capture has ended: {error}");
            self.writer = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes that are not more than so many octets in all.
    struct Limited(Vec<u8>, usize);

    impl Write for Limited {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            let count = octets.len().min(self.1 - self.0.len());
            self.0.extend_from_slice(&octets[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_capture_whose_writer_is_full_ends() {
        let limit = head().len() + packet(Way::Sent, 0, &[0; 60]).len() + 50;
        let mut capture = Capture::begin(Limited(Vec::new(), limit)).expect("room for the head");
        capture.add(Way::Sent, &[1; 60]);
        assert!(capture.writer.is_some());
        capture.add(Way::Received, &[2; 60]);
        assert!(capture.writer.is_none());
        capture.add(Way::Received, &[3; 1]);
        Capture::begin(Limited(Vec::new(), 10))
            .map(drop)
            .expect_err("no room");
    }
}
