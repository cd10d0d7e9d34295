//! A connection in full operation between the end that is judged and the stranger.

use crate::hostile::Bad;
use crate::hostile_ground::{
    options, region, settings, Ground, Role, IRD, RECEIVES, RECEIVE_OCTETS, REGION_OCTETS,
    REGION_TO,
};
use crate::scene::completion;
use crate::stranger::mpa::{self, KEY_REPLY, KEY_REQUEST};
use crate::stranger::{ddp, Talk};
use rnic_driver::verbs::endpoint::{EndpointError, QueuePair, SendOperation, WorkKind};
use rnic_driver::verbs::{Context, MemoryRegion, Rights};
use rnic_iwarp::queue_pair::{Place, Status};
use rnic_iwarp::startup;
use std::sync::atomic::Ordering;

/// Octets of a Read.
pub const READ_OCTETS: u32 = 1000;
/// Ids of two Reads, of which the second waits for ORD, and of a Send after them.
const SENDS: [u64; 3] = [101, 102, 103];
/// What is greeted with.
const HELLO: &[u8] = b"hello";

/// What a connection is begun with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The end that is judged wants markers.
    pub markers: bool,
    /// Both want CRC32C.
    pub crc: bool,
    /// Reads that the stranger says it has outstanding at most.
    pub reads: u16,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            markers: false,
            crc: true,
            reads: IRD,
        }
    }
}

impl Terms {
    /// Enhanced data of the stranger's frame: IRD, ORD.
    fn words(self) -> [u16; 2] {
        [1, self.reads]
    }

    /// What the end that is judged wants.
    fn settings(self) -> startup::Settings {
        startup::Settings {
            crc: self.crc,
            ..settings(self.markers)
        }
    }
}

/// All that a peer can be given.
pub fn every_right() -> Rights {
    Rights::REMOTE_WRITE | Rights::READ_SINK | Rights::REMOTE_READ | Rights::REMOTE_INVALIDATE
}

/// What is in regions at first.
fn untouched() -> Vec<u8> {
    crate::scene::octets(REGION_OCTETS, 77)
}

/// A connection in full operation.
pub struct Meeting {
    pub pair: QueuePair,
    pub talk: Talk,
    context: Context,
    /// Every right.
    pub region: MemoryRegion,
    /// No right but that of a sink.
    pub sink: MemoryRegion,
    /// Every right, in another Protection Domain.
    pub foreign: MemoryRegion,
    /// Of a region of [`BIG_OCTETS`] that may be read.
    pub big_stag: u32,
    /// Of a region of another connection alone, with every right.
    pub bound_stag: u32,
    /// What the region is to have.
    pub text: Vec<u8>,
    /// Number of the stranger's next Send.
    pub msn: u32,
    /// Ids that are posted and have not completed.
    pub sends: Vec<u64>,
    pub receives: Vec<u64>,
    /// FPDUs that the stranger has heard before the attack.
    pub spoken: usize,
    /// Frames of the stranger's record before it.
    pub mark: usize,
}

impl Meeting {
    /// Start one up.
    pub fn begin(ground: &Ground, role: Role, terms: Terms) -> Self {
        let mark = ground.stranger.mark();
        let (pair, talk) = match role {
            Role::Responder => respond(ground, terms),
            Role::Initiator => initiate(ground, terms),
        };
        let all = every_right();
        let text = untouched();
        let (context, own) = (&ground.end.context, &ground.end.domain);
        Self {
            pair,
            talk,
            context: context.clone(),
            region: region(context, own, all, &text),
            sink: region(context, own, Rights::READ_SINK, &text),
            foreign: region(context, &ground.elsewhere, all, &text),
            big_stag: ground.big.stag(),
            bound_stag: ground.bound_stag.load(Ordering::Acquire),
            text,
            msn: 1,
            sends: Vec::new(),
            receives: (0..RECEIVES).collect(),
            spoken: 0,
            mark,
        }
    }

    /// A good Send, which arrives.
    pub fn greet(&mut self) {
        self.say_send(HELLO);
        self.expect_message(HELLO);
    }

    /// The next completion is that of the oldest receive, with this message.
    pub fn expect_message(&mut self, message: &[u8]) {
        let received = completion(&self.pair);
        let oldest = self.receives.remove(0);
        assert_eq!(
            (received.id, received.kind, received.status),
            (oldest, WorkKind::Receive, Status::Success)
        );
        assert_eq!(received.message(), message);
    }

    /// Post two Reads, of which the second waits for ORD, and a Send after them.
    pub fn post_reads(&mut self) {
        for (at, id) in SENDS[..2].iter().enumerate() {
            let read = SendOperation::Read {
                sink: &self.sink,
                sink_to: REGION_TO + at as u64 * 2000,
                source_stag: 0x5151,
                source_to: 7,
                octets: READ_OCTETS,
            };
            self.pair.post_send(*id, &read).expect("posted");
        }
        self.post_send(SENDS[2]).expect("posted");
        self.sends = SENDS.to_vec();
    }

