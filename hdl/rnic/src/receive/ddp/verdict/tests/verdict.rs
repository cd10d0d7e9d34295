//! Verdict against the rows of the table, inputs valid only in their cycles.
use super::super::*;
use rnic_hdl_tools::testkit::{simulate, Random};
use StreamError::*;

/// Random inputs; those that are stable have no cycle.
struct Question {
    segment: DdpSegment,
    envelope: u64,
    rights: u32,
    flags: [bool; 10],
    crc_good: bool,
    marker_good: bool,
    marker_seen: bool,
    has_room: bool,
    full: bool,
    follows_bad: bool,
    role: Role,
    in_error: bool,
    is_first: bool,
}

fn random_role(random: &mut Random) -> Role {
    let mut role = Role {
        unproven: random.chance(1, 2),
        ..Role::default()
    };
    match random.below(10) {
        0 => role.host = true,
        1 | 2 => role.check = true,
        3..=5 => role.ooo = true,
        6 | 7 => role.replayed = true,
        _ => {}
    }
    role
}

fn question(random: &mut Random) -> Question {
    let role = random_role(random);
    let mut half = || random.chance(1, 2);
    let segment = DdpSegment {
        known: true,
        tagged: half(),
        last: half(),
        has_payload: half(),
        invalidates: half(),
        ..DdpSegment::default()
    };
    Question {
        segment: DdpSegment {
            known: !random.chance(1, 8),
            wraps: random.chance(1, 6),
            opcode: (2 * random.below(2)).into(),
            qn: random.below(3).into(),
            invalidates: segment.invalidates && !segment.tagged && segment.last,
            ..segment
        },
        envelope: if random.chance(1, 6) {
            1 + random.below(8)
        } else {
            0
        },
        rights: random.below(32) as u32,
        flags: std::array::from_fn(|_| random.chance(1, 6)),
        crc_good: !random.chance(1, 10),
        marker_good: !random.chance(1, 10),
        marker_seen: random.chance(1, 2),
        has_room: random.chance(3, 4),
        full: random.chance(1, 4),
        follows_bad: random.chance(1, 4),
        role,
        in_error: random.chance(1, 6),
        is_first: random.chance(1, 3),
    }
}

/// The rows CRC and markers, and those from STag or MSN on; between them `envelope` was found.
fn expected_error(question: &Question) -> u64 {
    let [unknown, foreign, outside, mo_bad, too_long, before, not_posted, gap, unread, empty] =
        question.flags;
    let gap = gap && !question.role.ooo;
    if !question.crc_good {
        return MpaCrc as u64;
    }
    if !question.marker_good {
        return MpaMarker as u64;
    }
    let segment = &question.segment;
    let right = if segment.opcode == 0u64 {
        RIGHT_REMOTE_WRITE
    } else {
        RIGHT_READ_SINK
    };
    let keep = question.rights & RIGHT_REMOTE_INVALIDATE == 0;
    let unread = segment.opcode == 2u64 && (unread || empty);
    let rows: &[(bool, StreamError)] = match (segment.known, segment.tagged) {
        (false, _) => &[],
        (true, true) if !segment.has_payload => &[(unread, RdmapReadResponse)],
        (true, true) => &[
            (unknown, DdpStag),
            (foreign, DdpAssociation),
            (question.rights & right == 0, RdmapAccess),
            (segment.wraps, DdpWrap),
            (outside, DdpBounds),
            (unread, RdmapReadResponse),
        ],
        (true, false) => &[
            (before, DdpMsn),
            (not_posted, DdpNoBuffer),
            (gap, DdpMsn),
            (mo_bad, DdpMo),
            (too_long, DdpTooLong),
            (
                segment.invalidates && (unknown || foreign || keep),
                RdmapInvalidate,
            ),
        ],
    };
    let first = rows.iter().find(|(fails, _)| *fails);
    // Last of all: room for the entry.
    let overflows = question.full && completes(question);
    let first = first.or(overflows.then_some(&(true, CqOverflow)));
    match question.envelope {
        0 => first.map_or(0, |(_, error)| *error as u64),
        error => error,
    }
}

