//! From arguments to what is run, and to a request in shared memory.

mod submit;

use pgfsbench_core::{
    refusal::quoted,
    spec::{Arguments, Bound, DEFAULT_TARGET, Facts, RunArguments, Spec, Stage},
    units::whole_number,
    workload,
};
use pgrx::pg_sys;
use serde_json::{Map, Value};

use super::{guard::Ready, in_use, session_settings};
pub use submit::{CLEARING_UP, Ticket, submit};

use crate::{
    errors::{Fault, sqlstate, wrong_arguments},
    host::{location, machine},
    pg::{arguments, config, session, settings, sql, xact},
    random,
    run::{preflight, worker_slots},
    store,
    target::{self, prepared_data},
};

/// More worker slots than any run takes.
const ENOUGH: u32 = 1_000_000;

/// The processes of a run.
const OF_A_RUN: [&str; 4] = [
    "fsbench coordinator",
    "fsbench sampler",
    "fsbench client",
    "fsbench worker",
];

/// Facts of the server, for the choice of arguments that were not given. With the owner's rights.
fn facts(arguments: &RunArguments) -> Result<Facts, Fault> {
    let target = arguments.target.as_deref();
    let usable = machine::usable();
    let here = target.is_none_or(|target| target == DEFAULT_TARGET);
    let kind = match target {
        Some(name) if !here => xact::without_keeping_locks(|| target::kind_of(name))?,
        _ => None,
    };
    let by_connection = kind == Some(target::Kind::Connection);
    let slots = worker_slots::max_worker_processes()?;
    // An earlier run's workers are not counted: they end before this one launches its own. Only one run is on at a time, and it waits for a slot that
    // is still taken.
    let used = worker_slots::background_workers(&OF_A_RUN)?;
    let free = location::data_location().and_then(|location| location.space());
    Ok(Facts {
        processors: usable.processors.unwrap_or(1),
        server_version_num: worker_slots::number("server_version_num")?,
        memory_bytes: usable.memory_bytes.unwrap_or(0),
        shared_buffers_bytes: config::bytes("shared_buffers")?.unwrap_or(0),
        // A server on a target gets what it needs.
        free_worker_slots: if here {
            (slots - used).max(0) as u32
        } else {
            ENOUGH
        },
        max_worker_processes: if here { slots as u32 } else { ENOUGH },
        checkpoint_timeout_ms: checkpoint_timeout_ms()?,
        max_parallel_workers: if here {
            worker_slots::number("max_parallel_workers")? as u32
        } else {
            ENOUGH
        },
        server_is_another: !here,
        max_clients: if by_connection {
            ENOUGH
        } else {
            settings::max_clients()
        },
        data_free_bytes: free.map_or(0, |(free, _)| free),
        targets: if here {
            Vec::new()
        } else {
            xact::without_keeping_locks(store::target_names)?
        },
        random_seed: random::seed(),
        by_connection,
        own_data: match &arguments.data {
            Some(name) => prepared_data::own_data(name)?,
            None => None,
        },
    })
}

fn checkpoint_timeout_ms() -> Result<u64, Fault> {
    let seconds = sql::read(
        "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'checkpoint_timeout'",
        &[],
    )?;
    let seconds = whole_number("checkpoint_timeout", seconds.as_deref())?;
    Ok(seconds.max(0) as u64 * 1000)
}

/// Checks the arguments and the server; nothing is made. Gives what would be run.
pub fn specify(ready: &Ready, arguments: &RunArguments) -> Result<Spec, Fault> {
    // Before anything that depends on the server: a wrong argument is wrong everywhere.
    let facts = session::with_rights_of(ready.owner, || facts(arguments))?;
    check_own_data(arguments.data.as_deref())?;
    let spec = workload::resolve(arguments, &facts)?;
    check_keep(&spec, ready.owner)?;
    check_session(&spec, arguments)?;
    check_scripts_by_connection(arguments, facts.by_connection, ready.owner)?;
    // Settings that only a whole server can have are set where the server is made.
    let of_session = spec.is_here() || facts.by_connection;
    session_settings::check(&spec.settings, ready.owner, of_session)?;
    let state = session::with_rights_of(ready.owner, preflight::server_state)?;
    preflight::check(&spec, &state)?;
    if !spec.is_here() {
        in_use::check_not_prepared(ready.owner, &spec.target)?;
        session::with_rights_of(ready.owner, || {
            xact::without_keeping_locks(|| preflight::check_target(&spec))?;
            xact::without_keeping_locks(|| preflight::tell_of_rings(&spec))
        })?;
    }
    Ok(spec)
}

