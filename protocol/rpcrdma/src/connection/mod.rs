//! Both ends of RPC on one connection, over shared receives.
//!
//! ```text
//!   completion --> DONE, call          --> Responder --> Event::Call, Event::Released
//!              `-> reply, RDMA_ERROR   --> Requester --> Event::Replied, Event::Failed
//!   a client's connection also takes calls, a server's also makes them: reverse calls (RFC 8167)
//! ```

/// What a half needs to act, beside the halves and the events.
macro_rules! context {
    ($endpoint:ident, $now:ident, $verbs:ident, $pool:ident) => {
        Context {
            now: $now,
            verbs: $verbs,
            pool: $pool,
            channel: &mut $endpoint.channel,
            counters: &mut $endpoint.counters,
            settings: &$endpoint.settings,
        }
    };
}

mod channel;
mod event;
mod log;
mod routing;
mod settings;
mod tag;

pub(crate) use channel::{Channel, Context};
pub use event::Event;
pub use settings::Settings;
pub(crate) use tag::{Half, Tag, NO_SLOT};

use crate::binding::Program;
use crate::counters::Counters;
use crate::place::Place;
use crate::private_data::PrivateData;
use crate::registration::Pool;
use crate::requester::{CallId, Configure, Reply, Requester, SubmitError};
use crate::responder::{NotOpen, Policy, Request, RequestId, Responder};
use crate::stream::Message;
use crate::verbs::Verbs;
use crate::wire::Refused;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

/// A call that is to be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offer<'a> {
    /// Memory for results that may be chunks, one place each, in the order of the program's
    /// results. Until the outcome is reported it may change at any time, also where nothing is
    /// returned (RPC-013).
    pub results: &'a [Place],
    /// Octets of the longest RPC reply without these results. If it may not fit in a Send, a
    /// reply chunk is offered.
    pub reply_octets_max: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

/// One end of a connection, and of those that follow it when it breaks.
///
/// It does nothing by itself: every function that acts takes the time in microseconds, the
/// connection and the pool of memory. [`Endpoint::poll`] is called when the provider has
/// completions, after a call or a reply was given, and at [`Endpoint::deadline`], each time until
/// it returns `None`.
///
/// After [`Event::Disconnected`] a client makes another connection at [`Endpoint::reconnect_at`]
/// and begins on it with [`Endpoint::connected`]; calls without a reply go again by themselves. A
/// server does the same for the next client, or drops the endpoint when the calls it still has
/// are answered.
#[derive(Clone, Debug)]
pub struct Endpoint {
    role: Role,
    settings: Settings,
    channel: Channel,
    requester: Option<Requester>,
    responder: Option<Responder>,
    events: VecDeque<Event>,
    counters: Counters,
}

impl Endpoint {
    /// A client. `transport` is registered memory of [`Settings::transport_octets`] octets, which
    /// is the endpoint's from now on.
    ///
    /// # Panics
    /// If `transport` is shorter.
    #[must_use]
    pub fn client(settings: Settings, transport: Place) -> Self {
        let responder =
            (settings.reverse_credits > 0).then(|| Responder::new(&settings, &[], true));
        Self {
            role: Role::Client,
            settings,
            channel: Channel::new(&settings, transport),
            requester: Some(Requester::new(&settings, false)),
            responder,
            events: VecDeque::with_capacity(64),
            counters: Counters::default(),
        }
    }

