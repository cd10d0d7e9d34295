//! What the crate says of a header, against what the slow parser has found. Nothing here allocates
//! unless a difference is to be reported.
use crate::slow::{Fields, Parsed, Range};
use rpcrdma::binding::rpc::CallHeader;
use rpcrdma::binding::{nfs3, nfs4};
use rpcrdma::stream::Reader;
use rpcrdma::wire::{self, Caps, ErrorBody, Form, Header, HeaderWriter, Kind, Segment};

fn range(segment: Segment) -> Range {
    (segment.handle, segment.length, segment.offset)
}

/// `true` if `octets` are what the slow parser says that they are.
pub fn compare(
    octets: &[u8],
    caps: &Caps,
    expected: &Parsed,
    buffer: &mut Vec<u8>,
) -> Result<(), String> {
    match (Header::parse(octets, caps), expected.refused()) {
        (Err(refused), Some(fault)) if refused == fault => Ok(()),
        (Ok(header), None) => {
            same(&header, octets, &expected.fields)
                .and_then(|()| written(&header, octets, buffer))
                .map_err(|what| format!("{what}: {header:?}, not {expected:?}"))?;
            read(&header);
            Ok(())
        }
        (found, _) => Err(format!("{found:?}, not {expected:?}")),
    }
}

fn same(header: &Header<'_>, octets: &[u8], fields: &Fields) -> Result<(), &'static str> {
    let check = |what, same: bool| if same { Ok(()) } else { Err(what) };
    check(
        "XID",
        header.xid() == fields.xid && wire::xid(octets) == Some(fields.xid),
    )?;
    check("credits", header.credits() == fields.credits)?;
    check("kind", kind(header.kind(), fields.kind, &fields.extra))?;
    let reads = header
        .reads()
        .map(|read| (read.position, range(read.segment)));
    check("read list", reads.eq(fields.reads.iter().copied()))?;
    let mut chunks = header.writes();
    let writes = fields.writes.iter().all(|expected| {
        let chunk = chunks.next();
        chunk.is_some_and(|chunk| {
            chunk.count() == expected.len()
                && chunk.segments().map(range).eq(expected.iter().copied())
        })
    });
    check("write list", writes && chunks.next().is_none())?;
    let reply = match (header.reply(), &fields.reply) {
        (None, None) => true,
        (Some(chunk), Some(ranges)) => {
            chunk.segments().map(range).eq(ranges.iter().copied())
                && chunk.octets() == ranges.iter().map(|range| u64::from(range.1)).sum::<u64>()
        }
        _ => false,
    };
    check("reply chunk", reply)?;
    check("octets", header.octets() == fields.header_octets)?;
    check("body", header.body() == fields.body)?;
    check("handle", header.single_handle() == fields.handle)?;
    check("call", header.check_call().err() == fields.no_call)
}

fn kind(kind: Kind, number: u32, extra: &[u32]) -> bool {
    match (kind, number, extra) {
        (Kind::Msg, 0, []) | (Kind::Nomsg, 1, []) | (Kind::Done, 3, []) => true,
        (Kind::Msgp(padding), 2, [align, threshold]) => {
            (padding.align, padding.threshold) == (*align, *threshold)
        }
        (Kind::Error(ErrorBody::Versions { low, high }), 4, [1, other @ ..]) => {
            other == [low, high]
        }
        (Kind::Error(ErrorBody::Chunk), 4, [2]) => true,
        (Kind::Error(ErrorBody::Other { code, words }), 4, [other, rest @ ..]) => {
            code == *other && ![1, 2].contains(&code) && rest == words
        }
        _ => false,
    }
}

/// Writes what was read, in place of what `buffer` holds.
fn written(header: &Header<'_>, octets: &[u8], buffer: &mut Vec<u8>) -> Result<(), &'static str> {
    let (xid, credits) = (header.xid(), header.credits());
    let form = match header.kind() {
        Kind::Msg => Some(Form::Msg),
        Kind::Nomsg => Some(Form::Nomsg),
        Kind::Msgp(padding) => Some(Form::Msgp(padding)),
        Kind::Done => {
            wire::write_done(buffer, xid, credits);
            None
        }
        Kind::Error(error) => {
            wire::write_error(buffer, xid, credits, error);
            None
        }
    };
    if let Some(form) = form {
        let mut writer = HeaderWriter::new(buffer, xid, credits, form);
        header.reads().for_each(|read| writer.read(read));
        let mut writer = writer.writes();
        header
            .writes()
            .for_each(|chunk| writer.chunk(chunk.segments()));
        match header.reply() {
            Some(chunk) => writer.reply(chunk.segments()),
            None => writer.end(),
        };
    }
    let same = octets.get(..header.octets()) == Some(buffer.as_slice());
    same.then_some(()).ok_or("written octets")
}

/// Reads the body as a call, and then as items, of which nothing is expected but that it ends.
fn read(header: &Header<'_>) {
    let mut reader = Reader::of_send(header, None);
    let Ok(call) = CallHeader::read(&mut reader) else {
        return;
    };
    for program in [nfs3::PROGRAM, nfs4::PROGRAM] {
        let checked = program.check_chunks(header, &call, header.body());
        std::hint::black_box(checked.is_ok());
    }
    while reader.remaining() > 0 {
        if std::hint::black_box(reader.opaque(1 << 16)).is_err() {
            break;
        }
    }
}
