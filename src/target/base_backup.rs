//! A base backup of this server becomes prepared data with a name. The copy recovers once, so that each run copies a server that was
//! shut down.

use std::{
    fs::{self, File},
    path::Path,
    time::{Duration, Instant},
};

use pgfsbench_core::{
    quoting,
    refusal::quoted,
    target::{
        cluster::Cluster,
        original::{self, ENCRYPTED, FILES, Facts, Original, OtherFiles, SETTINGS},
        prepared_data::DataKey,
    },
    units::format_bytes,
};
use pgrx::pg_sys;

use super::{
    prepared_data::{self, Loaded, Note, Place, Yields},
    server::{
        TargetServer,
        copy::check_tablespaces,
        programs::{self, Programs},
        settings::{self, Settings},
    },
};
use crate::{
    errors::{Fault, of_file, read_json, sqlstate},
    host::lengths::lengths_below,
    pg::{libpq::Connection, process, report, session, sql, xact},
    random,
    store::USABLE_DATABASE,
};

/// Settings of the server that recovers the copy, which is shut down and synced before anything uses its files.
const FOR_RECOVERY: [(&str, &str); 8] = [
    ("autovacuum", "off"),
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("huge_pages", "off"),
    ("max_wal_senders", "0"),
    ("max_worker_processes", "16"),
    // This server's memory is in use.
    ("shared_buffers", "128MB"),
    ("wal_level", "minimal"),
];

/// Time between two checks of the room that is left while a server is copied.
const BETWEEN_CHECKS: Duration = Duration::from_secs(1);

/// The major version of this server.
pub const MAJOR: u32 = pg_sys::PG_VERSION_NUM / 10_000;

/// Until the transaction ends, no tablespace is made: a copy that replays that would make a link to the directory of the original, and write there.
const NO_NEW_TABLESPACE: &str = "LOCK TABLE pg_catalog.pg_tablespace IN SHARE MODE";

/// Prepared transactions of the original would hold their locks in each copy.
const PREPARED: &str =
    "SELECT coalesce(jsonb_agg(jsonb_build_array(database, gid)), '[]') FROM pg_prepared_xacts";
/// Event triggers of the original would fire when a run makes its extension or its tables. A statement that disables one fires none.
const EVENT_TRIGGERS: &str =
    "SELECT coalesce(jsonb_agg(evtname), '[]') FROM pg_event_trigger WHERE evtenabled <> 'D'";
/// Databases that can be connected to.
const DATABASES: &str = "SELECT coalesce(jsonb_agg(datname), '[]') FROM pg_database WHERE datallowconn AND datconnlimit <> -2";
/// Libraries that sessions of a database, a role or all roles of the original load. The backup may name any file.
const SESSION_LIBRARIES: &str = "SELECT coalesce(jsonb_agg(format('ALTER %s RESET %I', CASE \
      WHEN s.setrole = 0 AND s.setdatabase = 0 THEN 'ROLE ALL' \
      WHEN s.setrole = 0 THEN format('DATABASE %I', d.datname) \
      WHEN s.setdatabase = 0 THEN format('ROLE %I', r.rolname) \
      ELSE format('ROLE %I IN DATABASE %I', r.rolname, d.datname) END, split_part(c, '=', 1))), '[]') \
    FROM pg_db_role_setting s LEFT JOIN pg_database d ON d.oid = s.setdatabase LEFT JOIN pg_roles r ON r.oid = s.setrole, unnest(s.setconfig) c \
    WHERE split_part(c, '=', 1) IN ('session_preload_libraries', 'local_preload_libraries')";
/// Subscriptions of the original, in databases that can be connected to.
const SUBSCRIPTIONS: &str = "SELECT coalesce(jsonb_agg(jsonb_build_array(d.datname, s.subname)), '[]') \
    FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid WHERE s.subenabled AND d.datallowconn";

