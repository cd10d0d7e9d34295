//! What `rnic peer` prints and writes: a line a case, counts, JSON.

use rnic_peer::limits::Network;
use rnic_peer::script::{Case, Played, Role, TargetKind, Targets, Verdict};
use serde::Serialize;

/// What became of a case.
#[derive(Debug, Serialize)]
pub(crate) struct CaseReport {
    name: String,
    group: String,
    role: &'static str,
    what: String,
    clause: String,
    ids: Vec<String>,
    expected: Vec<String>,
    found: String,
    verdict: &'static str,
    /// What is wrong, cannot be told, or would be better.
    remark: Option<String>,
    port: u16,
    tries: u32,
    took_ms: u64,
}

const AS_ASKED: &str = "as the standard asks";
const DIFFERS: &str = "differs";
const CANNOT_TELL: &str = "cannot tell";

fn role(case: &Case) -> &'static str {
    match case.role {
        Role::Client => "client",
        Role::Server => "server",
    }
}

impl CaseReport {
    pub(crate) fn new(case: &Case, played: &Played) -> Self {
        let (verdict, remark) = match &played.verdict {
            Verdict::AsAsked(remark) => (AS_ASKED, remark.clone()),
            Verdict::Differs(what) => (DIFFERS, Some(what.clone())),
            Verdict::CannotTell(why) => (CANNOT_TELL, Some(why.clone())),
        };
        Self {
            name: case.name.clone(),
            group: case.group.clone(),
            role: role(case),
            what: case.what.clone(),
            clause: case.clause.clone(),
            ids: case.ids.clone(),
            expected: case.expect.iter().map(ToString::to_string).collect(),
            found: played.found.clone(),
            verdict,
            remark,
            port: played.port,
            tries: played.tries,
            took_ms: played.took.as_millis() as u64,
        }
    }

    /// For people. What is as it should be takes one line.
    pub(crate) fn text(&self) -> String {
        let Self {
            name,
            verdict,
            found,
            ..
        } = self;
        let remark = self.remark.as_deref().filter(|remark| remark != found);
        let remark = remark.map_or(String::new(), |remark| format!("; {remark}"));
        let tries = match self.tries {
            1 => String::new(),
            tries => format!(" ({tries} tries)"),
        };
        if self.verdict == AS_ASKED {
            return format!("{name}: {verdict}{tries}: {found}{remark}");
        }
        let Self { what, clause, .. } = self;
        format!(
            "{name}: {verdict}{tries}: {found}{remark}\n  {what}; expected: {}; {clause}",
            self.expected.join(", or ")
        )
    }
}

/// How many cases had which verdict, and which were not played.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Counts {
    as_asked: usize,
    differs: usize,
    cannot_tell: usize,
    /// They may crash a kernel, and that was not permitted.
    may_crash: usize,
    /// No target was named for them.
    no_target: usize,
}

impl Counts {
    /// Whether a case is played; counted, if it is not.
    pub(crate) fn takes(&mut self, case: &Case, targets: &Targets, may_crash: bool) -> bool {
        if !targets.have(case) {
            self.no_target += 1;
            return false;
        }
        if case.may_crash && !may_crash {
            self.may_crash += 1;
            return false;
        }
        true
    }

    pub(crate) fn note(&mut self, report: &CaseReport) {
        *match report.verdict {
            AS_ASKED => &mut self.as_asked,
            DIFFERS => &mut self.differs,
            _ => &mut self.cannot_tell,
        } += 1;
    }

    /// All that were played are as the standard asks, and there were some.
    pub(crate) fn is_good(&self) -> bool {
        self.as_asked > 0 && self.differs == 0 && self.cannot_tell == 0
    }

    pub(crate) fn text(&self) -> String {
        let played = self.as_asked + self.differs + self.cannot_tell;
        let mut text = format!(
            "{played} cases: {} {AS_ASKED}, {} differ, {} cannot be told",
            self.as_asked, self.differs, self.cannot_tell
        );
        if self.may_crash > 0 {
            let count = self.may_crash;
            text +=
                &format!("\n{count} not played: they may crash a kernel, --may-crash plays them");
        }
        if self.no_target > 0 {
            let count = self.no_target;
            text +=
                &format!("\n{count} not played: --target ADDR or --clients names whom they need");
        }
        text
    }
}

/// Whom cases were played at.
#[derive(Debug, Serialize)]
pub(crate) struct TargetsReport {
    own: Option<String>,
    plain: Option<String>,
    markers: Option<String>,
    no_crc: Option<String>,
    clients: Option<u16>,
}

impl TargetsReport {
    pub(crate) fn new(own: Option<Network>, targets: &Targets) -> Self {
        Self {
            own: own.map(|own| own.to_string()),
            plain: targets.plain.map(|target| target.to_string()),
            markers: targets.markers.map(|target| target.to_string()),
            no_crc: targets.no_crc.map(|target| target.to_string()),
            clients: targets.clients,
        }
    }
}

/// Everything, as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct PeerReport {
    tool: &'static str,
    version: &'static str,
    targets: TargetsReport,
    counts: Counts,
    cases: Vec<CaseReport>,
}

impl PeerReport {
    pub(crate) fn new(targets: TargetsReport, counts: Counts, cases: Vec<CaseReport>) -> Self {
        Self {
            tool: "rnic",
            version: env!("CARGO_PKG_VERSION"),
            targets,
            counts,
            cases,
        }
    }
}

/// The cases, for people.
pub(crate) fn list(cases: &[Case]) -> String {
    let mut text = String::new();
    for case in cases {
        let needs = match case.target {
            TargetKind::Plain => "",
            TargetKind::Markers => ", target markers",
            TargetKind::NoCrc => ", target no-crc",
        };
        let crash = if case.may_crash { ", may crash" } else { "" };
        text += &format!(
            "{} [{}, {}{needs}{crash}]: {}; {}; {}\n",
            case.name,
            case.group,
            role(case),
            case.what,
            case.clause,
            case.ids.join(" ")
        );
    }
    let crash = cases.iter().filter(|case| case.may_crash).count();
    text + &format!("{} cases, {crash} of which may crash a kernel", cases.len())
}
