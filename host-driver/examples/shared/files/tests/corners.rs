//! Corners: memory that is used up, what is lent, cookies, names.

use super::super::{
    Error, Files, New, SetAttributes, Source, FILE_OCTETS_MAX, LINKS_MAX, NAME_OCTETS_MAX,
    PAGE_OCTETS, PATH_OCTETS_MAX, RUN_OCTETS_MAX,
};
use super::{at, files, Octets, MODE};

fn file(files: &mut Files<Octets>, name: &[u8]) -> super::super::FileId {
    let root = files.root();
    let made = files.make(root, name, New::File(None), MODE, at(1));
    made.expect("a new name")
}

#[test]
fn what_is_written_under_a_loan_goes_into_a_copy() {
    let mut files = files(2, 9);
    let one = file(&mut files, b"one");
    files
        .write(one, 0, Source::Octets(&[1; 5_000]), at(2))
        .expect("room");
    let (place, loan, is_end) = files.read(one, 4_000, 500).expect("a file");
    assert!(!is_end);
    let set = SetAttributes {
        size: Some(10),
        ..SetAttributes::default()
    };
    files.set(one, &set, None, at(3)).expect("a file");
    files
        .write(one, 5, Source::Octets(&[2; 6_000]), at(3))
        .expect("room");
    assert_eq!(files.octets_at(place), [1; 500], "it may be sent again");
    let (again, other_loan, _) = files.read(one, 4_000, 500).expect("a file");
    assert_eq!(files.octets_at(again), [2; 500]);
    let before = files.usage().octets_free;
    files.give_back(loan.expect("it is memory of the file"));
    assert_eq!(
        files.usage().octets_free,
        before + u64::from(2 * PAGE_OCTETS)
    );
    files.give_back(other_loan.expect("it is memory of the file"));
    assert_eq!(files.loans(), 0);
}

/// A removed file's octets stay until the last reply with them is over.
#[test]
fn a_loan_outlives_its_file() {
    let mut files = files(1, 9);
    let one = file(&mut files, b"one");
    files
        .write(one, 0, Source::Octets(&[1; 100]), at(2))
        .expect("room");
    let (place, loan, _) = files.read(one, 0, 100).expect("a file");
    let root = files.root();
    files
        .remove(root, b"one", false, at(3))
        .expect("it is there");
    let two = file(&mut files, b"two");
    let all = vec![3; RUN_OCTETS_MAX as usize];
    let refused = files.write(two, 0, Source::Octets(&all), at(4));
    assert_eq!(refused, Err(Error::NoSpace));
    assert_eq!(files.octets_at(place), [1; 100]);
    files.give_back(loan.expect("it is memory of the file"));
    let written = files.write(two, 0, Source::Octets(&all), at(4));
    assert_eq!(written, Ok(RUN_OCTETS_MAX));
}

#[test]
fn holes_have_no_memory_and_are_zeros() {
    let mut files = files(1, 9);
    let one = file(&mut files, b"one");
    let end = FILE_OCTETS_MAX - 3;
    files
        .write(one, end, Source::Octets(&[9; 3]), at(2))
        .expect("room");
    let refused = files.write(one, end + 1, Source::Octets(&[9; 3]), at(2));
    assert_eq!(refused, Err(Error::TooLarge));
    let overflow = files.write(one, u64::MAX, Source::Octets(&[9; 3]), at(2));
    assert_eq!(overflow, Err(Error::TooLarge));
    let known = files.attributes(one).expect("it is there");
    assert_eq!(
        (known.size, known.used),
        (FILE_OCTETS_MAX, PAGE_OCTETS.into())
    );
    let (place, loan, is_end) = files.read(one, 77, u32::MAX).expect("a file");
    assert!(loan.is_none() && !is_end);
    assert_eq!(place.length, RUN_OCTETS_MAX - 77, "up to the next segment");
    assert!(files.octets_at(place).iter().all(|octet| *octet == 0));
    // Before what was written, in its page.
    let (place, loan, is_end) = files.read(one, end - 9, 100).expect("a file");
    assert_eq!(files.octets_at(place), [0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9]);
    assert!(is_end);
    files.give_back(loan.expect("it is memory of the file"));
}

