//! The plan of a run: its steps in their order, made before the first of them from what is asked for and what is known of its target; and
//! the course of a run, which is carried out by its plan and tells each step as it begins.

#[cfg(test)]
mod tests;

use crate::spec::{Act, Cache, Data, Errand, Spec, Stage, Step, Who};

/// Where a run is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the server that is asked for it.
    Here,
    /// In a server that is there already, reached by a connection.
    Connection,
    /// In a server that is put there for it.
    Near(Near),
}

/// What is known of a target on which a server is put.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Near {
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
            let mut steps = all(&[Act::Connect, Act::Look, Act::Start]);
            steps.extend(of_server(spec));
            steps.push(Act::Collect.into());
            steps
        }
        Place::Near(near) => on_target(spec, near),
    }
}

fn all(acts: &[Act]) -> Vec<Step> {
    acts.iter().copied().map(Step::from).collect()
}

/// With a server that is put on the target.
fn on_target(spec: &Spec, near: Near) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut add = |acts: &[Act]| steps.extend(all(acts));
    let drop_caches: &[Act] = match near.drops_caches {
        true => &[Act::Job(Errand::DropCaches)],
        false => &[],
    };
    if near.data == Source::LoadedOnce {
        add(&[Act::LoadOnce]);
    }
    if near.is_left {
        add(&[Act::Job(Errand::ReleaseEarlier)]);
    }
    if near.is_made {
        add(&[Act::Job(Errand::Prepare)]);
    }
    add(&[Act::MakeDirectory]);
    add(match near.data {
        Source::Loaded => &[Act::Initdb],
        Source::Copied | Source::LoadedOnce => &[Act::CopyData],
    });
    add(&[Act::Sync]);
    if near.data != Source::Loaded && spec.options.cache == Cache::Cold {
        add(&[Act::ForgetData]);
    }
    add(drop_caches);
    if near.has_other_programs {
        add(&[Act::AskForSettings]);
    }
    if near.wants_statements {
        add(&[Act::AskForStatements]);
    }
    add(&[
        Act::WriteSettings,
        Act::AskForMemory,
        Act::StartServer,
        Act::CreateExtension,
    ]);
    steps.extend(of_server(&there(spec, near)));
    let mut add = |acts: &[Act]| steps.extend(all(acts));
    if spec.options.crash {
        add(&[Act::CrashServer]);
        if near.is_made {
            add(&[Act::Job(Errand::Remount)]);
            add(drop_caches);
        } else {
            add(&[Act::ForgetAgain]);
        }
        add(&[Act::StartAgain, Act::VerifyAgain]);
    }
    // Files go before their filesystem does: unmounting would write whatever of them is in memory only.
    add(&[Act::Collect, Act::StopServer, Act::RemoveServer]);
    if near.is_made {
        add(&[Act::Job(Errand::Release)]);
    }
    steps
}

/// What the server on a target is asked for.
fn there(spec: &Spec, near: Near) -> Spec {
    Spec {
        stage: match near.data {
            Source::Loaded => Stage::WholeOfTarget,
            Source::Copied | Source::LoadedOnce => Stage::OnLoaded {
                database: String::new(),
                scale: spec.scale,
            },
        },
        // What is to be found after a crash must not have been dropped before it.
        keep: spec.options.crash,
        ..spec.clone()
    }
}

/// What the server does that is measured.
fn of_server(spec: &Spec) -> Vec<Step> {
    let is_loaded = matches!(spec.stage, Stage::OnLoaded { .. });
    let mut steps = Vec::new();
    if spec.workload.uses_database() {
        steps.push(match is_loaded {
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
            Act::Load | Act::Vacuum => !is_loaded,
            Act::FillWal => spec.options.wal_segments > 0 && spec.stage != Stage::LoadOnly,
            Act::WarmUp => spec.warmup_ms > 0,
            // What is to be found after a crash is not compared before it.
            Act::Verify => !spec.options.crash,
            Act::Maintain => spec.options.maintenance,
            _ => true,
        };
        if is_done {
            steps.push(*step);
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

/// What becomes of what the server has made.
fn end(spec: &Spec) -> Option<Step> {
    if spec.keep || spec.stage == Stage::LoadOnly {
        return Some(Step::new(
            Act::OpenDatabase,
            "ALTER DATABASE fsbench_work_N ALLOW_CONNECTIONS true",
        ));
    }
    if spec.stage.goes_with_its_server() {
        return None;
    }
    Some(match spec.workload.uses_database() {
        true => Step::new(
            Act::DropDatabase,
            "DROP DATABASE fsbench_work_N WITH (FORCE)",
        ),
        false => Step::new(Act::DropFile, "remove it"),
    })
}

/// A step that was begun.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Begun {
    /// Who does it.
    pub who: String,
    /// What.
    pub action: String,
    /// When, in milliseconds from the start of the run.
    pub started_ms: f64,
}

/// A run on its way through its plan.
#[derive(Debug, Default)]
pub struct Course {
    plan: Vec<Step>,
    /// How many of them were begun, or left out.
    at: usize,
    begun: Vec<Begun>,
    /// Whether what is left of the plan does not hold any more, since the run has failed.
    is_given_up: bool,
    /// Whether what is begun is a part of a step that was told.
    is_within: bool,
}

impl Course {
    /// By that plan; what was begun stays.
    pub fn set(&mut self, plan: Vec<Step>) {
        self.plan = plan;
        self.at = 0;
    }

    /// What is to be done next.
    pub fn next(&self) -> Option<Act> {
        self.plan.get(self.at).map(|step| step.act)
    }

    /// A step begins. False if it is not the turn of it, which is a fault of the plan or of the code that carries it out.
    pub fn begin(&mut self, act: Act, started_ms: f64) -> bool {
        if self.is_within {
            return true;
        }
        // Of the helper's errands its own steps are told, when they are over.
        if act.who() != Who::Helper {
            self.tell(act.who(), act.action(), started_ms);
        }
        self.pass(act)
    }

    fn pass(&mut self, act: Act) -> bool {
        let is_next = self.next() == Some(act);
        self.at += usize::from(is_next);
        is_next || self.is_given_up
    }

    /// Another process has begun a step, for one that is begun here.
    pub fn tell(&mut self, who: Who, action: &str, started_ms: f64) {
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
            self.tell(Who::Server, &begun.action, begun.started_ms);
        }
        let is_through = !self.next().is_some_and(Act::is_told_by_server);
        // What it was to tell and has not is its affair. What comes next is ours again.
        while self.next().is_some_and(Act::is_told_by_server) {
            self.at += 1;
        }
        is_as_planned && is_through || self.is_given_up
    }

    /// What is begun until [`Self::leave`] is a part of the step that was begun last.
    pub fn go_within(&mut self) {
        self.is_within = true;
    }

    /// The end of that.
    pub fn leave(&mut self) {
        self.is_within = false;
    }

    /// What comes before that step is left out: a result of the run says why.
    pub fn skip_to(&mut self, act: Act) {
        let rest = self.plan.get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|step| step.act == act).unwrap_or(0);
    }

    /// The run has failed: only what was made is still removed.
    pub fn give_up(&mut self) {
        self.is_given_up = true;
        self.is_within = false;
    }

    /// Whether everything was done that was planned, or nothing can be said of that.
    pub fn is_through(&self) -> bool {
        self.is_given_up || self.at == self.plan.len()
    }

    /// What was begun so far.
    pub fn begun(&self) -> &[Begun] {
        &self.begun
    }
}
