//! An endpoint over a software device in one thread, which a script is played against.

use crate::bus::{Schedule, ScheduledBar, SETTLE_CYCLES};
use crate::peer::{message, Peer, Role, OWN, OWN_MAC, PORT};
use rnic_abi::sizes::Sizes;
use rnic_device::model::{attach, DeviceModel, ModelDma};
use rnic_device::PAYLOAD_OCTETS_MAX;
use rnic_driver::stack::{AddressPrefix, Settings};
use rnic_driver::verbs::endpoint::{
    ConnectionRequest, Endpoint, EndpointSettings, Listener, PairOptions, QueuePair, WorkKind,
};
use rnic_driver::verbs::{Context, ProtectionDomain};
use rnic_driver::{Device, Dma};
use rnic_iwarp::queue_pair::Status;
use rnic_iwarp::startup;
use rnic_sim::{DeviceCore, SimDma, Simulation, SimulationConfig};
use rnic_tcp::TimeOut;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Rounds after which nothing more will come.
pub const ROUNDS: usize = 40;
/// Microseconds of a round: more than a delay of an acknowledgement.
const ROUND_US: u64 = 1_000;

/// Which segment arrives before which operation of the accepting end.
#[derive(Clone, Debug)]
pub struct Script {
    pub segments: usize,
    /// Place and number of a segment, by place.
    pub arrivals: Vec<(usize, usize)>,
    /// A frame of ours, counted from when the first segment is due, and what becomes of it.
    pub ours: Option<(usize, Fault)>,
}

/// What a wire does to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Lost,
    Twice,
}

/// What has become of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every message once.
    Delivered,
    /// None, and the peer knows.
    Reset,
}

impl Script {
    /// Segments in their order, at these places.
    pub fn of(places: &[usize], segments: usize) -> Self {
        Self {
            segments,
            arrivals: places.iter().copied().zip(0..).collect(),
            ours: None,
        }
    }

    /// This one with one of our first `count` frames lost or doubled.
    pub fn with_ours(&self, count: usize) -> Vec<Self> {
        let faults = (0..count)
            .flat_map(|number| [Fault::Lost, Fault::Twice].map(|fault| Some((number, fault))));
        let with = |ours| Self {
            ours,
            ..self.clone()
        };
        faults.map(with).collect()
    }

    /// This one with each fault of the peer's segments: one is lost, or comes again at a place as
    /// late or later.
    pub fn with_faults(&self, places: usize) -> Vec<Self> {
        let mut all = Vec::new();
        for index in 0..self.arrivals.len() {
            let mut lost = self.clone();
            let (first, number) = lost.arrivals.remove(index);
            all.push(lost);
            for place in first..=places {
                let mut twice = self.clone();
                let at = twice.arrivals.partition_point(|(other, _)| *other <= place);
                twice.arrivals.insert(at, (place, number));
                all.push(twice);
            }
        }
        all
    }
}

/// The endpoint and its device; a connection for each script.
pub struct Scene<C: DeviceCore, D: Dma> {
    device: Rc<RefCell<C>>,
    pub schedule: Rc<Schedule>,
    pub endpoint: Endpoint<ScheduledBar<C>, D>,
    listener: Listener<ScheduledBar<C>, D>,
    pub domain: ProtectionDomain<ScheduledBar<C>, D>,
    pub context: Context<ScheduledBar<C>, D>,
    pub now_us: u64,
    pub port: u16,
    /// Frames of ours since the first segment is due, and what becomes of one.
    sent: usize,
    ours: Option<(usize, Fault)>,
    /// Start-up frames of ours that were lost or came twice.
    pub spoilt: usize,
}

impl Scene<DeviceModel, ModelDma> {
    /// The device in software.
    pub fn model() -> Self {
        let device = Rc::new(RefCell::new(DeviceModel::new(64, Sizes::LARGEST)));
        let (_, dma) = attach(&device);
        Self::new(device, dma)
    }
}

impl Scene<Simulation, SimDma> {
    /// The verilated core.
    pub fn rtl() -> Self {
        let config = SimulationConfig {
            width: 64,
            max_payload_octets: PAYLOAD_OCTETS_MAX,
            ..SimulationConfig::default()
        };
        let simulation = Simulation::new(&config).expect("the library is built");
        let device = Rc::new(RefCell::new(simulation));
        let (_, dma) = rnic_sim::attach(&device);
        Self::new(device, dma)
    }
}

