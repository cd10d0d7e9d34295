//! The whole script: scenes, counters, and what the core must send.

use super::encode::{EncodeError, Encoder, Sent};
use super::player::{play, play_at, Part, Stuck};
use super::scenes::{self, PlayedScene, Scene};
use super::signer::{Packet, Signatures};
use crate::play::PlayError;
use indicatif::ProgressBar;
use pcie_sim::{Bdf, Tlp};
use rnic_abi::counters;
use rnic_abi::limits::RESET_CYCLES;
use rnic_abi::registers::COUNTERS;
use rnic_abi::sizes::Sizes;
use rnic_board::script::{Value, When, Word, REPORT_OCTETS, WORDS, WORD_CYCLES};
use rnic_sim::{Core, Form, SimError, BAR0_ADDRESS};
use std::collections::BTreeMap;
use thiserror::Error;

/// First line of a report.
const TITLE: &str = "Ferrowarp self-test\n";
/// Cycles after reset until the device is ready, and a margin.
const SETTLE_CYCLES: u32 = RESET_CYCLES as u32 + 10;
/// Cycles of a word in further runs of the core that gave the signatures: it must find them again
/// after all that was before, and they must not depend on a cycle more or less.
const PACES: [usize; 4] = [
    WORD_CYCLES,
    WORD_CYCLES - 1,
    WORD_CYCLES + 1,
    2 * WORD_CYCLES + 1,
];

/// A script, and what is known of it.
#[derive(Clone, Debug)]
pub struct Script {
    /// The words; the memory's rest is never read.
    pub words: Vec<Word>,
    /// Its scenes in order.
    pub scenes: Vec<SceneSummary>,
    /// What it writes on a core that was never used before.
    pub report: String,
    /// Cycles of all of it.
    pub cycles: u64,
}

/// A scene of a script.
#[derive(Clone, Debug)]
pub struct SceneSummary {
    /// Its name in the report.
    pub name: &'static str,
    /// Frames from the wire, or that the device sends to itself.
    pub frames: usize,
    /// Words of it.
    pub words: usize,
    /// Cycles that it takes.
    pub cycles: u64,
    /// Posted requests and completions that the core sends.
    pub tlps: usize,
    /// Read requests that it sends.
    pub reads: usize,
    /// Signatures of both.
    pub signatures: Signatures,
    /// Every counter, as hardware and model agree on it.
    pub counters: BTreeMap<&'static str, u32>,
    /// Octets that were placed before their turn.
    pub placed_out_of_order_octets: u64,
}

