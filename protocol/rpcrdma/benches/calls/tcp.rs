//! `nfs_server` over TCP on the loopback, one call at a time: the control of both tables, that of
//! this crate and that of `rnic-rpcrdma`. Cargo does not build the server for either.

use rpcrdma::binding::auth::Credential;
use rpcrdma::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus};
use rpcrdma::stream::{Message, Reader};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Programs with a procedure.
const NULL: (u32, u32) = (100_003, 0);
const GETATTR: (u32, u32) = (100_003, 1);
const READ: (u32, u32) = (100_003, 6);
const WRITE: (u32, u32) = (100_003, 7);
const CREATE: (u32, u32) = (100_003, 8);
const MNT: (u32, u32) = (100_005, 1);
/// Of RFC 5531, 11: the only fragment of a record.
const LAST: u32 = 1 << 31;
/// Octets of the file.
const FILE_OCTETS: usize = 1 << 20;
/// RFC 1813: on stable storage before the reply.
const FILE_SYNC: u32 = 2;

/// What brings the server up to date.
const BUILD: &str = "cargo build --release -p rnic-examples --bin nfs_server";

/// What is called.
#[derive(Clone, Copy)]
pub enum Asked {
    Null,
    Attributes,
    Read(u32),
    Write(u32),
}

/// A server, and a connection to it.
pub struct Tcp {
    server: Child,
    /// As long as it is open, the server can say something.
    _said: BufReader<ChildStdout>,
    stream: TcpStream,
    xid: u32,
    file: Vec<u8>,
    record: Vec<u8>,
    data: Vec<u8>,
}

/// The program that is built beside this one.
fn program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    Some(own.parent()?.parent()?.join("nfs_server"))
}

/// Whether the program was built before this one: it may be of a source that has changed since.
fn is_older() -> Option<bool> {
    let built = |path: &Path| {
        std::fs::metadata(path)
            .and_then(|about| about.modified())
            .ok()
    };
    let own = std::env::current_exe().ok()?;
    Some(built(&program()?)? < built(&own)?)
}

impl Tcp {
    /// The control, if its program is built beside this one; what to build is said if it is not, or
    /// if it may be too old.
    pub fn control() -> Option<Self> {
        let control = Self::start();
        if control.is_none() {
            println!("for the column of TCP: {BUILD}");
        } else if is_older() != Some(false) {
            println!(
                "nfs_server, for TCP, is older than this program; has its source changed: {BUILD}"
            );
        }
        control
    }

    fn start() -> Option<Self> {
        let mut command = Command::new(program()?);
        command.args([
            "sim:model,none",
            "--own",
            "192.0.2.9/24",
            "--tcp",
            "127.0.0.1:0",
        ]);
        let mut server = command.stdout(Stdio::piped()).spawn().ok()?;
        let mut line = String::new();
        let mut said = BufReader::new(server.stdout.take().expect("it is piped"));
        said.read_line(&mut line).expect("text");
        let address = line.strip_prefix("listening on ");
        let address = address.and_then(|rest| rest.strip_suffix(" over TCP\n"));
        let stream = TcpStream::connect(address.expect(&line)).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        let mut tcp = Self {
            server,
            _said: said,
            stream,
            xid: 0,
            file: Vec::new(),
            record: Vec::new(),
            data: vec![0x5a; FILE_OCTETS],
        };
        tcp.make_file();
        Some(tcp)
    }

    fn make_file(&mut self) {
        let handle = |reader: &mut Reader<'_>| reader.inline_opaque(64).expect("a handle").to_vec();
        let root = self.call(
            MNT,
            |message, _| message.opaque(b"/").expect("short"),
            handle,
        );
        self.file = self.call(
            CREATE,
            |message, _| {
                message.opaque(&root).expect("short");
                message.opaque(b"file").expect("short");
                // Whether it exists or not; no attributes.
                message.fixed(&[0; 28]);
            },
            |reader| {
                assert_eq!(reader.u32(), Ok(1), "a handle follows");
                handle(reader)
            },
        );
        self.make(Asked::Write(FILE_OCTETS as u32));
    }

    /// Make a call, and read the results after their status, 0.
    fn call<T>(
        &mut self,
        (program, procedure): (u32, u32),
        write: impl FnOnce(&mut Message, &Self),
        read: impl FnOnce(&mut Reader<'_>) -> T,
    ) -> T {
        self.xid += 1;
        let mut message = Message::new();
        let header = CallHeader {
            xid: self.xid,
            program,
            version: 3,
            procedure,
            credential: Credential::None,
        };
        message.u32(0);
        header.write(&mut message).expect("short");
        write(&mut message, self);
        self.record.clear();
        self.record.extend_from_slice(message.inline());
        let mark = LAST | (self.record.len() - 4) as u32;
        self.record[..4].copy_from_slice(&mark.to_be_bytes());
        self.stream.write_all(&self.record).expect("it is open");
        let mut mark = [0; 4];
        self.stream.read_exact(&mut mark).expect("it is open");
        let mark = u32::from_be_bytes(mark);
        assert!(mark & LAST != 0, "one fragment");
        self.record.resize((mark & !LAST) as usize, 0);
        self.stream
            .read_exact(&mut self.record)
            .expect("it is open");
        let mut reader = Reader::new(&self.record);
        let header = ReplyHeader::read(&mut reader).expect("a reply");
        assert_eq!(
            (header.xid, header.status),
            (self.xid, ReplyStatus::Success)
        );
        if (program, procedure) != NULL {
            assert_eq!(reader.u32(), Ok(0), "{program} {procedure}");
        }
        read(&mut reader)
    }

    fn make(&mut self, asked: Asked) {
        let file = |message: &mut Message, tcp: &Self| message.opaque(&tcp.file).expect("short");
        match asked {
            Asked::Null => self.call(NULL, |_, _| (), |_| ()),
            Asked::Attributes => self.call(GETATTR, file, |_| ()),
            Asked::Read(octets) => self.call(
                READ,
                |message, tcp| {
                    file(message, tcp);
                    message.u64(0);
                    message.u32(octets);
                },
                |reader| assert!(reader.remaining() >= octets as usize),
            ),
            Asked::Write(octets) => self.call(
                WRITE,
                |message, tcp| {
                    file(message, tcp);
                    message.u64(0);
                    message.u32(octets);
                    message.u32(FILE_SYNC);
                    let data = &tcp.data[..octets as usize];
                    message.opaque(data).expect("one megabyte");
                },
                |_| (),
            ),
        }
    }

    /// Calls after `warm` others, in at least this time: how many, and in what time.
    pub fn measure(&mut self, asked: Asked, warm: u32, time: Duration) -> (u32, Duration) {
        (0..warm).for_each(|_| self.make(asked));
        let (begun, mut calls) = (Instant::now(), 0);
        while begun.elapsed() < time {
            self.make(asked);
            calls += 1;
        }
        (calls, begun.elapsed())
    }
}

impl Drop for Tcp {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
