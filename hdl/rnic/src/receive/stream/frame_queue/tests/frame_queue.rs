//! The frame queue against queues of frames with their pages, and frames that are shared.
use super::super::*;
use rnic_abi::limits::{PAGES, PAGE_OCTETS};
use rnic_hdl_tools::testkit::{lockstep, settle, simulate, Random};
use std::collections::VecDeque;

/// What is left of a frame: its octets begin at `offset` of the first of its pages.
#[derive(Clone, Debug)]
struct Frame {
    pages: Vec<u64>,
    offset: u64,
    octets: u64,
}

impl Frame {
    fn message(&self) -> QueuedFrame {
        QueuedFrame {
            head_page: self.pages[0].into(),
            tail_page: self.pages[self.pages.len() - 1].into(),
            offset: self.offset.into(),
            octets: self.octets.into(),
            slot: self.pages[self.pages.len() - 1].into(),
            shared: false,
        }
    }
}

/// What the stimulus is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Choose,
    /// The links of the frame to come are written up to this page.
    Link(usize),
    Drop,
    Consume(usize),
    Check(usize),
}

struct Script {
    step: Step,
    free: Vec<u64>,
    queues: [VecDeque<Frame>; 4],
    next: Option<Frame>,
    due: VecDeque<Vec<u64>>,
    trimmed: usize,
    passed: usize,
    dropped: usize,
}

impl Script {
    fn frame(&mut self, random: &mut Random) -> Option<Frame> {
        let offset = random.below(700);
        let most = [90, 1500, 8500][random.below(3) as usize];
        let octets = 1 + random.below(most);
        let count = (offset + octets).div_ceil(PAGE_OCTETS as u64) as usize;
        if self.free.len() < count + 40 {
            return None;
        }
        let take = |_| {
            let at = random.below(self.free.len() as u64) as usize;
            self.free.swap_remove(at)
        };
        let pages = (0..count).map(take).collect();
        Some(Frame {
            pages,
            offset,
            octets,
        })
    }

    /// The pages that consuming so many octets makes due.
    fn consume(&mut self, queue: usize, mut amount: u64) {
        while let Some(frame) = self.queues[queue].front_mut() {
            if amount < frame.octets {
                frame.offset += amount;
                frame.octets -= amount;
                let gone = frame.offset / PAGE_OCTETS as u64;
                frame.offset %= PAGE_OCTETS as u64;
                if gone > 0 {
                    let left = frame.pages.split_off(gone as usize);
                    let pages = std::mem::replace(&mut frame.pages, left);
                    self.due.push_back(pages);
                    self.trimmed += 1;
                }
                return;
            }
            amount -= frame.octets;
            let frame = self.queues[queue].pop_front().expect("it was just there");
            self.due.push_back(frame.pages);
            self.passed += 1;
        }
    }

    fn choose(&mut self, uut: &mut FrameQueue, random: &mut Random) {
        let queue = random.below(4) as usize;
        if self.next.is_none() {
            self.next = self.frame(random);
            self.step = self.next.as_ref().map_or(Step::Choose, |_| Step::Link(1));
        } else if random.chance(1, 8) {
            self.step = Step::Drop;
        } else if random.chance(1, 2) {
            let frame = self.next.take().expect("it is there");
            uut.append.next = true;
            uut.frame.next = frame.message();
            let before = self.queues[queue].back().map(Frame::message);
            uut.follows.next = before.is_some();
            uut.behind.next = before.map_or(random.wide(), |last| last.slot);
            self.queues[queue].push_back(frame);
        }
        let Some(first) = self.queues[queue].front().map(Frame::message) else {
            return;
        };
        if self.step == Step::Choose && !uut.append.next {
            let octets = self.queues[queue].iter().map(|frame| frame.octets).sum();
            let amount = [octets, random.below(octets + 1)][random.below(2) as usize];
            (uut.begins.next, uut.first.next) = (true, first);
            uut.amount.next = amount.into();
            uut.some_left.next = amount < octets;
            self.consume(queue, amount);
            self.step = Step::Consume(queue);
        }
    }
}