/// Why there is no script.
#[derive(Debug, Error)]
pub enum SelftestError {
    /// A scene cannot be played.
    #[error("scene `{scene}`: {source}")]
    Play {
        /// Which scene.
        scene: &'static str,
        /// Why.
        source: PlayError,
    },
    /// Hardware and model differ.
    #[error("scene `{scene}`: {mismatches} differences from the model, the first: {first}")]
    Mismatch {
        /// Which scene.
        scene: &'static str,
        /// How many.
        mismatches: u64,
        /// The first one.
        first: String,
    },
    /// A scene has what no word can say.
    #[error("scene `{scene}`: {source}")]
    Encode {
        /// Which scene.
        scene: &'static str,
        /// What.
        source: EncodeError,
    },
    /// The core cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The script never ends.
    #[error(transparent)]
    Stuck(#[from] Stuck),
    /// The core does not send what it sent in the compared run.
    #[error("scene `{scene}`: {what} {number} of {count} is {found} instead of {expected}")]
    Differs {
        /// Which scene.
        scene: &'static str,
        /// TLPs or read requests.
        what: &'static str,
        /// Which one, from 1.
        number: usize,
        /// Those of the compared run.
        count: usize,
        /// What the core sent.
        found: String,
        /// What it sent in the compared run.
        expected: String,
    },
    /// A further run of the same core differs.
    #[error("run {run} of the same core, with {word_cycles} cycles a word: {source}")]
    Unsteady {
        /// Which one; the first one gives the signatures.
        run: usize,
        /// Cycles of a word.
        word_cycles: usize,
        /// What differs.
        source: Box<SelftestError>,
    },
    /// It does not fit.
    #[error("{count} {what} do not fit: there is room for {room}")]
    TooLong {
        /// Words, or octets of the report.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many there may be.
        room: usize,
    },
}

/// A scene in the script that is made.
struct Placed {
    scene: Scene,
    played: PlayedScene,
    sent: Sent,
    /// Place of its [`Word::Expect`].
    expect: usize,
    words: usize,
}

/// Play all scenes, and make the script of them.
///
/// # Errors
/// A scene is not as the model says, or not the same when it is run as a script.
pub fn generate(progress: &ProgressBar) -> Result<Script, SelftestError> {
    let mut encoder = Encoder::default();
    encoder.text(When::Always, TITLE);
    let mut placed = Vec::new();
    for scene in scenes::all() {
        placed.push(place(scene, &mut encoder, progress)?);
    }
    put_counters(&mut encoder);
    encoder.text(When::AllHeld, "self-test pass\n");
    encoder.text(When::AnyFailed, "self-test FAIL\n");
    encoder.push(Word::End);
    let mut words = encoder.into_words();
    check_room("words", words.len(), WORDS)?;
    let mut core = Core::load(64, Sizes::SMALLEST, Form::Emitted, None, 1)?;
    let first = play(&mut core, &words)?;
    for (placed, part) in placed.iter().zip(&first.parts) {
        compare(placed, part)?;
        let Signatures { tlps, reads } = part.signatures;
        words[placed.expect] = Word::Expect { tlps, reads };
    }
    check_steady(&mut core, &words, &placed)?;
    drop(core);
    let mut core = Core::load(64, Sizes::SMALLEST, Form::Emitted, None, 1)?;
    let played = play(&mut core, &words)?;
    check_room("octets of the report", played.report.len(), REPORT_OCTETS)?;
    let summaries = placed.into_iter().zip(&played.parts);
    Ok(Script {
        words,
        scenes: summaries
            .map(|(placed, part)| summary(placed, part))
            .collect(),
        report: played.report,
        cycles: played.cycles,
    })
}

/// Run the script again, on the core that has run it, at several paces.
fn check_steady(core: &mut Core, words: &[Word], placed: &[Placed]) -> Result<(), SelftestError> {
    for (run, word_cycles) in PACES.into_iter().enumerate() {
        let played = play_at(core, words, word_cycles)?;
        for (placed, part) in placed.iter().zip(&played.parts) {
            let differs = compare(placed, part);
            differs.map_err(|source| SelftestError::Unsteady {
                run: run + 2,
                word_cycles,
                source: Box::new(source),
            })?;
        }
    }
    Ok(())
}

/// Play a scene and append its words.
fn place(
    scene: Scene,
    encoder: &mut Encoder,
    progress: &ProgressBar,
) -> Result<Placed, SelftestError> {
    let name = scene.name;
    let played = scene.play(progress);
    let played = played.map_err(|source| SelftestError::Play {
        scene: name,
        source,
    })?;
    if played.report.mismatches > 0 {
        let first = played.report.differences.first();
        return Err(SelftestError::Mismatch {
            scene: name,
            mismatches: played.report.mismatches,
            first: first.map_or_else(String::new, ToString::to_string),
        });
    }
    let start = encoder.words().len();
    begin(encoder);
    encoder.text(When::Always, name);
    let sent = encoder.items(played.transcript.clone());
    let sent = sent.map_err(|source| SelftestError::Encode {
        scene: name,
        source,
    })?;
    let expect = encoder.words().len();
    encoder.push(Word::Expect { tlps: 0, reads: 0 });
    encoder.text(When::Held, " pass\n");
    encoder.text(When::Failed, " FAIL\n");
    Ok(Placed {
        scene,
        played,
        sent,
        expect,
        words: encoder.words().len() - start,
    })
}

/// Reset the core and wait until it is ready.
fn begin(encoder: &mut Encoder) {
    encoder.push(Word::Begin);
    encoder.push(Word::Wait {
        cycles: SETTLE_CYCLES,
        tlps: 0,
        reads: 0,
    });
}

/// Every counter in the report. It is read in a part of its own: how many TLPs a failed scene has
/// sent is not known.
fn put_counters(encoder: &mut Encoder) {
    begin(encoder);
    for (number, counter) in counters::ALL.iter().enumerate() {
        let address = BAR0_ADDRESS + u64::from(COUNTERS) + 4 * counter.index() as u64;
        let read = Tlp::memory_read(Bdf::new(0, 0, 0), 0, address, 4);
        let read = read.expect("an aligned doubleword can be read");
        let header = read.header.pack().expect("well formed");
        encoder.request(&header, &[]);
        encoder.text(When::Always, &format!("{} ", counter.name()));
        encoder.push(Word::Wait {
            cycles: 0,
            tlps: number as u16 + 1,
            reads: 0,
        });
        encoder.push(Word::Hex(Value::Answer));
        encoder.text(When::Always, "\n");
    }
}

fn compare(placed: &Placed, part: &Part) -> Result<(), SelftestError> {
    let pairs = [
        ("TLP", &part.tlps, &placed.sent.tlps),
        ("read request", &part.reads, &placed.sent.reads),
    ];
    for (what, found, expected) in pairs {
        let count = found.len().max(expected.len());
        let differs = (0..count).find(|&number| found.get(number) != expected.get(number));
        if let Some(place) = differs {
            return Err(SelftestError::Differs {
                scene: placed.scene.name,
                what,
                number: place + 1,
                count: expected.len(),
                found: describe(found.get(place)),
                expected: describe(expected.get(place)),
            });
        }
    }
    Ok(())
}

fn describe(packet: Option<&Packet>) -> String {
    packet.map_or_else(|| "none".into(), |packet| format!("{packet:x?}"))
}

fn check_room(what: &'static str, count: usize, room: usize) -> Result<(), SelftestError> {
    match count <= room {
        true => Ok(()),
        false => Err(SelftestError::TooLong { what, count, room }),
    }
}

fn summary(placed: Placed, part: &Part) -> SceneSummary {
    let report = placed.played.report;
    let octets = report.flows.iter();
    let octets = octets.map(|flow| flow.placed_out_of_order_octets);
    SceneSummary {
        name: placed.scene.name,
        frames: placed.scene.frames.len(),
        words: placed.words,
        cycles: part.cycles,
        tlps: part.tlps.len(),
        reads: part.reads.len(),
        signatures: part.signatures,
        counters: report.counters,
        placed_out_of_order_octets: octets.sum(),
    }
}
