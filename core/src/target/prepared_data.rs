//! Data that were loaded once and are copied to each target: what tells them apart, and whether there is room for more.

pub mod places;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{cluster::Cluster, original::Original};
use crate::{
    refusal::{Kind, Refusal},
    spec::Spec,
    units::format_bytes,
};

/// Beside the data: catalogs, and the WAL of an idle server with segments of the usual size.
const CLUSTER_AND_WAL_BYTES: u64 = 256 << 20;
/// Most segments of WAL that the server that loads leaves behind: the one that it writes, and min_wal_size.
const SEGMENTS: u64 = 3;

/// The free space that the server that loads asks for.
pub fn bytes_to_load(spec: &Spec, cluster: Cluster) -> u64 {
    let beside = CLUSTER_AND_WAL_BYTES.max(SEGMENTS * cluster.wal_segment_bytes);
    spec.data_bytes() + spec.data_bytes() / 4 + beside
}

/// The programs that made them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeBy {
    /// The program `postgres`.
    pub postgres: PathBuf,
    /// Size and time of modification, so that another build counts as another program.
    pub postgres_file: (u64, i64),
    pub pgfsbench_version: &'static str,
    /// The superuser of the server.
    pub server_user: String,
}

/// Properties that the data of a run must have; equal properties mean the same rows. As they stand in the note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataKey {
    /// The program `postgres` that made them.
    pub postgres: PathBuf,
    /// Size and time of modification of `postgres`.
    pub postgres_file: (u64, i64),
    pub pgfsbench_version: String,
    /// The superuser of the server.
    pub server_user: String,
    /// Their cluster, as initdb made it.
    #[serde(flatten)]
    pub cluster: Cluster,
    /// Their tables: pgbench's, or that of a scan with such rows.
    #[serde(default = "of_pgbench")]
    pub contents: String,
    /// Scale, as in pgbench; of a scan, millions of rows.
    pub scale: u32,
    /// Fillfactor of the tables.
    pub fillfactor: u8,
    /// Whether the tables are unlogged.
    pub unlogged: bool,
}

/// The contents of data that were made before there were others than pgbench's.
fn of_pgbench() -> String {
    "pgbench".into()
}

impl DataKey {
    /// A copy of a user's server of this cluster.
    pub fn of_original(cluster: Cluster, by: MadeBy) -> Self {
        Self {
            postgres: by.postgres,
            postgres_file: by.postgres_file,
            pgfsbench_version: by.pgfsbench_version.into(),
            server_user: by.server_user,
            cluster,
            contents: "own".into(),
            scale: 0,
            fillfactor: 100,
            unlogged: false,
        }
    }

    /// The data that a run wants, made by these programs.
    pub fn of(spec: &Spec, cluster: Cluster, by: MadeBy) -> Self {
        Self {
            postgres: by.postgres,
            postgres_file: by.postgres_file,
            pgfsbench_version: by.pgfsbench_version.into(),
            server_user: by.server_user,
            cluster,
            contents: spec.workload.contents(spec),
            scale: spec.scale,
            fillfactor: spec.options.fillfactor,
            unlogged: spec.options.unlogged,
        }
    }
}

/// The note that is kept with prepared data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Note {
    /// Their properties.
    #[serde(rename = "wanted")]
    pub data_key: DataKey,
    /// The database with the tables.
    pub database: String,
    /// Digest of the script that created the extension in there; empty if not known.
    #[serde(default)]
    pub script: String,
    /// System identifier of the server that made them; none in notes of earlier versions.
    #[serde(default)]
    pub made_by: Option<u64>,
    /// Bytes of the whole data directory.
    pub bytes: u64,
    /// Seconds since 1970.
    pub created_at: u64,
    /// Seconds since 1970.
    pub used_at: u64,
    /// The user's server that they are a copy of; None for data that a run has loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Original>,
    /// The database whose extension has made the copy, and of which server; none in notes of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_in: Option<String>,
    /// Files that stand for experiments whose runs have copied them, and are to copy the same bytes again: as long as the file is there.
    #[serde(default)]
    pub needed_by: Vec<PathBuf>,
}