/// Copies this server. In a transaction that has written nothing; `owner` is that of the extension. Gives the bytes of the copy. When it is complete,
/// copies that `yields` names go beyond the limit.
pub fn prepare(
    owner: u32,
    name: &str,
    max_rate: Option<&str>,
    yields: Yields,
) -> Result<u64, Fault> {
    original::check_name(name)?;
    max_rate.map_or(Ok(()), original::check_rate)?;
    let programs = own_programs(owner)?;
    let facts = session::with_rights_of(owner, || {
        sql::write(NO_NEW_TABLESPACE, &[])?;
        facts(&programs.user)
    })?;
    facts.check(&programs.user)?;
    let place = Place::open(&mut interrupts)?;
    check_free(&place, name)?;
    let needed = facts.needed_bytes(other_files());
    make_room(&place, needed, yields)?;
    let (loaded, left_out) = facts.libraries();
    tell(needed, &loaded, &left_out);
    let (server, lock) = place.receive(&random::mark(), needed)?;
    // Runs may use the place meanwhile.
    drop(place);
    let made = xact::catch(|| make(&server, &programs, &facts, owner, max_rate));
    let kept = made.and_then(|made| made).and_then(|databases| {
        let original = Original {
            name: name.to_owned(),
            libraries: loaded,
            settings: facts.settings.clone(),
            system_identifier: Some(facts.system_identifier),
            databases: Some(databases),
        };
        keep(&server, lock, &programs, &facts, original, yields)
    });
    // Only the directory of the socket is left of a copy that was kept.
    server.stop()?;
    server.remove(false)?;
    kept
}

/// The programs of this server.
pub fn own_programs(owner: u32) -> Result<Programs, Fault> {
    Ok(Programs {
        bindir: session::with_rights_of(owner, programs::server_bindir)?,
        user: programs::operating_system_user()?,
    })
}

/// Refuses a name that prepared data have.
pub fn check_free(place: &Place, name: &str) -> Result<(), Fault> {
    if place.with_name(name)?.is_empty() {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::EXISTS_ALREADY,
        format!("data {} exist already", quoted(name)),
    )
    .detail("Runs copy the same data until they are dropped.")
    .hint("Drop them with fsbench.drop_data(), or give another name."))
}

/// Makes room for a copy, which takes this number of bytes while it is made.
pub fn make_room(place: &Place, bytes: u64, yields: Yields) -> Result<(), Fault> {
    let made = place.make_room(bytes, yields, &mut interrupts)?;
    made.map_err(|why| {
        Fault::new(sqlstate::DISK_FULL, "there is no room for the copy")
            .detail(why)
            .hint("Raise pgfsbench.prepared_data_limit, or set pgfsbench.prepared_data_directory to a directory with more room. Older copies make room only while no run is on or queued.")
    })
}

pub fn interrupts() -> Result<(), Fault> {
    xact::catch(process::check_interrupts)
}

/// Checks for interrupts while pg_basebackup makes a copy in this directory, and that others keep their reserve: WAL grows without a limit as long as
/// the copy is made.
fn while_copying(copy: &Path) -> impl FnMut() -> Result<(), Fault> {
    let mut checked_at = Instant::now();
    move || {
        interrupts()?;
        if checked_at.elapsed() < BETWEEN_CHECKS {
            return Ok(());
        }
        checked_at = Instant::now();
        prepared_data::check_reserve(copy)
    }
}

/// Files of this server that belong to no database, as far as they can be read.
fn other_files() -> OtherFiles {
    let data = session::data_directory();
    OtherFiles {
        copied: lengths_below(&data, &original::is_in_no_database),
        wal: lengths_below(&data.join("pg_wal"), &|_| true),
    }
}

