//! Faults: stages over the segments of one direction, each with its rate, each counting.
//!
//! ```text
//!  FPDUs -> damage_stream -> cut -> resegment -> overlap -> lose -> duplicate -> reorder -> resend
//! ```
//!
//! A segment is a range of the stream, so whatever its borders are, its octets are right; a wrong
//! bit that TCP must not see is put into the stream before it is cut. `lose`, which also marks the
//! segments whose frames get a wrong bit, schedules a lost segment again; `resend` looks at the
//! list as a receiver does that takes octets in order only, and sends everything from a gap on.

use crate::traffic::sender::{Sender, SentFpdu};
use crate::workload::describe::{Faults, Field, Resend};
use crate::workload::oddity::Oddity;
use crate::workload::places::Places;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rnic_wire::ddp::{tagged, untagged};
use rnic_wire::mpa::crc32c::CRC_OCTETS;
use rnic_wire::mpa::fpdu::LENGTH_OCTETS;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// A second copy follows the first by fewer segments than this.
const DUPLICATE_DISTANCE: usize = 4;

/// Faults that were put in, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Injected {
    /// Segments cut in two.
    pub resegment: u64,
    /// Segments over a border.
    pub overlap: u64,
    /// Segments left out.
    pub loss: u64,
    /// Segments that arrive twice.
    pub duplicate: u64,
    /// Segments that arrive late.
    pub reorder: u64,
    /// Segments sent again.
    pub resent: u64,
    /// Wrong bits by field.
    pub errors: BTreeMap<Field, u64>,
    /// Oddities by kind.
    pub oddities: BTreeMap<Oddity, u64>,
}

impl Injected {
    /// Every kind with its name and count, those that did not happen included.
    pub fn by_kind(&self) -> Vec<(String, u64)> {
        let kinds = [
            ("resegment", self.resegment),
            ("overlap", self.overlap),
            ("loss", self.loss),
            ("duplicate", self.duplicate),
            ("reorder", self.reorder),
            ("resent", self.resent),
        ];
        let errors = Field::ALL.map(|field| {
            let count = self.errors.get(&field).copied().unwrap_or(0);
            (format!("error in {}", field.name()), count)
        });
        let kinds = kinds.map(|(name, count)| (name.to_owned(), count));
        let oddities = Oddity::ALL.map(|oddity| {
            let count = self.oddities.get(&oddity).copied().unwrap_or(0);
            (oddity.name().to_owned(), count)
        });
        let kinds = kinds.into_iter().chain(errors);
        kinds.chain(oddities).collect()
    }

    /// Add the faults of another capture.
    pub fn add(&mut self, other: &Self) {
        self.resegment += other.resegment;
        self.overlap += other.overlap;
        self.loss += other.loss;
        self.duplicate += other.duplicate;
        self.reorder += other.reorder;
        self.resent += other.resent;
        for (&field, &count) in &other.errors {
            *self.errors.entry(field).or_default() += count;
        }
        for (&oddity, &count) in &other.oddities {
            *self.oddities.entry(oddity).or_default() += count;
        }
    }

    /// An oddity happened.
    pub fn add_oddity(&mut self, oddity: Oddity) {
        *self.oddities.entry(oddity).or_default() += 1;
    }
}

/// A segment on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its octets in the stream.
    pub octets: Range<usize>,
    /// Why it does not arrive, if it does not.
    pub damage: Option<Damage>,
}

/// What keeps a segment from its receiver though its frame arrives.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// A bit of the frame is wrong.
    Bit(Field),
    /// See [`Oddity::is_loss`].
    Odd(Oddity),
}

impl From<Range<usize>> for Segment {
    fn from(octets: Range<usize>) -> Self {
        Self {
            octets,
            damage: None,
        }
    }
}

/// The stages, for directions one after another.
#[derive(Debug)]
pub struct Injector<'a> {
    faults: &'a Faults,
    /// Longest segment.
    mss: usize,
    generator: &'a mut ChaCha8Rng,
    injected: &'a mut Injected,
}

