//! The properties that initdb gives a cluster for good.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::commands::text;

/// Major version of PostgreSQL since which data checksums are the default of initdb.
const CHECKSUMS_BY_DEFAULT: u32 = 180_000;

/// Properties of a target server's cluster that can differ between two runs. Prepared data have the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// Whether it has data checksums: the target says so.
    pub data_checksums: bool,
    /// Bytes of a WAL segment: those of the asking server. Zero in notes that do not say.
    #[serde(default)]
    pub wal_segment_bytes: u64,
}

/// How a target server's cluster gets a property for which initdb has an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// It is the asking server's, or the target says it.
    Given,
    /// It is the same for all target servers, for this reason.
    Fixed(&'static str),
    /// The option is none of a cluster's properties, or not used, for this reason.
    NotUsed(&'static str),
}

use Property::{Fixed, Given, NotUsed};

/// Tables, keys and texts are equal on all targets: order and size do not depend on the asking server's locale.
const SAME_EVERYWHERE: &str = "all targets have UTF8 and the locale C";
/// Why files of a cluster are not for others.
const PRIVATE: &str = "other users need neither read the files nor connect";
/// Why options of initdb itself do not matter.
const OF_INITDB: &str = "it only says how initdb works";

/// All options of initdb of PostgreSQL 15 to 18, by their long names where they have one.
pub const OPTIONS: [(&str, Property); 39] = [
    ("allow-group-access", NotUsed(PRIVATE)),
    ("auth", Fixed(PRIVATE)),
    (
        "auth-host",
        NotUsed("the server listens on no network address"),
    ),
    ("auth-local", NotUsed("auth stands for it")),
    ("builtin-locale", NotUsed(SAME_EVERYWHERE)),
    ("data-checksums", Given),
    ("debug", NotUsed(OF_INITDB)),
    (
        "discard-caches",
        NotUsed("it is for developers of PostgreSQL"),
    ),
    ("encoding", Fixed(SAME_EVERYWHERE)),
    ("help", NotUsed(OF_INITDB)),
    ("icu-locale", NotUsed(SAME_EVERYWHERE)),
    ("icu-rules", NotUsed(SAME_EVERYWHERE)),
    ("lc-collate", NotUsed(SAME_EVERYWHERE)),
    ("lc-ctype", NotUsed(SAME_EVERYWHERE)),
    ("lc-messages", NotUsed(SAME_EVERYWHERE)),
    ("lc-monetary", NotUsed(SAME_EVERYWHERE)),
    ("lc-numeric", NotUsed(SAME_EVERYWHERE)),
    ("lc-time", NotUsed(SAME_EVERYWHERE)),
    ("locale", Fixed(SAME_EVERYWHERE)),
    ("locale-provider", NotUsed(SAME_EVERYWHERE)),
    (
        "no-clean",
        Fixed("postmaster.pid tells what a killed initdb has left in shared memory"),
    ),
    ("no-data-checksums", Given),
    ("no-instructions", NotUsed(OF_INITDB)),
    ("no-locale", NotUsed("locale stands for it")),
    (
        "no-sync",
        Fixed("a later step of the run syncs the filesystem"),
    ),
    ("no-sync-data-files", NotUsed("no-sync stands for it")),
    ("pgdata", Given),
    (
        "pwfile",
        NotUsed("the server trusts the operating system user and has no password"),
    ),
    (
        "pwprompt",
        NotUsed("the server trusts the operating system user and has no password"),
    ),
    (
        "set",
        NotUsed("the settings are written later, to postgresql.auto.conf"),
    ),
    ("show", NotUsed(OF_INITDB)),
    ("sync-method", NotUsed("no-sync stands for it")),
    ("sync-only", NotUsed(OF_INITDB)),
    ("text-search-config", NotUsed("no workload searches texts")),
    (
        "username",
        Fixed("the superuser is the server's operating system user"),
    ),
    ("version", NotUsed(OF_INITDB)),
    ("wal-segsize", Given),
    (
        "waldir",
        NotUsed("WAL is on the filesystem that is measured"),
    ),
    ("L", NotUsed(OF_INITDB)),
];

impl Cluster {
    /// The command of initdb that makes such a cluster for a superuser; `version_num` is that of its programs. Paths that are not UTF-8 are no
    /// targets.
    pub fn initdb(self, bindir: &Path, data: &Path, user: &str, version_num: u32) -> Vec<String> {
        let mut argv = vec![text(&bindir.join("initdb"))];
        argv.extend(["--auth=peer", "--encoding=UTF8", "--locale=C", "--no-sync"].map(Into::into));
        // Should the server that it starts be killed, its postmaster.pid tells what that has left in shared memory.
        argv.push("--no-clean".into());
        match self.data_checksums {
            true => argv.push("--data-checksums".into()),
            false if version_num >= CHECKSUMS_BY_DEFAULT => {
                argv.push("--no-data-checksums".into());
            }
            false => {}
        }
        argv.push(format!("--wal-segsize={}", self.wal_segment_bytes >> 20));
        argv.push(format!("--username={user}"));
        argv.extend(["-D".into(), text(data)]);
        argv
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIN: &str = "/usr/lib/postgresql/15/bin";

    fn argv(data_checksums: bool, wal_segment_bytes: u64, version: u32) -> String {
        let cluster = Cluster {
            data_checksums,
            wal_segment_bytes,
        };
        let argv = cluster.initdb(Path::new(BIN), Path::new("/t/data"), "postgres", version);
        argv.join(" ")
    }

    #[test]
    fn a_cluster_has_the_checksums_and_the_segments_that_were_asked_for() {
        let common = "/usr/lib/postgresql/15/bin/initdb --auth=peer --encoding=UTF8 --locale=C --no-sync --no-clean";
        let end = "--username=postgres -D /t/data";
        assert_eq!(
            argv(true, 16 << 20, 150_000),
            format!("{common} --data-checksums --wal-segsize=16 {end}")
        );
        assert_eq!(
            argv(false, 1 << 20, 170_004),
            format!("{common} --wal-segsize=1 {end}")
        );
        assert_eq!(
            argv(false, 1 << 30, 180_001),
            format!("{common} --no-data-checksums --wal-segsize=1024 {end}")
        );
    }
}
