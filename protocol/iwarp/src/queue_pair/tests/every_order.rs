//! Every order of what may happen to a connection, to a depth, against what always holds.
use super::*;
use rnic_wire::ddp::errors::{DDP_STAG, MPA_CRC};
use rnic_wire::ddp::read_request::ReadRequestRepr;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Step {
    PostSend,
    PostRead,
    PostReceive,
    Transmit,
    Acknowledge,
    FirstFpdu,
    Message,
    ReadRequest,
    ReadResponse,
    Terminate,
    RefusedByMpa,
    RefusedByDdp,
    TerminateOurs,
    Fin,
    Lost,
    Close,
    Abort,
}

const STEPS: [Step; 17] = [
    Step::PostSend,
    Step::PostRead,
    Step::PostReceive,
    Step::Transmit,
    Step::Acknowledge,
    Step::FirstFpdu,
    Step::Message,
    Step::ReadRequest,
    Step::ReadResponse,
    Step::Terminate,
    Step::RefusedByMpa,
    Step::RefusedByDdp,
    Step::TerminateOurs,
    Step::Fin,
    Step::Lost,
    Step::Close,
    Step::Abort,
];

/// A connection, and what was seen of it.
#[derive(Clone)]
struct World {
    pair: QueuePair,
    host: TestHost,
    reader: Reader,
    is_responder: bool,
    fpdu_came: bool,
    lost: bool,
    /// Ids posted and not completed, sends and receives.
    sends: Vec<u64>,
    receives: Vec<u64>,
    next_id: u64,
    /// Sends in the order of posting, and where the last part of each that has left ends.
    send_ids: Vec<u64>,
    left: BTreeMap<u64, u64>,
    acknowledged: u64,
    reads_done: usize,
    terminates: usize,
    events: Vec<Event>,
}

impl World {
    fn new(is_responder: bool) -> Self {
        let agreed = agreed(!is_responder);
        let limits = Limits {
            sends: 4,
            receives: 4,
            ..Limits::default()
        };
        Self {
            // Two segments a Send.
            pair: QueuePair::new(&agreed, 140, limits),
            host: TestHost::with(1, vec![7; 400]),
            reader: Reader::new(&agreed),
            is_responder,
            fpdu_came: false,
            lost: false,
            sends: Vec::new(),
            receives: Vec::new(),
            next_id: 0,
            send_ids: Vec::new(),
            left: BTreeMap::new(),
            acknowledged: 0,
            reads_done: 0,
            terminates: 0,
            events: Vec::new(),
        }
    }

    fn post(&mut self, step: Step) {
        let id = self.next_id;
        let (posted, list) = match step {
            Step::PostSend => (
                self.pair.post_send(send(id, piece(1, 200))),
                &mut self.sends,
            ),
            Step::PostRead => (self.pair.post_send(read(id, 10)), &mut self.sends),
            _ => (self.pair.post_receive(id), &mut self.receives),
        };
        if posted.is_ok() {
            list.push(id);
            self.next_id += 1;
            self.send_ids.extend((step == Step::PostSend).then_some(id));
        }
    }

