//! Which modules a file names: `use` trees, and paths of several words.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::{iter::Peekable, vec::IntoIter};

/// A path as it is written, and its line.
#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    pub path: Vec<String>,
    /// The name that a `use` gives it in the file. None of a path in code, and of everything in a module (`*`).
    pub name: Option<String>,
    pub line: usize,
}

pub type Tokens = Peekable<IntoIter<TokenTree>>;

/// The paths of a file's text, but for those in modules of tests.
pub fn imports(text: &str) -> Vec<Import> {
    let stream: TokenStream = text.parse().expect("the file is Rust");
    let mut found = Vec::new();
    walk(stream, &mut found);
    found
}

fn walk(stream: TokenStream, found: &mut Vec<Import>) {
    let mut tokens = tokens_of(stream);
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' && is_cfg_test(tokens.peek()) => {
                skip_item(&mut tokens);
            }
            TokenTree::Group(group) => walk(group.stream(), found),
            TokenTree::Ident(word) if word == "use" => use_tree(&mut tokens, &[], found),
            TokenTree::Ident(word) if is_colon(tokens.peek()) => {
                let line = word.span().start().line;
                let path = rest_of_path(word.to_string(), &mut tokens);
                let name = None;
                found.push(Import { path, name, line });
            }
            _ => {}
        }
    }
}

pub fn tokens_of(stream: TokenStream) -> Tokens {
    stream
        .into_iter()
        .collect::<Vec<_>>()
        .into_iter()
        .peekable()
}

/// Is this the `[cfg(test)]` of an attribute?
pub fn is_cfg_test(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.stream().to_string().replace(' ', "") == "cfg(test)")
}

/// Leave out all tokens of an item: up to its body, or its semicolon.
pub fn skip_item(tokens: &mut Tokens) {
    for token in tokens.by_ref() {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            TokenTree::Punct(mark) if mark.as_char() == ';' => return,
            _ => {}
        }
    }
}

/// The words of a path after its first.
fn rest_of_path(first: String, tokens: &mut Tokens) -> Vec<String> {
    let mut path = vec![first];
    while is_colon(tokens.peek()) {
        tokens.next();
        tokens.next();
        match tokens.next_if(|token| matches!(token, TokenTree::Ident(_))) {
            Some(word) => path.push(word.to_string()),
            None => break,
        }
    }
    path
}

/// Is this the first of two colons?
fn is_colon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == ':' && mark.spacing() == Spacing::Joint)
}

/// Every leaf of one `use`, or of one part of it between commas.
fn use_tree(tokens: &mut Tokens, head: &[String], found: &mut Vec<Import>) {
    let mut path = head.to_vec();
    let mut alias = None;
    let mut is_all = false;
    let mut line = 0;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) if word == "as" => {
                alias = tokens.next().map(|name| name.to_string());
            }
            TokenTree::Ident(word) => {
                line = word.span().start().line;
                path.push(word.to_string());
            }
            TokenTree::Group(group) => {
                let mut inner = tokens_of(group.stream());
                while inner.peek().is_some() {
                    use_tree(&mut inner, &path, found);
                }
                line = 0;
            }
            TokenTree::Punct(mark) if mark.as_char() == ',' || mark.as_char() == ';' => break,
            TokenTree::Punct(mark) => is_all |= mark.as_char() == '*',
            TokenTree::Literal(_) => {}
        }
    }
    if path.last().is_some_and(|word| word == "self") {
        path.pop();
    }
    if line > 0 {
        let name = alias.or_else(|| path.last().cloned()).filter(|_| !is_all);
        found.push(Import { path, name, line });
    }
}
