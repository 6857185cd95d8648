//! A user's server that is copied as it runs: whether it can be, how the copy is made, and what is taken from the copy, so that it
//! reaches nothing of the original.

mod files;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use files::below;
pub use files::{FILES, OtherFiles, REMOVED, SLOTS, TEMPORARY, is_in_no_database, is_of_postgres};
use serde::{Deserialize, Serialize};

use super::{commands::text, server_log::PREFIX_ON_COPY};
use crate::refusal::{Kind, Refusal, quoted};

/// Fewest bytes of a copy in addition to its files: WAL that is written while it is made.
const WAL_BYTES: u64 = 512 << 20;
const LONGEST_NAME: usize = 63;

/// Libraries that a copy does not load: they start jobs, or reach other servers.
const NOT_LOADED: [&str; 21] = [
    "basebackup_to_shell",
    "bdr",
    "bgw_replstatus",
    "citus",
    "pg_background",
    "pg_cron",
    "pg_dbms_job",
    "pg_failover_slots",
    "pg_net",
    "pg_partman_bgw",
    "pg_squeeze",
    "pg_task",
    "pgactive",
    "pgautofailover",
    "pgfsbench",
    "pglogical",
    "powa",
    "repmgr",
    "spock",
    "timescaledb",
    "worker_spi",
];

/// Entries of data directories that are encrypted.
pub const ENCRYPTED: [&str; 2] = ["pg_encryption", "pg_tde"];
/// End of the names of libraries that encrypt files, such as pg_tde.
const ENCRYPTS: &str = "_tde";

/// Settings that a copy has as the original, in addition to those of each target's server: recovery and queries depend on them.
pub const SETTINGS: [&str; 14] = [
    "DateStyle",
    "IntervalStyle",
    "TimeZone",
    "array_nulls",
    "bytea_output",
    "default_table_access_method",
    "default_text_search_config",
    "default_toast_compression",
    "max_active_replication_origins",
    "max_locks_per_transaction",
    "max_prepared_transactions",
    "max_replication_slots",
    "search_path",
    "standard_conforming_strings",
];

/// Facts about the server that is to be copied.
#[derive(Clone, Debug, Deserialize)]
pub struct Facts {
    /// The identifier that initdb gave the server.
    pub system_identifier: u64,
    /// Bytes of all databases.
    pub bytes: u64,
    pub data_checksums: bool,
    pub wal_segment_bytes: u64,
    /// The setting max_wal_size.
    pub max_wal_bytes: u64,
    /// Tablespaces of the user's own that are outside of the data directory.
    pub tablespaces: Vec<Tablespace>,
    /// Whether sessions can be opened in the database `postgres`.
    pub has_postgres: bool,
    /// Whether a superuser has the name of the operating system user.
    pub has_superuser: bool,
    /// The setting shared_preload_libraries.
    pub libraries: String,
    /// Entries of the data directory that [`ENCRYPTED`] names.
    #[serde(default)]
    pub encrypted: Vec<String>,
    /// The setting unix_socket_directories.
    pub sockets: String,
    pub port: String,
    /// Values of [`FILES`].
    pub files: Vec<String>,
    /// Values of [`SETTINGS`] that the configuration gives.
    pub settings: BTreeMap<String, String>,
}

/// A tablespace of the server that is copied. In a copy it is a directory within the data directory.
#[derive(Clone, Debug, Deserialize)]
pub struct Tablespace {
    pub oid: u32,
    pub location: PathBuf,
}

/// The directory of a data directory in which each tablespace has an entry with its number.
pub const TABLESPACES: &str = "pg_tblspc";

impl Tablespace {
    /// The directory that it is copied to first: `within` is the directory above the data directory.
    pub fn copied_to(&self, within: &Path) -> PathBuf {
        within.join(format!("tablespace-{}", self.oid))
    }
}

/// The server that prepared data are a copy of, as it stands in their note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Original {
    /// The name that the data were given.
    pub name: String,
    /// Libraries that a copy loads, if they are there.
    pub libraries: Vec<String>,
    pub settings: BTreeMap<String, String>,
    /// The identifier that initdb gave the server; notes of earlier versions have none.
    pub system_identifier: Option<u64>,
    /// Databases that a run can work in; notes of earlier versions have none.
    #[serde(default)]
    pub databases: Option<Vec<String>>,
}

