//! What is asserted of every attack on a connection: on the wire, in the queue pair, beside it, and
//! afterwards.
//!
//! ```text
//!  Ground: an end and a stranger -- Meeting::begin --> Meeting: in full operation
//!                                                          | attack: FPDUs, the last is bad
//!    a Bystander carries octets all the time               v
//!                            Terminate, FIN, nothing else; Failed at a place; all flushed; clean
//! ```

use crate::hostile_ground::{Ground, Role, IRD};
use crate::hostile_meeting::{Meeting, Terms};
use crate::scene::{completion, event};
use crate::stranger::{ddp, End};
use rnic_driver::verbs::endpoint::{EndpointError, PairEvent, WorkKind};
use rnic_iwarp::queue_pair::{Failure, Place, PostError, Status};

/// What a Terminate is to repeat of the FPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is no Terminate, but the end.
    Fin,
    /// Layer, type and code alone: the header is not known, or of no use.
    Bare,
    /// Length and DDP header.
    Ddp,
    /// Length, DDP header and the payload of the Read Request.
    ReadRequest,
}

/// A bad FPDU that was sent.
pub struct Bad {
    pub ulpdu: Vec<u8>,
    pub place: Place,
}

/// An attack.
pub struct Case {
    pub name: &'static str,
    /// Layer, type and code.
    pub cause: (u8, u8, u8),
    pub answer: Answer,
    /// Sends the FPDUs of the attack; the last one is bad.
    pub attack: fn(&mut Meeting) -> Bad,
    /// A good Send goes first: a responder may send.
    pub greets: bool,
    /// The end that is judged has Reads outstanding and a Send after them.
    pub reads: bool,
    pub terms: Terms,
    /// Responses to Reads may leave before the Terminate.
    pub responds: bool,
    /// How the oldest receive ends.
    pub receive: Status,
}

impl Case {
    /// After a good Send, with Reads outstanding.
    pub const fn new(
        name: &'static str,
        cause: (u8, u8, u8),
        answer: Answer,
        attack: fn(&mut Meeting) -> Bad,
    ) -> Self {
        Self {
            name,
            cause,
            answer,
            attack,
            greets: true,
            reads: true,
            terms: Terms {
                markers: false,
                crc: true,
                reads: IRD,
            },
            responds: false,
            receive: Status::Flushed,
        }
    }

    pub const fn first(self) -> Self {
        let greets = false;
        Self { greets, ..self }
    }

    /// The message does not fit the oldest receive.
    pub const fn too_long(mut self) -> Self {
        self.receive = Status::LocalLength;
        self
    }

    pub const fn without_reads(self) -> Self {
        let reads = false;
        Self { reads, ..self }
    }

    pub const fn marked(mut self) -> Self {
        self.terms.markers = true;
        self
    }

    pub const fn with_ord(mut self, reads: u16) -> Self {
        self.terms.reads = reads;
        self
    }

    pub const fn responding(self) -> Self {
        let responds = true;
        Self { responds, ..self }
    }

    /// The Terminate that RFC 5040 section 4.8 calls for.
    fn terminate(&self, bad: &Bad) -> Option<ddp::Terminate> {
        let header = match bad.ulpdu.first() {
            Some(first) if first & 0x80 != 0 => ddp::TAGGED_OCTETS,
            _ => ddp::UNTAGGED_OCTETS,
        };
        let (has_ddp, has_rdma) = match self.answer {
            Answer::Fin => return None,
            Answer::Bare => (false, false),
            Answer::Ddp => (true, false),
            Answer::ReadRequest => (true, true),
        };
        let part = |is_there: bool, from: usize, to: usize| match is_there {
            true => bad.ulpdu[from..to].to_vec(),
            false => Vec::new(),
        };
        Some(ddp::Terminate {
            cause: self.cause,
            control: [has_ddp, has_ddp, has_rdma],
            segment_octets: has_ddp.then_some(bad.ulpdu.len() as u16),
            ddp_header: part(has_ddp, 0, header),
            read_request: part(has_rdma, header, header + ddp::READ_REQUEST_OCTETS),
        })
    }
}

/// Play attacks one after the other in these roles of the end that is judged, while a bystander
/// carries octets between the same two ends.
pub fn play_all<'a>(kind: &str, cases: impl IntoIterator<Item = &'a Case>, roles: &[Role]) {
    let ground = Ground::new(kind);
    ground.beside_a_bystander(|bystander| {
        for case in cases {
            for &role in roles {
                println!("{} ({role:?})", case.name);
                let rounds = bystander.rounds();
                play(&ground, case, role);
                bystander.wait_rounds(rounds + 2);
                ground.expect_clean(1);
            }
        }
    });
    ground.expect_clean(0);
}

