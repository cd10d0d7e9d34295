//! Start-up frames that are none, and what the end that is judged says of them.

use crate::hostile_ground::settings;
use crate::stranger::mpa::{
    start, start_enhanced, Framing, FLAG_CRC, FLAG_ENHANCED, FLAG_REJECTED, KEY_REPLY, KEY_REQUEST,
    PEER_TO_PEER,
};
use crate::stranger::{Conn, End};
use rnic_driver::verbs::endpoint::EndpointError;
use rnic_iwarp::startup::{Settings, StartupError};

/// A frame, and what the end that is judged says of it.
pub struct Case {
    pub name: &'static str,
    /// How its start-up is set otherwise.
    pub set: fn(&mut Settings),
    pub octets: fn() -> Vec<u8>,
    /// A FIN follows.
    pub ends: bool,
    pub error: StartupError,
}

impl Case {
    const fn new(name: &'static str, octets: fn() -> Vec<u8>, error: StartupError) -> Self {
        Self {
            name,
            set: |_| {},
            octets,
            ends: false,
            error,
        }
    }

    const fn set(self, set: fn(&mut Settings)) -> Self {
        Self { set, ..self }
    }

    const fn cut(self) -> Self {
        let ends = true;
        Self { ends, ..self }
    }

    pub fn settings(&self) -> Settings {
        let mut settings = settings(false);
        (self.set)(&mut settings);
        settings
    }

    /// Send it, in one segment or octet by octet (START-003). What comes too early shares a segment
    /// with the last octet before it: alone it may find an end that has started well.
    pub fn say(&self, conn: &Conn, singly: bool) {
        let octets = (self.octets)();
        let single = match self.error {
            _ if !singly => 0,
            StartupError::Early { octet } => octet - 1,
            _ => octets.len(),
        };
        conn.send_singly(&octets[..single]);
        if single < octets.len() {
            conn.send(&octets[single..]);
        }
        if self.ends {
            conn.close();
        }
    }

    /// How the end that is judged ends TCP: octets that come too early are lost with it, so that
    /// the peer has to know (START-041).
    pub fn end(&self) -> End {
        match self.error {
            StartupError::Early { .. } => End::Reset,
            _ => End::Fin,
        }
    }

