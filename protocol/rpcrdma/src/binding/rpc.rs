//! Headers of RPC calls and replies (RFC 5531, 9).
use super::auth::{flavor, AuthSys, Credential, AUTH_OCTETS_MAX};
use crate::stream::{DecodeError, Message, Reader, TooMuch};

/// The version of RPC itself.
pub const RPC_VERSION: u32 = 2;
/// Octets of the header of a reply that succeeds, with a verifier of AUTH_NONE.
pub const REPLY_HEADER_OCTETS: u32 = 24;

const CALL: u32 = 0;
const REPLY: u32 = 1;
const ACCEPTED: u32 = 0;
const DENIED: u32 = 1;

/// The header of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallHeader<'a> {
    /// The transaction.
    pub xid: u32,
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// The procedure.
    pub procedure: u32,
    /// Who calls.
    pub credential: Credential<'a>,
}

/// Why the header of a call is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError {
    /// It is the header of something else, or cannot be decoded: there is no answer.
    NoCall,
    /// Another version of RPC; the answer is RPC_MISMATCH, 2 to 2.
    RpcVersion,
    /// The credential cannot be decoded; the answer is AUTH_BADCRED.
    Credential,
}

impl<'a> CallHeader<'a> {
    /// Reads the header of a call; its arguments are next.
    ///
    /// # Errors
    /// It is none.
    pub fn read(reader: &mut Reader<'a>) -> Result<Self, CallError> {
        let none = |_| CallError::NoCall;
        let mut word = || reader.u32().map_err(none);
        let (xid, kind, rpc_version) = (word()?, word()?, word()?);
        if kind != CALL {
            return Err(CallError::NoCall);
        }
        if rpc_version != RPC_VERSION {
            return Err(CallError::RpcVersion);
        }
        let (program, version, procedure) = (word()?, word()?, word()?);
        let flavor = word()?;
        let body = reader
            .inline_opaque(AUTH_OCTETS_MAX)
            .map_err(|_| CallError::Credential)?;
        let credential = match flavor {
            flavor::NONE => Credential::None,
            flavor::SYS => Credential::Sys(AuthSys::read(body).map_err(|_| CallError::Credential)?),
            flavor => Credential::Other { flavor, body },
        };
        reader.u32().map_err(none)?;
        reader.inline_opaque(AUTH_OCTETS_MAX).map_err(none)?;
        Ok(Self {
            xid,
            program,
            version,
            procedure,
            credential,
        })
    }

    /// Appends the header, with a verifier of AUTH_NONE.
    ///
    /// # Errors
    /// The credential is longer than a count can say.
    pub fn write(&self, message: &mut Message) -> Result<(), TooMuch> {
        let words = [
            self.xid,
            CALL,
            RPC_VERSION,
            self.program,
            self.version,
            self.procedure,
        ];
        words.into_iter().for_each(|word| message.u32(word));
        message.u32(self.credential.flavor());
        match &self.credential {
            Credential::None => message.opaque(&[])?,
            Credential::Sys(user) => user.write(message)?,
            Credential::Other { body, .. } => message.opaque(body)?,
        }
        message.u32(flavor::NONE);
        message.opaque(&[])
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyStatus {
    /// The results follow.
    Success,
    /// The program is not here.
    ProgramUnavailable,
    /// The program is, in other versions.
    ProgramMismatch {
        /// The lowest version.
        low: u32,
        /// The highest version.
        high: u32,
    },
    /// The program has no such procedure.
    ProcedureUnavailable,
    /// The arguments cannot be decoded.
    GarbageArguments,
    /// The server has failed.
    SystemError,
    /// Another version of RPC.
    RpcMismatch {
        /// The lowest version.
        low: u32,
        /// The highest version.
        high: u32,
    },
    /// The caller is not known well enough, by the number of `auth_stat`.
    AuthError(u32),
}

/// The header of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyHeader {
    /// The transaction.
    pub xid: u32,
    /// How the call ended.
    pub status: ReplyStatus,
}

impl ReplyHeader {
    /// Reads the header of a reply; the results of a success are next.
    ///
    /// # Errors
    /// It is none.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (xid, kind) = (reader.u32()?, reader.u32()?);
        let unknown = Err(DecodeError::Unknown);
        if kind != REPLY {
            return unknown;
        }
        let status = match reader.u32()? {
            ACCEPTED => {
                reader.u32()?;
                reader.inline_opaque(AUTH_OCTETS_MAX)?;
                match reader.u32()? {
                    0 => ReplyStatus::Success,
                    1 => ReplyStatus::ProgramUnavailable,
                    2 => ReplyStatus::ProgramMismatch {
                        low: reader.u32()?,
                        high: reader.u32()?,
                    },
                    3 => ReplyStatus::ProcedureUnavailable,
                    4 => ReplyStatus::GarbageArguments,
                    5 => ReplyStatus::SystemError,
                    _ => return unknown,
                }
            }
            DENIED => match reader.u32()? {
                0 => ReplyStatus::RpcMismatch {
                    low: reader.u32()?,
                    high: reader.u32()?,
                },
                1 => ReplyStatus::AuthError(reader.u32()?),
                _ => return unknown,
            },
            _ => return unknown,
        };
        Ok(Self { xid, status })
    }

    /// Appends the header, with a verifier of AUTH_NONE.
    pub fn write(&self, message: &mut Message) {
        let mut words = |words: &[u32]| words.iter().for_each(|word| message.u32(*word));
        words(&[self.xid, REPLY]);
        let accepted = |status: u32| [ACCEPTED, flavor::NONE, 0, status];
        match self.status {
            ReplyStatus::Success => words(&accepted(0)),
            ReplyStatus::ProgramUnavailable => words(&accepted(1)),
            ReplyStatus::ProgramMismatch { low, high } => {
                words(&accepted(2));
                words(&[low, high]);
            }
            ReplyStatus::ProcedureUnavailable => words(&accepted(3)),
            ReplyStatus::GarbageArguments => words(&accepted(4)),
            ReplyStatus::SystemError => words(&accepted(5)),
            ReplyStatus::RpcMismatch { low, high } => words(&[DENIED, 0, low, high]),
            ReplyStatus::AuthError(status) => words(&[DENIED, 1, status]),
        }
    }
}
