//! What is sent: commands, with their beats and what must come of them.
use super::{Frame, Script, QUEUES};
use crate::messages::*;
use crate::receive::placement::tests::host::octets;
use rnic_abi::cqe;
use rnic_hdl_tools::testkit::{bits_of_words, words_of, Random};
use rust_hdl::prelude::*;

impl Script {
    /// Adds a random command for a device whose beats have `beat_octets`.
    pub fn add_random(&mut self, random: &mut Random, beat_octets: usize) {
        let settings = self.settings;
        let kind = random.below(8);
        let count = 1 + random.below(settings.octets_max) as usize;
        if kind < settings.host_of_8 {
            return self.add_frame(random, beat_octets, count.max(16));
        }
        let complete = random.chance(settings.complete_of_8, 8);
        if kind < settings.host_of_8 + settings.discard_of_8 {
            let beats = random.below(6) as usize;
            let address = random.bits();
            return self.add(
                random,
                beat_octets,
                PlaceKind::Discard,
                address,
                vec![],
                4,
                beats,
                complete,
            );
        }
        // Around lines, around 4 GiB, and far above it.
        let base = [0x1000, 0xffff_ff00, 0x0012_3456_7000][random.below(3) as usize];
        let address = base + random.below(1024);
        let payload = octets(random, count);
        let skip = [4, 5][random.below(2) as usize];
        let spare = random.below(3) as usize / 2;
        self.add(
            random,
            beat_octets,
            PlaceKind::Write,
            address,
            payload,
            skip,
            spare,
            complete,
        );
    }

    /// Adds a command that writes `payload` to `address`; `spare` beats come after those it needs.
    #[allow(clippy::too_many_arguments)] // One for each field of the command.
    pub fn add(
        &mut self,
        random: &mut Random,
        beat_octets: usize,
        kind: PlaceKind,
        address: u64,
        payload: Vec<u8>,
        skip_words: usize,
        spare: usize,
        complete: bool,
    ) {
        let mut stream = octets(random, 4 * skip_words);
        stream.extend_from_slice(&payload);
        let used = if kind == PlaceKind::Discard {
            0
        } else {
            stream.len().div_ceil(beat_octets)
        };
        let beats = used + spare;
        stream.extend(octets(
            random,
            (beats * beat_octets).saturating_sub(stream.len()),
        ));
        self.beats
            .extend(stream.chunks(beat_octets).take(beats).map(<[u8]>::to_vec));
        self.expected
            .extend((address..).zip(payload.iter().copied()));
        self.payload_due += payload.len() as u64;
        let mut words: [u32; 8] = words_of(random.wide::<256>());
        let queue = random.below(2) as usize;
        if complete {
            let entries = &mut self.queues[queue].entries;
            // As ddp gives it: phase and number.
            let number = entries.len() as u32;
            let first = number >> self.settings.cq_entries_log2 & 1 == 0;
            words[7] = number | if first { cqe::PHASE } else { 0 };
            entries.push((words, self.payload_due));
        }
        let command = PlaceCommand {
            kind,
            beats: (beats as u64).into(),
            skip_words: (skip_words as u64).into(),
            address: address.into(),
            octets: (payload.len() as u64).into(),
            complete,
            queue: QUEUES[queue].into(),
            cqe: bits_of_words(&words),
        };
        self.commands.push((command, self.payload_due));
    }

    /// Adds a frame of `count` octets for the host; its first four are its number.
    pub fn add_frame(&mut self, random: &mut Random, beat_octets: usize, count: usize) {
        let mut frame = octets(random, count);
        frame[..4].copy_from_slice(&(self.frames.len() as u32).to_le_bytes());
        let mut stream = frame.clone();
        stream.resize(count.next_multiple_of(beat_octets), 0xee);
        self.beats
            .extend(stream.chunks(beat_octets).map(<[u8]>::to_vec));
        let (head_page, tail_page) = (random.below(512), random.below(512));
        let mut cqe: Bits<256> = random.wide();
        cqe = cqe & !Bits::<256>::from(0x01ff_01ffu64);
        cqe = cqe | Bits::<256>::from(head_page | tail_page << 16);
        let command = PlaceCommand {
            kind: PlaceKind::Host,
            beats: ((stream.len() / beat_octets) as u64).into(),
            skip_words: 0u64.into(),
            address: random.bits().into(),
            octets: (count as u64).into(),
            complete: false,
            queue: random.wide(),
            cqe,
        };
        self.commands.push((command, self.payload_due));
        self.frames.push(Frame {
            octets: frame,
            head_page,
            tail_page,
        });
    }
}
