//! Heads of every kind, read from a model of the unit buffer.
use super::*;
use crate::transmit::tests::frames::{add_sums, frame_of, length, spoil, Arena, Spec};
use rnic_hdl_tools::testkit::{bits_of, lockstep, settle, Random};
use std::collections::VecDeque;

/// What the buffer holds of a ring.
#[derive(Default)]
struct Ring {
    frames: VecDeque<Spec>,
    /// Units in the buffer, and those that are still to come.
    buffered: u64,
    coming: u64,
    written: usize,
    taken: usize,
}

fn spec(arena: &mut Arena, random: &mut Random) -> Spec {
    let octets = length(9216, random);
    let mut spec = frame_of(octets, arena, random);
    add_sums(&mut spec, random);
    if random.chance(1, 2) {
        spoil(&mut spec, random.below(5), random);
    }
    spec
}

/// The job of a head, as its text says.
fn check_job(job: FrameJob, spec: &Spec) {
    assert_eq!(job.units, spec.units() as u64);
    assert_eq!(job.refused, spec.refusal().is_some(), "{spec:?}");
    if job.refused {
        return;
    }
    assert_eq!(job.octets, spec.octets as u64);
    assert_eq!(job.has_checksum, spec.checksum.is_some());
    if let Some((start, place)) = spec.checksum {
        assert_eq!(
            (job.sum_start, job.checksum_place),
            ((start as u64).into(), (place as u64).into())
        );
    }
    assert_eq!(job.has_crc, spec.crc.is_some());
    if let Some((first, octets)) = spec.crc {
        let place = (first + octets) as u64;
        assert_eq!(
            (job.crc_first, job.crc_place),
            ((first as u64).into(), place.into())
        );
    }
}

#[test]
fn heads_become_jobs_and_commands() {
    let (mut arena, mut memory) = (Arena::new(), vec![vec![0u8; 12]; 512]);
    let mut rings: [Ring; 2] = Default::default();
    let mut commands: VecDeque<(u64, usize, bool)> = VecDeque::new();
    let mut addresses: VecDeque<usize> = VecDeque::from([0, 0]);
    let (mut jobs, mut refused) = ([0; 2], 0);
    let mut room = false;
    lockstep!(
        "head_decoder",
        HeadDecoder::<4>::default(),
        20_000,
        |uut, random| {
            for (number, ring) in rings.iter_mut().enumerate() {
                if ring.frames.len() < 4 {
                    let spec = spec(&mut arena, random);
                    for (piece, octets) in spec.encode(random).chunks(16).enumerate() {
                        let place = (number << 8) | ((2 * ring.written + piece) % 256);
                        memory[place] = octets[..12].to_vec();
                    }
                    ring.written += spec.units();
                    ring.coming += spec.units() as u64;
                    ring.frames.push_back(spec);
                }
                // Control frames go first: they come seldom enough to leave time for the others.
                if random.chance(1, [60, 6][number]) {
                    let more = random.below(ring.coming + 1);
                    ring.coming -= more;
                    ring.buffered += more;
                }
            }
            uut.control_buffered.next = rings[0].buffered.into();
            uut.bulk_buffered.next = rings[1].buffered.into();
            uut.control_slot.next = (rings[0].taken as u64 % 128).into();
            uut.bulk_slot.next = (rings[1].taken as u64 % 128).into();
            uut.free.next = random.below(1024).into();
            room |= random.chance(1, 2);
            uut.job_room.next = room;
            uut.command_ready.next = random.chance(2, 3);
            // Two cycles after the address.
            let address = addresses.pop_front().expect("two at any time");
            uut.piece.next = bits_of(&memory[address]);
            let promised = uut.free.next.to_u64();
            settle(uut);
            addresses.push_back(uut.read_address.val().index());
            let takes = [uut.control_take.val(), uut.bulk_take.val()];
            assert_eq!(uut.job_valid.val(), takes[0] | takes[1]);
            if uut.job_valid.val() {
                let ring = usize::from(takes[1]);
                let spec = rings[ring].frames.pop_front().expect("a frame is there");
                let job = uut.job.val();
                assert!(room && job.ring == takes[1]);
                room = false;
                check_job(job, &spec);
                assert_eq!(uut.take_units.val(), spec.units() as u64);
                rings[ring].buffered -= spec.units() as u64;
                rings[ring].taken += spec.units();
                jobs[ring] += 1;
                refused += u32::from(job.refused);
                let words = if job.refused {
                    0
                } else {
                    spec.octets.div_ceil(16) as u64
                };
                assert_eq!(uut.reserve.val(), words);
                // `free` changes at random here: the one of the cycle before decided.
                assert!(promised < 1024);
                if !job.refused {
                    let count = spec.elements.len();
                    let elements = spec.elements.iter().enumerate();
                    commands.extend(elements.map(|(at, one)| (one.0, one.1, at + 1 < count)));
                }
            } else {
                assert_eq!(uut.reserve.val(), 0u64);
            }
            if uut.command_valid.val() && uut.command_ready.next {
                let command = uut.command.val();
                let octets = command.octets.to_u64() as usize;
                let said = (command.address.to_u64(), octets, command.more);
                assert_eq!(Some(said), commands.pop_front());
            }
        }
    );
    assert!(
        jobs.iter().all(|count| *count > 100) && refused > 100,
        "{jobs:?} {refused}"
    );
}

/// A frame is begun only while the store has room for all of it.
#[test]
fn a_frame_waits_for_room_and_a_bulk_frame_gives_way() {
    use rnic_hdl_tools::testkit::simulate;
    let mut uut = simulate!(HeadDecoder::<4>::default());
    let mut random = Random::from_environment();
    let bulk = Spec::of(&[(0x1000, 100)]).encode(&mut random);
    let control = Spec::of(&[(0x2000, 33)]).encode(&mut random);
    let mut addresses = VecDeque::from([0, 0]);
    uut.job_room.next = true;
    uut.command_ready.next = true;
    let mut step = |uut: &mut rnic_hdl_tools::testkit::Simulation<HeadDecoder<4>>| {
        let address: usize = addresses.pop_front().expect("two at any time");
        let frame = if address >> 8 == 1 { &bulk } else { &control };
        let piece = (address % 4) * 16;
        uut.piece.next = bits_of(&frame[piece..piece + 12]);
        uut.settle();
        addresses.push_back(uut.read_address.val().index());
        let took = (uut.control_take.val(), uut.bulk_take.val());
        uut.tick();
        took
    };
    uut.bulk_buffered.next = 2.into();
    uut.free.next = 6.into();
    for _ in 0..40 {
        assert_eq!(step(&mut uut), (false, false), "7 words in room for 6");
    }
    uut.control_buffered.next = 2.into();
    let took = (0..40).find(|_| step(&mut uut) == (true, false));
    assert!(took.is_some_and(|cycles| cycles < 16));
    uut.control_buffered.next = 0.into();
    uut.free.next = 7.into();
    let took = (0..40).find(|_| step(&mut uut) == (false, true));
    assert!(took.is_some_and(|cycles| cycles < 16));
}
