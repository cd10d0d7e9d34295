//! What went wrong, with what to do next; and the exit status.

use rnic_driver::bus::OpenError;
use rnic_driver::verbs::endpoint::EndpointError;
use rnic_driver::DriverError;
use rnic_iwarp::startup::StartupError;
use rnic_output::stdout::{self, CLOSED_STATUS};
use rnic_output::StdoutError;
use rnic_rpcrdma::RpcError;
use rnic_tcp::Lost;
use std::error::Error;
use std::process::ExitCode;

/// Exit status of a program that failed.
pub const FAILED: u8 = 2;

/// Why a program ends before its time.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The device was not opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DriverError),
    /// The endpoint or a connection.
    #[error("{0}{next}", next = next(.0))]
    Endpoint(#[from] EndpointError),
    /// RPC over RDMA.
    #[error("{0}{next}", next = next_of_rpc(.0))]
    Rpc(#[from] RpcError),
    /// Standard output.
    #[error(transparent)]
    Stdout(#[from] StdoutError),
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Other(text)
    }
}

/// What a user can do about it, to be added to the error.
fn next(error: &EndpointError) -> String {
    let advice = match error {
        EndpointError::Lost { lost, .. } => match lost {
            Lost::Refused => {
                "nobody listens there: start the server, or give its --address, --port"
            }
            Lost::SynTimeOut => {
                "no host has answered: look at --address, --own, --vlan and the link, or wait \
                 longer with --timeout"
            }
            Lost::Reset { .. } => "what the peer says tells why",
            _ => return String::new(),
        },
        EndpointError::NoAddress(_) => "give an address of its family with --own",
        EndpointError::NotOwn(_) => "--address of a server is one of --own",
        EndpointError::StartupFailed { error, .. } => match error {
            StartupError::Closed => {
                "the peer does not take this revision, or is no iWARP program; try --revision 1"
            }
            StartupError::Revision { .. } => "give both ends the same --revision",
            StartupError::TimedOut { .. } => "is the peer an iWARP program, in the other role?",
            StartupError::Key { .. } => "the peer's program speaks something else than iWARP",
            _ => return String::new(),
        },
        EndpointError::Rejected { reason, .. } => {
            let reason = String::from_utf8_lossy(reason);
            return match reason.is_empty() {
                true => String::new(),
                false => format!(": {reason}"),
            };
        }
        _ => return String::new(),
    };
    format!("; {advice}")
}

/// What a user can do about what RPC over RDMA says, to be added to it.
fn next_of_rpc(error: &RpcError) -> String {
    match error {
        RpcError::Endpoint(error) => next(error),
        RpcError::Call { failure, .. } => {
            let advice = match failure {
                rpcrdma::Failure::Chunk => "it does not take the call: look at its log",
                rpcrdma::Failure::Version => "it speaks another version of RPC over RDMA",
                rpcrdma::Failure::TooLong => "give more than --inline, or shorter names",
                rpcrdma::Failure::Attempts => "is the server up? Its log tells why it closes",
                _ => "its program speaks something else than RPC over RDMA, version 1",
            };
            format!("; {advice}")
        }
        _ => String::new(),
    }
}

/// The end of a program: what failed is said on standard error. One whose reader has left, as in
/// `| head -1`, ends without a word.
pub fn finish<E: Into<Box<dyn Error>>>(program: &str, ended: Result<(), E>) -> ExitCode {
    let Err(failure) = ended else {
        return ExitCode::SUCCESS;
    };
    let failure = failure.into();
    if let Some(Failure::Stdout(StdoutError::Closed)) = failure.downcast_ref() {
        return ExitCode::from(CLOSED_STATUS);
    }
    stdout::complain(&format!("{program}: {failure}"));
    ExitCode::from(FAILED)
}

/// Say a line on standard output.
///
/// # Errors
/// [`Failure::Stdout`].
pub fn say(text: impl AsRef<str>) -> Result<(), Failure> {
    Ok(stdout::print(&format!("{}\n", text.as_ref()))?)
}
