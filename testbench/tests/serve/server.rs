//! The process `rnic serve`, and the peer at the other end of its link.

use rnic_testbench::processor;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What takes longer hangs: many times what it takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// Runs a test, and ends it if it hangs.
pub fn in_time(test: impl FnOnce() + Send + 'static) {
    let test = thread::spawn(test);
    let end = Instant::now() + PATIENCE;
    while !test.is_finished() {
        assert!(Instant::now() < end, "it hangs");
        thread::sleep(Duration::from_millis(20));
    }
    if let Err(panic) = test.join() {
        std::panic::resume_unwind(panic);
    }
}

/// What is served.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Dut {
    /// The verilated core.
    Rtl,
    /// The device in software.
    Model,
}

impl Dut {
    /// As `--dut` names it.
    fn name(self) -> &'static str {
        match self {
            Self::Rtl => "rtl",
            Self::Model => "model",
        }
    }
}

/// Runs a test with each device in turn, and ends it if it hangs.
pub fn with_each(test: impl Fn(Dut) + Clone + Send + 'static) {
    for dut in [Dut::Rtl, Dut::Model] {
        let test = test.clone();
        println!("{dut:?}");
        in_time(move || test(dut));
    }
}

/// A server with a folder of its own; it ends with this.
pub struct Server {
    child: Child,
    /// Kept open, for the server to write to.
    _stdout: BufReader<ChildStdout>,
    folder: TempDir,
    dut: Dut,
    is_killed: bool,
}

impl Server {
    /// A server of `dut` whose link is a socket.
    pub fn start(dut: Dut) -> Self {
        Self::start_in(tempfile::tempdir().expect("a folder"), dut, None, &[])
    }

    /// A server whose link is a capture.
    pub fn start_with_capture(dut: Dut, path: &Path) -> Self {
        let link = format!("pcap:{}", path.display());
        Self::start_in(tempfile::tempdir().expect("a folder"), dut, Some(link), &[])
    }

    /// A server with further options.
    pub fn start_with(dut: Dut, options: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().expect("a folder"), dut, None, options)
    }

    fn start_in(folder: TempDir, dut: Dut, link: Option<String>, options: &[&str]) -> Self {
        let path = |name: &str| folder.path().join(name);
        let link = link.unwrap_or_else(|| format!("unix:{}", path("link").display()));
        let errors = fs::File::create(path("errors")).expect("room");
        let mut child = Command::new(env!("CARGO_BIN_EXE_rnic"))
            .args(["serve", "--dut", dut.name(), "--link", &link, "--vfio-user"])
            .arg(path("rnic.sock"))
            .args(options)
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .expect("cargo has built it");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it is piped");
        let server = Self {
            child,
            _stdout: stdout,
            folder,
            dut,
            is_killed: false,
        };
        let errors = server.errors();
        assert_eq!(
            line.trim_end(),
            format!("serving {}", server.address()),
            "{errors}"
        );
        server
    }

    /// Another server in the place of this one, which was killed.
    pub fn start_again(mut self) -> Self {
        assert!(self.is_killed);
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().expect("a folder"));
        Self::start_in(folder, self.dut, None, &[])
    }

    /// Path of its socket for clients.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("rnic.sock")
    }

    /// Address for drivers.
    pub fn address(&self) -> String {
        format!("vfio-user:{}", self.socket().display())
    }

    /// The peer on its link.
    pub fn peer(&self) -> Peer {
        Peer::connect(&self.folder.path().join("link"))
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
        self.is_killed = true;
    }

    /// Ends it by a signal, by name; the status it ends with.
    pub fn end_by(&mut self, signal: &str) -> ExitStatus {
        let command = format!("kill -{signal} {}", self.child.id());
        let killed = Command::new("sh").args(["-c", &command]).status();
        assert!(killed.expect("a shell").success());
        self.is_killed = true;
        self.child.wait().expect("it ends")
    }

    /// Names in its folder, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let names = entries.map(|entry| entry.expect("a name").file_name().into_string());
        let mut names: Vec<String> = names.map(|name| name.expect("UTF-8")).collect();
        names.sort();
        names
    }

    /// What it has reported.
    pub fn errors(&self) -> String {
        fs::read_to_string(self.folder.path().join("errors")).unwrap_or_default()
    }

    /// Processor time that it has used, in ticks of the system.
    pub fn ticks(&self) -> u64 {
        processor::ticks(self.child.id()).expect("it runs")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let ended = self.child.try_wait().ok().flatten();
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !thread::panicking() {
            let errors = self.errors();
            assert!(!errors.contains("panicked"), "{errors}");
            assert!(
                self.is_killed || ended.is_none(),
                "it has ended: {ended:?}, {errors}"
            );
        }
    }
}

/// Who sends frames to the device.
pub struct Peer(UnixStream);

impl Peer {
    /// Connect to the socket of a link.
    pub fn connect(path: &Path) -> Self {
        let stream = UnixStream::connect(path).expect("it listens");
        stream.set_write_timeout(Some(PATIENCE)).expect("a socket");
        Self(stream)
    }

    /// Send `frames`, all at once.
    pub fn send(&mut self, frames: impl IntoIterator<Item = Vec<u8>>) {
        let octets: Vec<u8> = frames
            .into_iter()
            .flat_map(|frame| framed(&frame))
            .collect();
        self.send_octets(&octets);
    }

    /// Send octets that are not framed.
    pub fn send_octets(&mut self, octets: &[u8]) {
        self.0.write_all(octets).expect("the server reads");
    }

    /// The next frame that the device has sent.
    pub fn receive(&mut self) -> Vec<u8> {
        let mut length = [0; 4];
        self.0.read_exact(&mut length).expect("the server writes");
        let mut frame = vec![0; u32::from_be_bytes(length) as usize];
        self.0.read_exact(&mut frame).expect("the server writes");
        frame
    }

    /// Send `frames` from another thread, until they are all sent or [`Traffic::stop`].
    pub fn flood(mut self, frames: Vec<Vec<u8>>) -> Traffic {
        let stopped = Arc::new(AtomicBool::new(false));
        let stops = Arc::clone(&stopped);
        let thread = thread::spawn(move || {
            let mut left = frames.len();
            // A server that was killed takes no more.
            for frame in frames {
                if stops.load(Ordering::Relaxed) || self.0.write_all(&framed(&frame)).is_err() {
                    break;
                }
                left -= 1;
            }
            (self, left)
        });
        Traffic { stopped, thread }
    }
}

/// A frame as QEMU's `-netdev stream` sends it.
fn framed(frame: &[u8]) -> Vec<u8> {
    let length = frame.len() as u32;
    [&length.to_be_bytes()[..], frame].concat()
}

/// Frames on their way.
pub struct Traffic {
    stopped: Arc<AtomicBool>,
    thread: JoinHandle<(Peer, usize)>,
}

impl Traffic {
    /// The peer, and how many frames it has not sent.
    pub fn stop(self) -> (Peer, usize) {
        self.stopped.store(true, Ordering::Relaxed);
        self.thread.join().expect("it does not panic")
    }
}
