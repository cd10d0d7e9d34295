//! A start-up frame out of the octets of a stream, judged as they arrive.
//!
//! ```text
//!  0 ........... 16 ........ 20 ............ 20 + PD_Length
//!  |    key      |  lengths  | Private Data  | not consumed: SeqStart
//!                ^ judged    ^ judged        ^ whole
//! ```
//!
//! Memory: at most the frame, 20 + PD_Length octets, and never more than twice what has arrived.

use super::error::StartupError;
use super::settings::private_data_octets_max;
use rnic_wire::mpa::startup::{
    Role, StartupFrame, StartupRepr, ENHANCED_OCTETS, FLAG_ENHANCED, HEADER_OCTETS, KEY_REPLY,
    KEY_REQUEST,
};

/// Octets of the key.
const KEY_OCTETS: usize = KEY_REQUEST.len();

/// What is judged when a frame has so many octets.
type Stage = (usize, fn(&FrameReader) -> Result<(), StartupError>);

const STAGES: [Stage; 2] = [
    (KEY_OCTETS, FrameReader::judge_key),
    (HEADER_OCTETS, FrameReader::judge_lengths),
];

/// Octets of a frame as they arrive.
#[derive(Clone, Debug)]
pub(super) struct FrameReader {
    /// The frame that the peer is to send.
    expected: Role,
    revisions: (u8, u8),
    private_data_octets_max: usize,
    octets: Vec<u8>,
    /// Stages that are judged.
    judged: usize,
}

impl FrameReader {
    /// A reader of frames of the `revisions` from the first to the second.
    pub fn new(expected: Role, revisions: (u8, u8), private_data_octets_max: usize) -> Self {
        Self {
            expected,
            revisions,
            private_data_octets_max,
            octets: Vec::new(),
            judged: 0,
        }
    }

    /// Octets of the frame that have arrived.
    pub fn found_octets(&self) -> usize {
        self.octets.len()
    }

    /// Octets of the whole frame; of its header as long as that is not there.
    pub fn needed_octets(&self) -> usize {
        match self.octets.len() < HEADER_OCTETS {
            true => HEADER_OCTETS,
            false => HEADER_OCTETS + self.view().private_data_length(),
        }
    }

    /// Octets that are missing, as far as that is known; 0 for a whole frame.
    pub fn missing_octets(&self) -> usize {
        self.needed_octets() - self.octets.len()
    }

    fn view(&self) -> StartupFrame<&[u8]> {
        StartupFrame::new_unchecked(&self.octets)
    }

    /// Take octets of the stream up to the end of the frame: how many were taken.
    pub fn feed(&mut self, octets: &[u8]) -> Result<usize, StartupError> {
        let mut rest = octets;
        for (stage, judge) in STAGES.into_iter().skip(self.judged) {
            rest = self.take(rest, stage);
            if self.octets.len() < stage {
                return Ok(octets.len());
            }
            judge(self)?;
            self.judged += 1;
        }
        rest = self.take(rest, self.needed_octets());
        Ok(octets.len() - rest.len())
    }

    /// Take what is missing to `end` octets; the rest of `octets`.
    fn take<'a>(&mut self, octets: &'a [u8], end: usize) -> &'a [u8] {
        let missing = end - self.octets.len();
        let (now, rest) = octets.split_at(missing.min(octets.len()));
        self.octets.extend_from_slice(now);
        rest
    }

    fn judge_key(&self) -> Result<(), StartupError> {
        let (key, other, mistaken) = match self.expected {
            Role::Request => (KEY_REQUEST, KEY_REPLY, StartupError::ReplyToResponder),
            Role::Reply => (KEY_REPLY, KEY_REQUEST, StartupError::BothInitiate),
        };
        let found = &self.octets[..KEY_OCTETS];
        if found == other {
            return Err(mistaken);
        }
        let mut pairs = found.iter().zip(key).enumerate();
        match pairs.find(|(_, (found, expected))| found != expected) {
            Some((octet, (&found, &expected))) => Err(StartupError::Key {
                octet,
                found,
                expected,
            }),
            None => Ok(()),
        }
    }

    fn judge_lengths(&self) -> Result<(), StartupError> {
        let view = self.view();
        let (found, (lowest, highest)) = (view.revision(), self.revisions);
        if !(lowest..=highest).contains(&found) {
            return Err(StartupError::Revision {
                found,
                lowest,
                highest,
            });
        }
        // S has no meaning before revision 2: a reserved flag, not checked (START-030).
        let enhanced = found >= 2 && view.flags() & FLAG_ENHANCED != 0;
        let found_octets = view.private_data_length();
        if enhanced && found_octets < ENHANCED_OCTETS {
            return Err(StartupError::EnhancedLength { found_octets });
        }
        let ulp = private_data_octets_max(found, enhanced).min(self.private_data_octets_max);
        let max_octets = ulp + if enhanced { ENHANCED_OCTETS } else { 0 };
        if found_octets > max_octets {
            return Err(StartupError::PrivateDataLength {
                found_octets,
                max_octets,
            });
        }
        Ok(())
    }

    /// What `use_frame` makes of the frame, once it is whole.
    pub fn read<T>(&self, use_frame: impl FnOnce(StartupRepr<'_>) -> T) -> Option<T> {
        let frame = StartupFrame::new_checked(&self.octets[..]).ok()?;
        // Whole and judged: the one thing left that it could refuse is an older revision's S.
        StartupRepr::parse(&frame).ok().map(use_frame)
    }
}

/// The octets of a frame that fits: the Private Data has been checked.
pub(super) fn octets(repr: &StartupRepr<'_>) -> Vec<u8> {
    let mut octets = vec![0; repr.buffer_len()];
    repr.emit(&mut StartupFrame::new_unchecked(&mut octets));
    octets
}
