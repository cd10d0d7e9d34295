//! Start-up on the device: revision 0, the longest Private Data, what shares a segment with the
//! handshake, what nobody has read, and frames that are lost around the switch.

use crate::hostile_frames::{REPLIES, REQUESTS};
use crate::hostile_ground::{options, refused, settings, Ground};
use crate::raw::Raw;
use crate::scene::{completion, event, End, PATIENCE, PORT};
use crate::stranger::mpa::{
    start, start_enhanced, FLAG_CRC, FLAG_REJECTED, KEY_REPLY, KEY_REQUEST, PEER_TO_PEER,
    START_OCTETS,
};
use crate::stranger::port::Faults;
use crate::stranger::wiretap::Segment;
use crate::stranger::{ddp, Conn, End as EndOfPeer, Talk};
use rnic_driver::verbs::endpoint::{EndpointError, PairEvent, QueuePair, SendOperation, Stream};
use rnic_iwarp::queue_pair::Status;
use rnic_iwarp::startup::{Rtr, RtrKinds, Settings, StartupError};
use rnic_tcp::TimeOut;

/// Where a frame has its revision.
const REVISION: usize = 17;
/// Octets of a frame of revision 2 and its enhanced data.
const ENHANCED_OCTETS: usize = START_OCTETS + 4;

/// Revision 0 and no other, with any Private Data that fits.
fn revision_0() -> Settings {
    Settings {
        revision: 0,
        revision_min: 0,
        answer_newer: false,
        private_data_octets_max: usize::from(u16::MAX),
        ..settings(false)
    }
}

/// A queue pair with a receive.
fn with_receive(ground: &Ground, pair: QueuePair) -> QueuePair {
    let memory = ground.end.context.allocate(100).expect("memory");
    pair.post_receive(1, memory).expect("posted");
    pair
}

/// Start MPA on a stream to the stranger, whose Reply this is; what has come of it.
fn start_with(
    ground: &Ground,
    (conn, stream): (&Conn, Stream),
    (settings, private_data): (&Settings, &[u8]),
    reply: &[u8],
) -> (QueuePair, Result<Vec<u8>, EndpointError>) {
    let pair = stream.queue_pair(&ground.end.domain, settings, &options());
    let pair = with_receive(ground, pair.expect("there is room"));
    let before = conn.received().len();
    let enhanced = if settings.revision == 2 { 4 } else { 0 };
    let request = START_OCTETS + enhanced + private_data.len();
    let started = std::thread::scope(|scope| {
        let starting = scope.spawn(|| pair.start(private_data));
        conn.wait_octets(before + request);
        conn.send(reply);
        starting.join().expect("it does not panic")
    });
    (pair, started)
}

/// A Send of the stranger's arrives: both directions are in full operation.
fn expect_full_operation(conn: Conn, begin: usize, pair: &QueuePair) {
    let mut talk = Talk::new(conn, begin, [false, false]);
    talk.say(&ddp::send(1, b"first"));
    assert_eq!(completion(pair).message(), b"first");
    assert_eq!(event(pair), PairEvent::Established);
}

/// START-006, START-022, START-033: Private Data of any length that the field can say, none
/// included, in either frame of revision 0.
#[test]
fn private_data_of_revision_0_may_be_as_long_as_its_field_says() {
    let ground = Ground::new("model");
    for octets in [0, 1, 512, 513, 65_535] {
        let data: Vec<u8> = (0..octets).map(|at| (at * 7 + at / 256) as u8).collect();
        let reply = start(&KEY_REPLY, FLAG_CRC, 0, &data);
        let (conn, stream) = ground.accept();
        conn.send(&start(&KEY_REQUEST, FLAG_CRC, 0, &data));
        let request = stream.request(&revision_0(), b"").expect("a Request");
        assert_eq!(
            (request.request().revision, request.private_data()),
            (0, &data[..])
        );
        let pair = request.queue_pair(&ground.end.domain, &options());
        let pair = with_receive(&ground, pair.expect("there is room"));
        pair.accept(&data).expect("accepted");
        assert_eq!(conn.wait_octets(reply.len()), reply, "{octets} octets");
        let (conn, stream) = {
            drop(conn);
            drop(pair);
            ground.connect()
        };
        let (pair, started) = start_with(&ground, (&conn, stream), (&revision_0(), &data), &reply);
        assert_eq!(started.expect("a Reply"), data, "{octets} octets");
        assert_eq!(conn.received(), start(&KEY_REQUEST, FLAG_CRC, 0, &data));
        assert_eq!(event(&pair), PairEvent::Established);
        drop(pair);
        drop(conn);
        ground.expect_clean(0);
    }
}

