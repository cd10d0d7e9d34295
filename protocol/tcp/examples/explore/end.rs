//! One end of the explored pair: a connection with a small application, and the invariants of what
//! leaves it. With an error built in, to show that the invariants notice.
use rnic_tcp::{
    Connection, Event, Head, Lost, Outgoing, Output, Record, Segment, SeqNumber, Settings, State,
};

/// Errors that can be built in, between the connection and what it is connected to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Break {
    /// Acknowledge an octet more than has arrived.
    AckAhead,
    /// Report a record as acknowledged once it has left.
    AckedEarly,
    /// Report a record twice.
    AckedTwice,
    /// Take back a part of the window.
    EdgeLeft,
    /// Send no FIN again.
    FinOnce,
    /// Deliver an octet twice.
    OctetsTwice,
    /// Send a record again an octet shorter.
    OtherBounds,
    /// Let no time pass.
    NoTimer,
}

impl Break {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Self); 8] = [
        ("ack-ahead", Self::AckAhead),
        ("acked-early", Self::AckedEarly),
        ("acked-twice", Self::AckedTwice),
        ("edge-left", Self::EdgeLeft),
        ("fin-once", Self::FinOnce),
        ("octets-twice", Self::OctetsTwice),
        ("other-bounds", Self::OtherBounds),
        ("no-timer", Self::NoTimer),
    ];
}

/// Octets of each record: a segment, so that the congestion window counts them one by one.
pub const RECORD_OCTETS: u32 = 64;

#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub struct Wire {
    pub head: Head,
    pub payload: Vec<u8>,
}

/// What went wrong.
pub type Finding = String;

#[derive(Clone, Debug, Hash)]
pub struct End {
    pub side: usize,
    pub tcp: Option<Connection>,
    first: SeqNumber,
    records: u32,
    pushed: u32,
    acked: u32,
    received: u32,
    closed: bool,
    pub last_event: Option<Event>,
    sent_octets: u32,
    sent_fins: u32,
    ack: Option<SeqNumber>,
    edge: Option<SeqNumber>,
}

fn octet(side: usize, at: u32) -> u8 {
    (at * 31 + 7 + 101 * side as u32) as u8
}

impl End {
    pub fn new(side: usize, first: SeqNumber, records: u32) -> Self {
        Self {
            side,
            tcp: None,
            first,
            records,
            pushed: 0,
            acked: 0,
            received: 0,
            closed: false,
            last_event: None,
            sent_octets: 0,
            sent_fins: 0,
            ack: None,
            edge: None,
        }
    }