impl<'a> Injector<'a> {
    /// Stages that draw from `generator` and count in `injected`; no segment that they make is
    /// longer than `mss`.
    pub fn new(
        faults: &'a Faults,
        mss: usize,
        generator: &'a mut ChaCha8Rng,
        injected: &'a mut Injected,
    ) -> Self {
        Self {
            faults,
            mss,
            generator,
            injected,
        }
    }

    /// Wrong bits in fields of the FPDUs of `sender` from number `first` on.
    pub fn damage_stream(&mut self, sender: &mut Sender, first: usize) {
        let markers = sender.config().markers;
        for index in first..sender.fpdus().len() {
            let places = FieldPlaces::of(&sender.fpdus()[index], markers);
            for (&field, &rate) in self.faults.errors.iter().filter(|(f, _)| !f.is_of_frame()) {
                let octets = places.of_field(field);
                if octets.is_empty() || !self.generator.random_bool(rate) {
                    continue;
                }
                let octet = octets[self.generator.random_range(0..octets.len())];
                sender.stream_mut()[octet] ^= 1 << self.generator.random_range(0..8);
                *self.injected.errors.entry(field).or_default() += 1;
            }
        }
    }

    /// All stages over segments that follow each other without gaps.
    pub fn apply(&mut self, cut: Vec<Range<usize>>) -> Vec<Segment> {
        let (Some(first), Some(last)) = (cut.first(), cut.last()) else {
            return Vec::new();
        };
        let whole = first.start..last.end;
        let segments = cut.into_iter().map(Segment::from).collect();
        let segments = self.resegment(segments);
        let segments = self.overlap(segments);
        let segments = self.lose(segments);
        let segments = self.duplicate(segments);
        let segments = self.reorder(segments);
        match self.faults.resend {
            Resend::All => self.resend(segments, whole),
            Resend::Lost | Resend::Never => segments,
        }
    }

    fn resegment(&mut self, segments: Vec<Segment>) -> Vec<Segment> {
        let mut out = Vec::with_capacity(segments.len());
        for segment in segments {
            let Range { start, end } = segment.octets;
            if end - start < 2 || !self.generator.random_bool(self.faults.resegment) {
                out.push(segment);
                continue;
            }
            let border = self.generator.random_range(start + 1..end);
            out.extend([Segment::from(start..border), Segment::from(border..end)]);
            self.injected.resegment += 1;
        }
        out
    }

    /// Before a segment, one with octets that precede it and of its own.
    fn overlap(&mut self, segments: Vec<Segment>) -> Vec<Segment> {
        let mut out = Vec::with_capacity(segments.len());
        for segment in segments {
            let Range { start, end } = segment.octets;
            if start > 0 && self.generator.random_bool(self.faults.overlap) {
                let before = self.generator.random_range(1..=start.min(self.mss - 1));
                let after = (end - start).min(self.mss - before);
                let after = self.generator.random_range(1..=after);
                out.push(Segment::from(start - before..start + after));
                self.injected.overlap += 1;
            }
            out.push(segment);
        }
        out
    }

    /// Segments that do not arrive, because they are lost or a bit of their frame is wrong.
    fn lose(&mut self, segments: Vec<Segment>) -> Vec<Segment> {
        let mut placed = Vec::with_capacity(segments.len());
        for (position, segment) in segments.into_iter().enumerate() {
            let lost = self.generator.random_bool(self.faults.loss);
            let damage = self.damage();
            if (lost || damage.is_some()) && self.faults.resend == Resend::Lost {
                placed.push((position + self.faults.resend_after, 1, segment.clone()));
                self.injected.resent += 1;
            }
            if lost {
                self.injected.loss += 1;
                continue;
            }
            match damage {
                Some(Damage::Bit(field)) => {
                    *self.injected.errors.entry(field).or_default() += 1;
                }
                Some(Damage::Odd(oddity)) => self.injected.add_oddity(oddity),
                None => {}
            }
            placed.push((position, 0, Segment { damage, ..segment }));
        }
        in_order_of_place(placed)
    }

