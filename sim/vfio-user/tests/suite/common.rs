//! A toy function behind a session, a thread that serves it, and raw messages.
//!
//! ```text
//!   BAR 0   0x00 IOVA   0x08 octets   0x0c command: 1 fills memory with 0x5a, 2 sums it up
//!           0x10 sum    0x14 status: 0 done, 1 fault     0x18 triggers the MSI-X vector written
//!           0x20 quiesced ranges   0x28 first and 0x30 last IOVA of the last one
//!           0x38 resets            0x3c changes of interrupts      0xf00 answers EIO
//! ```

use std::ops::RangeInclusive;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};

use rnic_vfio_user::protocol::{Capabilities, Command, Header, Version, IRQ_COUNT, IRQ_MSIX};
use rnic_vfio_user::{
    Client, DmaMap, Errno, Function, Irqs, RegionDescription, Served, Session, SessionEnd,
};
use rustix::event::{eventfd, poll, EventfdFlags, PollFd, PollFlags};
use rustix::fs::{ftruncate, memfd_create, MemfdFlags};

pub const PAGE: u64 = 4096;
pub const FILL: u8 = 0x5a;
pub const VECTORS: u32 = 8;
pub const CONFIGURATION: u32 = 7;

pub const IOVA: u64 = 0x00;
pub const COMMAND: u64 = 0x0c;
pub const SUM: u64 = 0x10;
pub const STATUS: u64 = 0x14;
pub const TRIGGER: u64 = 0x18;
pub const QUIESCED: u64 = 0x20;
pub const RESETS: u64 = 0x38;
pub const CHANGES: u64 = 0x3c;
pub const BROKEN: u64 = 0xf00;

const REGIONS: [RegionDescription; 8] = [
    RegionDescription::new(PAGE),
    RegionDescription::ABSENT,
    // Longer than any access may be.
    RegionDescription::new(4 << 20),
    RegionDescription::ABSENT,
    RegionDescription::ABSENT,
    RegionDescription::ABSENT,
    RegionDescription {
        octets: 64,
        readable: true,
        writable: false,
    },
    RegionDescription::new(256),
];

pub struct Toy {
    pub bar: Vec<u8>,
    pub configuration: [u8; 256],
    dma: DmaMap,
    irqs: Irqs,
    /// The maps that were left when the last quiescing was asked for.
    pub maps_at_quiesce: usize,
}

impl Toy {
    pub fn new(session: &Session) -> Self {
        let mut configuration = [0; 256];
        configuration[..4].copy_from_slice(&[0xf4, 0x1a, 0x0d, 0xf0]);
        Self {
            bar: vec![0; PAGE as usize],
            configuration,
            dma: session.dma(),
            irqs: session.irqs(),
            maps_at_quiesce: 0,
        }
    }

    fn number(&self, offset: u64) -> u32 {
        let octets = &self.bar[offset as usize..][..4];
        u32::from_ne_bytes(octets.try_into().expect("four"))
    }

    fn set(&mut self, offset: u64, value: &[u8]) {
        self.bar[offset as usize..][..value.len()].copy_from_slice(value);
    }

    fn count(&mut self, offset: u64) {
        let count = self.number(offset).wrapping_add(1);
        self.set(offset, &count.to_ne_bytes());
    }

    fn run(&mut self) {
        let iova = self.bar[..8]
            .try_into()
            .map(u64::from_ne_bytes)
            .expect("eight");
        let octets = self.number(8).min(1 << 20) as usize;
        let result = match self.number(COMMAND) {
            1 => self.dma.write(iova, &vec![FILL; octets]),
            2 => {
                let mut data = vec![0; octets];
                let result = self.dma.read(iova, &mut data);
                let sum: u32 = data.iter().copied().map(u32::from).sum();
                self.set(SUM, &sum.to_ne_bytes());
                result
            }
            _ => Ok(()),
        };
        let status = u32::from(result.is_err());
        self.set(STATUS, &status.to_ne_bytes());
    }
}

impl Function for Toy {
    fn regions(&self) -> &[RegionDescription] {
        &REGIONS
    }

    fn irq_counts(&self) -> [u32; IRQ_COUNT as usize] {
        [1, 0, VECTORS, 0, 1]
    }

