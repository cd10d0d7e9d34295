//! The same service over TCP: what was copied over RDMA is read there, call by call.

use crate::programs::{random, Running, Wire, NFS_COPY};
use rnic_examples::nfs::{
    mount, procedure, read_post_attributes, read_record, read_wcc, write_record, Handle, Status,
    MOUNT, NFS, VERSION,
};
use rpcrdma::binding::auth::Credential;
use rpcrdma::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus};
use rpcrdma::stream::{Message, Reader};
use std::fs;
use std::io::Read;
use std::net::TcpStream;

struct Tcp {
    stream: TcpStream,
    xid: u32,
}

impl Tcp {
    /// Make a call with an XID; the whole reply.
    fn send(&mut self, xid: u32, (program, number): (u32, u32), arguments: &Message) -> Vec<u8> {
        let mut message = Message::new();
        let header = CallHeader {
            xid,
            program,
            version: VERSION,
            procedure: number,
            credential: Credential::None,
        };
        header.write(&mut message).expect("short");
        let mut record = [&[0; 4], message.inline(), arguments.inline()].concat();
        write_record(&mut self.stream, &mut record).expect("it is open");
        let is_reply = read_record(&mut self.stream, &mut record, 1 << 20);
        assert!(is_reply.expect("it is open"));
        record
    }

    /// Make a call; the results after the header of its reply.
    fn call(&mut self, what: (u32, u32), arguments: &Message) -> Vec<u8> {
        self.xid += 1;
        let record = self.send(self.xid, what, arguments);
        let mut reader = Reader::new(&record);
        let header = ReplyHeader::read(&mut reader).expect("a reply");
        assert_eq!(
            (header.xid, header.status),
            (self.xid, ReplyStatus::Success)
        );
        record[record.len() - reader.remaining()..].to_vec()
    }
}

/// A server that is connected to.
fn connect(wire: &Wire) -> (Running, Tcp) {
    let (server, address) = wire.server_with_tcp();
    let stream = TcpStream::connect(address).expect("it listens");
    (server, Tcp { stream, xid: 7 })
}

fn arguments(handle: &Handle, name: &str) -> Message {
    let mut message = Message::new();
    handle.write(&mut message).expect("short");
    if !name.is_empty() {
        message.opaque(name.as_bytes()).expect("short");
    }
    message
}

fn mounted(tcp: &mut Tcp) -> Handle {
    let mut path = Message::new();
    path.opaque(b"/").expect("short");
    let results = tcp.call((MOUNT, mount::MNT), &path);
    let mut reader = Reader::new(&results);
    assert_eq!(Status(reader.u32().expect("a status")), Status::OK);
    Handle::read(&mut reader).expect("a handle")
}

#[test]
fn a_file_that_came_over_rdma_is_read_over_tcp() {
    let wire = Wire::new();
    let (_server, mut tcp) = connect(&wire);
    let octets = random(300_001);
    let local = wire.path("local");
    fs::write(&local, &octets).expect("a file");
    wire.client(NFS_COPY, &["put", &local, "file"]);
    let root = mounted(&mut tcp);
    let results = tcp.call((NFS, procedure::LOOKUP), &arguments(&root, "file"));
    let mut reader = Reader::new(&results);
    assert_eq!(Status(reader.u32().expect("a status")), Status::OK);
    let file = Handle::read(&mut reader).expect("a handle");
    let mut read = Vec::new();
    loop {
        let mut message = arguments(&file, "");
        message.u64(read.len() as u64);
        message.u32(70_000);
        let results = tcp.call((NFS, procedure::READ), &message);
        let mut reader = Reader::new(&results);
        assert_eq!(Status(reader.u32().expect("a status")), Status::OK);
        read_post_attributes(&mut reader).expect("attributes");
        let (count, is_end) = (reader.u32().expect("one"), reader.u32().expect("one"));
        let data = reader.inline_opaque(70_000).expect("data");
        assert_eq!(data.len() as u32, count);
        read.extend_from_slice(data);
        reader.finish().expect("nothing else");
        if is_end == 1 {
            break;
        }
    }
    assert!(read == octets);
}

/// RPC-054: A call that comes again has the reply that it had, and is not done again.
#[test]
fn a_call_that_comes_again_is_not_done_again() {
    let wire = Wire::new();
    let (_server, mut tcp) = connect(&wire);
    let root = mounted(&mut tcp);
    let mut make = arguments(&root, "directory");
    // No attributes.
    make.fixed(&[0; 24]);
    let first = tcp.send(500, (NFS, procedure::MKDIR), &make);
    assert_eq!(tcp.send(500, (NFS, procedure::MKDIR), &make), first);
    let other = tcp.call((NFS, procedure::MKDIR), &make);
    let mut reader = Reader::new(&other);
    assert_eq!(Status(reader.u32().expect("a status")), Status::EXIST);
    read_wcc(&mut reader).expect("attributes");
    reader.finish().expect("nothing else");
}

/// Every procedure with arguments that end too early, go on too long, or are random words: each
/// call has its answer, and the server goes on.
#[test]
fn arguments_that_make_no_sense_are_answered() {
    let wire = Wire::new();
    let (_server, mut tcp) = connect(&wire);
    let root = mounted(&mut tcp);
    let mut state = 1_u32;
    let mut random = |below: u32| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state >> 8) % below
    };
    let known = tcp.call((NFS, procedure::GETATTR), &arguments(&root, ""));
    let mut refused = 0;
    for number in 1..=procedure::COMMIT + 1 {
        for words in 0..60 {
            let mut message = Message::new();
            if words % 3 > 0 {
                root.write(&mut message).expect("short");
            }
            // Small words are counts that could be, and choices that there are.
            (0..words).for_each(|_| message.u32(random(1 << (1 + words % 31))));
            tcp.xid += 1;
            let record = tcp.send(tcp.xid, (NFS, number), &message);
            let header = ReplyHeader::read(&mut Reader::new(&record)).expect("a reply");
            match header.status {
                ReplyStatus::Success => {}
                ReplyStatus::GarbageArguments => refused += 1,
                status => assert_eq!(
                    (status, number),
                    (ReplyStatus::ProcedureUnavailable, procedure::COMMIT + 1)
                ),
            }
        }
    }
    assert!(refused > 600, "{refused}");
    let results = tcp.call((NFS, procedure::GETATTR), &arguments(&root, ""));
    assert_eq!(results.len(), known.len());
}

/// The root's handle is good without MOUNT, until the server starts again.
#[test]
fn a_handle_is_given_by_hand() {
    let wire = Wire::new();
    let (_server, mut tcp) = connect(&wire);
    let root = mounted(&mut tcp);
    let digits: String = root
        .octets()
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect();
    let list = wire.client(NFS_COPY, &["--handle", &digits, "list"]);
    assert_eq!(list.lines().count(), 2, "{list}");
    let other = digits.replacen(|digit| digit != '0', "0", 1);
    let errors = wire.refused(NFS_COPY, &["--handle", &other, "list"]);
    assert!(errors.contains("NFS3ERR_STALE"), "{errors}");
}

/// A record above every call's length ends its connection, and no other one.
#[test]
fn a_record_that_is_too_long_ends_its_connection() {
    let wire = Wire::new();
    let (_server, mut tcp) = connect(&wire);
    let mut other = Tcp {
        stream: TcpStream::connect(tcp.stream.peer_addr().expect("open")).expect("it listens"),
        xid: 7,
    };
    std::io::Write::write_all(&mut tcp.stream, &[0xff; 4]).expect("it is open");
    assert_eq!(tcp.stream.read(&mut [0]).unwrap_or(0), 0);
    mounted(&mut other);
}
