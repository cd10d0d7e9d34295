//! Interrupts: which eventfd each vector signals, and which are masked.
//!
//! ```text
//!   SET_IRQS  eventfds  --> assign        none --> take away
//!             mask, unmask (INTx)         trigger now
//!   device    trigger(kind, vector) --> eventfd += 1, or held while masked
//! ```
//!
//! INTx can be masked, and masks itself when it is triggered, as a level does: the client unmasks
//! it, and what was triggered meanwhile is signalled then. The other kinds have no mask here; a
//! client that masks vectors of MSI-X takes their eventfds away.

use std::cell::RefCell;
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fs::{fcntl_getfl, fcntl_setfl, fstat, FileType, OFlags};
use rustix::io::{write, Errno};

use crate::protocol::{irq_flags, set_irqs_flags, SetIrqs, IRQ_COUNT, IRQ_INTX};

/// A handle on the interrupts of a session; clones are handles on the same ones.
///
/// When the session ends, no vector has an eventfd.
#[derive(Clone, Default)]
pub struct Irqs(Rc<RefCell<[Vec<Vector>; IRQ_COUNT as usize]>>);

#[derive(Default)]
struct Vector {
    eventfd: Option<OwnedFd>,
    masked: bool,
    /// Triggered while it was masked.
    held: bool,
}

/// What to do with a vector.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Mask,
    Unmask,
    Trigger,
}

impl Irqs {
    /// Signals a vector, or holds it until it is unmasked. False: it has no eventfd.
    pub fn trigger(&self, index: u32, vector: u32) -> bool {
        let mut kinds = self.0.borrow_mut();
        let kind = kinds.get_mut(index as usize);
        match kind.and_then(|vectors| vectors.get_mut(vector as usize)) {
            Some(vector) => vector.trigger(index == IRQ_INTX),
            None => false,
        }
    }

    /// The vector has an eventfd.
    pub fn is_assigned(&self, index: u32, vector: u32) -> bool {
        let kinds = self.0.borrow();
        let kind = kinds.get(index as usize);
        let vector = kind.and_then(|vectors| vectors.get(vector as usize));
        vector.is_some_and(|vector| vector.eventfd.is_some())
    }

    /// Vectors of a kind that have an eventfd.
    pub fn assigned_count(&self, index: u32) -> usize {
        let kinds = self.0.borrow();
        let vectors = kinds.get(index as usize).into_iter().flatten();
        vectors.filter(|vector| vector.eventfd.is_some()).count()
    }

    /// What the client may do with a kind of interrupt.
    pub(crate) fn flags(index: u32) -> u32 {
        match index {
            IRQ_INTX => irq_flags::EVENTFD | irq_flags::MASKABLE | irq_flags::AUTOMASKED,
            _ => irq_flags::EVENTFD,
        }
    }

    /// Takes all eventfds away.
    pub(crate) fn clear(&self) {
        self.0.take();
    }

    /// Carries out [`Command::DeviceSetIrqs`](crate::protocol::Command::DeviceSetIrqs) for a kind
    /// of `count` vectors, all of it or, on an error, nothing.
    pub(crate) fn set(
        &self,
        request: &SetIrqs,
        data: &[u8],
        fds: Vec<OwnedFd>,
        count: u32,
    ) -> Result<(), Errno> {
        use set_irqs_flags::*;
        if request.index >= IRQ_COUNT {
            return Err(Errno::INVAL);
        }
        let end = u64::from(request.start) + u64::from(request.count);
        if end > u64::from(count) {
            return Err(Errno::INVAL);
        }
        let data_kind = request.flags & (DATA_NONE | DATA_BOOL | DATA_EVENTFD);
        let action = match request.flags & !data_kind {
            ACTION_MASK => Action::Mask,
            ACTION_UNMASK => Action::Unmask,
            ACTION_TRIGGER => Action::Trigger,
            _ => return Err(Errno::INVAL),
        };
        let data_octets = match data_kind {
            DATA_BOOL => request.count as usize,
            _ => 0,
        };
        if data.len() != data_octets || (data_kind != DATA_EVENTFD && !fds.is_empty()) {
            return Err(Errno::INVAL);
        }
        if action != Action::Trigger && Self::flags(request.index) & irq_flags::MASKABLE == 0 {
            return Err(Errno::NOTSUP);
        }
        match data_kind {
            DATA_NONE if request.count == 0 && action == Action::Trigger => self.disable(request),
            DATA_NONE => self.act(request, action, count, |_| true),
            DATA_BOOL => self.act(request, action, count, |at| data[at] != 0),
            DATA_EVENTFD if action == Action::Trigger => self.assign(request, fds, count),
            // An eventfd by which the client would unmask.
            DATA_EVENTFD => Err(Errno::NOTSUP),
            _ => Err(Errno::INVAL),
        }
    }

