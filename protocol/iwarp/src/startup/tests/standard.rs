//! What the texts say of two ends, in plain numbers: written from them, and not from the code.
//!
//! | decided by | for |
//! |---|---|
//! | the draft of revision 0, section 6.1, RFC 5044 section 7.1 | key, M, C, R, Rev, PD_Length |
//! | RFC 6581 sections 9.1 and 9.2 | S, A, B, C, D, IRD, ORD |
//! | this crate, as `startup`'s head lists | what these leave open |

use super::*;

/// Enhanced data as four octets: A, B and IRD, then C, D and ORD.
pub fn enhanced(rtr: Option<RtrKinds>, ird: u16, ord: u16) -> [u8; 4] {
    let kinds = rtr.unwrap_or_default();
    let bit = |is_set: bool, bit: u16| u16::from(is_set) << bit;
    let first = bit(rtr.is_some(), 15) | bit(kinds.fpdu, 14) | ird;
    let second = bit(kinds.write, 15) | bit(kinds.read, 14) | ord;
    let [a, b] = first.to_be_bytes();
    let [c, d] = second.to_be_bytes();
    [a, b, c, d]
}

/// The Request of an end with these settings.
pub fn request_of(one: &Settings, private_data: &[u8]) -> Vec<u8> {
    let flags = u8::from(one.markers) << 7 | u8::from(one.crc) << 6;
    if one.revision < 2 {
        return request(flags, one.revision, private_data);
    }
    let rtr = one.peer_to_peer.then_some(one.rtr);
    let data = enhanced(rtr, one.ird, one.ord);
    request(flags | 0x10, 2, &[&data[..], private_data].concat())
}

/// What becomes of a Request, or of a Reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// TCP is closed for what is in this octet.
    Closed(usize),
    /// Octets are missing.
    Incomplete,
    /// It can only be rejected: no kind of RTR is common.
    NoCommonRtr,
    /// A Reply with R, and this Private Data.
    Rejected(Vec<u8>),
    /// A Terminate with this code of MPA.
    Terminate(u8),
    /// It is accepted; the Reply to it, if it is a Request.
    Agreed(Agreed, Vec<u8>),
}

/// The fields of a frame, and the octet that makes it malformed.
struct Fields {
    flags: u8,
    revision: u8,
    /// A with the kinds of RTR, IRD, ORD.
    enhanced: Option<(Option<RtrKinds>, u16, u16)>,
    private_data: Vec<u8>,
    /// Where octets are that the peer has sent too early.
    early: Option<usize>,
}

fn fields(
    octets: &[u8],
    letter: u8,
    revisions: (u8, u8),
    application: usize,
) -> Result<Fields, Judged> {
    let key = frame(letter, 0, 0, b"");
    // Rules 2, 3, 5, 8: the key, as far as it is there to be judged.
    if octets.len() < 16 {
        return Err(Judged::Incomplete);
    }
    if let Some(octet) = (0..16).find(|&octet| octets[octet] != key[octet]) {
        return Err(Judged::Closed(octet));
    }
    if octets.len() < 20 {
        return Err(Judged::Incomplete);
    }
    let (flags, revision) = (octets[16], octets[17]);
    if revision < revisions.0 || revision > revisions.1 {
        return Err(Judged::Closed(17));
    }
    let length = usize::from(octets[18]) << 8 | usize::from(octets[19]);
    let with_data = revision == 2 && flags & 0x10 != 0;
    let head = if with_data { 4 } else { 0 };
    // Rule 9, and the longest Private Data of each revision.
    let frame_max = if revision == 0 { 65_535 } else { 512 };
    if length < head || length > frame_max || length - head > application {
        return Err(Judged::Closed(18));
    }
    if octets.len() < 20 + length {
        return Err(Judged::Incomplete);
    }
    let end = 20 + length;
    let half = |at: usize| u16::from(octets[at]) << 8 | u16::from(octets[at + 1]);
    let enhanced = with_data.then(|| {
        let (first, second) = (half(20), half(22));
        let kinds = RtrKinds {
            fpdu: first & 0x4000 != 0,
            write: second & 0x8000 != 0,
            read: second & 0x4000 != 0,
        };
        let rtr = (first & 0x8000 != 0).then_some(kinds);
        (rtr, first & 0x3fff, second & 0x3fff)
    });
    Ok(Fields {
        flags,
        revision,
        enhanced,
        private_data: octets[20 + head..end].to_vec(),
        early: (octets.len() > end).then_some(end),
    })
}

