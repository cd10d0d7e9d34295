use super::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const EMSS: u32 = 100;

fn piece(id: u64, octets: u32) -> Option<Piece> {
    Some(Piece {
        id,
        offset_octets: 0,
        octets,
    })
}

/// `count` entries of 100 octets from `seq` on, sent at 0, 1, 2, ...
fn board(seq: u32, count: u32) -> Scoreboard {
    let mut board = Scoreboard::new(SeqNumber(seq));
    for index in 0..count {
        let at = SeqNumber(seq) + 100 * index;
        board.push(at, piece(index.into(), 100), true, index.into());
    }
    board
}

fn states(board: &Scoreboard) -> String {
    let letter = |entry: &Entry| match entry.state {
        State::Flying => 'f',
        State::Sacked => 's',
        State::Lost => 'l',
    };
    board.entries.iter().map(letter).collect()
}

fn sack(board: &mut Scoreboard, seq: u32, blocks: &[(u32, u32)]) -> u64 {
    let mut octets = 0;
    for &(left, right) in blocks {
        let (left, right) = (SeqNumber(seq) + left, SeqNumber(seq) + right);
        octets += board.sack(left, right).octets;
    }
    octets
}

/// TCP-032: RFC 6675 section 4: IsLost at its threshold and one below, by runs and by octets;
/// across a wrap.
#[test]
fn three_runs_or_more_than_two_segments_above_make_a_segment_lost() {
    for seq in [1_000, u32::MAX - 350] {
        let mut runs = board(seq, 8);
        assert_eq!(sack(&mut runs, seq, &[(100, 200), (300, 400)]), 200);
        assert!(
            runs.judge(EMSS, 0).is_none() && !runs.has_lost(),
            "exactly two segments"
        );
        assert_eq!(sack(&mut runs, seq, &[(500, 600)]), 100);
        runs.judge(EMSS, 0);
        assert_eq!(
            states(&runs),
            "lsfsfsff",
            "three runs above the first alone"
        );
        assert_eq!(runs.flying_octets(), 400);
        let mut octets = board(seq, 8);
        sack(&mut octets, seq, &[(600, 800)]);
        octets.judge(EMSS, 0);
        assert_eq!(states(&octets), "ffffffss");
        sack(&mut octets, seq, &[(500, 800)]);
        octets.judge(EMSS, 0);
        assert_eq!(states(&octets), "lllllsss");
    }
}

#[test]
fn small_segments_are_judged_by_runs() {
    let mut board = Scoreboard::new(SeqNumber(0));
    for index in 0..7 {
        board.push(SeqNumber(index), piece(index.into(), 1), true, 0);
    }
    sack(&mut board, 0, &[(1, 2), (3, 4)]);
    board.judge(EMSS, 0);
    assert_eq!(states(&board), "fsfsfff");
    sack(&mut board, 0, &[(5, 6)]);
    board.judge(EMSS, 0);
    assert_eq!(states(&board), "lsfsfsf");
}

/// Blocks that lie below, beyond, the wrong way round, or cover a segment in part.
#[test]
fn blocks_of_what_is_not_in_flight_change_nothing() {
    let mut board = board(1_000, 4);
    board.acknowledge(SeqNumber(1_100), |_| {});
    for (left, right) in [
        (1_000, 1_100),
        (1_000, 1_200),
        (1_300, 1_401),
        (1_400, 1_500),
        (1_300, 1_300),
        (1_300, 1_200),
        (1_201, 1_300),
        (1_200, 1_299),
        (0x8000_0000, 0x9000_0000),
    ] {
        let progress = board.sack(SeqNumber(left), SeqNumber(right));
        assert_eq!(progress, Progress::default(), "{left}..{right}");
        assert_eq!((states(&board).as_str(), board.ranges.len()), ("fff", 0));
    }
    let progress = board.sack(SeqNumber(1_150), SeqNumber(1_350));
    assert_eq!((progress.octets, states(&board).as_str()), (100, "fsf"));
}

