//! `docs/conformance.md` says what the tests cite and what is not implemented.
use rnic_testbench::docs::{check, conformance};

/// Fails when an id that is cited does not exist, or when the document was not generated since.
#[test]
fn the_conformance_document_is_what_tests_and_reasons_give() {
    let text = conformance::text().unwrap_or_else(|problem| panic!("{problem}"));
    if let Err(difference) = check("conformance.md", &text) {
        panic!("{difference}");
    }
}
