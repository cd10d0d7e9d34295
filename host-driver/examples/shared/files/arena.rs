//! Runs of memory: powers of two from a page to a segment of a file, by halves of larger runs.

use rpcrdma::place::Place;
use std::collections::{BTreeMap, BTreeSet};

/// Octets of the smallest run.
pub const PAGE_OCTETS: u32 = 4 << 10;
/// Octets of the largest run.
pub const RUN_OCTETS_MAX: u32 = 1 << 20;
/// Sizes of runs.
const ORDERS: usize = (RUN_OCTETS_MAX / PAGE_OCTETS).ilog2() as usize + 1;

/// A run that somebody reads from, to be given back to [`Arena::give_back`]; until then its octets
/// do not change.
#[derive(Debug, PartialEq, Eq, Hash)]
#[must_use = "a run stays as it is until its loan is given back"]
pub struct Loan(u64);

#[derive(Clone, Copy, Debug)]
struct Taken {
    order: usize,
    loans: u32,
    /// Its file has no more use for it.
    is_put: bool,
}

/// Memory in runs.
#[derive(Debug)]
pub struct Arena {
    place: Place,
    /// Offsets of free runs, by order.
    free: [BTreeSet<u64>; ORDERS],
    taken: BTreeMap<u64, Taken>,
    octets_free: u64,
}

/// The order of the smallest run with so many octets.
fn order_of(octets: u32) -> Option<usize> {
    let pages = octets.div_ceil(PAGE_OCTETS).max(1);
    let order = pages.next_power_of_two().ilog2() as usize;
    (order < ORDERS).then_some(order)
}

fn octets_of(order: usize) -> u32 {
    PAGE_OCTETS << order
}

impl Arena {
    /// All of `place`, up to the last octets that are no run of the largest size.
    #[must_use]
    pub fn new(place: Place) -> Self {
        let count = u64::from(place.length / RUN_OCTETS_MAX);
        let mut free: [BTreeSet<u64>; ORDERS] = Default::default();
        free[ORDERS - 1].extend((0..count).map(|run| run * u64::from(RUN_OCTETS_MAX)));
        Self {
            place,
            free,
            taken: BTreeMap::new(),
            octets_free: count * u64::from(RUN_OCTETS_MAX),
        }
    }

    /// Octets that no run has.
    #[must_use]
    pub fn octets_free(&self) -> u64 {
        self.octets_free
    }

    /// The smallest run of at least so many octets; what is in it is left from its last use.
    pub fn take(&mut self, octets: u32) -> Option<Place> {
        let order = order_of(octets)?;
        let from = (order..ORDERS).find(|larger| !self.free[*larger].is_empty())?;
        let at = self.free[from].pop_first()?;
        for half in order..from {
            self.free[half].insert(at + u64::from(octets_of(half)));
        }
        let taken = Taken {
            order,
            loans: 0,
            is_put: false,
        };
        self.taken.insert(at, taken);
        self.octets_free -= u64::from(octets_of(order));
        Some(Place {
            memory: self.place.memory,
            offset: self.place.offset + at,
            length: octets_of(order),
        })
    }

    fn key(&self, run: Place) -> u64 {
        run.offset - self.place.offset
    }

    /// Take a run back; it is free as soon as no loan of it is left.
    ///
    /// # Panics
    /// If it was not taken from here.
    pub fn put(&mut self, run: Place) {
        let key = self.key(run);
        let taken = self.taken.get_mut(&key);
        taken.expect("the run was taken from this arena").is_put = true;
        self.free_unused(key);
    }

    /// Lend a run.
    ///
    /// # Panics
    /// If it was not taken from here.
    pub fn lend(&mut self, run: Place) -> Loan {
        let key = self.key(run);
        let taken = self.taken.get_mut(&key);
        taken.expect("the run was taken from this arena").loans += 1;
        Loan(key)
    }

    /// Whether somebody reads from a run.
    #[must_use]
    pub fn is_lent(&self, run: Place) -> bool {
        let taken = self.taken.get(&self.key(run));
        taken.is_some_and(|taken| taken.loans > 0)
    }

    /// End a loan.
    pub fn give_back(&mut self, loan: Loan) {
        let Loan(key) = loan;
        if let Some(taken) = self.taken.get_mut(&key) {
            taken.loans -= 1;
        }
        self.free_unused(key);
    }

    /// Loans that were not given back.
    #[must_use]
    pub fn loans(&self) -> u64 {
        self.taken
            .values()
            .map(|taken| u64::from(taken.loans))
            .sum()
    }

    /// Free a run that nobody needs, and join it with its other half, if that is free.
    fn free_unused(&mut self, key: u64) {
        let is_unused = |taken: &&Taken| taken.is_put && taken.loans == 0;
        let Some(&Taken { order, .. }) = self.taken.get(&key).filter(is_unused) else {
            return;
        };
        self.taken.remove(&key);
        self.octets_free += u64::from(octets_of(order));
        let (mut at, mut order) = (key, order);
        while order + 1 < ORDERS {
            let half = u64::from(octets_of(order));
            if !self.free[order].remove(&(at ^ half)) {
                break;
            }
            at &= !half;
            order += 1;
        }
        self.free[order].insert(at);
    }
}
