//! From a study to targets and experiments that are recorded.

use pgfsbench_core::{
    experiment::{asked, plan as experiment_plan},
    refusal::quoted,
    study::{
        asked::{self as study_asked, Asked},
        definition::Study,
        left_out::{Facts, Here},
        plan::{self, Target},
    },
    units::{format_bytes, format_count, format_seconds},
};
use pgrx::{pg_extern, pg_sys::panic::ErrorReport};
use serde_json::{Value, json};

use super::{definition, facts};
use crate::{
    api::{
        experiment::asking::{self, Planned},
        guard::{self, Ready},
        own_target,
    },
    errors::{Fault, sqlstate, unreadable},
    host::storage,
    pg::{
        report, session, sql,
        text::{Document, Said},
        xact,
    },
    store::study as store,
    target::{self, devices},
};

/// Why a question has no duration.
const ENDS_BY_ITSELF: &str = "so many transactions end its runs, or all scans";

#[pg_extern(sql = false)]
fn fsbench_study(asked: Option<Document>, plan_only: Option<bool>) -> Result<Said, ErrorReport> {
    let asked: Asked = serde_json::from_value(asked.map(|json| json.0).unwrap_or_default())
        .map_err(|e| unreadable("arguments of a study", e))?;
    if plan_only.unwrap_or(false) {
        // Everything that planning makes is undone.
        let planned = xact::attempt(|| Started::planned(&asked)).and_then(|planned| planned)?;
        return Ok(Said(json!(planned.rows(&asked)).to_string()));
    }
    Ok(Said(record(&asked)?))
}

