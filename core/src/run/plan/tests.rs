use super::*;
use crate::{
    spec::{Facts, RunArguments},
    workload,
};
use proptest::prelude::*;
use serde_json::json;

fn spec(workload: &str, target: &str, options: serde_json::Value) -> Spec {
    let facts = Facts {
        processors: 2,
        memory_bytes: 4 << 30,
        free_worker_slots: 40,
        max_worker_processes: 64,
        max_parallel_workers: 8,
        server_version_num: 150_020,
        max_clients: 64,
        data_free_bytes: 100 << 30,
        targets: vec!["there".into()],
        ..Facts::default()
    };
    let mut arguments = RunArguments {
        target: Some(target.into()),
        workload: Some(workload.into()),
        options: Some(options),
        ..RunArguments::default()
    };
    if workload == "script" {
        arguments.script.scripts = Some("SELECT 1;".into());
    }
    workload::resolve(&arguments, &facts).expect(workload)
}

fn actions(steps: &[Step]) -> Vec<&'static str> {
    steps.iter().map(|step| step.act.action()).collect()
}

fn target_state(data: Source) -> Place {
    Place::TargetState(TargetState {
        data,
        ..TargetState::default()
    })
}

#[test]
fn a_copy_of_a_users_server_is_never_loaded() {
    let own = |workload| {
        let mut spec = spec(workload, "there", json!({}));
        spec.own_database = Some(crate::spec::OwnDatabase {
            data: "shop".into(),
            database: "orders".into(),
            bytes: 1 << 30,
        });
        assert_eq!(source(&spec, false, false), Source::Copied);
        actions(&steps(&spec, target_state(Source::Copied))).join(", ")
    };
    let before = "make directory, copy the data, sync, write settings, ask for shared memory, start the server, create extension, take the work database";
    assert_eq!(
        own("script"),
        format!(
            "{before}, checkpoint, launch, warm up, measure, verify, store, collect, stop the server, remove the server"
        )
    );
    assert!(own("tpcb").starts_with(&format!("{before}, load, vacuum, checkpoint")));
    // Each of several servers has a copy, its settings and the extension.
    for act in [Act::CopyData, Act::WriteSettings, Act::CreateExtension] {
        assert!(act.is_of_each_server(), "{act:?}");
    }
}

#[test]
fn servers_that_are_measured_together_begin_together() {
    for workload in ["tpcb", "commit"] {
        let mut together = spec(workload, "there", json!({"instances": 2}));
        let planned = actions(&steps(&together, target_state(Source::Loaded))).join(", ");
        assert!(planned.contains("launch, await the other instances, warm up, measure"));
        together.stage = Stage::LoadOnly;
        let loading = actions(&steps(&together, Place::Here));
        assert!(!loading.contains(&"await the other instances"));
    }
}

#[test]
fn each_workload_has_its_own_steps() {
    let planned =
        |workload| actions(&steps(&spec(workload, "default", json!({})), Place::Here)).join(", ");
    let transactions = "make the work database, load, vacuum, checkpoint, launch, warm up, measure, verify, store, drop the work database";
    for workload in [
        "tpcb",
        "tpcb-simple-update",
        "select-only",
        "commit",
        "tpcc-like",
    ] {
        assert_eq!(planned(workload), transactions, "{workload}");
    }
    assert_eq!(
        planned("fsync"),
        "make the file, checkpoint, launch, measure, store, remove the file"
    );
    assert_eq!(
        planned("scan"),
        "make the work database, load, vacuum, checkpoint, verify, launch, measure, store, drop the work database"
    );
}

#[test]
fn every_step_of_the_server_says_how() {
    for workload in workload::ALL {
        for step in workload.steps() {
            assert!(step.act.is_told_by_server() && !step.how.is_empty());
        }
        for step in steps(
            &spec(workload.as_str(), "there", json!({})),
            target_state(Source::Copied),
        ) {
            assert_eq!(
                step.how.is_empty(),
                !step.act.is_told_by_server(),
                "{:?}",
                step.act
            );
        }
    }
}

