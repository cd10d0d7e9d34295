//! The three classes of packets, and the credits that a packet costs.
//!
//! | packet                            | class      | headers | data, in units of 16 octets |
//! |-----------------------------------|------------|---------|-----------------------------|
//! | MWr, MsgD                         | posted     | 1       | length, rounded up          |
//! | Msg                               | posted     | 1       | 0                           |
//! | MRd, CfgRd0                       | non-posted | 1       | 0                           |
//! | CfgWr0                            | non-posted | 1       | 1                           |
//! | CplD                              | completion | 1       | length, rounded up          |
//! | Cpl                               | completion | 1       | 0                           |
//!
//! Source: PCI Express Base Specification 5.0, section 2.6.1 (TLP flow control credit
//! consumption).

use std::fmt;

use crate::tlp::{Header, Kind};

/// Octets that one data credit stands for: four dwords (section 2.6.1).
pub const DATA_CREDIT_OCTETS: usize = 16;

/// A class of packets with credits of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FlowClass {
    /// Posted requests (P): memory writes and messages.
    Posted,
    /// Non-posted requests (NP): reads and configuration writes.
    NonPosted,
    /// Completions (Cpl).
    Completion,
}

impl FlowClass {
    /// Every class.
    pub const ALL: [Self; 3] = [Self::Posted, Self::NonPosted, Self::Completion];

    /// The class of a packet.
    pub const fn of(header: &Header) -> Self {
        match &header.kind {
            Kind::MWr(_) | Kind::Msg(_) | Kind::MsgD(_) => Self::Posted,
            Kind::MRd(_) | Kind::CfgRd0(_) | Kind::CfgWr0(_) => Self::NonPosted,
            Kind::Cpl(_) | Kind::CplD(_) => Self::Completion,
        }
    }
}

/// Which credits of a class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CreditKind {
    /// One for each packet (PH, NPH, CPLH).
    Header,
    /// One for each 16 octets begun (PD, NPD, CPLD).
    Data,
}

impl CreditKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Header, Self::Data];
}

impl fmt::Display for CreditKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Header => "header",
            Self::Data => "data",
        })
    }
}

/// Credits of one class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Credits {
    /// Header credits: packets.
    pub headers: u16,
    /// Data credits, of 16 octets each.
    pub data: u16,
}

impl Credits {
    /// What a packet with this header costs. The Length field counts, not the payload that
    /// follows: it is what both sides see.
    pub fn of(header: &Header) -> Self {
        match header.fmt().with_data() {
            true => Self::for_payload(header.length.octets()),
            false => Self::for_payload(0),
        }
    }

    /// What a packet with `octets` octets of payload costs, `0..=4096`.
    pub const fn for_payload(octets: usize) -> Self {
        Self {
            headers: 1,
            data: octets.div_ceil(DATA_CREDIT_OCTETS) as u16,
        }
    }

    /// The credits of one kind.
    pub const fn get(self, kind: CreditKind) -> u16 {
        match kind {
            CreditKind::Header => self.headers,
            CreditKind::Data => self.data,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tlp::{Bdf, CompletionStatus, Message, Tlp};
    use crate::Length;

    fn cost(tlp: &Tlp) -> (FlowClass, u16, u16) {
        let Credits { headers, data } = Credits::of(&tlp.header);
        (FlowClass::of(&tlp.header), headers, data)
    }

    #[test]
    fn every_packet_costs_what_the_table_says() {
        use FlowClass::{Completion, NonPosted, Posted};
        let id = Bdf::new(1, 0, 0);
        let write = |octets| Tlp::memory_write(id, 0x1000, &vec![0; octets]).expect("short");
        for (octets, data) in [(1, 1), (16, 1), (17, 2), (32, 2), (256, 16), (4096, 256)] {
            assert_eq!(cost(&write(octets)), (Posted, 1, data), "{octets}");
        }
        let read = Tlp::memory_read(id, 0, 0x1000, 4096).expect("short");
        assert_eq!(cost(&read), (NonPosted, 1, 0));
        let asked = Tlp::configuration_read(id, 0, id, 0);
        assert_eq!(cost(&asked), (NonPosted, 1, 0));
        let set = Tlp::configuration_write(id, 0, id, 4, &[6]).expect("one dword");
        assert_eq!(cost(&set), (NonPosted, 1, 1));
        let status = CompletionStatus::Successful;
        let done = Tlp::completion_without_data(&set.header, id, status).expect("asked");
        assert_eq!(cost(&done), (Completion, 1, 0));
        let Kind::Cpl(completion) = done.header.kind else {
            panic!("a completion");
        };
        let data = Tlp::new(Length::ONE, Kind::CplD(completion), vec![0; 4]);
        assert_eq!(cost(&data), (Completion, 1, 1));
        let message = Message {
            requester: id,
            tag: 0,
            routing: 4,
            code: 0x20,
            content: [0; 2],
        };
        let bare = Tlp::new(Length::RESERVED, Kind::Msg(message), Vec::new());
        assert_eq!(cost(&bare), (Posted, 1, 0));
        let laden = Tlp::new(Length::ONE, Kind::MsgD(message), vec![0; 4]);
        assert_eq!(cost(&laden), (Posted, 1, 1));
    }
}
