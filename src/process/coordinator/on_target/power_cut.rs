//! Power cuts: after the clients, this process makes the commits of the other parts of the batch. Then the recording ends, and for each cut the
//! helper mounts the filesystem as the cut would have left it, and the target's server is started there and judged.

mod disk_error;

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use pgfsbench_core::{
    helper::Storage,
    helper::record::{self, CutEnded, CutMounted, CutStop, FaultOn, Recorded, Tear, Window},
    spec::Spec,
    workload::power_cut::{
        Batch, CONTROL_COMMITS, Filesystem, History, Losses, Outcome, PAGES, Part, Point,
        PowerCutOptions, StorageError, is_of_the_machine, judge, judge_pages, torn_page,
    },
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    remote::{Measured, read},
    server_setup::ServerSetup,
};
use crate::{
    bench::Run,
    board::Phase,
    clock,
    errors::{Fault, sqlstate},
    pg::{libpq::Connection, process, report, sql, xact},
    run::cancellation,
    store,
    target::{ServerPlace, helper_job},
};

/// Bytes of a record at most.
const RECORD_BYTES: u64 = 1 << 30;
/// Transactions that write all pages, each with a checkpoint after it.
const CHECKPOINTS: u64 = 3;
/// The pause until a setting is looked at again.
const POLL: Duration = Duration::from_millis(5);

/// Columns of the run in the server on the target.
#[derive(Deserialize)]
struct RemoteRunRow {
    committed: u64,
    work_database: String,
}

const BEFORE: &str = "SELECT jsonb_build_object('committed', transactions_total + transactions_outside, 'work_database', work_database) \
    FROM jsonb_populate_record(NULL::fsbench.run_log, $1::jsonb->'run')";
const SURVIVORS: &str = include_str!("queries/survivors.sql");
const HAS_AMCHECK: &str =
    "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'amcheck')";
const AMCHECK: &str = include_str!("queries/amcheck.sql");
const PAGES_FOUND: &str = "SELECT jsonb_build_object('rows', count(*), 'lowest', coalesce(min(number), 0), 'highest', coalesce(max(number), 0)) \
    FROM public.fsbench_pages";

/// A part of the batch that was recorded.
struct RecordedPart {
    part: Part,
    history: History,
    from_ns: u64,
    to_ns: u64,
}

/// Relations that amcheck has read.
#[derive(Deserialize)]
struct Amchecked {
    relations: u64,
    damage: Option<String>,
}

/// The rows after a power cut.
struct Found {
    judged: Losses,
    amchecked: Option<Amchecked>,
}

/// The batch of a run.
pub(super) struct PowerCuts {
    batch: Batch,
    filesystem: Filesystem,
    errors: Vec<StorageError>,
}

impl PowerCuts {
    /// In a transaction, after the run itself.
    pub fn store(&self, run_id: i64) -> Result<(), Fault> {
        store::insert(run_id, &self.batch.summaries(&self.filesystem))?;
        store::insert(run_id, &self.batch.points)?;
        store::insert(run_id, &self.errors)
    }
}

/// The record of a target whose power is cut; None for other workloads.
pub(super) fn record_of(spec: &Spec) -> Option<record::Record> {
    spec.workload.cuts_power().then_some(record::Record {
        log_bytes: RECORD_BYTES,
    })
}

/// The filesystem that the helper has made for the run.
fn filesystem_of(place: &ServerPlace) -> Filesystem {
    match place {
        ServerPlace::Made { prepare } => Filesystem {
            name: prepare.filesystem.name().to_owned(),
            mount_options: prepare.mount_options.clone().unwrap_or_default(),
            is_logged: matches!(prepare.storage, Storage::Device(_)),
        },
        ServerPlace::Directory(_) | ServerPlace::Connection(_) => Filesystem::default(),
    }
}

