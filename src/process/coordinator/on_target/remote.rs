//! The dialogue with the server that carries a run out: start it, ask for its progress, fetch the result.

use std::{
    sync::atomic::Ordering::{Relaxed, Release},
    time::{Duration, Instant},
};

use pgfsbench_core::{
    allowance::Allowance,
    escape::blanked_json,
    refusal::quoted,
    run::{
        instances::InstanceRow,
        plan::Begun,
        remote_request::{self, Executor},
    },
    spec::{ResultTable, RunArguments, ScriptArguments, Spec},
    units::format_bytes,
    workload,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    bench::{PhaseTime, Run},
    board::Phase,
    clock,
    errors::{Fault, read_json, sqlstate, to_json_text, unreadable},
    pg::{
        libpq::{Connection, IS_IT_PGFSBENCH},
        process, report, xact,
    },
    store,
    target::server::settings,
    watch::statements,
};

/// The pause between two polls of the target server's progress.
pub(super) const POLL: Duration = Duration::from_millis(500);
/// The pause between two polls while the coordinator waits for an answer.
pub(super) const POLL_SOON: Duration = Duration::from_millis(20);
/// How long the target server may take for an answer: its janitor may have to start first.
const ANSWER: Duration = Duration::from_secs(120);
/// How far the run is, as the target server says.
#[derive(Deserialize)]
pub(super) struct State {
    phase: Option<String>,
    done: Option<u64>,
    total: Option<u64>,
    phase_seconds: Option<f64>,
    tps: Option<f64>,
    tps_last_second: Option<f64>,
    latency_p99_ms: Option<f64>,
    probe: Option<u32>,
    rate: Option<f64>,
}

impl State {
    fn phase(&self) -> Option<Phase> {
        self.phase.as_deref().and_then(Phase::parse)
    }

    /// This one, with the transactions of both.
    pub fn and(self, other: Self) -> Self {
        let add = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
        let slower = self.latency_p99_ms.zip(other.latency_p99_ms);
        Self {
            tps: add(self.tps, other.tps),
            tps_last_second: add(self.tps_last_second, other.tps_last_second),
            latency_p99_ms: slower.map(|(a, b)| a.max(b)),
            ..self
        }
    }
}

/// An answer to the question how far a run is.
pub(super) struct Polled {
    pub state: State,
    /// Whether the run is done.
    pub is_over: bool,
}

/// Renews the lease, and asks how far the run is; from shared memory alone, so that this does not wait for the storage that is
/// measured.
const STATE: &str = "SELECT jsonb_build_object('renewed', fsbench._renew_lease(w.run_id), 'phase', p.phase, \
      'done', p.done, 'total', p.total, 'phase_seconds', p.phase_seconds, 'tps', p.tps, \
      'tps_last_second', p.tps_last_second, 'latency_p99_ms', p.latency_p99_ms, 'probe', p.probe, 'rate', p.rate) \
    FROM (SELECT $1::bigint AS run_id) w LEFT JOIN fsbench._progress() p USING (run_id)";

/// How it has ended.
#[derive(Deserialize)]
struct End {
    status: String,
    fault: Fault,
}

const END: &str = "SELECT jsonb_build_object('status', status, 'fault', jsonb_build_object( \
      'sqlstate', coalesce(error_code, ''), 'message', coalesce(error, ''), 'detail', error_detail, 'hint', error_hint)) \
    FROM fsbench.run_log WHERE run_id = $1::bigint";

const PHASES: &str = "SELECT jsonb_build_object('run', jsonb_build_object('phases', phases, 'steps', steps)) FROM fsbench.run_log WHERE run_id = $1::bigint";

const ROW: &str = "SELECT jsonb_build_object('run', to_jsonb(r)) FROM fsbench.run_log r WHERE r.run_id = $1::bigint";

/// A value of jsonb has a limit, and a run of days has many seconds.
const SLICE: i64 = 10_000;

const START: &str = "SELECT fsbench._start($1)";

/// Tells the script that creates the extension from those of other builds; NULL where it is not in its usual place.
const SCRIPT: &str = "SELECT md5(pg_read_binary_file(setting || '/extension/pgfsbench--' || $1 || '.sql', 0, 100000000, true)) \
    FROM pg_config() WHERE name = 'SHAREDIR' AND coalesce(current_setting('extension_control_path', true), '$system') IN ('', '$system')";

