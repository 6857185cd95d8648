use super::*;
use crate::{doctor::report::assert_decides_by_codes, finding::XminHolderKind};

/// A server of which nothing is to be said.
fn facts() -> Facts {
    let on = || "on".to_owned();
    Facts {
        server: Server {
            version: "15.20".into(),
            workers: 64,
            fsync: on(),
            full_page_writes: on(),
            synchronous_commit: on(),
            track_io_timing: on(),
            track_wal_io_timing: on(),
            log_checkpoints: true,
            log_min_messages: "warning".into(),
            autovacuum: true,
            statements_available: true,
            ..Server::default()
        },
        state: ServerState {
            archive_mode: "off".into(),
            freeze_max_age: 200_000_000,
            max_wal_bytes: 16 << 30,
            ..ServerState::default()
        },
        extension: "1".into(),
        library: "1",
        preload: None,
        background_workers: 2,
        memory: Some(1 << 30),
        rings: None,
        locked_memory_limit: None,
        xmin_holders: Vec::new(),
        statements: Statements::Recorded,
        data: Some(FreeSpace {
            directory: "/d".into(),
            free: 2 << 30,
            size: 4 << 30,
        }),
        wal: None,
        reserve: 1 << 30,
    }
}

#[track_caller]
fn line(facts: &Facts, item: &str) -> Line {
    assert_decides_by_codes(|| check(facts));
    let line = check(facts).into_iter().find(|line| line.item == item);
    line.unwrap_or_else(|| panic!("there is no line {item}"))
}

#[test]
fn of_a_good_server_only_the_unknown_is_told() {
    let told: Vec<Line> = check(&facts())
        .into_iter()
        .filter(|line| line.state != OK)
        .collect();
    let items: Vec<&str> = told.iter().map(|line| line.item.as_str()).collect();
    assert_eq!(items, ["room for WAL"]);
}

#[test]
fn what_a_run_needs_is_missing_or_there() {
    let mut bad = facts();
    bad.preload = Some("ALTER SYSTEM ...".into());
    bad.extension = "0".into();
    bad.server.workers = 8;
    bad.reserve = 3 << 30;
    for (item, state) in [
        ("preload", MISSING),
        ("extension", MISSING),
        ("worker slots", WARNING),
        ("room for data", MISSING),
    ] {
        let line = line(&bad, item);
        assert_eq!(line.state, state, "{item}");
        assert!(line.hint.is_some(), "{item}");
    }
}

#[test]
fn room_and_transaction_ids_are_judged_as_before_a_run() {
    let mut facts = facts();
    for reserve in [(2 << 30) - 1, 2 << 30, (2 << 30) + 1] {
        facts.reserve = reserve;
        let watched = Reserve(reserve).watch("/d", 2 << 30);
        let is_well = line(&facts, "room for data").state == OK;
        assert_eq!(is_well, watched.is_ok(), "{reserve}");
    }
    for age in [99_999_999, 100_000_000] {
        facts.state.oldest_age = age;
        facts.state.freeze_max_age = 200_000_000;
        let checked = facts.state.check_transaction_ids(1e8);
        let is_well = line(&facts, "transaction ids").state == OK;
        assert_eq!(is_well, checked.is_ok(), "{age}");
    }
}

#[test]
fn the_words_are_those_of_the_findings() {
    let mut bad = facts();
    bad.server.fsync = "off".into();
    bad.server.autovacuum = false;
    bad.server.log_min_messages = "panic".into();
    bad.xmin_holders = vec![XminHolder {
        kind: XminHolderKind::Slot,
        name: "forgotten".into(),
        age: Some(20_000),
    }];
    let foreseen = foreseen(&bad);
    for (item, code, state) in [
        ("fsync", "fsync_off", WARNING),
        ("autovacuum", "autovacuum_off", WARNING),
        ("old transactions", "old_xmin", WARNING),
        ("log_checkpoints", "log_checkpoints_off", INFO),
    ] {
        let found = finding::foretell(&foreseen, code).expect("a run would find it");
        let line = line(&bad, item);
        assert_eq!(line.state, state, "{item}");
        assert_eq!(
            (line.detail, line.hint),
            (Some(found.message), Some(found.hint))
        );
    }
}

#[test]
fn what_would_be_refused_is_told_beforehand() {
    let mut bad = facts();
    bad.state.archive_mode = "on".into();
    bad.state.slots = 1;
    bad.state.oldest_age = 150_000_000;
    for item in ["archiving", "replication", "transaction ids"] {
        let line = line(&bad, item);
        assert_eq!(line.state, WARNING, "{item}");
        let detail = line.detail.unwrap();
        assert!(
            detail.ends_with("on target default are refused"),
            "{detail}"
        );
    }
    assert!(bad.state.check_neighbours().is_err());
}

#[test]
fn rings_that_do_not_fit_are_told_beforehand() {
    let mut with_rings = facts();
    with_rings.locked_memory_limit = Some(8 << 20);
    with_rings.rings = Some(Rings::default());
    assert_eq!(line(&with_rings, "io_uring").state, OK);
    with_rings.rings = Some(Rings {
        max_connections: 850,
        ..Rings::default()
    });
    let told = line(&with_rings, "io_uring");
    assert_eq!(told.state, WARNING);
    let detail = told.detail.unwrap();
    assert!(detail.contains("the limit is 8192 kB"), "{detail}");
    assert!(check(&facts()).iter().all(|line| line.item != "io_uring"));
}
