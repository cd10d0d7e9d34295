//! What the device says of a connection's TCP state, against the model.

use super::run::Player;
use crate::play::conditions::Condition;
use crate::play::difference::What;
use crate::play::dut::StreamState;
use rnic_driver::Connection;

impl Player<'_> {
    /// Read what a flow leaves in memory.
    pub(super) fn collect(&mut self, flow: usize, connection: Connection) {
        self.compare_state(flow, connection);
        for (dut, tally) in self.duts.iter_mut().zip(&mut self.tallies) {
            tally.collect(flow, dut.as_ref());
        }
    }

    /// Read the state of a connection from every receiver; all are idle.
    fn compare_state(&mut self, flow: usize, connection: Connection) {
        let cut = self.duts.iter().map(|dut| dut.cut_at_window(connection));
        match cut.max().unwrap_or(0) {
            0 => {}
            cut => *self.met.entry(Condition::CutAtWindow).or_default() += cut,
        }
        let states = self.duts.iter_mut().map(|dut| dut.state(connection));
        let states: Vec<Option<StreamState>> = states.collect();
        if let [rtl, model] = states.as_slice() {
            self.comparison.pair(Some(flow), What::TcpState, rtl, model);
        }
    }
}
