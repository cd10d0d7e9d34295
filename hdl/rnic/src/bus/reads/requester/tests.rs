//! Requests cover exactly the octets of their command, one line each.
use super::*;
use pcie_sim::check::{check, Direction};
use pcie_sim::{Header, Kind, Limits, Tlp, TransferSize};
use rnic_hdl_tools::testkit::{
    lockstep, simulate, words_of, Pace, Random, StreamDriver, StreamMonitor,
};
use std::collections::VecDeque;

fn random_command(random: &mut Random) -> ReadCommand {
    let near_end = random.chance(1, 8);
    let high = if random.chance(1, 2) {
        random.bits() << 32
    } else {
        0
    };
    let address = match near_end {
        true => u64::MAX - random.below(3000),
        false => high | random.below(1 << 32),
    };
    let most = if random.chance(1, 2) { 40 } else { 9217 };
    ReadCommand {
        address: address.into(),
        octets: random.below(most).into(),
        more: random.chance(1, 3),
        cookie: random.wide(),
    }
}

/// First and last octet of each request of a command; `None` for its refusal.
type Pieces = VecDeque<Option<(u64, u64)>>;

/// First and last octet of each request of `command`; none: the rest is refused.
fn pieces(command: &ReadCommand, line: u64) -> Pieces {
    let (mut address, mut left) = (command.address.to_u64(), command.octets.to_u64());
    let mut pieces = VecDeque::new();
    if left == 0 {
        pieces.push_back(None);
    }
    while left > 0 {
        let octets = left.min(line - address % line);
        pieces.push_back(Some((address, address + (octets - 1))));
        left -= octets;
        let (next, wraps) = address.overflowing_add(octets);
        if wraps && left > 0 {
            pieces.push_back(None);
            break;
        }
        address = next;
    }
    pieces
}

/// The octets that a request asks for.
fn octets_of_request(header: [u32; 4], max_read_request: u64) -> (u64, u64, u8) {
    let count = if header[0] >> 29 & 1 == 1 { 4 } else { 3 };
    let header = Header::parse(&header[..count]).expect("a header");
    let limits = Limits {
        max_read_request: TransferSize::from_encoding(max_read_request as u32)
            .unwrap_or(TransferSize::Octets128),
        ..Limits::default()
    };
    let tlp = Tlp {
        header,
        payload: Vec::new(),
    };
    check(&tlp, Direction::Upstream, &limits, |violation| {
        panic!("{violation}")
    });
    let Kind::MRd(read) = header.kind else {
        panic!("{header:?} is not a read")
    };
    let span = read.enables.span(header.length);
    let first = read.address + span.start as u64;
    (first, first + (span.len() as u64 - 1), read.tag)
}

#[test]
fn requests_are_the_octets_of_their_command() {
    for max_read_request in 0..8 {
        let line = match max_read_request {
            1 => 256,
            2..=5 => 512,
            _ => 128,
        };
        let mut uut = simulate!(Requester::default());
        let mut driver = StreamDriver::new(Pace::of_8(5));
        let mut monitor = StreamMonitor::new(Pace::of_8(3));
        let mut open: VecDeque<(ReadCommand, Pieces)> = VecDeque::new();
        for _ in 0..40 {
            let command = random_command(&mut uut.random);
            driver.push(command);
            open.push_back((command, pieces(&command, line)));
        }
        uut.max_read_request.next = max_read_request.into();
        let (mut tag, mut free, mut room) = (0, false, false);
        uut.run_until(60_000, |uut, random| {
            driver.drive(
                &mut uut.command,
                &mut uut.command_valid,
                &uut.command_ready,
                random,
            );
            uut.now.next = random.wide();
            // A tag stays until it is taken; so does room for a part.
            free |= random.chance(1, 3);
            room |= random.chance(1, 2);
            uut.free_valid.next = free;
            uut.part_room.next = room;
            uut.free_tag.next = u64::from(tag).into();
            let taken = monitor.watch(
                &uut.request_header,
                &uut.request_valid,
                &mut uut.request_ready,
                random,
            );
            rnic_hdl_tools::testkit::settle(uut);
            assert_eq!(uut.issue.val(), taken.is_some());
            if uut.part_valid.val() {
                let (command, pieces) = open.front_mut().expect("a command is left");
                let part = uut.part.val();
                let piece = pieces.pop_front().expect("a request is left");
                assert_eq!(part.refused, piece.is_none());
                assert_eq!(part.ends, pieces.is_empty() && !command.more);
                assert_eq!(part.cookie, command.cookie);
                if let Some((first, last)) = piece {
                    let header = words_of(taken.expect("a request leaves"));
                    let read = octets_of_request(header, max_read_request);
                    assert_eq!(read, (first, last, tag));
                    assert_eq!(
                        (part.first, part.last),
                        (Bits::from(first % 512), Bits::from(last % 512))
                    );
                    assert_eq!(
                        (uut.span.val().first, uut.span.val().last),
                        (part.first, part.last)
                    );
                    assert_eq!(
                        (part.tag, part.issued),
                        (u64::from(tag).into(), uut.now.val())
                    );
                    free = false;
                    tag = (tag + 1) % 64;
                }
                room = false;
                if pieces.is_empty() {
                    open.pop_front();
                }
            }
            (!open.is_empty()).then_some(open.len())
        });
    }
}

#[test]
fn a_command_without_a_tag_is_refused_once_the_table_is_starved() {
    let mut uut = simulate!(Requester::default());
    uut.command.next.address = 0x1000u64.into();
    uut.command.next.octets = 3000u64.into();
    uut.part_room.next = true;
    uut.tick();
    assert!(uut.command_ready.val());
    uut.pulse(|uut| &mut uut.command_valid);
    uut.ticks(50);
    assert!(!uut.part_valid.val() && !uut.request_valid.val());
    uut.starved.next = true;
    uut.settle();
    assert!(uut.part_valid.val() && uut.part.val().refused && uut.part.val().ends);
    uut.tick();
    assert!(!uut.part_valid.val());
    uut.ticks(50);
    assert!(!uut.part_valid.val() && !uut.request_valid.val());
}

#[test]
fn lockstep_with_verilog() {
    let mut command = ReadCommand::default();
    lockstep!(
        "read_requester",
        Requester::default(),
        6000,
        |uut, random| {
            if random.chance(1, 4) {
                command = random_command(random);
            }
            uut.reset.next = random.chance(1, 300);
            uut.max_read_request.next = random.wide();
            uut.device_id.next = random.wide();
            uut.hold.next = random.chance(1, 8);
            uut.command.next = command;
            uut.command_valid.next = random.chance(1, 8);
            uut.request_ready.next = random.chance(2, 3);
            uut.free_tag.next = random.wide();
            uut.free_valid.next = random.chance(3, 4);
            uut.starved.next = random.chance(1, 16);
            uut.now.next = random.wide();
            uut.part_room.next = random.chance(7, 8);
        }
    );
}
