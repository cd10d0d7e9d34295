//! The reduced stream of a message as pieces that a Send gathers, without a copy of an item.
use super::message::Message;
use super::plan::{Carriage, Plan};
use super::rounded;
use crate::place::Place;
use crate::wire::{Form, WORD_OCTETS};

/// Zeros for roundup and pad.
static ZEROS: [u8; 4096] = [0; 4096];

/// A piece of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Octets of the software.
    Octets(&'a [u8]),
    /// Octets of registered memory.
    Place(Place),
}

impl Piece<'_> {
    /// Octets of the piece.
    #[must_use]
    pub fn octets(&self) -> u64 {
        match self {
            Self::Octets(octets) => octets.len() as u64,
            Self::Place(place) => place.length.into(),
        }
    }
}

/// What comes next of the item that the octets have come to.
#[derive(Clone, Copy, Debug)]
enum Step {
    Inline,
    Pad(u32),
    Data,
    Roundup,
}

/// Pieces of a reduced stream, in order; none of them is empty.
#[derive(Clone, Debug)]
pub struct Pieces<'m> {
    message: &'m Message,
    plan: Plan,
    item: usize,
    /// Inline octets that were given.
    inline_at: usize,
    /// Octets of the items before `item`, with roundup.
    item_octets: u64,
    /// Octets from the start of the Send.
    at: u64,
    step: Step,
}

impl Plan {
    /// The reduced stream, in pieces.
    #[must_use]
    pub fn pieces<'m>(&self, message: &'m Message) -> Pieces<'m> {
        Pieces::new(message, *self)
    }
}

impl<'m> Pieces<'m> {
    pub(super) fn new(message: &'m Message, plan: Plan) -> Self {
        let at = plan.header_octets() as u64;
        Self {
            message,
            plan,
            item: 0,
            inline_at: 0,
            item_octets: 0,
            at,
            step: Step::Inline,
        }
    }

    /// Pad before data that would begin at `at`.
    fn pad(&self, at: u64, length: u32) -> u32 {
        match self.plan.form() {
            Form::Msgp(padding) => padding.pad(at, length),
            Form::Msg | Form::Nomsg => 0,
        }
    }

    /// The next piece, which may be empty; `None` after the last one.
    fn step(&mut self) -> Option<Piece<'m>> {
        let inline = self.message.inline();
        let Some(item) = self.message.items().get(self.item) else {
            let rest = inline
                .get(self.inline_at..)
                .filter(|rest| !rest.is_empty())?;
            self.inline_at = inline.len();
            return Some(Piece::Octets(rest));
        };
        let length = item.place.length;
        Some(match self.step {
            Step::Inline => {
                let begin = self.inline_at;
                self.inline_at = (u64::from(item.position) - self.item_octets) as usize;
                let octets = &inline[begin..self.inline_at];
                let pad = self.pad(self.at + octets.len() as u64, length);
                self.step = Step::Pad(pad);
                if self.plan.carriage(self.item) != Carriage::Stream {
                    self.end_item(length);
                }
                Piece::Octets(octets)
            }
            Step::Pad(0) => {
                self.step = Step::Data;
                Piece::Octets(&[])
            }
            Step::Pad(left) => {
                let zeros = &ZEROS[..ZEROS.len().min(left as usize)];
                self.step = Step::Pad(left - zeros.len() as u32);
                Piece::Octets(zeros)
            }
            Step::Data => {
                self.step = Step::Roundup;
                Piece::Place(item.place)
            }
            Step::Roundup => {
                let octets = rounded(length) - u64::from(length);
                self.end_item(length);
                Piece::Octets(&ZEROS[..(octets as usize).min(WORD_OCTETS)])
            }
        })
    }

    fn end_item(&mut self, length: u32) {
        self.item_octets += rounded(length);
        self.item += 1;
        self.step = Step::Inline;
    }
}

impl<'m> Iterator for Pieces<'m> {
    type Item = Piece<'m>;

    fn next(&mut self) -> Option<Piece<'m>> {
        loop {
            let piece = self.step()?;
            self.at += piece.octets();
            if piece.octets() > 0 {
                return Some(piece);
            }
        }
    }
}
