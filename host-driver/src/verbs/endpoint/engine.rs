//! All connections of an endpoint, and what moves them: frames, events, completions, time.
//!
//! ```text
//!  results, events, completions, host frames, timers --> connections that have something to do
//!        ^                                                          |
//!        +------------- until nothing is left <--- pump ------------+
//! ```
//!
//! Events are polled before completions: the event of a connection's first FPDU goes first where
//! both are there.

use super::live::Live;
use super::notice::Notice;
use super::order::Order;
use super::settings::emss_octets;
use super::tap::Tap;
use super::wire::{EndpointCounts, Wire};
use crate::device::access::{Bar, Dma};
use crate::device::ids::{ConnectionId, QueueId};
use crate::stack::{Ends, Interface};
use crate::verbs::ledger::{Core, Ledger};
use rnic_tcp::{Listener, SeqNumber};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Turns of the loop before others get the lock.
const ROUNDS_MAX: usize = 64;
/// Looks at the rings before an endpoint that ends leaves frames to themselves.
const LOOKS_MAX: usize = 1_000;
/// Microseconds after which a ring without room is polled again: results of frames raise no
/// interrupt.
const ROOM_US: u64 = 100;

/// A listener, and whom it tells.
#[derive(Debug)]
pub(super) struct Listening {
    pub(super) own: SocketAddr,
    pub(super) tcp: Listener,
    pub(super) notice: Arc<Notice>,
}

/// An endpoint without its thread.
#[derive(Debug)]
pub(super) struct Engine<B: Bar, D: Dma> {
    pub(super) core: Arc<Core<B, D>>,
    pub(super) interface: Interface,
    pub(super) queue: QueueId,
    pub(super) tcp: rnic_tcp::Settings,
    pub(super) lives: BTreeMap<u64, Live>,
    pub(super) by_ends: HashMap<Ends, u64>,
    /// By the device's number, which every event and completion has.
    by_number: Vec<Option<u64>>,
    pub(super) listeners: Vec<Listening>,
    /// Places for completions of several connections.
    pub(super) orders: Vec<Arc<Order>>,
    /// Deadlines of connections.
    pub(super) timers: BTreeSet<(u64, u64)>,
    /// Connections that have something to do.
    pub(super) queued: VecDeque<u64>,
    /// Connections that wait for room on a ring.
    pub(super) blocked: BTreeSet<u64>,
    pub(super) counts: EndpointCounts,
    pub(super) tap: Option<Tap>,
    pub(super) last_key: u64,
    pub(super) has_ended: bool,
}

impl<B: Bar, D: Dma> Engine<B, D> {
    /// An endpoint of `interface` whose completions go to `queue`.
    pub(super) fn new(
        core: Arc<Core<B, D>>,
        interface: Interface,
        queue: QueueId,
        tcp: rnic_tcp::Settings,
    ) -> Self {
        Self {
            core,
            interface,
            queue,
            tcp,
            lives: BTreeMap::new(),
            by_ends: HashMap::new(),
            by_number: Vec::new(),
            listeners: Vec::new(),
            orders: Vec::new(),
            timers: BTreeSet::new(),
            queued: VecDeque::new(),
            blocked: BTreeSet::new(),
            counts: EndpointCounts::default(),
            tap: None,
            last_key: 0,
            has_ended: false,
        }
    }

    /// Do everything that can be done at `now`, in microseconds.
    pub(super) fn turn(&mut self, now: u64) {
        let core = Arc::clone(&self.core);
        let mut ledger = core.lock();
        for _ in 0..ROUNDS_MAX {
            let has_room = self.take_results(&mut ledger);
            // What comes after a ring was found empty raises an interrupt of its own.
            let mut has_more = self.take_events(&mut ledger, now);
            has_more |= self.take_completions(&mut ledger, now);
            has_more |= self.take_frames(&mut ledger, now);
            self.queue_due(now);
            self.pump_queued(&mut ledger, now);
            self.poll_listeners(&mut ledger, now);
            let mut wire = self.wire(&mut ledger, now);
            wire.send_frames();
            wire.announce();
            // Results of frames raise none.
            has_more |= has_room && !self.blocked.is_empty();
            if !has_more && self.queued.is_empty() {
                break;
            }
        }
    }

    /// Do what follows from a call, without a look at what has arrived: that has its interrupts.
    pub(super) fn follow(&mut self, now: u64) {
        let core = Arc::clone(&self.core);
        let mut ledger = core.lock();
        for _ in 0..ROUNDS_MAX {
            if !self.blocked.is_empty() {
                self.take_results(&mut ledger);
            }
            if !self.pump_queued(&mut ledger, now) {
                break;
            }
        }
        let mut wire = self.wire(&mut ledger, now);
        wire.send_frames();
        wire.announce();
    }

