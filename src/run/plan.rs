//! The plan of a run as people see it, before it is carried out: who does what, with the command lines as they would be executed now.

use std::path::PathBuf;

use pgfsbench_core::{
    quoting,
    run::plan::{self, Place, Source, TargetState},
    spec::{Act, Data, HelperTask, Spec, Step as Planned},
    target::commands,
};
use serde_json::Value;

use crate::{
    errors::{Fault, sqlstate},
    target::{
        self, ServerPlace, Target, helper_job, prepared_data,
        server::{
            TargetServer,
            programs::{self, Programs},
            settings::{self, Settings},
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
    /// Name of the step.
    pub action: String,
    /// The command line or statement; or, in words, what is done without one.
    pub command: Option<String>,
}

/// A step that a plan has where it cannot be: a fault of ours.
pub fn nothing_carries_out(act: Act) -> Fault {
    Fault::new(
        sqlstate::INTERNAL,
        format!("nothing carries out step \"{}\"", act.action()),
    )
}

/// Facts about a target on which a server is set up. In a transaction, with the owner's rights.
pub fn target_state(target: &Target, data: Source) -> Result<TargetState, Fault> {
    let is_made = matches!(target.on, ServerPlace::Made { .. });
    let left = match is_made {
        true => helper_job::prepared_by(&target.name)?,
        false => None,
    };
    Ok(TargetState {
        is_made,
        is_left: matches!(left, Some(Some(_))),
        drops_caches: target.drop_caches,
        data,
        has_other_programs: match &target.bindir {
            Some(bindir) => *bindir != programs::server_bindir()?,
            None => false,
        },
        wants_statements: statements::is_loaded()?,
    })
}

/// Key of the data that a run would have loaded once, and copied, with the bytes to load; None for a run that does not copy. In a transaction, with
/// the owner's rights.
pub fn to_prepare(spec: &Spec) -> Result<Option<(prepared_data::DataKey, u64)>, Fault> {
    if spec.is_here() || plan::source(spec, false, true) != Source::LoadedOnce {
        return Ok(None);
    }
    let target = target::find(&spec.target)?;
    if matches!(target.on, ServerPlace::Connection(_)) {
        return Ok(None);
    }
    let Programs { bindir, user } = Programs::of(&target)?;
    let data_key = prepared_data::data_key(spec, &target, &bindir, &user)?;
    let bytes = prepared_data::bytes_to_load(spec, target.cluster);
    Ok(Some((data_key, bytes)))
}

/// The steps of a run. `by_helper` is what the helper says of its own. In a transaction, with the owner's rights.
pub fn steps(spec: &Spec, by_helper: Option<&Value>) -> Result<Vec<Step>, Fault> {
    if spec.is_here() {
        return Ok(without_server(spec, Place::Here, ""));
    }
    let target = target::find(&spec.target)?;
    let directory = match &target.on {
        ServerPlace::Connection(connection) => {
            return Ok(without_server(spec, Place::Connection, connection));
        }
        ServerPlace::Directory(directory) => directory.clone(),
        ServerPlace::Made { .. } => {
            let made = by_helper.and_then(|by_helper| by_helper["directory"].as_str());
            PathBuf::from(made.unwrap_or_default())
        }
    };
    let Programs { bindir, user } = Programs::of(&target)?;
    let data_key = prepared_data::data_key(spec, &target, &bindir, &user)?;
    let bytes = prepared_data::bytes_to_load(spec, target.cluster);
    let (is_there, has_room) = prepared_data::look_for(&data_key, bytes)?;
    let target_state = target_state(&target, plan::source(spec, is_there, has_room))?;
    let commands = Commands {
        spec,
        server: TargetServer::at(&directory, RANDOM)?,
        target: &target,
        bindir,
        user,
        by_helper: by_helper.cloned().unwrap_or_default(),
    };
    let mut shown = Vec::new();
    for step in plan::steps(spec, Place::TargetState(target_state)) {
        match step.act {
            Act::Job(task) => shown.extend(commands.of_helper(task)),
            act if step.how.is_empty() => {
                let mut command = commands.of(act)?;
                if spec.options.instances > 1 && act.is_of_each_server() {
                    command += &format!(
                        "\nand likewise for each of {} servers",
                        spec.options.instances
                    );
                }
                shown.push(show(&step, command));
            }
            _ => shown.push(show(&step, step.how.to_owned())),
        }
    }
    Ok(shown)
}

fn show(step: &Planned, command: String) -> Step {
    Step {
        who: step.act.actor().as_str(),
        action: step.act.action().to_owned(),
        command: Some(command),
    }
}

/// Steps of a run that makes no server.
fn without_server(spec: &Spec, place: Place, connection: &str) -> Vec<Step> {
    let steps = plan::steps(spec, place);
    let shown = steps.iter().map(|step| {
        let command = match step.act {
            Act::Connect => format!("libpq: {connection}"),
            act if step.how.is_empty() => words(act).to_owned(),
            _ => step.how.to_owned(),
        };
        show(step, command)
    });
    shown.collect()
}

/// Commands of a run on a server that is set up on a target.
struct Commands<'a> {
    spec: &'a Spec,
    target: &'a Target,
    server: TargetServer,
    bindir: PathBuf,
    user: String,
    by_helper: Value,
}

impl Commands<'_> {
    fn of(&self, act: Act) -> Result<String, Fault> {
        let (server, bindir) = (&self.server, &self.bindir);
        let (directory, data) = (server.directory.display(), server.data());
        let data = data.display();
        Ok(match act {
            Act::LoadOnce => self.load_once()?,
            Act::MakeDirectory => format!("make directory {directory}, mode 0700"),
            Act::Initdb => self.initdb(server),
            Act::CopyData => {
                let kept = prepared_data::directory()?
                    .join(format!("{RANDOM}.loaded"))
                    .join("data");
                let shares_blocks = self.spec.options.data == Data::Cloned;
                server.copy(&kept, shares_blocks).join(" ")
            }
            Act::Sync => server.sync_command().join(" "),
            Act::ForgetData => format!("posix_fadvise(POSIX_FADV_DONTNEED) of each file of {data}"),
            Act::AskForSettings => commands::describe(bindir).join(" "),
            Act::AskForStatements => commands::config(bindir).join(" "),
            Act::WriteSettings => self.write_settings()?,
            Act::AskForMemory => server.memory_command(bindir).join(" "),
            Act::StartServer | Act::StartAgain => quoting::command(&server.postgres(bindir)),
            Act::CreateExtension => {
                "CREATE EXTENSION pgfsbench, unless the data have it, created by the same script"
                    .into()
            }
            Act::CrashServer => {
                "SIGQUIT to its postmaster, as pg_ctl stop -m immediate has it".into()
            }
            Act::ForgetAgain => format!(
                "{}, and posix_fadvise(POSIX_FADV_DONTNEED) of each file of {data}",
                server.sync_command().join(" ")
            ),
            Act::VerifyAgain => self.spec.workload.verified_after_crash().into(),
            Act::CutPower => "stop the server and the recording; for each power cut, mount the filesystem as the cut would have left it, start the server, and compare its rows with the acknowledged commits".into(),
            Act::StopServer => "SIGQUIT: its data are removed".into(),
            Act::RemoveServer => format!("remove {directory}"),
            other => words(other).into(),
        })
    }

    fn initdb(&self, server: &TargetServer) -> String {
        server
            .initdb(&self.bindir, &self.user, self.target.cluster)
            .join(" ")
    }

    /// In one step, since it is the same server that is made then on the target.
    fn load_once(&self) -> Result<String, Fault> {
        let place = prepared_data::directory()?;
        let server = TargetServer::at(&place, RANDOM)?;
        Ok(format!(
            "{}\nwrite settings, start that server, have it load the data, and shut it down\n{}\nkeep them as {}",
            self.initdb(&server),
            server.sync_command().join(" "),
            place.join(format!("{RANDOM}.loaded")).display()
        ))
    }

    /// The settings file of the server. Other programs than this server's are asked what they know only when the run is made.
    fn write_settings(&self) -> Result<String, Fault> {
        let own = self.bindir == programs::server_bindir()?;
        let records_statements =
            statements::is_loaded()? && (!own || programs::own_have(statements::EXTENSION)?);
        let settings = Settings {
            copied: settings::copied()?,
            of_target: settings::of_target(&self.target.settings, &self.spec.settings)?,
            needed: settings::needed(self.spec, "N", records_statements),
        };
        let but = match own {
            true => "",
            false => ", but for what its programs do not have",
        };
        Ok(format!(
            "write {}{but}:\n{}",
            self.server.settings_file().display(),
            self.server.settings_text(&settings).trim_end()
        ))
    }

    /// Steps of the helper for an errand, as it reports them.
    fn of_helper(&self, task: HelperTask) -> Vec<Step> {
        let listed = |name: &str| {
            let steps = self.by_helper[name].as_array().cloned().unwrap_or_default();
            steps.into_iter().map(|step| {
                let text = |name: &str| step[name].as_str().unwrap_or_default().to_owned();
                Step {
                    who: "helper",
                    action: text("step").replace('_', " "),
                    command: Some(text("command")),
                }
            })
        };
        match task {
            HelperTask::Prepare => listed("prepare").collect(),
            HelperTask::Release | HelperTask::ReleaseEarlier => listed("release").collect(),
            // As at the end and at the beginning.
            HelperTask::Remount => listed("release")
                .filter(|step| step.action == "unmount")
                .chain(listed("prepare").filter(|step| step.action == "mount"))
                .collect(),
            HelperTask::DropCaches => vec![Step {
                who: "helper",
                action: "drop caches".into(),
                command: Some("write 3 to /proc/sys/vm/drop_caches".into()),
            }],
        }
    }
}

/// Description of a step that has no command and does not depend on the target.
fn words(act: Act) -> &'static str {
    match act {
        Act::CheckServer => "whether pgfsbench of this version is there, and may be used",
        Act::Start => {
            "SELECT fsbench.start(...): what follows is done by that server, in its own data directory"
        }
        Act::Collect => "copy the whole result into the tables of this server",
        _ => "",
    }
}
