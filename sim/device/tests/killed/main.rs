//! The process of one end is killed (SIGKILL) in the middle of something. The other end notices
//! within its time-outs, the device is clean, and its next owner resets what is left.
//!
//! ```text
//!  this process: end B, and the served device A <--vfio-user-- child: end A, killed
//! ```
//!
//! The child is this test program again, at the test `child`.

use rnic_abi::sizes::Sizes;
use rnic_device::link::LinkKind;
use rnic_device::model::DeviceModel;
use rnic_device::Service;
use rnic_driver::stack::{AddressPrefix, Settings};
use rnic_driver::verbs::endpoint::{
    Endpoint, EndpointError, EndpointSettings, PairEvent, PairOptions, QueuePair, SendOperation,
};
use rnic_driver::verbs::{Context, MemoryRegion, ProtectionDomain, RegionOptions, Rights};
use rnic_iwarp::queue_pair::Status;
use rnic_iwarp::startup;
use rnic_tcp::{Lost, TimeOut};
use rnic_vfio_user::Server;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time-outs of the end that is left, in microseconds; and how long it may take to notice.
const TIME_OUT_US: u64 = 5_000_000;
const NOTICED: Duration = Duration::from_secs(6);
const PATIENCE: Option<Duration> = Some(Duration::from_secs(30));
const PORT: u16 = 7_174;
const OCTETS: usize = 1 << 20;
/// Environment of the child: what it does, and the address of its device.
const ROLE: &str = "RNIC_CHILD_ROLE";
const DEVICE: &str = "RNIC_CHILD_DEVICE";

/// One end of the wire.
struct End {
    endpoint: Endpoint,
    domain: ProtectionDomain,
    context: Context,
}

impl End {
    fn open(number: u8, address: &str) -> Self {
        rnic_device::provide_simulator();
        let context = Context::open(address, Endpoint::device_config()).expect("it opens");
        let mut settings = EndpointSettings::new(Settings {
            mac: [2, 0, 0, 0, 0, number],
            addresses: vec![AddressPrefix {
                address: [192, 0, 2, number].into(),
                bits: 24,
            }],
            gateways: Vec::new(),
            vlan: None,
            mtu_octets: 1500,
        });
        for (which, value) in [
            (TimeOut::RetransmissionTime, TIME_OUT_US),
            (TimeOut::FinWait2, TIME_OUT_US),
            (TimeOut::Startup, TIME_OUT_US),
            (TimeOut::KeepaliveIdle, 1_000_000),
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

    fn region(&self) -> MemoryRegion {
        let options = RegionOptions {
            rights: Rights::REMOTE_WRITE | Rights::REMOTE_READ | Rights::READ_SINK,
            ..RegionOptions::default()
        };
        let memory = self.context.allocate(OCTETS).expect("memory");
        self.domain.register(memory, &options).expect("a region")
    }
}

fn own(number: u8) -> SocketAddr {
    ([192, 0, 2, number], PORT).into()
}

fn startup() -> startup::Settings {
    startup::Settings {
        timeout_us: Some(TIME_OUT_US),
        ..startup::Settings::default()
    }
}

/// The child: it does as its role says, says so, and waits for its end.
#[test]
fn child() {
    let (Ok(role), Ok(device)) = (std::env::var(ROLE), std::env::var(DEVICE)) else {
        return;
    };
    let end = End::open(1, &device);
    let stream = end.endpoint.connect(own(2)).expect("it connects");
    let mut kept = None;
    if role != "start-up" {
        let options = PairOptions::default();
        let pair = stream.queue_pair(&end.domain, &startup(), &options);
        let pair = pair.expect("there is room");
        pair.start(b"").expect("a Reply");
        let region = end.region();
        let mut memory = end.context.allocate(4).expect("memory");
        memory
            .write(0, &region.stag().to_be_bytes())
            .expect("it fits");
        let payload = [memory.part(0..4).expect("all of it")];
        let operation = SendOperation::send(&payload);
        pair.post_send(1, &operation).expect("posted");
        pair.wait_completion(PATIENCE).expect("acknowledged");
        kept = Some((pair, region));
    }
    println!("ready");
    std::io::stdout().flush().expect("it is read");
    std::thread::sleep(Duration::from_secs(120));
    drop(kept);
}

/// A served device, its owner, and the other end.
struct Scene {
    folder: tempfile::TempDir,
    end: End,
    owner: Child,
    stop: Option<UnixStream>,
    service: Option<JoinHandle<()>>,
}

impl Scene {
    fn new(role: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (socket, wire) = (folder.path().join("device"), folder.path().join("wire"));
        let (stop, stopped) = UnixStream::pair().expect("sockets");
        let service = serve(&socket, &wire, stopped);
        let end = End::open(2, &format!("sim:model,unix-connect:{}", wire.display()));
        let owner = Command::new(std::env::current_exe().expect("this program"))
            .args(["child", "--exact", "--nocapture"])
            .env(ROLE, role)
            .env(DEVICE, format!("vfio-user:{}", socket.display()))
            .stdout(Stdio::piped())
            .spawn();
        Self {
            folder,
            end,
            owner: owner.expect("it runs"),
            stop: Some(stop),
            service: Some(service),
        }
    }

    fn device(&self) -> PathBuf {
        self.folder.path().join("device")
    }

    /// Wait until the child has done its part.
    fn wait_ready(&mut self) {
        let stdout = self.owner.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(stdout).lines();
        let is_ready = lines.any(|line| line.expect("text").contains("ready"));
        assert!(is_ready, "the child has ended before");
    }

    /// SIGKILL.
    fn kill(&mut self) -> Instant {
        self.owner.kill().expect("it runs");
        self.owner.wait().expect("it has ended");
        Instant::now()
    }

    /// The device has nothing of its owner, and the next one finds it as new.
    fn next_owner(&self) -> End {
        let next = End::open(1, &format!("vfio-user:{}", self.device().display()));
        let in_use = format!("{:?}", next.context.in_use().expect("it answers"));
        assert_eq!(
            in_use,
            "InUse { ranges: 0, fragments: 0, spans: 0, records: 0 }"
        );
        assert_eq!(next.endpoint.connections(), 0);
        next
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.owner.kill();
        let _ = self.owner.wait();
        self.stop.take();
        if let Some(service) = self.service.take() {
            let _ = service.join();
        }
    }
}

/// Serve a software device on a thread, until `stopped`'s other end is closed.
fn serve(socket: &Path, wire: &Path, stopped: UnixStream) -> JoinHandle<()> {
    let (socket, wire) = (socket.to_owned(), LinkKind::Unix(wire.to_owned()));
    let (ready, is_ready) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let server = Server::bind(&socket).expect("a socket");
        let link = wire.open().expect("it listens");
        let device = DeviceModel::new(64, Sizes::LARGEST);
        let mut service = Service::new(server, device, link).end_with(stopped.into());
        ready.send(()).expect("it is waited for");
        service.run(None).expect("it runs to the end");
    });
    is_ready.recv().expect("it is there");
    thread
}

