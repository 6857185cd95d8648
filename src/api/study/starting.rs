//! From a study to targets and experiments that are recorded.

use pgfsbench_core::{
    experiment::arguments,
    refusal::quoted,
    study::{
        announcement,
        arguments::{self as study_arguments, StudyArguments},
        definition::Study,
        not_tested::{Facts, StudyContext},
        plan::{self, Target},
    },
};
use pgrx::{pg_extern, pg_sys::panic::ErrorReport};

use super::{definition, facts};
use crate::{
    api::{
        experiment::asking::{self, Planned, Targets},
        guard::{self, Ready},
        own_target,
    },
    errors::{Fault, sqlstate, to_json_text, wrong_arguments},
    pg::{
        report, session,
        text::{Document, ReturnedText},
        xact,
    },
    store::{experiment, study as store},
    target::{self, devices},
};

#[pg_extern(sql = false)]
fn fsbench_study(
    arguments: Option<Document>,
    plan_only: Option<bool>,
) -> Result<ReturnedText, ErrorReport> {
    let arguments: StudyArguments =
        serde_json::from_value(arguments.map(|json| json.0).unwrap_or_default())
            .map_err(|e| wrong_arguments("an argument of a study", e))?;
    if plan_only.unwrap_or(false) {
        // Everything that planning makes is undone.
        let planned = xact::attempt(|| Started::planned(&arguments)).and_then(|planned| planned)?;
        return Ok(ReturnedText(to_json_text(
            &planned.announcement(&arguments).rows(),
        )?));
    }
    Ok(ReturnedText(record(&arguments)?))
}

/// A study whose targets are made, and whose experiments are planned.
struct Started {
    ready: Ready,
    study: Study,
    facts: Facts,
    /// Names of questions, and the experiment of each.
    experiments: Vec<(String, Planned)>,
    targets: Vec<Target>,
    needed: Vec<(String, u64)>,
}

/// The arguments, when each is right by itself, and the study that they are for.
struct Checked {
    ready: Ready,
    study: Study,
    /// Whether it was started, and not dropped since.
    is_started: bool,
}

fn record(arguments: &StudyArguments) -> Result<String, Fault> {
    xact::check_may_write(c"fsbench.study()");
    let started = Started::of(arguments)?;
    guard::janitor_is_there(started.ready.board)?;
    let by = session::role_name(session::role());
    let (ready, study) = (&started.ready, &started.study);
    session::with_rights_of(ready.owner, || {
        store::insert(study, arguments, &started.facts, &by)?;
        for target in &started.targets {
            store::insert_target(&study.study, &target.variant, &target.name)?;
        }
        Ok::<(), Fault>(())
    })?;
    let starts = arguments.start.unwrap_or(true);
    for (question, planned) in &started.experiments {
        let id = asking::insert(ready, planned, None)?;
        session::with_rights_of(ready.owner, || {
            store::insert_experiment(&study.study, question, id)
        })?;
        if starts {
            asking::start(ready, id)?;
        }
    }
    let announcement = started.announcement(arguments);
    report::notice(announcement.summary(), Some(announcement.hint(starts)));
    Ok(study.study.clone())
}

impl Checked {
    fn of(arguments: &StudyArguments) -> Result<Self, Fault> {
        let ready = guard::ready()?;
        let study = definition(ready.owner, arguments.study.as_deref())?;
        study_arguments::check(arguments, &study)?;
        target::size("image_size", arguments.image_size.clone())?;
        let devices = [
            &arguments.device,
            &arguments.log_device,
            &arguments.misaligned_device,
        ];
        let members = arguments.devices.iter().flatten();
        for device in devices.into_iter().flatten().chain(members) {
            check_device(device)?;
        }
        if let Some(device) = &arguments.misaligned_device {
            check_is_misaligned(device)?;
        }
        let started = session::with_rights_of(ready.owner, || store::started(&study.study))?;
        Ok(Self {
            is_started: started.is_some(),
            ready,
            study,
        })
    }
}

/// A study before anything is made for it.
struct Outline {
    facts: Facts,
    plan: plan::Plan,
    needed: Vec<(String, u64)>,
}

impl Outline {
    fn of(arguments: &StudyArguments, checked: &Checked) -> Result<Self, Fault> {
        let study = &checked.study;
        let facts = session::with_rights_of(checked.ready.owner, || facts::collect(study))?;
        let here = StudyContext {
            study,
            arguments,
            facts: &facts,
        };
        let plan = plan::plan(&here)?;
        let asked_for = |name: &String| study.question(name).map(|q| plan::needed_bytes(&here, q));
        let needed: Vec<(String, u64)> = (plan.experiments.iter())
            .filter_map(|e| Some((e.question.clone(), asked_for(&e.question)?)))
            .collect();
        check_room(arguments, study, &needed)?;
        Ok(Self {
            facts,
            plan,
            needed,
        })
    }

    /// The targets that it makes, and those that it uses.
    fn names(&self) -> Vec<&str> {
        let made = self.plan.targets.iter().map(|target| &target.name);
        let arguments = self.plan.experiments.iter().map(|e| &e.arguments.targets);
        let used = arguments.flatten().flatten().flatten();
        made.chain(used).map(String::as_str).collect()
    }
}

impl Started {
    /// The targets of a study that is not there yet, made, and its experiments.
    fn of(arguments: &StudyArguments) -> Result<Self, Fault> {
        let checked = Checked::of(arguments)?;
        if checked.is_started {
            return Err(Fault::new(
                sqlstate::EXISTS_ALREADY,
                format!("study {} was started already", quoted(&checked.study.study)),
            )
            .detail("Its experiments are in fsbench.study_experiment; they can be cancelled, resumed, extended and confirmed as others are.")
            .hint("Drop it first: fsbench.drop_study(), with keep_runs => true if its runs are to stay."));
        }
        Self::made(arguments, checked, Targets::Held)
    }