/// TCP-028: Karn's algorithm: the latest of those sent once; not what was sent again.
#[test]
fn samples_are_of_segments_sent_once() {
    let mut board = board(0, 4);
    board.lose_head();
    let head = board.first_lost().expect("it was just lost");
    board.resend(head, 50);
    let progress = board.acknowledge(SeqNumber(100), |_| {});
    assert_eq!((progress.octets, progress.sent_us), (100, None));
    let progress = board.sack(SeqNumber(200), SeqNumber(300));
    assert_eq!(progress.sent_us, Some(2));
    let progress = board.acknowledge(SeqNumber(300), |_| {});
    assert_eq!(
        (progress.octets, progress.sent_us),
        (100, Some(1)),
        "2 counted before"
    );
}

/// An ACK that had to wait for a retransmission is no sample of what waited behind it.
#[test]
fn what_waited_for_a_retransmission_is_no_sample() {
    let mut board = board(0, 3);
    board.lose_head();
    let head = board.first_lost().expect("it was just lost");
    board.resend(head, 50);
    let progress = board.acknowledge(SeqNumber(300), |_| {});
    assert_eq!((progress.octets, progress.sent_us), (300, None));
}

/// RFC 8985 section 6.2: a retransmission that is lost is found by what was sent after it and has
/// arrived: not by what was sent at the same time, nor within the time by which the path reorders.
#[test]
fn a_retransmission_is_judged_by_what_was_sent_after_it() {
    for (sent_us, reorder_us, is_lost) in
        [(9, 0, false), (10, 0, true), (13, 4, false), (14, 4, true)]
    {
        let mut board = board(0, 5);
        sack(&mut board, 0, &[(200, 500)]);
        assert_eq!(board.judge(EMSS, reorder_us), None);
        assert_eq!(states(&board), "llsss");
        board.resend(0, 9);
        board.resend(1, 9);
        board.push(SeqNumber(500), piece(5, 100), true, sent_us);
        assert_eq!(board.judge(EMSS, reorder_us), None);
        sack(&mut board, 0, &[(500, 600)]);
        assert_eq!(board.judge(EMSS, reorder_us), is_lost.then_some(9));
        let expected = if is_lost { "llssss" } else { "ffssss" };
        assert_eq!(states(&board), expected, "{sent_us} {reorder_us}");
        assert_eq!(board.judge(EMSS, reorder_us), None, "once");
    }
}

/// TCP-032: A segment that comes late, by two, three and ten others: the threshold is its distance
/// and one more, and what was lost by the old one flies again.
#[test]
fn late_segments_raise_the_threshold() {
    for (late, threshold) in [(2, 3), (3, 4), (10, 11), (400, 300)] {
        let mut board = board(0, late + 4);
        board.begin_report(SeqNumber(0), 0);
        sack(&mut board, 0, &[(200, 100 * (late + 2))]);
        board.judge(EMSS, 0);
        assert_eq!(states(&board).starts_with("ll"), late >= 3);
        board.begin_report(SeqNumber(0), 0);
        let progress = board.sack(SeqNumber(100), SeqNumber(200));
        assert_eq!((progress.late_octets, progress.in_vain), (100 * late, 0));
        board.tolerate(progress.late_octets, EMSS);
        assert_eq!(board.threshold(), threshold);
        // The first segment is one further away.
        board.judge(EMSS, 0);
        assert!(states(&board).starts_with('l'), "{late}");
        board.lose_all();
        assert_eq!(board.threshold(), 3);
    }
    let mut board = board(0, 10);
    sack(&mut board, 0, &[(100, 600), (700, 1_000)]);
    board.judge(EMSS, 0);
    assert_eq!(states(&board), "lssssslsss");
    board.begin_report(SeqNumber(0), 0);
    let late_octets = board.acknowledge(SeqNumber(600), |_| {}).late_octets;
    board.tolerate(late_octets, EMSS);
    assert_eq!((late_octets, states(&board).as_str()), (900, "fsss"));
    assert_eq!(board.flying_octets(), 100);
}

/// A retransmission that is acknowledged sooner than anything can be was sent in vain; one that
/// takes a round trip was not.
#[test]
fn what_is_acknowledged_too_soon_was_sent_in_vain() {
    for (unanswered_us, in_vain) in [(8, 1), (9, 0)] {
        let mut board = board(0, 5);
        sack(&mut board, 0, &[(100, 500)]);
        board.judge(EMSS, 0);
        board.resend(0, 9);
        board.begin_report(SeqNumber(0), unanswered_us);
        let progress = board.acknowledge(SeqNumber(500), |_| {});
        let late_octets = 400 * in_vain;
        assert_eq!(
            (progress.in_vain, progress.late_octets),
            (in_vain, late_octets)
        );
    }
}

