//! Counters and gauges as OpenMetrics text (version 1.0.0), as Prometheus' node_exporter reads it
//! from files.

use rnic_abi::counters::ALL;
use rnic_driver::monitor::Info;
use std::fmt::Write;

/// The text, up to its `# EOF`. A counter whose description is not known is described by its name.
pub(crate) fn render(device: &str, totals: &[(String, u64)], info: &Info) -> String {
    let label = format!("{{device=\"{}\"", escape(device));
    let mut text = String::new();
    for (name, total) in totals {
        let known = ALL.iter().find(|counter| counter.name() == name);
        let help = known.map_or(name.as_str(), |counter| counter.description());
        let metric = format!("ferrowarp_{name}");
        head(&mut text, &metric, "counter", help);
        line(&mut text, &format!("{metric}_total{label}}} {total}"));
    }
    for (metric, help, value) in [
        (
            "ferrowarp_free_pages",
            "Pages of packet memory that are free.",
            info.free_pages,
        ),
        (
            "ferrowarp_connections_open",
            "Connections that are open.",
            info.connections_open,
        ),
        (
            "ferrowarp_regions_registered",
            "Regions that are registered, and windows that are bound.",
            info.regions_registered,
        ),
    ] {
        head(&mut text, metric, "gauge", help);
        line(&mut text, &format!("{metric}{label}}} {value}"));
    }
    let used = "What all connections hold of a pool of the device.";
    head(&mut text, "ferrowarp_pool_used", "gauge", used);
    for (pool, report) in &info.pools {
        let (pool, used) = (escape(pool), report.used);
        let sample = format!("ferrowarp_pool_used{label},pool=\"{pool}\"}} {used}");
        line(&mut text, &sample);
    }
    head(
        &mut text,
        "ferrowarp_pool_size",
        "gauge",
        "What there is of a pool of the device.",
    );
    for (pool, report) in &info.pools {
        let (pool, size) = (escape(pool), report.size);
        let sample = format!("ferrowarp_pool_size{label},pool=\"{pool}\"}} {size}");
        line(&mut text, &sample);
    }
    text.push_str("# EOF\n");
    text
}

fn head(text: &mut String, metric: &str, kind: &str, help: &str) {
    line(text, &format!("# TYPE {metric} {kind}"));
    line(text, &format!("# HELP {metric} {}", escape(help)));
}

fn line(text: &mut String, content: &str) {
    writeln!(text, "{content}").expect("a text has room");
}