impl Run {
    /// From the end of the measured window to the last power cut.
    pub(super) fn cut_power(
        &mut self,
        server: &mut ServerSetup,
        measured: Option<&Measured>,
    ) -> Result<PowerCuts, Fault> {
        let document = measured.map(|measured| &measured.document[..]);
        let before = xact::transaction(|| sql::read(BEFORE, &[document]))?;
        let before: RemoteRunRow = read(&before.unwrap_or_default())?;
        let filesystem = filesystem_of(&server.target.on);
        drop(server.connection.take());
        let parts = match self.make_parts(server, &before, &filesystem) {
            Ok(parts) => parts,
            Err(fault) => return Err(self.unless_record_is_full(server, fault)),
        };
        server.server()?.crash(&mut || self.check_interrupts())?;
        let own: PowerCutOptions = self.spec.options.own();
        let windows = parts.iter().map(|made| Window {
            cuts: made.part.cuts(own.cuts),
            from_ns: made.from_ns,
            to_ns: made.to_ns,
        });
        let stop = CutStop {
            seed: self.spec.seed.cast_unsigned(),
            windows: windows.collect(),
        };
        let target = server.target.name.clone();
        let recorded: Recorded = self.ask_for_cut(&target, "cut_stop", &json!(stop))?;
        check_record(&recorded)?;
        self.enter(Phase::Recovery, recorded.points.len() as u64);
        let mut batch = Batch::default();
        let mut errors = Vec::new();
        let mut points = recorded.points.into_iter();
        for (made, window) in parts.iter().zip(&stop.windows) {
            for (number, point) in (1..=window.cuts).zip(&mut points) {
                match self.cut_once(server, &before, made, number, point) {
                    Ok(point) => batch.points.push(point),
                    Err(fault) => {
                        self.keep_failure(&PowerCuts {
                            batch,
                            filesystem,
                            errors,
                        });
                        return Err(fault);
                    }
                }
                self.board
                    .run
                    .done
                    .store(batch.points.len() as u64, Relaxed);
            }
        }
        if own.fsync_error {
            let of_commits = Part::Commits.as_str();
            let of_commits = batch.points.iter().rfind(|point| point.part == of_commits);
            for on in FaultOn::ALL {
                let began_ns = clock::now_ns();
                let cut = record::Cut {
                    number: of_commits.map_or(1, |point| point.number),
                    seed: self.cut_seed(Part::Commits),
                    entry: of_commits.map_or(0, |point| point.entry),
                    tear: Tear::None,
                };
                let course = self.fail_disk(server, &before, &cut, on)?;
                let ms = clock::ms(began_ns, clock::now_ns());
                errors.push(StorageError::of(on, course, ms));
            }
        }
        Ok(PowerCuts {
            batch,
            filesystem,
            errors,
        })
    }

    /// Replaces a fault before the end of the recording by that of a full record, if it is full. A full record makes the server fail in many ways.
    pub(super) fn unless_record_is_full(&mut self, server: &ServerSetup, fault: Fault) -> Fault {
        let Ok(there) = server.server() else {
            return fault;
        };
        if !self.spec.workload.cuts_power() || self.is_cancel(&fault) {
            return fault;
        }
        let _ = there.crash(&mut || self.check_interrupts());
        let stop = json!(CutStop::default());
        let recorded: Result<Recorded, Fault> =
            self.ask_for_cut(&server.target.name, "cut_stop", &stop);
        match recorded.map(|recorded| check_record(&recorded)) {
            Ok(Err(full)) => full,
            Ok(Ok(())) | Err(_) => fault,
        }
    }

    /// The seed that decides, with the number of a cut, which unflushed writes survive.
    fn cut_seed(&self, part: Part) -> u64 {
        self.spec.seed.cast_unsigned().wrapping_add(part as u64)
    }

    /// Stores the cuts of a run that fails, if a cut of a test has shown a loss before.
    fn keep_failure(&self, power_cuts: &PowerCuts) {
        if power_cuts.batch.has_failed_test() {
            report::or_log(
                "could not store the power cuts of a run that failed",
                || xact::transaction(|| power_cuts.store(self.run_id)),
            );
        }
    }

    /// Has the helper do something for power cuts. Its steps are not told: each cut has several.
    fn ask_for_cut<T: serde::de::DeserializeOwned>(
        &mut self,
        target: &str,
        action: &str,
        request: &Value,
    ) -> Result<T, Fault> {
        let (run_id, patience) = (Some(self.run_id), self.patience());
        let mut check_interrupts = || self.check_interrupts();
        let answer = helper_job::ask(
            run_id,
            target,
            action,
            request,
            patience,
            &mut check_interrupts,
        )?;
        serde_json::from_value(answer).map_err(|e| {
            Fault::new(
                sqlstate::SYSTEM,
                format!("the helper's answer to \"{action}\" cannot be read: {e}"),
            )
        })
    }

