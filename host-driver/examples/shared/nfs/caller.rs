//! A client of NFS and MOUNT over RPC over RDMA: calls, and what their replies say.

use super::{mount, procedure, Handle, HeaderLog, RpcOptions, Status, MOUNT, NFS};
use crate::end::End;
use crate::failure::Failure;
use rnic_rpcrdma::{Client, ClientSettings, Memories};
use rpcrdma::binding::auth::Credential;
use rpcrdma::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus, REPLY_HEADER_OCTETS};
use rpcrdma::binding::{mount3, nfs3, nfs4, Program};
use rpcrdma::place::Place;
use rpcrdma::stream::{DecodeError, Message, Reader, TooMuch};
use rpcrdma::{CallId, Offer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// RDMA Reads outstanding each way.
const READS: u16 = 8;

/// What is called.
#[derive(Clone, Copy, Debug)]
pub struct Procedure {
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// The procedure.
    pub number: u32,
}

impl Procedure {
    /// Of NFSv3.
    #[must_use]
    pub fn nfs(number: u32) -> Self {
        Self {
            program: NFS,
            version: nfs3::PROGRAM.version,
            number,
        }
    }

    /// COMPOUND of NFSv4.
    #[must_use]
    pub fn compound() -> Self {
        Self {
            program: NFS,
            version: nfs4::PROGRAM.version,
            number: procedure::COMPOUND,
        }
    }

    /// Of MOUNT, version 3.
    #[must_use]
    pub fn mount(number: u32) -> Self {
        Self {
            program: MOUNT,
            version: mount3::PROGRAM.version,
            number,
        }
    }

    /// Octets of the longest reply, where it may have `asked` octets of what it was asked for.
    fn reply_octets_max(&self, asked: u32) -> u32 {
        let programs: [Program<'static>; 3] = [nfs3::PROGRAM, nfs4::PROGRAM, mount3::PROGRAM];
        let is_this =
            |known: &&Program<'_>| (known.number, known.version) == (self.program, self.version);
        let program = programs.iter().find(is_this);
        let procedure = program.and_then(|program| program.procedure(self.number));
        let octets = procedure.map_or(0, |procedure| procedure.reply.octets_max(0) as u32);
        // Why a call was not accepted takes two words more than that it was.
        REPLY_HEADER_OCTETS + 8 + octets + asked
    }
}

/// A client.
#[derive(Debug)]
pub struct Caller<'a> {
    /// Connections and calls.
    pub client: Client<'a>,
    /// Registered memory.
    pub memories: Arc<Memories>,
    /// The server.
    pub peer: SocketAddr,
    message: Message,
    headers: HeaderLog,
}

impl<'a> Caller<'a> {
    /// Connect to the server of `options`.
    ///
    /// # Errors
    /// It cannot be reached.
    pub fn connect(end: &'a End, options: &RpcOptions) -> Result<Self, Failure> {
        let peer = options.options(false).peer_address()?;
        let memories = Memories::new(&end.context, end.context.protection_domain()?);
        let memories = Arc::new(memories);
        let settings = ClientSettings {
            rpc: options.settings(),
            startup: options.startup.settings(READS),
            patience: Duration::from_secs(options.timeout),
            ..ClientSettings::default()
        };
        Ok(Self {
            client: Client::connect(&end.endpoint, &memories, peer, settings)?,
            memories,
            peer,
            message: Message::new(),
            headers: HeaderLog::open(options)?,
        })
    }

    /// Make a call, whose arguments `write` appends. `results` take the items of the reply;
    /// what else was asked for has `asked` octets.
    ///
    /// # Errors
    /// There are too many calls, or arguments.
    pub fn submit(
        &mut self,
        procedure: Procedure,
        write: impl FnOnce(&mut Message) -> Result<(), TooMuch>,
        (results, asked): (&[Place], u32),
    ) -> Result<CallId, Failure> {
        self.message.clear();
        let header = CallHeader {
            xid: self.client.next_xid(),
            program: procedure.program,
            version: procedure.version,
            procedure: procedure.number,
            credential: Credential::None,
        };
        let written = header.write(&mut self.message);
        let written = written.and_then(|()| write(&mut self.message));
        written.map_err(|error| error.to_string())?;
        let offer = Offer {
            results,
            reply_octets_max: procedure.reply_octets_max(asked),
        };
        let call = self.client.submit(&mut self.message, offer)?;
        self.headers.write(self.client.machine_mut())?;
        Ok(call)
    }

    /// Wait for a call, and read the results.
    ///
    /// # Errors
    /// It has failed, or its reply is none.
    pub fn wait<T>(
        &mut self,
        call: CallId,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, Failure> {
        let waited = self.client.wait(call);
        self.headers.write(self.client.machine_mut())?;
        waited?;
        let reply = self.client.reply(call);
        let mut reader = reply.ok_or("the call was released".to_owned())?.reader();
        let results = ReplyHeader::read(&mut reader).and_then(|header| match header.status {
            ReplyStatus::Success => {
                let value = read(&mut reader)?;
                reader.finish()?;
                Ok(Ok(value))
            }
            status => Ok(Err(status)),
        });
        self.client.release(call);
        let peer = self.peer;
        match results {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(status)) => Err(format!("{peer} {}", refusal(status)).into()),
            Err(error) => Err(format!("a reply of {peer} cannot be read: {error}").into()),
        }
    }

    /// Make a call, and wait for its results, which begin with a status. `name` is what it is
    /// about.
    ///
    /// # Errors
    /// It has failed, or its status is not OK.
    pub fn call<T>(
        &mut self,
        procedure: Procedure,
        name: &str,
        write: impl FnOnce(&mut Message) -> Result<(), TooMuch>,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, Failure> {
        let asked = match procedure.program {
            // A list of flavours.
            MOUNT => 256,
            _ => 0,
        };
        let call = self.submit(procedure, write, (&[], asked))?;
        let results = self.wait(call, |reader| results(reader, read))?;
        results.map_err(|status| self.refused(name, status))
    }

    /// What is said of a file that the server does not do this with.
    #[must_use]
    pub fn refused(&self, name: &str, status: Status) -> Failure {
        format!("{name} at {}: {status}", self.peer).into()
    }

    /// The handle of a directory that may be mounted: of the server's MOUNT program.
    ///
    /// # Errors
    /// There is none over RDMA, as at Linux' server, or it refuses.
    pub fn mount(&mut self, path: &str) -> Result<Handle, Failure> {
        let mounted = self.call(
            Procedure::mount(mount::MNT),
            path,
            |message| message.opaque(path.as_bytes()),
            |reader| {
                let handle = Handle::read(reader)?;
                let flavors = reader.u32()?;
                (0..flavors.min(64)).try_for_each(|_| reader.u32().map(drop))?;
                Ok(handle)
            },
        );
        mounted.map_err(|failure| {
            format!("{failure}; without MOUNT over RDMA give the directory's --handle").into()
        })
    }

    /// Handle and size of a name in a directory.
    ///
    /// # Errors
    /// The server says why.
    pub fn look_up(
        &mut self,
        directory: &Handle,
        name: &str,
    ) -> Result<(Handle, Option<super::FileAttributes>), Failure> {
        self.call(
            Procedure::nfs(procedure::LOOKUP),
            name,
            |message| {
                directory.write(message)?;
                message.opaque(name.as_bytes())
            },
            |reader| {
                let handle = Handle::read(reader)?;
                let attributes = super::read_post_attributes(reader)?;
                super::read_post_attributes(reader)?;
                Ok((handle, attributes))
            },
        )
    }
}

/// Read results that begin with a status. Of others than OK nothing more is read.
///
/// # Errors
/// They are none.
pub fn results<T>(
    reader: &mut Reader<'_>,
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
) -> Result<Result<T, Status>, DecodeError> {
    match Status(reader.u32()?) {
        Status::OK => read(reader).map(Ok),
        status => {
            let left = reader.remaining() as u32;
            reader.fixed(left)?;
            Ok(Err(status))
        }
    }
}

/// Why a server has not done what was called.
fn refusal(status: ReplyStatus) -> String {
    match status {
        ReplyStatus::Success => "has done it".to_owned(),
        ReplyStatus::ProgramUnavailable => "does not have the program".to_owned(),
        ReplyStatus::ProgramMismatch { low, high } => {
            format!("has the program in versions {low} to {high}")
        }
        ReplyStatus::ProcedureUnavailable => "does not have the procedure".to_owned(),
        ReplyStatus::GarbageArguments => "cannot read the arguments".to_owned(),
        ReplyStatus::SystemError => "has failed; its log tells why".to_owned(),
        ReplyStatus::RpcMismatch { low, high } => format!("speaks RPC {low} to {high}"),
        ReplyStatus::AuthError(code) => {
            format!("does not take the credential (auth_stat {code}): look at its exports")
        }
    }
}
