//! Two ends: each a device, an interface and a Protection Domain.

use crate::wire::Wire;
use rnic_driver::stack::{AddressPrefix, Settings};
use rnic_driver::verbs::endpoint::{
    Endpoint, EndpointSettings, PairEvent, PairOptions, QueuePair, Stream, Tap, WorkCompletion,
};
use rnic_driver::verbs::{Context, MemoryRegion, ProtectionDomain, RegionOptions, Rights};
use rnic_iwarp::startup;
use rnic_tcp::TimeOut;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tempfile::TempDir;

/// What takes longer has not come.
pub const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));
/// Where a responder listens.
pub const PORT: u16 = 7174;

/// One end.
pub struct End {
    pub endpoint: Endpoint,
    pub domain: ProtectionDomain,
    pub context: Context,
    pub address: IpAddr,
}

impl End {
    /// The end number `number`, 1 or 2, at `link`; a device of this kind.
    pub fn open(kind: &str, number: u8, link: &str, v6: bool) -> Self {
        Self::open_with(kind, number, link, v6, |_| ())
    }

    /// As [`End::open`], with other settings.
    fn open_with(
        kind: &str,
        number: u8,
        link: &str,
        v6: bool,
        set: impl FnOnce(&mut EndpointSettings),
    ) -> Self {
        rnic_device::provide_simulator();
        let config = Endpoint::device_config();
        let context = Context::open(&format!("sim:{kind},{link}"), config).expect("it opens");
        let domain = context.protection_domain().expect("the first");
        let (address, bits): (IpAddr, u8) = match v6 {
            false => ([192, 0, 2, number].into(), 24),
            true => ([0xfd00, 0, 0, 0, 0, 0, 0, number.into()].into(), 64),
        };
        let mut settings = EndpointSettings::new(Settings::new(
            [2, 0, 0, 0, 0, number],
            vec![AddressPrefix { address, bits }],
        ));
        let time_outs = &mut settings.tcp.time_outs;
        time_outs.set(TimeOut::TimeWait, 50_000).expect("in range");
        set(&mut settings);
        Self {
            endpoint: Endpoint::start(&context, &settings).expect("it starts"),
            domain,
            context,
            address,
        }
    }

    /// A region with every right, of these octets.
    pub fn region(&self, octets: &[u8]) -> MemoryRegion {
        let mut memory = self.context.allocate(octets.len()).expect("memory");
        memory.write(0, octets).expect("it fits");
        let rights = Rights::REMOTE_WRITE
            | Rights::READ_SINK
            | Rights::REMOTE_READ
            | Rights::REMOTE_INVALIDATE;
        let options = RegionOptions {
            rights,
            ..RegionOptions::default()
        };
        self.domain.register(memory, &options).expect("a region")
    }
}

/// Two ends on one wire.
pub struct Scene {
    pub initiator: End,
    pub responder: End,
    /// A hub, if there is one.
    pub wire: Option<Wire>,
    folder: TempDir,
}

impl Scene {
    /// A folder of its own.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Two devices in software, joined without anything between them.
    pub fn new(v6: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("wire");
        let link = link.to_str().expect("a path of letters");
        Self {
            responder: End::open("model", 1, &format!("unix:{link}"), v6),
            initiator: End::open("model", 2, &format!("unix-connect:{link}"), v6),
            wire: None,
            folder,
        }
    }

    /// As [`Scene::new`], with ends that wait a second for an acknowledgement, as nothing is lost
    /// and nothing is to be sent again. `tap` sees the initiator's frames.
    pub fn patient(v6: bool, tap: Option<Tap>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("wire");
        let link = link.to_str().expect("a path of letters");
        let end = |number, link: &str, tap| {
            End::open_with("model", number, link, v6, |settings| {
                let time_outs = &mut settings.tcp.time_outs;
                time_outs.set(TimeOut::RtoMin, 1_000_000).expect("in range");
                settings.tap = tap;
            })
        };
        Self {
            responder: end(1, &format!("unix:{link}"), None),
            initiator: end(2, &format!("unix-connect:{link}"), tap),
            wire: None,
            folder,
        }
    }

