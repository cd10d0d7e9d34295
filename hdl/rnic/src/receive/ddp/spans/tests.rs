use super::*;
use rnic_hdl_tools::testkit::{lockstep, settle, simulate, Random};
use std::collections::{BTreeSet, VecDeque};

/// Spans in use; few, so that their lists grow long and are reused.
const SPANS: [u64; 5] = [0, 7, 255, 256, 511];

/// What the walker asks of the lists.
#[derive(Clone, Copy, PartialEq)]
enum Request {
    Nothing,
    Open(usize),
    Follow,
    Give,
}

/// Random pushes and replays, as the room makes them, compared with plain lists.
struct Walker {
    lists: [VecDeque<u64>; 5],
    /// The list that was opened, and how many of its slots have been read.
    opened: Option<(SpanList, Vec<u64>, usize)>,
    request: Request,
    since_push: u64,
    last_push: usize,
    /// Remaining cycles of the sweep.
    sweep: u64,
    /// Chance of 64 of a push where one is allowed, and of opening a list.
    push_of_64: u64,
    open_of_64: u64,
    pushes: u64,
    gives: u64,
    fullest: usize,
}

impl Walker {
    fn new(push_of_64: u64, open_of_64: u64) -> Self {
        Self {
            lists: Default::default(),
            opened: None,
            request: Request::Nothing,
            since_push: 6,
            last_push: 0,
            sweep: 512,
            push_of_64,
            open_of_64,
            pushes: 0,
            gives: 0,
            fullest: 0,
        }
    }

    fn forget(&mut self) {
        *self = Self {
            pushes: self.pushes,
            gives: self.gives,
            fullest: self.fullest,
            ..Self::new(self.push_of_64, self.open_of_64)
        };
    }

    fn used(&self) -> BTreeSet<u64> {
        let opened = self.opened.iter().flat_map(|(_, places, _)| places);
        let kept = self.lists.iter().flatten();
        kept.chain(opened).copied().collect()
    }

    /// One cycle: inputs, then outputs.
    fn drive(&mut self, uut: &mut SpanLists, random: &mut Random, reset: bool) {
        let used = self.used();
        let has_room = self.sweep == 0 && used.len() < SLOTS as usize;
        self.fullest = self.fullest.max(used.len());
        assert_eq!(uut.has_room.val(), has_room);
        let span = random.below(5) as usize;
        let pushes = has_room && self.since_push >= 6 && random.chance(self.push_of_64, 64);
        if self.request == Request::Nothing && random.chance(self.open_of_64, 64) {
            self.request = Request::Open(random.below(5) as usize);
        }
        uut.reset.next = reset;
        uut.push.next = pushes;
        uut.push_span.next = SPANS[span].into();
        uut.open.next = matches!(self.request, Request::Open(_));
        if let Request::Open(index) = self.request {
            uut.open_span.next = SPANS[index].into();
        }
        uut.follow.next = self.request == Request::Follow;
        uut.give.next = self.request == Request::Give;
        if let Some((list, places, seen)) = &self.opened {
            uut.follow_place.next = places[*seen - 1].into();
            uut.give_list.next = *list;
        }
        settle(uut);
        self.answers(uut);
        self.since_push += 1;
        self.sweep = self.sweep.saturating_sub(1);
        if pushes {
            let place = uut.place.val().to_u64();
            assert!(!used.contains(&place), "place {place} is taken");
            self.lists[span].push_back(place);
            (self.last_push, self.since_push) = (span, 1);
            self.pushes += 1;
        }
        if reset {
            self.forget();
        }
    }

    fn answers(&mut self, uut: &SpanLists) {
        if uut.opened.val() {
            let Request::Open(index) = self.request else {
                panic!("nothing is to be opened");
            };
            // A push since the lookup began belongs to the next list.
            let late = self.since_push <= 2 && self.last_push == index;
            let kept = self.lists[index].split_off(self.lists[index].len() - usize::from(late));
            let places: Vec<u64> = std::mem::replace(&mut self.lists[index], kept).into();
            let list = SpanList {
                head: places.first().copied().unwrap_or_default().into(),
                tail: places.last().copied().unwrap_or_default().into(),
                records: (places.len() as u64).into(),
                used: !places.is_empty(),
            };
            assert_eq!(uut.opened_list.val(), list);
            self.request = Request::Nothing;
            if list.used {
                // Some lists are walked, and some are freed at once.
                let walks = places.len() > 1 && places.len() % 3 != 0;
                self.request = if walks {
                    Request::Follow
                } else {
                    Request::Give
                };
                self.opened = Some((list, places, 1));
            }
        } else if uut.followed.val() {
            let (_, places, seen) = self.opened.as_mut().expect("an open list");
            assert_eq!(uut.next_place.val(), places[*seen]);
            *seen += 1;
            if *seen == places.len() {
                self.request = Request::Give;
            }
        } else if uut.given.val() {
            assert!(self.request == Request::Give);
            self.opened = None;
            self.request = Request::Nothing;
            self.gives += 1;
        }
    }
}

fn walk(cycles: u64, push_of_64: u64, open_of_64: u64) -> Walker {
    let mut random = Random::from_environment();
    let mut uut = simulate!(SpanLists::default());
    let mut walker = Walker::new(push_of_64, open_of_64);
    for _ in 0..cycles {
        let reset = random.chance(1, 9000);
        walker.drive(&mut uut, &mut random, reset);
        uut.tick();
    }
    walker
}

#[test]
fn every_slot_is_in_one_list_in_order() {
    let busy = walk(24_000, 48, 8);
    assert!(busy.pushes > 1000 && busy.gives > 500);
    let full = walk(16_000, 64, 1);
    assert!(full.gives > 20);
    let idle = walk(8_000, 2, 8);
    assert!(idle.pushes > 100 && idle.gives > 40);
}

#[test]
fn room_ends_with_the_last_slot_and_returns_with_a_list() {
    let full = walk(6_000, 64, 0);
    assert_eq!(full.fullest, SLOTS as usize);
}

#[test]
fn a_second_reset_in_the_sweep_begins_it_again() {
    let mut uut = simulate!(SpanLists::default());
    for (resets, cycles) in [(1, 300), (1, 511), (2, 512)] {
        for _ in 0..resets {
            uut.reset.next = true;
            uut.tick();
        }
        uut.reset.next = false;
        for cycle in 0..cycles {
            assert!(!uut.has_room.val(), "after {cycle} cycles");
            uut.tick();
        }
    }
    assert!(uut.has_room.val());
}

#[test]
fn span_lists_agree_with_their_verilog() {
    let mut walker = Walker::new(48, 6);
    let uut = SpanLists::default();
    lockstep!("ddp_span_lists", uut, 9000, |uut, random| {
        let reset = random.chance(1, 4000);
        walker.drive(uut, random, reset);
    });
    assert!(walker.gives > 100);
}
