//! Hostile actions that do not wait until the receivers are idle.
//!
//! Tables that concern no traffic are written in its middle: that must have no effect. And a
//! connection is closed while its segments and FPDUs are in the device. How many of them the device
//! finishes is its own business, so the model, which is always idle, takes that from the hardware:
//! of its decisions for that connection as many as the device made. All else must match exactly:
//!
//! - the device's decisions are the model's first ones;
//! - segments without a decision reach the host as frames;
//! - nothing is written for the connection after the close has returned;
//! - other connections are not affected, then or later.

use super::run::Player;
use crate::play::cut_off::CutOff;
use crate::play::difference::What;
use crate::play::dut::{self, each, Dut};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_capture::segment::Segment;
use rnic_driver::{ConnectionConfig, ConnectionKey, DriverError, QueueId, RegionConfig};

/// Stag indices that no traffic names.
const IDLE_INDICES: std::ops::Range<u32> = 0xfe_0000..0xfe_ffff;
/// Ports of connections that no traffic has.
const IDLE_PORT: u16 = 9;

impl Player<'_> {
    /// Register a region, open a connection, and take both away again.
    pub(super) fn churn(&mut self, generator: &mut ChaCha8Rng) -> Result<bool, DriverError> {
        let region = RegionConfig {
            stag: generator.random_range(IDLE_INDICES) << 8 | generator.random_range(0..256),
            rights: RIGHT_REMOTE_WRITE,
            protection_domain: generator.random(),
            connection: None,
            tagged_offset: generator.random(),
            octets: generator.random_range(0..1 << 40),
            address: generator.random(),
        };
        let address = |octet: u8| ([192, 0, 2, octet], IDLE_PORT).into();
        let connection = ConnectionConfig {
            key: ConnectionKey {
                remote: address(generator.random()),
                local: address(generator.random()),
            },
            sequence_start: generator.random(),
            window: 1,
            seg_ack: generator.random(),
            seg_wnd: generator.random(),
            markers: false,
            crc: true,
            version: 1,
            protection_domain: generator.random(),
            completion_queue: QueueId::default(),
        };
        // What it took in between is of no flow.
        self.moved = true;
        each(&mut self.duts, |dut| dut.register(&region))?;
        let idle = each(&mut self.duts, |dut| dut.open(&connection))?;
        each(&mut self.duts, |dut| dut.close(idle))?;
        each(&mut self.duts, |dut| dut.deregister(region.stag))?;
        Ok(true)
    }

    /// Close the connection of a flow at once.
    pub(super) fn close_at_once(&mut self, flow: usize) -> Result<bool, DriverError> {
        if self.duts.len() < 2 || self.options.conditions.host_ring_is_small() {
            return Ok(false);
        }
        let Some(active) = self.active.remove(&flow) else {
            return Ok(false);
        };
        let connection = active.connection;
        each(&mut self.duts, |dut| dut.close(connection))?;
        self.note(|log, cycle| log.close(cycle, connection));
        let own = self.pieces.iter_mut().filter(|piece| piece.flow == flow);
        own.for_each(|piece| piece.cut_short = true);
        let then = self.left_by(flow);
        self.moved = false;
        let seen = dut::settle(self.duts.iter_mut().map(|dut| &mut **dut as &mut dyn Dut));
        for (seen, tally) in seen.into_iter().zip(&mut self.tallies) {
            tally.take(seen);
        }
        let ends = (self.flows[flow].source, self.flows[flow].destination);
        let is_of_flow = |frame: &[u8]| {
            Segment::of_frame(frame).is_some_and(|segment| {
                segment.ends() == ends && segment.checksum_good && !segment.is_control()
            })
        };
        self.compare_at_this_frame();
        if let [rtl, model] = self.tallies.as_mut_slice() {
            let cut_off = CutOff::take(rtl, model, flow, is_of_flow);
            self.comparison.add_cut_off(cut_off);
            self.comparison.compare(rtl, model);
        }
        let now = self.left_by(flow);
        let what = What::AfterClose;
        self.comparison
            .pair(Some(flow), what, &(then != now), &false);
        self.collect(flow, connection);
        self.close_regions(flow, active)?;
        self.tallies
            .iter_mut()
            .for_each(|tally| tally.close(connection));
        Ok(true)
    }

    /// The hardware's memory of a flow.
    fn left_by(&self, flow: usize) -> Vec<Vec<u8>> {
        let Some(dut) = self.duts.first() else {
            return Vec::new();
        };
        let pieces = self.pieces.iter().filter(|piece| piece.flow == flow);
        pieces
            .map(|piece| dut.read(piece.address, piece.octets))
            .collect()
    }
}
