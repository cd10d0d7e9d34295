//! The credit counters of one direction: consumed by the transmitter, returned by the receiver.
//!
//! ```text
//!   consumed  ---->|                 counted from the start, never backwards
//!   limit     ---->|------->         limit - consumed = what may still be sent
//! ```
//!
//! Counters here do not wrap; [`FlowControl::credit_limit_field`] is what the wire would carry.
//! Source: PCI Express Base Specification 5.0, sections 2.6.1.1 (transmitter) and 2.6.1.2
//! (receiver).

use std::collections::VecDeque;

use thiserror::Error;

use super::advertised::{field_values, Advertised, AdvertisedError};
use super::class::{CreditKind, Credits, FlowClass};
use crate::limits::TransferSize;
use crate::tlp::Header;

/// A packet was sent without the credits that it costs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shortage {
    /// Its class.
    pub class: FlowClass,
    /// The credits that ran out.
    pub kind: CreditKind,
    /// What it costs.
    pub needed: u16,
    /// What there was.
    pub available: u16,
}

/// A receiver returned credits of packets that it does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
#[error("{returned} {kind} credits returned for {class:?}, where {held} are held")]
pub struct NotHeld {
    /// The class.
    pub class: FlowClass,
    /// Header or data.
    pub kind: CreditKind,
    /// What was returned.
    pub returned: u16,
    /// What packets received and not released hold.
    pub held: u64,
}

// One class and kind. `None` of `limit`: infinite.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    limit: Option<u64>,
    consumed: u64,
    // Part of `consumed` that the receiver has let go, whether the transmitter knows or not.
    released: u64,
}

/// Flow control of one direction of a link.
///
/// ```
/// use pcie_sim::flow_control::{Advertised, FlowControl, FlowClass};
/// use pcie_sim::{Bdf, Tlp, TransferSize};
///
/// // Room for one packet of each class; a received one is let go after 8 ticks.
/// let size = TransferSize::Octets256;
/// let mut flow = FlowControl::new(Advertised::minimum(size), size)?.returning_after(8);
/// let write = Tlp::memory_write(Bdf::new(1, 0, 0), 0x1000, &[0; 64]).unwrap();
/// assert!(flow.admits(&write.header));
/// flow.consume(0, &write.header);
/// assert!(!flow.ready(FlowClass::Posted), "posted requests wait");
/// assert!(flow.ready(FlowClass::NonPosted), "the others do not");
/// flow.advance(8);
/// assert!(flow.ready(FlowClass::Posted));
/// # Ok::<(), pcie_sim::flow_control::AdvertisedError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FlowControl {
    advertised: Advertised,
    max_payload: TransferSize,
    // By class, then kind.
    accounts: [[Account; 2]; 3],
    return_ticks: Option<u64>,
    // Credits that the transmitter will learn of, by rising tick.
    returning: VecDeque<(u64, FlowClass, Credits)>,
}

impl FlowControl {
    /// Counters after initialisation. Credits come back when [`release`](Self::release) says so.
    ///
    /// # Errors
    /// A packet of `max_payload` could never be sent, or the credits cannot be counted.
    pub fn new(advertised: Advertised, max_payload: TransferSize) -> Result<Self, AdvertisedError> {
        advertised.check(max_payload)?;
        let mut flow = Self {
            advertised,
            max_payload,
            accounts: [[Account::default(); 2]; 3],
            return_ticks: None,
            returning: VecDeque::new(),
        };
        flow.reset();
        Ok(flow)
    }

    /// Lets the receiver release each packet `ticks` after it came.
    pub fn returning_after(mut self, ticks: u64) -> Self {
        self.return_ticks = Some(ticks);
        self
    }

    /// Starts again, as after the link went down: all credits as advertised, none on their way.
    pub fn reset(&mut self) {
        self.returning.clear();
        for class in FlowClass::ALL {
            for kind in CreditKind::ALL {
                self.accounts[class as usize][kind as usize] = Account {
                    limit: self.advertised.units(class, kind).finite().map(u64::from),
                    ..Account::default()
                };
            }
        }
    }

    /// What was advertised.
    pub fn advertised(&self) -> &Advertised {
        &self.advertised
    }

