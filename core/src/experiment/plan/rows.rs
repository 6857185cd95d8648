//! `plan_experiment`: what an experiment would do, in words.

use serde::Serialize;

use crate::{
    experiment::{
        arguments::Checked,
        plan::{
            self, Length, RunsBefore,
            budget::{BudgetPlan, BudgetRequest},
        },
    },
    run::room::DISK_TPS,
    spec::Spec,
    target::prepared_data::Copied,
    texts::plan as text,
    wording,
};

/// Blocks whose order is shown.
const SHOWN_BLOCKS: usize = 3;
/// Standard deviations of ln ratio for which the plan has the smallest difference that would be found.
const NOISE: [f64; 3] = [0.015, 0.03, 0.05];

/// An experiment as it would be recorded.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    pub checked: &'a Checked,
    /// A run of each candidate, in their order.
    pub specs: &'a [Spec],
    /// Bytes that each of these takes on its target.
    pub needed: &'a [u64],
    /// How data that are to be copied to targets come to be there; None if none are to be.
    pub copied: Option<Copied>,
    pub length: Length,
    pub before: RunsBefore,
    pub seed: i64,
    pub seed_is_given: bool,
    /// The request that the rows of other times are fitted to.
    pub wish: BudgetRequest,
    /// The budget, with what it was spent on.
    pub budget: Option<(f64, BudgetPlan)>,
    /// Whether the windows have fewer checkpoint cycles than a verdict takes.
    pub too_short: bool,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Subject: plan, trouble, run, order, needs or time.
    pub part: &'static str,
    pub item: String,
    pub says: String,
}

/// A row of that part.
pub fn line(part: &'static str, item: impl Into<String>, says: impl Into<String>) -> Line {
    Line {
        part,
        item: item.into(),
        says: wording::say(part, || says.into()),
    }
}

/// The rows of an experiment that can be started, but for what `trouble` says.
pub fn rows(plan: &Plan, trouble: Vec<Line>) -> Vec<Line> {
    let announced = plan::announced(plan.checked, plan.length, plan.before);
    let mut rows = vec![line("plan", "experiment", announced)];
    rows.extend(
        plan.budget
            .map(|(seconds, fit)| line("plan", "budget", text::budget(seconds, &fit.says()))),
    );
    if plan.before.power_cut_runs > 0 {
        let before = plan.before;
        let says = text::power_cuts(
            before.power_cuts,
            before.power_cut_runs,
            before.power_cut_seconds(),
        );
        rows.push(line("plan", "power cuts", says));
    }
    rows.extend(trouble);
    if plan.too_short {
        rows.push(line("trouble", "the verdict", text::TOO_SHORT));
    }
    rows.extend(runs(plan));
    rows.extend(order(plan));
    rows.extend(room(plan));
    rows.extend(plan.copied.as_ref().map(room_here));
    rows.push(line("needs", text::TRANSACTION_IDS, transaction_ids(plan)));
    rows.extend(times(plan));
    rows
}

/// The rows of one that could not be started as it is asked for.
pub fn without_plan(trouble: impl Iterator<Item = Line>) -> Vec<Line> {
    std::iter::once(line("plan", "experiment", text::cannot_start()))
        .chain(trouble)
        .collect()
}

impl Plan<'_> {
    /// How many runs a block has.
    fn many(&self) -> usize {
        self.checked.candidates.len() + usize::from(self.checked.control)
    }
}

fn runs(plan: &Plan) -> Vec<Line> {
    let runs = plan.checked.candidates.iter().zip(plan.specs);
    runs.map(|(candidate, spec)| {
        line(
            "run",
            &*candidate.name,
            text::run(&candidate.target, &spec.plan_text()),
        )
    })
    .collect()
}

fn order(plan: &Plan) -> Vec<Line> {
    let name = |number: &usize| match plan.checked.candidates.get(*number) {
        Some(candidate) => candidate.name.clone(),
        None => "control".to_owned(),
    };
    let order = plan::run_order(plan.many(), plan.seed);
    let blocks = (1..).zip(order.iter().take(SHOWN_BLOCKS));
    let mut rows: Vec<Line> = blocks
        .map(|(block, order)| {
            let names: Vec<String> = order.iter().map(name).collect();
            line("order", format!("block {block}"), names.join(", "))
        })
        .collect();
    if !plan.seed_is_given {
        rows.push(line("order", "of this plan", text::drawn_seed(plan.seed)));
    }
    rows
}

/// Room for the run that needs the most.
fn room(plan: &Plan) -> Option<Line> {
    let runs = plan.specs.iter().zip(plan.needed);
    let (spec, needed) = runs.max_by_key(|(_, needed)| **needed)?;
    Some(line(
        "needs",
        text::ROOM_ON_A_TARGET,
        text::room(*needed, spec.data_bytes(), DISK_TPS),
    ))
}

