//! Measurements that contradict settings and layers, and codes as they are stored.

use super::*;

/// Ten seconds in which the clients synced WAL 10,000 times.
pub fn busy() -> WalSyncFacts {
    WalSyncFacts {
        servers: None,
        syncs: Some(10_000),
        sync_ms: None,
        window_ms: Some(10_000.0),
        wal_bytes: Some(80 << 20),
        method: Some("fdatasync".into()),
        device_flushes: Some(10_100),
        device_write_bytes: Some(90 << 20),
    }
}

pub fn measured(wal_sync: WalSyncFacts, probe_us: f64) -> RunFacts {
    RunFacts {
        wal_sync,
        flush: FlushFacts {
            before_us: Some(probe_us * 1.5),
            after_us: Some(probe_us),
            quiet_after: Some(true),
        },
        ..run(on("ext4", "8:0", "rw"))
    }
}

#[test]
fn a_measurement_that_contradicts_withholds_the_word() {
    assert_eq!(said(&measured(busy(), 800.0)), BY_SETTINGS);
    let fast = WalSyncFacts {
        syncs: Some(400_000),
        device_flushes: None,
        ..busy()
    };
    let through = || but(&[(OF_SDA, THROUGH)], "8:0");
    let volatile = "a device with a volatile write cache";
    for (facts, says) in [
        (
            measured(busy(), 40.0),
            format!("a flush is too short for {volatile}"),
        ),
        // Whatever the device says of its cache.
        (
            RunFacts {
                storage: through(),
                ..measured(busy(), 1.2)
            },
            "a flush is too short for any device".into(),
        ),
        (
            measured(fast.clone(), 800.0),
            format!("a sync of WAL is too short for {volatile}"),
        ),
        (
            measured(
                WalSyncFacts {
                    sync_ms: Some(300.0),
                    ..busy()
                },
                800.0,
            ),
            format!("a sync of WAL is too short for {volatile}"),
        ),
        (
            measured(busy(), 11_000.0),
            "a sync of WAL is shorter than a flush".into(),
        ),
        (
            measured(
                WalSyncFacts {
                    device_flushes: Some(0),
                    ..busy()
                },
                800.0,
            ),
            "WAL was synced, and the device was not flushed".into(),
        ),
        (
            RunFacts {
                storage: through(),
                ..measured(
                    WalSyncFacts {
                        device_flushes: Some(0),
                        device_write_bytes: Some(0),
                        ..busy()
                    },
                    800.0,
                )
            },
            "WAL was synced, and the device did not write it".into(),
        ),
    ] {
        let durability = Durability::of(&facts).unwrap();
        assert_eq!(durability.sentence(), format!("not known: {says}"));
        assert_eq!(
            (durability.is_durable(), durability.why_not()),
            (false, None)
        );
    }
}