impl Note {
    /// The files of experiments that are not over.
    pub fn needed_by(&self) -> impl Iterator<Item = &PathBuf> {
        self.needed_by.iter().filter(|file| file.exists())
    }

    /// Whether they stay when room is made for others.
    pub fn is_needed(&self) -> bool {
        self.original.is_some() || self.needed_by().next().is_some()
    }

    /// Name of a copy of a user's server; None for data that a run has loaded.
    pub fn name(&self) -> Option<&str> {
        self.original
            .as_ref()
            .map(|original| original.name.as_str())
    }

    /// Whether they are a copy of a user's server with this name.
    pub fn is_named(&self, name: &str) -> bool {
        self.name() == Some(name)
    }

    /// They are used now, by the experiment of that file, if it is one's.
    pub fn use_now(&mut self, now: u64, needed_by: Option<PathBuf>) {
        self.used_at = now;
        self.needed_by
            .retain(|file| file.exists() && Some(file) != needed_by.as_ref());
        self.needed_by.extend(needed_by);
    }
}

/// Whether a path is a directory of ours with that end: `pgfsbench-<mark>.<end>`, nothing else.
pub fn is_ours(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|given| given == end) && mark_of(path).is_some()
}

/// The random mark in the name of a directory of ours.
pub fn mark_of(path: &Path) -> Option<&str> {
    let mark = path.file_stem()?.to_str()?.strip_prefix("pgfsbench-")?;
    (mark.len() == 32 && mark.bytes().all(|b| b.is_ascii_hexdigit())).then_some(mark)
}

/// Copies of servers that other sessions are making in a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnderWay {
    /// Bytes that these copies take in the end.
    pub whole: u64,
    /// Bytes of these that are not written yet.
    pub to_come: u64,
}

impl UnderWay {
    /// Adds up copies: each has announced its bytes, if that can be read, and holds some of them now.
    pub fn of(copies: impl Iterator<Item = (Option<u64>, u64)>) -> Self {
        copies.fold(Self::default(), |sum, (announced, held)| {
            let whole = announced.unwrap_or(0).max(held);
            Self {
                whole: sum.whole.saturating_add(whole),
                to_come: sum.to_come.saturating_add(whole - held),
            }
        })
    }
}

/// Refuses to go on with a copy in this place whose filesystem has less free than is reserved for others: the setting pgfsbench.reserved_space.
pub fn check_reserve(free: u64, reserved: u64, place: &Path) -> Result<(), Refusal> {
    if free >= reserved {
        return Ok(());
    }
    Err(Refusal::new(Kind::DiskFull, "the copy takes too much room")
        .detail(format!(
            "The filesystem of \"{}\" has {} free, and pgfsbench.reserved_space is {}.",
            place.display(),
            format_bytes(free),
            format_bytes(reserved)
        ))
        .hint("Make room, or set pgfsbench.prepared_data_directory to a directory with more room. A higher max_rate, or none, leaves less time for WAL to grow."))
}

/// The room for prepared data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeSpace {
    /// The setting pgfsbench.prepared_data_limit.
    pub limit: u64,
    /// The setting pgfsbench.reserved_space.
    pub reserved: u64,
    /// Free bytes on the filesystem.
    pub free: u64,
    /// Bytes of the data that are there.
    pub taken: u64,
    /// Bytes of these that stay while room is made: experiments need them, or they have a name.
    pub needed: u64,
    /// Bytes of these that go once a copy is complete, so that the limit holds again.
    pub yielding: u64,
    /// Copies that are not among these bytes yet.
    pub under_way: UnderWay,
}

impl FreeSpace {
    /// Whether so many bytes more are within the limit and have room, beyond the reserve, as it is.
    pub fn has(&self, bytes: u64) -> bool {
        let kept = self.taken.saturating_add(self.under_way.whole);
        let total = bytes.saturating_add(self.reserved);
        kept.saturating_add(bytes) <= self.limit
            && total.saturating_add(self.under_way.to_come) <= self.free
    }

