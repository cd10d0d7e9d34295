//! What an outcome is worth.

use super::case::Case;
use super::expect::{Asked, Expectation, Outcome, Repeats};
use crate::ddp::{self, Terminate};
use crate::kept::End;

/// The verdict of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// What came is what the standard asks for; a remark on what it would rather have.
    AsAsked(Option<String>),
    /// Something else came; what is wrong with it.
    Differs(String),
    /// What came says nothing of the target; why.
    CannotTell(String),
}

/// What a Terminate is to repeat (RFC 5040 section 4.8).
fn judge_terminate(
    repeats: Option<Repeats>,
    terminate: &Terminate,
    end: Option<End>,
    bad: &[u8],
) -> Result<Option<String>, String> {
    if end.is_none() {
        return Err("no end follows the Terminate (RDMAP-020)".into());
    }
    let header_octets = match bad.first() {
        Some(first) if first & 0x80 != 0 => ddp::TAGGED_OCTETS,
        _ => ddp::UNTAGGED_OCTETS,
    };
    let [_, has_ddp, has_rdma] = terminate.control;
    if has_ddp && terminate.segment_octets != Some(bad.len() as u16) {
        let found = terminate.segment_octets.unwrap_or_default();
        let octets = bad.len();
        return Err(format!(
            "its DDP Segment Length is {found}, the segment has {octets}"
        ));
    }
    if has_ddp && bad.get(..header_octets) != Some(&terminate.ddp_header) {
        return Err(format!(
            "the DDP header that it repeats is {:02x?}, that of the segment is {:02x?}",
            terminate.ddp_header,
            bad.get(..header_octets).unwrap_or(bad)
        ));
    }
    if has_rdma && bad.get(header_octets..) != Some(&terminate.read_request) {
        return Err("the Read Request that it repeats is not the one that was sent".into());
    }
    let wanted = match repeats {
        None => (false, false),
        Some(Repeats::Ddp) => (true, false),
        Some(Repeats::ReadRequest) => (true, true),
    };
    let remark = match ((has_ddp, has_rdma), wanted) {
        (found, wanted) if found == wanted => None,
        ((false, _), (true, _)) => Some("it does not repeat the DDP header"),
        ((true, false), (true, true)) => Some("it does not repeat the Read Request"),
        _ => Some("it repeats more headers than it should"),
    };
    // RDMAP-020: gracefully.
    let remark = match (remark, end) {
        (None, Some(End::Reset)) => Some("an RST follows the Terminate, where a FIN is due"),
        (remark, _) => remark,
    };
    Ok(remark.map(str::to_owned))
}

/// Layer and type in the other order. Without flags a control word of little-endian bit fields is
/// one of another cause.
fn is_exchanged(expectation: &Expectation, outcome: &Outcome) -> bool {
    match (expectation.asked, outcome) {
        (Asked::Terminate((layer, kind, code), _), Outcome::Terminate(found, _)) => {
            found.cause == (kind, layer, code) && layer != kind
        }
        _ => false,
    }
}

/// A control word in bit fields of a little-endian machine, which RFC 5040 section 4.8 does not
/// have; whether it would be what is asked for if it were read so.
fn judge_swapped(case: &Case, terminate: &Terminate, end: Option<End>, bad: &[Vec<u8>]) -> String {
    let read = Outcome::Terminate(terminate.clone(), end);
    let inner = match judge(case, &Ok(read), bad) {
        Verdict::AsAsked(None) => "read so, it is what is asked for".into(),
        Verdict::AsAsked(Some(remark)) => format!("read so, {remark}"),
        Verdict::Differs(problem) | Verdict::CannotTell(problem) => format!("read so, {problem}"),
    };
    format!("its control word is laid out by little-endian bit fields (RFC 5040, 4.8); {inner}")
}

