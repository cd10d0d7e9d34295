//! What must come of a job, decided octet by octet in plain Rust.
use super::sender::{measure, without_markers};
use crate::messages::*;
use rnic_abi::limits::SINGLE_PASS_ULPDU_OCTETS;

/// A job and its octets.
#[derive(Clone, Debug)]
pub struct Job {
    pub kind: JobKind,
    pub connection: u64,
    pub octets: Vec<u8>,
    /// Octets since SeqStart.
    pub position: u64,
    pub sequence: u32,
    pub markers: bool,
    pub crc: bool,
    pub head_page: u64,
    pub tail_page: u64,
}

/// An FPDU that must be handed on.
#[derive(Clone, Debug, PartialEq)]
pub struct Passed {
    pub kind: FpduKind,
    pub connection: u64,
    pub sequence: u32,
    pub sequence_end: u32,
    pub ulpdu_length: u64,
    pub crc_good: bool,
    pub marker_good: bool,
    /// First 20 octets without markers; empty where it is not compared.
    pub header: Vec<u8>,
    pub beats: u64,
    /// What the placement buffer must hold: an FPDU filled up with zeros, or a host frame.
    pub placed: Vec<u8>,
    pub head_page: u64,
    pub tail_page: u64,
}

/// The end of a stream job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ended {
    pub connection: u64,
    pub consumed: u64,
    pub need: u64,
    pub place_next: bool,
}

/// Everything that `job` must lead to, with beats of `beat` octets.
pub fn expect(job: &Job, beat: usize) -> (Vec<Passed>, Option<Ended>) {
    if job.kind == JobKind::Host {
        return (vec![expect_host(job, beat)], None);
    }
    let (mut passed, mut consumed, mut place_next) = (Vec::new(), 0, false);
    let need = loop {
        let rest = &job.octets[consumed..];
        let position = job.position + consumed as u64;
        let (octets, length) = match measure(rest, job.markers, position) {
            Ok(measured) => measured,
            Err(need) => break need,
        };
        let first = consumed == 0;
        let long = length > SINGLE_PASS_ULPDU_OCTETS;
        if octets > rest.len() || (long && !first) {
            break octets;
        }
        let kind = match (job.kind, first, long) {
            (JobKind::Place, true, _) => FpduKind::Place,
            (_, true, true) => FpduKind::Check,
            _ => FpduKind::Normal,
        };
        passed.push(expect_fpdu(job, kind, consumed, octets, length, beat));
        if kind == FpduKind::Check {
            place_next = true;
            break octets;
        }
        consumed += octets;
    };
    let ended = Ended {
        connection: job.connection,
        consumed: consumed as u64,
        need: need as u64,
        place_next,
    };
    (passed, Some(ended))
}

fn expect_host(job: &Job, beat: usize) -> Passed {
    let placed = job.octets.clone();
    Passed {
        kind: FpduKind::Host,
        connection: job.connection,
        sequence: job.sequence,
        sequence_end: job.sequence.wrapping_add(job.octets.len() as u32),
        ulpdu_length: job.octets.len() as u64,
        crc_good: true,
        marker_good: true,
        header: vec![],
        beats: placed.len().div_ceil(beat) as u64,
        placed,
        head_page: job.head_page,
        tail_page: job.tail_page,
    }
}

fn expect_fpdu(
    job: &Job,
    kind: FpduKind,
    at: usize,
    octets: usize,
    length: usize,
    beat: usize,
) -> Passed {
    let wire = &job.octets[at..at + octets];
    let position = job.position + at as u64;
    let plain = without_markers(wire, job.markers, position);
    let mut header = plain.clone();
    header.resize(20, 0);
    let mut placed = plain;
    placed.resize(placed.len().next_multiple_of(beat), 0);
    if kind == FpduKind::Check {
        placed.clear();
    }
    let (field, covered) = (&wire[octets - 4..], &wire[..octets - 4]);
    let crc_right = crc32c::crc32c(covered).to_le_bytes() == field;
    Passed {
        kind,
        connection: job.connection,
        sequence: job.sequence.wrapping_add(at as u32),
        sequence_end: job.sequence.wrapping_add((at + octets) as u32),
        ulpdu_length: length as u64,
        crc_good: crc_right || !job.crc || kind == FpduKind::Place,
        marker_good: markers_agree(wire, job.markers, position) || kind == FpduKind::Place,
        header,
        beats: (placed.len() / beat) as u64,
        placed,
        head_page: job.head_page,
        tail_page: job.tail_page,
    }
}

/// MPA-008 to MPA-012: a leading marker is 0, another one its distance from ULPDU_Length or from
/// the leading marker, modulo 2^16; two low bits and the reserved octets are ignored.
fn markers_agree(wire: &[u8], markers: bool, position: u64) -> bool {
    let leads = markers && position % 512 == 0;
    (0..wire.len()).step_by(4).all(|at| {
        if !markers || (position + at as u64) % 512 != 0 {
            return true;
        }
        let found = u16::from_be_bytes([wire[at + 2], wire[at + 3]]) & !3;
        found == at as u16 || (leads && at > 0 && found == (at - 4) as u16)
    })
}
