//! Headers of RPC over RDMA, a line for each message.

use super::RpcOptions;
use crate::failure::Failure;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// The file that `--headers` names, if it does.
#[derive(Debug)]
pub struct HeaderLog(Option<(PathBuf, File)>);

impl HeaderLog {
    /// An empty file.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(options: &RpcOptions) -> Result<Self, Failure> {
        let Some(path) = options.headers.clone() else {
            return Ok(Self(None));
        };
        match File::create(&path) {
            Ok(file) => Ok(Self(Some((path, file)))),
            Err(error) => Err(failed(&path, &error)),
        }
    }

    /// Write what an end has sent and received since the last time.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, machine: &mut rpcrdma::Endpoint) -> Result<(), Failure> {
        let Some((path, file)) = &mut self.0 else {
            return Ok(());
        };
        while let Some(line) = machine.logged() {
            writeln!(file, "{line}").map_err(|error| failed(path, &error))?;
        }
        Ok(())
    }
}

fn failed(path: &std::path::Path, error: &std::io::Error) -> Failure {
    format!("--headers {}: {error}", path.display()).into()
}