/// An answer, JSON. What another server sends is shown by psql and pages one day.
fn blanked(executor: Executor, json: String) -> String {
    match executor {
        Executor::Own(_) => json,
        Executor::Other(_) => blanked_json(&json),
    }
}

/// The result of a run there, read and not stored yet.
pub(super) struct Measured {
    /// Row, JSON.
    pub document: String,
    /// For each of [`workload::measured_tables`] arrays of rows, JSON.
    pub tables: Vec<Vec<String>>,
    /// Whether the server belongs to other users, who may have sent anything.
    pub(super) is_of_another: bool,
    /// When it was started.
    pub(super) before_ns: u64,
    /// The servers, where they were several.
    pub(super) instances: Vec<InstanceRow>,
}

/// The arguments of a run that its document holds.
fn arguments_of_document(spec: &Spec) -> Result<ScriptArguments, Fault> {
    let Some(hash) = spec.workload.document_hash(spec) else {
        return Ok(ScriptArguments::default());
    };
    let document = xact::transaction(|| store::script::read(&hash))?;
    let arguments = spec.workload.arguments_of_document(spec, &document);
    arguments.map_err(|error| unreadable("document of scripts", error))
}

impl Run {
    /// Starts the run there, follows it, and reads its result.
    pub(super) fn run_remotely(
        &mut self,
        connection: &mut Connection,
        executor: Executor,
    ) -> Result<Measured, Fault> {
        let before_ns = clock::now_ns();
        let remote_id = self.start_remote(connection, executor)?;
        if executor.is_other() {
            self.note("remote_run_id", read::<i64>(&remote_id)?.into());
        }
        let to_the_end = executor.is_other() || self.spec.keeps_database_of_target();
        let followed = self.follow(connection, &remote_id, to_the_end);
        if followed.is_err() {
            self.take_over_failed(connection, &remote_id, executor, before_ns);
        }
        followed?;
        let measured = self.fetch(connection, &remote_id, executor, before_ns)?;
        self.take_over_steps(steps_in(&measured.document), before_ns);
        Ok(measured)
    }

    /// Stores phases, steps and checks of a run there that has failed, as far as that server still tells.
    pub(super) fn take_over_failed(
        &mut self,
        connection: &mut Connection,
        remote_id: &str,
        executor: Executor,
        before_ns: u64,
    ) {
        if !self.remote_has_ended {
            return;
        }
        let phases = self.ask(connection, PHASES, &[Some(remote_id)]).ok();
        let phases = phases.map(|told| blanked(executor, told));
        if let Some(told) = phases {
            self.remote_phases = Some(self.phases_with_those_of(&told, before_ns));
            self.take_over_steps(steps_in(&told), before_ns);
        }
        report::or_log("could not store the checks of the run", || {
            self.take_over_checks(connection, remote_id, executor)
        });
    }

    /// Reads the result of a run there that is done.
    pub(super) fn fetch(
        &mut self,
        connection: &mut Connection,
        remote_id: &str,
        executor: Executor,
        before_ns: u64,
    ) -> Result<Measured, Fault> {
        let id = Some(remote_id);
        // Whatever server it is that answers.
        let seconds = clock::ms(before_ns, clock::now_ns()) / 1000.0;
        let mut allowance = Allowance::of_seconds(seconds as u64);
        let document = blanked(executor, self.ask(connection, ROW, &[id])?);
        take(connection, &mut allowance, &document)?;
        check_done(&document)?;
        let mut tables = Vec::new();
        for table in workload::measured_tables() {
            let slices = self.remote_rows(connection, remote_id, table, &mut allowance)?;
            let slices = slices.into_iter().map(|slice| blanked(executor, slice));
            tables.push(slices.collect());
        }
        Ok(Measured {
            document,
            tables,
            is_of_another: executor.is_other(),
            before_ns,
            instances: Vec::new(),
        })
    }

    /// Stores the checks of a run that has failed there: they tell which data are right.
    fn take_over_checks(
        &mut self,
        connection: &mut Connection,
        remote_id: &str,
        executor: Executor,
    ) -> Result<(), Fault> {
        let table = workload::VERIFICATION;
        let mut allowance = Allowance::of_seconds(0);
        for slice in self.remote_rows(connection, remote_id, table, &mut allowance)? {
            let rows = blanked(executor, slice);
            xact::transaction(|| {
                if executor.is_other() {
                    store::check_rows(table, &rows)?;
                }
                store::insert_rows(self.run_id, table, &rows)
            })?;
        }
        Ok(())
    }

