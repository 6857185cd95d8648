//! The answer of an experiment: a row for each target, and a summary of one line.

use super::{
    metric::{Kind, Metric},
    state::{Goal, Outcome, State},
    steps::{self, Played},
};
use crate::{
    series::median,
    units::{format_count, format_seconds},
    verdict::{
        Estimate, Reason,
        best::{Ranked, Standing},
        compare::{Compared, Verdict},
        confirmed, words,
    },
};

/// Facts of a target beside its metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beside {
    /// The durability that its runs promised.
    pub durability: Option<String>,
    /// Undeclared differences of its runs from those that it is compared with.
    pub differs: Option<String>,
    /// Findings of its runs that are warnings, with how many runs have them.
    pub warnings: Option<String>,
}

/// The answer for a target.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Row {
    pub number: usize,
    pub target: String,
    pub against: Option<usize>,
    pub ratio: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub verdict: String,
    pub reason: Option<String>,
    pub says: String,
    pub blocks: Option<u32>,
    pub kept: Option<usize>,
    pub durability: Option<String>,
    pub same_durability: Option<bool>,
    pub further_seconds: Option<f64>,
    pub warnings: Option<String>,
}

/// Why a verdict is withheld, whatever the figures say.
struct Withheld {
    /// Of all targets.
    of_all: Option<String>,
    forced: bool,
}

/// The rows of `compare`: with the declared metric what was decided, with another one what it looks like. `beside` is by number.
pub fn rows(state: &State, metric: Metric, beside: &[Beside]) -> Vec<Row> {
    let e = &state.experiment;
    let blocks = steps::next(state, "", "").blocks;
    let looks = e.looks();
    let withheld = Withheld {
        of_all: withheld_from_all(state, metric, blocks),
        forced: e.forced,
    };
    let played = steps::play(state, blocks, metric, &looks);
    let place = |number: usize| match &played {
        Played::Baseline(compared) => {
            compared[number].map(|c| of_compared(state, metric, number, &c, beside, &withheld))
        }
        Played::Best(ranked) => Some(of_ranked(
            state,
            metric,
            number,
            &ranked[number],
            beside,
            &withheld,
        )),
    };
    let aside = steps::aside(state);
    let mut rows: Vec<Row> = (0..state.targets.len()).filter_map(place).collect();
    for row in &mut rows {
        if let Some(aside) = aside.iter().find(|a| a.number == row.number) {
            row.verdict = "inconclusive".into();
            row.reason = Some("set_aside".into());
            row.says = format!("set aside: {}", aside.why);
            row.further_seconds = None;
        }
    }
    rows
}

fn withheld_from_all(state: &State, metric: Metric, blocks: u32) -> Option<String> {
    let e = &state.experiment;
    if e.metric != metric.name {
        return Some(match metric.kind {
            Kind::Latency(_) if !e.has_rate => "closed_loop".into(),
            _ => "not declared".into(),
        });
    }
    if e.too_short {
        return Some("too_short".into());
    }
    // A look needs three.
    (blocks < 3 && e.ended_by.is_some() && e.ended_by != Some(Reason::Running)).then(|| {
        format!(
            "{}, {}",
            why_ended(e.ended_by),
            format_count(blocks.into(), "block")
        )
    })
}

fn why_ended(reason: Option<Reason>) -> &'static str {
    reason.map_or("ended", Reason::as_str)
}

fn of_compared(
    state: &State,
    metric: Metric,
    number: usize,
    compared: &Compared,
    beside: &[Beside],
    withheld: &Withheld,
) -> Row {
    let e = &state.experiment;
    let baseline = e.baseline.unwrap_or(0);
    let name = state.targets[baseline].name.as_str();
    let said = words::compared(compared, name, in_words(state, metric));
    let reason = match compared.verdict {
        Verdict::Inconclusive(reason) => Some(reason.as_str().to_owned()),
        _ => None,
    };
    let m = state.targets.len() - 1;
    let needed = compared.blocks_needed(m, e.delta());
    let direction = |e: &Estimate| (e.mean.exp(), e.low().exp(), e.high().exp());
    let base = Base {
        number,
        against: Some(baseline),
        estimate: compared.estimate,
        ends: compared.estimate.as_ref().map(direction),
        verdict: compared.verdict.as_str().to_owned(),
        reason,
        said,
        needed,
    };
    row(state, metric, base, beside, withheld)
}

