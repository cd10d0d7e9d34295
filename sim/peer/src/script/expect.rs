//! How a case can end, and what the standard asks for.
//!
//! ```text
//!  closed | silent | goes on | rejected
//!  reply [revision=N] [set=LETTERS] [clear=LETTERS] [ird=N] [ord=N]
//!  terminate LAYER TYPE CODE [bare|ddp|read]
//! ```

use crate::ddp::Terminate;
use crate::kept::End;
use crate::mpa::{self, StartFrame};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// What came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The connection works after what the case did.
    GoesOn,
    /// A start-up frame that does not reject.
    Reply(StartFrame),
    /// One that rejects.
    Rejected(StartFrame),
    /// The end, without a Terminate or a start-up frame before it.
    Closed(End),
    /// A Terminate, and the end after it if there was one.
    Terminate(Terminate, Option<End>),
    /// One whose control word is laid out by little-endian bit fields, not as RFC 5040 has it.
    Swapped(Terminate, Option<End>),
    /// Nothing, in the time of the case.
    Silent,
    /// What no end may send, whatever was done to it.
    Broken(String),
}

/// What a Terminate repeats of the segment that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// Its DDP header.
    Ddp,
    /// That, and the payload of a Read Request.
    ReadRequest,
}

/// Conditions on a Reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplyTerms {
    revision: Option<u8>,
    set: u8,
    clear: u8,
    ird: Option<u16>,
    ord: Option<u16>,
}

/// What the standard asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    GoesOn,
    Reply(ReplyTerms),
    Rejected,
    Closed,
    Terminate((u8, u8, u8), Option<Repeats>),
    Silent,
}

/// What the standard asks for, as it stands in the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    text: String,
    pub(crate) asked: Asked,
}

impl Display for Expectation {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Bits of flags by their letters.
pub(crate) fn flags(letters: &str) -> Option<u8> {
    letters.chars().try_fold(0, |flags, letter| {
        let flag = match letter {
            'M' => mpa::FLAG_MARKERS,
            'C' => mpa::FLAG_CRC,
            'R' => mpa::FLAG_REJECTED,
            'S' => mpa::FLAG_ENHANCED,
            _ => return None,
        };
        Some(flags | flag)
    })
}

/// A number, decimal or 0x and hex digits.
pub(crate) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn reply_terms(words: &[&str]) -> Option<ReplyTerms> {
    let mut terms = ReplyTerms::default();
    for word in words {
        let (name, value) = word.split_once('=')?;
        let small = || number(value).and_then(|number| u16::try_from(number).ok());
        match name {
            "revision" => terms.revision = Some(u8::try_from(number(value)?).ok()?),
            "set" => terms.set = flags(value)?,
            "clear" => terms.clear = flags(value)?,
            "ird" => terms.ird = Some(small()?),
            "ord" => terms.ord = Some(small()?),
            _ => return None,
        }
    }
    Some(terms)
}

fn terminate(words: &[&str]) -> Option<Asked> {
    let ([layer, kind, code], rest) = words.split_first_chunk()?;
    let field = |text: &str, most: u8| {
        let value = u8::try_from(number(text)?).ok()?;
        (value <= most).then_some(value)
    };
    let cause = (field(layer, 15)?, field(kind, 15)?, field(code, 255)?);
    let repeats = match rest {
        [] | ["bare"] => None,
        ["ddp"] => Some(Repeats::Ddp),
        ["read"] => Some(Repeats::ReadRequest),
        _ => return None,
    };
    Some(Asked::Terminate(cause, repeats))
}

impl FromStr for Expectation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let asked = match words[..] {
            ["goes", "on"] => Some(Asked::GoesOn),
            ["closed"] => Some(Asked::Closed),
            ["rejected"] => Some(Asked::Rejected),
            ["silent"] => Some(Asked::Silent),
            ["reply", ..] => reply_terms(&words[1..]).map(Asked::Reply),
            ["terminate", ..] => terminate(&words[1..]),
            _ => None,
        };
        let asked = asked.ok_or_else(|| {
            format!(
                "\"{text}\" is no outcome; use \"closed\", \"silent\", \"goes on\", \"rejected\", \
                 \"reply [revision=N] [set=LETTERS] [clear=LETTERS] [ird=N] [ord=N]\" or \
                 \"terminate LAYER TYPE CODE [bare|ddp|read]\""
            )
        })?;
        let text = words.join(" ");
        Ok(Self { text, asked })
    }
}

