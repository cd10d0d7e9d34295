use super::super::peer::{FRAME_OCTETS_MAX, LENGTH_OCTETS, UNREAD_OCTETS_MAX};
use super::super::tests::frame;
use super::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixListener, UnixStream};
use tempfile::TempDir;

const NONE: [Vec<u8>; 0] = [];

/// Frames as they are on a socket.
fn framed(frames: &[Vec<u8>]) -> Vec<u8> {
    let each = frames.iter().map(|frame| {
        let length = frame.len() as u32;
        [&length.to_be_bytes()[..], frame].concat()
    });
    each.collect::<Vec<_>>().concat()
}

/// All frames that the link has now.
fn received(link: &mut dyn Link) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| link.receive().expect("it is of use")).collect()
}

/// A link on a socket in a folder of its own.
struct Line {
    folder: TempDir,
    link: SocketLink,
}

impl Line {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let link = SocketLink::listen(&folder.path().join("link")).expect("it listens");
        Self { folder, link }
    }

    fn connect(&self) -> UnixStream {
        UnixStream::connect(self.folder.path().join("link")).expect("it listens")
    }

    /// A peer that the link has accepted.
    fn peer(&mut self) -> UnixStream {
        let peer = self.connect();
        assert_eq!(received(&mut self.link), NONE);
        peer
    }

    /// Whether `poll` would return at once.
    fn is_readable(&self) -> bool {
        let fd = self.link.fd().expect("a socket");
        let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).expect("it polls") == 1
    }
}

/// Whatever `peer` can read, while the link sends what it holds.
fn read_all(link: &mut SocketLink, peer: &mut UnixStream) -> Vec<u8> {
    peer.set_nonblocking(true).expect("a socket");
    let (mut octets, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        match peer.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => octets.extend(&piece[..count]),
            Err(error) if error.kind() != ErrorKind::WouldBlock => panic!("{error}"),
            Err(_) if link.wants_write() => assert_eq!(received(link), NONE),
            Err(_) => break,
        }
    }
    peer.set_nonblocking(false).expect("a socket");
    octets
}

/// The peer was disconnected.
fn assert_disconnected(mut peer: UnixStream) {
    peer.set_nonblocking(true).expect("a socket");
    match peer.read(&mut [0]) {
        Ok(0) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        other => panic!("{other:?}"),
    }
}

/// Two frames and one of no octets, cut at every set of places at once.
#[test]
fn frames_arrive_whole_however_they_are_cut() {
    let frames = [frame(0, 1), frame(1, 0), frame(2, 2)];
    let octets = framed(&frames);
    let mut line = Line::new();
    let mut peer = line.peer();
    for cuts in 0..1_u32 << (octets.len() - 1) {
        let mut found = Vec::new();
        let mut begin = 0;
        for end in 1..=octets.len() {
            if end == octets.len() || cuts >> (end - 1) & 1 == 1 {
                peer.write_all(&octets[begin..end]).expect("it is read");
                found.extend(received(&mut line.link));
                begin = end;
            }
        }
        assert_eq!(found, frames, "cuts {cuts:#b}");
    }
}

#[test]
fn long_frames_arrive_whole_in_any_pieces() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut line = Line::new();
    let mut peer = line.peer();
    let lengths = [60, 1_514, 9_018, 16_384, 65_535, FRAME_OCTETS_MAX];
    for round in 0..20 {
        let lengths = (0..4).map(|_| lengths[random.random_range(0..lengths.len())]);
        let frames: Vec<_> = lengths
            .enumerate()
            .map(|(n, octets)| frame(n, octets))
            .collect();
        let mut found = Vec::new();
        let (octets, most) = (framed(&frames), 1 << random.random_range(8..15));
        let mut rest = &octets[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(random.random_range(1..=most.min(rest.len())));
            peer.write_all(piece).expect("it is read");
            found.extend(received(&mut line.link));
            rest = after;
        }
        // What is in the socket when the last piece has been written.
        found.extend(received(&mut line.link));
        assert!(
            found == frames,
            "round {round}, pieces of at most {most} octets"
        );
    }
}

/// The second of two frames is there though the socket has nothing left to read: who sleeps until
/// it has would not see that frame.
#[test]
fn the_second_frame_of_a_read_is_announced() {
    let frames = [frame(0, 60), frame(1, 61)];
    let mut line = Line::new();
    let mut peer = line.peer();
    assert!(!line.is_readable() && !line.link.has_frame());
    peer.write_all(&framed(&frames)).expect("it is read");
    assert!(line.is_readable());
    assert_eq!(
        line.link.receive().expect("a frame"),
        Some(frames[0].clone())
    );
    assert!(!line.is_readable() && line.link.has_frame());
    assert_eq!(
        line.link.receive().expect("a frame"),
        Some(frames[1].clone())
    );
    assert!(!line.is_readable() && !line.link.has_frame());
}

