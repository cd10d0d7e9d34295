//! Two queue pairs over two queues in memory, with a receiver that places what arrives.
use super::*;
use rand::{Rng, SeedableRng};
use rnic_wire::ddp::rdmap::{QN_READ_REQUEST, QN_SEND, QN_TERMINATE};
use std::collections::VecDeque;

/// An end: its queue pair and memory, and what of the peer's stream has been taken in.
struct End {
    pair: QueuePair,
    host: TestHost,
    reader: Reader,
    /// Buffers of posted receives, and the messages in them.
    inbox: Vec<u8>,
    received: VecDeque<Vec<u8>>,
    out: Vec<u8>,
}

impl End {
    fn new(agreed: &Agreed, peer: &Agreed) -> Self {
        let limits = Limits {
            snapshot_octets: 20_000,
            ..Limits::default()
        };
        Self {
            pair: QueuePair::new(agreed, 1460, limits),
            host: TestHost::default(),
            reader: Reader::new(peer),
            inbox: Vec::new(),
            received: VecDeque::new(),
            out: Vec::new(),
        }
    }

    /// Take in a segment as a device does.
    fn take(&mut self, segment: &Segment) {
        let first = Received::FirstFpdu;
        match segment {
            Segment::Empty => self.pair.on_received(first, &mut self.host),
            Segment::Tagged(header, payload) => {
                self.pair.on_received(first, &mut self.host);
                if let Some(region) = self.host.regions.get_mut(&header.stag) {
                    let from = header.to as usize;
                    region[from..from + payload.len()].copy_from_slice(payload);
                }
                if header.control.opcode == Opcode::ReadResponse && header.control.last {
                    self.pair
                        .on_received(Received::ReadResponse, &mut self.host);
                }
            }
            Segment::Untagged(header, payload) => self.take_untagged(header, payload),
        }
    }

    fn take_untagged(&mut self, header: &UntaggedRepr, payload: &[u8]) {
        let msn = header.msn;
        match header.qn {
            QN_READ_REQUEST => {
                let received = Received::ReadRequest { msn, payload };
                self.pair.on_received(received, &mut self.host);
            }
            QN_TERMINATE => {
                self.pair
                    .on_received(Received::Terminate { payload }, &mut self.host);
            }
            qn => {
                assert_eq!((qn, header.mo as usize), (QN_SEND, self.inbox.len()));
                self.inbox.extend_from_slice(payload);
                if header.control.last {
                    let octets = std::mem::take(&mut self.inbox);
                    let length = octets.len() as u32;
                    let opcode = header.control.opcode;
                    let stag = header.invalidate_stag;
                    let delivered = Delivered::new(opcode, msn, length, stag);
                    let received = Received::Send(delivered.expect("a Send"));
                    self.received.push_back(octets);
                    self.pair.on_received(received, &mut self.host);
                }
            }
        }
    }
}

/// Move what either end sends to the other one, and acknowledge it, until nothing moves.
fn settle(one: &mut End, other: &mut End) {
    loop {
        let moved = pass(one, other) | pass(other, one);
        if !moved {
            return;
        }
    }
}

fn pass(from: &mut End, to: &mut End) -> bool {
    let Some(record) = from.pair.transmit(&mut from.host, &mut from.out) else {
        return false;
    };
    to.reader.push(&record, &from.out, &mut from.host);
    while let Some(segment) = to.reader.next() {
        to.take(&segment);
    }
    from.pair.on_acknowledged(record.end());
    true
}

/// DDP-017, DDP-020, DDP-021, DDP-023, RDMAP-008, RDMAP-013, RDMAP-015, MPA2-005: random operations
/// of both ends, with every kind of RTR, markers and versions: Sends arrive whole and in order,
/// Writes and Reads leave the octets that they name, and everything completes in order.
#[test]
fn two_ends_exchange_everything() {
    for seed in 0..120u64 {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let rtr = [None, Some(Rtr::Fpdu), Some(Rtr::Write), Some(Rtr::Read)][seed as usize % 4];
        let side = |initiator, markers_out| Agreed {
            rtr,
            markers_out,
            version: (seed / 4 % 2) as u8,
            ..agreed(initiator)
        };
        let (one, other) = (side(true, seed % 3 == 0), side(false, seed % 5 == 0));
        let mut ends = [End::new(&one, &other), End::new(&other, &one)];
        for end in &mut ends {
            let octets = (0..60_000).map(|_| random.random()).collect();
            end.host.regions.insert(1, octets);
            // Sinks: of Writes 5, of Reads 6.
            end.host.regions.insert(5, vec![0; 20_000]);
            end.host.regions.insert(6, vec![0; 20_007]);
            for id in 0..40 {
                end.pair.post_receive(1000 + id).expect("room");
            }
        }
        let mut sent: [Vec<Vec<u8>>; 2] = Default::default();
        for id in 0..20 {
            for side in 0..2 {
                let octets = random.random_range(0..9000);
                let work = match random.random_range(0..3) {
                    0 => {
                        let octets = ends[side].host.regions[&1][..octets as usize].to_vec();
                        sent[side].push(octets);
                        send(id, piece(1, sent[side].last().expect("one").len() as u32))
                    }
                    1 => write(id, piece(1, octets)),
                    _ => WorkRequest {
                        operation: Operation::Read {
                            sink_stag: 6,
                            sink_to: 7,
                            source_stag: 1,
                            source_to: 0,
                            octets,
                        },
                        ..read(id, octets)
                    },
                };
                ends[side].pair.post_send(work).expect("room");
            }
            if random.random_range(0..4) == 0 {
                let [one, other] = &mut ends;
                settle(one, other);
            }
        }
        let [one, other] = &mut ends;
        settle(one, other);
        for (side, end) in ends.iter_mut().enumerate() {
            let found = completions(&mut end.pair);
            let works: Vec<_> = found.iter().filter(|(id, _)| *id < 1000).collect();
            assert!(
                works.iter().map(|(id, _)| *id).eq(0..20),
                "seed {seed}: {works:?}"
            );
            assert!(found.iter().all(|(_, status)| *status == Status::Success));
            assert_eq!(found.len() - 20, sent[1 - side].len());
            assert!(end.received.iter().eq(sent[1 - side].iter()), "seed {seed}");
            assert_eq!(events(&mut end.pair), [Event::Established]);
        }
    }
}