#[test]
fn what_is_not_asked_for_is_not_planned() {
    let mut spec = spec("tpcb", "default", json!({"maintenance": true}));
    spec.warmup_ms = 0;
    spec.keep = true;
    let planned = actions(&steps(&spec, Place::Here));
    assert!(planned.contains(&"maintain") && !planned.contains(&"warm up"));
    assert_eq!(planned.last(), Some(&"open the work database"));
    spec.stage = Stage::LoadOnly;
    let planned = actions(&steps(&spec, Place::Here));
    assert_eq!(
        planned[1..],
        [
            "load",
            "vacuum",
            "checkpoint",
            "leave the data",
            "open the work database"
        ]
    );
}

#[test]
fn data_are_loaded_there_or_copied() {
    let planned = |options, data| {
        actions(&steps(&spec("tpcb", "there", options), target_state(data))).join(", ")
    };
    let start = "write settings, ask for shared memory, start the server, create extension";
    assert_eq!(
        planned(json!({}), Source::LoadedOnce),
        format!(
            "load the data once, make directory, copy the data, sync, {start}, take the work database, checkpoint, launch, warm up, \
             measure, verify, store, collect, stop the server, remove the server"
        )
    );
    assert!(planned(json!({"data": "loaded"}), Source::Loaded).starts_with(&format!(
        "make directory, initdb, sync, {start}, make the work database, load, vacuum, checkpoint"
    )));
    assert!(
        planned(json!({"cache": "cold"}), Source::Copied)
            .starts_with("make directory, copy the data, sync, forget the data")
    );
}

#[test]
fn a_crash_comes_after_the_window_and_before_the_result_is_collected() {
    let spec = spec("tpcb", "there", json!({"crash": true}));
    let end = |target_state| {
        let planned = actions(&steps(&spec, Place::TargetState(target_state)));
        let crash = planned
            .iter()
            .position(|action| *action == "crash the server");
        planned[crash.expect("a crash") - 2..].join(", ")
    };
    assert_eq!(
        end(TargetState::default()),
        "store, open the work database, crash the server, forget the data, start the server, verify, collect, stop the server, \
         remove the server"
    );
    assert_eq!(
        end(TargetState {
            is_made: true,
            drops_caches: true,
            ..TargetState::default()
        }),
        "store, open the work database, crash the server, remount, drop caches, start the server, verify, collect, stop the server, \
         remove the server, release"
    );
}

#[test]
fn data_come_from_where_they_are() {
    let of = |options| {
        let spec = spec("tpcb", "there", options);
        [(true, false), (false, true), (false, false)]
            .map(|(is_there, has_room)| source(&spec, is_there, has_room))
    };
    use Source::{Copied, Loaded, LoadedOnce};
    assert_eq!(of(json!({})), [Copied, LoadedOnce, Loaded]);
    assert_eq!(of(json!({"data": "loaded"})), [Loaded; 3]);
    let without_tables = spec("fsync", "there", json!({}));
    assert_eq!(source(&without_tables, true, true), Loaded);
}

/// A course with that plan, of which nothing is begun.
fn cursor(plan: &[Step]) -> PlanCursor {
    let mut cursor = PlanCursor::default();
    cursor.set(plan.to_vec());
    cursor
}

/// Begins the steps of ours until the server on the target has its turn, or to the end.
fn begin_ours(cursor: &mut PlanCursor) {
    while cursor.next().is_some_and(|act| !act.is_told_by_server()) {
        cursor.begin(1.0);
    }
}

#[test]
fn what_is_begun_is_the_plan_in_its_order() {
    let plan = steps(&spec("scan", "default", json!({})), Place::Here);
    let mut cursor = cursor(&plan);
    let begun: Vec<Act> = std::iter::from_fn(|| cursor.begin(1.0)).collect();
    let planned: Vec<Act> = plan.iter().map(|step| step.act).collect();
    assert_eq!(begun, planned);
    let told: Vec<&str> = cursor.begun().iter().map(|b| &b.action[..]).collect();
    assert_eq!(told, actions(&plan));
}

#[test]
fn of_a_run_that_has_failed_removal_is_told_too() {
    let mut cursor = cursor(&steps(&spec("tpcb", "default", json!({})), Place::Here));
    assert_eq!(cursor.begin(0.0), Some(Act::MakeDatabase));
    let made = Created {
        database: true,
        filesystem: true,
        ..Created::default()
    };
    let removal = made.removal();
    assert_eq!(removal, [Act::Job(HelperTask::Release), Act::DropDatabase]);
    for act in removal {
        cursor.tell_step(act, 0.0);
    }
    // The helper reports the steps of its errand itself.
    let told: Vec<&str> = cursor.begun().iter().map(|b| &b.action[..]).collect();
    assert_eq!(told, ["make the work database", "drop the work database"]);
}

