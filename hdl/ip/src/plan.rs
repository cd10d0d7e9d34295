//! Which port of the wrapper each port of the core becomes: each exactly once.
//!
//! | enters | the core's ports, the names                                                       |
//! | leaves | connections in the order of the wrapper's ports: sidebands, streams, trace        |

use crate::core_ports::{CorePort, Direction};
use crate::names::{Form, Stream, SIDEBANDS, SIGNALS, STREAMS};

/// One port of the core and what it is outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Connection {
    pub(crate) core: CorePort,
    /// Name of the wrapper's port.
    pub(crate) name: String,
    /// Its bits.
    pub(crate) bits: usize,
    pub(crate) form: Form,
    pub(crate) meaning: &'static str,
    /// The stream that it belongs to, by the wrapper's name.
    pub(crate) stream: Option<&'static str>,
}

/// Why ports and names do not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A port of the core is neither a signal of a stream nor a sideband.
    #[error("port {0} of the core has no name in the wrapper")]
    Unnamed(String),
    /// A name stands for no port of the core.
    #[error("the core has no port for {0}")]
    Missing(String),
    /// Two ports of the core would be one of the wrapper.
    #[error("{0} would stand for two ports of the core")]
    Twice(String),
    /// A port cannot be repacked.
    #[error("port {name} of the core has {bits} bits, and {expected} for its data")]
    Width {
        /// The port.
        name: String,
        /// Its bits.
        bits: usize,
        /// The bits that its stream's data ask for.
        expected: usize,
    },
}

/// Connects `ports`.
pub(crate) fn plan(ports: &[CorePort], width: usize) -> Result<Vec<Connection>, PlanError> {
    let mut connections: Vec<Connection> = Vec::new();
    for port in ports {
        let connection = connect(port, ports)?;
        if connections
            .iter()
            .any(|other| other.name == connection.name)
        {
            return Err(PlanError::Twice(connection.name));
        }
        connections.push(connection);
    }
    missing(&connections, width)?;
    connections.sort_by_key(|connection| place(&connection.name));
    Ok(connections)
}

/// The connection of one port.
fn connect(port: &CorePort, ports: &[CorePort]) -> Result<Connection, PlanError> {
    let mut connection = Connection {
        core: port.clone(),
        name: String::new(),
        bits: port.bits,
        form: Form::Same,
        meaning: "",
        stream: None,
    };
    if let Some(sideband) = SIDEBANDS.iter().find(|sideband| sideband.core == port.name) {
        connection.name = sideband.name.to_owned();
        connection.meaning = sideband.meaning;
        return Ok(connection);
    }
    for stream in &STREAMS {
        for signal in &SIGNALS {
            if port.name == format!("{}_{}", stream.core, signal.core) {
                connection.name = format!("{}_{}", stream.name, signal.name);
                connection.bits = bits(port, signal.form, stream, ports)?;
                connection.form = signal.form;
                connection.meaning = signal.meaning;
                connection.stream = Some(stream.name);
                return Ok(connection);
            }
        }
    }
    Err(PlanError::Unnamed(port.name.clone()))
}

/// Bits of the wrapper's port.
fn bits(
    port: &CorePort,
    form: Form,
    stream: &Stream,
    ports: &[CorePort],
) -> Result<usize, PlanError> {
    if form == Form::Same {
        return Ok(port.bits);
    }
    let name = format!("{}_data", stream.core);
    let data = ports.iter().find(|other| other.name == name);
    let data = data.ok_or(PlanError::Missing(name))?;
    let octets = data.bits / 8;
    let fits = match form {
        Form::Same => true,
        Form::Octets => octets < 1 << port.bits,
        Form::Doublewords => port.bits == octets / 4,
    };
    if !fits {
        return Err(PlanError::Width {
            name: port.name.clone(),
            bits: port.bits,
            expected: octets / 4,
        });
    }
    Ok(octets)
}

/// A name that is no port, or a stream that is none.
fn missing(connections: &[Connection], width: usize) -> Result<(), PlanError> {
    let is_there = |name: &str| connections.iter().any(|connection| connection.name == name);
    for sideband in &SIDEBANDS {
        if !is_there(sideband.name) {
            return Err(PlanError::Missing(sideband.name.to_owned()));
        }
    }
    for stream in &STREAMS {
        let name = format!("{}_tvalid", stream.name);
        if !is_there(&name) || is_there(&format!("{}_tready", stream.name)) == stream.always_taken {
            return Err(PlanError::Missing(format!("stream {}", stream.name)));
        }
    }
    let frame = connections
        .iter()
        .find(|found| found.name == "rx_frame_tdata");
    match frame {
        Some(frame) if frame.bits == width => Ok(()),
        _ => Err(PlanError::Missing(format!("a frame path of {width} bits"))),
    }
}

/// Where a port of the wrapper stands: what the core needs first, what it shows last.
fn place(name: &str) -> usize {
    let of_stream = STREAMS.iter().position(|stream| {
        let signal = name.strip_prefix(stream.name);
        signal.is_some_and(|signal| signal.starts_with("_t"))
    });
    let inputs = [
        "clk",
        "rst",
        "function_id",
        "msix_enable",
        "msix_mask",
        "tick",
        "tx_pause",
    ];
    match (of_stream, inputs.iter().position(|input| *input == name)) {
        (Some(stream), _) => inputs.len() + stream,
        (None, Some(input)) => input,
        (None, None) => inputs.len() + STREAMS.len(),
    }
}

impl Connection {
    /// Whether the wrapper's port is an input.
    pub(crate) fn is_input(&self) -> bool {
        self.core.direction == Direction::In
    }
}
