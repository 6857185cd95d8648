//! From a study to targets and experiments.

use serde_json::{Map, Value};

use super::{
    arguments::StudyArguments,
    definition::{Question, Study, Variant, of_the_period},
    not_tested::StudyContext,
};
use crate::{
    experiment::arguments::ExperimentArguments,
    quoting,
    refusal::{Refusal, quoted},
    run::room,
    spec::Workload,
    units::{format_bytes, parse_size},
};

/// The targets and experiments of a study, in the order in which they are made.
#[derive(Clone, Debug)]
pub struct Plan {
    pub targets: Vec<Target>,
    pub experiments: Vec<PlannedExperiment>,
}

/// A target that a study makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    pub variant: String,
    pub name: String,
    /// Arguments of create_target by name.
    pub arguments: Map<String, Value>,
}

/// The experiment of a question.
#[derive(Clone, Debug)]
pub struct PlannedExperiment {
    pub question: String,
    pub arguments: ExperimentArguments,
}

/// The name of the target of a variant: its own, or that of the study with the variant's. No slash: the helper, which is root, makes names
/// of files of it.
pub fn target_name(study: &str, variant: &Variant) -> String {
    variant
        .target
        .clone()
        .unwrap_or_else(|| format!("{study}.{}", variant.variant))
}

/// The name of the experiment of a question.
pub fn experiment_name(study: &str, question: &str) -> String {
    format!("{study} {question}")
}

/// The plan of a study; refused when nothing is left of it.
pub fn plan(here: &StudyContext<'_>) -> Result<Plan, Refusal> {
    let mut plan = Plan {
        targets: Vec::new(),
        experiments: Vec::new(),
    };
    for question in &here.study.questions {
        if here.question(question).is_some() {
            continue;
        }
        for variant in here.variants(question) {
            let is_there = plan.targets.iter().any(|t| t.variant == variant.variant);
            if variant.target.is_none() && !is_there {
                plan.targets.push(target(here, variant));
            }
        }
        plan.experiments.push(PlannedExperiment {
            question: question.question.clone(),
            arguments: experiment(here, question),
        });
    }
    if plan.experiments.is_empty() {
        let part = here.arguments.part(here.study);
        let mut reasons: Vec<String> = (here.study.questions.iter())
            .filter(|q| here.arguments.has_part(here.study, &q.part))
            .filter_map(|q| Some(format!("{}: {}", q.question, here.question(q)?)))
            .collect();
        reasons.truncate(4);
        return Err(Refusal::argument(format!(
            "nothing of study {} can be tried here",
            quoted(&here.study.study)
        ))
        .detail(format!("Of part {}: {}.", part, reasons.join("; ")))
        .hint(
            "Ask for another part, or bring what is missing; fsbench.doctor() tells what is here.",
        ));
    }
    check_duration(here, &plan)?;
    Ok(plan)
}

/// The questions of a plan that a given duration does not bound: a number of transactions does, or all scans.
pub fn without_duration<'a>(
    here: &StudyContext<'_>,
    questions: impl Iterator<Item = &'a str>,
) -> Vec<&'a str> {
    let has_window = |name: &str| (here.study.question(name)).is_some_and(|q| here.has_window(q));
    match here.arguments.duration_us {
        Some(_) => questions.filter(|&name| !has_window(name)).collect(),
        None => Vec::new(),
    }
}

/// Refuses a duration that no run would have.
fn check_duration(here: &StudyContext<'_>, plan: &Plan) -> Result<(), Refusal> {
    let questions = plan.experiments.iter().map(|e| e.question.as_str());
    let without = without_duration(here, questions);
    if without.len() < plan.experiments.len() {
        return Ok(());
    }
    let study = quoted(&here.study.study);
    Err(Refusal::argument(format!(
        "duration means nothing for these questions of study {study}"
    ))
    .detail(format!(
        "Their runs end after so many transactions, or when all scans are made: {}.",
        without.join(", ")
    ))
    .hint("Leave duration out; scale and blocks make less of it."))
}

