//! Messages of acceptance: each leaves once, in order.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, Random};
use std::collections::VecDeque;

fn frame(random: &mut Random) -> QueuedFrame {
    QueuedFrame {
        segment: SegmentInfo {
            frame_octets: random.wide(),
            ..SegmentInfo::default()
        },
        pages: PageChain {
            head_page: random.wide(),
            tail_page: random.wide(),
        },
    }
}

/// A message to MPA: the run of the frame, the walk's, or a query.
fn sent(uut: &AcceptanceOutputs) -> Accepted {
    let frame = uut.frame.next;
    let whole = Accepted {
        connection: uut.connection.next,
        head_page: frame.pages.head_page,
        tail_page: frame.pages.tail_page,
        offset: uut.offset.next,
        octets: uut.octets.next,
        first: true,
        last: true,
        ..Accepted::default()
    };
    match (uut.is_run.next, uut.is_question.next) {
        (false, false) => uut.walked.next,
        (true, _) => whole,
        (false, true) => Accepted {
            connection: uut.subject.next,
            queries: true,
            ..whole
        },
    }
}

#[test]
fn messages_leave_once_and_in_order() {
    let (mut accepted, mut host) = (VecDeque::new(), VecDeque::new());
    let (mut released, mut counts) = (VecDeque::new(), [0usize; 5]);
    let uut = AcceptanceOutputs::default();
    lockstep!("acceptance_outputs", uut, 6_000, |uut, random| {
        uut.accepted_ready.next = random.chance(1, 2);
        uut.host_frame_ready.next = random.chance(1, 2);
        uut.page_release_ready.next = random.chance(1, 2);
        if uut.accepted_valid.val() && uut.accepted_ready.next {
            assert_eq!(Some(uut.accepted.val()), accepted.pop_front());
            counts[0] += 1;
        }
        if uut.host_frame_valid.val() && uut.host_frame_ready.next {
            assert_eq!(Some(uut.host_frame.val()), host.pop_front());
            counts[1] += 1;
        }
        if uut.page_release_valid.val() && uut.page_release_ready.next {
            let chain = Some(uut.page_release.val());
            assert_eq!(chain, released.pop_front());
            counts[2] += 1;
        }
        uut.frame.next = frame(random);
        (uut.connection.next, uut.subject.next) = (random.wide(), random.wide());
        (uut.offset.next, uut.octets.next) = (random.wide(), random.wide());
        uut.walked.next = Accepted {
            connection: random.wide(),
            octets: random.wide(),
            ooo: random.chance(1, 2),
            ..Accepted::default()
        };
        uut.is_run.next = random.chance(1, 3);
        uut.is_question.next = !uut.is_run.next && random.chance(1, 2);
        let sends = uut.accepted_room.val() && random.chance(1, 2);
        uut.send_run.next = sends && uut.is_run.next;
        uut.send_question.next = sends && uut.is_question.next;
        uut.send_walked.next = sends && !uut.is_run.next && !uut.is_question.next;
        let all = uut.room.val();
        uut.send_host.next = all && random.chance(1, 2);
        uut.send_release.next = all && random.chance(1, 2);
        if sends {
            accepted.push_back(sent(uut));
            counts[3] += usize::from(uut.is_question.next);
            counts[4] += usize::from(uut.is_run.next);
        }
        let frame = uut.frame.next;
        let (head_page, tail_page) = (frame.pages.head_page, frame.pages.tail_page);
        if uut.send_host.next {
            let frame_octets = frame.segment.frame_octets;
            host.push_back(HostFrame {
                head_page,
                tail_page,
                frame_octets,
            });
        }
        if uut.send_release.next {
            released.push_back(PageChain {
                head_page,
                tail_page,
            });
        }
    });
    assert!(counts.iter().all(|count| *count > 200), "{counts:?}");
}
