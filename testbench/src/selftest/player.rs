//! The player of a board, in software: runs the words of a script on a verilated core, cycle by
//! cycle as the hardware does.
//!
//! | word      | cycles: 3 to fetch it, 1 to execute it, and                                  |
//! |-----------|------------------------------------------------------------------------------|
//! | `Request` | those in which the core does not take it                                     |
//! | `Wait`    | until the counts are reached, or for too long, and `cycles` more             |
//! | `Begin`   | those of the reset                                                           |
//! | `Text`    | one for each character, left-out ones included; the same for `Hex`           |

use super::signer::{Packet, Signatures, Signer};
use rnic_board::script::{Value, When, Word, RESET_CYCLES, TIMEOUT_CYCLES, WORD_CYCLES};
use rnic_sim::core::{Core, FrameBeat};
use rnic_sim::DownstreamBeat;
use thiserror::Error;

/// Bus, device and function number of the core, as in a simulation.
const DEVICE_ID: u16 = 0x0100;
/// Cycles of a tick, which is a microsecond.
const TICK_CYCLES: u64 = rnic_board::CORE_MHZ;
/// Cycles that a text or a value takes beyond a word.
const REPORT_CYCLES: usize = 8;
/// Cycles after which a request is never taken: more than a whole script takes.
const STUCK_CYCLES: usize = 200_000;

/// The core does not take a request.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("word {word}: the core never takes the request {what:?}")]
pub struct Stuck {
    /// Which word.
    pub word: usize,
    /// What it says.
    pub what: Word,
}

/// What happened from a [`Word::Begin`] to the next one.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Posted requests and completions in order.
    pub tlps: Vec<Packet>,
    /// Read requests in order.
    pub reads: Vec<Packet>,
    /// Signatures at its [`Word::Expect`], else at its end.
    pub signatures: Signatures,
    /// Whether what was expected held; `None` if nothing was.
    pub held: Option<bool>,
    /// A word has waited for TLPs that did not come.
    pub late: bool,
    /// Cycles.
    pub cycles: u64,
}

/// A run of a script.
#[derive(Clone, Debug)]
pub struct Played {
    /// What it wrote.
    pub report: String,
    /// Its parts.
    pub parts: Vec<Part>,
    /// Cycles of all of it.
    pub cycles: u64,
}

impl Played {
    /// Whether all that was expected held.
    pub fn passes(&self) -> bool {
        let fails = |part: &Part| part.late || part.held == Some(false);
        !self.parts.iter().any(fails)
    }
}

/// Run `words` on `core`.
///
/// # Errors
/// The core does not take a request. A board shows that by a report that ends before it.
pub fn play(core: &mut Core, words: &[Word]) -> Result<Played, Stuck> {
    play_at(core, words, WORD_CYCLES)
}

/// As [`play`], with `word_cycles` cycles for each word: what the core sends must not depend on a
/// cycle more or less.
///
/// # Errors
/// As of [`play`].
pub fn play_at(core: &mut Core, words: &[Word], word_cycles: usize) -> Result<Played, Stuck> {
    core.set_device_id(DEVICE_ID);
    core.set_msix(false, false);
    core.set_tx(true, false);
    let mut player = Player {
        core,
        in_reset: false,
        cycle: 0,
        begun: 0,
        header: [0; 4],
        payload_high: 0,
        tlps: Signer::default(),
        reads: Signer::default(),
        answer: 0,
        part: None,
        all_held: true,
        played: Played {
            report: String::new(),
            parts: Vec::new(),
            cycles: 0,
        },
    };
    for (number, &word) in words.iter().enumerate() {
        if word == Word::End {
            break;
        }
        player.idle(word_cycles - 1);
        let ended = player.execute(word);
        ended.ok_or(Stuck {
            word: number,
            what: word,
        })?;
    }
    player.end_part();
    player.played.cycles = player.cycle;
    Ok(player.played)
}

/// What is offered to the core in a cycle.
#[derive(Copy, Clone)]
enum Offer {
    Nothing,
    Request {
        data: [u32; 4],
        last: bool,
    },
    Completion {
        data: [u32; 4],
        dwords: usize,
        last: bool,
    },
    Frame {
        octets: [u8; 8],
        count: usize,
        last: bool,
    },
}

struct Player<'a> {
    core: &'a mut Core,
    /// The outputs of the core are meaningless.
    in_reset: bool,
    cycle: u64,
    /// Cycle in which the part began.
    begun: u64,
    header: [u32; 4],
    payload_high: u64,
    tlps: Signer,
    reads: Signer,
    /// First doubleword of the last completion's payload.
    answer: u32,
    part: Option<Part>,
    all_held: bool,
    played: Played,
}

