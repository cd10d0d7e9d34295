//! Table 2-40: may the row, which came later, pass the column?
//!
//! | row passes column      | posted      | read   | non-posted with data | completion      |
//! |------------------------|-------------|--------|----------------------|-----------------|
//! | A posted request       | no / may(1) | must   | must                 | may             |
//! | B read request         | no / may(2) | may    | may                  | may             |
//! | C non-posted with data | no / may(1) | may    | may                  | may             |
//! | D completion           | no / may(3) | must   | must                 | may / no(4)     |
//!
//! 1. Relaxed ordering in the row, or ID-based ordering in the row and another requester (A2b,
//!    C2b).
//! 2. ID-based ordering in the row and another requester (B2b); relaxed ordering does not help.
//! 3. Relaxed ordering in the row; ID-based ordering and the completer is not the posted
//!    request's requester; or the completion of an I/O or configuration write (D2b).
//! 4. The same transaction, that is requester and tag (D5b): a read's data stay in order.
//!
//! "No" holds within a traffic class only. "Must" keeps a link from deadlock: a blocked request
//! must never hold up a posted request or a completion after it. A5b, which makes a posted request
//! pass completions inside a bridge to PCI, is not modelled.

use crate::tlp::{Bdf, CompletionStatus, Header, Kind};

/// A row or column of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Category {
    /// A memory write or a message (row A, column 2).
    Posted,
    /// A memory or configuration read (row B, column 3).
    Read,
    /// A configuration write (row C, column 4).
    NonPostedWithData,
    /// A completion (row D, column 5).
    Completion,
}

impl Category {
    /// Every category, in the order of the table.
    pub const ALL: [Self; 4] = [
        Self::Posted,
        Self::Read,
        Self::NonPostedWithData,
        Self::Completion,
    ];
}

/// What the table asks of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ordered {
    /// Row or column.
    pub category: Category,
    /// Traffic class.
    pub class: u8,
    /// Relaxed ordering.
    pub relaxed: bool,
    /// ID-based ordering.
    pub id_based: bool,
    /// Requester of a request, completer of a completion.
    pub sender: Bdf,
    /// Requester and tag of a completion's transaction.
    pub transaction: Option<(Bdf, u8)>,
    /// Whether a completion answers an I/O or configuration write.
    pub write_completion: bool,
}

impl Ordered {
    /// From a header.
    ///
    /// A successful completion without data answers a write, for each read returns data. One that
    /// refuses is held to answer a read, which is the stricter case.
    pub fn of(header: &Header) -> Self {
        let category = match &header.kind {
            Kind::MWr(_) | Kind::Msg(_) | Kind::MsgD(_) => Category::Posted,
            Kind::MRd(_) | Kind::CfgRd0(_) => Category::Read,
            Kind::CfgWr0(_) => Category::NonPostedWithData,
            Kind::Cpl(_) | Kind::CplD(_) => Category::Completion,
        };
        let (transaction, write_completion) = match &header.kind {
            Kind::Cpl(completion) => (
                Some((completion.requester, completion.tag)),
                completion.status == CompletionStatus::Successful,
            ),
            Kind::CplD(completion) => (Some((completion.requester, completion.tag)), false),
            _ => (None, false),
        };
        Self {
            category,
            class: header.traffic.class,
            relaxed: header.traffic.relaxed_ordering,
            id_based: header.traffic.id_ordering,
            sender: header.sender(),
            transaction,
            write_completion,
        }
    }
}

/// An entry of the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Passing {
    /// "No": the row must not pass.
    MustNot,
    /// "Y/N": it may pass, or be blocked.
    May,
    /// "Yes": when the column is blocked, the row must be able to pass.
    Must,
}

