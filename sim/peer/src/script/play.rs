//! A case, from its connection to its outcome.
//!
//! ```text
//!  connection --> before: good, or no verdict -----> steps --> the end of the case
//!                                                        |         |
//!                   stopped by what came: Outcome <------+---------+
//! ```

use super::case::{Case, Role, TargetKind};
use super::expect::Outcome;
use super::state::{State, Stop};
use super::step::{Awaited, Faults, Forge, Ping, Segment, Start, Step, Which};
use super::verdict::{judge, Verdict};
use crate::conn::Conn;
use crate::mpa::{StartFrame, FLAG_CRC, FLAG_MARKERS};
use crate::port;
use crate::stranger::Stranger;
use crate::talk::Talk;
use crate::wiretap::Segment as TcpSegment;
use smoltcp::wire::TcpSeqNumber;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Between two tries to connect to a port where nobody listens yet.
const REDIAL: Duration = Duration::from_millis(100);
/// How long an end may take that nothing depends on.
const FAREWELL: Duration = Duration::from_millis(300);

/// Whom cases are played at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Targets {
    /// Listens, as it is.
    pub plain: Option<SocketAddr>,
    /// Listens, and asks for markers.
    pub markers: Option<SocketAddr>,
    /// Listens, and does not ask for CRC32C.
    pub no_crc: Option<SocketAddr>,
    /// Clients come to this port of the peer's.
    pub clients: Option<u16>,
}

impl Targets {
    /// Whom a case is played at, if there is somebody.
    fn listener(&self, kind: TargetKind) -> Option<SocketAddr> {
        let special = match kind {
            TargetKind::Plain => None,
            TargetKind::Markers => self.markers,
            TargetKind::NoCrc => self.no_crc,
        };
        special.or(self.plain)
    }

    /// Whether a case has somebody to be played at.
    pub fn have(&self, case: &Case) -> bool {
        match case.role {
            Role::Client => self.listener(case.target).is_some(),
            Role::Server => self.clients.is_some(),
        }
    }
}

/// Plays cases.
#[derive(Debug)]
pub struct Player<'a> {
    /// The peer.
    pub stranger: &'a Stranger,
    /// Whom they are played at.
    pub targets: Targets,
    /// How long the target may take for an answer.
    pub patience: Duration,
    /// How long a target may take to listen again, or a client to come.
    pub arrival: Duration,
    /// How often a case is tried that nothing came of.
    pub tries: u32,
    /// No client has come to an earlier case.
    pub is_deserted: bool,
}

/// What became of a case.
#[derive(Clone, Debug)]
pub struct Played {
    /// What came, in words; or why nothing was seen.
    pub found: String,
    /// What it is worth.
    pub verdict: Verdict,
    /// The peer's port, by which the capture has it.
    pub port: u16,
    /// How often it was tried.
    pub tries: u32,
    /// How long it took.
    pub took: Duration,
}

/// One try.
struct Try {
    outcome: Result<Outcome, String>,
    /// The target does not do for the case, however often it is tried.
    is_unfit: bool,
    /// ULPDUs that a Terminate may be about.
    bad: Vec<Vec<u8>>,
    port: u16,
}

/// Nothing came of it, where something was due.
fn is_nothing(case: &Case, tried: &Try) -> bool {
    let is_good = matches!(judge(case, &tried.outcome, &tried.bad), Verdict::AsAsked(_));
    !is_good && !tried.is_unfit && matches!(tried.outcome, Err(_) | Ok(Outcome::Silent))
}

impl Player<'_> {
    /// Play a case; again, as often as is allowed, if nothing came of it.
    pub fn play(&mut self, case: &Case) -> Played {
        let begun = Instant::now();
        let mut best = self.once(case);
        let mut tries = 1;
        while tries < self.tries && !self.is_deserted && is_nothing(case, &best) {
            let next = self.once(case);
            tries += 1;
            // One that is gone at the next try (no connection has a port then) tells nothing new.
            if next.outcome.is_err() && (best.outcome.is_ok() || next.port == 0) {
                break;
            }
            best = next;
        }
        let verdict = judge(case, &best.outcome, &best.bad);
        Played {
            found: best
                .outcome
                .map_or_else(|why| why, |outcome| outcome.to_string()),
            verdict,
            port: best.port,
            tries,
            took: begun.elapsed(),
        }
    }

    fn once(&mut self, case: &Case) -> Try {
        self.stranger.forget_frames();
        self.stranger.set_faults(port::Faults::default());
        let conn = match case.role {
            Role::Client => self.dial(case.target),
            Role::Server => self.wait_client(),
        };
        let conn = match conn {
            Ok(conn) => conn,
            Err(why) => {
                return Try {
                    outcome: Err(why),
                    is_unfit: false,
                    bad: Vec::new(),
                    port: 0,
                };
            }
        };
        let port = conn.own_port();
        let patience = match case.patience_ms {
            Some(ms) => self.patience.max(Duration::from_millis(ms)),
            None => self.patience,
        };
        let talk = Talk::new(conn, 0, [false, false]);
        let mut state = State::new(self.stranger, talk, patience);
        let outcome = state.carry_out(case);
        if matches!(outcome, Ok(Outcome::GoesOn)) {
            state.talk.conn.close();
            let _ = state.talk.conn.end_within(FAREWELL);
        }
        Try {
            outcome,
            is_unfit: state.is_unfit,
            bad: state.bad,
            port,
        }
    }

    /// A connection to the target of this kind; who does not listen yet may do so soon.
    fn dial(&self, kind: TargetKind) -> Result<Conn, String> {
        let target = self.targets.listener(kind);
        let target = target.ok_or("no target was named that listens")?;
        let end = Instant::now() + self.arrival;
        let mut is_refused = false;
        loop {
            let conn = self.stranger.dial(target);
            match conn.connected_within(end.saturating_duration_since(Instant::now())) {
                Some(true) => return Ok(conn),
                Some(false) if Instant::now() < end => std::thread::sleep(REDIAL),
                None if !is_refused => return Err(format!("{target} does not answer")),
                _ => return Err(format!("nobody listens at {target}")),
            }
            is_refused = true;
        }
    }

    fn wait_client(&mut self) -> Result<Conn, String> {
        let Some(port) = self.targets.clients else {
            return Err("no clients were announced".into());
        };
        if self.is_deserted {
            return Err("no client came to an earlier case".into());
        }
        let conn = self.stranger.listen_on(port);
        match conn.connected_within(self.arrival) {
            Some(true) => Ok(conn),
            _ => {
                self.is_deserted = true;
                Err(format!("no client came to port {port}"))
            }
        }
    }
}