#[test]
fn a_write_takes_what_there_is_memory_for() {
    let mut files = files(1, 9);
    let one = file(&mut files, b"one");
    let octets = vec![7; RUN_OCTETS_MAX as usize];
    // Half of it is in the next segment.
    let half = RUN_OCTETS_MAX / 2;
    let written = files.write(one, half.into(), Source::Octets(&octets), at(2));
    assert_eq!(written, Ok(RUN_OCTETS_MAX), "two halves of a run");
    let more = files.write(one, 0, Source::Octets(&[7]), at(2));
    assert_eq!(more, Err(Error::NoSpace));
    assert_eq!(files.usage().octets_free, 0);
    let two = file(&mut files, b"two");
    assert_eq!(files.write(two, 0, Source::Octets(&[]), at(2)), Ok(0));
}

#[test]
fn a_listing_goes_on_after_names_that_are_gone() {
    let mut files = files(1, 99);
    let root = files.root();
    for name in b'a'..=b'j' {
        file(&mut files, &[name]);
    }
    let first: Vec<_> = files.list(root, 0).expect("a directory").take(5).collect();
    assert_eq!(first[0].name, b".");
    assert_eq!((&first[1].name[..], first[1].file), (&b".."[..], root));
    let last = first.last().expect("five").clone();
    assert_eq!(last.name, b"c");
    for name in [b"a", b"c", b"d"] {
        files.remove(root, name, false, at(2)).expect("it is there");
    }
    file(&mut files, b"c");
    let rest = files.list(root, last.cookie).expect("a directory");
    let rest: Vec<_> = rest.map(|entry| entry.name).collect();
    assert_eq!(rest, [b"e", b"f", b"g", b"h", b"i", b"j", b"c"]);
    assert_eq!(files.list(root, u64::MAX).expect("a directory").count(), 0);
}

#[test]
fn names_that_cannot_be_are_refused() {
    let mut files = files(1, 4);
    let root = files.root();
    let long = [b'x'; NAME_OCTETS_MAX + 1];
    for (name, error) in [
        (&b""[..], Error::Invalid),
        (b".", Error::Exists),
        (b"..", Error::Exists),
        (b"a/b", Error::Invalid),
        (b"a\0", Error::Invalid),
        (&long, Error::NameTooLong),
    ] {
        let made = files.make(root, name, New::Directory, MODE, at(1));
        assert_eq!(made, Err(error), "{name:?}");
    }
    let longest = file(&mut files, &long[1..]);
    assert_eq!(files.look_up(root, &long[1..]), Ok(longest));
    assert_eq!(files.look_up(root, &long), Err(Error::NameTooLong));
    for (length, error) in [
        (0, Error::Invalid),
        (PATH_OCTETS_MAX + 1, Error::NameTooLong),
    ] {
        let path = vec![b'p'; length];
        let new = New::Link(Source::Octets(&path));
        assert_eq!(files.make(root, b"link", new, MODE, at(1)), Err(error));
    }
    for _ in 1..LINKS_MAX {
        let name = format!("{}", files.attributes(longest).expect("there").links);
        files
            .link(longest, root, name.as_bytes(), at(1))
            .expect("another name");
    }
    let more = files.link(longest, root, b"more", at(1));
    assert_eq!(more, Err(Error::TooManyLinks));
    file(&mut files, b"two");
    file(&mut files, b"three");
    let full = files.make(root, b"four", New::Link(Source::Octets(b"p")), MODE, at(1));
    assert_eq!(full, Err(Error::NoSpace));
    let usage = files.usage();
    assert_eq!((usage.files_free, usage.octets_free), (0, usage.octets));
}

#[test]
fn a_guard_keeps_what_has_changed() {
    let mut files = files(1, 4);
    let one = file(&mut files, b"one");
    let set = SetAttributes {
        mode: Some(0o100_777),
        uid: Some(7),
        modified: Some(at(99)),
        ..SetAttributes::default()
    };
    let refused = files.set(one, &set, Some(at(2)), at(3));
    assert_eq!(refused, Err(Error::NotSynchronised));
    files
        .set(one, &set, Some(at(1)), at(3))
        .expect("it was made then");
    let known = files.attributes(one).expect("it is there");
    assert_eq!(
        (known.mode, known.owner.uid, known.owner.gid),
        (0o777, 7, 2)
    );
    assert_eq!((known.modified, known.changed), (at(99), at(3)));
}
