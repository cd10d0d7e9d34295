//! Outputs of a record, and the state it changes.
use super::*;

impl Model {
    /// Checks the record and changes the tables.
    pub fn judge(&mut self, record: &Record) -> Outcome {
        let mut outcome = Outcome::default();
        let mut command = Command {
            kind: PlaceKind::Discard,
            beats: if record.kind == FpduKind::Check {
                0
            } else {
                record.beats
            },
            ..Command::default()
        };
        if record.kind == FpduKind::Host {
            command.kind = PlaceKind::Host;
            command.octets = record.ulpdu_length;
            command.cqe[0] = (record.head_page | record.tail_page << 16) as u32;
            outcome.command = Some(command);
            return outcome;
        }
        if record.kind == FpduKind::OutOfOrder {
            return self.judge_ooo(record, command);
        }
        let is_check = record.kind == FpduKind::Check;
        // Nothing is left in the placement buffer: a command only carries a CQE.
        let is_replayed = [FpduKind::Deliver, FpduKind::Fault].contains(&record.kind);
        let context = self.context(record.connection);
        if context.in_error {
            outcome.command = (!is_check && !is_replayed).then_some(command);
            return outcome;
        }
        let header = self.header(record);
        let mut error = match &header {
            Ok(header) => self.refusal(record, header).map_or(0, |error| error as u64),
            Err(error) => *error,
        };
        let has_entry = |header: &Header| header.last && (!header.tagged || header.opcode == 2);
        let is_full = self.completion_queues[context.completion_queue].is_full();
        let overflows = is_full && !is_check && header.as_ref().is_ok_and(has_entry);
        if error == 0 && overflows {
            error = CqOverflow as u64;
        }
        // A complete Terminate ends the stream.
        let is_terminate = |header: &Header| !header.tagged && header.qn == 2 && header.last;
        let ends = error != 0 || (!is_check && header.as_ref().is_ok_and(is_terminate));
        let is_last_word = Context {
            first: false,
            in_error: ends,
            ..context
        };
        self.contexts.insert(record.connection, is_last_word);
        outcome.error = error;
        outcome.first = (context.first && error == 0).then_some(record.connection);
        outcome.stopped = ends.then_some(record.connection);
        let mut event = Event {
            connection: record.connection,
            sequence: record.sequence,
            ulpdu_length: record.ulpdu_length,
            error,
            opcode: header.as_ref().map_or(0, |header| header.opcode),
            opcode_valid: header.is_ok(),
            placed_octets: 0,
            placed_ooo: record.kind == FpduKind::Deliver,
        };
        if error != 0 {
            if !is_full {
                self.stop(record, &header, error, &mut command);
            }
            let is_due = command.complete || !(is_check || is_replayed);
            outcome.command = is_due.then_some(command);
            outcome.event = Some(event);
        } else if !is_check {
            if let Ok(header) = &header {
                self.accept(record, header, &mut command);
            }
            event.placed_octets = command.octets;
            if is_replayed {
                command = Command {
                    complete: command.complete,
                    cqe: command.cqe,
                    ..Command::default()
                };
            }
            outcome.command = (command.complete || !is_replayed).then_some(command);
            outcome.event = Some(event);
        }
        let queue = context.completion_queue;
        if let Some(command) = outcome.command.as_mut().filter(|command| command.complete) {
            let completions = &mut self.completion_queues[queue];
            (command.queue, command.cqe[7]) = (queue as u64, completions.word_7());
            completions.numbered += 1;
            let numbered = u64::from(completions.numbered);
            outcome.report = Some(Report::Numbered(queue as u64, numbered));
        } else if error != 0 {
            outcome.report = Some(Report::Lost(queue as u64));
        }
        outcome.counted = outcome.event.is_some() && record.crc_good && record.marker_good;
        outcome
    }

