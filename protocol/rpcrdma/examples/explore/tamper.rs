//! What is seen of an end at its seam, and errors that are built in there: the ends themselves
//! have no switch for them.
use rpcrdma::fabric::End;
use rpcrdma::place::Place;
use rpcrdma::verbs::{Completion, Limits, Memory, Rights, Verbs, VerbsError, Work};
use rpcrdma::wire::{Caps, Header, Kind, Segment};
use std::cell::RefCell;
use std::collections::VecDeque;

/// An error between an end and the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Break {
    /// The client takes a DONE for complete as it is posted: it costs no credit.
    NoCreditForDone,
    /// The client sends nothing after a grant of 0.
    ZeroGrantBelieved,
    /// The client reads each grant as one more.
    GrantMisread,
    /// The client's revocations do nothing.
    ResultBeforeInvalidation,
    /// The client takes a call's Send for complete as it is posted.
    ResultBeforeSendCompletion,
    /// The client sends each call twice.
    XidTwice,
    /// DONEs do not leave.
    DoneNotSent,
    /// The server posts no receive a second time.
    ReceivesNotPosted,
    /// The server revokes a reply's chunks as soon as its Send has completed.
    FreedBeforeDone,
    /// Replies do not leave.
    ReplyLost,
    /// The client does not learn what a disconnect flushes.
    FlushLost,
    /// The client's chunks stay valid over a disconnect.
    ExposedOverDisconnect,
}

impl Break {
    pub const ALL: [(&'static str, Self); 12] = [
        ("no-credit-for-done", Self::NoCreditForDone),
        ("zero-grant-believed", Self::ZeroGrantBelieved),
        ("grant-misread", Self::GrantMisread),
        ("result-before-invalidation", Self::ResultBeforeInvalidation),
        (
            "result-before-send-completion",
            Self::ResultBeforeSendCompletion,
        ),
        ("xid-twice", Self::XidTwice),
        ("done-not-sent", Self::DoneNotSent),
        ("receives-not-posted", Self::ReceivesNotPosted),
        ("freed-before-done", Self::FreedBeforeDone),
        ("reply-lost", Self::ReplyLost),
        ("flush-lost", Self::FlushLost),
        ("exposed-over-disconnect", Self::ExposedOverDisconnect),
    ];
}

/// A call as its client's seam has seen it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sent {
    pub xid: u32,
    pub handles: Vec<u32>,
    /// Tag of the Send, until it has completed.
    pub tag: Option<u64>,
    pub is_replied: bool,
}

/// What one end has done on this connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ledger {
    pub calls: Vec<Sent>,
    /// DONEs that replies have asked for and that were not sent: each has its call's credit.
    pub dones_owed: usize,
    /// Tags of DONEs whose Send has not completed.
    pub dones: Vec<u64>,
    /// The newest grant; `None` before the first reply.
    pub grant: Option<u32>,
    /// Handles that are valid.
    pub valid: Vec<u32>,
    /// Handles of replies, with the tags of their Sends.
    replies: Vec<(u64, Vec<u32>)>,
    early: VecDeque<Completion>,
    swallowed: Vec<u64>,
    receives: u32,
    pub found: Option<&'static str>,
}

impl Ledger {
    /// Another connection: what is valid stays so.
    pub fn reset(&mut self) {
        let valid = std::mem::take(&mut self.valid);
        *self = Self {
            valid,
            ..Self::default()
        };
    }

    fn in_flight(&self) -> usize {
        self.calls.iter().filter(|call| !call.is_replied).count()
    }

    fn note_call(&mut self, header: &Header<'_>, tag: u64) {
        let most = self.grant.map_or(1, |grant| grant.max(1)) as usize;
        if self.in_flight() + self.dones_owed + self.dones.len() >= most {
            self.found = Some("a Send above the grant");
        }
        if self.calls.iter().any(|call| call.xid == header.xid()) {
            self.found = Some("an XID twice on a connection");
        }
        let reads = header.reads().map(|read| read.segment);
        let handles = reads
            .chain(header.results())
            .map(|segment| segment.handle)
            .collect();
        let sent = Sent {
            xid: header.xid(),
            handles,
            tag: Some(tag),
            is_replied: false,
        };
        self.calls.push(sent);
    }

