//! Tables against the types of the specifications, and the configuration protocol.
use crate::binding::conf_rdma::{self, ConfigReply, ConfigRequest};
use crate::binding::nfs4::{self, operation};
use crate::binding::{mount3, nfs3, Items, Procedure, Program, ReplyBound};
use crate::stream::{DecodeError, Message, Reader};
use crate::wire::Padding;
use nfs3_types::nfs3 as types;
use nfs3_types::xdr_codec::{List, Opaque, Pack, Unpack};

fn numbered(program: &Program<'_>) {
    let mut numbers = program.procedures.iter().map(|procedure| procedure.number);
    assert!(
        numbers.by_ref().eq(0..program.procedures.len() as u32),
        "{}",
        program.name
    );
    for procedure in program.procedures {
        assert_eq!(program.procedure(procedure.number), Some(procedure));
    }
    assert_eq!(program.procedure(program.procedures.len() as u32), None);
}

#[test]
fn programs_have_their_procedures() {
    let programs = [
        nfs3::PROGRAM,
        mount3::PROGRAM,
        nfs4::PROGRAM,
        conf_rdma::PROGRAM,
    ];
    programs.iter().for_each(numbered);
    let numbers = programs.map(|program| (program.number, program.version));
    assert_eq!(
        numbers,
        [(100_003, 3), (100_005, 3), (100_003, 4), (100_417, 1)]
    );
    let counts = programs.map(|program| program.procedures.len());
    assert_eq!(counts, [22, 6, 2, 2]);
}

/// RPC-007: the items of NFS version 3 that RFC 5667 lets be chunks, and no others.
#[test]
fn items_of_nfs_3() {
    let items = |of: fn(&Procedure<'_>) -> Items| {
        let procedures = nfs3::PROGRAM.procedures.iter();
        let some = procedures.filter(|procedure| of(procedure) != Items::None);
        some.map(|procedure| (procedure.name, of(procedure)))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        items(|procedure| procedure.arguments),
        [("WRITE", Items::Last), ("SYMLINK", Items::Last)]
    );
    let results = [("READLINK", Items::Last), ("READ", Items::Last)];
    assert_eq!(items(|procedure| procedure.results), results);
    assert!(mount3::PROGRAM.procedures.iter().all(|procedure| {
        (procedure.arguments, procedure.results) == (Items::None, Items::None)
    }));
}

/// A value whose type is 1 and whose other fields are zero.
fn unpacked<T: Unpack>() -> T {
    let octets: Vec<u8> = [[0, 0, 0, 1].as_slice(), &[0; 200]].concat();
    T::unpack(&mut octets.as_slice())
        .expect("it has a fixed length")
        .0
}

fn attributes() -> types::post_op_attr {
    types::Nfs3Option::Some(unpacked())
}

fn wcc() -> types::wcc_data {
    types::wcc_data {
        before: types::Nfs3Option::Some(unpacked()),
        after: attributes(),
    }
}

fn handle() -> types::nfs_fh3 {
    types::nfs_fh3 {
        data: Opaque::owned(vec![9; 64]),
    }
}

/// Octets of the longest results, status included, item data excluded.
fn longest() -> Vec<(&'static str, usize)> {
    let status = 4;
    let made = status + types::Nfs3Option::Some(handle()).packed_size();
    let made = made + attributes().packed_size() + wcc().packed_size();
    let attr = attributes().packed_size();
    vec![
        ("NULL", 0),
        (
            "GETATTR",
            status + unpacked::<types::fattr3>().packed_size(),
        ),
        ("SETATTR", status + wcc().packed_size()),
        ("LOOKUP", status + handle().packed_size() + 2 * attr),
        ("ACCESS", status + attr + 4),
        ("READLINK", status + attr + 4),
        ("READ", status + attr + 4 + 4 + 4),
        ("WRITE", status + wcc().packed_size() + 4 + 4 + 8),
        ("CREATE", made),
        ("MKDIR", made),
        ("SYMLINK", made),
        ("MKNOD", made),
        ("REMOVE", status + wcc().packed_size()),
        ("RMDIR", status + wcc().packed_size()),
        ("RENAME", status + 2 * wcc().packed_size()),
        ("LINK", status + attr + wcc().packed_size()),
    ]
}

/// The bounds of replies are those of the longest results that another codec packs.
#[test]
fn replies_of_nfs_3_are_as_long_as_their_types() {
    let procedures = nfs3::PROGRAM.procedures;
    for ((name, octets), procedure) in longest().into_iter().zip(procedures) {
        assert_eq!(
            (procedure.name, procedure.reply.octets),
            (name, octets as u32)
        );
        assert!(!procedure.reply.asked, "{name}");
    }
    let status = 4;
    let empty = types::READDIR3resok {
        dir_attributes: attributes(),
        cookieverf: types::cookieverf3::default(),
        reply: types::dirlist3 {
            entries: List::default(),
            eof: true,
        },
    };
    let fsstat = types::FSSTAT3resok {
        obj_attributes: attributes(),
        ..fsstat()
    };
    let fsinfo = types::FSINFO3resok {
        obj_attributes: attributes(),
        ..fsinfo()
    };
    let pathconf = types::PATHCONF3resok {
        obj_attributes: attributes(),
        ..pathconf()
    };
    let commit = types::COMMIT3resok {
        file_wcc: wcc(),
        verf: types::writeverf3::default(),
    };
    let others = [
        (empty.packed_size(), true),
        (empty.packed_size(), true),
        (fsstat.packed_size(), false),
        (fsinfo.packed_size(), false),
        (pathconf.packed_size(), false),
        (commit.packed_size(), false),
    ];
    for ((octets, asked), procedure) in others.into_iter().zip(&procedures[16..]) {
        let bound = ReplyBound {
            octets: (status + octets) as u32,
            asked,
        };
        assert_eq!(procedure.reply, bound, "{}", procedure.name);
    }
}