fn of_ranked(
    state: &State,
    metric: Metric,
    number: usize,
    ranked: &Ranked,
    beside: &[Beside],
    withheld: &Withheld,
) -> Row {
    let name = ranked
        .against
        .map_or("", |i| state.targets[i].name.as_str());
    let said = words::ranked(ranked, name, in_words(state, metric));
    let reason = match ranked.standing {
        Standing::Open(reason) => Some(reason.as_str().to_owned()),
        _ => None,
    };
    // Of ln(against / this one), or the other way round where less is better.
    let turned = |e: &Estimate| match metric.more_is_better {
        true => ((-e.mean).exp(), (-e.high()).exp(), (-e.low()).exp()),
        false => (e.mean.exp(), e.low().exp(), e.high().exp()),
    };
    let base = Base {
        number,
        against: ranked.against,
        estimate: ranked.estimate,
        ends: ranked.estimate.as_ref().map(turned),
        verdict: ranked.standing.as_str().to_owned(),
        reason,
        said,
        needed: None,
    };
    row(state, metric, base, beside, withheld)
}

fn in_words(state: &State, metric: Metric) -> words::Metric<'static> {
    words::Metric {
        name: metric.noun,
        more_is_better: metric.more_is_better,
        margin: state.experiment.margin,
    }
}

/// The result of the arithmetic for a target.
struct Base {
    number: usize,
    against: Option<usize>,
    estimate: Option<Estimate>,
    ends: Option<(f64, f64, f64)>,
    verdict: String,
    reason: Option<String>,
    said: String,
    needed: Option<u32>,
}

fn row(state: &State, metric: Metric, base: Base, beside: &[Beside], withheld: &Withheld) -> Row {
    let own = beside.get(base.number).cloned().unwrap_or_default();
    let other = base.against.and_then(|i| beside.get(i));
    let durability_of_other = other.and_then(|other| other.durability.clone());
    let same_durability = match (&own.durability, &durability_of_other) {
        (Some(own), Some(other)) => Some(own == other),
        _ => None,
    };
    let differs = own.differs.clone().filter(|_| !withheld.forced);
    let withheld = withheld.of_all.clone().or(differs);
    let (verdict, reason, mut says) = match withheld {
        Some(why) => {
            let size = arithmetic(state, metric, &base);
            let verdict = if why == "not declared" {
                why.clone()
            } else {
                "inconclusive".into()
            };
            let says = match verdict == why {
                true => format!("{why}{size}"),
                false => format!("inconclusive ({why}){size}"),
            };
            (verdict, Some(why), says)
        }
        None => (base.verdict, base.reason, base.said),
    };
    if same_durability == Some(false)
        && let (Some(own), Some(other)) = (&own.durability, &durability_of_other)
    {
        says = format!("{says}, NOT equally durable ({own}; the other one: {other})");
    }
    let done = base.estimate.map(|e| e.blocks);
    let further_seconds = (base.needed.zip(done)).map(|(needed, done)| {
        // Both of the pair run in each block.
        f64::from(needed.saturating_sub(done)) * 2.0 * state.experiment.run_seconds
    });
    Row {
        number: base.number,
        target: state.targets[base.number].name.clone(),
        against: base.against,
        ratio: base.ends.map(|e| e.0),
        low: base.ends.map(|e| e.1),
        high: base.ends.map(|e| e.2),
        verdict,
        reason,
        says,
        blocks: base.estimate.map(|e| e.blocks),
        kept: base.estimate.map(|e| e.kept),
        durability: own.durability,
        same_durability,
        further_seconds: further_seconds.filter(|s| *s > 0.0),
        warnings: own.warnings,
    }
}

