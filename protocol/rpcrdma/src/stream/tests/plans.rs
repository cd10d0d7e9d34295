//! Which way a message goes.
use super::{place, Memory};
use crate::stream::{Body, CallLimits, Carriage, Message, NoWay, Plan, ReplyLimits};
use crate::wire::{Caps, Form, Header, HeaderWriter, Padding, Segment};

const LIMITS: CallLimits = CallLimits {
    inline_octets: 1024,
    chunk_octets_min: 512,
    reads: true,
    padding: None,
};

/// A message with `inline` octets, then items of these lengths.
fn message(inline: usize, items: &[u32]) -> Message {
    let mut message = Message::new();
    message.fixed(&vec![7; inline]);
    for length in items {
        message
            .item(place(u64::from(*length), *length))
            .expect("few items");
    }
    message
}

fn call(message: &Message, limits: &CallLimits) -> Result<Plan, NoWay> {
    Plan::call(message, limits, [], None)
}

fn ways(plan: &Plan, items: usize) -> Vec<Carriage> {
    (0..items).map(|item| plan.carriage(item)).collect()
}

use Carriage::{Read, Stream, Write};

/// RPC-003: what fits goes in one Send, after 28 octets of header.
#[test]
fn short_calls_are_one_send() {
    let plan = call(&message(40, &[511]), &LIMITS).expect("a way");
    assert_eq!((plan.form(), plan.body()), (Form::Msg, Body::Send));
    assert_eq!(ways(&plan, 2), [Stream, Stream]);
    assert_eq!(
        (plan.header_octets(), plan.stream_octets()),
        (28, 40 + 4 + 512)
    );
    assert_eq!(plan.send_octets(), 28 + 556);
    assert_eq!(
        (
            plan.reads(&message(40, &[511])).count(),
            plan.carriage(1 << 40)
        ),
        (0, Stream)
    );
}

/// RPC-008, RPC-019, RPC-046: a long item is a read chunk of its exact octets.
#[test]
fn long_items_are_chunks() {
    let long = message(40, &[512, 511, 0, 513]);
    let plan = call(&long, &LIMITS).expect("a way");
    assert_eq!((plan.form(), plan.body()), (Form::Msg, Body::Send));
    assert_eq!(ways(&plan, 4), [Read, Stream, Stream, Read]);
    let reads: Vec<_> = plan
        .reads(&long)
        .map(|item| (item.position, item.place))
        .collect();
    assert_eq!(reads, [(44, place(512, 512)), (1080, place(513, 513))]);
    assert_eq!(
        (plan.header_octets(), plan.stream_octets()),
        (28 + 48, 40 + 16 + 512)
    );
}

/// RPC-036: the limit counts the header, and holds for the octet.
#[test]
fn items_become_chunks_when_the_send_is_full() {
    let inline = 1024 - 28 - 4 - 400;
    let plan = call(&message(inline, &[400]), &LIMITS).expect("a way");
    assert_eq!((plan.send_octets(), ways(&plan, 1)), (1024, vec![Stream]));
    let plan = call(&message(inline + 4, &[400, 0, 8]), &LIMITS).expect("a way");
    assert_eq!(
        (plan.form(), ways(&plan, 3)),
        (Form::Msg, vec![Read, Stream, Read])
    );
}

/// RPC-032, RPC-036: what is too long even so goes as read chunk of position 0, whatever its
/// octets are; short items go with it.
#[test]
fn long_calls_are_chunks() {
    let inline = 1024 - 28;
    let plan = call(&message(inline, &[]), &LIMITS).expect("a way");
    assert_eq!(
        (plan.form(), plan.body(), plan.send_octets()),
        (Form::Msg, Body::Send, 1024)
    );
    let plan = call(&message(inline + 4, &[]), &LIMITS).expect("a way");
    assert_eq!((plan.form(), plan.body()), (Form::Nomsg, Body::ReadChunk));
    assert_eq!((plan.header_octets(), plan.send_octets()), (52, 52));
    assert_eq!(plan.stream_octets(), 1000);
    let plan = call(&message(inline, &[600, 5]), &LIMITS).expect("a way");
    assert_eq!(
        (plan.body(), ways(&plan, 2)),
        (Body::ReadChunk, vec![Read, Stream])
    );
    assert_eq!(
        (plan.send_octets(), plan.stream_octets()),
        (76, 996 + 8 + 8)
    );
}

/// RPC-037: to a peer that cannot read goes what fits inline, and nothing else.
#[test]
fn without_reads_nothing_is_a_chunk() {
    let limits = CallLimits {
        reads: false,
        ..LIMITS
    };
    let plan = call(&message(40, &[900]), &limits).expect("a way");
    assert_eq!((plan.form(), ways(&plan, 1)), (Form::Msg, vec![Stream]));
    assert_eq!(
        call(&message(96, &[896]), &limits).map(|plan| plan.send_octets()),
        Ok(1024)
    );
    assert_eq!(call(&message(96, &[897]), &limits), Err(NoWay));
    assert_eq!(call(&message(1000, &[]), &limits), Err(NoWay));
}

