//! Whether a run may be made, from what was found: what would harm others on the server is refused, and what does not fit.

use serde::Deserialize;

use crate::{
    refusal::{Kind, Refusal},
    sys::HugePool,
    units::{format_bytes, format_count},
};

/// Settings and state of the server, as it reports them.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ServerState {
    /// The setting.
    pub archive_mode: String,
    /// The setting.
    pub synchronous_standby_names: String,
    /// WAL senders that are at work.
    pub walsenders: u64,
    /// Replication slots.
    pub slots: u64,
    /// The database with the oldest transaction ids.
    pub oldest_database: String,
    /// Transactions since its oldest id.
    pub oldest_age: i64,
    /// autovacuum_freeze_max_age.
    pub freeze_max_age: i64,
    /// max_wal_size.
    pub max_wal_bytes: u64,
    /// wal_segment_size.
    pub wal_segment_bytes: u64,
    /// The setting.
    pub wal_level: String,
}

impl ServerState {
    /// Whether its WAL goes to an archive.
    pub fn is_archiving(&self) -> bool {
        self.archive_mode != "off"
    }

    /// Whether commits wait for standbys.
    pub fn is_synchronous(&self) -> bool {
        !self.synchronous_standby_names.is_empty()
    }

    /// Whether WAL of the server is sent to standbys, or kept for replication slots.
    pub fn is_replicated(&self) -> bool {
        self.walsenders > 0 || self.slots > 0
    }

    /// Refuses a run whose WAL would go to others, or whose commits would wait for them.
    pub fn check_neighbours(&self) -> Result<(), Refusal> {
        let refusal = |message: &str, detail: String| {
            Err(Refusal::new(Kind::NotInThisState, message)
                .detail(detail)
                .hint(
                    "Use a server of its own for benchmarks, or override this with force => true.",
                ))
        };
        if self.is_archiving() {
            return refusal(
                "cannot run a benchmark while WAL is archived",
                format!(
                    "archive_mode is \"{}\": every segment of benchmark WAL would go to the archive.",
                    self.archive_mode
                ),
            );
        }
        if self.is_synchronous() {
            return refusal(
                "cannot run a benchmark under synchronous replication",
                format!(
                    "synchronous_standby_names is \"{}\": commits would wait for standbys, and not for this filesystem alone.",
                    self.synchronous_standby_names
                ),
            );
        }
        if self.is_replicated() {
            return refusal(
                "cannot run a benchmark while this server is replicated",
                format!(
                    "There are {} and {}: benchmark WAL would be sent to them, or kept for them.",
                    format_count(self.walsenders, "WAL sender"),
                    format_count(self.slots, "replication slot")
                ),
            );
        }
        Ok(())
    }

    /// Refuses a run that needs so many transaction ids that autovacuum would begin to freeze some database.
    pub fn check_transaction_ids(&self, needed: f64) -> Result<(), Refusal> {
        if self.oldest_age as f64 + needed < self.freeze_max_age as f64 {
            return Ok(());
        }
        Err(Refusal::new(
            Kind::NotInThisState,
            "the run would use too many transaction ids",
        )
        .detail(format!(
            "It needs about {needed:.0}; database \"{}\" has an age of {}, and at autovacuum_freeze_max_age ({}) autovacuum would start to freeze it.",
            self.oldest_database, self.oldest_age, self.freeze_max_age
        ))
        .hint(if needed < self.freeze_max_age as f64 {
            "Run vacuumdb --all --freeze first, ask for less (a shorter duration, fewer transactions, a rate), or override this with force => true."
        } else {
            "Ask for less (a shorter duration, fewer transactions, a rate), raise autovacuum_freeze_max_age, or override this with force => true."
        }))
    }
}

/// Room that is left for others, and that a run does not take: the setting pgfsbench.reserved_space.
#[derive(Clone, Copy, Debug)]
pub struct Reserve(pub u64);