/// The one kind that is selected: a Write before an FPDU before a Read, which takes a place of the
/// responder's IRD.
fn selected(one: RtrKinds, other: RtrKinds, ird: u16) -> Option<Rtr> {
    if one.write && other.write {
        Some(Rtr::Write)
    } else if one.fpdu && other.fpdu {
        Some(Rtr::Fpdu)
    } else if one.read && other.read && ird > 0 {
        Some(Rtr::Read)
    } else {
        None
    }
}

/// What an end holds of what the other one would use; 0x3FFF is left to the ULPs.
fn lesser(ours: u16, peers: u16) -> u16 {
    if peers == 0x3fff || ours < peers {
        ours
    } else {
        peers
    }
}

fn agree(
    ours: &Settings,
    initiator: bool,
    revision: u8,
    peer: &Fields,
    depths: (u16, u16),
) -> Agreed {
    Agreed {
        initiator,
        revision,
        version: if revision == 0 {
            ours.revision_0_version
        } else {
            1
        },
        crc: ours.crc || peer.flags & 0x40 != 0,
        markers_in: ours.markers,
        markers_out: peer.flags & 0x80 != 0,
        ird: depths.0,
        ord: depths.1,
        rtr: None,
        private_data: peer.private_data.clone(),
    }
}

/// What a responder makes of octets, and answers with this Private Data.
pub fn responded(ours: &Settings, octets: &[u8], private_data: &[u8]) -> Judged {
    let highest = if ours.answer_newer { 2 } else { ours.revision };
    let revisions = (ours.revision_min, highest);
    let peer = match fields(octets, b'q', revisions, ours.private_data_octets_max) {
        Ok(peer) => peer,
        Err(judged) => return judged,
    };
    // The initiator waits for the Reply.
    if let Some(octet) = peer.early {
        return Judged::Closed(octet);
    }
    let revision = peer.revision.min(ours.revision);
    let mut agreed = agree(ours, false, revision, &peer, (ours.ird, ours.ord));
    let flags = u8::from(ours.markers) << 7 | u8::from(agreed.crc) << 6;
    let Some((offered, ird, ord)) = peer.enhanced.filter(|_| revision == 2) else {
        return Judged::Agreed(agreed, reply(flags, revision, private_data));
    };
    (agreed.ird, agreed.ord) = (lesser(ours.ird, ord), lesser(ours.ord, ird));
    if let Some(offered) = offered {
        agreed.rtr = selected(offered, ours.rtr, ours.ird);
        match agreed.rtr {
            None => return Judged::NoCommonRtr,
            Some(Rtr::Read) if agreed.ird == 0 => agreed.ird = 1,
            Some(_) => {}
        }
    }
    let shown = |peers: u16, depth: u16| if peers == 0x3fff { peers } else { depth };
    let rtr = agreed.rtr.map(RtrKinds::only);
    let data = enhanced(rtr, shown(ord, agreed.ird), shown(ird, agreed.ord));
    let data = [&data[..], private_data].concat();
    Judged::Agreed(agreed, reply(flags | 0x10, 2, &data))
}

/// What an initiator makes of octets.
pub fn initiated(ours: &Settings, octets: &[u8]) -> Judged {
    let revisions = (ours.revision_min, ours.revision);
    let peer = match fields(octets, b'p', revisions, ours.private_data_octets_max) {
        Ok(peer) => peer,
        Err(judged) => return judged,
    };
    // What follows a rejection is the ULP's.
    if peer.flags & 0x20 != 0 {
        return Judged::Rejected(peer.private_data);
    }
    if peer.enhanced.is_some_and(|(a, ..)| a.is_some()) && !ours.peer_to_peer {
        return Judged::Closed(20);
    }
    // A responder waits for the first FPDU.
    if let Some(octet) = peer.early {
        return Judged::Closed(octet);
    }
    let mut agreed = agree(ours, true, peer.revision, &peer, (ours.ird, ours.ord));
    if let Some((answered, ird, ord)) = peer.enhanced {
        // A responder does not read deeper than the initiator has offered.
        if ord != 0x3fff && ord > ours.ird {
            return Judged::Terminate(0x06);
        }
        (agreed.ird, agreed.ord) = (lesser(ours.ird, ord), lesser(ours.ord, ird));
        if ours.peer_to_peer {
            agreed.rtr = answered.and_then(|kinds| selected(kinds, ours.rtr, ird));
            match agreed.rtr {
                None => return Judged::Terminate(0x07),
                Some(Rtr::Read) if agreed.ord == 0 => agreed.ord = 1,
                Some(_) => {}
            }
        }
    }
    Judged::Agreed(agreed, Vec::new())
}
