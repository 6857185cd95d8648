//! From a study to targets and experiments.

use serde_json::{Map, Value};

use super::{
    definition::{Question, Variant, of_the_period},
    left_out::Here,
};
use crate::{
    experiment::asked::Asked as Experiment,
    refusal::{Refusal, quoted},
    spec::Workload,
    units::{bytes_for_scale, format_bytes, parse_size},
};

/// Of the table of scans, with its largest usual rows.
const BYTES_OF_A_MILLION_ROWS: u64 = 64 << 20;

/// The targets and experiments of a study, in the order in which they are made.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Plan {
    pub targets: Vec<Target>,
    pub experiments: Vec<Planned>,
}

/// A target that a study makes.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Target {
    pub variant: String,
    pub name: String,
    /// Arguments of create_target by name.
    pub arguments: Map<String, Value>,
}

/// The experiment of a question.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Planned {
    pub question: String,
    pub asked: Experiment,
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

/// What is made; refused when nothing is left of it.
pub fn plan(here: &Here<'_>) -> Result<Plan, Refusal> {
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
        plan.experiments.push(Planned {
            question: question.question.clone(),
            asked: experiment(here, question),
        });
    }
    if plan.experiments.is_empty() {
        let part = here.asked.part(here.study);
        let mut reasons: Vec<String> = (here.study.questions.iter())
            .filter(|q| here.asked.has_part(here.study, &q.part))
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
    Ok(plan)
}

fn target(here: &Here<'_>, variant: &Variant) -> Target {
    let asked = here.asked;
    let mut arguments = Map::new();
    let mut text = |name: &str, value: Option<&String>| {
        if let Some(value) = value {
            arguments.insert(name.into(), value.clone().into());
        }
    };
    text("filesystem", variant.filesystem.as_ref());
    text(
        "device",
        match variant.misaligned {
            true => asked.misaligned_device.as_ref(),
            false => asked.device.as_ref(),
        },
    );
    text("image_size", asked.image_size.as_ref());
    text("mkfs_options", variant.mkfs_options.as_ref());
    text("mount_options", variant.mount_options.as_ref());
    text("pool_properties", variant.pool_properties.as_ref());
    text("dataset_properties", variant.dataset_properties.as_ref());
    if variant.log_size.is_some() {
        match asked.device.is_some() {
            true => text("log_device", asked.log_device.as_ref()),
            false => text("log_size", variant.log_size.as_ref()),
        }
    }
    if variant.second_build {
        text("bindir", asked.bindir.as_ref());
    }
    for (name, object) in [
        ("kernel_settings", &variant.kernel_settings),
        ("block_settings", &variant.block_settings),
        ("settings", &variant.settings),
    ] {
        if let Some(object) = object {
            arguments.insert(name.into(), Value::Object(object.clone()));
        }
    }
    for (name, flag) in [
        ("data_checksums", variant.data_checksums),
        ("drop_caches", variant.drop_caches),
        ("power_loss_protected", asked.power_loss_protected),
    ] {
        if let Some(flag) = flag {
            arguments.insert(name.into(), flag.into());
        }
    }
    Target {
        variant: variant.variant.clone(),
        name: target_name(&here.study.study, variant),
        arguments,
    }
}

/// Whether the runs of a question have the settings of its time.
pub fn has_period(here: &Here<'_>, question: &Question) -> bool {
    here.asked.period.unwrap_or(question.is_published)
}

fn experiment(here: &Here<'_>, question: &Question) -> Experiment {
    let study = &here.study.study;
    let length = here.length(question);
    let us = |seconds: f64| (seconds * 1e6) as i64;
    let mut settings = Map::new();
    if has_period(here, question) {
        for (name, value) in of_the_period() {
            settings.insert(name.into(), value.into());
        }
    }
    settings.extend(question.settings.clone());
    settings.extend(length.settings.clone());
    let object = |map: Map<String, Value>| (!map.is_empty()).then_some(Value::Object(map));
    Experiment {
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
        start: here.asked.start,
        run: crate::spec::Asked {
            workload: Some(question.workload.clone()),
            scale: length.scale,
            size: length.size.clone(),
            clients: question.clients,
            duration_us: length.duration_seconds.map(us),
            transactions: length.transactions,
            warmup_us: length.warmup_seconds.map(us),
            // That these are two partitions of a disk is what is compared.
            force: here.variants(question).iter().any(|v| v.misaligned),
            settings: object(settings),
            options: object(question.options.clone()),
            ..Default::default()
        },
        ..Default::default()
    }
}

