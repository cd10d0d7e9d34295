//! One test per row of the trap tables of `docs/rust-hdl.md`: the trap is refused under its rule,
//! and what the handbook says to write instead is not.
// The kernels are written in the very shapes that the rules are about.
#![allow(clippy::precedence, clippy::single_match, clippy::needless_bool_assign)]

use super::*;

/// A block with the given signals and kernel.
macro_rules! kernel {
    ($name:ident { $($field:ident: $kind:ident $type:ty),* $(,)? } $($kernel:tt)*) => {
        #[derive(LogicBlock, Default)]
        struct $name { $(pub $field: Signal<$kind, $type>),* }
        impl Logic for $name { $($kernel)* }
    };
}

fn rules<B: Block>(block: &B) -> Vec<Rule> {
    findings("top", block)
        .iter()
        .map(|finding| finding.rule)
        .collect()
}

/// The one finding in `block`, as printed.
#[track_caller]
fn refusal<B: Block>(block: &B, rule: Rule) -> String {
    let found = findings("top", block);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].rule, rule, "{}", found[0]);
    found[0].to_string()
}

mod disagree_in_silence;
mod does_not_translate;