    /// Makes the commits of the other parts, while all is recorded.
    fn make_parts(
        &mut self,
        server: &ServerSetup,
        before: &RemoteRunRow,
        filesystem: &Filesystem,
    ) -> Result<Vec<RecordedPart>, Fault> {
        let there = server.server()?;
        let history = History::read(&there.acknowledgments(self.spec.clients)?);
        if history.len() != before.committed && !history.is_cut_short() {
            return Err(Fault::new(
                sqlstate::INTERNAL,
                format!(
                    "{} acknowledgments were kept of {} commits",
                    history.len(),
                    before.committed
                ),
            ));
        }
        let (from_ns, to_ns) = history.window().ok_or_else(|| {
            Fault::new(sqlstate::NOT_IN_THIS_STATE, "no commit was acknowledged")
                .detail("Power cuts show nothing then.")
                .hint("Give a longer duration.")
        })?;
        let mut made = vec![RecordedPart {
            part: Part::Commits,
            history,
            from_ns,
            to_ns,
        }];
        let mut check_interrupts = || self.check_interrupts();
        let mut connection = there.connect_to(
            &server.programs.user,
            &before.work_database,
            &mut check_interrupts,
        )?;
        for part in [Part::Pages, Part::FsyncOff, Part::FullPageWritesOff] {
            self.make_tables(&mut connection, part)?;
            let mut was = None;
            if let Some(setting) = part.switches_off() {
                let shown = format!("SELECT current_setting('{setting}')");
                was = Some((setting, self.ask(&mut connection, &shown, &[])?));
                self.switch(&mut connection, setting, "off")?;
            }
            made.push(self.make_commits(&mut connection, part)?);
            if let Some((setting, value)) = was {
                self.switch(&mut connection, setting, &value)?;
            }
            if part == Part::FsyncOff {
                there.sync_after_control(&mut || self.check_interrupts())?;
            }
        }
        if Part::BarriersOff.is_made_on(filesystem) {
            self.make_tables(&mut connection, Part::BarriersOff)?;
            // Until its release the filesystem stays so.
            let _: Value = self.ask_for_cut(&server.target.name, "barriers_off", &json!({}))?;
            made.push(self.make_commits(&mut connection, Part::BarriersOff)?);
        }
        Ok(made)
    }

    /// Makes the tables of a part, as durable as the server's own settings allow.
    fn make_tables(&mut self, connection: &mut Connection, part: Part) -> Result<(), Fault> {
        // A row on each page, with room for its next version.
        let rows = format!(
            "INSERT INTO public.fsbench_pages SELECT 0, repeat('x', 3000) FROM generate_series(1, {PAGES})"
        );
        let commits = commits_table(part.table());
        let statements: &[&str] = match part {
            Part::Commits => &[],
            Part::Pages => &[
                "CREATE TABLE public.fsbench_pages (number bigint NOT NULL, filler text NOT NULL) \
                   WITH (fillfactor = 45, autovacuum_enabled = off)",
                "ALTER TABLE public.fsbench_pages ALTER filler SET STORAGE PLAIN",
                &rows,
            ],
            Part::FsyncOff | Part::BarriersOff => &[&commits],
            Part::FullPageWritesOff => &["UPDATE public.fsbench_pages SET number = 0"],
        };
        for statement in statements {
            self.ask(connection, statement, &[])?;
        }
        self.ask(connection, "CHECKPOINT", &[])?;
        Ok(())
    }

    /// Changes a setting of the server, and waits until it is in force.
    fn switch(
        &mut self,
        connection: &mut Connection,
        setting: &str,
        value: &str,
    ) -> Result<(), Fault> {
        let alter = format!("ALTER SYSTEM SET {setting} = {value}");
        self.ask(connection, &alter, &[])?;
        self.ask(connection, "SELECT pg_reload_conf()", &[])?;
        let shown = format!("SELECT current_setting('{setting}')");
        while self.ask(connection, &shown, &[])? != value {
            process::wait(POLL);
            self.check_interrupts()?;
        }
        let method = "SELECT current_setting('wal_sync_method')";
        if setting == "fsync" && self.ask(connection, method, &[])?.starts_with("open_") {
            // A segment that is open stays as it was opened, whatever fsync becomes.
            self.ask(connection, "SELECT pg_switch_wal()", &[])?;
        }
        Ok(())
    }

