use super::*;
use crate::choices::Scripted;
use crate::completer::{complete_read, CompletionSplit};
use crate::tlp::Length;

const DEVICE: Bdf = Bdf::new(1, 0, 0);
const HOST: Bdf = Bdf::new(0, 0, 0);

fn one_tag() -> Limits {
    Limits {
        tag_count: 1,
        ..Limits::default()
    }
}

fn answered(request: &Tlp, limits: &Limits) -> Vec<Tlp> {
    let data: Vec<u8> = (0..request.header.length.octets())
        .map(|at| at as u8)
        .collect();
    let boundary = limits.read_completion_boundary;
    let shape = CompletionSplit::AtEveryBoundary;
    let choices = &mut Scripted::default();
    complete_read(
        &request.header,
        &data,
        HOST,
        limits,
        boundary,
        shape,
        choices,
    )
}

fn refused(request: &Tlp, status: CompletionStatus) -> Tlp {
    Tlp::completion_without_data(&request.header, HOST, status).expect("a read is answered")
}

fn changed(tlp: &Tlp, change: impl FnOnce(&mut Completion)) -> Tlp {
    let mut tlp = tlp.clone();
    match &mut tlp.header.kind {
        Kind::Cpl(completion) | Kind::CplD(completion) => change(completion),
        other => panic!("{other:?} is no completion"),
    }
    tlp
}

/// A requester of one tag, its time-out 10, and one read of 200 octets that is on its way.
fn reading() -> (Requester, Token, Vec<Tlp>) {
    let limits = one_tag();
    let mut requester = Requester::new(DEVICE, limits);
    requester.set_timeout(Some(10));
    let token = requester.read(0x1000, 200);
    let request = requester.next_request(0).expect("the tag is free");
    let completions = answered(&request, &limits);
    assert_eq!(completions.len(), 4);
    (requester, token, completions)
}

#[test]
fn a_tag_waits_until_its_request_is_complete() {
    let (mut requester, first, completions) = reading();
    let second = requester.read(0x2000, 1);
    for completion in &completions {
        assert_eq!(requester.next_request(0), None);
        assert_eq!(requester.poll(0, first), Ok(None));
        assert!(requester.complete(0, completion));
    }
    let expected: Vec<u8> = (0..200).collect();
    assert_eq!(requester.poll(0, first), Ok(Some(expected)));
    assert_eq!(requester.poll(0, first), Err(TransferError::UnknownToken));
    assert!(requester.next_request(0).is_some());
    assert_eq!(requester.poll(0, second), Ok(None));
}

#[test]
fn completions_of_requests_that_overtake_each_other_end_in_their_places() {
    let limits = Limits::default();
    let mut requester = Requester::new(DEVICE, limits);
    let token = requester.read(0xffe, 4);
    let requests = [requester.next_request(0), requester.next_request(0)];
    let [low, high] = requests.map(|request| request.expect("cut at 4 KiB"));
    for request in [high, low] {
        for completion in answered(&request, &limits) {
            assert!(requester.complete(0, &completion));
        }
    }
    // Each dword is answered with octets 0, 1, 2, 3; the request uses 2, 3 and 0, 1.
    assert_eq!(requester.poll(0, token), Ok(Some(vec![2, 3, 0, 1])));
}

#[test]
fn a_late_completion_only_frees_its_tag() {
    let limits = one_tag();
    let mut requester = Requester::new(DEVICE, limits);
    requester.set_timeout(Some(10));
    let token = requester.read(0, 4);
    let request = requester.next_request(5).expect("the tag is free");
    assert_eq!(requester.poll(15, token), Ok(None));
    assert_eq!(
        requester.poll(16, token),
        Err(TransferError::TimedOut { ticks: 10 })
    );
    requester.read(4, 4);
    assert_eq!(requester.next_request(16), None);
    assert!(requester.complete(16, &answered(&request, &limits)[0]));
    assert!(requester.next_request(16).is_some());
}

#[test]
fn a_tag_that_is_never_answered_is_free_after_its_quarantine() {
    let (mut requester, token, _) = reading();
    let other = requester.read(0x2000, 4);
    assert_eq!(requester.expire(10), 0);
    assert_eq!(requester.expire(11), 1);
    assert_eq!(requester.next_request(20), None);
    let sent = requester.next_request(21).expect("the tag is free again");
    assert_eq!(
        requester.poll(21, token),
        Err(TransferError::TimedOut { ticks: 10 })
    );
    assert!(requester.complete(21, &answered(&sent, &one_tag())[0]));
    assert_eq!(requester.poll(21, other), Ok(Some(vec![0, 1, 2, 3])));
}

#[test]
fn without_a_quarantine_a_tag_waits_for_its_late_completion_for_ever() {
    let (mut requester, _, completions) = reading();
    requester.set_quarantine(None);
    requester.read(0x2000, 4);
    assert_eq!(requester.next_request(1_000_000), None);
    // The last one by its own account frees it, and no other.
    assert!(requester.complete(1_000_000, &completions[0]));
    assert_eq!(requester.next_request(1_000_000), None);
    assert!(requester.complete(1_000_000, &completions[3]));
    assert!(requester.next_request(1_000_000).is_some());
}

