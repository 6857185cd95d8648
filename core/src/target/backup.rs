//! A base backup in a directory: whether a copy of it can become prepared data, and what a server needs that recovers the copy.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::original::{ENCRYPTED, Facts, TABLESPACES};
use crate::refusal::{Kind, Refusal, quoted};

/// Lines of pg_controldata in which the backup has to be as this server: the programs of this server read no other files.
const ALIKE: [&str; 10] = [
    "pg_control version number",
    "Catalog version number",
    "Maximum data alignment",
    "Database block size",
    "Blocks per segment of large relation",
    "WAL block size",
    "Maximum length of identifiers",
    "Maximum columns in an index",
    "Maximum size of a TOAST chunk",
    "Size of a large-object chunk",
];

/// Settings that recovery needs as the server of the backup had them, by the line of pg_controldata.
const FOR_RECOVERY: [(&str, &str); 2] = [
    ("max_locks_per_xact setting", "max_locks_per_transaction"),
    ("max_prepared_xacts setting", "max_prepared_transactions"),
];

const RESTORE: &str =
    "Restore the backup on a test server, and copy that with from_server => true.";

/// The entries of a directory that say whether it holds a backup.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Names in the directory.
    pub names: Vec<String>,
    /// The file PG_VERSION.
    pub version: Option<String>,
    /// The file backup_label.
    pub label: Option<String>,
    /// Names in pg_wal.
    pub wal: Vec<String>,
    /// Names in pg_tblspc.
    pub tablespaces: Vec<String>,
}

fn refuse<T>(message: &str, detail: impl Into<String>, hint: &str) -> Result<T, Refusal> {
    Err(Refusal::new(Kind::NotInThisState, message)
        .detail(detail)
        .hint(hint))
}

impl Contents {
    /// Refuses a directory that holds no backup of this major version, or one that cannot be copied.
    pub fn check(&self, major: u32) -> Result<(), Refusal> {
        let has = |name: &str| self.names.iter().any(|found| found == name);
        if let Some(packed) = self.names.iter().find(|name| is_packed(name)) {
            return refuse(
                "the backup is packed",
                format!("The directory holds the file {}.", quoted(packed)),
                "Unpack or restore the backup, and give the data directory.",
            );
        }
        let Some(version) = &self.version else {
            return refuse(
                "the directory is no data directory",
                "The file \"PG_VERSION\" is missing.",
                "Give the data directory of a backup, as pg_basebackup makes it in the plain format.",
            );
        };
        if version.trim().parse() != Ok(major) {
            return refuse(
                "the backup is of another major version",
                format!(
                    "It is of PostgreSQL {}, and this server is PostgreSQL {major}.",
                    shown(version)
                ),
                "Restore the backup on a server of its version, or upgrade it with pg_upgrade.",
            );
        }
        if has("postmaster.pid") {
            return refuse(
                "the directory is that of a server that may be running",
                "It holds the file \"postmaster.pid\".",
                "Give a backup, or shut the server down.",
            );
        }
        if let Some(name) = ENCRYPTED.into_iter().find(|name| has(name)) {
            return refuse(
                "the backup is encrypted",
                format!("The directory holds {}.", quoted(name)),
                "Restore it with the server that has the keys, and copy the data by pg_dump.",
            );
        }
        let has_tablespaces = !self.tablespaces.is_empty() || has("tablespace_map");
        if has_tablespaces {
            return refuse(
                "the backup has tablespaces",
                format!("The directory {TABLESPACES} names places outside of the backup."),
                RESTORE,
            );
        }
        self.check_label()
    }

