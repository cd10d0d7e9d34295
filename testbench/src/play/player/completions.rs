//! The completion queues that flows use besides the first one, which is there from the beginning.
//!
//! Such a queue is created for the first flow that uses it, and has room for what all of its flows
//! can cause before it is polled: no entry less than the driver asks for, so that entries that are
//! polled late fill it.

use super::flows::queue_log2;
use super::run::Player;
use crate::play::conditions::Condition;
use crate::play::dut::each;
use rnic_abi::limits::{QUEUES, READ_QUEUE};
use rnic_driver::{DriverError, QueueId};

/// log2 of the entries of a queue that counts as small.
const SMALL_LOG2: u32 = 4;

impl Player<'_> {
    /// The completion queue of a flow.
    pub(super) fn completion_queue(&mut self, flow: usize) -> Result<QueueId, DriverError> {
        let queue = self.options.conditions.completion_queue(flow);
        if queue == QueueId::default() {
            return Ok(queue);
        }
        self.meet(Condition::OtherCompletionQueue);
        if !self.completion_queues.insert(queue) {
            return Ok(queue);
        }
        let uses = |flow: &usize| self.options.conditions.completion_queue(*flow) == queue;
        let users = (0..self.flows.len()).filter(uses);
        let entries: u32 = users.map(|flow| self.entries_needed(flow)).sum();
        let entries_log2 = entries.next_power_of_two().ilog2();
        each(&mut self.duts, |dut| {
            dut.create_completion_queue(queue, entries_log2)
        })?;
        if entries_log2 <= SMALL_LOG2 {
            self.meet(Condition::SmallCompletionQueue);
        }
        Ok(queue)
    }

    /// Entries that a flow can cause: one for each buffer and read that its queues hold, and one
    /// for its error.
    fn entries_needed(&self, flow: usize) -> u32 {
        let known = &self.flows[flow];
        let messages = |qn: u32| {
            known
                .messages
                .iter()
                .filter(|message| message.qn == qn)
                .count()
        };
        let untagged = (0..QUEUES as u32).map(|qn| (qn, messages(qn)));
        let queues = untagged.chain([(READ_QUEUE as u32, known.reads.len())]);
        let most = self.options.conditions.queue_entries_log2_max;
        let log2 = |(qn, messages)| queue_log2(qn, messages, self.flows.len()).min(most);
        1 + queues.map(|queue| 1u32 << log2(queue)).sum::<u32>()
    }
}
