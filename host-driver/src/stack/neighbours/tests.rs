use super::*;

const MAC: Mac = [2, 0, 0, 0, 0, 9];

fn ip(number: u32) -> IpAddr {
    IpAddr::V4((0x0a00_0000 + number).into())
}

/// Questions that are due at `now`.
fn asked(neighbours: &mut Neighbours, now: u64) -> (Vec<Question>, u64) {
    let mut lost = 0;
    let questions = std::iter::from_fn(|| neighbours.ask(now, &mut lost)).collect();
    (questions, lost)
}

fn question(number: u32, to: Option<Mac>) -> Question {
    Question {
        address: ip(number),
        to,
    }
}

#[test]
fn who_does_not_answer_is_asked_three_times_and_forgotten() {
    let mut neighbours = Neighbours::default();
    assert_eq!(neighbours.deadline(), None);
    assert_eq!(neighbours.resolve(ip(1), 10), Hop::Asked);
    for packet in 0..WAITING_MAX as u8 {
        assert_eq!(neighbours.wait(ip(1), vec![packet]), None);
    }
    assert_eq!(
        neighbours.wait(ip(1), vec![9]),
        Some(vec![0]),
        "the oldest one goes"
    );
    for ask in 0..u64::from(ASKS) {
        let due = 10 + ask * ASK_US;
        assert_eq!(neighbours.deadline(), Some(due));
        assert_eq!(asked(&mut neighbours, due - 1), (vec![], 0));
        assert_eq!(asked(&mut neighbours, due), (vec![question(1, None)], 0));
        assert_eq!(
            neighbours.resolve(ip(1), due),
            Hop::Asked,
            "no question more"
        );
    }
    let end = 10 + u64::from(ASKS) * ASK_US;
    assert_eq!(asked(&mut neighbours, end - 1), (vec![], 0));
    assert_eq!(asked(&mut neighbours, end), (vec![], WAITING_MAX as u64));
    assert_eq!(neighbours.deadline(), None);
    assert_eq!(
        neighbours.wait(ip(1), vec![7]),
        Some(vec![7]),
        "nobody is asked for"
    );
    assert_eq!(
        neighbours.resolve(ip(1), end),
        Hop::Asked,
        "it may be there now"
    );
    assert_eq!(asked(&mut neighbours, end).0, [question(1, None)]);
}

#[test]
fn an_answer_holds_for_its_time_and_is_used_while_it_is_asked_for_again() {
    let mut neighbours = Neighbours::default();
    assert_eq!(neighbours.resolve(ip(1), 0), Hop::Asked);
    assert_eq!(neighbours.wait(ip(1), vec![1]), None);
    assert_eq!(neighbours.wait(ip(1), vec![2]), None);
    assert_eq!(asked(&mut neighbours, 0).0.len(), 1);
    assert_eq!(neighbours.learn(ip(1), MAC, 5, false), [[1], [2]]);
    assert_eq!(neighbours.resolve(ip(1), 5 + FRESH_US - 1), Hop::Known(MAC));
    assert_eq!(neighbours.deadline(), None);
    let old = 5 + FRESH_US;
    assert_eq!(neighbours.resolve(ip(1), old), Hop::Known(MAC));
    assert_eq!(
        asked(&mut neighbours, old).0,
        [question(1, Some(MAC))],
        "to it alone"
    );
    assert_eq!(neighbours.learn(ip(1), [4; 6], old + 1, false), [[0; 0]; 0]);
    assert_eq!(neighbours.resolve(ip(1), old + 2), Hop::Known([4; 6]));
    assert_eq!(neighbours.deadline(), None, "it has answered");
    // And one that does not answer any more.
    let old = old + 1 + FRESH_US;
    for ask in 0..u64::from(ASKS) {
        assert_eq!(
            neighbours.resolve(ip(1), old + ask * ASK_US),
            Hop::Known([4; 6])
        );
        assert_eq!(asked(&mut neighbours, old + ask * ASK_US).0.len(), 1);
    }
    assert_eq!(
        asked(&mut neighbours, old + u64::from(ASKS) * ASK_US),
        (vec![], 0)
    );
    assert_eq!(
        neighbours.resolve(ip(1), old + u64::from(ASKS) * ASK_US),
        Hop::Asked
    );
}

#[test]
fn what_strangers_say_takes_no_room() {
    let mut neighbours = Neighbours::default();
    assert!(neighbours.learn(ip(1), MAC, 0, false).is_empty());
    assert_eq!(neighbours.resolve(ip(1), 0), Hop::Asked);
    assert!(neighbours.learn(ip(2), MAC, 0, true).is_empty());
    assert_eq!(neighbours.resolve(ip(2), 0), Hop::Known(MAC));
}

/// The table has [`NEIGHBOURS_MAX`]: one more takes the place of the one that was not used for
/// longest, never of one that packets wait for.
#[test]
fn a_full_table_forgets_who_is_not_used() {
    let mut neighbours = Neighbours::default();
    let most = NEIGHBOURS_MAX as u32;
    for number in 0..most {
        neighbours.learn(ip(number), MAC, u64::from(number), true);
        assert_eq!(
            neighbours.resolve(ip(number), u64::from(number)),
            Hop::Known(MAC)
        );
    }
    assert_eq!(neighbours.resolve(ip(0), 1_000), Hop::Known(MAC));
    assert_eq!(neighbours.resolve(ip(most), 1_001), Hop::Asked);
    assert_eq!(neighbours.wait(ip(most), vec![1]), None);
    assert_eq!(neighbours.table.len(), NEIGHBOURS_MAX);
    assert_eq!(
        (neighbours.counts.forgotten, neighbours.counts.full),
        (1, 0)
    );
    assert!(neighbours.table.contains_key(&ip(0)) && !neighbours.table.contains_key(&ip(1)));
    for number in most + 1..2 * most {
        assert_eq!(neighbours.resolve(ip(number), 2_000), Hop::Asked);
        assert_eq!(neighbours.wait(ip(number), vec![2]), None);
    }
    assert_eq!(neighbours.resolve(ip(5), 3_000), Hop::Full);
    assert!(neighbours.learn(ip(5), MAC, 3_000, true).is_empty());
    let counts = NeighbourCounts {
        forgotten: u64::from(most),
        full: 2,
    };
    assert_eq!(neighbours.counts(), counts);
    assert_eq!(neighbours.learn(ip(most), MAC, 3_000, true), [[1]]);
    assert_eq!(
        neighbours.resolve(ip(5), 3_000),
        Hop::Asked,
        "there is room again"
    );
}
