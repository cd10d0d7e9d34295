//! A capture file as it can be read again and again, unpacked by what it holds.
//!
//! In: a path, `-` for stdin. Out: a reader from its beginning, as often as needed. What is no
//! regular file (stdin, a pipe, `<(...)` of a shell) is copied to a temporary file first, since
//! more than one pass is made. gzip, zstd and xz are unpacked by content, whatever the name ends
//! in.

use super::error::CaptureError;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Most that is copied of what can be read only once, in octets.
const SPOOL_OCTETS_MAX: u64 = 64 << 30;
const BUFFER_OCTETS: usize = 1 << 18;
/// Octets that are unpacked at a time.
const CALL_OCTETS: usize = 1 << 12;
/// Memory that unpacking xz may take, in KiB; its own largest setting takes 65 MiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
/// Zstandard frames that hold no data have one of sixteen magic numbers, `0x184d2a5?`.
const ZSTD_SKIPPED: &[u8] = &[0x2a, 0x4d, 0x18];

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
        let is_skipped = head.get(1..4) == Some(ZSTD_SKIPPED) && head[0] >> 4 == 5;
        let watched = Watched {
            input: packed,
            is_at_end: Rc::clone(&is_at_end),
        };
        let plain: Box<dyn Read + 'a> = match form {
            Some(GZIP) => Box::new(MultiGzDecoder::new(watched)),
            Some(XZ) => Box::new(XzReader::new_mem_limit(watched, true, XZ_MEMORY_KIB)),
            Some(ZSTD) => Box::new(ZstdFrames::new(watched)),
            _ if is_skipped => Box::new(ZstdFrames::new(watched)),
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

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let octets = self.input.read(buffer)?;
        if octets == 0 && !buffer.is_empty() {
            self.is_at_end.set(true);
        }
        Ok(octets)
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
        let failure = match self.is_at_end.get() {
            true => Failure::Cut,
            false => Failure::Broken(error),
        };
        self.failure.replace(Some(failure));
        Ok(0)
    }
}

/// Zstandard frames, one after another; those that hold no data are left out. Of a frame that is
/// cut only what is further back than its window comes out.
struct ZstdFrames<R: Read> {
    state: Zstd<R>,
}

/// A frame whose magic number was read before the rest.
type ZstdFrame<R> = StreamingDecoder<Chain<Cursor<[u8; 4]>, R>, FrameDecoder>;

enum Zstd<R: Read> {
    Between(R),
    Inside(Box<ZstdFrame<R>>),
    Ended,
}

impl<R: Read> ZstdFrames<R> {
    fn new(input: R) -> Self {
        Self {
            state: Zstd::Between(input),
        }
    }

    /// Begin the next frame with data; false at the end.
    fn begin(&mut self, mut input: R) -> io::Result<bool> {
        loop {
            let mut magic = [0; 4];
            let mut have = 0;
            while have < magic.len() {
                match input.read(&mut magic[have..])? {
                    0 if have == 0 => return Ok(false),
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    octets => have += octets,
                }
            }
            if magic[1..] == *ZSTD_SKIPPED && magic[0] >> 4 == 5 {
                let mut length = [0; 4];
                input.read_exact(&mut length)?;
                let length = u64::from(u32::from_le_bytes(length));
                io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
                continue;
            }
            let whole = Cursor::new(magic).chain(input);
            let decoder = StreamingDecoder::new(whole).map_err(io::Error::other)?;
            self.state = Zstd::Inside(Box::new(decoder));
            return Ok(true);
        }
    }
}

impl<R: Read> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, Zstd::Ended) {
                Zstd::Between(input) => {
                    if !self.begin(input)? {
                        return Ok(0);
                    }
                }
                Zstd::Inside(mut decoder) => {
                    let octets = decoder.read(buffer)?;
                    if octets > 0 || buffer.is_empty() {
                        self.state = Zstd::Inside(decoder);
                        return Ok(octets);
                    }
                    self.state = Zstd::Between(decoder.into_inner().into_inner().1);
                }
                Zstd::Ended => return Ok(0),
            }
        }
    }
}