    /// Refuses a backup without the WAL that makes it consistent.
    fn check_label(&self) -> Result<(), Refusal> {
        let Some(label) = &self.label else {
            return Ok(());
        };
        if value(label, "BACKUP FROM").is_some_and(|from| from != "primary") {
            return refuse(
                "the backup was made from a standby",
                "Only a standby could recover its copy.",
                RESTORE,
            );
        }
        if value(label, "INCREMENTAL FROM LSN").is_some() {
            return refuse(
                "the backup is incremental",
                "It has only what has changed since another backup.",
                "Combine it with that backup, by pg_combinebackup.",
            );
        }
        let first = value(label, "START WAL LOCATION").and_then(wal_file);
        match first {
            Some(file) if self.wal.contains(&file) => Ok(()),
            first => refuse(
                "the backup is not complete",
                match first {
                    Some(file) => format!("The file {} is missing in pg_wal.", quoted(&file)),
                    None => "The file \"backup_label\" names no file of WAL.".into(),
                },
                "Make the backup with pg_basebackup --wal-method=stream, or put its WAL into pg_wal.",
            ),
        }
    }

    /// Whether a program can compare the files with a list of them.
    pub fn has_manifest(&self) -> bool {
        self.names.iter().any(|name| name == "backup_manifest")
    }
}

/// A file of another format than that of a data directory.
fn is_packed(name: &str) -> bool {
    let name = name.to_lowercase();
    let ends = [".tar", ".tar.gz", ".tar.lz4", ".tar.zst", ".tgz", ".gpg"];
    name == "backup.info" || ends.iter().any(|end| name.ends_with(end))
}

/// A word of a file, without what would not fit on a line.
fn shown(text: &str) -> String {
    let plain = |c: &char| c.is_ascii_graphic();
    text.chars().filter(plain).take(20).collect()
}

/// The value of a line `name: value`.
fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let lines = text.lines();
    let mut values = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    values.next().map(str::trim)
}

/// The file in `0/2000028 (file 000000010000000000000002)`.
fn wal_file(location: &str) -> Option<String> {
    let (_, file) = location.split_once("(file ")?;
    let file = file.strip_suffix(')')?;
    is_wal_file(file).then(|| file.to_owned())
}

fn is_wal_file(name: &str) -> bool {
    let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'A'..=b'F');
    name.len() == 24 && name.bytes().all(is_digit)
}

/// Files of WAL, each with the one after it where that is there too: a record may begin in one and end in the next.
pub fn wal_files(names: &[String], segment_bytes: u64) -> Vec<(String, Option<String>)> {
    let per_log = (1_u64 << 32) / segment_bytes.max(1);
    let next = |name: &str| {
        let number = |digits: &str| u64::from_str_radix(digits, 16).ok();
        let after = number(&name[8..16])? * per_log + number(&name[16..])? + 1;
        let after = format!(
            "{}{:08X}{:08X}",
            &name[..8],
            after.checked_div(per_log)?,
            after.checked_rem(per_log)?
        );
        names.contains(&after).then_some(after)
    };
    let files = names.iter().filter(|name| is_wal_file(name));
    files.map(|name| (name.clone(), next(name))).collect()
}

/// Judges what pg_waldump has said of a file of WAL: records of tablespaces, and why it stopped, if it failed.
pub fn check_wal(file: &str, records: &str, failure: Option<&str>) -> Result<(), Refusal> {
    /// It stops where recovery stops: at the end of WAL, and at files that are kept to be written again.
    const ENDS: [&str; 4] = [
        "could not find a valid record after",
        "error in WAL record at",
        "WAL segment size must be a power of two",
        "invalid WAL segment size",
    ];
    if let Some(record) = records.lines().next() {
        let what = record.split_once("desc: ").map_or(record, |(_, what)| what);
        let what: String = what.chars().filter(|c| !c.is_control()).collect();
        return refuse(
            "the WAL of the backup makes or drops a tablespace",
            format!(
                "The file {} in pg_wal has the record {}: its copy would write to a directory outside, which may be in use.",
                quoted(file),
                quoted(&what)
            ),
            RESTORE,
        );
    }
    match failure {
        Some(said) if !ENDS.iter().any(|end| said.contains(end)) => refuse(
            "the WAL of the backup cannot be inspected",
            format!(
                "The program pg_waldump failed for {}: {}.",
                quoted(file),
                said.trim().trim_end_matches('.')
            ),
            "Make another backup: a file of its WAL is damaged or not complete.",
        ),
        _ => Ok(()),
    }
}

