//! Memory and STags of one host.
use super::counters::Counters;
use crate::place::{MemoryId, Place};
use crate::verbs::{Memory, Rights, VerbsError};
use crate::wire::Segment;
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// A range of memory that the peer of one connection may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Window {
    place: Place,
    rights: Rights,
    /// The end of a connection whose peer it is.
    end: u32,
}

/// An entry of the table of STags. The key is the low octet of the handle and counts on, so that
/// a handle of an earlier use is not valid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Entry {
    key: u8,
    window: Option<Window>,
}

/// Why an access of the peer's is refused.
#[derive(Debug)]
pub(super) struct Refused;

/// A host: memories by number, a table of STags.
#[derive(Clone, Debug)]
pub(super) struct Host {
    /// Shared by clones of the host until one writes: searches clone often.
    memories: Vec<Arc<Vec<u8>>>,
    entries: Vec<Entry>,
    /// Indices of entries without a window, the next one last.
    free: Vec<u32>,
    pub(super) counters: Counters,
    /// [`Counters::loaded_octets`], counted where the host is only borrowed.
    loaded_octets: Cell<u64>,
}

impl Host {
    pub(super) fn new(entries: u32) -> Self {
        Self {
            memories: Vec::new(),
            entries: vec![Entry::default(); entries as usize],
            free: (0..entries).rev().collect(),
            counters: Counters::default(),
            loaded_octets: Cell::new(0),
        }
    }

    pub(super) fn counters(&self) -> Counters {
        Counters {
            loaded_octets: self.loaded_octets.get(),
            ..self.counters
        }
    }

    pub(super) fn allocate(&mut self, octets: usize) -> MemoryId {
        self.memories.push(Arc::new(vec![0; octets]));
        MemoryId(self.memories.len() as u32 - 1)
    }

    /// STags that are valid.
    pub(super) fn valid_stags(&self) -> u32 {
        (self.entries.len() - self.free.len()) as u32
    }

    fn range(&self, place: Place) -> Result<Range<usize>, VerbsError> {
        let memory = self.memories.get(place.memory.0 as usize);
        let memory = memory.ok_or(VerbsError::Place)?;
        let end = place.offset.checked_add(u64::from(place.length));
        match end {
            Some(end) if end <= memory.len() as u64 => Ok(place.offset as usize..end as usize),
            _ => Err(VerbsError::Place),
        }
    }

    pub(super) fn check(&self, place: Place) -> Result<(), VerbsError> {
        self.range(place).map(drop)
    }

    /// The octets of a place that was checked.
    pub(super) fn octets(&self, place: Place) -> &[u8] {
        let range = self.range(place).expect("it was checked as it was posted");
        &self.memories[place.memory.0 as usize][range]
    }

    pub(super) fn octets_mut(&mut self, place: Place) -> &mut [u8] {
        let range = self.range(place).expect("it was checked as it was posted");
        &mut Arc::make_mut(&mut self.memories[place.memory.0 as usize])[range]
    }

    /// A window on `place` for the peer of `end`. The tagged offset is the offset in the memory.
    pub(super) fn expose(
        &mut self,
        place: Place,
        rights: Rights,
        end: u32,
    ) -> Result<Segment, VerbsError> {
        self.check(place)?;
        let index = self.free.pop().ok_or(VerbsError::NoEntry)?;
        let entry = &mut self.entries[index as usize];
        entry.key = entry.key.wrapping_add(1);
        entry.window = Some(Window { place, rights, end });
        let handle = index << 8 | u32::from(entry.key);
        self.counters.exposures += 1;
        self.counters.stags_max = self.counters.stags_max.max(self.valid_stags());
        Ok(Segment {
            handle,
            length: place.length,
            offset: place.offset,
        })
    }

    fn window(&self, handle: u32) -> Option<Window> {
        let entry = self.entries.get((handle >> 8) as usize)?;
        entry.window.filter(|_| entry.key == handle as u8)
    }

    fn free(&mut self, handle: u32) {
        self.entries[(handle >> 8) as usize].window = None;
        self.free.push(handle >> 8);
    }

    pub(super) fn revoke(&mut self, handle: u32) -> Result<(), VerbsError> {
        self.window(handle).ok_or(VerbsError::Handle)?;
        self.free(handle);
        self.counters.revocations += 1;
        Ok(())
    }

    /// A Send with Invalidate to `end`.
    pub(super) fn invalidate(&mut self, handle: u32, end: u32) -> Result<(), Refused> {
        let window = self.window(handle).filter(|window| window.end == end);
        window.ok_or(Refused)?;
        self.free(handle);
        self.counters.invalidations += 1;
        Ok(())
    }

    /// Where the peer of `end` may read or write `segment`, length of its own.
    pub(super) fn reach(
        &self,
        segment: Segment,
        rights: Rights,
        end: u32,
    ) -> Result<Place, Refused> {
        let window = self.window(segment.handle).ok_or(Refused)?;
        let begin = segment.offset.checked_sub(window.place.offset);
        let last = begin.and_then(|begin| begin.checked_add(u64::from(segment.length)));
        let is_inside = last.is_some_and(|last| last <= u64::from(window.place.length));
        if window.end != end || window.rights != rights || !is_inside {
            return Err(Refused);
        }
        Ok(Place {
            memory: window.place.memory,
            offset: segment.offset,
            length: segment.length,
        })
    }
}

impl Memory for Host {
    fn store(&mut self, at: Place, octets: &[u8]) -> Result<(), VerbsError> {
        let range = self.range(at)?;
        let memory = Arc::make_mut(&mut self.memories[at.memory.0 as usize]);
        let into = memory[range].get_mut(..octets.len());
        into.ok_or(VerbsError::Place)?.copy_from_slice(octets);
        self.counters.stored_octets += octets.len() as u64;
        Ok(())
    }

    fn load(&self, at: Place, into: &mut [u8]) -> Result<(), VerbsError> {
        let range = self.range(at)?;
        let from = self.memories[at.memory.0 as usize][range].get(..into.len());
        into.copy_from_slice(from.ok_or(VerbsError::Place)?);
        let loaded = self.loaded_octets.get() + into.len() as u64;
        self.loaded_octets.set(loaded);
        Ok(())
    }
}

/// What another step depends on: STags, not counters nor octets.
impl Hash for Host {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.entries, &self.free).hash(state);
    }
}