impl Player<'_> {
    /// Execute a word that was fetched; `None` if it never ends.
    fn execute(&mut self, word: Word) -> Option<()> {
        match word {
            Word::End => {}
            Word::HeaderLow(data) => {
                self.idle(1);
                [self.header[0], self.header[1]] = halves(data);
            }
            Word::HeaderHigh(data) => {
                self.idle(1);
                [self.header[2], self.header[3]] = halves(data);
            }
            Word::PayloadHigh(data) => {
                self.idle(1);
                self.payload_high = data;
            }
            Word::Request { low, last } => {
                let data = self.data(low);
                let offer = Offer::Request { data, last };
                (0..STUCK_CYCLES).find(|_| self.step(offer))?;
            }
            Word::Completion { low, dwords, last } => {
                let (data, dwords) = (self.data(low), usize::from(dwords));
                self.step(Offer::Completion { data, dwords, last });
            }
            Word::Frame {
                octets,
                count,
                last,
            } => {
                let (octets, count) = (octets.to_le_bytes(), usize::from(count));
                self.step(Offer::Frame {
                    octets,
                    count,
                    last,
                });
            }
            Word::Wait {
                cycles,
                tlps,
                reads,
            } => self.wait(cycles as usize, usize::from(tlps), usize::from(reads)),
            Word::Begin => self.begin(),
            Word::Expect { tlps, reads } => self.expect(Signatures { tlps, reads }),
            Word::Text { when, text } => self.write(when, text),
            Word::Hex(value) => self.write_value(value),
        }
        Some(())
    }

    fn wait(&mut self, cycles: usize, tlps: usize, reads: usize) {
        let is_late = self.part.as_ref().is_some_and(|part| part.late);
        let came = (0..TIMEOUT_CYCLES).any(|_| {
            self.idle(1);
            is_late || self.tlps.sent.len() >= tlps && self.reads.sent.len() >= reads
        });
        if !came {
            self.all_held = false;
            if let Some(part) = &mut self.part {
                part.late = true;
            }
        }
        self.idle(cycles);
    }

    fn begin(&mut self) {
        self.end_part();
        self.part = Some(Part::default());
        self.begun = self.cycle;
        (self.tlps, self.reads) = (Signer::default(), Signer::default());
        self.in_reset = true;
        self.core.set_reset(true);
        self.idle(RESET_CYCLES);
        self.core.set_reset(false);
        self.in_reset = false;
    }

    fn end_part(&mut self) {
        let Some(mut part) = self.part.take() else {
            return;
        };
        if part.held.is_none() {
            part.signatures = self.signatures();
        }
        part.cycles = self.cycle - self.begun;
        part.tlps = std::mem::take(&mut self.tlps.sent);
        part.reads = std::mem::take(&mut self.reads.sent);
        self.played.parts.push(part);
    }

    fn signatures(&self) -> Signatures {
        Signatures {
            tlps: self.tlps.signature,
            reads: self.reads.signature,
        }
    }

    fn expect(&mut self, expected: Signatures) {
        self.idle(1);
        let signatures = self.signatures();
        let is_late = self.part.as_ref().is_some_and(|part| part.late);
        let held = signatures == expected && !is_late;
        self.all_held &= held;
        if let Some(part) = &mut self.part {
            part.signatures = signatures;
            part.held = Some(held);
        }
    }

    fn write(&mut self, when: When, text: u64) {
        self.idle(1 + REPORT_CYCLES);
        let held = self.part.as_ref().and_then(|part| part.held);
        let is_written = match when {
            When::Always => true,
            When::Held => held == Some(true),
            When::Failed => held == Some(false),
            When::AllHeld => self.all_held,
            When::AnyFailed => !self.all_held,
        };
        if is_written {
            let octets = text.to_le_bytes().into_iter();
            let written = octets.filter(|&octet| octet != 0).map(char::from);
            self.played.report.extend(written);
        }
    }

    fn write_value(&mut self, value: Value) {
        self.idle(1 + REPORT_CYCLES);
        let value = match value {
            Value::Answer => self.answer,
            Value::Tlps => self.tlps.signature,
            Value::Reads => self.reads.signature,
        };
        self.played.report += &format!("{value:08x}");
    }

    fn data(&self, low: u64) -> [u32; 4] {
        let ([a, b], [c, d]) = (halves(low), halves(self.payload_high));
        [a, b, c, d]
    }

    fn idle(&mut self, cycles: usize) {
        for _ in 0..cycles {
            self.step(Offer::Nothing);
        }
    }

    /// One cycle; true if the core took a request in it.
    fn step(&mut self, offer: Offer) -> bool {
        self.offer(offer);
        self.core.set_tlp_ready(self.tlps.is_ready());
        self.core.set_read_request_ready(self.reads.is_ready());
        self.core.set_tick(self.cycle % TICK_CYCLES == 0);
        self.core.cycle(false);
        self.cycle += 1;
        if self.in_reset {
            return false;
        }
        self.take_tlp();
        match self.core.read_request().filter(|_| self.reads.is_ready()) {
            Some(header) => drop(self.reads.take(header, &[], true)),
            None => self.reads.rest(),
        }
        self.core.request_ready()
    }

    fn take_tlp(&mut self) {
        let Some(beat) = self.core.tlp().filter(|_| self.tlps.is_ready()) else {
            return self.tlps.rest();
        };
        let lanes = beat.data.iter().enumerate();
        let kept = lanes.filter(|(lane, _)| beat.keep >> lane & 1 == 1);
        let data: Vec<u32> = kept.map(|(_, &dword)| dword).collect();
        let Some(packet) = self.tlps.take(beat.header, &data, beat.last) else {
            return;
        };
        let is_completion = packet.header[0] >> 24 & 0x1f == 0x0a;
        let first = packet.payload.first_chunk().filter(|_| is_completion);
        self.answer = first.map_or(self.answer, |octets| u32::from_le_bytes(*octets));
    }

    /// Set what the core is given in this cycle.
    fn offer(&mut self, offer: Offer) {
        let header = &self.header;
        let (mut request, mut completion, mut frame) = (None, None, None);
        match &offer {
            Offer::Nothing => {}
            &Offer::Request { ref data, last } => {
                request = Some(DownstreamBeat { header, data, last });
            }
            &Offer::Completion {
                ref data,
                dwords,
                last,
            } => {
                let data = &data[..dwords];
                completion = Some(DownstreamBeat { header, data, last });
            }
            &Offer::Frame {
                ref octets,
                count,
                last,
            } => {
                frame = Some(FrameBeat {
                    octets: &octets[..count],
                    last,
                    error: false,
                });
            }
        }
        self.core.set_request(request);
        self.core.set_completion(completion);
        self.core.set_frame(frame);
    }
}

fn halves(data: u64) -> [u32; 2] {
    [data as u32, (data >> 32) as u32]
}