    /// Makes the commits of a part, and notes when each was acknowledged.
    fn make_commits(
        &mut self,
        connection: &mut Connection,
        part: Part,
    ) -> Result<RecordedPart, Fault> {
        let mut times = Vec::new();
        if part.writes_pages() {
            // From the redo point of this checkpoint on, the setting is in force.
            self.ask(connection, "CHECKPOINT", &[])?;
        }
        let from_ns = clock::now_ns();
        let table = part.table();
        let (commits, statement) = match part.writes_pages() {
            true => (
                CHECKPOINTS,
                format!("UPDATE public.{table} SET number = $1::bigint"),
            ),
            false => (CONTROL_COMMITS, insert_commit(table)),
        };
        for number in 1..=commits {
            self.ask(connection, &statement, &[Some(&number.to_string())])?;
            times.push(clock::now_ns());
            if part.writes_pages() {
                self.ask(connection, "CHECKPOINT", &[])?;
            }
        }
        Ok(RecordedPart {
            part,
            from_ns: match part.writes_pages() {
                true => from_ns,
                // Cuts before the first acknowledgment lose nothing.
                false => times.first().copied().unwrap_or(from_ns),
            },
            history: History::of(vec![times]),
            to_ns: clock::now_ns(),
        })
    }

    /// Cuts the power at a moment of the record, and judges what is left.
    fn cut_once(
        &mut self,
        server: &mut ServerSetup,
        before: &RemoteRunRow,
        made: &RecordedPart,
        number: u32,
        at: record::Point,
    ) -> Result<Point, Fault> {
        let began_ns = clock::now_ns();
        let target = server.target.name.clone();
        let tear = made.part.tear(number);
        let cut = record::Cut {
            number,
            seed: self.cut_seed(made.part),
            entry: at.entry,
            tear,
        };
        let mounted: CutMounted = self.ask_for_cut(&target, "cut", &json!(cut))?;
        let mut point = Point {
            part: made.part.as_str(),
            number,
            entry: at.entry,
            unflushed: at.unflushed,
            tear: tear.unit(),
            acknowledged: made.history.before(at.ns).iter().sum(),
            ..Point::default()
        };
        if mounted.mounted {
            let is_sampled = made.part.is_sampled(number);
            let found = self.judge_cut(server, before, made, (at.ns, is_sampled));
            let found = found.and_then(|found| {
                let survived = found.judged.outcome() == Outcome::Survived;
                let has_checksums = server.target.cluster.data_checksums;
                if survived && has_checksums && is_sampled {
                    let bindir = &server.programs.bindir;
                    let mut check_interrupts = || self.check_interrupts();
                    server
                        .server()?
                        .check_pages(bindir, &mut check_interrupts)?;
                    point.pages_checked = true;
                }
                Ok(found)
            });
            match found {
                Ok(Found { judged, amchecked }) => {
                    point.take(judged);
                    if let Some(Amchecked { relations, damage }) = amchecked {
                        point.relations_checked = Some(relations);
                        damage
                            .into_iter()
                            .for_each(|damage| point.fail(Outcome::Corrupt, damage));
                    }
                }
                Err(fault) => self.note_failure(server, &mut point, fault)?,
            }
            if point.outcome == Outcome::Survived.as_str()
                && let Some(line) = torn_page(&server.server()?.whole_recovery_log())
            {
                point.fail(Outcome::Torn, line.to_owned());
            }
            server.server()?.stop()?;
            let ended: CutEnded = self.ask_for_cut(&target, "cut_end", &json!({}))?;
            check_recorder(&ended)?;
        } else {
            let why = mounted.why_not.unwrap_or_default();
            point.fail(Outcome::Unbootable, why);
        }
        point.ms = clock::ms(began_ns, clock::now_ns());
        Ok(point)
    }

    /// Notes an error after a cut as its outcome. An error of the machine, and a cancelled run, have none.
    fn note_failure(
        &self,
        server: &ServerSetup,
        point: &mut Point,
        fault: Fault,
    ) -> Result<(), Fault> {
        let sqlstate = fault.sqlstate.clone();
        let problem = self.in_words(fault)?;
        let log = server.server()?.whole_recovery_log();
        let is_torn = torn_page(&problem).or(torn_page(&log)).is_some();
        let outcome = match is_torn {
            true => Outcome::Torn,
            false if sqlstate::says_corrupted(&sqlstate) => Outcome::Corrupt,
            false => Outcome::Unbootable,
        };
        point.fail(outcome, problem);
        Ok(())
    }