fn target(here: &StudyContext<'_>, variant: &Variant) -> Target {
    let arguments = here.arguments;
    let mut target_arguments = Map::new();
    let mut text = |name: &str, value: Option<&String>| {
        if let Some(value) = value {
            target_arguments.insert(name.into(), value.clone().into());
        }
    };
    text("filesystem", variant.filesystem.as_ref());
    let has_layout = variant.layout.is_some();
    text(
        "device",
        match variant.misaligned {
            true => arguments.misaligned_device.as_ref(),
            false => arguments.first_device().filter(|_| !has_layout),
        },
    );
    text("layout", variant.layout.as_ref());
    text("image_size", arguments.image_size.as_ref());
    text("mkfs_options", variant.mkfs_options.as_ref());
    text("mount_options", variant.mount_options.as_ref());
    text("pool_properties", variant.pool_properties.as_ref());
    text("dataset_properties", variant.dataset_properties.as_ref());
    if variant.log_size.is_some() {
        match arguments.first_device().is_some() {
            true => text("log_device", arguments.log_device.as_ref()),
            false => text("log_size", variant.log_size.as_ref()),
        }
    }
    if variant.second_build {
        text("bindir", arguments.bindir.as_ref());
    }
    if has_layout {
        let devices = arguments.devices.clone().map(Value::from);
        target_arguments.extend(devices.map(|devices| ("devices".into(), devices)));
        let count = arguments.image_count.map(Value::from);
        target_arguments.extend(count.map(|count| ("image_count".into(), count)));
    }
    for (name, object) in [
        ("layout_options", &variant.layout_options),
        ("kernel_settings", &variant.kernel_settings),
        ("block_settings", &variant.block_settings),
        ("settings", &variant.settings),
    ] {
        if let Some(object) = object {
            let mut object = object.clone();
            if name == "settings" {
                shares_of_ram(&mut object, here.facts.memory_bytes);
            }
            target_arguments.insert(name.into(), Value::Object(object));
        }
    }
    for (name, flag) in [
        ("data_checksums", variant.data_checksums),
        ("drop_caches", variant.drop_caches),
        ("power_loss_protected", arguments.power_loss_protected),
    ] {
        if let Some(flag) = flag {
            target_arguments.insert(name.into(), flag.into());
        }
    }
    Target {
        variant: variant.variant.clone(),
        name: target_name(&here.study.study, variant),
        arguments: target_arguments,
    }
}

/// Puts bytes where a setting has a share of the memory, such as `25% ram`: the server knows no such unit.
fn shares_of_ram(settings: &mut Map<String, Value>, memory_bytes: u64) {
    for value in settings.values_mut() {
        let text = value.as_str().unwrap_or_default().trim().to_lowercase();
        if text.ends_with("ram")
            && let Ok(bytes) = parse_size(&text, memory_bytes)
        {
            *value = format!("{}kB", (bytes >> 10).max(1)).into();
        }
    }
}

/// Whether the runs of a question have the settings of its time.
pub fn has_period(here: &StudyContext<'_>, question: &Question) -> bool {
    question.today_of.is_none() && here.arguments.period.unwrap_or(question.is_published)
}

