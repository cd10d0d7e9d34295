//! Cases played at a target of this test, which is right, or wrong in one way: each verdict comes
//! out, and for the reason that is there.
//!
//! ```text
//!  Player, Stranger <--a pair of sockets--> Stranger: the target, as rping -s, and one Flaw
//! ```

use rnic_peer::ddp::{self, ReadRequest};
use rnic_peer::mpa::{self, start_enhanced, FLAG_CRC, FLAG_REJECTED, KEY_REPLY};
use rnic_peer::script::{embedded, Case, Played, Player, Targets, Verdict};
use rnic_peer::{Conn, Identity, Stranger, Talk};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::time::Duration;

const PORT: u16 = 7174;
const OWN: [u8; 4] = [10, 0, 0, 9];
const TARGET: [u8; 4] = [10, 0, 0, 1];
/// How long the target waits for the peer.
const LONG: Duration = Duration::from_secs(20);

/// What is wrong with the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    /// It goes on after a wrong CRC.
    TakesAll,
    /// Its Terminate names another code.
    OtherCode,
    /// Its control word is that of little-endian bit fields.
    Swapped,
    /// It says nothing more, and does not end.
    Hangs,
    /// Its Terminate has no end after it.
    NoEnd,
    /// It sends after its Terminate.
    GoesOnTalking,
    /// It closes without a Terminate.
    Mute,
    /// What it sends has wrong CRCs.
    BadCrc,
    /// It rejects.
    Rejects,
    /// It asks to read something else than what was announced to it.
    ReadsElsewhere,
}

/// The end of the target's that answers one connection.
fn serve(target: &Stranger, flaw: Flaw) {
    let conn = target.listen_on(PORT);
    if conn.connected_within(LONG) != Some(true) {
        return;
    }
    let octets = mpa::START_OCTETS + 4;
    let Some(request) = octets_within(&conn, octets) else {
        return finish(&conn);
    };
    // One that looks at no key replies to anything.
    if request[..16] != mpa::KEY_REQUEST && flaw != Flaw::TakesAll {
        return finish(&conn);
    }
    let rejected = if flaw == Flaw::Rejects {
        FLAG_REJECTED
    } else {
        0
    };
    conn.send(&start_enhanced(
        &KEY_REPLY,
        FLAG_CRC | rejected,
        [1, 1],
        b"",
    ));
    let mut talk = Talk::new(conn, octets, [false, false]);
    let Some(record) = ulpdu_within(&talk, 0) else {
        return finish(&talk.conn);
    };
    let request = read_request(&record, flaw).ulpdu(1);
    match flaw {
        Flaw::BadCrc => _ = talk.spoil(&request, |fpdu| fpdu.flip(10, 1)),
        _ => _ = talk.say(&request),
    }
    match (ulpdu_within(&talk, 1), flaw) {
        (Some(_), _) | (None, Flaw::TakesAll) => _ = talk.say(&ddp::send(1, &[0; 16])),
        (None, flaw) => refuse(&mut talk, flaw),
    }
    finish(&talk.conn);
}

/// What the record of the peer's leads to.
fn read_request(record: &[u8], flaw: Flaw) -> ReadRequest {
    let field = |at: usize| &record[ddp::UNTAGGED_OCTETS + at..];
    let word = |at| u32::from_be_bytes(field(at)[..4].try_into().expect("four"));
    let elsewhere = u64::from(flaw == Flaw::ReadsElsewhere);
    ReadRequest {
        sink_stag: 0x77,
        sink_to: 0x100,
        octets: word(12),
        source_stag: word(8),
        source_to: u64::from_be_bytes(field(0)[..8].try_into().expect("eight")) + elsewhere,
    }
}

/// The answer to an FPDU with a wrong CRC.
fn refuse(talk: &mut Talk, flaw: Flaw) {
    let control = match flaw {
        Flaw::OtherCode => [0x20, 3, 0, 0],
        Flaw::Swapped => [0x02, 2, 0, 0],
        _ => [0x20, 2, 0, 0],
    };
    if !matches!(flaw, Flaw::Hangs | Flaw::Mute) {
        let header = ddp::untagged(ddp::TERMINATE, 2, 1, 0);
        talk.say(&[&header[..], &control].concat());
    }
    if flaw == Flaw::GoesOnTalking {
        talk.say(&ddp::send(1, &[0; 16]));
    }
    if matches!(flaw, Flaw::Hangs | Flaw::NoEnd) {
        let _ = talk.conn.end_within(LONG);
    }
}

fn finish(conn: &Conn) {
    conn.close();
    let _ = conn.end_within(LONG);
}

fn octets_within(conn: &Conn, count: usize) -> Option<Vec<u8>> {
    for _ in 0..LONG.as_millis() {
        let received = conn.received();
        if received.len() >= count {
            return Some(received);
        }
        if conn.end_within(Duration::from_millis(1)).is_some() {
            return None;
        }
    }
    None
}

