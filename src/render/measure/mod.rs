//! What a fleet's own templates keep and join is measured.
//!
//! A step of minijinja has no size: `{% set x = x ~ x %}` forty times is forty steps and 4 TiB, and there is no
//! place where an operator could be bounded. So a template is read, and where it keeps, joins, compares or
//! repeats a value that it made, a filter is put around it ([`filters`]) that looks at the value: what is larger
//! than a file may be, or nested without end, fails the rendering there, in every run and on every machine alike.
//! No line changes its number. The built-in templates are left as they are: a test shows that they come to the
//! same either way.

mod filters;
mod walk;

use minijinja::Error;
use minijinja::machinery::{Token, parse, tokenize};
use minijinja::syntax::SyntaxConfig;

pub(super) use filters::install;

/// How many operators one tag may have, and how many `elif` the tags that are open. The parser makes one level of each, and what walks these levels has
/// a stack that ends.
pub(super) const MOST_OPERATORS: usize = 250;

/// Text that is put in at an offset of the original.
type Insertion = (usize, String);

/// Why a template cannot be measured.
pub(super) enum Unmeasured {
    /// It cannot be read.
    Unreadable(Error),
    /// The tag in this line and column has more than [`MOST_OPERATORS`].
    TooLong { line: u32, column: u32 },
}

/// The template with its filters put in.
pub(super) fn measured(name: &str, text: &str, syntax: SyntaxConfig) -> Result<String, Unmeasured> {
    operators(text, syntax.clone())?;
    let insertions = insertions(name, text, syntax).map_err(Unmeasured::Unreadable)?;
    let mut made = String::with_capacity(text.len() * 5 / 4);
    let mut from = 0;
    for (at, what) in insertions {
        made.push_str(&text[from..at]);
        made.push_str(&what);
        from = at;
    }
    made.push_str(&text[from..]);
    Ok(made)
}

/// Where in the original text an offset of the measured one is.
pub(super) fn original(name: &str, text: &str, syntax: SyntaxConfig, offset: usize) -> usize {
    let mut before = 0;
    for (at, what) in insertions(name, text, syntax).unwrap_or_default() {
        if at + before >= offset {
            break;
        }
        before += what.len();
    }
    offset.saturating_sub(before)
}

fn insertions(name: &str, text: &str, syntax: SyntaxConfig) -> Result<Vec<Insertion>, Error> {
    let mut all = walk::insertions(&parse(text, name, syntax)?, text);
    // What is put in at the same place stays in its order: the inner one first.
    all.sort_by_key(|(at, _)| *at);
    Ok(all)
}

/// Refuses a tag with more operators than are walked, and as many `elif` one after the other.
fn operators(text: &str, syntax: SyntaxConfig) -> Result<(), Unmeasured> {
    let (mut count, mut begins) = (0, false);
    // The `elif` of each `if` that is open, and of all of them: of some ten thousand nobody adds them up at each token.
    let (mut open, mut elifs) = (Vec::new(), 0);
    for token in tokenize(text, false, syntax) {
        // What cannot be read is told by the parser.
        let Ok((token, span)) = token else { return Ok(()) };
        match token {
            Token::VariableStart | Token::BlockStart => count = 0,
            Token::Ident("if") if begins => open.push(0),
            Token::Ident("elif") if begins => {
                if let Some(last) = open.last_mut() {
                    *last += 1;
                    elifs += 1;
                }
            }
            Token::Ident("endif") if begins => elifs -= open.pop().unwrap_or(0),
            _ if makes_a_level(&token) => count += 1,
            _ => {}
        }
        begins = matches!(token, Token::BlockStart);
        if count.max(elifs) > MOST_OPERATORS {
            let (line, column) = (span.start_line.into(), u32::from(span.start_col) + 1);
            return Err(Unmeasured::TooLong { line, column });
        }
    }
    Ok(())
}

fn makes_a_level(token: &Token) -> bool {
    match token {
        Token::Ident(word) => ["and", "or", "not", "in", "is", "if"].contains(word),
        Token::Plus
        | Token::Minus
        | Token::Mul
        | Token::Div
        | Token::FloorDiv
        | Token::Pow
        | Token::Mod
        | Token::Tilde
        | Token::Pipe
        | Token::Dot
        | Token::Eq
        | Token::Ne
        | Token::Gt
        | Token::Gte
        | Token::Lt
        | Token::Lte
        | Token::BracketOpen
        | Token::ParenOpen
        | Token::BraceOpen => true,
        _ => false,
    }
}
