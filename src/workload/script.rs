//! Scripts of pgbench's language: each client is a session of the role that has asked for the run, and can do what that role could do in
//! a session of its own.

mod client;
mod runner;

use std::sync::atomic::Ordering::{Acquire, Release};

use pgfsbench_core::{
    quoting,
    spec::{RoleOfOriginal, Spec, Stage},
    verification::{Check, Moment},
    workload::{
        mix::Mix,
        script::{
            Answers, Check as OwnCheck, Document, ROLE_ON_TARGETS, Settings, measures_commands,
        },
    },
};
use serde_json::{Value, json};

use super::{
    Ask, Found, OwnChecks, Progress, WorkerContext, no_such_task, tpcb, transactions::Transactions,
};
use crate::{
    bench::{Run, Task},
    board::Board,
    errors::{Fault, read_json, sqlstate},
    pg::{
        process, report,
        script_session::{Keep, ScriptSession},
        segment::{self, Segment},
        session, sql, xact,
    },
    store,
};
use runner::Runner;

/// Make the role, and grant it what is there.
const GRANT: Task = Task(5);
/// Carry out the script that makes the tables.
const INIT: Task = Task(6);
/// Carry out the caller's checks after the window.
const CHECK: Task = Task(7);
/// Carry out the caller's checks before the window.
const CHECK_BEFORE: Task = Task(8);

pub struct Script;

/// The texts of the run that is on.
fn document(board: &Board) -> Result<Document, Fault> {
    read_json(
        "document of scripts",
        &segment::read(board.run.document.load(Acquire))?,
    )
}

/// The texts of a run, from their table.
fn stored_document(spec: &Spec) -> Result<Document, Fault> {
    let sha256 = Settings::of(spec).sha256;
    let text = xact::transaction(|| store::script::read(&sha256))?;
    read_json("document of scripts", &text)
}

impl Transactions for Script {
    type Transaction<'a> = client::ScriptClient;