/// Whether `row` passes `column`, which came before it.
pub fn passing(row: &Ordered, column: &Ordered) -> Passing {
    use Category::{Completion, NonPostedWithData, Posted, Read};
    // True of A2b, B2b, C2b and D2b alike: the row's sender is the requester or, in row D, the
    // completer, and the column's is always a requester.
    let other_id = row.id_based && row.sender != column.sender;
    let permitted = match (row.category, column.category) {
        (Posted | Completion, Read | NonPostedWithData) => return Passing::Must,
        (Read | NonPostedWithData, Read | NonPostedWithData | Completion)
        | (Posted, Completion) => true,
        (Posted | NonPostedWithData, Posted) => row.relaxed || other_id,
        (Read, Posted) => other_id,
        (Completion, Posted) => row.relaxed || other_id || row.write_completion,
        (Completion, Completion) => row.transaction != column.transaction,
    };
    match permitted || row.class != column.class {
        true => Passing::May,
        false => Passing::MustNot,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tlp::Tlp;
    use Category::{Completion, NonPostedWithData, Posted, Read};
    use Passing::{May, Must, MustNot};

    const DEVICE: Bdf = Bdf::new(1, 0, 0);
    const OTHER: Bdf = Bdf::new(2, 0, 0);

    // A completion's transaction is given by its tag.
    fn plain(category: Category, tag: u8) -> Ordered {
        Ordered {
            category,
            class: 0,
            relaxed: false,
            id_based: false,
            sender: DEVICE,
            transaction: (category == Completion).then_some((DEVICE, tag)),
            write_completion: false,
        }
    }

    fn row_of(row: &Ordered) -> [Passing; 4] {
        Category::ALL.map(|category| passing(row, &plain(category, 9)))
    }

    #[test]
    fn without_attributes_every_cell_is_as_in_the_table() {
        let rows = [
            (Posted, [MustNot, Must, Must, May]),
            (Read, [MustNot, May, May, May]),
            (NonPostedWithData, [MustNot, May, May, May]),
            (Completion, [MustNot, Must, Must, May]),
        ];
        for (category, cells) in rows {
            assert_eq!(row_of(&plain(category, 3)), cells, "{category:?}");
        }
    }

    #[test]
    fn relaxed_ordering_opens_a2_c2_and_d2_but_not_b2() {
        let rows = [
            (Posted, [May, Must, Must, May]),
            (Read, [MustNot, May, May, May]),
            (NonPostedWithData, [May, May, May, May]),
            (Completion, [May, Must, Must, May]),
        ];
        for (category, cells) in rows {
            let relaxed = Ordered {
                relaxed: true,
                ..plain(category, 3)
            };
            assert_eq!(row_of(&relaxed), cells, "{category:?}");
            // Only the row's attribute counts.
            let column = Ordered {
                relaxed: true,
                ..plain(Posted, 9)
            };
            assert_eq!(passing(&plain(category, 3), &column), MustNot);
        }
    }

    #[test]
    fn id_based_ordering_opens_column_2_for_another_sender_only() {
        for category in Category::ALL {
            let same = Ordered {
                id_based: true,
                ..plain(category, 3)
            };
            let other = Ordered {
                sender: OTHER,
                ..same
            };
            let without = Ordered {
                id_based: false,
                ..other
            };
            let posted = plain(Posted, 9);
            assert_eq!(passing(&same, &posted), MustNot, "{category:?}");
            assert_eq!(passing(&other, &posted), May, "{category:?}");
            assert_eq!(passing(&without, &posted), MustNot, "{category:?}");
            assert_eq!(row_of(&other)[1..], row_of(&without)[1..]);
        }
    }

    #[test]
    fn d2_lets_the_completion_of_a_write_pass() {
        let answer = Ordered {
            write_completion: true,
            ..plain(Completion, 3)
        };
        assert_eq!(row_of(&answer), [May, Must, Must, May]);
    }

    #[test]
    fn d5_keeps_completions_of_one_transaction_in_order() {
        let (one, other) = (plain(Completion, 9), plain(Completion, 8));
        assert_eq!(passing(&one, &one), MustNot);
        assert_eq!(passing(&one, &other), May);
        let elsewhere = Ordered {
            transaction: Some((OTHER, 9)),
            ..one
        };
        assert_eq!(
            passing(&elsewhere, &one),
            May,
            "the requester is part of it"
        );
        // Relaxed ordering does not open it.
        let relaxed = Ordered {
            relaxed: true,
            id_based: true,
            ..one
        };
        assert_eq!(passing(&relaxed, &one), MustNot);
    }

    #[test]
    fn traffic_classes_are_not_ordered_against_each_other() {
        for row in Category::ALL {
            let other = Ordered {
                class: 1,
                ..plain(row, 9)
            };
            for column in Category::ALL {
                let cell = passing(&other, &plain(column, 9));
                assert_ne!(cell, MustNot, "{row:?} {column:?}");
            }
        }
    }

    #[test]
    fn headers_fall_into_their_categories() {
        let of = |tlp: &Tlp| Ordered::of(&tlp.header);
        let write = Tlp::memory_write(DEVICE, 0, &[1]).expect("short");
        let read = Tlp::memory_read(DEVICE, 7, 0, 4).expect("short");
        let set = Tlp::configuration_write(DEVICE, 7, OTHER, 4, &[1]).expect("one dword");
        assert_eq!(of(&write), plain(Posted, 0));
        assert_eq!(of(&read), plain(Read, 0));
        assert_eq!(of(&set), plain(NonPostedWithData, 0));
        let answer = |request: &Tlp, status| {
            of(&Tlp::completion_without_data(&request.header, OTHER, status).expect("answered"))
        };
        let done = answer(&set, CompletionStatus::Successful);
        assert!(done.write_completion);
        assert_eq!((done.sender, done.transaction), (OTHER, Some((DEVICE, 7))));
        assert!(!answer(&read, CompletionStatus::UnsupportedRequest).write_completion);
        let mut relaxed = read;
        relaxed.header.traffic.relaxed_ordering = true;
        relaxed.header.traffic.id_ordering = true;
        relaxed.header.traffic.class = 5;
        let found = of(&relaxed);
        assert_eq!(
            (found.relaxed, found.id_based, found.class),
            (true, true, 5)
        );
    }
}
