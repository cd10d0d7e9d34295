//! What the fabric does by itself, and what it refuses.
use super::{Choice, Counters, EndId, Fabric, Faults, HostId, Settings};
use crate::place::{MemoryId, Place};
use crate::verbs::{Completion, Memory, Rights, Status, Verbs, VerbsError, Work};
use crate::wire::Segment;

struct Pair {
    fabric: Fabric,
    hosts: [HostId; 2],
    ends: [EndId; 2],
    memory: [MemoryId; 2],
}

fn place(memory: MemoryId, offset: u64, length: u32) -> Place {
    Place {
        memory,
        offset,
        length,
    }
}

impl Pair {
    fn new(settings: Settings) -> Self {
        let mut fabric = Fabric::new(settings);
        let hosts = [fabric.host(), fabric.host()];
        let memory = hosts.map(|host| fabric.allocate(host, 4_096));
        let (first, second) = fabric.connect(hosts[0], hosts[1]);
        Self {
            fabric,
            hosts,
            ends: [first, second],
            memory,
        }
    }

    fn at(&self, side: usize, offset: u64, length: u32) -> Place {
        place(self.memory[side], offset, length)
    }

    fn store(&mut self, side: usize, offset: u64, octets: &[u8]) -> Place {
        let at = self.at(side, offset, octets.len() as u32);
        self.fabric
            .memory(self.hosts[side])
            .store(at, octets)
            .expect("inside");
        at
    }

    fn load(&mut self, side: usize, offset: u64, length: u32) -> Vec<u8> {
        let mut octets = vec![0; length as usize];
        let at = self.at(side, offset, length);
        self.fabric
            .memory(self.hosts[side])
            .load(at, &mut octets)
            .expect("inside");
        octets
    }

    fn counters(&self, side: usize) -> Counters {
        self.fabric.counters(self.hosts[side])
    }

    fn polled(&mut self, side: usize) -> Vec<Completion> {
        let mut end = self.fabric.end(self.ends[side]);
        std::iter::from_fn(|| end.poll()).collect()
    }

    fn receive(&mut self, side: usize, tag: u64, offset: u64, length: u32) {
        let at = self.at(side, offset, length);
        let mut end = self.fabric.end(self.ends[side]);
        end.post_receives(&[(tag, at)]).expect("room");
    }

    fn expose(&mut self, side: usize, at: Place, rights: Rights) -> Segment {
        self.fabric
            .end(self.ends[side])
            .expose(at, rights)
            .expect("an entry")
    }

    fn send(&mut self, tag: u64, pieces: &[Place], invalidate: Option<u32>) {
        self.fabric
            .end(self.ends[0])
            .send(tag, pieces, invalidate)
            .expect("room");
    }

    fn write(&mut self, tag: u64, source: Place, sink: Segment) {
        self.fabric
            .end(self.ends[0])
            .write(tag, source, sink)
            .expect("room");
    }

    fn read(&mut self, tag: u64, source: Segment, sink: Place) {
        self.fabric
            .end(self.ends[0])
            .read(tag, source, sink)
            .expect("room");
    }
}

fn completed(tag: u64, work: Work) -> Completion {
    Completion {
        tag,
        work,
        status: Status::Success,
        octets: 0,
        invalidated: None,
    }
}

/// RPC-001: three Sends complete three receives in order, each gathered from its pieces.
#[test]
fn sends_arrive_in_order() {
    let mut pair = Pair::new(Settings::default());
    for tag in 0..3 {
        pair.receive(1, 10 + tag, 100 * tag, 100);
    }
    let (first, second) = (pair.store(0, 0, b"forty-"), pair.store(0, 50, b"two"));
    pair.send(1, &[first, second], None);
    pair.send(2, &[second], None);
    pair.send(3, &[], None);
    pair.fabric.run();
    let octets: Vec<_> = pair.polled(1).iter().map(|c| (c.tag, c.octets)).collect();
    assert_eq!(octets, [(10, 9), (11, 3), (12, 0)]);
    assert_eq!(pair.load(1, 0, 9), b"forty-two");
    assert_eq!(pair.load(1, 100, 3), b"two");
    assert_eq!(
        pair.polled(0),
        [1, 2, 3].map(|tag| completed(tag, Work::Send))
    );
    assert_eq!(pair.counters(1).send_octets, 12);
}

