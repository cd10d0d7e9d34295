//! What a frame of 1500 octets costs the sender: `cargo bench -p rnic-tcp`.
//!
//! ```text
//!  Write --framer--> record --push--> connection --poll--> segment
//!                                        ^ an ACK for every second segment, records acknowledged
//! ```
//!
//! Framer and connection together, per frame, with allocations and copied octets once warm; and a
//! segment of smoltcp's socket, which copies and sums its payload. The goal is printed, not
//! asserted: a shared machine says little about another one.
use rnic_iwarp::framer::{Framer, Message, Piece, Pieces, Record, Source, Ulpdu, Unreadable};
use rnic_iwarp::startup::Agreed;
use rnic_tcp::{
    Connection, Flags, Head, Options, Output, Record as TcpRecord, Segment, SeqNumber, Settings,
};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Loopback, Medium};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant as SimulatedTime;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use stats_alloc::{Region, StatsAlloc, INSTRUMENTED_SYSTEM};
use std::alloc::System;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const EMSS: u16 = 1_460;
const GOAL_NS: f64 = 300.0;
const ISS: SeqNumber = SeqNumber(77);
const IRS: SeqNumber = SeqNumber(7_000);
/// Frames that are in flight: an ACK comes after so many.
const FLIGHT: u32 = 64;

/// RDMA Writes without end.
struct Writes {
    message: Message,
    copied_octets: u64,
}

fn write() -> Message {
    let payload = Piece {
        region: 1,
        offset: 0,
        octets: 1 << 30,
    };
    let payload = Pieces::new(&[payload]).expect("one piece");
    Message::write(1, 0x1234, 0, payload)
}

impl Source for Writes {
    fn peek(&self, mulpdu: usize) -> Option<usize> {
        self.message.next_octets(mulpdu)
    }

    fn take(&mut self, mulpdu: usize, _: u64) -> Option<Ulpdu> {
        let ulpdu = self.message.next(mulpdu);
        if self.message.is_done() {
            self.message = write();
        }
        ulpdu
    }

    fn read(&mut self, piece: &Piece, into: &mut [u8]) -> Result<(), Unreadable> {
        self.copied_octets += u64::from(piece.octets);
        into.fill(0);
        Ok(())
    }
}

fn ack(number: SeqNumber) -> Head {
    Head {
        seq: IRS + 1,
        ack: number,
        flags: Flags {
            ack: true,
            ..Flags::default()
        },
        window: u16::MAX,
        options: Options::default(),
    }
}

fn give(tcp: &mut Connection, head: Head, now_us: u64) {
    tcp.on_segment(&Segment { head, payload: &[] }, now_us);
}

struct Sender {
    tcp: Connection,
    framer: Framer,
    writes: Writes,
    buffer: Vec<u8>,
    id: u64,
    now_us: u64,
    /// Octets that left, in FPDUs and in segments.
    framed_octets: u64,
    sent_octets: u64,
    acknowledged: u64,
}

impl Sender {
    fn new() -> Self {
        let settings = Settings {
            window_shift: 7,
            ..Settings::default()
        };
        let mut tcp = Connection::connect(settings, ISS, 0).expect("settings are in range");
        while tcp.poll(0).is_some() {}
        let mut syn_ack = ack(ISS + 1);
        syn_ack.seq = IRS;
        syn_ack.flags.syn = true;
        syn_ack.options.mss = Some(EMSS);
        syn_ack.options.window_shift = Some(7);
        syn_ack.options.sack_permitted = true;
        give(&mut tcp, syn_ack, 100);
        while tcp.poll(100).is_some() {}
        let agreed = Agreed {
            initiator: true,
            revision: 1,
            version: 1,
            crc: true,
            markers_in: false,
            markers_out: false,
            ird: 0,
            ord: 0,
            rtr: None,
            private_data: Vec::new(),
        };
        Self {
            tcp,
            framer: Framer::new(&agreed, EMSS.into()),
            writes: Writes {
                message: write(),
                copied_octets: 0,
            },
            buffer: Vec::new(),
            id: 0,
            now_us: 100,
            framed_octets: 0,
            sent_octets: 0,
            acknowledged: 0,
        }
    }

    fn poll(&mut self) {
        while let Some(output) = self.tcp.poll(self.now_us) {
            match output {
                Output::Segment(outgoing) => {
                    let octets = outgoing.piece.map_or(0, |piece| piece.octets);
                    self.sent_octets += u64::from(octets);
                }
                Output::Acked(_) => self.acknowledged += 1,
                Output::Event(_) => {}
            }
        }
    }

    fn frame(&mut self) {
        let record = self.framer.next_record(&mut self.writes, &mut self.buffer);
        let octets = match record {
            Some(Record::Scatter(fpdu)) => fpdu.octets(),
            Some(Record::Copied { octets, .. }) => octets,
            None => return,
        };
        self.framed_octets += octets as u64;
        let record = TcpRecord {
            id: self.id,
            octets: octets as u32,
        };
        self.id += 1;
        self.tcp.push(record).expect("there is room");
        self.poll();
    }

