//! A connection between the same two ends that carries octets both ways while others are attacked.

use crate::hostile_ground::{Ground, Role, REGION_OCTETS, REGION_TO};
use crate::hostile_meeting::{every_right, Meeting, Terms};
use crate::scene::{completion, event, octets};
use crate::stranger::ddp;
use rnic_driver::verbs::endpoint::{PairEvent, SendOperation, WorkKind};
use rnic_driver::verbs::{MemoryRegion, RegionOptions};
use rnic_iwarp::queue_pair::Status;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Octets of a segment's payload.
const PART_OCTETS: usize = 1400;
/// The stranger's STag.
const STAG: u32 = 0x4242;
/// Between two rounds.
const PAUSE: Duration = Duration::from_millis(1);
/// What takes longer has not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Counts its rounds.
#[derive(Default)]
pub struct Bystander {
    rounds: AtomicU64,
    is_over: AtomicBool,
}

/// Has the bystander end, also when an assertion fails.
struct Ending<'a>(&'a Bystander);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

impl Bystander {
    /// Rounds in which every octet has arrived both ways.
    pub fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::Acquire)
    }

    /// Wait until there are so many.
    pub fn wait_rounds(&self, count: u64) {
        let begun = Instant::now();
        while self.rounds() < count {
            assert!(
                !self.is_over.load(Ordering::Acquire),
                "the bystander has failed"
            );
            assert!(begun.elapsed() < PATIENCE, "the bystander is stuck");
            thread::sleep(PAUSE);
        }
    }

    fn run(&self, ground: &Ground) {
        // What fails here is seen by whoever waits.
        let _ending = Ending(self);
        let mut meeting = Meeting::begin(ground, Role::Responder, Terms::default());
        meeting.greet();
        assert_eq!(event(&meeting.pair), PairEvent::Established);
        meeting.talk.forget();
        meeting.post_receive(0).expect("posted");
        let bound = bind(ground, &meeting);
        while !self.is_over.load(Ordering::Acquire) {
            let round = self.rounds();
            inwards(&mut meeting, round);
            outwards(&mut meeting, round);
            self.rounds.store(round + 1, Ordering::Release);
            thread::sleep(PAUSE);
        }
        let mut found = vec![0xff; REGION_OCTETS];
        bound.read(0, &mut found).expect("all of it");
        assert!(found == [0; REGION_OCTETS], "its region is nobody else's");
        drop(bound);
        meeting.pair.disconnect().expect("it is there");
        meeting.talk.conn.wait_end();
        meeting.talk.conn.close();
        assert_eq!(event(&meeting.pair), PairEvent::HalfClosed);
        assert_eq!(event(&meeting.pair), PairEvent::Closed);
    }
}

/// A region of its connection alone, which others try to reach.
fn bind(ground: &Ground, meeting: &Meeting) -> MemoryRegion {
    let memory = ground.end.context.allocate(REGION_OCTETS).expect("memory");
    let options = RegionOptions {
        rights: every_right(),
        tagged_offset: REGION_TO,
        stag: None,
    };
    let bound = meeting.pair.register(memory, &options).expect("a region");
    ground.bound_stag.store(bound.stag(), Ordering::Release);
    bound
}

/// The stranger writes all of the region, and says so.
fn inwards(meeting: &mut Meeting, round: u64) {
    let text = octets(REGION_OCTETS, round as usize);
    let stag = meeting.region.stag();
    for (index, part) in text.chunks(PART_OCTETS).enumerate() {
        let at = index * PART_OCTETS;
        let mut write = ddp::write(stag, REGION_TO + at as u64, part);
        if at + part.len() < text.len() {
            write[0] &= !ddp::LAST;
        }
        meeting.talk.say(&write);
    }
    meeting.say_send(&round.to_be_bytes());
    let received = completion(&meeting.pair);
    assert_eq!(
        (received.kind, received.status),
        (WorkKind::Receive, Status::Success)
    );
    assert_eq!(received.message(), round.to_be_bytes());
    meeting.post_receive(round).expect("posted");
    let mut placed = vec![0; text.len()];
    meeting.region.read(0, &mut placed).expect("all of it");
    assert!(placed == text, "round {round}");
}

/// The end that is judged writes all of the region back.
fn outwards(meeting: &mut Meeting, round: u64) {
    let payload = [meeting.region.part(0..REGION_OCTETS).expect("inside")];
    let write = SendOperation::Write {
        payload: &payload,
        stag: STAG,
        to: round << 32,
    };
    meeting.pair.post_send(round, &write).expect("posted");
    let done = completion(&meeting.pair);
    assert_eq!((done.id, done.status), (round, Status::Success));
    // It is acknowledged, so it is there.
    let mut written = Vec::new();
    for ulpdu in meeting.talk.heard() {
        let (header, part) = ulpdu.split_at(ddp::TAGGED_OCTETS);
        let mut expected = ddp::tagged(ddp::WRITE, STAG, (round << 32) + written.len() as u64);
        written.extend_from_slice(part);
        if written.len() < REGION_OCTETS {
            expected[0] &= !ddp::LAST;
        }
        assert_eq!(header, expected, "round {round}");
    }
    assert!(
        written == octets(REGION_OCTETS, round as usize),
        "round {round}"
    );
    meeting.talk.forget();
}

impl Ground {
    /// Do something while a bystander carries octets.
    pub fn beside_a_bystander(&self, act: impl FnOnce(&Bystander)) {
        let bystander = Bystander::default();
        thread::scope(|scope| {
            scope.spawn(|| bystander.run(self));
            let _ending = Ending(&bystander);
            bystander.wait_rounds(1);
            act(&bystander);
        });
    }
}
