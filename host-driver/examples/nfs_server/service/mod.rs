//! From a call to its reply, over whatever brings the one and takes the other.
//!
//! | file         | procedures                                                   |
//! |--------------|--------------------------------------------------------------|
//! | `attributes` | GETATTR, SETATTR, LOOKUP, ACCESS, FSSTAT, FSINFO, PATHCONF   |
//! | `octets`     | READ, WRITE, READLINK, COMMIT                                |
//! | `make`       | CREATE, MKDIR, SYMLINK, MKNOD                                |
//! | `remove`     | REMOVE, RMDIR, RENAME, LINK                                  |
//! | `list`       | READDIR, READDIRPLUS                                         |
//! | `mount`      | those of MOUNT                                               |
//! | `parts`      | what replies have in common                                  |

mod attributes;
mod list;
mod make;
mod mount;
mod octets;
mod parts;
mod remove;

use rnic_examples::files::{Files, Loan, Memory, Owner, Time};
use rnic_examples::nfs::{mount as mount_procedure, procedure, MOUNT, NFS, VERSION};
use rpcrdma::binding::auth::Credential;
use rpcrdma::binding::rpc::{CallError, CallHeader, ReplyHeader, ReplyStatus};
use rpcrdma::stream::{DecodeError, Message, Reader, TooMuch};
use rpcrdma::wire::Refused;
use rpcrdma::{CacheKey, Cached, ReplyCache};
use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

/// Replies that are kept for calls that come again, and octets of the longest: none of those that
/// must not be done twice is longer.
const REPLIES: (usize, usize) = (512, 1024);
/// `auth_stat` of a credential that is none (RFC 5531, 9).
const AUTH_BADCRED: u32 = 1;

/// What becomes of a call.
#[derive(Debug)]
pub enum Outcome {
    /// The reply; with a piece of a file that is lent until it has been sent.
    Reply(Option<Loan>),
    /// A chunk is where the program has no item (RFC 5666, 5): ERR_CHUNK.
    Refuse(Refused),
}

/// Why a procedure has no results.
#[derive(Debug)]
enum NoResults {
    Arguments(DecodeError),
    TooMuch,
}

impl From<DecodeError> for NoResults {
    fn from(error: DecodeError) -> Self {
        Self::Arguments(error)
    }
}

impl From<TooMuch> for NoResults {
    fn from(_: TooMuch) -> Self {
        Self::TooMuch
    }
}

/// The end of a procedure: what it lends.
type Done = Result<Option<Loan>, NoResults>;

/// What a procedure has: its arguments, who calls, when, and where its results go.
struct Call<'a, 'm> {
    arguments: Reader<'a>,
    owner: Owner,
    now: Time,
    results: &'m mut Message,
}

/// The programs NFS and MOUNT over one file system. Whoever reaches it may do everything: modes
/// are kept and reported, and left to clients to mind.
#[derive(Debug)]
pub struct Service<M> {
    files: Files<M>,
    /// This life of the server: a part of its handles, and its write verifier.
    instance: u64,
    cache: ReplyCache,
}

/// The time.
pub fn now() -> Time {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    Time {
        seconds: now.as_secs() as u32,
        nanoseconds: now.subsec_nanos(),
    }
}

/// Who makes new files.
fn owner(credential: &Credential<'_>) -> Option<Owner> {
    match credential {
        Credential::None => Some(Owner::default()),
        Credential::Sys(user) => Some(Owner {
            uid: user.uid,
            gid: user.gid,
        }),
        Credential::Other { .. } => None,
    }
}

/// What changes something, and is not the same when it is done twice.
fn is_done_once(header: &CallHeader<'_>) -> bool {
    use procedure::{CREATE, LINK, MKDIR, MKNOD, REMOVE, RENAME, RMDIR, SETATTR, SYMLINK};
    let once = [
        SETATTR, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK,
    ];
    header.program == NFS && once.contains(&header.procedure)
}

impl<M: Memory> Service<M> {
    /// Of `files`; `instance` is another one each time the server starts.
    pub fn new(files: Files<M>, instance: u64) -> Self {
        let (entries, octets) = REPLIES;
        Self {
            files,
            instance,
            cache: ReplyCache::new(entries, octets),
        }
    }

    /// The files.
    pub fn files(&self) -> &Files<M> {
        &self.files
    }

    /// A reply that lent a piece has been sent.
    pub fn give_back(&mut self, loan: Loan) {
        self.files.give_back(loan);
    }