/// For the data that are copied; or why none are.
fn room_here(copied: &Copied) -> Line {
    let says = match copied {
        Copied::Prepared => text::data_are_there(),
        Copied::LoadedFirst { bytes, limit } => text::loaded_first(*bytes, *limit),
        Copied::NoRoom(why) => text::no_room(why),
    };
    line("needs", text::ROOM_HERE, says)
}

fn transaction_ids(plan: &Plan) -> String {
    if !plan.specs.iter().any(Spec::is_here) {
        return text::no_transaction_ids();
    }
    let runs = f64::from(plan.checked.max_blocks) * plan.many() as f64;
    let of = |spec: &Spec| spec.transactions_at(plan::ASSUMED_TPS);
    let ids = plan.specs.iter().map(of).fold(0.0, f64::max);
    text::transaction_ids(ids * runs, plan::ASSUMED_TPS)
}

fn times(plan: &Plan) -> Vec<Line> {
    let mut rows: Vec<Line> = plan::OFFERS
        .iter()
        .map(|offer| line("time", offer.name, offered(plan, offer.seconds)))
        .collect();
    if !plan.too_short && plan.checked.neighbours.has_repeats() {
        rows.push(line("time", "not in these", text::repeats_are_extra()));
    }
    rows
}

/// Rows of what fits into a time, chosen as for a budget.
fn offered(plan: &Plan, seconds: f64) -> String {
    let (checked, wish) = (plan.checked, &plan.wish);
    // Within a budget max_duration is the budget.
    let most = checked.max_seconds.filter(|_| plan.budget.is_none());
    let most = most.filter(|most| *most < seconds);
    let seconds = most.unwrap_or(seconds);
    let longer = BudgetRequest {
        blocks: None,
        ..*wish
    };
    let Some(fit) = longer.fit(seconds) else {
        return text::too_short_for_a_verdict(most, &longer.instead(seconds));
    };
    // It could have more blocks than it has without a word.
    let blocks = plan::blocks_within(seconds, wish.runs(), fit.length, wish.before());
    let looks = plan::looks(plan::MOST_BLOCKS as u32).into_iter();
    let reached: Vec<u32> = looks
        .map(|look| look.blocks)
        .filter(|n| *n <= blocks)
        .collect();
    let last = reached.last().copied().unwrap_or(fit.blocks);
    let cycle = fit.length.cycle_seconds;
    let finds = |noise: f64| {
        let found = plan::smallest_difference(checked.goal, wish.runs(), last, noise);
        (found, noise)
    };
    let decides_nothing = wish.has_cycles && fit.length.is_too_short();
    let offer = text::Offer {
        max_duration: most,
        max_blocks: (last > checked.max_blocks).then_some(last),
        cycle: fit.cycle_seconds,
        window: fit.length.window_seconds,
        is_provisional: wish.has_cycles && plan::is_provisional(cycle),
        looks: reached,
        finds: (!decides_nothing).then(|| NOISE.map(finds).to_vec()),
    };
    offer.words()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::format_seconds;
    use crate::{
        experiment::arguments::{self, ExperimentArguments},
        spec,
        workload::tests::resolved,
    };

    fn checked(max_duration_us: Option<i64>) -> Checked {
        let arguments = ExperimentArguments {
            experiment: Some("e".into()),
            targets: Some(["a", "b"].map(|name| Some(name.to_owned())).into()),
            control: Some(true),
            max_duration_us,
            ..ExperimentArguments::default()
        };
        arguments::check(&arguments, &[]).unwrap()
    }

    fn plan<'a>(checked: &'a Checked, specs: &'a [Spec], needed: &'a [u64]) -> Plan<'a> {
        Plan {
            checked,
            specs,
            needed,
            copied: None,
            length: Length {
                warmup_seconds: 300.0,
                window_seconds: 900.0,
                data_bytes: 0,
                cycle_seconds: 300.0,
            },
            before: RunsBefore::default(),
            seed: 7,
            seed_is_given: false,
            wish: BudgetRequest {
                targets: 2,
                control: true,
                length: Length {
                    warmup_seconds: 300.0,
                    window_seconds: 900.0,
                    data_bytes: 0,
                    cycle_seconds: 300.0,
                },
                may_choose: true,
                has_cycles: true,
                pilot_cycle: true,
                ..BudgetRequest::default()
            },
            budget: None,
            too_short: false,
        }
    }

    fn of<'a>(rows: &'a [Line], part: &str) -> Vec<(&'a str, &'a str)> {
        let rows = rows.iter().filter(|row| row.part == part);
        rows.map(|row| (row.item.as_str(), row.says.as_str()))
            .collect()
    }

    #[test]
    fn each_part_has_its_rows() {
        let checked = checked(None);
        let rows = rows(
            &plan(&checked, &[], &[]),
            vec![line("trouble", "the helper", "x")],
        );
        assert_eq!(rows[0].part, "plan");
        let coded = wording::without(|| {
            super::rows(
                &plan(&checked, &[], &[]),
                vec![line("trouble", "the helper", "x")],
            )
        });
        assert!(coded.iter().all(|row| row.says == row.part));
        let subjects = |rows: &[Line]| -> Vec<(&'static str, String)> {
            rows.iter()
                .map(|row| (row.part, row.item.clone()))
                .collect()
        };
        assert_eq!(
            subjects(&coded),
            subjects(&rows),
            "nothing reads a sentence"
        );
        assert_eq!(of(&rows, "trouble"), [("the helper", "x")]);
        let order = of(&rows, "order");
        assert_eq!(order.len(), SHOWN_BLOCKS + 1);
        assert!(order[0].1.contains("control") && order[0].1.matches(',').count() == 2);
        assert!(
            order[SHOWN_BLOCKS]
                .1
                .starts_with("seed => 7 has this order")
        );
        let needs = of(&rows, "needs");
        assert_eq!(
            needs,
            [(
                "transaction ids of this server",
                "none: the runs have servers of their own"
            )]
        );
        assert_eq!(of(&rows, "time").len(), plan::OFFERS.len() + 1);
    }

    #[test]
    fn the_largest_run_says_how_much_room_is_needed() {
        let checked = checked(None);
        let specs = [1, 2].map(|scale| {
            resolved(spec::RunArguments {
                scale: Some(scale),
                ..spec::RunArguments::default()
            })
        });
        let plan = plan(&checked, &specs, &[1 << 30, 2 << 30]);
        let says = room(&plan).unwrap().says;
        assert!(says.starts_with("about 2048 MB, of which "), "{says}");
    }

    #[test]
    fn data_are_there_or_loaded_first_or_by_each_run() {
        let begins = |copied: Copied, start: &str| {
            let says = room_here(&copied).says;
            assert!(says.starts_with(start), "{says}");
        };
        begins(Copied::Prepared, "no more than there is");
        let (bytes, limit) = (10 << 30, 16 << 30);
        begins(Copied::LoadedFirst { bytes, limit }, "about 10 GB, where ");
        let why = "The data need 17 GB.".to_owned();
        begins(
            Copied::NoRoom(why),
            "none that is enough. The data need 17 GB. So runs load",
        );
    }

    #[test]
    fn short_windows_promise_nothing() {
        let checked = checked(None);
        let mut plan = plan(&checked, &[], &[]);
        plan.too_short = true;
        plan.wish.length.window_seconds = 10.0;
        plan.wish.may_choose = false;
        let rows = rows(&plan, Vec::new());
        assert_eq!(of(&rows, "trouble"), [("the verdict", text::TOO_SHORT)]);
        let times = of(&rows, "time");
        assert_eq!(times.len(), plan::OFFERS.len());
        for (item, says) in times {
            let is_too_short = says.starts_with("too short for a verdict: ");
            assert!(
                is_too_short || says.ends_with("; decides nothing (too_short)"),
                "{item}: {says}"
            );
        }
    }

    #[test]
    fn half_an_hour_is_for_a_first_look_and_no_time_is_longer_than_the_experiments() {
        let some = checked(Some(600_000_000));
        let all = checked(None);
        let [first, night, weekend] = plan::OFFERS.map(|offer| offer.seconds);
        let mut plan = plan(&all, &[], &[]);
        let says = offered(&plan, first);
        assert!(
            says.starts_with(
                "with cycle => '30 s', windows of 1 min 30 s: provisional, looks after 3; finds "
            ),
            "{says}"
        );
        // A night has the server's own cycles, and more blocks.
        let says = offered(&plan, night);
        assert!(says.starts_with("looks after 3, 4, 6, 8; finds "), "{says}");
        let says = offered(&plan, weekend);
        assert!(says.starts_with("with max_blocks => 24: "), "{says}");
        // A cycle that was given stays.
        plan.wish.may_choose = false;
        let says = offered(&plan, first);
        assert_eq!(
            says,
            "too short for a verdict: two targets do not fit either"
        );
        plan.checked = &some;
        let says = offered(&plan, weekend);
        assert!(
            says.starts_with("max_duration 10 min: too short for a verdict: "),
            "{says}"
        );
    }

    /// A budget is spent on what the plan offers for that time.
    #[test]
    fn a_budget_buys_what_is_offered_for_its_time() {
        let checked = checked(None);
        let plan = plan(&checked, &[], &[]);
        for offer in plan::OFFERS {
            let fit = plan.wish.spend(offer.seconds).unwrap();
            let says = offered(&plan, offer.seconds);
            let cycle = fit
                .cycle_seconds
                .map(|s| format!("cycle => '{}'", format_seconds(s)));
            assert!(says.contains(&cycle.unwrap_or_default()), "{says}");
            assert!(says.contains(&fit.blocks.to_string()), "{says}");
        }
    }

    #[test]
    fn what_cannot_be_started_has_no_plan() {
        let trouble = ["x", "y"].map(|says| line("trouble", "a target", says));
        let rows = without_plan(trouble.into_iter());
        let parts: Vec<&str> = rows.iter().map(|row| row.part).collect();
        assert_eq!(parts, ["plan", "trouble", "trouble"]);
        assert!(rows[0].says.starts_with("it cannot be started"));
    }
}