    /// Brings the credits that are due by `now` to the transmitter.
    pub fn advance(&mut self, now: u64) {
        while let Some(&(due, class, credits)) = self.returning.front() {
            if due > now {
                return;
            }
            self.returning.pop_front();
            for kind in CreditKind::ALL {
                let account = &mut self.accounts[class as usize][kind as usize];
                account.limit = account
                    .limit
                    .map(|limit| limit + u64::from(credits.get(kind)));
            }
        }
    }

    /// Credits that may still be consumed; `None` if there is no bound.
    pub fn available(&self, class: FlowClass, kind: CreditKind) -> Option<u64> {
        let account = &self.accounts[class as usize][kind as usize];
        Some(account.limit?.saturating_sub(account.consumed))
    }

    /// Whether there are credits for a packet with this header (section 2.6.1.1).
    pub fn admits(&self, header: &Header) -> bool {
        self.has(FlowClass::of(header), Credits::of(header))
    }

    /// Whether any packet of the class may be sent, up to the largest one: what a link's ready
    /// signal says before the packet is known.
    pub fn ready(&self, class: FlowClass) -> bool {
        let octets = match class {
            FlowClass::Posted | FlowClass::Completion => self.max_payload.octets(),
            FlowClass::NonPosted => 4,
        };
        self.has(class, Credits::for_payload(octets))
    }

    /// Takes note of a packet that was sent at `now`; what it lacked, if it should not have been.
    /// It is counted all the same: the receiver has seen it.
    pub fn consume(&mut self, now: u64, header: &Header) -> Vec<Shortage> {
        self.advance(now);
        let (class, cost) = (FlowClass::of(header), Credits::of(header));
        let mut shortages = Vec::new();
        for kind in CreditKind::ALL {
            let needed = cost.get(kind);
            match self.available(class, kind) {
                Some(available) if available < needed.into() => shortages.push(Shortage {
                    class,
                    kind,
                    needed,
                    available: available as u16,
                }),
                _ => {}
            }
            self.accounts[class as usize][kind as usize].consumed += u64::from(needed);
        }
        if let Some(ticks) = self.return_ticks {
            self.give_back(now.saturating_add(ticks), class, cost);
        }
        shortages
    }

    /// The receiver lets go of a packet's buffers; the transmitter learns of it at `now`.
    ///
    /// # Errors
    /// More than the packets in the receiver hold; nothing is returned then.
    pub fn release(&mut self, now: u64, class: FlowClass, credits: Credits) -> Result<(), NotHeld> {
        for kind in CreditKind::ALL {
            let account = &self.accounts[class as usize][kind as usize];
            let (held, returned) = (account.consumed - account.released, credits.get(kind));
            if u64::from(returned) > held {
                return Err(NotHeld {
                    class,
                    kind,
                    returned,
                    held,
                });
            }
        }
        self.give_back(now, class, credits);
        self.advance(now);
        Ok(())
    }

    /// The CREDIT_LIMIT that an UpdateFC packet would hold: modulo 256 for headers, 4096 for data,
    /// and 0 throughout for infinite credits.
    pub fn credit_limit_field(&self, class: FlowClass, kind: CreditKind) -> u16 {
        let limit = self.accounts[class as usize][kind as usize].limit;
        limit.map_or(0, |limit| (limit % field_values(kind)) as u16)
    }

    fn has(&self, class: FlowClass, cost: Credits) -> bool {
        let enough = |kind| match self.available(class, kind) {
            Some(available) => available >= cost.get(kind).into(),
            None => true,
        };
        CreditKind::ALL.into_iter().all(enough)
    }

    fn give_back(&mut self, due: u64, class: FlowClass, credits: Credits) {
        for kind in CreditKind::ALL {
            let account = &mut self.accounts[class as usize][kind as usize];
            account.released += u64::from(credits.get(kind));
        }
        // By rising tick, and the earlier call first; callers hardly ever come out of order.
        let later = self.returning.iter().rev();
        let later = later.take_while(|(other, ..)| *other > due).count();
        let place = self.returning.len() - later;
        self.returning.insert(place, (due, class, credits));
    }
}

#[cfg(test)]
mod tests;