#[test]
fn what_is_no_contradiction() {
    let is_fine = |facts: RunFacts| assert_eq!(said(&facts), BY_SETTINGS, "{facts:?}");
    // The kernel sends no flush to a device without a cache.
    let through = but(&[(OF_SDA, THROUGH)], "8:0");
    let no_flushes = WalSyncFacts {
        device_flushes: Some(0),
        ..busy()
    };
    is_fine(RunFacts {
        storage: through.clone(),
        ..measured(no_flushes.clone(), 30.0)
    });
    // Nor behind a write of open_datasync, which may have the flush in it.
    is_fine(measured(
        WalSyncFacts {
            method: Some("open_datasync".into()),
            ..no_flushes.clone()
        },
        800.0,
    ));
    // Twelve servers share the flushes of their filesystem, and each has the window for its syncs.
    let of_servers = |servers| WalSyncFacts {
        servers: Some(servers),
        syncs: Some(240_000),
        ..busy()
    };
    is_fine(measured(of_servers(12), 800.0));
    let alone = contradictions(&measured(of_servers(1), 800.0));
    assert!(
        matches!(
            alone[..],
            [Code::SyncTooFast { .. }, Code::NoFlushes { .. }]
        ),
        "{alone:?}"
    );
    // Counters that the kernel does not keep, and too little to compare.
    is_fine(measured(
        WalSyncFacts {
            device_flushes: None,
            device_write_bytes: None,
            ..busy()
        },
        800.0,
    ));
    is_fine(measured(
        WalSyncFacts {
            syncs: Some(99),
            window_ms: Some(1.0),
            device_write_bytes: Some(0),
            ..no_flushes
        },
        800.0,
    ));
    // A filesystem that compresses writes less than the server.
    is_fine(measured(
        WalSyncFacts {
            device_write_bytes: Some(8 << 20),
            ..busy()
        },
        800.0,
    ));
    // The only probe was made while the machine still wrote what was loaded.
    is_fine(RunFacts {
        flush: FlushFacts {
            before_us: Some(30_000.0),
            ..FlushFacts::default()
        },
        ..measured(busy(), 0.0)
    });
    // A capacitor makes for short flushes.
    is_fine(RunFacts {
        storage: StorageFacts {
            power_loss_protected: Some(true),
            ..on("ext4", "8:0", "rw")
        },
        ..measured(busy(), 20.0)
    });
    is_fine(RunFacts::clone(&measured(WalSyncFacts::default(), 800.0)));
    // A layer that loses commits explains the measurement.
    let facts = RunFacts {
        storage: on("ext4", "253:9", "rw"),
        ..measured(busy(), 1.0)
    };
    assert_eq!(said(&facts), "not durable: zram0 is in memory");
    assert_eq!(contradictions(&facts), []);
}

#[test]
fn only_disks_that_all_rotate_are_slow() {
    let rotating = |layers: &str| {
        let storage = StorageFacts {
            rotational: Some(true),
            ..on("ext4", layers, "rw")
        };
        RunFacts {
            machine: MachineFacts {
                virtualization: Some("none".into()),
                ..MachineFacts::default()
            },
            storage,
            ..measured(WalSyncFacts::default(), 400.0)
        }
    };
    let mut facts = rotating("8:0");
    // sda does not rotate: it may be the cache of one that does.
    assert_eq!(said(&facts), BY_SETTINGS);
    let layers = facts.storage.layers.as_mut().unwrap();
    layers[0].queue.as_mut().unwrap().rotational = Some(true);
    assert_eq!(
        said(&facts),
        "not known: a flush is too short for a disk that rotates"
    );
    facts.machine.virtualization = Some("kvm".into());
    assert_eq!(said(&facts), BY_SETTINGS);
}

#[test]
fn codes_are_stored_and_read_again_whatever_they_are() {
    let facts = measured(
        WalSyncFacts {
            device_flushes: Some(0),
            ..busy()
        },
        40.0,
    );
    let durability = Durability::of(&facts).unwrap();
    let text = serde_json::to_string(&durability).unwrap();
    assert_eq!(
        text,
        r#"[{"code":"flush_too_fast","us":40.0,"device":"volatile_cache"},{"code":"no_flushes","syncs":10000,"flushes":0}]"#
    );
    assert_eq!(
        serde_json::from_str::<Durability>(&text).unwrap(),
        durability
    );
    for odd in [
        r#"[{"code": "of_later"}]"#,
        r#"[{"code": "in_memory"}]"#,
        "[7]",
        r#"{"a": 1}"#,
        r#""x""#,
    ] {
        let read: Durability = serde_json::from_str(odd).unwrap();
        assert_eq!(read.class(), Class::NotKnown, "{odd}");
    }
    let none: Durability = serde_json::from_str("[]").unwrap();
    assert_eq!(none.sentence(), BY_SETTINGS);
    let all = Durability::together(&[none, Durability::of_codes([Code::FsyncOff])]);
    assert_eq!(all.unwrap().sentence(), "not durable: fsync off");
    assert_eq!(Durability::together(&[]), None);
}