    /// When [`Engine::turn`] has something to do, if nothing else happens.
    pub(super) fn deadline(&self, now: u64) -> Option<u64> {
        let listeners = self.listeners.iter();
        let listeners = listeners.filter_map(|listening| listening.tcp.deadline_us());
        let timer = self.timers.first().map(|&(at, _)| at);
        let room = (!self.blocked.is_empty()).then(|| now.saturating_add(ROOM_US));
        // Frames that wait for room on the control ring are not waited for by their own deadline.
        let interface = self.interface.deadline();
        let interface = interface.map(|at| at.max(now.saturating_add(ROOM_US)));
        let left = (!self.queued.is_empty()).then_some(now);
        let others = [timer, room, interface, left];
        listeners.chain(others.into_iter().flatten()).min()
    }

    /// The device and the interface, for what is done at `now`.
    pub(super) fn wire<'a>(&'a mut self, ledger: &'a mut Ledger<B, D>, now: u64) -> Wire<'a, B, D> {
        Wire {
            ledger,
            interface: &mut self.interface,
            counts: &mut self.counts,
            tap: self.tap.as_ref(),
            now,
        }
    }

    /// A connection, and everything else.
    pub(super) fn with_wire<'a>(
        &'a mut self,
        key: u64,
        ledger: &'a mut Ledger<B, D>,
        now: u64,
    ) -> Option<(&'a mut Live, Wire<'a, B, D>)> {
        let live = self.lives.get_mut(&key)?;
        let wire = Wire {
            ledger,
            interface: &mut self.interface,
            counts: &mut self.counts,
            tap: self.tap.as_ref(),
            now,
        };
        Some((live, wire))
    }

    /// The connection that the device has as this one.
    pub(super) fn key_of(&self, number: ConnectionId) -> Option<u64> {
        self.by_number.get(usize::from(number.0)).copied().flatten()
    }

    /// Have the device's number be that of a connection, or of none.
    pub(super) fn set_number(&mut self, number: ConnectionId, key: Option<u64>) {
        let place = usize::from(number.0);
        if place >= self.by_number.len() {
            self.by_number.resize(place + 1, None);
        }
        self.by_number[place] = key;
    }

    /// Who listens on `own`.
    pub(super) fn listening(&mut self, own: SocketAddr) -> Option<&mut Listening> {
        let mut listeners = self.listeners.iter_mut();
        listeners.find(|listening| listening.own == own)
    }

    /// The connection has something to do.
    pub(super) fn enqueue(&mut self, key: u64) {
        if self.lives.get_mut(&key).is_some_and(Live::queue) {
            self.queued.push_back(key);
        }
    }

    /// TCP of connections with `address`.
    pub(super) fn tcp_with(&self, address: IpAddr) -> rnic_tcp::Settings {
        let most = emss_octets(self.interface.settings().mtu_octets, address);
        rnic_tcp::Settings {
            emss_octets: self.tcp.emss_octets.min(most),
            ..self.tcp
        }
    }

    /// Enter a connection.
    pub(super) fn insert(&mut self, live: Live) -> u64 {
        self.last_key += 1;
        let key = self.last_key;
        self.by_ends.insert(live.ends, key);
        self.lives.insert(key, live);
        self.enqueue(key);
        key
    }

    fn queue_due(&mut self, now: u64) {
        while let Some(&(at, key)) = self.timers.first() {
            if at > now {
                return;
            }
            self.timers.remove(&(at, key));
            if let Some(live) = self.lives.get_mut(&key) {
                live.timer = None;
            }
            self.enqueue(key);
        }
    }

    fn pump_queued(&mut self, ledger: &mut Ledger<B, D>, now: u64) -> bool {
        let count = self.queued.len();
        for _ in 0..count {
            let Some(key) = self.queued.pop_front() else {
                break;
            };
            self.pump(key, ledger, now);
        }
        count > 0
    }

    /// Let a connection do what it can, and note when it is to be looked after again.
    fn pump(&mut self, key: u64, ledger: &mut Ledger<B, D>, now: u64) {
        let Some((live, mut wire)) = self.with_wire(key, ledger, now) else {
            return;
        };
        live.is_queued = false;
        let was_blocked = live.is_blocked;
        let deadline = live.pump(&mut wire);
        let (timer, is_blocked) = (live.timer, live.is_blocked);
        let (is_fin_due, is_releasable) = (live.is_fin_due, live.is_releasable());
        let mut is_over = live.is_over();
        self.set_timer(key, timer, deadline);
        if was_blocked != is_blocked {
            match is_blocked {
                true => self.blocked.insert(key),
                false => self.blocked.remove(&key),
            };
        }
        if is_fin_due {
            self.end_receiving(key, ledger, now);
        }
        if is_releasable {
            self.release(key, ledger, now);
            is_over = self.lives.get(&key).is_some_and(Live::is_over);
        }
        if is_over {
            self.remove(key, ledger);
        }
    }

    /// Look after a connection at `deadline`. A timer that stands earlier stays: it finds out, and
    /// most deadlines move on before they come.
    fn set_timer(&mut self, key: u64, timer: Option<u64>, deadline: Option<u64>) {
        let Some(at) = deadline.filter(|&at| timer.is_none_or(|timer| at < timer)) else {
            return;
        };
        if let Some(timer) = timer {
            self.timers.remove(&(timer, key));
        }
        self.timers.insert((at, key));
        if let Some(live) = self.lives.get_mut(&key) {
            live.timer = Some(at);
        }
    }

    /// Completions until there is none: what is taken from a connection next comes after them.
    fn take_all_completions(&mut self, ledger: &mut Ledger<B, D>, now: u64) {
        while self.take_completions(ledger, now) {}
    }

    /// The peer has closed: everything before its FIN is seen first.
    fn end_receiving(&mut self, key: u64, ledger: &mut Ledger<B, D>, now: u64) {
        let Some(live) = self.lives.get_mut(&key) else {
            return;
        };
        live.is_fin_due = false;
        let number = live.resources.as_ref().map(|resources| resources.number);
        if let Some(number) = number {
            if ledger.device().settle(number).is_err() {
                self.counts.device_errors += 1;
            }
        }
        self.take_all_completions(ledger, now);
        if let Some(pair) = self.lives.get_mut(&key).and_then(|live| live.pair.as_mut()) {
            pair.machine.on_fin();
        }
        self.enqueue(key);
    }

    /// Give the device's part of a connection back. Its completions are taken before its number is
    /// another's.
    pub(super) fn release(&mut self, key: u64, ledger: &mut Ledger<B, D>, now: u64) {
        self.take_all_completions(ledger, now);
        let taken = self
            .lives
            .get_mut(&key)
            .and_then(|live| live.resources.take());
        let Some(resources) = taken else {
            return;
        };
        if resources.release(ledger).is_err() {
            // The device may have it: the ledger keeps what it holds.
            self.counts.device_errors += 1;
        }
        self.take_all_completions(ledger, now);
        self.set_number(resources.number, None);
        self.enqueue(key);
    }

    /// Forget a connection that is over.
    pub(super) fn remove(&mut self, key: u64, ledger: &mut Ledger<B, D>) {
        let Some(mut live) = self.lives.remove(&key) else {
            return;
        };
        live.dissolve(ledger);
        live.notice.raise();
        if self.by_ends.get(&live.ends) == Some(&key) {
            self.by_ends.remove(&live.ends);
        }
        if let Some(at) = live.timer {
            self.timers.remove(&(at, key));
        }
        self.blocked.remove(&key);
    }

    /// Wait until the device has sent what it was handed: what ends the endpoint may reset the
    /// device next, and a peer that hears nothing waits. A ring that has stopped reports nothing.
    fn see_frames_off(&mut self, ledger: &mut Ledger<B, D>) {
        for _ in 0..LOOKS_MAX {
            self.take_results(ledger);
            let is_idle = ledger.frames.iter().all(VecDeque::is_empty);
            // A read of a register goes by: time for the device.
            if is_idle || ledger.device().check_present().is_err() {
                return;
            }
        }
    }

    /// End everything: connections are reset, and their memory is given back.
    pub(super) fn end(&mut self, now: u64) {
        self.has_ended = true;
        let keys: Vec<u64> = self.lives.keys().copied().collect();
        for &key in &keys {
            if let Some(live) = self.lives.get_mut(&key) {
                live.is_let_go = true;
                live.abort();
            }
            self.enqueue(key);
        }
        for listening in &mut self.listeners {
            listening.tcp.abort();
        }
        self.turn(now);
        let core = Arc::clone(&self.core);
        let mut ledger = core.lock();
        self.see_frames_off(&mut ledger);
        for key in keys {
            self.release(key, &mut ledger, now);
            self.remove(key, &mut ledger);
        }
        for listening in self.listeners.drain(..) {
            listening.notice.raise();
        }
        for order in self.orders.drain(..) {
            order.notice.raise();
        }
    }
}

/// A number that others cannot guess: an initial sequence number (RFC 6528), or a port's.
pub(super) fn random() -> u32 {
    let mut octets = [0; 4];
    // A system without random octets is one without connections, too; 0 is a number as any other.
    let _ = getrandom::fill(&mut octets);
    u32::from_ne_bytes(octets)
}

/// An initial sequence number.
pub(super) fn initial_sequence() -> SeqNumber {
    SeqNumber(random())
}