impl<C: DeviceCore, D: Dma> Scene<C, D> {
    fn new(device: Rc<RefCell<C>>, dma: D) -> Self {
        let schedule = Rc::new(Schedule::default());
        let bar = ScheduledBar::new(&device, &schedule);
        let config = Endpoint::device_config();
        let opened = Device::open(bar, dma, config).expect("it opens");
        let context = Context::new(opened).expect("it is unused");
        let mut settings = EndpointSettings::new(Settings::new(
            OWN_MAC,
            vec![AddressPrefix {
                address: OWN.into(),
                bits: 24,
            }],
        ));
        let time_outs = &mut settings.tcp.time_outs;
        time_outs.set(TimeOut::TimeWait, 0).expect("in range");
        let endpoint = Endpoint::without_interrupts(&context, &settings).expect("it begins");
        let listener = endpoint.listen((OWN, PORT).into()).expect("it listens");
        Self {
            domain: context.protection_domain().expect("the first"),
            device,
            schedule,
            endpoint,
            listener,
            context,
            now_us: 0,
            port: 10_000,
            sent: 0,
            ours: None,
            spoilt: 0,
        }
    }

    /// Operations of accepting a Request: segments arrive before each of them, and after the last.
    pub fn places(&mut self) -> usize {
        self.run(&Script::of(&[0], 1));
        self.schedule.operations.get()
    }

    pub fn push(&self, frame: Vec<u8>) {
        let mut device = self.device.borrow_mut();
        device.push_frame(frame, false);
        device.run(SETTLE_CYCLES);
    }

    pub fn poll(&mut self) {
        self.now_us += ROUND_US;
        self.endpoint.poll(self.now_us).expect("it is there");
        self.device.borrow_mut().run(SETTLE_CYCLES);
    }

    /// Give the peer what was sent, and its answers to the device.
    pub fn exchange(&mut self, peer: &mut Peer) {
        loop {
            let sent = self.device.borrow_mut().next_sent();
            let Some(sent) = sent else {
                return;
            };
            if sent.octets[12..14] == [8, 6] {
                self.push(arp_reply(&sent.octets));
                continue;
            }
            let fault = self.ours.filter(|(number, _)| *number == self.sent);
            self.sent += 1;
            let is_start_up = sent.octets.windows(7).any(|octets| octets == b"MPA ID ");
            self.spoilt += usize::from(fault.is_some() && is_start_up);
            let times = match fault {
                Some((_, Fault::Lost)) => 0,
                Some((_, Fault::Twice)) => 2,
                None => 1,
            };
            for _ in 0..times {
                if let Some(answer) = peer.take(&sent.octets) {
                    self.push(answer);
                }
            }
        }
    }

    /// The segments of a script are due from now on.
    pub fn begin(&mut self, script: &Script, peer: &Peer) {
        let frames = script.arrivals.iter();
        let frames = frames.map(|&(place, number)| (place, peer.segment(number)));
        self.schedule.due.replace(frames.collect::<VecDeque<_>>());
        self.schedule.operations.set(0);
        self.schedule.arrive(&self.device);
        (self.sent, self.ours) = (0, script.ours);
    }

    /// Those of places after the last operation.
    pub fn arrive_rest(&self) {
        let operations = self.schedule.operations.get();
        self.schedule.operations.set(usize::MAX);
        self.schedule.arrive(&self.device);
        self.schedule.operations.set(operations);
    }

    /// Nothing has happened for long: the next deadline passes, and the peer's keepalive asks: an
    /// RST may have been lost.
    fn wait(&mut self, round: usize, peer: &Peer) {
        if round > ROUNDS / 4 {
            self.push(peer.bare_ack());
            let deadline = self.endpoint.deadline_us();
            self.now_us = deadline.map_or(self.now_us, |at| self.now_us.max(at));
        }
    }

