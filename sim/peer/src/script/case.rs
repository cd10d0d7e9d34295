//! A case: what it is about, what the peer does, what the standard asks for.

use super::expect::Expectation;
use super::step::{Awaited, Segment, Step};
use serde::Deserialize;

/// Which end the peer is.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It opens the connection and sends the Request; the target is `rping -s`.
    #[default]
    Client,
    /// It waits for the connection and the Request; the target is `rping -c`.
    Server,
}

/// How the target has to be set for a case.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// As it is.
    #[default]
    Plain,
    /// It asks for markers.
    Markers,
    /// It does not ask for CRC32C.
    NoCrc,
}

/// A case as it stands in a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    name: String,
    what: String,
    clause: String,
    #[serde(default)]
    ids: Vec<String>,
    #[serde(default)]
    role: Role,
    #[serde(default)]
    target: TargetKind,
    #[serde(default)]
    may_crash: bool,
    #[serde(default)]
    before: Vec<Step>,
    steps: Vec<Step>,
    expect: Vec<String>,
    #[serde(default)]
    cannot_tell: Vec<String>,
    #[serde(default)]
    patience_ms: Option<u64>,
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name: small letters, digits and `-`.
    pub name: String,
    /// The group of its file.
    pub group: String,
    /// What is done, in a line.
    pub what: String,
    /// Where the standard says what is to follow.
    pub clause: String,
    /// Rows of docs/requirements.csv.
    pub ids: Vec<String>,
    /// Which end the peer is.
    pub role: Role,
    /// How the target has to be set.
    pub target: TargetKind,
    /// A kernel that parses headers without care may crash.
    pub may_crash: bool,
    /// What the standard asks for: one of these.
    pub expect: Vec<Expectation>,
    /// Outcomes that say nothing of the target, each with the reason.
    pub(crate) cannot_tell: Vec<(Expectation, String)>,
    pub(crate) before: Vec<Step>,
    pub(crate) steps: Vec<Step>,
    pub(crate) patience_ms: Option<u64>,
}

/// What is longer has no purpose.
const PATIENCE_MS_MAX: u64 = 600_000;
/// Octets of a segment's payload.
const OCTETS_MAX: u32 = 65_535 - 18;

fn segments(step: &Step) -> Option<&Segment> {
    match step {
        Step::Send(segment)
        | Step::SendInvalidate(segment)
        | Step::Write(segment)
        | Step::Read(segment)
        | Step::Response(segment)
        | Step::Terminate(segment)
        | Step::Empty(segment) => Some(segment),
        _ => None,
    }
}

fn check_segment(step: &Step, segment: &Segment) -> Result<(), String> {
    let fields = [
        ("ddp_version", segment.ddp_version, 3),
        ("rdmap_version", segment.rdmap_version, 3),
        ("opcode", segment.opcode, 15),
    ];
    for (name, value, most) in fields {
        if value.is_some_and(|value| value > most) {
            return Err(format!("{name} is at most {most}"));
        }
    }
    let is_read = matches!(step, Step::Read(_));
    if !is_read && segment.octets.is_some_and(|octets| octets > OCTETS_MAX) {
        return Err(format!("octets of a segment are at most {OCTETS_MAX}"));
    }
    let is_hex = |text: &String| u64::from_str_radix(text.trim_start_matches("0x"), 16).is_ok();
    if segment.to.as_ref().is_some_and(|to| !is_hex(to)) {
        return Err("to is hex digits, at most 16, as text".into());
    }
    if segment
        .flip
        .is_some_and(|[_, bits]| !(1..=255).contains(&bits))
    {
        return Err("flip is [octet, bits], with bits of 1 to 255".into());
    }
    if segment
        .times
        .is_some_and(|times| !(1..=1000).contains(&times))
    {
        return Err("times is 1 to 1000".into());
    }
    Ok(())
}

/// What only one end does.
fn is_for(step: &Step, role: Role) -> bool {
    let needed = match step {
        Step::Request(_) | Step::Response(_) => Role::Client,
        Step::Await(Awaited::Reply | Awaited::Read | Awaited::GoAhead | Awaited::Write) => {
            Role::Client
        }
        Step::Reply(_) => Role::Server,
        Step::Await(Awaited::Request | Awaited::Source | Awaited::Sink | Awaited::Response) => {
            Role::Server
        }
        _ => role,
    };
    needed == role
}

impl Written {
    /// Check what a type cannot say.
    pub(crate) fn check(self, group: &str) -> Result<Case, String> {
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        let name = &self.name;
        if name.is_empty() || !name.chars().all(|letter| is_name(letter) || letter == '-') {
            return Err("a name is small letters, digits and -".into());
        }
        for (field, text) in [("what", &self.what), ("clause", &self.clause)] {
            if text.trim().is_empty() {
                return Err(format!("{field} is empty"));
            }
        }
        if self.steps.is_empty() || self.expect.is_empty() {
            return Err("steps and expect have one entry at least".into());
        }
        if self.patience_ms.is_some_and(|ms| ms > PATIENCE_MS_MAX) {
            return Err(format!("patience_ms is at most {PATIENCE_MS_MAX}"));
        }
        for step in self.before.iter().chain(&self.steps) {
            if !is_for(step, self.role) {
                let role = self.role;
                return Err(format!("the role {role:?} does not do this: {step:?}"));
            }
            if let Some(segment) = segments(step) {
                check_segment(step, segment)?;
            }
            if let Step::Request(frame) | Step::Reply(frame) = step {
                let is_octet = frame.key_flip.is_none_or(|[at, _]| at < 16);
                if super::expect::flags(&frame.flags).is_none() || !is_octet {
                    return Err("flags are letters of MCRS, key_flip is of octets 0 to 15".into());
                }
            }
        }
        let expect = self.expect.iter().map(|text| text.parse());
        let expect = expect.collect::<Result<_, _>>()?;
        let cannot_tell = self.cannot_tell.iter().map(|text| {
            let (outcome, why) = text.split_once(": ").ok_or_else(|| {
                format!("\"{text}\": cannot_tell has an outcome, a colon and the reason")
            })?;
            Ok::<_, String>((outcome.parse()?, why.to_owned()))
        });
        let cannot_tell = cannot_tell.collect::<Result<_, _>>()?;
        Ok(Case {
            name: self.name,
            group: group.into(),
            what: self.what,
            clause: self.clause,
            ids: self.ids,
            role: self.role,
            target: self.target,
            may_crash: self.may_crash,
            expect,
            cannot_tell,
            before: self.before,
            steps: self.steps,
            patience_ms: self.patience_ms,
        })
    }
}