fn drive(uut: &mut FrameQueue, script: &mut Script, random: &mut Random) {
    uut.page_release_ready.next = random.chance(3, 4);
    if uut.page_release_valid.val() && uut.page_release_ready.next {
        let pages = script.due.pop_front().expect("pages are due");
        let (chain, tail) = (uut.page_release.val(), pages[pages.len() - 1]);
        let ends = (chain.head_page.to_u64(), chain.tail_page.to_u64());
        assert_eq!(ends, (pages[0], tail));
        script.free.extend(pages);
    }
    (uut.link_write.next, uut.jump_write.next) = (false, false);
    (uut.append.next, uut.drop.next) = (false, false);
    (uut.begins.next, uut.go.next) = (false, false);
    match script.step {
        Step::Choose => script.choose(uut, random),
        Step::Link(at) => {
            let pages = &script.next.as_ref().expect("it is being stored").pages;
            script.step = Step::Choose;
            if at < pages.len() {
                uut.link_write.next = true;
                uut.link_page.next = pages[at - 1].into();
                uut.link_next.next = pages[at].into();
                uut.jump_write.next = at >= 8;
                uut.jump_page.next = pages[at.saturating_sub(8)].into();
                script.step = Step::Link(at + 1);
            }
        }
        Step::Drop => {
            uut.drop.next = true;
            uut.frame.next = script.next.as_ref().expect("it was stored").message();
            if uut.drop_ready.val() {
                let frame = script.next.take().expect("it was stored");
                script.due.push_back(frame.pages);
                script.dropped += 1;
                script.step = Step::Choose;
            }
        }
        Step::Consume(queue) => {
            uut.go.next = random.chance(7, 8);
            settle(uut);
            if uut.done.val() {
                script.step = Step::Check(queue);
            }
        }
        Step::Check(queue) => {
            if let Some(frame) = script.queues[queue].front() {
                assert_eq!(uut.front.val(), frame.message(), "{frame:?}");
            }
            script.step = Step::Choose;
        }
    }
}

/// The pages given back while a frame of `runs` runs comes and goes; in each step a run comes
/// (`true`: it is queued, `false`: dropped), or the oldest one queued is consumed.
fn shared_frame(runs: usize, steps: &[Option<bool>]) -> Vec<(u64, u64)> {
    let mut uut = simulate!(FrameQueue::default());
    uut.page_release_ready.next = true;
    let frame = |at: usize| QueuedFrame {
        head_page: 3u64.into(),
        tail_page: 9u64.into(),
        offset: (100 * at as u64).into(),
        octets: 50u64.into(),
        slot: [9, 512 + at as u64][usize::from(at < runs - 1)].into(),
        shared: true,
    };
    let (mut come, mut queued, mut released) = (0, VecDeque::new(), Vec::new());
    for step in steps {
        for cycle in 0..12 {
            (uut.append.next, uut.drop.next, uut.begins.next) = (false, false, false);
            uut.go.next = step.is_none() && cycle > 3 && uut.go.next;
            match step {
                Some(kept) => {
                    uut.frame.next = frame(come);
                    uut.opens.next = come == 0;
                    uut.closes.next = come == runs - 1;
                    uut.append.next = *kept && cycle == 3;
                    uut.drop.next = !*kept && cycle == 3;
                }
                None if cycle == 3 => {
                    uut.first.next = queued.pop_front().expect("a run is queued");
                    uut.amount.next = 50u64.into();
                    (uut.begins.next, uut.go.next) = (true, true);
                }
                None => {}
            }
            uut.settle();
            if uut.done.val() && cycle > 3 {
                uut.go.next = false;
            }
            if uut.page_release_valid.val() {
                let chain = uut.page_release.val();
                released.push((chain.head_page.to_u64(), chain.tail_page.to_u64()));
            }
            uut.tick();
        }
        if let Some(kept) = step {
            queued.extend(kept.then(|| frame(come)));
            come += 1;
        }
    }
    released
}

#[test]
fn a_shared_frame_is_released_with_its_last_run() {
    let (queue, drop, consume) = (Some(true), Some(false), None);
    let whole = vec![(3, 9)];
    // All arrive before one is consumed; or one is consumed before the last arrives.
    let two = [queue, queue, consume, consume];
    assert_eq!(shared_frame(2, &two), whole);
    assert_eq!(shared_frame(2, &two[..3]), []);
    assert_eq!(shared_frame(2, &[queue, consume, queue, consume]), whole);
    let three = [queue, consume, queue, consume, queue, consume];
    assert_eq!(shared_frame(3, &three), whole);
    assert_eq!(shared_frame(3, &three[..5]), []);
    // The connection stops between them, or before.
    assert_eq!(shared_frame(2, &[queue, drop, consume]), whole);
    assert_eq!(shared_frame(2, &[queue, consume, drop]), whole);
    assert_eq!(shared_frame(3, &[drop, drop, drop]), whole);
    assert_eq!(shared_frame(3, &[drop, queue, drop]), []);
}

/// Pages of four queues: each is released once, in order, and only when all octets are consumed.
#[test]
fn lockstep_with_verilog_and_every_page_is_released_once() {
    let mut script = Script {
        step: Step::Choose,
        free: (0..PAGES as u64).collect(),
        queues: Default::default(),
        next: None,
        due: VecDeque::new(),
        trimmed: 0,
        passed: 0,
        dropped: 0,
    };
    lockstep!(
        "frame_queue",
        FrameQueue::default(),
        20_000,
        |uut, random| drive(uut, &mut script, random)
    );
    let queued = script.queues.iter().flatten().chain(&script.next);
    let held = queued.map(|frame| frame.pages.len()).sum::<usize>();
    let due = script.due.iter().map(Vec::len).sum::<usize>();
    assert_eq!(held + due + script.free.len(), PAGES, "pages");
    assert!(script.due.len() <= 4, "{} chains are due", script.due.len());
    let seen = [script.trimmed, script.passed, script.dropped];
    assert!(seen.iter().all(|count| *count > 20), "too little: {seen:?}");
}
