//! Which modules a file names: `use` trees, and paths that begin with crate or super.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::{iter::Peekable, vec::IntoIter};

/// A path as it is written, and its line.
#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    pub path: Vec<String>,
    pub line: usize,
}

type Tokens = Peekable<IntoIter<TokenTree>>;

/// The paths of a file's text that begin with `crate` or `super`, but for those in modules of tests.
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
            TokenTree::Ident(word) if word == "crate" || word == "super" => {
                let line = word.span().start().line;
                let path = rest_of_path(word.to_string(), &mut tokens);
                found.push(Import { path, line });
            }
            _ => {}
        }
    }
}

fn tokens_of(stream: TokenStream) -> Tokens {
    stream
        .into_iter()
        .collect::<Vec<_>>()
        .into_iter()
        .peekable()
}

/// Is this the `[cfg(test)]` of an attribute?
fn is_cfg_test(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.stream().to_string().replace(' ', "") == "cfg(test)")
}

/// Leave out all tokens of an item: up to its body, or its semicolon.
fn skip_item(tokens: &mut Tokens) {
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

fn is_colon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == ':')
}

/// Every leaf of one `use`, or of one part of it between commas.
fn use_tree(tokens: &mut Tokens, head: &[String], found: &mut Vec<Import>) {
    let mut path = head.to_vec();
    let mut line = 0;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) if word == "as" => {
                tokens.next();
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
            _ => {}
        }
    }
    let is_ours = path
        .first()
        .is_some_and(|word| word == "crate" || word == "super");
    if line > 0 && is_ours {
        found.push(Import { path, line });
    }
}
