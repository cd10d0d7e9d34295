//! The file system beside an obviously correct one, and its corners.

mod corners;
mod model;
mod random;

use super::{Files, Limits, Memory, Owner, Time, RUN_OCTETS_MAX};
use rpcrdma::place::{MemoryId, Place};
use std::cell::RefCell;

/// Memory that is not zeros where nobody has written.
#[derive(Debug)]
struct Octets(RefCell<Vec<u8>>);

/// Octets of memory before that of files.
const BEGIN: u64 = 12_288;

impl Memory for Octets {
    fn store(&self, at: Place, octets: &[u8]) {
        assert!(octets.len() <= at.length as usize);
        self.0.borrow_mut()[at.offset as usize..][..octets.len()].copy_from_slice(octets);
    }

    fn load(&self, at: Place, into: &mut [u8]) {
        assert!(into.len() <= at.length as usize);
        into.copy_from_slice(&self.0.borrow()[at.offset as usize..][..into.len()]);
    }
}

impl Files<Octets> {
    fn octets_at(&self, place: Place) -> Vec<u8> {
        let mut octets = vec![0; place.length as usize];
        self.memory().load(place, &mut octets);
        octets
    }
}

/// Files with so many runs of the largest size.
fn files(runs: u32, count: u32) -> Files<Octets> {
    let octets = (runs + 1) * RUN_OCTETS_MAX;
    let place = Place {
        memory: MemoryId(3),
        offset: BEGIN,
        length: octets + 4095,
    };
    let memory = Octets(RefCell::new(vec![0xa5; BEGIN as usize + octets as usize]));
    let limits = Limits { files: count };
    Files::new(memory, place, limits, at(0)).expect("there is room")
}

fn at(seconds: u32) -> Time {
    Time {
        seconds,
        nanoseconds: 0,
    }
}

const MODE: (u32, Owner) = (0o640, Owner { uid: 1, gid: 2 });