/// Lists of results take room in the Send; a header that does not fit has no way.
#[test]
fn lists_for_results_count() {
    let plan = Plan::call(&message(40, &[]), &LIMITS, [2, 0], Some(3)).expect("a way");
    assert_eq!(plan.header_octets(), 28 + (8 + 32) + 8 + (4 + 48));
    let narrow = CallLimits {
        inline_octets: 28 + 24 + 24,
        ..LIMITS
    };
    let plan = Plan::call(&message(100, &[]), &narrow, [1], None).expect("a way");
    assert_eq!((plan.send_octets(), plan.body()), (76, Body::ReadChunk));
    let narrower = CallLimits {
        inline_octets: 75,
        ..narrow
    };
    assert_eq!(
        Plan::call(&message(100, &[]), &narrower, [1], None),
        Err(NoWay)
    );
}

/// RPC-023: pad only in a padded message, from the start of the Send, for items at or above the
/// threshold; which is above every other opaque, whose reader would skip pad as well.
#[test]
fn items_are_aligned_where_the_peer_asks_for_it() {
    let padding = Padding {
        align: 256,
        threshold: 100,
    };
    let limits = CallLimits {
        padding: Some(padding),
        ..LIMITS
    };
    let memory = Memory::new();

    let padded = message(96, &[100, 99]);
    let plan = call(&padded, &limits).expect("a way");
    assert_eq!(
        (plan.form(), plan.header_octets()),
        (Form::Msgp(padding), 36)
    );
    let stream = memory.gather(&plan, &padded);
    // 36 octets of header, 96 inline, 4 of count: 136.
    assert_eq!(stream[100..220], [0; 120]);
    assert_eq!(&stream[220..320], memory.at(place(100, 100)));
    assert_eq!(
        &stream[320..],
        [&[0, 0, 0, 99], memory.at(place(99, 99)), &[0]].concat()
    );
    assert_eq!((stream.len() as u64, plan.stream_octets()), (424, 424));

    let short = message(96, &[99]);
    assert_eq!(call(&short, &limits).map(|plan| plan.form()), Ok(Form::Msg));
    // 105 octets of fields may hold an opaque of 101.
    let raised = Form::Msgp(Padding {
        threshold: 102,
        ..padding
    });
    assert_eq!(
        call(&message(105, &[102]), &limits).map(|plan| plan.form()),
        Ok(raised)
    );
    assert_eq!(
        call(&message(105, &[101]), &limits).map(|plan| plan.form()),
        Ok(Form::Msg)
    );

    // The pad has to fit, too.
    let most = CallLimits {
        inline_octets: 256 + 700,
        ..limits
    };
    assert_eq!(
        call(&message(96, &[700]), &most).map(|plan| plan.send_octets()),
        Ok(956)
    );
    let plan = call(&message(96, &[704]), &most).expect("a way");
    assert_eq!((plan.form(), ways(&plan, 1)), (Form::Msg, vec![Read]));

    let none = Padding {
        align: 6,
        ..padding
    };
    let limits = CallLimits {
        padding: Some(none),
        ..LIMITS
    };
    assert_eq!(
        call(&padded, &limits).map(|plan| plan.form()),
        Ok(Form::Msg)
    );
}

