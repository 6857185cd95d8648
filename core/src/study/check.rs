//! The check of a study: everything that it names is there, and everything that is there can be made.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    definition::{Claim, DecidedBy, Decision, Expected, Figure, Length, Question, Study, Variant},
    figure,
};
use crate::{
    experiment::metric,
    helper::{Filesystem, Layout, LayoutOptions, layout::LayoutRequest, options},
    refusal::{Refusal, quoted},
    server_setting,
    spec::Workload,
    units,
    verdict::looks::LOOKS,
};

const HINT: &str = "The fields are told in docs/studies.md, and the studies that come with pgfsbench are examples: SELECT definition FROM fsbench.study_definitions.";
/// With the name of a study before it, a variant is the name of a target.
const LONGEST_NAME: usize = 31;

/// The refusal of a text that is no study.
pub fn unreadable(error: &serde_json::Error) -> Refusal {
    Refusal::argument("the definition is no study")
        .detail(sentence(&error.to_string()))
        .hint(HINT)
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), characters.as_str())
}

fn wrong(message: impl Into<String>, detail: impl Into<String>) -> Refusal {
    Refusal::argument(message).detail(detail).hint(HINT)
}

/// A study from JSON, checked.
pub fn parse(value: Value) -> Result<Study, Refusal> {
    let study: Study = serde_json::from_value(value).map_err(|e| unreadable(&e))?;
    let study = study.with_second_pass();
    check(&study)?;
    Ok(study)
}

/// Refuses a study that names what is not there, or what cannot be.
pub fn check(study: &Study) -> Result<(), Refusal> {
    name("study", &study.study)?;
    if study.claims.is_empty() {
        return Err(wrong(
            format!("study {} has no claims", quoted(&study.study)),
            "What is claimed is written down before anything is measured.",
        ));
    }
    unique("claim", study.claims.iter().map(|c| c.claim.as_str()))?;
    unique("variant", study.variants.iter().map(|v| v.variant.as_str()))?;
    unique(
        "question",
        study.questions.iter().map(|q| q.question.as_str()),
    )?;
    for variant in &study.variants {
        check_variant(variant)?;
    }
    for question in &study.questions {
        check_question(study, question)?;
    }
    if !study.parts().contains(&study.part.as_str()) && study.part != super::arguments::ALL {
        return Err(wrong(
            format!("part {} has no question", quoted(&study.part)),
            format!("The parts are {}.", study.parts().join(", ")),
        ));
    }
    for claim in &study.claims {
        check_claim(study, claim)?;
    }
    for figure in &study.published {
        check_figure(study, figure)?;
    }
    Ok(())
}

fn name(what: &str, name: &str) -> Result<(), Refusal> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_+.".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    if begins && name.len() <= LONGEST_NAME && name.chars().all(plain) {
        return Ok(());
    }
    Err(wrong(
        format!("{} is no name of a {what}", quoted(name)),
        "Names have at most 31 characters: small letters, digits, and -, _, + and . behind the first one.",
    ))
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Refusal> {
    let mut seen = BTreeSet::new();
    for given in names {
        name(what, given)?;
        if !seen.insert(given) {
            return Err(wrong(
                format!("{what} {} is there twice", quoted(given)),
                "By its name it is referred to.",
            ));
        }
    }
    Ok(())
}

fn check_variant(variant: &Variant) -> Result<(), Refusal> {
    let of = |refusal: Refusal| Refusal {
        message: format!("variant {}: {}", quoted(&variant.variant), refusal.message),
        ..refusal
    };
    let given = [
        variant.filesystem.is_some(),
        variant.target.is_some(),
        variant.not_tested.is_some(),
    ];
    if given.iter().filter(|is| **is).count() != 1 {
        return Err(wrong(
            format!(
                "variant {} takes a filesystem, a target or not_tested",
                quoted(&variant.variant)
            ),
            "It is made, or recorded already, or it says why it cannot be tried.",
        ));
    }
    for setting in variant.settings.iter().flatten() {
        server_setting::check_name(setting.0).map_err(of)?;
    }
    let Some(filesystem) = &variant.filesystem else {
        return Ok(());
    };
    let filesystem = Filesystem::of_name(filesystem).map_err(of)?;
    options::mkfs_arguments(filesystem, variant.mkfs_options.as_deref().unwrap_or(""))
        .map_err(of)?;
    options::mount_options(filesystem, variant.mount_options.as_deref().unwrap_or(""))
        .map_err(of)?;
    options::pool_properties(variant.pool_properties.as_deref().unwrap_or("")).map_err(of)?;
    options::dataset_properties(variant.dataset_properties.as_deref().unwrap_or("")).map_err(of)?;
    check_layout(variant, filesystem).map_err(of)?;
    if let Some(size) = &variant.log_size {
        units::parse_size(size, 1 << 30).map_err(of)?;
    }
    Ok(())
}

