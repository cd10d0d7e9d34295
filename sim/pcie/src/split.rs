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
    pieces(address, octets, move |address, _| {
        (boundary - address % boundary) as usize
    })
}

/// The completions of a read for `octets` octets from `address` on, as few as possible.
///
/// After this, every piece but the last ends on a multiple of `boundary_octets`, and none
/// needs more than `octets_max` octets of whole dwords (section 2.3.1.1).
pub fn completions(
    address: u64,
    octets: usize,
    octets_max: usize,
    boundary_octets: usize,
) -> impl Iterator<Item = Piece> {
    completions_by(address, octets, octets_max, boundary_octets, |cuts| {
        cuts - 1
    })
}

/// As [`completions`], but `choose` says where each piece ends: it is given the number of legal
/// ends, at least 1, and returns the place of one of them, 0 for the nearest.
///
/// ```
/// let pieces: Vec<usize> = pcie_sim::split::completions_by(0x1030, 200, 256, 64, |_| 0)
///     .map(|piece| piece.octets)
///     .collect();
/// assert_eq!(pieces, [16, 64, 64, 56]);
/// ```
pub fn completions_by(
    address: u64,
    octets: usize,
    octets_max: usize,
    boundary_octets: usize,
    mut choose: impl FnMut(u64) -> u64,
) -> impl Iterator<Item = Piece> {
    let boundary = boundary_octets.max(4) as u64;
    // From the last boundary at or below, so that leading dwords count as well.
    let cuts_max = (octets_max as u64 / boundary).max(1);
    pieces(address, octets, move |address, left| {
        let nearest = boundary - address % boundary;
        let further = (left as u64).saturating_sub(nearest).div_ceil(boundary);
        let cuts = cuts_max.min(1 + further);
        (nearest + choose(cuts).min(cuts - 1) * boundary) as usize
    })
}

// `octets_until_cut` is given the address of a piece and the octets left, at least 1.
fn pieces(
    address: u64,
    octets: usize,
    mut octets_until_cut: impl FnMut(u64, usize) -> usize,
) -> impl Iterator<Item = Piece> {
    let mut offset = 0;
    std::iter::from_fn(move || {
        let left = octets - offset;
        if left == 0 {
            return None;
        }
        let address = address.wrapping_add(offset as u64);
        let taken = octets_until_cut(address, left).min(left);
        let piece = Piece {
            address,
            offset,
            octets: taken,
        };
        offset += taken;
        Some(piece)
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

        #[test]
        fn chosen_completions_are_legal_and_every_choice_differs(
            address in 0u64..0x1_0000,
            octets in 1usize..4096,
            encoding in 0usize..6,
            boundary in prop::sample::select(vec![64usize, 128]),
            choices in prop::collection::vec(any::<u64>(), 1..64),
        ) {
            let octets_max = 128 << encoding;
            let mut asked = Vec::new();
            let mut turn = choices.iter().cycle();
            let pieces: Vec<Piece> = completions_by(address, octets, octets_max, boundary, |cuts| {
                let chosen = turn.next().map_or(0, |choice| choice % cuts);
                asked.push((cuts, chosen));
                chosen
            })
            .collect();
            prop_assert!(tiles(&pieces, address, octets), "{:?}", pieces);
            for (at, piece) in pieces.iter().enumerate() {
                prop_assert!(dword_octets(piece) <= octets_max as u64);
                let end = piece.address + piece.octets as u64;
                prop_assert!(at + 1 == pieces.len() || end % boundary as u64 == 0);
                // Each choice is a boundary further; only the furthest may reach the end.
                let (cuts, chosen) = asked[at];
                let boundary = boundary as u64;
                let passed = (end - 1) / boundary - piece.address / boundary;
                prop_assert_eq!(passed, chosen);
                let whole = octets - piece.offset == piece.octets;
                prop_assert!(chosen + 1 == cuts || !whole);
            }
        }
    }
}
