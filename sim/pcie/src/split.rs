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
        // From the last boundary at or below, so that the dwords in front count as well.
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
