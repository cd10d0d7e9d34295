//! Ports that the room and its acceptance have in common, compared with the model.
use super::model::{Event, Host, Model, Reported};
use super::reports::Reports;
use crate::messages::{Accepted, HostFrame, PageChain, SegmentEvent, TableRequest};
use crate::receive::tcp::decision::COUNTS;
use rnic_hdl_tools::testkit::{Pace, StreamDriver, StreamMonitor};
use rust_hdl::prelude::*;

/// A table operation, what it reads, and the bits of it that count.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub request: TableRequest,
    reads: u128,
    mask: u128,
}

/// What leaves, what was seen of it, and the table operations.
#[derive(Default)]
pub struct Ports {
    pub accepted: StreamMonitor<Accepted>,
    pub host_frame: StreamMonitor<HostFrame>,
    pub page_release: StreamMonitor<PageChain>,
    pub operations: StreamDriver<Operation>,
    pub counted: [u64; COUNTS],
    pub reports: Reports,
    /// The connection that MPA was asked about last.
    pub asked: Option<u64>,
}

/// Compares what leaves `$uut` in this cycle with `$model`; sinks are ready at `$pace`.
macro_rules! check_outputs {
    ($uut:expr, $ports:expr, $model:expr, $pace:expr, $random:expr) => {{
        let (uut, ports, random) = (&mut *$uut, &mut $ports, &mut *$random);
        ports.set_pace($pace);
        let (data, valid, ready) = (&uut.accepted, &uut.accepted_valid, &mut uut.accepted_ready);
        let accepted = ports.accepted.watch(data, valid, ready, random);
        let (data, valid) = (&uut.host_frame, &uut.host_frame_valid);
        let ready = &mut uut.host_frame_ready;
        let host = ports.host_frame.watch(data, valid, ready, random);
        let (data, valid) = (&uut.page_release, &uut.page_release_valid);
        let ready = &mut uut.page_release_ready;
        let released = ports.page_release.watch(data, valid, ready, random);
        ports.compare(&mut $model, accepted, host, released);
        let event = uut
            .segment_event_valid
            .val()
            .then(|| uut.segment_event.val());
        ports.count(&mut $model, event, uut.counts.val());
        let report = uut.report_valid.val().then(|| uut.report.val());
        ports.reports.report(&mut $model, report);
        let context = uut
            .event_context_valid
            .val()
            .then(|| uut.event_context.val());
        ports.reports.context(context);
        let asked = ports.reports.ask(&$model, random);
        uut.event_read.next = asked.is_some();
        uut.event_connection.next = asked.unwrap_or(0).into();
        rnic_hdl_tools::testkit::settle(uut);
        ports.reports.taken(uut.event_read_taken.val());
    }};
}
pub(super) use check_outputs;

impl Ports {
    pub fn set_pace(&mut self, pace: Pace) {
        self.accepted.pace = pace;
        self.host_frame.pace = pace;
        self.page_release.pace = pace;
    }

    pub fn compare(
        &mut self,
        model: &mut Model,
        accepted: Option<Accepted>,
        host: Option<HostFrame>,
        released: Option<PageChain>,
    ) {
        match accepted {
            Some(message) if message.queries => self.asked = Some(message.connection.to_u64()),
            Some(message) => assert_eq!(Some(Reported::from(message)), model.reported.pop_front()),
            None => {}
        }
        if let Some(host) = host {
            assert_eq!(Some(Host::from(host)), model.host.pop_front());
        }
        if let Some(chain) = released {
            let pages = (chain.head_page.to_u64(), chain.tail_page.to_u64());
            assert_eq!(Some(pages), model.released.pop_front());
        }
    }

    pub fn count<const N: usize>(
        &mut self,
        model: &mut Model,
        event: Option<SegmentEvent>,
        counts: Bits<N>,
    ) {
        if let Some(event) = event {
            assert_eq!(Some(Event::from(event)), model.events.pop_front());
        }
        for (bit, counted) in self.counted.iter_mut().enumerate() {
            *counted += u64::from(counts.get_bit(bit));
        }
    }

    /// An operation that is done has read what it must; `table_data` is 0 else.
    pub fn check_table(&mut self, done: bool, data: Bits<128>) {
        let read = data.to_u128();
        match self.operations.advance(done) {
            Some(operation) => {
                let differs = (read ^ operation.reads) & operation.mask;
                assert_eq!(differs, 0, "{read:x} for {operation:x?}");
            }
            None => {
                assert!(!done, "done without a request");
                assert_eq!(read, 0, "table_data must be zero without table_done");
            }
        }
    }

    /// Queues an operation that reads `reads` in the bits of `mask`.
    pub fn queue(
        &mut self,
        operation: u32,
        table: u32,
        index: u64,
        data: Bits<320>,
        (reads, mask): (u128, u128),
    ) {
        let request = TableRequest {
            operation: u64::from(operation).into(),
            table: u64::from(table).into(),
            index: index.into(),
            data,
        };
        let operation = Operation {
            request,
            reads,
            mask,
        };
        self.operations.push(operation);
    }
}
