//! A root complex: owns host memory and the monitor, completes a device's requests, and sends its
//! own.
//!
//! ```text
//!              +--------------------- RootComplex ----------------------+
//!   upstream   | Monitor -> MWr  -> Memory, or an Interrupt             |   the host:
//!   ---------> |            MRd  -> Memory -> completions --+           |   memory()
//!              |            Cpl  -> Requester (poll)        |           |   next_interrupt()
//!   downstream |                                            v           |   write_bar()
//!   <--------- | Monitor <- one queue, in order <- MWr, MRd, Cfg, CplD  |   read_bar(), poll()
//!              +--------------------------------------------------------+
//! ```
//!
//! * Time is a count of ticks that the caller gives on each call; there is no other clock.
//! * A posted write is in memory when [`upstream`](RootComplex::upstream) returns, so that
//!   writes take effect in the order of arrival. A read sees memory as of its arrival.
//! * A packet that breaks a rule is recorded by the monitor and discarded; a write that leaves
//!   mapped memory is recorded and writes nothing; such a read is answered with
//!   Unsupported Request. No input makes it panic.
//! * Memory is [`Memory`], or whatever memory it is given ([`RootComplex::set_device_memory`]).
//! * Downstream, packets keep their order, except that a request without a free tag waits and
//!   lets others pass, and that a class of packets without credits lets those pass that must not
//!   wait for it. With [`RootComplexSettings::pass_percent`], others pass as well, where table 2-40
//!   of section 2.4.1 permits it.
//!
//! - `apply`: what a packet from the device does.
//! - `answers`: when and in which order reads are answered.
//! - `fault`: what is done wrong on purpose.
//! - `control`: credits, stalls, resets.
//!
//! Source: PCI Express Base Specification 5.0, sections 2.2 to 2.4, 2.6 and 6.1.4.
//! Not modelled: peer-to-peer traffic, switches.

mod apply;
mod answers;
mod control;
mod fault;

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use answers::{Answers, Pace};
use fault::Outgoing;
pub use fault::{Fault, Faults};

use crate::check::Direction;
use crate::choices::{Choices, Seeded};
use crate::completer::CompletionSplit;
use crate::flow_control::{FlowClass, Stall};
use crate::limits::Limits;
use crate::memory::{DeviceMemory, Memory};
use crate::monitor::Monitor;
use crate::ordering::OrderedQueue;
use crate::requester::{Requester, Token, TransferError};
use crate::tlp::{Bdf, Kind, Tlp};

/// How a root complex is set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootComplexSettings {
    /// Its own id, as requester and completer.
    pub bdf: Bdf,
    /// Sizes that it obeys and holds the device to.
    pub limits: Limits,
    /// How it cuts completions.
    pub completion_split: CompletionSplit,
    /// Ticks from a read to the first moment its completions may leave.
    pub read_latency_ticks: u64,
    /// The most ticks that each completion may take beyond that; how many is drawn.
    pub read_spread_ticks: u64,
    /// Whether completions of different reads pass each other at random. Those of one never do.
    pub reorder_completions: bool,
    /// In how many of 100 cases a packet passes an older one, where table 2-40 permits it.
    pub pass_percent: u8,
    /// What every choice follows from.
    pub seed: u64,
    /// Ticks after which [`RootComplex::poll`] gives up on the device; `None` waits forever.
    pub completion_timeout_ticks: Option<u64>,
}

impl Default for RootComplexSettings {
    /// Id 00:00.0, the limits' own default, largest completions in order, no latency, no timeout.
    fn default() -> Self {
        Self {
            bdf: Bdf::default(),
            limits: Limits::default(),
            completion_split: CompletionSplit::default(),
            read_latency_ticks: 0,
            read_spread_ticks: 0,
            reorder_completions: false,
            pass_percent: 0,
            seed: 0,
            completion_timeout_ticks: None,
        }
    }
}

/// A write to an interrupt window: a message-signalled interrupt (MSI or MSI-X).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Interrupt {
    /// The caller's time.
    pub now: u64,
    /// Who sent it.
    pub requester: Bdf,
    /// Where it was written.
    pub address: u64,
    /// What was written.
    pub data: u32,
}

