//! A peer that says what it likes: raw octets over its end of the fabric.
use crate::harness::{Side, World};
use rpcrdma::fabric::{Choice, EndId};
use rpcrdma::place::{MemoryId, Place};
use rpcrdma::private_data::PrivateData;
use rpcrdma::verbs::{Memory, Rights, Status, Verbs, Work};
use rpcrdma::wire::{Caps, ErrorBody, Form, Header, HeaderWriter, Kind, ReadSegment, Segment};
use rpcrdma::{Endpoint, Event, RequestId, Settings};

/// Octets of each receive of the peer's, and of its Sends.
const BUFFER: u32 = 4_096;
const RECEIVES: u32 = 32;

/// What came from the end under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub octets: Vec<u8>,
    pub invalidated: Option<u32>,
}

impl Received {
    pub fn header(&self) -> Header<'_> {
        Header::parse(&self.octets, &Caps::default()).expect("a right header")
    }

    pub fn xid(&self) -> u32 {
        self.header().xid()
    }

    pub fn is_error(&self, body: ErrorBody) -> bool {
        self.header().kind() == Kind::Error(body)
    }
}

/// The end under test, and a hostile one.
pub struct Scene {
    pub world: World,
    pub is_client: bool,
    memory: MemoryId,
    pub is_closed: bool,
    pub received: Vec<Received>,
    pub opened: Vec<RequestId>,
}

impl Scene {
    /// A server under test.
    pub fn server(settings: Settings, private_data: bool) -> Self {
        Self::new(settings, private_data, false)
    }

    /// A client under test.
    pub fn client(settings: Settings, private_data: bool) -> Self {
        Self::new(settings, private_data, true)
    }

    fn new(settings: Settings, private_data: bool, is_client: bool) -> Self {
        let mut world = World::new(Default::default(), settings, settings);
        let data = private_data.then_some(PrivateData {
            remote_invalidation: true,
            send_octets: BUFFER,
            receive_octets: BUFFER,
        });
        let (hostile, tested) = match is_client {
            true => (&world.server, &mut world.client),
            false => (&world.client, &mut world.server),
        };
        let host = hostile.host;
        let octets = (2 * RECEIVES * BUFFER + (1 << 20)) as usize;
        let memory = world.fabric.allocate(host, octets);
        let Side {
            endpoint,
            end: own,
            pool,
            ..
        } = tested;
        endpoint.connected(0, &mut world.fabric.end(*own), pool, data);
        let (received, opened) = (Vec::new(), Vec::new());
        let is_closed = false;
        let mut scene = Self {
            world,
            is_client,
            memory,
            is_closed,
            received,
            opened,
        };
        scene.post_receives();
        scene
    }

    fn post_receives(&mut self) {
        let end = self.hostile_end();
        for index in 0..RECEIVES {
            let at = Self::place(self.memory, index);
            let posted = self
                .world
                .fabric
                .end(end)
                .post_receives(&[(index.into(), at)]);
            posted.expect("room");
        }
    }

    /// Another connection between the two.
    pub fn reconnect(&mut self) {
        self.reconnect_with(Some(Settings::default().private_data()));
    }

    /// Another connection between the two, at whose start the hostile end says this.
    pub fn reconnect_with(&mut self, data: Option<PrivateData>) {
        let end = self.hostile_end();
        self.world.fabric.reconnect(end);
        self.post_receives();
        self.is_closed = false;
        let side = match self.is_client {
            true => &mut self.world.client,
            false => &mut self.world.server,
        };
        let Side {
            endpoint,
            end,
            pool,
            ..
        } = side;
        endpoint.connected(self.world.now, &mut self.world.fabric.end(*end), pool, data);
    }

    fn place(memory: MemoryId, index: u32) -> Place {
        Place {
            memory,
            offset: u64::from(index * BUFFER),
            length: BUFFER,
        }
    }

    /// Octets of the hostile host that are not its buffers.
    pub fn data(&self, offset: u32, length: u32) -> Place {
        let offset = u64::from(2 * RECEIVES * BUFFER + offset);
        Place {
            memory: self.memory,
            offset,
            length,
        }
    }

    pub fn hostile_end(&self) -> EndId {
        match self.is_client {
            true => self.world.server.end,
            false => self.world.client.end,
        }
    }

