//! `rnicctl counters`: as a list, as JSON, as OpenMetrics text, or as rates.

use crate::address::Address;
use crate::open_metrics;
use crate::outcome::{Failure, Outcome};
use crate::rates::{per_second, Totals};
use crate::source::{Source, Values};
use crate::text_table::render;
use rnic_driver::monitor::MonitorError;
use rnic_output::names::one_line;
use rnic_output::{stdout, Claims, Output, OutputError};
use serde_json::{json, Map, Value};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EXAMPLE: &str = "\
Examples:
  rnicctl counters monitor:$XDG_RUNTIME_DIR/ferrowarp/storage.sock --watch 1
  rnicctl counters monitor:/run/storage.sock --openmetrics \\
      --out /var/lib/node_exporter/textfile/ferrowarp.prom

Counters that are zero are left out; --all shows them. They count since the device was opened,
modulo 2^32. --watch takes differences modulo 2^32, and with --openmetrics --out it sums them in 64
bits, so nothing wraps there; without --watch a counter that wraps looks like one that was reset.

Opening a vfio: or vfio-user: device resets it, so its counters are those since then.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// vfio:0000:01:00.0, vfio-user:PATH or monitor:PATH.
    address: Address,
    /// Print JSON: an object, or with --watch one a line; a flag, the file is standard output.
    #[arg(long, conflicts_with = "openmetrics")]
    json: bool,
    /// Print OpenMetrics text, as node_exporter's textfile collector reads it.
    #[arg(long)]
    openmetrics: bool,
    /// Replace this file by the OpenMetrics text, in one step; a pipe or device is written.
    #[arg(long, value_name = "FILE", requires = "openmetrics")]
    out: Option<PathBuf>,
    /// Read again every so many seconds, and print rates of what changes, until the device is gone.
    #[arg(long, value_name = "SECONDS", value_parser = interval)]
    watch: Option<Duration>,
    /// Counters that are zero too.
    #[arg(long)]
    all: bool,
}

fn interval(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let seconds = seconds.filter(|seconds| (0.01..=86_400.0).contains(seconds));
    let seconds = seconds.ok_or("write seconds between 0.01 and 86400")?;
    Ok(Duration::from_secs_f64(seconds))
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    if arguments.openmetrics && arguments.watch.is_some() && arguments.out.is_none() {
        return Err("--openmetrics with --watch needs --out FILE, which it rewrites".into());
    }
    // First: a path that cannot be written fails before a device is reset.
    let out = arguments.out.as_deref().map(open).transpose()?;
    let mut source = Source::open(&arguments.address)?;
    let values = source.counters()?;
    let totals = Totals::new(values.clone());
    if arguments.openmetrics {
        write_metrics(arguments, &mut source, &totals, out)?;
    }
    let Some(interval) = arguments.watch else {
        if !arguments.openmetrics {
            stdout::print(&as_text_or_json(arguments, &values))?;
        }
        source.close()?;
        return Ok(Outcome::Good);
    };
    watch(arguments, interval, source, totals)
}

fn as_text_or_json(arguments: &Arguments, values: &Values) -> String {
    if arguments.json {
        let counters = values.iter();
        let counters: Map<String, Value> = counters
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        return format!("{}\n", Value::Object(counters));
    }
    let shown = values
        .iter()
        .filter(|(_, value)| arguments.all || *value != 0);
    let rows: Vec<[String; 2]> = shown
        .map(|(name, value)| [name.clone(), value.to_string()])
        .collect();
    match rows.is_empty() {
        true => "all counters are zero; --all shows them\n".to_owned(),
        false => render(["COUNTER", "VALUE"], &rows),
    }
}

/// The file of --out; a reader finds the old one or the new one, never a part.
fn open(path: &Path) -> Result<Output, OutputError> {
    Claims::new().output("--out", path)
}

/// Write what is known to `out`, or print it.
fn write_metrics(
    arguments: &Arguments,
    source: &mut Source,
    totals: &Totals,
    out: Option<Output>,
) -> Result<(), Failure> {
    let info = source.info()?;
    let text = open_metrics::render(&arguments.address.to_string(), totals.totals(), &info);
    match out {
        Some(mut file) => {
            file.write(text.as_bytes())?;
            file.finish()?;
        }
        None => stdout::print(&text)?,
    }
    Ok(())
}

