//! Statements of a kernel: assignments, `if`, `match`, `for` and registers.

use super::code::Code;
use super::names;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Arm, Block, Error, Expr, ExprAssign, ExprField, ExprForLoop, ExprIf, ExprLit, ExprMatch, Ident,
    Lit, Macro, Member, Pat, RangeLimits, Stmt, Token,
};

/// Writes a kernel as words.
#[derive(Default)]
pub(super) struct Translator {
    pub(super) code: Code,
    /// Variables of the loops around the current statement, the outermost first.
    pub(super) loops: Vec<String>,
}

impl Translator {
    pub(super) fn translate(block: &Block) -> syn::Result<Code> {
        let mut translator = Self::default();
        translator.block(block)?;
        Ok(translator.code)
    }

    fn block(&mut self, block: &Block) -> syn::Result<()> {
        for statement in &block.stmts {
            match statement {
                Stmt::Expr(expression, _) => self.statement(expression)?,
                Stmt::Macro(list) => self.registers(&list.mac)?,
                Stmt::Local(_) | Stmt::Item(_) => {
                    return Err(Error::new_spanned(
                        statement,
                        "kernel: `let` and items do not translate: use a Local",
                    ));
                }
            }
        }
        self.code.word("}");
        Ok(())
    }

    fn statement(&mut self, statement: &Expr) -> syn::Result<()> {
        match statement {
            Expr::Assign(assignment) => self.assignment(assignment),
            Expr::If(conditional) => {
                self.code.word("if");
                self.conditional(conditional)
            }
            Expr::Match(choice) => self.choice(choice),
            Expr::ForLoop(repeated) => self.repeated(repeated),
            Expr::Macro(list) => self.registers(&list.mac),
            other => Err(Error::new_spanned(
                other,
                "kernel: not a statement that translates: those are assignments to `.next`, `if`, \
                 `match`, `for` and the lists of wires and registers",
            )),
        }
    }

    fn assignment(&mut self, assignment: &ExprAssign) -> syn::Result<()> {
        let target = Target::of(&assignment.left)?;
        let name = names::signal(target.signal, &self.loops)?;
        match target.field {
            None => {
                self.code.word("=");
                self.code.word(&format!(".{name}$next"));
            }
            Some((written, field)) => {
                self.code.word("part");
                self.code.word(&format!(".{name}"));
                self.part(&name, written, field)?;
            }
        }
        self.expression(&assignment.right)
    }