/// A queue pair with the child, and the STag of its region.
fn accept(scene: &mut Scene) -> (QueuePair, u32) {
    let listener = scene.end.endpoint.listen(own(2)).expect("it listens");
    let stream = listener.accept(PATIENCE).expect("the child connects");
    let request = stream.request(&startup(), b"").expect("a Request");
    let pair = request.queue_pair(&scene.end.domain, &PairOptions::default());
    let pair = pair.expect("there is room");
    let memory = scene.end.context.allocate(64).expect("memory");
    pair.post_receive(1, memory).expect("posted");
    pair.accept(b"").expect("accepted");
    assert_eq!(
        pair.wait_event(PATIENCE).expect("an event"),
        PairEvent::Established
    );
    let received = pair.wait_completion(PATIENCE).expect("its STag");
    let stag = received.message().try_into().map(u32::from_be_bytes);
    scene.wait_ready();
    (pair, stag.expect("four octets"))
}

/// The end that is left fails in time; every request that was posted completes, flushed.
fn expect_lost(pair: &QueuePair, killed: Instant, posted: usize, is_cause: fn(Lost) -> bool) {
    let event = pair
        .wait_event(Some(NOTICED))
        .expect("it is noticed in time");
    assert!(matches!(event, PairEvent::Failed(_)), "{event:?}");
    assert!(killed.elapsed() <= NOTICED, "{:?}", killed.elapsed());
    for _ in 0..posted {
        let done = pair.wait_completion(PATIENCE).expect("each completes");
        assert_eq!(done.status, Status::Flushed);
    }
    let reason = pair
        .end_reason()
        .expect("it is there")
        .expect("it has ended");
    let EndpointError::Lost { lost, .. } = reason else {
        panic!("{reason}");
    };
    assert!(is_cause(lost), "{lost}");
}