    /// The rows of the run in a table there, as arrays of JSON.
    fn remote_rows(
        &mut self,
        connection: &mut Connection,
        remote_id: &str,
        table: ResultTable,
        allowance: &mut Allowance,
    ) -> Result<Vec<String>, Fault> {
        let rows = format!(
            "SELECT jsonb_agg(t) FROM (SELECT * FROM fsbench.{} WHERE run_id = $1::bigint ORDER BY {} \
               LIMIT {SLICE} OFFSET $2::bigint) t",
            table.name, table.key
        );
        let mut slices = Vec::new();
        for from in (0..).step_by(SLICE as usize) {
            let offset = from.to_string();
            let slice = self.ask(connection, &rows, &[Some(remote_id), Some(&offset)])?;
            if slice.is_empty() {
                break;
            }
            take(connection, allowance, &slice)?;
            slices.push(slice);
        }
        Ok(slices)
    }

    /// Makes sure that it is the server that was put there for this run, and creates the extension in it unless this script has.
    pub(super) fn make_sure_it_is_ours(
        &mut self,
        connection: &mut Connection,
        script: &str,
    ) -> Result<(), Fault> {
        let name = self.ask(connection, "SELECT current_setting('cluster_name')", &[])?;
        if name != settings::cluster_name(&self.run_id.to_string()) {
            return Err(Fault::new(
                sqlstate::SYSTEM,
                "another server than that of the run has answered",
            )
            .detail(format!("Its cluster_name is {}.", quoted(&name)))
            .hint("Take variables like PGHOSTADDR out of this server's environment."));
        }
        self.create_extension(connection, script)?;
        let has_statements = self.ask(connection, statements::LOADED, &[])?;
        if has_statements == "t" {
            // A copy of a server may have no such schema.
            self.ask(connection, "CREATE SCHEMA IF NOT EXISTS public", &[])?;
            let create = format!(
                "CREATE EXTENSION IF NOT EXISTS {} SCHEMA public",
                statements::EXTENSION
            );
            self.ask(connection, &create, &[])?;
        }
        self.check_version(connection)
    }

    /// Creates the extension there, unless what is there was created by the script of today, `script`; gives what tells that.
    pub(super) fn create_extension(
        &mut self,
        connection: &mut Connection,
        script: &str,
    ) -> Result<String, Fault> {
        let today = self.ask(connection, SCRIPT, &[Some(env!("CARGO_PKG_VERSION"))])?;
        if today.is_empty() || today != script {
            // The data may be older than this build of the extension.
            self.ask(connection, "DROP EXTENSION IF EXISTS pgfsbench", &[])?;
            self.ask(connection, "CREATE EXTENSION pgfsbench", &[])?;
        }
        Ok(today)
    }

    /// Refuses a server whose library has another version.
    pub(super) fn check_version(&mut self, connection: &mut Connection) -> Result<(), Fault> {
        let version = self.ask(connection, "SELECT fsbench.version()", &[])?;
        if version != env!("CARGO_PKG_VERSION") {
            return Err(Fault::new(
                sqlstate::NOT_IN_THIS_STATE,
                "the programs of the target have another version of pgfsbench",
            )
            .detail(format!(
                "It is {} there, and {} here.",
                quoted(&version),
                env!("CARGO_PKG_VERSION")
            ))
            .hint("Install the same version for both."));
        }
        Ok(())
    }

    /// Starts the run there; gives its number.
    pub(super) fn start_remote(
        &mut self,
        connection: &mut Connection,
        executor: Executor,
    ) -> Result<String, Fault> {
        let texts = self.board.texts(self.request);
        let arguments = texts.map(|texts| texts.arguments.get()).unwrap_or_default();
        let arguments: RunArguments = read_json("arguments", &arguments)?;
        let spec = &self.spec;
        let settings = xact::transaction(|| settings::of_session(&spec.settings))?;
        let request = remote_request::arguments(
            spec,
            executor,
            arguments.size,
            json!(settings),
            arguments_of_document(spec)?,
        );
        let document = to_json_text(&request)?;
        let started = self.ask(connection, START, &[Some(&document)]);
        started.map_err(|fault| match executor {
            Executor::Other(_) => fault.context("on the target"),
            Executor::Own(_) => fault,
        })
    }