    fn stop(
        &self,
        record: &Record,
        header: &Result<Header, u64>,
        error: u64,
        command: &mut Command,
    ) {
        let known = rnic_abi::errors::ALL
            .iter()
            .find(|known| **known as u64 == error);
        let (layer, error_type, code) = known.expect("a known error").terminate();
        let (opcode, qn) = match header {
            Ok(header) if header.tagged => (header.opcode, 0),
            Ok(header) => (header.opcode, header.qn & 3),
            Err(_) => (0, 0),
        };
        command.complete = true;
        command.cqe[0] = cqe::KIND_ERROR | (opcode << 4 | qn << 8 | record.connection << 16) as u32;
        command.cqe[1] = layer | error_type << 4 | code << 8 | (record.ulpdu_length << 16) as u32;
        command.cqe[2] = record.sequence;
        if let Ok(header) = header {
            let bits =
                |octet: usize, low: u32, mask: u8| u32::from(record.header[octet] >> low & mask);
            let head = bits(2, 7, 1) | bits(2, 6, 1) << 1 | bits(2, 0, 3) << 2 | bits(3, 6, 3) << 4;
            command.cqe[0] |= head << 10;
            let word = |at: usize| number(&record.header[at..at + 4]) as u32;
            let mo = if header.tagged { 0 } else { word(16) };
            command.cqe[3..7].copy_from_slice(&[word(4), word(8), word(12), mo]);
        }
    }

    /// Places the payload, if there is any.
    pub(super) fn place(&self, record: &Record, header: &Header, command: &mut Command) {
        if header.payload == 0 {
            return;
        }
        command.kind = PlaceKind::Write;
        command.octets = header.payload;
        command.skip_words = if header.tagged { 4 } else { 5 };
        command.address = if header.tagged {
            let region = self.region(header.stag).expect("checked").1;
            header.to.wrapping_add(region.bus_offset)
        } else {
            let queue = self.queue(record.connection, header.qn);
            let (address, _) = self.buffer(&queue, header.msn).1;
            address.wrapping_add(header.mo)
        };
    }

    fn accept(&mut self, record: &Record, header: &Header, command: &mut Command) {
        let head = |kind: u32, qn: u64| {
            kind | (header.opcode << 4 | qn << 8 | record.connection << 16) as u32
        };
        self.place(record, header, command);
        if header.tagged {
            if header.opcode == 2 {
                self.accept_response(record, header, command, head(cqe::KIND_READ_RESPONSE, 0));
            }
            return;
        }
        let queue = self.queue(record.connection, header.qn);
        let entry = self.buffer(&queue, header.msn).0;
        if header.last {
            let invalidates = matches!(header.opcode, 4 | 6);
            command.complete = true;
            command.cqe = [
                head(cqe::KIND_RECEIVE, header.qn),
                header.msn,
                (header.mo + header.payload) as u32,
                if invalidates { header.stag } else { 0 },
                record.sequence_end,
                entry as u32,
                0,
                0,
            ];
            let queue = self.queues.get_mut(&(record.connection << 2 | header.qn));
            queue.expect("an open queue").expected = header.msn.wrapping_add(1);
            if invalidates {
                let region = self.region(header.stag).expect("checked").0;
                self.regions.get_mut(&region).expect("checked").valid = false;
            }
        }
    }

    /// The read moves on by the payload, and ends with the last segment.
    fn accept_response(
        &mut self,
        record: &Record,
        header: &Header,
        command: &mut Command,
        word_0: u32,
    ) {
        let (entry, read) = self.oldest_read(record.connection).expect("checked");
        let end = header.to.wrapping_add(header.payload);
        if header.last {
            command.complete = true;
            command.cqe = [
                word_0,
                header.stag,
                end as u32,
                (end >> 32) as u32,
                record.sequence_end,
                entry as u32,
                0,
                0,
            ];
            let queue = self.queues.get_mut(&(record.connection << 2 | 3));
            let queue = queue.expect("an open queue");
            queue.expected = queue.expected.wrapping_add(1);
        } else if header.payload > 0 {
            let left = Read {
                to: end,
                octets: read.octets - header.payload as u32,
                ..read
            };
            self.pool.insert(entry, left.words());
        }
    }
}
