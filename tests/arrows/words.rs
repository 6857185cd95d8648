//! Words that may stand in one room only.

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

    /// Whether a file of a room may have them.
    pub fn allows(&self, room: &str, file: &str) -> bool {
        self.room == room || self.files.contains(&file)
    }

    /// The words that stand in a text, each with its line. What follows the tests of a file is theirs, unless they are in another file.
    pub fn found(&self, text: &str) -> Vec<(usize, &str)> {
        let following = text.lines().skip(1).chain([""]);
        let lines = (1..).zip(text.lines().zip(following));
        let code = lines.take_while(|(_, (line, next))| {
            line.trim() != "#[cfg(test)]" || next.trim_end().ends_with(';')
        });
        let mut found = Vec::new();
        for (number, (line, _)) in code {
            let line = line.split("//").next().unwrap_or(line);
            let words = self.words.iter().filter(|word| line.contains(*word));
            found.extend(words.map(|word| (number, word.as_str())));
        }
        found
    }
}
