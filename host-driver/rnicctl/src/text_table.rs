//! Text in columns that are as wide as their widest cell, two blanks apart.

/// The lines of a table; its cells are one line each.
pub(crate) fn render<const COLUMNS: usize>(
    head: [&str; COLUMNS],
    rows: &[[String; COLUMNS]],
) -> String {
    let head = head.map(str::to_owned);
    let lines = || std::iter::once(&head).chain(rows);
    let width = |column: usize| {
        let widths = lines().map(|row| row[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let mut text = String::new();
    for row in lines() {
        let cells = row.iter().zip(widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let rows = [["a", "long"], ["wide cell", ""]].map(|row| row.map(str::to_owned));
        let text = "ONE        TWO\na          long\nwide cell\n";
        assert_eq!(render(["ONE", "TWO"], &rows), text);
        assert_eq!(render(["ONE"], &[]), "ONE\n");
    }
}
