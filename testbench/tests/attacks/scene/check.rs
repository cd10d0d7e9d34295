//! What is held against an answer: agreement of hardware and model, every octet of memory, counters
//! and completions.

use super::{bystander_alone, Peer, Scene, BYSTANDER, GOOD_SENDS};
use rnic_abi::counters::{Counter, FIRST_REFUSAL};
use rnic_abi::errors::LAYER_MPA;
use rnic_driver::Completion;
use rnic_testbench::docs::security::Answer;
use rnic_testbench::play::dut::Dut;
use rnic_wire::ddp::control::{FLAG_TAGGED, RESERVED_DDP, RESERVED_RDMAP};
use rnic_wire::ddp::{tagged, untagged};

/// An error record, and the octets of the header in it.
type Record = (Completion, Option<Vec<u8>>);

/// The header apart from the record.
fn apart(mut completion: Completion) -> Record {
    let Completion::Error { header, .. } = &mut completion else {
        return (completion, None);
    };
    let octets = header.take().map(|header| header.octets().to_vec());
    (completion, octets)
}

/// The DDP header of a ULPDU of `length` octets, if it is whole; reserved bits are not reported.
fn header(ulpdu: &[u8], length: u16) -> Option<Vec<u8>> {
    let octets = match ulpdu[0] & FLAG_TAGGED != 0 {
        true => tagged::HEADER_OCTETS,
        false => untagged::HEADER_OCTETS,
    };
    (octets <= usize::from(length)).then(|| {
        let mut header = ulpdu[..octets].to_vec();
        header[0] &= !RESERVED_DDP;
        header[1] &= !RESERVED_RDMAP;
        header
    })
}

impl Scene {
    /// Hold both to `answer`.
    pub fn check(&mut self, answer: Answer) {
        self.settle();
        self.check_agreement();
        self.check_memory();
        self.check_counters(answer);
        self.check_completions(answer);
        let pages = self.rtl.pages();
        assert!(self.silent || pages == 0, "{pages} pages are held");
    }

    fn check_agreement(&mut self) {
        let duts: [&mut dyn Dut; 2] = [&mut self.rtl, &mut self.model];
        for (dut, tally) in duts.into_iter().zip(&mut self.tallies) {
            (0..self.peers.len()).for_each(|flow| tally.collect(flow, dut));
            tally.finish(dut.counters(), dut.violations(), dut.cycles());
        }
        let [rtl, model] = &self.tallies;
        self.comparison.compare_results(rtl, model);
        let violations = rtl.violations.iter().chain(&model.violations);
        self.comparison.add_violations(violations);
        let differences = &self.comparison.differences;
        assert_eq!(self.comparison.mismatches, 0, "{differences:#?}");
    }

    /// All expected octets are placed, and no other octet was written, guards included.
    fn check_memory(&self) {
        let duts: [(&str, &dyn Dut); 2] = [("hardware", &self.rtl), ("model", &self.model)];
        for (who, dut) in duts {
            for piece in &self.memory {
                let octets = dut.read(piece.address, piece.expected.len());
                let mut both = octets.iter().zip(&piece.expected);
                let differs = both.position(|(a, b)| a != b);
                let name = piece.name;
                assert_eq!(differs, None, "{who}: octet of {name:x?}, guard included");
            }
        }
    }

    /// The counter of the answer shows it, and no other drop or refusal is counted.
    fn check_counters(&self, answer: Answer) {
        let (named, count) = match answer {
            Answer::Stops(error) => (FIRST_REFUSAL + error as usize - 1, 1),
            Answer::Counts(counter, count) | Answer::Ends(counter, count) => {
                (counter.index(), count)
            }
        };
        let counters = &self.tallies[0].counters;
        let name = counters[named].0.name();
        // What the bystander's own traffic counts is none of the attack's.
        let counted = counters[named].1 - bystander_alone().1[named].1;
        assert_eq!(counted, count, "{name}");
        let is_loss = |counter: Counter| {
            let name = counter.name();
            name.starts_with("drop_") || name.starts_with("refuse_")
        };
        for &(counter, value) in counters {
            let other = counter.index() != named && is_loss(counter);
            assert!(!other || value == 0, "{} {value}", counter.name());
        }
    }

    /// A stopped connection is reported once, with the record of its FPDU; no other connection is.
    fn check_completions(&mut self, answer: Answer) {
        let is_error = |c: &&Completion| matches!(c, Completion::Error { .. });
        let flows = &self.tallies[0].flows;
        let errors = flows.iter().flat_map(|flow| &flow.completions);
        let errors: Vec<Record> = errors.filter(is_error).copied().map(apart).collect();
        let expected = match answer {
            Answer::Counts(..) | Answer::Ends(..) => Vec::new(),
            Answer::Stops(error) => vec![self.record(error.terminate())],
        };
        assert_eq!(errors, expected);
        let received = self.tallies[0].flows[BYSTANDER].completions.len();
        assert_eq!(received, GOOD_SENDS, "the bystander's Sends");
    }

    /// The record of an error at the culprit, its header apart.
    fn record(&mut self, (layer, error_type, code): (u32, u32, u32)) -> Record {
        let Peer {
            connection, sender, ..
        } = &self.peers[self.attacked];
        let culprit = self.culprit.expect("the attack is over");
        let start = sender.fpdus()[culprit].octets.start;
        // A marker may stand before ULPDU_Length.
        let marked = sender.config().markers && start % 512 == 0;
        let at = start + if marked { 4 } else { 0 };
        let length = match self.unread {
            true => [0; 2],
            false => [sender.stream()[at], sender.stream()[at + 1]],
        };
        let length = u16::from_be_bytes(length);
        let header = (layer != LAYER_MPA).then(|| header(&sender.stream()[at + 2..], length));
        let header = header.flatten();
        let record = Completion::Error {
            connection: *connection,
            layer,
            error_type,
            code,
            ulpdu_length: u32::from(length),
            sequence: sender.sequence(start),
            header: None,
        };
        (record, header)
    }
}
