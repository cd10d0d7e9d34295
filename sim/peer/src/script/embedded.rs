//! The cases of this program.

use super::case::Case;
use super::file::parse;

/// Files of `cases`, in the order of playing.
const FILES: [(&str, &str); 9] = [
    ("start-up.toml", include_str!("../../cases/start-up.toml")),
    ("fpdu.toml", include_str!("../../cases/fpdu.toml")),
    ("ddp.toml", include_str!("../../cases/ddp.toml")),
    ("rdmap.toml", include_str!("../../cases/rdmap.toml")),
    ("segments.toml", include_str!("../../cases/segments.toml")),
    ("loss.toml", include_str!("../../cases/loss.toml")),
    ("markers.toml", include_str!("../../cases/markers.toml")),
    ("no-crc.toml", include_str!("../../cases/no-crc.toml")),
    ("clients.toml", include_str!("../../cases/clients.toml")),
];

/// All of them.
///
/// # Panics
/// One is wrong, which a test of this file excludes.
pub fn embedded() -> Vec<Case> {
    let parsed = FILES.iter().map(|(name, text)| parse(name, text));
    let cases = parsed.map(|cases| cases.unwrap_or_else(|error| panic!("{error}")));
    cases.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn there_are_eighty_cases_each_with_names_clauses_and_ids_that_are_there() {
        let cases = embedded();
        assert!(cases.len() >= 80, "{} cases", cases.len());
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len(), "two of one name");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let rows = std::fs::read_to_string(root.join("docs/requirements.csv"));
        let rows = rows.expect("it is there");
        let known: BTreeSet<&str> = rows
            .lines()
            .filter_map(|row| row.split(',').next())
            .collect();
        for case in &cases {
            assert!(!case.ids.is_empty(), "{} cites no requirement", case.name);
            for id in &case.ids {
                assert!(known.contains(id.as_str()), "{}: {id} is none", case.name);
            }
            let is_cited = ["RFC ", "draft-"]
                .iter()
                .any(|word| case.clause.contains(word));
            assert!(is_cited, "{}: {}", case.name, case.clause);
        }
    }

    #[test]
    fn every_file_of_the_folder_is_played() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
        let files = std::fs::read_dir(folder).expect("it is there").count();
        assert_eq!(files, FILES.len());
    }
}