    /// Width and offset of `field` in the struct `whole`, which `name` holds.
    pub(super) fn part(&mut self, name: &str, whole: &Expr, field: &Ident) -> syn::Result<()> {
        if names::is_in_a_loop(name) {
            return Err(Error::new_spanned(
                whole,
                "kernel: a field of what a loop indexes does not translate: assign the struct to a \
                 Local first",
            ));
        }
        let (width, offset) = (
            format_ident!("get_my_width_{field}"),
            format_ident!("get_my_offset_{field}"),
        );
        self.code.number(quote!(#whole.#width()));
        self.code.number(quote!(#whole.#offset()));
        Ok(())
    }

    /// What follows the word `if`.
    fn conditional(&mut self, conditional: &ExprIf) -> syn::Result<()> {
        self.expression(&conditional.cond)?;
        self.block(&conditional.then_branch)?;
        match conditional
            .else_branch
            .as_ref()
            .map(|(_, branch)| &**branch)
        {
            None => self.code.word("fi"),
            Some(Expr::If(next)) => {
                self.code.word("elif");
                self.conditional(next)?;
            }
            Some(Expr::Block(otherwise)) => {
                self.code.word("else");
                self.block(&otherwise.block)?;
            }
            Some(other) => {
                return Err(Error::new_spanned(
                    other,
                    "kernel: not an `else` of an `if`",
                ));
            }
        }
        Ok(())
    }

    fn choice(&mut self, choice: &ExprMatch) -> syn::Result<()> {
        self.code.word("case");
        self.expression(&choice.expr)?;
        for Arm {
            pat, guard, body, ..
        } in &choice.arms
        {
            if let Some((_, condition)) = guard {
                return Err(Error::new_spanned(
                    condition,
                    "kernel: a guard does not translate: use an `if` in the arm",
                ));
            }
            self.code.word("when");
            self.code.word(&label(pat)?);
            match &**body {
                Expr::Block(block) => self.block(&block.block)?,
                statement => {
                    self.statement(statement)?;
                    self.code.word("}");
                }
            }
        }
        self.code.word("}");
        Ok(())
    }

    fn repeated(&mut self, repeated: &ExprForLoop) -> syn::Result<()> {
        let (Pat::Ident(variable), Expr::Range(range)) = (&*repeated.pat, &*repeated.expr) else {
            return Err(no_loop(repeated));
        };
        let (Some(start), Some(end), RangeLimits::HalfOpen(_)) =
            (&range.start, &range.end, &range.limits)
        else {
            return Err(no_loop(repeated));
        };
        let variable = variable.ident.to_string();
        if self.loops.contains(&variable) {
            return Err(Error::new_spanned(
                &repeated.pat,
                "kernel: a loop around this one has the same variable",
            ));
        }
        self.code.word("for");
        self.code.word(&variable);
        self.limit(start)?;
        self.limit(end)?;
        self.loops.push(variable);
        self.block(&repeated.body)?;
        self.loops.pop();
        Ok(())
    }

    fn limit(&mut self, limit: &Expr) -> syn::Result<()> {
        match limit {
            Expr::Lit(literal) => self.literal(literal)?,
            Expr::Group(group) => self.limit(&group.expr)?,
            Expr::Paren(paren) => self.limit(&paren.expr)?,
            other => self.code.number(quote!(#other)),
        }
        Ok(())
    }

    fn registers(&mut self, list: &Macro) -> syn::Result<()> {
        let Registers { clock, names, .. } = Registers::of(list)?;
        self.code.word("registers");
        self.code.word(&clock.to_string());
        for name in &names {
            self.code.word(&name.to_string());
        }
        self.code.word("}");
        Ok(())
    }
}

fn no_loop(repeated: &ExprForLoop) -> Error {
    Error::new_spanned(
        &repeated.expr,
        "kernel: a loop is `for variable in from..to`",
    )
}

/// What an arm of a `match` is for.
fn label(pattern: &Pat) -> syn::Result<String> {
    match pattern {
        Pat::Wild(_) => Ok("default".to_string()),
        Pat::Path(path) => names::variant(path),
        Pat::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) if number.to_string() == number.base10_digits() => Ok(number.to_string()),
        other => Err(Error::new_spanned(
            other,
            "kernel: a label is `Type::Variant`, a decimal number or `_`",
        )),
    }
}

/// The left side of an assignment: `signal.next`, or `signal.next.field`.
pub(super) struct Target<'a> {
    pub(super) signal: &'a Expr,
    /// `signal.next` as a whole, and the field.
    field: Option<(&'a Expr, &'a Ident)>,
}

impl<'a> Target<'a> {
    pub(super) fn of(left: &'a Expr) -> syn::Result<Self> {
        let refused = || Error::new_spanned(left, "kernel: assign to `.next`, or to a field of it");
        let Expr::Field(outer) = left else {
            return Err(refused());
        };
        if let Some(signal) = before_next(outer) {
            return Ok(Self {
                signal,
                field: None,
            });
        }
        match (&*outer.base, &outer.member) {
            (Expr::Field(inner), Member::Named(field)) => {
                let signal = before_next(inner).ok_or_else(refused)?;
                Ok(Self {
                    signal,
                    field: Some((&outer.base, field)),
                })
            }
            _ => Err(refused()),
        }
    }
}

/// The signal whose `.next` `field` is.
fn before_next(field: &ExprField) -> Option<&Expr> {
    match &field.member {
        Member::Named(member) if member == "next" && !names::is_self(&field.base) => {
            Some(&field.base)
        }
        _ => None,
    }
}

/// `dff_setup!(self, clock, names)`.
pub(super) struct Registers {
    pub(super) own: Token![self],
    clock: Ident,
    pub(super) names: Punctuated<Ident, Token![,]>,
}

impl Registers {
    pub(super) fn of(list: &Macro) -> syn::Result<Self> {
        if !list.path.is_ident("dff_setup") {
            return Err(Error::new_spanned(
                &list.path,
                "kernel: not a list that translates: those are `registers!`, `wire!`, `stream!`, \
                 `tlps!` and `dff_setup!`",
            ));
        }
        list.parse_body()
    }
}

impl Parse for Registers {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let own = input.parse()?;
        input.parse::<Token![,]>()?;
        let clock = input.parse()?;
        input.parse::<Token![,]>()?;
        let names = Punctuated::parse_separated_nonempty(input)?;
        Ok(Self { own, clock, names })
    }
}