/// The parts with what is asked with the settings of its time once more, with those of today, unless these are asked for, too: after
/// those that are asked for, as the argument `part` takes them. With the questions of this plan that they repeat.
pub fn second_pass<'a>(
    here: &StudyContext<'a>,
    questions: impl Iterator<Item = &'a str>,
) -> Option<(String, Vec<&'a str>)> {
    let published = questions.filter_map(|name| here.study.question(name));
    let published: Vec<&Question> = published
        .filter(|q| q.is_published && has_period(here, q))
        .filter(|q| !here.arguments.has_part(here.study, &q.second_part()))
        .collect();
    let mut parts = vec![here.arguments.part(here.study).to_owned()];
    for question in &published {
        let part = question.second_part();
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let names: Vec<&str> = published.iter().map(|q| q.question.as_str()).collect();
    (!names.is_empty()).then(|| (parts.join(","), names))
}

/// The setting by which a server extends files, and the value that costs the same on every filesystem: posix_fallocate writes into each
/// block where a filesystem has no fallocate.
pub const FILE_EXTEND_METHOD: (&str, &str) = ("file_extend_method", "write_zeros");

/// How the server of a question extends files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileExtension {
    /// By writing zeros, on all targets alike.
    ByZeros,
    /// By posix_fallocate, since this server has no such setting.
    ByFallocate,
    /// As another build does, or as a server before 16, or for runs that use no database: there is nothing to set.
    AsItDoes,
}

/// How the servers of a question extend files.
pub fn extends(here: &StudyContext<'_>, question: &Question) -> FileExtension {
    let (name, value) = FILE_EXTEND_METHOD;
    let values = here.facts.enums.get(name);
    let is_there = values.is_some_and(|values| values.iter().any(|v| v == value));
    let is_other_build = here.variants(question).iter().any(|v| v.second_build);
    let workload = Workload::parse(&question.workload);
    let takes_settings = workload.is_some_and(|w| w.takes("settings"));
    match is_there {
        _ if is_other_build || !takes_settings => FileExtension::AsItDoes,
        true => FileExtension::ByZeros,
        false if here.facts.server_version_num >= 160_000 => FileExtension::ByFallocate,
        false => FileExtension::AsItDoes,
    }
}

fn experiment(here: &StudyContext<'_>, question: &Question) -> ExperimentArguments {
    let study = &here.study.study;
    let length = here.length(question);
    let us = |seconds: f64| (seconds * 1e6) as i64;
    let mut settings = Map::new();
    if has_period(here, question) {
        // Settings of a run come before those of its target: what is compared stays with the variants.
        let variants = here.variants(question);
        let compared = |name: &str| {
            let mut own = variants.iter().filter_map(|v| v.settings.as_ref());
            own.any(|own| own.contains_key(name))
        };
        let of_the_period = of_the_period().into_iter();
        for (name, value) in of_the_period.filter(|(name, _)| !compared(name)) {
            settings.insert(name.into(), value.into());
        }
    }
    if extends(here, question) == FileExtension::ByZeros {
        let (name, value) = FILE_EXTEND_METHOD;
        settings.insert(name.into(), value.into());
    }
    settings.extend(question.settings.clone());
    settings.extend(length.settings.clone());
    let object = |map: Map<String, Value>| (!map.is_empty()).then_some(Value::Object(map));
    ExperimentArguments {
        experiment: Some(experiment_name(study, &question.question)),
        targets: Some(
            (here.variants(question).iter())
                .map(|v| Some(target_name(study, v)))
                .collect(),
        ),
        baseline: here
            .study
            .variant(&question.baseline)
            .map(|v| target_name(study, v)),
        metric: Some(question.metric.clone()),
        margin: Some(question.margin),
        max_blocks: Some(length.max_blocks),
        cycle_us: length.cycle_seconds.map(us),
        rate: question.rate.clone(),
        start: here.arguments.start,
        neighbours: here.arguments.neighbours.clone(),
        run: crate::spec::RunArguments {
            workload: Some(question.workload.clone()),
            scale: length.scale,
            size: length.size.clone(),
            clients: question.clients,
            duration_us: length.duration_seconds.map(us),
            transactions: length.transactions,
            warmup_us: length.warmup_seconds.map(us),
            // That these are two partitions of a disk, or one disk and several, is what is compared.
            force: (here.variants(question).iter()).any(|v| v.misaligned || v.layout.is_some()),
            settings: object(settings),
            options: object(question.options_at(&length)),
            data: here.arguments.data.clone(),
            database: here.arguments.database.clone(),
            ..Default::default()
        },
        ..Default::default()
    }
}