#[test]
fn a_longer_time_out_counts_for_requests_on_their_way() {
    let (mut requester, token, _) = reading();
    requester.set_timeout(Some(30));
    assert_eq!(requester.poll(11, token), Ok(None));
    requester.set_timeout(Some(20));
    assert_eq!(requester.poll(20, token), Ok(None));
    assert!(requester.poll(21, token).is_err());
}

#[test]
fn what_is_outstanding_is_known_by_tag() {
    let limits = Limits::default();
    let mut requester = Requester::new(DEVICE, limits);
    let [first, second] =
        [(0x1030, 100), (0x2000, 0)].map(|(at, octets)| requester.read(at, octets));
    let requests = [3, 4].map(|now| requester.next_request(now).expect("tags are free"));
    let outstanding = |tag, token, sent, owed| OutstandingRequest {
        tag,
        token,
        sent,
        owed,
    };
    // Byte Count of a zero-length read is 1.
    let second = outstanding(1, second, 4, 1);
    let found: Vec<_> = requester.outstanding().collect();
    assert_eq!(found, [outstanding(0, first, 3, 100), second]);
    let completions = answered(&requests[0], &limits);
    assert!(requester.complete(5, &completions[0]));
    let found: Vec<_> = requester.outstanding().collect();
    assert_eq!(found, [outstanding(0, first, 3, 84), second]);
    for completion in &completions[1..] {
        assert!(requester.complete(5, completion));
    }
    let found: Vec<_> = requester.outstanding().collect();
    assert_eq!(found, [second]);
    assert!(requester.complete(6, &answered(&requests[1], &limits)[0]));
    assert_eq!(requester.outstanding_count(), 0);
}

#[test]
fn a_foreign_completion_is_rejected() {
    let limits = Limits::default();
    let mut requester = Requester::new(DEVICE, limits);
    let request = Tlp::memory_read(DEVICE, 3, 0, 4).expect("short");
    assert!(!requester.complete(0, &answered(&request, &limits)[0]));
    assert!(!requester.complete(0, &request));
    // The right tag, of another requester.
    requester.read(0, 4);
    let request = requester.next_request(0).expect("tags are free");
    let foreign = changed(&answered(&request, &limits)[0], |completion| {
        completion.requester = HOST;
    });
    assert!(!requester.complete(0, &foreign));
    assert_eq!(requester.outstanding_count(), 1);
}

#[test]
fn a_refusal_ends_the_request_at_once_and_frees_its_tag() {
    let statuses = [
        CompletionStatus::UnsupportedRequest,
        CompletionStatus::CompleterAbort,
    ];
    for status in statuses {
        let (mut requester, token, completions) = reading();
        assert!(requester.complete(0, &completions[0]));
        let request = Tlp::memory_read(DEVICE, 0, 0x1000, 200).expect("short");
        assert!(requester.complete(0, &refused(&request, status)));
        assert_eq!(requester.poll(0, token), Err(TransferError::Status(status)));
        assert_eq!(requester.outstanding_count(), 0);
        assert!(!requester.complete(0, &completions[1]), "unexpected now");
    }
}

#[test]
fn poison_fails_the_transfer_after_its_last_completion() {
    let (mut requester, token, mut completions) = reading();
    completions[1].header.traffic.poisoned = true;
    for completion in &completions {
        assert_eq!(requester.poll(0, token), Ok(None));
        assert!(requester.complete(0, completion));
    }
    assert_eq!(requester.poll(0, token), Err(TransferError::Poisoned));
    assert_eq!(requester.outstanding_count(), 0);
}

/// The result after completion `at` is replaced, and whether the tag is free then.
fn mismatched(at: usize, replace: impl FnOnce(&Tlp) -> Tlp) -> (TransferError, bool) {
    let (mut requester, token, completions) = reading();
    for completion in &completions[..at] {
        assert!(requester.complete(0, completion));
    }
    assert!(requester.complete(0, &replace(&completions[at])));
    let error = requester.poll(0, token).expect_err("it does not fit");
    let free = requester.outstanding_count() == 0;
    // What else belongs to it has no effect but to free the tag at its end.
    for completion in &completions[at + 1..] {
        assert_eq!(requester.complete(0, completion), !free);
    }
    assert_eq!(requester.outstanding_count(), usize::from(at == 3 && !free));
    (error, free)
}

