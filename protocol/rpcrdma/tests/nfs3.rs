//! Items of NFS version 3 with the types and the codec of another crate: its fields are packed one
//! by one and the item is declared; what it unpacks of the reassembled stream, and what a reader
//! finds without a copy, is the same.
use nfs3_types::nfs3 as types;
use nfs3_types::xdr_codec::{Opaque, Pack, Unpack};
use rpcrdma::place::{MemoryId, Place};
use rpcrdma::stream::{Item, Message, Opaque as Received, Reader, Reassembly, Splice};

/// The memory that items are in.
const MEMORY: [u8; 64] = [0x5a; 64];

fn place(length: u32) -> Place {
    Place {
        memory: MemoryId(0),
        offset: 8,
        length,
    }
}

fn octets(place: Place) -> Vec<u8> {
    MEMORY[place.offset as usize..place.end() as usize].to_vec()
}

fn packed(value: &impl Pack) -> Vec<u8> {
    let mut octets = Vec::new();
    value.pack(&mut octets).expect("memory");
    octets
}

/// Fields by another codec, then the item.
fn message(fields: &[&dyn Fn() -> Vec<u8>], length: u32) -> Message {
    let mut message = Message::new();
    fields.iter().for_each(|field| message.fixed(&field()));
    message.item(place(length)).expect("one item");
    message
}

/// The item of a message, as a chunk and inline; and the value of the stream that is reassembled.
fn received<T: Unpack>(message: &Message, whole: &[u8]) -> T {
    let [Item { position, place }] = message.items() else {
        panic!("{:?}", message.items());
    };
    // As RFC 5666 has it for a chunk: what is before the data, and no roundup.
    assert_eq!(message.inline(), &whole[..*position as usize]);
    assert_eq!(message.octets(), whole.len() as u64);
    let mut reader = Reader::new(message.inline()).with_chunks(message.items());
    reader.fixed(position - 4).expect("the fields before");
    assert_eq!(reader.opaque(64), Ok(Received::Chunk(*place)));
    assert_eq!(reader.finish(), Ok(()));
    let mut reader = Reader::new(whole);
    reader.fixed(position - 4).expect("the fields before");
    let data = octets(*place);
    assert_eq!(
        reader.opaque(64),
        Ok(Received::Inline {
            octets: &data,
            place: None
        })
    );
    assert_eq!(reader.finish(), Ok(()));

    let splices = [Splice {
        position: *position,
        pad_octets: 0,
        place: Some(*place),
    }];
    let mut stream = Reassembly::new(message.inline(), &splices, |place, into: &mut [u8]| {
        into.copy_from_slice(&octets(place));
    });
    let (value, read) = T::unpack(&mut stream).expect("a value");
    assert_eq!(read, whole.len());
    value
}

fn handle() -> types::nfs_fh3 {
    types::nfs_fh3 {
        data: Opaque::owned(vec![7; 29]),
    }
}

/// RPC-007, RPC-008, RPC-014: WRITE.
#[test]
fn data_of_write() {
    for length in 0..9 {
        let stable = types::stable_how::FILE_SYNC;
        let args = types::WRITE3args {
            file: handle(),
            offset: 1 << 40,
            count: length,
            stable,
            data: Opaque::owned(octets(place(length))),
        };
        let fields: [&dyn Fn() -> Vec<u8>; 4] = [
            &|| packed(&args.file),
            &|| packed(&args.offset),
            &|| packed(&args.count),
            &|| packed(&args.stable),
        ];
        let message = message(&fields, length);
        let back: types::WRITE3args<'_> = received(&message, &packed(&args));
        assert_eq!(
            (back.offset, back.count, back.stable),
            (1 << 40, length, stable)
        );
        assert_eq!(
            (&back.file.data[..], &back.data[..]),
            (&args.file.data[..], &args.data[..])
        );
    }
}

/// RPC-007, RPC-008, RPC-014: SYMLINK.
#[test]
fn path_of_symlink() {
    for length in 0..9 {
        let where_ = types::diropargs3 {
            dir: handle(),
            name: b"link".to_vec().into(),
        };
        let symlink = types::symlinkdata3 {
            symlink_attributes: types::sattr3::default(),
            symlink_data: octets(place(length)).into(),
        };
        let args = types::SYMLINK3args { where_, symlink };
        let fields: [&dyn Fn() -> Vec<u8>; 2] = [&|| packed(&args.where_), &|| {
            packed(&args.symlink.symlink_attributes)
        }];
        let message = message(&fields, length);
        let back: types::SYMLINK3args<'_> = received(&message, &packed(&args));
        assert_eq!(&back.symlink.symlink_data.0[..], octets(place(length)));
    }
}

/// RPC-007, RPC-017: READ and READLINK, whose results are the last field, too.
#[test]
fn data_of_read_and_path_of_readlink() {
    for length in 0..9 {
        let result = types::READ3resok {
            file_attributes: types::Nfs3Option::None,
            count: length,
            eof: true,
            data: Opaque::owned(octets(place(length))),
        };
        let fields: [&dyn Fn() -> Vec<u8>; 3] = [
            &|| packed(&result.file_attributes),
            &|| packed(&result.count),
            &|| packed(&result.eof),
        ];
        let back: types::READ3resok<'_> = received(&message(&fields, length), &packed(&result));
        assert_eq!(
            (back.count, back.eof, &back.data[..]),
            (length, true, &result.data[..])
        );

        let result = types::READLINK3resok {
            symlink_attributes: types::Nfs3Option::None,
            data: octets(place(length)).into(),
        };
        let fields: [&dyn Fn() -> Vec<u8>; 1] = [&|| packed(&result.symlink_attributes)];
        let back: types::READLINK3resok<'_> = received(&message(&fields, length), &packed(&result));
        assert_eq!(&back.data.0[..], octets(place(length)));
    }
}
