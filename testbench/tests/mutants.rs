//! The table of mutants fits the emitted core, and a mutant that is switched on is noticed.
//!
//! `make mutants` plays all of them; here it is only asserted that nothing of the table has rotted.
use rnic_abi::sizes::Sizes;
use rnic_sim::mutant::{self, LIBRARY_VARIABLE, NUMBER_VARIABLE};
use rnic_testbench::mutants::table::{self, Mutant, Room};
use rnic_testbench::mutants::text::Design;
use std::path::Path;
use std::process::{Command, Output};

/// As many as the table promises.
const MUTANTS_MIN: usize = 100;
/// One that a short playback notices at each completion.
const LOUD: &str = "a completion's length is the offset of its last segment";

fn verilog() -> String {
    rnic_hdl::top::verilog(mutant::WIDTH, Sizes::LARGEST).expect("the core passes its lint")
}

fn mutants() -> Vec<Mutant> {
    table::read().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_mutant_changes_one_place_of_the_emitted_text() {
    let (verilog, mutants) = (verilog(), mutants());
    assert!(mutants.len() >= MUTANTS_MIN, "{} mutants", mutants.len());
    for room in Room::ALL {
        let any = mutants.iter().any(|mutant| mutant.room == room);
        assert!(any, "no mutant of {}", room.name());
    }
    let design = Design::new(&verilog);
    let all = design.with_all(&mutants);
    let all = all.unwrap_or_else(|error| panic!("{error}"));
    for Mutant { name, from, to, .. } in &mutants {
        // Whole statements on both sides, or expressions: what else is cut does not compile.
        let is_statement = |text: &str| text.ends_with(';');
        assert_eq!(is_statement(from), is_statement(to), "{name}");
        let is_cut = from.contains("begin") || !is_statement(from) && from.contains(" = ");
        assert!(
            !is_cut,
            "{name}: give the whole statement, or the expression alone"
        );
    }
    for Mutant { number, .. } in &mutants {
        let chosen = format!("{} == 16'd{number})", mutant::REGISTER);
        assert_eq!(all.matches(&chosen).count(), 1, "mutant {number}");
    }
}

/// A name after `attack` that no test has would be no check at all.
#[test]
fn attacks_that_the_table_names_are_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
    let files = folder.read_dir().expect("the attacks' folder").flatten();
    let sources: String = files
        .filter(|file| file.path().is_file())
        .map(|file| std::fs::read_to_string(file.path()).expect("it was just listed"))
        .collect();
    for mutant in mutants() {
        let Some(attack) = mutant.attack else {
            continue;
        };
        let test = format!("fn {attack}(");
        assert!(sources.contains(&test), "{}: no {attack}", mutant.name);
    }
}

fn play(library: &Path, number: u16) -> Output {
    let mut rnic = Command::new(env!("CARGO_BIN_EXE_rnic"));
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/rping-v4-crc.pcap");
    rnic.arg("play").arg(capture);
    rnic.env(NUMBER_VARIABLE, number.to_string());
    rnic.env(LIBRARY_VARIABLE, library);
    rnic.output().expect("cargo has built it")
}

/// The same library is the sound core or a broken one, by the number in the environment.
#[test]
fn a_mutant_is_noticed_and_none_is_not() {
    if rnic_effort::is_left_out("a core with a mutant") {
        return;
    }
    let verilog = verilog();
    let mutants = mutants();
    let loud = mutants.into_iter().find(|mutant| mutant.name == LOUD);
    let loud = loud.expect("the table has it");
    // With this change alone the library is built anew only when the core changes.
    let text = Design::new(&verilog).with_all(std::slice::from_ref(&loud));
    let library = mutant::library(&text.expect("it fits"));
    let library = library.unwrap_or_else(|error| panic!("{error}"));
    let sound = play(&library, 0);
    let said = String::from_utf8_lossy(&sound.stdout);
    assert!(
        sound.status.success() && said.contains("mismatches: 0"),
        "{said}"
    );
    assert!(!play(&library, loud.number).status.success());
}

/// A name or number that the table has not, and half of the environment, end in one line.
#[test]
fn what_is_not_there_is_refused_in_one_line() {
    let rnic = || Command::new(env!("CARGO_BIN_EXE_rnic"));
    let mut unknown = rnic();
    unknown.args(["mutants", "--only", "no such mutant"]);
    let mut half = rnic();
    half.args(["play", "--dut", "rtl", "captures/rping-v4-crc.pcap"]);
    half.env(NUMBER_VARIABLE, "1");
    half.current_dir(env!("CARGO_MANIFEST_DIR"));
    for (mut command, word) in [(unknown, "no such mutant"), (half, LIBRARY_VARIABLE)] {
        let output = command.output().expect("cargo has built it");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains(word) && said.trim_end().lines().count() == 1,
            "{said}"
        );
    }
}
