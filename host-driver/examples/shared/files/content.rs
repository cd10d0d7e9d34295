//! The octets of a file: segments that each are a hole or have a run of memory.
//!
//! ```text
//!  segment  |..... hole .....|<------ run ------>|..... hole .....|
//!                            |written  |...hole..|
//!                            from      from + valid
//! ```
//!
//! A run begins at a multiple of its size, and grows to the smallest such that has what is written,
//! too. What is beyond `valid` reads as zeros, whatever it holds.

use super::arena::{Arena, Loan, RUN_OCTETS_MAX};
use super::error::Error;
use rpcrdma::place::Place;
use std::collections::BTreeMap;
use std::ops::Range;

/// Octets of a segment.
const SEGMENT: u64 = RUN_OCTETS_MAX as u64;
/// Octets that are copied or cleared at a time.
const STEP: u32 = 64 << 10;

/// Memory that places are of. Places that are handed to it are within it.
pub trait Memory {
    /// Copy `octets` to the beginning of `at`.
    fn store(&self, at: Place, octets: &[u8]);
    /// Fill `into` from the beginning of `at`.
    fn load(&self, at: Place, into: &mut [u8]);

    /// Copy all of `from` to the beginning of `to`.
    fn copy(&self, from: Place, to: Place) {
        let mut buffer = vec![0; from.length.min(STEP) as usize];
        for at in (0..from.length).step_by(STEP as usize) {
            let octets = &mut buffer[..(from.length - at).min(STEP) as usize];
            self.load(part(from, at..at + octets.len() as u32), octets);
            self.store(part(to, at..at + octets.len() as u32), octets);
        }
    }

    /// Write zeros to all of `at`.
    fn clear(&self, at: Place) {
        let zeros = vec![0; at.length.min(STEP) as usize];
        for begin in (0..at.length).step_by(STEP as usize) {
            let end = at.length.min(begin + STEP);
            self.store(part(at, begin..end), &zeros[..(end - begin) as usize]);
        }
    }
}

fn part(place: Place, range: Range<u32>) -> Place {
    let part = place.part(range.start, range.end - range.start);
    part.expect("ranges of a run are within it")
}

/// What is written.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// These octets.
    Octets(&'a [u8]),
    /// What is in memory.
    Place(Place),
}

impl Source<'_> {
    /// Octets of it.
    #[must_use]
    pub fn length(&self) -> u32 {
        match self {
            Self::Octets(octets) => octets.len() as u32,
            Self::Place(place) => place.length,
        }
    }

    fn write(&self, range: Range<u32>, to: Place, memory: &impl Memory) {
        match self {
            Self::Octets(octets) => {
                memory.store(to, &octets[range.start as usize..range.end as usize]);
            }
            Self::Place(place) => memory.copy(part(*place, range), to),
        }
    }
}

/// Octets of a file that follow each other in memory.
#[derive(Debug)]
pub struct Piece {
    /// Where they are; `None`: zeros.
    pub place: Option<(Place, Loan)>,
    /// How many.
    pub length: u32,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    /// Octets of the segment before it.
    from: u32,
    /// Octets of it that were written, or cleared.
    valid: u32,
    place: Place,
}

impl Run {
    fn end(&self) -> u32 {
        self.from + self.place.length
    }
}

/// The octets of a file.
#[derive(Debug, Default)]
pub struct Content {
    size: u64,
    segments: BTreeMap<u64, Run>,
}

/// The segment that has an octet, and where in it.
fn locate(offset: u64) -> (u64, u32) {
    (offset / SEGMENT, (offset % SEGMENT) as u32)
}

/// The smallest run that has all of `range`: where it begins, and its octets.
fn window(range: &Range<u32>) -> (u32, u32) {
    let mut octets = super::PAGE_OCTETS;
    while range.start / octets != (range.end - 1) / octets {
        octets *= 2;
    }
    (range.start / octets * octets, octets)
}

impl Content {
    /// Octets of the file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Octets of memory that it has.
    pub fn used(&self) -> u64 {
        let runs = self.segments.values();
        runs.map(|run| u64::from(run.place.length)).sum()
    }

