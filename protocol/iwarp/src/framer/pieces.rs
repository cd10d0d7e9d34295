//! Parts of memory by reference, and short runs of octets by value.

/// Pieces of a payload. A frame is gathered from at most eight; Ethernet, IP and TCP headers, the
/// FPDU's head and its trailer take one each at most.
pub const PIECES_MAX: usize = 4;
/// Octets of the longest head: ULPDU_Length, an untagged header, the longest Terminate.
pub const HEAD_OCTETS_MAX: usize = 2 + 18 + 52;
/// Octets of the longest trailer: PAD and CRC.
pub const TRAILER_OCTETS_MAX: usize = 3 + 4;

/// A part of the caller's memory. Nothing here looks into it; what `region` and `offset` mean is
/// the caller's.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The region.
    pub region: u32,
    /// Where in it the piece begins.
    pub offset: u64,
    /// Its length in octets.
    pub octets: u32,
}

/// More than [`PIECES_MAX`] pieces.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} pieces where {PIECES_MAX} fit")]
pub struct TooManyPieces(pub usize);

/// At most [`PIECES_MAX`] pieces, one after the other.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pieces {
    pieces: [Piece; PIECES_MAX],
    count: usize,
}

impl Pieces {
    /// No piece: a payload of no octets.
    pub const NONE: Self = Self {
        pieces: [Piece {
            region: 0,
            offset: 0,
            octets: 0,
        }; PIECES_MAX],
        count: 0,
    };

    /// These pieces. Those without octets are left out.
    ///
    /// # Errors
    /// [`TooManyPieces`].
    pub fn new(pieces: &[Piece]) -> Result<Self, TooManyPieces> {
        let mut all = Self::NONE;
        for piece in pieces.iter().filter(|piece| piece.octets > 0) {
            let free = all.pieces.get_mut(all.count);
            *free.ok_or(TooManyPieces(pieces.len()))? = *piece;
            all.count += 1;
        }
        Ok(all)
    }

    /// The pieces.
    pub fn as_slice(&self) -> &[Piece] {
        &self.pieces[..self.count]
    }

    /// Octets of all of them.
    pub fn octets(&self) -> u64 {
        let octets = self.as_slice().iter().map(|piece| u64::from(piece.octets));
        octets.sum()
    }

    /// The part of `octets` octets from `from` on, as far as there are so many.
    pub fn part(&self, from: u64, octets: u64) -> Self {
        let mut part = Self::NONE;
        let (mut skip, mut rest) = (from, octets);
        for piece in self.as_slice() {
            let here = u64::from(piece.octets);
            let skipped = skip.min(here);
            let taken = rest.min(here - skipped);
            skip -= skipped;
            rest -= taken;
            if taken > 0 {
                part.pieces[part.count] = Piece {
                    region: piece.region,
                    offset: piece.offset.wrapping_add(skipped),
                    octets: taken as u32,
                };
                part.count += 1;
            }
        }
        part
    }
}

/// At most `N` octets by value.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Octets<const N: usize> {
    octets: [u8; N],
    count: usize,
}

impl<const N: usize> Octets<N> {
    /// The octets of `parts`, as far as they fit: every caller here knows their lengths.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let mut all = Self {
            octets: [0; N],
            count: 0,
        };
        for part in parts {
            let room = &mut all.octets[all.count..];
            let fits = part.len().min(room.len());
            room[..fits].copy_from_slice(&part[..fits]);
            all.count += fits;
        }
        all
    }

    /// The octets.
    pub fn as_slice(&self) -> &[u8] {
        &self.octets[..self.count]
    }
}

impl<const N: usize> std::fmt::Debug for Octets<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for octet in self.as_slice() {
            write!(f, "{octet:02x}")?;
        }
        Ok(())
    }
}