fn tell(needed: u64, loaded: &[String], left_out: &[String]) {
    let mut left_out = left_out.to_vec();
    left_out.retain(|library| library != "pgfsbench");
    let list = |words: &str, names: &[String]| match names {
        [] => String::new(),
        names => format!(" {words}: {}.", names.join(", ")),
    };
    let loaded = list("Copies load these libraries of this server", loaded);
    let not_loaded = list(
        "Copies do not load these, which start jobs or reach other servers",
        &left_out,
    );
    report::notice(
        format!("this server is copied: up to {}", format_bytes(needed)),
        Some(format!(
            "The view pg_stat_progress_basebackup shows how far it is. Unlogged tables are empty in the copy.{loaded}{not_loaded}"
        )),
    );
}

/// In a transaction, with the owner's rights.
fn facts(user: &str) -> Result<Facts, Fault> {
    let names = SETTINGS.join(",");
    let query = include_str!("queries/original.sql");
    let files = FILES.join(",");
    // The lock may have waited for a tablespace.
    let text = sql::read_latest(query, &[Some(user), Some(&names), Some(&files)])?;
    let facts: Facts = read_json("facts of this server", &text.unwrap_or_default())?;
    let data = session::data_directory();
    let encrypted = ENCRYPTED
        .into_iter()
        .filter(|name| data.join(name).exists());
    Ok(Facts {
        encrypted: encrypted.map(str::to_owned).collect(),
        ..facts
    })
}

/// Makes the copy, and has it recover. Gives the databases that a run can work in.
fn make(
    server: &TargetServer,
    programs: &Programs,
    facts: &Facts,
    owner: u32,
    max_rate: Option<&str>,
) -> Result<Vec<String>, Fault> {
    let Programs { bindir, user } = programs;
    let argv = facts.base_backup(bindir, user, &server.directory, max_rate);
    server.back_up(&argv, user, &mut while_copying(&server.directory))?;
    server.take_in(&facts.tablespaces)?;
    let data = session::data_directory();
    let resolved = fs::canonicalize(&data).map_err(|e| of_file("look at", &data, &e))?;
    server.cut_off(&facts.removed(&[data, resolved]), user)?;
    recover(server, programs, facts, owner)
}

/// Has a copy recover that was cut off, takes from it what would act by itself, and shuts it down. Gives the databases that a run can work in.
pub fn recover(
    server: &TargetServer,
    programs: &Programs,
    facts: &Facts,
    owner: u32,
) -> Result<Vec<String>, Fault> {
    let Programs { bindir, user } = programs;
    server.configure(&session::with_rights_of(owner, || of_recovery(facts))?)?;
    let mut connection = server.start_copy(bindir, user, &mut interrupts)?;
    tidy(server, user, &mut connection)?;
    let usable = format!(
        "SELECT coalesce(jsonb_agg(datname ORDER BY datname), '[]') FROM pg_database WHERE {USABLE_DATABASE} AND datname <> 'postgres'"
    );
    let databases = connection.query(&usable, &[], &mut interrupts)?;
    let databases = read_json("databases", &databases.unwrap_or_default())?;
    drop(connection);
    server.shut_down(bindir, &mut interrupts)?;
    check_tablespaces(&server.data())?;
    server.sync(&mut interrupts)?;
    Ok(databases)
}

/// In a transaction, with the owner's rights.
fn of_recovery(facts: &Facts) -> Result<Settings, Fault> {
    let mut copied = settings::copied()?;
    let original = Original {
        name: String::new(),
        libraries: Vec::new(),
        settings: facts.settings.clone(),
        system_identifier: Some(facts.system_identifier),
        databases: None,
    };
    let mut needed = original.needed("pgfsbench", pg_sys::PG_VERSION_NUM);
    copied.extend(original.settings);
    needed.extend(FOR_RECOVERY.map(|(name, value)| (name, value.to_owned())));
    // The least that the server takes.
    needed.push((
        "min_wal_size",
        format!("{}MB", 2 * (facts.wal_segment_bytes >> 20)),
    ));
    Ok(Settings {
        copied,
        of_target: Default::default(),
        needed,
    })
}