#[test]
fn what_the_server_on_the_target_tells_is_compared() {
    let plan = steps(
        &spec("fsync", "there", json!({})),
        target_state(Source::Loaded),
    );
    let begun = |action: &str| Begun {
        who: "server".into(),
        action: action.into(),
        started_ms: 0.0,
    };
    let there = ["make the file", "checkpoint", "launch", "measure", "store"];
    let told = |actions: &[&str]| {
        let mut cursor = cursor(&plan);
        begin_ours(&mut cursor);
        let is_as_planned = cursor.take_over(actions.iter().map(|action| begun(action)).collect());
        // Whatever it tells, the turn is ours then.
        assert_eq!(cursor.next(), Some(Act::Collect));
        is_as_planned
    };
    assert!(told(&there));
    assert!(!told(&there[..4]) && !told(&there[1..]) && !told(&[&there[..], &["x"]].concat()));
}

#[test]
fn what_a_crash_left_no_chance_is_skipped() {
    let plan = steps(
        &spec("tpcb", "there", json!({"crash": true})),
        target_state(Source::LoadedOnce),
    );
    let mut cursor = cursor(&plan);
    assert_eq!(cursor.begin(0.0), Some(Act::LoadOnce));
    cursor.skip_to(Act::Collect);
    assert_eq!(cursor.begin(0.0), Some(Act::Collect));
    assert_eq!(cursor.begun().len(), 2);
}

#[test]
fn a_server_that_loads_comes_into_being_as_one_on_the_target_does() {
    let target_state = TargetState {
        data: Source::Loaded,
        has_other_programs: true,
        wants_statements: true,
        ..TargetState::default()
    };
    let plan = steps(
        &spec("tpcb", "there", json!({})),
        Place::TargetState(target_state),
    );
    let of_target: Vec<Act> = plan
        .iter()
        .map(|step| step.act)
        // All files are synced together when the data are loaded.
        .filter(|act| *act != Act::Sync)
        .take_while(|act| !act.is_told_by_server())
        .collect();
    assert_eq!(loading(target_state), of_target);
}

#[test]
fn steps_are_told_as_phases() {
    let plan = steps(
        &spec("tpcb", "there", json!({"cache": "cold", "crash": true})),
        Place::TargetState(TargetState {
            is_made: true,
            drops_caches: true,
            data: Source::LoadedOnce,
            ..TargetState::default()
        }),
    );
    let mut phases = Vec::new();
    for step in plan {
        if let Some(phase) = phase_of(step.act, phases.last().copied())
            && phases.last() != Some(&phase)
        {
            phases.push(phase);
        }
    }
    assert_eq!(
        phases,
        [
            "load_once",
            "filesystem",
            "copy",
            "server",
            "stop",
            "remount",
            "recovery",
            "verify"
        ]
    );
    // Where nothing is copied, what is synced is no phase.
    assert_eq!(phase_of(Act::Sync, Some("filesystem")), None);
    assert_eq!(
        phase_of(Act::Job(HelperTask::DropCaches), Some("copy")),
        None
    );
}

/// Each thing that a step makes, and the step that removes it.
const REMOVED_BY: [(Act, Act); 6] = [
    (Act::MakeDatabase, Act::DropDatabase),
    (Act::MakeFile, Act::DropFile),
    (Act::Job(HelperTask::Prepare), Act::Job(HelperTask::Release)),
    (Act::MakeDirectory, Act::RemoveServer),
    (Act::StartServer, Act::StopServer),
    (Act::CrashServer, Act::StartAgain),
];

/// A run of any workload with whatever its plan depends on, and what may be known of its target.
fn anything() -> impl Strategy<Value = (Spec, TargetState)> {
    let run = (0..workload::ALL.len(), any::<[bool; 6]>(), 0u32..3);
    (run, any::<[bool; 7]>()).prop_map(|((number, flags, wal_segments), target)| {
        let workload = workload::ALL[number];
        let [crash, maintenance, cold, loaded, warmup, keep] = flags;
        let mut spec = spec(workload.as_str(), "there", json!({}));
        spec.options.crash = crash && workload.runs_transactions();
        spec.options.maintenance =
            maintenance && !spec.options.crash && workload.takes_option("maintenance");
        spec.options.cache = if cold { Cache::Cold } else { Cache::Warm };
        spec.options.data = if loaded { Data::Loaded } else { Data::Copied };
        spec.options.wal_segments = wal_segments;
        spec.options.instances = 1 + wal_segments % 2;
        spec.warmup_ms = u64::from(warmup && workload.takes("warmup")) * 1000;
        spec.keep = keep && workload.takes("keep");
        let [
            is_made,
            is_left,
            drops_caches,
            is_there,
            has_room,
            has_other_programs,
            wants_statements,
        ] = target;
        let target_state = TargetState {
            is_made,
            is_left: is_made && is_left,
            drops_caches,
            data: source(&spec, is_there, has_room),
            has_other_programs,
            wants_statements,
        };
        (spec, target_state)
    })
}

