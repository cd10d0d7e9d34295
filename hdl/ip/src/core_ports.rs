//! The ports that the emitted core declares.
//!
//! Enters the Verilog of the core, its top module first; leaves its ports in their order. The
//! emitter writes a port on a line of its own: `input wire  [15:0] device_id;`.

/// Which way a port looks, from the core.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

/// A port of the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CorePort {
    pub(crate) name: String,
    pub(crate) direction: Direction,
    pub(crate) bits: usize,
}

/// The ports of the first module of `verilog`.
pub(crate) fn ports(verilog: &str) -> Vec<CorePort> {
    let lines = verilog.lines().map(str::trim);
    let module = lines.take_while(|line| !line.starts_with("endmodule"));
    module.filter_map(port).collect()
}

fn port(line: &str) -> Option<CorePort> {
    let declaration = line.strip_suffix(';')?;
    let (direction, rest) = match declaration.split_once(' ')? {
        ("input", rest) => (Direction::In, rest),
        ("output", rest) => (Direction::Out, rest),
        _ => return None,
    };
    let (_kind, rest) = rest.trim().split_once(' ')?;
    let (bits, name) = match rest.trim().strip_prefix('[') {
        None => (1, rest.trim()),
        Some(ranged) => {
            let (high, name) = ranged.split_once(":0]")?;
            (1 + high.parse::<usize>().ok()?, name.trim())
        }
    };
    Some(CorePort {
        name: name.to_owned(),
        direction,
        bits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_the_first_module_are_found_with_direction_and_width() {
        let text = "module a(x,y);\n    // Module arguments\n    input wire  [15:0] x;\n    \
                    output reg  y;\n    reg  z;\nendmodule\nmodule b(v);\n    input wire  v;\n";
        let found = ports(text);
        let port = |name: &str, direction, bits| CorePort {
            name: name.to_owned(),
            direction,
            bits,
        };
        let expected = [port("x", Direction::In, 16), port("y", Direction::Out, 1)];
        assert_eq!(found, expected);
    }
}
