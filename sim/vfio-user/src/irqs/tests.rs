use super::*;
use crate::protocol::{IRQ_MSI, IRQ_MSIX};
use rustix::event::{eventfd, EventfdFlags};
use set_irqs_flags::*;

const COUNT: u32 = 4;

fn request(flags: u32, index: u32, start: u32, count: u32) -> SetIrqs {
    SetIrqs {
        argsz: 20,
        flags,
        index,
        start,
        count,
    }
}

/// An eventfd, and a descriptor of it to send.
fn pair() -> (OwnedFd, OwnedFd) {
    let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).expect("an eventfd");
    (fd.try_clone().expect("a descriptor"), fd)
}

/// How often it was signalled since it was last asked.
fn signals(fd: &OwnedFd) -> u64 {
    let mut count = [0; 8];
    match rustix::io::read(fd, &mut count) {
        Ok(8) => u64::from_ne_bytes(count),
        result => {
            assert_eq!(result, Err(Errno::AGAIN));
            0
        }
    }
}

#[test]
fn eventfds_are_assigned_and_taken_away() {
    let irqs = Irqs::default();
    assert!(!irqs.trigger(IRQ_MSIX, 0));
    let ((first, first_sent), (second, second_sent)) = (pair(), pair());
    let eventfds = DATA_EVENTFD | ACTION_TRIGGER;
    let both = request(eventfds, IRQ_MSIX, 1, 2);
    irqs.set(&both, &[], vec![first_sent, second_sent], COUNT)
        .expect("set");
    assert_eq!(irqs.assigned_count(IRQ_MSIX), 2);
    assert!(irqs.trigger(IRQ_MSIX, 1) && irqs.trigger(IRQ_MSIX, 2) && irqs.trigger(IRQ_MSIX, 2));
    assert_eq!((signals(&first), signals(&second)), (1, 2));
    assert!(!irqs.trigger(IRQ_MSIX, 0) && !irqs.trigger(IRQ_MSIX, 3));
    assert!(!irqs.trigger(IRQ_MSI, 1) && !irqs.trigger(9, 0) && !irqs.trigger(IRQ_MSIX, 99));
    // Without descriptors they are taken away.
    irqs.set(&request(eventfds, IRQ_MSIX, 1, 1), &[], vec![], COUNT)
        .expect("set");
    assert!(!irqs.trigger(IRQ_MSIX, 1) && irqs.is_assigned(IRQ_MSIX, 2));
    let disable = request(DATA_NONE | ACTION_TRIGGER, IRQ_MSIX, 0, 0);
    irqs.set(&disable, &[], vec![], COUNT).expect("set");
    assert_eq!(irqs.assigned_count(IRQ_MSIX), 0);
}

#[test]
fn the_client_can_trigger() {
    let irqs = Irqs::default();
    let (fds, sent): (Vec<_>, Vec<_>) = (0..4).map(|_| pair()).unzip();
    let all = request(DATA_EVENTFD | ACTION_TRIGGER, IRQ_MSI, 0, 4);
    irqs.set(&all, &[], sent, COUNT).expect("set");
    let range = request(DATA_NONE | ACTION_TRIGGER, IRQ_MSI, 1, 2);
    irqs.set(&range, &[], vec![], COUNT).expect("triggered");
    let chosen = request(DATA_BOOL | ACTION_TRIGGER, IRQ_MSI, 1, 3);
    irqs.set(&chosen, &[1, 0, 7], vec![], COUNT)
        .expect("triggered");
    let counts: Vec<u64> = fds.iter().map(signals).collect();
    assert_eq!(counts, [0, 2, 1, 1]);
}

#[test]
fn the_pin_masks_itself_and_holds_what_comes() {
    let irqs = Irqs::default();
    let (fd, sent) = pair();
    let assign = request(DATA_EVENTFD | ACTION_TRIGGER, IRQ_INTX, 0, 1);
    irqs.set(&assign, &[], vec![sent], 1).expect("set");
    let act = |action: u32| {
        let request = request(DATA_NONE | action, IRQ_INTX, 0, 1);
        irqs.set(&request, &[], vec![], 1).expect("set");
    };
    assert!(irqs.trigger(IRQ_INTX, 0) && irqs.trigger(IRQ_INTX, 0));
    assert_eq!(signals(&fd), 1);
    act(ACTION_UNMASK);
    assert_eq!(
        signals(&fd),
        1,
        "the second is signalled when it is unmasked"
    );
    act(ACTION_UNMASK);
    assert_eq!(signals(&fd), 0);
    act(ACTION_MASK);
    assert!(irqs.trigger(IRQ_INTX, 0));
    assert_eq!(signals(&fd), 0);
    act(ACTION_UNMASK);
    assert_eq!(signals(&fd), 1);
}