    pub fn judge(&self, error: EndpointError) {
        let EndpointError::StartupFailed { error, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(error, self.error);
    }
}

/// A frame with another octet.
fn changed(mut frame: Vec<u8>, at: usize, octet: u8) -> Vec<u8> {
    frame[at] = octet;
    frame
}

/// A frame of revision 1 with as many octets of Private Data.
fn plain(key: &[u8; 16], octets: usize) -> Vec<u8> {
    start(key, FLAG_CRC, 1, &vec![0x5a; octets])
}

/// A frame, and an FPDU after it.
fn with_fpdu(mut frame: Vec<u8>) -> Vec<u8> {
    frame.extend(Framing::new(false).fpdu(&[]).octets);
    frame
}

const fn key(octet: usize, found: u8, expected: u8) -> StartupError {
    StartupError::Key {
        octet,
        found,
        expected,
    }
}

const fn revision(found: u8, lowest: u8, highest: u8) -> StartupError {
    StartupError::Revision {
        found,
        lowest,
        highest,
    }
}

const fn long(found_octets: usize, max_octets: usize) -> StartupError {
    StartupError::PrivateDataLength {
        found_octets,
        max_octets,
    }
}

const fn cut_short(found_octets: usize, needed_octets: usize) -> StartupError {
    StartupError::CutShort {
        found_octets,
        needed_octets,
    }
}

/// What must not be a Request.
pub const REQUESTS: [Case; 17] = [
    Case::new(
        "first octet",
        || changed(plain(&KEY_REQUEST, 0), 0, 0x4c),
        key(0, 0x4c, 0x4d),
    ),
    Case::new(
        "lower-case f",
        || changed(plain(&KEY_REQUEST, 0), 11, 0x66),
        key(11, 0x66, 0x46),
    ),
    Case::new(
        "last octet",
        || changed(plain(&KEY_REQUEST, 0), 15, 0),
        key(15, 0, 0x65),
    ),
    Case::new(
        "octet 10",
        || changed(plain(&KEY_REQUEST, 0), 10, 0x71),
        key(10, 0x71, 0x20),
    ),
    Case::new(
        "a Reply",
        || plain(&KEY_REPLY, 0),
        StartupError::ReplyToResponder,
    ),
    Case::new(
        "revision 0",
        || changed(plain(&KEY_REQUEST, 0), 17, 0),
        revision(0, 1, 2),
    ),
    Case::new(
        "revision 3",
        || changed(plain(&KEY_REQUEST, 0), 17, 3),
        revision(3, 1, 2),
    ),
    Case::new(
        "revision 1 to one of 0",
        || plain(&KEY_REQUEST, 0),
        revision(1, 0, 0),
    )
    .set(|settings| {
        (settings.revision, settings.revision_min) = (0, 0);
        settings.answer_newer = false;
    }),
    Case::new("513 octets", || plain(&KEY_REQUEST, 513), long(513, 512)),
    Case::new(
        "65535 octets",
        || plain(&KEY_REQUEST, 65_535),
        long(65_535, 512),
    ),
    Case::new(
        "more than the application takes",
        || plain(&KEY_REQUEST, 65),
        long(65, 64),
    )
    .set(|settings| settings.private_data_octets_max = 64),
    Case::new(
        "S without its octets",
        || start(&KEY_REQUEST, FLAG_CRC | FLAG_ENHANCED, 2, &[0; 3]),
        StartupError::EnhancedLength { found_octets: 3 },
    ),
    Case::new("a FIN alone", Vec::new, StartupError::Closed).cut(),
    Case::new(
        "19 octets",
        || plain(&KEY_REQUEST, 0)[..19].to_vec(),
        cut_short(19, 20),
    )
    .cut(),
    Case::new(
        "half of its Private Data",
        || plain(&KEY_REQUEST, 10)[..25].to_vec(),
        cut_short(25, 30),
    )
    .cut(),
    Case::new(
        "an FPDU after it",
        || with_fpdu(plain(&KEY_REQUEST, 3)),
        StartupError::Early { octet: 23 },
    ),
    Case::new(
        "TLS",
        || b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and so on".to_vec(),
        key(0, 0x16, 0x4d),
    ),
];

/// What must not be a Reply, to a Request of revision 2 without A.
pub const REPLIES: [Case; 15] = [
    Case::new(
        "first octet",
        || changed(plain(&KEY_REPLY, 0), 0, 0x4c),
        key(0, 0x4c, 0x4d),
    ),
    Case::new(
        "lower-case f",
        || changed(plain(&KEY_REPLY, 0), 11, 0x66),
        key(11, 0x66, 0x46),
    ),
    Case::new(
        "a Request",
        || plain(&KEY_REQUEST, 0),
        StartupError::BothInitiate,
    ),
    Case::new(
        "revision 0",
        || changed(plain(&KEY_REPLY, 0), 17, 0),
        revision(0, 1, 2),
    ),
    Case::new(
        "revision 3",
        || changed(plain(&KEY_REPLY, 0), 17, 3),
        revision(3, 1, 2),
    ),
    Case::new(
        "revision 2 to a Request of 1",
        || start_enhanced(&KEY_REPLY, FLAG_CRC, [1, 1], b""),
        revision(2, 1, 1),
    )
    .set(|settings| settings.revision = 1),
    Case::new("513 octets", || plain(&KEY_REPLY, 513), long(513, 512)),
    Case::new(
        "more than the application takes",
        || plain(&KEY_REPLY, 65),
        long(65, 64),
    )
    .set(|settings| settings.private_data_octets_max = 64),
    Case::new(
        "S without its octets",
        || start(&KEY_REPLY, FLAG_CRC | FLAG_ENHANCED, 2, &[]),
        StartupError::EnhancedLength { found_octets: 0 },
    ),
    Case::new(
        "A that was not asked for",
        || start_enhanced(&KEY_REPLY, FLAG_CRC, [PEER_TO_PEER | 1, 1], b""),
        StartupError::PeerToPeerUnasked,
    ),
    Case::new("a FIN alone", Vec::new, StartupError::Closed).cut(),
    Case::new("16 octets", || KEY_REPLY.to_vec(), cut_short(16, 20)).cut(),
    Case::new(
        "half of its Private Data",
        || plain(&KEY_REPLY, 10)[..25].to_vec(),
        cut_short(25, 30),
    )
    .cut(),
    Case::new(
        "an FPDU after it",
        || with_fpdu(plain(&KEY_REPLY, 0)),
        StartupError::Early { octet: 20 },
    ),
    Case::new(
        "a rejection that is cut",
        || start(&KEY_REPLY, FLAG_CRC | FLAG_REJECTED, 1, b"because")[..22].to_vec(),
        cut_short(22, 27),
    )
    .cut(),
];
