//! Processes as /proc shows them: who works below a directory, and who was started by whom.

use std::fs;
use std::path::Path;

#[derive(Clone, Debug)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    /// Name of its program, cut to 15 bytes by the kernel.
    pub name: String,
    /// Title in ps.
    pub title: String,
}

impl Process {
    pub fn is_server(&self) -> bool {
        self.name.starts_with("postgres")
    }

    pub fn is_postmaster(&self) -> bool {
        self.is_server() && self.title.contains("/postgres -D")
    }
}

fn read(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // `PID (NAME) STATE PARENT ...`: a name may hold what it likes.
    let (start, rest) = stat.rsplit_once(") ")?;
    let mut rest = rest.split(' ');
    let state = rest.next()?;
    let parent = rest.next()?.parse().ok()?;
    let title = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    (state != "Z").then(|| Process {
        pid,
        parent,
        name: start
            .split_once('(')
            .map_or("", |(_, name)| name)
            .to_owned(),
        title: String::from_utf8_lossy(&title)
            .replace('\0', " ")
            .trim_end()
            .to_owned(),
    })
}

/// All processes of the machine that live.
pub fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(read).collect()
}

/// Processes that work below this directory.
pub fn below(directory: &Path) -> Vec<Process> {
    let works_there = |process: &Process| {
        let cwd = fs::read_link(format!("/proc/{}/cwd", process.pid));
        cwd.is_ok_and(|cwd| cwd.starts_with(directory))
    };
    all().into_iter().filter(works_there).collect()
}

/// Descendants of these processes.
pub fn descendants(ancestors: &[i32]) -> Vec<Process> {
    let all = all();
    let mut known = ancestors.to_vec();
    let mut found: Vec<Process> = Vec::new();
    loop {
        let is_new = |p: &&Process| known.contains(&p.parent) && !known.contains(&p.pid);
        let new: Vec<Process> = all.iter().filter(is_new).cloned().collect();
        if new.is_empty() {
            return found;
        }
        known.extend(new.iter().map(|p| p.pid));
        found.extend(new);
    }
}