    fn read(&mut self, region: u32, offset: u64, out: &mut [u8]) -> Result<(), Errno> {
        let offset = offset as usize;
        match region {
            0 if offset as u64 == BROKEN => return Err(Errno::IO),
            0 => out.copy_from_slice(&self.bar[offset..][..out.len()]),
            2 | 6 => out.fill(0x77),
            CONFIGURATION => out.copy_from_slice(&self.configuration[offset..][..out.len()]),
            _ => panic!("region {region} is absent"),
        }
        Ok(())
    }

    fn write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<(), Errno> {
        let within = offset as usize;
        match region {
            0 if offset == BROKEN => return Err(Errno::IO),
            0 => self.bar[within..][..data.len()].copy_from_slice(data),
            2 => assert!(within + data.len() <= 4 << 20),
            // The identity is read-only.
            CONFIGURATION if within >= 4 => {
                self.configuration[within..][..data.len()].copy_from_slice(data);
            }
            CONFIGURATION => {}
            _ => panic!("region {region} is absent or read-only"),
        }
        if region == 0 && (offset..offset + data.len() as u64).contains(&COMMAND) {
            self.run();
        }
        if region == 0 && offset == TRIGGER {
            self.irqs.trigger(IRQ_MSIX, self.number(TRIGGER));
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Errno> {
        self.count(RESETS);
        Ok(())
    }

    fn irqs_changed(&mut self, _irqs: &Irqs) {
        self.count(CHANGES);
    }

    fn quiesce(&mut self, range: RangeInclusive<u64>) {
        self.maps_at_quiesce = self.dma.map_count();
        self.count(QUIESCED);
        self.set(QUIESCED + 8, &range.start().to_ne_bytes());
        self.set(QUIESCED + 16, &range.end().to_ne_bytes());
    }
}

/// Serves until the client leaves.
pub fn serve(session: &mut Session) -> SessionEnd {
    let mut toy = Toy::new(session);
    loop {
        match session.serve_one(&mut toy) {
            Ok(Served::Message) => continue,
            Ok(Served::Idle) => {}
            Err(end) => return end,
        }
        let flags = match session.wants_write() {
            true => PollFlags::OUT,
            false => PollFlags::IN,
        };
        let session = session.as_fd();
        let mut fds = [PollFd::new(&session, flags)];
        poll(&mut fds, None).expect("one descriptor");
    }
}

pub fn sockets() -> (OwnedFd, OwnedFd) {
    let (one, other) = UnixStream::pair().expect("sockets");
    (one.into(), other.into())
}

/// A client of a toy that is served by a thread.
pub fn start() -> (Client, JoinHandle<SessionEnd>) {
    let (ours, theirs) = sockets();
    let server = thread::spawn(move || serve(&mut Session::over(theirs)));
    (Client::over(ours).expect("versions agree"), server)
}

pub fn memory(octets: u64) -> OwnedFd {
    let file = memfd_create("memory", MemfdFlags::CLOEXEC).expect("memory");
    ftruncate(&file, octets).expect("memory");
    file
}

/// An eventfd that does not block.
pub fn event() -> OwnedFd {
    eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).expect("an eventfd")
}

/// How often it was signalled since it was last asked.
pub fn signals(fd: impl AsFd) -> u64 {
    let mut count = [0; 8];
    match rustix::io::read(fd, &mut count) {
        Ok(8) => u64::from_ne_bytes(count),
        result => {
            assert_eq!(result, Err(Errno::AGAIN));
            0
        }
    }
}

pub fn contents(file: &OwnedFd, octets: u64) -> Vec<u8> {
    let mut out = vec![0; octets as usize];
    assert_eq!(rustix::io::pread(file, &mut out, 0), Ok(out.len()));
    out
}

pub fn number(client: &mut Client, offset: u64) -> u32 {
    let mut octets = [0; 4];
    client.read(0, offset, &mut octets).expect("a register");
    u32::from_ne_bytes(octets)
}

/// Has the toy fill or sum up memory. False: a fault.
pub fn run(client: &mut Client, command: u32, iova: u64, octets: u32) -> bool {
    let registers = [
        &iova.to_ne_bytes()[..],
        &octets.to_ne_bytes(),
        &command.to_ne_bytes(),
    ];
    client
        .write(0, IOVA, &registers.concat())
        .expect("registers");
    number(client, STATUS) == 0
}

/// A message as on the socket.
pub fn message(id: u16, command: Command, payload: &[u8]) -> Vec<u8> {
    let header = Header::command(id, command, payload.len());
    [&header.encode()[..], payload].concat()
}

pub fn version_message() -> Vec<u8> {
    let version = Version { major: 0, minor: 1 };
    let payload = [&version.encode()[..], &Capabilities::OURS.encode()].concat();
    message(0, Command::Version, &payload)
}

/// Sends octets, with descriptors beside the first; the count that the socket took.
pub fn send(socket: impl AsFd, octets: &[u8], fds: &[BorrowedFd]) -> usize {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(fds)));
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    let octets = [std::io::IoSlice::new(octets)];
    match rustix::net::sendmsg(socket, &octets, &mut ancillary, flags) {
        Ok(count) => count,
        Err(Errno::AGAIN | Errno::PIPE | Errno::CONNRESET) => 0,
        Err(errno) => panic!("cannot send: {errno}"),
    }
}