    pub fn endpoint(&self) -> &Endpoint {
        match self.is_client {
            true => &self.world.client.endpoint,
            false => &self.world.server.endpoint,
        }
    }

    /// Expose octets of the hostile host.
    pub fn expose(&mut self, offset: u32, length: u32, rights: Rights) -> Segment {
        let place = self.data(offset, length);
        let end = self.hostile_end();
        self.world
            .fabric
            .end(end)
            .expose(place, rights)
            .expect("an entry")
    }

    /// Send octets, and let everything happen that follows.
    pub fn send(&mut self, octets: &[u8]) {
        self.send_with(octets, None);
    }

    pub fn send_with(&mut self, octets: &[u8], invalidate: Option<u32>) {
        let at = Self::place(self.memory, RECEIVES);
        let at = Place {
            length: octets.len() as u32,
            ..at
        };
        let end = self.hostile_end();
        let mut end = self.world.fabric.end(end);
        end.store(at, octets).expect("inside");
        // After the end nothing can be sent, and nobody minds.
        let _ = end.send(1_000, &[at], invalidate);
        self.run();
    }

    /// Everything that follows, with calls kept open, and what the hostile end got.
    pub fn run(&mut self) {
        loop {
            let mut any = self.poll_tested();
            let mut choices = Vec::new();
            self.world.fabric.choices(&mut choices);
            any |= !choices.is_empty();
            self.world.fabric.run();
            any |= self.poll_hostile();
            if !any {
                return;
            }
        }
    }

    fn poll_hostile(&mut self) -> bool {
        let id = self.hostile_end();
        let mut any = false;
        while let Some(completion) = self.world.fabric.end(id).poll() {
            any = true;
            if completion.work != Work::Receive || completion.status != Status::Success {
                continue;
            }
            let at = Self::place(self.memory, completion.tag as u32);
            let mut octets = vec![0; completion.octets as usize];
            let mut end = self.world.fabric.end(id);
            end.load(at, &mut octets).expect("inside");
            let _ = end.post_receives(&[(completion.tag, at)]);
            self.received.push(Received {
                octets,
                invalidated: completion.invalidated,
            });
        }
        any
    }

    /// Send octets that arrive, and then nothing: no Read is answered.
    pub fn deliver_only(&mut self, octets: &[u8]) {
        let at = Place {
            length: octets.len() as u32,
            ..Self::place(self.memory, RECEIVES)
        };
        let id = self.hostile_end();
        let mut end = self.world.fabric.end(id);
        end.store(at, octets).expect("inside");
        end.send(1_000, &[at], None).expect("room");
        self.world.fabric.take(Choice::Deliver(id));
        self.poll_tested();
    }

    /// The end under test looks at its completions and its timers.
    pub fn poll_tested(&mut self) -> bool {
        let side = match self.is_client {
            true => &mut self.world.client,
            false => &mut self.world.server,
        };
        let Side {
            endpoint,
            end,
            pool,
            ..
        } = side;
        let mut any = false;
        let mut verbs = self.world.fabric.end(*end);
        while let Some(event) = endpoint.poll(self.world.now, &mut verbs, pool) {
            any = true;
            match event {
                Event::Call(id) => self.opened.push(id),
                Event::Disconnected => self.is_closed = true,
                event => self.world.told.push(event),
            }
        }
        any
    }

    /// Answer every call that is open at a server under test.
    pub fn answer(&mut self) {
        for id in std::mem::take(&mut self.opened) {
            self.world.answer(id);
        }
        self.run();
    }
}

/// Words in network order.
pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// A message with lists: reads, write chunks, a reply chunk, and a body.
#[derive(Clone, Default)]
pub struct Lists {
    pub reads: Vec<(u32, Segment)>,
    pub writes: Vec<Vec<Segment>>,
    pub reply: Option<Vec<Segment>>,
}

pub fn message(xid: u32, credits: u32, form: Form, lists: &Lists, body: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut header = HeaderWriter::new(&mut octets, xid, credits, form);
    for &(position, segment) in &lists.reads {
        header.read(ReadSegment { position, segment });
    }
    let mut writes = header.writes();
    for chunk in &lists.writes {
        writes.chunk(chunk.iter().copied());
    }
    match &lists.reply {
        Some(chunk) => writes.reply(chunk.iter().copied()),
        None => writes.end(),
    };
    octets.extend_from_slice(body);
    octets
}