/// The header of a call with write chunks of so many octets, and a reply chunk.
fn offering<R>(writes: &[u32], reply: Option<u32>, of: impl FnOnce(&Header<'_>) -> R) -> R {
    let (mut send, mut offset) = (Vec::new(), 0);
    let mut segment = |length: u32| {
        offset += 1 << 20;
        Segment {
            handle: 1,
            length,
            offset,
        }
    };
    let mut writer = HeaderWriter::new(&mut send, 7, 1, Form::Msg).writes();
    for octets in writes {
        // Two segments of a chunk, so that its octets are a sum.
        writer.chunk([segment(octets / 2), segment(octets - octets / 2)]);
    }
    match reply {
        Some(octets) => writer.reply([segment(octets)]),
        None => writer.end(),
    };
    send.extend_from_slice(&[0, 0, 0, 7]);
    of(&Header::parse(&send, &Caps::default()).expect("a header"))
}

const REPLY: ReplyLimits = ReplyLimits {
    inline_octets: 1024,
    read_list: false,
};

/// RPC-016, RPC-017: results are written into the chunks of their turn, however short they are.
#[test]
fn results_are_written_where_there_is_a_chunk() {
    let reply = message(24, &[100, 5, 0, 7]);
    offering(&[100, 4, 8], None, |header| {
        let plan = Plan::reply(&reply, &REPLY, header).expect("a way");
        assert_eq!((plan.form(), plan.body()), (Form::Msg, Body::Send));
        assert_eq!(ways(&plan, 4), [Write, Stream, Stream, Stream]);
        let writes: Vec<_> = plan
            .writes(&reply)
            .map(|(chunk, item)| (chunk, item.place))
            .collect();
        assert_eq!(writes, [(0, place(100, 100))]);
        assert_eq!(
            (plan.header_octets(), plan.stream_octets()),
            (28 + 3 * 40, 24 + 16 + 8 + 8)
        );
    });
    // The third chunk is for the third result: it has no octets, and the chunk comes back unused.
    offering(&[99, 5, 8, 7], None, |header| {
        let plan = Plan::reply(&reply, &REPLY, header).expect("a way");
        assert_eq!(ways(&plan, 4), [Stream, Write, Stream, Write]);
        let chunks: Vec<_> = plan.writes(&reply).map(|(chunk, _)| chunk).collect();
        assert_eq!(chunks, [1, 3]);
    });
}

/// RPC-010: without write chunks a result is inline, or a read chunk if that is allowed.
/// RPC-011, RPC-033: what is too long goes into the reply chunk; without one, or if it is too
/// small, into a read list; and if that is not allowed, nowhere.
#[test]
fn long_replies_go_where_there_is_room() {
    let reply = message(1100, &[200]);
    let way = |reply: &Message, limits: &ReplyLimits, writes: &[u32], chunk: Option<u32>| {
        offering(writes, chunk, |header| {
            let plan = Plan::reply(reply, limits, header)?;
            Ok((
                plan.form(),
                plan.body(),
                plan.carriage(0),
                plan.send_octets(),
            ))
        })
    };
    let short = message(24, &[900]);
    assert_eq!(
        way(&short, &REPLY, &[], None),
        Ok((Form::Msg, Body::Send, Stream, 956))
    );
    assert_eq!(
        way(&short, &REPLY, &[], Some(4000)),
        Ok((Form::Msg, Body::Send, Stream, 976))
    );
    let written = Ok((Form::Msg, Body::Send, Write, 28 + 40 + 28));
    assert_eq!(way(&short, &REPLY, &[900], None), written);

    let chunk = Ok((Form::Nomsg, Body::ReplyChunk, Stream, 48));
    assert_eq!(way(&reply, &REPLY, &[], Some(1304)), chunk);
    assert_eq!(way(&reply, &REPLY, &[], Some(1303)), Err(NoWay));
    assert_eq!(way(&reply, &REPLY, &[], None), Err(NoWay));
    let both = Ok((Form::Nomsg, Body::ReplyChunk, Write, 88));
    assert_eq!(way(&reply, &REPLY, &[200], Some(1104)), both);
    assert_eq!(way(&reply, &REPLY, &[200], Some(1103)), Err(NoWay));

    let reads = ReplyLimits {
        read_list: true,
        ..REPLY
    };
    assert_eq!(way(&reply, &reads, &[], Some(1304)), chunk);
    let long = Ok((Form::Nomsg, Body::ReadChunk, Read, 28 + 48 + 20));
    assert_eq!(way(&reply, &reads, &[], Some(1303)), long);
    let item = Ok((Form::Msg, Body::Send, Read, 28 + 24 + 28));
    assert_eq!(way(&message(24, &[1000]), &reads, &[], None), item);
    assert_eq!(
        way(&message(24, &[968]), &reads, &[], None),
        Ok((Form::Msg, Body::Send, Stream, 1024))
    );
    assert_eq!(way(&message(24, &[969]), &reads, &[], None), item);
}

/// RPC-010: only items with octets are read chunks of a reply, and only those that are not written.
#[test]
fn items_without_octets_are_no_chunks_of_a_reply() {
    let reply = message(24, &[1000, 0, 7, 900]);
    let reads = ReplyLimits {
        read_list: true,
        ..REPLY
    };
    offering(&[1, 1, 7], None, |header| {
        let plan = Plan::reply(&reply, &reads, header).expect("a way");
        assert_eq!(
            (plan.form(), ways(&plan, 4)),
            (Form::Msg, vec![Read, Stream, Write, Read])
        );
    });
    assert!(NoWay.to_string().contains("longer"));
}

/// The bits of 64 items do not run into each other.
#[test]
fn the_last_of_all_items_has_its_way() {
    let mut lengths = [1; 64];
    lengths[63] = 600;
    lengths[31] = 600;
    let plan = call(&message(0, &lengths), &LIMITS).expect("a way");
    let read: Vec<_> = (0..70)
        .filter(|item| plan.carriage(*item) == Read)
        .collect();
    assert_eq!(read, [31, 63]);
}
