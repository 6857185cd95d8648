//! The plan of a run: its steps in their order, made before the first of them from what is asked for and what is known of its target; and
//! the course of a run, which is carried out by its plan and tells each step as it begins.

#[cfg(test)]
mod tests;

use crate::spec::{Act, Actor, Cache, Data, HelperTask, Spec, Stage, Step};

/// Where a run is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the server that is asked for it.
    Here,
    /// In a server that is there already, reached by a connection.
    Connection,
    /// In a server that is put there for it.
    TargetState(TargetState),
}

/// Facts about a target on which a server is set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetState {
    /// Whether the helper makes its filesystem.
    pub is_made: bool,
    /// Whether that of an earlier run is there still.
    pub is_left: bool,
    /// Whether the helper empties the page cache.
    pub drops_caches: bool,
    /// How its data come there.
    pub data: Source,
    /// Whether the programs of its server are others than those of this one, which know other settings.
    pub has_other_programs: bool,
    /// Whether this server has pg_stat_statements, which that one then has to have, too.
    pub wants_statements: bool,
}

/// Where the data of a target's server come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// They are loaded there; or there are none.
    #[default]
    Loaded,
    /// They are copied; they were loaded for an earlier run.
    Copied,
    /// They are copied, and loaded for that first.
    LoadedOnce,
}

/// Where the data of a run on a target come from: `is_there` asks whether they were loaded for an earlier run, and `has_room`
/// whether they may be loaded now.
pub fn source(spec: &Spec, is_there: bool, has_room: bool) -> Source {
    if spec.own_database.is_some() {
        return Source::Copied;
    }
    if !spec.has_tables() || spec.options.data == Data::Loaded {
        return Source::Loaded;
    }
    match (is_there, has_room) {
        (true, _) => Source::Copied,
        (false, true) => Source::LoadedOnce,
        (false, false) => Source::Loaded,
    }
}

/// The steps of a run.
pub fn steps(spec: &Spec, place: Place) -> Vec<Step> {
    match place {
        Place::Here => of_server(spec),
        Place::Connection => {
            let mut steps = all(&[Act::Connect, Act::CheckServer, Act::Start]);
            steps.extend(of_server(spec));
            steps.push(Act::Collect.into());
            steps
        }
        Place::TargetState(target_state) => on_target(spec, target_state),
    }
}

fn all(acts: &[Act]) -> Vec<Step> {
    acts.iter().copied().map(Step::from).collect()
}

/// Things that a run has made and has to remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Created {
    /// A file next to the WAL.
    pub file: bool,
    /// A server on a target.
    pub server: bool,
    /// The filesystem of a target.
    pub filesystem: bool,
    /// A work database in this server.
    pub database: bool,
}

impl Created {
    /// The steps that remove it.
    pub fn removal(self) -> Vec<Act> {
        // Files go before their filesystem does: unmounting would write whatever of them is in memory only.
        let by: [(bool, &[Act]); 4] = [
            (self.file, &[Act::DropFile]),
            (self.server, &[Act::StopServer, Act::RemoveServer]),
            (self.filesystem, &[Act::Job(HelperTask::Release)]),
            (self.database, &[Act::DropDatabase]),
        ];
        let wanted = by.into_iter().filter(|(is_made, _)| *is_made);
        wanted.flat_map(|(_, acts)| acts).copied().collect()
    }
}

/// With a server that is put on the target.
fn on_target(spec: &Spec, target_state: TargetState) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut add = |acts: &[Act]| steps.extend(all(acts));
    let drop_caches: &[Act] = match target_state.drops_caches {
        true => &[Act::Job(HelperTask::DropCaches)],
        false => &[],
    };
    if target_state.data == Source::LoadedOnce {
        add(&[Act::LoadOnce]);
    }
    if target_state.is_left {
        add(&[Act::Job(HelperTask::ReleaseEarlier)]);
    }
    if target_state.is_made {
        add(&[Act::Job(HelperTask::Prepare)]);
    }
    add(&[Act::MakeDirectory]);
    add(match target_state.data {
        Source::Loaded => &[Act::Initdb],
        Source::Copied | Source::LoadedOnce => &[Act::CopyData],
    });
    add(&[Act::Sync]);
    if target_state.data != Source::Loaded && spec.options.cache == Cache::Cold {
        add(&[Act::ForgetData]);
    }
    add(drop_caches);
    add(&start(target_state));
    steps.extend(of_server(&target_spec(spec, target_state)));
    let mut add = |acts: &[Act]| steps.extend(all(acts));
    if spec.options.crash {
        add(&[Act::CrashServer]);
        if target_state.is_made {
            add(&[Act::Job(HelperTask::Remount)]);
            add(drop_caches);
        } else {
            add(&[Act::ForgetAgain]);
        }
        add(&[Act::StartAgain, Act::VerifyAgain]);
    }
    if spec.workload.cuts_power() {
        add(&[Act::CutPower]);
    }
    add(&[Act::Collect]);
    let made = Created {
        server: true,
        filesystem: target_state.is_made,
        ..Created::default()
    };
    add(&made.removal());
    steps
}

