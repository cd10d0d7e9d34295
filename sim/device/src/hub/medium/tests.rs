use super::*;
use crate::hub::Rate;

fn rate(rate: f64) -> Rate {
    Rate::new(rate).expect("it is one")
}

/// Frame number `number`, of `octets` octets.
fn frame(number: u32, octets: usize) -> Vec<u8> {
    let mut frame = vec![0; octets];
    frame[..4].copy_from_slice(&number.to_be_bytes());
    frame
}

fn number(frame: &[u8]) -> u32 {
    u32::from_be_bytes(frame[..4].try_into().expect("four octets"))
}

/// All that has left by `now`: ports and numbers.
fn left(medium: &mut Medium, now: u64) -> Vec<(usize, u32)> {
    let leave = || medium.leave(now);
    iter::from_fn(leave)
        .map(|(from, frame)| (from, number(&frame)))
        .collect()
}

/// Numbers of `frames` frames of one port, one a microsecond, as they leave; those dropped.
fn pass(settings: Settings, frames: u32) -> (Vec<u32>, Vec<u32>, Counts) {
    let mut medium = Medium::new(settings, 2);
    let (mut passed, mut dropped) = (vec![], vec![]);
    for sent in 0..frames {
        let back = medium.enter(0, u64::from(sent), frame(sent, 60));
        dropped.extend(back.map(|frame| number(&frame)));
        passed.extend(
            left(&mut medium, u64::from(sent))
                .into_iter()
                .map(|(_, n)| n),
        );
    }
    passed.extend(left(&mut medium, u64::MAX).into_iter().map(|(_, n)| n));
    assert_eq!(medium.due(), None, "nothing stays");
    (passed, dropped, medium.counts(0))
}

#[test]
fn without_faults_frames_leave_at_once_in_order() {
    let (passed, dropped, counts) = pass(Settings::default(), 1_000);
    assert_eq!(passed, (0..1_000).collect::<Vec<_>>());
    assert!(dropped.is_empty());
    let expected = Counts {
        received: 1_000,
        octets: 60_000,
        ..Counts::default()
    };
    assert_eq!(counts, expected);
}

#[test]
fn rates_of_0_and_1_are_never_and_always() {
    let lossy = Settings {
        loss: rate(1.0),
        ..Settings::default()
    };
    let (passed, dropped, counts) = pass(lossy, 100);
    assert_eq!((passed, dropped.len(), counts.lost), (vec![], 100, 100));
    let doubling = Settings {
        duplicate: rate(1.0),
        ..Settings::default()
    };
    let (passed, _, counts) = pass(doubling, 100);
    assert_eq!(passed, (0..200).map(|n| n / 2).collect::<Vec<_>>());
    assert_eq!(counts.duplicated, 100);
    assert_eq!(
        [Rate::new(-0.1), Rate::new(1.1), Rate::new(f64::NAN)],
        [None; 3]
    );
}

/// Each frame that is not lost leaves once, or twice if it was copied; none is overtaken by more
/// than three that are on time.
#[test]
fn nothing_is_lost_but_what_is_counted() {
    for seed in 0..50 {
        let settings = Settings {
            loss: rate(0.1),
            duplicate: rate(0.1),
            reorder: rate(0.2),
            seed,
            ..Settings::default()
        };
        let (passed, dropped, counts) = pass(settings, 2_000);
        let mut times = vec![0; 2_000];
        passed.iter().for_each(|&n| times[n as usize] += 1);
        assert!(
            dropped.iter().all(|&n| times[n as usize] == 0),
            "seed {seed}"
        );
        assert_eq!(times.iter().filter(|&&n| n == 0).count(), dropped.len());
        assert_eq!(
            times.iter().filter(|&&n| n == 2).count() as u64,
            counts.duplicated
        );
        assert_eq!(dropped.len() as u64, counts.lost);
        assert!((140..260).contains(&counts.lost), "{counts:?}");
        assert!((120..240).contains(&counts.duplicated), "{counts:?}");
        assert!((300..480).contains(&counts.late), "{counts:?}");
        let is_overtaken = |pair: &[u32]| pair[0] > pair[1];
        assert!(passed.windows(2).filter(|pair| is_overtaken(pair)).count() > 100);
        for (place, &n) in passed.iter().enumerate() {
            // Frames on time are in order: what is later by number and before it has overtaken it.
            let before = &passed[..place];
            let overtakers = before.iter().filter(|&&other| other > n).count();
            assert!(
                overtakers <= 12,
                "seed {seed}: {overtakers} have overtaken {n}"
            );
        }
    }
}

