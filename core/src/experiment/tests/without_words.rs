//! Decisions read codes and values only: each sentence is replaced by its code, and all decisions come out the same.

use std::mem::{Discriminant, discriminant};

use serde_json::json;

use super::{disturbed_by, failed, measured, state};
use crate::{
    experiment::{
        answer::{
            self, Cause, TargetFacts, Warning,
            open::{self, OpenReason},
            warning,
        },
        metric, plan,
        recommend::{self, Facts, ThisServer},
        state::{ExperimentRun, Goal, Neighbours, State},
        steps::{self, End, Next, Place},
        throttled::Step,
    },
    finding::{Code, Durability},
    verdict::Reason,
    wording,
};

/// Decisions of an experiment: no word of it is a sentence.
#[derive(Debug, PartialEq)]
struct Decisions {
    end: Discriminant<End>,
    started: Vec<Place>,
    rows: Vec<Decided>,
    open: Vec<Discriminant<OpenReason>>,
    next_blocks: Option<u32>,
    advice: Vec<Part>,
    of_other_host: Vec<&'static str>,
}

/// A part of the advice; of a line to paste the line, and the setting that it is about.
type Part = (&'static str, Option<String>, Option<(String, String)>);

#[derive(Debug, PartialEq)]
struct Decided {
    verdict: String,
    reason: Option<&'static str>,
    same_durability: Option<bool>,
    further_blocks: Option<u32>,
    needs_too_many: bool,
    flags: [bool; 3],
    warnings: usize,
}

/// A figure of a run, by its place.
type Measure = fn(Place) -> ExperimentRun;

struct World {
    goal: Goal,
    measure: Measure,
    target_facts: fn(&mut [TargetFacts]),
    change: fn(&mut State),
    metric: &'static str,
}

/// Plays an experiment; `is_told` is whether the reasons of runs are stored as sentences.
fn replay_looks(world: &World, is_told: bool) -> (State, End, Vec<Place>) {
    let mut state = state(3, world.goal);
    (state.experiment.max_blocks, state.experiment.looks) = (3, plan::looks(3));
    let mut started = Vec::new();
    let words = |why: Option<String>| match is_told {
        true => why,
        false => why.map(|_| "code".to_owned()),
    };
    let end = loop {
        match steps::next(&state, "boot", "v").next {
            Next::Start(place) => {
                started.push(place);
                state.runs.push(ExperimentRun {
                    run_id: Some(started.len() as i64),
                    ..(world.measure)(place)
                });
            }
            Next::Judge(index, outcome, why) => {
                state.runs[index].outcome = Some(outcome);
                state.runs[index].why = words(why);
            }
            Next::Count(index, outcome, why) => {
                state.runs[index].outcome = Some(outcome);
                state.runs[index].why = words(Some(why));
            }
            Next::TakeAsItIs(..) => state.experiment.neighbours = Neighbours::Found,
            Next::End(end) => break end,
            other => panic!("{other:?}"),
        }
    };
    state.experiment.status = "done".into();
    (world.change)(&mut state);
    (state, end, started)
}

fn facts() -> Vec<Facts> {
    let of = |number: usize| {
        let name = ["ext4", "xfs", "btrfs"][number];
        let facts = json!({
            "number": number, "kind": "device", "filesystem": name, "device": format!("/dev/disk/by-id/{number}"),
            "mkfs_command": format!("/sbin/mkfs.{name} /dev/loop3"), "data_bytes": 1e9, "memory_bytes": 4e9,
            "durability_codes": [], "workload": "tpcb", "clients": 4, "settings": {"shared_buffers": "1GB"},
        });
        serde_json::from_value(facts).unwrap()
    };
    (0..3).map(of).collect()
}

/// With the advice, whose words are looked at.
fn decide(world: &World, is_told: bool) -> (Decisions, Vec<recommend::Advice>) {
    let (state, end, started) = replay_looks(world, is_told);
    let mut target_facts = vec![TargetFacts::default(); 3];
    (world.target_facts)(&mut target_facts);
    let metric = metric::find(world.metric).unwrap();
    let answers = answer::rows(&state, metric, &target_facts);
    let open = open::of(&state, &answers);
    let rows = answers.iter().map(|row| Decided {
        verdict: row.verdict.clone(),
        reason: row.reason.as_ref().map(Cause::code),
        same_durability: row.same_durability,
        further_blocks: row.further_blocks,
        needs_too_many: row.needs_too_many,
        flags: [
            row.is_inconclusive(),
            row.is_set_aside(),
            row.is_equivalent(),
        ],
        warnings: row.warnings.len(),
    });
    let advice = recommend::rows(&state, &answers, &facts(), &ThisServer::default());
    let parts = advice.iter().map(|row| {
        let line = row.is_pasted && row.part != "not tested";
        (
            row.part,
            line.then(|| row.says.clone()),
            row.setting.clone(),
        )
    });
    let of_other_host = recommend::of_other_host(advice.clone(), "db1");
    let decisions = Decisions {
        end: discriminant(&end),
        started,
        rows: rows.collect(),
        open: open.reasons.iter().map(discriminant).collect(),
        next_blocks: open.next_blocks,
        advice: parts.collect(),
        of_other_host: of_other_host.iter().map(|row| row.part).collect(),
    };
    (decisions, advice)
}

fn noisy(place: Place) -> ExperimentRun {
    let noise = [100.0, 112.0, 91.0, 104.0][(place.block as usize * (place.number + 1)) % 4];
    measured(place, noise)
}

const MEASURES: [Measure; 6] = [
    |place| measured(place, [100.0, 200.0, 300.0][place.number]),
    |place| measured(place, [100.0, 100.1, 50.0][place.number]),
    noisy,
    |place| match place.number {
        2 => failed(place, "53100"),
        _ => noisy(place),
    },
    |place| match place.number {
        0 => failed(place, "58030"),
        _ => noisy(place),
    },
    |place| disturbed_by(place, 100.0, 0.5),
];

const FACT_CHANGES: [fn(&mut [TargetFacts]); 5] = [
    |_| {},
    |target_facts| {
        for of in target_facts.iter_mut() {
            of.durability = Some(Durability::default());
        }
        target_facts[1].durability = Some(Durability::of_codes([Code::BarriersOff]));
    },
    |target_facts| {
        let names = Cause::Differs("kernel".into());
        target_facts[1].differs.insert(0, names.clone());
        target_facts[0].differs.insert(1, names);
    },
    |target_facts| {
        target_facts[2].differs.insert(0, Cause::AnotherDevice);
        target_facts[0].differs.insert(2, Cause::AnotherDevice);
    },
    |target_facts| {
        target_facts[0].warnings = warning::listed("drift (2 of 3 runs), noisy_neighbour, steal");
        target_facts[1].warnings = vec![
            Warning::Changed("kernel".into()),
            Warning::CarryOver,
            Warning::Throttled(Step {
                block: 2,
                times: 2.0,
            }),
        ];
    },
];

const CHANGES: [fn(&mut State); 5] = [
    |_| {},
    |state| state.experiment.too_short = true,
    |state| state.experiment.status = "running".into(),
    |state| {
        state.experiment.status = "cancelled".into();
        state.experiment.ended_by = Some(Reason::Cancelled);
        state.runs.truncate(4);
    },
    |state| state.experiment.control = Some(2),
];

#[test]
fn each_text_is_replaced_by_its_code_and_all_decisions_come_out_the_same() {
    let mut kinds = std::collections::BTreeSet::new();
    for goal in [Goal::Best, Goal::Baseline] {
        for measure in MEASURES {
            for target_facts in FACT_CHANGES {
                for change in CHANGES {
                    for metric in ["tps", "load_ms", "latency_p99_ms", "stall_seconds"] {
                        let world = World {
                            goal,
                            measure,
                            target_facts,
                            change,
                            metric,
                        };
                        let (told, words) = decide(&world, true);
                        let (found, codes) = wording::without(|| decide(&world, false));
                        assert_eq!(found, told);
                        let is_untested = |row: &recommend::Advice| row.part == "not tested";
                        let topics = |row| is_untested(row) == row.topic.is_some();
                        assert!(words.iter().all(topics), "{words:?}");
                        let is_code = |row: &recommend::Advice| {
                            row.is_pasted
                                || [row.part, "busy_machine; choice"].contains(&row.says.as_str())
                        };
                        assert!(codes.iter().all(is_code), "{codes:?}");
                        assert!(!words.iter().all(is_code), "{words:?}");
                        for row in &told.rows {
                            kinds.insert((row.verdict.clone(), row.reason));
                        }
                    }
                }
            }
        }
    }
    // The worlds are not all alike.
    for verdict in [
        "more",
        "less",
        "best",
        "out",
        "inconclusive",
        "not declared",
    ] {
        assert!(kinds.iter().any(|(one, _)| one == verdict), "{kinds:?}");
    }
    for reason in [
        "set_aside",
        "too_short",
        "differs",
        "device confounded",
        "max_blocks",
    ] {
        assert!(
            kinds.iter().any(|(_, one)| *one == Some(reason)),
            "{kinds:?}"
        );
    }
}
