//! The side of a function that answers: cuts the octets of a read into completions.
//!
//! ```text
//!   MRd + its dwords  -->  CplD, CplD, ...   cut at the Read Completion Boundary
//! ```
//!
//! Used by both ends of the link.
//! Source: PCI Express Base Specification 5.0, sections 2.2.9 and 2.3.1.1.

use crate::choices::{Choice, Choices};
use crate::limits::{Limits, ReadCompletionBoundary};
use crate::split;
use crate::tlp::{Bdf, Completion, CompletionStatus, Header, Kind, Length, Tlp, DWORD_OCTETS};

/// How a completer that may choose cuts its completions. All are legal; a device must take any.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum CompletionSplit {
    /// As few completions as Max_Payload_Size allows.
    #[default]
    Largest,
    /// One completion up to each Read Completion Boundary.
    AtEveryBoundary,
    /// Each completion ends on any of the boundaries that Max_Payload_Size lets it reach.
    Chosen,
}

/// The completions with data that answer `request`, in the order in which they must be sent.
///
/// `data` holds the dwords that the request spans, from its dword address on; octets that are
/// not there count as zero. `choices` is asked for [`CompletionSplit::Chosen`] only. Empty if
/// `request` is neither a memory nor a configuration read.
pub fn complete_read(
    request: &Header,
    data: &[u8],
    completer: Bdf,
    limits: &Limits,
    boundary: ReadCompletionBoundary,
    shape: CompletionSplit,
    choices: &mut dyn Choices,
) -> Vec<Tlp> {
    let Some((requester, tag)) = request.expects_completion() else {
        return Vec::new();
    };
    // Octet 0 of `data` is at `base`; the completions owe `owed` octets from `leading` on.
    let (base, leading, owed) = match &request.kind {
        Kind::MRd(read) => {
            let owed = read.enables.byte_count(request.length);
            (read.address, read.enables.leading_octets(), owed)
        }
        // Byte Count is 4 and Lower Address 0 except for memory reads.
        Kind::CfgRd0(_) => (0, 0, DWORD_OCTETS),
        _ => return Vec::new(),
    };
    let boundary_octets = boundary.octets();
    let octets_max = limits.max_payload.octets();
    let cut = |cuts| match shape {
        CompletionSplit::Largest => cuts - 1,
        CompletionSplit::AtEveryBoundary => 0,
        CompletionSplit::Chosen => choices.below(Choice::Split, cuts),
    };
    let start = base.wrapping_add(leading as u64);
    let mut completions = Vec::new();
    for piece in split::completions_by(start, owed, octets_max, boundary_octets, cut) {
        let skipped = (piece.address % DWORD_OCTETS as u64) as usize;
        let dwords = (skipped + piece.octets).div_ceil(DWORD_OCTETS);
        // The octets of whole dwords, zero where `data` ends early.
        let from = leading + piece.offset - skipped;
        let mut payload = vec![0; dwords * DWORD_OCTETS];
        let there = data.get(from..).unwrap_or_default();
        let there = &there[..there.len().min(payload.len())];
        payload[..there.len()].copy_from_slice(there);
        let completion = Completion {
            completer,
            status: CompletionStatus::Successful,
            byte_count_modified: false,
            byte_count: (owed - piece.offset) as u16,
            requester,
            tag,
            lower_address: (piece.address & 0x7f) as u8,
        };
        let Some(length) = Length::from_dwords(dwords) else {
            continue;
        };
        let mut tlp = Tlp::new(length, Kind::CplD(completion), payload);
        tlp.header.traffic = request.traffic.for_completion();
        completions.push(tlp);
    }
    completions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::Scripted;
    use crate::TransferSize;

    fn shapes(address: u64, octets: usize, shape: CompletionSplit) -> Vec<(usize, u16, u8)> {
        chosen(address, octets, shape, [])
    }

    fn chosen<const N: usize>(
        address: u64,
        octets: usize,
        shape: CompletionSplit,
        cuts: [u64; N],
    ) -> Vec<(usize, u16, u8)> {
        let request = Tlp::memory_read(Bdf::new(1, 0, 0), 9, address, octets).expect("short");
        let limits = Limits {
            max_payload: TransferSize::Octets128,
            ..Limits::default()
        };
        let boundary = ReadCompletionBoundary::Octets64;
        let tlps = complete_read(
            &request.header,
            &[],
            Bdf::default(),
            &limits,
            boundary,
            shape,
            &mut Scripted::new(cuts.map(|cut| (Choice::Split, cut))),
        );
        let shape_of = |tlp: &Tlp| match &tlp.header.kind {
            Kind::CplD(completion) => (
                tlp.payload.len(),
                completion.byte_count,
                completion.lower_address,
            ),
            other => panic!("{other:?} is not a completion with data"),
        };
        tlps.iter().map(shape_of).collect()
    }

    #[test]
    fn largest_completions_end_on_the_boundary_below_the_maximum_payload() {
        let found = shapes(0x1035, 200, CompletionSplit::Largest);
        assert_eq!(found, [(76, 200, 0x35), (128, 125, 0x00)]);
    }

    #[test]
    fn smallest_completions_end_on_every_boundary() {
        let found = shapes(0x1035, 100, CompletionSplit::AtEveryBoundary);
        assert_eq!(found, [(12, 100, 0x35), (64, 89, 0x40), (28, 25, 0x00)]);
    }

    #[test]
    fn chosen_completions_end_where_the_choices_say() {
        let found = chosen(0x1035, 300, CompletionSplit::Chosen, [1, 0, 1, 1]);
        let expected = [
            (76, 300, 0x35),
            (64, 225, 0x00),
            (128, 161, 0x40),
            (36, 33, 0x40),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_zero_length_read_is_answered_with_one_dword_and_byte_count_one() {
        let found = shapes(0x1037, 0, CompletionSplit::Largest);
        assert_eq!(found, [(4, 1, 0x34)]);
    }
}