/// What `outcome` is worth in `case`. `bad` are the ULPDUs that a Terminate may be about. Where
/// nothing could be seen, `outcome` is the reason.
pub fn judge(case: &Case, outcome: &Result<Outcome, String>, bad: &[Vec<u8>]) -> Verdict {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(why) => return Verdict::CannotTell(why.clone()),
    };
    let mut kept = None;
    for expectation in case.expect.iter().filter(|asked| asked.is(outcome)) {
        let (Asked::Terminate(_, repeats), Outcome::Terminate(terminate, end)) =
            (expectation.asked, outcome)
        else {
            return Verdict::AsAsked(None);
        };
        let none = [Vec::new()];
        let about = if bad.is_empty() { &none } else { bad };
        for ulpdu in about {
            match judge_terminate(repeats, terminate, *end, ulpdu) {
                Ok(remark) => return Verdict::AsAsked(remark),
                Err(problem) => kept = Some(problem),
            }
        }
    }
    if let Some(problem) = kept {
        return Verdict::Differs(problem);
    }
    if let Some((_, why)) = case.cannot_tell.iter().find(|(asked, _)| asked.is(outcome)) {
        return Verdict::CannotTell(why.clone());
    }
    Verdict::Differs(match outcome {
        Outcome::Broken(what) => what.clone(),
        Outcome::Swapped(terminate, end) => judge_swapped(case, terminate, *end, bad),
        _ if case.expect.iter().any(|asked| is_exchanged(asked, outcome)) => {
            "layer and error type stand in each other's place (RFC 5040, 4.8)".into()
        }
        _ => "it is not what the standard asks for".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;
    use crate::mpa;

    fn case(expect: &str, cannot_tell: &str) -> Case {
        let text = format!(
            "group = \"own\"\n[[case]]\nname = \"a\"\nwhat = \"b\"\nclause = \"c\"\n\
             steps = [{{ close = {{}} }}]\nexpect = [{expect}]\ncannot_tell = [{cannot_tell}]\n"
        );
        parse("a.toml", &text).expect("it is good").remove(0)
    }

    fn terminate(cause: (u8, u8, u8), about: &[u8]) -> Terminate {
        Terminate {
            cause,
            control: [true, true, false],
            segment_octets: Some(about.len() as u16),
            ddp_header: about[..ddp::UNTAGGED_OCTETS].to_vec(),
            read_request: Vec::new(),
        }
    }

    /// RFC 5040, 4.8: each verdict comes out, and for each reason.
    #[test]
    fn each_verdict_comes_out() {
        let bad = ddp::send(9, b"nine");
        let of = |outcome: Outcome| {
            let case = case(
                "\"terminate 1 2 0x02 ddp\", \"closed\"",
                "\"silent: it may be slow\"",
            );
            judge(&case, &Ok(outcome), &[ddp::send(1, b""), bad.clone()])
        };
        let ended = |terminate: Terminate| of(Outcome::Terminate(terminate, Some(End::Fin)));
        let good = terminate((1, 2, 2), &bad);
        assert_eq!(ended(good.clone()), Verdict::AsAsked(None));
        assert_eq!(of(Outcome::Closed(End::Reset)), Verdict::AsAsked(None));
        let differs = |verdict: Verdict, word: &str| match verdict {
            Verdict::Differs(why) => assert!(why.contains(word), "{why}"),
            other => panic!("{other:?}"),
        };
        differs(of(Outcome::Terminate(good.clone(), None)), "no end");
        let swapped = of(Outcome::Swapped(good.clone(), Some(End::Fin)));
        differs(swapped, "read so, it is what is asked for");
        let other = Outcome::Swapped(terminate((1, 2, 3), &bad), Some(End::Fin));
        differs(of(other), "read so, it is not what");
        differs(ended(terminate((2, 1, 2), &bad)), "each other's place");
        differs(ended(terminate((1, 2, 3), &bad)), "asks for");
        differs(
            ended(terminate((1, 2, 2), &ddp::send(8, b"nine"))),
            "header",
        );
        differs(ended(terminate((1, 2, 2), &ddp::send(9, b"ten"))), "Length");
        differs(of(Outcome::GoesOn), "asks for");
        differs(of(Outcome::Broken("a wrong CRC".into())), "a wrong CRC");
        let mut bare = good;
        bare.control = [false; 3];
        let remarked = ended(bare);
        assert!(
            matches!(remarked, Verdict::AsAsked(Some(_))),
            "{remarked:?}"
        );
        let slow = Verdict::CannotTell("it may be slow".into());
        assert_eq!(of(Outcome::Silent), slow);
    }

    /// What could not be seen is no success, and no failure of the target's.
    #[test]
    fn what_was_not_seen_is_not_told() {
        let case = case("\"goes on\"", "");
        let verdict = judge(&case, &Err("nobody listens".into()), &[]);
        assert_eq!(verdict, Verdict::CannotTell("nobody listens".into()));
        let octets = mpa::start(&mpa::KEY_REPLY, 0, 1, b"");
        let reply = mpa::StartFrame::read(&octets).expect("whole");
        let verdict = judge(&case, &Ok(Outcome::Reply(reply)), &[]);
        assert!(matches!(verdict, Verdict::Differs(_)));
    }
}
