use super::*;
use crate::core_ports::{CorePort, Direction};
use crate::names::Form;
use crate::plan::{plan, Connection};
use std::collections::BTreeMap;
use std::sync::LazyLock;

fn small() -> Sizes {
    Sizes::SMALLEST
}

/// What most tests look at, made once.
static FOLDER_64: LazyLock<Folder> = LazyLock::new(|| folder(64));

type Folder = BTreeMap<&'static str, String>;

fn folder(width: usize) -> Folder {
    let files = files(width, small()).expect("the core is emitted, and every port has a name");
    files
        .into_iter()
        .map(|file| (file.path, file.text))
        .collect()
}

/// Pins of the instance of the core: port of the core and net.
fn pins(wrapper: &str) -> Vec<(&str, &str)> {
    let (_, instance) = wrapper.split_once("rnic core (").expect("an instance");
    let (instance, _) = instance.split_once(");\n").expect("it ends");
    let pins = instance.lines().filter_map(|line| {
        let pin = line.trim().trim_end_matches(',').strip_prefix('.')?;
        pin.strip_suffix(')')?.split_once('(')
    });
    pins.collect()
}

/// Nets and ports that the wrapper declares: direction (empty for a net) and bits.
fn declared(wrapper: &str) -> BTreeMap<&str, (&str, usize)> {
    let lines = wrapper.lines().filter_map(|line| {
        let words: Vec<&str> = line
            .trim()
            .trim_end_matches([',', ';'])
            .split_whitespace()
            .collect();
        let (direction, rest) = match words[..] {
            [direction @ ("input" | "output"), "wire", ref rest @ ..] => (direction, rest),
            ["wire", ref rest @ ..] => ("", rest),
            _ => return None,
        };
        match *rest {
            [name] => Some((name, (direction, 1))),
            [range, name] => {
                let high = range.strip_prefix('[')?.strip_suffix(":0]")?;
                Some((name, (direction, 1 + high.parse::<usize>().ok()?)))
            }
            _ => None,
        }
    });
    lines.collect()
}

/// Each port of the core has one pin, on a net of its own width; each port of the wrapper is a pin
/// or stands in an assignment.
#[test]
fn every_port_of_the_core_is_connected_once_and_at_its_width() {
    for width in [64, 128, 512] {
        let folder = folder(width);
        let (core, wrapper) = (&folder["rtl/rnic.v"], &folder["rtl/ferrowarp_rnic.v"]);
        let (pins, declared) = (pins(wrapper), declared(wrapper));
        let ports = core_ports::ports(core);
        assert!(ports.len() > 50, "{width}: {} ports", ports.len());
        assert_eq!(pins.len(), ports.len(), "{width}");
        for port in &ports {
            let found: Vec<_> = pins.iter().filter(|(name, _)| *name == port.name).collect();
            assert_eq!(found.len(), 1, "{width}: {}", port.name);
            let (direction, bits) = declared[found[0].1];
            assert_eq!(bits, port.bits, "{width}: {}", port.name);
            let same = match port.direction {
                Direction::In => "input",
                Direction::Out => "output",
            };
            assert!(
                direction.is_empty() || direction == same,
                "{width}: {}",
                port.name
            );
        }
        for (name, (direction, _)) in &declared {
            let times = wrapper.matches(name).count();
            assert!(times > 1, "{width}: {direction} {name} is declared only");
        }
    }
}

/// `tvalid` of one stream and `tlast` of another look alike to Verilator: names must say which.
#[test]
fn a_pin_of_a_stream_goes_to_the_same_signal_of_the_same_stream() {
    let folder = &*FOLDER_64;
    let pins: BTreeMap<_, _> = pins(&folder["rtl/ferrowarp_rnic.v"]).into_iter().collect();
    let expected = [
        ("frame_error", "rx_frame_tuser"),
        ("frame_last", "rx_frame_tlast"),
        ("tx_ready", "tx_frame_tready"),
        ("tx_error", "tx_frame_tuser"),
        ("tlp_header", "tlp_send_tuser"),
        ("tlp_valid", "tlp_send_tvalid"),
        ("read_request_header", "tlp_read_tuser"),
        ("read_request_valid", "tlp_read_tvalid"),
        ("request_header", "tlp_request_tuser"),
        ("request_last", "tlp_request_tlast"),
        ("completion_last", "tlp_completion_tlast"),
        ("completion_header", "tlp_completion_tuser"),
        ("msix_enable", "msix_enable"),
        ("msix_mask", "msix_mask"),
        ("clock", "clk"),
    ];
    for (core, outside) in expected {
        assert_eq!(pins[core], outside);
    }
}