/// Compares the output of pg_controldata for a backup with that for this server. `has_label`: the backup has the file backup_label. Gives facts of
/// the server of the backup, whose files take so many bytes.
pub fn check_control(
    backup: &str,
    this_server: &str,
    has_label: bool,
    bytes: u64,
) -> Result<Facts, Refusal> {
    if backup
        .to_lowercase()
        .contains("crc checksum does not match")
    {
        return refuse(
            "the control file of the backup is damaged or encrypted",
            "Its checksum does not match.",
            "Make another backup, or restore it with the server that has the keys.",
        );
    }
    for name in ALIKE {
        let (there, here) = (value(backup, name), value(this_server, name));
        if there != here || here.is_none() {
            return refuse(
                "the files of the backup are not those of this server's programs",
                format!(
                    "{name}: {} in the backup, and {} here.",
                    shown(there.unwrap_or("not known")),
                    shown(here.unwrap_or("not known"))
                ),
                "Restore the backup on a server with programs that read it.",
            );
        }
    }
    let state = value(backup, "Database cluster state").unwrap_or_default();
    if !has_label && state != "shut down" {
        return refuse(
            "the backup is not complete",
            format!(
                "The file \"backup_label\" is missing, and the state of the cluster is {}.",
                quoted(state)
            ),
            "Make the backup with pg_basebackup, or copy the directory of a server that was shut down.",
        );
    }
    let number = |name: &str| value(backup, name).and_then(|text| text.parse::<u64>().ok());
    let (Some(system_identifier), Some(wal_segment_bytes), Some(checksums)) = (
        number("Database system identifier"),
        number("Bytes per WAL segment"),
        number("Data page checksum version"),
    ) else {
        return refuse(
            "the control file of the backup cannot be read",
            "The program pg_controldata does not tell its system identifier, the size of its WAL segments, or whether it has checksums.",
            "Make another backup.",
        );
    };
    let setting = |(line, name): (&str, &str)| {
        let number = number(line)?;
        Some((name.to_owned(), number.to_string()))
    };
    Ok(Facts {
        system_identifier,
        bytes,
        data_checksums: checksums != 0,
        wal_segment_bytes,
        max_wal_bytes: 0,
        tablespaces: Vec::new(),
        has_postgres: true,
        has_superuser: true,
        libraries: String::new(),
        encrypted: Vec::new(),
        sockets: String::new(),
        port: String::new(),
        files: Vec::new(),
        settings: FOR_RECOVERY
            .into_iter()
            .filter_map(setting)
            .collect::<BTreeMap<_, _>>(),
    })
}

/// Refuses a directory that root has not allowed: it has to be one of these, or below one of them.
pub fn check_allowed(directory: &Path, allowed: &[PathBuf]) -> Result<(), Refusal> {
    let is_plain = directory.is_absolute()
        && !directory
            .components()
            .any(|part| part == std::path::Component::ParentDir);
    if is_plain && allowed.iter().any(|place| directory.starts_with(place)) {
        return Ok(());
    }
    let text = directory.display().to_string();
    Err(Refusal::new(
        Kind::NotAllowed,
        format!("backups in {} are not allowed", quoted(&text)),
    )
    .detail("The configuration of pgfsbench-helper names the directories with backups that may be copied.")
    .hint("Have root run pgfsbench-helper setup --allow-backup DIRECTORY, and restart pgfsbench-helper."))
}

/// The owner and the mode of a file of a backup.
#[derive(Clone, Copy, Debug)]
pub struct Guarded {
    pub owner: u32,
    pub mode: u32,
    /// Whether the file is a directory on the way to the backup.
    pub is_above: bool,
}

