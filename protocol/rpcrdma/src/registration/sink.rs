//! Where the read chunks of a message go: one piece of the pool for all of them.
use crate::place::Place;
use crate::stream::Item;
use crate::wire::{Header, Segment};

/// Where an item begins in a sink: a multiple of so many octets.
const ITEM_ALIGN: u32 = 8;

/// A Read that is to be posted, for the call in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReadJob {
    pub(crate) slot: u32,
    pub(crate) source: Segment,
    pub(crate) sink: Place,
}

/// Octets of the sink of a message with so many read segments of so many octets in sum.
pub(crate) fn sink_octets(segments: u64, octets: u64) -> u64 {
    octets + segments * u64::from(ITEM_ALIGN)
}

/// Give each read segment its place in `sink`: those of one item one after another. Items are
/// appended to `chunks`; the place of position 0 is returned. Empty segments need no Read.
pub(crate) fn lay_out(
    header: &Header<'_>,
    sink: Place,
    chunks: &mut Vec<Item>,
    mut read: impl FnMut(Segment, Place),
) -> Option<Place> {
    let part = |at: u32, length: u32| Place {
        offset: sink.offset + u64::from(at),
        length,
        ..sink
    };
    let (mut at, mut before, mut body) = (0_u32, None, None);
    for entry in header.reads() {
        let length = entry.segment.length;
        if before != Some(entry.position) {
            at = at.next_multiple_of(ITEM_ALIGN);
            before = Some(entry.position);
            match entry.position {
                0 => body = Some(part(at, 0)),
                position => chunks.push(Item {
                    position,
                    place: part(at, 0),
                }),
            }
        }
        let whole = match entry.position {
            0 => body.as_mut(),
            _ => chunks.last_mut().map(|item| &mut item.place),
        };
        whole.into_iter().for_each(|place| place.length += length);
        if length > 0 {
            read(entry.segment, part(at, length));
        }
        at += length;
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::MemoryId;
    use crate::wire::{Caps, Form, HeaderWriter, ReadSegment};

    /// RPC-008, RPC-032: segments of one position are one item; position 0 is the message.
    #[test]
    fn segments_of_one_item_are_one_after_another() {
        let segment = |handle: u32, length: u32| Segment {
            handle,
            length,
            offset: 0,
        };
        let mut octets = Vec::new();
        let mut header = HeaderWriter::new(&mut octets, 1, 1, Form::Nomsg);
        let entries = [
            (0, 1, 50),
            (0, 2, 51),
            (40, 3, 5),
            (40, 4, 0),
            (40, 5, 6),
            (52, 6, 1),
        ];
        for (position, handle, length) in entries {
            let segment = segment(handle, length);
            header.read(ReadSegment { position, segment });
        }
        header.end();
        let header = Header::parse(&octets, &Caps::default()).expect("a right header");
        let place = |offset: u64, length: u32| Place {
            memory: MemoryId(3),
            offset,
            length,
        };
        let needed = sink_octets(6, header.read_octets().0);
        assert_eq!(needed, 113 + 48);
        let (mut chunks, mut reads) = (Vec::new(), Vec::new());
        let sink = place(4_096, needed as u32);
        let body = lay_out(&header, sink, &mut chunks, |source, sink| {
            reads.push((source.handle, sink));
        });
        assert_eq!(body, Some(place(4_096, 101)));
        let item = |position: u32, place: Place| Item { position, place };
        let items = [item(40, place(4_200, 11)), item(52, place(4_216, 1))];
        assert_eq!(chunks, items);
        let expected = [
            (1, place(4_096, 50)),
            (2, place(4_146, 51)),
            (3, place(4_200, 5)),
            (5, place(4_205, 6)),
            (6, place(4_216, 1)),
        ];
        assert_eq!(reads, expected);
    }
}