/// From data that are there to a server that has them and the extension.
fn start(target_state: TargetState) -> Vec<Act> {
    let mut acts = Vec::new();
    if target_state.has_other_programs {
        acts.push(Act::AskForSettings);
    }
    if target_state.wants_statements {
        acts.push(Act::AskForStatements);
    }
    acts.extend([
        Act::WriteSettings,
        Act::AskForMemory,
        Act::StartServer,
        Act::CreateExtension,
    ]);
    acts
}

/// Steps of [`Act::LoadOnce`] until its server can load.
pub fn loading(target_state: TargetState) -> Vec<Act> {
    let mut acts = vec![Act::MakeDirectory, Act::Initdb];
    acts.extend(start(target_state));
    acts
}

/// The phase under which a step outside of the server there is counted; None if under none. `before` is the latest phase.
pub fn phase_of(act: Act, before: Option<&'static str>) -> Option<&'static str> {
    let goes_on = |phase| before.filter(|before| *before == phase);
    match act {
        Act::LoadOnce => Some("load_once"),
        Act::Job(HelperTask::ReleaseEarlier | HelperTask::Prepare) | Act::MakeDirectory => {
            Some("filesystem")
        }
        Act::CopyData => Some("copy"),
        Act::Sync | Act::ForgetData => goes_on("copy"),
        Act::Job(HelperTask::DropCaches) => goes_on("remount"),
        Act::Connect
        | Act::CheckServer
        | Act::AskForSettings
        | Act::AskForStatements
        | Act::WriteSettings
        | Act::AskForMemory
        | Act::StartServer => Some("server"),
        Act::CrashServer => Some("stop"),
        Act::Job(HelperTask::Remount) | Act::ForgetAgain => Some("remount"),
        Act::StartAgain | Act::CutPower => Some("recovery"),
        Act::VerifyAgain => Some("verify"),
        _ => None,
    }
}

/// The request to the server on a target.
fn target_spec(spec: &Spec, target_state: TargetState) -> Spec {
    Spec {
        stage: match (&spec.own_database, target_state.data) {
            (Some(own), _) => Stage::OnOwn {
                database: own.database.clone(),
                role: None,
            },
            (None, Source::Loaded) => Stage::WholeOfTarget,
            (None, Source::Copied | Source::LoadedOnce) => Stage::OnLoaded {
                database: String::new(),
                scale: spec.scale,
            },
        },
        // The database that is checked after a crash or a power cut must not be dropped before it.
        keep: spec.keeps_database_of_target(),
        ..spec.clone()
    }
}

/// Steps of the measured server.
fn of_server(spec: &Spec) -> Vec<Step> {
    let is_loaded = spec.finds_tables();
    let mut steps = Vec::new();
    if spec.workload.uses_database() {
        steps.push(match spec.stage.takes_database() {
            true => Step::new(
                Act::TakeDatabase,
                "ALTER DATABASE fsbench_work_N ALLOW_CONNECTIONS false",
            ),
            false => Step::new(
                Act::MakeDatabase,
                "CREATE DATABASE fsbench_work_N TEMPLATE template0 ALLOW_CONNECTIONS false",
            ),
        });
    }
    for step in spec.workload.steps() {
        let is_done = match step.act {
            Act::Load => !is_loaded,
            Act::Vacuum => !is_loaded || spec.stage.is_on_own() && spec.workload.vacuums_own(),
            Act::FillWal => spec.options.wal_segments > 0 && spec.stage != Stage::LoadOnly,
            Act::WarmUp => spec.warmup_ms > 0,
            // A crash test compares after the crash, not before it.
            Act::Verify => !spec.options.crash,
            Act::Maintain => spec.options.maintenance,
            _ => true,
        };
        if is_done {
            steps.push(*step);
        }
        if step.act == Act::Launch && spec.options.instances > 1 {
            steps.push(Step::new(
                Act::AwaitStart,
                "begin at the same moment as the other servers of the run",
            ));
        }
        if step.act == Act::Checkpoint && spec.stage == Stage::LoadOnly {
            break;
        }
    }
    steps.push(match spec.stage {
        Stage::LoadOnly => Step::new(Act::Leave, "the data stay for the runs that copy them"),
        _ => Step::new(
            Act::Store,
            "INSERT what was measured, the environment and the findings",
        ),
    });
    steps.extend(end(spec));
    steps
}

/// Steps that remove the server's database, or keep it.
fn end(spec: &Spec) -> Vec<Step> {
    if spec.keep || spec.stage == Stage::LoadOnly {
        let how = "ALTER DATABASE fsbench_work_N ALLOW_CONNECTIONS true";
        return vec![Step::new(Act::OpenDatabase, how)];
    }
    if spec.stage.goes_with_its_server() {
        return Vec::new();
    }
    let is_database = spec.workload.uses_database();
    let made = Created {
        file: !is_database,
        database: is_database,
        ..Created::default()
    };
    let removal = made.removal().into_iter();
    removal
        .map(|act| Step::new(act, how_removed(act)))
        .collect()
}

fn how_removed(act: Act) -> &'static str {
    match act {
        Act::DropDatabase => "DROP DATABASE fsbench_work_N WITH (FORCE)",
        _ => "remove it",
    }
}

