//! `rnicctl regions` and `rnicctl connections`: what an application has registered and opened.

use crate::address::Address;
use crate::outcome::{Failure, Outcome};
use crate::source::Source;
use crate::text_table::render;
use rnic_driver::monitor::{ConnectionReport, RegionReport};
use rnic_output::stdout;
use serde::Serialize;

const REGIONS_EXAMPLE: &str = "\
Example:
  rnicctl regions monitor:$XDG_RUNTIME_DIR/ferrowarp/storage.sock

VALID: the device takes the STag; no once a peer has invalidated it. Only the application that has a
device open has regions: opening a vfio: or vfio-user: device resets it.";

const CONNECTIONS_EXAMPLE: &str = "\
Example:
  rnicctl connections monitor:$XDG_RUNTIME_DIR/ferrowarp/storage.sock --json

RCV.NXT is the next octet that is expected; RANGES and PAGES are what segments beyond a gap hold.
The second table is of connections that an endpoint of the driver has: AGAIN is segments sent again,
of those sent; SENDS are work requests that have not completed, READS those of the peer's memory.
Only the application that has a device open has connections: opening a vfio: or vfio-user: device
resets it.";

#[derive(Debug, clap::Args)]
#[command(after_help = REGIONS_EXAMPLE)]
pub(crate) struct RegionsArguments {
    /// monitor:PATH, or the address of a device.
    address: Address,
    /// Print one JSON array; a flag, the file is standard output.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = CONNECTIONS_EXAMPLE)]
pub(crate) struct ConnectionsArguments {
    /// monitor:PATH, or the address of a device.
    address: Address,
    /// Print one JSON array; a flag, the file is standard output.
    #[arg(long)]
    json: bool,
}

pub(crate) fn regions(arguments: &RegionsArguments) -> Result<Outcome, Failure> {
    let mut source = Source::open(&arguments.address)?;
    let found = source.regions()?;
    show("regions", found, arguments.json, regions_text)?;
    source.close()?;
    Ok(Outcome::Good)
}

pub(crate) fn connections(arguments: &ConnectionsArguments) -> Result<Outcome, Failure> {
    let mut source = Source::open(&arguments.address)?;
    let found = source.connections()?;
    show("connections", found, arguments.json, connections_text)?;
    source.close()?;
    Ok(Outcome::Good)
}

fn show<T: Serialize>(
    what: &str,
    found: Option<Vec<T>>,
    json: bool,
    as_text: impl Fn(&[T]) -> String,
) -> Result<(), Failure> {
    match (&found, json) {
        (Some(items), false) if items.is_empty() => stdout::print(&format!("no {what}\n"))?,
        (Some(items), false) => stdout::print(&as_text(items))?,
        (found, true) => {
            let items = serde_json::to_string(found.as_deref().unwrap_or_default())?;
            stdout::write(format!("{items}\n").as_bytes())?;
        }
        (None, false) => stdout::print(&format!(
            "no {what}: the device was just opened, which has reset it; ask the application that \
             uses a device, at monitor:PATH (`rnicctl list` finds them)\n"
        ))?,
    }
    Ok(())
}

fn yes_or_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

fn regions_text(regions: &[RegionReport]) -> String {
    let rows: Vec<[String; 6]> = regions
        .iter()
        .map(|region| {
            let bound = region.connection.map(|connection| connection.to_string());
            [
                format!("{:#010x}", region.stag),
                region.octets.to_string(),
                region.rights.join(","),
                region.protection_domain.to_string(),
                bound.unwrap_or_else(|| "any".to_owned()),
                yes_or_no(region.valid),
            ]
        })
        .collect();
    let head = ["STAG", "OCTETS", "RIGHTS", "DOMAIN", "CONNECTION", "VALID"];
    render(head, &rows)
}

fn connections_text(connections: &[ConnectionReport]) -> String {
    let rows: Vec<[String; 9]> = connections
        .iter()
        .map(|connection| {
            let (tcp, out_of_order) = (connection.tcp, connection.out_of_order);
            [
                connection.id.to_string(),
                connection.remote.to_string(),
                connection.local.to_string(),
                connection.protection_domain.to_string(),
                connection.completion_queue.to_string(),
                tcp.rcv_nxt.to_string(),
                connection.window.to_string(),
                out_of_order.ranges.to_string(),
                out_of_order.pages.to_string(),
            ]
        })
        .collect();
    let head = [
        "ID", "REMOTE", "LOCAL", "DOMAIN", "QUEUE", "RCV.NXT", "WINDOW", "RANGES", "PAGES",
    ];
    let mut text = render(head, &rows);
    let of_endpoints: Vec<[String; 10]> = connections.iter().filter_map(endpoint_row).collect();
    if !of_endpoints.is_empty() {
        let head = [
            "ID",
            "STATE",
            "RTT",
            "RTO",
            "CWND",
            "FLYING",
            "AGAIN",
            "SENDS",
            "READS",
            "LAST ERROR",
        ];
        text.push('\n');
        text.push_str(&render(head, &of_endpoints));
    }
    text
}

/// What the endpoint of a connection does for it.
fn endpoint_row(connection: &ConnectionReport) -> Option<[String; 10]> {
    let endpoint = connection.endpoint.as_ref()?;
    let of_all = |part: u64, all: u64| format!("{part}/{all}");
    Some([
        connection.id.to_string(),
        endpoint.state.clone(),
        endpoint
            .srtt_us
            .map_or("-".to_owned(), |us| format!("{us}us")),
        format!("{}us", endpoint.rto_us),
        endpoint.congestion_octets.to_string(),
        endpoint.flying_octets.to_string(),
        of_all(endpoint.retransmitted_segments, endpoint.segments),
        endpoint.sends_posted.to_string(),
        endpoint.reads_out.to_string(),
        endpoint
            .last_error
            .clone()
            .unwrap_or_else(|| "-".to_owned()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_driver::monitor::{EndpointReport, OutOfOrderReport, TcpReport};

    #[test]
    fn a_region_has_a_line() {
        let region = RegionReport {
            stag: 0x105,
            octets: 4096,
            rights: vec!["remote_write".to_owned(), "read_sink".to_owned()],
            protection_domain: 3,
            connection: None,
            valid: false,
        };
        let text = "\
STAG        OCTETS  RIGHTS                  DOMAIN  CONNECTION  VALID
0x00000105  4096    remote_write,read_sink  3       any         no
";
        assert_eq!(regions_text(&[region]), text);
    }

    #[test]
    fn a_connection_has_a_line() {
        let connection = ConnectionReport {
            id: 5,
            remote: ([192, 0, 2, 1], 1000).into(),
            local: ([192, 0, 2, 2], 2000).into(),
            protection_domain: 3,
            completion_queue: 1,
            window: 65_536,
            tcp: TcpReport {
                rcv_nxt: 77,
                seg_ack: 1,
                seg_wnd: 2,
                fin_seen: false,
            },
            out_of_order: OutOfOrderReport {
                ranges: 2,
                pages: 9,
                duplicate_acks: 0,
            },
            endpoint: None,
        };
        let text = "\
ID  REMOTE          LOCAL           DOMAIN  QUEUE  RCV.NXT  WINDOW  RANGES  PAGES
5   192.0.2.1:1000  192.0.2.2:2000  3       1      77       65536   2       9
";
        assert_eq!(connections_text(std::slice::from_ref(&connection)), text);
        let endpoint = EndpointReport {
            state: "Established".to_owned(),
            srtt_us: Some(1_472),
            rto_us: 200_000,
            congestion_octets: 14_600,
            flying_octets: 2_920,
            segments: 1_522,
            retransmitted_segments: 25,
            sends_posted: 8,
            reads_out: 1,
            last_error: None,
        };
        let connection = ConnectionReport {
            endpoint: Some(endpoint),
            ..connection
        };
        let more = "
ID  STATE        RTT     RTO       CWND   FLYING  AGAIN    SENDS  READS  LAST ERROR
5   Established  1472us  200000us  14600  2920    25/1522  8      1      -
";
        assert_eq!(connections_text(&[connection]), format!("{text}{more}"));
    }
}
