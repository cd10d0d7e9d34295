//! A row of the table of attacks: what the peer does, what the device must answer, and how it is
//! played.

use crate::scene::{bystander_alone, Scene};
use rnic_testbench::docs::security::Answer;

/// One of so many attacks of a family is played on what is synthesised, in a long run.
const SILICON_ONE_OF: usize = 4;

/// A row.
pub struct Attack {
    /// Path of its module.
    pub module: &'static str,
    /// Name of its test.
    pub test: &'static str,
    /// Lines of the comment above it: the rule, a colon, what the peer does.
    pub lines: &'static [&'static str],
    /// What the device must answer.
    pub answer: Answer,
    /// What the peer does.
    pub run: fn(&mut Scene),
}

impl Attack {
    /// The comment as one line, without a full stop.
    pub fn text(&self) -> String {
        let words: Vec<&str> = self.lines.iter().map(|line| line.trim()).collect();
        words.join(" ").trim_end_matches('.').to_owned()
    }

    /// The file it stands in.
    pub fn family(&self) -> &'static str {
        self.module.rsplit("::").next().unwrap_or_default()
    }
}

/// Rows as tests: the comment is the row's text, the expression after the name its answer.
macro_rules! attacks {
    ($(
        $(#[doc = $line:literal])+
        #[test]
        fn $name:ident($scene:ident) => $answer:expr, $body:block
    )+) => {
        /// The rows of this family.
        pub const ROWS: &[$crate::table::Attack] = &[$($crate::table::Attack {
            module: module_path!(),
            test: stringify!($name),
            lines: &[$($line),+],
            answer: $answer,
            run: |$scene| $body,
        }),+];
        $(
            $(#[doc = $line])+
            #[test]
            fn $name() {
                $crate::table::play(ROWS, stringify!($name));
            }
        )+
    };
}

/// Hundredths of the cycles it takes alone that the bystander's traffic may take after an attack.
const CYCLES_PERCENT_MAX: u64 = 101;

/// Play the row `test` of `rows`, then good traffic, and hold the device to the answer.
pub fn play(rows: &[Attack], test: &str) {
    let row = rows.iter().position(|attack| attack.test == test);
    let row = row.expect("a test has the name of its row");
    let attack = &rows[row];
    let silicon =
        row % SILICON_ONE_OF == 0 && !rnic_effort::is_left_out("W = 64 as it is synthesised");
    let mut scene = Scene::of(0.0, silicon);
    (attack.run)(&mut scene);
    scene.attacked_goes_on(matches!(attack.answer, Answer::Counts(..)));
    let cycles = scene.bystander_receives();
    let (alone, _) = bystander_alone();
    let ratio = cycles as f64 / *alone as f64;
    println!("{test}: the bystander took {cycles} cycles, {alone} alone, ratio {ratio:.3}");
    scene.check(attack.answer);
    assert!(
        cycles * 100 <= alone * CYCLES_PERCENT_MAX,
        "the bystander took {cycles} cycles, {alone} alone"
    );
}
