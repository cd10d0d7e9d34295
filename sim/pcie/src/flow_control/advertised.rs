//! What a receiver offers when flow control starts.
//!
//! Source: PCI Express Base Specification 5.0, section 2.6.1: minimum initial advertisements, at
//! most 127 header and 2047 data credits unused at any time, and 0 on the wire for "infinite".

use thiserror::Error;

use super::class::{CreditKind, Credits, FlowClass};
use crate::limits::TransferSize;

/// Credits of one kind and class at the start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Units {
    /// As many as the transmitter likes; 0 in the field.
    Infinite,
    /// This many.
    Finite(u16),
}

impl Units {
    /// The number, if there is one.
    pub const fn finite(self) -> Option<u16> {
        match self {
            Self::Infinite => None,
            Self::Finite(units) => Some(units),
        }
    }
}

/// Why an advertisement cannot be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum AdvertisedError {
    /// Less than the largest packet of the class needs, so that it could never be sent.
    #[error("{units} {kind} credits for {class:?}; at least {minimum} are required")]
    BelowMinimum {
        /// The class.
        class: FlowClass,
        /// Header or data.
        kind: CreditKind,
        /// What was offered.
        units: u16,
        /// What the specification asks for.
        minimum: u16,
    },
    /// More than a transmitter can count.
    #[error("{units} {kind} credits for {class:?}; at most {maximum} may be unused at a time")]
    AboveMaximum {
        /// The class.
        class: FlowClass,
        /// Header or data.
        kind: CreditKind,
        /// What was offered.
        units: u16,
        /// Half of what the field can count.
        maximum: u16,
    },
}

/// What one receiver offers, by class: header credits, then data credits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Advertised {
    /// PH and PD.
    pub posted: (Units, Units),
    /// NPH and NPD.
    pub non_posted: (Units, Units),
    /// CPLH and CPLD. An endpoint, and a root complex without peer-to-peer traffic, offer
    /// infinite ones: a requester has to have room for what it asked for.
    pub completion: (Units, Units),
}

impl Advertised {
    /// Everything without bounds.
    pub const INFINITE: Self = Self {
        posted: (Units::Infinite, Units::Infinite),
        non_posted: (Units::Infinite, Units::Infinite),
        completion: (Units::Infinite, Units::Infinite),
    };

    /// The least that an endpoint or root complex may offer: one packet of each class of requests.
    pub fn minimum(max_payload: TransferSize) -> Self {
        let units = |class| {
            let Credits { headers, data } = minimum(class, max_payload);
            (Units::Finite(headers), Units::Finite(data))
        };
        Self {
            posted: units(FlowClass::Posted),
            non_posted: units(FlowClass::NonPosted),
            ..Self::INFINITE
        }
    }

    /// The credits of one class and kind.
    pub const fn units(&self, class: FlowClass, kind: CreditKind) -> Units {
        let (headers, data) = match class {
            FlowClass::Posted => self.posted,
            FlowClass::NonPosted => self.non_posted,
            FlowClass::Completion => self.completion,
        };
        match kind {
            CreditKind::Header => headers,
            CreditKind::Data => data,
        }
    }

    pub(super) fn check(&self, max_payload: TransferSize) -> Result<(), AdvertisedError> {
        for class in FlowClass::ALL {
            for kind in CreditKind::ALL {
                let Some(units) = self.units(class, kind).finite() else {
                    continue;
                };
                let minimum = minimum(class, max_payload).get(kind);
                if units < minimum {
                    return Err(AdvertisedError::BelowMinimum {
                        class,
                        kind,
                        units,
                        minimum,
                    });
                }
                let maximum = (field_values(kind) / 2 - 1) as u16;
                if units > maximum {
                    return Err(AdvertisedError::AboveMaximum {
                        class,
                        kind,
                        units,
                        maximum,
                    });
                }
            }
        }
        Ok(())
    }
}

/// Values of a credit counter's field: 8 bits for headers, 12 for data (section 2.6.1).
pub(super) const fn field_values(kind: CreditKind) -> u64 {
    match kind {
        CreditKind::Header => 1 << 8,
        CreditKind::Data => 1 << 12,
    }
}

// A non-posted request carries a dword at most, as atomic operations are not modelled.
fn minimum(class: FlowClass, max_payload: TransferSize) -> Credits {
    match class {
        FlowClass::Posted | FlowClass::Completion => Credits::for_payload(max_payload.octets()),
        FlowClass::NonPosted => Credits::for_payload(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: TransferSize = TransferSize::Octets256;

    #[test]
    fn the_minimum_takes_one_packet_of_each_class_and_any_number_of_completions() {
        let minimum = Advertised::minimum(SIZE);
        assert_eq!(minimum.posted, (Units::Finite(1), Units::Finite(16)));
        assert_eq!(minimum.non_posted, (Units::Finite(1), Units::Finite(1)));
        assert_eq!(minimum.completion, (Units::Infinite, Units::Infinite));
        assert_eq!(minimum.check(SIZE), Ok(()));
        assert_eq!(Advertised::INFINITE.check(SIZE), Ok(()));
    }

    #[test]
    fn what_could_never_send_a_packet_or_be_counted_is_refused() {
        let with = |posted| Advertised {
            posted,
            ..Advertised::INFINITE
        };
        let of = |headers, data| with((Units::Finite(headers), Units::Finite(data))).check(SIZE);
        let (class, header, data) = (FlowClass::Posted, CreditKind::Header, CreditKind::Data);
        assert_eq!(of(127, 2047), Ok(()));
        let below = |kind, units, minimum| AdvertisedError::BelowMinimum {
            class,
            kind,
            units,
            minimum,
        };
        let above = |kind, units, maximum| AdvertisedError::AboveMaximum {
            class,
            kind,
            units,
            maximum,
        };
        assert_eq!(of(0, 16), Err(below(header, 0, 1)));
        assert_eq!(of(1, 15), Err(below(data, 15, 16)));
        assert_eq!(of(128, 16), Err(above(header, 128, 127)));
        assert_eq!(of(1, 2048), Err(above(data, 2048, 2047)));
    }
}
