//! The core for other people's flows: one folder that works without this project.
//!
//! ```text
//!  rnic_hdl::top::verilog --> rtl/rnic.v --> its ports --+
//!  names.rs: streams, sidebands ------------------------+--> rtl/ferrowarp_rnic.v
//!                                                       +--> tables of ports in README.md
//!  rnic_abi ----------------> sim/registers.py
//!  files/ ------------------> Makefile, FuseSoC core, waivers, cocotb test, README.md
//! ```
//!
//! | enters | width of the frame path in bits, sizes of the tables                   |
//! | leaves | the files of the folder as text; nothing is written here               |
//!
//! The wrapper renames and repacks, and decides nothing. It is made from the ports that the emitted
//! core declares, so one that has no name here is an error and not a gap.
#![deny(missing_docs)]

mod core_ports;
mod names;
mod plan;
mod readme;
mod registers;
mod wrapper;

use plan::PlanError;
use rnic_abi::sizes::Sizes;
use rnic_hdl_tools::emit::EmitError;

/// Why there is no folder.
#[derive(Debug, thiserror::Error)]
pub enum IpError {
    /// The core itself is not emitted.
    #[error(transparent)]
    Core(#[from] EmitError),
    /// A port of the core and the names of the wrapper do not fit.
    #[error("the wrapper does not fit the core: {0}; see hdl/ip/src/names.rs")]
    Ports(#[from] PlanError),
}

/// One file of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its place in the folder.
    pub path: &'static str,
    /// Its content.
    pub text: String,
}

/// Files that are the same in every folder.
const FIXED: [(&str, &str); 7] = [
    ("Makefile", include_str!("../files/Makefile")),
    (
        "requirements.txt",
        include_str!("../files/requirements.txt"),
    ),
    ("lint/rnic.vlt", include_str!("../files/lint/rnic.vlt")),
    ("sim/public.vlt", include_str!("../files/sim/public.vlt")),
    ("sim/function.py", include_str!("../files/sim/function.py")),
    (
        "sim/test_rnic.py",
        include_str!("../files/sim/test_rnic.py"),
    ),
    ("LICENSE-MIT", include_str!("../../../LICENSE-MIT")),
];

/// The folder for a frame path of `width` bits, with tables of these sizes.
///
/// # Errors
/// The core is not emitted, or has a port that the wrapper does not know.
///
/// # Panics
/// If `width` is not 64, 128 or 512.
pub fn files(width: usize, sizes: Sizes) -> Result<Vec<File>, IpError> {
    let core = rnic_hdl::top::verilog(width, sizes)?;
    let plan = plan::plan(&core_ports::ports(&core), width)?;
    let version = env!("CARGO_PKG_VERSION");
    let description = include_str!("../files/ferrowarp_rnic.core").replace("{VERSION}", version);
    let mut files: Vec<File> = FIXED
        .iter()
        .map(|&(path, text)| File {
            path,
            text: text.to_owned(),
        })
        .collect();
    let license = include_str!("../../../LICENSE-APACHE").to_owned();
    let made = [
        ("LICENSE-APACHE", license),
        ("ferrowarp_rnic.core", description),
        (
            "rtl/ferrowarp_rnic.v",
            wrapper::verilog(&plan, width, sizes),
        ),
        ("rtl/rnic.v", core),
        ("sim/registers.py", registers::python(width, sizes)),
        ("README.md", readme::text(&plan, width, sizes)),
    ];
    files.extend(made.map(|(path, text)| File { path, text }));
    Ok(files)
}

#[cfg(test)]
mod tests;