    fn names(&self) -> &'static [&'static str] {
        &["script"]
    }

    fn begin(&self, run: &mut Run) -> Result<Vec<Segment>, Fault> {
        let sha256 = Settings::of(&run.spec).sha256;
        let text = xact::transaction(|| store::script::read(&sha256))?;
        let texts = Segment::publish(&text);
        let area = &run.board.run;
        area.document.store(texts.handle(), Release);
        let role = match run.spec.stage {
            Stage::Whole => run.request.role.load(Acquire),
            Stage::WholeOfTarget
            | Stage::LoadOnly
            | Stage::OnLoaded { .. }
            | Stage::OnOwn { .. } => 0,
        };
        area.session_role.store(role, Release);
        Ok(vec![texts])
    }

    fn mix(&self, spec: &Spec, kept: &[Segment]) -> Result<Option<Mix>, Fault> {
        let Some(texts) = kept.first() else {
            return Ok(None);
        };
        let document: Document = read_json("document of scripts", &texts.text()?)?;
        let program = document.compile(Settings::of(spec).protocol())?;
        let mut mix = document.mix(&program);
        if !measures_commands(spec) {
            mix.types
                .iter_mut()
                .for_each(|script| script.commands.clear());
        }
        Ok(Some(mix))
    }

    fn after_loading(&self, run: &mut Run) -> Result<(), Fault> {
        grant(run)?;
        match Settings::of(&run.spec).has_init {
            true => run.have_done(INIT),
            false => Ok(()),
        }
    }

    fn before_clients(&self, run: &mut Run) -> Result<(), Fault> {
        if let Stage::OnLoaded { .. } | Stage::OnOwn { .. } = run.spec.stage {
            grant(run)?;
        }
        let OwnChecks { checks, fault } = checks_of_caller(run, Moment::Load)?;
        xact::transaction(|| store::insert_checks(run.run_id, Moment::Load, &checks))?;
        fault.map_or(Ok(()), Err)
    }

    fn own_checks(
        &self,
        run: &mut Run,
        _kept: &[Segment],
        _found: &Value,
    ) -> Result<OwnChecks, Fault> {
        checks_of_caller(run, Moment::Window)
    }

    fn has_clients_of_role(&self) -> bool {
        true
    }

    fn is_of_role(&self, task: Task) -> bool {
        [INIT, CHECK, CHECK_BEFORE].contains(&task)
    }

    fn own_task(&self, task: Task, context: &WorkerContext) -> Result<(), Fault> {
        match task {
            GRANT => make_role_and_grant(context),
            INIT => init(context),
            CHECK => check(context, Moment::Window),
            CHECK_BEFORE => check(context, Moment::Load),
            other => Err(no_such_task(other)),
        }
    }

    fn rows(&self, spec: &Spec) -> u64 {
        match Settings::of(spec).has_init {
            true => 0,
            false => tpcb::Tpcb.rows(spec),
        }
    }

    fn load(&self, spec: &Spec, progress: Progress) -> Result<(), Fault> {
        match Settings::of(spec).has_init {
            true => Ok(()),
            false => tpcb::Tpcb.load(spec, progress),
        }
    }

    fn after_load(&self, spec: &Spec) -> &'static [&'static str] {
        match Settings::of(spec).has_init {
            true => &["VACUUM (ANALYZE)"],
            false => tpcb::Tpcb.after_load(spec),
        }
    }

    fn complete_load(&self, spec: &Spec) -> Result<(), Fault> {
        match Settings::of(spec).has_init {
            true => Ok(()),
            false => tpcb::Tpcb.complete_load(spec),
        }
    }

    fn question(&self, _spec: &Spec) -> &'static str {
        "SELECT '{}'"
    }

    fn checks(
        &self,
        _spec: &Spec,
        _found: &Value,
        _committed: &[u64],
    ) -> Result<Vec<Check>, Fault> {
        Ok(Vec::new())
    }

    /// A record of WAL that changes no table, whatever tables the scripts have.
    fn first_transaction(&self) -> &'static str {
        "SELECT pg_catalog.pg_logical_emit_message(true, 'pgfsbench', '')"
    }

    fn role_of_checks(&self, spec: &Spec) -> Option<&'static str> {
        Settings::of(spec).has_checks.then_some(ROLE_ON_TARGETS)
    }

    fn check_again(&self, spec: &Spec, ask: Ask) -> Result<OwnChecks, Fault> {
        let checks = stored_document(spec)?.checks_at(Moment::Crash);
        let mut answers = Answers::default();
        let mut fault = None;
        for check in &checks {
            if answers.is_full() {
                break;
            }
            match ask(&check.sql) {
                Ok((found, rows)) => answers.add(check, shown(spec, check, found), rows),
                Err(error) => {
                    fault = Some((told(spec, error, false), check));
                    break;
                }
            }
        }
        let error = fault.as_ref().map(|(fault, _)| fault.message.as_str());
        Ok(OwnChecks {
            checks: answers.checks(&checks, error),
            fault: fault.map(|(fault, check)| {
                fault.with_texts(|texts, _| texts.of_check(&check.name, &check.sql))
            }),
        })
    }

    fn compare(
        &self,
        _spec: &Spec,
        _found: &Value,
        _committed: u64,
        _results: &Value,
    ) -> Result<Found, Fault> {
        Ok(Found::default())
    }
}

/// Has the caller's checks of this moment made.
fn checks_of_caller(run: &mut Run, moment: Moment) -> Result<OwnChecks, Fault> {
    if !Settings::of(&run.spec).has_checks {
        return Ok(OwnChecks::default());
    }
    // This process has attached the segment of the texts, and can attach it once only.
    let checks = stored_document(&run.spec)?.checks_at(moment);
    if checks.is_empty() {
        return Ok(OwnChecks::default());
    }
    let task = match moment {
        Moment::Load => CHECK_BEFORE,
        Moment::Window | Moment::Crash => CHECK,
    };
    let fault = run.have_done(task).err();
    if let Some(fault) = fault.as_ref().filter(|fault| fault.is_cancel()) {
        return Err(fault.clone());
    }
    let report = run.board.run.worker.report.get();
    let answers: Answers = match fault {
        None => read_json("answers to checks", &report)?,
        // The worker may have ended before it made a check.
        Some(_) => serde_json::from_str(&report).unwrap_or_default(),
    };
    let error = fault.as_ref().map(|fault| fault.message.as_str());
    Ok(OwnChecks {
        checks: answers.checks(&checks, error),
        fault: fault.or_else(|| answers.refusal(&checks).map(Fault::from)),
    })
}