/// Ends what the original has left open, and leaves the database of the extension as runs expect it.
fn tidy(server: &TargetServer, user: &str, connection: &mut Connection) -> Result<(), Fault> {
    let mut ask = |sql: &str| connection.query(sql, &[], &mut interrupts);
    let prepared: Vec<(String, String)> =
        read_json("prepared transactions", &ask(PREPARED)?.unwrap_or_default())?;
    let subscriptions: Vec<(String, String)> =
        read_json("subscriptions", &ask(SUBSCRIPTIONS)?.unwrap_or_default())?;
    let databases: Vec<String> = read_json("databases", &ask(DATABASES)?.unwrap_or_default())?;
    let resets: Vec<String> = read_json("settings", &ask(SESSION_LIBRARIES)?.unwrap_or_default())?;
    let ask_in = |database: &str, statement: &str| {
        let mut there = server.connect_to(user, database, &mut interrupts)?;
        there.query(statement, &[], &mut interrupts).map(drop)
    };
    for reset in resets {
        ask(&reset)?;
    }
    for database in databases {
        let mut there = server.connect_to(user, &database, &mut interrupts)?;
        let triggers = there.query(EVENT_TRIGGERS, &[], &mut interrupts)?;
        let triggers: Vec<String> = read_json("event triggers", &triggers.unwrap_or_default())?;
        for trigger in triggers {
            let name = quoting::sql_identifier(&trigger);
            let disable = format!("ALTER EVENT TRIGGER {name} DISABLE");
            there.query(&disable, &[], &mut interrupts)?;
        }
    }
    // Other statements would wait for their locks.
    for (database, gid) in prepared {
        let gid = quoting::sql_literal(&gid);
        ask_in(&database, &format!("ROLLBACK PREPARED {gid}"))?;
    }
    for (database, subscription) in subscriptions {
        let name = quoting::sql_identifier(&subscription);
        ask_in(&database, &format!("ALTER SUBSCRIPTION {name} DISABLE"))?;
    }
    ask("DROP EXTENSION IF EXISTS pgfsbench CASCADE").map(drop)
}

/// Makes data with a name of the copy. Beyond the limit, others go that `yields` names.
pub fn keep(
    server: &TargetServer,
    lock: File,
    programs: &Programs,
    facts: &Facts,
    original: Original,
    yields: Yields,
) -> Result<u64, Fault> {
    let place = Place::open(&mut interrupts)?;
    let name = original.name.clone();
    if !place.with_name(&original.name)?.is_empty() {
        return Err(Fault::new(
            sqlstate::EXISTS_ALREADY,
            format!("data {} exist already", quoted(&original.name)),
        )
        .detail("They were made meanwhile.")
        .hint("Use them, or drop them with fsbench.drop_data() and copy the server again."));
    }
    let cluster = Cluster {
        data_checksums: facts.data_checksums,
        wal_segment_bytes: facts.wal_segment_bytes,
    };
    let by = prepared_data::made_by(&programs.bindir, &programs.user)?;
    // A run makes the extension in its copy by the script of its day.
    let loaded = Loaded {
        database: String::new(),
        script: String::new(),
    };
    let data_key = DataKey::of_original(cluster, by);
    let kept = place.keep(&server.data(), data_key, loaded, Some(original))?;
    drop(lock);
    let yields = |note: &Note| Ok(!note.is_named(&name) && yields(note)?);
    let enforced = place.enforce_limit(&yields, &mut |dropped| {
        report::notice(
            format!("data {} are dropped", quoted(dropped)),
            Some("With the new copy, they were beyond pgfsbench.prepared_data_limit, and not used for the longest time.".into()),
        );
    });
    if let Err(fault) = enforced {
        report::log_warning(&fault.context("the copy is complete, and older ones stay"));
    }
    Ok(kept)
}