    /// A segment arrives, at an end that listens if it has no connection yet.
    pub fn arrive(&mut self, wire: &Wire, settings: Settings, now_us: u64) -> Result<(), Finding> {
        let segment = Segment {
            head: wire.head,
            payload: &wire.payload,
        };
        match &mut self.tcp {
            Some(tcp) => tcp.on_segment(&segment, now_us),
            None => {
                let accepted = Connection::accept(settings, &segment, self.first - 1, now_us);
                self.tcp = accepted.map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// Everything that the end has to send.
    pub fn pump(&mut self, broken: Option<Break>, now_us: u64) -> Result<Vec<Wire>, Finding> {
        let mut leaving = Vec::new();
        loop {
            self.run_application(broken)?;
            let Some(tcp) = &mut self.tcp else {
                return Ok(leaving);
            };
            match tcp.poll(now_us) {
                None => return Ok(leaving),
                Some(Output::Event(event)) => self.last_event = Some(event),
                Some(Output::Acked(id)) => self.on_acked(id as u32, broken)?,
                Some(Output::Segment(outgoing)) => leaving.extend(self.leave(&outgoing, broken)?),
            }
            if leaving.len() > 100 {
                return Err("no end of segments".into());
            }
        }
    }

    fn on_acked(&mut self, id: u32, broken: Option<Break>) -> Result<(), Finding> {
        let again = broken == Some(Break::AckedTwice) && id == 1;
        for _ in 0..=u32::from(again) {
            if id != self.acked {
                return Err(format!("record {id} acknowledged, not {}", self.acked));
            }
            self.acked += 1;
        }
        Ok(())
    }

    fn run_application(&mut self, broken: Option<Break>) -> Result<(), Finding> {
        let Some(tcp) = &mut self.tcp else {
            return Ok(());
        };
        while self.pushed < self.records && tcp.room() > 0 {
            let id = u64::from(self.pushed);
            let octets = RECORD_OCTETS;
            if tcp.push(Record { id, octets }).is_err() {
                break;
            }
            self.pushed += 1;
        }
        let mut buffer = [0; 400];
        let count = tcp.read(&mut buffer);
        let twice = broken == Some(Break::OctetsTwice) && self.received > 0;
        for &found in buffer[..count]
            .iter()
            .chain(&buffer[..usize::from(twice && count > 0)])
        {
            if found != octet(1 - self.side, self.received) {
                return Err(format!("octet {} is not that of the stream", self.received));
            }
            self.received += 1;
        }
        let peer_closed = !matches!(
            tcp.state(),
            State::SynSent | State::SynReceived | State::Established
        );
        if self.pushed == self.records && !self.closed && (self.side == 0 || peer_closed) {
            self.closed = true;
            tcp.close();
        }
        Ok(())
    }

    /// A segment leaves; `None` if the error that is built in swallows it.
    fn leave(
        &mut self,
        outgoing: &Outgoing,
        broken: Option<Break>,
    ) -> Result<Option<Wire>, Finding> {
        let mut head = outgoing.head;
        if head.flags.fin {
            self.sent_fins += 1;
            if broken == Some(Break::FinOnce) && self.sent_fins > 1 {
                return Ok(None);
            }
        }
        if head.flags.ack && !head.flags.rst {
            if broken == Some(Break::AckAhead) && self.received > 60 {
                head.ack += 1;
            }
            if broken == Some(Break::EdgeLeft) && self.received > 60 {
                head.window -= 200;
            }
            self.verify_ack(&head)?;
        }
        let mut payload = Vec::new();
        if let Some(piece) = outgoing.piece {
            let begin = piece.id as u32 * RECORD_OCTETS + piece.offset_octets;
            let again = begin < self.sent_octets;
            let cut = u32::from(broken == Some(Break::OtherBounds) && again);
            let octets = piece.octets - cut;
            if head.seq != self.first + begin || octets != RECORD_OCTETS {
                return Err(format!("{octets} octets at {begin}: other bounds"));
            }
            if !again {
                self.verify_room()?;
            }
            self.sent_octets = self.sent_octets.max(begin + octets);
            if broken == Some(Break::AckedEarly) && piece.id == 2 {
                self.on_acked(2, broken)?;
            }
            payload.extend((begin..begin + octets).map(|at| octet(self.side, at)));
        }
        Ok(Some(Wire { head, payload }))
    }

    fn verify_ack(&mut self, head: &Head) -> Result<(), Finding> {
        let edge = head.ack + u32::from(head.window);
        if self.ack.is_some_and(|before| head.ack.is_before(before)) {
            return Err("an acknowledgement moves back".into());
        }
        if self.edge.is_some_and(|before| edge.is_before(before)) {
            return Err("the right edge moves left".into());
        }
        (self.ack, self.edge) = (Some(head.ack), Some(edge));
        Ok(())
    }

    /// What leaves for the first time is within the peer's window, and within the congestion window
    /// but for a segment alone.
    fn verify_room(&self) -> Result<(), Finding> {
        let statistics = self.tcp.as_ref().map(Connection::statistics);
        let fits = statistics.is_some_and(|statistics| {
            let flying = statistics.flying_octets;
            let alone = flying == u64::from(RECORD_OCTETS);
            flying <= u64::from(statistics.peer_window_octets)
                && (flying <= statistics.congestion_octets || alone)
        });
        if fits {
            Ok(())
        } else {
            Err(format!("beyond a window: {statistics:?}"))
        }
    }

    /// Records that are reported as acknowledged have been read by `peer`.
    pub fn verify_acked(&self, peer: &Self) -> Result<(), Finding> {
        if self.acked * RECORD_OCTETS > peer.received {
            return Err(format!(
                "{} acknowledged, {} octets read",
                self.acked, peer.received
            ));
        }
        Ok(())
    }

    /// What this end acknowledges has been sent by `peer`.
    pub fn verify_sent(&self, head: &Head, peer: &Self) -> Result<(), Finding> {
        let end = peer.first + peer.sent_octets + u32::from(peer.sent_fins > 0);
        if head.flags.ack && !head.flags.rst && head.ack.is_after(end) {
            return Err(format!("{} acknowledged, {end} sent", head.ack));
        }
        Ok(())
    }

    pub fn deadline_us(&self, broken: Option<Break>) -> Option<u64> {
        let deadline_us = self.tcp.as_ref()?.deadline_us();
        deadline_us.filter(|_| broken != Some(Break::NoTimer))
    }

    /// Nothing will happen any more: everything was delivered, acknowledged and closed, or the end
    /// waits in vain for a peer that has gone and says so.
    pub fn verify_over(&self, other: &Self) -> Result<(), Finding> {
        let Some(tcp) = &self.tcp else {
            return Err("nothing arrived".into());
        };
        let octets = other.records * RECORD_OCTETS;
        match self.last_event {
            Some(Event::Closed) if self.acked == self.records && self.received == octets => Ok(()),
            // The last ACK of a peer whose TIME-WAIT is over may be lost for good.
            Some(Event::Lost(
                Lost::RetransmissionCount { .. } | Lost::RetransmissionTimeOut { .. },
            )) if other.last_event == Some(Event::Closed) && self.received == octets => Ok(()),
            event => Err(format!(
                "side {} ends in {:?}: {event:?}",
                self.side,
                tcp.state()
            )),
        }
    }
}