    /// Play a script; panics if the invariant does not hold.
    pub fn run(&mut self, script: &Script) -> Outcome {
        self.port = self.port.checked_add(1).unwrap_or(10_000);
        let iss = u32::from(self.port).wrapping_mul(0x9e37_79b9);
        let mut peer = Peer::new(Role::Initiator, self.port, iss, script.segments);
        self.push(peer.syn());
        let mut stream = None;
        for _ in 0..ROUNDS {
            self.poll();
            self.exchange(&mut peer);
            stream = stream.or(self.listener.poll().expect("it listens"));
            if stream.is_some() {
                break;
            }
        }
        let stream = stream.unwrap_or_else(|| panic!("{script:?}: no connection"));
        let mut expected = stream.expect_request(&settings()).expect("it is open");
        // What arrives at place 0 is there before the Request is read; the others later.
        self.begin(script, &peer);
        let mut pair = None;
        for _ in 0..ROUNDS {
            self.poll();
            self.exchange(&mut peer);
            match expected.poll() {
                Ok(Ok(request)) => {
                    pair = self.accept(request);
                    break;
                }
                Ok(Err(again)) => expected = again,
                // It was reset: what the peer learns of it comes below.
                Err(_) => break,
            }
            // A Request that was scheduled later, or lost, is sent again.
            for frame in peer.unacknowledged() {
                self.push(frame);
            }
        }
        self.finish(script, &mut peer, pair)
    }

    /// Accept, while the script's frames arrive between the operations.
    fn accept(
        &mut self,
        request: ConnectionRequest<ScheduledBar<C>, D>,
    ) -> Option<QueuePair<ScheduledBar<C>, D>> {
        let options = PairOptions {
            receives: 8,
            ..PairOptions::default()
        };
        let pair = request.queue_pair(&self.domain, &options).ok()?;
        for id in 0..8 {
            let memory = self.context.allocate(64).expect("memory");
            pair.post_receive(id, memory).ok()?;
        }
        self.schedule.is_on.set(true);
        let accepted = pair.accept(b"");
        self.schedule.is_on.set(false);
        self.arrive_rest();
        accepted.is_ok().then_some(pair)
    }

    /// Let the peer send again what is missing, and judge.
    pub fn finish(
        &mut self,
        script: &Script,
        peer: &mut Peer,
        pair: Option<QueuePair<ScheduledBar<C>, D>>,
    ) -> Outcome {
        let mut delivered = Vec::new();
        for round in 0..ROUNDS {
            self.wait(round, peer);
            // What the peer has learnt last has its completion after it: one more poll.
            let is_over = peer.is_reset || peer.is_done();
            self.poll();
            self.exchange(peer);
            while let Some(done) = pair.as_ref().and_then(|pair| pair.poll_completion().ok()?) {
                if (done.kind, done.status) == (WorkKind::Receive, Status::Success) {
                    delivered.push(done.message());
                }
            }
            if is_over {
                break;
            }
            for frame in peer.unacknowledged() {
                self.push(frame);
            }
        }
        let wanted: Vec<Vec<u8>> = (1..script.segments).map(message).collect();
        let outcome = match (peer.is_reset, delivered == wanted, delivered.is_empty()) {
            (false, true, _) if peer.is_done() => Outcome::Delivered,
            (true, _, true) => Outcome::Reset,
            _ => panic!(
                "{script:?}: reset {}, done {}, delivered {delivered:?}",
                peer.is_reset,
                peer.is_done()
            ),
        };
        drop(pair);
        self.poll();
        self.ours = None;
        while self.device.borrow_mut().next_sent().is_some() {}
        assert_eq!(self.endpoint.connections(), 0, "{script:?}");
        outcome
    }
}

pub fn settings() -> startup::Settings {
    startup::Settings {
        revision: 1,
        crc: false,
        ird: 0,
        ord: 0,
        ..startup::Settings::default()
    }
}

/// The peer's answer to a question for its MAC address.
fn arp_reply(question: &[u8]) -> Vec<u8> {
    let peer_mac = crate::peer::PEER_MAC;
    let mut reply = [
        &OWN_MAC[..],
        &peer_mac,
        &question[12..20],
        &[0, 2],
        &peer_mac,
    ]
    .concat();
    reply.extend_from_slice(&crate::peer::PEER);
    reply.extend_from_slice(&OWN_MAC);
    reply.extend_from_slice(&OWN);
    reply
}
