//! Sockets in the file system, and servers that are dead, slow or wrong.

use std::fs::{remove_file, write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rnic_vfio_user::protocol::{header_flags, Command, Header, RegionAccess};
use rnic_vfio_user::{Access, Client, ClientError, Errno, Server, ServerError, SessionEnd};

use crate::common::*;

#[test]
fn a_server_takes_a_stale_path_and_no_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("device");
    // A listener that is dropped leaves its file, as a process that is killed does.
    drop(UnixListener::bind(&path).expect("bound"));
    assert!(path.exists());
    let server = Server::bind(&path).expect("the path is stale");
    assert!(matches!(
        Server::bind(&path),
        Err(ServerError::InUse { .. })
    ));
    // The probe looked like a client that left.
    let mut probe = server.accept().expect("a socket").expect("a probe");
    let mut toy = Toy::new(&probe);
    assert_eq!(probe.serve_one(&mut toy), Err(SessionEnd::Closed));
    assert!(server.accept().expect("a socket").is_none());
    drop(server);
    assert!(!path.exists());
    write(&path, "a file of the user").expect("written");
    assert!(matches!(
        Server::bind(&path),
        Err(ServerError::NoSocket { .. })
    ));
    assert!(path.exists());
    let long = directory.path().join("x".repeat(200));
    assert!(matches!(Server::bind(&long), Err(ServerError::Bind { .. })));
}

#[test]
fn a_server_leaves_the_socket_of_its_successor() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("device");
    let first = Server::bind(&path).expect("bound");
    // The file is held, so that its inode is not used again.
    std::fs::hard_link(&path, directory.path().join("held")).expect("linked");
    remove_file(&path).expect("removed");
    let second = Server::bind(&path).expect("bound");
    drop(first);
    assert!(path.exists());
    drop(second);
    assert!(!path.exists());
}

/// A listener whose queue is full refuses to be probed: it is there all the same.
#[test]
fn a_busy_server_keeps_its_path() {
    use rustix::net::{bind, connect, listen, socket_with, SocketAddrUnix, SocketFlags};
    use rustix::net::{AddressFamily, SocketType};
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("device");
    let address = SocketAddrUnix::new(&path).expect("short");
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = || socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
    let listener = socket().expect("a socket");
    bind(&listener, &address).expect("bound");
    listen(&listener, 0).expect("it listens");
    let mut waiting = Vec::new();
    while let Ok(client) = socket().and_then(|one| connect(&one, &address).map(|()| one)) {
        waiting.push(client);
        assert!(waiting.len() < 10, "the queue is short");
    }
    assert!(matches!(
        Server::bind(&path),
        Err(ServerError::InUse { .. })
    ));
}

#[test]
fn clients_come_one_after_the_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("device");
    let absent = Client::connect(&path);
    assert!(matches!(absent, Err(ClientError::Connect { .. })));
    let server = Server::bind(&path).expect("bound");
    let server = thread::spawn(move || {
        for _ in 0..2 {
            let mut ready = [rustix::event::PollFd::new(
                &server,
                rustix::event::PollFlags::IN,
            )];
            rustix::event::poll(&mut ready, None).expect("one descriptor");
            let mut session = server.accept().expect("a socket").expect("a client");
            assert_eq!(serve(&mut session), SessionEnd::Closed);
        }
    });
    for _ in 0..2 {
        let mut client = Client::connect(&path).expect("connected");
        assert_eq!(number(&mut client, RESETS), 0);
        client.reset().expect("reset");
    }
    server.join().expect("no panic");
    assert!(!path.exists());
}

#[test]
fn a_server_can_insist_on_sealed_memory() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("device");
    let mut server = Server::bind(&path).expect("bound");
    server.require_sealed();
    let client = thread::spawn(move || Client::connect(&path).expect("connected"));
    let mut session = loop {
        if let Some(session) = server.accept().expect("a socket") {
            break session;
        }
    };
    // The file may shrink.
    let file = memory(PAGE);
    let map = move || {
        let mut client = client.join().expect("no panic");
        client.map(0, PAGE, file.as_fd(), 0, Access::READ)
    };
    let map = thread::spawn(map);
    assert_eq!(serve(&mut session), SessionEnd::Closed);
    let refused = map.join().expect("no panic").expect_err("not sealed");
    let refused = matches!(
        refused,
        ClientError::Refused {
            errno: Errno::PERM,
            ..
        }
    );
    assert!(refused);
}

/// A timeout that passes.
const SHORT: Duration = Duration::from_millis(20);
/// A timeout that does not, however busy the machine is.
const LONG: Duration = Duration::from_secs(60);

