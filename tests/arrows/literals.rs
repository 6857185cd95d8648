//! SQL in literals: more than a few lines are a file of their own, which an editor shows as SQL.

use crate::imports::{is_cfg_test, skip_item, tokens_of};
use proc_macro2::{Literal, TokenStream, TokenTree};

/// By these words a text is one of SQL.
const WORDS: [&str; 6] = [
    "SELECT ",
    "INSERT INTO ",
    "UPDATE ",
    "DELETE FROM ",
    "CREATE ",
    "jsonb_build_",
];

/// The literals of SQL in a file's text that have more lines than that, but for those in modules of tests: each with its first line, and how
/// many it has.
pub fn long_sql(text: &str, most: usize) -> Vec<(usize, usize)> {
    let stream: TokenStream = text.parse().expect("the file is Rust");
    let mut found = Vec::new();
    walk(stream, &mut |literal| {
        let (start, end) = (literal.span().start().line, literal.span().end().line);
        let text = literal.to_string();
        let lines = end - start + 1;
        if lines > most && WORDS.iter().any(|word| text.contains(word)) {
            found.push((start, lines));
        }
    });
    found
}

fn walk(stream: TokenStream, see: &mut dyn FnMut(&Literal)) {
    let mut tokens = tokens_of(stream);
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' && is_cfg_test(tokens.peek()) => {
                skip_item(&mut tokens);
            }
            TokenTree::Group(group) => walk(group.stream(), see),
            TokenTree::Literal(literal) => see(&literal),
            _ => {}
        }
    }
}
