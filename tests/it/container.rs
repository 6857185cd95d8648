//! A server in a cgroup, as in a container: its limits are those of the machine for it, and a reached limit is a finding.

use crate::common::{row, rows, server};
use pgfsbench_tests::{TestServer, skip};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

const GB: u64 = 1 << 30;

/// Cgroups of a server's own: one for memory, one for processors, which are the same under version 2.
struct Cgroups {
    memory: PathBuf,
    cpu: PathBuf,
}

impl Cgroups {
    /// Makes them at the root of the hierarchies; why not.
    fn make() -> Result<Self, String> {
        let root = Path::new("/sys/fs/cgroup");
        let name = format!("pgfsbench-test-{}", std::process::id());
        let enabled = fs::read_to_string(root.join("cgroup.subtree_control"));
        let enabled = enabled.unwrap_or_default();
        let is_two = ["memory", "cpu"]
            .iter()
            .all(|controller| enabled.split_whitespace().any(|word| word == *controller));
        let place = |controller: &str| match is_two {
            true => root.join(&name),
            false => root.join(controller).join(&name),
        };
        let cgroups = Self {
            memory: place("memory"),
            cpu: place("cpu"),
        };
        let limit = |file: PathBuf, text: &str| {
            // Outside of a cgroup this must not make a file.
            let opened = OpenOptions::new().write(true).open(&file);
            let written = opened.and_then(|mut opened| opened.write_all(text.as_bytes()));
            written.map_err(|e| format!("{} cannot be written: {e}", file.display()))
        };
        for directory in [&cgroups.memory, &cgroups.cpu] {
            match fs::create_dir(directory) {
                Err(e) if e.kind() != ErrorKind::AlreadyExists => {
                    return Err(format!("{} cannot be made: {e}", directory.display()));
                }
                _ => {}
            }
        }
        match is_two {
            true => {
                limit(cgroups.memory.join("memory.max"), &GB.to_string())?;
                limit(cgroups.cpu.join("cpu.max"), "10000 100000")?;
            }
            false => {
                limit(
                    cgroups.memory.join("memory.limit_in_bytes"),
                    &GB.to_string(),
                )?;
                limit(cgroups.cpu.join("cpu.cfs_period_us"), "100000")?;
                limit(cgroups.cpu.join("cpu.cfs_quota_us"), "10000")?;
            }
        }
        Ok(cgroups)
    }

    /// Puts a server into them, with all that it starts from now on.
    fn take(&self, server: &TestServer) {
        for process in server.processes() {
            for directory in [&self.memory, &self.cpu] {
                // It may have ended.
                let _ = fs::write(directory.join("cgroup.procs"), process.pid.to_string());
            }
        }
    }

    /// How often the kernel has stopped it for the limit.
    fn stops(&self) -> u64 {
        let text = fs::read_to_string(self.cpu.join("cpu.stat")).expect("cpu.stat");
        let mut lines = text.lines();
        let count = lines.find_map(|line| line.strip_prefix("nr_throttled "));
        count.and_then(|count| count.parse().ok()).expect("a count")
    }
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        // Processes that are left in them go back to the root.
        for directory in [&self.memory, &self.cpu] {
            let left = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
            let root = directory.parent().expect("a root").join("cgroup.procs");
            for pid in left.lines() {
                let _ = fs::write(&root, pid);
            }
            let _ = fs::remove_dir(directory);
        }
    }
}

#[test]
fn limits_of_a_cgroup_are_the_machine_and_are_told_when_they_are_reached() {
    const NAME: &str = "limits_of_a_cgroup_are_the_machine_and_are_told_when_they_are_reached";
    let cgroups = match Cgroups::make() {
        Ok(cgroups) => cgroups,
        Err(reason) => return skip(NAME, &reason),
    };
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let in_words = "SELECT string_agg(detail, '; ' ORDER BY detail) FROM fsbench.doctor() WHERE item = 'limits'";
    let without = row(&mut client, in_words);
    cgroups.take(&server);
    drop(client);
    let mut client = server.connect("postgres");
    let told = row(&mut client, in_words);
    assert!(
        told.contains("1024 MB of memory") && told.contains("0.1 processors"),
        "{told}, before: {without}"
    );
    let plan = |client: &mut postgres::Client, size: &str| {
        rows(
            client,
            &format!("SELECT * FROM fsbench.plan(size => '{size}', seed => 1)"),
        )
    };
    assert_eq!(plan(&mut client, "2x ram"), plan(&mut client, "2GB"));
    let stops = cgroups.stops();
    let id = row(
        &mut client,
        "SELECT run_id FROM fsbench.run(workload => 'commit', clients => 1, duration => '3 s', warmup => '0')",
    );
    let was_stopped = cgroups.stops() > stops;
    let stored = format!(
        "SELECT memory_bytes, limits -> 'memory_bytes', limits -> 'processors' FROM fsbench.environment WHERE run_id = {id}"
    );
    assert_eq!(row(&mut client, &stored), format!("{GB}|{GB}|0.1"));
    let found = format!(
        "SELECT message FROM fsbench.finding WHERE run_id = {id} AND code = 'processor_limit'"
    );
    let found = rows(&mut client, &found);
    // On a machine without time for the server, the kernel does not have to stop it.
    assert_eq!(found.len(), usize::from(was_stopped), "{found:?}");
    for message in &found {
        let begins = "the server's cgroup may use 0.1 processors, and was stopped in ";
        assert!(message.starts_with(begins), "{message}");
    }
}
