//! Chunks of calls against what their programs let be chunks.
use crate::binding::auth::{flavor, Credential};
use crate::binding::rpc::CallHeader;
use crate::binding::{nfs3, nfs4, Program};
use crate::wire::{Caps, Form, Header, HeaderWriter, ReadSegment, Refused, Segment};

/// A call of ten words and `words` of arguments, the last of them `count`, with read chunks of
/// these positions and lengths.
fn check_of(
    program: &Program<'_>,
    procedure: u32,
    credential: Credential<'_>,
    (words, count): (usize, u32),
    reads: &[(u32, u32)],
) -> Result<(), Refused> {
    let mut send = Vec::new();
    let mut writer = HeaderWriter::new(&mut send, 0, 1, Form::Msg);
    for (position, length) in reads {
        let segment = Segment {
            handle: 1,
            length: *length,
            offset: 0,
        };
        writer.read(ReadSegment {
            position: *position,
            segment,
        });
    }
    let header_octets = writer.end();
    send.resize(header_octets + 40 + 4 * words - 4, 0);
    send.extend_from_slice(&count.to_be_bytes());
    let header = Header::parse(&send, &Caps::default()).expect("a header");
    let (number, version) = (program.number, program.version);
    let call = CallHeader {
        xid: 0,
        program: number,
        version,
        procedure,
        credential,
    };
    program.check_chunks(&header, &call, header.body())
}

fn check(procedure: u32, arguments: (usize, u32), reads: &[(u32, u32)]) -> Result<(), Refused> {
    check_of(
        &nfs3::PROGRAM,
        procedure,
        Credential::None,
        arguments,
        reads,
    )
}

use nfs3::procedure::{READ, READLINK, SYMLINK, WRITE};

/// RPC-007: a procedure without items has no chunks.
#[test]
fn calls_without_items_have_no_chunks() {
    for procedure in 0..22 {
        assert_eq!(check(procedure, (4, 5), &[]), Ok(()));
        let chunk = check(procedure, (4, 5), &[(56, 5)]);
        let expected = if [WRITE, SYMLINK].contains(&procedure) {
            Ok(())
        } else {
            Err(Refused::NotEligible)
        };
        assert_eq!(chunk, expected, "{procedure}");
    }
    assert_eq!(
        check(22, (4, 5), &[]),
        Ok(()),
        "the program says that there is none"
    );
    assert_eq!(check(22, (4, 5), &[(56, 5)]), Err(Refused::NotEligible));
    assert_ne!((READ, READLINK), (WRITE, SYMLINK));
}

/// RPC-008, RPC-009: the only item is the last field, and its length is the count.
#[test]
fn the_last_item_has_the_position_and_length_of_the_last_field() {
    let write = |reads: &[(u32, u32)]| check(WRITE, (4, 5), reads);
    assert_eq!(write(&[(56, 5)]), Ok(()));
    assert_eq!(write(&[(56, 8)]), Ok(()));
    for length in [0, 4, 6, 7, 9] {
        assert_eq!(write(&[(56, length)]), Err(Refused::ItemLength), "{length}");
    }
    assert_eq!(write(&[(56, 3), (56, 2)]), Ok(()));
    assert_eq!(write(&[(56, 3), (56, 5)]), Ok(()));
    assert_eq!(write(&[(56, 3), (56, 3)]), Err(Refused::ItemLength));
    assert_eq!(write(&[(52, 5)]), Err(Refused::NotEligible));
    assert_eq!(write(&[(52, 4), (56, 5)]), Err(Refused::NotEligible));
    assert_eq!(write(&[(56, 5), (64, 5)]), Err(Refused::NotEligible));
    // The header of a call and a count are before any item.
    assert_eq!(check(WRITE, (1, 5), &[(44, 5)]), Ok(()));
    assert_eq!(check(WRITE, (0, 5), &[(40, 5)]), Err(Refused::NotEligible));
}

/// RPC-007: a compound has some items, after the header of the call.
#[test]
fn compounds_have_as_many_items_as_their_table_says() {
    let compound =
        |reads: &[(u32, u32)]| check_of(&nfs4::PROGRAM, 1, Credential::None, (200, 0), reads);
    let chunks: Vec<(u32, u32)> = (0..17).map(|chunk| (44 + 8 * chunk, 5)).collect();
    assert_eq!(compound(&chunks[..16]), Ok(()));
    assert_eq!(compound(&chunks), Err(Refused::NotEligible));
    let segments = [[(44, 1); 15].as_slice(), &chunks[2..16]].concat();
    assert_eq!(compound(&segments), Ok(()), "segments are no items");
    assert_eq!(compound(&[(40, 5)]), Err(Refused::NotEligible));
    assert_eq!(compound(&[(44, 5)]), Ok(()));
}

/// RPC-057, RFC 5666, 11: arguments that are protected are in the stream as a whole.
#[test]
fn protected_arguments_have_no_chunks() {
    let integrity = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 2];
    let gss = Credential::Other {
        flavor: flavor::GSS,
        body: &integrity,
    };
    let protected = |reads: &[(u32, u32)]| check_of(&nfs3::PROGRAM, WRITE, gss, (4, 5), reads);
    assert_eq!(protected(&[]), Ok(()));
    assert_eq!(protected(&[(56, 5)]), Err(Refused::Protected));

    let call = CallHeader {
        xid: 0,
        program: 100_003,
        version: 3,
        procedure: READ,
        credential: gss,
    };
    let with = |writes: usize, reply: bool| {
        let (mut send, segment) = (
            Vec::new(),
            Segment {
                handle: 1,
                length: 9,
                offset: 0,
            },
        );
        let mut writer = HeaderWriter::new(&mut send, 0, 1, Form::Nomsg);
        writer.read(ReadSegment {
            position: 0,
            segment,
        });
        let mut writer = writer.writes();
        (0..writes).for_each(|_| writer.chunk([segment]));
        match reply {
            true => writer.reply([segment]),
            false => writer.end(),
        };
        let header = Header::parse(&send, &Caps::default()).expect("a header");
        nfs3::PROGRAM.check_chunks(&header, &call, &[0; 9])
    };
    assert_eq!((with(0, false), with(0, true)), (Ok(()), Ok(())));
    assert_eq!(with(1, false), Err(Refused::Protected));
}
