//! Each kind of statement and expression once: `#[kernel]` builds the tree that `#[hdl_gen]` does.
// Shapes that the lint refuses in a whole block are built all the same.
#![allow(clippy::precedence, clippy::single_match)]

use super::{verilog, Verilog};
use rnic_macros::kernel;
use rust_hdl::prelude::*;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum State {
    Idle,
    Busy,
}

#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Beat {
    data: Bits<12>,
    last: Bit,
    state: State,
}

/// The tree of a block as text, and each of its signals with whether it is driven.
fn hardware<B: Block>(mut block: B) -> (String, Vec<String>) {
    let hdl = block.hdl();
    assert!(matches!(hdl, Verilog::Combinatorial(_)), "{hdl:?}");
    block.connect_all();
    let mut driven = Driven::default();
    block.accept("top", &mut driven);
    (format!("{hdl:#?}"), driven.0)
}

#[derive(Default)]
struct Driven(Vec<String>);

impl Probe for Driven {
    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        self.0.push(format!("{name}: {}", signal.connected()));
    }
}

/// The hardware of a block with these fields and this function, at `N` = 5.
macro_rules! hardware {
    ({ $($field:ident: $kind:ty),* $(,)? } $($function:tt)*) => {{
        mod shape {
            use super::*;
            #[derive(LogicBlock, Default)]
            pub(super) struct Shape<const N: usize> { $($field: $kind),* }
            impl<const N: usize> Logic for Shape<N> { $($function)* }
        }
        hardware(shape::Shape::<5>::default())
    }};
}

/// One function under two attributes is the same hardware.
macro_rules! same {
    ($fields:tt $a:tt $ours:tt $b:tt $theirs:tt $($function:tt)*) => {
        assert_eq!(
            hardware!($fields $a $ours $($function)*),
            hardware!($fields $b $theirs $($function)*)
        )
    };
}

#[test]
fn assignments_and_registers() {
    same!(
        { clock: Signal<In, Clock>, on: Signal<In, Bit>, a: DFF<Bits<N>>, b: DFF<Bit>,
          y: Signal<Out, Bits<N>>, left: Signal<Local, Bit> }
        #[kernel] #[hdl_gen]
        fn update(&mut self) {
            dff_setup!(self, clock, a, b);
            self.y.next = self.a.q.val();
            self.b.d.next = self.on.val();
        }
    );
}

#[test]
fn conditions() {
    same!(
        { a: Signal<In, Bit>, b: Signal<In, Bit>, y: Signal<Out, Bits<4>>, z: Signal<Out, Bit>,
          count: Signal<Out, Bits<8>> }
        #[kernel] #[hdl_gen]
        fn update(&mut self) {
            if self.a.val() {
                self.y.next = 1.into();
            }
            if self.a.val() {
                self.y.next = 2.into();
            } else {
                self.z.next = true;
            }
            if self.a.val() {
                if self.b.val() {}
            } else if self.b.val() {
                self.count.next = 3.into();
            } else if self.a.val() & self.b.val() {
                self.y.next = 4.into();
            } else {
                self.y.next = 5.into();
            }
        }
    );
}

#[test]
fn choices() {
    same!(
        { state: DFF<State>, clock: Signal<In, Clock>, code: Signal<In, Bits<4>>,
          y: Signal<Out, Bits<4>>, idle: Signal<Out, Bit> }
        #[kernel] #[hdl_gen]
        fn update(&mut self) {
            dff_setup!(self, clock, state);
            self.idle.next = self.state.q.val() == State::Idle;
            match self.state.q.val() {
                State::Idle => match self.code.val().index() {
                    3 => self.state.d.next = State::Busy,
                    10 => {}
                    _ => {
                        self.y.next = 1.into();
                        self.y.next = 2.into();
                    }
                },
                State::Busy => self.state.d.next = State::Idle,
                _ => {}
            }
        }
    );
}

#[test]
fn loops_and_indices() {
    same!(
        { a: [DFF<Bits<N>>; 4], clock: Signal<In, Clock>, word: Signal<In, Bits<32>>,
          bits: [Signal<Out, Bit>; 5], none: Signal<Local, Bit>, top: Signal<Out, Bits<N>> }
        #[kernel] #[hdl_gen]
        fn update(&mut self) {
            for i in 0..4 {
                self.a[i].clock.next = self.clock.val();
                self.a[i].d.next = self.word.val().get_bits::<N>(i * 8);
                for j in 0..N {
                    self.bits[j].next = self.word.val().get_bit(i * 8 + j);
                }
            }
            for i in N..N {
                self.none.next = self.word.val().get_bit(i);
            }
            for half in 1..(N / 2) {
                self.a[(half * 2 + 3) % 4 - 1].d.next = self.a[half].q.val();
            }
            for top in N..(N + 1) {
                self.top.next = self.word.val().get_bits::<N>(top - 5);
            }
        }
    );
}