    /// Two devices of a kind, and a hub that does this to frames.
    pub fn with_faults(kind: &str, faults: rnic_device::hub::Settings) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let wire = Wire::new(folder.path(), 2, faults);
        let link = |port: usize| format!("unix-connect:{}", wire.ports[port].display());
        Self {
            responder: End::open(kind, 1, &link(0), false),
            initiator: End::open(kind, 2, &link(1), false),
            wire: Some(wire),
            folder,
        }
    }

    /// Two streams of one TCP connection: the one that opened it first.
    pub fn streams(&self) -> [Stream; 2] {
        let own = SocketAddr::new(self.responder.address, PORT);
        let listener = self.responder.endpoint.listen(own).expect("it listens");
        let opened = self.initiator.endpoint.connect(own).expect("it connects");
        let accepted = listener.accept(PATIENCE).expect("it is there");
        assert_eq!(accepted.peer_addr(), opened.local_addr());
        [opened, accepted]
    }

    /// Two queue pairs: the initiator's first. Each end has receives of 4 KiB posted.
    pub fn pairs(&self, startup: [&startup::Settings; 2]) -> [QueuePair; 2] {
        self.pairs_of(startup, PairOptions::default())
    }

    /// As [`Scene::pairs`], of other sizes.
    pub fn pairs_of(
        &self,
        startup: [&startup::Settings; 2],
        options: PairOptions,
    ) -> [QueuePair; 2] {
        self.pairs_with(startup, options, options.receives)
    }

    /// As [`Scene::pairs_of`], with so many receives posted.
    pub fn pairs_with(
        &self,
        startup: [&startup::Settings; 2],
        options: PairOptions,
        posted: u32,
    ) -> [QueuePair; 2] {
        let [opened, accepted] = self.streams();
        let pairs = std::thread::scope(|scope| {
            let responder = scope.spawn(|| {
                let request = accepted.request(startup[1], b"").expect("a Request");
                assert_eq!(request.private_data(), b"hello");
                let pair = request.queue_pair(&self.responder.domain, &options);
                let pair = pair.expect("there is room");
                post_receives(&self.responder, &pair, posted);
                pair.accept(b"welcome").expect("accepted");
                pair
            });
            let pair = opened.queue_pair(&self.initiator.domain, startup[0], &options);
            let pair = pair.expect("there is room");
            post_receives(&self.initiator, &pair, posted);
            assert_eq!(pair.start(b"hello").expect("a Reply"), b"welcome");
            [pair, responder.join().expect("it does not panic")]
        });
        assert_eq!(event(&pairs[0]), PairEvent::Established);
        pairs
    }
}

/// Post `count` receives of 4 KiB.
pub fn post_receives(end: &End, pair: &QueuePair, count: u32) {
    for id in 0..count {
        let memory = end.context.allocate(4096).expect("memory");
        pair.post_receive(id.into(), memory).expect("posted");
    }
}

/// The next completion.
pub fn completion(pair: &QueuePair) -> WorkCompletion {
    let waited = pair.wait_completion(PATIENCE);
    waited.unwrap_or_else(|error| panic!("{error}; {:?}", pair.statistics()))
}

/// The next event.
pub fn event(pair: &QueuePair) -> PairEvent {
    let waited = pair.wait_event(PATIENCE);
    waited.unwrap_or_else(|error| panic!("{error}; {:?}", pair.statistics()))
}

/// `count` octets that do not repeat soon, of their own for each `seed`.
pub fn octets(count: usize, seed: usize) -> Vec<u8> {
    let octet = |index: usize| (index * 31 + index / 251 + seed) as u8;
    (0..count).map(octet).collect()
}
