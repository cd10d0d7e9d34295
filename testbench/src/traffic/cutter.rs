//! Cutting a stream into TCP segments.

use crate::traffic::sender::SentFpdu;
use rand::Rng;
use std::ops::Range;

/// How a stream is cut.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Cutter {
    /// Each FPDU starts a segment of its own; one longer than a segment takes several (MPA-025).
    Aligned,
    /// As many whole FPDUs to a segment as fit it; else as if aligned.
    Packed,
    /// Full segments without regard to FPDUs.
    Full,
    /// At any octet: segments of 1 octet to full size, evenly spread.
    Chopped,
}

impl Cutter {
    /// Every way to cut.
    pub const ALL: [Self; 4] = [Self::Aligned, Self::Packed, Self::Full, Self::Chopped];

    /// The octets of each segment, in order and without gaps, of the stream that `fpdus` make up.
    /// No segment is longer than `mss` octets; `generator` is asked by [`Cutter::Chopped`] only.
    ///
    /// # Panics
    /// If `mss` is 0.
    pub fn cut(
        self,
        fpdus: &[SentFpdu],
        mss: usize,
        generator: &mut impl Rng,
    ) -> Vec<Range<usize>> {
        assert!(mss > 0, "a segment has at least one octet");
        let stream = match (fpdus.first(), fpdus.last()) {
            (Some(first), Some(last)) => first.octets.start..last.octets.end,
            _ => return Vec::new(),
        };
        match self {
            Self::Aligned => fpdus
                .iter()
                .flat_map(|fpdu| pieces(fpdu.octets.clone(), || mss))
                .collect(),
            Self::Packed => packed(fpdus, mss),
            Self::Full => pieces(stream, || mss).collect(),
            Self::Chopped => pieces(stream, || generator.random_range(1..=mss)).collect(),
        }
    }
}

/// `whole` in pieces of the lengths that `length` gives.
fn pieces(
    whole: Range<usize>,
    mut length: impl FnMut() -> usize,
) -> impl Iterator<Item = Range<usize>> {
    let mut at = whole.start;
    std::iter::from_fn(move || {
        let start = at;
        at = whole.end.min(start + length());
        (start < whole.end).then_some(start..at)
    })
}

fn packed(fpdus: &[SentFpdu], mss: usize) -> Vec<Range<usize>> {
    let mut segments: Vec<Range<usize>> = Vec::new();
    // Whether the last segment ends where an FPDU ends and began where one began.
    let mut open = false;
    for fpdu in fpdus {
        let octets = fpdu.octets.clone();
        match segments.last_mut() {
            Some(last) if open && octets.end - last.start <= mss => last.end = octets.end,
            _ => {
                open = octets.len() <= mss;
                segments.extend(pieces(octets, || mss));
            }
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn fpdus(lengths: &[usize]) -> Vec<SentFpdu> {
        let mut at = 0;
        let place = |&length: &usize| {
            let octets = at..at + length;
            at += length;
            SentFpdu {
                octets,
                ulpdu_length: length - 8,
                opcode: None,
            }
        };
        lengths.iter().map(place).collect()
    }

    #[test]
    fn every_way_to_cut_gives_the_whole_stream_in_segments_that_fit() {
        let fpdus = fpdus(&[8, 100, 3000, 60, 60, 60, 1448, 20]);
        for seed in 0..50 {
            let mut generator = ChaCha8Rng::seed_from_u64(seed);
            for cutter in Cutter::ALL {
                let mut at = 0;
                for segment in cutter.cut(&fpdus, 1448, &mut generator) {
                    assert_eq!(segment.start, at, "{cutter:?} with seed {seed}");
                    assert!(
                        (1..=1448).contains(&segment.len()),
                        "{cutter:?} with seed {seed}"
                    );
                    at = segment.end;
                }
                assert_eq!(at, 4756, "{cutter:?} with seed {seed}");
            }
        }
    }

    /// Whole FPDUs share a segment; a long one begins its own.
    #[test]
    fn packed_segments_begin_and_end_at_fpdus() {
        let mut generator = ChaCha8Rng::seed_from_u64(0);
        let fpdus = fpdus(&[8, 100, 3000, 60, 60, 1360]);
        let segments = Cutter::Packed.cut(&fpdus, 1448, &mut generator);
        let expected = [
            0..108,
            108..1556,
            1556..3004,
            3004..3108,
            3108..3228,
            3228..4588,
        ];
        assert_eq!(segments, expected);
        let aligned = Cutter::Aligned.cut(&fpdus[..2], 1448, &mut generator);
        assert_eq!(aligned, [0..8, 8..108]);
    }

    #[test]
    fn no_fpdus_are_no_segments() {
        let mut generator = ChaCha8Rng::seed_from_u64(0);
        assert!(Cutter::Full.cut(&[], 10, &mut generator).is_empty());
    }
}