/// RPC-002: whatever order Writes are placed in, they are in memory when a Send that was posted
/// after them completes.
#[test]
fn writes_are_placed_before_the_next_send() {
    for seed in 0..50 {
        let mut pair = Pair::new(Settings {
            seed,
            watches_sources: true,
            ..Settings::default()
        });
        pair.receive(1, 9, 2_000, 10);
        let sink = pair.at(1, 0, 400);
        let sink = pair.expose(1, sink, Rights::Write);
        for piece in 0..4_u64 {
            let source = pair.store(0, piece * 100, &[piece as u8 + 1; 100]);
            pair.write(
                piece,
                source,
                Segment {
                    offset: sink.offset + piece * 100,
                    ..sink
                },
            );
        }
        pair.send(9, &[], None);
        while pair.polled(1).is_empty() {
            assert!(pair.fabric.step());
        }
        let expected: Vec<u8> = (0..400_u32).map(|octet| (octet / 100) as u8 + 1).collect();
        assert_eq!(pair.load(1, 0, 400), expected, "seed {seed}");
        while pair.fabric.step() {}
        assert_eq!(pair.counters(0).changed_sources, 0);
        assert_eq!(pair.polled(0).len(), 5);
    }
}

/// A Write may be in memory while a Send that was posted before it is not yet received.
#[test]
fn a_write_overtakes_a_send() {
    let mut pair = Pair::new(Settings::default());
    pair.receive(1, 1, 0, 10);
    let sink = pair.at(1, 100, 4);
    let sink = pair.expose(1, sink, Rights::Write);
    pair.send(1, &[], None);
    let source = pair.store(0, 0, b"late");
    pair.write(2, source, sink);
    let mut choices = Vec::new();
    pair.fabric.choices(&mut choices);
    assert_eq!(
        choices,
        [
            Choice::Deliver(pair.ends[0]),
            Choice::Place(pair.ends[0], 1)
        ]
    );
    pair.fabric.take(choices[1]);
    assert_eq!(pair.load(1, 100, 4), b"late");
    assert!(pair.polled(1).is_empty());
    pair.fabric.take(choices[1]);
    assert_eq!(pair.counters(1).writes, 1, "it is placed once");
    pair.fabric.run();
    assert_eq!(pair.counters(1).writes, 1);
}

/// A source that changes before its completion is noticed.
#[test]
fn a_source_that_changes_is_counted() {
    let mut pair = Pair::new(Settings {
        watches_sources: true,
        ..Settings::default()
    });
    let sink = pair.at(1, 0, 4);
    let sink = pair.expose(1, sink, Rights::Write);
    let source = pair.store(0, 0, b"lent");
    pair.write(1, source, sink);
    pair.fabric.take(Choice::Deliver(pair.ends[0]));
    pair.store(0, 3, b"d");
    pair.fabric.run();
    assert_eq!(pair.counters(0).changed_sources, 1);
}

/// RPC-001, RPC-037: Reads return the octets they name, and no more are taken than was agreed.
#[test]
fn reads_keep_to_ord() {
    let mut pair = Pair::new(Settings {
        reads: 2,
        ..Settings::default()
    });
    let source = pair.store(1, 64, b"forty-two");
    let source = pair.expose(1, source, Rights::Read);
    let sink = pair.at(0, 0, 16);
    pair.read(1, source, sink);
    pair.read(
        2,
        Segment {
            offset: 66,
            length: 3,
            ..source
        },
        pair.at(0, 32, 3),
    );
    let full = pair.fabric.end(pair.ends[0]).read(3, source, sink);
    assert_eq!(full, Err(VerbsError::QueueFull));
    let short = pair
        .fabric
        .end(pair.ends[0])
        .read(3, source, place(MemoryId(0), 0, 8));
    assert_eq!(short, Err(VerbsError::Place));
    pair.fabric.run();
    assert_eq!(pair.polled(0), [1, 2].map(|tag| completed(tag, Work::Read)));
    assert_eq!(
        (pair.load(0, 0, 9), pair.load(0, 32, 3)),
        (b"forty-two".to_vec(), b"rty".to_vec())
    );
    pair.fabric
        .end(pair.ends[0])
        .read(3, source, sink)
        .expect("room again");
}