    /// Plans a study in a subtransaction that is undone. A study that was started is planned as if it were new.
    fn planned(arguments: &StudyArguments) -> Result<Self, Fault> {
        let checked = Checked::of(arguments)?;
        if checked.is_started {
            let study = &checked.study.study;
            session::with_rights_of(checked.ready.owner, || store::forget_targets(study))?;
        }
        Self::made(arguments, checked, Targets::Free)
    }

    fn made(arguments: &StudyArguments, checked: Checked, targets: Targets) -> Result<Self, Fault> {
        let outline = Outline::of(arguments, &checked)?;
        if targets == Targets::Free {
            return Self::made_of(arguments, checked, outline, targets);
        }
        // All of them at once, before its experiments hold their own; then with a snapshot from after the wait.
        let names = outline.names();
        session::with_rights_of(checked.ready.owner, || experiment::hold(&names))?;
        xact::seeing_own_changes(|| {
            let outline = Outline::of(arguments, &checked)?;
            Self::made_of(arguments, checked, outline, targets)
        })
    }

    fn made_of(
        arguments: &StudyArguments,
        checked: Checked,
        outline: Outline,
        targets: Targets,
    ) -> Result<Self, Fault> {
        let Checked {
            ready,
            study,
            is_started,
        } = checked;
        let Outline {
            facts,
            plan,
            needed,
        } = outline;
        own_target::quietly(|| {
            (plan.targets.iter())
                .try_for_each(|target| make_target(ready.owner, &study.study, arguments, target))
        })?;
        let mut experiments = Vec::new();
        for one in plan.experiments {
            let mut experiment = arguments::with_rate(one.arguments)?;
            if is_started {
                // The study's own target has the name already.
                experiment.experiment = Some(format!("(plan) {}", one.question));
            }
            let planned = asking::planned(&ready, &experiment, targets).map_err(|why| {
                (why.into_fault(None)).context(&format!("question {}", one.question))
            })?;
            experiments.push((one.question, planned));
        }
        Ok(Self {
            ready,
            study,
            facts,
            experiments,
            targets: plan.targets,
            needed,
        })
    }

    /// The announcement of the study.
    fn announcement<'a>(&'a self, arguments: &'a StudyArguments) -> announcement::Announcement<'a> {
        let here = StudyContext {
            study: &self.study,
            arguments,
            facts: &self.facts,
        };
        let questions = self.experiments.iter();
        let questions = questions.map(|(question, planned)| announcement::PlannedQuestion {
            question,
            checked: &planned.checked,
            length: planned.length,
            before: planned.before(),
            seed: planned.seed,
        });
        announcement::Announcement {
            here,
            questions: questions.collect(),
            needed: &self.needed,
        }
    }
}

/// One that this study has made, and that was left with its runs, is used again.
fn make_target(
    owner: u32,
    study: &str,
    arguments: &StudyArguments,
    target: &Target,
) -> Result<(), Fault> {
    let is_there = own_target::is_there(&target.name)?;
    let has_made = || session::with_rights_of(owner, || store::has_made(study, &target.name));
    if is_there && !has_made()? {
        return Err(own_target::exists(
            &target.name,
            "The study has not made it, and would drop it one day.",
            "Drop it with fsbench.drop_target() (the results of its runs stay), or make it again under another name.",
        ));
    }
    let arguments = own_target::trimmed(
        arguments.first_device().map(String::as_str),
        target.arguments.clone(),
    );
    let create = |name: &str| own_target::create(name, &arguments);
    own_target::make_or_use(owner, &target.name, "study", create)?;
    Ok(())
}

/// Refuses a path that leads to no block device. What the helper may do with one is its own business, and told by the runs.
fn check_device(path: &str) -> Result<(), Fault> {
    if devices::bytes_of(path).is_some() {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::INVALID_PARAMETER,
        format!("device {} does not exist", quoted(path)),
    )
    .detail("There is no block device of that name on this machine.")
    .hint("See fsbench.device, which has those that the helper may erase."))
}

/// Refuses one that begins where every tool would have it begin.
fn check_is_misaligned(path: &str) -> Result<(), Fault> {
    let begins = devices::beginning_of(path).unwrap_or(0);
    if !begins.is_multiple_of(1 << 20) {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::INVALID_PARAMETER,
        format!("device {} is not misaligned", quoted(path)),
    )
    .detail(format!(
        "It begins at {begins} bytes of its disk, a multiple of 1 MB."
    ))
    .hint("Make a partition that begins at sector 63 of the disk, say, or leave misaligned_device out."))
}

/// Refuses a place that is too small, with the size that would fit.
fn check_room(
    arguments: &StudyArguments,
    study: &Study,
    needed: &[(String, u64)],
) -> Result<(), Fault> {
    // A member of a layout has at least the room that a device alone needs.
    let (place, bytes) = match (arguments.first_device(), &arguments.image_size) {
        (Some(device), _) => {
            let found = devices::describe(device)?;
            (
                format!("device {}", quoted(device)),
                found
                    .and_then(|device| device.size_bytes)
                    .or_else(|| devices::bytes_of(device)),
            )
        }
        (None, Some(size)) => (
            "the image".to_owned(),
            target::size("image_size", Some(size.clone()))?,
        ),
        (None, None) => return Ok(()),
    };
    Ok(bytes.map_or(Ok(()), |bytes| {
        plan::check_room(&place, bytes, needed, study, arguments)
    })?)
}