/// A study whose targets are made, and whose experiments are planned.
struct Started {
    ready: Ready,
    study: Study,
    facts: Facts,
    /// Names of questions, what is asked for each, and what that becomes.
    experiments: Vec<(String, asked::Asked, Planned)>,
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

fn record(asked: &Asked) -> Result<String, Fault> {
    xact::check_may_write(c"fsbench.study()");
    let started = Started::of(asked)?;
    guard::janitor_is_there(started.ready.board)?;
    let by = session::role_name(session::role());
    let (ready, study) = (&started.ready, &started.study);
    session::with_rights_of(ready.owner, || {
        store::insert(study, asked, &started.facts, &by)?;
        for target in &started.targets {
            store::insert_target(&study.study, &target.variant, &target.name)?;
        }
        Ok::<(), Fault>(())
    })?;
    let starts = asked.start.unwrap_or(true);
    for (question, experiment, planned) in &started.experiments {
        let id = asking::insert(ready, experiment, planned, None)?;
        session::with_rights_of(ready.owner, || {
            store::insert_experiment(&study.study, question, id)
        })?;
        if starts {
            asking::start(ready, id)?;
        }
    }
    started.announce(asked, starts);
    Ok(study.study.clone())
}

impl Checked {
    fn of(asked: &Asked) -> Result<Self, Fault> {
        let ready = guard::ready()?;
        let study = definition(ready.owner, asked.study.as_deref())?;
        study_asked::check(asked, &study)?;
        target::size("image_size", asked.image_size.clone())?;
        let devices = [&asked.device, &asked.log_device, &asked.misaligned_device];
        for device in devices.into_iter().flatten() {
            check_device(device)?;
        }
        if let Some(device) = &asked.misaligned_device {
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

impl Started {
    /// The targets of a study that is not there yet, made, and its experiments.
    fn of(asked: &Asked) -> Result<Self, Fault> {
        let checked = Checked::of(asked)?;
        if checked.is_started {
            return Err(Fault::new(
                sqlstate::EXISTS_ALREADY,
                format!("study {} was started already", quoted(&checked.study.study)),
            )
            .detail("Its experiments are in fsbench.study_experiment; they can be cancelled, resumed, extended and confirmed as others are.")
            .hint("Drop it first: fsbench.drop_study(), with keep_runs => true if its runs are to stay."));
        }
        Self::made(asked, checked)
    }

    /// The same in a subtransaction that is undone: also what was started is planned as if it were not there.
    fn planned(asked: &Asked) -> Result<Self, Fault> {
        let checked = Checked::of(asked)?;
        if checked.is_started {
            let study = &checked.study.study;
            session::with_rights_of(checked.ready.owner, || store::forget_targets(study))?;
        }
        Self::made(asked, checked)
    }

    fn made(asked: &Asked, checked: Checked) -> Result<Self, Fault> {
        let Checked {
            ready,
            study,
            is_started,
        } = checked;
        let facts = session::with_rights_of(ready.owner, || facts::look(&study))?;
        let here = Here {
            study: &study,
            asked,
            facts: &facts,
        };
        let plan = plan::plan(&here)?;
        let asked_for = |name: &String| study.question(name).map(|q| plan::needed_bytes(&here, q));
        let needed: Vec<(String, u64)> = (plan.experiments.iter())
            .filter_map(|e| Some((e.question.clone(), asked_for(&e.question)?)))
            .collect();
        check_room(asked, &needed)?;
        own_target::quietly(|| {
            (plan.targets.iter())
                .try_for_each(|target| make_target(ready.owner, &study.study, asked, target))
        })?;
        let mut experiments = Vec::new();
        for one in plan.experiments {
            let mut experiment = asked::with_rate(one.asked)?;
            if is_started {
                // Its own has the name already.
                experiment.experiment = Some(format!("(plan) {}", one.question));
            }
            let planned = asking::planned(&ready, &experiment)
                .map_err(|fault| fault.context(&format!("question {}", one.question)))?;
            experiments.push((one.question, experiment, planned));
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

    fn here<'a>(&'a self, asked: &'a Asked) -> Here<'a> {
        Here {
            study: &self.study,
            asked,
            facts: &self.facts,
        }
    }

    /// Names of the questions that are asked.
    fn questions(&self) -> impl Iterator<Item = &str> {
        self.experiments
            .iter()
            .map(|(question, ..)| question.as_str())
    }

    /// Fewest and most runs of these questions, and the seconds of the most.
    fn runs(&self, is_one: impl Fn(&str) -> bool) -> (u64, u64, f64) {
        let of = |(_, asked, planned): &(String, asked::Asked, Planned)| {
            let targets = planned.checked.candidates.len() as u64;
            let most = targets * u64::from(planned.checked.max_blocks);
            (
                3 * targets,
                most,
                most as f64 * planned.length.run_seconds()
                    + planned.before(asked).seconds(planned.length),
            )
        };
        let add = |a: (u64, u64, f64), b: (u64, u64, f64)| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
        let ones = self.experiments.iter().filter(|(name, ..)| is_one(name));
        ones.map(of).fold((0, 0, 0.0), add)
    }

    fn summary(&self) -> String {
        let (least, most, seconds) = self.runs(|_| true);
        let runs = match least == most {
            true => format_count(most, "run"),
            false => format!("{least} to {most} runs"),
        };
        format!(
            "study {}: {} in {}, {runs}, at most about {}",
            self.study.study,
            format_count(self.variants(), "variant"),
            format_count(self.experiments.len() as u64, "experiment"),
            format_seconds(seconds)
        )
    }

    /// How many variants are tried.
    fn variants(&self) -> u64 {
        let mut names: Vec<&str> = (self.experiments.iter())
            .flat_map(|(_, _, planned)| {
                planned.checked.candidates.iter().map(|c| c.target.as_str())
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names.len() as u64
    }

    /// What is left out of the questions that are asked, and the questions of the parts that are not asked, with why.
    fn left_out(&self, asked: &Asked) -> Vec<(String, String)> {
        let here = self.here(asked);
        let mut left: Vec<(String, String)> = Vec::new();
        for question in &self.study.questions {
            if !asked.has_part(&self.study, &question.part) {
                continue;
            }
            for name in &question.variants {
                let variant = self.study.variant(name);
                let why = variant.and_then(|v| here.variant_of(question, v));
                if let Some(why) = why.filter(|_| !left.iter().any(|(other, _)| other == name)) {
                    left.push((name.clone(), why.to_string()));
                }
            }
            if let Some(why) = here.question(question) {
                left.push((format!("question {}", question.question), why.to_string()));
            }
        }
        left
    }

    fn announce(&self, asked: &Asked, starts: bool) {
        let left = self.left_out(asked);
        let mut hint = match starts {
            true => format!(
                "See fsbench.experiments, and SELECT * FROM fsbench.study_claims('{}').",
                self.study.study
            ),
            false => {
                "It is only recorded: fsbench.resume_experiment() starts each of its experiments."
                    .to_owned()
            }
        };
        if let Some(second) = self.second_pass(asked) {
            hint = format!("{second} {hint}");
        }
        let without = plan::without_duration(&self.here(asked), self.questions());
        if !without.is_empty() {
            let names = without.join(", ");
            hint = format!("duration is not that of {names}: {ENDS_BY_ITSELF}. {hint}");
        }
        if !left.is_empty() {
            let parts: Vec<String> = left
                .iter()
                .map(|(name, why)| format!("{name}: {why}"))
                .collect();
            hint = format!("Left out here: {}. {hint}", parts.join(" | "));
        }
        for device in [&asked.misaligned_device, &asked.device]
            .into_iter()
            .flatten()
        {
            hint = format!("Each run erases {}. {hint}", quoted(device));
        }
        report::notice(self.summary(), Some(hint));
    }

    /// What would be made with the settings of today, too, and how long that would take, in a sentence.
    fn second_pass(&self, asked: &Asked) -> Option<String> {
        let here = self.here(asked);
        let (parts, questions) = plan::second_pass(&here, self.questions())?;
        let (_, _, seconds) = self.runs(|name| questions.contains(&name));
        Some(format!(
            "Beside the published figures are the settings of their time; with those of today, too: part => '{parts}', about {} more.",
            format_seconds(seconds)
        ))
    }

    /// The rows of `study_plan`.
    fn rows(&self, asked: &Asked) -> Vec<Value> {
        let mut rows = Vec::new();
        let mut add = |part: &str, item: &str, says: String| {
            rows.push(json!({"part": part, "item": item, "says": says}));
        };
        add("plan", &self.study.study, self.summary());
        add(
            "plan",
            "author",
            format!(
                "{}, {}: {}",
                self.study.author, self.study.year, self.study.title
            ),
        );
        let here = self.here(asked);
        let without = plan::without_duration(&here, self.questions());
        for (question, asked, planned) in &self.experiments {
            add("question", question, planned.announced(asked));
            let found = self.study.question(question);
            if found.is_some_and(|q| plan::has_period(&here, q)) {
                let says = "with the settings of its time: what PostgreSQL did not do then is off";
                add("question", question, says.into());
            }
            if without.contains(&question.as_str()) {
                add(
                    "question",
                    question,
                    format!("without the duration: {ENDS_BY_ITSELF}"),
                );
            }
        }
        if let Some(second) = self.second_pass(asked) {
            add("plan", "second pass", second);
        }
        for (bytes, item) in self
            .needed
            .iter()
            .map(|(question, bytes)| (bytes, question))
        {
            add(
                "needs",
                item,
                format!("a filesystem of {}", format_bytes(*bytes)),
            );
        }
        for (name, why) in self.left_out(asked) {
            add("left out", &name, why);
        }
        for claim in &self.study.claims {
            let how = match here.claim(claim) {
                Some(why) => format!("not tested: {why}"),
                None => pgfsbench_core::study::claims::decided_by(claim),
            };
            add("claim", &claim.claim, format!("{}: {how}", claim.says));
        }
        for (question, _, planned) in &self.experiments {
            let targets = planned.checked.candidates.len();
            let order = experiment_plan::run_order(targets, planned.seed);
            let seconds = format_seconds(planned.length.run_seconds());
            for (block, order) in (1..=planned.checked.max_blocks).zip(order) {
                for number in order {
                    let name = &planned.checked.candidates[number].name;
                    add(
                        "run",
                        &format!("{question}, block {block}"),
                        format!("{name}: about {seconds}"),
                    );
                }
            }
        }
        rows
    }
}

/// One that this study has made, and that was left with its runs, is used again.
fn make_target(owner: u32, study: &str, asked: &Asked, target: &Target) -> Result<(), Fault> {
    let is_there = own_target::is_there(&target.name)?;
    let has_made = || session::with_rights_of(owner, || store::has_made(study, &target.name));
    if is_there && !has_made()? {
        return Err(own_target::exists(
            &target.name,
            "The study has not made it, and would drop it one day.",
            "Drop it with fsbench.drop_target() (the results of its runs stay), or make it again under another name.",
        ));
    }
    let create = |name: &str| create_target(asked, target, name);
    own_target::make_or_use(owner, &target.name, "study", create)?;
    Ok(())
}

fn create_target(asked: &Asked, target: &Target, name: &str) -> Result<(), Fault> {
    let text = |name: &str| target.arguments.get(name).and_then(Value::as_str);
    let json = |name: &str| target.arguments.get(name).map(Value::to_string);
    let discards = asked.device.as_deref().is_some_and(storage::can_discard);
    sql::write(
        "SELECT fsbench.create_target($1, filesystem => $2, device => $3, image_size => $4, mkfs_options => $5, mount_options => $6, \
           log_device => $7, log_size => $8, pool_properties => $9, dataset_properties => $10, ssd_state => $11, block_settings => $12::jsonb, \
           kernel_settings => $13::jsonb, settings => $14::jsonb, bindir => $15, data_checksums => $16::boolean, drop_caches => $17::boolean, \
           power_loss_protected => $18::boolean)",
        &[
            Some(name),
            text("filesystem"),
            text("device"),
            text("image_size"),
            text("mkfs_options"),
            text("mount_options"),
            text("log_device"),
            text("log_size"),
            text("pool_properties"),
            text("dataset_properties"),
            discards.then_some("trimmed"),
            json("block_settings").as_deref(),
            json("kernel_settings").as_deref(),
            json("settings").as_deref(),
            text("bindir"),
            json("data_checksums").as_deref(),
            json("drop_caches").as_deref(),
            json("power_loss_protected").as_deref(),
        ],
    )?;
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
fn check_room(asked: &Asked, needed: &[(String, u64)]) -> Result<(), Fault> {
    let (place, bytes) = match (&asked.device, &asked.image_size) {
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
    let quick = asked.is_quick();
    Ok(bytes.map_or(Ok(()), |bytes| {
        plan::check_room(&place, bytes, needed, quick)
    })?)
}