impl Facts {
    /// Refuses a server that cannot be copied. `user` is the operating system user.
    pub fn check(&self, user: &str) -> Result<(), Refusal> {
        let refuse = |message: String, detail: String, hint: &str| {
            Err(Refusal::new(Kind::NotInThisState, message)
                .detail(detail)
                .hint(hint))
        };
        if !self.has_superuser {
            return refuse(
                format!("no superuser has the name {}", quoted(user)),
                "It is the name of the server's operating system user, by which pgfsbench connects to the copy.".into(),
                "CREATE ROLE with this name, SUPERUSER and LOGIN.",
            );
        }
        if !self.has_postgres {
            return refuse(
                "database \"postgres\" is missing".into(),
                "The copied server has the tables of pgfsbench in it.".into(),
                "CREATE DATABASE postgres, and allow connections to it.",
            );
        }
        if self.socket_directory().is_none() {
            return refuse(
                "this server has no local socket".into(),
                "The program pg_basebackup connects by it, as the operating system user.".into(),
                "Set unix_socket_directories, and restart the server.",
            );
        }
        if let Some(name) = self.encryption() {
            return refuse(
                "this server is encrypted".into(),
                format!(
                    "It has the library or the directory {}. A copy without the keys cannot be read.",
                    quoted(&name)
                ),
                "Copy the data by pg_dump to a test server without encryption, and copy that server.",
            );
        }
        Ok(())
    }

    /// The library or the directory by which the server encrypts its files.
    fn encryption(&self) -> Option<String> {
        let libraries = list(&self.libraries).into_iter();
        let mut libraries = libraries.map(|library| base_name(&library).to_owned());
        let library = libraries.find(|name| name.ends_with(ENCRYPTS));
        library.or_else(|| self.encrypted.first().cloned())
    }

    /// Bytes that a copy takes while it is made. The WAL that is there tells how much a busy server writes meanwhile; what slots and standbys hold back
    /// beyond max_wal_size does not count.
    pub fn needed_bytes(&self, others: OtherFiles) -> u64 {
        let wal = others.wal.min(self.max_wal_bytes);
        let wal = wal.max(4 * self.wal_segment_bytes);
        needed_bytes(self.bytes, wal).saturating_add(others.copied)
    }

    /// The first directory of local sockets.
    pub fn socket_directory(&self) -> Option<String> {
        first_of(&self.sockets)
    }

    /// Paths below the data directory of keys and logs that settings name. `data` are paths of the data directory.
    pub fn removed(&self, data: &[PathBuf]) -> Vec<PathBuf> {
        let files = self.files.iter();
        let paths = files.map(|file| Path::new(file.strip_prefix("FILE:").unwrap_or(file)));
        paths.filter_map(|path| below(path, data)).collect()
    }

    /// Libraries that a copy loads, and those that it does not.
    pub fn libraries(&self) -> (Vec<String>, Vec<String>) {
        list(&self.libraries)
            .into_iter()
            .partition(|library| !NOT_LOADED.contains(&base_name(library)))
    }
}

/// The name of a library without its directory and its end.
fn base_name(library: &str) -> &str {
    let file = library.rsplit('/').next().unwrap_or(library);
    file.trim_end_matches(".so")
}

/// Files that a library of shared_preload_libraries may be, as a server looks for it. `installed` is the directory of its programs' libraries.
fn files_of(library: &str, installed: &Path) -> [PathBuf; 2] {
    let name = library.strip_prefix("$libdir/").unwrap_or(library);
    [name.to_owned(), format!("{name}.so")].map(|name| installed.join(name))
}

impl Original {
    /// Refuses a role that is no superuser on data of another server: a role there with its number and name is another one.
    pub fn check_role(&self, role: &str, this_server: u64) -> Result<(), Refusal> {
        if self.system_identifier == Some(this_server) {
            return Ok(());
        }
        Err(Refusal::new(
            Kind::NotAllowed,
            format!("data {} are of another server", quoted(&self.name)),
        )
        .detail(format!(
            "The roles of that server are not those of this one, and {} is no superuser.",
            quoted(role)
        ))
        .hint("Start the run as a superuser: its statements have the rights of the role \"fsbench_script\"."))
    }

