//! What an administrator sees of connections, through a monitor.

use super::engine::Engine;
use super::live::Live;
use crate::device::access::{Bar, Dma};
use crate::device::ids::ConnectionId;
use crate::monitor::{EndpointReport, Monitor};
use std::io;
use std::sync::Arc;

impl Live {
    /// The connection as its endpoint has it.
    fn report(&self) -> EndpointReport {
        let tcp = self.tcp.statistics();
        let failure = self.failure.map(|failure| failure.to_string());
        let lost = self.lost.map(|lost| lost.to_string());
        let reads_out = self
            .pair
            .as_ref()
            .map_or(0, |pair| pair.machine.reads_out());
        EndpointReport {
            state: format!("{:?}", tcp.state),
            srtt_us: tcp.srtt_us,
            rto_us: tcp.rto_us,
            congestion_octets: tcp.congestion_octets,
            flying_octets: tcp.flying_octets,
            segments: tcp.sent.segments,
            retransmitted_segments: tcp.sent.retransmitted_segments,
            sends_posted: self.sends.len() as u32,
            reads_out: reads_out as u32,
            // TCP knows by what it was lost.
            last_error: lost.or(failure),
        }
    }
}

impl<B: Bar, D: Dma> Engine<B, D> {
    /// As [`Monitor::serve`], with what the endpoint does for its connections.
    pub(super) fn serve_monitor(&self, monitor: &mut Monitor) -> io::Result<()> {
        let core = Arc::clone(&self.core);
        let mut ledger = core.lock();
        let report = |number: ConnectionId| {
            let key = self.key_of(number)?;
            self.lives.get(&key).map(Live::report)
        };
        monitor.serve_with(ledger.device(), &report)
    }
}