    /// At most `count` octets from `offset` on: as many as follow each other in memory. None at the
    /// end of the file.
    pub fn read(&self, offset: u64, count: u32, arena: &mut Arena) -> Piece {
        let (number, at) = locate(offset);
        let left = self
            .size
            .saturating_sub(offset)
            .min(SEGMENT - u64::from(at));
        let length = count.min(left as u32);
        let hole = |length| Piece {
            place: None,
            length,
        };
        let Some(run) = self.segments.get(&number) else {
            return hole(length);
        };
        let valid_end = run.from + run.valid;
        if at < run.from {
            return hole(length.min(run.from - at));
        }
        if at >= valid_end || length == 0 {
            return hole(length);
        }
        let length = length.min(valid_end - at);
        let place = part(run.place, at - run.from..at - run.from + length);
        Piece {
            place: Some((place, arena.lend(run.place))),
            length,
        }
    }

    /// Write all of `source` at `offset`, or as much as there is memory for: the octets written.
    ///
    /// # Errors
    /// [`Error::NoSpace`]: none was.
    pub fn write(
        &mut self,
        offset: u64,
        source: Source<'_>,
        arena: &mut Arena,
        memory: &impl Memory,
    ) -> Result<u32, Error> {
        let (length, mut done) = (source.length(), 0);
        while done < length {
            let (number, at) = locate(offset + u64::from(done));
            let count = (length - done).min(RUN_OCTETS_MAX - at);
            let Some(run) = self.writable(number, at..at + count, arena, memory) else {
                break;
            };
            let to = part(run.place, at - run.from..at - run.from + count);
            source.write(done..done + count, to, memory);
            run.valid = run.valid.max(at - run.from + count);
            done += count;
            self.size = self.size.max(offset + u64::from(done));
        }
        match done == 0 && length > 0 {
            true => Err(Error::NoSpace),
            false => Ok(done),
        }
    }

    /// A run with `range` of a segment that is lent to nobody; what is before the range and was
    /// never written is zeros.
    fn writable(
        &mut self,
        number: u64,
        range: Range<u32>,
        arena: &mut Arena,
        memory: &impl Memory,
    ) -> Option<&mut Run> {
        let old = self.segments.get(&number).copied();
        let fits = |run: &Run| run.from <= range.start && range.end <= run.end();
        let mut run = match old {
            Some(run) if fits(&run) && !arena.is_lent(run.place) => run,
            _ => {
                let whole = old.map_or(range.clone(), |run| {
                    run.from.min(range.start)..run.end().max(range.end)
                });
                let (from, octets) = window(&whole);
                let place = arena.take(octets)?;
                let run = Run {
                    from,
                    valid: 0,
                    place,
                };
                self.replace(number, run, arena, memory)
            }
        };
        // What is before the new octets is seen from now on.
        let gap = run.valid..range.start - run.from;
        if gap.start < gap.end {
            memory.clear(part(run.place, gap.clone()));
            run.valid = gap.end;
        }
        self.segments.insert(number, run);
        self.segments.get_mut(&number)
    }

    /// `new` with what the segment's run has, which is put back.
    fn replace(&self, number: u64, mut new: Run, arena: &mut Arena, memory: &impl Memory) -> Run {
        if let Some(old) = self.segments.get(&number) {
            let at = old.from - new.from;
            memory.clear(part(new.place, 0..at));
            let end = at + old.valid;
            memory.copy(old.place.first(old.valid), part(new.place, at..end));
            new.valid = end;
            arena.put(old.place);
        }
        new
    }

    /// Cut the file, or let a hole follow it.
    pub fn resize(&mut self, size: u64, arena: &mut Arena) {
        self.size = size;
        let (number, at) = locate(size);
        let after = self.segments.split_off(&number);
        for (segment, mut run) in after {
            if segment == number && at > run.from {
                run.valid = run.valid.min(at - run.from);
                self.segments.insert(segment, run);
            } else {
                arena.put(run.place);
            }
        }
    }
}