#[test]
fn malformed_requests_change_nothing() {
    let irqs = Irqs::default();
    let eventfds = DATA_EVENTFD | ACTION_TRIGGER;
    let cases: [(SetIrqs, &[u8], usize, Errno); 17] = [
        (request(eventfds, IRQ_COUNT, 0, 1), &[], 1, Errno::INVAL),
        (request(eventfds, IRQ_MSIX, 4, 1), &[], 1, Errno::INVAL),
        (
            request(eventfds, IRQ_MSIX, u32::MAX, 2),
            &[],
            2,
            Errno::INVAL,
        ),
        (
            request(eventfds, IRQ_MSIX, 0, u32::MAX),
            &[],
            0,
            Errno::INVAL,
        ),
        (request(eventfds, IRQ_MSIX, 0, 2), &[], 1, Errno::INVAL),
        (request(eventfds, IRQ_MSIX, 0, 1), &[], 2, Errno::INVAL),
        (request(eventfds, IRQ_MSIX, 0, 0), &[], 0, Errno::INVAL),
        (request(eventfds, IRQ_MSIX, 0, 1), &[0], 1, Errno::INVAL),
        (request(DATA_EVENTFD, IRQ_MSIX, 0, 1), &[], 1, Errno::INVAL),
        (
            request(ACTION_TRIGGER, IRQ_MSIX, 0, 1),
            &[],
            0,
            Errno::INVAL,
        ),
        (
            request(eventfds | DATA_NONE, IRQ_MSIX, 0, 1),
            &[],
            1,
            Errno::INVAL,
        ),
        (
            request(eventfds | ACTION_MASK, IRQ_MSIX, 0, 1),
            &[],
            1,
            Errno::INVAL,
        ),
        (request(eventfds | 64, IRQ_MSIX, 0, 1), &[], 1, Errno::INVAL),
        (
            request(DATA_NONE | ACTION_TRIGGER, IRQ_MSIX, 0, 1),
            &[],
            1,
            Errno::INVAL,
        ),
        (
            request(DATA_BOOL | ACTION_TRIGGER, IRQ_MSIX, 0, 2),
            &[1],
            0,
            Errno::INVAL,
        ),
        (
            request(DATA_NONE | ACTION_MASK, IRQ_MSIX, 0, 1),
            &[],
            0,
            Errno::NOTSUP,
        ),
        (
            request(DATA_EVENTFD | ACTION_UNMASK, IRQ_INTX, 0, 1),
            &[],
            1,
            Errno::NOTSUP,
        ),
    ];
    for (request, data, fds, errno) in cases {
        let fds = (0..fds).map(|_| pair().1).collect();
        let result = irqs.set(&request, data, fds, COUNT);
        assert_eq!(result, Err(errno), "{request:?}");
    }
    let (socket, _other) = std::os::unix::net::UnixStream::pair().expect("sockets");
    let memory = rustix::fs::memfd_create("memory", rustix::fs::MemfdFlags::CLOEXEC);
    for other in [OwnedFd::from(socket), memory.expect("memory")] {
        let sent = vec![pair().1, other];
        let refused = irqs.set(&request(eventfds, IRQ_MSIX, 0, 2), &[], sent, COUNT);
        assert_eq!(refused, Err(Errno::INVAL));
    }
    assert_eq!(irqs.assigned_count(IRQ_MSIX), 0);
}

/// The client fills the counter and has writes block: the device must not wait for it.
#[test]
fn a_full_counter_does_not_block() {
    let irqs = Irqs::default();
    let (fd, sent) = pair();
    let assign = request(DATA_EVENTFD | ACTION_TRIGGER, IRQ_MSIX, 0, 1);
    irqs.set(&assign, &[], vec![sent], COUNT).expect("set");
    write(&fd, &(u64::MAX - 1).to_ne_bytes()).expect("room");
    let flags = fcntl_getfl(&fd).expect("flags");
    assert!(flags.contains(OFlags::NONBLOCK));
    fcntl_setfl(&fd, flags - OFlags::NONBLOCK).expect("flags");
    assert!(irqs.trigger(IRQ_MSIX, 0));
    fcntl_setfl(&fd, flags).expect("flags");
    assert_eq!(signals(&fd), u64::MAX - 1);
}
