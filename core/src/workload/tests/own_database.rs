//! Runs in a database of a user's own.

use super::*;
use crate::{
    refusal::{Refusal, check},
    run::plan::{self, Place},
    spec::{Act, OwnData, OwnDatabase, ScriptArguments, Stage},
};

const BYTES: u64 = 5 << 30;

fn arguments(workload: &str) -> RunArguments {
    let is_script = workload == "script";
    RunArguments {
        target: Some("nfs".into()),
        workload: Some(workload.into()),
        data: Some("shop".into()),
        database: Some("orders".into()),
        script: ScriptArguments {
            scripts: is_script.then(|| "SELECT 1;".to_owned()),
            ..ScriptArguments::default()
        },
        ..RunArguments::default()
    }
}

fn with_data() -> Facts {
    Facts {
        own_data: Some(OwnData {
            bytes: BYTES,
            databases: Some(vec!["orders".into(), "sales".into()]),
        }),
        ..facts()
    }
}

fn refused(arguments: &RunArguments, facts: &Facts) -> Refusal {
    let refusal = resolve(arguments, facts).expect_err("refused");
    check::style(&refusal);
    refusal
}

#[test]
fn a_run_in_a_copy_needs_the_room_of_the_copy() {
    let spec = resolve(&arguments("script"), &with_data()).unwrap();
    let own = OwnDatabase {
        data: "shop".into(),
        database: "orders".into(),
        bytes: BYTES,
    };
    assert_eq!((spec.own_database.as_ref(), spec.scale), (Some(&own), 1));
    // Nothing is loaded in addition to the copy; tpcb makes its tables there.
    assert_eq!(spec.data_bytes(), BYTES);
    let tpcb = resolve(&arguments("tpcb"), &with_data()).unwrap();
    assert!(tpcb.data_bytes() > BYTES);
    assert!(
        spec.plan_text()
            .contains("database orders of the data shop")
    );
    assert!(!spec.plan_text().contains("scale") && tpcb.plan_text().contains("scale 1"));
}

#[test]
fn a_database_that_the_copy_lacks_is_refused_where_its_databases_are_known() {
    let wrong = RunArguments {
        database: Some("shop".into()),
        ..arguments("script")
    };
    let refusal = refused(&wrong, &with_data());
    assert_eq!(
        refusal.message,
        "database \"shop\" does not exist in the data \"shop\""
    );
    let detail = refusal.detail.as_deref();
    assert_eq!(detail, Some("A run can work in \"orders\", \"sales\"."));
    let of = |databases| Facts {
        own_data: Some(OwnData {
            bytes: BYTES,
            databases,
        }),
        ..facts()
    };
    refused(&wrong, &of(Some(vec![])));
    let many = (0..12).map(|n| format!("d{n}")).collect();
    let detail = refused(&wrong, &of(Some(many))).detail.unwrap();
    assert!(detail.ends_with("\"d9\" and 2 more."), "{detail}");
    // Data of an earlier version: the run finds it out.
    resolve(&wrong, &of(None)).unwrap();
}

fn scan(options: serde_json::Value) -> RunArguments {
    RunArguments {
        options: Some(options),
        ..arguments("scan")
    }
}

#[test]
fn a_scan_of_a_table_of_the_copy_loads_none() {
    let spec = resolve(&scan(json!({"table": "Sales.orders"})), &with_data()).unwrap();
    assert_eq!(spec.data_bytes(), BYTES);
    let options = spec.options.to_argument(spec.workload);
    assert_eq!(options["table"], "sales.orders");
    assert!(options.get("payload").is_none() && options.get("loaders").is_none());
    assert!(spec.plan_text().contains("table sales.orders"));
    // The server of the target is asked with what was chosen.
    let mut there = RunArguments {
        stage: Stage::OnOwn {
            database: "orders".into(),
            role: None,
        },
        scale: Some(1),
        data: None,
        database: None,
        target: None,
        ..scan(options)
    };
    let facts = facts();
    let spec = resolve(&there, &facts).unwrap();
    let acts: Vec<_> = plan::steps(&spec, Place::Here)
        .iter()
        .map(|step| step.act)
        .collect();
    assert!(acts.contains(&Act::Vacuum) && !acts.contains(&Act::Load));
    there.options = Some(json!({}));
    assert!(
        refused(&there, &facts)
            .message
            .contains("\"table\" is missing")
    );
}

#[test]
fn a_table_of_the_copy_and_one_that_is_loaded_contradict_each_other() {
    for (wrong, words) in [
        (scan(json!({})), "the option \"table\" is missing"),
        (
            scan(json!({"table": "orders", "payload": 100})),
            "option \"payload\"",
        ),
        (
            scan(json!({"table": "orders", "loaders": 2})),
            "option \"loaders\"",
        ),
        (
            scan(json!({"table": "orders", "unlogged": true})),
            "option \"unlogged\"",
        ),
        (
            RunArguments {
                scale: Some(3),
                ..scan(json!({"table": "orders"}))
            },
            "argument \"scale\"",
        ),
        (
            RunArguments {
                data: None,
                database: None,
                ..scan(json!({"table": "orders"}))
            },
            "needs the argument \"data\"",
        ),
    ] {
        let message = refused(&wrong, &with_data()).message;
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn only_what_makes_tables_loads_in_the_copy() {
    let finds_tables = |arguments: &RunArguments| {
        let mut spec = resolve(arguments, &with_data()).unwrap();
        spec.stage = Stage::OnOwn {
            database: "orders".into(),
            role: None,
        };
        spec.finds_tables()
    };
    assert!(finds_tables(&arguments("script")));
    assert!(!finds_tables(&arguments("tpcb")));
    let mut with_init = arguments("script");
    with_init.script.init_script = Some("SELECT 1;".into());
    assert!(!finds_tables(&with_init));
}

#[test]
fn data_without_database_target_or_copy_are_refused() {
    let given = arguments("script");
    let without = |change: fn(&mut RunArguments)| {
        let mut arguments = given.clone();
        change(&mut arguments);
        refused(&arguments, &with_data()).message
    };
    assert_eq!(
        without(|a| a.database = None),
        "the argument \"database\" is missing"
    );
    assert_eq!(
        without(|a| a.data = None),
        "the argument \"data\" is missing"
    );
    let needs_target = "the argument \"data\" needs a target with a server of its own";
    assert_eq!(without(|a| a.target = None), needs_target);
    let postgres = without(|a| a.database = Some("postgres".into()));
    assert_eq!(postgres, "a run cannot work in the database \"postgres\"");
    let contradiction = without(|a| a.options = Some(json!({"data": "loaded"})));
    assert!(contradiction.ends_with("contradict each other"));
    let by_connection = Facts {
        by_connection: true,
        ..with_data()
    };
    assert_eq!(refused(&given, &by_connection).message, needs_target);
    let unknown = refused(&given, &facts()).message;
    assert_eq!(unknown, "data \"shop\" do not exist");
}