/// Refuses a layout that no number of devices makes right.
fn check_layout(variant: &Variant, filesystem: Filesystem) -> Result<(), Refusal> {
    let layout = variant.layout.as_deref().map(Layout::of_name).transpose()?;
    let options = variant.layout_options.clone().map(Value::Object);
    let options: Option<LayoutOptions> = options
        .map(serde_json::from_value)
        .transpose()
        .map_err(|e| unreadable(&e))?;
    let fewest = layout.map_or(1, Layout::fewest_members);
    LayoutRequest {
        layout,
        options: options.as_ref(),
        initial_sync: None,
        filesystem,
        members: fewest,
        are_zeroed: false,
    }
    .check()
}

fn known<'a>(study: &'a Study, name: &str, by: &str) -> Result<&'a Variant, Refusal> {
    study.variant(name).ok_or_else(|| {
        let names: Vec<&str> = study.variants.iter().map(|v| v.variant.as_str()).collect();
        wrong(
            format!("{by} names an unknown variant {}", quoted(name)),
            format!("The variants are {}.", names.join(", ")),
        )
    })
}

fn check_question(study: &Study, question: &Question) -> Result<(), Refusal> {
    let by = format!("question {}", quoted(&question.question));
    name("part", &question.part)?;
    for variant in &question.variants {
        known(study, variant, &by)?;
    }
    if !question.variants.contains(&question.baseline) || question.variants.len() < 2 {
        return Err(wrong(
            format!("{by} needs two variants, and a baseline among them"),
            format!(
                "The baseline is {}, the variants are {}.",
                question.baseline,
                question.variants.join(", ")
            ),
        ));
    }
    let workload = Workload::parse(&question.workload).ok_or_else(|| {
        wrong(
            format!(
                "{by} names an unknown workload {}",
                quoted(&question.workload)
            ),
            "A workload is one of fsbench.run().",
        )
    })?;
    let metric = metric::find(&question.metric)?;
    metric.decides(question.rate.is_some())?;
    crate::verdict::table::margin(question.margin)?;
    for (name, _) in &question.settings {
        server_setting::check_name(name)?;
    }
    for length in [&question.full, &question.quick] {
        check_length(&by, workload, length)?;
    }
    Ok(())
}

fn check_length(by: &str, workload: Workload, length: &Length) -> Result<(), Refusal> {
    let refused = |detail: String| Err(wrong(format!("the length of {by} cannot be"), detail));
    if !LOOKS.contains(&u32::try_from(length.max_blocks).unwrap_or(0)) {
        return refused(format!(
            "It has {} blocks, and there are looks after 3, 4, 6, 8, 12, 16 and 24.",
            length.max_blocks
        ));
    }
    for (name, _) in &length.settings {
        server_setting::check_name(name)?;
    }
    let mut options = length.options.keys();
    if let Some(name) = options.find(|name| !workload.takes_option(name)) {
        return refused(format!(
            "Workload {} takes no option {}.",
            workload.as_str(),
            quoted(name)
        ));
    }
    if length.scale.is_some() && length.size.is_some() {
        return refused("It has a scale and a size.".into());
    }
    if let Some(size) = &length.size {
        units::parse_size(size, 1 << 34)?;
    }
    if length.transactions.is_some()
        && (length.duration_seconds.is_some() || length.cycle_seconds.is_some())
    {
        return refused("It is ended by transactions, and by a time.".into());
    }
    for (name, given) in [
        ("scale", length.scale.is_some()),
        ("size", length.size.is_some()),
        ("transactions", length.transactions.is_some()),
        ("duration", length.duration_seconds.is_some()),
        ("warmup", length.warmup_seconds.is_some()),
    ] {
        if given && !workload.takes(name) {
            return refused(format!("Workload {} takes no {name}.", workload.as_str()));
        }
    }
    Ok(())
}

fn check_claim(study: &Study, claim: &Claim) -> Result<(), Refusal> {
    let by = format!("claim {}", quoted(&claim.claim));
    if claim.not_tested.is_some() == claim.decision.is_some() {
        return Err(wrong(
            format!("{by} takes a decision or not_tested"),
            "Either it is said beforehand what decides it, or why nothing does.",
        ));
    }
    match &claim.decision {
        Some(decision) => check_decision(study, &by, decision),
        None => Ok(()),
    }
}

