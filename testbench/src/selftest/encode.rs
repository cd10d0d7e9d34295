//! Items into words, each as late after what came before it as in the recorded run.
//!
//! The player takes four cycles for a word where the recorded host took one, and the unit that
//! signs takes a cycle for a doubleword. So an item waits for what had left the core before it was
//! given, and then as long as it did in the recorded run, but no longer than `PAUSE_CYCLES_MAX`:
//! a simulation waits thousands of cycles to see that a core is idle.

use super::relevant::relevant;
use super::signer::Packet;
use rnic_board::script::{text, When, Word};
use rnic_sim::transcript::{Entry, Item};
use thiserror::Error;

/// Shorter pauses than this are left to the time that the words take.
const PAUSE_CYCLES_MIN: u64 = 8;
/// Longest pause: the way of a frame through an idle core.
const PAUSE_CYCLES_MAX: u64 = 150;
/// Octets of a beat of a frame.
const FRAME_BEAT_OCTETS: usize = 8;
/// Octets of a beat of a TLP to the core.
const TLP_BEAT_OCTETS: usize = 16;

/// What no word can say.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EncodeError {
    /// A frame that the MAC marked bad.
    #[error("the script has no word for a frame that the MAC marked bad")]
    BadFrame,
    /// More TLPs than a word counts.
    #[error("a scene has more than 65,535 TLPs")]
    TooMany,
}

/// What the core sends in a scene.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// Posted requests and completions.
    pub tlps: Vec<Packet>,
    /// Read requests.
    pub reads: Vec<Packet>,
}

/// A script that grows. What the header and payload registers hold is known, so that a word which
/// loads the same again is left out.
#[derive(Debug, Default)]
pub struct Encoder {
    words: Vec<Word>,
    header_low: u64,
    header_high: u64,
    payload_high: u64,
}

impl Encoder {
    /// The words so far.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// The words.
    pub fn into_words(self) -> Vec<Word> {
        self.words
    }

    /// Append a word that is no item.
    pub fn push(&mut self, word: Word) {
        self.words.push(word);
    }

    /// Append words that write `line`.
    pub fn text(&mut self, when: When, line: &str) {
        self.words.extend(text(when, line));
    }

    /// Append what was given to the core, and return what it has sent.
    pub fn items(&mut self, entries: Vec<Entry>) -> Result<Sent, EncodeError> {
        let mut sent = Sent::default();
        // What was waited for, and when the last thing happened that an item may follow.
        let (mut waited, mut last) = ((0, 0), None);
        for entry in relevant(entries) {
            let (start, end) = (entry.start, entry.end);
            match entry.item {
                Item::Tlp { header, payload } => sent.tlps.push(Packet { header, payload }),
                Item::Read { header } => sent.reads.push(Packet {
                    header,
                    payload: Vec::new(),
                }),
                given => {
                    let counts = (sent.tlps.len(), sent.reads.len());
                    let pause = start.saturating_sub(last.unwrap_or(start));
                    if counts != waited || pause >= PAUSE_CYCLES_MIN {
                        self.wait(pause, &sent)?;
                        waited = counts;
                    }
                    self.item(&given)?;
                }
            }
            last = last.max(Some(end));
        }
        self.wait(PAUSE_CYCLES_MAX, &sent)?;
        Ok(sent)
    }

