//! A served device with its owner, which is a child of this process, and the other end.

use crate::child::{ACT, DEVICE, IS_INITIATOR, LISTENS, READY};
use crate::end::{own, Act, End, Joined, IDLE_US, PATIENCE};
use rnic_abi::sizes::Sizes;
use rnic_device::link::LinkKind;
use rnic_device::model::DeviceModel;
use rnic_device::Service;
use rnic_driver::verbs::endpoint::{EndpointError, Listener, Stream};
use rnic_vfio_user::Server;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What a device holds of which nothing is in use.
const NOTHING: &str = "InUse { ranges: 0, fragments: 0, spans: 0, records: 0 }";

pub struct Scene {
    folder: tempfile::TempDir,
    pub end: End,
    owner: Child,
    said: BufReader<ChildStdout>,
    /// Where a child that is the initiator connects to.
    listener: Option<Listener>,
    stop: Option<UnixStream>,
    service: Option<JoinHandle<()>>,
}

impl Scene {
    /// With a child that does this.
    pub fn new(act: Act, is_initiator: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (socket, wire) = (folder.path().join("device"), folder.path().join("wire"));
        let (stop, stopped) = UnixStream::pair().expect("sockets");
        let service = serve(&socket, &wire, stopped);
        // Keepalive, which begins before start-up does, is not to end first.
        let idle_us = match act {
            Act::StartUp => IDLE_US * 3,
            _ => IDLE_US,
        };
        let link = format!("unix-connect:{}", wire.display());
        let end = End::open(2, &format!("sim:model,{link}"), idle_us);
        // Before the child runs: a SYN that comes too early is answered with RST.
        let listener = is_initiator.then(|| end.endpoint.listen(own(2)).expect("it listens"));
        let mut owner = Command::new(std::env::current_exe().expect("this program"));
        owner
            .args(["child::child", "--exact", "--nocapture"])
            .env(ACT, format!("{act:?}"))
            .env(DEVICE, format!("vfio-user:{}", socket.display()))
            .stdout(Stdio::piped());
        if is_initiator {
            owner.env(IS_INITIATOR, "1");
        }
        let mut owner = owner.spawn().expect("it runs");
        let said = BufReader::new(owner.stdout.take().expect("it is piped"));
        Self {
            folder,
            end,
            owner,
            said,
            listener,
            stop: Some(stop),
            service: Some(service),
        }
    }

    fn device(&self) -> PathBuf {
        self.folder.path().join("device")
    }

    /// The stream to the child, as the child has it.
    pub fn stream(&mut self) -> Stream {
        let Some(listener) = self.listener.take() else {
            self.hear(LISTENS);
            return self.end.endpoint.connect(own(1)).expect("it connects");
        };
        let end = Instant::now() + PATIENCE.expect("it is bounded");
        loop {
            match listener.accept(Some(Duration::from_millis(100))) {
                Ok(stream) => return stream,
                Err(EndpointError::TimedOut) if Instant::now() < end => {
                    let ended = self.owner.try_wait().expect("it is a child");
                    assert_eq!(ended, None, "the child has ended before it connects");
                }
                Err(error) => panic!("the child connects: {error}"),
            }
        }
    }

    /// The queue pair with the child.
    pub fn joined(&mut self) -> Joined {
        let is_initiator = self.listener.is_some();
        let stream = self.stream();
        match is_initiator {
            true => Joined::respond(&self.end, stream),
            false => Joined::initiate(&self.end, stream),
        }
    }

    /// Wait until the child is in the middle of what it does.
    pub fn wait_ready(&mut self) {
        self.hear(READY);
    }

    fn hear(&mut self, word: &str) {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            let count = self.said.read_line(&mut line).expect("text");
            assert!(count > 0, "the child has ended before it says {word}");
        }
    }

    /// SIGKILL.
    pub fn kill(&mut self) -> Instant {
        self.owner.kill().expect("it runs");
        self.owner.wait().expect("it has ended");
        Instant::now()
    }

    /// The device has nothing of its owner, and the next one finds it as new.
    pub fn next_owner(&self) -> End {
        let next = End::open(
            1,
            &format!("vfio-user:{}", self.device().display()),
            IDLE_US,
        );
        assert_eq!(next.in_use(), NOTHING);
        assert_eq!(next.endpoint.connections(), 0);
        next
    }

    /// The next owner works: a queue pair, and a message each way.
    pub fn works(&self, next: &End) {
        let listener = self.end.endpoint.listen(own(2)).expect("it listens");
        let opened = next.endpoint.connect(own(2)).expect("it connects");
        let accepted = listener.accept(PATIENCE).expect("it is there");
        assert_eq!(accepted.peer_addr(), opened.local_addr());
        std::thread::scope(|scope| {
            let responder = scope.spawn(|| Joined::respond(&self.end, accepted));
            // Both are kept until both are done: the first that is dropped resets the connection,
            // maybe before it has acknowledged what the other waits for.
            let _initiator = Joined::initiate(next, opened);
            responder.join().expect("its end works");
        });
    }

    /// The end that is left holds nothing any more.
    pub fn is_left_clean(&self) {
        let end = Instant::now() + Duration::from_secs(10);
        while self.end.in_use() != NOTHING || self.end.endpoint.connections() > 0 {
            let connections = self.end.endpoint.connections();
            let in_use = self.end.in_use();
            assert!(Instant::now() < end, "{connections} connections, {in_use}");
            std::thread::sleep(Duration::from_millis(5));
        }
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