    /// A server of `programs`, whose tables say where chunks may be; what is not among them is
    /// checked by the user as it decodes. Else as [`Endpoint::client`].
    ///
    /// # Panics
    /// If `transport` is shorter.
    #[must_use]
    pub fn server(
        settings: Settings,
        transport: Place,
        programs: &'static [Program<'static>],
    ) -> Self {
        let requester = (settings.reverse_credits > 0).then(|| Requester::new(&settings, true));
        Self {
            role: Role::Server,
            settings,
            channel: Channel::new(&settings, transport),
            requester,
            responder: Some(Responder::new(&settings, programs, false)),
            events: VecDeque::with_capacity(64),
            counters: Counters::default(),
        }
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What this end has seen and done.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The next line of the log that [`Settings::log_headers`] asks for: `sent` or `received`, then
    /// the header in words.
    pub fn logged(&mut self) -> Option<String> {
        self.channel.log.take()
    }

    /// Begin on a connection that has just been made. `peer` is what the peer said of itself in
    /// its private data, if it did.
    pub fn connected(
        &mut self,
        now: u64,
        verbs: &mut impl Verbs,
        pool: &mut Pool,
        peer: Option<PrivateData>,
    ) {
        if !self.channel.is_idle() {
            self.channel.abandon();
            self.after_drained(now, verbs, pool);
        }
        self.channel.open(&self.settings, peer, verbs);
        let mut ctx = context!(self, now, verbs, pool);
        if let Some(requester) = &mut self.requester {
            requester.begin_configuration(&mut ctx);
        }
    }

    /// Ask for the peer's limits by CONF_RDMA as the first call of each connection from the next
    /// one on. What it answers goes before private data, and that before 1,024 octets.
    pub fn set_configure(&mut self, configure: Option<Configure>) {
        if let Some(requester) = &mut self.requester {
            requester.set_configure(configure);
        }
    }

    /// Answer CONF_RDMA by this policy; without one it is left to the programs (RPC-043).
    pub fn set_configuration_policy(&mut self, policy: Option<Policy>) {
        if let Some(responder) = &mut self.responder {
            responder.set_configuration(policy);
        }
    }

    /// The XID that the next call is to begin with.
    #[must_use]
    pub fn next_xid(&self) -> u32 {
        self.requester.as_ref().map_or(0, Requester::next_xid)
    }

    /// Begin XIDs elsewhere. On one connection none may be used twice: they only go on.
    pub fn set_next_xid(&mut self, xid: u32) {
        if let Some(requester) = &mut self.requester {
            requester.set_next_xid(xid);
        }
    }

    /// Queue a call: an RPC message that begins with [`Endpoint::next_xid`]. It leaves at the
    /// next poll that finds a credit; places of its items are lent until it is reported. `message`
    /// is empty afterwards and can be used again.
    ///
    /// # Errors
    /// [`SubmitError`], with `message` as it was.
    pub fn submit(
        &mut self,
        message: &mut Message,
        offer: Offer<'_>,
    ) -> Result<CallId, SubmitError> {
        let requester = self.requester.as_mut().ok_or(SubmitError::Role)?;
        let Offer {
            results,
            reply_octets_max,
        } = offer;
        requester.submit(message, results, reply_octets_max, &self.settings)
    }

    /// The reply of a call that was reported as replied to.
    #[must_use]
    pub fn reply(&self, call: CallId) -> Option<Reply<'_>> {
        self.requester.as_ref()?.reply(call, &self.settings.caps)
    }

    /// Forget a call whose outcome was reported, and its reply.
    pub fn release(&mut self, call: CallId, pool: &mut Pool) {
        if let Some(requester) = &mut self.requester {
            requester.release(call, pool);
        }
    }

    /// A call that awaits a reply.
    #[must_use]
    pub fn request(&self, id: RequestId) -> Option<Request<'_>> {
        self.responder.as_ref()?.request(id, &self.settings.caps)
    }

    /// Take the memory of a call's read chunks: it is the caller's until it gives it back to the
    /// pool. `None` if there is none.
    pub fn keep(&mut self, id: RequestId) -> Option<Place> {
        self.responder.as_mut()?.keep(id)
    }

    /// Reply to a call. Places of the reply's items are lent until [`Event::Released`]; `message`
    /// is empty afterwards and can be used again. It leaves at the next poll.
    ///
    /// # Errors
    /// [`NotOpen`].
    pub fn respond(
        &mut self,
        now: u64,
        verbs: &mut impl Verbs,
        pool: &mut Pool,
        id: RequestId,
        message: &mut Message,
    ) -> Result<(), NotOpen> {
        let responder = self.responder.as_mut().ok_or(NotOpen)?;
        let mut ctx = context!(self, now, verbs, pool);
        responder.reply(id, message, &mut ctx, &mut self.events)
    }

    /// Refuse a call whose chunks are not where its program has items: ERR_CHUNK.
    ///
    /// # Errors
    /// [`NotOpen`].
    pub fn refuse(
        &mut self,
        now: u64,
        verbs: &mut impl Verbs,
        pool: &mut Pool,
        id: RequestId,
        refused: Refused,
    ) -> Result<(), NotOpen> {
        let responder = self.responder.as_mut().ok_or(NotOpen)?;
        let mut ctx = context!(self, now, verbs, pool);
        responder.refuse(id, refused, &mut ctx, &mut self.events)
    }

    /// Grant no more than so many calls from now on, at least 1: a server under pressure.
    pub fn set_grant_max(&mut self, grant_max: u32) {
        if let Some(responder) = &mut self.responder {
            responder.set_grant_max(grant_max);
        }
    }

    /// Close the connection. [`Event::Disconnected`] follows.
    pub fn close(&mut self, verbs: &mut impl Verbs) {
        self.channel.close(verbs);
    }

    /// What has happened, one event at a time; `None` when there is nothing to do but wait.
    pub fn poll(&mut self, now: u64, verbs: &mut impl Verbs, pool: &mut Pool) -> Option<Event> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if let Some(completion) = verbs.poll() {
                self.complete(completion, now, verbs, pool);
                continue;
            }
            if self.channel.take_drained() {
                self.after_drained(now, verbs, pool);
                self.events.push_back(Event::Disconnected);
                continue;
            }
            let was_open = self.channel.is_open();
            self.advance(now, verbs, pool);
            // A connection that was closed just now has completions to look at.
            if self.events.is_empty() && self.channel.is_open() == was_open {
                return None;
            }
        }
    }

    /// When [`Endpoint::poll`] has something to do without a completion.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        let requester = self.requester.as_ref().and_then(Requester::deadline);
        let responder = self.responder.as_ref().and_then(Responder::deadline);
        requester.into_iter().chain(responder).min()
    }

    /// When the next connection should be tried, after [`Event::Disconnected`].
    #[must_use]
    pub fn reconnect_at(&self) -> u64 {
        self.requester
            .as_ref()
            .map_or(0, |requester| requester.reconnect_at)
    }

    /// Calls of both halves that hold something: made and not reported, or served and not over.
    #[must_use]
    pub fn calls_waiting(&self) -> usize {
        let made = self.requester.as_ref().map_or(0, Requester::waiting);
        made + self.responder.as_ref().map_or(0, Responder::calls)
    }

    /// The newest grant, calls in flight and DONEs in flight.
    #[must_use]
    pub fn credits(&self) -> Option<&crate::Credits> {
        self.requester.as_ref().map(Requester::credits)
    }

    /// DONEs that this end awaits.
    #[must_use]
    pub fn dones_pending(&self) -> u32 {
        self.responder.as_ref().map_or(0, Responder::dones_pending)
    }
}

/// What another step depends on, for searches through states: not the counters.
impl Hash for Endpoint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (
            &self.channel,
            &self.requester,
            &self.responder,
            &self.events,
        )
            .hash(state);
    }
}
