//! Write the generated captures into `testbench/captures`.

use rnic_testbench::traffic::captures::{Generated, GENERATED};
use std::path::Path;

fn main() -> std::io::Result<()> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures");
    for Generated { file, make } in GENERATED {
        let octets = make();
        std::fs::write(directory.join(file), &octets)?;
        println!("{file}: {} octets", octets.len());
    }
    println!("now run: python3 testbench/captures/facts.py > testbench/captures/facts.toml");
    Ok(())
}
