//! What happens to requests in flight, one step at a time.
use super::choice::Choice;
use super::id::EndId;
use super::link::{Operation, Request};
use super::Fabric;
use crate::place::Place;
use crate::verbs::{Completion, Rights, Status, Work};
use crate::wire::Segment;

/// Requests after the oldest among which Writes are placed early.
const EARLY: usize = 8;

/// A digest of octets, eight at a time.
fn digest(octets: &[u8], seed: u64) -> u64 {
    octets.chunks(8).fold(seed, |digest, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let mixed = (digest ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    })
}

impl Fabric {
    /// Every step that can be taken now, into `choices`.
    pub fn choices(&self, choices: &mut Vec<Choice>) {
        choices.clear();
        for index in 0..self.links.len() as u32 {
            self.choices_of(EndId(index << 1), choices);
            self.choices_of(EndId(index << 1 | 1), choices);
        }
    }

    fn choices_of(&self, end: EndId, choices: &mut Vec<Choice>) {
        let (link, side) = end.parts();
        let side = &self.links[link].sides[side];
        for (nth, request) in side.posted.iter().enumerate().take(EARLY) {
            let early = matches!(
                request.operation,
                Operation::Write {
                    is_placed: false,
                    ..
                }
            );
            if nth == 0 {
                choices.push(Choice::Deliver(end));
            } else if early {
                choices.push(Choice::Place(end, nth));
            }
        }
        if !side.unacked.is_empty() {
            choices.push(Choice::Acknowledge(end));
        }
        if !side.reads.is_empty() {
            choices.push(Choice::Respond(end));
        }
    }

    /// Take one step by the seed, with the faults of the settings. False if none can be taken.
    pub fn step(&mut self) -> bool {
        let mut choices = std::mem::take(&mut self.choices);
        self.choices(&mut choices);
        let choice = match choices.len() {
            0 => None,
            count => Some(choices[self.random.below(count)]),
        };
        self.choices = choices;
        let Some(choice) = choice else {
            return false;
        };
        self.take(choice);
        if self.random.one_in(self.settings.faults.cut_in) {
            self.links[choice.end().parts().0].close();
        }
        true
    }

    /// Take steps in order, each way, until none is left.
    pub fn run(&mut self) {
        for index in 0..self.links.len() as u32 {
            while self.run_side(EndId(index << 1)) | self.run_side(EndId(index << 1 | 1)) {}
        }
    }

    fn run_side(&mut self, end: EndId) -> bool {
        let (link, side) = end.parts();
        let mut is_moved = false;
        while !self.links[link].sides[side].posted.is_empty() {
            self.take(Choice::Deliver(end));
            is_moved = true;
        }
        while !self.links[link].sides[side].unacked.is_empty() {
            self.take(Choice::Acknowledge(end));
            is_moved = true;
        }
        while !self.links[link].sides[side].reads.is_empty() {
            self.take(Choice::Respond(end));
            is_moved = true;
        }
        is_moved
    }

    /// Take one step of [`Fabric::choices`]; one that cannot be taken changes nothing.
    pub fn take(&mut self, choice: Choice) {
        match choice {
            Choice::Place(end, nth) => self.place(end, nth),
            Choice::Deliver(end) => self.deliver(end),
            Choice::Acknowledge(end) => self.acknowledge(end),
            Choice::Respond(end) => self.respond(end),
        }
    }

    fn place(&mut self, end: EndId, nth: usize) {
        let (link, side) = end.parts();
        let request = self.links[link].sides[side].posted.get(nth).copied();
        let Some(Request {
            operation:
                Operation::Write {
                    source,
                    sink,
                    is_placed: false,
                },
            ..
        }) = request
        else {
            return;
        };
        if !self.write(end, source, sink) {
            return self.links[link].close();
        }
        let mut request = Request {
            tag: 0,
            operation: Operation::Write {
                source,
                sink,
                is_placed: true,
            },
            digest: 0,
        };
        request.digest = self.digest(end, &request);
        let posted = &mut self.links[link].sides[side].posted[nth];
        request.tag = posted.tag;
        *posted = request;
    }

    fn deliver(&mut self, end: EndId) {
        let (link, side) = end.parts();
        let Some(mut request) = self.links[link].sides[side].posted.pop_front() else {
            return;
        };
        let is_right = match request.operation {
            Operation::Send {
                pieces,
                count,
                invalidate,
            } => self.receive(end, &pieces[..count], invalidate),
            Operation::Write {
                source,
                sink,
                is_placed,
            } => is_placed || self.write(end, source, sink),
            Operation::Read { source, .. } => self.accept_read(end, source),
        };
        if let Operation::Read { .. } = request.operation {
            self.links[link].sides[side].reads.push_back(request);
        } else {
            if !matches!(
                request.operation,
                Operation::Write {
                    is_placed: true,
                    ..
                }
            ) {
                request.digest = self.digest(end, &request);
            }
            self.links[link].sides[side].unacked.push_back(request);
        }
        if !is_right {
            self.links[link].close();
        }
    }

