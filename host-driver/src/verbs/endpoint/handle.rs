//! What every handle of a connection is: its number at the endpoint, and how its user waits.

use super::engine::Engine;
use super::error::EndpointError;
use super::live::{Live, Outcome};
use super::notice::Notice;
use super::shared::Shared;
use super::wire::Wire;
use crate::device::access::{Bar, Dma};
use rnic_iwarp::startup::StartupError;
use rnic_tcp::{State, Statistics};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// A connection of an endpoint. When it is dropped, the connection ends.
#[derive(Debug)]
pub(super) struct Handle<B: Bar, D: Dma> {
    pub(super) shared: Arc<Shared<B, D>>,
    pub(super) key: u64,
    pub(super) own: SocketAddr,
    pub(super) peer: SocketAddr,
    pub(super) notice: Arc<Notice>,
}

impl<B: Bar, D: Dma> Handle<B, D> {
    /// Enter a connection and take it.
    pub(super) fn enter(shared: &Arc<Shared<B, D>>, engine: &mut Engine<B, D>, live: Live) -> Self {
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
        change: impl FnOnce(&mut Live, &mut Wire<'_, B, D>) -> Result<T, EndpointError>,
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
        self.notice.wait_for(end, || self.view(&mut look))
    }

    /// What a start-up has led to.
    pub(super) fn wait_for_outcome(&self) -> Result<Outcome, EndpointError> {
        self.wait_for(None, Live::take_outcome)?
    }

    /// What a start-up has led to, once it has.
    pub(super) fn poll_outcome(&self) -> Result<Option<Outcome>, EndpointError> {
        self.view(Live::take_outcome)?.transpose()
    }

    /// The error of an outcome that is none of those wanted.
    pub(super) fn error_of(&self, outcome: Outcome) -> EndpointError {
        let peer = self.peer;
        let lost = self.view(|live| live.lost).unwrap_or_default();
        let error = match &outcome {
            Outcome::Failed { error, .. } => Some(error),
            _ => None,
        };
        // For what came too early this end has reset TCP itself: that is no reason of its own.
        let is_early = matches!(error, Some(StartupError::Early { .. }));
        match (outcome, lost.filter(|_| !is_early)) {
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

    /// The connection at this moment.
    pub(super) fn statistics(&self) -> Result<Statistics, EndpointError> {
        self.view(|live| live.tcp.statistics())
    }
}

impl Live {
    /// What a start-up has led to, or why it cannot any more.
    fn take_outcome(&mut self) -> Option<Result<Outcome, EndpointError>> {
        let outcome = self.inbox.outcome.take();
        let has_ended = self.tcp.state() == State::Closed;
        match outcome {
            None if has_ended => Some(Err(self.why_ended())),
            None => None,
            Some(outcome) => Some(Ok(outcome)),
        }
    }

    /// Why nothing more will come of it.
    pub(super) fn why_ended(&self) -> EndpointError {
        let peer = self.ends.peer;
        match self.lost {
            Some(lost) => EndpointError::Lost { peer, lost },
            None => EndpointError::Closed { peer },
        }
    }
}

impl<B: Bar, D: Dma> Drop for Handle<B, D> {
    fn drop(&mut self) {
        // An endpoint that has ended has no connections.
        let _ = self.change(|live, _| {
            live.let_go();
            Ok(())
        });
    }
}