impl State<'_> {
    /// Everything that the case does.
    fn carry_out(&mut self, case: &Case) -> Result<Outcome, String> {
        for step in &case.before {
            match self.step(case, step) {
                Ok(()) => {}
                Err(Stop::Unseen(why)) => {
                    self.is_unfit = true;
                    return Err(why);
                }
                Err(Stop::Came(outcome)) => {
                    return Err(format!("before the case's own steps: {outcome}"));
                }
            }
        }
        for step in &case.steps {
            match self.step(case, step) {
                Ok(()) => {}
                Err(Stop::Unseen(why)) => {
                    self.is_unfit = true;
                    return Err(why);
                }
                Err(Stop::Came(outcome)) => return Ok(outcome),
            }
        }
        match case.steps.last() {
            Some(Step::Await(_) | Step::Ping(_) | Step::Start(_)) => Ok(Outcome::GoesOn),
            _ => Ok(self.ended()),
        }
    }

    fn step(&mut self, case: &Case, step: &Step) -> Result<(), Stop> {
        match step {
            Step::Start(start) => self.start(case, start)?,
            Step::Request(frame) => self.request(frame),
            Step::Reply(frame) => self.reply(frame)?,
            Step::Raw(raw) => {
                let octets = [raw.text.as_bytes(), &vec![0; raw.zeros]].concat();
                self.talk.conn.send(&octets);
            }
            Step::Send(segment)
            | Step::SendInvalidate(segment)
            | Step::Write(segment)
            | Step::Read(segment)
            | Step::Response(segment)
            | Step::Terminate(segment)
            | Step::Empty(segment) => self.say(step, segment)?,
            Step::Await(awaited) => self.wait(*awaited)?,
            Step::Ping(ping) => self.ping(case.role, ping)?,
            Step::Pause(ms) => std::thread::sleep(Duration::from_millis(*ms)),
            Step::Close(_) => self.talk.conn.close(),
            Step::Reset(_) => self.talk.conn.abort(),
            Step::Faults(faults) => self.stranger.set_faults(of_port(faults)),
            Step::Forge(forge) => self.forge(forge)?,
        }
        Ok(())
    }

    fn start(&mut self, case: &Case, start: &Start) -> Result<(), Stop> {
        let theirs = match case.role {
            Role::Client => self.start_client(start)?,
            Role::Server => self.start_server(start)?,
        };
        match unfit(case.target, start.crc, &theirs) {
            Some(why) => Err(Stop::Unseen(why.into())),
            None => Ok(()),
        }
    }

    /// A ping, which is not what a Terminate is to be about.
    fn ping(&mut self, role: Role, ping: &Ping) -> Result<(), Stop> {
        let kept = (self.bad.clone(), self.is_bad_named);
        self.buffer_octets = ping.octets.unwrap_or(self.buffer_octets);
        let done = match role {
            Role::Client => self.ping_client(ping),
            Role::Server => self.ping_server(ping),
        };
        (self.bad, self.is_bad_named) = kept;
        done
    }

    fn ping_client(&mut self, ping: &Ping) -> Result<(), Stop> {
        self.say_record(ping, Which::Source)?;
        self.wait(Awaited::Read)?;
        let octets = self.buffer_octets;
        self.say_parts(ping, octets, |offset, octets| {
            Step::Response(Segment {
                offset: i64::from(offset),
                octets: Some(octets),
                ..Segment::default()
            })
        })?;
        self.wait(Awaited::GoAhead)?;
        self.say_record(ping, Which::Sink)?;
        self.wait(Awaited::Write)
    }

    fn ping_server(&mut self, ping: &Ping) -> Result<(), Stop> {
        if self.source.is_none() {
            self.wait(Awaited::Source)?;
        }
        let octets = self.source.map_or(0, |source| source.octets);
        self.say_whole(
            ping,
            Step::Read,
            Segment {
                at: Some(Which::Source),
                octets: Some(octets),
                ..Segment::default()
            },
        )?;
        self.wait(Awaited::Response)?;
        self.say_whole(ping, Step::Send, Segment::default())?;
        self.wait(Awaited::Sink)?;
        self.say_parts(ping, octets, |offset, octets| {
            Step::Write(Segment {
                at: Some(Which::Sink),
                offset: i64::from(offset),
                octets: Some(octets),
                ..Segment::default()
            })
        })?;
        self.say_whole(ping, Step::Send, Segment::default())?;
        (self.source, self.sink) = (None, None);
        Ok(())
    }

    fn say_record(&mut self, ping: &Ping, which: Which) -> Result<(), Stop> {
        let record = Some(which);
        self.say_whole(
            ping,
            Step::Send,
            Segment {
                record,
                ..Segment::default()
            },
        )
    }

    fn say_whole(
        &mut self,
        ping: &Ping,
        step: fn(Segment) -> Step,
        segment: Segment,
    ) -> Result<(), Stop> {
        let pieces = ping.pieces.map_or(Vec::new(), |octets| vec![octets; 100]);
        let segment = Segment {
            singly: ping.singly,
            pieces,
            ..segment
        };
        self.say(&step(segment.clone()), &segment)
    }

    /// A tagged message in as many segments as the ping has.
    fn say_parts(
        &mut self,
        ping: &Ping,
        octets: u32,
        part: impl Fn(u32, u32) -> Step,
    ) -> Result<(), Stop> {
        let count = ping.segments.unwrap_or(1).clamp(1, octets.max(1));
        let each = octets.div_ceil(count);
        for begin in (0..octets).step_by(each as usize) {
            let this = each.min(octets - begin);
            let step = part(begin, this);
            let (Step::Response(mut segment) | Step::Write(mut segment)) = step.clone() else {
                continue;
            };
            segment.last = (begin + this < octets).then_some(false);
            segment.singly = ping.singly;
            segment.pieces = ping.pieces.map_or(Vec::new(), |octets| vec![octets; 100]);
            self.say(&step, &segment)?;
        }
        Ok(())
    }

    /// A segment that TCP has not made: the last one that left, with other numbers.
    fn forge(&self, forge: &Forge) -> Result<(), Stop> {
        let last = self.stranger.last_frame(self.talk.conn.own_port());
        let frame = last.ok_or_else(|| Stop::Unseen("no segment has left yet".into()))?;
        let Some(segment) = TcpSegment::read_unsummed(&frame) else {
            return Err(Stop::Unseen("the last frame has no segment".into()));
        };
        let due = segment.seq.wrapping_add(segment.octets());
        let seq = due.wrapping_add_signed(forge.off) as i32;
        let ack = segment.ack.unwrap_or(0).wrapping_add_signed(forge.ack_off) as i32;
        let forged = TcpSegment::forge(&frame, &vec![0xdd; forge.octets], |tcp| {
            tcp.set_rst(forge.rst);
            tcp.set_syn(forge.syn);
            tcp.set_fin(false);
            tcp.set_seq_number(TcpSeqNumber(seq));
            tcp.set_ack_number(TcpSeqNumber(ack));
        });
        self.stranger.inject(forged);
        Ok(())
    }
}