/// Goes through a plan as a run does. `is_here`: in this server, which begins each step; another one tells its steps afterwards.
fn passes_its_course(plan: &[Step], is_here: bool) -> Result<(), TestCaseError> {
    let mut cursor = cursor(plan);
    while let Some(next) = cursor.next() {
        if is_here || !next.is_told_by_server() {
            cursor.begin(0.0);
            continue;
        }
        let rest = plan[cursor.at..].iter();
        let there = rest.take_while(|step| step.act.is_told_by_server());
        let begun = there.map(|step| Begun {
            who: Actor::Server.as_str().into(),
            action: step.act.action().into(),
            started_ms: 0.0,
        });
        prop_assert!(cursor.take_over(begun.collect()), "{next:?}");
    }
    let told: Vec<&str> = cursor.begun().iter().map(|b| &b.action[..]).collect();
    let not_by_helper = plan.iter().filter(|step| step.act.actor() != Actor::Helper);
    let planned: Vec<&str> = not_by_helper.map(|step| step.act.action()).collect();
    prop_assert_eq!(told, planned);
    Ok(())
}

/// Whatever is removed was made before, and the last step removes what was made, or keeps it.
fn ends_in_order(plan: &[Step], place: Place) -> Result<(), TestCaseError> {
    let at = |act| plan.iter().position(|step| step.act == act);
    for (make, remove) in REMOVED_BY {
        if let Some(removed) = at(remove) {
            let made = at(make);
            prop_assert!(made.is_some_and(|made| made < removed), "{remove:?}");
        }
    }
    let of_server: &[Act] = &[Act::DropDatabase, Act::DropFile, Act::OpenDatabase];
    let (of_helper, of_target): (&[Act], &[Act]) =
        (&[Act::Job(HelperTask::Release)], &[Act::RemoveServer]);
    let mut acts = plan.iter().rev().map(|step| step.act);
    let last = acts.next();
    let (last, allowed) = match place {
        Place::Here => (last, of_server),
        Place::Connection => {
            prop_assert_eq!(last, Some(Act::Collect));
            (acts.next(), of_server)
        }
        Place::TargetState(target_state) if target_state.is_made => (last, of_helper),
        Place::TargetState(_) => (last, of_target),
    };
    prop_assert!(last.is_some_and(|last| allowed.contains(&last)), "{last:?}");
    Ok(())
}

proptest! {
    #[test]
    fn any_plan_can_be_carried_out_and_leaves_nothing_behind(
        (spec, target_state) in anything(),
        loads_only in any::<bool>(),
    ) {
        let plan = steps(&Spec { keep: false, ..spec.clone() }, Place::TargetState(target_state));
        passes_its_course(&plan, false)?;
        ends_in_order(&plan, Place::TargetState(target_state))?;
        let mut spec = spec;
        spec.options.crash = false;
        let plan = steps(&spec, Place::Connection);
        passes_its_course(&plan, false)?;
        ends_in_order(&plan, Place::Connection)?;
        if loads_only && spec.has_tables() {
            spec.stage = Stage::LoadOnly;
        }
        let plan = steps(&spec, Place::Here);
        passes_its_course(&plan, true)?;
        ends_in_order(&plan, Place::Here)?;
    }
}

#[test]
fn power_is_cut_before_the_result_is_collected_and_the_database_stays_until_then() {
    let spec = spec("power-cut", "there", json!({"cuts": 5}));
    let planned = actions(&steps(&spec, target_state(Source::Loaded)));
    let end =
        "store, open the work database, cut the power, collect, stop the server, remove the server";
    assert!(planned.join(", ").ends_with(end), "{planned:?}");
}
