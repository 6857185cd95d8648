//! Trees that were recorded: a path and its text in each line, with \n for the ends of lines within. A path `below:FILE` has the
//! filesystem of a file: type, mount point, devices (joined by +, or -), mount options. A symbolic link stands there as `link:PATH`,
//! a variable of the environment as `env:NAME`.

use std::collections::BTreeMap;

use super::{FilesystemDevices, Tree};

/// A recorded tree.
pub struct Recorded(BTreeMap<String, String>);

impl Recorded {
    /// From such lines.
    pub fn of(text: &str) -> Self {
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        Self(
            lines
                .map(|(path, text)| (path.to_owned(), text.replace("\\n", "\n") + "\n"))
                .collect(),
        )
    }

    /// This tree with one file replaced or removed.
    pub fn but(mut self, path: &str, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.0.insert(path.to_owned(), text.to_owned()),
            None => self.0.remove(path),
        };
        self
    }
}

impl Tree for Recorded {
    fn read(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned()
    }

    fn list(&self, path: &str) -> Vec<String> {
        let prefix = format!("{path}/");
        let below = self
            .0
            .keys()
            .filter_map(|known| known.strip_prefix(&prefix));
        let mut names: Vec<String> = below
            .map(|rest| rest.split('/').next().unwrap_or(rest).to_owned())
            .collect();
        names.dedup();
        names
    }

    fn exists(&self, path: &str) -> bool {
        self.0.contains_key(path) || !self.list(path).is_empty()
    }

    fn link(&self, path: &str) -> Option<String> {
        let text = self.0.get(&format!("link:{path}"))?;
        Some(text.trim_end().to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        let text = self.0.get(&format!("env:{name}"))?;
        Some(text.trim_end().to_owned())
    }

    fn below(&self, path: &str) -> Option<FilesystemDevices> {
        let text = self.0.get(&format!("below:{path}"))?;
        let mut words = text.split_whitespace().map(str::to_owned);
        let (filesystem, mount_point) = (words.next()?, words.next()?);
        let devices = words.next().unwrap_or_default();
        let devices = devices.split('+').filter(|number| number.contains(':'));
        let options = words.next().unwrap_or_default();
        let upper = options.split(',').find_map(|o| o.strip_prefix("upperdir="));
        Some(FilesystemDevices {
            filesystem,
            mount_point,
            devices: devices.map(str::to_owned).collect(),
            upper: upper.map(str::to_owned),
            options,
        })
    }
}