    /// Leaves out the libraries that the programs of a server do not have, and returns them. `installed` is the directory of the programs' libraries.
    pub fn leave_out_libraries(
        &mut self,
        installed: &Path,
        exists: impl Fn(&Path) -> bool,
    ) -> Vec<String> {
        let is_there =
            |library: &String| files_of(library, installed).iter().any(|file| exists(file));
        let libraries = std::mem::take(&mut self.libraries).into_iter();
        let (kept, left_out) = libraries.partition(is_there);
        self.libraries = kept;
        left_out
    }

    /// The value of shared_preload_libraries of a server on a copy. `libraries` are those that the server needs in addition.
    pub fn preloaded(&self, libraries: &str) -> String {
        let mut all = list(libraries);
        for library in &self.libraries {
            if !all.contains(library) {
                all.push(library.clone());
            }
        }
        let quoted = all.iter().map(|library| format!("\"{library}\""));
        quoted.collect::<Vec<_>>().join(", ")
    }

    /// Settings that a server on a copy needs, whatever a target or a run says. `libraries` are those of [`Self::preloaded`], and `version_num` is
    /// the version of its programs.
    pub fn needed(&self, libraries: &str, version_num: u32) -> Vec<(&'static str, String)> {
        let mut needed = vec![
            ("shared_preload_libraries", self.preloaded(libraries)),
            // Subscriptions of the original would write to the copy what was published for the original.
            ("max_logical_replication_workers", "0".into()),
            ("archive_mode", "off".into()),
            // Tablespaces of the original are directories of the copy.
            ("allow_in_place_tablespaces", "on".into()),
            ("ssl", "off".into()),
            // An error shows lines of the postmaster, and none of sessions.
            ("log_line_prefix", PREFIX_ON_COPY.into()),
        ];
        if version_num >= 170_000 {
            // Before, no event trigger fires when a session begins.
            needed.push(("event_triggers", "off".into()));
        }
        needed
    }
}

/// The only line of pg_hba.conf of a copy: the server's operating system user, by the private socket.
pub fn hba(user: &str) -> String {
    format!("local all \"{}\" peer\n", user.replace('"', "\"\""))
}

impl Facts {
    /// The command that copies the server by its local socket, into the directory `data` of `within`. `max_rate` is that of pg_basebackup.
    pub fn base_backup(
        &self,
        bindir: &Path,
        user: &str,
        within: &Path,
        max_rate: Option<&str>,
    ) -> Vec<String> {
        let mut argv = vec![text(&bindir.join("pg_basebackup"))];
        argv.extend(["--no-password", "--progress", "--no-sync", "--no-manifest"].map(Into::into));
        argv.extend(["--checkpoint=fast", "--wal-method=stream"].map(Into::into));
        argv.extend(max_rate.map(|rate| format!("--max-rate={rate}")));
        for tablespace in &self.tablespaces {
            let from = text(&tablespace.location).replace('=', "\\=");
            let to = text(&tablespace.copied_to(within)).replace('=', "\\=");
            argv.push(format!("--tablespace-mapping={from}={to}"));
        }
        let sockets = self.socket_directory().unwrap_or_default();
        argv.push(format!("--host={sockets}"));
        argv.push(format!("--port={}", self.port));
        argv.push(format!("--username={user}"));
        argv.extend(["-D".into(), text(&within.join("data"))]);
        argv
    }
}

/// Bytes that a copy takes while it is made, from the bytes of its databases and those of the WAL that is expected meanwhile.
pub fn needed_bytes(bytes: u64, wal: u64) -> u64 {
    let wal = wal.max(WAL_BYTES);
    bytes.saturating_add(bytes / 10).saturating_add(wal)
}

/// The first name in a setting that is a list of them.
pub fn first_of(value: &str) -> Option<String> {
    list(value).into_iter().next()
}

/// The names in a setting that is a list of them: separated by commas, each in quotes if it has to be.
fn list(value: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut is_quoted = false;
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                name.push('"');
                characters.next();
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => names.push(std::mem::take(&mut name)),
            other => name.push(other),
        }
    }
    names.push(name);
    names.retain_mut(|name| {
        *name = name.trim().to_owned();
        !name.is_empty()
    });
    names
}

