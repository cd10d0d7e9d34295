//! Headers that are almost right.
use crate::{nfs, vectors};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rpcrdma::wire::{Caps, Form, HeaderWriter, Padding, ReadSegment, Segment};

/// Messages to begin with.
pub struct Vectors {
    figures: Vec<Vec<u8>>,
    /// Sends of the capture that have chunks, and those that have none.
    chunked: Vec<Vec<u8>>,
    plain: Vec<Vec<u8>>,
}

impl Vectors {
    pub fn load() -> Self {
        let figures = vectors::all()
            .into_iter()
            .map(|(_, octets)| octets)
            .collect();
        let (client, server) = nfs::ends();
        // Private data is no header, whatever becomes of it.
        let others = [client.private_data.clone(), server.private_data.clone()];
        let sends = client.sends().into_iter().chain(server.sends());
        let has_chunks = |send: &Vec<u8>| send[16..28].iter().any(|octet| *octet != 0);
        let sends = sends.map(|(octets, _)| octets.to_vec());
        let (chunked, plain): (Vec<_>, Vec<_>) = sends.partition(has_chunks);
        let plain: Vec<_> = others.into_iter().chain(plain).collect();
        Self {
            figures,
            chunked,
            plain,
        }
    }

    pub fn figures(&self) -> usize {
        self.figures.len()
    }

    pub fn captured(&self) -> usize {
        // Without the private data of both ends.
        self.chunked.len() + self.plain.len() - 2
    }

    fn pick<'v>(&'v self, random: &mut ChaCha8Rng) -> &'v [u8] {
        let from = match random.random_range(0..8) {
            0..4 => &self.figures,
            4..7 => &self.chunked,
            _ => &self.plain,
        };
        &from[random.random_range(0..from.len())]
    }
}

/// Numbers that are at some limit.
const NUMBERS: [u32; 20] = [
    0,
    1,
    2,
    3,
    4,
    5,
    8,
    16,
    17,
    64,
    65,
    4096,
    1 << 16,
    1 << 20,
    0x0fff_ffff,
    0x1000_0000,
    0x1000_0001,
    0x7fff_ffff,
    0xffff_fffc,
    u32::MAX,
];

/// Caps that are met often, and the usual ones.
fn caps(random: &mut ChaCha8Rng) -> Caps {
    match random.random_range(0..4) {
        0 => Caps {
            segments_max: 2,
            write_chunks_max: 1,
            read_octets_max: 4096,
        },
        1 => Caps {
            segments_max: 5,
            write_chunks_max: 2,
            read_octets_max: 16_384,
        },
        _ => Caps::default(),
    }
}

/// One header in place of what `octets` hold.
pub fn header(vectors: &Vectors, random: &mut ChaCha8Rng, octets: &mut Vec<u8>) -> Caps {
    octets.clear();
    if random.random_ratio(1, 4) {
        lists(random, octets);
    } else {
        octets.extend_from_slice(vectors.pick(random));
    }
    // Most mutations are in the header.
    for _ in 0..random.random_range(0..4) {
        mutate(vectors, random, octets);
    }
    caps(random)
}

fn segment(random: &mut ChaCha8Rng) -> Segment {
    let near = u64::from(random.random_range(0..40_u32));
    Segment {
        handle: random.random_range(1..3),
        length: random.random_range(0..12),
        offset: if random.random_ratio(1, 8) {
            u64::MAX - near
        } else {
            near * 4
        },
    }
}

/// A header of random lists, whose positions ascend more often than not.
fn lists(random: &mut ChaCha8Rng, octets: &mut Vec<u8>) {
    let form = match random.random_range(0..3) {
        0 => Form::Msg,
        1 => Form::Nomsg,
        _ => {
            let align = 1 << random.random_range(0..14);
            Form::Msgp(Padding {
                align,
                threshold: random.random_range(0..64),
            })
        }
    };
    let xid = random.random();
    let mut writer = HeaderWriter::new(octets, xid, random.random(), form);
    let mut position = if form == Form::Nomsg {
        0
    } else {
        4 * random.random_range(0..6)
    };
    for _ in 0..random.random_range(0..6) {
        let segment = segment(random);
        writer.read(ReadSegment { position, segment });
        if random.random_ratio(2, 3) {
            position += random.random_range(0..6) * 4 + segment.length.next_multiple_of(4);
        }
    }
    let mut writer = writer.writes();
    for _ in 0..random.random_range(0..3) {
        writer.chunk((0..random.random_range(0..3)).map(|_| segment(random)));
    }
    match random.random_ratio(1, 2) {
        true => writer.reply((0..random.random_range(0..3)).map(|_| segment(random))),
        false => writer.end(),
    };
    if form != Form::Nomsg {
        octets.extend_from_slice(&xid.to_be_bytes());
        let end = octets.len() + random.random_range(0..16) * 4;
        octets.resize(end, 0);
    }
}

/// The place of a word, in the first 100 octets more often than not.
fn word_at(random: &mut ChaCha8Rng, octets: &[u8]) -> usize {
    let words = octets.len() / 4;
    let near = if random.random_ratio(7, 8) {
        words.min(25)
    } else {
        words
    };
    4 * random.random_range(0..near.max(1))
}

fn mutate(vectors: &Vectors, random: &mut ChaCha8Rng, octets: &mut Vec<u8>) {
    if octets.len() < 4 {
        octets.resize(4 + random.random_range(0..24), 0);
    }
    let at = word_at(random, octets);
    let end = (at + 4 * random.random_range(1..8)).min(octets.len());
    match random.random_range(0..10) {
        0 => octets[at + random.random_range(0..4)] ^= 1 << random.random_range(0..8),
        1..4 => {
            let number = match random.random_range(0..4) {
                0 => octets.len() as u32 / 16,
                1 => random.random(),
                _ => NUMBERS[random.random_range(0..NUMBERS.len())],
            };
            octets[at..at + 4].copy_from_slice(&number.to_be_bytes());
        }
        4 => {
            // A little more or less than what was there.
            let word = octets[at..at + 4]
                .iter()
                .fold(0, |word, octet| word << 8 | u32::from(*octet));
            let near = word
                .wrapping_add(random.random_range(0..17))
                .wrapping_sub(8);
            octets[at..at + 4].copy_from_slice(&near.to_be_bytes());
        }
        5 => octets.truncate(random.random_range(0..octets.len() + 1)),
        6 => {
            let length = octets.len() + random.random_range(0..40);
            octets.resize(length, random.random());
        }
        7 => {
            octets.drain(at..end);
        }
        8 => {
            let again = octets[at..end].to_vec();
            octets.splice(at..at, again);
        }
        _ => {
            let other = vectors.pick(random);
            let from = word_at(random, other);
            octets.truncate(at);
            octets.extend_from_slice(&other[from..]);
        }
    }
}
