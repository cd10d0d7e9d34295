//! The snippets of `docs/rust-hdl.md`: compiled, simulated, linted, and in lockstep with Verilog.
//!
//! The chapters of the handbook and the modules here bear the same names.
use crate::common::fifo::Fifo;
use rnic_hdl_tools::testkit::{lockstep, lockstep_combinational, settle, tick};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// State of a flow, for the struct and match chapters.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum FlowState {
    Closed,
    Open,
    Failed,
}

/// A payload with every kind of field.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Beat {
    data: Bits<32>,
    keep: Bits<4>,
    last: Bit,
    state: FlowState,
}

mod structs {
    use super::*;

    #[derive(LogicBlock, Default)]
    pub struct Mark {
        pub clock: Signal<In, Clock>,
        pub beat: Signal<In, Beat>,
        pub marked: Signal<Out, Beat>,
        pub low_half: Signal<Out, Bits<16>>,
        held: DFF<Beat>,
        next_beat: Signal<Local, Beat>,
        data: Signal<Local, Bits<32>>,
    }

    impl Logic for Mark {
        #[kernel]
        fn update(&mut self) {
            registers!(clock; held);
            self.next_beat.next = self.beat.val();
            if self.beat.val().last {
                self.next_beat.next.keep = 1.into();
                self.next_beat.next.state = FlowState::Failed;
            }
            self.held.d.next = self.next_beat.val();
            self.held.d.next.last = !self.beat.val().last;
            self.marked.next = self.held.q.val();
            self.data.next = self.held.q.val().data;
            self.low_half.next = self.data.val().get_bits::<16>(0);
        }
    }

    #[test]
    fn fields_are_read_and_written_in_place() {
        let mut uut = Mark::default();
        uut.connect_all();
        uut.beat.next = Beat {
            data: 0x1234_5678u64.into(),
            keep: 15u64.into(),
            last: true,
            state: FlowState::Open,
        };
        tick(&mut uut, |uut| &mut uut.clock);
        let marked = uut.marked.val();
        assert_eq!(marked.data, 0x1234_5678u64);
        assert_eq!(marked.keep, 1u64);
        assert!(!marked.last);
        assert_eq!(marked.state, FlowState::Failed);
        assert_eq!(uut.low_half.val(), 0x5678u64);
    }

    #[test]
    fn lockstep_with_verilog() {
        lockstep!("dialect_structs", Mark::default(), 500, |uut, random| {
            uut.beat.next = Beat {
                data: random.wide(),
                keep: random.wide(),
                last: random.chance(1, 2),
                state: [FlowState::Closed, FlowState::Open][random.below(2) as usize],
            };
        });
    }
}

mod concatenation {
    use super::*;

    /// The first field is the least significant.
    #[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
    pub struct Pair {
        low: Bits<8>,
        high: Bits<16>,
    }

    #[derive(LogicBlock, Default)]
    pub struct Join {
        pub low: Signal<In, Bits<8>>,
        pub high: Signal<In, Bits<16>>,
        pub word: Signal<Out, Bits<24>>,
        pub shifted: Signal<Out, Bits<24>>,
        pair: Signal<Local, Pair>,
    }

    impl Logic for Join {
        #[kernel]
        fn update(&mut self) {
            self.pair.next.low = self.low.val();
            self.pair.next.high = self.high.val();
            self.word.next = self.pair.val().into();
            self.shifted.next =
                (bit_cast::<24, 16>(self.high.val()) << 8) | bit_cast::<24, 8>(self.low.val());
        }
    }

    #[test]
    fn struct_local_or_shift() {
        let mut uut = Join::default();
        uut.connect_all();
        uut.low.next = 0xabu64.into();
        uut.high.next = 0x1234u64.into();
        settle(&mut uut);
        assert_eq!(uut.word.val(), 0x1234abu64);
        assert_eq!(uut.shifted.val(), 0x1234abu64);
    }

    #[test]
    fn lockstep_with_verilog() {
        lockstep_combinational(
            "dialect_concatenation",
            Join::default(),
            500,
            |uut, random| {
                uut.low.next = random.wide();
                uut.high.next = random.wide();
            },
        );
    }
}

mod constructors {
    use super::*;

    /// Four lanes of W bits, one at a time.
    #[derive(LogicBlock, Init)]
    #[init(assert!(W % 32 == 0, "Pick: W = {W} must be a multiple of 32");)]
    pub struct Pick<const W: usize> {
        pub lanes: [Signal<In, Bits<W>>; 4],
        pub lane: Signal<In, Bits<2>>,
        pub picked: Signal<Out, Bits<W>>,
        pub place: Signal<Out, Bits<9>>,
        pub place_end: Signal<Out, Bits<9>>,
        #[constant((W - 1) as LiteralType)]
        last: Constant<Bits<9>>,
        #[constants(|lane| 32 * lane as LiteralType)]
        places: [Constant<Bits<9>>; 4],
    }

