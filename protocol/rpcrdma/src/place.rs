//! Ranges of registered memory.
//!
//! Registered memory belongs to the provider: octets are copied into it and out of it, and nothing
//! of this crate holds a reference into it. What moves between layers is a [`Place`].

/// A piece of registered memory as the provider numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryId(pub u32);

/// A range of registered memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The memory.
    pub memory: MemoryId,
    /// Octets before the first one of the range.
    pub offset: u64,
    /// Octets of the range.
    pub length: u32,
}

impl Place {
    /// The offset after the last octet.
    #[must_use]
    pub fn end(self) -> u64 {
        self.offset.saturating_add(u64::from(self.length))
    }

    /// `length` octets of the range from `from` on; nothing if they are not all in it.
    #[must_use]
    pub fn part(self, from: u32, length: u32) -> Option<Self> {
        let end = from.checked_add(length)?;
        let offset = self.offset.checked_add(u64::from(from))?;
        (end <= self.length).then_some(Self {
            memory: self.memory,
            offset,
            length,
        })
    }

    /// The range without what follows its first `length` octets.
    #[must_use]
    pub fn first(self, length: u32) -> Self {
        Self {
            length: self.length.min(length),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place {
        memory: MemoryId(3),
        offset: 100,
        length: 8,
    };

    #[test]
    fn parts_lie_in_their_place() {
        assert_eq!(PLACE.end(), 108);
        assert_eq!(PLACE.part(0, 8), Some(PLACE));
        assert_eq!(
            PLACE.part(3, 5),
            Some(Place {
                offset: 103,
                length: 5,
                ..PLACE
            })
        );
        assert_eq!(
            PLACE.part(8, 0),
            Some(Place {
                offset: 108,
                length: 0,
                ..PLACE
            })
        );
        assert_eq!(PLACE.part(3, 6), None);
        assert_eq!(PLACE.part(9, 0), None);
        assert_eq!(PLACE.part(u32::MAX, 2), None);
        assert_eq!(
            Place {
                offset: u64::MAX,
                ..PLACE
            }
            .part(1, 1),
            None
        );
    }

    #[test]
    fn first_octets_are_at_most_all() {
        assert_eq!(PLACE.first(5), Place { length: 5, ..PLACE });
        assert_eq!(PLACE.first(9), PLACE);
    }
}
