//! Frames into a capture file: classic pcap, little endian, microseconds, Ethernet.

use std::io::{self, Write};

const MAGIC: u32 = 0xa1b2_c3d4;
const VERSION: [u16; 2] = [2, 4];
const SNAP_LENGTH: u32 = 1 << 18;
const LINK_ETHERNET: u32 = 1;
const MICROSECONDS: u64 = 1_000_000;
/// Time of the first frame of a generated capture, and of each frame after the one before.
const START_MICROSECONDS: u64 = 1_700_000_000_000_000;
const FRAME_MICROSECONDS: u64 = 13;

/// The capture file of `frames` without timestamps: they follow each other evenly.
pub fn capture_file<'a>(frames: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new()).expect("memory takes all");
    for (number, frame) in frames.into_iter().enumerate() {
        let time = START_MICROSECONDS + FRAME_MICROSECONDS * number as u64;
        writer.frame(time, frame).expect("memory takes all");
    }
    writer.finish().expect("memory takes all")
}

/// Writes one capture file.
#[derive(Debug)]
pub struct PcapWriter<W: Write> {
    output: W,
}

impl<W: Write> PcapWriter<W> {
    /// Begin a file.
    pub fn new(mut output: W) -> io::Result<Self> {
        output.write_all(&MAGIC.to_le_bytes())?;
        for half in VERSION {
            output.write_all(&half.to_le_bytes())?;
        }
        // Time zone, accuracy of time stamps, longest frame, link type.
        for word in [0, 0, SNAP_LENGTH, LINK_ETHERNET] {
            output.write_all(&word.to_le_bytes())?;
        }
        Ok(Self { output })
    }

    /// Add a frame that came `microseconds` after 1 January 1970.
    pub fn frame(&mut self, microseconds: u64, frame: &[u8]) -> io::Result<()> {
        let (seconds, rest) = (microseconds / MICROSECONDS, microseconds % MICROSECONDS);
        let length = frame.len() as u32;
        for word in [seconds as u32, rest as u32, length, length] {
            self.output.write_all(&word.to_le_bytes())?;
        }
        self.output.write_all(frame)
    }

    /// End the file.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_parser::{parse_pcap_header, LegacyPcapReader, Linktype, PcapBlockOwned};
    use pcap_parser::{traits::PcapReaderIterator, PcapError};

    #[test]
    fn what_is_written_is_read_by_another_reader() {
        let frames = [vec![1; 60], vec![2; 1514], vec![3; 14]];
        let mut writer = PcapWriter::new(Vec::new()).expect("memory takes all");
        for (number, frame) in frames.iter().enumerate() {
            writer
                .frame(number as u64 * 1_500_000, frame)
                .expect("memory takes all");
        }
        let file = writer.finish().expect("memory takes all");
        let (_, header) = parse_pcap_header(&file).expect("a header");
        assert_eq!(header.network, Linktype::ETHERNET);
        let mut reader = LegacyPcapReader::new(1 << 16, file.as_slice()).expect("a capture");
        let mut found = Vec::new();
        loop {
            match reader.next() {
                Ok((octets, block)) => {
                    if let PcapBlockOwned::Legacy(packet) = block {
                        found.push((packet.ts_sec, packet.ts_usec, packet.data.to_vec()));
                    }
                    reader.consume(octets);
                }
                Err(PcapError::Eof) => break,
                Err(PcapError::Incomplete(_)) => reader.refill().expect("memory gives all"),
                Err(error) => panic!("{error:?}"),
            }
        }
        let [first, second, third] = frames;
        assert_eq!(found, [(0, 0, first), (1, 500_000, second), (3, 0, third)]);
    }
}