impl Reserve {
    /// Refuses a run that needs more than is free in a directory; `what` needs it.
    pub fn check_room(
        self,
        directory: &str,
        free: u64,
        needed: u64,
        what: &str,
    ) -> Result<(), Refusal> {
        if free >= needed.saturating_add(self.0) {
            return Ok(());
        }
        Err(
            Refusal::new(Kind::DiskFull, "not enough room for the run")
                .detail(format!(
                    "It takes about {} for {what}, and a reserve of {} (pgfsbench.reserved_space); \"{directory}\" has {} free.",
                    format_bytes(needed),
                    format_bytes(self.0),
                    format_bytes(free)
                ))
                .hint("Use a smaller scale, or make room."),
        )
    }

    /// Refuses a run that needs more than a filesystem will have that is not made yet; `what` it is made on.
    pub fn check_size(
        self,
        bytes: u64,
        needed: u64,
        what: &str,
        hint: &str,
    ) -> Result<(), Refusal> {
        if needed.saturating_add(self.0) <= bytes {
            return Ok(());
        }
        Err(
            Refusal::new(Kind::DiskFull, "not enough room for the run")
                .detail(format!(
                    "It takes about {} for data and WAL, and a reserve of {} (pgfsbench.reserved_space); the filesystem on the {what} will have {}.",
                    format_bytes(needed),
                    format_bytes(self.0),
                    format_bytes(bytes)
                ))
                .hint(hint),
        )
    }

    /// Refuses to go on when a filesystem has less room than that: full WAL would take the whole server down.
    pub fn watch(self, directory: &str, free: u64) -> Result<(), Refusal> {
        if free >= self.0 {
            return Ok(());
        }
        Err(Refusal::new(
            Kind::DiskFull,
            "the filesystem is almost full",
        )
        .detail(format!(
            "The filesystem of \"{directory}\" has {} free, less than the reserve of {} (pgfsbench.reserved_space).",
            format_bytes(free),
            format_bytes(self.0)
        ))
        .hint("Use a smaller scale, a shorter run, or a larger device or image_size, or make room."))
    }
}

/// Refuses a target server that does not fit into the machine's memory beside this one; `what` of theirs is compared.
pub fn check_both(what: &str, own: u64, theirs: u64, memory: u64) -> Result<(), Refusal> {
    if own.saturating_add(theirs) <= memory {
        return Ok(());
    }
    Err(
        Refusal::new(Kind::NoWorkerSlot, "not enough memory for both servers")
            .detail(format!(
                "{what} is {} here and {} on the target; the server can use {} of memory.",
                format_bytes(own),
                format_bytes(theirs),
                format_bytes(memory)
            ))
            .hint("Give a smaller shared_buffers: in the argument settings if it has one, else to the target with fsbench.alter_target()."),
    )
}

/// Huge pages that a server needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HugePages {
    /// Their number.
    pub count: u64,
    /// The setting huge_page_size, in kB; zero stands for the size that the kernel uses by default.
    pub kilobytes: u64,
}