/// Whether a bad frame of revision 1 or 2 is as bad in revision 0.
fn is_of_every_revision(error: &StartupError) -> bool {
    use StartupError::{EnhancedLength, PeerToPeerUnasked, Revision};
    !matches!(
        error,
        Revision { .. } | EnhancedLength { .. } | PeerToPeerUnasked
    )
}

/// The octets of a bad frame, in revision 0.
fn in_revision_0(mut octets: Vec<u8>) -> Vec<u8> {
    if let Some(revision) = octets.get_mut(REVISION) {
        *revision = 0;
    }
    octets
}

/// START-007, START-010, START-015, START-018, START-020, START-022, START-024, START-041: the
/// rules of start-up that know no revision hold in revision 0.
#[test]
fn what_is_malformed_in_every_revision_is_in_revision_0() {
    let ground = Ground::new("model");
    for case in REQUESTS
        .iter()
        .filter(|case| is_of_every_revision(&case.error))
    {
        println!("{}", case.name);
        let mut settings = revision_0();
        settings.private_data_octets_max = case.settings().private_data_octets_max;
        let (conn, stream) = ground.accept();
        conn.send(&in_revision_0((case.octets)()));
        if case.ends {
            conn.close();
        }
        case.judge(refused(stream.request(&settings, b"")));
        assert_eq!(conn.wait_end(), case.end());
        drop(conn);
        ground.expect_clean(0);
    }
    for case in REPLIES
        .iter()
        .filter(|case| is_of_every_revision(&case.error))
    {
        // A FIN in its place is one of a peer of any revision.
        if case.ends {
            continue;
        }
        println!("{}", case.name);
        let mut settings = revision_0();
        settings.private_data_octets_max = case.settings().private_data_octets_max;
        let (conn, stream) = ground.connect();
        let reply = in_revision_0((case.octets)());
        let (pair, started) = start_with(&ground, (&conn, stream), (&settings, b""), &reply);
        case.judge(refused(started));
        assert_eq!(conn.wait_end(), case.end());
        drop(pair);
        drop(conn);
        ground.expect_clean(0);
    }
}

/// START-008, START-011, START-022: a rejection in revision 0 leaves a stream, at either end.
#[test]
fn a_rejection_in_revision_0_leaves_the_stream() {
    let ground = Ground::new("model");
    let no = start(&KEY_REPLY, FLAG_CRC | FLAG_REJECTED, 0, b"no");
    let (conn, stream) = ground.accept();
    conn.send(&start(&KEY_REQUEST, FLAG_CRC, 0, b""));
    let request = stream.request(&revision_0(), b"").expect("a Request");
    let stream = request.reject(b"no").expect("it waits");
    assert_eq!(conn.wait_octets(no.len()), no);
    stream.write_all(b"words").expect("it is open");
    assert_eq!(conn.wait_octets(no.len() + 5)[no.len()..], *b"words");
    drop((conn, stream));
    let (conn, stream) = ground.connect();
    let (pair, started) = start_with(&ground, (&conn, stream), (&revision_0(), b""), &no);
    let EndpointError::Rejected { reason, .. } = refused(started) else {
        panic!("another error");
    };
    assert_eq!(reason, b"no");
    let stream = pair.into_stream().expect("it is one");
    conn.send(b"words");
    let mut words = [0; 5];
    let count = stream.read(&mut words, PATIENCE).expect("octets");
    assert_eq!(words[..count], b"words"[..count]);
    drop((conn, stream));
    ground.expect_clean(0);
}