/// RPC-041: a handle that is stale, foreign, of the other right or too short refuses access, and
/// the connection ends.
#[test]
fn what_is_not_exposed_cannot_be_reached() {
    type Change = fn(Segment) -> Segment;
    let changes: [(&str, Rights, Change); 9] = [
        ("the right one", Rights::Write, |segment| segment),
        ("another right", Rights::Read, |segment| segment),
        ("an older key", Rights::Write, |s| Segment {
            handle: s.handle ^ 1,
            ..s
        }),
        ("another index", Rights::Write, |s| Segment {
            handle: s.handle + 256,
            ..s
        }),
        ("beyond the table", Rights::Write, |s| Segment {
            handle: u32::MAX,
            ..s
        }),
        ("one too far", Rights::Write, |s| Segment {
            offset: s.offset + 1,
            ..s
        }),
        ("one too early", Rights::Write, |s| Segment {
            offset: s.offset - 1,
            ..s
        }),
        ("at the end of 64 bits", Rights::Write, |s| Segment {
            offset: u64::MAX,
            ..s
        }),
        ("zero-based", Rights::Write, |s| Segment { offset: 0, ..s }),
    ];
    for (name, rights, change) in changes {
        let mut pair = Pair::new(Settings::default());
        let sink = pair.at(1, 100, 8);
        let sink = pair.expose(1, sink, rights);
        let source = pair.store(0, 0, &[7; 8]);
        pair.write(1, source, change(sink));
        pair.fabric.run();
        let is_right = name == "the right one";
        assert_eq!(pair.fabric.is_open(pair.ends[0]), is_right, "{name}");
        assert_eq!(
            pair.counters(1).refused_accesses,
            u64::from(!is_right),
            "{name}"
        );
        assert_eq!(pair.load(1, 99, 10).contains(&7), is_right, "{name}");
        assert_eq!(pair.polled(0).len(), 1, "{name}");
    }
}

/// RPC-041: what was revoked while a Read was at the peer is not read.
#[test]
fn a_revoked_handle_answers_no_read() {
    let mut pair = Pair::new(Settings::default());
    let source = pair.store(1, 0, b"gone");
    let source = pair.expose(1, source, Rights::Read);
    let sink = pair.at(0, 0, 4);
    pair.read(1, source, sink);
    pair.fabric.take(Choice::Deliver(pair.ends[0]));
    pair.fabric
        .end(pair.ends[1])
        .revoke(source.handle)
        .expect("valid");
    pair.fabric.run();
    assert!(!pair.fabric.is_open(pair.ends[0]));
    assert_eq!(pair.polled(0)[0].status, Status::Flushed);
    assert_eq!(pair.load(0, 0, 4), [0; 4]);
}

/// A handle serves the peer of its own connection only, also for invalidation.
#[test]
fn a_handle_is_of_one_connection() {
    for is_invalidated in [false, true] {
        let mut pair = Pair::new(Settings::default());
        let third = pair.fabric.host();
        pair.fabric.allocate(third, 4_096);
        let (other, _) = pair.fabric.connect(third, pair.hosts[1]);
        pair.receive(1, 5, 0, 10);
        let sink = pair.at(1, 0, 8);
        let sink = pair
            .fabric
            .end(other.peer())
            .expose(sink, Rights::Write)
            .expect("an entry");
        match is_invalidated {
            true => pair.send(1, &[], Some(sink.handle)),
            false => pair.write(1, pair.at(0, 0, 8), sink),
        }
        pair.fabric.run();
        assert!(!pair.fabric.is_open(pair.ends[0]) && pair.fabric.is_open(other));
        assert_eq!(pair.fabric.valid_stags(pair.hosts[1]), 1);
    }
}

/// A Send with Invalidate leaves nothing to revoke, and says which handle it was.
#[test]
fn a_send_invalidates_a_handle_once() {
    let mut pair = Pair::new(Settings::default());
    pair.receive(1, 5, 0, 10);
    pair.receive(1, 6, 0, 10);
    let sink = pair.at(1, 0, 8);
    let sink = pair.expose(1, sink, Rights::Write);
    pair.send(1, &[], Some(sink.handle));
    pair.fabric.run();
    assert_eq!(pair.polled(1)[0].invalidated, Some(sink.handle));
    assert_eq!(pair.fabric.valid_stags(pair.hosts[1]), 0);
    let again = pair.fabric.end(pair.ends[1]).revoke(sink.handle);
    assert_eq!(again, Err(VerbsError::Handle));
    pair.send(2, &[], Some(sink.handle));
    pair.fabric.run();
    assert!(!pair.fabric.is_open(pair.ends[0]));
}