/// A server that settles the version and then answers one command as the test asks.
fn odd_server(answer: fn(&Header) -> Vec<u8>) -> (Client, JoinHandle<OwnedFd>) {
    let (ours, theirs) = sockets();
    let server = thread::spawn(move || {
        let mut first = true;
        loop {
            let mut ready = [rustix::event::PollFd::new(
                &theirs,
                rustix::event::PollFlags::IN,
            )];
            rustix::event::poll(&mut ready, None).expect("one descriptor");
            let octets = receive(&theirs);
            let header = Header::decode(&octets).expect("a whole message at once");
            let reply = match header.command {
                1 => {
                    let payload = &octets[Header::OCTETS..];
                    [&header.reply(payload.len()).encode()[..], payload].concat()
                }
                _ => answer(&header),
            };
            send(&theirs, &reply, &[]);
            if !std::mem::take(&mut first) {
                return theirs;
            }
        }
    });
    let mut client = Client::over(ours).expect("versions agree");
    client.set_timeout(LONG);
    (client, server)
}

/// What a read returns, and that the connection is given up.
fn first_error(timeout: Duration, answer: fn(&Header) -> Vec<u8>) -> ClientError {
    let (mut client, server) = odd_server(answer);
    client.set_timeout(timeout);
    let error = client
        .read(0, 0, &mut [0; 4])
        .expect_err("not what was asked for");
    let socket = server.join().expect("no panic");
    let again = client.read(0, 0, &mut [0; 4]);
    assert!(matches!(again, Err(ClientError::Broken)), "{again:?}");
    drop(socket);
    error
}

#[test]
fn a_server_that_does_not_answer_is_an_error() {
    let timeout = first_error(SHORT, |_| Vec::new());
    assert!(matches!(timeout, ClientError::Timeout { .. }), "{timeout}");
    let half = first_error(SHORT, |header| header.reply(20).encode()[..9].to_vec());
    assert!(matches!(half, ClientError::Timeout { .. }), "{half}");
    let (ours, theirs) = sockets();
    drop(theirs);
    let dead = Client::over(ours);
    assert!(
        matches!(dead, Err(ClientError::Ended(SessionEnd::Closed))),
        "{dead:?}"
    );
}

#[test]
fn a_reply_to_another_command_is_an_error() {
    fn reply(header: &Header, octets: usize) -> Vec<u8> {
        [&header.reply(octets).encode()[..], &vec![0; octets]].concat()
    }
    let cases: [fn(&Header) -> Vec<u8>; 5] = [
        |header| {
            let message_id = header.message_id + 1;
            reply(
                &Header {
                    message_id,
                    ..*header
                },
                20,
            )
        },
        |header| {
            let command = Command::RegionWrite.code();
            reply(&Header { command, ..*header }, 20)
        },
        |header| reply(header, 19),
        |header| reply(header, 21),
        |header| reply(header, RegionAccess::OCTETS),
    ];
    for (index, case) in cases.into_iter().enumerate() {
        let error = first_error(LONG, case);
        assert!(
            matches!(error, ClientError::Malformed { .. }),
            "case {index}: {error}"
        );
    }
    let bad = first_error(LONG, |header| {
        let size = 15;
        Header {
            size,
            ..header.reply(0)
        }
        .encode()
        .to_vec()
    });
    let expected = SessionEnd::BadSize { size: 15 };
    assert!(
        matches!(bad, ClientError::Ended(end) if end == expected),
        "{bad}"
    );
}

#[test]
fn an_error_without_a_number_is_an_error() {
    let (mut client, server) = odd_server(|header| header.error_reply(0).encode().to_vec());
    let error = client.read(0, 0, &mut [0; 4]).expect_err("refused");
    let refused = matches!(
        error,
        ClientError::Refused { errno, .. } if errno == Errno::IO
    );
    assert!(refused, "{error}");
    server.join().expect("no panic");
}

#[test]
fn a_request_of_the_server_is_refused() {
    let (mut client, server) = odd_server(|header| {
        let request = Header::command(7, Command::DmaRead, RegionAccess::OCTETS);
        let access = RegionAccess::default().encode();
        let reply = [&header.reply(20).encode()[..], &[9; 20]].concat();
        [&request.encode()[..], &access, &reply].concat()
    });
    let mut octets = [0; 4];
    client
        .read(0, 0, &mut octets)
        .expect("the reply comes after it");
    assert_eq!(octets, [9; 4]);
    let socket = server.join().expect("no panic");
    let replies = messages(&receive(&socket));
    let (header, _) = &replies[0];
    assert_eq!(
        (header.message_id, header.command),
        (7, Command::DmaRead.code())
    );
    assert_eq!(header.flags, header_flags::REPLY | header_flags::ERROR);
    assert_eq!(header.error, 95);
}