    /// Whether the limit holds as it is, without copies that may still fail.
    pub fn is_within_limit(&self) -> bool {
        self.taken <= self.limit
    }

    /// Why they are or have not, even without all that is not needed; None if they would. `directory` is the place.
    pub fn why_not(&self, bytes: u64, directory: &Path) -> Option<String> {
        let staying = self.needed.saturating_sub(self.yielding);
        let kept = staying.saturating_add(self.under_way.whole);
        if bytes.saturating_add(kept) > self.limit {
            let others = [
                (staying, "of experiments and of named data"),
                (self.under_way.whole, "of copies that are being made"),
            ];
            let others = others.into_iter().filter(|(bytes, _)| *bytes > 0);
            let others: Vec<String> = others
                .map(|(bytes, whose)| format!("{} {whose}", format_bytes(bytes)))
                .collect();
            let others = match others.is_empty() {
                true => String::new(),
                false => format!(" in addition to {}", others.join(" and ")),
            };
            return Some(format!(
                "The data need {}{others}, and pgfsbench.prepared_data_limit is {}.",
                format_bytes(bytes),
                format_bytes(self.limit)
            ));
        }
        let total = bytes.saturating_add(self.reserved);
        let could_be_removed = self.taken.saturating_sub(self.needed);
        let wanted = total.saturating_add(self.under_way.to_come);
        (wanted > self.free.saturating_add(could_be_removed)).then(|| {
            let others = match self.under_way.to_come {
                0 => String::new(),
                bytes => format!(
                    " copies that are being made need {} more,",
                    format_bytes(bytes)
                ),
            };
            format!(
                "The data need {} with the reserve,{others} and the filesystem of \"{}\" has {} free.",
                format_bytes(total),
                directory.display(),
                format_bytes(self.free)
            )
        })
    }
}

/// How data that are to be loaded once, beside this server, and copied come to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copied {
    /// All of them are there.
    Prepared,
    /// They are loaded first.
    LoadedFirst {
        /// Bytes that this takes, of all that are not there.
        bytes: u64,
        /// The setting pgfsbench.prepared_data_limit.
        limit: u64,
    },
    /// There is no room for them, for this reason, a sentence.
    NoRoom(String),
}

