//! The commands that make, copy, ask and run a target's server, by its directory: as they are carried out, and as `fsbench.plan()` shows them.

use std::path::{Path, PathBuf};

/// A path as an argument of a command.
pub(super) fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Copies a data directory, or has it share the blocks of that one. Else none are shared, and none left out: a filesystem would have to part
/// or to allocate them in the measured window.
pub fn copy(from: &Path, to: &Path, shares_blocks: bool) -> Vec<String> {
    let options: &[&str] = match shares_blocks {
        false => &["-a", "--reflink=never", "--sparse=never", "-T", "--"],
        true => &["-a", "--reflink=always", "-T", "--"],
    };
    let mut argv: Vec<String> = vec!["/bin/cp".into()];
    argv.extend(options.iter().map(|option| (*option).to_owned()));
    argv.extend([from, to].map(text));
    argv
}

/// Runs a server.
pub fn postgres(bindir: &Path, data: &Path) -> Vec<String> {
    vec![text(&bindir.join("postgres")), "-D".into(), text(data)]
}

/// Has everything on the filesystem of a directory on disk.
pub fn sync(directory: &Path) -> Vec<String> {
    vec!["/bin/sync".into(), "-f".into(), text(directory)]
}

/// Removes a directory with what is in it.
pub fn remove(directory: &Path) -> Vec<String> {
    vec!["/bin/rm".into(), "-rf".into(), "--".into(), text(directory)]
}

/// Asks which settings the programs know.
pub fn describe(bindir: &Path) -> Vec<String> {
    vec![text(&bindir.join("postgres")), "--describe-config".into()]
}

/// Asks for the directories of libraries and of shared files of the programs.
pub fn config(bindir: &Path) -> Vec<String> {
    let pg_config = text(&bindir.join("pg_config"));
    vec![pg_config, "--pkglibdir".into(), "--sharedir".into()]
}

/// Asks for the version of the programs.
pub fn version(bindir: &Path) -> Vec<String> {
    vec![text(&bindir.join("postgres")), "--version".into()]
}

/// The setting that tells how much shared memory a server will take.
pub const MEMORY: &str = "shared_memory_size";

/// Asks which value a setting of a server will have.
pub fn value_of(bindir: &Path, data: &Path, name: &str) -> Vec<String> {
    let postgres = text(&bindir.join("postgres"));
    vec![postgres, "-C".into(), name.into(), "-D".into(), text(data)]
}

/// Settings that the answer to [`describe`] names.
pub fn described(answer: &str) -> Vec<String> {
    let names = answer.lines().filter_map(|line| line.split('\t').next());
    names.map(str::to_ascii_lowercase).collect()
}

/// Directories of libraries and of shared files, by the answer to [`config`].
pub fn configured(answer: &str) -> Option<[PathBuf; 2]> {
    let directories: Vec<PathBuf> = answer.lines().map(PathBuf::from).collect();
    directories.try_into().ok()
}

/// The major version, by the answer to [`version`].
pub fn major(answer: &str) -> Option<u32> {
    let (_, version) = answer.split_once(") ")?;
    let digits = version.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Bytes, by the value of [`MEMORY`].
pub fn memory_bytes(answer: &str) -> Option<u64> {
    let megabytes: u64 = answer.trim().parse().ok()?;
    megabytes.checked_mul(1 << 20)
}

/// Whether pg_controldata says that a server was shut down.
pub fn is_shut_down(controldata: &str) -> bool {
    controldata.lines().any(|line| {
        line.strip_prefix("Database cluster state:")
            .is_some_and(|state| state.trim() == "shut down")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_shares_all_blocks_or_none() {
        let argv = |shares| copy(Path::new("/a"), Path::new("/b"), shares).join(" ");
        assert_eq!(
            argv(false),
            "/bin/cp -a --reflink=never --sparse=never -T -- /a /b"
        );
        assert_eq!(argv(true), "/bin/cp -a --reflink=always -T -- /a /b");
    }

    #[test]
    fn answers_are_read() {
        assert_eq!(
            described("Work_Mem\tuser\t\nfsync\tsighup\n"),
            ["work_mem", "fsync"]
        );
        assert_eq!(
            configured("/lib\n/share\n"),
            Some(["/lib".into(), "/share".into()])
        );
        assert_eq!(configured("/lib\n"), None);
        for (answer, expected) in [
            ("postgres (PostgreSQL) 17.2 (Debian 17.2-1)\n", Some(17)),
            ("postgres (PostgreSQL) 18beta1\n", Some(18)),
            ("postgres (EnterpriseDB) 16.4.0\n", Some(16)),
            ("postgres", None),
        ] {
            assert_eq!(major(answer), expected);
        }
        assert_eq!(memory_bytes("143\n"), Some(143 << 20));
        assert_eq!(memory_bytes(""), None);
        assert!(is_shut_down(
            "pg_control version number:            1300\nDatabase cluster state:               shut down\n"
        ));
        assert!(!is_shut_down(
            "Database cluster state:               in production\n"
        ));
        assert!(!is_shut_down(
            "Database cluster state:               shut down in recovery\n"
        ));
    }
}
