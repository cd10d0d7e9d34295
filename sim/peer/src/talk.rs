//! A connection in full operation.

use crate::conn::Conn;
use crate::ddp;
use crate::kept::End;
use crate::mpa::{Fpdu, Framing, Stream};
use std::time::Duration;

/// A connection, and where both of its streams are.
#[derive(Debug)]
pub struct Talk {
    /// TCP.
    pub conn: Conn,
    /// What the stranger sends.
    pub framing: Framing,
    /// The stranger has asked for markers.
    markers: bool,
    /// CRC32C is in use.
    crc: bool,
    /// Octets of the other end's start-up frame.
    begin: usize,
}

impl Talk {
    /// After a start-up frame of `begin` octets. Markers: in what is sent, in what comes.
    pub fn new(conn: Conn, begin: usize, markers: [bool; 2]) -> Self {
        Self {
            conn,
            framing: Framing::new(markers[0]),
            markers: markers[1],
            crc: true,
            begin,
        }
    }

    /// Full operation begins: after a start-up frame of `begin` octets, with markers in what is
    /// sent and in what comes, and CRC32C or none.
    pub fn switch(&mut self, begin: usize, markers: [bool; 2], crc: bool) {
        (self.begin, self.crc) = (begin, crc);
        self.framing = Framing::new(markers[0]);
        self.markers = markers[1];
    }

    /// Send an FPDU; where it begins, from SeqStart.
    pub fn say(&mut self, ulpdu: &[u8]) -> u64 {
        let position = self.framing.position;
        let fpdu = self.framing.fpdu(ulpdu);
        self.conn.send(&fpdu.octets);
        position
    }

    /// Send an FPDU that `spoil` has changed; where it begins.
    pub fn spoil(&mut self, ulpdu: &[u8], spoil: impl FnOnce(Fpdu) -> Fpdu) -> u64 {
        let position = self.framing.position;
        let fpdu = spoil(self.framing.fpdu(ulpdu));
        self.conn.send(&fpdu.octets);
        position
    }

    /// Everything that has come.
    pub fn stream(&self) -> Stream {
        Stream::read(self.markers, self.crc, &self.conn.received()[self.begin..])
    }

    /// Everything that has come, once `look` finds something in it or at the end, if it does in
    /// this time.
    pub fn within<T>(
        &self,
        patience: Duration,
        mut look: impl FnMut(&Stream, Option<End>) -> Option<T>,
    ) -> Option<T> {
        self.conn.within(patience, |kept, _| {
            let octets = &kept.received[self.begin..];
            look(&Stream::read(self.markers, self.crc, octets), kept.end)
        })
    }

    /// ULPDUs that have come.
    pub fn heard(&self) -> Vec<Vec<u8>> {
        Framing::read(self.markers, &self.conn.received()[self.begin..])
    }

    /// ULPDUs, once there are `count`.
    ///
    /// # Panics
    /// It takes longer than a minute, or one is wrong.
    pub fn wait_heard(&self, count: usize) -> Vec<Vec<u8>> {
        self.conn.wait_for("FPDUs", |kept, _| {
            let heard = Framing::read(self.markers, &kept.received[self.begin..]);
            (heard.len() >= count).then_some(heard)
        })
    }

    /// Forget what has come; without markers an FPDU may begin anywhere.
    pub fn forget(&mut self) {
        self.conn.change(|kept, _| kept.received.clear());
        self.begin = 0;
    }

    /// Everything that came before the end: ULPDUs without the Terminate, and the Terminate.
    ///
    /// # Panics
    /// There are octets that are no whole FPDU, or something after the Terminate.
    pub fn last_words(&self) -> (Vec<Vec<u8>>, Option<ddp::Terminate>) {
        let stream = self.conn.received()[self.begin..].to_vec();
        let mut heard = Framing::read(self.markers, &stream);
        let mut again = Framing::new(self.markers);
        let octets: usize = heard
            .iter()
            .map(|ulpdu| again.fpdu(ulpdu).octets.len())
            .sum();
        assert_eq!(octets, stream.len(), "octets after the last FPDU");
        let first = heard
            .iter()
            .position(|ulpdu| ddp::opcode(ulpdu) == ddp::TERMINATE);
        let Some(first) = first else {
            return (heard, None);
        };
        assert_eq!(first + 1, heard.len(), "FPDUs after a Terminate");
        let terminate = heard.pop().map(|ulpdu| ddp::Terminate::read(&ulpdu));
        (heard, terminate)
    }
}