#[test]
fn killed_in_start_up() {
    let mut scene = Scene::new("start-up");
    let listener = scene.end.endpoint.listen(own(2)).expect("it listens");
    let stream = listener.accept(PATIENCE).expect("the child connects");
    scene.wait_ready();
    let killed = scene.kill();
    let refused = stream.request(&startup(), b"").expect_err("nobody asks");
    assert!(killed.elapsed() <= NOTICED, "{:?}", killed.elapsed());
    let is_time_out = matches!(
        refused,
        EndpointError::StartupFailed { .. } | EndpointError::Lost { .. }
    );
    assert!(is_time_out, "{refused}");
    drop(scene.next_owner());
}

#[test]
fn killed_while_it_is_written_to() {
    let mut scene = Scene::new("pair");
    let (pair, stag) = accept(&mut scene);
    let region = scene.end.region();
    let payload = [region.part(0..OCTETS).expect("all of it")];
    let operation = SendOperation::Write {
        payload: &payload,
        stag,
        to: 0,
    };
    for id in 0..8 {
        pair.post_send(id, &operation).expect("posted");
    }
    let killed = scene.kill();
    let mut left = 8;
    // Some may have been acknowledged before.
    while let Ok(Some(done)) = pair.poll_completion() {
        assert_eq!(done.status, Status::Success);
        left -= 1;
    }
    assert!(left > 0);
    let event = pair
        .wait_event(Some(NOTICED))
        .expect("it is noticed in time");
    assert!(matches!(event, PairEvent::Failed(_)), "{event:?}");
    assert!(killed.elapsed() <= NOTICED, "{:?}", killed.elapsed());
    let mut flushed = 0;
    for _ in 0..left {
        let done = pair.wait_completion(PATIENCE).expect("each completes");
        flushed += usize::from(done.status == Status::Flushed);
    }
    assert!(flushed > 0);
    drop(scene.next_owner());
}

/// The one that is left waits for a response: keepalive finds out.
#[test]
fn killed_while_it_is_read_from() {
    let mut scene = Scene::new("pair");
    let (pair, stag) = accept(&mut scene);
    let sink = scene.end.region();
    let killed = scene.kill();
    let operation = SendOperation::Read {
        sink: &sink,
        sink_to: 0,
        source_stag: stag,
        source_to: 0,
        octets: OCTETS as u32,
    };
    pair.post_send(1, &operation).expect("posted");
    expect_lost(&pair, killed, 1, |lost| {
        matches!(
            lost,
            Lost::RetransmissionTimeOut { .. } | Lost::KeepaliveTimeOut { .. }
        )
    });
    drop(scene.next_owner());
}

/// The one that is left has closed and waits for the other half.
#[test]
fn killed_in_the_middle_of_a_close() {
    let mut scene = Scene::new("pair");
    let (pair, _) = accept(&mut scene);
    pair.disconnect().expect("it is open");
    // The FIN is acknowledged by the child's thread; its application says nothing.
    let end = Instant::now() + Duration::from_secs(10);
    while pair.statistics().expect("it is there").state != rnic_tcp::State::FinWait2 {
        assert!(Instant::now() < end, "{:?}", pair.statistics());
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = scene.kill();
    let event = pair
        .wait_event(Some(NOTICED))
        .expect("it is noticed in time");
    assert!(matches!(event, PairEvent::Failed(_)), "{event:?}");
    assert!(killed.elapsed() <= NOTICED, "{:?}", killed.elapsed());
    assert_eq!(
        pair.wait_event(PATIENCE).expect("the end"),
        PairEvent::Closed
    );
    drop(scene.next_owner());
}

/// RFC 9293 section 3.5.2: the next owner answers what is left of the one before with an RST, and
/// works.
#[test]
fn the_next_owner_resets_the_peers_of_the_one_before() {
    let mut scene = Scene::new("pair");
    let (pair, stag) = accept(&mut scene);
    scene.kill();
    let next = scene.next_owner();
    let region = scene.end.region();
    let payload = [region.part(0..64).expect("inside")];
    let operation = SendOperation::Write {
        payload: &payload,
        stag,
        to: 0,
    };
    pair.post_send(1, &operation).expect("posted");
    expect_lost(&pair, Instant::now(), 1, |lost| {
        matches!(lost, Lost::Reset { .. })
    });
    assert!(next.endpoint.counts().resets > 0);
    let listener = scene.end.endpoint.listen(own(2)).expect("it listens");
    let opened = next.endpoint.connect(own(2)).expect("it connects");
    let accepted = listener.accept(PATIENCE).expect("it is there");
    assert_eq!(accepted.peer_addr(), opened.local_addr());
}
