//! Changes in the core's Verilog.
//!
//! ```text
//!  operand      a < b     ((bench.mutant_now == 16'd7) ? (a <= b) : (a < b))
//!  condition    if (a)    if ((bench.mutant_now == 16'd9) ? ((b)) : ((a)))
//!  statements   x = a;    if (bench.mutant_now == 16'd8) begin x = b; end else begin x = a; end
//! ```
//!
//! Several mutants may change the same text: they become one chain. Texts that overlap without
//! being the same cannot, and are refused by name.

use super::table::Mutant;
use super::MutantError;
use rnic_sim::mutant::REGISTER;
use std::collections::BTreeMap;
use std::ops::Range;

/// The emitted text and where each module of it stands.
pub struct Design<'a> {
    text: &'a str,
    modules: BTreeMap<&'a str, Range<usize>>,
}

impl<'a> Design<'a> {
    /// Look through an emitted text.
    pub fn new(text: &'a str) -> Self {
        let mut modules = BTreeMap::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let Some(header) = line.strip_prefix("module ") else {
                continue;
            };
            let Some((name, _)) = header.split_once('(') else {
                continue;
            };
            let octets = text[start..].find("\nendmodule").unwrap_or(0);
            modules.insert(name.trim(), start..start + octets);
        }
        Self { text, modules }
    }

    /// The only place of the text that `mutant` changes.
    fn place(&self, mutant: &Mutant) -> Result<Range<usize>, MutantError> {
        let module = &mutant.module;
        let Some(within) = self.modules.get(&module[..]).cloned() else {
            return Err(mutant.fault(format!("the core has no module {module}")));
        };
        let text = &self.text[within.clone()];
        let places: Vec<usize> = text.match_indices(&mutant.from).map(|(at, _)| at).collect();
        let [at] = places[..] else {
            let (number, from) = (places.len(), &mutant.from);
            return Err(mutant.fault(format!(
                "{module} has {number} places that read `{from}`, not one"
            )));
        };
        let start = within.start + at;
        Ok(start..start + mutant.from.len())
    }

    /// The text with one change for good.
    pub fn with_one(&self, mutant: &Mutant) -> Result<String, MutantError> {
        let mut text = self.text.to_owned();
        text.replace_range(self.place(mutant)?, &mutant.to);
        Ok(text)
    }

    /// The text with every change, each under its number.
    pub fn with_all(&self, mutants: &[Mutant]) -> Result<String, MutantError> {
        let mut places: BTreeMap<usize, Vec<&Mutant>> = BTreeMap::new();
        for mutant in mutants {
            places
                .entry(self.place(mutant)?.start)
                .or_default()
                .push(mutant);
        }
        let mut text = String::with_capacity(self.text.len() + 200 * mutants.len());
        let mut done = 0;
        for (start, group) in places {
            let from = &group[0].from;
            let differs = group.iter().find(|mutant| mutant.from != *from);
            let overlaps = if start < done {
                Some(&group[0])
            } else {
                differs
            };
            if let Some(mutant) = overlaps {
                return Err(mutant.fault("its text overlaps with another mutant's".into()));
            }
            text.push_str(&self.text[done..start]);
            text.push_str(&selectable(from, &group));
            done = start + from.len();
        }
        text.push_str(&self.text[done..]);
        Ok(text)
    }
}

/// How a text can be made selectable.
enum Form {
    /// An operand of an expression.
    Operand,
    /// A condition with its `if`, and what stands before that.
    Condition(usize),
    /// Whole statements.
    Statements,
}

impl Form {
    fn of(text: &str) -> Self {
        let condition = text.starts_with("if (") || text.starts_with("else if (");
        match text.find("if (") {
            _ if text.contains(';') => Self::Statements,
            Some(at) if condition && text.ends_with(')') => Self::Condition(at + "if ".len()),
            _ => Self::Operand,
        }
    }
}

/// `from` where none of `group` is in force.
fn selectable(from: &str, group: &[&Mutant]) -> String {
    let operand = |from: &str, before: usize| {
        let chain = |text: String, Mutant { number, to, .. }: &&Mutant| {
            let to = &to[before..];
            format!("(({REGISTER} == 16'd{number}) ? ({to}) : {text})")
        };
        group.iter().fold(format!("({from})"), chain)
    };
    match Form::of(from) {
        Form::Operand => operand(from, 0),
        Form::Condition(at) => format!("{}{}", &from[..at], operand(&from[at..], at)),
        Form::Statements => {
            let chain = |text: String, Mutant { number, to, .. }: &&Mutant| {
                format!("if ({REGISTER} == 16'd{number}) begin {to} end else {text}")
            };
            group.iter().fold(format!("begin {from} end"), chain)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::table::Room;

    const TEXT: &str = "module a(x);\n  y = x < 1;\n  z = 0;\nendmodule\n\
                        module a$b(x);\n  y = x < 1;\nendmodule\n";

    fn mutant(number: u16, module: &str, from: &str, to: &str) -> Mutant {
        Mutant {
            number,
            name: format!("mutant {number}"),
            room: Room::Tcp,
            module: module.into(),
            from: from.into(),
            to: to.into(),
            attack: None,
            equivalent: None,
        }
    }

    #[test]
    fn changes_stand_under_their_numbers() {
        let mutants = [
            mutant(1, "a", "x < 1", "x <= 1"),
            mutant(2, "a", "z = 0;", ""),
            mutant(3, "a", "x < 1", "1'b0"),
        ];
        let design = Design::new(TEXT);
        let text = design.with_all(&mutants).expect("they fit");
        let expression = "y = ((bench.mutant_now == 16'd3) ? (1'b0) : \
                          ((bench.mutant_now == 16'd1) ? (x <= 1) : (x < 1)));";
        assert!(text.contains(expression), "{text}");
        let condition = mutant(4, "a", "else if (x)", "else if (1'b0)");
        assert_eq!(
            selectable(&condition.from, &[&condition]),
            "else if ((bench.mutant_now == 16'd4) ? ((1'b0)) : ((x)))"
        );
        let statement = "if (bench.mutant_now == 16'd2) begin  end else begin z = 0; end";
        assert!(text.contains(statement), "{text}");
        assert!(text.ends_with("module a$b(x);\n  y = x < 1;\nendmodule\n"));
        let one = design.with_one(&mutants[0]).expect("it fits");
        assert_eq!(one, TEXT.replacen("x < 1", "x <= 1", 1));
    }

    /// A table that no longer fits must say which row it is.
    #[test]
    fn a_text_that_is_not_there_once_is_refused_by_name() {
        for (module, from, word) in [
            ("a", "x < 2", "0 places"),
            ("a", " = ", "2 places"),
            ("c", "x < 1", "no module c"),
        ] {
            let error = Design::new(TEXT).with_all(&[mutant(9, module, from, "1")]);
            let message = error.expect_err("it does not fit").to_string();
            assert!(
                message.contains("mutant 9") && message.contains(word),
                "{message}"
            );
        }
        let overlapping = [mutant(1, "a", "x < 1", "1"), mutant(2, "a", "< 1;", "")];
        let error = Design::new(TEXT)
            .with_all(&overlapping)
            .expect_err("they meet");
        assert!(error.to_string().contains("overlaps"), "{error}");
    }
}