    /// Post a Send.
    pub fn post_send(&self, id: u64) -> Result<(), EndpointError> {
        let payload = [self.region.part(0..10).expect("inside")];
        let send = SendOperation::send(&payload);
        self.pair.post_send(id, &send)
    }

    /// The first Read has come to the stranger, if it was posted.
    pub fn wait_reads(&mut self) {
        self.spoken = usize::from(!self.sends.is_empty());
        let heard = self.talk.wait_heard(self.spoken);
        assert_eq!(heard.len(), self.spoken);
    }

    /// Post a receive.
    pub fn post_receive(&self, id: u64) -> Result<(), EndpointError> {
        let memory = self.context.allocate(RECEIVE_OCTETS).expect("memory");
        self.pair.post_receive(id, memory)
    }

    /// Send a Send of one segment; its number counts.
    pub fn say_send(&mut self, payload: &[u8]) -> u64 {
        let msn = self.msn;
        self.msn += 1;
        self.talk.say(&ddp::send(msn, payload))
    }

    /// Send a ULPDU that is bad in itself.
    pub fn say_bad(&mut self, ulpdu: Vec<u8>) -> Bad {
        let place = Place::Fpdu(self.talk.say(&ulpdu));
        Bad { ulpdu, place }
    }

    /// A good Write to the region.
    pub fn say_write(&mut self, at: usize, payload: &[u8]) {
        let to = REGION_TO + at as u64;
        self.talk.say(&ddp::write(self.region.stag(), to, payload));
        self.text[at..at + payload.len()].copy_from_slice(payload);
    }

    /// A good Write to the region, and a good Send.
    pub fn go_on(&mut self) {
        let write = ddp::write(self.region.stag(), REGION_TO + 3000, &[0xee; 100]);
        self.talk.say(&write);
        let msn = self.msn;
        self.talk.say(&ddp::send(msn, b"too late"));
    }

    /// Nothing was placed but what is to be there.
    pub fn judge_memory(&self) {
        let untouched = untouched();
        for (name, region, text) in [
            ("the region", &self.region, &self.text),
            ("the sink", &self.sink, &untouched),
            ("the foreign region", &self.foreign, &untouched),
        ] {
            let mut found = vec![0; REGION_OCTETS];
            region.read(0, &mut found).expect("all of it");
            assert!(found == *text, "{name}");
        }
    }
}

fn post_receives(ground: &Ground, pair: &QueuePair) {
    for id in 0..RECEIVES {
        let memory = ground.end.context.allocate(RECEIVE_OCTETS);
        pair.post_receive(id, memory.expect("memory"))
            .expect("posted");
    }
}

/// The stranger sends the Request.
fn respond(ground: &Ground, terms: Terms) -> (QueuePair, Talk) {
    let (conn, stream) = ground.accept();
    let own = if terms.crc { mpa::FLAG_CRC } else { 0 };
    conn.send(&mpa::start_enhanced(&KEY_REQUEST, own, terms.words(), b""));
    let request = stream.request(&terms.settings(), b"");
    let pair = request
        .expect("one")
        .queue_pair(&ground.end.domain, &options());
    let pair = pair.expect("there is room");
    post_receives(ground, &pair);
    pair.accept(b"").expect("accepted");
    let begin = mpa::START_OCTETS + 4;
    // MPA2-004: its IRD covers the stranger's ORD, as far as it can.
    let reply = mpa::start_enhanced(&KEY_REPLY, flags(terms), [terms.reads.min(IRD), 1], b"");
    assert_eq!(conn.wait_octets(begin), reply);
    (pair, Talk::new(conn, begin, [terms.markers, false]))
}

/// The stranger sends the Reply.
fn initiate(ground: &Ground, terms: Terms) -> (QueuePair, Talk) {
    let (conn, stream) = ground.connect();
    let pair = stream.queue_pair(&ground.end.domain, &terms.settings(), &options());
    let pair = pair.expect("there is room");
    post_receives(ground, &pair);
    let begin = mpa::START_OCTETS + 4;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let request = mpa::start_enhanced(&KEY_REQUEST, flags(terms), [IRD, 1], b"");
            assert_eq!(conn.wait_octets(begin), request);
            let own = if terms.crc { mpa::FLAG_CRC } else { 0 };
            conn.send(&mpa::start_enhanced(&KEY_REPLY, own, terms.words(), b""));
        });
        pair.start(b"").expect("a Reply");
    });
    (pair, Talk::new(conn, begin, [terms.markers, false]))
}

/// Flags of the frames of the end that is judged, but for S.
fn flags(terms: Terms) -> u8 {
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    flag(terms.crc, mpa::FLAG_CRC) | flag(terms.markers, mpa::FLAG_MARKERS)
}
