//! Which one to take, if any.

use super::{Advice, Facts, advice, is_for_comparison_only, less_durable, regime};
use crate::{
    experiment::{
        answer::{Cause, Row, open},
        metric::Metric,
        state::{Goal, Outcome, State},
    },
    finding::Durability,
    texts::recommend::choice::{self as text, Leader, Objection},
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
pub fn choice(state: &State, answers: &[Row], facts: &[Facts], metric: Metric) -> Choice {
    let e = &state.experiment;
    if !matches!(e.status.as_str(), "done" | "cancelled") {
        return Choice::none(text::not_over(&e.status));
    }
    if let Some(why) = without_result(state) {
        return Choice::none(why);
    }
    // The control is another one of them under a second name, which is no choice.
    let answers: Vec<&Row> = (answers.iter())
        .filter(|row| e.control != Some(row.number))
        .collect();
    match e.goal {
        Goal::Best => best(state, &answers, facts, metric),
        Goal::Baseline => against_baseline(state, &answers, facts, metric),
    }
}

/// Why there is nothing to choose by: none of its runs has come to a result.
fn without_result(state: &State) -> Option<String> {
    let counts = |outcome: Option<Outcome>| outcome.is_some_and(Outcome::counts);
    if state.runs.is_empty() || state.runs.iter().any(|made| counts(made.outcome)) {
        return None;
    }
    let last = state.runs.iter().rev().find_map(|made| made.why.as_deref());
    let has_run = |number: usize| state.runs.iter().any(|made| made.number == number);
    let never: Vec<&str> = (state.targets.iter())
        .filter(|target| !has_run(target.number))
        .map(|target| target.name.as_str())
        .collect();
    Some(text::no_result(last, &never))
}

/// Why a target is not to be chosen, whatever it does.
fn reason_against(facts: &[Facts], number: usize) -> Option<Objection> {
    if is_for_comparison_only(facts, number) {
        return Some(Objection::ComparisonOnly);
    }
    if (facts.iter()).any(|f| f.number == number && f.has_failed_power_cuts()) {
        return Some(Objection::FailedPowerCuts);
    }
    less_durable(facts, number).map(Objection::LessDurable)
}

/// Whether the interval of a row without a verdict is still one to go by: not where what was measured is in doubt.
fn has_bound(row: &Row) -> bool {
    !row.reason.as_ref().is_some_and(Cause::is_doubt)
}

/// The first row that says nothing though its target was run.
fn withheld<'a>(answers: &[&'a Row]) -> Option<&'a Row> {
    let is_withheld = |row: &&&Row| row.is_inconclusive() && !row.is_set_aside();
    answers.iter().find(is_withheld).copied()
}

/// That nothing is chosen, with the words in which the answer says why a row is open.
fn no_choice(state: &State, row: &Row) -> String {
    text::open(open::reason(state, row).map(|why| why.says()))
}

fn best(state: &State, answers: &[&Row], facts: &[Facts], metric: Metric) -> Choice {
    if let Some(row) = withheld(answers) {
        return Choice::none(no_choice(state, row));
    }
    let (open, alike): (Vec<&Row>, Vec<&Row>) = (answers.iter().copied())
        .filter(|row| row.is_open() || row.is_ahead() || row.is_equivalent())
        .partition(|row| row.is_open());
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
        return Choice::none(text::unusable(&names(&alike), why));
    }
    let circumstances = regime::in_short(state, answers, facts);
    if let [only] = alike[..] {
        let says = text::chosen(&only.target, &metric.superlative(), &circumstances);
        return Choice {
            advice: vec![advice("choice", says)],
            chosen: Some(only.number),
        };
    }
    let preferred = preferred(&usable, facts);
    let says = [
        text::equivalent(&names(&alike), &circumstances),
        text::preferred(&preferred.target),
    ];
    Choice {
        advice: says.map(|says| advice("choice", says)).into(),
        chosen: Some(preferred.number),
    }
}

/// Without a choice: what the open ones could be worse by.
fn among_open(alike: &[&Row], open: &[&Row], metric: Metric) -> Choice {
    let left: Vec<&Row> = alike.iter().chain(open).copied().collect();
    let mut choice = Choice::none(text::among(&names(&left)));
    let leader = left.iter().find(|row| row.is_leading()).copied();
    choice.advice.extend(open.iter().filter_map(|row| {
        let most = match metric.more_is_better {
            true => 1.0 - row.low?,
            false => row.high? - 1.0,
        };
        let led_before =
            leader.is_some_and(|leader| row.against.is_some_and(|n| n != leader.number));
        let leader = match led_before {
            false => Leader::Now,
            true => Leader::Before,
        };
        let says = text::at_most_worse(&row.target, most.max(0.0), leader);
        Some(advice("cost", says))
    }));
    choice
        .advice
        .extend(leader.and_then(|leader| cost_of_leader(leader, open, metric)));
    choice
}