    /// Asks the target server how far it is until the run there is over; with `to_the_end`, until everything is cleared up there,
    /// too.
    pub(super) fn follow(
        &mut self,
        connection: &mut Connection,
        remote_id: &str,
        to_the_end: bool,
    ) -> Result<(), Fault> {
        self.board.run.remote.store(1, Release);
        let followed = self.follow_until_over(connection, remote_id, to_the_end);
        self.board.run.remote.store(0, Release);
        followed
    }

    fn follow_until_over(
        &mut self,
        connection: &mut Connection,
        remote_id: &str,
        to_the_end: bool,
    ) -> Result<(), Fault> {
        let mut next = Instant::now();
        let mut nobody_since = None;
        loop {
            let polled = self.poll(connection, remote_id, to_the_end, &mut nobody_since)?;
            self.mirror(&polled.state);
            if polled.is_over {
                return Ok(());
            }
            // After the measured window questions disturb nothing, and a crash should come soon.
            let phase = polled.state.phase();
            let is_measured = matches!(phase, Some(Phase::Collect | Phase::Cleanup));
            next += match self.spec.options.crash && is_measured {
                true => POLL_SOON,
                false => POLL,
            };
            self.rest_until(next)?;
        }
    }

    /// Waits until then.
    pub(super) fn rest_until(&mut self, next: Instant) -> Result<(), Fault> {
        while let Some(left) = next.checked_duration_since(Instant::now()) {
            self.check_interrupts()?;
            process::wait(left.max(Duration::from_millis(1)));
        }
        Ok(())
    }

    /// Asks the target server how far the run there is. `nobody_since` is when it was first seen that no process has it.
    pub(super) fn poll(
        &mut self,
        connection: &mut Connection,
        remote_id: &str,
        to_the_end: bool,
        nobody_since: &mut Option<Instant>,
    ) -> Result<Polled, Fault> {
        let state: State = read(&self.ask(connection, STATE, &[Some(remote_id)])?)?;
        let phase = state.phase();
        let polled = |is_over| Ok(Polled { state, is_over });
        // A run that is cleared up has its end in its row.
        if phase.is_some() && (phase != Some(Phase::Cleanup) || to_the_end) {
            *nobody_since = None;
            return polled(false);
        }
        let end = self.ask(connection, END, &[Some(remote_id)])?;
        if end.is_empty() {
            return Err(Fault::new(
                sqlstate::SYSTEM,
                "the run has no row any more on the server of the target",
            )
            .detail("Somebody has deleted it there, or dropped the extension."));
        }
        let end: End = read(&end)?;
        match end.status.as_str() {
            "done" => polled(true),
            // It has just begun, or just ended; its row alone is no run.
            "queued" | "running" => {
                if phase.is_none()
                    && nobody_since.get_or_insert_with(Instant::now).elapsed() > ANSWER
                {
                    return Err(nobody_runs_it(&end.status));
                }
                polled(false)
            }
            "failed" | "cancelled" => {
                self.remote_has_ended = true;
                let fault = end.fault.made_harmless();
                Err(match connection.is_of_another() {
                    true => fault.told_by_another(),
                    false => fault,
                })
            }
            other => Err(not_done(other)),
        }
    }

    /// Shows in this server what the target server shows, and keeps it, should nothing more be heard of the run.
    pub(super) fn mirror(&mut self, state: &State) {
        let run = &self.board.run;
        let Some(phase) = state.phase().filter(|&phase| phase != Phase::Queued) else {
            return;
        };
        if run.phase() != phase || !self.phases.iter().skip(1).any(|p| p.phase == phase) {
            let ns = (state.phase_seconds.unwrap_or(0.0) * 1e9) as u64;
            let started_ns = clock::now_ns().saturating_sub(ns);
            run.enter(phase, started_ns, state.total.unwrap_or(0));
            if let Some(last) = self.phases.last_mut() {
                last.ended_ns.get_or_insert(started_ns.max(last.started_ns));
            }
            self.phases.push(PhaseTime {
                phase,
                started_ns,
                ended_ns: None,
            });
        }
        run.done.store(state.done.unwrap_or(0), Relaxed);
        run.phase_tps_bits
            .store(state.tps.unwrap_or(0.0).to_bits(), Relaxed);
        run.tps_bits
            .store(state.tps_last_second.unwrap_or(f64::NAN).to_bits(), Relaxed);
        run.probe.store(state.probe.unwrap_or(0), Relaxed);
        run.rate_bits
            .store(state.rate.unwrap_or(0.0).to_bits(), Relaxed);
        run.latency_p99_ns
            .store((state.latency_p99_ms.unwrap_or(0.0) * 1e6) as u64, Relaxed);
    }

