//! READ, WRITE, READLINK, COMMIT.

use super::parts::write_status;
use super::{Call, Done, NoResults, Service};
use rnic_examples::files::{Loan, Memory, Source};
use rnic_examples::nfs::{FILE_SYNC, IO_OCTETS_MAX};
use rpcrdma::place::Place;
use rpcrdma::stream::{Message, Opaque};

/// Octets of the longest data of WRITE that are decoded.
const DATA_OCTETS_MAX: u32 = IO_OCTETS_MAX;

/// What an item that was received is.
pub fn source(item: Opaque<'_>) -> Source<'_> {
    match item {
        Opaque::Inline { octets, .. } => Source::Octets(octets),
        Opaque::Chunk(place) => Source::Place(place),
    }
}

/// Append a counted opaque that is read from a file's memory as it is sent.
fn item(message: &mut Message, place: Place) -> Result<(), NoResults> {
    match place.length {
        // Nothing is read for it.
        0 => message.u32(0),
        _ => message.item(place)?,
    }
    Ok(())
}

impl<M: Memory> Service<M> {
    /// A reply has as many octets as follow each other in memory: with a hole or the end of a
    /// segment among those asked for, fewer (RFC 1813, 3.3.6: `count` may be less).
    pub(super) fn read(&mut self, mut call: Call<'_, '_>) -> Done {
        let file = self.target(&mut call.arguments)?;
        let (offset, count) = (call.arguments.u64()?, call.arguments.u32()?);
        call.arguments.finish()?;
        let count = count.min(IO_OCTETS_MAX);
        let read = file.and_then(|file| Ok(self.files.read(file, offset, count)?));
        let read = write_status(call.results, read);
        self.post_attributes(call.results, file);
        let Some((place, loan, is_end)) = read else {
            return Ok(None);
        };
        call.results.u32(place.length);
        call.results.u32(is_end.into());
        self.lent(call.results, place, loan)
    }

    pub(super) fn read_link(&mut self, mut call: Call<'_, '_>) -> Done {
        let file = self.target(&mut call.arguments)?;
        call.arguments.finish()?;
        let read = file.and_then(|file| Ok(self.files.read_link(file)?));
        let read = write_status(call.results, read);
        self.post_attributes(call.results, file);
        match read {
            Some((place, loan)) => self.lent(call.results, place, loan),
            None => Ok(None),
        }
    }

    /// Append the item of a place that is lent.
    fn lent(&mut self, message: &mut Message, place: Place, loan: Option<Loan>) -> Done {
        match item(message, place) {
            Ok(()) => Ok(loan),
            Err(error) => {
                loan.into_iter().for_each(|loan| self.files.give_back(loan));
                Err(error)
            }
        }
    }

    /// `count` says how many of the octets are meant; they are in memory, which is as stable as it
    /// gets here.
    pub(super) fn write(&mut self, mut call: Call<'_, '_>) -> Done {
        let reader = &mut call.arguments;
        let file = self.target(reader)?;
        let (offset, count, _stable) = (reader.u64()?, reader.u32()?, reader.u32()?);
        let data = source(reader.opaque(DATA_OCTETS_MAX)?);
        call.arguments.finish()?;
        let data = match data {
            Source::Octets(octets) => Source::Octets(&octets[..octets.len().min(count as usize)]),
            Source::Place(place) => Source::Place(place.first(count)),
        };
        let before = self.known(file);
        let written = file.and_then(|file| Ok(self.files.write(file, offset, data, call.now)?));
        let written = write_status(call.results, written);
        self.weak_cache(call.results, before, file);
        if let Some(written) = written {
            call.results.u32(written);
            call.results.u32(FILE_SYNC);
            call.results.u64(self.instance);
        }
        Ok(None)
    }

    pub(super) fn commit(&mut self, mut call: Call<'_, '_>) -> Done {
        let file = self.target(&mut call.arguments)?;
        let (_offset, _count) = (call.arguments.u64()?, call.arguments.u32()?);
        call.arguments.finish()?;
        let before = self.known(file);
        let is_known = write_status(call.results, file).is_some();
        self.weak_cache(call.results, before, file);
        if is_known {
            call.results.u64(self.instance);
        }
        Ok(None)
    }
}
