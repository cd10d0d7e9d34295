//! A peer of one connection whose every segment is a test's: no TCP of its own decides when it
//! answers.

use etherparse::{PacketBuilder, SlicedPacket, TransportSlice};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 8];
const ADDRESS: [u8; 4] = [192, 0, 2, 8];
/// Of the end that is judged ([`crate::scene::End`] number 1).
const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const PEER: [u8; 4] = [192, 0, 2, 1];
const OWN_PORT: u16 = 40_001;
const PORT: u16 = crate::scene::PORT;
/// Its first sequence number.
const ISS: u32 = 0xffff_fff0;

/// The peer.
pub struct Raw {
    path: PathBuf,
    wire: Option<UnixStream>,
    next: u32,
    received: u32,
    _folder: TempDir,
}

/// A segment that has come.
struct Heard {
    seq: u32,
    is_syn: bool,
    payload: Vec<u8>,
}

impl Raw {
    /// One that is not on its wire yet, and the link of the device at the other end.
    pub fn new() -> (Self, String) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("wire");
        let link = format!("unix:{}", path.display());
        let raw = Self {
            path,
            wire: None,
            next: ISS,
            received: 0,
            _folder: folder,
        };
        (raw, link)
    }

    /// Join the wire, as the device is there.
    pub fn connect(&mut self) {
        let wire = UnixStream::connect(&self.path).expect("the device listens");
        let patience = Some(Duration::from_secs(60));
        wire.set_read_timeout(patience).expect("it can be set");
        self.wire = Some(wire);
    }

    fn wire(&mut self) -> &mut UnixStream {
        self.wire.as_mut().expect("it has joined")
    }

    fn put(&mut self, frame: &[u8]) {
        let octets = (frame.len() as u32).to_be_bytes();
        let framed = [&octets[..], frame].concat();
        self.wire().write_all(&framed).expect("the wire is there");
    }

    fn take(&mut self) -> Vec<u8> {
        let mut octets = [0; 4];
        self.wire().read_exact(&mut octets).expect("a frame comes");
        let mut frame = vec![0; u32::from_be_bytes(octets) as usize];
        self.wire().read_exact(&mut frame).expect("all of it");
        frame
    }

    fn segment(&mut self, payload: &[u8], is_syn: bool) {
        let builder = PacketBuilder::ethernet2(MAC, PEER_MAC)
            .ipv4(ADDRESS, PEER, 64)
            .tcp(OWN_PORT, PORT, self.next, u16::MAX);
        let builder = match is_syn {
            true => builder.syn(),
            false => builder.ack(self.received).psh(),
        };
        let mut frame = Vec::new();
        builder.write(&mut frame, payload).expect("it fits");
        self.put(&frame);
        let octets = payload.len() as u32 + u32::from(is_syn);
        self.next = self.next.wrapping_add(octets);
    }

    /// The next segment; questions of ARP before it are answered.
    fn heard(&mut self) -> Heard {
        loop {
            let frame = self.take();
            if frame[12..14] == [8, 6] {
                let head = [&PEER_MAC[..], &MAC, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 2]].concat();
                self.put(&[&head[..], &MAC, &ADDRESS, &PEER_MAC, &PEER].concat());
                continue;
            }
            let packet = SlicedPacket::from_ethernet(&frame).expect("it is whole");
            if let Some(TransportSlice::Tcp(tcp)) = packet.transport {
                return Heard {
                    seq: tcp.sequence_number(),
                    is_syn: tcp.syn(),
                    payload: tcp.payload().to_vec(),
                };
            }
        }
    }

    /// Send a SYN, and wait for the answer to it, which is not acknowledged yet.
    pub fn open(&mut self) {
        self.segment(&[], true);
        let answer = self.heard();
        assert!(answer.is_syn);
        self.received = answer.seq.wrapping_add(1);
    }

    /// Send octets, in one segment that acknowledges everything.
    pub fn send(&mut self, payload: &[u8]) {
        self.segment(payload, false);
    }

    /// The payload of the next segment that has some and is in order.
    pub fn next_payload(&mut self) -> Vec<u8> {
        loop {
            let heard = self.heard();
            if !heard.payload.is_empty() && heard.seq == self.received {
                self.received = self.received.wrapping_add(heard.payload.len() as u32);
                return heard.payload;
            }
        }
    }
}
