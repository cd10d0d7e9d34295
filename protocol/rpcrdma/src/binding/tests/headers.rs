//! Headers of RPC.
use crate::binding::auth::{flavor, AuthSys, Credential, Groups};
use crate::binding::rpc::{CallError, CallHeader, ReplyHeader, ReplyStatus, REPLY_HEADER_OCTETS};
use crate::stream::{DecodeError, Message, Reader};

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn call(credential: Credential<'_>) -> CallHeader<'_> {
    CallHeader {
        xid: 1,
        program: 100_003,
        version: 3,
        procedure: 7,
        credential,
    }
}

#[test]
fn calls_without_a_caller_are_ten_words() {
    let mut message = Message::new();
    call(Credential::None).write(&mut message).expect("short");
    assert_eq!(
        message.inline(),
        words(&[1, 0, 2, 100_003, 3, 7, 0, 0, 0, 0])
    );
    let mut reader = Reader::new(message.inline());
    assert_eq!(CallHeader::read(&mut reader), Ok(call(Credential::None)));
    assert_eq!(reader.finish(), Ok(()));
}

#[test]
fn users_are_written_as_they_are_read() {
    let ids: Vec<u32> = (100..116).collect();
    for (machine, groups) in [
        (&b"guest"[..], &ids[..0]),
        (&b""[..], &ids[..3]),
        (&[7; 255], &ids),
    ] {
        let groups = Groups::new(groups);
        let user = AuthSys {
            stamp: 0x55,
            machine,
            uid: 1000,
            gid: 100,
            groups,
        };
        let mut message = Message::new();
        call(Credential::Sys(user))
            .write(&mut message)
            .expect("short");
        message.u32(0xabcd);
        let mut reader = Reader::new(message.inline());
        assert_eq!(
            CallHeader::read(&mut reader),
            Ok(call(Credential::Sys(user)))
        );
        assert_eq!(reader.u32(), Ok(0xabcd));
        assert_eq!(reader.finish(), Ok(()));
        let body = 20 + machine.len().next_multiple_of(4) + 4 * groups.ids().len();
        assert_eq!(message.inline()[28..32], words(&[body as u32]));
        assert_eq!(message.inline().len(), 24 + 8 + body + 8 + 4);
    }
    let many: Vec<u32> = (0..20).collect();
    assert_eq!(Groups::new(&many).ids(), &many[..16]);
}

#[test]
fn credentials_that_are_none_are_told_from_calls_that_are_none() {
    let read =
        |octets: &[u8]| CallHeader::read(&mut Reader::new(octets)).map(|call| call.procedure);
    let good = [1, 0, 2, 100_003, 3, 7, 0, 0, 0, 0];
    assert_eq!(read(&words(&good)), Ok(7));
    let changed = |at: usize, word: u32| {
        let mut changed = good;
        changed[at] = word;
        read(&words(&changed))
    };
    assert_eq!(changed(1, 1), Err(CallError::NoCall));
    assert_eq!(changed(2, 3), Err(CallError::RpcVersion));
    assert_eq!(changed(7, 401), Err(CallError::Credential));
    assert_eq!(changed(9, 401), Err(CallError::NoCall));
    assert_eq!(
        changed(6, flavor::SYS),
        Err(CallError::Credential),
        "a user without a body"
    );
    for end in 0..good.len() {
        let short = read(&words(&good[..end]));
        let expected = if end == 7 {
            CallError::Credential
        } else {
            CallError::NoCall
        };
        assert_eq!(short, Err(expected), "{end} words");
    }
    // A user of 17 groups, and one with a word too many.
    let user = |groups: u32, words_after: usize| {
        let mut body = vec![0, 0, 5, 6, groups];
        body.resize(5 + words_after, 0);
        let mut call = good.to_vec();
        call.splice(
            6..8,
            [flavor::SYS, 4 * body.len() as u32].into_iter().chain(body),
        );
        read(&words(&call))
    };
    assert_eq!(user(16, 16), Ok(7));
    assert_eq!(user(17, 17), Err(CallError::Credential));
    assert_eq!(user(16, 15), Err(CallError::Credential));
    assert_eq!(user(16, 17), Err(CallError::Credential));
}

/// RFC 5666, 11: a body that is protected is one item.
#[test]
fn only_gss_with_integrity_or_privacy_protects_the_body() {
    fn gss(body: &[u8]) -> Credential<'_> {
        Credential::Other {
            flavor: flavor::GSS,
            body,
        }
    }
    let services = [1, 2, 3].map(|service| words(&[1, 0, 99, service]));
    let protects = [0, 1, 2].map(|service: usize| gss(&services[service]).protects_body());
    assert_eq!(protects, [false, true, true]);
    assert!(gss(&services[0][..15]).protects_body());
    assert!(!Credential::None.protects_body());
    let other = &services[1];
    assert!(!Credential::Other {
        flavor: 5,
        body: other
    }
    .protects_body());
    let mut message = Message::new();
    call(gss(other)).write(&mut message).expect("short");
    assert_eq!(
        CallHeader::read(&mut Reader::new(message.inline())),
        Ok(call(gss(other)))
    );
    assert_eq!(gss(other).flavor(), 6);
}