    fn note_reply(&mut self, message: &[u8]) {
        let Ok(header) = Header::parse(message, &Caps::default()) else {
            return;
        };
        let mut calls = self.calls.iter_mut();
        if let Some(call) = calls.find(|call| call.xid == header.xid()) {
            call.is_replied = true;
            self.grant = Some(header.credits());
            self.dones_owed += usize::from(header.reads().next().is_some());
        }
    }

    /// The client gives out the result of `xid`.
    pub fn note_result(&mut self, xid: u32) {
        let Some(call) = self.calls.iter().find(|call| call.xid == xid) else {
            return;
        };
        if call
            .handles
            .iter()
            .any(|handle| self.valid.contains(handle))
        {
            self.found = Some("a result under a valid STag");
        }
        if call.tag.is_some() {
            self.found = Some("a result before its Send has completed");
        }
    }
}

/// The seam of one end.
pub struct Seam<'a> {
    pub end: End<'a>,
    pub ledger: &'a RefCell<Ledger>,
    pub is_client: bool,
    pub broken: Option<Break>,
    /// The server writes 0 where it grants 1.
    pub zero_grants: bool,
}

impl Seam<'_> {
    fn has(&self, broken: Break) -> bool {
        self.broken == Some(broken)
    }

    fn completion(tag: u64) -> Completion {
        let status = rpcrdma::verbs::Status::Success;
        Completion {
            tag,
            work: Work::Send,
            status,
            octets: 0,
            invalidated: None,
        }
    }

    /// The message of a Send, as far as it is the end's own.
    fn message(&self, pieces: &[Place]) -> Vec<u8> {
        let mut message = Vec::new();
        for &piece in pieces {
            let from = message.len();
            message.resize(from + piece.length as usize, 0);
            self.end.load(piece, &mut message[from..]).expect("inside");
        }
        message
    }

    /// A Send that does not leave, of which the end knows nothing.
    fn swallow(&mut self, tag: u64) -> Result<(), VerbsError> {
        self.ledger
            .borrow_mut()
            .early
            .push_back(Self::completion(tag));
        Ok(())
    }

    fn send_call(&mut self, tag: u64, pieces: &[Place], message: &[u8]) -> Result<(), VerbsError> {
        let header = Header::parse(message, &Caps::default()).expect("a header of ours");
        let is_done = header.kind() == Kind::Done;
        if is_done && self.has(Break::DoneNotSent) {
            return self.swallow(tag);
        }
        let believes_zero = self.ledger.borrow().grant == Some(0);
        if !is_done && believes_zero && self.has(Break::ZeroGrantBelieved) {
            return Ok(());
        }
        self.end.send(tag, pieces, None)?;
        let copies = if !is_done && self.has(Break::XidTwice) {
            2
        } else {
            1
        };
        let mut ledger = self.ledger.borrow_mut();
        match is_done {
            true => {
                ledger.dones_owed = ledger.dones_owed.saturating_sub(1);
                ledger.dones.push(tag);
            }
            false => (0..copies).for_each(|_| ledger.note_call(&header, tag)),
        }
        let is_early = match is_done {
            true => self.has(Break::NoCreditForDone),
            false => self.has(Break::ResultBeforeSendCompletion),
        };
        if is_early {
            ledger.early.push_back(Self::completion(tag));
            ledger.swallowed.push(tag);
        }
        Ok(())
    }

    fn send_reply(
        &mut self,
        tag: u64,
        pieces: &[Place],
        message: &[u8],
        invalidate: Option<u32>,
    ) -> Result<(), VerbsError> {
        let header = Header::parse(message, &Caps::default()).expect("a header of ours");
        if self.has(Break::ReplyLost) {
            return self.swallow(tag);
        }
        if self.zero_grants && header.credits() == 1 {
            let credits = Place {
                offset: pieces[0].offset + 8,
                length: 4,
                ..pieces[0]
            };
            self.end.store(credits, &[0; 4])?;
        }
        let handles: Vec<u32> = header.reads().map(|read| read.segment.handle).collect();
        if !handles.is_empty() {
            self.ledger.borrow_mut().replies.push((tag, handles));
        }
        self.end.send(tag, pieces, invalidate)
    }

    fn note_completion(&mut self, completion: &Completion) {
        let mut ledger = self.ledger.borrow_mut();
        if let Some(handle) = completion.invalidated {
            ledger.valid.retain(|&valid| valid != handle);
        }
        if completion.work != Work::Send {
            return;
        }
        ledger.dones.retain(|&done| done != completion.tag);
        let tagged = |call: &&mut Sent| call.tag == Some(completion.tag);
        ledger
            .calls
            .iter_mut()
            .filter(tagged)
            .for_each(|call| call.tag = None);
        let at = ledger
            .replies
            .iter()
            .position(|(tag, _)| *tag == completion.tag);
        let Some((_, handles)) = at.map(|at| ledger.replies.swap_remove(at)) else {
            return;
        };
        drop(ledger);
        if self.has(Break::FreedBeforeDone) {
            handles.into_iter().for_each(|handle| {
                let _ = self.revoke(handle);
            });
        }
    }
}

