//! A page of the manual: its blocks of code, and its prose.

use std::fs;
use std::path::{Path, PathBuf};

/// A fenced block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The word behind the fence: sql, psql, sh, text, ...
    pub kind: String,
    pub text: String,
    /// The line of its fence, counted from 1.
    pub line: usize,
}

#[derive(Clone, Debug)]
pub struct Page {
    /// From the root of the repository.
    pub name: String,
    pub blocks: Vec<Block>,
    /// Lines outside of blocks, with their numbers.
    pub prose: Vec<(usize, String)>,
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .expect("the repository")
}

impl Page {
    pub fn read(name: &str) -> Self {
        let text = fs::read_to_string(repository().join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        Self::parse(name, &text)
    }

    pub fn parse(name: &str, text: &str) -> Self {
        let mut page = Self {
            name: name.to_owned(),
            blocks: Vec::new(),
            prose: Vec::new(),
        };
        let mut open: Option<Block> = None;
        for (number, line) in (1..).zip(text.lines()) {
            match (line.trim_start().strip_prefix("```"), &mut open) {
                (Some(_), Some(_)) => page.blocks.extend(open.take()),
                (Some(kind), None) => {
                    open = Some(Block {
                        kind: kind.trim().to_owned(),
                        text: String::new(),
                        line: number,
                    });
                }
                (None, Some(block)) => {
                    block.text += line;
                    block.text += "\n";
                }
                (None, None) => page.prose.push((number, line.to_owned())),
            }
        }
        assert!(open.is_none(), "{name}: a block is not closed");
        page
    }

    /// Texts between backquotes, with their lines.
    pub fn spans(&self) -> Vec<(usize, &str)> {
        let mut spans = Vec::new();
        for (number, line) in &self.prose {
            spans.extend(line.split('`').skip(1).step_by(2).map(|s| (*number, s)));
        }
        spans
    }

    /// Statements in the cells of tables, with their lines.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_call = |text: &str| text.starts_with("SELECT ") || text.starts_with("CALL ");
        let rows = self.prose.iter().filter(|(_, line)| line.starts_with('|'));
        let spans = rows
            .flat_map(|(number, line)| line.split('`').skip(1).step_by(2).map(|s| (*number, s)));
        spans.filter(move |(_, text)| is_call(text))
    }

    pub fn at(&self, line: usize) -> String {
        format!("{}:{line}", self.name)
    }
}

/// README and the pages of docs/.
pub fn manual() -> Vec<Page> {
    let mut names = vec!["README.md".to_owned()];
    let pages = fs::read_dir(repository().join("docs")).expect("docs/");
    let files = pages.flatten().map(|entry| {
        let name = entry.file_name();
        format!("docs/{}", name.to_string_lossy())
    });
    names.extend(files.filter(|name| name.ends_with(".md")));
    names.sort();
    names.iter().map(|name| Page::read(name)).collect()
}

/// The manual, and what is beside it.
pub fn all_pages() -> Vec<Page> {
    let mut pages = manual();
    pages.extend(["SECURITY.md", "CHANGELOG.md", "bench/README.md"].map(Page::read));
    pages
}
