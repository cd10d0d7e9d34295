//! What the device says of a connection's TCP state, against the model.

use super::Player;
use crate::play::conditions::Condition;
use crate::play::difference::What;
use crate::play::dut::StreamState;
use rnic_driver::Connection;

impl Player<'_> {
    /// Read the state of a connection from every receiver; all are at rest.
    pub(super) fn compare_state(&mut self, flow: usize, connection: Connection) {
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