    /// The field of a frame in which a bit is wrong, if any, or an oddity that is a loss.
    fn damage(&mut self) -> Option<Damage> {
        let mut damage = None;
        for (&field, &rate) in self.faults.errors.iter().filter(|(f, _)| f.is_of_frame()) {
            if self.generator.random_bool(rate) {
                damage = Some(Damage::Bit(field));
            }
        }
        for (&oddity, &rate) in self.faults.oddities.iter().filter(|(o, _)| o.is_loss()) {
            if self.generator.random_bool(rate) {
                damage = Some(Damage::Odd(oddity));
            }
        }
        damage
    }

    fn duplicate(&mut self, segments: Vec<Segment>) -> Vec<Segment> {
        let mut placed = Vec::with_capacity(segments.len());
        for (position, segment) in segments.into_iter().enumerate() {
            if self.generator.random_bool(self.faults.duplicate) {
                let distance = self.generator.random_range(0..DUPLICATE_DISTANCE);
                placed.push((position + distance, 1, segment.clone()));
                self.injected.duplicate += 1;
            }
            placed.push((position, 0, segment));
        }
        in_order_of_place(placed)
    }

    fn reorder(&mut self, segments: Vec<Segment>) -> Vec<Segment> {
        let last = segments.len().saturating_sub(1);
        let mut placed = Vec::with_capacity(segments.len());
        for (position, segment) in segments.into_iter().enumerate() {
            let late = position < last && self.generator.random_bool(self.faults.reorder);
            if !late {
                placed.push((position, 0, segment));
                continue;
            }
            let distance = self.generator.random_range(1..=self.faults.reorder_window);
            placed.push((position + distance, 1, segment));
            self.injected.reorder += 1;
        }
        in_order_of_place(placed)
    }

    /// After each gap that stays open for `resend_after` segments, all from it to the highest
    /// octet sent; at the end, what is missing of `whole`.
    fn resend(&mut self, segments: Vec<Segment>, whole: Range<usize>) -> Vec<Segment> {
        let mut out = Vec::with_capacity(segments.len());
        let (mut next, mut highest, mut waited) = (whole.start, whole.start, 0);
        for segment in segments {
            let octets = segment.octets.clone();
            highest = highest.max(octets.end);
            if segment.damage.is_none() && octets.start <= next {
                next = next.max(octets.end);
            }
            out.push(segment);
            waited = if next < highest { waited + 1 } else { 0 };
            if waited >= self.faults.resend_after {
                self.send_again(&mut out, next..highest);
                (next, waited) = (highest, 0);
            }
        }
        self.send_again(&mut out, next..whole.end);
        out
    }

    fn send_again(&mut self, out: &mut Vec<Segment>, octets: Range<usize>) {
        for start in octets.clone().step_by(self.mss) {
            out.push(Segment::from(start..octets.end.min(start + self.mss)));
            self.injected.resent += 1;
        }
    }
}

/// Segments by position; those with rank 1 stand after the one that has the position itself.
fn in_order_of_place(mut placed: Vec<(usize, usize, Segment)>) -> Vec<Segment> {
    placed.sort_by_key(|&(position, rank, _)| (position, rank));
    placed.into_iter().map(|(_, _, segment)| segment).collect()
}

/// Where the fields of an FPDU are in its stream.
struct FieldPlaces {
    octets: Places,
    header: usize,
    ulpdu: usize,
}

impl FieldPlaces {
    fn of(fpdu: &SentFpdu, markers: bool) -> Self {
        let untagged = fpdu.opcode.and_then(|opcode| opcode.qn()).is_some();
        let header = match untagged {
            true => untagged::HEADER_OCTETS,
            false => tagged::HEADER_OCTETS,
        };
        Self {
            octets: Places::of(fpdu.octets.clone(), markers),
            header: header.min(fpdu.ulpdu_length),
            ulpdu: fpdu.ulpdu_length,
        }
    }

