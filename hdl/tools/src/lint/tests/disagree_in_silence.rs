//! Traps where the kernel simulates one thing and its Verilog does another.
use super::*;

#[test]
fn and_with_equals_needs_parentheses() {
    kernel! {
        Bare { a: In Bits<8>, b: In Bits<8>, c: In Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val() & self.b.val() == self.c.val();
        }
    }
    kernel! {
        Grouped { a: In Bits<8>, b: In Bits<8>, c: In Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = (self.a.val() & self.b.val()) == self.c.val();
        }
    }
    let text = refusal(&Bare::default(), Rule::Precedence);
    assert!(text.starts_with("top: Precedence: `a & b == c`"), "{text}");
    assert_eq!(rules(&Grouped::default()), []);
}

#[test]
fn shift_and_sum_precedence_is_shared_and_accepted() {
    kernel! {
        Shared { a: In Bits<8>, b: In Bits<8>, y: Out Bits<8> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val() + self.b.val() << 1 | self.a.val() & self.b.val();
        }
    }
    assert_eq!(rules(&Shared::default()), []);
}

#[test]
fn a_sum_with_a_bare_literal_in_a_compare_keeps_its_carry() {
    kernel! {
        Bare { a: In Bits<8>, c: In Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = (self.a.val() + 1) == self.c.val();
        }
    }
    kernel! {
        Helper { a: In Bits<8>, c: In Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = (self.a.val() + bits::<8>(1)) == self.c.val();
        }
    }
    kernel! {
        ByLocal { a: In Bits<8>, c: In Bits<8>, sum: Local Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.sum.next = self.a.val() + 1;
            self.y.next = self.sum.val() == self.c.val();
        }
    }
    refusal(&Bare::default(), Rule::Width);
    refusal(&Helper::default(), Rule::Width);
    assert_eq!(rules(&ByLocal::default()), []);
}

#[test]
fn a_widening_cast_of_a_sum_keeps_the_carry() {
    kernel! {
        Around { a: In Bits<8>, b: In Bits<8>, y: Out Bits<16> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = bit_cast::<16, 8>(self.a.val() + self.b.val());
        }
    }
    kernel! {
        Inside { a: In Bits<8>, b: In Bits<8>, y: Out Bits<16> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = bit_cast::<16, 8>(self.a.val()) + bit_cast::<16, 8>(self.b.val());
        }
    }
    kernel! {
        Narrowing { a: In Bits<8>, b: In Bits<8>, y: Out Bits<4> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = bit_cast::<4, 8>(self.a.val() + self.b.val());
        }
    }
    refusal(&Around::default(), Rule::Width);
    assert_eq!(rules(&Inside::default()), []);
    assert_eq!(rules(&Narrowing::default()), []);
}

#[test]
fn a_complement_next_to_a_literal_or_a_sum_is_32_bits_wide() {
    kernel! {
        Compared { a: In Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = !self.a.val() == 0;
        }
    }
    kernel! {
        Added { c: In Bits<8>, flag: In Bit, y: Out Bits<8> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.c.val() + !self.flag.val();
        }
    }
    kernel! {
        AddedPlain { c: In Bits<8>, flag: In Bit, y: Out Bits<8> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.c.val() + self.flag.val();
        }
    }
    kernel! {
        SameWidth { a: In Bits<8>, b: In Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = !self.a.val() == self.b.val();
        }
    }
    refusal(&Compared::default(), Rule::Width);
    refusal(&Added::default(), Rule::Width);
    assert_eq!(rules(&AddedPlain::default()), []);
    assert_eq!(rules(&SameWidth::default()), []);
}

#[test]
fn a_complement_in_replace_bit_smears_over_the_word() {
    kernel! {
        Smeared { a: In Bits<8>, flag: In Bit, y: Out Bits<8> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val().replace_bit(2, !self.flag.val());
        }
    }
    kernel! {
        Plain { a: In Bits<8>, flag: In Bit, y: Out Bits<8> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val().replace_bit(2, self.flag.val());
        }
    }
    refusal(&Smeared::default(), Rule::Width);
    assert_eq!(rules(&Plain::default()), []);
}