/// It calls for an entry if no test fails.
fn completes(question: &Question) -> bool {
    let (segment, role) = (&question.segment, &question.role);
    let is_end = segment.known && segment.last && (!segment.tagged || segment.opcode == 2u64);
    is_end && !role.check && !role.ooo
}

fn expected(question: &Question) -> Verdict {
    let (segment, role) = (&question.segment, &question.role);
    let silent = role.host || role.ooo || question.in_error;
    let found = expected_error(question);
    let error = if silent { 0 } else { found };
    let frame_bad = !question.crc_good || !question.marker_good;
    let good = !silent && error == 0 && !role.check && segment.known;
    let keep = role.ooo
        && !question.in_error
        && found == 0
        && segment.known
        && question.has_room
        && !question.follows_bad
        && (question.marker_seen || !role.unproven)
        && !(segment.tagged && segment.opcode == 2u64);
    let receive = good && segment.last && !segment.tagged;
    let response = good && segment.last && segment.tagged && segment.opcode == 2u64;
    let continues = good && !segment.last && segment.tagged && segment.opcode == 2u64;
    let event = !silent && (error != 0 || !role.check);
    Verdict {
        error: error.into(),
        refused: error != 0,
        silent,
        place: (good || keep) && segment.has_payload && !role.replayed,
        placed: (good || keep) && segment.has_payload,
        ooo: role.ooo,
        keep,
        receive,
        response,
        invalidate: good && segment.invalidates,
        count: event && !frame_bad,
        event,
        command: (error != 0 && !question.full)
            || receive
            || response
            || !(role.check || role.replayed),
        known: segment.known && !frame_bad,
        stops: error != 0 || (receive && segment.qn == 2u64),
        continues: continues && segment.has_payload,
        entry: (error != 0 && !question.full) || receive || response,
        lost: error != 0 && question.full,
    }
}

#[test]
fn the_first_failing_test_wins() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(VerdictEncode::default());
    for _ in 0..6000 {
        let question = question(&mut random);
        uut.segment.next = question.segment;
        uut.role.next = question.role;
        uut.has_room.next = question.has_room;
        uut.follows_bad.next = question.follows_bad;
        uut.in_error.next = question.in_error;
        uut.is_first.next = question.is_first;
        uut.envelope_error.next = question.envelope.into();
        uut.envelope_refused.next = question.envelope != 0;
        uut.rights.next = u64::from(question.rights).into();
        [
            uut.unknown.next,
            uut.foreign.next,
            uut.outside.next,
            uut.mo_bad.next,
            uut.too_long.next,
            uut.behind.next,
            uut.not_posted.next,
            uut.gap.next,
            uut.read_differs.next,
            uut.empty.next,
        ] = question.flags;
        // Cycle 4 may last; CRC and markers are valid in its last cycle only.
        let wait = random.below(4);
        for cycle in 0..3 + wait {
            uut.decide.next = cycle == 2 + wait;
            uut.full.next = if uut.decide.next {
                question.full
            } else {
                random.chance(1, 2)
            };
            uut.crc_good.next = uut.decide.next && question.crc_good;
            uut.marker_good.next = uut.decide.next && question.marker_good;
            uut.marker_seen.next = uut.decide.next && question.marker_seen;
            uut.tick();
        }
        uut.decide.next = false;
        assert_eq!(
            uut.verdict.val(),
            expected(&question),
            "{:?}",
            question.segment
        );
        let found = expected(&question);
        let first = question.is_first && !found.silent && !found.refused;
        assert_eq!(uut.first_passed.val(), first, "START-014");
        uut.tick();
        assert_eq!(uut.verdict.val(), expected(&question), "holds after decide");
    }
}
