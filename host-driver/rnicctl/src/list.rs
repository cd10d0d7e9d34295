//! `rnicctl list`: devices of this machine, and applications that have one open.

use crate::outcome::{Failure, Outcome};
use crate::text_table::render;
use rnic_driver::bus::{functions, FoundFunction};
use rnic_driver::monitor::{default_directory, Client, Info, MonitorError};
use rnic_output::names::one_line;
use rnic_output::{shown, stdout};
use serde_json::json;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLE: &str = "\
Example:
  rnicctl list
  rnicctl list --json | jq '.functions[] | select(.viable)'

FUNCTION is an address for the other commands. VIABLE: its IOMMU group can be opened through VFIO;
else what Linux uses of the group. IN USE: a process has the group open; `?`: not bound to vfio-pci,
or this user may not open the group.

Monitors are the sockets in $XDG_RUNTIME_DIR/ferrowarp.";

/// Time in which a monitor answers; a list does not wait long for one that is stopped.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// Print one JSON object; a flag, the file is standard output.
    #[arg(long)]
    json: bool,
}

/// A socket in the folder of monitors, and what it answers.
struct FoundMonitor {
    path: PathBuf,
    info: Result<Info, MonitorError>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let functions = functions().map_err(|error| {
        format!("failed to read /sys/bus/pci/devices: {error}; mount sysfs at /sys")
    })?;
    let monitors = monitors();
    match arguments.json {
        true => stdout::write(format!("{}\n", as_json(&functions, &monitors)).as_bytes())?,
        false => stdout::print(&as_text(&functions, &monitors))?,
    }
    Ok(Outcome::Good)
}

fn monitors() -> Vec<FoundMonitor> {
    let Some(Ok(entries)) = default_directory().map(fs::read_dir) else {
        return Vec::new();
    };
    let sockets = entries.flatten().filter(|entry| {
        let kind = entry.file_type();
        kind.is_ok_and(|kind| kind.is_socket())
    });
    let mut paths: Vec<PathBuf> = sockets.map(|entry| entry.path()).collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| FoundMonitor {
            info: Client::new(&path, PATIENCE).info(),
            path,
        })
        .collect()
}

fn as_text(functions: &[FoundFunction], monitors: &[FoundMonitor]) -> String {
    let dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let rows: Vec<[String; 5]> = functions
        .iter()
        .map(|found| {
            let viable = match (found.is_viable(), &found.group) {
                (true, _) => "yes".to_owned(),
                (false, None) => "no: no IOMMU".to_owned(),
                (false, Some(_)) => format!("no: Linux uses {}", found.blocked_by.join(" ")),
            };
            let in_use = match found.in_use {
                Some(true) => "yes",
                Some(false) => "no",
                None => "?",
            };
            [
                format!("vfio:{}", found.function),
                dash(&found.driver),
                dash(&found.group),
                viable,
                in_use.to_owned(),
            ]
        })
        .collect();
    let mut text = match rows.is_empty() {
        true => "no PCI function with the ids of a Ferrowarp RNIC\n".to_owned(),
        false => render(["FUNCTION", "DRIVER", "GROUP", "VIABLE", "IN USE"], &rows),
    };
    let rows: Vec<[String; 3]> = monitors
        .iter()
        .map(|monitor| {
            let (process, state) = match &monitor.info {
                Ok(info) => {
                    let (open, regions) = (info.connections_open, info.regions_registered);
                    let state = format!("{open} connections, {regions} regions");
                    (info.process.to_string(), state)
                }
                Err(error) => ("-".to_owned(), one_line(&error.to_string()).into_owned()),
            };
            [format!("monitor:{}", shown(&monitor.path)), process, state]
        })
        .collect();
    text.push('\n');
    match rows.is_empty() {
        true => text.push_str("no monitor of an application of this user\n"),
        false => text.push_str(&render(["MONITOR", "PROCESS", "STATE"], &rows)),
    }
    text
}

fn as_json(functions: &[FoundFunction], monitors: &[FoundMonitor]) -> serde_json::Value {
    let functions: Vec<_> = functions
        .iter()
        .map(|found| {
            json!({
                "address": format!("vfio:{}", found.function),
                "driver": found.driver,
                "iommu_group": found.group,
                "viable": found.is_viable(),
                "blocked_by": found.blocked_by,
                "in_use": found.in_use,
            })
        })
        .collect();
    let monitors: Vec<_> = monitors
        .iter()
        .map(|monitor| {
            json!({
                "address": format!("monitor:{}", monitor.path.display()),
                "info": monitor.info.as_ref().ok(),
                "error": monitor.info.as_ref().err().map(MonitorError::to_string),
            })
        })
        .collect();
    json!({ "functions": functions, "monitors": monitors })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(blocked_by: &[&str], group: Option<&str>) -> FoundFunction {
        FoundFunction {
            function: "0000:01:00.0".to_owned(),
            driver: group.map(|_| "vfio-pci".to_owned()),
            group: group.map(str::to_owned),
            blocked_by: blocked_by.iter().map(|name| (*name).to_owned()).collect(),
            in_use: group.map(|_| true),
        }
    }

    #[test]
    fn the_list_says_why_a_function_cannot_be_opened() {
        let found = [
            function(&[], Some("17")),
            function(&["0000:01:00.1"], Some("17")),
            function(&[], None),
        ];
        let text = "\
FUNCTION           DRIVER    GROUP  VIABLE                      IN USE
vfio:0000:01:00.0  vfio-pci  17     yes                         yes
vfio:0000:01:00.0  vfio-pci  17     no: Linux uses 0000:01:00.1  yes
vfio:0000:01:00.0  -         -      no: no IOMMU                ?

no monitor of an application of this user
";
        let squeezed = |text: &str| {
            let lines = text.lines();
            let lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
            lines.collect::<Vec<_>>()
        };
        assert_eq!(squeezed(&as_text(&found, &[])), squeezed(text));
        let json = as_json(&found[1..2], &[]);
        let expected = json!({
            "functions": [{
                "address": "vfio:0000:01:00.0", "driver": "vfio-pci", "iommu_group": "17",
                "viable": false, "blocked_by": ["0000:01:00.1"], "in_use": true,
            }],
            "monitors": [],
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn a_monitor_without_an_application_is_listed_with_the_reason() {
        let path = PathBuf::from("/run/left.sock");
        let monitors = [FoundMonitor {
            info: Err(MonitorError::Left { path: path.clone() }),
            path,
        }];
        let text = as_text(&[], &monitors);
        assert!(text.starts_with("no PCI function"), "{text}");
        assert!(text.contains("its application has ended"), "{text}");
        let json = as_json(&[], &monitors);
        assert!(json["monitors"][0]["info"].is_null());
    }
}