    impl<const W: usize> Logic for Pick<W> {
        #[kernel]
        fn update(&mut self) {
            self.picked.next = self.lanes[0].val();
            self.place.next = self.places[0].val();
            for i in 1..4 {
                if self.lane.val().index() == i {
                    self.picked.next = self.lanes[i].val();
                    self.place.next = self.places[i].val();
                }
            }
            self.place_end.next = self.place.val() + self.last.val();
        }
    }

    #[test]
    fn lockstep_with_verilog() {
        lockstep_combinational(
            "dialect_constructors",
            Pick::<64>::default(),
            500,
            |uut, random| {
                (0..4).for_each(|lane| uut.lanes[lane].next = random.wide());
                uut.lane.next = random.wide();
            },
        );
    }

    #[test]
    #[should_panic(expected = "Pick: W = 33 must be a multiple of 32")]
    fn parameters_are_checked() {
        let _ = Pick::<33>::default();
    }
}

mod matching {
    use super::*;

    #[derive(LogicBlock, Default)]
    pub struct Machine {
        pub clock: Signal<In, Clock>,
        pub reset: Signal<In, Bit>,
        pub opcode: Signal<In, Bits<4>>,
        pub state: Signal<Out, FlowState>,
        pub accepted: Signal<Out, Bit>,
        current: DFF<FlowState>,
    }

    impl Logic for Machine {
        #[kernel]
        fn update(&mut self) {
            registers!(clock; current);
            self.state.next = self.current.q.val();
            self.accepted.next = false;
            match self.current.q.val() {
                FlowState::Closed => match self.opcode.val().index() {
                    3 => self.current.d.next = FlowState::Open,
                    10 => self.current.d.next = FlowState::Failed,
                    _ => {}
                },
                FlowState::Open => self.accepted.next = true,
                _ => {}
            }
            if self.reset.val() {
                self.current.d.next = FlowState::Closed;
            }
        }
    }

    #[test]
    fn enum_and_numeric_labels() {
        let mut uut = Machine::default();
        uut.connect_all();
        uut.opcode.next = 3u64.into();
        tick(&mut uut, |uut| &mut uut.clock);
        assert_eq!(uut.state.val(), FlowState::Open);
        assert!(uut.accepted.val());
    }

    #[test]
    fn lockstep_with_verilog() {
        let uut = Machine::default();
        lockstep!("dialect_matching", uut, 500, |uut, random| {
            uut.reset.next = random.chance(1, 20);
            uut.opcode.next = random.wide();
        });
    }
}

mod generics {
    use super::*;

    /// W bits, L = W/32 lanes.
    #[derive(LogicBlock, Init)]
    #[init(assert!(W == 32 * L, "Lanes: W = {W} must be 32 L = {}", 32 * L);)]
    pub struct Lanes<const W: usize, const L: usize> {
        pub clock: Signal<In, Clock>,
        pub words: Signal<In, Bits<W>>,
        pub wanted: Signal<In, Bits<32>>,
        pub found: Signal<Out, Bits<L>>,
        pub top_word: Signal<Out, Bits<32>>,
        lane: [DFF<Bits<32>>; L],
        hits: Signal<Local, Bits<L>>,
        #[constant(L as LiteralType - 1)]
        top_lane: Constant<Bits<32>>,
    }

    impl<const W: usize, const L: usize> Logic for Lanes<W, L> {
        #[kernel]
        fn update(&mut self) {
            self.hits.next = 0.into();
            for i in 0..L {
                self.lane[i].clock.next = self.clock.val();
                self.lane[i].d.next = self.words.val().get_bits::<32>(i * 32);
                self.hits.next = self
                    .hits
                    .val()
                    .replace_bit(i, self.lane[i].q.val() == self.wanted.val());
            }
            self.found.next = self.hits.val();
            self.top_word.next = self.top_lane.val();
            // A const generic as an offset: a loop of one turn.
            for width in W..(W + 1) {
                self.top_word.next = self.words.val().get_bits::<32>(width - 32);
            }
        }
    }

    #[test]
    fn one_block_per_lane() {
        let mut uut = Lanes::<64, 2>::default();
        uut.connect_all();
        uut.words.next = 0x0000_0007_0000_0009u64.into();
        uut.wanted.next = 7u64.into();
        tick(&mut uut, |uut| &mut uut.clock);
        assert_eq!(uut.found.val(), 2u64);
        assert_eq!(uut.top_word.val(), 7u64);
    }

    #[test]
    fn lockstep_with_verilog() {
        let uut = Lanes::<64, 2>::default();
        lockstep!("dialect_generics", uut, 500, |uut, random| {
            uut.words.next = random.wide();
            let hit = if random.chance(1, 2) {
                uut.words.next.get_bits::<32>(32)
            } else {
                9u64.into()
            };
            uut.wanted.next = hit;
        });
    }
}

