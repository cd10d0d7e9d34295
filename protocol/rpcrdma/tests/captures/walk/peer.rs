//! A provider whose other end is a capture: handles that are drawn are the captured ones, and what
//! is posted is kept for the test to look at.
use rpcrdma::place::{MemoryId, Place};
use rpcrdma::verbs::{Completion, Limits, Memory, Rights, Status, Verbs, VerbsError, Work};
use rpcrdma::wire::Segment;
use std::collections::{BTreeMap, VecDeque};

/// What was posted, in order.
#[derive(Debug, PartialEq, Eq)]
pub enum Posted {
    Send {
        octets: Vec<u8>,
        invalidate: Option<u32>,
    },
    Write {
        octets: Vec<u8>,
        sink: Segment,
    },
    Read {
        tag: u64,
        source: Segment,
        sink: Place,
    },
}

#[derive(Default)]
pub struct Peer {
    memories: Vec<Vec<u8>>,
    receives: VecDeque<(u64, Place)>,
    completions: VecDeque<Completion>,
    /// Handles and offsets that are drawn next.
    pub draws: VecDeque<(u32, u64)>,
    /// Valid handles, each with its first offset, its memory and rights.
    pub exposed: BTreeMap<u32, (u64, Place, Rights)>,
    pub posted: VecDeque<Posted>,
    pub closed: bool,
}

impl Peer {
    /// Memory of so many octets.
    pub fn allocate(&mut self, octets: usize) -> Place {
        let memory = MemoryId(self.memories.len() as u32);
        self.memories.push(vec![0; octets]);
        Place {
            memory,
            offset: 0,
            length: octets as u32,
        }
    }

    pub fn octets(&self, place: Place) -> &[u8] {
        let memory = &self.memories[place.memory.0 as usize];
        &memory[place.offset as usize..place.end() as usize]
    }

    fn complete(&mut self, tag: u64, work: Work, octets: u32, invalidated: Option<u32>) {
        let status = Status::Success;
        self.completions.push_back(Completion {
            tag,
            work,
            status,
            octets,
            invalidated,
        });
    }

    /// A message from the other end.
    pub fn receive(&mut self, message: &[u8], invalidated: Option<u32>) {
        let (tag, place) = self
            .receives
            .pop_front()
            .expect("a receive is posted (RPC-034)");
        if let Some(handle) = invalidated {
            assert!(
                self.exposed.remove(&handle).is_some(),
                "a handle of this end"
            );
        }
        self.store(place, message).expect("it fits");
        self.complete(tag, Work::Receive, message.len() as u32, invalidated);
    }

    /// Where a segment of the other end's points to.
    fn place(&self, handle: u32, offset: u64, length: u32, rights: Rights) -> Place {
        let (first, place, granted) = self.exposed[&handle];
        assert_eq!(granted, rights);
        let from = u32::try_from(offset - first).expect("within the window");
        place.part(from, length).expect("within the window")
    }

    /// The other end writes.
    pub fn write_in(&mut self, handle: u32, offset: u64, octets: &[u8]) {
        let place = self.place(handle, offset, octets.len() as u32, Rights::Write);
        self.store(place, octets).expect("it was exposed");
    }

    /// The other end reads.
    pub fn read_out(&self, handle: u32, offset: u64, length: u32) -> &[u8] {
        self.octets(self.place(handle, offset, length, Rights::Read))
    }

    /// A Read of this end has got its octets.
    pub fn read_completed(&mut self, tag: u64, sink: Place, octets: &[u8]) {
        self.store(sink, octets).expect("a sink");
        self.complete(tag, Work::Read, 0, None);
    }
}

impl Memory for Peer {
    fn store(&mut self, at: Place, octets: &[u8]) -> Result<(), VerbsError> {
        let memory = self
            .memories
            .get_mut(at.memory.0 as usize)
            .ok_or(VerbsError::Place)?;
        let range = at.offset as usize..at.offset as usize + octets.len();
        memory
            .get_mut(range)
            .ok_or(VerbsError::Place)?
            .copy_from_slice(octets);
        Ok(())
    }

    fn load(&self, at: Place, into: &mut [u8]) -> Result<(), VerbsError> {
        into.copy_from_slice(&self.octets(at)[..into.len()]);
        Ok(())
    }
}

impl Verbs for Peer {
    fn limits(&self) -> Limits {
        Limits {
            reads: 8,
            sends: 256,
            receives: 256,
            pieces: 16,
        }
    }

    fn post_receives(&mut self, batch: &[(u64, Place)]) -> Result<(), VerbsError> {
        self.receives.extend(batch);
        Ok(())
    }

    fn send(
        &mut self,
        tag: u64,
        pieces: &[Place],
        invalidate: Option<u32>,
    ) -> Result<(), VerbsError> {
        let octets = pieces
            .iter()
            .flat_map(|place| self.octets(*place))
            .copied()
            .collect();
        self.posted.push_back(Posted::Send { octets, invalidate });
        self.complete(tag, Work::Send, 0, None);
        Ok(())
    }

    fn write(&mut self, tag: u64, source: Place, sink: Segment) -> Result<(), VerbsError> {
        let octets = self.octets(source).to_vec();
        self.posted.push_back(Posted::Write { octets, sink });
        self.complete(tag, Work::Write, 0, None);
        Ok(())
    }

    fn read(&mut self, tag: u64, source: Segment, sink: Place) -> Result<(), VerbsError> {
        self.posted.push_back(Posted::Read { tag, source, sink });
        Ok(())
    }

    fn expose(&mut self, place: Place, rights: Rights) -> Result<Segment, VerbsError> {
        let (handle, offset) = self
            .draws
            .pop_front()
            .expect("the captured call has a segment");
        self.exposed.insert(handle, (offset, place, rights));
        Ok(Segment {
            handle,
            length: place.length,
            offset,
        })
    }

    fn revoke(&mut self, handle: u32) -> Result<(), VerbsError> {
        self.exposed
            .remove(&handle)
            .map(drop)
            .ok_or(VerbsError::Handle)
    }

    fn poll(&mut self) -> Option<Completion> {
        self.completions.pop_front()
    }

    fn close(&mut self) {
        self.closed = true;
    }
}
