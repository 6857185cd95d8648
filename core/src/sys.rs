//! Reads facts about the machine, and about the devices below a filesystem, from `/sys` and `/proc`.
//!
//! Everything is read through a [`Tree`], so that all of it is tested on trees that were recorded on other machines. A file that
//! cannot be read makes None, and never an error: a container, another kernel or another machine shows less.

mod array;
mod array_work;
mod block;
pub mod cgroup;
mod container;
pub mod fio;
mod huge_pages;
mod identity;
mod journal;
mod layers;
mod machine;

pub use array::{Array, failures_of_profile, has_parity, is_redundant};
pub use array_work::{ArrayWatch, all_work, array_watches, array_work};
pub use block::{Block, Queue, mark};
pub use container::container;
pub use huge_pages::{HugePool, huge_pool};
pub use identity::{identity, physical_disks};
pub use journal::journal_mode;
pub use layers::{
    FilesystemDevices, Layer, LayerKind, layers, layers_below, layers_of_devices, queue, rotates,
};
pub use machine::{Machine, command_line, machine};

/// Files by their paths, and what a file of a filesystem lies on.
pub trait Tree {
    /// The text of a file; None when it cannot be read.
    fn read(&self, path: &str) -> Option<String>;
    /// Names in a directory, in any order; none when it cannot be read.
    fn list(&self, path: &str) -> Vec<String>;
    /// True if there is a file or directory of that name.
    fn exists(&self, path: &str) -> bool;
    /// The text of a symbolic link; None when it cannot be read.
    fn link(&self, path: &str) -> Option<String>;
    /// A variable of the server's environment.
    fn variable(&self, name: &str) -> Option<String>;
    /// The filesystem that a file or directory is in, and its devices; None when this process cannot see it.
    fn below(&self, path: &str) -> Option<FilesystemDevices>;
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

/// True for a file that holds 1, false for 0.
fn flag(tree: &dyn Tree, path: &str) -> Option<bool> {
    match line(tree, path)?.as_str() {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// The word in brackets, as in "[none] mq-deadline"; without brackets, the whole text.
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
