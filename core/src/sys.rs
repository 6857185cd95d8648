//! What `/sys` and `/proc` say of the machine and of the devices below a filesystem.
//!
//! Everything is read through a [`Tree`], so that all of it is tested on trees that were recorded on other machines. What
//! cannot be read is None, and never an error: a container, another kernel or another machine shows less.

mod block;
mod journal;
mod layers;
mod machine;

pub use block::{Block, Queue};
pub use journal::journal_mode;
pub use layers::{Below, Layer, LayerKind, layers, queue, rotates};
pub use machine::{Machine, command_line, container, machine, physical_disks};

/// Files by their paths, and what a file of a filesystem lies on.
pub trait Tree {
    /// The text of a file; None when it cannot be read.
    fn read(&self, path: &str) -> Option<String>;
    /// Names in a directory, in any order; none when it cannot be read.
    fn list(&self, path: &str) -> Vec<String>;
    /// Whether there is something of that name.
    fn exists(&self, path: &str) -> bool;
    /// What the filesystem is on that a file is in.
    fn below(&self, path: &str) -> Option<Below>;
}

/// The first line of a file, without blanks around it; None when it cannot be read or is empty.
fn line(tree: &dyn Tree, path: &str) -> Option<String> {
    let text = tree.read(path)?;
    let line = text.lines().next()?.trim_matches([' ', '\t', '\0']);
    (!line.is_empty()).then(|| line.to_owned())
}

/// The number that a file holds.
fn number<T: std::str::FromStr>(tree: &dyn Tree, path: &str) -> Option<T> {
    line(tree, path)?.parse().ok()
}

/// Whether a file holds 1 or 0.
fn flag(tree: &dyn Tree, path: &str) -> Option<bool> {
    match line(tree, path)?.as_str() {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// Of several words the one in brackets, or all of them: "[none] mq-deadline".
fn chosen(tree: &dyn Tree, path: &str) -> Option<String> {
    let line = line(tree, path)?;
    let chosen = line
        .split_whitespace()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    Some(chosen.unwrap_or(&line).to_owned())
}

#[cfg(test)]
mod recorded;
#[cfg(test)]
pub use recorded::Recorded;
#[cfg(test)]
mod tests;