fn of_port(faults: &Faults) -> port::Faults {
    let Faults {
        lost,
        twice,
        late,
        unheard,
    } = faults.clone();
    port::Faults {
        lost,
        twice,
        late,
        unheard,
    }
}

/// Why a target does not do for the case; its frame says how it is set.
fn unfit(kind: TargetKind, own_crc: bool, theirs: &StartFrame) -> Option<&'static str> {
    match kind {
        TargetKind::Markers if !theirs.has(FLAG_MARKERS) => {
            Some("the target does not ask for markers, which the case needs")
        }
        TargetKind::NoCrc if !own_crc && theirs.has(FLAG_CRC) => {
            Some("the target asks for CRC32C, which the case needs it not to do")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpa::{start, KEY_REPLY};

    #[test]
    fn a_target_that_is_set_otherwise_does_not_do() {
        let of = |flags| StartFrame::read(&start(&KEY_REPLY, flags, 1, b"")).expect("whole");
        for (kind, flags, does) in [
            (TargetKind::Plain, 0, true),
            (TargetKind::Plain, FLAG_CRC | FLAG_MARKERS, true),
            (TargetKind::Markers, FLAG_MARKERS, true),
            (TargetKind::Markers, FLAG_CRC, false),
            (TargetKind::NoCrc, 0, true),
            (TargetKind::NoCrc, FLAG_CRC, false),
        ] {
            assert_eq!(
                unfit(kind, false, &of(flags)).is_none(),
                does,
                "{kind:?} {flags:#x}"
            );
        }
    }
}
