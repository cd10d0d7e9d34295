//! Both ends of a stream around a block of one place; canaries for what a monitor must find.
use super::*;
use crate::simulate;
use rnic_macros::kernel;

/// One place; what is in it is offered, unless the fault of the test is there.
#[derive(LogicBlock, Default)]
struct Place {
    pub clock: Signal<In, Clock>,
    pub entering: Signal<In, Bits<8>>,
    pub entering_valid: Signal<In, Bit>,
    pub entering_ready: Signal<Out, Bit>,
    pub leaving: Signal<Out, Bits<8>>,
    pub leaving_valid: Signal<Out, Bit>,
    pub leaving_ready: Signal<In, Bit>,
    /// The word in the place is lost.
    pub withdraws: Signal<In, Bit>,
    full: DFF<Bit>,
    word: DFF<Bits<8>>,
}

impl Logic for Place {
    #[kernel]
    fn update(&mut self) {
        dff_setup!(self, clock, full, word);
        self.entering_ready.next = !self.full.q.val();
        self.leaving_valid.next = self.full.q.val();
        self.leaving.next = self.word.q.val();
        if self.leaving_ready.val() | self.withdraws.val() {
            self.full.d.next = false;
        }
        if self.entering_valid.val() & !self.full.q.val() {
            self.full.d.next = true;
            self.word.d.next = self.entering.val();
        }
    }
}

fn pass(send: Pace, take: Pace, fault: impl Fn(&mut Place)) -> Vec<(u64, u64)> {
    let mut uut = simulate!(Place::default());
    let mut driver = StreamDriver::new(send);
    let mut monitor = StreamMonitor::new(take);
    driver.extend((0..100u64).map(Bits::from));
    fault(&mut uut);
    uut.run_until(3000, |uut, random| {
        let (data, valid) = (&mut uut.entering, &mut uut.entering_valid);
        driver.drive(data, valid, &uut.entering_ready, random);
        let (data, valid) = (&uut.leaving, &uut.leaving_valid);
        monitor.watch(data, valid, &mut uut.leaving_ready, random);
        (monitor.taken().len() < 100).then(|| driver.waiting().len())
    });
    assert_eq!(driver.taken().len(), 100);
    monitor
        .taken()
        .iter()
        .map(|(at, word)| (*at, word.to_u64()))
        .collect()
}

#[test]
fn every_message_passes_once_in_order_at_every_pace() {
    let paces = [Pace::Always, Pace::Every(3), Pace::of_8(2)];
    for (send, take) in paces
        .into_iter()
        .flat_map(|send| paces.map(|take| (send, take)))
    {
        let words = pass(send, take, |_| {});
        let words: Vec<u64> = words.into_iter().map(|(_, word)| word).collect();
        assert_eq!(words, (0..100).collect::<Vec<u64>>(), "{send:?}, {take:?}");
    }
}

#[test]
fn cycles_are_those_of_the_pace() {
    let words = pass(Pace::Always, Pace::Every(5), |_| {});
    assert!(words.iter().all(|(at, _)| at % 5 == 0));
    assert_eq!(words[99].0 - words[0].0, 99 * 5);
    let words = pass(Pace::Always, Pace::Always, |_| {});
    assert_eq!(
        words[99].0 - words[0].0,
        99 * 2,
        "one place moves every other cycle"
    );
}

#[test]
#[should_panic(expected = "a message changed before it was taken")]
fn canary_a_withdrawn_message_is_found() {
    pass(Pace::Always, Pace::of_8(1), |uut| uut.withdraws.next = true);
}

#[test]
#[should_panic(expected = "a message changed before it was taken")]
fn canary_a_replaced_message_is_found() {
    let mut random = Random::new(1);
    let mut monitor = StreamMonitor::new(Pace::Never);
    let mut ready = Signal::<In, Bit>::default();
    for message in [7, 7, 8] {
        monitor.observe(Some(message), &mut ready, &mut random);
    }
}

#[test]
#[should_panic(expected = "the next message")]
fn canary_a_message_that_is_not_the_expected_one_is_found() {
    let mut random = Random::new(1);
    let mut monitor = StreamMonitor::new(Pace::Always);
    let mut ready = Signal::<In, Bit>::default();
    let mut expected = VecDeque::from([7, 8]);
    assert_eq!(
        monitor.check(Some(7), &mut expected, &mut ready, &mut random),
        Some(7)
    );
    assert_eq!(
        monitor.check(None, &mut expected, &mut ready, &mut random),
        None
    );
    monitor.check(Some(9), &mut expected, &mut ready, &mut random);
}

#[test]
#[should_panic(expected = "Place: after 3000 cycles outstanding: 99")]
fn canary_a_stream_that_stops_is_named_with_what_is_left() {
    pass(Pace::Always, Pace::Never, |_| {});
}

#[test]
fn a_message_is_held_until_it_is_taken() {
    let mut random = Random::new(1);
    let mut driver = StreamDriver::new(Pace::Every(4));
    driver.extend([1, 2]);
    let mut offers = Vec::new();
    for ready in [false, false, true, true, true, true] {
        offers.push(driver.offer(&mut random).copied());
        driver.advance(ready);
    }
    assert_eq!(offers, [Some(1), Some(1), Some(1), None, Some(2), None]);
    assert_eq!(driver.taken(), [2, 4]);
}
