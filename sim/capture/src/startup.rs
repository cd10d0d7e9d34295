//! MPA start-up frames (RFC 5044 section 7.1, RFC 6581 section 9).

const KEY_REQUEST: &[u8; 16] = b"MPA ID Req Frame";
const KEY_REPLY: &[u8; 16] = b"MPA ID Rep Frame";
const HEADER_OCTETS: usize = 20;
/// Octets of the longest frame: its Private Data has a length of 16 bits.
pub(crate) const STARTUP_OCTETS_MAX: usize = HEADER_OCTETS + 0xffff;
const FLAG_MARKERS: u8 = 0x80;
const FLAG_CRC: u8 = 0x40;
const FLAG_REJECTED: u8 = 0x20;

/// Which of the two frames.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sent by the initiator.
    Request,
    /// Sent by the responder.
    Reply,
}

/// A start-up frame (START-023).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StartupFrame {
    /// Request or Reply.
    pub role: Role,
    /// M: its sender wants markers in what it receives.
    pub markers: bool,
    /// C: CRC32C is to be used.
    pub crc: bool,
    /// R: the connection is rejected (Replies).
    pub rejected: bool,
    /// Revision.
    pub revision: u8,
    /// Octets of the whole frame, Private Data included.
    pub octets: usize,
}

impl StartupFrame {
    /// How many octets of a stream say whether it opens with a start-up frame, and whether others
    /// came with its end; `None` as long as too few of them are there.
    pub(crate) fn head_octets(stream: &[u8]) -> Option<usize> {
        let header = stream.get(..HEADER_OCTETS)?;
        if ![KEY_REQUEST, KEY_REPLY]
            .iter()
            .any(|key| header.starts_with(&key[..]))
        {
            return Some(HEADER_OCTETS);
        }
        let private_data = u16::from_be_bytes([header[18], header[19]]);
        Some(HEADER_OCTETS + usize::from(private_data) + 1)
    }

    /// Read the frame a stream opens with; `None` if it is none, or is not whole yet.
    pub fn parse(stream: &[u8]) -> Option<Self> {
        let header = stream.get(..HEADER_OCTETS)?;
        let role = match &header[..16] {
            key if key == KEY_REQUEST => Role::Request,
            key if key == KEY_REPLY => Role::Reply,
            _ => return None,
        };
        let octets = HEADER_OCTETS + usize::from(u16::from_be_bytes([header[18], header[19]]));
        let flags = header[16];
        (stream.len() >= octets).then_some(Self {
            role,
            markers: flags & FLAG_MARKERS != 0,
            crc: flags & FLAG_CRC != 0,
            rejected: role == Role::Reply && flags & FLAG_REJECTED != 0,
            revision: header[17],
            octets,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// START-023, START-024: layout and keys; START-030: reserved bits are ignored.
    #[test]
    fn a_request_is_read_when_its_private_data_is_whole() {
        let mut frame = b"MPA ID Req Frame".to_vec();
        frame.extend([0xc0 | 0x1f, 0x00, 0x00, 0x04, 1, 2, 3]);
        assert_eq!(StartupFrame::parse(&frame), None);
        frame.push(4);
        let parsed = StartupFrame::parse(&frame).expect("whole");
        assert_eq!(
            (parsed.role, parsed.markers, parsed.crc),
            (Role::Request, true, true)
        );
        assert_eq!(
            (parsed.revision, parsed.octets, parsed.rejected),
            (0, 24, false)
        );
    }

    /// START-024: hexadecimal 46, not the lower-case letter of the prose.
    #[test]
    fn a_lower_case_key_is_no_start_up_frame() {
        let mut frame = b"MPA ID Req frame".to_vec();
        frame.extend([0, 1, 0, 0]);
        assert_eq!(StartupFrame::parse(&frame), None);
    }
}
