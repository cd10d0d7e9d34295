//! Good parts are read in order, each tag is given back once, and a lost part ends its read.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, settle, simulate, Random};
use std::collections::VecDeque;

type Walker = PartWalker<4, 5, 4>;

/// What becomes of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Good,
    Failed,
    Unanswered,
    Refused,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    part: ReadPart,
    fate: Fate,
    /// Cycle in which it is known.
    from: u64,
}

/// A beat towards the joiner.
#[derive(Debug, PartialEq)]
struct Beat {
    address: Option<u64>,
    first: u64,
    octets: u64,
    last: bool,
}

fn random_read(random: &mut Random, tag: &mut u64, now: u64) -> Vec<Sent> {
    let count = 1 + random.below(4);
    let cookie = random.wide();
    let part = |index| {
        let fate = match random.below(24) {
            0 => Fate::Failed,
            1 => Fate::Unanswered,
            2 => Fate::Refused,
            _ => Fate::Good,
        };
        *tag = (*tag + 1) % 16;
        let first = random.below(512);
        let part = ReadPart {
            tag: (*tag).into(),
            issued: 0u64.into(),
            first: first.into(),
            last: (first + random.below(512 - first)).into(),
            refused: fate == Fate::Refused,
            ends: index + 1 == count,
            cookie,
        };
        let from = now + random.below(40);
        Sent { part, fate, from }
    };
    (0..count).map(part).collect()
}

/// The beats of a read, and its end.
fn beats_of(read: &[Sent]) -> (Vec<Beat>, bool) {
    let mut beats = Vec::new();
    for sent in read {
        if sent.fate != Fate::Good {
            beats.push(Beat {
                address: None,
                first: 0,
                octets: 0,
                last: true,
            });
            return (beats, true);
        }
        let (first, last) = (sent.part.first.to_u64(), sent.part.last.to_u64());
        for word in first / 16..=last / 16 {
            let start = first.max(16 * word);
            let stop = last.min(16 * word + 15);
            beats.push(Beat {
                address: Some(sent.part.tag.to_u64() * 32 + word),
                first: start % 16,
                octets: stop - start + 1,
                last: sent.part.ends && stop == last,
            });
        }
    }
    (beats, false)
}

#[test]
fn reads_are_answered_in_order_and_tags_given_back_once() {
    let mut uut = simulate!(Walker::default());
    let (mut now, mut tag) = (0u64, 0);
    // Parts to send, and those sent whose tag the walker has.
    let (mut waiting, mut inside) = (VecDeque::new(), VecDeque::new());
    let (mut expected, mut ends, mut retired) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
    let (mut reads, mut causes) = (0, [0u64; 2]);
    let mut address = 0;
    uut.timeout_ticks.next = 3000u64.into();
    uut.run_until(60_000, |uut, random| {
        if waiting.is_empty() && reads < 250 {
            let read = random_read(random, &mut tag, now);
            let (beats, error) = beats_of(&read);
            expected.extend(beats);
            ends.push_back((read[0].part.cookie, error));
            retired.extend(
                read.iter()
                    .filter(|sent| !sent.part.refused)
                    .map(|sent| sent.part.tag),
            );
            waiting.extend(read);
            reads += 1;
        }
        // As many parts as there are tags.
        let sends = uut.part_room.val() && inside.len() < 15 && random.chance(3, 4);
        let next: Option<Sent> = waiting.pop_front().filter(|_| true);
        uut.part_valid.next = sends && next.is_some();
        if let Some(sent) = next {
            uut.part.next = sent.part;
            if sends {
                inside.push_back(sent);
            } else {
                waiting.push_front(sent);
            }
        }
        uut.hold.next = random.chance(1, 4);
        // The tag table, in the same cycle. Time has run out for what is not answered at last.
        settle(uut);
        let head = uut.head_tag.val();
        let sent = inside
            .iter()
            .find(|sent| sent.part.tag == head && !sent.part.refused);
        let fate = sent.filter(|sent| now >= sent.from).map(|sent| sent.fate);
        uut.head_open.next = !matches!(fate, Some(Fate::Good | Fate::Failed));
        uut.head_failed.next = fate == Some(Fate::Failed);
        uut.now.next = (3001 * u64::from(fate == Some(Fate::Unanswered))).into();
        settle(uut);

        if uut.beat_valid.val() {
            let beat: Beat = expected.pop_front().expect("a beat is due");
            let found = Beat {
                address: beat.address.map(|_| address),
                first: if beat.address.is_some() {
                    uut.beat_first.val().to_u64()
                } else {
                    0
                },
                octets: uut.beat_octets.val().to_u64(),
                last: uut.beat_last.val(),
            };
            assert_eq!(found, beat);
        }
        address = uut.read_address.val().to_u64();
        if uut.finish_valid.val() {
            let end = uut.finish.val();
            assert_eq!(Some((end.cookie, end.error)), ends.pop_front());
        }
        if uut.retire.val() {
            assert_eq!(Some(uut.retire_tag.val()), retired.pop_front());
            let place = inside.iter().position(|sent| !sent.part.refused);
            inside.drain(..=place.expect("it has a tag to give back"));
        }
        causes[0] += u64::from(uut.timed_out.val());
        causes[1] += u64::from(uut.refused.val());
        now += 1;
        let left = expected.len() + retired.len() + ends.len();
        (reads < 250 || left > 0).then_some(left)
    });
    assert!(causes.iter().all(|count| *count > 10), "{causes:?}");
}

#[test]
fn lockstep_with_verilog() {
    lockstep!("part_walker", Walker::default(), 6000, |uut, random| {
        uut.reset.next = random.chance(1, 400);
        uut.part.next = ReadPart {
            tag: random.below(16).into(),
            issued: random.below(4).into(),
            first: random.below(300).into(),
            last: (300 + random.below(212)).into(),
            refused: random.chance(1, 20),
            ends: random.chance(1, 3),
            cookie: random.wide(),
        };
        uut.part_valid.next = random.chance(1, 4);
        uut.now.next = random.below(8).into();
        uut.timeout_ticks.next = 3u64.into();
        uut.head_open.next = random.chance(1, 2);
        uut.head_failed.next = random.chance(1, 20);
        uut.hold.next = random.chance(1, 4);
    });
}
