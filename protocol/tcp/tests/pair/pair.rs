//! Two ends, one simulated clock, and what is in flight between them.
use crate::device::Device;
use crate::end::End;
use crate::link::{Link, Path};
use rnic_tcp::{Connection, Event, SeqNumber, Settings, State};

pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;

pub struct Pair {
    pub now_us: u64,
    pub ends: [End; 2],
    pub link: Link,
    settings: [Settings; 2],
    /// What left, if it is to be compared.
    pub trace: Option<Vec<String>>,
    pub segments: u64,
}

/// Initial sequence numbers close to the wrap, so that every transfer passes it.
const ISS: [SeqNumber; 2] = [SeqNumber(u32::MAX - 5_000), SeqNumber(u32::MAX - 700)];

impl Pair {
    /// The client has sent nothing yet; the server listens.
    pub fn new(settings: [Settings; 2], path: Path, seed: u64) -> Self {
        let mut pair = Self {
            now_us: 1_000,
            ends: [0, 1].map(|side| End::new(side, ISS[side] + 1)),
            link: Link::new(path, seed),
            settings,
            trace: None,
            segments: 0,
        };
        for side in [CLIENT, SERVER] {
            pair.ends[side].shift = settings[side].window_shift;
        }
        let client = Connection::connect(settings[CLIENT], ISS[CLIENT], pair.now_us);
        pair.ends[CLIENT].connection = Some(client.expect("settings are in range"));
        pair.flush();
        pair
    }

    pub fn plain() -> Self {
        Self::new([Settings::default(); 2], Path::default(), 1)
    }

    /// Nothing arrives, from the first SYN on.
    pub fn silent() -> Self {
        let path = Path {
            loss: 1_000_000,
            ..Path::default()
        };
        Self::new([Settings::default(); 2], path, 1)
    }

    /// Connected, with nothing in flight.
    pub fn connected(settings: [Settings; 2], path: Path, seed: u64) -> Self {
        let mut pair = Self::new(settings, path, seed);
        pair.drive_until(|pair| pair.both_are(State::Established));
        pair.drive_for(path.delay_us * 3 + 1_000);
        pair
    }

    /// The other end opens too, at the same time.
    pub fn open_both(&mut self) {
        let server = Connection::connect(self.settings[SERVER], ISS[SERVER], self.now_us);
        self.ends[SERVER].connection = Some(server.expect("settings are in range"));
        self.flush();
    }

    pub fn both_are(&self, state: State) -> bool {
        let states = self
            .ends
            .iter()
            .map(|end| end.connection.as_ref().map(Connection::state));
        states.eq([Some(state), Some(state)])
    }

    pub fn states(&mut self) -> [State; 2] {
        [CLIENT, SERVER].map(|side| self.ends[side].tcp().state())
    }

    pub fn happened(&self, side: usize, event: Event) -> bool {
        self.ends[side].events.contains(&event)
    }

    /// Give out what both ends have.
    pub fn flush(&mut self) {
        for side in [CLIENT, SERVER] {
            self.take_events(side);
            for wire in self.ends[side].poll(self.now_us) {
                if let Some(trace) = &mut self.trace {
                    let (head, octets) = (wire.head, wire.payload.len());
                    trace.push(format!("{} {side} {head:?} {octets}", self.now_us));
                }
                self.segments += 1;
                self.link.send(side, wire, self.now_us);
            }
        }
    }

    fn take_events(&mut self, side: usize) {
        let end = &mut self.ends[side];
        let Some((snapshot, octets)) = end.device.as_mut().and_then(Device::event) else {
            return;
        };
        end.deliver(&octets);
        end.tcp().on_device(&snapshot, self.now_us);
    }

    pub fn next_us(&self) -> Option<u64> {
        let deadlines = self
            .ends
            .iter()
            .filter_map(|end| end.connection.as_ref()?.deadline_us());
        deadlines.chain(self.link.next_us()).min()
    }

    /// Go to the next arrival or deadline; false if there is none.
    pub fn step(&mut self) -> bool {
        let Some(next_us) = self.next_us() else {
            return false;
        };
        self.now_us = self.now_us.max(next_us);
        while let Some((side, wire)) = self.link.arrive(self.now_us) {
            if self.ends[side].connection.is_none() {
                let accepted = Connection::accept(
                    self.settings[side],
                    &wire.segment(),
                    ISS[side],
                    self.now_us,
                );
                self.ends[side].connection = accepted.expect("settings are in range");
                continue;
            }
            let peer_shift = self.ends[1 - side].shift;
            self.ends[side].arrive(&wire, peer_shift, self.now_us);
        }
        self.flush();
        true
    }

    /// Go on until nothing is left to happen.
    pub fn drive(&mut self) {
        self.drive_until(|_| false);
    }

    /// Go on until `is_done`, or nothing is left to happen.
    pub fn drive_until(&mut self, mut is_done: impl FnMut(&mut Self) -> bool) {
        let mut steps = 0u64;
        while !is_done(self) && self.step() {
            steps += 1;
            assert!(steps < 50_000_000, "no end at {} us", self.now_us);
        }
    }

    /// Go on for a time.
    pub fn drive_for(&mut self, time_us: u64) {
        let end_us = self.now_us + time_us;
        while self.next_us().is_some_and(|next_us| next_us <= end_us) {
            self.step();
        }
        self.now_us = end_us;
        self.flush();
    }

    /// Everything that was pushed has been delivered and acknowledged.
    pub fn is_done(&self) -> bool {
        let delivered =
            |from: usize| self.ends[1 - from].received == self.ends[from].stream_octets();
        self.ends.iter().all(End::is_done) && delivered(CLIENT) && delivered(SERVER)
    }

    pub fn transfer(&mut self) {
        self.flush();
        self.drive_until(|pair| pair.is_done());
        assert!(
            self.is_done(),
            "at {} us: {:?}",
            self.now_us,
            self.ends[0].events
        );
    }
}