/// START-002, START-035: a Request that comes in the segment which ends TCP's handshake.
#[test]
fn a_request_may_share_a_segment_with_the_end_of_the_handshake() {
    let (mut raw, link) = Raw::new();
    let end = End::open("model", 1, &link, false);
    let listener = end.endpoint.listen((end.address, PORT).into());
    let listener = listener.expect("it listens");
    raw.connect();
    raw.open();
    raw.send(&start(&KEY_REQUEST, FLAG_CRC, 1, b"at once"));
    let stream = listener.accept(PATIENCE).expect("it is there");
    let settings = Settings::default();
    let request = stream.request(&settings, b"").expect("a Request");
    assert_eq!(request.private_data(), b"at once");
    let pair = request.queue_pair(&end.domain, &options());
    let pair = pair.expect("there is room");
    pair.accept(b"welcome").expect("accepted");
    let reply = start(&KEY_REPLY, FLAG_CRC, 1, b"welcome");
    assert_eq!(raw.next_payload(), reply);
}

/// START-036: whoever begins MPA has read what came before. Otherwise nothing is begun, and nothing
/// is lost.
#[test]
fn octets_that_nobody_has_read_are_not_taken_for_a_reply() {
    let ground = Ground::new("model");
    let settings = settings(false);
    let (conn, stream) = ground.connect();
    conn.send(b"words");
    conn.wait_acknowledged();
    let pair = stream.queue_pair(&ground.end.domain, &settings, &options());
    let pair = pair.expect("there is room");
    let error = refused(pair.start(b""));
    assert!(error.to_string().contains("nobody has read"), "{error}");
    assert_eq!(conn.received(), b"", "no Request has left");
    let stream = pair.into_stream().expect("it is one");
    let mut words = [0; 5];
    assert_eq!(stream.read(&mut words, PATIENCE).expect("octets"), 5);
    assert_eq!(&words, b"words");
    let reply = start_enhanced(&KEY_REPLY, FLAG_CRC, [1, 1], b"");
    let (pair, started) = start_with(&ground, (&conn, stream), (&settings, b""), &reply);
    started.expect("a Reply");
    expect_full_operation(conn, ENHANCED_OCTETS, &pair);
    drop(pair);
    ground.expect_clean(0);
}

/// START-036, START-037: a Request that is there before the application expects it, after words
/// that it has still to read.
#[test]
fn a_request_after_unread_words_waits_for_them_to_be_read() {
    let ground = Ground::new("model");
    let (conn, stream) = ground.accept();
    let request = start_enhanced(&KEY_REQUEST, FLAG_CRC, [1, 2], b"");
    conn.send(&[b"words", &request[..]].concat());
    conn.wait_acknowledged();
    let mut words = [0; 5];
    assert_eq!(stream.read(&mut words, PATIENCE).expect("octets"), 5);
    assert_eq!(&words, b"words");
    let request = stream.request(&settings(false), b"go").expect("a Request");
    let pair = request.queue_pair(&ground.end.domain, &options());
    let pair = with_receive(&ground, pair.expect("there is room"));
    pair.accept(b"").expect("accepted");
    let spoken = conn.wait_octets(2 + ENHANCED_OCTETS);
    assert_eq!(spoken[..18], [b"go", &KEY_REPLY[..]].concat());
    expect_full_operation(conn, spoken.len(), &pair);
    drop(pair);
    ground.expect_clean(0);
}

/// START-039: the initiator's acknowledgement of the Reply is lost, and the Reply comes again when
/// the device receives already: it is acknowledged, and nothing of it is delivered.
#[test]
fn a_reply_that_comes_again_after_the_switch_is_acknowledged_and_dropped() {
    let ground = Ground::new("model");
    let (conn, stream) = ground.connect();
    let port = conn.own_port();
    let reply = start_enhanced(&KEY_REPLY, FLAG_CRC, [1, 1], b"");
    let (pair, started) = start_with(&ground, (&conn, stream), (&settings(false), b""), &reply);
    started.expect("a Reply");
    conn.wait_acknowledged();
    let frame = ground.stranger.last_sent(port);
    let again = Segment::read(&frame).expect("a segment");
    assert_eq!(again.payload, reply);
    let mark = ground.stranger.mark();
    ground.stranger.inject(frame);
    let end = again.seq.wrapping_add(reply.len() as u32);
    let is_answer = |segment: &Segment| segment.to.port() == port && segment.ack == Some(end);
    ground.stranger.wait_segment(mark, is_answer);
    expect_full_operation(conn, ENHANCED_OCTETS, &pair);
    let more = pair.poll_completion().expect("it is there");
    assert!(more.is_none(), "{more:?}");
    drop(pair);
    ground.expect_clean(0);
}

