//! Rings of io_uring. PostgreSQL 18 has one for each process that it may start, with io_method = io_uring. Linux 6.18 counts them as
//! locked memory of the operating system user, over all servers of that user.

use serde::Deserialize;

use crate::units::format_bytes;

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Further processes with a ring, which no setting counts: two special workers, and startup, background writer, checkpointer, WAL writer, archiver
/// and WAL summarizer.
const FURTHER_PROCESSES: u64 = 8;

/// Settings that decide how many rings a server has, and how large they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Rings {
    pub max_connections: u64,
    pub autovacuum_worker_slots: u64,
    pub max_worker_processes: u64,
    pub max_wal_senders: u64,
    /// Requests of a ring.
    pub io_max_concurrency: u64,
}

impl Default for Rings {
    fn default() -> Self {
        Self {
            max_connections: 100,
            autovacuum_worker_slots: 16,
            max_worker_processes: 8,
            max_wal_senders: 10,
            io_max_concurrency: 64,
        }
    }
}

impl Rings {
    /// Rings of a server with such settings. Defaults stand for settings that are missing, or are no number.
    pub fn of<'a>(setting: impl Fn(&str) -> Option<&'a str>) -> Self {
        Self::default().changed(setting)
    }

    /// Rings of a target server beside one with these rings, before it is made. These settings are given; others are carried over, but for the
    /// connections, which are few there.
    pub fn of_target<'a>(self, given: impl Fn(&str) -> Option<&'a str>) -> Self {
        let carried_over = Self {
            max_connections: Self::default().max_connections,
            ..self
        };
        carried_over.changed(given)
    }

    fn changed<'a>(self, setting: impl Fn(&str) -> Option<&'a str>) -> Self {
        let default = self;
        let number = |name: &str, default: u64| {
            let given = setting(name).and_then(|text| text.trim().parse::<u32>().ok());
            given.map_or(default, u64::from)
        };
        Self {
            max_connections: number("max_connections", default.max_connections),
            autovacuum_worker_slots: number(
                "autovacuum_worker_slots",
                default.autovacuum_worker_slots,
            ),
            max_worker_processes: number("max_worker_processes", default.max_worker_processes),
            max_wal_senders: number("max_wal_senders", default.max_wal_senders),
            io_max_concurrency: number("io_max_concurrency", default.io_max_concurrency),
        }
    }

    /// Their number.
    pub fn count(self) -> u64 {
        self.max_connections
            + self.autovacuum_worker_slots
            + self.max_worker_processes
            + self.max_wal_senders
            + FURTHER_PROCESSES
    }

    /// Locked memory of one: 64 bytes for each request; and a head, 32 bytes for each two results, and 4 for each request.
    fn bytes_each(self) -> u64 {
        let entries = self.io_max_concurrency.max(1).next_power_of_two();
        let whole_pages = |bytes: u64| bytes.next_multiple_of(PAGE);
        whole_pages(64 * entries) + whole_pages(320 + 36 * entries)
    }

    /// Locked memory of all of them.
    pub fn bytes(self) -> u64 {
        self.count().saturating_mul(self.bytes_each())
    }
}

/// Rings of several servers.
fn of_servers(each: Rings, servers: u64) -> String {
    match servers {
        1 => format!("a target server {}", each.count()),
        _ => format!("each of {servers} target servers {}", each.count()),
    }
}

/// The arithmetic of this server and of those of a target, all of one operating system user: a sentence. `own` is None where this server has no rings;
/// `limit` is the user's limit of locked memory in bytes, None: there is none.
pub fn arithmetic(own: Option<Rings>, theirs: Rings, servers: u64, limit: Option<u64>) -> String {
    let Some(own) = own else {
        return arithmetic_of_target(theirs, servers, limit);
    };
    format!(
        "With io_method = io_uring this server has {} rings and {}: together {} of locked memory, and the limit is {}",
        own.count(),
        of_servers(theirs, servers),
        format_bytes(together(own, theirs, servers)),
        limit.map_or("none".into(), format_bytes)
    )
}

