//! Reads from a device what is asked for.
//!
//! Input: a request. Output: its answer; of a list, a page. The device is only read.

use super::protocol::{
    Body, ConnectionReport, EndpointReport, Info, OutOfOrderReport, Page, PoolReport, RegionReport,
    Request, TcpReport, FORMER_POOL_NAMES,
};
use crate::device::access::{Bar, Dma};
use crate::device::error::DriverError;
use crate::device::ids::ConnectionId;
use crate::device::tables::{ConnectionConfig, RegionConfig};
use crate::device::Device;
use rnic_abi::limits::{FRAGMENTS, OUT_OF_ORDER_RECORDS, RANGES, SPANS};
use rnic_abi::tables::{
    RIGHT_READ_SINK, RIGHT_REMOTE_INVALIDATE, RIGHT_REMOTE_READ, RIGHT_REMOTE_WRITE,
};
use std::collections::BTreeMap;

/// Items of a page of regions or connections.
pub const PAGE_ITEMS: usize = 16;

/// Names of rights in reports.
const RIGHTS: [(u32, &str); 4] = [
    (RIGHT_REMOTE_WRITE, "remote_write"),
    (RIGHT_READ_SINK, "read_sink"),
    (RIGHT_REMOTE_READ, "remote_read"),
    (RIGHT_REMOTE_INVALIDATE, "remote_invalidate"),
];

/// What the owner of a device does for a connection, if anything.
pub(crate) type Endpoints<'a> = dyn Fn(ConnectionId) -> Option<EndpointReport> + 'a;

/// What the device answers to `request`; a device that does not answer is a [`Body::Error`].
pub fn report<B: Bar, D: Dma>(device: &mut Device<B, D>, request: Request) -> Body {
    report_with(device, request, &|_| None)
}

/// As [`report`]; `endpoint` is what the owner does for a connection.
pub(crate) fn report_with<B: Bar, D: Dma>(
    device: &mut Device<B, D>,
    request: Request,
    endpoint: &Endpoints<'_>,
) -> Body {
    let read = match request {
        Request::Info => info(device).map(Body::Info),
        Request::Counters => device.counters().map(|counters| {
            let named = counters
                .into_iter()
                .map(|(counter, value)| (counter.name().to_owned(), value));
            Body::Counters(named.collect())
        }),
        Request::Regions { from } => regions(device, from).map(Body::Regions),
        Request::Connections { from } => connections(device, from, endpoint).map(Body::Connections),
    };
    read.unwrap_or_else(|error| Body::Error(error.to_string()))
}

fn info<B: Bar, D: Dma>(device: &mut Device<B, D>) -> Result<Info, DriverError> {
    let (sizes, used) = (device.sizes(), device.in_use()?);
    let pools = [
        ("ranges", used.ranges, RANGES),
        ("fragments", used.fragments, FRAGMENTS),
        ("spans", used.spans, SPANS),
        ("records", used.records, OUT_OF_ORDER_RECORDS),
    ];
    let pools = pools.into_iter().map(|(name, used, size)| {
        let (used, size) = (u32::from(used), size as u32);
        (name.to_owned(), PoolReport { used, size })
    });
    let mut pools: BTreeMap<String, PoolReport> = pools.collect();
    for (former, present) in FORMER_POOL_NAMES {
        pools.insert(former.to_owned(), pools[present]);
    }
    Ok(Info {
        process: std::process::id(),
        frame_path_bits: device.frame_path_bits()?,
        connections: sizes.connections() as u32,
        connections_open: device.connections().count() as u32,
        regions: sizes.regions() as u32,
        regions_registered: device.regions().count() as u32,
        free_pages: device.free_pages()?,
        pools,
    })
}

fn regions<B: Bar, D: Dma>(
    device: &mut Device<B, D>,
    from: u64,
) -> Result<Page<RegionReport>, DriverError> {
    let regions = device.regions();
    let mut regions: Vec<RegionConfig> = regions
        .filter(|region| u64::from(region.stag) >= from)
        .copied()
        .collect();
    regions.sort_unstable_by_key(|region| region.stag);
    let next = regions.get(PAGE_ITEMS).map(|region| region.stag.into());
    regions.truncate(PAGE_ITEMS);
    let items = regions.into_iter().map(|region| {
        let rights = RIGHTS.iter().filter(|(bit, _)| region.rights & bit != 0);
        Ok(RegionReport {
            stag: region.stag,
            octets: region.octets,
            rights: rights.map(|(_, name)| (*name).to_owned()).collect(),
            protection_domain: region.protection_domain,
            connection: region.connection.map(|connection| connection.0),
            valid: device.region_valid(region.stag)?,
        })
    });
    let items = items.collect::<Result<_, DriverError>>()?;
    Ok(Page { items, next })
}

fn connections<B: Bar, D: Dma>(
    device: &mut Device<B, D>,
    from: u64,
    endpoint: &Endpoints<'_>,
) -> Result<Page<ConnectionReport>, DriverError> {
    let open = device.connections();
    let mut open: Vec<(ConnectionId, ConnectionConfig)> = open
        .filter(|(connection, _)| u64::from(connection.0) >= from)
        .take(PAGE_ITEMS + 1)
        .map(|(connection, config)| (connection, *config))
        .collect();
    let next = open.get(PAGE_ITEMS).map(|(connection, _)| connection.0);
    open.truncate(PAGE_ITEMS);
    let items = open.into_iter().map(|(connection, config)| {
        let (tcp, out_of_order) = (
            device.tcp_state(connection)?,
            device.out_of_order_state(connection)?,
        );
        Ok(ConnectionReport {
            id: connection.0,
            remote: config.key.remote,
            local: config.key.local,
            protection_domain: config.protection_domain,
            completion_queue: config.completion_queue.0.into(),
            window: config.window,
            tcp: TcpReport {
                rcv_nxt: tcp.rcv_nxt,
                seg_ack: tcp.seg_ack,
                seg_wnd: tcp.seg_wnd,
                fin_seen: tcp.fin_seen,
            },
            out_of_order: OutOfOrderReport {
                ranges: tcp.ranges,
                pages: out_of_order.pages,
                duplicate_acks: out_of_order.duplicate_acks,
            },
            endpoint: endpoint(connection),
        })
    });
    let items = items.collect::<Result<_, DriverError>>()?;
    let next = next.map(u64::from);
    Ok(Page { items, next })
}