/// The request that the arguments of a call describe.
pub fn arguments(call: pg_sys::FunctionCallInfo) -> Result<RunArguments, Fault> {
    of_arguments(arguments::named(call)?)
}

/// The request that these arguments describe.
pub fn of_arguments(given: Map<String, Value>) -> Result<RunArguments, Fault> {
    let mut given: Arguments = serde_json::from_value(Value::Object(given))
        .map_err(|e| wrong_arguments("an argument", e))?;
    given.target = Some(in_use::named(given.target)?);
    with_hash(given.into())
}

/// The request in the document of another server, whose run this one carries out.
pub fn arguments_by_server(document: &str) -> Result<RunArguments, Fault> {
    let mut arguments: RunArguments =
        serde_json::from_str(document).map_err(|e| wrong_arguments("the document of a run", e))?;
    if arguments.stage != Stage::Whole && !session::is_superuser() {
        return Err(Fault::new(
            sqlstate::NOT_ALLOWED,
            "permission denied to do a part of a run",
        )
        .detail("Only superusers may load data without a run, or run on data that are loaded.")
        .hint("Use fsbench.start()."));
    }
    arguments.target = Some(DEFAULT_TARGET.into());
    arguments.script.sha256 = None;
    let arguments = with_hash(arguments)?;
    if arguments.stage == Stage::Whole
        && arguments.script.sha256.is_some()
        && session::is_superuser()
    {
        return Err(Fault::new(
            sqlstate::NOT_ALLOWED,
            "scripts of another server cannot be run as a superuser",
        )
        .detail("Scripts are run in sessions of the role of the connection, and a superuser's script could act as the operating system's user.")
        .hint("Name a role in the connection of the target that is no superuser, and grant it fsbench_operator."));
    }
    Ok(arguments)
}

/// The specification with the hash of its document, if that can be made.
pub fn with_hash(mut arguments: RunArguments) -> Result<RunArguments, Fault> {
    if let Ok(Some(document)) = workload::document(&arguments) {
        arguments.script.sha256 = Some(store::script::sha256(&document)?);
    }
    Ok(arguments)
}

/// The specification by the arguments alone; nothing is started for it.
pub fn planned(ready: &Ready, arguments: &RunArguments) -> Result<Spec, Fault> {
    let mut facts = session::with_rights_of(ready.owner, || facts(arguments))?;
    facts.free_worker_slots = u32::from(u16::MAX);
    check_own_data(arguments.data.as_deref())?;
    let spec = workload::resolve(arguments, &facts)?;
    check_keep(&spec, ready.owner)?;
    check_scripts_by_connection(arguments, facts.by_connection, ready.owner)?;
    let of_session = spec.is_here() || facts.by_connection;
    session_settings::check(&spec.settings, ready.owner, of_session)?;
    Ok(spec)
}

/// Whether the current role may execute a function of the extension, which is not overloaded.
pub fn may_execute(function: &str) -> Result<bool, Fault> {
    let may = sql::read(
        "SELECT 1 FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
         WHERE n.nspname = 'fsbench' AND p.proname = $1 AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')",
        &[Some(function)],
    )?;
    Ok(may.is_some())
}

/// A copy of a server has all data of that server. A role that may make such copies may use them. Comes before the refusals that name databases.
pub fn check_own_data(data: Option<&str>) -> Result<(), Fault> {
    let Some(data) = data else {
        return Ok(());
    };
    if may_execute("prepare_data")? {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::NOT_ALLOWED,
        format!("permission denied to use the data {}", quoted(data)),
    )
    .detail("They are a copy of a whole server.")
    .hint("Have a superuser make the run, or grant EXECUTE on the function fsbench.prepare_data."))
}

