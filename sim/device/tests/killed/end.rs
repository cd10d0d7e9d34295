//! What both processes have: an end of the wire, and what it does on its queue pair.

use rnic_driver::stack::{AddressPrefix, Settings};
use rnic_driver::verbs::endpoint::{
    Endpoint, EndpointSettings, PairEvent, PairOptions, QueuePair, SendOperation, Stream,
    WorkCompletion, WorkKind,
};
use rnic_driver::verbs::{Context, MemoryRegion, ProtectionDomain, RegionOptions, Rights};
use rnic_iwarp::queue_pair::Status;
use rnic_iwarp::startup;
use rnic_tcp::TimeOut;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Time-outs of both ends, in microseconds.
pub const TIME_OUT_US: u64 = 5_000_000;
/// With it, keepalive takes as long as the others.
pub const IDLE_US: u64 = 1_000_000;
pub const PATIENCE: Option<Duration> = Some(Duration::from_secs(30));
/// A Read of all of them takes seconds.
const OCTETS: usize = 64 << 20;
/// A Write, of which many are posted.
const PIECE: usize = 1 << 20;
const WRITES: u64 = 60;
/// Octets after which an operation is under way.
const BEGUN: usize = 100_000;

/// What an end does when the other process is killed, or its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It is in MPA's start-up: a responder has the Request and does not answer, an initiator has
    /// said nothing yet.
    StartUp,
    /// It waits.
    Idle,
    /// It is in the middle of Writes.
    Writes,
    /// It is in the middle of a Read.
    Reads,
    /// It has closed its half.
    Closes,
    /// It closes its half when the other process is gone already.
    ClosesAfter,
}

impl Act {
    pub const ALL: [Self; 6] = [
        Self::StartUp,
        Self::Idle,
        Self::Writes,
        Self::Reads,
        Self::Closes,
        Self::ClosesAfter,
    ];
}

/// One end of the wire.
pub struct End {
    pub endpoint: Endpoint,
    pub domain: ProtectionDomain,
    pub context: Context,
}

impl End {
    /// `idle_us`: of keepalive, whose four probes are a second apart.
    pub fn open(number: u8, address: &str, idle_us: u64) -> Self {
        rnic_device::provide_simulator();
        let context = Context::open(address, Endpoint::device_config()).expect("it opens");
        let mut settings = EndpointSettings::new(Settings::new(
            [2, 0, 0, 0, 0, number],
            vec![AddressPrefix {
                address: [192, 0, 2, number].into(),
                bits: 24,
            }],
        ));
        for (which, value) in [
            (TimeOut::RetransmissionTime, TIME_OUT_US),
            (TimeOut::FinWait2, TIME_OUT_US),
            (TimeOut::Startup, TIME_OUT_US),
            (TimeOut::KeepaliveIdle, idle_us),
            (TimeOut::KeepaliveInterval, 1_000_000),
            (TimeOut::KeepaliveCount, 4),
        ] {
            settings.tcp.time_outs.set(which, value).expect("in range");
        }
        Self {
            domain: context.protection_domain().expect("the first"),
            endpoint: Endpoint::start(&context, &settings).expect("it starts"),
            context,
        }
    }

    /// A region of octets that are not zero, or are.
    fn region(&self, octet: u8) -> MemoryRegion {
        let options = RegionOptions {
            rights: Rights::REMOTE_WRITE | Rights::REMOTE_READ | Rights::READ_SINK,
            ..RegionOptions::default()
        };
        let mut memory = self.context.allocate(OCTETS).expect("memory");
        memory.write(BEGUN, &[octet]).expect("inside");
        self.domain.register(memory, &options).expect("a region")
    }

    /// What the device still holds for this end, as text.
    pub fn in_use(&self) -> String {
        format!("{:?}", self.context.in_use().expect("it answers"))
    }
}

/// Where the end number `number` listens.
pub fn own(number: u8) -> SocketAddr {
    ([192, 0, 2, number], 7_174).into()
}

pub fn startup() -> startup::Settings {
    startup::Settings {
        timeout_us: Some(TIME_OUT_US),
        ..startup::Settings::default()
    }
}

/// A queue pair whose two ends know a region of each other.
pub struct Joined {
    pub pair: QueuePair,
    /// The peer reads it and writes into it.
    region: MemoryRegion,
    /// Its own Reads go there.
    sink: MemoryRegion,
    peer: u32,
    /// Sends, Writes and Reads that were posted and whose end has not been taken.
    pub posted: usize,
}

