//! What two start-up frames agree on.

use super::settings::{Rtr, RtrKinds, Settings};
use rnic_wire::ddp::errors::{Cause, MPA_READ_RESOURCES, MPA_RTR};
use rnic_wire::mpa::startup::{EnhancedData, StartupRepr, DEPTH_UNSPECIFIED};

/// What both ends know after the Reply. A queue pair is made of it, so that full operation cannot
/// begin before (START-004).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// This end sent the Request; the other one sends nothing before our first FPDU (START-014).
    pub initiator: bool,
    /// Revision of the Reply.
    pub revision: u8,
    /// DDP and RDMAP version in both directions: 1, or 0 in revision 0 (DDP-009).
    pub version: u8,
    /// CRC32C is generated and checked (START-028).
    pub crc: bool,
    /// The peer puts markers into what it sends, as this end asked for.
    pub markers_in: bool,
    /// This end puts markers into what it sends, as the peer asked for.
    pub markers_out: bool,
    /// RDMA Reads that the peer may have outstanding: what this end has room for.
    pub ird: u16,
    /// RDMA Reads that this end may have outstanding.
    pub ord: u16,
    /// The peer-to-peer model, and what the initiator sends first in it.
    pub rtr: Option<Rtr>,
    /// Private Data of the peer's ULP, without the enhanced data.
    pub private_data: Vec<u8>,
}

/// Why a responder's start-up frames cannot agree.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct NoCommonRtr;

const fn kinds(data: &EnhancedData) -> RtrKinds {
    RtrKinds {
        fpdu: data.rtr_fpdu,
        write: data.rtr_write,
        read: data.rtr_read,
    }
}

/// The lesser of what one end can hold and what the other would use; `ours` if the peer does not
/// negotiate it here.
fn depth(ours: u16, peer: u16) -> u16 {
    match peer {
        DEPTH_UNSPECIFIED => ours,
        peer => ours.min(peer),
    }
}

/// The enhanced data of a Request.
pub(super) fn offer(settings: &Settings) -> EnhancedData {
    let kinds = match settings.peer_to_peer {
        true => settings.rtr,
        false => RtrKinds::default(),
    };
    EnhancedData {
        peer_to_peer: settings.peer_to_peer,
        rtr_fpdu: kinds.fpdu,
        rtr_write: kinds.write,
        rtr_read: kinds.read,
        ird: settings.ird,
        ord: settings.ord,
    }
}

/// A responder's answer to enhanced data, and what is agreed by it: IRD, ORD, RTR (MPA2-004,
/// MPA2-005).
pub(super) fn answer(
    settings: &Settings,
    request: &EnhancedData,
) -> Result<(EnhancedData, Depths), NoCommonRtr> {
    let mut ird = depth(settings.ird, request.ord);
    let ord = depth(settings.ord, request.ird);
    let mut rtr = None;
    // B, C and D mean something with A alone.
    if request.peer_to_peer {
        let mut common = kinds(request).common(settings.rtr);
        // A Read as RTR takes a place of IRD.
        common.read &= settings.ird > 0;
        rtr = Some(common.cheapest().ok_or(NoCommonRtr)?);
        if rtr == Some(Rtr::Read) {
            ird = ird.max(1);
        }
    }
    let kinds = rtr.map_or(RtrKinds::default(), RtrKinds::only);
    let reported = |peer: u16, ours: u16| match peer {
        DEPTH_UNSPECIFIED => DEPTH_UNSPECIFIED,
        _ => ours,
    };
    let reply = EnhancedData {
        peer_to_peer: rtr.is_some(),
        rtr_fpdu: kinds.fpdu,
        rtr_write: kinds.write,
        rtr_read: kinds.read,
        ird: reported(request.ord, ird),
        ord: reported(request.ird, ord),
    };
    Ok((reply, Depths { ird, ord, rtr }))
}

/// IRD, ORD and RTR of a connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Depths {
    pub ird: u16,
    pub ord: u16,
    pub rtr: Option<Rtr>,
}

impl Depths {
    /// Of a connection without enhanced data: each end's own settings.
    pub fn own(settings: &Settings) -> Self {
        Self {
            ird: settings.ird,
            ord: settings.ord,
            rtr: None,
        }
    }
}

/// What an initiator makes of the enhanced data in a Reply, and why the connection has to end with
/// a Terminate, if it has to: the peer reads deeper than offered, or names no RTR that was offered.
pub(super) fn conclude(settings: &Settings, reply: &EnhancedData) -> (Depths, Option<Cause>) {
    let mut depths = Depths {
        ird: depth(settings.ird, reply.ord),
        ord: depth(settings.ord, reply.ird),
        rtr: None,
    };
    let too_deep = reply.ord != DEPTH_UNSPECIFIED && reply.ord > settings.ird;
    let mut cause = too_deep.then_some(MPA_READ_RESOURCES);
    if settings.peer_to_peer {
        let mut common = kinds(reply).common(settings.rtr);
        common.read &= reply.ird > 0;
        depths.rtr = common.cheapest().filter(|_| reply.peer_to_peer);
        if depths.rtr.is_none() {
            cause = cause.or(Some(MPA_RTR));
        }
        if depths.rtr == Some(Rtr::Read) {
            depths.ord = depths.ord.max(1);
        }
    }
    (depths, cause)
}

impl Agreed {
    /// What is agreed with a peer whose frame is `peer`, in a Reply of `revision`.
    pub(super) fn new(
        settings: &Settings,
        initiator: bool,
        revision: u8,
        peer: &StartupRepr<'_>,
        depths: Depths,
    ) -> Self {
        Self {
            initiator,
            revision,
            version: settings.version(revision),
            crc: settings.crc || peer.crc,
            markers_in: settings.markers,
            markers_out: peer.markers,
            ird: depths.ird,
            ord: depths.ord,
            rtr: depths.rtr,
            private_data: peer.private_data.to_vec(),
        }
    }
}