/// What a label's value and a help text must not hold as it is.
fn escape(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    text.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_driver::monitor::PoolReport;
    use std::collections::BTreeMap;

    fn info() -> Info {
        let pool = PoolReport { used: 1, size: 512 };
        Info {
            process: 1,
            frame_path_bits: 64,
            connections: 1024,
            connections_open: 2,
            regions: 1024,
            regions_registered: 3,
            free_pages: 500,
            pools: [("ranges".to_owned(), pool), ("spans".to_owned(), pool)].into(),
        }
    }

    /// A name of the grammar.
    fn is_name(text: &str) -> bool {
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
        text.starts_with(is_first) && text.chars().all(|c| is_first(c) || c.is_ascii_digit())
    }

    /// `label="value"` pairs, taken from the front of `text` up to `}`; the rest.
    fn labels(mut text: &str) -> Result<(BTreeMap<String, String>, &str), String> {
        let mut labels = BTreeMap::new();
        loop {
            let (name, rest) = text.split_once("=\"").ok_or("a label has a value")?;
            let (mut value, mut end) = (String::new(), None);
            let mut chars = rest.char_indices();
            while let Some((at, c)) = chars.next() {
                match c {
                    '"' => {
                        end = Some(at);
                        break;
                    }
                    '\\' => match chars.next() {
                        Some((_, 'n')) => value.push('\n'),
                        Some((_, c @ ('\\' | '"'))) => value.push(c),
                        other => return Err(format!("escape {other:?}")),
                    },
                    '\n' => return Err("a newline in a value".to_owned()),
                    c => value.push(c),
                }
            }
            if !is_name(name) || labels.insert(name.to_owned(), value).is_some() {
                return Err(format!("label {name}"));
            }
            text = &rest[end.ok_or("a value ends")? + 1..];
            match text.split_at_checked(1) {
                Some((",", rest)) => text = rest,
                Some(("}", rest)) => return Ok((labels, rest)),
                _ => return Err(format!("after a label: {text}")),
            }
        }
    }

    type Samples = BTreeMap<(String, BTreeMap<String, String>), f64>;

    /// Reads a text by the rules of the standard that apply to counters and gauges: each family has
    /// its TYPE and HELP before its samples, once, and is not mixed with others; a counter's sample
    /// ends in `_total`; the text ends in `# EOF`.
    fn parse(text: &str) -> Result<Samples, String> {
        let body = text.strip_suffix("# EOF\n").ok_or("no # EOF at the end")?;
        let (mut samples, mut kinds) = (Samples::new(), BTreeMap::new());
        let (mut family, mut has_help) = (String::new(), false);
        for line in body.split_terminator('\n') {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').ok_or("TYPE without a type")?;
                let is_kind = ["counter", "gauge"].contains(&kind);
                if !is_name(name) || !is_kind || kinds.insert(name.to_owned(), kind).is_some() {
                    return Err(format!("{line}: twice, or no type"));
                }
                (family, has_help) = (name.to_owned(), false);
            } else if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').ok_or("HELP without a text")?;
                if name != family || has_help || help.is_empty() {
                    return Err(format!("{line}: not of {family}"));
                }
                has_help = true;
            } else {
                let (name, rest) = line.split_once('{').ok_or("a sample has labels")?;
                let (labels, rest) = labels(rest)?;
                let value = rest.strip_prefix(' ').ok_or("a value follows")?;
                let expected = match kinds.get(family.as_str()) {
                    Some(&"counter") => format!("{family}_total"),
                    _ => family.clone(),
                };
                if name != expected || !has_help {
                    return Err(format!("{line}: not of {family}"));
                }
                let value: f64 = value.parse().map_err(|_| format!("{line}: no number"))?;
                if samples.insert((name.to_owned(), labels), value).is_some() {
                    return Err(format!("{line}: twice"));
                }
            }
        }
        Ok(samples)
    }

    #[test]
    fn what_is_rendered_follows_the_grammar_and_has_every_value() {
        let device = "monitor:/run/a\\b\"c\nd";
        let totals: Vec<(String, u64)> = ALL
            .iter()
            .zip(1u64 << 33..)
            .map(|(counter, total)| (counter.name().to_owned(), total))
            .collect();
        let text = render(device, &totals, &info());
        let samples = parse(&text).expect("it follows the grammar");
        let label = ("device".to_owned(), device.to_owned());
        for (name, total) in &totals {
            let key = (format!("ferrowarp_{name}_total"), [label.clone()].into());
            assert_eq!(samples.get(&key), Some(&(*total as f64)), "{name}");
        }
        let free = ("ferrowarp_free_pages".to_owned(), [label.clone()].into());
        assert_eq!(samples.get(&free), Some(&500.0));
        let pool = ("pool".to_owned(), "spans".to_owned());
        let used = ("ferrowarp_pool_used".to_owned(), [label, pool].into());
        assert_eq!(samples.get(&used), Some(&1.0));
        assert_eq!(samples.len(), ALL.len() + 3 + 4);
        assert!(text.contains("# HELP ferrowarp_fpdus FPDUs whose CRC32C and markers are right"));
    }

    /// The parser of this test refuses what is wrong.
    #[test]
    fn what_breaks_the_grammar_is_found() {
        let good = render("a", &[("frames".to_owned(), 1)], &info());
        parse(&good).expect("it is good");
        for (from, to) in [
            ("# EOF\n", ""),
            ("_total{", "{"),
            ("device=\"a\"", "device=\"a"),
            ("device=\"a\"", "device=\"a\\x\""),
            ("# HELP ferrowarp_frames ", "# HELP ferrowarp_other "),
            ("frames counter", "frames tally"),
            ("} 500", "} many"),
            ("pool=\"spans\"", "pool=\"ranges\""),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from}");
            parse(&bad).expect_err(from);
        }
    }
}
