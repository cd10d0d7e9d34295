//! Why a capture, or a connection in it, has no flow: one line for each cause, with counts and
//! frame numbers.
//!
//! In: the connections that were tracked, and the frames without a segment. Out: findings, those
//! first that a user can act upon.

use crate::finding::{counted, Finding, Frames};
use crate::shape::Shape;
use crate::startup::{Role, StartupFrame};
use crate::track::{Tracked, Tracker};
use std::collections::{BTreeMap, BTreeSet};

/// Connections named in a line; the rest are counted.
const NAMED_MAX: usize = 3;

/// Why a connection has no flow.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    Rejected,
    RequestWithoutReply,
    ReplyWithoutRequest,
    OneDirection,
    MidConnection,
    NoStartup,
    NoPayload,
}

impl Cause {
    /// Of a connection whose start-up frames do not lead to full operation.
    pub(crate) fn of(connection: &Tracked) -> Self {
        let [first, second] = [0, 1].map(|side| {
            StartupFrame::parse(connection.heads[side].octets()).map(|frame| frame.role)
        });
        let is_silent = connection.sides.iter().any(|side| side.segments == 0);
        let is_empty = connection.sides.iter().all(|side| side.sequence.is_none());
        let roles = [first, second];
        match roles {
            [Some(_), Some(_)] if roles[0] != roles[1] => Self::Rejected,
            _ if is_silent => Self::OneDirection,
            _ if is_empty => Self::NoPayload,
            _ if roles.contains(&Some(Role::Request)) => Self::RequestWithoutReply,
            _ if roles.contains(&Some(Role::Reply)) => Self::ReplyWithoutRequest,
            _ if connection.sides.iter().any(|side| side.has_syn) => Self::NoStartup,
            _ => Self::MidConnection,
        }
    }

    const fn kind(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::RequestWithoutReply => "request_without_reply",
            Self::ReplyWithoutRequest => "reply_without_request",
            Self::OneDirection => "one_direction",
            Self::MidConnection => "mid_connection",
            Self::NoStartup => "no_start_up",
            Self::NoPayload => "no_payload",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Rejected => {
                "rejected: the responder refused the connection in its MPA Reply (R is set), so it \
                 never carried an FPDU"
            }
            Self::RequestWithoutReply => {
                "Request without Reply: the MPA Request is there, but no Reply to it"
            }
            Self::ReplyWithoutRequest => {
                "Reply without Request: the MPA Reply is there, but not the Request before it"
            }
            Self::OneDirection => {
                "one direction only: frames of the other end are missing; capture where both \
                 directions pass"
            }
            Self::MidConnection => {
                "no start-up frames: the capture begins in mid-connection, after SYN and MPA \
                 Request and Reply; begin it before the connection is opened, or give \
                 `--mpa m=0|1,c=0|1,start=SEQ` for each direction"
            }
            Self::NoStartup => {
                "no start-up frames: the connection begins, but with no MPA Request and Reply; it \
                 is no iWARP, or those segments are missing"
            }
            Self::NoPayload => "no payload: the connection carries nothing but acknowledgements",
        }
    }
}

/// Said of a capture that is played in part: connections that show signs of MPA, or may have shown
/// them before the capture began, and frames that may hold one.
pub(crate) fn beside(
    causes: &[Finding],
    tracker: &Tracker,
    played: &BTreeSet<usize>,
) -> Vec<Finding> {
    let kinds = [
        "rejected",
        "request_without_reply",
        "reply_without_request",
        "one_direction",
        "mid_connection",
        "tunnelled",
    ];
    let said = causes.iter().filter(|cause| kinds.contains(&cause.kind));
    let mut findings: Vec<Finding> = said.cloned().collect();
    // Those of a connection that is played matter where it has a gap.
    let played = played
        .iter()
        .map(|&number| tracker.connections[number].ends);
    findings.extend(bad_checksums(&tracker.bad_checksums.besides(played)));
    findings.iter().map(Finding::beside).collect()
}

fn bad_checksums(bad: &Frames) -> Option<Finding> {
    let frames = bad.count_of("frame");
    let text = format!("bad checksums of TCP: {frames}; the device drops such segments");
    (bad.count > 0).then(|| Finding::new("bad_checksum", bad.count, &bad.first, text))
}

/// Whether what is missing of a stream may be in these frames.
pub(crate) fn may_leave_gaps(cause: &Finding) -> bool {
    let dropped = [
        "bad_checksum",
        "bad_ip_checksum",
        "fragment",
        "tagged",
        "ipv6_extension",
        "tunnelled",
        "another_header",
    ];
    dropped.contains(&cause.kind)
}

/// The cause of a capture without a frame that is played.
pub(crate) fn empty() -> Finding {
    let text = "an empty capture: no packet in it can be played".into();
    Finding::new("empty", 0, &[], text)
}

/// Connections of one cause.
#[derive(Debug, Default)]
struct Connections {
    names: Vec<String>,
    /// The first and the last frame of each.
    frames: Frames,
    count: usize,
}

impl Connections {
    fn add(&mut self, numbers: &dyn Fn(usize) -> usize, connection: &Tracked) {
        self.count += 1;
        let ([a, b], span) = (connection.ends, connection.span);
        let [first, last] = [span.first, span.last].map(numbers);
        self.frames.add(first);
        self.frames.add(last);
        if self.names.len() < NAMED_MAX {
            self.names
                .push(format!("{a} > {b}, frames {first} to {last}"));
        }
    }

    fn finding(&self, cause: Cause) -> Finding {
        let mut names = self.names.join("; ");
        if self.count > self.names.len() {
            names += &format!("; and {} more", self.count - self.names.len());
        }
        let count = counted(self.count, "connection");
        let text = format!("{} ({count}: {names})", cause.text());
        Finding::new(cause.kind(), self.count, &self.frames.first, text)
    }
}

/// The causes of a capture whose frames have `numbers`: `played` are the connections that have
/// flows.
pub(crate) fn causes(
    numbers: &dyn Fn(usize) -> usize,
    tracker: &Tracker,
    played: &BTreeSet<usize>,
    others: &BTreeMap<Shape, Frames>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut by_cause: BTreeMap<Cause, Connections> = BTreeMap::new();
    for (number, connection) in tracker.connections.iter().enumerate() {
        if !played.contains(&number) {
            let of_cause = by_cause.entry(Cause::of(connection)).or_default();
            of_cause.add(numbers, connection);
        }
    }
    let connections = by_cause.iter();
    findings.extend(connections.map(|(&cause, of_cause)| of_cause.finding(cause)));
    findings.extend(bad_checksums(&tracker.bad_checksums.besides([])));
    for (shape, frames) in others {
        let text = format!("{}: {}", frames.count_of("frame"), shape.text());
        let (count, first) = (frames.count, &frames.first);
        findings.push(Finding::new(shape.kind(), count, first, text));
    }
    findings
}