/// What a root complex has taken from the device, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Memory writes applied.
    pub writes: u64,
    /// Octets they wrote.
    pub octets_written: u64,
    /// Memory writes refused by memory.
    pub writes_refused: u64,
    /// Memory reads answered with data.
    pub reads: u64,
    /// Memory reads answered with Unsupported Request.
    pub reads_refused: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Completions taken.
    pub completions: u64,
    /// Messages, which are observed and otherwise ignored.
    pub messages: u64,
    /// Packets discarded because they broke a rule.
    pub discarded: u64,
    /// Reads answered wrong on purpose, by [`Faults`].
    pub faults: u64,
}

/// The root complex. See the [module](self) for what it guarantees.
#[derive(Clone, Debug)]
pub struct RootComplex {
    settings: RootComplexSettings,
    memory: Memory,
    // What the device accesses instead of `memory`.
    device_memory: Option<Rc<dyn DeviceMemory>>,
    monitor: Monitor,
    requester: Requester,
    interrupt_windows: Vec<Range<u64>>,
    interrupts: VecDeque<Interrupt>,
    // Packets on their way down.
    queue: OrderedQueue<Outgoing>,
    answers: Answers,
    faults: Faults,
    choices: Box<dyn Choices>,
    // By direction.
    stalls: [Stall; 2],
    statistics: Statistics,
}

impl RootComplex {
    /// A root complex with empty memory.
    pub fn new(settings: RootComplexSettings) -> Self {
        let mut requester = Requester::new(settings.bdf, settings.limits);
        requester.set_timeout(settings.completion_timeout_ticks);
        Self {
            settings,
            memory: Memory::new(),
            device_memory: None,
            monitor: Monitor::new(settings.limits),
            requester,
            interrupt_windows: Vec::new(),
            interrupts: VecDeque::new(),
            queue: OrderedQueue::new(),
            answers: Answers::default(),
            faults: Faults::default(),
            choices: Box::new(Seeded::new(settings.seed)),
            stalls: [Stall::default(); 2],
            statistics: Statistics::default(),
        }
    }

    /// The settings in force.
    pub fn settings(&self) -> &RootComplexSettings {
        &self.settings
    }

    /// Host memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Host memory, for the host to map, read and write.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Lets the device access `memory` from now on instead of [`memory`](Self::memory): memory that
    /// belongs to somebody else, such as the client of a device that is served to it.
    pub fn set_device_memory(&mut self, memory: Option<Rc<dyn DeviceMemory>>) {
        self.device_memory = memory;
    }

    /// The monitor of the link.
    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// The monitor of the link, to end a run or take records.
    pub fn monitor_mut(&mut self) -> &mut Monitor {
        &mut self.monitor
    }

    /// What came from the device so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Turns memory writes to `window` into interrupts. It takes precedence over memory.
    pub fn add_interrupt_window(&mut self, window: Range<u64>) {
        self.interrupt_windows.push(window);
    }

    /// The oldest interrupt not yet taken.
    pub fn next_interrupt(&mut self) -> Option<Interrupt> {
        self.interrupts.pop_front()
    }

    /// Takes one packet from the device.
    pub fn upstream(&mut self, now: u64, tlp: impl Borrow<Tlp>) {
        let tlp = tlp.borrow();
        let broken_count = self.monitor.observe(now, Direction::Upstream, tlp);
        self.apply(now, tlp, broken_count);
    }

    /// Takes one packet from the device as header dwords and payload.
    ///
    /// Set reserved bits are recorded but, as the specification wants it, otherwise ignored.
    pub fn upstream_dwords(&mut self, now: u64, header_dwords: &[u32], payload: Vec<u8>) {
        let (tlp, mut broken_count) =
            self.monitor
                .observe_dwords(now, Direction::Upstream, header_dwords, payload);
        let Some(tlp) = tlp else {
            self.statistics.discarded += 1;
            return;
        };
        if let Ok(packed) = tlp.header.pack() {
            let reserved = header_dwords
                .iter()
                .zip(packed.iter())
                .filter(|(given, kept)| given != kept);
            broken_count -= reserved.count();
        }
        self.apply(now, &tlp, broken_count);
    }

