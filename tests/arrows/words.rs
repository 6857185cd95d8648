//! Words that may stand in one room only.

use std::collections::BTreeSet;

/// Such words. Comments and tests may speak of anything.
pub struct Rule {
    pub room: &'static str,
    /// Files that may have them, too.
    files: &'static [&'static str],
    words: Vec<String>,
}

impl Rule {
    pub fn new(room: &'static str, files: &'static [&'static str], words: Vec<String>) -> Self {
        Self { room, files, words }
    }

    /// Whether a file beside the room may have them.
    pub fn excuses(&self, file: &str) -> bool {
        self.files.contains(&file)
    }

    /// Files that may have them, and are not among those that do.
    pub fn stale(&self, with_words: &BTreeSet<String>) -> Vec<String> {
        let stale = self
            .files
            .iter()
            .filter(|file| !with_words.contains(**file));
        stale
            .map(|file| format!("{file}: may have words of {}, and has none", self.room))
            .collect()
    }

    /// The words that stand in the text of a file, each with its line.
    pub fn found(&self, file: &str, text: &str) -> Vec<(usize, &str)> {
        if file.ends_with(".sql") {
            self.found_in_sql(text)
        } else {
            self.found_in_rust(text)
        }
    }

    /// SQL has other quotes around a literal.
    fn found_in_sql(&self, text: &str) -> Vec<(usize, &str)> {
        let code = (1..).zip(text.lines().map(|line| before(line, "--")));
        code.flat_map(|(number, line)| self.in_line(number, &line.replace('\'', "\"")))
            .collect()
    }

    /// Code after the tests of a file belongs to the tests, unless these are in another file.
    fn found_in_rust(&self, text: &str) -> Vec<(usize, &str)> {
        let following = text.lines().skip(1).chain([""]);
        let lines = (1..).zip(text.lines().zip(following));
        let code = lines.take_while(|(_, (line, next))| {
            line.trim() != "#[cfg(test)]" || next.trim_end().ends_with(';')
        });
        code.flat_map(|(number, (line, _))| self.in_line(number, before(line, "//")))
            .collect()
    }

    fn in_line(&self, number: usize, line: &str) -> Vec<(usize, &str)> {
        let words = self.words.iter().filter(|word| line.contains(*word));
        words.map(|word| (number, word.as_str())).collect()
    }
}

/// A line without its comment.
fn before<'a>(line: &'a str, comment: &str) -> &'a str {
    line.split(comment).next().unwrap_or(line)
}
