//! Cuts an address range into pieces that each fit one packet.
//!
//! ```text
//!   range   [------------------------------)
//!   4 KiB        |              |
//!   pieces  [----)[------)[-----)[---------)     each at most `octets_max` long
//! ```

use crate::check::REQUEST_BOUNDARY_OCTETS;

/// One piece of a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Address of the first octet.
    pub address: u64,
    /// Offset of that octet in the range.
    pub offset: usize,
    /// Octets; never 0.
    pub octets: usize,
}

/// The legal requests, in address order, for `octets` octets from `address` on.
///
/// After this, no piece crosses 4 KiB and none needs more than `octets_max` octets of whole
/// dwords. Pieces after the first start on a multiple of `octets_max`.
/// `octets_max` is a multiple of four, as every [`TransferSize`](crate::TransferSize) is.
///
/// ```
/// let pieces: Vec<(u64, usize)> = pcie_sim::split::requests(0xff8, 140, 128)
///     .map(|piece| (piece.address, piece.octets))
///     .collect();
/// assert_eq!(pieces, [(0xff8, 8), (0x1000, 128), (0x1080, 4)]);
/// ```
pub fn requests(address: u64, octets: usize, octets_max: usize) -> impl Iterator<Item = Piece> {
    let boundary = (octets_max as u64).clamp(4, REQUEST_BOUNDARY_OCTETS);
    pieces(address, octets, move |address| {
        (boundary - address % boundary) as usize
    })
}

/// The completions of a read for `octets` octets from `address` on.
///
/// After this, every piece but the last ends on a multiple of `boundary_octets`, and none
/// needs more than `octets_max` octets of whole dwords (section 2.3.1.1).
pub fn completions(
    address: u64,
    octets: usize,
    octets_max: usize,
    boundary_octets: usize,
) -> impl Iterator<Item = Piece> {
    let boundary = boundary_octets.max(4) as u64;
    let reach = (octets_max as u64).max(boundary);
    pieces(address, octets, move |address| {
        // From the last boundary at or below, so that leading dwords count as well.
        let base = address - address % boundary;
        (reach - reach % boundary - (address - base)) as usize
    })
}

fn pieces(
    address: u64,
    octets: usize,
    octets_until_cut: impl Fn(u64) -> usize,
) -> impl Iterator<Item = Piece> {
    let mut offset = 0;
    std::iter::from_fn(move || {
        let address = address.wrapping_add(offset as u64);
        let taken = octets_until_cut(address).min(octets - offset);
        let piece = Piece {
            address,
            offset,
            octets: taken,
        };
        offset += taken;
        (taken > 0).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tiles(pieces: &[Piece], address: u64, octets: usize) -> bool {
        let mut offset = 0;
        for piece in pieces {
            if piece.offset != offset || piece.address != address + offset as u64 {
                return false;
            }
            offset += piece.octets;
        }
        offset == octets && pieces.iter().all(|piece| piece.octets > 0)
    }

    // Octets of the whole dwords that a piece needs.
    fn dword_octets(piece: &Piece) -> u64 {
        (piece.address + piece.octets as u64).next_multiple_of(4) - (piece.address & !3)
    }

    proptest! {
        #[test]
        fn requests_tile_the_range_and_obey_the_limits(
            address in 0u64..0x1_0000,
            octets in 0usize..20_000,
            encoding in 0usize..6,
        ) {
            let octets_max = 128 << encoding;
            let pieces: Vec<Piece> = requests(address, octets, octets_max).collect();
            prop_assert!(tiles(&pieces, address, octets), "{:?}", pieces);
            for piece in &pieces {
                prop_assert!(dword_octets(piece) <= octets_max as u64);
                let last = piece.address + piece.octets as u64 - 1;
                prop_assert_eq!(piece.address / 4096, last / 4096);
            }
        }

        #[test]
        fn completions_tile_the_range_and_end_on_boundaries(
            address in 0u64..0x1_0000,
            octets in 1usize..4096,
            encoding in 0usize..6,
            boundary in prop::sample::select(vec![64usize, 128]),
        ) {
            let octets_max = 128 << encoding;
            let pieces: Vec<Piece> = completions(address, octets, octets_max, boundary).collect();
            prop_assert!(tiles(&pieces, address, octets), "{:?}", pieces);
            for (at, piece) in pieces.iter().enumerate() {
                prop_assert!(dword_octets(piece) <= octets_max as u64);
                let end = piece.address + piece.octets as u64;
                prop_assert!(at + 1 == pieces.len() || end % boundary as u64 == 0);
            }
        }
    }
}