    /// Answer a call of `peer`: the reply is in `message`, which was empty.
    pub fn call(&mut self, peer: IpAddr, mut reader: Reader<'_>, message: &mut Message) -> Outcome {
        let xid = reader.clone().u32().unwrap_or(0);
        let header = match CallHeader::read(&mut reader) {
            Ok(header) => header,
            Err(error) => {
                let status = match error {
                    CallError::NoCall => ReplyStatus::GarbageArguments,
                    CallError::RpcVersion => ReplyStatus::RpcMismatch { low: 2, high: 2 },
                    CallError::Credential => ReplyStatus::AuthError(AUTH_BADCRED),
                };
                ReplyHeader { xid, status }.write(message);
                return Outcome::Reply(None);
            }
        };
        if !is_done_once(&header) {
            return self.answer(&header, reader, message);
        }
        let key = CacheKey {
            peer: octets_of(peer),
            xid,
            procedure: (header.program, header.version, header.procedure),
        };
        match self.cache.begin(key) {
            Cached::New => {}
            Cached::Replied(reply) => {
                message.fixed(reply);
                return Outcome::Reply(None);
            }
            // Each call is done before the next one: it cannot be.
            Cached::InProgress => {
                let status = ReplyStatus::SystemError;
                ReplyHeader { xid, status }.write(message);
                return Outcome::Reply(None);
            }
        }
        let outcome = self.answer(&header, reader, message);
        match outcome {
            Outcome::Reply(None) => self.cache.end(key, message.inline()),
            Outcome::Reply(Some(_)) | Outcome::Refuse(_) => self.cache.forget(key),
        }
        outcome
    }

    fn answer(
        &mut self,
        header: &CallHeader<'_>,
        arguments: Reader<'_>,
        message: &mut Message,
    ) -> Outcome {
        let mut reply = ReplyHeader {
            xid: header.xid,
            status: ReplyStatus::Success,
        };
        let owner = owner(&header.credential);
        let status = match (header.program, header.version) {
            (NFS | MOUNT, VERSION) if owner.is_some() || header.procedure == procedure::NULL => {
                ReplyStatus::Success
            }
            (NFS | MOUNT, VERSION) => ReplyStatus::AuthError(AUTH_BADCRED),
            (NFS | MOUNT, _) => ReplyStatus::ProgramMismatch {
                low: VERSION,
                high: VERSION,
            },
            _ => ReplyStatus::ProgramUnavailable,
        };
        let mut done = Ok(Some(None));
        if status == ReplyStatus::Success {
            reply.write(message);
            let call = Call {
                arguments,
                owner: owner.unwrap_or_default(),
                now: now(),
                results: message,
            };
            done = match header.program {
                NFS => self.nfs(header.procedure, call),
                _ => self.mount(header.procedure, call),
            };
            if let Ok(Some(loan)) = done {
                return Outcome::Reply(loan);
            }
        }
        reply.status = match done {
            Ok(Some(_)) => status,
            Ok(None) => ReplyStatus::ProcedureUnavailable,
            Err(NoResults::Arguments(DecodeError::Chunk(refused))) => {
                message.clear();
                return Outcome::Refuse(refused);
            }
            Err(NoResults::Arguments(_)) => ReplyStatus::GarbageArguments,
            Err(NoResults::TooMuch) => ReplyStatus::SystemError,
        };
        message.clear();
        reply.write(message);
        Outcome::Reply(None)
    }

    /// A procedure of NFS; `None`: there is none with this number.
    fn nfs(&mut self, number: u32, call: Call<'_, '_>) -> Result<Option<Option<Loan>>, NoResults> {
        let done = match number {
            procedure::NULL => Ok(None),
            procedure::GETATTR => self.get_attributes(call),
            procedure::SETATTR => self.set_attributes(call),
            procedure::LOOKUP => self.look_up(call),
            procedure::ACCESS => self.access(call),
            procedure::READLINK => self.read_link(call),
            procedure::READ => self.read(call),
            procedure::WRITE => self.write(call),
            procedure::CREATE => self.create(call),
            procedure::MKDIR => self.make_directory(call),
            procedure::SYMLINK => self.make_link(call),
            procedure::MKNOD => self.make_node(call),
            procedure::REMOVE => self.remove(call, false),
            procedure::RMDIR => self.remove(call, true),
            procedure::RENAME => self.rename(call),
            procedure::LINK => self.link(call),
            procedure::READDIR => self.list(call, false),
            procedure::READDIRPLUS => self.list(call, true),
            procedure::FSSTAT => self.space(call),
            procedure::FSINFO => self.limits(call),
            procedure::PATHCONF => self.path_limits(call),
            procedure::COMMIT => self.commit(call),
            _ => return Ok(None),
        };
        done.map(Some)
    }

    /// A procedure of MOUNT; `None`: there is none with this number.
    fn mount(
        &mut self,
        number: u32,
        call: Call<'_, '_>,
    ) -> Result<Option<Option<Loan>>, NoResults> {
        let done = match number {
            mount_procedure::NULL | mount_procedure::UMNTALL => Ok(None),
            mount_procedure::MNT => self.mount_path(call),
            mount_procedure::DUMP => Self::mounts(call),
            mount_procedure::UMNT => Self::unmount(call),
            mount_procedure::EXPORT => Self::exports(call),
            _ => return Ok(None),
        };
        done.map(Some)
    }
}

/// An address as the reply cache has it, IPv4 mapped into IPv6.
fn octets_of(peer: IpAddr) -> u128 {
    match peer {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}
