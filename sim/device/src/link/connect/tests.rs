use super::super::socket::SocketLink;
use super::super::tests::frame;
use super::*;

/// All frames that the link has now.
fn received(link: &mut dyn Link) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| link.receive().expect("it is of use")).collect()
}

/// Both ends of a wire, made in either order: the other end comes, goes, and comes again.
#[test]
fn the_other_end_may_come_late_and_leave() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("wire");
    let mut link = ConnectLink::open(&path).expect("nobody there is no error");
    for round in 0..3 {
        assert!(link.is_seeking() && link.fd().is_none() && !link.has_frame());
        assert_eq!(link.send(&frame(9, 60)).ok(), Some(false), "it is lost");
        let mut other = SocketLink::listen(&path).expect("it listens");
        assert_eq!(link.receive().expect("nothing has come"), None);
        assert!(!link.is_seeking() && link.fd().is_some(), "round {round}");
        for number in 0..4 {
            assert_eq!(link.send(&frame(number, 60)).ok(), Some(true));
        }
        assert!(received(&mut other).is_empty(), "they leave together");
        link.flush().expect("it is of use");
        assert_eq!(
            received(&mut other),
            [0, 1, 2, 3].map(|number| frame(number, 60))
        );
        for number in 4..6 {
            assert_eq!(other.send(&frame(number, 9_018)).ok(), Some(true));
        }
        other.flush().expect("it is of use");
        assert_eq!(link.receive().expect("it is there"), Some(frame(4, 9_018)));
        drop(other);
        // What was sent before it left is received.
        assert_eq!(link.receive().expect("it is there"), Some(frame(5, 9_018)));
        assert_eq!(link.receive().expect("nobody there is no error"), None);
    }
}

#[test]
fn what_is_no_socket_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x".repeat(200));
    let refused = ConnectLink::open(&path).expect_err("no socket has such a path");
    let said = refused.to_string();
    assert!(
        said.starts_with(&format!("link socket {}: ", path.display())),
        "{said}"
    );
}
