//! The answer of an experiment: a row for each target, and a summary of one line.

mod cause;
mod differing;
mod figures;
pub mod open;
mod pairs;
mod session;
pub mod warning;

use std::collections::BTreeMap;

use super::{
    metric::{self, Kind, Metric},
    plan::{MOST_BLOCKS, TOO_SHORT_REASON},
    state::State,
    steps::{self, ExcludedTarget, LookResults},
};
use crate::{
    finding::Durability,
    texts::{
        answer::{self as text, Limit},
        verdict as verdict_text,
    },
    verdict::{
        Estimate, Reason,
        best::{Ranked, Standing},
        compare::{Compared, Verdict},
        looks::Looks,
    },
};

pub use cause::Cause;
pub use figures::{levels, line};
pub use pairs::pairs;
pub use session::{confirm, is_another_session};
pub use warning::Warning;

/// The verdict where nothing is decided.
const INCONCLUSIVE: &str = "inconclusive";
/// The verdict of a metric that was not declared.
const NOT_DECLARED: &str = "not declared";

/// Facts of a target beside its metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetFacts {
    /// The durability that its runs promised, all together.
    pub durability: Option<Durability>,
    /// Undeclared differences of its runs from those of others in the same block, by the number of the other target.
    pub differs: BTreeMap<usize, Cause>,
    /// Findings of its runs that are warnings, and what has changed between them.
    pub warnings: Vec<Warning>,
    /// Checkpoints a run.
    pub checkpoints: Option<Checkpoints>,
}

/// Checkpoints that began in the window of a run, in the mean of a target's runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checkpoints {
    /// Because there was so much WAL.
    pub forced: f64,
    /// All of them.
    pub all: f64,
}

/// The answer for a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub number: usize,
    pub target: String,
    pub against: Option<usize>,
    pub ratio: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub verdict: String,
    pub reason: Option<Cause>,
    pub says: String,
    pub blocks: Option<u32>,
    pub kept: Option<usize>,
    pub durability: Option<Durability>,
    pub same_durability: Option<bool>,
    pub further_seconds: Option<f64>,
    /// Blocks that a decision would still take, where there can be so many.
    pub further_blocks: Option<u32>,
    /// Whether a decision would take more blocks than there can be.
    pub needs_too_many: bool,
    pub warnings: Vec<Warning>,
    /// Whether WAL has forced checkpoints in its runs, or in those that it is compared with.
    pub has_forced_checkpoints: bool,
}

/// Why a verdict is withheld, whatever the figures say.
struct Withheld {
    /// Reason that withholds the verdicts of all targets.
    of_all: Option<Cause>,
    forced: bool,
    /// Those whose differences from others do not matter any more.
    excluded: Vec<ExcludedTarget>,
}

/// The rows of `compare`: with the declared metric what was decided, with another one what it looks like. `target_facts` is by number.
pub fn rows(state: &State, metric: Metric, target_facts: &[TargetFacts]) -> Vec<Row> {
    let e = &state.experiment;
    let looks = match e.metric == metric.name {
        true => e.looks(),
        false => {
            let others = metric::not_declared(&e.metric, e.has_rate);
            e.looks().among(others)
        }
    };
    let blocks = steps::next(state, "", "").blocks;
    rows_at(state, metric, target_facts, blocks, &looks)
}

/// The rows of the first blocks, by these looks.
fn rows_at(
    state: &State,
    metric: Metric,
    target_facts: &[TargetFacts],
    blocks: u32,
    looks: &Looks,
) -> Vec<Row> {
    let withheld = Withheld {
        of_all: withheld_from_all(state, metric, blocks),
        forced: state.experiment.forced,
        excluded: steps::excluded(state),
    };
    let played = steps::replay_looks(state, blocks, metric, looks);
    let place = |number: usize| match &played {
        LookResults::Baseline(compared) => compared[number]
            .map(|c| of_compared(state, metric, number, &c, target_facts, &withheld)),
        LookResults::Best(ranked) => Some(of_ranked(
            state,
            metric,
            number,
            &ranked[number],
            target_facts,
            &withheld,
        )),
    };
    let mut rows: Vec<Row> = (0..state.targets.len()).filter_map(place).collect();
    for row in &mut rows {
        if let Some(excluded) = (withheld.excluded.iter()).find(|a| a.number == row.number) {
            row.verdict = INCONCLUSIVE.into();
            row.reason = Some(Cause::SetAside);
            row.says = text::set_aside(&excluded.why);
            (row.further_seconds, row.further_blocks) = (None, None);
        }
    }
    rows
}