/// RPC-034: a Send without a receive, or longer than it, ends the connection; all receives and
/// requests that are left complete as flushed, and nothing can be posted.
#[test]
fn a_missing_or_short_receive_ends_the_connection() {
    for (posted, octets) in [(0, 4), (1, 5)] {
        let mut pair = Pair::new(Settings::default());
        (0..posted).for_each(|_| pair.receive(1, 5, 0, 4));
        let source = pair.store(0, 0, &vec![1; octets]);
        pair.send(1, &[source], None);
        pair.fabric.run();
        let counters = pair.counters(1);
        assert_eq!(counters.missing_receives, 1 - posted);
        assert_eq!(counters.short_receives, posted);
        assert_eq!(pair.polled(1).len() as u64, posted);
        assert_eq!(pair.polled(0)[0].status, Status::Flushed);
        let mut end = pair.fabric.end(pair.ends[0]);
        assert_eq!(end.send(2, &[], None), Err(VerbsError::Closed));
        assert_eq!(end.post_receives(&[]), Err(VerbsError::Closed));
        assert_eq!(end.expose(source, Rights::Read), Err(VerbsError::Closed));
    }
}

/// Limits at the limit: requests, receives, pieces, entries, places.
#[test]
fn what_is_above_a_limit_is_refused() {
    let settings = Settings {
        sends: 2,
        receives: 2,
        entries: 2,
        ..Settings::default()
    };
    let mut pair = Pair::new(settings);
    let at = pair.at(0, 4_092, 4);
    let mut end = pair.fabric.end(pair.ends[0]);
    assert_eq!(end.send(0, &[at; 5], None), Err(VerbsError::Pieces));
    assert_eq!(
        end.send(
            0,
            &[Place {
                offset: 4_093,
                ..at
            }],
            None
        ),
        Err(VerbsError::Place)
    );
    assert_eq!(
        end.send(
            0,
            &[Place {
                offset: u64::MAX,
                ..at
            }],
            None
        ),
        Err(VerbsError::Place)
    );
    assert_eq!(end.store(at, &[0; 5]), Err(VerbsError::Place));
    assert_eq!(end.load(at, &mut [0; 5]), Err(VerbsError::Place));
    assert_eq!(end.post_receives(&[(0, at); 3]), Err(VerbsError::QueueFull));
    assert_eq!(end.post_receives(&[(0, at); 2]), Ok(()));
    assert_eq!(end.post_receives(&[(0, at)]), Err(VerbsError::QueueFull));
    assert_eq!(end.send(0, &[at; 4], None), Ok(()));
    assert_eq!(end.send(0, &[at], None), Ok(()));
    assert_eq!(end.send(0, &[at], None), Err(VerbsError::QueueFull));
    let handles = [(); 2].map(|()| end.expose(at, Rights::Read).expect("an entry").handle);
    assert_eq!(end.expose(at, Rights::Read), Err(VerbsError::NoEntry));
    end.revoke(handles[0]).expect("valid");
    let again = end.expose(at, Rights::Read).expect("an entry").handle;
    assert_eq!(again, handles[0] + 1, "the same entry under another key");
    end.close();
    assert_eq!(end.revoke(again), Ok(()), "also after the end");
}

/// Equal seeds give equal histories; faults cut connections and refuse exposures.
#[test]
fn histories_follow_the_seed() {
    let history = |seed| {
        let faults = Faults {
            cut_in: 40,
            collision_in: 3,
        };
        let mut pair = Pair::new(Settings {
            seed,
            faults,
            ..Settings::default()
        });
        let mut trace = Vec::new();
        for round in 0..40 {
            if !pair.fabric.is_open(pair.ends[0]) {
                pair.fabric.reconnect(pair.ends[0]);
                trace.push(999);
            }
            pair.receive(1, round, 0, 10);
            pair.send(round, &[], None);
            let at = pair.at(1, 0, 8);
            let exposed = pair.fabric.end(pair.ends[1]).expose(at, Rights::Write);
            trace.push(if exposed == Err(VerbsError::Collision) {
                1
            } else {
                0
            });
            pair.fabric.step();
            trace.extend(pair.polled(1).iter().map(|c| c.tag + 2));
        }
        trace
    };
    assert_eq!(history(1), history(1));
    assert_ne!(history(1), history(2));
    let trace = history(3);
    assert!(trace.contains(&999) && trace.contains(&1) && trace.contains(&0));
}
