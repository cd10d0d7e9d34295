//! A header as one line of words, for a log that another dissector can be held against.
use super::{ErrorBody, Header, Kind, Segment};
use std::fmt;

/// `HANDLE:LENGTH:OFFSET`.
fn segment(formatter: &mut fmt::Formatter<'_>, segment: Segment) -> fmt::Result {
    let Segment {
        handle,
        length,
        offset,
    } = segment;
    write!(formatter, " {handle:#010x}:{length}:{offset:#x}")
}

/// Words after the type: what a type has beside the lists.
impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Msg => formatter.write_str("MSG"),
            Self::Nomsg => formatter.write_str("NOMSG"),
            Self::Msgp(padding) => {
                write!(
                    formatter,
                    "MSGP align {} threshold {}",
                    padding.align, padding.threshold
                )
            }
            Self::Done => formatter.write_str("DONE"),
            Self::Error(ErrorBody::Versions { low, high }) => {
                write!(formatter, "ERROR versions {low} {high}")
            }
            Self::Error(ErrorBody::Chunk) => formatter.write_str("ERROR chunk"),
            Self::Error(ErrorBody::Other { code, .. }) => write!(formatter, "ERROR {code}"),
        }
    }
}

/// `xid X vers 1 credits C TYPE`, then `read POSITION HANDLE:LENGTH:OFFSET` for each segment of the
/// read list, `write` or `reply` with its segments for each other chunk.
impl fmt::Display for Header<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (xid, version, credits) = (self.xid(), self.version(), self.credits());
        write!(
            formatter,
            "xid {xid:#010x} vers {version} credits {credits}"
        )?;
        write!(formatter, " {}", self.kind())?;
        for read in self.reads() {
            write!(formatter, " read {}", read.position)?;
            segment(formatter, read.segment)?;
        }
        let writes = self.writes().map(|chunk| ("write", chunk));
        for (name, chunk) in writes.chain(self.reply().map(|chunk| ("reply", chunk))) {
            write!(formatter, " {name}")?;
            chunk
                .segments()
                .try_for_each(|one| segment(formatter, one))?;
        }
        Ok(())
    }
}