/// Has the role made, where the server is one of our own, and what is there granted to it.
fn grant(run: &mut Run) -> Result<(), Fault> {
    run.have_done(GRANT)?;
    let report: Value = read_json("report", &run.board.run.worker.report.get())?;
    let role = report["role"].as_u64();
    let role = role
        .and_then(|role| u32::try_from(role).ok())
        .ok_or_else(role_is_gone)?;
    run.board.run.session_role.store(role, Release);
    Ok(())
}

/// Stands for a wrong value of a user's own data.
const ANOTHER_VALUE: &str = "another value";

const ROLE: &str = "SELECT oid FROM pg_catalog.pg_roles WHERE rolname = $1";
const NAME: &str = "SELECT rolname FROM pg_catalog.pg_roles WHERE oid = $1::oid";

fn make_role_and_grant(context: &WorkerContext) -> Result<(), Fault> {
    if let Stage::OnOwn { role, .. } = &context.spec.stage {
        let role = xact::transaction(|| role_on_copy(role.as_ref()))?;
        context.report(&json!({ "role": role }).to_string());
        return Ok(());
    }
    let has_init = Settings::of(context.spec).has_init;
    let role = xact::transaction(|| {
        let role = match context.board.run.session_role.load(Acquire) {
            0 => role_on_target()?,
            asking => asking.to_string(),
        };
        let name = sql::read_latest(NAME, &[Some(&role)])?.ok_or_else(role_is_gone)?;
        let name = quoting::sql_identifier(&name);
        let database = sql::read("SELECT current_database()", &[])?.unwrap_or_default();
        let database = quoting::sql_identifier(&database);
        sql::write(
            &format!("GRANT CREATE, TEMPORARY, CONNECT ON DATABASE {database} TO {name}"),
            &[],
        )?;
        sql::write(&format!("GRANT ALL ON SCHEMA public TO {name}"), &[])?;
        if !has_init {
            let tables = tpcb::TABLES
                .map(|table| format!("public.{table}"))
                .join(", ");
            // No TRIGGER: a function of the role would be called by whatever writes these tables.
            sql::write(
                &format!(
                    "GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON TABLE {tables} TO {name}"
                ),
                &[],
            )?;
        }
        Ok(role)
    })?;
    let role: u32 = role.parse().map_err(|_| role_is_gone())?;
    context.report(&json!({ "role": role }).to_string());
    Ok(())
}

/// The role whose rights a run has in a copy, no superuser: the role that asked, or one of our own for a superuser. In a transaction.
pub fn role_on_copy(asking: Option<&RoleOfOriginal>) -> Result<u32, Fault> {
    let role = match asking {
        Some(role) => asking_role(role)?,
        None => reader_and_writer()?,
    };
    role.parse().map_err(|_| role_is_gone())
}

/// The role that asked, in a copy of its server: with the rights that it had when the server was copied.
pub fn asking_role(role: &RoleOfOriginal) -> Result<String, Fault> {
    let RoleOfOriginal { oid, name, powers } = role;
    let found = sql::read(
        "SELECT oid FROM pg_catalog.pg_roles WHERE oid = $1::oid AND rolname = $2 AND rolcanlogin AND NOT rolsuper",
        &[Some(&oid.to_string()), Some(name)],
    )?;
    let found = found.ok_or_else(|| {
        Fault::new(
            sqlstate::NOT_ALLOWED,
            format!("role \"{name}\" cannot be used in the copied server"),
        )
        .detail("When the server was copied, the role was missing, had another name, was not permitted to log in, or was a superuser.")
        .hint(COPY_AGAIN)
    })?;
    let mut further = session::powers_of(&found)?;
    further.retain(|power| !powers.contains(power));
    if further.is_empty() {
        return Ok(found);
    }
    Err(Fault::new(
        sqlstate::NOT_ALLOWED,
        format!("role \"{name}\" had more rights when the server was copied"),
    )
    .detail(format!("In the copy it has: {}.", further.join(", ")))
    .hint(COPY_AGAIN))
}

const COPY_AGAIN: &str = "Copy the server again, or start the run as another role.";

