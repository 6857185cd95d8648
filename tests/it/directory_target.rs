//! A target in a directory next to a server: for tests that check a run's traces there.

use crate::helper::processes;
use pgfsbench_tests::{LONG, Leaves, OwnedDirectory, TestServer, wait_until};
use std::fs;
use std::ops::Deref;
use std::path::Path;

/// A server, and a target in a directory next to it.
pub struct Place {
    pub server: TestServer,
    directory: OwnedDirectory,
}

impl Place {
    pub fn new(arguments: &str) -> Self {
        Self::beside(TestServer::with_extension(&[]), arguments)
    }

    pub fn beside(server: TestServer, arguments: &str) -> Self {
        let directory = crate::common::owned_directory("pgfsbench-target.");
        let place = Self { server, directory };
        let created = place.server.value(&format!(
            "SELECT fsbench.create_target('here', directory => '{}'{arguments})",
            place.path().display()
        ));
        assert_eq!(created, "here");
        assert!(place.is_empty(), "create_target has written something");
        place
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn is_empty(&self) -> bool {
        fs::read_dir(self.path()).expect("the directory").count() == 0
    }

    /// Processes of target servers.
    pub fn processes(&self) -> Vec<i32> {
        let there = processes::below(self.path()).into_iter();
        there.map(|process| process.pid).collect()
    }

    /// The postmaster of the target server, once it has one.
    pub fn postmaster(&self) -> i32 {
        wait_until("the target server is there", LONG, || {
            let run = fs::read_dir(self.path()).ok()?.flatten().next()?;
            let file = fs::read_to_string(run.path().join("data/postmaster.pid")).ok()?;
            file.lines().next()?.parse().ok()
        })
    }
}

impl Deref for Place {
    type Target = TestServer;

    fn deref(&self) -> &TestServer {
        &self.server
    }
}

impl Leaves for Place {
    fn left(&self) -> Vec<String> {
        let mut left = self.server.left();
        let processes = self.processes();
        left.extend(processes.iter().map(|pid| format!("target process {pid}")));
        if !self.is_empty() {
            left.push("something in the directory of the target".to_owned());
        }
        left
    }
}

/// Shared memory of a server that would outlive it: the number of its System V segment, and files. None if it
/// has none yet, or has gone.
pub fn shared_memory_of(data: &Path, postmaster: i32) -> Option<(String, Vec<String>)> {
    let file = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let segment = file.lines().nth(6)?.split_whitespace().nth(1)?;
    let maps = fs::read_to_string(format!("/proc/{postmaster}/maps")).ok()?;
    let files = maps
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .filter(|file| file.starts_with("/dev/shm/PostgreSQL."))
        .map(str::to_owned)
        .collect();
    Some((segment.to_owned(), files))
}
