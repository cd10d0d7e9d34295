//! The end that is judged, the stranger, and the wire between them.

use crate::scene::{End, PATIENCE};
use crate::stranger::{Conn, Stranger};
use crate::wire::Wire;
use rnic_driver::stack::{AddressPrefix, Settings};
use rnic_driver::verbs::endpoint::{
    Endpoint, EndpointError, EndpointSettings, PairOptions, Stream,
};
use rnic_driver::verbs::{Context, MemoryRegion, ProtectionDomain, RegionOptions, Rights};
use rnic_iwarp::startup;
use rnic_tcp::TimeOut;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Where the end that is judged listens.
pub const PORT: u16 = 7174;
/// Octets of a region.
pub const REGION_OCTETS: usize = 4096;
/// Tagged Offset of a region's first octet.
pub const REGION_TO: u64 = 0x1_0000_0000;
/// Octets of a region that is read by a peer which takes none of them.
pub const BIG_OCTETS: usize = 1 << 20;
/// Octets of a receive.
pub const RECEIVE_OCTETS: usize = 512;
/// Receives that are posted.
pub const RECEIVES: u64 = 4;
/// Reads that the stranger may have outstanding.
pub const IRD: u16 = 2;

/// What the end that is judged is in MPA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Initiator,
    Responder,
}

/// Both.
pub const ROLES: [Role; 2] = [Role::Responder, Role::Initiator];

/// An end, a stranger, and a hub between them.
pub struct Ground {
    pub end: End,
    pub stranger: Stranger,
    /// Of regions that no connection may reach.
    pub elsewhere: ProtectionDomain,
    /// STag of a region of the bystander's connection alone.
    pub bound_stag: AtomicU32,
    /// More octets than are on their way to a peer that takes none, to be read.
    pub big: MemoryRegion,
    wire: Wire,
    _folder: TempDir,
}

impl Ground {
    /// A device of this kind.
    pub fn new(kind: &str) -> Self {
        Self::with(kind, |_| {})
    }

    /// A device of this kind, with TCP set otherwise.
    pub fn with(kind: &str, set: impl FnOnce(&mut rnic_tcp::Settings)) -> Self {
        rnic_device::provide_simulator();
        let folder = tempfile::tempdir().expect("a folder");
        let wire = Wire::new(folder.path(), 2, Default::default());
        let link = format!("sim:{kind},unix-connect:{}", wire.ports[0].display());
        let context = Context::open(&link, Endpoint::device_config()).expect("it opens");
        let domain = context.protection_domain().expect("the first");
        let elsewhere = context.protection_domain().expect("the second");
        let address: IpAddr = [192, 0, 2, 1].into();
        let mut settings = EndpointSettings::new(Settings::new(
            [2, 0, 0, 0, 0, 1],
            vec![AddressPrefix { address, bits: 24 }],
        ));
        let time_outs = &mut settings.tcp.time_outs;
        time_outs.set(TimeOut::TimeWait, 20_000).expect("in range");
        set(&mut settings.tcp);
        let big = region(
            &context,
            &domain,
            Rights::REMOTE_READ,
            &vec![0xbb; BIG_OCTETS],
        );
        Self {
            big,
            bound_stag: AtomicU32::new(0),
            end: End {
                endpoint: Endpoint::start(&context, &settings).expect("it starts"),
                domain,
                context,
                address,
            },
            stranger: Stranger::join(&wire.ports[1]),
            elsewhere,
            wire,
            _folder: folder,
        }
    }

    /// Where the end that is judged listens.
    pub fn own(&self) -> SocketAddr {
        SocketAddr::new(self.end.address, PORT)
    }

    /// A TCP connection that the stranger opens.
    pub fn accept(&self) -> (Conn, Stream) {
        let listener = self.end.endpoint.listen(self.own()).expect("it listens");
        let conn = self.stranger.connect(self.own());
        let stream = listener.accept(PATIENCE).expect("one comes");
        (conn, stream)
    }

    /// A TCP connection to the stranger.
    pub fn connect(&self) -> (Conn, Stream) {
        let conn = self.stranger.listen();
        let peer = SocketAddr::new(self.stranger.address, conn.own_port());
        let stream = self.end.endpoint.connect(peer).expect("it connects");
        conn.wait_connected();
        (conn, stream)
    }

    /// There are `connections` connections, and nothing is held that comes and goes.
    pub fn expect_clean(&self, connections: usize) {
        let begun = Instant::now();
        loop {
            let counts = (
                self.end.endpoint.connections(),
                self.end.context.in_use().expect("it answers"),
            );
            let (lives, held) = &counts;
            let held = [held.ranges, held.fragments, held.spans, held.records];
            if *lives == connections && held == [0; 4] {
                return;
            }
            let waited = begun.elapsed();
            assert!(waited < Duration::from_secs(20), "left over: {counts:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Ground {
    /// What was on the wire of a test that fails is kept.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.wire.end();
            let kept = format!("hostile-{}.pcapng", std::process::id());
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(kept);
            let copied = std::fs::copy(&self.wire.capture, &kept);
            println!("{}: {copied:?} octets", kept.display());
        }
    }
}

/// The error of what must not have gone well. A handle would be shown with all of its endpoint.
pub fn refused<T>(result: Result<T, EndpointError>) -> EndpointError {
    match result {
        Err(error) => error,
        Ok(_) => panic!("there is no error"),
    }
}

/// A region with these rights, of these octets.
pub fn region(
    context: &Context,
    domain: &ProtectionDomain,
    rights: Rights,
    text: &[u8],
) -> MemoryRegion {
    let mut memory = context.allocate(text.len()).expect("memory");
    memory.write(0, text).expect("it fits");
    let options = RegionOptions {
        rights,
        tagged_offset: REGION_TO,
        stag: None,
    };
    domain.register(memory, &options).expect("a region")
}

/// What the end that is judged wants of MPA.
pub fn settings(markers: bool) -> startup::Settings {
    startup::Settings {
        markers,
        ird: IRD,
        ord: 1,
        ..startup::Settings::default()
    }
}

/// Queues of the end that is judged.
pub fn options() -> PairOptions {
    PairOptions {
        receives: RECEIVES as u32,
        ..PairOptions::default()
    }
}
