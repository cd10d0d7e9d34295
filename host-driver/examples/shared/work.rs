//! Completions and events of a queue pair, waited for together: an application that waits for a
//! message wants to know that the peer has gone, too.

use crate::failure::Failure;
use rnic_driver::verbs::endpoint::{
    EndpointError, PairEvent, QueuePair, SendOperation, WorkCompletion, WorkKind,
};
use rnic_driver::verbs::Memory;
use rnic_iwarp::queue_pair::{Failure as PairFailure, PostError, Status};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// How long the end of a connection may take after both ends have closed.
const LINGER: Duration = Duration::from_secs(2);

/// A queue pair and what has happened to it.
#[derive(Debug)]
pub struct Work {
    pair: QueuePair,
    patience: Duration,
    /// Messages that nobody has asked for yet.
    received: VecDeque<WorkCompletion>,
    outstanding: usize,
    /// The first request that did not succeed.
    spoilt: Option<(WorkKind, Status)>,
    is_peer_closed: bool,
    is_closed: bool,
}

/// What happens to a queue pair that has not failed.
#[derive(Debug)]
pub enum Happened {
    /// A message has arrived.
    Received(WorkCompletion),
    /// A Send, Write or Read has ended well.
    Done(WorkCompletion),
    /// The peer sends no more.
    PeerClosed,
}

impl Work {
    /// Of a queue pair that has been started or accepted.
    pub fn new(pair: QueuePair, patience: Duration) -> Self {
        Self {
            pair,
            patience,
            received: VecDeque::new(),
            outstanding: 0,
            spoilt: None,
            is_peer_closed: false,
            is_closed: false,
        }
    }

    /// The queue pair.
    pub fn pair(&self) -> &QueuePair {
        &self.pair
    }

    /// The peer.
    pub fn peer(&self) -> SocketAddr {
        self.pair.peer_addr()
    }

    /// The next message; `None`: the peer has sent its last one.
    ///
    /// # Errors
    /// The connection has failed, or nothing came in time.
    pub fn receive(&mut self) -> Result<Option<WorkCompletion>, Failure> {
        loop {
            if let Some(message) = self.received.pop_front() {
                return Ok(Some(message));
            }
            if self.is_peer_closed {
                return Ok(None);
            }
            self.file()?;
        }
    }

    /// Post an operation; it leaves after those posted before it.
    ///
    /// # Errors
    /// It cannot be posted.
    pub fn post(&mut self, operation: &SendOperation<'_>) -> Result<(), Failure> {
        self.post_times(operation, 1)
    }

    /// Post an operation so many times, together.
    ///
    /// # Errors
    /// Not all of them can be posted.
    pub fn post_times(
        &mut self,
        operation: &SendOperation<'_>,
        times: usize,
    ) -> Result<(), Failure> {
        let posted = self.pair.post_sends(&vec![(0, *operation); times]);
        self.outstanding += match &posted {
            Ok(()) => times,
            Err(unposted) => unposted.posted,
        };
        posted.map_err(|unposted| self.unposted(unposted.error))
    }

    /// Post memory for a message again. The peer may have closed since: then no message will come,
    /// and that is no error.
    ///
    /// # Errors
    /// It cannot be posted.
    pub fn post_receive(&mut self, id: u64, memory: Memory) -> Result<(), Failure> {
        match self.pair.post_receive(id, memory) {
            Err(EndpointError::Post {
                error: PostError::HalfClosed,
                ..
            }) => Ok(()),
            posted => posted.map_err(|error| self.unposted(error)),
        }
    }

    /// Why nothing is posted: a queue pair that has failed refuses it before anybody has asked what
    /// has happened, and that says more.
    fn unposted(&mut self, error: EndpointError) -> Failure {
        if let EndpointError::Post {
            error: PostError::Closed,
            ..
        } = error
        {
            loop {
                match self.poll() {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(failure) => return failure,
                }
            }
        }
        error.into()
    }

    /// Operations that are posted and have not ended.
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Wait until everything posted has ended: its memory may be used again.
    ///
    /// # Errors
    /// The connection has failed, or something has not ended in time.
    pub fn settle(&mut self) -> Result<(), Failure> {
        while self.outstanding > 0 {
            self.file()?;
        }
        Ok(())
    }

    fn file(&mut self) -> Result<(), Failure> {
        match self.wait()? {
            Happened::Received(message) => self.received.push_back(message),
            Happened::Done(_) | Happened::PeerClosed => {}
        }
        Ok(())
    }

    /// What happens next, whatever it is.
    ///
    /// # Errors
    /// The connection has failed, or nothing has happened in time.
    pub fn wait(&mut self) -> Result<Happened, Failure> {
        let end = Instant::now() + self.patience;
        loop {
            if let Some(happened) = self.poll()? {
                return Ok(happened);
            }
            if !self.is_readable(end)? {
                return Err(self.silent());
            }
        }
    }

