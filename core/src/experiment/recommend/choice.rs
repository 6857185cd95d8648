//! Which one to take, if any.

use super::{Advice, Facts, advice, is_for_comparison_only, less_durable, regime_in_short};
use crate::experiment::{
    answer::Row,
    metric::Metric,
    plan::percent,
    state::{Goal, Outcome, State},
};

/// A choice, or why there is none.
pub struct Choice {
    /// In words.
    pub advice: Vec<Advice>,
    /// Number of the target.
    pub chosen: Option<usize>,
}

impl Choice {
    fn none(says: String) -> Self {
        Self {
            advice: vec![advice("choice", says)],
            chosen: None,
        }
    }
}

/// The choice that an experiment allows.
pub fn choice(state: &State, said: &[Row], facts: &[Facts], metric: Metric) -> Choice {
    let e = &state.experiment;
    if !matches!(e.status.as_str(), "done" | "cancelled") {
        return Choice::none(format!(
            "no choice yet: the experiment is {}; what is said below is as of its last look",
            e.status
        ));
    }
    if let Some(why) = without_result(state) {
        return Choice::none(why);
    }
    // The control is another one of them under a second name, which is no choice.
    let said: Vec<&Row> = (said.iter())
        .filter(|row| e.control != Some(row.number))
        .collect();
    match e.goal {
        Goal::Best => best(&said, facts, metric),
        Goal::Baseline => against_baseline(state, &said, facts, metric),
    }
}

/// Why there is nothing to choose by: none of its runs has come to a result.
fn without_result(state: &State) -> Option<String> {
    let counts = |outcome: Option<Outcome>| outcome.is_some_and(Outcome::counts);
    if state.runs.is_empty() || state.runs.iter().any(|made| counts(made.outcome)) {
        return None;
    }
    let last = state.runs.iter().rev().find_map(|made| made.why.as_deref());
    let last = last.map(|why| format!("; of the last one it is said: {why}"));
    let has_run = |number: usize| state.runs.iter().any(|made| made.number == number);
    let never: Vec<&str> = (state.targets.iter())
        .filter(|target| !has_run(target.number))
        .map(|target| target.name.as_str())
        .collect();
    let never = match never.is_empty() {
        true => String::new(),
        false => format!("; {} had no run at all", never.join(", ")),
    };
    Some(format!(
        "no choice: none of its runs has come to a result that counts{}{never}; fsbench.experiment_log has all of them",
        last.unwrap_or_default()
    ))
}

/// Why a target is not to be chosen, whatever it does.
fn reason_against(facts: &[Facts], number: usize) -> Option<String> {
    if is_for_comparison_only(facts, number) {
        return Some("for comparison only".into());
    }
    let why = less_durable(facts, number)?;
    Some(format!("not as durable as others of these ({why})"))
}

/// The first row that says nothing though its target was run.
fn withheld<'a>(said: &[&'a Row]) -> Option<&'a Row> {
    let is_withheld = |row: &&&Row| row.is_inconclusive() && !row.is_set_aside();
    said.iter().find(is_withheld).copied()
}

fn best(said: &[&Row], facts: &[Facts], metric: Metric) -> Choice {
    if let Some(row) = withheld(said) {
        let why = row.reason.as_deref().unwrap_or("inconclusive");
        return Choice::none(format!("no choice: {}", in_words(why)));
    }
    let of = |verdicts: &[&str]| -> Vec<&Row> {
        let rows = said.iter().copied();
        rows.filter(|row| verdicts.contains(&row.verdict.as_str()))
            .collect()
    };
    let (open, alike) = (
        of(&["open"]),
        of(&["best", "leading", "equivalent to the best"]),
    );
    if !open.is_empty() || alike.is_empty() {
        return among_open(&alike, &open, metric);
    }
    let usable: Vec<&Row> = alike
        .iter()
        .filter(|row| reason_against(facts, row.number).is_none())
        .copied()
        .collect();
    if usable.is_empty() {
        let why = alike
            .iter()
            .find_map(|row| reason_against(facts, row.number));
        return Choice::none(format!(
            "no choice: {} is ahead, and is {}; without it, another experiment tells which of the others is best",
            names(&alike),
            why.unwrap_or_default()
        ));
    }
    let circumstances = regime_in_short(said, facts);
    if let [only] = alike[..] {
        return Choice {
            advice: vec![advice(
                "choice",
                format!("{}: it is the best of these{circumstances}", only.target),
            )],
            chosen: Some(only.number),
        };
    }
    let preferred = preferred(&usable, facts);
    Choice {
        advice: vec![
            advice(
                "choice",
                format!(
                    "{}: these are equivalent, the difference does not count{circumstances}",
                    names(&alike)
                ),
            ),
            advice(
                "choice",
                format!(
                    "{} of these, by preference: the more durable first, then fewer stall seconds, then the first in the list",
                    preferred.target
                ),
            ),
        ],
        chosen: Some(preferred.number),
    }
}