/// A superuser's scripts are not run as a superuser: they can read and write all data of the copy, and make tables.
fn reader_and_writer() -> Result<String, Fault> {
    let role = role_on_target()?;
    let name = quoting::sql_identifier(ROLE_ON_TARGETS);
    let database = sql::read("SELECT current_database()", &[])?.unwrap_or_default();
    let database = quoting::sql_identifier(&database);
    for statement in [
        // A role of this name may have been there.
        format!("ALTER ROLE {name} NOSUPERUSER NOCREATEROLE LOGIN BYPASSRLS"),
        format!("GRANT pg_read_all_data, pg_write_all_data TO {name}"),
        format!("GRANT CREATE, TEMPORARY, CONNECT ON DATABASE {database} TO {name}"),
    ] {
        sql::write(&statement, &[])?;
    }
    let powers = session::powers_of(&role)?;
    if !powers.is_empty() {
        return Err(Fault::new(
            sqlstate::NOT_ALLOWED,
            format!("role {name} of the copied server may do more than scripts of a superuser"),
        )
        .detail(format!("It has: {}.", powers.join(", ")))
        .hint("Revoke that from it in the server, and copy it again."));
    }
    if sql::read("SELECT to_regnamespace('public')", &[])?.is_some() {
        sql::write(&format!("GRANT ALL ON SCHEMA public TO {name}"), &[])?;
    }
    Ok(role)
}

/// The role on a server of our own: there the asking role does not exist, and a superuser's script could act as the operating system's user.
fn role_on_target() -> Result<String, Fault> {
    let name = quoting::sql_identifier(ROLE_ON_TARGETS);
    if sql::read(ROLE, &[Some(ROLE_ON_TARGETS)])?.is_none() {
        sql::write(&format!("CREATE ROLE {name} LOGIN"), &[])?;
    }
    sql::read_latest(ROLE, &[Some(ROLE_ON_TARGETS)])?.ok_or_else(role_is_gone)
}

pub fn role_is_gone() -> Fault {
    Fault::new(
        sqlstate::NO_SUCH_OBJECT,
        "the role that asked for the run was dropped",
    )
    .detail("Scripts are run in its sessions.")
    .hint("Start the run again as another role.")
}

/// In a session of the role.
fn init(context: &WorkerContext) -> Result<(), Fault> {
    report::remember_codes();
    let document = document(context.board)?;
    process::keep_places()?;
    let Some(program) = document.init()? else {
        return Ok(());
    };
    let mut runner = Runner::new(Box::leak(Box::new(program)), context.spec, 0);
    let mut done = 0;
    runner.run_init(|| {
        done += 1;
        context.done(done)
    })
}

/// The answer to a check as it is kept: without the values of a user's own data.
fn shown(spec: &Spec, check: &OwnCheck, found: Option<String>) -> Option<String> {
    match spec.is_on_own() && found != check.expected {
        true => found.map(|_| ANOTHER_VALUE.into()),
        false => found,
    }
}

/// The error of a check as it is kept: without the values of a user's own data. `has_names_only`: it arose before the query was executed.
fn told(spec: &Spec, fault: Fault, has_names_only: bool) -> Fault {
    match spec.is_on_own() {
        true => fault.with_texts(|texts, sqlstate| texts.without_values(sqlstate, has_names_only)),
        false => fault,
    }
}

/// In a session of the role. The answers are reported whether or not an error ends the session.
fn check(context: &WorkerContext, moment: Moment) -> Result<(), Fault> {
    report::remember_codes();
    let document = document(context.board)?;
    let mut session = ScriptSession::new();
    let mut answers = Answers::default();
    for (done, check) in (0..).zip(&document.checks_at(moment)) {
        if answers.is_full() {
            break;
        }
        context.done(done)?;
        let (mut found, mut count) = (None, 0);
        let asked = xact::catch(|| {
            session.execute_text(&check.sql, Keep::First, |rows| {
                count = rows.count;
                found = rows.kept.into_iter().next().flatten();
                Ok(())
            })
        });
        if let Err(fault) = asked.and_then(|result| result) {
            context.report(&json!(answers).to_string());
            let fault = told(context.spec, fault, !session.is_executing());
            return Err(fault.with_texts(|texts, _| texts.of_check(&check.name, &check.sql)));
        }
        answers.add(check, shown(context.spec, check, found), count);
    }
    context.report(&json!(answers).to_string());
    Ok(())
}