/// A core that has changed is an error that names the port, and never a wrapper with a gap.
#[test]
fn a_port_without_a_name_and_a_name_without_a_port_are_refused() {
    let ports = core_ports::ports(&FOLDER_64["rtl/rnic.v"]);
    let added = CorePort {
        name: "surprise".into(),
        direction: Direction::In,
        bits: 1,
    };
    let with = [ports.clone(), vec![added]].concat();
    assert_eq!(plan(&with, 64), Err(PlanError::Unnamed("surprise".into())));
    let without = |name: &str| {
        let rest = ports.iter().filter(|port| port.name != name);
        plan(&rest.cloned().collect::<Vec<_>>(), 64).expect_err("a port is gone")
    };
    assert_eq!(without("tick"), PlanError::Missing("tick".into()));
    assert_eq!(
        without("tlp_ready"),
        PlanError::Missing("stream tlp_send".into())
    );
    assert_eq!(without("tlp_data"), PlanError::Missing("tlp_data".into()));
    let twice = [ports.clone(), vec![ports[0].clone()]].concat();
    assert_eq!(plan(&twice, 64), Err(PlanError::Twice("clk".into())));
    let mut narrow = ports.clone();
    let keep = narrow.iter_mut().find(|port| port.name == "tlp_keep");
    keep.expect("it is there").bits = 3;
    assert!(matches!(
        plan(&narrow, 64),
        Err(PlanError::Width { bits: 3, .. })
    ));
    assert!(plan(&ports, 128).is_err());
}

/// Repacked both ways: the text for a beat of eight octets and four doublewords.
#[test]
fn keeps_are_repacked() {
    let text = &FOLDER_64["rtl/ferrowarp_rnic.v"];
    for part in [
        "assign tx_frame_tkeep = ~({8{1'b1}} << tx_octets);",
        "{6'd0, rx_frame_tkeep[0]} + {6'd0, rx_frame_tkeep[1]} +",
        "{6'd0, rx_frame_tkeep[6]} + {6'd0, rx_frame_tkeep[7]};",
        "{4{tlp_keep[3]}}, {4{tlp_keep[2]}}, {4{tlp_keep[1]}}, {4{tlp_keep[0]}}};",
        "|tlp_completion_tkeep[15:12], |tlp_completion_tkeep[11:8],",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// The table in README.md has every port of the wrapper once.
#[test]
fn the_table_of_ports_is_whole() {
    let folder = &*FOLDER_64;
    let declared = declared(&folder["rtl/ferrowarp_rnic.v"]);
    for (name, (direction, bits)) in declared {
        if !direction.is_empty() {
            let row = format!(
                "| `{name}` | {} | {bits} |",
                direction.trim_end_matches("put")
            );
            assert_eq!(folder["README.md"].matches(&row).count(), 1, "{row}");
        }
    }
    assert!(
        !folder["README.md"].contains(['{', '}']),
        "a placeholder is left"
    );
}

/// Each waiver names one class and the file of the core; latches and loops have none.
#[test]
fn waivers_have_a_reason_and_stay_within_the_core() {
    let text = &FOLDER_64["lint/rnic.vlt"];
    let mut above = "";
    for line in text.lines() {
        if let Some(waiver) = line.strip_prefix("lint_off ") {
            assert!(waiver.ends_with("-file \"*/rnic.v\""), "{line}");
            assert!(above.starts_with("// "), "no reason: {line}");
            assert!(
                !waiver.contains("LATCH") && !waiver.contains("UNOPTFLAT"),
                "{line}"
            );
        }
        above = line;
    }
    assert!(text.matches("lint_off -rule ").count() == text.matches("lint_off").count());
}

/// The forms that the wrapper knows are all in use: none is untested.
#[test]
fn every_form_is_in_use_in_its_directions() {
    let ports = core_ports::ports(&FOLDER_64["rtl/rnic.v"]);
    let plan = plan(&ports, 64).expect("every port has a name");
    let used = |form: Form, input: bool| {
        let mut all = plan.iter();
        all.any(|connection: &Connection| connection.form == form && connection.is_input() == input)
    };
    for form in [Form::Octets, Form::Doublewords] {
        assert!(used(form, true) && used(form, false), "{form:?}");
    }
}
