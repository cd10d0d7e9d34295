//! Programs that run, and the wire between them.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const NFS_COPY: &str = env!("CARGO_BIN_EXE_nfs_copy");
pub const RPC_PING: &str = env!("CARGO_BIN_EXE_rpc_ping");
const NFS_SERVER: &str = env!("CARGO_BIN_EXE_nfs_server");
/// What takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);
const OWN: [&str; 2] = ["192.0.2.1/24", "192.0.2.2/24"];

/// A program that runs; killed when it is dropped.
pub struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    fn start(program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("cargo has built it");
        let stdout = child.stdout.take().expect("it is piped");
        Self {
            child,
            stdout: BufReader::new(stdout),
        }
    }

    /// The next line of standard output.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("text");
        line
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
    }

    /// Wait for the end; its status, standard output and standard error.
    pub fn end(mut self) -> (ExitStatus, String, String) {
        let limit = Instant::now() + LIMIT;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is a child") {
                break status;
            }
            assert!(Instant::now() < limit, "it does not end");
            std::thread::sleep(Duration::from_millis(2));
        };
        let (mut said, mut errors) = (String::new(), String::new());
        self.stdout.read_to_string(&mut said).expect("text");
        let stderr = self.child.stderr.as_mut().expect("it is piped");
        stderr.read_to_string(&mut errors).expect("text");
        (status, said, errors)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The wire between two ends, in a folder of its own.
pub struct Wire(TempDir);

impl Wire {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// A file in the folder.
    pub fn path(&self, name: &str) -> String {
        let path = self.0.path().join(name);
        path.to_str().expect("letters").to_owned()
    }

    /// A server, listening over RDMA.
    pub fn server(&self, options: &[&str]) -> Running {
        let device = format!("sim:model,unix:{}", self.path("wire"));
        let own = [device.as_str(), "--own", OWN[0]];
        let mut server = Running::start(NFS_SERVER, &[&own, options].concat());
        let line = server.line();
        assert!(line.starts_with("listening on 192.0.2.1:20049"), "{line}");
        server
    }

    /// A server that listens over TCP, too, and where.
    pub fn server_with_tcp(&self) -> (Running, String) {
        let device = format!("sim:model,unix:{}", self.path("wire"));
        let own = [&device, "--own", OWN[0], "--tcp", "127.0.0.1:0"];
        let mut server = Running::start(NFS_SERVER, &own);
        let line = server.line();
        let address = line.strip_prefix("listening on ");
        let address = address.and_then(|rest| rest.strip_suffix(" over TCP\n"));
        let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
        let line = server.line();
        assert!(line.starts_with("listening on 192.0.2.1:20049"), "{line}");
        (server, address)
    }

    /// A client that runs.
    pub fn begin(&self, program: &str, options: &[&str]) -> Running {
        self.begin_patient(program, "20", options)
    }

    /// A client that runs, and waits for the server for so many seconds.
    pub fn begin_patient(&self, program: &str, seconds: &str, options: &[&str]) -> Running {
        let device = format!("sim:model,unix-connect:{}", self.path("wire"));
        let own = [
            device.as_str(),
            "--own",
            OWN[1],
            "-a",
            "192.0.2.1",
            "--timeout",
            seconds,
        ];
        Running::start(program, &[&own, options].concat())
    }

    /// What a client prints that succeeds.
    pub fn client(&self, program: &str, options: &[&str]) -> String {
        let (status, said, errors) = self.begin(program, options).end();
        assert!(status.success(), "{options:?}: {said}{errors}");
        said
    }

    /// What a client says on standard error that fails.
    pub fn refused(&self, program: &str, options: &[&str]) -> String {
        let (status, said, errors) = self.begin(program, options).end();
        assert_eq!(status.code(), Some(2), "{options:?}: {said}{errors}");
        errors
    }
}

/// Octets that do not repeat.
pub fn random(length: usize) -> Vec<u8> {
    let mut state = length as u32 | 1;
    let mut octet = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 11) as u8
    };
    (0..length).map(|_| octet()).collect()
}