/// TCP-036: RFC 2018 section 8: after a time-out nothing counts as received but what is
/// acknowledged.
#[test]
fn the_timer_takes_back_what_was_sacked() {
    let mut board = board(0, 4);
    sack(&mut board, 0, &[(200, 300)]);
    board.lose_all();
    assert_eq!(
        (states(&board).as_str(), board.flying_octets()),
        ("llll", 0)
    );
    assert!(board.is_grounded());
    for index in 0..4 {
        assert_eq!(board.first_lost(), Some(index));
        board.resend(index, 9);
    }
    assert_eq!((board.first_lost(), board.flying_octets()), (None, 400));
    assert_eq!(board.judge(EMSS, 0), None);
    assert_eq!(states(&board), "ffff");
}

/// An acknowledgement inside a segment: the segment stays whole, and is still found when lost.
#[test]
fn a_segment_acknowledged_in_part_keeps_its_bounds() {
    let mut board = board(0, 2);
    assert_eq!(board.acknowledge(SeqNumber(50), |_| {}).octets, 0);
    board.lose_head();
    assert_eq!(board.first_lost(), Some(0));
    board.resend(0, 5);
    assert_eq!(
        board.entries.front().map(|head| (head.seq, head.octets())),
        Some((SeqNumber(0), 100))
    );
    let mut gone = 0;
    board.acknowledge(SeqNumber(200), |_| gone += 1);
    assert_eq!((gone, board.len(), board.flying_octets()), (2, 0, 0));
}

#[test]
fn a_split_segment_is_two_for_good() {
    let mut board = board(0, 2);
    board.lose_all();
    board.split(0, 0);
    board.split(0, 100);
    assert_eq!(board.len(), 2, "no piece without octets");
    board.split(0, 30);
    let pieces: Vec<_> = board
        .entries
        .iter()
        .map(|entry| (entry.seq.0, entry.piece))
        .collect();
    let expected = [(0, 0, 0, 30), (30, 0, 30, 70), (100, 1, 0, 100)];
    let expected = expected.map(|(seq, id, offset_octets, octets)| {
        let piece = Piece {
            id,
            offset_octets,
            octets,
        };
        (seq, Some(piece))
    });
    assert_eq!(pieces, expected);
    let last: Vec<_> = board.entries.iter().map(|entry| entry.is_last).collect();
    assert_eq!(last, [false, true, true]);
    assert_eq!(states(&board), "lll");
}

/// The sums and hints against a walk over the entries, and IsLost against its definition.
fn verify(board: &mut Scoreboard, emss: u32, what: &str) {
    let flying = board
        .entries
        .iter()
        .filter(|entry| entry.state == State::Flying);
    let octets: u64 = flying.clone().map(|entry| u64::from(entry.octets())).sum();
    assert_eq!(
        (octets, flying.count() as u32),
        (board.flying_octets, board.flying),
        "{what}"
    );
    let lost = board
        .entries
        .iter()
        .position(|entry| entry.state == State::Lost);
    assert_eq!(board.first_lost(), lost, "{what}");
    let is_lost = |entry: &&Entry| entry.state == State::Lost;
    let lost = board.entries.iter().filter(is_lost).count();
    assert_eq!(
        (lost as u32, lost > 0),
        (board.lost, board.has_lost()),
        "{what}"
    );
    assert_eq!(board.is_grounded(), board.flying == 0, "{what}");
    assert_eq!(board.is_empty(), board.entries.is_empty(), "{what}");
    let mut runs: Vec<(SeqNumber, SeqNumber)> = Vec::new();
    for entry in board
        .entries
        .iter()
        .filter(|entry| entry.state == State::Sacked)
    {
        match runs.last_mut().filter(|run| run.1 == entry.seq) {
            Some(run) => run.1 = entry.end(),
            None => runs.push((entry.seq, entry.end())),
        }
    }
    assert_eq!(board.ranges, runs, "{what}");
    for entry in board
        .entries
        .iter()
        .filter(|entry| entry.state == State::Flying)
    {
        let above = runs.iter().filter(|run| run.0.is_after(entry.seq));
        let octets: u32 = above.clone().map(|run| run.1.octets_since(run.0)).sum();
        let is_lost = above.count() >= 3 || octets > 2 * emss;
        assert!(!is_lost || entry.transmissions > 1, "{what}: {entry:?}");
    }
}