/// Bytes that a filesystem of a question must have: its data with what is added to them, its WAL, and a reserve. A run's own check, which knows the
/// place, comes on top.
pub fn needed_bytes(here: &Here<'_>, question: &Question) -> u64 {
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
    let has_degrees = workload.is_some_and(|w| w.takes_option("degrees"));
    let data = match (length.scale, &length.size) {
        (Some(scale), _) if has_degrees => scale.unsigned_abs() as u64 * BYTES_OF_A_MILLION_ROWS,
        (Some(scale), _) => bytes_for_scale(scale.unsigned_abs()),
        (None, Some(size)) => parse_size(size, here.facts.memory_bytes).unwrap_or(0),
        (None, None) => 0,
    };
    let tables = match question.options.get("maintenance") {
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
    let needed = data * tables * 6 / 5 + wal + here.facts.reserved_bytes;
    // What a filesystem needs for itself.
    needed + needed / 16
}

/// Refuses a place that is too small, and says what would fit. `needed` is of each question.
pub fn check_room(
    place: &str,
    bytes: u64,
    needed: &[(String, u64)],
    is_quick: bool,
) -> Result<(), Refusal> {
    let Some((question, most)) = needed.iter().max_by_key(|(_, bytes)| *bytes) else {
        return Ok(());
    };
    if *most <= bytes {
        return Ok(());
    }
    let fits: Vec<&str> = (needed.iter())
        .filter(|(_, needed)| *needed <= bytes)
        .map(|(question, _)| question.as_str())
        .collect();
    Err(
        Refusal::argument(format!("{place} is too small for the study"))
            .detail(format!(
                "It has {}, and question {question} needs {}: data, WAL and a reserve.{}",
                format_bytes(bytes),
                format_bytes(*most),
                match fits.is_empty() {
                    true => String::new(),
                    false => format!(" What fits: {}.", fits.join(", ")),
                }
            ))
            .hint(format!(
                "Give one of at least {}{}",
                format_bytes(*most),
                match is_quick {
                    true => ", or a smaller scale.",
                    false => ", a smaller scale, or quick => true.",
                }
            )),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiment::asked,
        refusal::check,
        study::{asked::Asked, builtin, left_out::Facts},
    };

    fn facts() -> Facts {
        Facts {
            kernel: "4.18.0".into(),
            server_version_num: 180_001,
            memory_bytes: 24 << 30,
            processors: 16,
            max_wal_bytes: 1 << 30,
            ..Facts::default()
        }
    }

    /// Everything of every study, on a device and on an image, is an experiment that is accepted.
    #[test]
    fn each_question_becomes_an_experiment() {
        let facts = facts();
        let all = Asked {
            part: Some("all".into()),
            bindir: Some("/x".into()),
            ..Asked::default()
        };
        for study in builtin::all().unwrap() {
            for (device, image, quick) in [(Some("/dev/x"), None, false), (None, Some("4GB"), true)]
            {
                let asked = Asked {
                    device: device.map(str::to_owned),
                    image_size: image.map(str::to_owned),
                    log_device: device.map(str::to_owned),
                    misaligned_device: device.map(str::to_owned),
                    quick: Some(quick),
                    ..all.clone()
                };
                let here = Here {
                    study: &study,
                    asked: &asked,
                    facts: &facts,
                };
                let plan = plan(&here).unwrap();
                for planned in &plan.experiments {
                    asked::with_rate(planned.asked.clone())
                        .and_then(|asked| asked::check(&asked, &[]))
                        .unwrap_or_else(|r| panic!("{}: {r} {:?}", planned.question, r.detail));
                    let targets = planned.asked.targets.iter().flatten().flatten();
                    for target in targets {
                        assert!(target.len() <= 63);
                        assert!(plan.targets.iter().any(|t| t.name == *target), "{target}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_published_table_has_the_settings_of_its_time() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let facts = facts();
        let settings = |period: Option<bool>| {
            let asked = Asked {
                image_size: Some("4GB".into()),
                period,
                ..Asked::default()
            };
            let here = Here {
                study: &study,
                asked: &asked,
                facts: &facts,
            };
            let plan = plan(&here).unwrap();
            let has = |p: &Planned| {
                p.asked
                    .run
                    .settings
                    .as_ref()
                    .is_some_and(|s| s["checkpoint_flush_after"] == "0")
            };
            plan.experiments.iter().map(has).collect::<Vec<bool>>()
        };
        assert_eq!(settings(None), [true, false]);
        assert_eq!(settings(Some(true)), [true, true]);
        assert_eq!(settings(Some(false)), [false, false]);
    }

    #[test]
    fn a_misaligned_partition_is_compared_where_one_is_given() {
        let study = builtin::find("vondra-2015").unwrap().unwrap();
        let facts = facts();
        let made = |misaligned: Option<&str>| {
            let asked = Asked {
                device: Some("/dev/a".into()),
                misaligned_device: misaligned.map(str::to_owned),
                part: Some("options".into()),
                ..Asked::default()
            };
            let here = Here {
                study: &study,
                asked: &asked,
                facts: &facts,
            };
            let plan = plan(&here).unwrap();
            let experiment = plan.experiments.iter().find(|e| e.question == "alignment");
            experiment.map(|e| {
                let target = plan.targets.iter().find(|t| t.variant == "ext4-misaligned");
                (
                    e.asked.run.force,
                    target.unwrap().arguments["device"].clone(),
                )
            })
        };
        assert_eq!(made(None), None);
        assert_eq!(made(Some("/dev/b")), Some((true, "/dev/b".into())));
    }

    #[test]
    fn a_place_that_is_too_small_is_refused_with_one_that_fits() {
        let needed = [("a".to_owned(), 1 << 30), ("b".to_owned(), 8 << 30)];
        assert_eq!(
            check_room("device \"/dev/x\"", 8 << 30, &needed, false),
            Ok(())
        );
        let refusal = check_room("device \"/dev/x\"", 2 << 30, &needed, false).unwrap_err();
        check::style(&refusal);
        assert!(refusal.hint.unwrap().contains("at least 8192 MB"));
        // Quick it is already.
        let refusal = check_room("the image", 2 << 30, &needed, true).unwrap_err();
        check::style(&refusal);
        assert!(!refusal.hint.unwrap().contains("quick"));
    }

    #[test]
    fn what_leaves_nothing_is_refused() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let facts = facts();
        let asked = Asked {
            image_size: Some("4GB".into()),
            part: Some("barriers".into()),
            ..Asked::default()
        };
        let refusal = plan(&Here {
            study: &study,
            asked: &asked,
            facts: &facts,
        })
        .unwrap_err();
        check::style(&refusal);
        assert!(refusal.detail.unwrap().contains("device =>"));
    }
}
