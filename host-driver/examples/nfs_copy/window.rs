//! Memory of the calls in flight: a block for each.

use rnic_examples::failure::Failure;
use rnic_examples::nfs::Caller;
use rpcrdma::place::Place;
use rpcrdma::CallId;
use std::collections::VecDeque;

/// A call in flight.
pub struct Flight {
    pub call: CallId,
    /// Where it is in the file.
    pub offset: u64,
    /// Its memory: as many octets as it asks for or has.
    pub place: Place,
    block: Place,
}

/// Calls in flight, oldest first, and blocks that none has.
pub struct Window {
    flights: VecDeque<Flight>,
    free: Vec<Place>,
}

impl Window {
    /// `calls` blocks of `octets` octets.
    pub fn new(caller: &Caller<'_>, calls: u32, octets: u32) -> Result<Self, Failure> {
        let blocks = (0..calls).map(|_| caller.memories.allocate(octets));
        Ok(Self {
            flights: VecDeque::new(),
            free: blocks.collect::<Result<_, _>>()?,
        })
    }

    /// A block for another call, if there is one.
    pub fn take(&mut self) -> Option<Place> {
        self.free.pop()
    }

    /// A call was made, with the first octets of a block.
    pub fn add(&mut self, call: CallId, offset: u64, (block, length): (Place, u32)) {
        let place = block.first(length);
        self.flights.push_back(Flight {
            call,
            offset,
            place,
            block,
        });
    }

    /// The oldest call, to be waited for.
    pub fn next(&mut self) -> Option<Flight> {
        self.flights.pop_front()
    }

    /// A call is over.
    pub fn end(&mut self, flight: &Flight) {
        self.free.push(flight.block);
    }
}