    /// "count = 0 and DATA_NONE" with a trigger takes all eventfds of the kind away.
    fn disable(&self, request: &SetIrqs) -> Result<(), Errno> {
        if request.start != 0 {
            return Err(Errno::INVAL);
        }
        self.0.borrow_mut()[request.index as usize].clear();
        Ok(())
    }

    fn act(
        &self,
        request: &SetIrqs,
        action: Action,
        count: u32,
        chosen: impl Fn(usize) -> bool,
    ) -> Result<(), Errno> {
        let automasked = request.index == IRQ_INTX;
        self.with(request, count, |at, vector| {
            if chosen(at) {
                vector.act(action, automasked);
            }
        });
        Ok(())
    }

    /// As many eventfds as vectors, or none at all to take them away.
    fn assign(&self, request: &SetIrqs, fds: Vec<OwnedFd>, count: u32) -> Result<(), Errno> {
        let none = fds.is_empty();
        if request.count == 0 || (!none && fds.len() != request.count as usize) {
            return Err(Errno::INVAL);
        }
        fds.iter().try_for_each(prepare)?;
        let mut fds = fds.into_iter();
        self.with(request, count, |_, vector| {
            *vector = Vector {
                eventfd: fds.next(),
                ..Vector::default()
            };
        });
        Ok(())
    }

    /// Visits the vectors of a request, counted from its first.
    fn with(&self, request: &SetIrqs, count: u32, mut visit: impl FnMut(usize, &mut Vector)) {
        let mut kinds = self.0.borrow_mut();
        let vectors = &mut kinds[request.index as usize];
        if vectors.len() < count as usize {
            vectors.resize_with(count as usize, Vector::default);
        }
        let range = &mut vectors[request.start as usize..][..request.count as usize];
        for (at, vector) in range.iter_mut().enumerate() {
            visit(at, vector);
        }
    }
}

impl fmt::Debug for Irqs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = (0..IRQ_COUNT).map(|index| self.assigned_count(index));
        f.debug_list().entries(counts).finish()
    }
}

impl Vector {
    fn act(&mut self, action: Action, automasked: bool) {
        match action {
            Action::Mask => self.masked = true,
            Action::Unmask => {
                self.masked = false;
                if std::mem::take(&mut self.held) {
                    self.trigger(automasked);
                }
            }
            Action::Trigger => {
                self.trigger(automasked);
            }
        }
    }

    fn trigger(&mut self, automasked: bool) -> bool {
        let Some(eventfd) = &self.eventfd else {
            return false;
        };
        if self.masked {
            self.held = true;
            return true;
        }
        self.masked = automasked;
        signal(eventfd);
        true
    }
}

/// Refuses what is no eventfd, so that a signal is never written into a file or a socket, and has
/// writes return at once.
fn prepare(fd: &OwnedFd) -> Result<(), Errno> {
    // Anonymous inodes alone have no file type. Those that are no eventfd refuse to be written.
    if FileType::from_raw_mode(fstat(fd)?.st_mode) != FileType::Unknown {
        return Err(Errno::INVAL);
    }
    fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)
}

/// Adds one to an eventfd. A counter at its end is signalled already, and a client that broke its
/// own eventfd misses its own interrupts: neither is an error here.
fn signal(eventfd: &OwnedFd) {
    // The client shares the descriptor's flags and may have it block again, with a full counter.
    let now = Timespec::default();
    let mut room = [PollFd::new(eventfd, PollFlags::OUT)];
    if poll(&mut room, Some(&now)).is_ok_and(|ready| ready > 0) {
        let _ = write(eventfd.as_fd(), &1u64.to_ne_bytes());
    }
}

#[cfg(test)]
mod tests;
