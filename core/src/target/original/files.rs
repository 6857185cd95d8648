//! Files of the data directory of a server that is copied.

use std::{
    ffi::OsStr,
    path::{Component, Path, PathBuf},
};

/// Files and directories of a data directory that a copy does not have. Settings of the original name files, programs and servers; keys and logs are
/// secrets that a benchmark does not need. `pgfsbench` has the journal and the experiments of the original.
pub const REMOVED: [&str; 16] = [
    "backup_manifest",
    "conf.d",
    "current_logfiles",
    "log",
    "pg_hba.conf",
    "pg_ident.conf",
    "pg_log",
    "pgfsbench",
    "postgresql.auto.conf",
    "postgresql.conf",
    "recovery.signal",
    "root.crt",
    "server.crt",
    "server.key",
    "standby.signal",
    "tablespace_map",
];

/// Settings that name keys and logs. A copy does not have these files and directories either, where they are in the data directory.
pub const FILES: [&str; 8] = [
    "krb_server_keyfile",
    "log_directory",
    "ssl_ca_file",
    "ssl_cert_file",
    "ssl_crl_dir",
    "ssl_crl_file",
    "ssl_dh_params_file",
    "ssl_key_file",
];

/// Files and directories of PostgreSQL itself, which stay whatever a setting says.
const OF_POSTGRES: [&str; 18] = [
    "PG_VERSION",
    "base",
    "global",
    "pg_commit_ts",
    "pg_dynshmem",
    "pg_logical",
    "pg_multixact",
    "pg_notify",
    "pg_replslot",
    "pg_serial",
    "pg_snapshots",
    "pg_stat",
    "pg_stat_tmp",
    "pg_subtrans",
    "pg_tblspc",
    "pg_twophase",
    "pg_wal",
    "pg_xact",
];

/// Whether a data directory has a file or a directory of this name from PostgreSQL itself.
pub fn is_of_postgres(name: &OsStr) -> bool {
    OF_POSTGRES.iter().any(|known| name == *known)
}

/// The directory whose entries a copy does not have: each is a replication slot.
pub const SLOTS: &str = "pg_replslot";

/// Directories that hold databases or WAL, or whose files a base backup leaves out.
const WITHOUT_OTHER_FILES: [&str; 10] = [
    "base",
    "pg_dynshmem",
    "pg_notify",
    "pg_replslot",
    "pg_serial",
    "pg_snapshots",
    "pg_stat_tmp",
    "pg_subtrans",
    "pg_tblspc",
    "pg_wal",
];
/// Beginning of the names that a copy does not need: files that sorts have left, and data of pgfsbench. Base backups leave them out.
pub const TEMPORARY: &[u8] = b"pgsql_tmp";

/// Whether a file or a directory belongs to no database, and a base backup has it. The path is relative to the data directory.
pub fn is_in_no_database(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_known = WITHOUT_OTHER_FILES
        .iter()
        .any(|known| path == Path::new(known));
    !is_known && !name.starts_with(TEMPORARY)
}

/// Bytes of files that belong to no database, as they are now.
#[derive(Clone, Copy, Debug, Default)]
pub struct OtherFiles {
    /// Files that a base backup copies, such as logs.
    pub copied: u64,
    /// Files in pg_wal. A base backup does not copy them: it gets the WAL that is written meanwhile.
    pub wal: u64,
}

/// A path relative to the data directory, if it is in there and is none of PostgreSQL itself.
pub(super) fn below(path: &Path, data: &[PathBuf]) -> Option<PathBuf> {
    let relative = match path.is_absolute() {
        true => data
            .iter()
            .find_map(|directory| path.strip_prefix(directory).ok())?,
        false => path,
    };
    let relative: PathBuf = relative
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    let is_plain = |part: Component| matches!(part, Component::Normal(_));
    let is_below = relative.components().next().is_some() && relative.components().all(is_plain);
    (is_below && !is_of_postgres(relative.as_os_str())).then_some(relative)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_databases_and_temporary_ones_are_no_other_files() {
        for path in ["log", "log/monday.log", "global", "pg_xact", "mine/base"] {
            assert!(is_in_no_database(Path::new(path)), "{path}");
        }
        for path in ["base", "pg_wal", "pg_tblspc", "mine/pgsql_tmp1"] {
            assert!(!is_in_no_database(Path::new(path)), "{path}");
        }
        assert!(WITHOUT_OTHER_FILES.is_sorted() && OF_POSTGRES.is_sorted());
    }
}