/// A step that was begun.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Begun {
    /// Who does it.
    pub who: String,
    /// Name of the step.
    pub action: String,
    /// When, in milliseconds from the start of the run.
    pub started_ms: f64,
}

/// A run on its way through its plan, which says what is done next as long as nothing fails.
#[derive(Debug, Default)]
pub struct PlanCursor {
    plan: Vec<Step>,
    /// How many of them were begun, or left out.
    at: usize,
    begun: Vec<Begun>,
}

impl PlanCursor {
    /// By that plan; what was begun stays.
    pub fn set(&mut self, plan: Vec<Step>) {
        self.plan = plan;
        self.at = 0;
    }

    /// The next step.
    pub fn next(&self) -> Option<Act> {
        self.plan.get(self.at).map(|step| step.act)
    }

    /// The next step begins.
    pub fn begin(&mut self, started_ms: f64) -> Option<Act> {
        let act = self.next()?;
        self.at += 1;
        self.tell_step(act, started_ms);
        Some(act)
    }

    /// A step begins that no plan has: what a run has made that has failed is removed.
    pub fn tell_step(&mut self, act: Act, started_ms: f64) {
        // The helper reports its own steps, when they are over.
        if act.actor() != Actor::Helper {
            self.tell(act.actor(), act.action(), started_ms);
        }
    }

    /// Another process has begun a step, for one that is begun here.
    pub fn tell(&mut self, who: Actor, action: &str, started_ms: f64) {
        self.begun.push(Begun {
            who: who.as_str().into(),
            action: action.into(),
            started_ms,
        });
    }

    /// The server on a target has begun these. False if they are others than those that are planned.
    pub fn take_over(&mut self, there: Vec<Begun>) -> bool {
        let mut is_as_planned = true;
        for begun in there {
            let next = self.next().filter(|act| act.is_told_by_server());
            let is_next = next.is_some_and(|act| act.action() == begun.action);
            self.at += usize::from(is_next);
            is_as_planned &= is_next;
            self.tell(Actor::Server, &begun.action, begun.started_ms);
        }
        let is_through = !self.next().is_some_and(Act::is_told_by_server);
        // A server that skipped steps is on its own there: our next step follows.
        while self.next().is_some_and(Act::is_told_by_server) {
            self.at += 1;
        }
        is_as_planned && is_through
    }

    /// Skips to this step: a result of the run says why.
    pub fn skip_to(&mut self, act: Act) {
        let rest = self.plan.get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|step| step.act == act).unwrap_or(0);
    }

    /// Steps that have begun.
    pub fn begun(&self) -> &[Begun] {
        &self.begun
    }
}
