//! What every handle of a connection is: its number at the endpoint, and how its user waits.

use super::error::EndpointError;
use super::live::{Live, Outcome};
use super::notice::Notice;
use super::shared::{DeviceEngine, Shared};
use super::wire::Wire;
use crate::bus::{FunctionBar, FunctionMemory};
use rnic_tcp::{Lost, State, Statistics};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// The device's part of a turn.
pub(super) type DeviceWire<'a> = Wire<'a, FunctionBar, FunctionMemory>;

/// A connection of an endpoint. When it is dropped, the connection ends.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) shared: Arc<Shared>,
    pub(super) key: u64,
    pub(super) own: SocketAddr,
    pub(super) peer: SocketAddr,
    pub(super) notice: Arc<Notice>,
}

impl Handle {
    /// Enter a connection and take it.
    pub(super) fn enter(shared: &Arc<Shared>, engine: &mut DeviceEngine, live: Live) -> Self {
        let (own, peer) = (live.ends.own, live.ends.peer);
        let notice = Arc::clone(&live.notice);
        Self {
            shared: Arc::clone(shared),
            key: engine.insert(live),
            own,
            peer,
            notice,
        }
    }

    /// Look at the connection.
    pub(super) fn view<T>(&self, look: impl FnOnce(&mut Live) -> T) -> Result<T, EndpointError> {
        self.shared.view(|engine| {
            let live = engine.lives.get_mut(&self.key);
            live.map(look).ok_or(EndpointError::Ended)
        })
    }

    /// Change the connection, and do at once what follows.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut Live, &mut DeviceWire<'_>) -> Result<T, EndpointError>,
    ) -> Result<T, EndpointError> {
        self.shared.change(|engine, now| {
            let core = Arc::clone(&engine.core);
            let mut ledger = core.lock();
            let found = engine.with_wire(self.key, &mut ledger, now);
            let (live, mut wire) = found.ok_or(EndpointError::Ended)?;
            let changed = change(live, &mut wire);
            engine.enqueue(self.key);
            changed
        })
    }

    /// Wait until `look` has something to say of the connection, or until `end`.
    pub(super) fn wait_for<T>(
        &self,
        end: Option<Instant>,
        mut look: impl FnMut(&mut Live) -> Option<T>,
    ) -> Result<T, EndpointError> {
        loop {
            let seen = self.notice.count();
            if let Some(found) = self.view(&mut look)? {
                return Ok(found);
            }
            if !self.notice.wait(seen, end) {
                return Err(EndpointError::TimedOut);
            }
        }
    }

    /// What a start-up has led to.
    pub(super) fn wait_for_outcome(&self) -> Result<Outcome, EndpointError> {
        self.wait_for(None, |live| {
            let outcome = live.inbox.outcome.take();
            let has_ended = live.tcp.state() == State::Closed;
            match outcome {
                None if has_ended => Some(Err(live.why_ended())),
                None => None,
                Some(outcome) => Some(Ok(outcome)),
            }
        })?
    }

    /// The connection at this moment.
    pub(super) fn statistics(&self) -> Result<Statistics, EndpointError> {
        self.view(|live| live.tcp.statistics())
    }
}

impl Live {
    /// Why nothing more will come of it.
    pub(super) fn why_ended(&self) -> EndpointError {
        let peer = self.ends.peer;
        match self.lost {
            Some(lost) => EndpointError::Lost { peer, lost },
            None => EndpointError::Closed { peer },
        }
    }
}

/// The error of an outcome that is none of those wanted.
pub(super) fn error_of(peer: SocketAddr, outcome: Outcome, lost: Option<Lost>) -> EndpointError {
    match (outcome, lost) {
        (Outcome::Refused(error), _) => error,
        (Outcome::Failed { .. }, Some(lost)) => EndpointError::Lost { peer, lost },
        (Outcome::Failed { error, fallback }, None) => EndpointError::StartupFailed {
            peer,
            error,
            fallback,
        },
        (Outcome::Rejected(rejection), _) => EndpointError::Rejected {
            peer,
            reason: rejection.private_data,
        },
        (Outcome::Request(_) | Outcome::Agreed(_), _) => EndpointError::State {
            peer,
            state: "is in another state of MPA's start-up",
        },
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // An endpoint that has ended has no connections.
        let _ = self.change(|live, _| {
            live.let_go();
            Ok(())
        });
    }
}