    /// Wait until the core has sent what `sent` holds, and for `pause` cycles.
    fn wait(&mut self, pause: u64, sent: &Sent) -> Result<(), EncodeError> {
        let pause = if pause < PAUSE_CYCLES_MIN { 0 } else { pause };
        let count = |packets: &[Packet]| u16::try_from(packets.len());
        self.push(Word::Wait {
            cycles: pause.min(PAUSE_CYCLES_MAX) as u32,
            tlps: count(&sent.tlps).map_err(|_| EncodeError::TooMany)?,
            reads: count(&sent.reads).map_err(|_| EncodeError::TooMany)?,
        });
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Result<(), EncodeError> {
        match item {
            Item::Request { header, payload } => self.request(header, payload),
            Item::Completion { header, payload } => {
                self.header(header);
                for (beat, last) in beats(payload, TLP_BEAT_OCTETS) {
                    let low = self.payload(beat);
                    let dwords = beat.len().div_ceil(4) as u8;
                    self.push(Word::Completion { low, dwords, last });
                }
            }
            Item::Frame { error: true, .. } => return Err(EncodeError::BadFrame),
            Item::Frame { octets, .. } => {
                for (beat, last) in beats(octets, FRAME_BEAT_OCTETS) {
                    self.push(Word::Frame {
                        octets: number(beat),
                        count: beat.len() as u8,
                        last,
                    });
                }
            }
            Item::Tlp { .. } | Item::Read { .. } => {}
        }
        Ok(())
    }

    /// Append a BAR request.
    pub fn request(&mut self, header: &[u32], payload: &[u8]) {
        self.header(header);
        for (beat, last) in beats(payload, TLP_BEAT_OCTETS) {
            let low = self.payload(beat);
            self.push(Word::Request { low, last });
        }
    }

    fn header(&mut self, header: &[u32]) {
        let dword = |place: usize| u64::from(header.get(place).copied().unwrap_or(0));
        let (low, high) = (dword(0) | dword(1) << 32, dword(2) | dword(3) << 32);
        if low != std::mem::replace(&mut self.header_low, low) {
            self.push(Word::HeaderLow(low));
        }
        if high != std::mem::replace(&mut self.header_high, high) {
            self.push(Word::HeaderHigh(high));
        }
    }

    /// The lower half of a beat; the upper half is loaded if there is one.
    fn payload(&mut self, beat: &[u8]) -> u64 {
        let (low, high) = beat.split_at(beat.len().min(8));
        let high = number(high);
        if beat.len() > 8 && high != std::mem::replace(&mut self.payload_high, high) {
            self.push(Word::PayloadHigh(high));
        }
        number(low)
    }
}

/// Beats of `octets`, each with whether it is the last one; one if there are no octets.
fn beats(octets: &[u8], beat_octets: usize) -> impl Iterator<Item = (&[u8], bool)> {
    let count = octets.len().div_ceil(beat_octets).max(1);
    (0..count).map(move |beat| {
        let rest = &octets[beat * beat_octets..];
        (&rest[..rest.len().min(beat_octets)], beat + 1 == count)
    })
}

/// At most eight octets as a number, the first one in its lowest bits.
fn number(octets: &[u8]) -> u64 {
    let octets = octets.iter().rev();
    octets.fold(0, |number, &octet| number << 8 | u64::from(octet))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(start: u64, end: u64, item: Item) -> Entry {
        Entry { start, end, item }
    }

    #[test]
    fn an_item_waits_for_what_left_before_it_and_registers_are_loaded_once() {
        let frame = |octets: &[u8]| Item::Frame {
            octets: octets.to_vec(),
            error: false,
        };
        let header = vec![0x4000_0002, 0xf, 0xfe00_0100];
        let request = |octets: Vec<u8>| Item::Request {
            header: header.clone(),
            payload: octets,
        };
        let read = Item::Read {
            header: vec![1, 2, 3],
        };
        let entries = vec![
            entry(10, 11, frame(&[1, 2, 3, 4, 5, 6, 7, 8, 9])),
            entry(30, 30, request(vec![1; 8])),
            entry(33, 33, request(vec![2; 8])),
            entry(40, 40, read),
            entry(5000, 5000, frame(&[7])),
        ];
        let mut encoder = Encoder::default();
        let sent = encoder.items(entries).expect("there are words for all");
        assert_eq!((sent.tlps.len(), sent.reads.len()), (0, 1));
        let wait = |cycles, reads| Word::Wait {
            cycles,
            tlps: 0,
            reads,
        };
        let beat = |octets, count, last| Word::Frame {
            octets,
            count,
            last,
        };
        let ones = |octet: u8| Word::Request {
            low: u64::from_le_bytes([octet; 8]),
            last: true,
        };
        let expected = [
            beat(0x0807_0605_0403_0201, 8, false),
            beat(9, 1, true),
            wait(19, 0),
            Word::HeaderLow(0xf_4000_0002),
            Word::HeaderHigh(0xfe00_0100),
            ones(1),
            ones(2),
            wait(150, 1),
            beat(7, 1, true),
            wait(150, 1),
        ];
        assert_eq!(encoder.words(), expected);
    }
}
