//! Frames of a capture's packets: repaired, or left out, and what is said of those that were cut by
//! a snap length or are longer than the device takes.

use crate::file::{CaptureError, Packet};
use crate::finding::{counted, grouped, Finding, Frames};
use crate::flow::Flow;
use crate::repair::{Repair, Survey};
use crate::segment::{ends_of_head, is_whole};
use rnic_abi::limits::MAX_FRAME_OCTETS;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

/// A frame that was not captured whole.
struct Cut {
    number: usize,
    captured: u32,
    original: u32,
}

/// Makes frames of packets.
pub(crate) struct Reader<'a> {
    path: &'a Path,
    repair: Repair,
    is_repaired: bool,
    /// The first cut frame of each pair of ends, in order.
    cut: BTreeMap<(SocketAddr, SocketAddr), Cut>,
    cut_frames: Frames,
    /// Longer than the device takes, and not to be repaired.
    too_long: Frames,
}

impl<'a> Reader<'a> {
    /// Of the file at `path`; without a survey nothing is repaired.
    pub(crate) fn new(path: &'a Path, survey: Option<Survey>) -> Self {
        Self {
            path,
            is_repaired: survey.is_some(),
            repair: Repair::new(survey.unwrap_or_default()),
            cut: BTreeMap::new(),
            cut_frames: Frames::default(),
            too_long: Frames::default(),
        }
    }

    /// Forget what was counted: another pass begins.
    pub(crate) fn reset(&mut self) {
        self.repair.reset();
        self.cut.clear();
        self.cut_frames = Frames::default();
        self.too_long = Frames::default();
    }

    /// The frames of a packet; none if it is cut short.
    pub(crate) fn frames(&mut self, packet: Packet) -> Vec<Vec<u8>> {
        if packet.missing > 0 && !is_whole(&packet.frame) {
            self.cut_frames.add(packet.number);
            if let Some(ends) = ends_of_head(&packet.frame) {
                self.cut.entry(ends).or_insert(Cut {
                    number: packet.number,
                    captured: packet.captured,
                    original: packet.captured + packet.missing,
                });
            }
            return Vec::new();
        }
        if self.is_repaired {
            return self.repair.frames(packet.number, packet.frame);
        }
        if packet.frame.len() > MAX_FRAME_OCTETS {
            self.too_long.add(packet.number);
        }
        vec![packet.frame]
    }

    /// A frame that was cut short matters if its connection is played; of flow `only`, if that is
    /// given.
    pub(crate) fn check_cut(
        &self,
        flows: &[Flow],
        only: Option<usize>,
    ) -> Result<(), CaptureError> {
        let played = flows
            .iter()
            .filter(|flow| only.is_none_or(|only| only == flow.number));
        for flow in played {
            if let Some(cut) = self.cut.get(&(flow.source, flow.destination)) {
                return Err(CaptureError::CutFrame {
                    path: self.path.to_path_buf(),
                    frame: cut.number,
                    captured: cut.captured,
                    original: cut.original,
                    connection: format!("{} > {}", flow.source, flow.destination),
                });
            }
        }
        Ok(())
    }

    /// Frames that were cut short, where no connection is played.
    pub(crate) fn cut_short(&self) -> Option<Finding> {
        let whose = match self.cut.iter().min_by_key(|(_, cut)| cut.number) {
            Some(((source, destination), cut)) => {
                let others = match self.cut.len() - 1 {
                    0 => String::new(),
                    others => format!(" and {}", counted(others, "more direction")),
                };
                let [captured, original] = [cut.captured, cut.original].map(u64::from).map(grouped);
                let number = cut.number;
                format!(
                    ", of {source} > {destination}{others}; frame {number} holds {captured} of \
                     its {original} octets"
                )
            }
            None => ", before the ports of a TCP header".to_owned(),
        };
        let (count, first) = (self.cut_frames.count, &self.cut_frames.first);
        let text = format!(
            "cut by a snap length: {}{whose}; capture whole frames (`tcpdump -s 0`)",
            self.cut_frames.count_of("frame")
        );
        (count > 0).then(|| Finding::new("cut_frames", count, first, text))
    }

    /// Frames that were cut short, where others are played.
    pub(crate) fn left_out(&self) -> Option<Finding> {
        let (count, first) = (self.cut_frames.count, &self.cut_frames.first);
        let frames = self.cut_frames.count_of("frame");
        let text =
            format!("{frames} cut by a snap length, of no connection that is played, left out");
        (count > 0).then(|| Finding::new("cut_frames", count, first, text))
    }

    /// What is said of frames that are not played, or that the device drops.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut findings = self.repair.findings();
        let (count, first) = (self.too_long.count, &self.too_long.first);
        if count > 0 {
            let text = format!(
                "{} longer than the {} octets that the device takes: it drops them; without \
                 `--as-captured` they are cut as a card would cut them",
                self.too_long.count_of("frame"),
                grouped(MAX_FRAME_OCTETS as u64)
            );
            findings.push(Finding::new("too_long", count, first, text));
        }
        findings
    }
}