impl Guarded {
    /// Whether no user but root and `user` can change the file. In a directory with the sticky bit, others cannot rename what is not theirs.
    pub fn is_safe_from_others(self, user: u32) -> bool {
        const STICKY: u32 = 0o1000;
        let is_ours = [0, user].contains(&self.owner);
        let is_shared = self.is_above && self.mode & STICKY != 0;
        is_ours && (self.mode & 0o022 == 0 || is_shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;

    /// As pg_controldata of PostgreSQL 15 writes it.
    const CONTROL: &str = "\
pg_control version number:            1300
Catalog version number:               202209061
Database system identifier:           7511221122334455667
Database cluster state:               in production
max_worker_processes setting:         8
max_prepared_xacts setting:           5
max_locks_per_xact setting:           64
Maximum data alignment:               8
Database block size:                  8192
Blocks per segment of large relation: 131072
WAL block size:                       8192
Bytes per WAL segment:                16777216
Maximum length of identifiers:        64
Maximum columns in an index:          32
Maximum size of a TOAST chunk:        1996
Size of a large-object chunk:         2048
Data page checksum version:           1
";

    const LABEL: &str = "\
START WAL LOCATION: 0/2000028 (file 000000010000000000000002)
CHECKPOINT LOCATION: 0/2000060
BACKUP METHOD: streamed
BACKUP FROM: primary
START TIME: 2026-11-29 04:00:00 UTC
LABEL: pg_basebackup base backup
START TIMELINE: 1
";

    fn complete() -> Contents {
        Contents {
            names: ["PG_VERSION", "base", "global", "backup_label"]
                .map(Into::into)
                .into(),
            version: Some("15\n".into()),
            label: Some(LABEL.into()),
            wal: vec!["000000010000000000000002".into()],
            tablespaces: Vec::new(),
        }
    }

    fn with(name: &str) -> Contents {
        let mut contents = complete();
        contents.names.push(name.into());
        contents
    }

    fn with_label(from: &str, to: &str) -> Contents {
        Contents {
            label: Some(LABEL.replace(from, to)),
            ..complete()
        }
    }

    #[test]
    fn what_is_no_complete_backup_of_this_version_is_refused() {
        complete().check(15).expect("it is complete");
        let no_label = Contents {
            label: None,
            wal: Vec::new(),
            ..complete()
        };
        no_label.check(15).expect("its control file tells");
        let nothing = Contents::default();
        let without_wal = Contents {
            wal: vec!["000000010000000000000003".into()],
            ..complete()
        };
        let with_tablespaces = Contents {
            tablespaces: vec!["16400".into()],
            ..complete()
        };
        for (contents, words) in [
            (nothing, "no data directory"),
            (with("base.tar.gz"), "packed"),
            (with("base.tar.gz.gpg"), "packed"),
            (with("postmaster.pid"), "may be running"),
            (with("pg_tde"), "encrypted"),
            (with("tablespace_map"), "tablespaces"),
            (with_tablespaces, "tablespaces"),
            (without_wal, "not complete"),
            (with_label("(file 0", "(file ../0"), "not complete"),
            (with_label("primary", "standby"), "standby"),
            (
                with_label("LABEL", "INCREMENTAL FROM LSN: 0/1\nLABEL"),
                "incremental",
            ),
        ] {
            let refusal = contents.check(15).expect_err(words);
            check::style(&refusal);
            assert!(refusal.message.contains(words), "{refusal}");
        }
        let refusal = complete().check(16).expect_err("another version");
        check::style(&refusal);
        assert!(refusal.message.contains("another major version"));
    }

    #[test]
    fn each_file_of_wal_is_read_with_the_one_after_it() {
        let names = [
            "000000010000000000000FFF",
            "000000010000000100000000",
            "000000020000000100000001",
            "00000002.history",
            "000000010000000100000000.partial",
            "archive_status",
        ]
        .map(String::from);
        let files = wal_files(&names, 1 << 20);
        let shown: Vec<_> = files
            .iter()
            .map(|(file, next)| (file.as_str(), next.as_deref()))
            .collect();
        assert_eq!(
            shown,
            [
                (&*names[0], Some(&*names[1])),
                (&*names[1], None),
                (&*names[2], None)
            ]
        );
        assert_eq!(wal_files(&names, 0)[0].1, None);
    }

    #[test]
    fn wal_with_a_tablespace_is_refused_and_its_end_is_not() {
        const RECORD: &str = "rmgr: Tablespace  len (rec/tot):     46/    46, tx:        724, lsn: 0/02000318, prev 0/02000268, desc: CREATE 16384 \"/srv/fast\"\n";
        let dropped = RECORD.replace("CREATE 16384 \"/srv/fast\"", "DROP 16384");
        for (records, failure) in [
            (RECORD, None),
            (
                RECORD,
                Some("pg_waldump: error: error in WAL record at 0/1"),
            ),
            (&dropped, None),
        ] {
            let refusal = check_wal("1", records, failure).expect_err("a tablespace");
            check::style(&refusal);
            assert!(refusal.message.contains("tablespace"), "{refusal}");
        }
        for end in [
            "pg_waldump: error: could not find a valid record after 0/20000000",
            "pg_waldump: error: error in WAL record at 0/672E8C8: invalid record length at 0/672E900: wanted 24, got 0",
            "pg_waldump: error: WAL segment size must be a power of two between 1 MB and 1 GB, but the WAL file \"1\" header specifies 0 bytes",
        ] {
            check_wal("1", "", Some(end)).expect("the end of WAL");
        }
        check_wal("1", "", None).expect("nothing is wrong");
        for failure in [
            "",
            "pg_waldump: error: could not read file \"1\": read 100 of 8192",
        ] {
            let refusal = check_wal("1", "", Some(failure)).expect_err("it failed");
            check::style(&refusal);
            assert!(refusal.message.contains("inspected"), "{refusal}");
        }
    }

    #[test]
    fn recovery_has_the_settings_of_the_control_file() {
        let facts = check_control(CONTROL, CONTROL, true, 5).expect("it is alike");
        assert_eq!(facts.settings["max_prepared_transactions"], "5");
        assert_eq!(facts.settings["max_locks_per_transaction"], "64");
        assert_eq!(facts.system_identifier, 7_511_221_122_334_455_667);
        assert_eq!(
            (facts.data_checksums, facts.wal_segment_bytes, facts.bytes),
            (true, 16 << 20, 5)
        );
        let down = CONTROL.replace("in production", "shut down");
        check_control(&down, CONTROL, false, 0).expect("it was shut down");
    }

    #[test]
    fn files_that_the_programs_do_not_read_are_refused() {
        for (from, to, words) in [
            ("202209061", "202307071", "programs"),
            (
                "Database block size:                  8192",
                "Database block size:                  16384",
                "programs",
            ),
            ("WAL block size", "WAL block sighs", "programs"),
            ("131072", "262144", "programs"),
            (
                "Bytes per WAL segment:                16777216",
                "Bytes per WAL segment: many",
                "cannot be read",
            ),
            (
                "pg_control version",
                "WARNING: Calculated CRC checksum does not match value stored in file.\npg_control version",
                "damaged or encrypted",
            ),
        ] {
            let other = CONTROL.replace(from, to);
            let refusal = check_control(&other, CONTROL, true, 0).expect_err(words);
            check::style(&refusal);
            assert!(refusal.message.contains(words), "{refusal}");
        }
        let refusal = check_control(CONTROL, CONTROL, false, 0).expect_err("no label");
        check::style(&refusal);
        assert_eq!(refusal.message, "the backup is not complete");
    }

    #[test]
    fn only_directories_that_root_has_allowed_are_copied() {
        let allowed = ["/backups".into(), "/srv/base".into()];
        for path in ["/backups", "/backups/base", "/srv/base/x"] {
            check_allowed(Path::new(path), &allowed).expect("allowed");
        }
        for path in ["/", "/backups2", "/srv", "backups", "/backups/../etc", ""] {
            check::style(&check_allowed(Path::new(path), &allowed).expect_err("not allowed"));
        }
    }

    #[test]
    fn a_file_that_others_can_change_is_not_safe() {
        let file = |owner, mode, is_above| {
            let guarded = Guarded {
                owner,
                mode,
                is_above,
            };
            guarded.is_safe_from_others(26)
        };
        assert!(file(26, 0o600, false) && file(0, 0o755, true) && file(0, 0o1777, true));
        assert!(!file(26, 0o620, false) && !file(26, 0o602, false));
        assert!(!file(0, 0o1777, false) && !file(0, 0o777, true) && !file(1000, 0o600, false));
    }
}