impl ReplyTerms {
    /// Whether a Reply is so. IRD and ORD are the most that may be said: 14 bits each.
    fn fit(&self, frame: &StartFrame) -> bool {
        let is_at_most = |most: Option<u16>, at: usize| match (most, frame.enhanced()) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(most), Some(words)) => words[at] & 0x3fff <= most,
        };
        self.revision
            .is_none_or(|revision| frame.revision == revision)
            && frame.flags & self.set == self.set
            && frame.flags & self.clear == 0
            && is_at_most(self.ird, 0)
            && is_at_most(self.ord, 1)
    }
}

impl Expectation {
    /// Whether this came. What a Terminate repeats is checked apart.
    pub(crate) fn is(&self, outcome: &Outcome) -> bool {
        match (self.asked, outcome) {
            (Asked::GoesOn, Outcome::GoesOn)
            | (Asked::Rejected, Outcome::Rejected(_))
            | (Asked::Closed, Outcome::Closed(_))
            | (Asked::Silent, Outcome::Silent) => true,
            (Asked::Reply(terms), Outcome::Reply(frame)) => terms.fit(frame),
            (Asked::Terminate(cause, _), Outcome::Terminate(found, _)) => found.cause == cause,
            _ => false,
        }
    }
}

/// A start-up frame in short.
fn shown(frame: &StartFrame) -> String {
    let letters = [
        ('M', mpa::FLAG_MARKERS),
        ('C', mpa::FLAG_CRC),
        ('R', mpa::FLAG_REJECTED),
        ('S', mpa::FLAG_ENHANCED),
    ];
    let set = letters.iter().filter(|(_, flag)| frame.has(*flag));
    let set: String = set.map(|(letter, _)| *letter).collect();
    let set = if set.is_empty() { "none".into() } else { set };
    let mut text = format!("revision {}, flags {set}", frame.revision);
    if let Some([ird, ord]) = frame.enhanced() {
        text += &format!(", IRD {}, ORD {}", ird & 0x3fff, ord & 0x3fff);
    }
    text
}

impl Display for Outcome {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::GoesOn => formatter.write_str("goes on"),
            Self::Reply(frame) => write!(formatter, "reply: {}", shown(frame)),
            Self::Rejected(frame) => write!(formatter, "rejected: {}", shown(frame)),
            Self::Closed(End::Fin) => formatter.write_str("closed by a FIN"),
            Self::Closed(End::Reset) => formatter.write_str("closed by an RST"),
            Self::Terminate(terminate, end) | Self::Swapped(terminate, end) => {
                if matches!(self, Self::Swapped(..)) {
                    formatter.write_str("in little-endian bit fields: ")?;
                }
                let (layer, kind, code) = terminate.cause;
                write!(formatter, "terminate {layer} {kind} {code:#04x}")?;
                match terminate.control {
                    [false, ..] => formatter.write_str(" bare")?,
                    [true, _, false] => formatter.write_str(" ddp")?,
                    [true, _, true] => formatter.write_str(" read")?,
                }
                match end {
                    Some(End::Fin) => formatter.write_str(", then a FIN"),
                    Some(End::Reset) => formatter.write_str(", then an RST"),
                    None => formatter.write_str(", and no end"),
                }
            }
            Self::Silent => formatter.write_str("nothing"),
            Self::Broken(what) => formatter.write_str(what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_outcome_is_refused() {
        for text in [
            "",
            "dies",
            "terminate 1 2",
            "terminate 16 0 0",
            "terminate 1 2 256",
            "terminate 1 2 0x06 header",
            "reply colour=red",
            "reply set=X",
            "reply revision=300",
        ] {
            assert!(text.parse::<Expectation>().is_err(), "{text}");
        }
        let expected: Expectation = "terminate  1 2 0x06  ddp".parse().expect("one");
        assert_eq!(expected.to_string(), "terminate 1 2 0x06 ddp");
        let asked = Asked::Terminate((1, 2, 6), Some(Repeats::Ddp));
        assert_eq!(expected.asked, asked);
    }

    #[test]
    fn each_term_of_a_reply_counts() {
        let octets = mpa::start_enhanced(&mpa::KEY_REPLY, mpa::FLAG_CRC, [2, 3], b"");
        let reply = Outcome::Reply(StartFrame::read(&octets).expect("whole"));
        let is = |text: &str| text.parse::<Expectation>().expect("one").is(&reply);
        for good in [
            "reply",
            "reply revision=2 set=CS clear=MR ird=2 ord=3",
            "reply ird=9",
        ] {
            assert!(is(good), "{good}");
        }
        for bad in [
            "reply revision=1",
            "reply set=M",
            "reply set=MC",
            "reply clear=C",
            "reply ird=1",
            "reply ord=2",
            "rejected",
            "closed",
        ] {
            assert!(!is(bad), "{bad}");
        }
    }
}
