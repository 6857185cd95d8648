//! The plan of a run on a target, step by step.

use std::path::{Path, PathBuf};

use pgfsbench_core::{
    quoting,
    spec::{Cache, Data, Options, Spec},
};
use serde_json::Value;

use crate::{
    errors::Fault,
    target::{
        self, On, Target, prepared_data,
        server::{
            TargetServer, programs,
            settings::{Settings, copied},
        },
    },
    watch::statements,
};

/// Stands for what is random in the names of a target server.
const RANDOM: &str = "<random>";

/// A step of a run.
pub struct Step {
    /// helper, coordinator, or server: the one that is measured.
    pub who: &'static str,
    /// The action.
    pub action: String,
    /// The command line or statement; or, in words, what is done without one.
    pub command: Option<String>,
}

fn step(who: &'static str, action: &str, command: impl Into<Option<String>>) -> Step {
    Step {
        who,
        action: action.into(),
        command: command.into(),
    }
}

/// The steps of a run. `by_helper` is what the helper says of its own. In a transaction, with the owner's rights.
pub fn steps(spec: &Spec, by_helper: Option<&Value>) -> Result<Vec<Step>, Fault> {
    let (here, options) = (spec.is_here(), &spec.options);
    let mut steps = Vec::new();
    let mut crash = Vec::new();
    let mut after = Vec::new();
    if !here {
        let target = target::find(&spec.target)?;
        if let On::Connection(connection) = &target.on {
            return Ok(on_another(connection, spec));
        }
        let directory = match (&target.on, by_helper) {
            (On::Directory(directory), _) => directory.clone(),
            (On::Made { .. } | On::Connection(_), by_helper) => {
                let by_helper = by_helper.cloned().unwrap_or_default();
                steps.extend(of_helper(&by_helper["prepare"]));
                after.extend(of_helper(&by_helper["release"]));
                PathBuf::from(by_helper["directory"].as_str().unwrap_or_default())
            }
        };
        let server = TargetServer::at(&directory, RANDOM)?;
        steps.extend(of_server(&target, &server, options)?);
        if options.crash {
            crash = of_crash(&target, &server, spec, by_helper)?;
        }
        let directory = server.directory.display();
        after.insert(
            0,
            step(
                "coordinator",
                "remove the server",
                format!("remove {directory}"),
            ),
        );
        after.insert(
            0,
            step(
                "coordinator",
                "stop the server",
                "SIGQUIT: its data are removed".to_owned(),
            ),
        );
    }
    steps.extend(of_run(spec));
    steps.extend(crash);
    if !here {
        steps.push(step(
            "coordinator",
            "collect",
            "copy the whole result into the tables of this server".to_owned(),
        ));
    }
    steps.extend(after);
    Ok(steps)
}

/// On a server that is there already, and somebody else's.
fn on_another(connection: &str, spec: &Spec) -> Vec<Step> {
    let mut steps = vec![
        step(
            "coordinator",
            "connect",
            format!("libpq: {connection}"),
        ),
        step(
            "coordinator",
            "look",
            "whether pgfsbench of this version is there, and may be used".to_owned(),
        ),
        step(
            "coordinator",
            "start",
            "SELECT fsbench.start(...): what follows is done by that server, in its own data directory"
                .to_owned(),
        ),
    ];
    steps.extend(of_run(spec));
    steps.push(step(
        "coordinator",
        "collect",
        "copy the whole result into the tables of this server".to_owned(),
    ));
    steps
}

fn of_helper(steps: &Value) -> Vec<Step> {
    let text = |step: &Value, name: &str| step[name].as_str().unwrap_or_default().to_owned();
    steps
        .as_array()
        .into_iter()
        .flatten()
        .map(|s| {
            let action = text(s, "step").replace('_', " ");
            step("helper", &action, text(s, "command"))
        })
        .collect()
}

