//! A capture file as it can be read again and again, unpacked by what it holds.
//!
//! In: a path, `-` for stdin. Out: a reader from its beginning, as often as needed. What is no
//! regular file (stdin, a pipe, `<(...)` of a shell) is copied to a temporary file first, since
//! more than one pass is made. gzip, zstd and xz are unpacked by content, whatever the name ends
//! in.

use super::error::CaptureError;
use super::magic::{GZIP, XZ, ZSTD};
use super::zstd::WholeBlocks;
use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Most that is copied of what can be read only once, in octets.
const SPOOL_OCTETS_MAX: u64 = 64 << 30;
const BUFFER_OCTETS: usize = 1 << 18;
/// Octets that are unpacked at a time.
const CALL_OCTETS: usize = 1 << 12;
/// Memory that unpacking xz may take, in KiB; its own largest setting takes 65 MiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;
/// Zstandard frames that hold no data have one of sixteen magic numbers, `0x184d2a5?`.
const ZSTD_SKIPPED: &[u8] = &[0x2a, 0x4d, 0x18];
const ZSTD_SKIPPED_NIBBLE: u8 = 5;

/// A file, or what takes its place.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Regular,
    /// A temporary file without a name, and its octets.
    Spooled(File, u64),
    Memory(Vec<u8>),
}

impl Source {
    /// Open `path`; what can be read only once is read now.
    pub(crate) fn open(path: &Path) -> Result<Self, CaptureError> {
        let kind = kind(path).map_err(|source| CaptureError::Io {
            path: path.to_path_buf(),
            source,
        })?;
        Ok(Self {
            path: path.to_path_buf(),
            kind,
        })
    }

    /// The octets of a file called `path`.
    pub(crate) fn memory(path: &Path, octets: Vec<u8>) -> Self {
        Self {
            path: path.to_path_buf(),
            kind: Kind::Memory(octets),
        }
    }

    /// Octets copied to a temporary file; `None` where that was not needed.
    pub(crate) fn spooled_octets(&self) -> Option<u64> {
        match self.kind {
            Kind::Spooled(_, octets) => Some(octets),
            _ => None,
        }
    }

    /// Read from the beginning.
    pub(crate) fn reader(&self) -> Result<Unpacked<'_>, CaptureError> {
        let io = |source| CaptureError::Io {
            path: self.path.clone(),
            source,
        };
        let raw: Box<dyn Read> = match &self.kind {
            Kind::Regular => Box::new(File::open(&self.path).map_err(io)?),
            Kind::Spooled(file, _) => {
                let mut file = file;
                file.rewind().map_err(io)?;
                Box::new(file)
            }
            Kind::Memory(octets) => Box::new(octets.as_slice()),
        };
        Unpacked::new(raw).map_err(io)
    }
}

fn kind(path: &Path) -> io::Result<Kind> {
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else if std::fs::metadata(path)?.is_file() {
        return Ok(Kind::Regular);
    } else {
        Box::new(File::open(path)?)
    };
    let mut spool = tempfile::tempfile()?;
    let octets = io::copy(&mut input.take(SPOOL_OCTETS_MAX + 1), &mut spool)?;
    if octets > SPOOL_OCTETS_MAX {
        let limit = SPOOL_OCTETS_MAX >> 30;
        let what = format!("more than {limit} GiB: write them to a file, and play that");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(Kind::Spooled(spool, octets))
}

/// How unpacking failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The packed file ends too early.
    Cut,
    /// Octets follow that are not packed as those before them.
    Foreign,
    /// It cannot be read, or what is packed is damaged.
    Broken(io::Error),
}

/// The octets of a file, unpacked. What cannot be unpacked ends it; [`Unpacked::failure`] says so.
pub(crate) struct Unpacked<'a> {
    input: BufReader<Box<dyn Read + 'a>>,
    failure: Rc<RefCell<Option<Failure>>>,
}

impl<'a> Unpacked<'a> {
    fn new(raw: Box<dyn Read + 'a>) -> io::Result<Self> {
        let mut packed = BufReader::with_capacity(BUFFER_OCTETS, raw);
        // A pipe's first read may give a single octet; these are files.
        let head = packed.fill_buf()?;
        let is_at_end = Rc::new(Cell::new(false));
        let form = [GZIP, ZSTD, XZ]
            .into_iter()
            .find(|magic| head.starts_with(magic));
        let is_skipped = is_skipped(head);
        let watched = Watched {
            input: packed,
            is_at_end: Rc::clone(&is_at_end),
        };
        let plain: Box<dyn Read + 'a> = match form {
            Some(GZIP) => Box::new(Members::<GzDecoder<_>>::new(watched)),
            Some(XZ) => Box::new(XzReader::new_mem_limit(watched, true, XZ_MEMORY_KIB)),
            _ if is_skipped || form == Some(ZSTD) => {
                Box::new(Members::<StreamingDecoder<_, _>>::new(watched))
            }
            _ => Box::new(watched),
        };
        let failure = Rc::default();
        let lenient = Lenient {
            input: plain,
            is_at_end,
            failure: Rc::clone(&failure),
        };
        Ok(Self {
            input: BufReader::with_capacity(BUFFER_OCTETS, Box::new(lenient)),
            failure,
        })
    }

    /// What ended it, if it was not its end.
    pub(crate) fn failure(&self) -> Rc<RefCell<Option<Failure>>> {
        Rc::clone(&self.failure)
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer)
    }
}

impl BufRead for Unpacked<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, octets: usize) {
        self.input.consume(octets);
    }
}

/// Notes when more was wanted than there is.
struct Watched<R> {
    input: R,
    is_at_end: Rc<Cell<bool>>,
}