/// Play an attack.
pub fn play(ground: &Ground, case: &Case, role: Role) {
    let mut meeting = Meeting::begin(ground, role, case.terms);
    if case.greets {
        meeting.greet();
    }
    if case.reads {
        meeting.post_reads();
    }
    if case.greets || role == Role::Initiator {
        meeting.wait_reads();
    }
    let bad = (case.attack)(&mut meeting);
    // DDP-045, MPA-058: what follows is good, and of no effect.
    if matches!(bad.place, Place::Fpdu(_)) {
        meeting.go_on();
    }
    judge_wire(&meeting, case, &bad);
    judge_pair(&mut meeting, case, &bad);
    // DDP-034, RDMAP-020: nor is what follows the Terminate.
    meeting.go_on();
    part(ground, &meeting);
}

/// Both close, and nothing is left: no octet where none should be, no segment after the FIN.
pub fn part(ground: &Ground, meeting: &Meeting) {
    let conn = &meeting.talk.conn;
    conn.wait_acknowledged();
    let port = conn.own_port();
    conn.close();
    meeting.pair.disconnect().expect("it is there");
    assert_eq!(event(&meeting.pair), PairEvent::Closed);
    meeting.judge_memory();
    judge_end(ground, meeting.mark, port);
}

/// RDMAP-016, RDMAP-020, START-014: one Terminate and the end, or the end alone.
fn judge_wire(meeting: &Meeting, case: &Case, bad: &Bad) {
    meeting.talk.conn.set_reading(true);
    assert_eq!(meeting.talk.conn.wait_end(), End::Fin);
    let (words, terminate) = meeting.talk.last_words();
    assert_eq!(terminate, case.terminate(bad), "the Terminate");
    if !case.responds {
        let spoken = words.len();
        assert_eq!(
            spoken, meeting.spoken,
            "FPDUs before the Terminate: {words:02x?}"
        );
    }
}

/// DDP-032, DDP-033, RDMAP-021: the failure and its place; everything posted completes once, in
/// order; nothing can be posted any more.
fn judge_pair(meeting: &mut Meeting, case: &Case, bad: &Bad) {
    let failed = match event(&meeting.pair) {
        PairEvent::Established => event(&meeting.pair),
        other => other,
    };
    let PairEvent::Failed(Failure::Refused { cause, place }) = failed else {
        panic!("{failed:?}");
    };
    let cause = (cause.layer, cause.error_type, cause.code);
    assert_eq!((cause, place), (case.cause, bad.place));
    expect_ended(meeting, case.receive);
    let posted = meeting.post_send(999);
    let EndpointError::Post { error, .. } = posted.expect_err("it has failed") else {
        panic!("another error");
    };
    assert_eq!(error, PostError::Closed);
    // A receive is given back at once.
    meeting.post_receive(998).expect("it is taken");
    let done = completion(&meeting.pair);
    assert_eq!((done.id, done.status), (998, Status::Flushed));
    assert!(done.memory.is_some());
}

/// Everything that was posted is flushed, in the order of posting.
pub fn expect_flushed(meeting: &mut Meeting) {
    expect_ended(meeting, Status::Flushed);
}

/// Everything that was posted completes, in the order of posting: the oldest receive as this, and
/// all others are flushed.
fn expect_ended(meeting: &mut Meeting, oldest: Status) {
    let posted = meeting.sends.len() + meeting.receives.len();
    let mut flushed = [Vec::new(), Vec::new()];
    for _ in 0..posted {
        let done = completion(&meeting.pair);
        let is_receive = done.kind == WorkKind::Receive;
        let want = match is_receive && flushed[1].is_empty() {
            true => oldest,
            false => Status::Flushed,
        };
        assert_eq!(done.status, want, "{done:?}");
        flushed[usize::from(is_receive)].push(done.id);
    }
    let [sends, receives] = flushed;
    assert_eq!(sends, meeting.sends, "sends");
    assert_eq!(receives, meeting.receives, "receives");
    let more = meeting.pair.poll_completion().expect("it is there");
    assert!(more.is_none(), "{more:?}");
}

/// No RST, and nothing after the FIN but that again.
pub fn judge_end(ground: &Ground, mark: usize, port: u16) {
    let segments = ground.stranger.heard(mark, port);
    let fin = segments.iter().find(|segment| segment.is_fin);
    let fin = fin.expect("there is a FIN");
    let end = fin.seq.wrapping_add(fin.octets());
    for segment in &segments {
        assert!(!segment.is_rst, "{segment:?}");
        let beyond = segment.seq.wrapping_add(segment.octets()).wrapping_sub(end);
        assert!(beyond as i32 <= 0, "after the FIN: {segment:?}");
    }
}