/// Until the device, or who answers for it, is gone.
fn watch(
    arguments: &Arguments,
    interval: Duration,
    mut source: Source,
    mut totals: Totals,
) -> Result<Outcome, Failure> {
    let begin = Instant::now();
    let mut last = begin;
    loop {
        std::thread::sleep(interval);
        // Asking again distinguishes who ends while it answers from who answers wrongly.
        let read = source.counters().or_else(|_| source.counters());
        let values = match read {
            Ok(values) => values,
            Err(error) if is_end(&error) => {
                let error = error.to_string();
                stdout::complain(&format!("rnicctl: the watch ends: {}", one_line(&error)));
                return Ok(Outcome::Good);
            }
            Err(error) => return Err(error),
        };
        let now = Instant::now();
        let rates = per_second(&totals.add(values), now - last);
        last = now;
        if arguments.openmetrics {
            let out = arguments.out.as_deref().map(open).transpose()?;
            write_metrics(arguments, &mut source, &totals, out)?;
            continue;
        }
        let is_terminal = io::stdout().is_terminal();
        stdout::print(&rates_text(arguments, now - begin, &rates, is_terminal))?;
    }
}

/// Whether an error is the end of a device, or of the application that had it open.
fn is_end(error: &Failure) -> bool {
    match error.downcast_ref::<MonitorError>() {
        Some(error) => matches!(
            error,
            MonitorError::NoSocket { .. }
                | MonitorError::Left { .. }
                | MonitorError::Refused { .. }
        ),
        // The device itself does not answer.
        None => true,
    }
}

/// Rates of an interval that ends `at` after the beginning: a block for a terminal, else a line.
fn rates_text(
    arguments: &Arguments,
    at: Duration,
    rates: &[(String, f64)],
    is_terminal: bool,
) -> String {
    let shown = rates
        .iter()
        .filter(|(_, rate)| arguments.all || *rate != 0.0);
    let seconds = at.as_secs_f64();
    if arguments.json {
        let rates: Map<String, Value> = shown
            .map(|(name, rate)| (name.clone(), json!(rate)))
            .collect();
        return format!("{}\n", json!({ "seconds": seconds, "rates": rates }));
    }
    if !is_terminal {
        let rates: Vec<String> = shown
            .map(|(name, rate)| format!(" {name}={rate:.1}/s"))
            .collect();
        return format!("{seconds:.2} s{}\n", rates.concat());
    }
    let rows: Vec<[String; 2]> = shown
        .map(|(name, rate)| [name.clone(), format!("{rate:.1}")])
        .collect();
    let at = format!("AFTER {seconds:.1} s");
    render([&at, "PER SECOND"], &rows) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(json: bool, all: bool) -> Arguments {
        let Ok(address) = "monitor:/run/x".parse();
        Arguments {
            address,
            json,
            openmetrics: false,
            out: None,
            watch: None,
            all,
        }
    }

    fn values() -> Values {
        vec![("frames".to_owned(), 7), ("fpdus".to_owned(), 0)]
    }

    #[test]
    fn counters_that_are_zero_are_left_out_unless_asked_for() {
        let text = |json, all| as_text_or_json(&arguments(json, all), &values());
        assert_eq!(text(false, false), "COUNTER  VALUE\nframes   7\n");
        assert_eq!(
            text(false, true),
            "COUNTER  VALUE\nframes   7\nfpdus    0\n"
        );
        assert_eq!(text(true, false), "{\"fpdus\":0,\"frames\":7}\n");
        let zero = as_text_or_json(&arguments(false, false), &values()[1..].to_vec());
        assert!(zero.contains("--all"), "{zero}");
    }

    #[test]
    fn an_interval_is_a_line_in_a_pipe_and_a_block_on_a_terminal() {
        let rates = [("frames".to_owned(), 12.5), ("fpdus".to_owned(), 0.0)];
        let at = Duration::from_millis(2_040);
        let text = |json, is_terminal| rates_text(&arguments(json, false), at, &rates, is_terminal);
        assert_eq!(text(false, false), "2.04 s frames=12.5/s\n");
        let block = "AFTER 2.0 s  PER SECOND\nframes       12.5\n\n";
        assert_eq!(text(false, true), block);
        let json = "{\"rates\":{\"frames\":12.5},\"seconds\":2.04}\n";
        assert_eq!(text(true, false), json);
    }

    #[test]
    fn a_watch_ends_well_with_the_application_and_not_with_a_wrong_answer() {
        let path = PathBuf::from("/run/x");
        let left = MonitorError::Left { path: path.clone() };
        let reason = "no JSON".to_owned();
        let wrong = MonitorError::Protocol { path, reason };
        assert!(is_end(&left.into()));
        assert!(!is_end(&wrong.into()));
        assert!(is_end(&"the device is gone".into()));
    }

    #[test]
    fn intervals_are_seconds() {
        assert_eq!(interval("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "nan", "1s", "1e9"] {
            interval(text).expect_err(text);
        }
    }
}
