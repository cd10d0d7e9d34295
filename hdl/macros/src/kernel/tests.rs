//! The lists written out, the words of each statement and expression, and what is refused.

use super::*;
use syn::parse_quote;

fn expanded(function: ItemFn) -> String {
    expand(function).expect("well-formed lists").to_string()
}

#[test]
fn registers_are_set_up_with_their_clock() {
    let short: ItemFn = parse_quote! {
        fn update(&mut self) {
            registers!(clock; state, held);
        }
    };
    let long: ItemFn = parse_quote! {
        fn update(&mut self) {
            dff_setup!(self, clock, state, held);
        }
    };
    assert_eq!(expanded(short), expanded(long));
}

#[test]
fn a_wire_is_an_assignment_per_name() {
    let short: ItemFn = parse_quote! {
        fn update(&mut self) {
            if self.on.val() {
                wire!(self.store => self; stored, stored_valid as valid);
            }
        }
    };
    let long: ItemFn = parse_quote! {
        fn update(&mut self) {
            if self.on.val() {
                self.stored.next = self.store.stored.val();
                self.valid.next = self.store.stored_valid.val();
            }
        }
    };
    assert_eq!(expanded(short), expanded(long));
}

#[test]
fn a_stream_of_tlps_has_lanes_ends_and_headers() {
    let short: ItemFn = parse_quote! {
        fn update(&mut self) {
            tlps!(self.events => self.pcie; tlp as event_tlp);
        }
    };
    let long: ItemFn = parse_quote! {
        fn update(&mut self) {
            self.pcie.event_tlp_data.next = self.events.tlp_data.val();
            self.pcie.event_tlp_keep.next = self.events.tlp_keep.val();
            self.pcie.event_tlp_last.next = self.events.tlp_last.val();
            self.pcie.event_tlp_valid.next = self.events.tlp_valid.val();
            self.pcie.event_tlp_header.next = self.events.tlp_header.val();
            self.events.tlp_ready.next = self.pcie.event_tlp_ready.val();
        }
    };
    assert_eq!(expanded(short), expanded(long));
}

#[test]
fn a_fan_out_goes_name_by_name() {
    let short: ItemFn = parse_quote! {
        fn update(&mut self) {
            wire!(self => self.{store, reader}; clock, reset);
        }
    };
    let long: ItemFn = parse_quote! {
        fn update(&mut self) {
            self.store.clock.next = self.clock.val();
            self.reader.clock.next = self.clock.val();
            self.store.reset.next = self.reset.val();
            self.reader.reset.next = self.reset.val();
        }
    };
    assert_eq!(expanded(short), expanded(long));
}

#[test]
fn a_stream_has_its_ready_backwards() {
    let short: ItemFn = parse_quote! {
        fn update(&mut self) {
            stream!(self.tcp => self.packet; page_release as release0);
        }
    };
    let long: ItemFn = parse_quote! {
        fn update(&mut self) {
            self.packet.release0.next = self.tcp.page_release.val();
            self.packet.release0_valid.next = self.tcp.page_release_valid.val();
            self.tcp.page_release_ready.next = self.packet.release0_ready.val();
        }
    };
    assert_eq!(expanded(short), expanded(long));
}

/// The words of a function's statements, and its numbers.
fn words(function: ItemFn) -> (String, Vec<String>) {
    let code = Translator::translate(&function.block).expect("statements that translate");
    let numbers = code.numbers.iter().map(ToString::to_string);
    (code.text, numbers.collect())
}

#[test]
fn a_number_that_the_macro_does_not_know_stands_once() {
    let (text, numbers) = words(parse_quote! {
        fn update(&mut self) {
            for i in 1..(N + 1) {
                self.low[i - 1].next = self.word.val().get_bits::<N>(i);
                self.wide.next = bit_cast::<16, 8>(self.low[i].val());
            }
            self.sum.next = bit_cast::<N, 8>(self.beat.val().keep);
            self.next_beat.next.keep = 1_u64.into();
        }
    });
    assert_eq!(
        text,
        "for i 1:32 @0 = .low[i-1]$next bits .word @1 .i = .wide$next cast 16 .low[i] } \
         = .sum$next cast @1 bits .beat @2 @3 \
         part .next_beat @4 @5 1:64 }"
    );
    assert_eq!(
        numbers,
        [
            "N + 1",
            "N",
            "self . beat . val () . get_my_width_keep ()",
            "self . beat . val () . get_my_offset_keep ()",
            "self . next_beat . next . get_my_width_keep ()",
            "self . next_beat . next . get_my_offset_keep ()",
        ]
    );
}

