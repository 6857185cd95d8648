//! Runs in a database of a user's own.

use super::*;
use crate::{
    refusal::{Refusal, check},
    spec::{OwnDatabase, ScriptArguments, Stage},
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
        own_data_bytes: Some(BYTES),
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