    fn receive(&mut self, step: Step) {
        let request = ReadRequestRepr {
            sink_stag: 1,
            sink_to: 0,
            size: 200,
            source_stag: 1,
            source_to: 0,
        };
        let payload = request.octets();
        let refused = |cause| Received::Refused {
            cause,
            stream_offset: 0,
            segment: None,
        };
        let received = match step {
            Step::FirstFpdu => Received::FirstFpdu,
            Step::Message => message(1),
            Step::ReadRequest => Received::ReadRequest {
                msn: 1,
                payload: &payload,
            },
            Step::ReadResponse => Received::ReadResponse,
            Step::Terminate => Received::Terminate { payload: &[0; 4] },
            Step::RefusedByMpa => refused(MPA_CRC),
            _ => refused(DDP_STAG),
        };
        self.reads_done += usize::from(step == Step::ReadResponse);
        self.fpdu_came |= step != Step::RefusedByMpa;
        self.pair.on_received(received, &mut self.host);
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::PostSend | Step::PostRead | Step::PostReceive => self.post(step),
            Step::Transmit => self.transmit(),
            Step::Acknowledge => {
                self.acknowledged = self.reader.stream.len() as u64;
                self.pair.on_acknowledged(self.acknowledged);
            }
            Step::Fin => self.pair.on_fin(),
            Step::Lost => {
                self.lost = true;
                self.pair.on_lost();
            }
            Step::TerminateOurs => self.pair.terminate(DDP_STAG),
            Step::Close => self.pair.close(),
            Step::Abort => self.pair.abort(),
            _ => self.receive(step),
        }
        self.look();
    }

    fn transmit(&mut self) {
        let mut out = Vec::new();
        let Some(record) = self.pair.transmit(&mut self.host, &mut out) else {
            return;
        };
        assert!(
            !self.is_responder || self.fpdu_came,
            "before the first FPDU"
        );
        assert_eq!(self.terminates, 0, "after the Terminate");
        let over = [Event::CloseSend, Event::Abort];
        assert!(
            !self.events.iter().any(|event| over.contains(event)),
            "after the FIN"
        );
        self.reader.push(&record, &out, &mut self.host);
        while let Some(segment) = self.reader.next() {
            assert_eq!(self.terminates, 0, "after the Terminate");
            self.terminates += usize::from(segment.opcode() == Some(Opcode::Terminate));
            if let Segment::Untagged(UntaggedRepr { qn: 0, msn, .. }, _) = segment {
                let id = self.send_ids[msn as usize - 1];
                self.left.insert(id, self.reader.at as u64);
            }
        }
    }

    /// What holds after every step.
    fn look(&mut self) {
        while let Some(event) = self.pair.poll_event() {
            let same =
                |other: &Event| std::mem::discriminant(other) == std::mem::discriminant(&event);
            assert!(!self.events.iter().any(same), "{event:?} twice");
            assert!(
                !self.events.contains(&Event::Closed),
                "{event:?} after the last"
            );
            self.events.push(event);
        }
        let is_gone = self.lost || self.events.contains(&Event::Abort);
        while let Some(done) = self.pair.poll_completion() {
            let list = match done.kind {
                Kind::Receive(_) => &mut self.receives,
                _ => &mut self.sends,
            };
            assert_eq!(list.first(), Some(&done.id), "once, and in order");
            list.remove(0);
            // TCP may send again what is not acknowledged, with the payload as it is then.
            let end = self.left.get(&done.id).filter(|_| done.kind == Kind::Send);
            assert!(is_gone || end.is_none_or(|&end| end <= self.acknowledged));
            let is_success = done.kind == Kind::Send && done.status == Status::Success;
            assert!(!is_success || end.is_some(), "{done:?}");
        }
        let is_read = |call: &&Call| matches!(call, Call::ExpectRead(..));
        let reads = self.host.calls.iter().filter(is_read).count();
        assert!(reads <= self.reads_done + 2, "more than ORD");
        assert!(self.events.len() <= 6);
    }

    /// Whatever has happened, an abort ends it, and each request has completed.
    fn end(mut self) {
        self.step(Step::Abort);
        assert_eq!((self.sends.len(), self.receives.len()), (0, 0));
        self.step(Step::Fin);
        let closed = self.events.contains(&Event::Closed);
        assert!(closed, "{:?}", self.events);
        self.step(Step::Transmit);
    }

    /// The other way to end: all that waits is sent and acknowledged, and the peer closes.
    fn end_in_peace(mut self) {
        self.step(Step::Close);
        for _ in 0..30 {
            self.step(Step::Transmit);
        }
        self.step(Step::Acknowledge);
        self.step(Step::Fin);
        for _ in 0..30 {
            self.step(Step::Transmit);
        }
        self.step(Step::Acknowledge);
        assert_eq!((self.sends.len(), self.receives.len()), (0, 0));
        assert!(self.events.contains(&Event::Closed), "{:?}", self.events);
        let (fin, rst) = (Event::CloseSend, Event::Abort);
        assert!(self.lost || self.events.contains(&fin) || self.events.contains(&rst));
    }
}

fn explore(world: &World, depth: usize, count: &mut usize) {
    *count += 1;
    world.clone().end();
    world.clone().end_in_peace();
    if depth == 0 {
        return;
    }
    for step in STEPS {
        let mut next = world.clone();
        next.step(step);
        explore(&next, depth - 1, count);
    }
}

/// START-014, DDP-028, DDP-033, DDP-035, RDMAP-012, RDMAP-020, RDMAP-021: every order of three of
/// seventeen steps, from each of three beginnings in both roles: each request completes once and in
/// order, no Send before what has left of it is acknowledged or TCP is gone; Reads stay within ORD;
/// at most one Terminate leaves and nothing after it or after a FIN; a responder sends nothing
/// before the first FPDU; each event comes once, and a close and an abort both end everything.
#[test]
fn every_order_of_events_keeps_the_rules() {
    let beginnings: [&[Step]; 3] = [
        &[],
        &[
            Step::FirstFpdu,
            Step::PostSend,
            Step::PostReceive,
            Step::Transmit,
        ],
        &[
            Step::FirstFpdu,
            Step::PostRead,
            Step::Transmit,
            Step::PostSend,
            Step::ReadRequest,
        ],
    ];
    for is_responder in [false, true] {
        for beginning in beginnings {
            let mut world = World::new(is_responder);
            for step in beginning {
                world.step(*step);
            }
            let mut count = 0;
            explore(&world, 3, &mut count);
            assert_eq!(count, 1 + 17 + 289 + 4913);
        }
    }
}

/// The same rules over long random walks.
#[test]
fn long_walks_keep_the_rules() {
    use rand::{Rng, SeedableRng};
    for seed in 0..300 {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut world = World::new(seed % 2 == 0);
        let mut trace = Vec::new();
        for _ in 0..random.random_range(1..80) {
            // Ends are rare, so that walks get somewhere.
            let rare = random.random_range(0..12) == 0;
            let step = STEPS[random.random_range(0..if rare { 17 } else { 9 })];
            trace.push(step);
            world.step(step);
        }
        match seed % 3 {
            0 => world.end(),
            _ => world.end_in_peace(),
        }
    }
}