fn check_decision(study: &Study, by: &str, decision: &Decision) -> Result<(), Refusal> {
    let question = study.question(&decision.question).ok_or_else(|| {
        let names: Vec<&str> = study
            .questions
            .iter()
            .map(|q| q.question.as_str())
            .collect();
        wrong(
            format!(
                "{by} names an unknown question {}",
                quoted(&decision.question)
            ),
            format!("The questions are {}.", names.join(", ")),
        )
    })?;
    for name in [Some(&decision.variant), decision.with.as_ref()]
        .into_iter()
        .flatten()
    {
        known(study, name, by)?;
        if !question.variants.contains(name) {
            return Err(wrong(
                format!(
                    "{by} names variant {}, which its question has not",
                    quoted(name)
                ),
                format!(
                    "Question {} has {}.",
                    question.question,
                    question.variants.join(", ")
                ),
            ));
        }
    }
    match decision.by == DecidedBy::Knee || decision.expected == Expected::Knee {
        true => check_knee(by, decision, question),
        false => check_pair(by, decision, question),
    }
}

fn undecidable(by: &str, detail: impl Into<String>) -> Result<(), Refusal> {
    Err(wrong(format!("the decision of {by} cannot be"), detail))
}

fn check_knee(by: &str, decision: &Decision, question: &Question) -> Result<(), Refusal> {
    let both = decision.by == DecidedBy::Knee && decision.expected == Expected::Knee;
    let of_one = decision.degree.is_some() && decision.with.is_none();
    let workload = Workload::parse(&question.workload);
    let has_degrees = workload.is_some_and(|w| w.takes_option("degrees"));
    match both && of_one && has_degrees {
        true => Ok(()),
        false => undecidable(
            by,
            "A knee is expected, and by a knee it is decided, at a degree, of one variant, of scans.",
        ),
    }
}

fn check_pair(by: &str, decision: &Decision, question: &Question) -> Result<(), Refusal> {
    let Some(with) = &decision.with else {
        return undecidable(by, "Nothing says with what its variant is compared.");
    };
    if *with == decision.variant {
        return undecidable(by, "A variant is compared with itself.");
    }
    match decision.by {
        DecidedBy::Interval if ![with, &decision.variant].contains(&&question.baseline) => {
            return undecidable(
                by,
                format!(
                    "Neither of the two is {}, the baseline of question {}, with which its experiment compares.",
                    question.baseline, question.question
                ),
            );
        }
        DecidedBy::Interval if decision.metric != question.metric => {
            let detail = format!(
                "Question {} decides by {}, declared beforehand.",
                question.question, question.metric
            );
            return undecidable(by, detail);
        }
        DecidedBy::Interval => {}
        _ if decision.expected == Expected::Same => {
            return undecidable(
                by,
                "That ranges overlap does not show that two are the same.",
            );
        }
        _ => figure::check(&decision.metric)?,
    }
    let fits = match (decision.expected, decision.factor) {
        (_, None) => true,
        (Expected::More, Some(factor)) => factor > 1.0 && factor.is_finite(),
        (Expected::Less, Some(factor)) => factor > 0.0 && factor < 1.0,
        _ => false,
    };
    match fits {
        true => Ok(()),
        false => undecidable(
            by,
            "A factor is above 1 for more, between 0 and 1 for less, and not there for the same.",
        ),
    }
}