/// Without a choice: what the open ones could be worse by.
fn among_open(alike: &[&Row], open: &[&Row], metric: Metric) -> Choice {
    let left: Vec<&Row> = alike.iter().chain(open).copied().collect();
    let mut choice = Choice::none(match left[..] {
        [] => "no choice: none of them is left that could be chosen".into(),
        [only] => format!("no choice: it is open whether {} is the best", only.target),
        _ => format!(
            "no choice among {}: it is open which of them is best",
            names(&left)
        ),
    });
    choice.advice.extend(open.iter().filter_map(|row| {
        let most = match metric.more_is_better {
            true => 1.0 - row.low?,
            false => row.high? - 1.0,
        };
        Some(advice(
            "cost",
            format!(
                "{} is at most {} % worse than the one that leads",
                row.target,
                percent(most.max(0.0))
            ),
        ))
    }));
    choice
}

fn names(rows: &[&Row]) -> String {
    let names: Vec<&str> = rows.iter().map(|row| row.target.as_str()).collect();
    names.join(", ")
}

/// Of those that are as good, and none of which is less durable: the most even first, then the first.
fn preferred<'a>(alike: &[&'a Row], facts: &[Facts]) -> &'a Row {
    let key = |row: &&&Row| {
        let facts = facts.iter().find(|f| f.number == row.number);
        let stalls = facts.and_then(|f| f.stall_seconds).unwrap_or(0.0);
        ((stalls * 10.0) as i64, row.number)
    };
    alike.iter().min_by_key(key).copied().unwrap_or(alike[0])
}

fn against_baseline(state: &State, said: &[&Row], facts: &[Facts], metric: Metric) -> Choice {
    let baseline = state.experiment.baseline.unwrap_or(0);
    let name = state.targets[baseline].name.as_str();
    let better = if metric.more_is_better {
        "more"
    } else {
        "less"
    };
    let circumstances = regime_in_short(said, facts);
    let (unusable, betters): (Vec<&Row>, Vec<&Row>) = (said.iter().copied())
        .filter(|row| row.verdict == better)
        .partition(|row| reason_against(facts, row.number).is_some());
    let open = (said.iter()).filter(|row| row.is_inconclusive() && !row.is_set_aside());
    let bounds: Vec<Advice> = open
        .filter_map(|row| {
            // The most that a change would gain.
            let gain = match metric.more_is_better {
                true => row.high? - 1.0,
                false => 1.0 - row.low?,
            };
            Some(advice(
                "cost",
                format!(
                    "staying with {name} instead of {} costs at most {} %",
                    row.target,
                    percent(gain.max(0.0))
                ),
            ))
        })
        .collect();
    let mut choice = match betters[..] {
        [only] => Choice {
            advice: vec![advice(
                "choice",
                format!("{}: {}{circumstances}", only.target, only.says),
            )],
            chosen: Some(only.number),
        },
        [] => {
            let why = withheld(said).and_then(|row| row.reason.as_deref());
            let is_alone = !said.is_empty() && said.iter().all(|row| row.is_set_aside());
            match why {
                Some(why) => Choice::none(format!("no choice: {}", in_words(why))),
                None if is_alone => Choice::none(format!(
                    "no choice: all that was to be compared with {name} was set aside, since its runs failed"
                )),
                None => stay(baseline, name, &unusable, facts, &circumstances),
            }
        }
        _ => {
            let names: Vec<&str> = betters.iter().map(|row| row.target.as_str()).collect();
            Choice::none(format!(
                "{} are better than {name}; among themselves they were not ranked: goal \"best\" does that",
                names.join(" and ")
            ))
        }
    };
    choice.advice.extend(bounds);
    choice
}