/// START-040, START-045: a Reply that is lost is sent again by whoever sends for the device, which
/// receives already: the first FPDU is delivered as soon as it comes.
#[test]
fn a_reply_that_is_lost_is_sent_again_while_the_device_receives() {
    // Once is enough: the peer has a second or more to acknowledge it.
    let ground = Ground::with("model", |tcp| {
        let set = tcp.time_outs.set(TimeOut::RtoMin, 1_000_000);
        set.expect("in range");
    });
    let (conn, stream) = ground.accept();
    conn.send(&start_enhanced(&KEY_REQUEST, FLAG_CRC, [1, 2], b""));
    let request = stream.request(&settings(false), b"").expect("a Request");
    let pair = request.queue_pair(&ground.end.domain, &options());
    let pair = with_receive(&ground, pair.expect("there is room"));
    ground.stranger.set_faults(Faults {
        unheard: vec![1],
        ..Faults::default()
    });
    pair.accept(b"welcome").expect("accepted");
    let reply = conn.wait_octets(ENHANCED_OCTETS + 7);
    assert_eq!(reply[ENHANCED_OCTETS..], *b"welcome");
    let sent = pair.statistics().expect("it is there").sent;
    assert_eq!(sent.retransmitted_segments, 1, "{sent:?}");
    expect_full_operation(conn, reply.len(), &pair);
    drop(pair);
    ground.expect_clean(0);
}

/// START-046: the application rejects and closes at once, or lets go: the peer has the Reply whole,
/// then a FIN, and no RST.
#[test]
fn a_rejection_arrives_before_the_end_that_follows_it() {
    let ground = Ground::new("model");
    let no = start(&KEY_REPLY, FLAG_CRC | FLAG_REJECTED, 1, &[b'n'; 500]);
    for finishes in [true, false] {
        let (conn, stream) = ground.accept();
        conn.send(&start(&KEY_REQUEST, FLAG_CRC, 1, b""));
        let request = stream.request(&settings(false), b"").expect("a Request");
        let stream = request.reject(&[b'n'; 500]).expect("it waits");
        if finishes {
            stream.finish().expect("it is open");
        }
        drop(stream);
        assert_eq!(conn.wait_end(), EndOfPeer::Fin);
        assert_eq!(conn.received(), no);
        conn.close();
        drop(conn);
        ground.expect_clean(0);
    }
}

/// MPA2-005, MPA2-010: each kind of ready-to-receive message is the first FPDU, before a Send that
/// was posted as soon as that could be, and completes nothing.
#[test]
fn the_ready_to_receive_message_is_first_and_completes_nothing() {
    let ground = Ground::new("model");
    for (kind, words, opcode) in [
        (Rtr::Fpdu, [PEER_TO_PEER | 0x4001, 1], None),
        (Rtr::Write, [PEER_TO_PEER | 1, 0x8001], Some(ddp::WRITE)),
        (
            Rtr::Read,
            [PEER_TO_PEER | 1, 0x4001],
            Some(ddp::READ_REQUEST),
        ),
    ] {
        let settings = Settings {
            peer_to_peer: true,
            rtr: RtrKinds::only(kind),
            ..settings(false)
        };
        let (conn, stream) = ground.connect();
        let reply = start_enhanced(&KEY_REPLY, FLAG_CRC, words, b"");
        let (pair, started) = start_with(&ground, (&conn, stream), (&settings, b""), &reply);
        started.expect("a Reply");
        let mut memory = ground.end.context.allocate(4).expect("memory");
        memory.write(0, b"work").expect("it fits");
        let payload = [memory.part(0..4).expect("all of it")];
        pair.post_send(7, &SendOperation::send(&payload))
            .expect("posted");
        let talk = Talk::new(conn, ENHANCED_OCTETS, [false, false]);
        let heard = talk.wait_heard(2);
        let first = (!heard[0].is_empty()).then(|| ddp::opcode(&heard[0]));
        assert_eq!(first, opcode, "{kind:?}");
        assert_eq!(ddp::opcode(&heard[1]), ddp::SEND, "{kind:?}");
        let done = completion(&pair);
        assert_eq!((done.id, done.status), (7, Status::Success));
        let more = pair.poll_completion().expect("it is there");
        assert!(more.is_none(), "{more:?}");
        drop(pair);
        drop(talk);
        ground.expect_clean(0);
    }
}
