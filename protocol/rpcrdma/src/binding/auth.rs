//! Who calls: the flavours AUTH_NONE and AUTH_SYS (RFC 5531, 8 and appendix A).
use crate::stream::{DecodeError, Message, Reader, TooMuch};

/// Octets of the longest credential or verifier.
pub const AUTH_OCTETS_MAX: u32 = 400;
/// Numbers of authentication flavours.
pub mod flavor {
    /// No authentication.
    pub const NONE: u32 = 0;
    /// The user of a system that the server trusts.
    pub const SYS: u32 = 1;
    /// RPCSEC_GSS (RFC 2203).
    pub const GSS: u32 = 6;
}

/// Which of its groups a user of AUTH_SYS names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    ids: [u32; Self::MAX],
    count: usize,
}

impl Groups {
    /// The most groups of a credential.
    pub const MAX: usize = 16;

    /// The first groups of `ids` that fit.
    #[must_use]
    pub fn new(ids: &[u32]) -> Self {
        let mut groups = Self::default();
        for (group, id) in groups.ids.iter_mut().zip(ids) {
            *group = *id;
            groups.count += 1;
        }
        groups
    }

    /// The groups.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.ids[..self.count]
    }
}

/// A credential of AUTH_SYS (RFC 5531, appendix A).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthSys<'a> {
    /// Any number of the caller's.
    pub stamp: u32,
    /// The caller's machine: at most 255 octets.
    pub machine: &'a [u8],
    /// The user.
    pub uid: u32,
    /// The user's group.
    pub gid: u32,
    /// Other groups.
    pub groups: Groups,
}

impl<'a> AuthSys<'a> {
    pub(super) fn read(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(body);
        let (stamp, machine) = (reader.u32()?, reader.inline_opaque(255)?);
        let (uid, gid, count) = (reader.u32()?, reader.u32()?, reader.u32()?);
        let mut ids = [0; Groups::MAX];
        let groups = ids.get_mut(..count as usize).ok_or(DecodeError::TooLong)?;
        for group in groups.iter_mut() {
            *group = reader.u32()?;
        }
        let groups = Groups::new(groups);
        reader.finish()?;
        Ok(Self {
            stamp,
            machine,
            uid,
            gid,
            groups,
        })
    }

    fn octets(&self) -> usize {
        20 + self.machine.len().next_multiple_of(4) + 4 * self.groups.ids().len()
    }

    /// Appends the body with its count.
    pub(super) fn write(&self, message: &mut Message) -> Result<(), TooMuch> {
        message.u32(u32::try_from(self.octets()).map_err(|_| TooMuch)?);
        message.u32(self.stamp);
        message.opaque(self.machine)?;
        message.u32(self.uid);
        message.u32(self.gid);
        message.u32(self.groups.ids().len() as u32);
        self.groups.ids().iter().for_each(|id| message.u32(*id));
        Ok(())
    }
}

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential<'a> {
    /// Nobody: AUTH_NONE.
    None,
    /// A user: AUTH_SYS.
    Sys(AuthSys<'a>),
    /// Another flavour, whose body is not looked into.
    Other {
        /// Its number.
        flavor: u32,
        /// Its body.
        body: &'a [u8],
    },
}

impl Credential<'_> {
    /// The number of the flavour.
    #[must_use]
    pub fn flavor(&self) -> u32 {
        match self {
            Self::None => flavor::NONE,
            Self::Sys(_) => flavor::SYS,
            Self::Other { flavor, .. } => *flavor,
        }
    }

    /// The arguments are protected by RPCSEC_GSS, integrity or privacy, so that they are one item
    /// (RFC 5666, 11): the body's fourth word is the service, 1 for none. Without one it counts as
    /// protected.
    #[must_use]
    pub fn protects_body(&self) -> bool {
        let Self::Other {
            flavor: flavor::GSS,
            body,
        } = self
        else {
            return false;
        };
        body.get(12..16) != Some(&[0, 0, 0, 1])
    }
}