/// Refuses a name that prepared data cannot have.
pub fn check_name(name: &str) -> Result<(), Refusal> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.".contains(c);
    let begins_well = name.starts_with(|c: char| c.is_ascii_lowercase());
    if begins_well && name.len() <= LONGEST_NAME && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(Refusal::argument(format!("{} is no name for data", quoted(name)))
        .detail(format!(
            "A name has 1 to {LONGEST_NAME} lower-case letters, digits, hyphens, dots and underscores, and begins with a letter."
        ))
        .hint("Give the name of the application, such as 'shop'."))
}

/// Refuses data that programs of another major version cannot read. `version` is the data's file PG_VERSION. `major` is the version of the programs,
/// None where it is not known. `bindir` is the programs' directory, None for those of this server.
pub fn check_version(
    data: &str,
    version: &str,
    major: Option<u32>,
    bindir: Option<&Path>,
) -> Result<(), Refusal> {
    let version = version.trim();
    let Some(major) = major.filter(|major| version.parse() != Ok(*major)) else {
        return Ok(());
    };
    let (programs, hint) = match bindir {
        None => (
            "this server is".to_owned(),
            "Drop them with fsbench.drop_data(), and make them again with fsbench.prepare_data()."
                .to_owned(),
        ),
        Some(bindir) => (
            format!("the programs in {} are", quoted(&text(bindir))),
            format!("Use a target whose bindir has the programs of PostgreSQL {version}."),
        ),
    };
    Err(Refusal::new(
        Kind::NotInThisState,
        format!("data {} are of another major version", quoted(data)),
    )
    .detail(format!(
        "They are of PostgreSQL {version}, and {programs} PostgreSQL {major}."
    ))
    .hint(hint))
}

