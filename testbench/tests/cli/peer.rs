//! `rnic peer`: what it lists, and whom and what it refuses. Nobody is played at here.

use crate::{file, refuses, refuses_in_one_line, rnic, stdout};

/// A wire that nobody needs: options are checked first.
const LINK: [&str; 3] = ["peer", "--link", "unix-connect:/nowhere/wire"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&LINK[..], more].concat()
}

#[test]
fn the_cases_are_listed_with_clause_and_requirement() {
    let listed = rnic(&["peer", "--list"]);
    assert_eq!(listed.status.code(), Some(0));
    let text = stdout(&listed);
    let crc = text.lines().find(|line| line.starts_with("crc-payload ["));
    let crc = crc.expect("it is a case");
    assert!(crc.contains("RFC 5044") && crc.contains("-054"), "{crc}");
    let last = text.lines().last().expect("a count");
    let count: usize = last
        .split(' ')
        .next()
        .and_then(|word| word.parse().ok())
        .expect("a number");
    assert!(count >= 80 && text.lines().count() == count + 1, "{last}");
    let some = stdout(&rnic(&["peer", "--list", "--group", "markers"]));
    assert!(some.lines().count() < 20, "{some}");
}

#[test]
fn nobody_far_away_is_played_at() {
    let own = ["--own", "192.0.2.9/24"];
    let at = |target| with(&[&own[..], &["--target", target]].concat());
    refuses_in_one_line(&at("192.0.2.1"), &["another user", "--allow"]);
    refuses(&at("192.0.2.255.1"), &["ADDR"]);
    refuses_in_one_line(&at("10.0.0.1"), &["no gateway", "192.0.2.9/24"]);
    refuses(&at("tls=192.0.2.1"), &["markers="]);
    refuses_in_one_line(&with(&own), &["--target", "--clients"]);
    let socket = file("peer.wire", b"");
    let link = format!("unix-connect:{socket}");
    let public = ["peer", "--link", &link, "--own", "192.0.2.9/24", "--target"];
    refuses_in_one_line(
        &[&public[..], &["192.0.2.1"]].concat(),
        &["private", "--allow"],
    );
    refuses(&[&public[..], &["192.0.2.1:0x1"]].concat(), &["ADDR:PORT"]);
}

#[test]
fn what_is_wrong_with_cases_is_said() {
    let list = ["peer", "--list"];
    let ask = |more: &[&str], names: &[&str]| {
        refuses_in_one_line(&[&list[..], more].concat(), names);
    };
    ask(&["--case", "no-such"], &["no-such", "--list"]);
    ask(&["--group", "no-such"], &["no-such", "--list"]);
    ask(
        &["--script", "/nowhere/cases.toml"],
        &["/nowhere/cases.toml"],
    );
    let text = b"group = \"own\"\n\n[[case]]\nname = \"one\"\nwhat = \"w\"\nclause = \"c\"\n\
                 steps = [{ jump = {} }]\nexpect = [\"closed\"]\n";
    let path = file("bad-cases.toml", text);
    ask(&["--script", &path], &[":7: case one:", "jump"]);
}