impl Joined {
    /// The initiator's end.
    pub fn initiate(end: &End, stream: Stream) -> Self {
        let pair = stream.queue_pair(&end.domain, &startup(), &PairOptions::default());
        let pair = pair.expect("there is room");
        post_receives(end, &pair);
        pair.start(b"").expect("a Reply");
        Self::meet(end, pair, true)
    }

    /// The responder's.
    pub fn respond(end: &End, stream: Stream) -> Self {
        let request = stream.request(&startup(), b"").expect("a Request");
        let pair = request.queue_pair(&end.domain, &PairOptions::default());
        let pair = pair.expect("there is room");
        post_receives(end, &pair);
        pair.accept(b"").expect("accepted");
        Self::meet(end, pair, false)
    }

    /// The initiator speaks first (START-014).
    fn meet(end: &End, pair: QueuePair, is_first: bool) -> Self {
        let region = end.region(1);
        let mut peer = None;
        if is_first {
            announce(end, &pair, &region);
        }
        // The peer's answer may be there before the acknowledgement.
        for count in 0..2 {
            let done: WorkCompletion = pair.wait_completion(PATIENCE).expect("two come");
            assert_eq!(done.status, Status::Success);
            if done.kind == WorkKind::Receive {
                peer = done.message().try_into().ok().map(u32::from_be_bytes);
            }
            if count == 0 && !is_first {
                announce(end, &pair, &region);
            }
        }
        let event = pair.wait_event(PATIENCE).expect("an event");
        assert_eq!(event, PairEvent::Established);
        Self {
            sink: end.region(0),
            pair,
            region,
            peer: peer.expect("four octets"),
            posted: 0,
        }
    }

    /// Begin to do something; it is under way when this returns.
    pub fn act(&mut self, act: Act) {
        match act {
            Act::StartUp => panic!("that is over"),
            Act::Idle => (),
            Act::Writes => self.write(),
            Act::Reads => self.read(),
            Act::ClosesAfter => self.pair.disconnect().expect("it is open"),
            Act::Closes => {
                self.pair.disconnect().expect("it is open");
                // The FIN is acknowledged by the peer's thread; its application says nothing.
                self.wait(|joined| joined.state() == rnic_tcp::State::FinWait2);
            }
        }
    }

    fn write(&mut self) {
        let payload = [self.region.part(0..PIECE).expect("inside")];
        let operation = SendOperation::Write {
            payload: &payload,
            stag: self.peer,
            to: 0,
        };
        for id in 0..WRITES {
            self.pair.post_send(id, &operation).expect("posted");
        }
        self.posted += WRITES as usize;
        self.wait(|joined| {
            let statistics = joined.pair.statistics().expect("it is there");
            statistics.sent.octets > BEGUN as u64
        });
    }

    /// The Request is acknowledged, and a part of the Response is there.
    fn read(&mut self) {
        let operation = SendOperation::Read {
            sink: &self.sink,
            sink_to: 0,
            source_stag: self.peer,
            source_to: 0,
            octets: OCTETS as u32,
        };
        self.pair.post_send(0, &operation).expect("posted");
        self.posted += 1;
        self.wait(|joined| {
            let mut octet = [0];
            joined.sink.read(BEGUN, &mut octet).expect("inside");
            let statistics = joined.pair.statistics().expect("it is there");
            octet == [1] && statistics.flying_octets == 0
        });
    }

    pub fn state(&self) -> rnic_tcp::State {
        self.pair.statistics().expect("it is there").state
    }

    pub fn wait(&self, is_so: impl Fn(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !is_so(self) {
            assert!(Instant::now() < end, "{:?}", self.pair.statistics());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Of these the first one gets the peer's STag.
pub const RECEIVES: usize = 2;

fn post_receives(end: &End, pair: &QueuePair) {
    for id in 0..RECEIVES as u64 {
        let memory = end.context.allocate(64).expect("memory");
        pair.post_receive(id, memory).expect("posted");
    }
}

/// Send the STag of a region.
fn announce(end: &End, pair: &QueuePair, region: &MemoryRegion) {
    let mut memory = end.context.allocate(4).expect("memory");
    let stag = region.stag().to_be_bytes();
    memory.write(0, &stag).expect("it fits");
    let payload = [memory.part(0..4).expect("all of it")];
    let operation = SendOperation::send(&payload);
    pair.post_send(1, &operation).expect("posted");
}
