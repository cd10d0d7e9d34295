//! What the device says of a connection's TCP state, and what it said in events, against the model.

use super::run::Player;
use crate::play::conditions::Condition;
use crate::play::difference::What;
use crate::play::dut::StreamState;
use rnic_driver::{ConnectionId, Event};

impl Player<'_> {
    /// Read what a flow leaves in memory.
    pub(super) fn collect(&mut self, flow: usize, connection: ConnectionId) {
        for (dut, tally) in self.duts.iter_mut().zip(&mut self.tallies) {
            tally.take_events(&dut.finish_events());
        }
        self.compare_state(flow, connection);
        for (dut, tally) in self.duts.iter_mut().zip(&mut self.tallies) {
            tally.collect(flow, dut.as_ref());
        }
    }

    /// Read the state of a connection from every receiver; all are idle.
    fn compare_state(&mut self, flow: usize, connection: ConnectionId) {
        let cut = self.duts.iter().map(|dut| dut.cut_at_window(connection));
        match cut.max().unwrap_or(0) {
            0 => {}
            cut => *self.met.entry(Condition::CutAtWindow).or_default() += cut,
        }
        let states = self.duts.iter_mut().map(|dut| dut.state(connection));
        let states: Vec<Option<StreamState>> = states.collect();
        if let [rtl, model] = states.as_slice() {
            self.comparison.pair(Some(flow), What::TcpState, rtl, model);
            // Of a connection that was closed in mid-traffic the model knows nothing any more.
            if model.is_some() {
                let events = &self.tallies[0].flows[flow].events;
                // Of which segments an event has the highest SEG.ACK depends on the cycle.
                let without = |event: Event| Event {
                    seg_ack: 0,
                    seg_wnd: 0,
                    ..event
                };
                let found = events.all().map(without);
                let expected = self.duts[1].expected_events(connection).map(without);
                self.comparison
                    .pair(Some(flow), What::Events, &found, &expected);
                let segments = self.duts[1].acknowledged(connection);
                let unexplained = events.unexplained(&segments);
                self.comparison
                    .pair(Some(flow), What::Events, &unexplained, &None);
            }
        }
    }
}
