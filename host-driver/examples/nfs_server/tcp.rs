//! Calls over TCP of the operating system, with record marks (RFC 5531, 11): MOUNT for Linux'
//! client, and NFS as a control when RDMA fails.

use crate::service::Outcome;
use crate::{lock, Shared};
use rnic_examples::failure::Failure;
use rnic_examples::files::Memory;
use rnic_examples::nfs::{read_record, write_record, IO_OCTETS_MAX};
use rnic_output::stdout::complain;
use rpcrdma::stream::{Message, Reader};
use std::io::{self, BufReader};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Connections at a time; further ones are closed.
const CONNECTIONS_MAX: usize = 64;
/// Octets of the longest call: a WRITE, with what is around its data.
const RECORD_OCTETS_MAX: usize = IO_OCTETS_MAX as usize + 4096;
/// How long a client may take no octet of a reply.
const PATIENCE: Duration = Duration::from_secs(60);

/// Listen at `address`, and serve on threads; the address that it got.
pub fn listen(address: SocketAddr, shared: &Shared) -> Result<SocketAddr, Failure> {
    let failed = |error| format!("--tcp {address}: {error}; is another server there?");
    let listener = TcpListener::bind(address).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    let shared = Arc::clone(shared);
    thread::spawn(move || accept(&listener, &shared));
    Ok(bound)
}

fn accept(listener: &TcpListener, shared: &Shared) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Too many files are open, say: others may be closed before long.
            thread::sleep(Duration::from_millis(100));
            continue;
        };
        if open.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
            open.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let (shared, open) = (Arc::clone(shared), Arc::clone(&open));
        thread::spawn(move || {
            if let Err((peer, error)) = serve(stream, &shared) {
                complain(&format!(
                    "{peer} over TCP: {error}; its connection is closed"
                ));
            }
            open.fetch_sub(1, Ordering::AcqRel);
        });
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> Result<(), (String, io::Error)> {
    let peer = stream.peer_addr();
    let peer = peer.map_err(|error| ("a client".to_owned(), error))?;
    answer_all(stream, peer.ip(), shared).map_err(|error| (peer.to_string(), error))
}

fn answer_all(stream: TcpStream, peer: IpAddr, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut to = stream.try_clone()?;
    let mut from = BufReader::new(stream);
    let (mut record, mut reply, mut message) = (Vec::new(), Vec::new(), Message::new());
    while read_record(&mut from, &mut record, RECORD_OCTETS_MAX)? {
        message.clear();
        let mut service = lock(shared);
        match service.call(peer, Reader::new(&record), &mut message) {
            Outcome::Reply(loan) => {
                flatten(&message, service.files().memory(), &mut reply);
                loan.into_iter().for_each(|loan| service.give_back(loan));
            }
            // There are no chunks here.
            Outcome::Refuse(_) => return Err(io::ErrorKind::InvalidData.into()),
        }
        drop(service);
        write_record(&mut to, &mut reply)?;
    }
    Ok(())
}

/// The whole stream of a message, after four octets for the mark of the record.
fn flatten(message: &Message, memory: &impl Memory, record: &mut Vec<u8>) {
    record.clear();
    record.resize(4, 0);
    let mut inline = message.inline();
    for item in message.items() {
        let before = item.position as usize + 4 - record.len();
        let (head, rest) = inline.split_at(before);
        record.extend_from_slice(head);
        inline = rest;
        let begin = record.len();
        record.resize(begin + item.place.length as usize, 0);
        memory.load(item.place, &mut record[begin..]);
        record.resize(record.len().next_multiple_of(4), 0);
    }
    record.extend_from_slice(inline);
}