/// Scripts are run in sessions of the role that asks, which it has to be allowed to have.
fn check_session(spec: &Spec, arguments: &RunArguments) -> Result<(), Fault> {
    if arguments.script.sha256.is_none() || !spec.is_here() || arguments.stage != Stage::Whole {
        return Ok(());
    }
    let role = session::role();
    let may = sql::read(
        "SELECT 1 FROM pg_catalog.pg_roles WHERE oid = $1::oid AND rolcanlogin",
        &[Some(&role.to_string())],
    )?;
    if may.is_some() {
        return Ok(());
    }
    let name = session::role_name(role);
    Err(Fault::new(
        sqlstate::NOT_ALLOWED,
        format!("role \"{name}\" cannot run scripts"),
    )
    .detail("Scripts are run in sessions of the role that asks, and this role is not permitted to log in.")
    .hint("Start the run as a role that may log in."))
}

/// Scripts on a target with a connection are run in sessions of the role of that connection, whose rights the asking role may not have.
fn check_scripts_by_connection(
    arguments: &RunArguments,
    by_connection: bool,
    owner: u32,
) -> Result<(), Fault> {
    if arguments.script.sha256.is_none() || !by_connection || has_rights_of(owner)? {
        return Ok(());
    }
    Err(
        Fault::new(sqlstate::NOT_ALLOWED, "permission denied to run scripts on a target with a connection")
            .detail("They are run in sessions of the role of the connection, and only roles with the rights of the extension's owner may use it for scripts.")
            .hint("Use another target, or have a superuser make the run."),
    )
}

/// Whether the asking role has the rights of this one. A superuser has.
fn has_rights_of(owner: u32) -> Result<bool, Fault> {
    let may = sql::read(
        "SELECT 1 WHERE pg_catalog.pg_has_role($1::oid, 'USAGE')",
        &[Some(&owner.to_string())],
    )?;
    Ok(may.is_some())
}

/// A kept database belongs to the owner of the extension: others could neither use nor drop it.
fn check_keep(spec: &Spec, owner: u32) -> Result<(), Fault> {
    if !spec.keep || has_rights_of(owner)? {
        return Ok(());
    }
    Err(
        Fault::new(sqlstate::NOT_ALLOWED, "permission denied to keep the work database")
            .detail("It belongs to the owner of the extension, and only roles with the owner's rights could use or drop it.")
            .hint("Leave out the argument \"keep\", or have a superuser make the run."),
    )
}

/// Refuses to wait in a session whose transaction cannot.
pub fn check_can_wait(function: &str) -> Result<(), Fault> {
    let refusal = |message: String| Fault::new(sqlstate::NOT_IN_THIS_STATE, message);
    if xact::keeps_one_snapshot() {
        return Err(refusal(format!(
            "{function} cannot be used in a REPEATABLE READ or SERIALIZABLE transaction"
        ))
        .detail("Its snapshot would not see the result, and would hold back vacuum.")
        .hint(if function == "fsbench.wait()" {
            "Use READ COMMITTED, or look at fsbench.result later."
        } else {
            "Use READ COMMITTED, or fsbench.start() here and fsbench.result later."
        }));
    }
    if xact::has_xid() {
        return Err(refusal(format!(
            "{function} cannot be used in a transaction that has written"
        ))
        .detail("Its transaction id would keep dead rows of the benchmark from being pruned, and falsify the result.")
        .hint(if function == "fsbench.wait()" {
            "Commit first."
        } else {
            "Commit first, or use fsbench.start()."
        }));
    }
    Ok(())
}

/// Refuses a run that statement_timeout would cut off.
pub fn check_timeout(spec: &Spec) -> Result<(), Fault> {
    let text = sql::read(
        "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'statement_timeout'",
        &[],
    )?;
    let timeout = whole_number("statement_timeout", text.as_deref())?.max(0) as u64;
    let Bound::DurationMs(duration) = spec.bound else {
        return Ok(());
    };
    let needed = spec.warmup_ms + duration * spec.fewest_cycles();
    if timeout == 0 || timeout > needed {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "statement_timeout is shorter than the run",
    )
    .detail(format!(
        "Warm-up and measured window take {needed} ms, and statement_timeout is {timeout} ms."
    ))
    .hint("SET statement_timeout = 0, or use fsbench.start()."))
}