impl Copied {
    /// Decides for all data that an experiment wants, each with its bytes, given those that are there; None if it wants none. They are all kept as
    /// long as the experiment is on.
    pub fn of(
        mut keys: Vec<(DataKey, u64)>,
        there: &[&DataKey],
        room: &FreeSpace,
        directory: &Path,
    ) -> Option<Self> {
        if keys.is_empty() {
            return None;
        }
        let mut seen: Vec<DataKey> = there.iter().map(|key| (*key).clone()).collect();
        keys.retain(|(one, _)| {
            let is_new = !seen.contains(one);
            seen.extend(is_new.then(|| one.clone()));
            is_new
        });
        let bytes = keys.iter().map(|(_, bytes)| bytes).sum();
        Some(match room.why_not(bytes, directory) {
            _ if keys.is_empty() => Self::Prepared,
            None => Self::LoadedFirst {
                bytes,
                limit: room.limit,
            },
            Some(why) => Self::NoRoom(why),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{refusal::check, spec::RunArguments, workload::tests::resolved};
    use proptest::prelude::*;

    fn by() -> MadeBy {
        MadeBy {
            postgres: "/usr/lib/postgresql/15/bin/postgres".into(),
            postgres_file: (1, 2),
            pgfsbench_version: "0.3.0",
            server_user: "postgres".into(),
        }
    }

    /// A cluster with data checksums.
    fn cluster() -> Cluster {
        Cluster {
            data_checksums: true,
            wal_segment_bytes: 16 << 20,
        }
    }

    fn of(scale: i32) -> Spec {
        resolved(RunArguments {
            scale: Some(scale),
            clients: Some(1),
            ..RunArguments::default()
        })
    }

    #[test]
    fn other_rows_programs_or_clusters_are_other_data() {
        let one = DataKey::of(&of(1), cluster(), by());
        assert_eq!(one, DataKey::of(&of(1), cluster(), by()));
        assert_ne!(one, DataKey::of(&of(2), cluster(), by()));
        let without_checksums = Cluster {
            data_checksums: false,
            ..cluster()
        };
        let other_segments = Cluster {
            wal_segment_bytes: 1 << 20,
            ..cluster()
        };
        for other in [without_checksums, other_segments] {
            assert_ne!(one, DataKey::of(&of(1), other, by()));
        }
        let another_build = MadeBy {
            postgres_file: (1, 3),
            ..by()
        };
        assert_ne!(one, DataKey::of(&of(1), cluster(), another_build));
    }

    #[test]
    fn a_note_that_does_not_say_how_long_segments_are_is_read_and_is_no_match() {
        let one = DataKey::of(&of(1), cluster(), by());
        let mut note = serde_json::to_value(&one).expect("JSON");
        assert_eq!(
            serde_json::from_value::<DataKey>(note.clone()).unwrap(),
            one
        );
        note.as_object_mut().unwrap().remove("wal_segment_bytes");
        assert_ne!(serde_json::from_value::<DataKey>(note).unwrap(), one);
    }

    #[test]
    fn segments_of_a_gigabyte_need_room() {
        let large = Cluster {
            wal_segment_bytes: 1 << 30,
            ..cluster()
        };
        let (usual, large) = (
            bytes_to_load(&of(1), cluster()),
            bytes_to_load(&of(1), large),
        );
        assert_eq!(large - usual, (3 << 30) - CLUSTER_AND_WAL_BYTES);
    }

    #[test]
    fn different_data_that_are_not_there_need_room_together() {
        let of = |scale, gb: u64| (DataKey::of(&of(scale), cluster(), by()), gb << 30);
        let room = FreeSpace {
            limit: 16 << 30,
            reserved: 0,
            free: 100 << 30,
            taken: 0,
            needed: 0,
            yielding: 0,
            under_way: UnderWay::default(),
        };
        let copied = |keys: &[(DataKey, u64)], there: &[&DataKey]| {
            Copied::of(keys.to_vec(), there, &room, Path::new("/x"))
        };
        let (one, two) = (of(1, 10), of(2, 10));
        assert_eq!(copied(&[], &[]), None);
        let first = |gb: u64| {
            Some(Copied::LoadedFirst {
                bytes: gb << 30,
                limit: room.limit,
            })
        };
        // Two targets share their data.
        assert_eq!(copied(&[one.clone(), one.clone()], &[]), first(10));
        let both = [one.clone(), two.clone()];
        let why = "The data need 20 GB, and pgfsbench.prepared_data_limit is 16 GB.";
        assert_eq!(copied(&both, &[]), Some(Copied::NoRoom(why.into())));
        assert_eq!(copied(&both, &[&one.0]), first(10));
        assert_eq!(copied(&both, &[&two.0, &one.0]), Some(Copied::Prepared));
    }

    #[test]
    fn nothing_else_is_taken_for_data() {
        let mark = "0123456789abcdef0123456789abcdef";
        assert!(is_ours(
            Path::new(&format!("/x/pgfsbench-{mark}.loaded")),
            "loaded"
        ));
        for name in [
            format!("pgfsbench-{mark}.removed"),
            format!("pgfsbench-{mark}"),
            format!("other-{mark}.loaded"),
            "pgfsbench-0123.loaded".to_owned(),
            "pgfsbench-.loaded".to_owned(),
            format!("pgfsbench-{}.loaded", mark.replace('0', "g")),
        ] {
            assert!(!is_ours(&Path::new("/x").join(&name), "loaded"), "{name}");
        }
    }

    #[test]
    fn what_experiments_need_makes_no_room() {
        let room = FreeSpace {
            limit: 10 << 30,
            reserved: 1 << 30,
            free: 2 << 30,
            taken: 8 << 30,
            needed: 0,
            yielding: 0,
            under_way: UnderWay::default(),
        };
        let place = Path::new("/data");
        assert_eq!(room.why_not(9 << 30, place), None);
        assert!(!room.has(9 << 30) && room.has(1 << 30));
        let of_experiments = FreeSpace {
            needed: 8 << 30,
            ..room
        };
        let why = of_experiments.why_not(3 << 30, place).unwrap();
        assert_eq!(
            why,
            "The data need 3072 MB in addition to 8192 MB of experiments and of named data, and pgfsbench.prepared_data_limit is 10 GB."
        );
        let without_room = |why: Option<String>| {
            let why = why.unwrap();
            assert!(
                why.starts_with("The data need 3072 MB with the reserve")
                    && why.contains("\"/data\" has 2048 MB free")
            );
        };
        without_room(of_experiments.why_not(2 << 30, place));
        // A copy that goes later makes no room now.
        let with_copies = FreeSpace {
            limit: 8 << 30,
            yielding: 4 << 30,
            ..of_experiments
        };
        without_room(with_copies.why_not(2 << 30, place));
        assert_eq!(with_copies.why_not(1 << 30, place), None);
        assert!(with_copies.is_within_limit());
        let beyond = FreeSpace {
            taken: (8 << 30) + 1,
            ..with_copies
        };
        assert!(!beyond.is_within_limit());
    }

    #[test]
    fn copies_that_are_being_made_take_what_they_have_announced() {
        let gigabytes = |gb: u64| gb << 30;
        let copies = [
            (Some(gigabytes(5)), gigabytes(2)),
            // WAL has made it larger.
            (Some(gigabytes(1)), gigabytes(3)),
            (None, gigabytes(1)),
        ];
        let under_way = UnderWay::of(copies.into_iter());
        let expected = UnderWay {
            whole: gigabytes(9),
            to_come: gigabytes(3),
        };
        assert_eq!(under_way, expected);
        let room = FreeSpace {
            limit: gigabytes(12),
            reserved: gigabytes(1),
            free: gigabytes(6),
            taken: gigabytes(1),
            needed: gigabytes(1),
            yielding: 0,
            under_way,
        };
        let place = Path::new("/data");
        assert!(room.has(gigabytes(2)) && !room.has(gigabytes(3)));
        assert_eq!(room.why_not(gigabytes(2), place), None);
        assert_eq!(
            room.why_not(gigabytes(3), place).unwrap(),
            "The data need 3072 MB in addition to 1024 MB of experiments and of named data and 9216 MB of copies that are being made, \
             and pgfsbench.prepared_data_limit is 12 GB."
        );
        let full = FreeSpace {
            free: gigabytes(5),
            ..room
        };
        assert!(!full.has(gigabytes(2)));
        assert_eq!(
            full.why_not(gigabytes(2), place).unwrap(),
            "The data need 3072 MB with the reserve, copies that are being made need 3072 MB more, and the filesystem of \"/data\" has 5120 MB free."
        );
    }

    #[test]
    fn a_copy_does_not_go_on_into_the_reserve() {
        let place = Path::new("/data");
        check_reserve(512, 512, place).expect("the reserve is there");
        let refusal = check_reserve(511 << 20, 512 << 20, place).expect_err("it is not");
        check::style(&refusal);
        assert_eq!(refusal.kind, Kind::DiskFull);
        assert_eq!(
            refusal.detail.unwrap(),
            "The filesystem of \"/data\" has 511 MB free, and pgfsbench.reserved_space is 512 MB."
        );
    }

    proptest! {
        #[test]
        fn what_has_room_is_never_refused(limit in any::<u64>(), reserved in any::<u64>(), free in any::<u64>(), taken in any::<u64>(), share in 0.0..=1.0, bytes in any::<u64>(),
            whole in any::<u64>(), to_come in any::<u64>()) {
            let needed = (taken as f64 * share) as u64;
            let under_way = UnderWay { whole, to_come };
            let room = FreeSpace { limit, reserved, free, taken, needed: needed.min(taken), yielding: 0, under_way };
            if room.has(bytes) {
                prop_assert_eq!(room.why_not(bytes, Path::new("/x")), None);
            }
        }
    }
}