/// Bytes that a filesystem of a question must have: its data with what is added to them, its WAL, and a reserve. A run's own check, which knows the
/// place, comes on top.
pub fn needed_bytes(here: &StudyContext<'_>, question: &Question) -> u64 {
    let variants = here.variants(question);
    let length = here.length(question);
    // A run's own come before those of its target.
    let of_runs = [&length.settings, &question.settings];
    let of_runs = of_runs.into_iter().find(|s| s.contains_key("max_wal_size"));
    let of_targets = variants.iter().filter_map(|v| v.settings.as_ref());
    let settings = of_targets.filter(|_| of_runs.is_none()).chain(of_runs);
    let given = settings.filter_map(|s| s.get("max_wal_size")?.as_str());
    let given = given.filter_map(|size| parse_size(size, here.facts.memory_bytes).ok());
    let wal = given.max().unwrap_or(here.facts.max_wal_bytes);
    let workload = Workload::parse(&question.workload);
    let data = here.data_bytes(question, &length);
    let tables = match question.options_at(&length).get("maintenance") {
        Some(Value::Bool(true)) => 2,
        _ => 1,
    };
    // So few transactions do not fill it: each writes three pages at most, and their images.
    let most = length.transactions.map(|n| {
        n.unsigned_abs() * u64::from(question.clients.unwrap_or(1).unsigned_abs()) * (32 << 10)
    });
    let wal = match workload.is_some_and(|w| w.writes() && w.runs_transactions()) {
        true => (wal + wal / 2).min(most.unwrap_or(u64::MAX)),
        // Loading logs what it does to the catalogs, and what comes before.
        false => 384 << 20,
    };
    let written = data * tables * 6 / 5 + wal;
    let filesystems = variants.iter().filter_map(|v| v.filesystem.as_deref());
    let taken = filesystems.map(|name| room::taken_on(name, written));
    let needed = taken.max().unwrap_or(written) + here.facts.reserved_bytes;
    // Room for the filesystem's own structures.
    needed + needed / 16
}

/// Refuses a place that is too small, and says what would fit. `needed` is of each question.
pub fn check_room(
    place: &str,
    bytes: u64,
    needed: &[(String, u64)],
    study: &Study,
    arguments: &StudyArguments,
) -> Result<(), Refusal> {
    let Some((question, most)) = needed.iter().max_by_key(|(_, bytes)| *bytes) else {
        return Ok(());
    };
    if *most <= bytes {
        return Ok(());
    }
    let part_of = |question: &str| study.question(question).map(|q| q.part.as_str());
    let of_those = |is_wanted: &dyn Fn(u64) -> bool| -> Vec<&str> {
        let those = needed.iter().filter(|(_, needed)| is_wanted(*needed));
        those.filter_map(|(name, _)| part_of(name)).collect()
    };
    // A part is asked for as a whole.
    let too_large = of_those(&|needed| needed > bytes);
    let mut fits = of_those(&|needed| needed <= bytes);
    fits.retain(|part| !too_large.contains(part));
    fits.sort_unstable();
    fits.dedup();
    let parts = format!("part => {}", quoting::sql_literal(&fits.join(",")));
    let ways = [
        (!fits.is_empty()).then_some(parts.as_str()),
        (arguments.scale != Some(1)).then_some("a smaller scale"),
        (!arguments.is_quick()).then_some("quick => true"),
    ];
    let ways: String = (ways.iter().flatten())
        .map(|way| format!(", or use {way}"))
        .collect();
    Err(
        Refusal::argument(format!("{place} is too small for the study"))
            .detail(format!(
                "It has {}, and question {question} needs {}: data, WAL and a reserve.",
                format_bytes(bytes),
                format_bytes(*most)
            ))
            .hint(format!(
                "Give one of at least {}{ways}.",
                format_bytes(*most)
            )),
    )
}

#[cfg(test)]
mod tests;