#[test]
fn a_signal_is_connected_once_whatever_the_conditions() {
    let function: ItemFn = parse_quote! {
        fn update(&mut self) {
            dff_setup!(self, clock, held);
            for i in 0..4 {
                self.lane[i].next = self.held.q.val();
                self.held.d.next = self.lane[i].val();
            }
            if self.on.val() {
                match self.state.val() {
                    State::Idle => self.port.next.last = true,
                    _ => { self.port.next = self.beat.val(); }
                }
            } else {
                self.off.next = true;
            }
        }
    };
    let connect = quote!(::rnic_hdl_tools::kernel::Logic::connect);
    let wanted = quote! {
        #connect(&mut self.held.clock);
        #connect(&mut self.held.d);
        for i in 0..4 { #connect(&mut self.lane[i]); }
        #connect(&mut self.port);
        #connect(&mut self.off);
    };
    assert_eq!(
        connect::connections(&function.block).to_string(),
        wanted.to_string()
    );
}

/// Why the statement that `tokens` are is refused.
#[track_caller]
fn refusal(tokens: TokenStream) -> String {
    let function = parse_quote!(fn update(&mut self) { #tokens });
    expand(function)
        .expect_err("it does not translate")
        .to_string()
}

#[test]
fn statements_that_do_not_translate_are_refused() {
    let statements = [
        (quote!(let sum = self.a.val();), "`let` and items"),
        (quote!(self.a.next += 1;), "not a statement"),
        (quote!(self.a.set_bit(1, true);), "not a statement"),
        (
            quote!({
                self.a.next = true;
            }),
            "not a statement",
        ),
        (quote!(println!("idle");), "not a list"),
        (quote!(self.a = true;), "assign to `.next`"),
        (quote!(self.next = true;), "assign to `.next`"),
        (quote!(self.a.next[1] = true;), "assign to `.next`"),
        (quote!(self.a.next.b.c = true;), "assign to `.next`"),
        (quote!(other.a.next = true;), "not a signal"),
        (
            quote!(if let Some(a) = self.a.val() {}),
            "not an expression",
        ),
        (quote!(for i in 0..=4 {}), "for variable in from..to"),
        (quote!(for i in self.a {}), "for variable in from..to"),
        (
            quote!(for i in 0..2 {
                for i in 0..2 {}
            }),
            "the same variable",
        ),
        (
            quote!(for i in 0..2 {
                self.a[i].next.b = true;
            }),
            "assign the struct to a Local",
        ),
    ];
    for (statement, reason) in statements {
        let text = refusal(statement.clone());
        assert!(
            text.starts_with("kernel: ") && text.contains(reason),
            "{statement}: {text}"
        );
    }
}

#[test]
fn labels_and_guards_that_do_not_translate_are_refused() {
    for label in [
        quote!(0x10),
        quote!(1 | 2),
        quote!(1..4),
        quote!(3u8),
        quote!(Idle),
    ] {
        let text = refusal(quote!(match self.a.val().index() { #label => {} }));
        assert!(text.contains("a label is"), "{label}: {text}");
    }
    let text = refusal(quote!(match self.a.val().index() {
        1 if self.b.val() => {}
    }));
    assert!(text.contains("a guard"), "{text}");
}

#[test]
fn expressions_that_do_not_translate_are_refused() {
    let expressions = [
        (quote!(self.b.next), "`.val()` is read"),
        (quote!(self.b.val().inner.field), "a field of a field"),
        (quote!(self), "not a variant"),
        (quote!(STEP), "no name in Verilog"),
        (quote!(self.b[N - 1].val()), "an index is arithmetic"),
        (quote!(self.b[self.c].val()), "an index is arithmetic"),
        (quote!(self.b.val() % 3), "not an operator"),
        (quote!(*self.b.val()), "not an operator"),
        (quote!(self.b.val() as u8), "not an expression"),
        (
            quote!(if self.b.val() { 1 } else { 2 }),
            "not an expression",
        ),
        (quote!("text"), "a whole number"),
        (quote!(1_i64), "no suffix or"),
        (quote!(0x8000_0000.into()), "write `_u64`"),
        (quote!(helper(self.b.val())), "not a function"),
        (quote!(bit_cast(self.b.val())), "not a function"),
        (quote!(Bits::<8>::from(3)), "not a function"),
        (quote!(bit_cast::<_, 8>(self.b.val())), "not a width"),
        (quote!(self.b.val().set_bit(1, true)), "not a method"),
        (quote!(self.b.val().get_bits(1)), "write the width"),
        (quote!(self.b.val().get_bits::<2>()), "has 1 arguments"),
        (quote!(self.b.val().replace_bit(1)), "has 2 arguments"),
    ];
    for (expression, reason) in expressions {
        let text = refusal(quote!(self.a.next = #expression;));
        assert!(
            text.starts_with("kernel: ") && text.contains(reason),
            "{expression}: {text}"
        );
    }
}

#[test]
fn the_largest_literal_without_a_suffix_translates() {
    let (text, _) = words(parse_quote!(
        fn update(&mut self) {
            self.a.next = 0x7fff_ffff.into();
        }
    ));
    assert_eq!(text, "= .a$next 2147483647:32 }");
}

#[test]
fn malformed_lists_are_refused() {
    let two_drivers: ItemFn = parse_quote! {
        fn update(&mut self) { wire!(self.{a, b} => self; x); }
    };
    let no_names: ItemFn = parse_quote! {
        fn update(&mut self) { wire!(self.a => self.b, x); }
    };
    let no_clock: ItemFn = parse_quote! {
        fn update(&mut self) { registers!(state, held); }
    };
    let no_block: ItemFn = parse_quote! { fn update() {} };
    for function in [two_drivers, no_names, no_clock, no_block] {
        assert!(expand(function).is_err());
    }
}