    /// `frames` frames, a multiple of [`FLIGHT`], with an ACK for every second one.
    fn run(&mut self, frames: u32) {
        for _ in 0..frames / FLIGHT {
            let mut acknowledged = self.sent_octets;
            for _ in 0..FLIGHT {
                self.now_us += 1;
                self.frame();
            }
            let pair = 2 * (self.framed_octets - acknowledged) / u64::from(FLIGHT);
            while acknowledged < self.framed_octets {
                self.now_us += 1;
                acknowledged = self.sent_octets.min(acknowledged + pair);
                give(
                    &mut self.tcp,
                    ack(ISS + 1 + acknowledged as u32),
                    self.now_us,
                );
                self.poll();
            }
        }
    }
}

fn rnic_tcp() -> f64 {
    let mut sender = Sender::new();
    sender.run(64 * 1_000);
    let before = (sender.id, sender.writes.copied_octets, sender.acknowledged);
    let region = Region::new(ALLOCATOR);
    // The best of ten: what others on the machine take is not the sender's.
    let runs = (0..10).map(|_| {
        let begin = Instant::now();
        sender.run(64 * 2_000);
        begin.elapsed().as_nanos() as f64 / f64::from(64 * 2_000u32)
    });
    let best = runs.fold(f64::INFINITY, f64::min);
    let change = region.change();
    let frames = sender.id - before.0;
    assert_eq!(
        sender.sent_octets, sender.framed_octets,
        "all that was framed has left"
    );
    assert_eq!(
        sender.acknowledged - before.2,
        frames,
        "and is acknowledged"
    );
    println!(
        "framer and rnic-tcp: {best:.0} ns a frame, {:.2} of the goal of {GOAL_NS} ns; {} \
         allocations and {} copied payload octets in {frames} frames",
        best / GOAL_NS,
        change.allocations + change.reallocations,
        sender.writes.copied_octets - before.1
    );
    best
}

/// Both sockets on one interface that hears itself.
struct Smoltcp {
    device: Loopback,
    interface: Interface,
    sockets: SocketSet<'static>,
    client: SocketHandle,
    server: SocketHandle,
    now_us: i64,
}

impl Smoltcp {
    fn new() -> Self {
        let mut device = Loopback::new(Medium::Ip);
        let config = Config::new(HardwareAddress::Ip);
        let mut interface = Interface::new(config, &mut device, SimulatedTime::ZERO);
        let address = IpAddress::v4(127, 0, 0, 1);
        interface.update_ip_addrs(|addresses| {
            addresses
                .push(IpCidr::new(address, 8))
                .expect("room for one");
        });
        let buffer = || SocketBuffer::new(vec![0; 65_535]);
        let mut sockets = SocketSet::new(Vec::new());
        let server = sockets.add(Socket::new(buffer(), buffer()));
        let client = sockets.add(Socket::new(buffer(), buffer()));
        let listening = sockets.get_mut::<Socket>(server).listen(1_234);
        listening.expect("a new socket");
        let socket = sockets.get_mut::<Socket>(client);
        let connecting = socket.connect(interface.context(), (address, 1_234), 65_000);
        connecting.expect("a new socket");
        Self {
            device,
            interface,
            sockets,
            client,
            server,
            now_us: 0,
        }
    }

    /// Carry `octets` from the client to the server.
    fn run(&mut self, octets: usize) {
        let (data, mut into) = ([0x5a; 32_768], [0; 65_535]);
        let (mut sent, mut received) = (0, 0);
        while received < octets {
            self.now_us += 1;
            let now = SimulatedTime::from_micros(self.now_us);
            self.interface
                .poll(now, &mut self.device, &mut self.sockets);
            let client = self.sockets.get_mut::<Socket>(self.client);
            if client.can_send() && sent < octets {
                let most = data.len().min(octets - sent);
                sent += client.send_slice(&data[..most]).expect("it can send");
            }
            let server = self.sockets.get_mut::<Socket>(self.server);
            if server.can_recv() {
                received += server.recv_slice(&mut into).expect("it can receive");
            }
        }
    }
}

/// Sending and receiving, halved: the sockets share an interface.
fn smoltcp() -> f64 {
    let segments = 20_000;
    let mut peer = Smoltcp::new();
    peer.run(1_000_000);
    let runs = (0..5).map(|_| {
        let begin = Instant::now();
        peer.run(segments * 1_460);
        begin.elapsed().as_nanos() as f64 / segments as f64 / 2.0
    });
    let best = runs.fold(f64::INFINITY, f64::min);
    println!(
        "smoltcp: {best:.0} ns a segment of 1460 octets, one of its two ends, with copy and sum"
    );
    best
}

fn main() {
    let (own, other) = (rnic_tcp(), smoltcp());
    println!("smoltcp's segment costs {:.1} times as much", other / own);
}