/// Nothing that may be chosen is better than the baseline.
fn stay(
    baseline: usize,
    name: &str,
    unusable: &[&Row],
    facts: &[Facts],
    circumstances: &str,
) -> Choice {
    let better = nothing_better(unusable, facts);
    if let Some(why) = reason_against(facts, baseline) {
        return Choice::none(format!("no choice: {better}, and {name} is {why}"));
    }
    let says = format!("stay with {name}: {better}{circumstances}");
    Choice {
        advice: vec![advice("choice", says)],
        chosen: Some(baseline),
    }
}

fn nothing_better(unusable: &[&Row], facts: &[Facts]) -> String {
    let but = unusable.iter().map(|row| {
        let why = reason_against(facts, row.number).unwrap_or_default();
        format!("{} is better, but {why}", row.target)
    });
    let but: Vec<String> = but.collect();
    match but.is_empty() {
        true => "nothing that was compared with it is better by what counts".into(),
        false => format!("{}, and nothing else is by what counts", but.join("; ")),
    }
}

fn in_words(reason: &str) -> String {
    // After how many blocks may stand behind it.
    match reason.split(", ").next().unwrap_or(reason) {
        "too_short" => "the windows have fewer than two checkpoint cycles, and what is slow about a filesystem mostly comes with checkpoints (too_short); leave duration out, or give a cycle".into(),
        "max_blocks" => "it was still open after the last block (max_blocks); fsbench.extend_experiment() makes more".into(),
        "too_noisy" => "the runs differ so much among themselves that more of them would hardly decide it (too_noisy)".into(),
        "max_duration" => "the time was over before it was decided (max_duration); fsbench.extend_experiment() goes on".into(),
        "no_reference" => "what the others are compared with was not run any more (no_reference)".into(),
        "cancelled" => "it was cancelled before it was decided".into(),
        "noise_floor" => "two names of one target differ as much (noise_floor)".into(),
        _ => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(number: usize, target: &str, verdict: &str) -> Row {
        Row {
            number,
            target: target.into(),
            ratio: Some(1.2),
            low: Some(1.1),
            high: Some(1.3),
            verdict: verdict.into(),
            says: format!("{target} says"),
            blocks: Some(3),
            kept: Some(3),
            ..Row::default()
        }
    }

    /// The words of the choice, and the target that it is.
    fn chosen(goal: &str, said: &[Row], filesystems: &[&str]) -> (String, Option<usize>) {
        let choice = advised(goal, said, filesystems, ("tps", None));
        (choice.advice[0].says.clone(), choice.chosen)
    }

    /// By this metric, with the control of this number.
    fn advised(
        goal: &str,
        said: &[Row],
        filesystems: &[&str],
        (metric, control): (&str, Option<usize>),
    ) -> Choice {
        let targets: Vec<_> = (filesystems.iter().enumerate())
            .map(|(number, name)| json!({"target_number": number, "target": name, "target_name": name}))
            .collect();
        let state = json!({
            "experiment": {
                "experiment_id": 1, "experiment": "e", "status": "done", "goal": goal, "baseline_number": (goal == "baseline").then_some(0),
                "control_number": control, "metric": metric, "margin": 0.05, "max_blocks": 3, "looks": [], "run_order": [], "run_seconds": 10, "forced": false,
            },
            "targets": targets, "runs": [],
        });
        let state: State = serde_json::from_value(state).unwrap();
        let facts: Vec<Facts> = (filesystems.iter().enumerate())
            .map(|(number, name)| {
                let facts = json!({
                    "number": number, "kind": "image", "filesystem": name, "data_bytes": 1.0, "memory_bytes": 2.0, "virtualization": "kvm",
                });
                serde_json::from_value(facts).unwrap()
            })
            .collect();
        let metric = crate::experiment::metric::find(metric).unwrap();
        choice(&state, said, &facts, metric)
    }

    #[test]
    fn a_choice_names_its_circumstances() {
        let (says, chosen) = chosen(
            "best",
            &[row(0, "ext4", "out"), row(1, "xfs", "best")],
            &["ext4", "xfs"],
        );
        assert_eq!(
            says,
            "xfs: it is the best of these (measured with data in memory, on images, in a virtual machine (kvm))"
        );
        assert_eq!(chosen, Some(1));
    }

    #[test]
    fn what_is_for_comparison_only_is_never_chosen() {
        let names = ["ext4", "ext2", "xfs"];
        let best = [
            row(0, "ext4", "out"),
            row(1, "ext2", "best"),
            row(2, "xfs", "out"),
        ];
        let (says, none) = chosen("best", &best, &names);
        assert!(
            says.starts_with("no choice: ext2 is ahead, and is for comparison only"),
            "{says}"
        );
        assert_eq!(none, None);
        let alike = [
            row(0, "ext4", "equivalent to the best"),
            row(1, "ext2", "best"),
            row(2, "xfs", "out"),
        ];
        assert_eq!(chosen("best", &alike, &names).1, Some(0));
        let more = [row(1, "ext2", "more"), row(2, "xfs", "less")];
        let (says, stays) = chosen("baseline", &more, &names);
        assert!(
            says.starts_with("stay with ext4: ext2 is better, but for comparison only"),
            "{says}"
        );
        assert_eq!(stays, Some(0));
    }

    /// The choice among two of which the second one is without barriers.
    fn of_unsafe(goal: &str, said: &[Row]) -> (String, Option<usize>) {
        let mut state = json!({
            "experiment": {
                "experiment_id": 1, "experiment": "e", "status": "done", "goal": goal, "baseline_number": (goal == "baseline").then_some(0),
                "metric": "tps", "margin": 0.05, "max_blocks": 3, "looks": [], "run_order": [], "run_seconds": 10, "forced": false,
            },
            "targets": [], "runs": [],
        });
        state["targets"] = (0..2)
            .map(|n| json!({"target_number": n, "target": (["on", "off"][n]), "target_name": (["on", "off"][n])}))
            .collect();
        let state: State = serde_json::from_value(state).unwrap();
        let facts = ["flushed", "not durable: barriers off"]
            .into_iter()
            .enumerate();
        let facts: Vec<Facts> = facts
            .map(|(number, durability)| {
                serde_json::from_value(json!({"number": number, "durability": durability})).unwrap()
            })
            .collect();
        let metric = crate::experiment::metric::find("tps").unwrap();
        let choice = choice(&state, said, &facts, metric);
        (choice.advice[0].says.clone(), choice.chosen)
    }

    #[test]
    fn what_loses_commits_is_not_chosen_before_what_does_not() {
        let (says, none) = of_unsafe("best", &[row(0, "on", "out"), row(1, "off", "best")]);
        assert!(
            says.starts_with(
                "no choice: off is ahead, and is not as durable as others of these (barriers off)"
            ),
            "{says}"
        );
        assert_eq!(none, None);
        let alike = [
            row(0, "on", "best"),
            row(1, "off", "equivalent to the best"),
        ];
        assert_eq!(of_unsafe("best", &alike).1, Some(0));
        let (says, stays) = of_unsafe("baseline", &[row(1, "off", "more")]);
        assert!(
            says.starts_with("stay with on: off is better, but not as durable as others of these (barriers off), and nothing else is"),
            "{says}"
        );
        assert_eq!(stays, Some(0));
    }

    #[test]
    fn how_many_blocks_there_were_is_no_part_of_the_reason() {
        assert_eq!(in_words("cancelled, 0 blocks"), in_words("cancelled"));
        assert_eq!(in_words("differs: kernel, host"), "differs: kernel, host");
    }

    #[test]
    fn a_choice_says_that_nothing_was_durable_and_that_others_were_there() {
        let facts = json!({"number": 0, "durability": "not durable: tmpfs is in memory"});
        let facts: Vec<Facts> = vec![serde_json::from_value(facts).unwrap()];
        let mut said = row(0, "ext4", "best");
        said.warnings = Some("in_memory, noisy_neighbour".into());
        assert_eq!(
            regime_in_short(&[&said], &facts),
            " (measured with nothing durable: tmpfs is in memory, beside others on the machine)"
        );
    }

    #[test]
    fn the_bound_is_on_the_worse_side() {
        let mut open = row(1, "xfs", "open");
        (open.ratio, open.low, open.high) = (Some(1.04), Some(0.99), Some(1.09));
        let said = [row(0, "ext4", "leading"), open];
        let names = ["ext4", "xfs"];
        let bound = |metric| {
            let choice = advised("best", &said, &names, (metric, None));
            assert_eq!(choice.chosen, None);
            choice.advice[1].says.clone()
        };
        assert_eq!(
            bound("latency_p99_ms"),
            "xfs is at most 9 % worse than the one that leads"
        );
        assert_eq!(
            bound("tps"),
            "xfs is at most 1 % worse than the one that leads"
        );
    }

    #[test]
    fn the_control_is_no_choice() {
        let names = ["ext4", "xfs", "ext4 (control)"];
        let of = |goal: &str, said: &[Row]| advised(goal, said, &names, ("tps", Some(2)));
        let control = |verdict: &str| row(2, "ext4 (control)", verdict);
        let more = of("baseline", &[row(1, "xfs", "equivalent"), control("more")]);
        assert_eq!(more.chosen, Some(0));
        assert!(
            more.advice[0].says.starts_with("stay with ext4: "),
            "{:?}",
            more.advice
        );
        // Nor is anything told of it that a change would bring.
        let open = of(
            "baseline",
            &[row(1, "xfs", "equivalent"), control("inconclusive")],
        );
        assert_eq!((open.chosen, open.advice.len()), (Some(0), 1));
        let said = [
            row(0, "ext4", "equivalent to the best"),
            row(1, "xfs", "out"),
            control("best"),
        ];
        let best = of("best", &said);
        assert_eq!(best.chosen, Some(0));
        assert!(
            best.advice[0]
                .says
                .starts_with("ext4: it is the best of these"),
            "{:?}",
            best.advice
        );
    }

    #[test]
    fn one_that_was_set_aside_keeps_nobody_from_a_choice() {
        let names = ["ext4", "xfs", "btrfs"];
        let mut aside = row(2, "btrfs", "inconclusive");
        aside.reason = Some("set_aside".into());
        let (says, stays) = chosen("baseline", &[row(1, "xfs", "less"), aside.clone()], &names);
        assert!(says.starts_with("stay with ext4: nothing"), "{says}");
        assert_eq!(stays, Some(0));
        let (says, none) = chosen("baseline", std::slice::from_ref(&aside), &names);
        assert_eq!(
            says,
            "no choice: all that was to be compared with ext4 was set aside, since its runs failed"
        );
        assert_eq!(none, None);
        let said = [row(0, "ext4", "best"), row(1, "xfs", "out"), aside.clone()];
        assert_eq!(chosen("best", &said, &names).1, Some(0));
        let (says, none) = chosen("best", &[aside], &names);
        assert_eq!(
            (says.as_str(), none),
            ("no choice: none of them is left that could be chosen", None)
        );
    }

    #[test]
    fn from_what_is_open_only_the_bound_is_told() {
        let mut open = row(1, "xfs", "inconclusive");
        (open.reason, open.high) = (Some("max_blocks".into()), Some(1.09));
        let state = chosen("baseline", &[open.clone()], &["ext4", "xfs"]);
        assert!(
            state.0.starts_with("no choice: ") && state.1.is_none(),
            "{state:?}"
        );
    }
}