/// A frame that is late leaves right after the last one that overtakes it.
#[test]
fn late_frames_are_overtaken_by_one_to_three() {
    let mut seen = [0; 4];
    for seed in 0..200 {
        let late = Settings {
            reorder: rate(1.0),
            seed,
            ..Settings::default()
        };
        let mut medium = Medium::new(late, 2);
        assert_eq!(medium.enter(0, 0, frame(0, 60)), None);
        medium.settings.reorder = rate(0.0);
        assert_eq!(left(&mut medium, 0), []);
        for sent in 1..5 {
            assert_eq!(medium.enter(0, 0, frame(sent, 60)), None);
        }
        let order: Vec<u32> = left(&mut medium, 0).into_iter().map(|(_, n)| n).collect();
        let place = order.iter().position(|&n| n == 0).expect("it has left");
        seen[place] += 1;
    }
    assert!(
        seen[0] == 0 && seen[1..].iter().all(|&count| count > 40),
        "{seen:?}"
    );
}

/// The last frame of all is not kept for ever, and frames of other ports do not overtake it.
#[test]
fn the_last_frame_leaves_after_its_hold() {
    let late = Settings {
        reorder: rate(1.0),
        delay_us: 7,
        ..Settings::default()
    };
    let mut medium = Medium::new(late, 2);
    assert_eq!(medium.enter(0, 100, frame(0, 60)), None);
    assert_eq!(medium.due(), Some(107));
    assert_eq!(left(&mut medium, 107), []);
    medium.settings.reorder = rate(0.0);
    for sent in 1..10 {
        assert_eq!(medium.enter(1, 107, frame(sent, 60)), None);
    }
    assert_eq!(left(&mut medium, 114).len(), 9);
    assert_eq!(medium.due(), Some(107 + HOLD_US));
    assert_eq!(left(&mut medium, 106 + HOLD_US), []);
    assert_eq!(left(&mut medium, 107 + HOLD_US), [(0, 0)]);
}

/// The fate of a frame is not a matter of times, or of other ports.
#[test]
fn fates_depend_on_seed_port_and_number() {
    let settings = |seed| Settings {
        loss: rate(0.3),
        seed,
        ..Settings::default()
    };
    let lost = |seed, port: usize, others: u32| {
        let mut medium = Medium::new(settings(seed), 3);
        let fate = |sent| {
            for other in 0..others {
                let _ = medium.enter((port + 1) % 3, u64::from(sent) * 999, frame(other, 60));
            }
            medium
                .enter(port, u64::from(sent * others), frame(sent, 60))
                .is_some()
        };
        (0..200).map(fate).collect::<Vec<bool>>()
    };
    assert_eq!(lost(1, 0, 0), lost(1, 0, 3));
    assert_ne!(lost(1, 0, 0), lost(1, 1, 0));
    assert_ne!(lost(1, 0, 0), lost(2, 0, 0));
}

/// A port of 100 Mb/s: a frame of 1,476 octets takes 1,500 on the wire, 120 us; as much waits as
/// the queue holds, and not a frame more.
#[test]
fn speed_and_queue_are_limited() {
    let slow = Settings {
        megabits: 100,
        ..Settings::default()
    };
    let mut medium = Medium::new(slow, 2);
    let mut taken = 0;
    while medium.enter(0, 50, frame(taken, 1_476)).is_none() {
        taken += 1;
    }
    // Those that wait, and the one that finds exactly less than a full queue.
    let expected = QUEUE_OCTETS_MAX.div_ceil(1_500) as u32;
    assert_eq!(taken, expected);
    assert_eq!(medium.counts(0).full, 1);
    assert_eq!(
        medium.enter(1, 50, frame(0, 60)),
        None,
        "each port has its own"
    );
    assert_eq!(left(&mut medium, 56), []);
    assert_eq!(left(&mut medium, 57), [(1, 0)], "84 octets, 6.72 us");
    assert_eq!(left(&mut medium, 169), []);
    assert_eq!(left(&mut medium, 170), [(0, 0)]);
    let end = 50 + 120 * u64::from(taken);
    assert_eq!(left(&mut medium, end - 1).len() as u32, taken - 2);
    assert_eq!(left(&mut medium, end), [(0, taken - 1)]);
    assert_eq!(
        medium.enter(0, end, frame(0, 1_476)),
        None,
        "it is empty again"
    );
}

/// A long delay keeps no more than is stated; what leaves makes room again.
#[test]
fn what_is_on_its_way_is_limited() {
    const OCTETS: usize = 64 << 10;
    let slow = Settings {
        delay_us: 1_000,
        duplicate: rate(1.0),
        ..Settings::default()
    };
    let mut medium = Medium::new(slow, 2);
    for sent in 0..WAY_OCTETS_MAX / OCTETS / 2 {
        assert_eq!(medium.enter(sent % 2, 0, vec![0; OCTETS]), None);
    }
    assert_eq!(medium.enter(0, 0, vec![0; 4]), Some(vec![0; 4]));
    assert_eq!(medium.counts(0).full, 1);
    assert!(medium.leave(1_000).is_some());
    assert!(
        medium.enter(0, 1_000, vec![0; OCTETS]).is_some(),
        "a copy more than has left"
    );
    assert!(medium.leave(1_000).is_some());
    assert_eq!(medium.enter(0, 1_000, vec![0; OCTETS]), None);
}
