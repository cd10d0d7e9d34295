//! The server of the program.

use crate::program::{pattern, CALL_BACK, GET, LIST, NULL, PATTERN_OCTETS, REFUSED, TELL, TEST};
use rnic_rpcrdma::{ClientId, Memories, Served as News, Server};
use rpcrdma::binding::auth::Credential;
use rpcrdma::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus, REPLY_HEADER_OCTETS};
use rpcrdma::place::Place;
use rpcrdma::stream::{Message, Opaque, Reader};
use rpcrdma::{CallId, Counters, Failure, RequestId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What a server has counted of its first client, and its log of headers, of all clients.
pub type Served = (Counters, Vec<String>);

/// Answer calls until the end, when no client may be left with anything.
pub fn serve(mut server: Server, memories: &Memories, place: Place, ends: &AtomicBool) -> Served {
    let octets = pattern(0, PATTERN_OCTETS);
    let mut served = Serving {
        memories,
        place,
        octets: &octets,
        called: HashMap::new(),
    };
    loop {
        match server.poll().expect("the device is there") {
            Some(News::Call(client, call)) => served.answer(&mut server, client, call),
            Some(News::Replied(client, reverse)) => {
                served.answered(&mut server, client, reverse);
            }
            Some(News::Failed(client, reverse, failure)) => {
                served.refused(&mut server, client, reverse, failure);
            }
            Some(_) => {}
            None if ends.load(Ordering::Acquire) && server.connected() == 0 => break,
            None => server.wait(Duration::from_millis(20)).expect("it waits"),
        }
    }
    assert_eq!(server.pool().octets_in_use(), 0);
    let first = server.machine(ClientId(0));
    let counters = first.map_or_else(Counters::default, |machine| *machine.counters());
    let mut headers = Vec::new();
    for number in 0.. {
        let Some(machine) = server.machine_mut(ClientId(number)) else {
            break;
        };
        headers.extend(std::iter::from_fn(|| machine.logged()));
    }
    (counters, headers)
}

/// A call of CALL_BACK: its number, XID, offset and length.
type CalledBack = (RequestId, u32, u32, u32);

/// The program at the server.
struct Serving<'a> {
    memories: &'a Memories,
    place: Place,
    octets: &'a [u8],
    /// By reverse call.
    called: HashMap<CallId, CalledBack>,
}

impl Serving<'_> {
    fn answer(&mut self, server: &mut Server, client: ClientId, call: RequestId) {
        let mut message = Message::new();
        let request = server.request(client, call).expect("it is open");
        let mut reader = request.reader();
        let header = CallHeader::read(&mut reader).expect("a call");
        let status = ReplyStatus::Success;
        let xid = header.xid;
        ReplyHeader { xid, status }.write(&mut message);
        if header.procedure != NULL {
            let (offset, length) = (reader.u32().expect("one"), reader.u32().expect("one"));
            if header.procedure == CALL_BACK {
                let called = (call, xid, offset, length);
                return self.call_back(server, client, called);
            }
            self.results(
                &mut reader,
                (header.procedure, offset, length),
                &mut message,
            );
        }
        reader.finish().expect("nothing else");
        server.respond(client, call, &mut message);
    }

    /// Read the rest of the arguments, and append the results.
    fn results(
        &self,
        reader: &mut Reader<'_>,
        (procedure, offset, length): (u32, u32, u32),
        message: &mut Message,
    ) {
        let expected = &self.octets[offset as usize..][..length as usize];
        match procedure {
            GET => {
                let at = Place {
                    offset: offset.into(),
                    length,
                    ..self.place
                };
                message.item(at).expect("one item");
            }
            LIST => message.opaque(expected).expect("short"),
            _ => {
                let octets = match reader.opaque(PATTERN_OCTETS).expect("the item") {
                    Opaque::Inline { octets, .. } => octets.to_vec(),
                    Opaque::Chunk(at) => {
                        let mut octets = vec![0; at.length as usize];
                        self.memories.load(at, &mut octets).expect("inside");
                        octets
                    }
                };
                assert!(octets == expected, "{procedure} {offset} {length}");
                message.u32(length);
            }
        }
    }

    fn call_back(&mut self, server: &mut Server, client: ClientId, called: CalledBack) {
        let (_, _, offset, length) = called;
        let mut message = Message::new();
        let header = CallHeader {
            xid: server.next_xid(client),
            program: TEST.number,
            version: 1,
            procedure: TELL,
            credential: Credential::None,
        };
        header.write(&mut message).expect("short");
        let octets = &self.octets[offset as usize..][..length as usize];
        message.opaque(octets).expect("short");
        let reply_octets_max = REPLY_HEADER_OCTETS + 4 + length.next_multiple_of(4);
        let reverse = server.call(client, &mut message, reply_octets_max);
        self.called.insert(reverse.expect("room"), called);
    }

    /// The client has answered: then its own call is.
    fn answered(&mut self, server: &mut Server, client: ClientId, reverse: CallId) {
        let (call, xid, offset, length) = self.called.remove(&reverse).expect("it was made");
        let reply = server.reply(client, reverse).expect("it was reported");
        let mut reader = reply.reader();
        ReplyHeader::read(&mut reader).expect("a reply");
        let expected = &self.octets[offset as usize..][..length as usize];
        assert!(reader.inline_opaque(u32::MAX).expect("octets") == expected);
        reader.finish().expect("nothing else");
        server.release(client, reverse);
        reply_with(server, client, (call, xid), length);
    }

    /// The client has refused it, or has gone.
    fn refused(
        &mut self,
        server: &mut Server,
        client: ClientId,
        reverse: CallId,
        failure: Failure,
    ) {
        let (call, xid, ..) = self.called.remove(&reverse).expect("it was made");
        assert!(matches!(failure, Failure::Chunk | Failure::Attempts));
        server.release(client, reverse);
        reply_with(server, client, (call, xid), REFUSED);
    }
}

/// Answer a call of CALL_BACK.
fn reply_with(server: &mut Server, client: ClientId, (call, xid): (RequestId, u32), word: u32) {
    let mut message = Message::new();
    let status = ReplyStatus::Success;
    ReplyHeader { xid, status }.write(&mut message);
    message.u32(word);
    server.respond(client, call, &mut message);
}