    /// Octets of a field of the stream; a frame's are elsewhere.
    fn of_field(&self, field: Field) -> &[usize] {
        let ulpdu = LENGTH_OCTETS..LENGTH_OCTETS + self.ulpdu;
        let payload = ulpdu.start + self.header;
        let plain = &self.octets.plain;
        match field {
            Field::Ip | Field::Tcp | Field::Payload => &[],
            Field::Length => &plain[..ulpdu.start],
            Field::Header => &plain[ulpdu.start..payload],
            Field::Data => &plain[payload..ulpdu.end],
            Field::Crc => &plain[plain.len() - CRC_OCTETS..],
            Field::Marker => &self.octets.pointers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use std::collections::BTreeSet;

    const MSS: usize = 64;

    /// `count` segments of `MSS` octets through all stages.
    fn through(faults: &Faults, count: usize) -> (Vec<Segment>, Injected) {
        let mut generator = ChaCha8Rng::seed_from_u64(7);
        let mut injected = Injected::default();
        let mut injector = Injector::new(faults, MSS, &mut generator, &mut injected);
        let cut = (1..=count).map(|segment| segment * MSS..(segment + 1) * MSS);
        let segments = injector.apply(cut.collect());
        (segments, injected)
    }

    #[test]
    fn without_rates_nothing_happens() {
        let (segments, injected) = through(&Faults::default(), 50);
        let expected = (1..=50).map(|segment| Segment::from(segment * MSS..(segment + 1) * MSS));
        assert_eq!(segments, expected.collect::<Vec<_>>());
        assert_eq!(injected, Injected::default());
    }

    #[test]
    fn segments_are_cut_at_every_octet() {
        let faults = Faults {
            resegment: 1.0,
            ..Faults::default()
        };
        let (segments, injected) = through(&faults, 2000);
        let borders: BTreeSet<usize> = segments.iter().map(|s| s.octets.start % MSS).collect();
        assert_eq!(borders, (0..MSS).collect());
        assert_eq!((segments.len(), injected.resegment), (4000, 2000));
    }

    #[test]
    fn an_overlap_has_octets_of_both_sides_of_a_border() {
        let faults = Faults {
            overlap: 1.0,
            ..Faults::default()
        };
        let (segments, injected) = through(&faults, 500);
        assert_eq!((segments.len(), injected.overlap), (1000, 500));
        for pair in segments.chunks(2) {
            let (over, own) = (&pair[0].octets, &pair[1].octets);
            assert!(over.start < own.start && own.start < over.end && over.end <= own.end);
            assert!(over.len() <= MSS);
        }
    }

    #[test]
    fn a_late_segment_is_passed_by_no_more_than_the_window() {
        let faults = Faults {
            reorder: 0.5,
            reorder_window: 3,
            ..Faults::default()
        };
        let (segments, injected) = through(&faults, 1000);
        let passed_by = |place: usize| {
            let own = segments[place].octets.start;
            let before = segments[..place].iter();
            before.filter(|other| other.octets.start > own).count()
        };
        let most = (0..segments.len()).map(passed_by).max();
        assert_eq!((segments.len(), most), (1000, Some(3)));
        assert!((400..600).contains(&injected.reorder));
    }

    /// Lost segments come again `resend_after` later, or with all that follows them.
    #[test]
    fn what_is_lost_comes_again() {
        for resend in [Resend::Lost, Resend::All, Resend::Never] {
            let faults = Faults {
                loss: 0.2,
                resend,
                resend_after: 5,
                ..Faults::default()
            };
            let (segments, injected) = through(&faults, 500);
            let starts: BTreeSet<usize> = segments.iter().map(|s| s.octets.start / MSS).collect();
            let all = starts == (1..=500).collect();
            assert_eq!(all, resend != Resend::Never, "{resend:?}");
            assert!(injected.loss > 0, "{resend:?}");
            let sent = 500 - injected.loss + injected.resent;
            assert_eq!(segments.len() as u64, sent, "{resend:?}");
            match resend {
                Resend::Lost => assert_eq!(injected.resent, injected.loss),
                Resend::All => assert!(injected.resent > injected.loss),
                Resend::Never => assert_eq!(injected.resent, 0),
            }
        }
    }
}