    /// What has happened, if something has.
    ///
    /// # Errors
    /// The connection has failed.
    pub fn poll(&mut self) -> Result<Option<Happened>, Failure> {
        while let Some(completion) = self.pair.poll_completion()? {
            let (kind, status) = (completion.kind, completion.status);
            match (kind, status) {
                (WorkKind::Receive, Status::Success) => {
                    return Ok(Some(Happened::Received(completion)));
                }
                (_, Status::Success) => {
                    self.outstanding -= 1;
                    return Ok(Some(Happened::Done(completion)));
                }
                // Why is an event.
                _ => self.spoil(kind, status),
            }
            // A Read that the peer will not answer any more never ends well; that it is over is its
            // completion, and nothing else may follow (DDP-030).
            if self.is_peer_closed && self.is_request_spoilt() {
                return Err(self.ended());
            }
        }
        match self.pair.poll_event()? {
            // Not the last thing that has happened, perhaps.
            Some(PairEvent::Established) => self.poll(),
            Some(PairEvent::HalfClosed) => {
                self.is_peer_closed = true;
                match self.is_request_spoilt() {
                    true => Err(self.ended()),
                    false => Ok(Some(Happened::PeerClosed)),
                }
            }
            Some(PairEvent::Failed(failure)) => {
                self.leave(&failure);
                Err(self.failed(&failure))
            }
            Some(PairEvent::Closed) => {
                self.is_closed = true;
                Err(self.ended())
            }
            None => Ok(None),
        }
    }

    /// Close after the Terminate and let it arrive: a queue pair that is dropped sends an RST,
    /// which may overtake it (RFC 5040 section 5.6 has the connection closed gracefully).
    fn leave(&mut self, failure: &PairFailure) {
        if !matches!(failure, PairFailure::Lost) {
            // What fails here has failed for the reason that is already known.
            let _ = self.pair.disconnect();
            let _ = self.linger();
        }
    }

    /// The first request that did not succeed is kept, before a receive that did not.
    fn spoil(&mut self, kind: WorkKind, status: Status) {
        if self.spoilt.is_none() || !self.is_request_spoilt() && kind != WorkKind::Receive {
            self.spoilt = Some((kind, status));
        }
    }

    /// A Send, Write or Read has not succeeded.
    fn is_request_spoilt(&self) -> bool {
        matches!(self.spoilt, Some((kind, _)) if kind != WorkKind::Receive)
    }

    /// Wait until something has happened, at most until `end`.
    fn is_readable(&self, end: Instant) -> Result<bool, Failure> {
        let left = end.saturating_duration_since(Instant::now());
        let timeout = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut files = [PollFd::new(&self.pair, PollFlags::IN)];
        match poll(&mut files, Some(&timeout)) {
            Ok(count) => Ok(count > 0),
            Err(Errno::INTR) => Ok(true),
            Err(error) => Err(format!("a wait for {}: {error}", self.peer()).into()),
        }
    }

    fn silent(&self) -> Failure {
        let (peer, seconds) = (self.peer(), self.patience.as_secs());
        let next = "look at what it says, or wait longer with --timeout";
        format!("{peer} has kept this end waiting for {seconds} s; {next}").into()
    }

    fn failed(&self, failure: &PairFailure) -> Failure {
        let peer = self.peer();
        match (failure, self.pair.end_reason()) {
            // TCP knows by what.
            (PairFailure::Lost, Ok(Some(reason))) => reason.into(),
            (PairFailure::Terminated(why), _) => {
                let spoilt = match self.spoilt {
                    Some((kind, status)) => format!("; a {kind:?} has ended as {status:?}"),
                    None => String::new(),
                };
                format!("{peer} has ended the connection: {why}{spoilt}").into()
            }
            _ => format!("the connection to {peer} has failed: {failure}").into(),
        }
    }

    fn ended(&self) -> Failure {
        let peer = self.peer();
        match self.spoilt {
            Some((kind, status)) => {
                format!("the connection to {peer} has ended before a {kind:?} did: {status:?}")
                    .into()
            }
            None => format!("the connection to {peer} has ended").into(),
        }
    }

    /// End gracefully: what is posted is sent, then both ends close.
    ///
    /// # Errors
    /// The connection has failed, or the peer has not closed in time.
    pub fn close(mut self) -> Result<(), Failure> {
        let is_second = self.is_peer_closed;
        self.pair.disconnect()?;
        while !self.is_closed {
            match self.wait() {
                Err(failure) if !self.is_closed => return Err(failure),
                _ => {}
            }
        }
        if is_second {
            self.linger()?;
        }
        Ok(())
    }

    /// Wait until the peer has acknowledged this end's FIN: a process that ends before takes the
    /// device with it, and the FIN may not have left. The first one to close has nothing to wait
    /// for, and its acknowledgement is not sent twice when it has gone; hence no wait without end.
    fn linger(&mut self) -> Result<(), Failure> {
        let end = Instant::now() + LINGER;
        while let Ok(None) = self.pair.end_reason() {
            // Both are polled to the end: then the file is readable for something new alone.
            if let Some(completion) = self.pair.poll_completion()? {
                if completion.status != Status::Success {
                    self.spoil(completion.kind, completion.status);
                }
                continue;
            }
            if self.pair.poll_event()?.is_some() {
                continue;
            }
            if !self.is_readable(end)? {
                break;
            }
        }
        Ok(())
    }
}
