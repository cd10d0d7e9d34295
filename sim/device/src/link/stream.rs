//! A socket whose other side is in this process, such as a pair's.

use super::end::{Link, LinkError};
use super::peer::Peer;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;

/// One side of a connected socket; nobody comes once the other side has left.
#[derive(Debug)]
pub(super) struct StreamLink(Option<Peer>);

impl StreamLink {
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        Ok(Self(Some(Peer::new(stream)?)))
    }
}

impl Link for StreamLink {
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.0.as_ref().map(Peer::as_fd)
    }

    fn wants_write(&self) -> bool {
        self.0.as_ref().is_some_and(Peer::wants_write)
    }

    fn has_frame(&self) -> bool {
        self.0.as_ref().is_some_and(Peer::has_frame)
    }

    fn receive(&mut self) -> Result<Option<Vec<u8>>, LinkError> {
        let received = self.0.as_mut().map_or(Ok(None), Peer::receive);
        if received.is_err() {
            self.0 = None;
        }
        Ok(received.unwrap_or(None))
    }

    fn send(&mut self, frame: &[u8]) -> Result<bool, LinkError> {
        let sent = self.0.as_mut().map_or(Ok(false), |peer| peer.send(frame));
        if sent.is_err() {
            self.0 = None;
        }
        Ok(sent.unwrap_or(false))
    }

    fn flush(&mut self) -> Result<(), LinkError> {
        if self.0.as_mut().is_some_and(|peer| peer.flush().is_err()) {
            self.0 = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn frames_pass_until_the_other_side_leaves() {
        let (mut theirs, ours) = UnixStream::pair().expect("a pair");
        let mut link = StreamLink::new(ours).expect("a socket");
        theirs.write_all(&[0, 0, 0, 2, 7, 8]).expect("written");
        assert_eq!(link.receive().expect("a frame"), Some(vec![7, 8]));
        assert!(link.send(&[9]).expect("kept"));
        link.flush().expect("sent");
        let mut octets = [0; 5];
        theirs.read_exact(&mut octets).expect("read");
        assert_eq!(octets, [0, 0, 0, 1, 9]);
        drop(theirs);
        assert_eq!(link.receive().expect("no error"), None);
        assert!(!link.send(&[9]).expect("no error"));
        assert!(link.fd().is_none());
    }
}