#[test]
fn a_completion_that_does_not_fit_fails_its_transfer_by_name() {
    let error = |mismatch| TransferError::Mismatch(mismatch);
    let count = |value| move |tlp: &Tlp| changed(tlp, |completion| completion.byte_count = value);
    let (owed, found) = (136, 132);
    let expected = error(Mismatch::ByteCount { owed, found });
    assert_eq!(mismatched(1, count(132)), (expected, false));
    let (owed, found) = (8, 128);
    let expected = error(Mismatch::ByteCount { owed, found });
    assert_eq!(mismatched(3, count(128)), (expected, false), "more to come");

    let lower = |tlp: &Tlp| changed(tlp, |completion| completion.lower_address = 0x44);
    let (expected, found) = (0x40, 0x44);
    let expected = error(Mismatch::LowerAddress { expected, found });
    assert_eq!(mismatched(1, lower), (expected, false));

    let longer = |tlp: &Tlp| {
        let payload = [&tlp.payload[..], &[0; 4]].concat();
        Tlp::new(
            Length::from_dwords(3).expect("three"),
            tlp.header.kind,
            payload,
        )
    };
    let (owed, found) = (8, 12);
    let expected = error(Mismatch::TooLong { owed, found });
    assert_eq!(mismatched(3, longer), (expected, true));

    let bare = |tlp: &Tlp| {
        let Kind::CplD(completion) = tlp.header.kind else {
            panic!("a completion with data");
        };
        Tlp::new(Length::RESERVED, Kind::Cpl(completion), Vec::new())
    };
    assert_eq!(mismatched(0, bare), (error(Mismatch::DataMissing), true));
    let empty = |tlp: &Tlp| Tlp::new(Length::ONE, tlp.header.kind, Vec::new());
    assert_eq!(mismatched(0, empty), (error(Mismatch::DataMissing), false));
}

#[test]
fn data_for_a_configuration_write_do_not_fit() {
    let mut requester = Requester::new(DEVICE, Limits::default());
    let token = requester
        .write_configuration(HOST, 4, &[6])
        .expect("one dword");
    let request = requester.next_request(0).expect("tags are free");
    let done = refused(&request, CompletionStatus::Successful);
    let Kind::Cpl(completion) = done.header.kind else {
        panic!("a completion without data");
    };
    let laden = Tlp::new(Length::ONE, Kind::CplD(completion), vec![0; 4]);
    assert!(requester.complete(0, &laden));
    let expected = TransferError::Mismatch(Mismatch::DataUnexpected);
    assert_eq!(requester.poll(0, token), Err(expected));
}

#[test]
fn a_malformed_completion_fails_its_transfer_and_no_other() {
    let (mut requester, token, completions) = reading();
    let other = requester.read(0x2000, 4);
    assert!(requester.complete_malformed(0, &completions[0]));
    for completion in &completions[1..] {
        assert!(requester.complete(0, completion));
    }
    assert_eq!(requester.poll(0, token), Err(TransferError::Malformed));
    let request = requester.next_request(0).expect("the tag is free");
    assert!(requester.complete(0, &answered(&request, &one_tag())[0]));
    assert_eq!(requester.poll(0, other), Ok(Some(vec![0, 1, 2, 3])));
}

#[test]
fn of_several_failures_the_first_is_given() {
    let (mut requester, token, mut completions) = reading();
    completions[0].header.traffic.poisoned = true;
    assert!(requester.complete(0, &completions[0]));
    assert_eq!(requester.expire(11), 1);
    assert_eq!(requester.poll(11, token), Err(TransferError::Poisoned));
}

#[test]
fn a_reset_fails_what_is_under_way_and_keeps_what_is_complete() {
    let limits = Limits {
        tag_count: 3,
        ..Limits::default()
    };
    let mut requester = Requester::new(DEVICE, limits);
    let [done, sent, waiting] = [0x1000, 0x2000, 0x3000].map(|at| requester.read(at, 4));
    let requests = [(); 2].map(|()| requester.next_request(0).expect("a tag is free"));
    assert!(requester.complete(0, &answered(&requests[0], &limits)[0]));
    requester.reset();
    assert_eq!(requester.poll(0, done), Ok(Some(vec![0, 1, 2, 3])));
    for token in [sent, waiting] {
        assert_eq!(requester.poll(0, token), Err(TransferError::Reset));
    }
    assert_eq!(requester.outstanding_count(), 0);
    assert_eq!(requester.next_request(0), None);
    assert!(!requester.complete(0, &answered(&requests[1], &limits)[0]));
    // Tags go on in turn: those from before the reset come last.
    for tag in [2, 0] {
        requester.read(0x4000, 4);
        let request = requester.next_request(0).expect("tags are free");
        assert_eq!(request.header.expects_completion(), Some((DEVICE, tag)));
    }
}

#[test]
fn the_rest_of_a_transfer_is_not_read_once_its_failure_is_taken() {
    let mut requester = Requester::new(DEVICE, one_tag());
    requester.set_timeout(Some(10));
    let token = requester.read(0x1000, 1000);
    assert!(requester.next_request(0).is_some(), "the first 512 octets");
    assert_eq!(requester.waiting_count(), 1);
    assert!(requester.poll(11, token).is_err());
    assert_eq!(requester.next_request(100), None);
    assert_eq!(requester.waiting_count(), 0);
}
