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
fn chosen(goal: &str, answers: &[Row], filesystems: &[&str]) -> (String, Option<usize>) {
    let choice = advised(goal, answers, filesystems, ("tps", None));
    (choice.advice[0].says.clone(), choice.chosen)
}

/// An experiment of these targets by this metric, with the control of this number.
pub fn state(goal: &str, targets: &[&str], (metric, control): (&str, Option<usize>)) -> State {
    let targets: Vec<_> = (targets.iter().enumerate())
        .map(|(number, name)| json!({"target_number": number, "target": name, "target_name": name}))
        .collect();
    let state = json!({
        "experiment": {
            "experiment_id": 1, "experiment": "e", "status": "done", "goal": goal, "baseline_number": (goal == "baseline").then_some(0),
            "control_number": control, "metric": metric, "margin": 0.05, "max_blocks": 3, "looks": [], "run_order": [], "run_seconds": 10, "forced": false,
        },
        "targets": targets, "runs": [],
    });
    serde_json::from_value(state).unwrap()
}

/// The choice as advice.
fn advised(
    goal: &str,
    answers: &[Row],
    filesystems: &[&str],
    (metric, control): (&str, Option<usize>),
) -> Choice {
    let state = state(goal, filesystems, (metric, control));
    let facts: Vec<Facts> = (filesystems.iter().enumerate())
        .map(|(number, name)| {
            let facts = json!({
                "number": number, "kind": "image", "filesystem": name, "data_bytes": 1.0, "memory_bytes": 2.0, "virtualization": "kvm",
            });
            serde_json::from_value(facts).unwrap()
        })
        .collect();
    let metric = crate::experiment::metric::find(metric).unwrap();
    choice(&state, answers, &facts, metric)
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
        "xfs: most tps of these (measured with data in memory, on images, in a virtual machine (kvm))"
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
fn of_unsafe(goal: &str, answers: &[Row]) -> (String, Option<usize>) {
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
    let facts = [json!([]), json!([{"code": "barriers_off"}])]
        .into_iter()
        .enumerate();
    let facts: Vec<Facts> = facts
        .map(|(number, codes)| {
            serde_json::from_value(json!({"number": number, "durability_codes": codes})).unwrap()
        })
        .collect();
    let metric = crate::experiment::metric::find("tps").unwrap();
    let choice = choice(&state, answers, &facts, metric);
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
fn a_choice_says_that_nothing_was_durable_and_that_others_were_there() {
    let facts = json!({"number": 0, "durability_codes": [{"code": "in_memory", "what": "tmpfs"}]});
    let facts: Vec<Facts> = vec![serde_json::from_value(facts).unwrap()];
    let mut answers = row(0, "ext4", "best");
    answers.warnings = crate::experiment::answer::warning::listed("in_memory, noisy_neighbour");
    let mut state = state("best", &["ext4"], ("tps", None));
    assert_eq!(
        regime::in_short(&state, &[&answers], &facts),
        " (measured with nothing durable: tmpfs is in memory, beside others on the machine)"
    );
    // A cycle that was given, and is too short for a lasting answer.
    let e = &mut state.experiment;
    (e.cycle_is_given, e.cycle_seconds) = (true, Some(60.0));
    assert!(!regime::in_short(&state, &[&answers], &facts).contains("provisional"));
    state.experiment.cycle_seconds = Some(30.0);
    assert_eq!(
        regime::in_short(&state, &[&answers], &facts),
        " (provisional, measured with a checkpoint every 30 s, with nothing durable: tmpfs is in memory, beside others on the machine)"
    );
}

#[test]
fn the_bound_is_on_the_worse_side() {
    let mut open = row(1, "xfs", "open");
    (open.ratio, open.low, open.high) = (Some(1.04), Some(0.99), Some(1.09));
    open.against = Some(0);
    let answers = [row(0, "ext4", "leading"), open];
    let names = ["ext4", "xfs"];
    let bound = |metric| {
        let choice = advised("best", &answers, &names, (metric, None));
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
fn what_leads_has_a_bound_too() {
    let open = |number, target, low, high| Row {
        against: Some(0),
        low: Some(low),
        high: Some(high),
        ..row(number, target, "open")
    };
    let mut answers = [
        row(0, "xfs", "leading"),
        open(1, "ext4", 0.353, 2.333),
        open(2, "btrfs", 0.155, 1.49),
        open(3, "ext2", 0.5, 0.9),
    ];
    let last = |answers: &[Row], metric| {
        let choice = advised(
            "best",
            answers,
            &["xfs", "ext4", "btrfs", "ext2"],
            (metric, None),
        );
        choice.advice.last().unwrap().says.clone()
    };
    assert_eq!(
        last(&answers, "tps"),
        "xfs, which leads, is at most 57.1 % worse than ext4"
    );
    assert_eq!(
        last(&answers, "latency_p99_ms"),
        "xfs, which leads, is at most a factor of 6.5 worse than btrfs"
    );
    // Given up while another one led.
    answers[1].against = Some(3);
    assert!(last(&answers, "tps").ends_with("worse than btrfs"));
    let choice = advised(
        "best",
        &answers,
        &["xfs", "ext4", "btrfs", "ext2"],
        ("tps", None),
    );
    assert_eq!(
        choice.advice[1].says,
        "ext4 is at most 64.7 % worse than the one that led when it was given up"
    );
    // Nothing that is open can be ahead of it.
    let behind = [row(0, "xfs", "leading"), open(3, "ext2", 0.5, 0.9)];
    assert_eq!(
        last(&behind, "tps"),
        "ext2 is at most 50 % worse than the one that leads"
    );
}

#[test]
fn what_is_in_doubt_bounds_no_cost() {
    let advice = |reason: &str| {
        let mut open = row(1, "xfs", "inconclusive");
        open.reason = Some(reason.into());
        advised("baseline", &[open], &["ext4", "xfs"], ("tps", None)).advice
    };
    let says = |reason: &str| advice(reason)[1].says.clone();
    let bound = "staying with ext4 instead of xfs costs at most 30 %";
    assert_eq!(
        (says("max_blocks"), says("too_noisy, 2 blocks")),
        (bound.into(), bound.into())
    );
    for doubtful in [
        "too_short",
        "differs: kernel",
        "device confounded",
        "noise_floor",
        "set_aside",
    ] {
        assert_eq!(advice(doubtful).len(), 1, "{doubtful}");
    }
}

#[test]
fn the_control_is_no_choice() {
    let names = ["ext4", "xfs", "ext4 (control)"];
    let of = |goal: &str, answers: &[Row]| advised(goal, answers, &names, ("tps", Some(2)));
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
    let answers = [
        row(0, "ext4", "equivalent to the best"),
        row(1, "xfs", "out"),
        control("best"),
    ];
    let best = of("best", &answers);
    assert_eq!(best.chosen, Some(0));
    assert!(
        best.advice[0].says.starts_with("ext4: most tps of these"),
        "{:?}",
        best.advice
    );
}

#[test]
fn one_that_was_set_aside_keeps_nobody_from_a_choice() {
    let names = ["ext4", "xfs", "btrfs"];
    let mut excluded = row(2, "btrfs", "inconclusive");
    excluded.reason = Some("set_aside".into());
    let (says, stays) = chosen(
        "baseline",
        &[row(1, "xfs", "less"), excluded.clone()],
        &names,
    );
    assert!(says.starts_with("stay with ext4: nothing"), "{says}");
    assert_eq!(stays, Some(0));
    let (says, none) = chosen("baseline", std::slice::from_ref(&excluded), &names);
    assert_eq!(
        says,
        "no choice: all that was to be compared with ext4 was set aside, since its runs failed"
    );
    assert_eq!(none, None);
    let answers = [
        row(0, "ext4", "best"),
        row(1, "xfs", "out"),
        excluded.clone(),
    ];
    assert_eq!(chosen("best", &answers, &names).1, Some(0));
    let (says, none) = chosen("best", &[excluded], &names);
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