/// From an empty directory to a server that answers.
fn of_server(
    target: &Target,
    server: &TargetServer,
    options: &Options,
) -> Result<Vec<Step>, Fault> {
    let bindir = &bindir_of(target)?;
    let settings = settings_of(target)?;
    let kept = prepared_data::directory()?
        .join(format!("{RANDOM}.loaded"))
        .join("data");
    let mut steps = vec![step(
        "coordinator",
        "make directory",
        format!("make directory {}, mode 0700", server.directory.display()),
    )];
    let sync = step("coordinator", "sync", server.sync_command().join(" "));
    if options.data != Data::Loaded {
        steps.push(step(
            "coordinator",
            "copy the data",
            format!(
                "{}\n(when there are none of this scale yet, they are loaded there first{})",
                server.copy(&kept, options.data == Data::Cloned).join(" "),
                match options.data {
                    Data::Cloned => "",
                    _ => "; when they cannot be copied, by pgfsbench.prepared_data_limit or for want of room, the server gets \
                          initdb and load instead",
                }
            ),
        ));
        steps.push(sync);
        if options.cache == Cache::Cold {
            steps.push(step(
                "coordinator",
                "forget the data",
                format!(
                    "posix_fadvise(POSIX_FADV_DONTNEED) of each file of {}",
                    server.data().display()
                ),
            ));
        }
    } else {
        let user = programs::operating_system_user()?;
        let initdb = server.initdb(bindir, &user, target.data_checksums);
        steps.push(step("coordinator", "initdb", initdb.join(" ")));
        steps.push(sync);
    }
    steps.extend(drop_caches(target));
    steps.extend(ask_programs(bindir)?);
    steps.push(step(
        "coordinator",
        "write settings",
        format!(
            "write {}:\n{}",
            server.settings_file().display(),
            server.settings_text(&settings).trim_end()
        ),
    ));
    let memory = server.memory_command(bindir).join(" ");
    steps.push(step("coordinator", "ask for shared memory", memory));
    steps.push(start(server, bindir));
    steps.push(step(
        "server",
        "create extension",
        "CREATE EXTENSION pgfsbench".to_owned(),
    ));
    Ok(steps)
}

/// The settings file of a target's server.
fn settings_of(target: &Target) -> Result<Settings, Fault> {
    Ok(Settings {
        copied: copied()?,
        of_target: target.settings.clone(),
        needed: vec![
            ("shared_preload_libraries", "pgfsbench".to_owned()),
            (
                "max_worker_processes",
                "as many as the run takes".to_owned(),
            ),
            ("cluster_name", "pgfsbench run N".to_owned()),
        ],
    })
}

/// Steps that ask the programs before the settings can be written.
fn ask_programs(bindir: &Path) -> Result<Vec<Step>, Fault> {
    let mut steps = Vec::new();
    if bindir != programs::own_bindir()? {
        let command = TargetServer::describe_command(bindir).join(" ");
        steps.push(step("coordinator", "ask for known settings", command));
    }
    if statements::is_loaded()? {
        let command = TargetServer::config_command(bindir).join(" ");
        steps.push(step("coordinator", "ask for pg_stat_statements", command));
    }
    Ok(steps)
}

fn bindir_of(target: &Target) -> Result<PathBuf, Fault> {
    match &target.bindir {
        Some(bindir) => Ok(bindir.clone()),
        None => programs::own_bindir(),
    }
}

fn drop_caches(target: &Target) -> Option<Step> {
    let command = "write 3 to /proc/sys/vm/drop_caches".to_owned();
    let dropped = || step("helper", "drop caches", command);
    target.drop_caches.then(dropped)
}

fn start(server: &TargetServer, bindir: &Path) -> Step {
    let command = quoting::command(&server.postgres(bindir));
    step("coordinator", "start the server", command)
}

/// From the end of the measured window to a server that has recovered, and what is there then.
fn of_crash(
    target: &Target,
    server: &TargetServer,
    spec: &Spec,
    by_helper: Option<&Value>,
) -> Result<Vec<Step>, Fault> {
    let mut steps = vec![step(
        "coordinator",
        "crash the server",
        "SIGQUIT to its postmaster, as pg_ctl stop -m immediate has it".to_owned(),
    )];
    match &target.on {
        On::Made { .. } => {
            // As at the end and at the beginning of a run.
            let by_helper = by_helper.cloned().unwrap_or_default();
            let unmount = of_helper(&by_helper["release"]).into_iter();
            let mount = of_helper(&by_helper["prepare"]).into_iter();
            steps.extend(unmount.filter(|step| step.action == "unmount"));
            steps.extend(mount.filter(|step| step.action == "mount"));
            steps.extend(drop_caches(target));
        }
        On::Directory(_) | On::Connection(_) => steps.push(step(
            "coordinator",
            "forget the data",
            format!(
                "/bin/sync -f {}, and posix_fadvise(POSIX_FADV_DONTNEED) of each file of {}",
                server.directory.display(),
                server.data().display()
            ),
        )),
    }
    steps.push(start(server, &bindir_of(target)?));
    steps.push(step(
        "server",
        "verify",
        spec.workload.verified_after_crash().to_owned(),
    ));
    Ok(steps)
}

/// The steps in the server that is measured. Data that are verified after a crash are not dropped before it.
fn of_run(spec: &Spec) -> Vec<Step> {
    let (workload, options) = (spec.workload, &spec.options);
    let make = (
        "make the work database",
        "CREATE DATABASE fsbench_work_N TEMPLATE template0",
    );
    let drop = ("drop the work database", "DROP DATABASE fsbench_work_N");
    let made = Some(make).filter(|_| workload.uses_database());
    let dropped = Some(drop).filter(|_| workload.uses_database() && !options.crash);
    made.into_iter()
        .chain(workload.steps(options))
        .chain(dropped)
        .map(|(action, command)| step("server", action, command.to_owned()))
        .collect()
}
