//! `docs/registers.md` says what the crate `rnic-abi` says, in no language but English and numbers.
use rnic_testbench::docs::plain::rust_in;
use rnic_testbench::docs::{check, registers};

fn text() -> String {
    registers::text().expect("the sources of rnic-abi are there")
}

#[test]
fn the_register_document_is_what_the_abi_gives() {
    if let Err(difference) = check("registers.md", &text()) {
        panic!("{difference}");
    }
}

/// Cells of the rows of tables whose heads begin so.
fn rows<'a>(text: &'a str, head: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
    let mut is_within = false;
    text.lines().filter_map(move |line| {
        is_within = line.starts_with(head) || is_within && line.starts_with('|');
        let is_row = is_within && !line.starts_with(head) && !line.starts_with("|---");
        let cells = line.trim_matches('|').split('|');
        is_row.then(|| cells.map(str::trim).collect())
    })
}

/// The first cell that should be a number and is none.
fn no_number(text: &str) -> Option<String> {
    let values = rows(text, "| name | value |").filter_map(|row| {
        let value: Result<u64, _> = row[1].parse();
        let hexadecimal = row[2].strip_prefix("0x");
        let hexadecimal = hexadecimal.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let agree = value.ok().is_some_and(|value| Some(value) == hexadecimal);
        (!agree).then(|| row.join(" | "))
    });
    let words = ["the build's", "as before", "undefined"];
    let resets = rows(text, "| offset | register |").filter_map(|row| {
        let number = row[3].trim_start_matches("0x");
        let is_number = u32::from_str_radix(number, 16).is_ok();
        (!is_number && !words.contains(&row[3])).then(|| row.join(" | "))
    });
    values.chain(resets).next()
}

#[test]
fn every_value_is_a_number() {
    let text = text();
    assert_eq!(no_number(&text), None);
    assert!(rows(&text, "| name | value |").count() > 120);
    assert!(rows(&text, "| offset | register |").count() > 45);
}

/// The canary of the test above: an expression in the place of a number.
#[test]
fn an_expression_in_a_value_is_found() {
    for (right, wrong) in [
        (
            "| `TABLE_BUSY` | 2147483648 |",
            "| `TABLE_BUSY` | 1 << 31 |",
        ),
        ("| 4096 | 0x1000 |", "| 4096 | 0x10_00 |"),
        ("| 2 | 0x2 |", "| 2 | 0x3 |"),
        (
            "| reads, writes | 472 |",
            "| reads, writes | OUT_OF_ORDER_PAGES_MAX |",
        ),
    ] {
        let text = text();
        assert!(text.contains(right), "{right}");
        let wrong = text.replacen(right, wrong, 1);
        assert!(no_number(&wrong).is_some(), "{right}");
    }
}

#[test]
fn no_rust_is_left_in_the_document() {
    for line in text().lines() {
        assert_eq!(rust_in(line), None, "{line}");
    }
}