    /// Starts the server on the mounted cut, and compares its rows with the history.
    fn judge_cut(
        &mut self,
        server: &mut ServerSetup,
        before: &RemoteRunRow,
        made: &RecordedPart,
        (at_ns, is_sampled): (u64, bool),
    ) -> Result<Found, Fault> {
        // The file of settings was not synced, and a control has changed it.
        self.write_settings(server)?;
        let there = server.server()?;
        there.forget_postmaster()?;
        let programs = server.programs;
        let mut check_interrupts = || self.check_interrupts();
        let recovered = there.recover(
            &programs.bindir,
            &programs.user,
            &before.work_database,
            &server.preloaded_after_crash(),
            &mut check_interrupts,
        )?;
        let mut connection = recovered.connection?;
        if made.part.writes_pages() {
            let found = self.ask_within(&mut connection, PAGES_FOUND, &[], None)?;
            let judged = judge_pages(&made.history, at_ns, read(&found)?);
            return self.with_amcheck(&mut connection, judged, is_sampled);
        }
        let judged = self.survivors(&mut connection, made.part.table(), &made.history, at_ns)?;
        self.with_amcheck(&mut connection, judged, is_sampled)
    }

    /// Compares the rows of a table with the commits that were acknowledged before a moment.
    fn survivors(
        &mut self,
        connection: &mut Connection,
        table: &str,
        history: &History,
        at_ns: u64,
    ) -> Result<Losses, Fault> {
        let question = SURVIVORS.replace("TABLE", table);
        let acknowledged = history.before(at_ns);
        let acknowledged: Vec<String> = acknowledged.iter().map(u64::to_string).collect();
        let acknowledged = format!("{{{}}}", acknowledged.join(","));
        let found = self.ask_within(connection, &question, &[Some(&acknowledged)], None)?;
        let survivors: Vec<_> = read(&found)?;
        Ok(judge(history, at_ns, &survivors))
    }

    /// Has amcheck read all relations after a cut that was survived and is in the sample, if the server has that extension.
    fn with_amcheck(
        &mut self,
        connection: &mut Connection,
        judged: Losses,
        is_sampled: bool,
    ) -> Result<Found, Fault> {
        let is_checked = is_sampled
            && judged.outcome() == Outcome::Survived
            && self.ask(connection, HAS_AMCHECK, &[])? == "t";
        let mut amchecked = None;
        if is_checked {
            self.ask(
                connection,
                "CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA public",
                &[],
            )?;
            amchecked = Some(read(&self.ask_within(connection, AMCHECK, &[], None)?)?);
        }
        Ok(Found { judged, amchecked })
    }

    /// Whether the fault comes of a cancelled run.
    fn is_cancel(&self, fault: &Fault) -> bool {
        fault.is_cancel() || cancellation::is_cancelled(self.request)
    }

    /// An error after a fault of the disk in words. An error of the machine, and a cancelled run, are none.
    fn in_words(&self, fault: Fault) -> Result<String, Fault> {
        if is_of_the_machine(&fault.sqlstate) || self.is_cancel(&fault) {
            return Err(fault);
        }
        Ok(match fault.detail {
            Some(detail) => format!("{}: {detail}", fault.message),
            None => fault.message,
        })
    }
}

/// The statement that makes a table for numbered commits.
fn commits_table(table: &str) -> String {
    format!("CREATE TABLE public.{table} (client int NOT NULL, number bigint NOT NULL)")
}

/// The statement that commits one number, of client 0.
fn insert_commit(table: &str) -> String {
    format!("INSERT INTO public.{table} VALUES (0, $1::bigint)")
}

/// A failure of the recorder while a cut was judged is none of the filesystem.
fn check_recorder(ended: &CutEnded) -> Result<(), Fault> {
    match ended.refusal() {
        Some(refusal) => Err(refusal.into()),
        None => Ok(()),
    }
}

/// Refuses a record that lacks its end.
fn check_record(recorded: &Recorded) -> Result<(), Fault> {
    if !recorded.is_full {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::DISK_FULL,
        "the record of the target's writes is full",
    )
    .detail(format!("It holds {} writes.", recorded.writes))
    .hint("Give a shorter duration, or fewer clients."))
}
