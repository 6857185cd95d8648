//! Which options of mkfs and of mount are accepted, per filesystem. An option that is not in the tables is refused: none of
//! those that are names another device or file, runs a program, or gives up what nosuid and nodev are for.

mod mkfs;
mod mount;
mod removed;
mod zfs;

pub use removed::check_kernel;
pub use zfs::{dataset_properties, pool_properties};

use super::Filesystem;
use crate::refusal::{Refusal, quoted};

/// Longer options are refused unread.
const LONGEST: usize = 1000;

/// The value that an option takes.
#[derive(Clone, Copy, Debug)]
enum Value {
    /// Nothing.
    Flag,
    /// Digits, perhaps with a unit of one letter.
    Number,
    /// Digits, perhaps with a point and more of them.
    Decimal,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Some of these words with commas, each perhaps with "^" or "no" turned off.
    Features(&'static [&'static str]),
    /// `key=value` with commas.
    Keys(&'static [(&'static str, Value)]),
    /// Nothing or this.
    Maybe(&'static Value),
    /// One of these words, perhaps with a colon and digits.
    Levels(&'static [&'static str]),
}

type Table = &'static [(&'static str, Value)];

/// The arguments for the options of mkfs, one by one; or which of them is not accepted.
pub fn mkfs_arguments(filesystem: Filesystem, text: &str) -> Result<Vec<String>, Refusal> {
    let table = mkfs::table(filesystem);
    let what = Options {
        kind: "mkfs",
        filesystem,
    };
    what.check_text(text)?;
    let mut arguments = Vec::new();
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let (name, attached) = split_word(word);
        let value = find(table, name).ok_or_else(|| what.unknown(name, &[table]))?;
        arguments.push(name.to_owned());
        if matches!(value, Value::Flag) {
            if !attached.is_empty() {
                return Err(what.unaccepted(name, attached, Value::Flag));
            }
            continue;
        }
        let given = if attached.is_empty() {
            words.next().unwrap_or("")
        } else {
            attached
        };
        what.check_value(name, given, value)?;
        arguments.push(given.to_owned());
    }
    Ok(arguments)
}

/// `-b4096` is `-b` and `4096`, `--csum=xxhash` is `--csum` and `xxhash`.
fn split_word(word: &str) -> (&str, &str) {
    if word.starts_with("--") {
        return word.split_once('=').unwrap_or((word, ""));
    }
    if word.starts_with('-') && word.is_ascii() && word.len() > 2 {
        return word.split_at(2);
    }
    (word, "")
}

/// The mount options one by one, first those that are always set; or which of them is not accepted.
pub fn mount_options(filesystem: Filesystem, text: &str) -> Result<Vec<String>, Refusal> {
    let tables = [mount::COMMON, mount::table(filesystem)];
    let what = Options {
        kind: "mount",
        filesystem,
    };
    what.check_text(text)?;
    let mut options: Vec<String> = mount::ALWAYS.iter().map(|&o| o.to_owned()).collect();
    let mut names: Vec<&str> = Vec::new();
    for option in text.split(',').map(str::trim).filter(|o| !o.is_empty()) {
        let (name, given) = option.split_once('=').unwrap_or((option, ""));
        let found = tables.iter().find_map(|table| find(table, name));
        let value = found.ok_or_else(|| what.unknown(name, &[tables[1], tables[0]]))?;
        match value {
            Value::Flag if option.contains('=') => {
                return Err(what.unaccepted(name, given, Value::Flag));
            }
            Value::Flag => {}
            Value::Maybe(_) if !option.contains('=') => {}
            Value::Maybe(value) => what.check_value(name, given, *value)?,
            value => what.check_value(name, given, value)?,
        }
        what.check_alone(name, &names)?;
        names.push(name);
        if !mount::ALWAYS.contains(&option) {
            options.push(option.to_owned());
        }
    }
    check_journal(filesystem, &options)?;
    Ok(options)
}

/// Refuses a commit of the journal that waits for no data where it has to: ext4 mounts with data=ordered unless told otherwise, and says
/// only in the kernel's log that it is this option which does not go with it.
fn check_journal(filesystem: Filesystem, options: &[String]) -> Result<(), Refusal> {
    const ASYNC: &str = "journal_async_commit";
    let has = |wanted: &str| options.iter().any(|option| option == wanted);
    let is_ordered = !has("data=writeback") && !has("data=journal");
    if filesystem != Filesystem::Ext4 || !has(ASYNC) || !is_ordered {
        return Ok(());
    }
    Err(Refusal::argument(format!(
        "mount option {} is refused with data=ordered",
        quoted(ASYNC)
    ))
    .detail("Where no other value of data is given, ext4 mounts with data=ordered.")
    .hint("Give data=writeback or data=journal, too, or leave it out."))
}