fn check_figure(study: &Study, figure: &Figure) -> Result<(), Refusal> {
    let by = format!("a figure ({} {})", figure.value, figure.unit);
    known(study, &figure.variant, &by)?;
    if figure.question.is_some() != figure.beside.is_some() {
        return Err(wrong(
            format!(
                "{by} of {} takes question and beside, or none of them",
                quoted(&figure.variant)
            ),
            "They say which results of ours stand beside it.",
        ));
    }
    if let (Some(name), Some(beside)) = (&figure.question, &figure.beside) {
        let question = study.question(name);
        if !question.is_some_and(|q| q.variants.contains(&figure.variant)) {
            return Err(wrong(
                format!(
                    "{by} stands beside question {}, which has no such variant",
                    quoted(name)
                ),
                format!("Its variant is {}.", figure.variant),
            ));
        }
        figure::check(beside)?;
    }
    match figure.value >= 0.0 && figure.value.is_finite() {
        true => Ok(()),
        false => Err(wrong(
            format!("{by} of {} is below zero", quoted(&figure.variant)),
            "Published figures are shown as shares of the best one.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;
    use serde_json::json;

    /// A study that is right.
    pub fn small() -> Value {
        json!({
            "study": "own-2026", "title": "t", "author": "a", "year": 2026, "source": "s", "machine": "m", "part": "all",
            "claims": [
                {"claim": "c", "says": "b has more tps than a", "seen": "2 against 1",
                 "decision": {"question": "q", "variant": "b", "with": "a", "metric": "tps", "expected": "more", "by": "interval"}},
            ],
            "variants": [{"variant": "a", "filesystem": "ext4"}, {"variant": "b", "filesystem": "xfs", "mount_options": "noatime"}],
            "questions": [{
                "question": "q", "part": "p", "asks": "?", "variants": ["a", "b"], "baseline": "a", "workload": "tpcb", "clients": 2,
                "metric": "tps", "margin": 0.05, "is_published": false,
                "full": {"scale": 10, "cycle_seconds": 30, "max_blocks": 6}, "quick": {"scale": 1, "transactions": 10, "max_blocks": 3},
            }],
            "published": [{"variant": "a", "metric": "tps", "value": 1.0, "unit": "tps", "question": "q", "beside": "tps"}],
        })
    }

    #[test]
    fn what_is_right_is_taken() {
        let study = parse(small()).unwrap();
        assert_eq!(study.parts(), ["p"]);
        assert_eq!(
            serde_json::from_value::<Study>(serde_json::to_value(&study).unwrap()).unwrap(),
            study
        );
    }

    /// A definition that is read from fsbench.study_definitions and defined again has each question once.
    #[test]
    fn what_is_published_has_a_second_pass_with_the_settings_of_today() {
        let mut value = small();
        value["questions"][0]["is_published"] = json!(true);
        let study = parse(value).unwrap();
        assert_eq!(study.parts(), ["p", "p-today"]);
        let again = &study.questions[1];
        assert_eq!(
            (again.question.as_str(), again.today_of.as_deref()),
            ("q-today", Some("q"))
        );
        assert!(!again.is_published && again.variants == study.questions[0].variants);
        let value = serde_json::to_value(&study).unwrap();
        assert_eq!(parse(value.clone()).unwrap(), study);
        // It is made of the first one, whatever was given.
        let mut other = value;
        other["questions"][0]["clients"] = json!(7);
        assert_eq!(parse(other).unwrap().questions[1].clients, Some(7));
    }

    #[test]
    fn what_is_wrong_is_refused_by_name() {
        let cases: &[(&str, Value, &str)] = &[
            ("/author", Value::Null, "no study"),
            ("/studdy", json!(1), "no study"),
            ("/study", json!("Own Study"), "no name of a study"),
            ("/claims", json!([]), "no claims"),
            (
                "/claims/0/decision/variant",
                json!("c"),
                "unknown variant \"c\"",
            ),
            (
                "/claims/0/decision/question",
                json!("r"),
                "unknown question \"r\"",
            ),
            ("/claims/0/decision/with", json!("b"), "cannot be"),
            ("/claims/0/decision/metric", json!("load_ms"), "cannot be"),
            ("/claims/0/decision/factor", json!(0.5), "cannot be"),
            ("/claims/0/decision/by", json!("luck"), "no study"),
            (
                "/claims/0/not_tested",
                json!("why"),
                "a decision or not_tested",
            ),
            ("/claims/0/needs", json!(["a_miracle"]), "no study"),
            ("/variants/0/filesystem", json!("fat12"), "variant \"a\""),
            ("/variants/0/mount_options", json!("suid"), "variant \"a\""),
            ("/variants/0/target", json!("x"), "takes a filesystem"),
            ("/variants/1/variant", json!("a"), "there twice"),
            (
                "/variants/0/settings",
                json!({"archive_command": "x"}),
                "variant \"a\"",
            ),
            (
                "/questions/0/variants",
                json!(["a", "z"]),
                "unknown variant \"z\"",
            ),
            ("/questions/0/baseline", json!("z"), "a baseline among them"),
            (
                "/questions/0/workload",
                json!("fio"),
                "unknown workload \"fio\"",
            ),
            ("/questions/0/metric", json!("speed"), "metric \"speed\""),
            ("/questions/0/margin", json!(0), "margin"),
            (
                "/questions/0/full/max_blocks",
                json!(5),
                "length of question",
            ),
            (
                "/questions/0/full/transactions",
                json!(5),
                "length of question",
            ),
            (
                "/questions/0/quick/options",
                json!({"pattern": "read"}),
                "length of question",
            ),
            ("/part", json!("x"), "part \"x\" has no question"),
            ("/published/0/variant", json!("z"), "unknown variant \"z\""),
            ("/published/0/value", json!(-1), "below zero"),
            (
                "/published/0/beside",
                Value::Null,
                "takes question and beside",
            ),
        ];
        for (path, value, message) in cases {
            let mut wrong = small();
            let (parent, last) = path.rsplit_once('/').unwrap();
            let parent = wrong.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            match value {
                Value::Null => parent.remove(last),
                value => parent.insert(last.into(), value.clone()),
            };
            let refusal = parse(wrong).expect_err(path);
            check::style(&refusal);
            assert!(
                refusal.message.contains(message),
                "{path}: {}",
                refusal.message
            );
        }
    }
}
