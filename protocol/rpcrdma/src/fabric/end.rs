//! One end of a connection as a user sees it.
use super::id::EndId;
use super::link::{Operation, Request, PIECES};
use super::Fabric;
use crate::place::{MemoryId, Place};
use crate::verbs::{Completion, Limits, Memory, Rights, Verbs, VerbsError};
use crate::wire::Segment;

/// An end of a connection of a [`Fabric`], for as long as it is borrowed.
#[derive(Debug)]
pub struct End<'a> {
    pub(super) fabric: &'a mut Fabric,
    pub(super) id: EndId,
}

impl Fabric {
    /// One end of a connection.
    pub fn end(&mut self, id: EndId) -> End<'_> {
        End { fabric: self, id }
    }
}

impl End<'_> {
    fn post(&mut self, tag: u64, operation: Operation) -> Result<(), VerbsError> {
        let (link, side) = self.id.parts();
        let link = &mut self.fabric.links[link];
        if !link.is_open {
            return Err(VerbsError::Closed);
        }
        let side = &mut link.sides[side];
        let host = &mut self.fabric.hosts[side.host];
        if side.outstanding() >= self.fabric.settings.sends as usize {
            return Err(VerbsError::QueueFull);
        }
        if let Operation::Read { .. } = operation {
            if side.reads_outstanding >= side.reads_max {
                return Err(VerbsError::QueueFull);
            }
            side.reads_outstanding += 1;
            let most = &mut host.counters.reads_outstanding_max;
            *most = (*most).max(side.reads_outstanding);
        }
        side.posted.push_back(Request {
            tag,
            operation,
            digest: 0,
        });
        Ok(())
    }

    fn check(&self, place: Place) -> Result<(), VerbsError> {
        self.fabric.hosts[self.fabric.host_of(self.id)].check(place)
    }
}

impl Memory for End<'_> {
    fn store(&mut self, at: Place, octets: &[u8]) -> Result<(), VerbsError> {
        let host = self.fabric.host_of(self.id);
        self.fabric.hosts[host].store(at, octets)
    }

    fn load(&self, at: Place, into: &mut [u8]) -> Result<(), VerbsError> {
        self.fabric.hosts[self.fabric.host_of(self.id)].load(at, into)
    }
}

impl Verbs for End<'_> {
    fn limits(&self) -> Limits {
        let settings = &self.fabric.settings;
        let (link, side) = self.id.parts();
        Limits {
            reads: self.fabric.links[link].sides[side].reads_max,
            sends: settings.sends,
            receives: settings.receives,
            pieces: PIECES,
        }
    }

    fn post_receives(&mut self, batch: &[(u64, Place)]) -> Result<(), VerbsError> {
        let (link, side) = self.id.parts();
        let host = self.fabric.host_of(self.id);
        let link = &mut self.fabric.links[link];
        if !link.is_open {
            return Err(VerbsError::Closed);
        }
        let receives = &mut link.sides[side].receives;
        if receives.len() + batch.len() > self.fabric.settings.receives as usize {
            return Err(VerbsError::QueueFull);
        }
        let host = &mut self.fabric.hosts[host];
        for &(_, place) in batch {
            host.check(place)?;
        }
        receives.extend(batch);
        host.counters.receives += batch.len() as u64;
        host.counters.receive_batches += 1;
        Ok(())
    }

    fn send(
        &mut self,
        tag: u64,
        pieces: &[Place],
        invalidate: Option<u32>,
    ) -> Result<(), VerbsError> {
        let mut gathered = [NOWHERE; PIECES];
        let into = gathered.get_mut(..pieces.len());
        into.ok_or(VerbsError::Pieces)?.copy_from_slice(pieces);
        for &piece in pieces {
            self.check(piece)?;
        }
        let operation = Operation::Send {
            pieces: gathered,
            count: pieces.len(),
            invalidate,
        };
        self.post(tag, operation)
    }

    fn write(&mut self, tag: u64, source: Place, sink: Segment) -> Result<(), VerbsError> {
        self.check(source)?;
        let operation = Operation::Write {
            source,
            sink: Segment {
                length: source.length,
                ..sink
            },
            is_placed: false,
        };
        self.post(tag, operation)
    }

    fn read(&mut self, tag: u64, source: Segment, sink: Place) -> Result<(), VerbsError> {
        let sink = match sink.length >= source.length {
            true => Place {
                length: source.length,
                ..sink
            },
            false => return Err(VerbsError::Place),
        };
        self.check(sink)?;
        self.post(tag, Operation::Read { source, sink })
    }

    fn expose(&mut self, place: Place, rights: Rights) -> Result<Segment, VerbsError> {
        let (link, _) = self.id.parts();
        if !self.fabric.links[link].is_open {
            return Err(VerbsError::Closed);
        }
        let collision_in = self.fabric.settings.faults.collision_in;
        if self.fabric.random.one_in(collision_in) {
            return Err(VerbsError::Collision);
        }
        let host = self.fabric.host_of(self.id);
        self.fabric.hosts[host].expose(place, rights, self.id.0)
    }

    fn revoke(&mut self, handle: u32) -> Result<(), VerbsError> {
        let host = self.fabric.host_of(self.id);
        self.fabric.hosts[host].revoke(handle)
    }

    fn poll(&mut self) -> Option<Completion> {
        let (link, side) = self.id.parts();
        self.fabric.links[link].sides[side].completions.pop_front()
    }

    fn close(&mut self) {
        let (link, _) = self.id.parts();
        self.fabric.links[link].close();
    }
}

const NOWHERE: Place = Place {
    memory: MemoryId(0),
    offset: 0,
    length: 0,
};