/// The arithmetic where this server has no rings.
fn arithmetic_of_target(theirs: Rings, servers: u64, limit: Option<u64>) -> String {
    let who = match servers {
        1 => "the target server has".into(),
        _ => format!("each of {servers} target servers has"),
    };
    format!(
        "With io_method = io_uring {who} {} rings: {} of locked memory, and the limit is {}",
        theirs.count(),
        format_bytes(servers.saturating_mul(theirs.bytes())),
        limit.map_or("none".into(), format_bytes)
    )
}

/// Whether the rings of this server and of the target's servers fit.
pub fn fit(own: Option<Rings>, theirs: Rings, servers: u64, limit: Option<u64>) -> bool {
    let all = match own {
        Some(own) => together(own, theirs, servers),
        None => servers.saturating_mul(theirs.bytes()),
    };
    limit.is_none_or(|limit| all <= limit)
}

/// Locked memory of this server and of those of a target.
fn together(own: Rings, theirs: Rings, servers: u64) -> u64 {
    let theirs = servers.saturating_mul(theirs.bytes());
    own.bytes().saturating_add(theirs)
}

/// Hint how to make room for the rings.
pub const HINT: &str = "Raise the limit (LimitMEMLOCK= of the server's unit, ulimit -l), lower max_connections of this server, or give the target \
    io_method = worker.";

#[cfg(test)]
mod tests {
    use super::*;

    /// How many rings 8 MB held on Linux 6.18, for a user who is not root.
    #[test]
    fn rings_are_as_large_as_the_kernel_has_them() {
        for (io_max_concurrency, held) in [(32, 1024), (64, 1024), (128, 512), (256, 292)] {
            let rings = Rings {
                io_max_concurrency,
                ..Rings::default()
            };
            assert_eq!((8 << 20) / rings.bytes_each(), held, "{io_max_concurrency}");
        }
    }

    #[test]
    fn rings_follow_from_settings() {
        let rings = Rings::of(|name| match name {
            "max_connections" => Some("7"),
            "io_max_concurrency" => Some("-1"),
            _ => None,
        });
        let wanted = Rings {
            max_connections: 7,
            ..Rings::default()
        };
        assert_eq!(rings, wanted);
        let own = Rings {
            max_connections: 500,
            max_worker_processes: 40,
            ..Rings::default()
        };
        let given = |name: &str| (name == "io_max_concurrency").then_some("128");
        let wanted = Rings {
            max_worker_processes: 40,
            io_max_concurrency: 128,
            ..Rings::default()
        };
        assert_eq!(own.of_target(given), wanted);
        // No server takes such settings; they are seen before it says so.
        let most = Rings::of(|_| Some("4294967295"));
        assert!(!fit(Some(most), most, 64, Some(u64::MAX - 1)));
        assert_eq!(Rings::of(|_| Some("4294967296")), Rings::default());
    }

    #[test]
    fn two_servers_have_one_limit() {
        let many = Rings {
            max_connections: 850,
            max_worker_processes: 32,
            ..Rings::default()
        };
        let theirs = Rings {
            max_worker_processes: 26,
            ..Rings::default()
        };
        let limit = Some(8 << 20);
        assert!(
            fit(Some(Rings::default()), theirs, 1, limit)
                && !fit(Some(many), theirs, 1, limit)
                && fit(Some(many), theirs, 1, None)
        );
        // Six times 160 rings of 8 kB fit beside none of this server, and seven times do not.
        assert!(fit(None, theirs, 6, limit) && !fit(None, theirs, 7, limit));
        assert_eq!(
            arithmetic(Some(many), theirs, 1, limit),
            "With io_method = io_uring this server has 916 rings and a target server 160: together 8608 kB of locked memory, and the limit is 8192 kB"
        );
    }
}