impl Memory for Seam<'_> {
    fn store(&mut self, at: Place, octets: &[u8]) -> Result<(), VerbsError> {
        self.end.store(at, octets)
    }

    fn load(&self, at: Place, into: &mut [u8]) -> Result<(), VerbsError> {
        self.end.load(at, into)?;
        // What is taken out of a receive is a message from its beginning.
        if self.is_client && into.len() >= 16 {
            self.ledger.borrow_mut().note_reply(into);
            if self.has(Break::GrantMisread) {
                into[11] += 1;
            }
        }
        Ok(())
    }
}

impl Verbs for Seam<'_> {
    fn limits(&self) -> Limits {
        self.end.limits()
    }

    fn post_receives(&mut self, batch: &[(u64, Place)]) -> Result<(), VerbsError> {
        let is_first = std::mem::replace(&mut self.ledger.borrow_mut().receives, 1) == 0;
        if !is_first && !self.is_client && self.has(Break::ReceivesNotPosted) {
            return Ok(());
        }
        self.end.post_receives(batch)
    }

    fn send(
        &mut self,
        tag: u64,
        pieces: &[Place],
        invalidate: Option<u32>,
    ) -> Result<(), VerbsError> {
        let message = self.message(pieces);
        match self.is_client {
            true => self.send_call(tag, pieces, &message),
            false => self.send_reply(tag, pieces, &message, invalidate),
        }
    }

    fn write(&mut self, tag: u64, source: Place, sink: Segment) -> Result<(), VerbsError> {
        self.end.write(tag, source, sink)
    }

    fn read(&mut self, tag: u64, source: Segment, sink: Place) -> Result<(), VerbsError> {
        self.end.read(tag, source, sink)
    }

    fn expose(&mut self, place: Place, rights: Rights) -> Result<Segment, VerbsError> {
        let segment = self.end.expose(place, rights)?;
        self.ledger.borrow_mut().valid.push(segment.handle);
        Ok(segment)
    }

    fn revoke(&mut self, handle: u32) -> Result<(), VerbsError> {
        // Posting nothing tells whether the connection is over.
        let is_over = self.end.post_receives(&[]).is_err();
        let is_kept = self.is_client
            && (self.has(Break::ResultBeforeInvalidation)
                || self.has(Break::ExposedOverDisconnect) && is_over);
        if is_kept {
            return Ok(());
        }
        self.end.revoke(handle)?;
        self.ledger
            .borrow_mut()
            .valid
            .retain(|&valid| valid != handle);
        Ok(())
    }

    fn poll(&mut self) -> Option<Completion> {
        if let Some(early) = self.ledger.borrow_mut().early.pop_front() {
            return Some(early);
        }
        loop {
            let completion = self.end.poll()?;
            self.note_completion(&completion);
            let mut ledger = self.ledger.borrow_mut();
            let at = ledger
                .swallowed
                .iter()
                .position(|&tag| tag == completion.tag);
            let is_swallowed = completion.work == Work::Send && at.is_some();
            if let (true, Some(at)) = (is_swallowed, at) {
                ledger.swallowed.swap_remove(at);
                continue;
            }
            drop(ledger);
            let is_flushed = completion.status == rpcrdma::verbs::Status::Flushed;
            if is_flushed && self.is_client && self.has(Break::FlushLost) {
                continue;
            }
            return Some(completion);
        }
    }

    fn close(&mut self) {
        self.end.close();
    }
}