mod sub_blocks {
    use super::*;

    /// Two FIFOs of structs, steered by `select`.
    #[derive(LogicBlock, Init)]
    pub struct Steer {
        pub clock: Signal<In, Clock>,
        pub reset: Signal<In, Bit>,
        pub select: Signal<In, Bit>,
        pub write: Signal<In, Bit>,
        pub beat: Signal<In, Beat>,
        pub read: Signal<In, Bit>,
        pub head: Signal<Out, Beat>,
        pub empty: Signal<Out, Bit>,
        #[init([Fifo::new(2), Fifo::new(2)])]
        queue: [Fifo<Beat, 3, 4>; 2],
    }

    impl Logic for Steer {
        #[kernel]
        fn update(&mut self) {
            for i in 0..2 {
                self.queue[i].clock.next = self.clock.val();
                self.queue[i].reset.next = self.reset.val();
                self.queue[i].data_in.next = self.beat.val();
                self.queue[i].read.next = self.read.val();
            }
            self.queue[0].write.next = self.write.val() & !self.select.val();
            self.queue[1].write.next = self.write.val() & self.select.val();
            self.head.next = self.queue[0].data_out.val();
            self.empty.next = self.queue[0].empty.val();
            if self.select.val() {
                self.head.next = self.queue[1].data_out.val();
                self.empty.next = self.queue[1].empty.val();
            }
        }
    }

    #[test]
    fn arrays_of_fifos_of_structs() {
        let mut uut = Steer::default();
        uut.connect_all();
        uut.select.next = true;
        uut.write.next = true;
        uut.beat.next.data = 5u64.into();
        for _ in 0..3 {
            tick(&mut uut, |uut| &mut uut.clock);
        }
        assert!(!uut.empty.val());
        assert_eq!(uut.head.val().data, 5u64);
    }

    #[test]
    fn lockstep_with_verilog() {
        let uut = Steer::default();
        lockstep!("dialect_sub_blocks", uut, 2000, |uut, random| {
            uut.reset.next = random.chance(1, 200);
            uut.select.next = random.chance(1, 2);
            uut.write.next = random.chance(3, 4);
            uut.read.next = random.chance(1, 2);
            uut.beat.next.data = random.wide();
            uut.beat.next.last = random.chance(1, 4);
        });
    }
}

mod wires {
    use super::*;
    use crate::common::skid::Skid;

    /// Two register slices in a row.
    #[derive(LogicBlock, Default)]
    pub struct Slices {
        pub clock: Signal<In, Clock>,
        pub reset: Signal<In, Bit>,
        pub word: Signal<In, Bits<16>>,
        pub word_valid: Signal<In, Bit>,
        pub word_ready: Signal<Out, Bit>,
        pub late: Signal<Out, Bits<16>>,
        pub late_valid: Signal<Out, Bit>,
        pub late_ready: Signal<In, Bit>,
        first: Skid<Bits<16>>,
        second: Skid<Bits<16>>,
    }

    impl Logic for Slices {
        #[kernel]
        fn update(&mut self) {
            wire!(self => self.{first, second}; clock, reset);
            wire!(self => self.first; word as s_data, word_valid as s_valid);
            wire!(self.first => self; s_ready as word_ready);
            wire!(self.first => self.second; m_data as s_data, m_valid as s_valid);
            wire!(self.second => self.first; s_ready as m_ready);
            wire!(self.second => self; m_data as late, m_valid as late_valid);
            wire!(self => self.second; late_ready as m_ready);
        }
    }

    /// The same, in a block whose streams have their names.
    #[derive(LogicBlock, Default)]
    pub struct Chain {
        pub clock: Signal<In, Clock>,
        pub reset: Signal<In, Bit>,
        pub word: Signal<In, Bits<16>>,
        pub word_valid: Signal<In, Bit>,
        pub word_ready: Signal<Out, Bit>,
        pub late: Signal<Out, Bits<16>>,
        pub late_valid: Signal<Out, Bit>,
        pub late_ready: Signal<In, Bit>,
        slices: Slices,
    }

    impl Logic for Chain {
        #[kernel]
        fn update(&mut self) {
            wire!(self => self.slices; clock, reset);
            stream!(self => self.slices; word);
            stream!(self.slices => self; late);
        }
    }

    #[test]
    fn lockstep_with_verilog() {
        lockstep!("dialect_wires", Chain::default(), 2000, |uut, random| {
            uut.reset.next = random.chance(1, 200);
            uut.word.next = random.wide();
            uut.word_valid.next = random.chance(3, 4);
            uut.late_ready.next = random.chance(1, 2);
        });
    }
}