impl<R: BufRead> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let octets = self.input.read(buffer)?;
        if octets == 0 && !buffer.is_empty() {
            self.is_at_end.set(true);
        }
        Ok(octets)
    }
}

impl<R: BufRead> BufRead for Watched<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let octets = self.input.fill_buf()?;
        if octets.is_empty() {
            self.is_at_end.set(true);
        }
        Ok(octets)
    }

    fn consume(&mut self, octets: usize) {
        self.input.consume(octets);
    }
}

/// Ends where its input fails: what was read until then is whole.
struct Lenient<R> {
    input: R,
    is_at_end: Rc<Cell<bool>>,
    failure: Rc<RefCell<Option<Failure>>>,
}

impl<R: Read> Read for Lenient<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.failure.borrow().is_some() {
            return Ok(0);
        }
        // A decoder that fails keeps what it had unpacked for the same call.
        let octets = buffer.len().min(CALL_OCTETS);
        let error = match self.input.read(&mut buffer[..octets]) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => error,
            octets => return octets,
        };
        let is_foreign = error.get_ref().is_some_and(|inner| inner.is::<Foreign>());
        let failure = match self.is_at_end.get() {
            _ if is_foreign => Failure::Foreign,
            true => Failure::Cut,
            false => Failure::Broken(error),
        };
        self.failure.replace(Some(failure));
        Ok(0)
    }
}

/// What is packed in members that follow each other; zeros after the last one are its end, as for
/// gzip's own program.
struct Members<D: Member> {
    state: State<D>,
    has_one: bool,
}

/// What follows the members is none.
#[derive(Debug, thiserror::Error)]
#[error("octets follow that are not packed")]
struct Foreign;

enum State<D: Member> {
    Between(D::Input),
    Inside(Box<D>),
    Ended,
}

/// A decoder of one member.
trait Member: Read + Sized {
    type Input: BufRead;
    /// Whether a member may begin with this octet.
    fn may_begin(first: u8) -> bool;
    /// Begin the member that `input` is at; `None` if there was only something to pass over.
    fn begin(input: Self::Input) -> io::Result<Result<Self, Self::Input>>;
    /// Check what came out, whole, and go on after it.
    fn end(self) -> io::Result<Self::Input>;
}

impl<D: Member> Members<D> {
    fn new(input: D::Input) -> Self {
        Self {
            state: State::Between(input),
            has_one: false,
        }
    }
}

impl<D: Member> Read for Members<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Between(mut input) => {
                    match next_octet(&mut input)? {
                        None => return Ok(0),
                        Some(first) if self.has_one && !D::may_begin(first) => {
                            return Err(io::Error::new(io::ErrorKind::InvalidData, Foreign));
                        }
                        Some(_) => self.has_one = true,
                    }
                    self.state = match D::begin(input)? {
                        Ok(member) => State::Inside(Box::new(member)),
                        Err(input) => State::Between(input),
                    };
                }
                State::Inside(mut member) => {
                    let octets = member.read(buffer)?;
                    if octets > 0 || buffer.is_empty() {
                        self.state = State::Inside(member);
                        return Ok(octets);
                    }
                    self.state = State::Between(member.end()?);
                }
                State::Ended => return Ok(0),
            }
        }
    }
}

/// The first octet that is not 0; `None` if nothing follows, or zeros alone.
fn next_octet(input: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let next = input.fill_buf()?;
        match next.first() {
            Some(0) => {}
            first => return Ok(first.copied()),
        }
        let zeros = next.iter().take_while(|&&octet| octet == 0).count();
        input.consume(zeros);
    }
}

impl<R: BufRead> Member for GzDecoder<R> {
    type Input = R;

    fn may_begin(first: u8) -> bool {
        first == GZIP[0]
    }

    fn begin(input: R) -> io::Result<Result<Self, R>> {
        Ok(Ok(GzDecoder::new(input)))
    }

    fn end(self) -> io::Result<R> {
        Ok(self.into_inner())
    }
}

impl<R: BufRead> Member for StreamingDecoder<WholeBlocks<R>, FrameDecoder> {
    type Input = R;

    fn may_begin(first: u8) -> bool {
        first == ZSTD[0] || first >> 4 == ZSTD_SKIPPED_NIBBLE
    }

    fn begin(mut input: R) -> io::Result<Result<Self, R>> {
        // The rest of the magic number may be in the next buffer.
        let first = input.fill_buf()?.first();
        if first.is_some_and(|first| first >> 4 == ZSTD_SKIPPED_NIBBLE) {
            let mut header = [0; 8];
            input.read_exact(&mut header)?;
            if !is_skipped(&header) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, Foreign));
            }
            let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
            let mut rest = input.by_ref().take(u64::from(length));
            io::copy(&mut rest, &mut io::sink())?;
            return Ok(Err(input));
        }
        StreamingDecoder::new(WholeBlocks::new(input))
            .map(Ok)
            .map_err(io::Error::other)
    }

    fn end(self) -> io::Result<R> {
        let (blocks, decoder) = self.into_parts();
        let (input, is_cut) = blocks.into_parts();
        if is_cut {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let stated = decoder.get_checksum_from_data();
        if stated.is_some() && stated != decoder.get_calculated_checksum() {
            let what = "the checksum of its content is wrong";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(input)
    }
}

/// Whether a Zstandard frame that holds no data begins here.
fn is_skipped(head: &[u8]) -> bool {
    head.get(1..4) == Some(ZSTD_SKIPPED) && head[0] >> 4 == ZSTD_SKIPPED_NIBBLE
}