fn find(table: Table, name: &str) -> Option<Value> {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| *value)
}

impl Value {
    fn accepts(self, text: &str) -> bool {
        let digits = |s: &str| (1..=15).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_digit());
        let is_in = |words: &[&str], word: &str| words.contains(&word);
        match self {
            Value::Flag => text.is_empty(),
            Value::Number => {
                let unit = |c: char| "bskmgtBSKMGT".contains(c);
                digits(text.strip_suffix(unit).unwrap_or(text))
            }
            Value::Decimal => match text.split_once('.') {
                Some((whole, fraction)) => digits(whole) && digits(fraction),
                None => digits(text),
            },
            Value::OneOf(words) => is_in(words, text),
            Value::Features(words) => text.split(',').all(|word| {
                is_in(words, word) || word.strip_prefix('^').is_some_and(|w| is_in(words, w))
            }),
            Value::Keys(keys) => text.split(',').all(|pair| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                match find(keys, key) {
                    Some(Value::Flag) => !pair.contains('='),
                    Some(Value::Maybe(inner)) => !pair.contains('=') || inner.accepts(value),
                    Some(known) => known.accepts(value),
                    None => false,
                }
            }),
            Value::Maybe(inner) => text.is_empty() || inner.accepts(text),
            Value::Levels(words) => match text.split_once(':') {
                Some((word, level)) => is_in(words, word) && digits(level),
                None => is_in(words, text),
            },
        }
    }

    /// The accepted values, in words for a HINT.
    fn expected(self) -> String {
        match self {
            Value::Flag => "nothing".into(),
            Value::Number => "a number, perhaps with one of the units b, s, k, m, g and t".into(),
            Value::Decimal => "a number".into(),
            Value::OneOf(words) | Value::Features(words) | Value::Levels(words) => words.join(", "),
            Value::Keys(keys) => {
                let names: Vec<&str> = keys.iter().map(|(name, _)| *name).collect();
                format!("{}, each with its value", names.join(", "))
            }
            Value::Maybe(inner) => inner.expected(),
        }
    }
}

/// The filesystem and program of options, for messages.
struct Options {
    kind: &'static str,
    filesystem: Filesystem,
}

const WHY: &str = "Only options of a list are accepted: none that names another device or file, runs a program, or allows what nosuid and nodev forbid.";

impl Options {
    fn check_text(&self, text: &str) -> Result<(), Refusal> {
        let plain = |c: char| c == ' ' || c.is_ascii_graphic();
        if text.len() <= LONGEST && text.chars().all(plain) {
            return Ok(());
        }
        let message = format!("invalid {} options {}", self.kind, quoted(text));
        Err(Refusal::argument(message)
            .detail(format!(
                "Options have at most {LONGEST} characters, all of them printable ASCII."
            ))
            .hint("Write them as on the command line, without quotes."))
    }

    /// Refuses options that are given twice, or contradict each other: the kernel would silently take the last one.
    fn check_alone(&self, name: &str, before: &[&str]) -> Result<(), Refusal> {
        let Some(other) = before.iter().find(|other| mount::exclude(other, name)) else {
            return Ok(());
        };
        let message = match *other == name {
            true => format!("mount option {} is given twice", quoted(name)),
            false => format!(
                "mount options {} and {} exclude each other",
                quoted(other),
                quoted(name)
            ),
        };
        Err(Refusal::argument(message)
            .detail("Only one of them would be in force.")
            .hint("Give one of them."))
    }

    fn unknown(&self, name: &str, tables: &[Table]) -> Refusal {
        let Self { kind, filesystem } = self;
        let all = tables.iter().flat_map(|table| table.iter());
        let names: Vec<&str> = all.map(|(name, _)| *name).collect();
        Refusal::argument(format!(
            "{kind} option {} is not accepted for {filesystem}",
            quoted(name)
        ))
        .detail(WHY)
        .hint(format!("For {filesystem} there are {}.", names.join(", ")))
    }

    fn check_value(&self, name: &str, given: &str, value: Value) -> Result<(), Refusal> {
        if !given.is_empty() && value.accepts(given) {
            return Ok(());
        }
        Err(self.unaccepted(name, given, value))
    }

    fn unaccepted(&self, name: &str, given: &str, value: Value) -> Refusal {
        let Self { kind, filesystem } = self;
        // The wrong one in a list with commas.
        let guilty = match value {
            Value::Keys(_) | Value::Features(_) => given.split(',').find(|p| !value.accepts(p)),
            _ => None,
        };
        let given = guilty.unwrap_or(given);
        Refusal::argument(format!(
            "value {} of {kind} option {} is not accepted for {filesystem}",
            quoted(given),
            quoted(name)
        ))
        .detail(WHY)
        .hint(format!("Accepted: {}.", value.expected()))
    }
}

#[cfg(test)]
mod tests;
