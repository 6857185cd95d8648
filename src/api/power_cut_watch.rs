//! A witness of power cuts: this server has another one commit, and keeps each number that was acknowledged. After the power of the other server was cut,
//! the numbers that are missing there are counted.

use std::{
    cell::RefCell,
    time::{Duration, Instant},
};

use pgfsbench_core::{refusal::quoted, texts::power_cut as text};
use pgrx::{datum::Interval, pg_extern, pg_sys::panic::ErrorReport};
use serde::Deserialize;

use super::guard;
use crate::{
    errors::{Fault, read_json, read_stored, sqlstate},
    pg::{libpq::Connection, process, session, sql, text::Text},
    random,
    target::{self, ServerPlace, remote_run::RemoteRun},
};

/// A watch of this session.
struct Watch {
    watch_id: i64,
    mark: String,
    link: Connection,
    /// The number that was acknowledged last.
    number: i64,
    began: Instant,
    /// None: until the link is lost.
    duration: Option<Duration>,
}

thread_local! {
    /// The watch that is on. A session has one at a time.
    static ON: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// The longest mark of a watch, which is a key of a table.
const LONGEST_MARK: usize = 32;

const COMMIT: &str = "SELECT fsbench._witness($1, $2::bigint)";
const REMOVE: &str = "SELECT fsbench._witness($1, NULL)";
const STARTED: &str = "SELECT pg_postmaster_start_time()";
const FOUND: &str = include_str!("queries/watch_found.sql");

#[pg_extern(sql = false)]
fn fsbench_watch_begin(
    target: Option<Text>,
    duration: Option<Interval>,
) -> Result<i64, ErrorReport> {
    let owner = guard::ready()?.owner;
    if !session::may_commit() {
        return Err(Fault::new(
            sqlstate::IN_TRANSACTION,
            "CALL fsbench.power_cut_watch() cannot be used in a transaction block",
        )
        .detail("It commits after each number that the other server has acknowledged.")
        .hint("Call it by itself.")
        .into());
    }
    let name: String = target.map(Into::into).ok_or_else(|| {
        Fault::new(sqlstate::INVALID_PARAMETER, "target must not be null")
            .detail("It names the server whose power will be cut.")
            .hint("Give a target with a connection (fsbench.create_target()).")
    })?;
    let us = duration.map(|duration| duration.as_micros());
    if us.is_some_and(|us| us <= 0) {
        return Err(
            Fault::new(sqlstate::INVALID_PARAMETER, "duration is not above zero")
                .detail("After this time the watch ends by itself.")
                .hint("Give an interval such as '1 h', or leave it out.")
                .into(),
        );
    }
    let duration = us.map(|us| Duration::from_micros(u64::try_from(us).unwrap_or(u64::MAX)));
    let mut link = link_to(owner, &name)?;
    remove_counted(owner, &name, &mut link)?;
    let started = ask(&mut link, STARTED, &[])?;
    let mark = random::mark();
    let id = session::with_rights_of(owner, || {
        sql::write(
            "INSERT INTO fsbench.power_cut_watch (target, mark, server_started_at) VALUES ($1, $2, $3::timestamptz) RETURNING watch_id",
            &[Some(&name), Some(&mark), Some(&started)],
        )
    })?;
    let watch_id = id
        .and_then(|id| id.parse().ok())
        .ok_or_else(|| Fault::new(sqlstate::INTERNAL, "a watch has no number"))?;
    ON.set(Some(Watch {
        watch_id,
        mark,
        link,
        number: 0,
        began: Instant::now(),
        duration,
    }));
    Ok(watch_id)
}

#[pg_extern(sql = false)]
fn fsbench_watch_commit(watch_id: i64) -> Result<bool, ErrorReport> {
    let owner = guard::ready()?.owner;
    // An error ends the watch, and closes its link.
    let watch = ON.take().filter(|watch| watch.watch_id == watch_id);
    let mut watch = watch.ok_or_else(guard::unknown_verb)?;
    let is_over = watch
        .duration
        .is_some_and(|duration| watch.began.elapsed() >= duration);
    // A watch without a number could not be counted.
    if is_over && watch.number > 0 {
        end(owner, watch_id, "duration")?;
        return Ok(false);
    }
    let number = watch.number + 1;
    let arguments = [Some(&watch.mark[..]), Some(&number.to_string())];
    match ask(&mut watch.link, COMMIT, &arguments) {
        Ok(_) => {}
        Err(fault) if sqlstate::is_of_the_connection(&fault.sqlstate) => {
            end(owner, watch_id, "lost")?;
            return Ok(false);
        }
        Err(fault) => return Err(fault.into()),
    }
    // The procedure commits next: a number that was acknowledged is on this server's disk before the next one is sent.
    sql::write(
        "SELECT pg_catalog.set_config('synchronous_commit', 'on', true)",
        &[],
    )?;
    update(
        owner,
        watch_id,
        "acknowledged = $2::bigint, acknowledged_at = clock_timestamp()",
        &[Some(&number.to_string())],
    )?;
    watch.number = number;
    ON.set(Some(watch));
    Ok(true)
}

/// A watch as it is stored.
#[derive(Deserialize)]
struct Stored {
    target: String,
    mark: String,
    acknowledged: i64,
    server_started_at: String,
}

/// Numbers of a watch on the other server.
#[derive(Deserialize)]
struct Found {
    found: i64,
    first_missing: Option<i64>,
    has_restarted: bool,
}

#[pg_extern(sql = false)]
fn fsbench_watch_verify(watch_id: i64) -> Result<(), ErrorReport> {
    let owner = guard::ready()?.owner;
    let stored = session::with_rights_of(owner, || {
        sql::read(
            "SELECT to_jsonb(w) FROM fsbench.power_cut_watch w WHERE watch_id = $1::bigint",
            &[Some(&watch_id.to_string())],
        )
    })?;
    let stored: Stored = read_stored("watch", &stored.ok_or_else(guard::unknown_verb)?)?;
    let mut link = link_to(owner, &stored.target)?;
    remove_counted(owner, &stored.target, &mut link)?;
    let acknowledged = stored.acknowledged.to_string();
    let arguments = [
        Some(&stored.mark[..]),
        Some(&acknowledged),
        Some(&stored.server_started_at),
    ];
    let found: Found = read_json("answer", &ask(&mut link, FOUND, &arguments)?)?;
    // A hostile server may answer anything.
    let there = found.found.clamp(0, stored.acknowledged);
    let missing = stored.acknowledged - there;
    let says = text::watched(
        stored.acknowledged,
        missing,
        found.first_missing,
        found.has_restarted,
    );
    let numbers = [
        there.to_string(),
        missing.to_string(),
        found.has_restarted.to_string(),
    ];
    let first = found.first_missing.map(|number| number.to_string());
    update(
        owner,
        watch_id,
        "found = $2::bigint, missing = $3::bigint, first_missing = $4::bigint, says = $5, \
           verified_at = CASE WHEN $6::boolean THEN clock_timestamp() END",
        &[
            Some(&numbers[0]),
            Some(&numbers[1]),
            first.as_deref(),
            Some(&says),
            Some(&numbers[2]),
        ],
    )?;
    Ok(())
}

/// Removes the numbers of watches that an earlier transaction has counted. Numbers that this transaction counts stay: the removal would be committed on
/// the other server even if the count is rolled back here, and the next count would find none.
fn remove_counted(owner: u32, target: &str, link: &mut Connection) -> Result<(), Fault> {
    let counted = session::with_rights_of(owner, || {
        sql::read(
            "SELECT jsonb_agg(jsonb_build_array(watch_id, mark)) FROM fsbench.power_cut_watch \
             WHERE target = $1 AND verified_at < transaction_timestamp() AND removed_at IS NULL",
            &[Some(target)],
        )
    })?;
    let counted: Vec<(i64, String)> = match counted {
        Some(counted) => read_stored("watches", &counted)?,
        None => return Ok(()),
    };
    for (watch_id, mark) in &counted {
        ask(link, REMOVE, &[Some(mark)])?;
        update(owner, *watch_id, "removed_at = clock_timestamp()", &[])?;
    }
    Ok(())
}

/// Commits a number of a watch of another server, or removes those of a watch.
#[pg_extern(sql = false)]
fn fsbench_witness(mark: Option<Text>, number: Option<i64>) -> Result<(), ErrorReport> {
    let owner = guard::ready()?.owner;
    let mark: Option<String> = mark.map(Into::into);
    let mark = (mark.filter(|mark| mark.len() <= LONGEST_MARK)).ok_or_else(guard::unknown_verb)?;
    let number = number.map(|number| number.to_string());
    let statement = match number {
        Some(_) => "INSERT INTO fsbench.power_cut_commit (mark, number) VALUES ($1, $2::bigint)",
        None => "DELETE FROM fsbench.power_cut_commit WHERE mark = $1 AND $2 IS NULL",
    };
    session::with_rights_of(owner, || {
        sql::write(statement, &[Some(&mark), number.as_deref()])
    })?;
    Ok(())
}

/// Connects to the server of a target.
fn link_to(owner: u32, name: &str) -> Result<Connection, Fault> {
    let found = session::with_rights_of(owner, || match target::kind_of(name)? {
        Some(_) => target::find(name).map(Some),
        None => Ok(None),
    })?;
    let Some(ServerPlace::Connection(connection)) = found.map(|found| found.on) else {
        return Err(Fault::new(
            sqlstate::INVALID_PARAMETER,
            format!("target {} has no connection", quoted(name)),
        )
        .detail("It does not exist, or it is on this machine. This server witnesses what another server acknowledges.")
        .hint("Give a target with a connection (fsbench.create_target())."));
    };
    let remote = RemoteRun {
        connection,
        label: String::new(),
    };
    remote.connect("pgfsbench witness", &mut check_interrupts)
}

fn check_interrupts() -> Result<(), Fault> {
    process::check_interrupts();
    Ok(())
}

fn ask(link: &mut Connection, sql: &str, arguments: &[Option<&str>]) -> Result<String, Fault> {
    let answer = link.query(sql, arguments, &mut check_interrupts)?;
    Ok(answer.unwrap_or_default())
}

fn end(owner: u32, watch_id: i64, ended_by: &str) -> Result<(), Fault> {
    let set = "ended_at = clock_timestamp(), ended_by = $2";
    update(owner, watch_id, set, &[Some(ended_by)])
}

/// Sets columns of a watch, to values from $2 on.
fn update(owner: u32, watch_id: i64, set: &str, values: &[Option<&str>]) -> Result<(), Fault> {
    let id = watch_id.to_string();
    let mut arguments = vec![Some(&id[..])];
    arguments.extend(values);
    session::with_rights_of(owner, || {
        sql::write(
            &format!("UPDATE fsbench.power_cut_watch SET {set} WHERE watch_id = $1::bigint"),
            &arguments,
        )
    })?;
    Ok(())
}
