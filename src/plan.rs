//! What a run on a target does, step by step, before it does it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{
    coordinator::on_target::{operating_system_user, own_bindir},
    errors::Fault,
    prepared_data,
    target::{self, On, Target},
    target_server::{
        TargetServer,
        settings::{Settings, copied},
    },
};

/// Stands for what is random in the names of a target server.
const RANDOM: &str = "<random>";

/// A step of a run.
pub struct Step {
    /// helper, coordinator, or server: the one that is measured.
    pub who: &'static str,
    /// What is done.
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

/// The steps of a run on a target. `by_helper` is what the helper says of its own. In a transaction, with the owner's rights.
pub fn steps(name: &str, by_helper: Option<&Value>) -> Result<Vec<Step>, Fault> {
    let here = name == pgfsbench_core::spec::DEFAULT_TARGET;
    let mut steps = Vec::new();
    let mut after = Vec::new();
    if !here {
        let target = target::find(name)?;
        if let On::Connection(connection) = &target.on {
            return Ok(on_another(connection));
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
        steps.extend(of_server(&target, &server)?);
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
    steps.extend(of_run());
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
fn on_another(connection: &str) -> Vec<Step> {
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
    steps.extend(of_run());
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
fn of_server(target: &Target, server: &TargetServer) -> Result<Vec<Step>, Fault> {
    let own = own_bindir()?;
    let bindir: &Path = target.bindir.as_deref().unwrap_or(&own);
    let settings = Settings {
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
    };
    let kept = prepared_data::directory()?
        .join(format!("{RANDOM}.loaded"))
        .join("data");
    let mut steps = vec![
        step(
            "coordinator",
            "make directory",
            format!("make directory {}, mode 0700", server.directory.display()),
        ),
        step(
            "coordinator",
            "copy the data",
            format!(
                "{}\n(when there are none of this scale yet, they are loaded there first; when they cannot be copied, by the option \
                 data, by pgfsbench.prepared_data_limit or for want of room, the server gets initdb and load instead)",
                server.copy(&kept).join(" ")
            ),
        ),
        step(
            "coordinator",
            "initdb",
            server
                .initdb(bindir, &operating_system_user()?, target.data_checksums)
                .join(" "),
        ),
        step(
            "coordinator",
            "write settings",
            format!(
                "write {}:\n{}",
                server.settings_file().display(),
                server.settings_text(&settings).trim_end()
            ),
        ),
    ];
    if target.drop_caches {
        steps.push(step(
            "helper",
            "drop caches",
            "write 3 to /proc/sys/vm/drop_caches".to_owned(),
        ));
    }
    steps.push(step(
        "coordinator",
        "start the server",
        server.postgres(bindir).join(" "),
    ));
    steps.push(step(
        "server",
        "create extension",
        "CREATE EXTENSION pgfsbench".to_owned(),
    ));
    Ok(steps)
}

/// What each run does in the server that is measured.
fn of_run() -> Vec<Step> {
    [
        (
            "make the work database",
            "CREATE DATABASE fsbench_work_N TEMPLATE template0",
        ),
        (
            "load",
            "create, fill, vacuum and index the tables of the workload, as pgbench -i does, unless they were copied",
        ),
        (
            "checkpoint",
            "CHECKPOINT, then sync the filesystems of data and WAL",
        ),
        ("warm up and measure", "transactions of all clients"),
        (
            "verify",
            "compare the sums of accounts, tellers, branches and history",
        ),
        ("drop the work database", "DROP DATABASE fsbench_work_N"),
    ]
    .map(|(action, command)| step("server", action, command.to_owned()))
    .into()
}