fn withheld_from_all(state: &State, metric: Metric, blocks: u32) -> Option<Cause> {
    let e = &state.experiment;
    if e.metric != metric.name {
        return Some(match metric.kind {
            Kind::Latency(_) if !e.has_rate => Cause::ClosedLoop,
            Kind::Shown => Cause::CanBeZero,
            _ => Cause::NotDeclared,
        });
    }
    // A look needs three. Without a reference, more blocks are no way on.
    let is_ended = e.ended_by.is_some() && e.ended_by != Some(Reason::Running);
    if blocks < 3 && e.ended_by == Some(Reason::NoReference) {
        return Some(Cause::Arithmetic(Reason::NoReference));
    }
    if blocks < 3 && is_ended {
        return Some(Cause::TooFewBlocks {
            ended_by: e.ended_by,
            blocks,
        });
    }
    e.too_short.then_some(Cause::TooShort)
}

fn why_ended(reason: Option<Reason>) -> &'static str {
    reason.map_or("ended", Reason::as_str)
}

fn of_compared(
    state: &State,
    metric: Metric,
    number: usize,
    compared: &Compared,
    target_facts: &[TargetFacts],
    withheld: &Withheld,
) -> Row {
    let e = &state.experiment;
    let baseline = e.baseline.unwrap_or(0);
    let name = state.targets[baseline].name.as_str();
    let says = match compared.verdict {
        Verdict::CannotKeepTheRate => behind(metric),
        _ => verdict_text::compared(compared, name, in_words(state, metric)),
    };
    let reason = match compared.verdict {
        Verdict::Inconclusive(reason) => Some(reason),
        _ => None,
    };
    let m = state.targets.len() - 1;
    let needed = compared.blocks_needed(m, e.delta());
    let direction = |e: &Estimate| (e.mean.exp(), e.low().exp(), e.high().exp());
    let base = TargetResult {
        number,
        against: Some(baseline),
        estimate: compared.estimate,
        ends: compared.estimate.as_ref().map(direction),
        verdict: compared.verdict.as_str().to_owned(),
        reason,
        says,
        needed,
    };
    row(state, metric, base, target_facts, withheld)
}

fn of_ranked(
    state: &State,
    metric: Metric,
    number: usize,
    ranked: &Ranked,
    target_facts: &[TargetFacts],
    withheld: &Withheld,
) -> Row {
    let name = ranked
        .against
        .map_or("", |i| state.targets[i].name.as_str());
    let says = match ranked.standing {
        Standing::CannotKeepTheRate => behind(metric),
        _ => verdict_text::ranked(ranked, name, in_words(state, metric)),
    };
    let reason = match ranked.standing {
        Standing::Open(reason) => Some(reason),
        _ => None,
    };
    // The estimate is ln(against / this one), or its negative where less is better.
    let turned = |e: &Estimate| match metric.more_is_better {
        true => ((-e.mean).exp(), (-e.high()).exp(), (-e.low()).exp()),
        false => (e.mean.exp(), e.low().exp(), e.high().exp()),
    };
    let base = TargetResult {
        number,
        against: ranked.against,
        estimate: ranked.estimate,
        ends: ranked.estimate.as_ref().map(turned),
        verdict: ranked.standing.as_str().to_owned(),
        reason,
        says,
        needed: ranked.blocks_needed(state.targets.len(), state.experiment.delta()),
    };
    row(state, metric, base, target_facts, withheld)
}

/// The sentence on a target without a ratio, because it cannot keep the rate.
fn behind(metric: Metric) -> String {
    let has_searched = metric.name == metric::SUSTAINABLE_RATE;
    text::behind(Verdict::CannotKeepTheRate.as_str(), has_searched)
}

fn in_words(state: &State, metric: Metric) -> verdict_text::Metric<'static> {
    verdict_text::Metric {
        name: metric.noun,
        more_is_better: metric.more_is_better,
        margin: state.experiment.margin,
    }
}

/// The result of the arithmetic for a target.
struct TargetResult {
    number: usize,
    against: Option<usize>,
    estimate: Option<Estimate>,
    ends: Option<(f64, f64, f64)>,
    verdict: String,
    reason: Option<Reason>,
    says: String,
    needed: Option<u32>,
}

impl TargetResult {
    /// Blocks beyond those that there are in which both would run until it is decided; None where more of them would not help.
    fn further_blocks(&self) -> Option<u32> {
        let helps = |reason: &Reason| !matches!(reason, Reason::NoiseFloor | Reason::NoReference);
        self.reason.filter(helps)?;
        let further = self.needed?.checked_sub(self.estimate?.pairs as u32)?;
        (further > 0).then_some(further)
    }
}