/// Refuses a target server with huge_pages = on for which too few huge pages are left.
pub fn check_huge_pages(needed: HugePages, pool: HugePool) -> Result<(), Refusal> {
    let available = pool.available();
    if needed.count <= available {
        return Ok(());
    }
    Err(
        Refusal::new(Kind::NoWorkerSlot, "not enough huge pages for the target server")
            .detail(format!(
                "It has huge_pages = on and needs {}; the kernel has {available} left of {}.",
                format_count(needed.count, "huge page"),
                format_bytes(pool.kilobytes << 10)
            ))
            .hint("Have root raise vm.nr_hugepages, or give the target huge_pages = try or a smaller shared_buffers with fsbench.alter_target()."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quiet() -> ServerState {
        ServerState {
            archive_mode: "off".into(),
            oldest_database: "postgres".into(),
            oldest_age: 1000,
            freeze_max_age: 200_000_000,
            ..ServerState::default()
        }
    }

    #[track_caller]
    fn refused(result: Result<(), Refusal>, kind: Kind, words: &str) {
        let refusal = result.expect_err("it is refused");
        assert_eq!(refusal.kind, kind);
        let detail = refusal.detail.unwrap_or_default();
        assert!(detail.contains(words), "{detail}");
    }

    #[test]
    fn what_would_harm_others_is_refused() {
        assert_eq!(quiet().check_neighbours(), Ok(()));
        let mut archiving = quiet();
        archiving.archive_mode = "always".into();
        refused(
            archiving.check_neighbours(),
            Kind::NotInThisState,
            "\"always\"",
        );
        let mut synchronous = quiet();
        synchronous.synchronous_standby_names = "*".into();
        refused(
            synchronous.check_neighbours(),
            Kind::NotInThisState,
            "\"*\"",
        );
        let mut replicated = quiet();
        replicated.slots = 2;
        refused(
            replicated.check_neighbours(),
            Kind::NotInThisState,
            "0 WAL senders and 2 replication slots",
        );
    }

    #[test]
    fn huge_pages_of_others_are_not_there() {
        let needed = HugePages {
            count: 72,
            kilobytes: 0,
        };
        let pool = HugePool {
            free: 100,
            reserved: 28,
            kilobytes: 2048,
            ..HugePool::default()
        };
        assert_eq!(check_huge_pages(needed, pool), Ok(()));
        let taken = HugePool {
            reserved: 29,
            ..pool
        };
        refused(
            check_huge_pages(needed, taken),
            Kind::NoWorkerSlot,
            "needs 72 huge pages; the kernel has 71 left of 2048 kB",
        );
        let added = HugePool {
            overcommit: 3,
            surplus: 2,
            ..taken
        };
        assert_eq!(check_huge_pages(needed, added), Ok(()));
    }

    #[test]
    fn transaction_ids_are_not_used_up() {
        assert_eq!(quiet().check_transaction_ids(1e6), Ok(()));
        let hint = |needed: f64| {
            quiet()
                .check_transaction_ids(needed)
                .unwrap_err()
                .hint
                .unwrap()
        };
        assert!(hint(199_999_500.0).contains("vacuumdb --all --freeze"));
        assert!(hint(3e8).contains("raise autovacuum_freeze_max_age"));
        refused(
            quiet().check_transaction_ids(3e8),
            Kind::NotInThisState,
            "300000000",
        );
    }

    #[test]
    fn the_reserve_is_not_touched() {
        let reserve = Reserve(100 << 20);
        refused(
            reserve.check_room("/x", 150 << 20, 60 << 20, "data"),
            Kind::DiskFull,
            "\"/x\" has 150 MB free",
        );
        refused(
            reserve.check_size(150 << 20, 60 << 20, "image", "Raise it."),
            Kind::DiskFull,
            "on the image will have 150 MB",
        );
        refused(
            reserve.watch("/x", 99 << 20),
            Kind::DiskFull,
            "has 99 MB free",
        );
        refused(
            check_both("shared_buffers", 6 << 30, 6 << 30, 8 << 30),
            Kind::NoWorkerSlot,
            "6144 MB here and 6144 MB on the target",
        );
    }

    proptest! {
        #[test]
        fn what_fits_leaves_the_reserve(free in any::<u64>(), needed in any::<u64>(), reserve in any::<u64>()) {
            let reserved = Reserve(reserve);
            if reserved.check_room("/x", free, needed, "data").is_ok() {
                prop_assert!(free - needed >= reserve);
                prop_assert!(reserved.watch("/x", free - needed).is_ok());
            }
            prop_assert_eq!(
                reserved.check_room("/x", free, needed, "data").is_ok(),
                reserved.check_size(free, needed, "image", "").is_ok()
            );
        }
    }
}