    /// Of the octets that a Send or Write takes from the host of `end`; 0 if nobody looks at it.
    fn digest(&self, end: EndId, request: &Request) -> u64 {
        let host = &self.hosts[self.host_of(end)];
        match (&request.operation, self.settings.watches_sources) {
            (Operation::Send { pieces, count, .. }, true) => {
                let pieces = pieces[..*count].iter();
                pieces.fold(1, |sum, &piece| digest(host.octets(piece), sum))
            }
            (Operation::Write { source, .. }, true) => digest(host.octets(*source), 1),
            _ => 0,
        }
    }

    /// Copy from the memory of one host to another's.
    fn transfer(&mut self, from: (usize, Place), to: (usize, Place)) {
        let (low, high) = self.hosts.split_at_mut(from.0.max(to.0));
        let (source, sink) = match from.0 < to.0 {
            true => (&low[from.0], &mut high[0]),
            false => (&high[0], &mut low[to.0]),
        };
        sink.octets_mut(to.1).copy_from_slice(source.octets(from.1));
    }

    /// A Send of `end` meets the peer's next receive.
    fn receive(&mut self, end: EndId, pieces: &[Place], invalidate: Option<u32>) -> bool {
        let (from, peer) = (self.host_of(end), end.peer());
        let (link, side) = peer.parts();
        let host = self.host_of(peer);
        let Some((tag, mut into)) = self.links[link].sides[side].receives.pop_front() else {
            self.hosts[host].counters.missing_receives += 1;
            return false;
        };
        let octets: u64 = pieces.iter().map(|piece| u64::from(piece.length)).sum();
        let mut completion = Completion {
            tag,
            work: Work::Receive,
            status: Status::Flushed,
            octets: 0,
            invalidated: None,
        };
        let is_short = octets > u64::from(into.length);
        let is_refused = |refused: Result<(), _>| refused.is_err();
        if is_short {
            self.hosts[host].counters.short_receives += 1;
        } else if invalidate
            .is_some_and(|handle| is_refused(self.hosts[host].invalidate(handle, peer.0)))
        {
            self.hosts[host].counters.refused_accesses += 1;
        } else {
            for &piece in pieces {
                into.length = piece.length;
                self.transfer((from, piece), (host, into));
                into.offset += u64::from(piece.length);
            }
            completion.status = Status::Success;
            completion.octets = octets as u32;
            completion.invalidated = invalidate;
            self.hosts[host].counters.sends += 1;
            self.hosts[host].counters.send_octets += octets;
        }
        self.links[link].sides[side]
            .completions
            .push_back(completion);
        completion.status == Status::Success
    }

    /// A Write of `end` reaches the peer's memory.
    fn write(&mut self, end: EndId, source: Place, sink: Segment) -> bool {
        let (from, to) = (self.host_of(end), self.host_of(end.peer()));
        let host = &mut self.hosts[to];
        // A Write of nothing names no memory; RFC 5040 section 5.1 lets it pass unchecked.
        if sink.length == 0 {
            host.counters.writes += 1;
            return true;
        }
        let Ok(place) = host.reach(sink, Rights::Write, end.peer().0) else {
            host.counters.refused_accesses += 1;
            return false;
        };
        host.counters.writes += 1;
        host.counters.write_octets += u64::from(place.length);
        if self.settings.moves_payload {
            self.transfer((from, source), (to, place));
        }
        true
    }

    /// A Read Request of `end` reaches the peer: what it names is checked now, and again when it
    /// is answered.
    fn accept_read(&mut self, end: EndId, source: Segment) -> bool {
        let (link, side) = end.parts();
        let queued = self.links[link].sides[side].reads.len() as u32;
        let host = self.host_of(end.peer());
        let host = &mut self.hosts[host];
        if queued >= self.settings.reads {
            host.counters.excess_reads += 1;
            return false;
        }
        let is_right = source.length == 0 || host.reach(source, Rights::Read, end.peer().0).is_ok();
        host.counters.refused_accesses += u64::from(!is_right);
        is_right
    }

    fn acknowledge(&mut self, end: EndId) {
        let (link, side) = end.parts();
        let Some(request) = self.links[link].sides[side].unacked.pop_front() else {
            return;
        };
        if self.digest(end, &request) != request.digest {
            let host = self.host_of(end);
            self.hosts[host].counters.changed_sources += 1;
        }
        let completions = &mut self.links[link].sides[side].completions;
        completions.push_back(request.completion(Status::Success));
    }

    fn respond(&mut self, end: EndId) {
        let (link, side) = end.parts();
        let Some(request) = self.links[link].sides[side].reads.pop_front() else {
            return;
        };
        let Operation::Read { source, sink } = request.operation else {
            unreachable!("only Reads are queued here");
        };
        let (to, from) = (self.host_of(end), self.host_of(end.peer()));
        let reached = self.hosts[from].reach(source, Rights::Read, end.peer().0);
        let is_right = match reached {
            Ok(place) => {
                if self.settings.moves_payload {
                    self.transfer((from, place), (to, sink));
                }
                true
            }
            Err(_) => source.length == 0,
        };
        if !is_right {
            self.hosts[from].counters.refused_accesses += 1;
            self.links[link].sides[side].reads.push_front(request);
            return self.links[link].close();
        }
        self.hosts[from].counters.reads += 1;
        self.hosts[from].counters.read_octets += u64::from(source.length);
        let side = &mut self.links[link].sides[side];
        side.reads_outstanding -= 1;
        side.completions
            .push_back(request.completion(Status::Success));
    }
}
