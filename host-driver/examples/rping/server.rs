//! The end that is pinged: it reads the client's source, and writes the same octets to its sink.

use crate::record::{text, Record, RECORD_OCTETS, SIZE_MAX};
use crate::{wanted, Ping};
use rnic_driver::verbs::endpoint::SendOperation;
use rnic_driver::verbs::{Memory, MemoryRegion, Rights};
use rnic_examples::end::End;
use rnic_examples::failure::{say, Failure};
use rnic_examples::options::Options;
use rnic_examples::work::Work;
use rnic_output::stdout::complain;

/// What a server keeps from one client to the next.
struct Server {
    /// Where the client's octets are read to and written from.
    buffer: MemoryRegion,
    /// The answer to each record, whose octets say nothing.
    answer: Memory,
}

/// Be pinged by a client, or by one after another.
pub fn run(end: &End, options: &Options, ping: &Ping) -> Result<(), Failure> {
    let listener = end.endpoint.listen(options.own_address()?)?;
    let server = Server {
        buffer: end.region(SIZE_MAX, Rights::READ_SINK)?,
        answer: end.context.allocate(RECORD_OCTETS)?,
    };
    let wanted = wanted(options);
    say(format!("listening on {}", listener.local_addr()))?;
    loop {
        let work = end.accept(&listener, &wanted.startup, |_| Ok(wanted.clone()))?;
        match (server.serve(work, ping), ping.persistent) {
            (ended, false) => return ended,
            (Ok(()), true) => {}
            (Err(Failure::Stdout(error)), true) => return Err(error.into()),
            (Err(failure), true) => complain(&format!("rping: {failure}")),
        }
    }
}

impl Server {
    /// One client, until it closes.
    fn serve(&self, mut work: Work, ping: &Ping) -> Result<(), Failure> {
        let (peer, mut count, mut octets) = (work.peer(), 0_u64, 0_u64);
        while let Some(source) = self.record(&mut work)? {
            self.read(&mut work, &source)?;
            if ping.verbose {
                let mut buffer = vec![0; source.size as usize];
                self.buffer.read(0, &mut buffer)?;
                say(format!("server ping data: {}", text(&buffer)))?;
            }
            self.go_ahead(&mut work)?;
            let Some(sink) = self.record(&mut work)? else {
                return Err(format!("{peer} has closed in the middle of ping {count}").into());
            };
            // No more than what was read for this ping.
            self.write(&mut work, &sink, source.size.min(sink.size))?;
            self.go_ahead(&mut work)?;
            count += 1;
            octets += u64::from(source.size);
        }
        work.close()?;
        say(format!(
            "{count} pings of {peer}, {octets} octets read and written back"
        ))
    }

    /// The client's next record; `None`: it has closed.
    fn record(&self, work: &mut Work) -> Result<Option<Record>, Failure> {
        let Some(received) = work.receive()? else {
            return Ok(None);
        };
        let (peer, octets) = (work.peer(), received.octets);
        let record = Record::read(&received.message()).ok_or_else(|| {
            format!("{peer} sends {octets} octets, where rping has {RECORD_OCTETS}; is it one?")
        })?;
        if record.size as usize > SIZE_MAX {
            let size = record.size;
            return Err(format!("{peer} has a buffer of {size} octets; at most {SIZE_MAX}").into());
        }
        if let Some(memory) = received.memory {
            work.post_receive(received.id, memory)?;
        }
        Ok(Some(record))
    }

    fn read(&self, work: &mut Work, source: &Record) -> Result<(), Failure> {
        let operation = SendOperation::Read {
            sink: &self.buffer,
            sink_to: self.buffer.tagged_offset(),
            source_stag: source.stag,
            source_to: source.to,
            octets: source.size,
        };
        // What was written of the ping before has to be through with the buffer.
        work.settle()?;
        work.post(&operation)?;
        work.settle()
    }

    fn write(&self, work: &mut Work, sink: &Record, octets: u32) -> Result<(), Failure> {
        let operation = SendOperation::Write {
            payload: &[self.buffer.part(0..octets as usize)?],
            stag: sink.stag,
            to: sink.to,
        };
        work.post(&operation)
    }

    /// Tell the client, after everything that was posted before, to go ahead.
    fn go_ahead(&self, work: &mut Work) -> Result<(), Failure> {
        let payload = [self.answer.part(0..RECORD_OCTETS)?];
        work.post(&SendOperation::send(&payload))
    }
}
