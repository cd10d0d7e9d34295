//! From octets to a header that was checked.
use super::cursor::Cursor;
use super::header::{Header, Kind};
use super::{checks, code, Caps, Refused, PREFIX_OCTETS, VERSION};

impl<'a> Header<'a> {
    /// The header at the head of a received Send.
    ///
    /// # Errors
    /// The first reason to refuse it; see [`Refused`].
    pub fn parse(octets: &'a [u8], caps: &Caps) -> Result<Self, Refused> {
        let (prefix, rest) = octets
            .split_first_chunk::<PREFIX_OCTETS>()
            .ok_or(Refused::Short)?;
        let field = |at: usize| prefix[at..].first_chunk().copied().unwrap_or_default();
        let [xid, version, credits, kind] = [0, 4, 8, 12].map(|at| u32::from_be_bytes(field(at)));
        match (version, kind) {
            (VERSION, _) => {}
            (_, code::ERROR) => return Err(Refused::OtherVersionError),
            _ => return Err(Refused::Version),
        }
        let mut cursor = Cursor::new(rest, caps);
        let kind = match kind {
            code::MSG => Kind::Msg,
            code::NOMSG => Kind::Nomsg,
            code::MSGP => Kind::Msgp(cursor.padding()?),
            code::DONE => Kind::Done,
            code::ERROR => Kind::Error(cursor.error()?),
            _ => return Err(Refused::Type),
        };
        let none: &[u8] = &[];
        let mut header = Self {
            xid,
            credits,
            kind,
            reads: none,
            writes: none,
            reply: None,
            body: none,
            octets: 0,
        };
        if !matches!(kind, Kind::Done | Kind::Error(_)) {
            header.reads = cursor.reads()?;
            header.writes = cursor.writes()?;
            header.reply = cursor.reply()?;
            header.body = cursor.rest();
        }
        header.octets = octets.len() - cursor.rest().len();
        checks::message(&header, caps)?;
        Ok(header)
    }

    /// What the header of a call must have beyond any other. Its RPC message is in the Send or in
    /// the read chunk of position 0, since a reply chunk is for the reply (RPC-032); and no
    /// position is beyond it, since write chunks are for results.
    ///
    /// # Errors
    /// [`Refused::Nowhere`] or [`Refused::Beyond`].
    pub fn check_call(&self) -> Result<(), Refused> {
        checks::call(self)
    }
}