/// Refuses a rate that pg_basebackup does not take: 32 kB to 1 GB a second.
pub fn check_rate(rate: &str) -> Result<(), Refusal> {
    let (digits, unit) = match rate.strip_suffix(['k', 'M']) {
        Some(digits) if rate.ends_with('M') => (digits, 1024),
        Some(digits) => (digits, 1),
        None => (rate, 1),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let kilobytes = digits.parse::<u64>().ok().filter(|_| is_number);
    let kilobytes = kilobytes.and_then(|n| n.checked_mul(unit));
    if kilobytes.is_some_and(|kilobytes| (32..=1 << 20).contains(&kilobytes)) {
        return Ok(());
    }
    Err(Refusal::argument("max_rate is out of range")
        .detail(format!(
            "It is {}; pg_basebackup takes 32k to 1024M, in bytes a second.",
            quoted(rate)
        ))
        .hint("Give a number of kilobytes with k, or of megabytes with M."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;

    fn facts() -> Facts {
        Facts {
            system_identifier: 7,
            bytes: 10 << 30,
            data_checksums: true,
            wal_segment_bytes: 16 << 20,
            max_wal_bytes: 4 << 30,
            tablespaces: vec![Tablespace {
                oid: 16_400,
                location: "/fast/a=b".into(),
            }],
            has_postgres: true,
            has_superuser: true,
            libraries: "pg_stat_statements, pg_cron,\"pgfsbench\", auto_explain".into(),
            encrypted: Vec::new(),
            sockets: "/run/postgresql, /tmp".into(),
            port: "5432".into(),
            files: Vec::new(),
            settings: BTreeMap::new(),
        }
    }

    #[test]
    fn keys_and_logs_in_the_data_directory_are_removed_and_nothing_of_postgres() {
        let files = [
            "log",
            "./keys/server.key",
            "/data/own/logs",
            "/real/data/ca.crt",
            "FILE:/data/krb5.keytab",
            "",
            ".",
            "/data",
            "/data/./",
            "..",
            "keys/../../x",
            "/etc/ssl/server.key",
            "/data2/x",
            "base",
            "/data/pg_wal/",
        ];
        let facts = Facts {
            files: files.map(Into::into).into(),
            ..facts()
        };
        let removed = facts.removed(&["/data".into(), "/real/data".into()]);
        let expected = [
            "log",
            "keys/server.key",
            "own/logs",
            "ca.crt",
            "krb5.keytab",
        ];
        assert_eq!(removed, expected.map(PathBuf::from));
        assert!(FILES.is_sorted());
    }

    #[test]
    fn a_server_that_cannot_be_copied_is_refused_with_the_reason() {
        facts().check("postgres").expect("it can be copied");
        let others = [
            Facts {
                has_postgres: false,
                ..facts()
            },
            Facts {
                has_superuser: false,
                ..facts()
            },
            Facts {
                sockets: String::new(),
                ..facts()
            },
        ];
        for other in others {
            check::style(&other.check("postgres").expect_err("refused"));
        }
    }

    #[test]
    fn an_encrypted_server_is_refused_before_it_is_copied() {
        let of_libraries = |libraries: &str| Facts {
            libraries: libraries.into(),
            ..facts()
        };
        let of_directory = Facts {
            encrypted: vec![ENCRYPTED[0].into()],
            ..facts()
        };
        for (facts, name) in [
            (of_libraries("auto_explain, pg_tde"), "\"pg_tde\""),
            (of_libraries("$libdir/pgpro_tde.so"), "\"pgpro_tde\""),
            (of_directory, "\"pg_encryption\""),
        ] {
            let refusal = facts.check("postgres").expect_err(name);
            check::style(&refusal);
            assert_eq!(refusal.message, "this server is encrypted");
            assert!(refusal.detail.unwrap_or_default().contains(name), "{name}");
        }
    }

    #[test]
    fn no_library_that_starts_jobs_is_loaded() {
        let (loaded, left_out) = facts().libraries();
        assert_eq!(loaded, ["pg_stat_statements", "auto_explain"]);
        assert_eq!(left_out, ["pg_cron", "pgfsbench"]);
        let by_path = Facts {
            libraries: "$libdir/pg_cron.so".into(),
            ..facts()
        };
        assert!(by_path.libraries().0.is_empty());
        assert!(NOT_LOADED.is_sorted());
    }

    #[test]
    fn libraries_that_the_programs_lack_are_left_out() {
        let mut original = Original {
            name: "shop".into(),
            libraries: [
                "auto_explain",
                "$libdir/plugins/a",
                "/opt/b.so",
                "/opt/c",
                "lib-1.2",
                "gone",
                "$libdir/gone",
                "/opt/gone.so",
            ]
            .map(Into::into)
            .into(),
            settings: BTreeMap::new(),
            system_identifier: None,
            databases: None,
        };
        let there = [
            "/lib/auto_explain.so",
            "/lib/plugins/a.so",
            "/opt/b.so",
            "/opt/c.so",
            "/lib/lib-1.2.so",
        ];
        let exists = |file: &Path| there.iter().any(|path| file == Path::new(path));
        let left_out = original.leave_out_libraries(Path::new("/lib"), exists);
        assert_eq!(left_out, ["gone", "$libdir/gone", "/opt/gone.so"]);
        assert_eq!(original.libraries.len(), there.len());
        let again = original.leave_out_libraries(Path::new("/lib"), exists);
        assert!(again.is_empty(), "{again:?}");
    }

    #[test]
    fn data_of_another_major_version_are_refused_with_the_programs_that_cannot_read_them() {
        let bindir = Path::new("/pg15/bin");
        for major in [Some(17), None] {
            check_version("shop", "17\n", major, Some(bindir)).expect("the version of the data");
        }
        for (bindir, detail, hint) in [
            (None, "this server is PostgreSQL 15.", "drop_data"),
            (
                Some(bindir),
                "the programs in \"/pg15/bin\" are PostgreSQL 15.",
                "programs of PostgreSQL 17.",
            ),
        ] {
            let refusal = check_version("shop", "17\n", Some(15), bindir).expect_err(detail);
            check::style(&refusal);
            assert!(refusal.detail.is_some_and(|text| text.ends_with(detail)));
            assert!(refusal.hint.is_some_and(|text| text.contains(hint)));
        }
    }

    #[test]
    fn a_role_of_another_server_is_no_role_of_this_one() {
        let original: Original =
            serde_json::from_str(r#"{"name": "shop", "libraries": [], "settings": {}}"#)
                .expect("a note of an earlier version");
        check::style(&original.check_role("op", 7).expect_err("not known"));
        let of_seven = Original {
            system_identifier: Some(7),
            ..original
        };
        of_seven.check_role("op", 7).expect("a copy of this server");
        of_seven.check_role("op", 8).expect_err("another server");
    }

    #[test]
    fn a_copy_reaches_nothing_of_the_original() {
        let original = Original {
            name: "shop".into(),
            libraries: vec!["auto_explain".into(), "pg_stat_statements".into()],
            settings: [("max_prepared_transactions".to_owned(), "5".to_owned())].into(),
            system_identifier: Some(7),
            databases: None,
        };
        let settings = |version| -> BTreeMap<&str, String> {
            let needed = original.needed("pg_stat_statements, pgfsbench", version);
            needed.into_iter().collect()
        };
        let of_16 = settings(160_000);
        let libraries = "\"pg_stat_statements\", \"pgfsbench\", \"auto_explain\"";
        assert_eq!(of_16["shared_preload_libraries"], libraries);
        assert_eq!(of_16["max_logical_replication_workers"], "0");
        assert_eq!(of_16["log_line_prefix"], PREFIX_ON_COPY);
        let alone = "\"auto_explain\", \"pg_stat_statements\"";
        assert_eq!(original.preloaded(""), alone);
        assert!(!of_16.contains_key("event_triggers"));
        assert_eq!(settings(170_000)["event_triggers"], "off");
        for name in ["postgresql.conf", "postgresql.auto.conf", "standby.signal"] {
            assert!(REMOVED.contains(&name), "{name}");
        }
    }

    #[test]
    fn no_setting_names_a_file_or_another_server() {
        for name in SETTINGS {
            let ends = ["_file", "_directory", "_command", "_libraries", "conninfo"];
            assert!(!ends.iter().any(|end| name.ends_with(end)), "{name}");
        }
        assert!(SETTINGS.is_sorted());
    }

    #[test]
    fn lists_are_read_as_the_server_reads_them() {
        assert_eq!(list("/a, \"/b, c\" ,\"d\"\"e\""), ["/a", "/b, c", "d\"e"]);
        assert!(list(" ").is_empty());
        assert_eq!(hba("a\"b"), "local all \"a\"\"b\" peer\n");
    }

    #[test]
    fn the_command_names_the_socket_and_asks_for_no_password() {
        let argv = |rate| {
            let argv = facts().base_backup(Path::new("/bin"), "me", Path::new("/to"), rate);
            argv.join(" ")
        };
        let common = "/bin/pg_basebackup --no-password --progress --no-sync --no-manifest --checkpoint=fast --wal-method=stream";
        let end = "--tablespace-mapping=/fast/a\\=b=/to/tablespace-16400 --host=/run/postgresql --port=5432 --username=me -D /to/data";
        assert_eq!(argv(None), format!("{common} {end}"));
        assert_eq!(argv(Some("32M")), format!("{common} --max-rate=32M {end}"));
    }

    #[test]
    fn names_and_rates_are_checked() {
        check_name("shop-2.old_1").expect("a name");
        for name in ["", "Shop", "../x", "1a", "a b", &"a".repeat(64)] {
            check::style(&check_name(name).expect_err("no name"));
        }
        for rate in ["32", "32k", "1024M", "100M"] {
            check_rate(rate).expect("a rate");
        }
        for rate in [
            "",
            "31k",
            "1025M",
            "M",
            "+5M",
            "1G",
            "99999999999999999999M",
        ] {
            check::style(&check_rate(rate).expect_err("no rate"));
        }
    }

    #[test]
    fn a_copy_needs_more_than_the_databases() {
        let needed = |copied: u64, wal: u64| facts().needed_bytes(OtherFiles { copied, wal });
        let databases: u64 = (10 << 30) + (1 << 30);
        assert_eq!(needed(0, 0), databases + (512 << 20));
        assert_eq!(needed(3 << 30, 1 << 30), databases + (4 << 30));
        // A slot holds back WAL.
        assert_eq!(needed(0, 900 << 30), databases + (4 << 30));
        let large_segments = Facts {
            wal_segment_bytes: 1 << 30,
            ..facts()
        };
        let others = OtherFiles::default();
        assert_eq!(large_segments.needed_bytes(others), databases + (4 << 30));
    }
}
