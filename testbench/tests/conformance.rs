//! `docs/conformance.md` says what the tests cite and what is not implemented.
use rnic_testbench::docs::{check, conformance};

/// Fails when a requirement has neither a test nor a reason, when an id that is cited does not
/// exist, or when the document was not generated since.
#[test]
fn every_requirement_has_a_test_or_a_reason_and_the_document_says_which() {
    let text = conformance::text().unwrap_or_else(|problem| panic!("{problem}"));
    if let Err(difference) = check("conformance.md", &text) {
        panic!("{difference}");
    }
}