    /// The next packet for the device, if one is ready, has credits, and is not stalled.
    pub fn next_downstream(&mut self, now: u64) -> Option<Tlp> {
        let direction = Direction::Downstream;
        self.release(now);
        self.monitor.advance(now);
        let flow = self.monitor.flow_control(direction);
        let stall = self.stalls[direction as usize];
        let admits = |outgoing: &Outgoing| {
            let header = &outgoing.tlp.header;
            !stall.stalls(now, FlowClass::of(header)) && flow.is_none_or(|flow| flow.admits(header))
        };
        let percent = self.settings.pass_percent;
        let Outgoing { mut tlp, fault } =
            self.queue
                .next_chosen(admits, &mut *self.choices, percent)?;
        if fault == Some(Fault::UnknownTag) {
            self.use_unknown_tag(&mut tlp);
        }
        match fault {
            Some(_) => self.monitor.observe_fault(now, direction, &tlp),
            None => {
                self.monitor.observe(now, direction, &tlp);
            }
        }
        Some(tlp)
    }

    /// Whether [`next_downstream`](Self::next_downstream) has nothing to give, now or later,
    /// until the next call to anything else.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.answers.is_empty() && self.requester.waiting_count() == 0
    }

    /// Begins to read `octets` octets of device memory at bus address `address`.
    pub fn read_bar(&mut self, now: u64, address: u64, octets: usize) -> Token {
        let token = self.requester.read(address, octets);
        self.release(now);
        token
    }

    /// Writes `data` to device memory at bus address `address`. Posted: there is no answer.
    pub fn write_bar(&mut self, now: u64, address: u64, data: &[u8]) {
        self.release(now);
        for tlp in self.requester.write(address, data) {
            self.queue.push(Outgoing::legal(tlp));
        }
    }

    /// Begins to read the configuration dword that holds `register`.
    pub fn read_configuration(&mut self, now: u64, target: Bdf, register: u16) -> Token {
        let token = self.requester.read_configuration(target, register);
        self.release(now);
        token
    }

    /// Begins to write `data`, all within one dword, to configuration space.
    ///
    /// # Errors
    /// The octets are not within one dword.
    pub fn write_configuration(
        &mut self,
        now: u64,
        target: Bdf,
        register: u16,
        data: &[u8],
    ) -> Result<Token, TransferError> {
        let token = self.requester.write_configuration(target, register, data)?;
        self.release(now);
        Ok(token)
    }

    /// The result of a read or configuration write: `None` while it is under way. It is given
    /// once; a configuration write returns no octets.
    ///
    /// # Errors
    /// The device refused, the time ran out, or the token is unknown.
    pub fn poll(&mut self, now: u64, token: Token) -> Result<Option<Vec<u8>>, TransferError> {
        self.requester.poll(now, token)
    }

    // Moves what has become ready into the queue. A completion is ordered after every write
    // queued before it became ready (section 2.4.1: it must not pass them).
    fn release(&mut self, now: u64) {
        let pace = Pace {
            reordered: self.settings.reorder_completions,
            spread_ticks: self.settings.read_spread_ticks,
        };
        while let Some(outgoing) = self.answers.next(now, pace, &mut *self.choices) {
            self.queue.push(outgoing);
        }
        while let Some(request) = self.requester.next_request(now) {
            self.queue.push(Outgoing::legal(request));
        }
    }

    // The highest tag that is not in use: a device uses the low ones first. With all 256 in use
    // there is no unknown one, and the packet goes out as a second answer.
    fn use_unknown_tag(&self, tlp: &mut Tlp) {
        let Kind::CplD(completion) = &mut tlp.header.kind else {
            return;
        };
        let requester = completion.requester;
        let in_use = |tag: &u8| {
            self.monitor
                .is_outstanding(Direction::Upstream, requester, *tag)
        };
        let unknown = (0..=u8::MAX).rev().find(|tag| !in_use(tag));
        completion.tag = unknown.unwrap_or(completion.tag);
    }
}