/// Whether two experiments were made in different sessions: on another boot, or another day.
pub fn is_another_session(a: &State, b: &State) -> bool {
    let boots = |state: &State| -> Vec<String> {
        state
            .runs
            .iter()
            .filter_map(|made| made.boot_id.clone())
            .collect()
    };
    let (of_a, of_b) = (boots(a), boots(b));
    let is_another_boot = !of_a.is_empty() && of_b.iter().all(|boot| !of_a.contains(boot));
    let day = |state: &State| {
        state
            .experiment
            .started_at
            .as_ref()
            .map(|at| at.chars().take(10).collect::<String>())
    };
    let is_another_day = day(a).is_some() && day(b).is_some() && day(a) != day(b);
    !of_b.is_empty() && (is_another_boot || is_another_day)
}

/// Adds to what is said of an experiment what another session has confirmed.
pub fn confirm(said: &mut [Row], state: &State, other: &State) {
    let both = [state, other].map(|state| {
        let blocks = steps::next(state, "", "").blocks;
        steps::play(
            state,
            blocks,
            steps::declared(state),
            &state.experiment.looks(),
        )
    });
    let is_like = state.targets.len() == other.targets.len()
        && state.experiment.metric == other.experiment.metric
        && !other.experiment.too_short;
    for row in said
        .iter_mut()
        .filter(|row| is_like && row.verdict != "inconclusive")
    {
        let holds = match &both {
            [Played::Baseline(a), Played::Baseline(b)] => match (&a[row.number], &b[row.number]) {
                (Some(a), Some(b)) => confirmed::of_comparison(a, b),
                _ => false,
            },
            [Played::Best(a), Played::Best(b)] => confirmed::of_best(a, b),
            _ => false,
        };
        if holds {
            row.says = format!(
                "{}, confirmed by \"{}\"",
                row.says, other.experiment.experiment
            );
        }
    }
}

/// The figures without a verdict.
fn arithmetic(state: &State, metric: Metric, base: &Base) -> String {
    let name = |i: usize| state.targets[i].name.as_str();
    let values = state.values(base.number);
    let typical = median(&values).map(|m| format!(", median {} {}", figure(m), metric.noun));
    match (base.ends, base.against) {
        (Some((ratio, low, high)), Some(against)) => format!(
            ": {ratio:.2} times {} ({low:.2} to {high:.2}){}",
            name(against),
            typical.unwrap_or_default()
        ),
        _ => typical.map_or_else(String::new, |typical| format!(": {}", &typical[2..])),
    }
}

/// A number with three digits.
pub fn figure(x: f64) -> String {
    match x.abs() {
        100.0.. => format!("{x:.0}"),
        10.0.. => format!("{x:.1}"),
        1.0.. => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}

/// One line for the morning: what is known of each target, and what it took.
pub fn line(state: &State, rows: &[Row]) -> String {
    let mut parts: Vec<String> = rows
        .iter()
        .map(|row| match &row.reason {
            Some(reason) if row.verdict == "inconclusive" || row.verdict == "open" => {
                format!("{} {} ({reason})", row.target, row.verdict)
            }
            _ => format!("{} {}", row.target, row.verdict),
        })
        .collect();
    if state.experiment.goal == Goal::Best {
        // The best one is the answer.
        parts.sort_by_key(|part| !part.ends_with(" best") && !part.ends_with(" leading"));
    }
    let over = state
        .runs
        .iter()
        .filter(|made| made.outcome.is_some())
        .count();
    let counted = (state.runs.iter())
        .filter(|made| made.outcome.is_some_and(Outcome::counts))
        .count();
    let mut runs = format_count(over as u64, "run");
    if over > counted {
        runs += &format!(", {} that did not count", over - counted);
    }
    format!(
        "{}; {} in {runs}",
        parts.join(", "),
        format_seconds(state.experiment.elapsed_seconds)
    )
}