#[test]
fn frames_of_the_device_are_framed_for_the_peer() {
    let frames = [frame(0, 60), frame(1, 1_514), frame(2, 9_018)];
    let mut line = Line::new();
    // Nobody is there: it is lost.
    line.link.send(&frame(9, 60)).expect("it is lost");
    let mut peer = line.peer();
    for frame in &frames {
        line.link.send(frame).expect("it is sent");
    }
    assert!(read_all(&mut line.link, &mut peer) == framed(&frames));
}

#[test]
fn an_oversize_length_disconnects_the_peer_and_nobody_else() {
    for length in [FRAME_OCTETS_MAX as u32 + 1, 1 << 31, u32::MAX] {
        let mut line = Line::new();
        let mut peer = line.peer();
        let whole = framed(&[frame(0, 60)]);
        let octets = [&whole[..], &length.to_be_bytes(), &[0; 100]].concat();
        peer.write_all(&octets).expect("it is read");
        assert_eq!(line.link.receive().expect("a frame"), Some(frame(0, 60)));
        assert!(!line.link.has_frame());
        assert_eq!(line.link.receive().expect("it goes on"), None);
        assert_disconnected(peer);
        let mut next = line.peer();
        next.write_all(&whole).expect("it is read");
        assert_eq!(received(&mut line.link), [frame(0, 60)], "length {length}");
    }
}

/// A peer that does not read loses the frames beyond what is kept for it, each of them whole, and
/// has the others in order once it reads; the device is never held up.
#[test]
fn a_peer_that_does_not_read_loses_whole_frames() {
    const FRAMES: usize = 9_000;
    const OCTETS: usize = 1_000;
    let frames: Vec<_> = (0..FRAMES).map(|number| frame(number, OCTETS)).collect();
    let mut line = Line::new();
    let mut peer = line.peer();
    for frame in &frames {
        line.link.send(frame).expect("it is kept or lost");
        let kept = line.link.peer.as_ref().map(|peer| peer.output.len());
        assert!(kept <= Some(UNREAD_OCTETS_MAX + LENGTH_OCTETS), "{kept:?}");
    }
    assert!(line.link.wants_write());
    let found = read_all(&mut line.link, &mut peer);
    let each = LENGTH_OCTETS + OCTETS;
    let count = found.len() / each;
    assert!(found == framed(&frames[..count]), "{} octets", found.len());
    assert!(
        count < FRAMES && count * each > UNREAD_OCTETS_MAX - 2 * each,
        "{count} frames"
    );
    // It reads again, so nothing is lost any more.
    assert!(!line.link.wants_write());
    line.link.send(&frames[0]).expect("it is sent");
    assert!(read_all(&mut line.link, &mut peer) == framed(&frames[..1]));
}

#[test]
fn when_a_peer_has_left_the_next_one_begins_with_a_frame_of_its_own() {
    let mut line = Line::new();
    let mut first = line.peer();
    let mut waiting = line.connect();
    let octets = framed(&[frame(0, 100)]);
    waiting.write_all(&octets).expect("it fits the socket");
    first.write_all(&octets[..50]).expect("it is read");
    assert_eq!(
        received(&mut line.link),
        NONE,
        "the first peer has not left"
    );
    drop(first);
    assert!(line.is_readable());
    assert_eq!(received(&mut line.link), NONE, "half a frame is none");
    assert_eq!(received(&mut line.link), [frame(0, 100)]);
    // One that leaves while the device sends.
    drop(waiting);
    line.link.send(&frame(1, 60)).expect("it is kept");
    line.link.flush().expect("it is lost");
    let mut last = line.peer();
    line.link.send(&frame(2, 60)).expect("it is sent");
    assert!(read_all(&mut line.link, &mut last) == framed(&[frame(2, 60)]));
}

#[test]
fn a_socket_that_nobody_listens_on_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("link");
    drop(UnixListener::bind(&path).expect("a new socket"));
    assert!(path.exists());
    let mut link = SocketLink::listen(&path).expect("it is replaced");
    let _peer = UnixStream::connect(&path).expect("it listens");
    assert_eq!(received(&mut link), NONE);
    assert!(link.peer.is_some());
    // One that is in use is not.
    let refused = SocketLink::listen(&path)
        .expect_err("it is in use")
        .to_string();
    assert!(
        refused.contains("link") && refused.contains("in use"),
        "{refused}"
    );
    assert!(UnixStream::connect(&path).is_ok());
}

#[test]
fn a_file_that_is_no_socket_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let [file, to_file, to_nothing, directory] =
        ["file", "to-file", "to-nothing", "directory"].map(|name| folder.path().join(name));
    fs::write(&file, "text").expect("room");
    symlink(&file, &to_file).expect("room");
    symlink(folder.path().join("nothing"), &to_nothing).expect("room");
    fs::create_dir(&directory).expect("room");
    for path in [&file, &to_file, &to_nothing, &directory] {
        let refused = SocketLink::listen(path)
            .expect_err("it is in the way")
            .to_string();
        let name = path.display().to_string();
        assert!(refused.contains(&name), "{refused}");
        assert!(path.symlink_metadata().is_ok(), "{name} is gone");
    }
    assert_eq!(fs::read(&file).expect("it is there"), b"text");
}