fn fsstat() -> types::FSSTAT3resok {
    types::FSSTAT3resok {
        obj_attributes: attributes(),
        tbytes: 0,
        fbytes: 0,
        abytes: 0,
        tfiles: 0,
        ffiles: 0,
        afiles: 0,
        invarsec: 0,
    }
}

fn fsinfo() -> types::FSINFO3resok {
    types::FSINFO3resok {
        obj_attributes: attributes(),
        rtmax: 0,
        rtpref: 0,
        rtmult: 0,
        wtmax: 0,
        wtpref: 0,
        wtmult: 0,
        dtpref: 0,
        maxfilesize: 0,
        time_delta: types::nfstime3::default(),
        properties: 0,
    }
}

fn pathconf() -> types::PATHCONF3resok {
    types::PATHCONF3resok {
        obj_attributes: attributes(),
        linkmax: 0,
        name_max: 0,
        no_trunc: true,
        chown_restricted: true,
        case_insensitive: true,
        case_preserving: true,
    }
}

#[test]
fn what_is_asked_for_counts_where_a_reply_grows_with_it() {
    assert_eq!(
        ReplyBound {
            octets: 8,
            asked: false
        }
        .octets_max(u32::MAX),
        8
    );
    let listing = ReplyBound {
        octets: 8,
        asked: true,
    };
    assert_eq!(
        (listing.octets_max(0), listing.octets_max(u32::MAX)),
        (8, 7 + (1 << 32))
    );
    let simple = Procedure::simple(1, "A", 2);
    assert_eq!(
        (simple.number, simple.name, simple.reply.octets_max(9)),
        (1, "A", 2)
    );
    assert_eq!(Procedure::listing(1, "A", 2).reply.octets_max(9), 11);
}

/// A compound of the operations that are here: lengths by RFC 7530.
#[test]
fn compounds_add_up_their_operations() {
    let lookup = [
        (&operation::PUTROOTFH, 0),
        (&operation::LOOKUP, 0),
        (&operation::GETFH, 0),
        (&operation::READ, 0),
    ];
    // Status, tag of 5 with its count, count; number and status of each; a handle of 128; eof and
    // count of READ.
    let octets = 4 + (4 + 8) + 4 + 4 * 8 + (4 + 128) + 8;
    assert_eq!(nfs4::reply_octets_max(5, lookup), octets);
    assert_eq!(
        nfs4::reply_octets_max(0, [(&operation::WRITE, 0)]),
        12 + 8 + 16
    );
    assert_eq!(
        nfs4::reply_octets_max(0, [(&operation::READDIR, 1000)]),
        12 + 24 + 1000
    );
    assert_eq!(
        nfs4::reply_octets_max(0, [(&operation::GETATTR, 100)]),
        12 + 24 + 100
    );
    assert_eq!(
        nfs4::reply_octets_max(0, [(&operation::READLINK, 9), (&operation::PUTFH, 9)]),
        32
    );
    let compound = nfs4::PROGRAM.procedure(1).expect("COMPOUND");
    assert_eq!(
        (compound.arguments, compound.results),
        (Items::Anywhere(16), Items::Anywhere(16))
    );
    assert_eq!(compound.reply.octets_max(36), 48);
    let numbers = operation::ALL.map(|operation| operation.number);
    assert_eq!(numbers, [9, 10, 15, 22, 24, 25, 26, 27, 38]);
    let results = operation::ALL
        .iter()
        .filter(|operation| operation.results != Items::None);
    assert!(results
        .map(|operation| operation.name)
        .eq(["READ", "READLINK"]));
    let arguments = operation::ALL
        .iter()
        .filter(|operation| operation.arguments != Items::None);
    assert!(arguments.map(|operation| operation.name).eq(["WRITE"]));
}

/// RPC-036, RPC-037, RPC-038: three words each way.
#[test]
fn configuration_is_three_words_each_way() {
    let mut message = Message::new();
    let request = ConfigRequest {
        maxcall_sendsize: 1,
        maxreply_sendsize: 2,
        maxrdmaread: 3,
    };
    request.write(&mut message);
    assert_eq!(message.inline(), [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]);
    assert_eq!(
        ConfigRequest::read(&mut Reader::new(message.inline())),
        Ok(request)
    );
    let short = ConfigRequest::read(&mut Reader::new(&message.inline()[..8]));
    assert_eq!(short, Err(DecodeError::Truncated));
    message.clear();
    let reply = ConfigReply {
        maxcall_sendsize: 4,
        align: 5,
        maxrdmaread: 6,
    };
    reply.write(&mut message);
    assert_eq!(message.inline(), [0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6]);
    assert_eq!(
        ConfigReply::read(&mut Reader::new(message.inline())),
        Ok(reply)
    );
    let short = ConfigReply::read(&mut Reader::new(&message.inline()[..11]));
    assert_eq!(short, Err(DecodeError::Truncated));
}

/// RPC-023, RPC-038: only an alignment above a word is worth pad.
#[test]
fn padding_is_for_alignments_above_a_word() {
    let padding = |align| {
        ConfigReply {
            maxcall_sendsize: 0,
            align,
            maxrdmaread: 0,
        }
        .padding(100)
    };
    for align in [0, 1, 4, 6, 12, 4095] {
        assert_eq!(padding(align), None);
    }
    for align in [8, 4096] {
        assert_eq!(
            padding(align),
            Some(Padding {
                align,
                threshold: 100
            })
        );
    }
}