#[test]
fn a_difference_under_a_right_shift_is_wider_next_to_a_literal() {
    kernel! {
        Masked { c: In Bits<8>, b: In Bits<8>, y: Out Bits<8> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = ((self.c.val() - self.b.val()) >> 1) & 127;
        }
    }
    kernel! {
        ByLocal { c: In Bits<8>, b: In Bits<8>, d: Local Bits<8>, y: Out Bits<8> }
        #[hdl_gen]
        fn update(&mut self) {
            self.d.next = self.c.val() - self.b.val();
            self.y.next = (self.d.val() >> 1) & 127;
        }
    }
    refusal(&Masked::default(), Rule::Width);
    assert_eq!(rules(&ByLocal::default()), []);
}

#[test]
fn a_reduction_or_a_match_of_a_sum_with_a_literal_sees_the_carry() {
    kernel! {
        Reduced { a: In Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = (self.a.val() + 1).any();
        }
    }
    kernel! {
        Matched { a: In Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = false;
            match (self.a.val() + 1).index() { 0 => self.y.next = true, _ => {} }
        }
    }
    refusal(&Reduced::default(), Rule::Width);
    refusal(&Matched::default(), Rule::Width);
}

#[test]
fn a_sum_as_an_index_is_ambiguous() {
    kernel! {
        Summed { a: In Bits<8>, n: In Bits<2>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val().get_bit((self.n.val() + 1).index());
        }
    }
    kernel! {
        Scaled { a: In Bits<32>, n: In Bits<2>, y: Out Bits<8> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val().get_bits::<8>(self.n.val().index() * 8);
        }
    }
    refusal(&Summed::default(), Rule::Width);
    assert_eq!(rules(&Scaled::default()), []);
}

#[test]
fn a_slice_past_the_end_is_refused() {
    kernel! {
        Sliced { a: In Bits<8>, y: Out Bits<8> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val().get_bits::<8>(1);
        }
    }
    kernel! {
        LastBit { a: In Bits<8>, y: Out Bit, z: Out Bits<4> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val().get_bit(7);
            for i in 0..2 { self.z.next = self.a.val().get_bits::<4>(i * 4); }
        }
    }
    kernel! {
        BitBeyond { a: In Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            for i in 0..3 { self.y.next = self.a.val().get_bit(i * 4); }
        }
    }
    refusal(&Sliced::default(), Rule::PastTheEnd);
    refusal(&BitBeyond::default(), Rule::PastTheEnd);
    assert_eq!(rules(&LastBit::default()), []);
}

#[test]
fn a_missing_default_is_a_latch() {
    kernel! {
        Latched { a: In Bit, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            if self.a.val() { self.y.next = true; }
        }
    }
    kernel! {
        BothArms { a: In Bit, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            if self.a.val() { self.y.next = true; } else { self.y.next = false; }
        }
    }
    kernel! {
        NoDefaultArm { a: In Bits<2>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            match self.a.val().index() {
            0 => self.y.next = true, 1 => self.y.next = false, 2 => self.y.next = true, _ => {}
            }
        }
    }
    refusal(&Latched::default(), Rule::Latch);
    refusal(&NoDefaultArm::default(), Rule::Latch);
    assert_eq!(rules(&BothArms::default()), []);
}

#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Pair {
    low: Bits<8>,
    high: Bits<8>,
}

#[test]
fn a_struct_is_assigned_when_all_its_fields_are() {
    kernel! {
        Half { a: In Bits<8>, pair: Local Pair, y: Out Bits<8> }
        #[hdl_gen]
        fn update(&mut self) {
            self.pair.next.low = self.a.val();
            self.y.next = self.pair.val().low;
        }
    }
    kernel! {
        Whole { a: In Bits<8>, pair: Local Pair, y: Out Bits<16> }
        #[hdl_gen]
        fn update(&mut self) {
            self.pair.next.low = self.a.val();
            self.pair.next.high = self.pair.val().low;
            self.y.next = self.pair.val().into();
        }
    }
    refusal(&Half::default(), Rule::Latch);
    assert_eq!(rules(&Whole::default()), []);
}

#[test]
fn a_local_is_read_below_its_assignment() {
    kernel! {
        Early { a: In Bit, n: Local Bit, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.n.val();
            self.n.next = self.a.val();
        }
    }
    kernel! {
        Late { a: In Bit, n: Local Bit, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.n.next = self.a.val();
            self.y.next = self.n.val();
        }
    }
    refusal(&Early::default(), Rule::ReadBeforeWrite);
    assert_eq!(rules(&Late::default()), []);
}
