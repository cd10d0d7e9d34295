//! Finds requirement ids (`MPA-014`) in Rust source: anywhere, and those by which a test says what
//! it proves - in the comment above it or in its name (`mpa_014_...`).
//!
//! Enters the text of a file as rustfmt writes it; leaves ids in order of their first appearance.
//! An ignored test proves nothing and is passed over.

const FAMILIES: [&str; 7] = ["MPA", "MPA2", "START", "DDP", "RDMAP", "RPC", "TCP"];

/// A test that cites requirements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitingTest {
    /// Name of its function.
    pub name: String,
    /// Ids it cites.
    pub ids: Vec<String>,
}

/// Every id in `text`.
pub fn ids(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-') {
        if is_id(word) && !found.iter().any(|id| id == word) {
            found.push(word.to_owned());
        }
    }
    found
}

fn is_id(word: &str) -> bool {
    let Some((family, number)) = word.split_once('-') else {
        return false;
    };
    FAMILIES.contains(&family)
        && number.len() == 3
        && number.chars().all(|digit| digit.is_ascii_digit())
}

/// The ids in a test's name: `crc_error_mpa_054_stops_ddp_045` has `MPA-054` and `DDP-045`.
fn ids_of_name(name: &str) -> Vec<String> {
    let parts: Vec<&str> = name.split('_').collect();
    let joined = parts
        .windows(2)
        .map(|pair| format!("{}-{}", pair[0].to_uppercase(), pair[1]));
    joined.filter(|word| is_id(word)).collect()
}

/// The tests of a source file that cite ids.
pub fn citing_tests(text: &str) -> Vec<CitingTest> {
    let mut found = Vec::new();
    let mut above = String::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("//") && !line.starts_with("//!") {
            above.push_str(line);
            above.push('\n');
        } else if line.starts_with("#[") {
            is_test |= line == "#[test]";
            // Whatever else stands above it, an ignored test does not run.
            if line.starts_with("#[ignore") {
                above.clear();
                is_test = false;
            }
        } else {
            if let Some(name) = function_name(line).filter(|_| is_test) {
                let mut cited = ids(&above);
                cited.extend(ids_of_name(name));
                cited.dedup();
                if !cited.is_empty() {
                    let name = name.to_owned();
                    found.push(CitingTest { name, ids: cited });
                }
            }
            above.clear();
            is_test = false;
        }
    }
    found
}

fn function_name(line: &str) -> Option<&str> {
    line.strip_prefix("fn ")?.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_whole_words_of_a_known_family() {
        let text = "MPA-014, (DDP-045) MPA2-006. XMPA-001 MPA-01 MPA-0144 RFC-793 MPA-014";
        assert_eq!(ids(text), ["MPA-014", "DDP-045", "MPA2-006"]);
    }

    #[test]
    fn comment_and_name_of_a_test_count_and_nothing_else_does() {
        let text = "/// MPA-001: a function, no test.\nfn helper() {}\n\
                    /// MPA-002 and\n/// DDP-003.\n#[test]\nfn both_rdmap_004() {\n\
                    // MPA-005: inside.\n}\n#[test]\nfn cites_nothing() {}\n\
                    /// MPA-006\n#[test]\n#[ignore = \"slow\"]\nfn ignored() {}\n";
        let expected = CitingTest {
            name: "both_rdmap_004".into(),
            ids: ["MPA-002", "DDP-003", "RDMAP-004"].map(String::from).into(),
        };
        assert_eq!(citing_tests(text), [expected]);
    }
}