/// How much worse the leader could be: it leads by its figures, and may be behind.
fn cost_of_leader(leader: &Row, open: &[&Row], metric: Metric) -> Option<Advice> {
    // One that was given up may have been compared with another that led then.
    let against_it = open.iter().filter(|row| row.against == Some(leader.number));
    let could_be_ahead = against_it.filter_map(|row| {
        let most = match metric.more_is_better {
            true => 1.0 - 1.0 / row.high?,
            false => 1.0 / row.low? - 1.0,
        };
        (most.is_finite() && most > 0.0).then_some((row, most))
    });
    let (row, most) = could_be_ahead.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let says = text::leader_at_most_worse(&leader.target, most, &row.target);
    Some(advice("cost", says))
}

fn names<'a>(rows: &[&'a Row]) -> Vec<&'a str> {
    rows.iter().map(|row| row.target.as_str()).collect()
}

fn durability_of(facts: &[Facts], number: usize) -> Option<&Durability> {
    let of_target = facts.iter().find(|f| f.number == number)?;
    of_target.durability.as_ref()
}

/// The target to prefer among equals, none of which is less durable: one whose durability power cuts have shown, then the one with the
/// fewest stalls, then the first.
fn preferred<'a>(alike: &[&'a Row], facts: &[Facts]) -> &'a Row {
    let key = |row: &&&Row| {
        let of_target = facts.iter().find(|f| f.number == row.number);
        let stalls = of_target.and_then(|f| f.stall_seconds).unwrap_or(0.0);
        let is_shown = durability_of(facts, row.number).is_some_and(Durability::is_shown);
        (!is_shown, (stalls * 10.0) as i64, row.number)
    };
    alike.iter().min_by_key(key).copied().unwrap_or(alike[0])
}

fn against_baseline(state: &State, answers: &[&Row], facts: &[Facts], metric: Metric) -> Choice {
    let baseline = state.experiment.baseline.unwrap_or(0);
    let name = state.targets[baseline].name.as_str();
    let better = if metric.more_is_better {
        "more"
    } else {
        "less"
    };
    let circumstances = regime::in_short(state, answers, facts);
    let (unusable, betters): (Vec<&Row>, Vec<&Row>) = (answers.iter().copied())
        .filter(|row| row.verdict == better)
        .partition(|row| reason_against(facts, row.number).is_some());
    let open = (answers.iter()).filter(|row| row.is_inconclusive() && has_bound(row));
    let bounds: Vec<Advice> = open
        .filter_map(|row| {
            // The most that a change would gain.
            let gain = match metric.more_is_better {
                true => row.high? - 1.0,
                false => 1.0 - row.low?,
            };
            let says = text::staying_costs(name, &row.target, gain.max(0.0));
            Some(advice("cost", says))
        })
        .collect();
    let mut choice = match betters[..] {
        [only] => Choice {
            advice: vec![advice(
                "choice",
                text::better(&only.target, &only.says, &circumstances),
            )],
            chosen: Some(only.number),
        },
        [] => {
            let is_alone = !answers.is_empty() && answers.iter().all(|row| row.is_set_aside());
            match withheld(answers) {
                Some(row) => Choice::none(no_choice(state, row)),
                None if is_alone => Choice::none(text::all_set_aside(name)),
                None => stay(baseline, name, &unusable, facts, &circumstances),
            }
        }
        _ => Choice::none(text::several_better(&names(&betters), name)),
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
    let unusable = unusable.iter().filter_map(|row| {
        let against = reason_against(facts, row.number)?;
        Some((row.target.as_str(), against))
    });
    let unusable: Vec<_> = unusable.collect();
    if let Some(against) = reason_against(facts, baseline) {
        return Choice::none(text::nothing_to_stay_with(name, &unusable, &against));
    }
    let says = text::stay(name, &unusable, circumstances);
    Choice {
        advice: vec![advice("choice", says)],
        chosen: Some(baseline),
    }
}

#[cfg(test)]
pub mod tests;