    /// The phases here up to the start of the run there, and then its own.
    pub(super) fn phases_with_those_of(&self, document: &str, before_ns: u64) -> Value {
        let later_ms = clock::ms(self.started_ns, before_ns);
        let spans = self.spans.iter();
        let spans: Vec<Value> = spans.map(|span| span.as_phase(self.started_ns)).collect();
        remote_request::phases(&spans, document, later_ms).into()
    }

    pub(super) fn ask(
        &mut self,
        connection: &mut Connection,
        sql: &str,
        arguments: &[Option<&str>],
    ) -> Result<String, Fault> {
        self.ask_within(connection, sql, arguments, Some(ANSWER))
    }

    /// Without a limit of its own for what reads all data.
    pub(super) fn ask_within(
        &mut self,
        connection: &mut Connection,
        sql: &str,
        arguments: &[Option<&str>],
        patience: Option<Duration>,
    ) -> Result<String, Fault> {
        let deadline = patience.map(|patience| Instant::now() + patience);
        let mut in_time = || {
            self.check_interrupts()?;
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(Fault::new(
                    sqlstate::CONNECTION_LOST,
                    "the target server does not answer",
                ));
            }
            Ok(())
        };
        let answer = connection.query(sql, arguments, &mut in_time);
        Ok(answer.map_err(of_the_connection)?.unwrap_or_default())
    }
}

/// The steps in the row of a run there. Those that cannot be read are none.
pub(super) fn steps_in(document: &str) -> Vec<Begun> {
    let told: Value = serde_json::from_str(document).unwrap_or_default();
    serde_json::from_value(told["run"]["steps"].clone()).unwrap_or_default()
}

/// Refuses the row of a run that is not done, whatever the server there has said before.
fn check_done(document: &str) -> Result<(), Fault> {
    #[derive(Deserialize)]
    struct Document {
        run: RemoteRunStatus,
    }
    #[derive(Deserialize)]
    struct RemoteRunStatus {
        status: String,
    }
    let there: Document = read(document)?;
    match there.run.status.as_str() {
        "done" => Ok(()),
        other => Err(not_done(other)),
    }
}

fn not_done(status: &str) -> Fault {
    Fault::new(sqlstate::SYSTEM, "the run on the target is not done")
        .detail(format!(
            "Its row there has the status {}, and was to have \"done\".",
            quoted(status)
        ))
        .hint(IS_IT_PGFSBENCH)
}

fn nobody_runs_it(status: &str) -> Fault {
    Fault::new(
        sqlstate::SYSTEM,
        "no process carries out the run on the target any more",
    )
    .detail(format!(
        "Its row there has the status {}, and no process has worked on it for {} s.",
        quoted(status),
        ANSWER.as_secs()
    ))
    .hint("See the log of the server there.")
}

/// Takes what a target server has sent, if a run of that length can have measured so much.
fn take(connection: &mut Connection, allowance: &mut Allowance, answer: &str) -> Result<(), Fault> {
    if allowance.take(answer.len()) {
        connection.keep(answer.len());
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::TOO_MUCH,
        "the target server has sent more than a run can have measured",
    )
    .detail(format!(
        "Of a run that took as long, up to {} are taken.",
        format_bytes(allowance.bytes())
    ))
    .hint("See whether the connection leads to a server with pgfsbench, and which rows of the run are in schema fsbench there."))
}

/// An error of a statement on the target server, as one of this run. That the server ends is no cancellation of it.
fn of_the_connection(mut fault: Fault) -> Fault {
    if sqlstate::is_of_the_connection(&fault.sqlstate) {
        fault.sqlstate = sqlstate::CONNECTION_LOST.into();
    } else if fault.sqlstate == sqlstate::CANCELED
        && fault.message.starts_with("canceling statement")
    {
        fault.sqlstate = sqlstate::SYSTEM.into();
        fault = fault.context("on the target server");
    }
    fault
}

/// Reads what a target server has answered. That it cannot be read is no bug of ours.
pub(super) fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Fault> {
    read_json("answer of the target server", text).map_err(|fault| Fault {
        sqlstate: sqlstate::SYSTEM.into(),
        ..fault.made_harmless().hint(IS_IT_PGFSBENCH)
    })
}
