//! Traps where the Verilog is malformed, or uses an undeclared name.
use super::*;

const STEP: LiteralType = 3;

#[test]
fn a_rust_const_is_an_unknown_name() {
    kernel! {
        Named { a: In Bits<8>, y: Out Bits<8> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val() + STEP;
        }
    }
    let text = refusal(&Named::default(), Rule::UnknownName);
    assert!(
        text.contains("`STEP`") && text.contains("Constant<>"),
        "{text}"
    );
}

#[derive(LogicBlock, Default)]
struct Generic<const W: usize> {
    pub words: Signal<In, Bits<W>>,
    pub top: Signal<Out, Bits<8>>,
}

impl<const W: usize> Logic for Generic<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.top.next = self.words.val().get_bits::<8>(W - 8);
    }
}

#[derive(LogicBlock, Default)]
struct GenericByLoop<const W: usize> {
    pub words: Signal<In, Bits<W>>,
    pub top: Signal<Out, Bits<8>>,
}

impl<const W: usize> Logic for GenericByLoop<W> {
    #[hdl_gen]
    fn update(&mut self) {
        for width in W..(W + 1) {
            self.top.next = self.words.val().get_bits::<8>(width - 8);
        }
    }
}

#[test]
fn a_const_generic_is_an_unknown_name_and_a_loop_variable_is_not() {
    refusal(&Generic::<16>::default(), Rule::UnknownName);
    assert_eq!(rules(&GenericByLoop::<16>::default()), []);
}

#[test]
fn a_slice_of_an_expression_or_a_cast_needs_a_local() {
    kernel! {
        OfCast { a: In Bits<8>, y: Out Bits<4> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = bit_cast::<16, 8>(self.a.val()).get_bits::<4>(2);
        }
    }
    kernel! {
        OfSum { a: In Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = (self.a.val() + 1).get_bit(7);
        }
    }
    kernel! {
        OfOneBit { a: In Bits<1>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val().get_bit(0);
        }
    }
    refusal(&OfCast::default(), Rule::SliceOfExpression);
    refusal(&OfSum::default(), Rule::SliceOfExpression);
    refusal(&OfOneBit::default(), Rule::SliceOfExpression);
}

#[test]
fn match_labels_are_decimal_or_variants() {
    kernel! {
        Hexadecimal { a: In Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = false;
            match self.a.val().index() { 0x10 => self.y.next = true, _ => {} }
        }
    }
    kernel! {
        Decimal { a: In Bits<8>, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = false;
            match self.a.val().index() { 16 => self.y.next = true, _ => {} }
        }
    }
    refusal(&Hexadecimal::default(), Rule::MatchLabel);
    assert_eq!(rules(&Decimal::default()), []);
}

#[test]
fn multiplication_and_signed_numbers_do_not_translate() {
    kernel! {
        Product { a: In Bits<16>, b: In Bits<16>, y: Out Bits<32> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val() * self.b.val();
        }
    }
    kernel! {
        Negative { a: In Signed<8>, y: Out Signed<8> }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val();
        }
    }
    refusal(&Product::default(), Rule::Operator);
    assert_eq!(
        rules(&Negative::default()),
        [Rule::Operator, Rule::Operator]
    );
}

#[derive(LogicBlock, Default)]
struct Row {
    pub cells: [Signal<In, Bit>; 2],
}

impl Logic for Row {
    fn update(&mut self) {}
}

#[derive(LogicBlock, Default)]
struct TwoIndices {
    pub flag: Signal<In, Bit>,
    rows: [Row; 2],
}

impl Logic for TwoIndices {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..2 {
            self.rows[i].cells[0].next = self.flag.val();
        }
    }
}

#[test]
fn only_the_first_index_of_a_path_is_resolved() {
    let text = findings("top", &TwoIndices::default())
        .remove(0)
        .to_string();
    assert!(text.contains("ArrayIndex"), "{text}");
}

#[derive(LogicBlock, Default)]
struct Backwards {
    pub flags: [Signal<In, Bit>; 3],
    pub changes: [Signal<Out, Bit>; 3],
}

impl Logic for Backwards {
    #[hdl_gen]
    fn update(&mut self) {
        self.changes[0].next = false;
        for i in 0..3 {
            if i > 0 {
                self.changes[i].next = self.flags[i - 1].val() ^ self.flags[i].val();
            }
        }
    }
}

#[derive(LogicBlock, Default)]
struct Forwards {
    pub flags: [Signal<In, Bit>; 3],
    pub changes: [Signal<Out, Bit>; 3],
}

impl Logic for Forwards {
    #[hdl_gen]
    fn update(&mut self) {
        self.changes[0].next = false;
        for i in 1..3 {
            self.changes[i].next = self.flags[i - 1].val() ^ self.flags[(i * 2) / 2].val();
        }
    }
}

#[test]
fn an_index_below_zero_is_refused_even_under_a_condition() {
    refusal(&Backwards::default(), Rule::ArrayIndex);
    assert_eq!(rules(&Forwards::default()), []);
}

#[test]
fn keywords_are_refused_as_ports_blocks_and_top_names() {
    kernel! {
        Ends { end: In Bit, inside: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.inside.next = self.end.val();
        }
    }
    kernel! {
        Plain { a: In Bit, y: Out Bit }
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.a.val();
        }
    }
    assert_eq!(rules(&Ends::default()), [Rule::Keyword, Rule::Keyword]);
    assert_eq!(findings("join", &Plain::default())[0].rule, Rule::Keyword);
    assert_eq!(
        findings("not-a-name", &Plain::default())[0].rule,
        Rule::Keyword
    );

    #[derive(LogicBlock, Default)]
    struct Joined {
        pub a: Signal<In, Bit>,
        pub y: Signal<Out, Bit>,
        join: Plain,
    }
    impl Logic for Joined {
        #[hdl_gen]
        fn update(&mut self) {
            self.join.a.next = self.a.val();
            self.y.next = self.join.y.val();
        }
    }
    let text = refusal(&Joined::default(), Rule::Keyword);
    assert!(text.starts_with("top$join: Keyword: `join`"), "{text}");
}
