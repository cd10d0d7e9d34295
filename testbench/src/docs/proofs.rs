//! Writes the table of proofs in `docs/verification.md` from `formal/proofs.toml`: what is claimed
//! of which block, and how many broken designs must fail.
use super::{between, read, workspace_root};
use serde::Deserialize;
use std::fmt::Write;

const MARKS: (&str, &str) = (
    "<!-- proofs: begin (written by `make generate`) -->\n",
    "<!-- proofs: end -->\n",
);

#[derive(Deserialize)]
struct Proofs {
    proof: Vec<Proof>,
}

/// A proof; what only `formal/prove.py` needs is left out.
#[derive(Deserialize)]
struct Proof {
    name: String,
    /// The block; a proof without one is of every block with certain ports.
    module: Option<String>,
    claim: String,
    #[serde(default)]
    broken: Vec<toml::Table>,
}

/// The document with its table made anew.
///
/// # Errors
/// A file cannot be read, or does not say what it should.
pub fn text() -> Result<String, String> {
    let proofs = read(&workspace_root().join("formal/proofs.toml"))?;
    let document = read(&workspace_root().join("docs/verification.md"))?;
    let text = between(&document, MARKS, &table(&proofs)?);
    text.ok_or_else(|| "docs/verification.md: the marks of its table are gone".to_owned())
}

fn table(proofs: &str) -> Result<String, String> {
    let proofs: Proofs =
        toml::from_str(proofs).map_err(|error| format!("formal/proofs.toml: {error}"))?;
    let mut out = "| proof | block | claim | broken designs |\n|---|---|---|---|\n".to_owned();
    for proof in proofs.proof {
        let block = proof.module.as_deref().map(|module| {
            let path = module.strip_prefix("rnic$").unwrap_or(module);
            format!("`{}`", path.replace('$', "/"))
        });
        let block = block.as_deref().unwrap_or("each of its kind");
        let (name, claim, broken) = (proof.name, proof.claim, proof.broken.len());
        let _ = writeln!(out, "| {name} | {block} | {claim} | {broken} |");
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_a_row_with_the_number_of_its_broken_designs() {
        let proofs = "[[proof]]\nname = 'a'\nclaim = 'It holds.'\ndepth = 2\n\
                      [[proof]]\nname = 'b'\nmodule = 'rnic$x$y'\nclaim = 'So does it.'\n\
                      [[proof.broken]]\nname = 'c'\n[[proof.broken]]\nname = 'd'\n";
        let rows = table(proofs).expect("it is TOML");
        let rows: Vec<&str> = rows.lines().skip(2).collect();
        let expected = [
            "| a | each of its kind | It holds. | 0 |",
            "| b | `x/y` | So does it. | 2 |",
        ];
        assert_eq!(rows, expected);
    }
}