#[test]
fn replies_of_every_status() {
    let cases = [
        (ReplyStatus::Success, &[1, 1, 0, 0, 0, 0][..]),
        (ReplyStatus::ProgramUnavailable, &[1, 1, 0, 0, 0, 1]),
        (
            ReplyStatus::ProgramMismatch { low: 3, high: 4 },
            &[1, 1, 0, 0, 0, 2, 3, 4],
        ),
        (ReplyStatus::ProcedureUnavailable, &[1, 1, 0, 0, 0, 3]),
        (ReplyStatus::GarbageArguments, &[1, 1, 0, 0, 0, 4]),
        (ReplyStatus::SystemError, &[1, 1, 0, 0, 0, 5]),
        (
            ReplyStatus::RpcMismatch { low: 2, high: 2 },
            &[1, 1, 1, 0, 2, 2],
        ),
        (ReplyStatus::AuthError(7), &[1, 1, 1, 1, 7]),
    ];
    for (status, expected) in cases {
        let (mut message, header) = (Message::new(), ReplyHeader { xid: 1, status });
        header.write(&mut message);
        assert_eq!(message.inline(), words(expected));
        let mut reader = Reader::new(message.inline());
        assert_eq!(ReplyHeader::read(&mut reader), Ok(header));
        assert_eq!(reader.finish(), Ok(()));
        for end in 0..expected.len() {
            let short = ReplyHeader::read(&mut Reader::new(&words(&expected[..end])));
            assert_eq!(short, Err(DecodeError::Truncated));
        }
    }
    assert_eq!(cases[0].1.len() * 4, REPLY_HEADER_OCTETS as usize);
}

#[test]
fn replies_with_numbers_without_a_meaning_are_refused() {
    let read = |octets: &[u32]| ReplyHeader::read(&mut Reader::new(&words(octets)));
    let unknown = Err(DecodeError::Unknown);
    assert_eq!(read(&[1, 0, 0, 0, 0, 0]), unknown);
    assert_eq!(read(&[1, 1, 2, 0, 0, 0]), unknown);
    assert_eq!(read(&[1, 1, 0, 0, 0, 6]), unknown);
    assert_eq!(read(&[1, 1, 1, 2, 0, 0]), unknown);
    assert_eq!(read(&[1, 1, 0, 0, 401]), Err(DecodeError::TooLong));
    // A verifier is passed over.
    assert_eq!(
        read(&[1, 1, 0, 2, 8, 5, 5, 0]).map(|reply| reply.status),
        Ok(ReplyStatus::Success)
    );
}
