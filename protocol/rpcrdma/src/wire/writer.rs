//! Headers to be sent, as exact octets in a buffer that is used again.
use super::segment::{ReadSegment, Segment, READ_SEGMENT_OCTETS, SEGMENT_OCTETS};
use super::{code, ErrorBody, Padding, HEADER_OCTETS_MIN, VERSION, WORD_OCTETS};

/// The types that have chunk lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The RPC message follows.
    Msg,
    /// The RPC message is in a chunk.
    Nomsg,
    /// The RPC message follows, padded.
    Msgp(Padding),
}

impl Form {
    /// Octets of a header of this form without chunks.
    #[must_use]
    pub fn octets_min(self) -> usize {
        match self {
            Self::Msg | Self::Nomsg => HEADER_OCTETS_MIN,
            Self::Msgp(_) => HEADER_OCTETS_MIN + 2 * WORD_OCTETS,
        }
    }
}

/// Octets of a header with so many read segments, with write chunks of so many segments each, and
/// with a reply chunk.
#[must_use]
pub fn header_octets<W>(form: Form, reads: usize, writes: W, reply: Option<usize>) -> usize
where
    W: IntoIterator<Item = usize>,
{
    let chunk = |segments: usize| 2 * WORD_OCTETS + segments * SEGMENT_OCTETS;
    let writes: usize = writes.into_iter().map(chunk).sum();
    // The word that says that there is a reply chunk is there without one, too.
    let reply = reply.map_or(0, |segments| chunk(segments) - WORD_OCTETS);
    form.octets_min() + reads * (WORD_OCTETS + READ_SEGMENT_OCTETS) + writes + reply
}

fn put(buffer: &mut Vec<u8>, word: u32) {
    buffer.extend_from_slice(&word.to_be_bytes());
}

fn put_prefix(buffer: &mut Vec<u8>, xid: u32, credits: u32, kind: u32) {
    buffer.clear();
    for word in [xid, VERSION, credits, kind] {
        put(buffer, word);
    }
}

/// `RDMA_DONE`, in place of what `buffer` holds.
pub fn write_done(buffer: &mut Vec<u8>, xid: u32, credits: u32) {
    put_prefix(buffer, xid, credits, code::DONE);
}

/// `RDMA_ERROR`, in place of what `buffer` holds.
pub fn write_error(buffer: &mut Vec<u8>, xid: u32, credits: u32, error: ErrorBody) {
    put_prefix(buffer, xid, credits, code::ERROR);
    match error {
        ErrorBody::Versions { low, high } => {
            put(buffer, code::ERR_VERS);
            put(buffer, low);
            put(buffer, high);
        }
        ErrorBody::Chunk => put(buffer, code::ERR_CHUNK),
        ErrorBody::Other { code, words } => {
            put(buffer, code);
            for word in words {
                put(buffer, word);
            }
        }
    }
}

/// Writes a header with chunk lists: read segments, then write chunks, then a reply chunk
/// (RPC-027).
///
/// ```
/// use rpcrdma::wire::{Caps, Form, Header, HeaderWriter, Segment};
///
/// let mut send = Vec::new();
/// let sink = Segment { handle: 7, length: 4096, offset: 0 };
/// let mut writes = HeaderWriter::new(&mut send, 0x1234, 32, Form::Msg).writes();
/// writes.chunk([sink]);
/// assert_eq!(writes.end(), 52);
/// send.extend_from_slice(&0x1234_u32.to_be_bytes()); // and the rest of the RPC message
///
/// let header = Header::parse(&send, &Caps::default())?;
/// assert_eq!(header.results().collect::<Vec<_>>(), [sink]);
/// assert_eq!(header.single_handle(), Some(7));
/// # Ok::<(), rpcrdma::wire::Refused>(())
/// ```
#[derive(Debug)]
#[must_use = "a header has an end"]
pub struct HeaderWriter<'b> {
    buffer: &'b mut Vec<u8>,
}

impl<'b> HeaderWriter<'b> {
    /// Begins a header in place of what `buffer` holds.
    pub fn new(buffer: &'b mut Vec<u8>, xid: u32, credits: u32, form: Form) -> Self {
        let kind = match form {
            Form::Msg => code::MSG,
            Form::Nomsg => code::NOMSG,
            Form::Msgp(_) => code::MSGP,
        };
        put_prefix(buffer, xid, credits, kind);
        if let Form::Msgp(padding) = form {
            put(buffer, padding.align);
            put(buffer, padding.threshold);
        }
        Self { buffer }
    }

    /// A segment of the read list.
    pub fn read(&mut self, read: ReadSegment) {
        put(self.buffer, 1);
        read.append(self.buffer);
    }

    /// Ends the read list.
    pub fn writes(self) -> WritesWriter<'b> {
        put(self.buffer, 0);
        WritesWriter {
            buffer: self.buffer,
        }
    }

    /// Ends a header without write and reply chunks; its octets.
    pub fn end(self) -> usize {
        self.writes().end()
    }
}

/// Writes what follows the read list.
#[derive(Debug)]
#[must_use = "a header has an end"]
pub struct WritesWriter<'b> {
    buffer: &'b mut Vec<u8>,
}

impl WritesWriter<'_> {
    /// A chunk of the write list.
    pub fn chunk(&mut self, segments: impl IntoIterator<Item = Segment>) {
        put(self.buffer, 1);
        let at = self.buffer.len();
        put(self.buffer, 0);
        let mut count = 0_u32;
        for segment in segments {
            segment.append(self.buffer);
            count += 1;
        }
        self.buffer[at..at + WORD_OCTETS].copy_from_slice(&count.to_be_bytes());
    }

    /// Ends the header without reply chunk; its octets.
    pub fn end(self) -> usize {
        put(self.buffer, 0);
        put(self.buffer, 0);
        self.buffer.len()
    }

    /// Ends the header with a reply chunk; its octets.
    pub fn reply(mut self, segments: impl IntoIterator<Item = Segment>) -> usize {
        put(self.buffer, 0);
        self.chunk(segments);
        self.buffer.len()
    }
}