/// The octets that wait in the socket.
pub fn receive(socket: impl AsFd) -> Vec<u8> {
    use rustix::net::{recv, RecvFlags};
    let mut all = Vec::new();
    let mut some = vec![0; 1 << 16];
    loop {
        match recv(&socket, &mut some[..], RecvFlags::DONTWAIT) {
            Ok((0, _)) | Err(Errno::AGAIN | Errno::CONNRESET) => return all,
            Ok((count, _)) => all.extend_from_slice(&some[..count]),
            Err(errno) => panic!("cannot receive: {errno}"),
        }
    }
}

/// Cuts octets into the messages they are.
pub fn messages(mut octets: &[u8]) -> Vec<(Header, Vec<u8>)> {
    let mut found = Vec::new();
    while !octets.is_empty() {
        let header = Header::decode(octets).expect("a header");
        let (message, rest) = octets.split_at(header.size as usize);
        found.push((header, message[Header::OCTETS..].to_vec()));
        octets = rest;
    }
    found
}

/// A session in this thread with a raw socket to it, the version settled.
pub struct Raw {
    pub socket: OwnedFd,
    pub session: Session,
    pub toy: Toy,
}

impl Raw {
    pub fn new() -> Self {
        let mut raw = Self::before_version();
        let replies = raw.exchange(&version_message(), &[]).expect("a session");
        assert!(replies.len() == 1 && !replies[0].0.is_error());
        raw
    }

    pub fn before_version() -> Self {
        let (socket, theirs) = sockets();
        let session = Session::over(theirs);
        let toy = Toy::new(&session);
        Self {
            socket,
            session,
            toy,
        }
    }

    /// Serves until nothing is left to do.
    pub fn settle(&mut self) -> Result<(), SessionEnd> {
        while self.session.serve_one(&mut self.toy)? == Served::Message {}
        Ok(())
    }

    /// Sends all of `octets`, while the session takes them, and returns the replies.
    pub fn exchange(
        &mut self,
        octets: &[u8],
        fds: &[BorrowedFd],
    ) -> Result<Vec<(Header, Vec<u8>)>, SessionEnd> {
        let mut sent = 0;
        let mut replies = Vec::new();
        while sent < octets.len() {
            let fds = if sent == 0 { fds } else { &[] };
            sent += send(&self.socket, &octets[sent..], fds);
            self.settle()?;
            replies.extend(receive(&self.socket));
        }
        while self.session.wants_write() {
            self.settle()?;
            replies.extend(receive(&self.socket));
        }
        Ok(messages(&replies))
    }

    /// The errno of the one reply to a message; 0 if it is no error.
    pub fn errno(&mut self, octets: &[u8], fds: &[BorrowedFd]) -> u32 {
        let replies = self.exchange(octets, fds).expect("a session");
        assert_eq!(replies.len(), 1);
        let (header, payload) = &replies[0];
        assert!(!header.is_error() || payload.is_empty());
        header.error
    }
}