#[test]
fn fields_of_structs() {
    same!(
        { clock: Signal<In, Clock>, beat: Signal<In, Beat>, beats: [Signal<In, Beat>; 2],
          held: DFF<Beat>, next_beat: Signal<Local, Beat>, y: Signal<Out, Bits<12>> }
        #[kernel] #[hdl_gen]
        fn update(&mut self) {
            dff_setup!(self, clock, held);
            self.next_beat.next = self.beat.val();
            self.next_beat.next.data = self.beat.val().data + self.held.q.val().data;
            self.next_beat.next.state = State::Busy;
            self.held.d.next.last = !self.beats[1].val().last;
            self.y.next = self.beat.val().data;
        }
    );
}

#[test]
fn operators() {
    same!(
        { a: Signal<In, Bits<16>>, b: Signal<In, Bits<16>>, p: Signal<In, Bit>, q: Signal<In, Bit>,
          y: Signal<Out, Bits<16>>, z: Signal<Out, Bit>, wide: Signal<Out, Bits<32>>,
          signed: Signal<Out, Signed<8>>, minus: Signal<In, Signed<8>> }
        #[kernel] #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val() + self.b.val() - 1;
            self.wide.next = self.a.val() * self.b.val();
            self.y.next = (self.a.val() ^ self.b.val()) & self.a.val() | self.b.val();
            self.y.next = (self.a.val() << 3) >> 1;
            self.z.next = (self.a.val() == self.b.val()) & (self.a.val() != self.b.val());
            self.z.next = (self.a.val() < self.b.val()) | (self.a.val() <= self.b.val());
            self.z.next = (self.a.val() > self.b.val()) ^ (self.a.val() >= self.b.val());
            self.z.next = self.p.val() && !self.q.val() || self.p.val();
            self.y.next = !self.a.val();
            self.signed.next = -self.minus.val();
            self.z.next = (self.a.val().all() | self.a.val().any()) & self.a.val().xor();
        }
    );
}

#[test]
fn casts_slices_and_bits() {
    same!(
        { a: Signal<In, Bits<8>>, lane: Signal<In, Bits<3>>, p: Signal<In, Bit>,
          wide: Signal<Out, Bits<16>>, y: Signal<Out, Bits<N>>, z: Signal<Out, Bit>,
          eight: Signal<Out, Bits<8>>, signed: Signal<Out, Signed<8>> }
        #[kernel] #[hdl_gen]
        fn update(&mut self) {
            self.wide.next = bit_cast::<16, 8>(self.a.val());
            self.y.next = bit_cast::<N, 8>(self.a.val()) | bits::<N>(3);
            self.wide.next = bits::<16>(7);
            self.signed.next = signed_cast(self.a.val());
            self.signed.next = 5_i32.to_signed_bits();
            self.eight.next = unsigned_cast(self.signed.val());
            self.z.next = self.a.val().get_bit(self.lane.val().index());
            self.eight.next = self.a.val().replace_bit(2, self.p.val());
            self.y.next = self.a.val().get_bits::<N>(3);
            self.wide.next = self.a.val().get_bits::<16>(self.lane.val().index());
        }
    );
}

#[test]
fn literals() {
    same!(
        { y: Signal<Out, Bits<64>>, z: Signal<Out, Bit>, narrow: Signal<Out, Bits<8>> }
        #[kernel] #[hdl_gen]
        fn update(&mut self) {
            self.z.next = true;
            self.z.next = false;
            self.y.next = 0.into();
            self.y.next = 0x7fff_ffff.into();
            self.y.next = 0xffff_ffff_ffff_ffff_u64.into();
            self.y.next = 1_u32.to_bits();
            self.narrow.next = 255_u8.to_bits();
            self.narrow.next = 0b1010_u16.to_bits();
        }
    );
}

#[test]
fn a_kernel_without_statements() {
    same!({ a: Signal<In, Bits<N>> } #[kernel] #[hdl_gen] fn update(&mut self) {});
}

#[test]
fn canary_other_hardware_is_seen() {
    let whole = hardware!(
        { a: Signal<In, Bits<8>>, y: Signal<Out, Bits<N>>, z: Signal<Out, Bits<4>> }
        #[kernel] fn update(&mut self) { self.y.next = self.a.val().get_bits::<N>(1); }
    );
    let moved = hardware!(
        { a: Signal<In, Bits<8>>, y: Signal<Out, Bits<N>>, z: Signal<Out, Bits<4>> }
        #[hdl_gen] fn update(&mut self) { self.y.next = self.a.val().get_bits::<N>(2); }
    );
    let narrow = hardware!(
        { a: Signal<In, Bits<8>>, y: Signal<Out, Bits<N>>, z: Signal<Out, Bits<4>> }
        #[hdl_gen] fn update(&mut self) { self.z.next = self.a.val().get_bits::<4>(1); }
    );
    assert_ne!(whole.0, moved.0);
    assert_eq!(whole.1, moved.1);
    assert_ne!(whole.0, narrow.0);
    assert_ne!(whole.1, narrow.1);
}

#[test]
#[should_panic(expected = "kernel: it ends too early")]
fn a_code_that_ends_in_a_statement_is_refused() {
    verilog("= .y$next", &[]);
}

#[test]
#[should_panic(expected = "kernel: Some(\"=\") after its end")]
fn a_code_after_the_end_is_refused() {
    verilog("} =", &[]);
}

#[test]
#[should_panic(expected = "kernel: \"5\" begins no expression")]
fn a_literal_without_a_width_is_refused() {
    verilog("= .y$next 5 }", &[]);
}
