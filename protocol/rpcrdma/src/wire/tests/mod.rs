//! Unit tests of headers.
mod golden;
mod refused;
mod lines;
mod lists;
pub mod vectors;

use super::{write_done, write_error, Form, Header, HeaderWriter, Kind};

/// The octets of a header and its body, written again.
fn written(header: &Header<'_>) -> Vec<u8> {
    // What an older message has left must not show.
    let mut buffer = vec![0xa5; 100];
    let form = match header.kind() {
        Kind::Msg => Form::Msg,
        Kind::Nomsg => Form::Nomsg,
        Kind::Msgp(padding) => Form::Msgp(padding),
        Kind::Done => {
            write_done(&mut buffer, header.xid(), header.credits());
            return buffer;
        }
        Kind::Error(error) => {
            write_error(&mut buffer, header.xid(), header.credits(), error);
            return buffer;
        }
    };
    let mut writer = HeaderWriter::new(&mut buffer, header.xid(), header.credits(), form);
    header.reads().for_each(|read| writer.read(read));
    let mut writer = writer.writes();
    for chunk in header.writes() {
        writer.chunk(chunk.segments());
    }
    let octets = match header.reply() {
        Some(chunk) => writer.reply(chunk.segments()),
        None => writer.end(),
    };
    assert_eq!(octets, header.octets());
    buffer.extend_from_slice(header.body());
    buffer
}