/// TCP-032: Random segments, blocks, acknowledgements, losses and retransmissions.
#[test]
fn random_histories_agree_with_a_walk() {
    for seed in 0..60 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let start = SeqNumber(random.random());
        let (mut board, mut una, mut next) = (Scoreboard::new(start), start, start);
        for step in 0..400 {
            let what = format!("seed {seed}, step {step}");
            let flight = next.octets_since(una);
            match random.random_range(0..10) {
                0..=3 if board.len() < 40 => {
                    let octets = random.random_range(1..=EMSS);
                    board.push(next, piece(step, octets), true, step);
                    next += octets;
                }
                4..=6 if flight > 0 => {
                    let left = random.random_range(0..flight);
                    let right = random.random_range(left + 1..=flight);
                    board.sack(una + left, una + right);
                }
                7 if flight > 0 => {
                    una += random.random_range(0..=flight.min(3 * EMSS));
                    board.acknowledge(una, |_| {});
                    // What is acknowledged ends with a segment, or SACK blocks would be below it.
                    una = board.entries.front().map_or(next, |head| head.seq);
                }
                8 if random.random_ratio(1, 20) => board.lose_all(),
                _ => {
                    if let Some(index) = board.first_lost() {
                        board.resend(index, step);
                    }
                }
            }
            board.judge(EMSS, 0);
            verify(&mut board, EMSS, &what);
        }
    }
}

#[test]
fn parts_of_a_report_join() {
    let part = |octets, sent_us, late_octets, in_vain| Progress {
        octets,
        sent_us,
        late_octets,
        in_vain,
    };
    let mut all = part(3, None, 5, 2);
    all.join(part(4, Some(7), 2, 5));
    assert_eq!(all, part(7, Some(7), 5, 7));
}

/// Both parts of an entry that is cut count as what it was.
#[test]
fn a_cut_entry_counts_twice() {
    let mut board = board(1_000, 2);
    board.split(0, 30);
    assert_eq!(
        (board.flying, board.lost, board.flying_octets()),
        (3, 0, 200)
    );
    let bounds = |index| {
        board
            .entry(index)
            .map(|entry: &Entry| (entry.seq.0, entry.octets()))
    };
    let expected = [
        Some((1_000, 30)),
        Some((1_030, 70)),
        Some((1_100, 100)),
        None,
    ];
    assert_eq!([0, 1, 2, 3].map(bounds), expected);
    board.lose_all();
    board.split(2, 50);
    assert_eq!((board.flying, board.lost), (0, 4));
}

/// What was sent again is remembered for as long as it flies, at most twice as often as there are
/// entries, and once more.
#[test]
fn what_was_sent_again_is_forgotten() {
    let mut board = board(1_000, 3);
    let remembered = |now_us: u64| {
        board.lose_head();
        board.resend(0, now_us);
        board.again.len()
    };
    let counts: Vec<usize> = (10..26).map(remembered).collect();
    assert_eq!(counts, [1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 1, 2]);
    assert_eq!((board.flying, board.lost), (3, 0));
}

/// What is of a report alone does not outlast it, so that equal boards are equal.
#[test]
fn a_report_leaves_nothing_of_its_own() {
    let mut board = board(1_000, 3);
    board.begin_report(SeqNumber(1_000), 5);
    assert_eq!((board.furthest, board.unanswered_us), (SeqNumber(1_000), 5));
    board.end_report();
    assert_eq!(
        (board.furthest, board.unanswered_us),
        (SeqNumber::default(), 0)
    );
}

/// Reordering within the threshold changes nothing; beyond it what was judged lost flies again.
#[test]
fn reordering_raises_the_threshold_and_takes_losses_back() {
    let mut board = board(0, 8);
    sack(&mut board, 0, &[(300, 800)]);
    board.judge(EMSS, 0);
    assert_eq!(states(&board), "lllsssss");
    for late_octets in [0, 1, 200] {
        board.tolerate(late_octets, EMSS);
        assert_eq!((board.threshold(), board.lost, board.flying), (3, 3, 0));
    }
    board.tolerate(1_000, EMSS);
    assert_eq!(states(&board), "fffsssss");
    assert_eq!((board.threshold(), board.lost, board.flying), (11, 0, 3));
    assert_eq!(board.flying_octets(), 300);
}