/// The ULPDU of this number; `None`: it has a fault, or the peer has ended.
fn ulpdu_within(talk: &Talk, at: usize) -> Option<Vec<u8>> {
    let found = talk.within(LONG, |stream, end| {
        let is_over = stream.fault.is_some() || end.is_some();
        match stream.ulpdus.get(at) {
            Some(ulpdu) => Some(Some(ulpdu.clone())),
            None => is_over.then_some(None),
        }
    });
    found.flatten()
}

fn case(name: &str) -> Case {
    let mut all = embedded().into_iter();
    let found = all.find(|case| case.name == name);
    found.unwrap_or_else(|| panic!("there is no {name}"))
}

fn end(wire: UnixStream, address: [u8; 4], last: u8) -> Stranger {
    let identity = Identity {
        mac: [2, 0, 0, 0, 0, last],
        ..Identity::new(IpAddr::from(address), 24)
    };
    Stranger::begin(wire, identity).expect("a socket")
}

/// Play a case at a target with this flaw; `None`: there is no target at all.
fn play(name: &str, flaw: Option<Flaw>) -> Played {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let stranger = end(ours, OWN, 9);
    let target = end(theirs, TARGET, 1);
    let mut player = Player {
        stranger: &stranger,
        targets: Targets {
            plain: Some(SocketAddr::new(IpAddr::from(TARGET), PORT)),
            ..Targets::default()
        },
        patience: Duration::from_millis(1_500),
        arrival: Duration::from_secs(5),
        tries: 2,
        is_deserted: false,
    };
    std::thread::scope(|scope| {
        if let Some(flaw) = flaw {
            let target = &target;
            scope.spawn(move || serve(target, flaw));
            // It listens before the peer comes, or the peer comes again.
        }
        player.play(&case(name))
    })
}

/// A target that is right, and one that is wrong in each of these ways.
#[test]
fn what_is_wrong_with_a_target_is_reported() {
    let differs = |played: &Played| match &played.verdict {
        Verdict::Differs(what) => what.clone(),
        other => panic!("{other:?}: {}", played.found),
    };
    for (name, flaw) in [
        ("crc-payload", Flaw::None),
        ("request-key-first", Flaw::None),
        ("request-19-fin", Flaw::None),
        ("reserved", Flaw::None),
    ] {
        let played = play(name, Some(flaw));
        assert_eq!(
            played.verdict,
            Verdict::AsAsked(None),
            "{name}: {}",
            played.found
        );
    }
    for (name, flaw, word) in [
        ("crc-payload", Flaw::OtherCode, "not what the standard asks"),
        ("crc-payload", Flaw::TakesAll, "not what the standard asks"),
        ("crc-payload", Flaw::NoEnd, "no end follows"),
        ("crc-payload", Flaw::Mute, "not what the standard asks"),
        (
            "crc-payload",
            Flaw::GoesOnTalking,
            "octets follow its Terminate",
        ),
        (
            "request-key-first",
            Flaw::TakesAll,
            "not what the standard asks",
        ),
        ("reserved", Flaw::BadCrc, "CRC32C of the FPDU"),
        ("reserved", Flaw::ReadsElsewhere, "not of what was offered"),
        (
            "request-revision-1",
            Flaw::Rejects,
            "not what the standard asks",
        ),
    ] {
        let what = differs(&play(name, Some(flaw)));
        assert!(what.contains(word), "{name}, {flaw:?}: {what}");
    }
}

/// RFC 5040's control word and that of little-endian bit fields are told apart.
#[test]
fn a_control_word_of_bit_fields_is_recognised() {
    let played = play("crc-payload", Some(Flaw::Swapped));
    assert!(matches!(played.verdict, Verdict::Differs(_)), "{played:?}");
}

/// Nobody, a target that fails before the case begins, and one that is silent where a receiver may
/// be: none of them is right or wrong.
#[test]
fn what_cannot_be_judged_is_reported() {
    for (name, flaw, word) in [
        ("crc-payload", None, "10.0.0.1:7174"),
        ("crc-payload", Some(Flaw::Hangs), "MPA-aware"),
        (
            "crc-payload",
            Some(Flaw::Rejects),
            "before the case's own steps",
        ),
        (
            "crc-payload",
            Some(Flaw::BadCrc),
            "before the case's own steps",
        ),
        ("marker-ping", Some(Flaw::None), "does not ask for markers"),
    ] {
        let played = play(name, flaw);
        let Verdict::CannotTell(why) = &played.verdict else {
            panic!("{name}, {flaw:?}: {played:?}");
        };
        assert!(why.contains(word), "{name}, {flaw:?}: {why}");
    }
}