fn row(
    state: &State,
    metric: Metric,
    base: TargetResult,
    target_facts: &[TargetFacts],
    withheld: &Withheld,
) -> Row {
    let own = target_facts.get(base.number).cloned().unwrap_or_default();
    // A metric that can be zero has no ratio.
    let ends = base.ends.filter(|_| metric.kind != Kind::Shown);
    let other = base.against.and_then(|i| target_facts.get(i));
    let durability_of_other = other.and_then(|other| other.durability.clone());
    let same_durability = match (&own.durability, &durability_of_other) {
        (Some(own), Some(other)) => Some(own.is_as(other)),
        _ => None,
    };
    let differs = differing::of(&own, base.against, withheld);
    let (with, differs) = differs.map_or((Vec::new(), None), |(with, why)| (with, Some(why)));
    let withheld = withheld.of_all.clone().or(differs);
    let needed = withheld.is_none().then(|| base.further_blocks()).flatten();
    let made = base.estimate.map_or(0, |e| e.blocks);
    // More than are looked for.
    let is_beyond = withheld.is_none()
        && base.reason.is_some()
        && base.estimate.is_some()
        && base.needed.is_none();
    let further = needed.filter(|n| (made + n) as usize <= MOST_BLOCKS);
    let (verdict, reason, mut says) = match withheld {
        Some(why) => {
            let (verdict, says) = said_of_withheld(state, metric, &base, &why, &with);
            (verdict, Some(why), says)
        }
        None => (base.verdict, base.reason.map(Cause::Arithmetic), base.says),
    };
    if same_durability == Some(false)
        && let (Some(own), Some(other)) = (&own.durability, &durability_of_other)
    {
        says = text::unlike_in_durability(&says, &own.sentence(), &other.sentence());
    }
    let of_other = other.and_then(|target_facts| target_facts.checkpoints);
    let has_forced_checkpoints =
        figures::has_forced(own.checkpoints) || figures::has_forced(of_other);
    let checkpoints = figures::checkpoints(own.checkpoints, of_other, against(state, base.against));
    says += &checkpoints.unwrap_or_default();
    says += &figures::regime(&state.experiment);
    says += &further.map(text::figures::further).unwrap_or_default();
    let needs_too_many = is_beyond || (further.is_none() && needed.is_some());
    if further.is_none() && needed.is_some() {
        says += &text::figures::too_many_blocks(MOST_BLOCKS);
    }
    // Both of the pair run in each block.
    let further_seconds = further.map(|n| f64::from(n) * 2.0 * state.experiment.run_seconds);
    Row {
        number: base.number,
        target: state.targets[base.number].name.clone(),
        against: base.against,
        ratio: ends.map(|e| e.0),
        low: ends.map(|e| e.1),
        high: ends.map(|e| e.2),
        verdict,
        reason,
        says,
        blocks: base.estimate.map(|e| e.blocks),
        kept: base.estimate.map(|e| e.kept),
        durability: own.durability,
        same_durability,
        further_seconds,
        further_blocks: further,
        needs_too_many,
        warnings: own.warnings,
        has_forced_checkpoints,
    }
}

/// Verdict and sentence of a comparison whose verdict is withheld.
fn said_of_withheld(
    state: &State,
    metric: Metric,
    base: &TargetResult,
    why: &Cause,
    with: &[usize],
) -> (String, String) {
    let size = figures::arithmetic(state, metric, base);
    if why.is_not_declared() {
        return (NOT_DECLARED.into(), format!("{}{size}", why.says()));
    }
    let with = differing::from_others(state, base, with);
    (
        INCONCLUSIVE.into(),
        format!("{INCONCLUSIVE} ({}){size}{with}", why.says()),
    )
}

fn against(state: &State, number: Option<usize>) -> &str {
    number.map_or("", |i| state.targets[i].name.as_str())
}

/// Adds to those that are equivalent what has limited them and what they are compared with. `limits` is by number.
pub fn name_limits(answers: &mut [Row], state: &State, limits: &[Option<Limit>]) {
    let of = |number: usize| limits.get(number).copied().flatten();
    for row in answers.iter_mut().filter(|row| row.is_equivalent()) {
        let Some(against) = row.against else { continue };
        let names = [row.target.as_str(), state.targets[against].name.as_str()];
        if let Some(limits) = text::limits([of(row.number), of(against)], names) {
            row.says = format!("{}; {limits}", row.says);
        }
    }
}

impl Row {
    /// Whether nothing is decided of it, or what is may not be said. With goal best, open ones are not meant.
    pub fn is_inconclusive(&self) -> bool {
        self.verdict == INCONCLUSIVE
    }

    /// Whether it stays in the answer of the goal best, and nothing is decided of it.
    pub fn is_open(&self) -> bool {
        self.verdict == Standing::Open(Reason::Running).as_str()
    }

    /// Whether it leads, and another target is open.
    pub fn is_leading(&self) -> bool {
        self.verdict == Standing::Leading.as_str()
    }

    /// Whether it leads.
    pub fn is_ahead(&self) -> bool {
        self.is_leading() || self.verdict == Standing::Best.as_str()
    }

    /// Whether it was not run any more, since its runs failed.
    pub fn is_set_aside(&self) -> bool {
        self.is_inconclusive() && self.reason == Some(Cause::SetAside)
    }

    /// Whether the difference certainly does not count.
    pub fn is_equivalent(&self) -> bool {
        [Verdict::Equivalent.as_str(), Standing::Equivalent.as_str()]
            .contains(&self.verdict.as_str())
    }
}
