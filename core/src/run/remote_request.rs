//! A run that another server makes: how it is asked for, and its phases among those here.

use serde_json::Value;

use crate::spec::{Bound, Options, RunArguments, ScriptArguments, Spec, Stage};

/// How long the run there goes on without being asked how far it is, in milliseconds: when the link is lost, or this server.
const LEASE_MS: u64 = 60_000;

/// The server that carries a run out.
#[derive(Clone, Copy, Debug)]
pub enum Executor<'a> {
    /// One of our own, and which part of the run it does.
    Own(&'a Stage),
    /// Another one, and the label of the run there.
    Other(&'a str),
}

impl Executor<'_> {
    pub fn is_other(self) -> bool {
        matches!(self, Self::Other(_))
    }
}

/// The run that the server there is asked for. That server checks and completes it as any other: it chooses a quick look again, and what depends on
/// its machine. `size` is the size that was asked for here; `settings` are those of its clients' sessions.
pub fn arguments(
    spec: &Spec,
    executor: Executor<'_>,
    size: Option<String>,
    settings: Value,
    script: ScriptArguments,
) -> RunArguments {
    let workload = spec.workload;
    let takes = |parameter: &str| workload.takes(parameter);
    let is_chosen_remotely = |parameter: &str| spec.is_chosen_remotely(parameter);
    let is_quick = spec.is_quick();
    let own_cycle = is_chosen_remotely("duration");
    let own_warmup = is_quick || own_cycle && spec.chosen.iter().any(|name| name == "warmup");
    let loads_only = matches!(executor, Executor::Own(Stage::LoadOnly));
    // Data that are loaded already, and data that are only loaded, are no matter of a choice there.
    let has_scale = loads_only || !is_quick && !is_chosen_remotely("scale");
    let us = |ms: u64| i64::try_from(ms.saturating_mul(1000)).ok();
    let (duration_us, transactions) = match spec.bound {
        Bound::DurationMs(ms) => (us(ms).filter(|_| !is_quick && !own_cycle), None),
        // A scan has its own way to say how much.
        Bound::Transactions(n) => (
            None,
            i64::try_from(n).ok().filter(|_| takes("transactions")),
        ),
    };
    let options = Options {
        lease_ms: match spec.options.lease_ms {
            0 => LEASE_MS,
            given => given,
        },
        ..spec.options.for_target_server(workload)
    };
    let mut options = options.to_argument(workload);
    if let Some(members) = options.as_object_mut() {
        members.retain(|name, _| !is_chosen_remotely(name));
    }
    let (stage, label) = match executor {
        Executor::Own(stage) => (stage.clone(), None),
        Executor::Other(label) => (Stage::Whole, Some(label.to_owned())),
    };
    RunArguments {
        target: None,
        workload: Some(workload.as_str().to_owned()),
        scale: i32::try_from(spec.scale)
            .ok()
            .filter(|_| spec.has_tables() && has_scale),
        size: size.filter(|_| is_chosen_remotely("scale")),
        clients: i32::try_from(spec.clients)
            .ok()
            .filter(|_| takes("clients") && !is_chosen_remotely("clients")),
        duration_us,
        transactions,
        warmup_us: us(spec.warmup_ms).filter(|_| takes("warmup") && !own_warmup),
        rate: spec.rate,
        latency_limit_ms: spec.latency_limit_ms,
        seed: Some(spec.seed),
        settings: takes("settings").then_some(settings),
        options: Some(options),
        stage,
        label,
        // The work database is verified after a crash, and must not be dropped before it.
        keep: loads_only || spec.keeps_database_of_target(),
        // A server of our own has no neighbours.
        force: spec.force || !executor.is_other(),
        script,
        data: None,
        database: None,
    }
}

/// The phases here, with those in the document of the run there, which began this many milliseconds later. In the order in which they began.
pub fn phases(here: &[Value], document: &str, later_ms: f64) -> Vec<Value> {
    let began = |phase: &Value| phase["started_ms"].as_f64().unwrap_or(0.0);
    let there: Value = serde_json::from_str(document).unwrap_or_default();
    let there = there["run"]["phases"].as_array().into_iter().flatten();
    let there = there.map(|phase| {
        let mut phase = phase.clone();
        if phase.is_object() {
            phase["started_ms"] = (began(&phase) + later_ms).into();
        }
        phase
    });
    let mut phases: Vec<Value> = here.iter().cloned().chain(there).collect();
    // Phases that follow the run there come after it.
    phases.sort_by(|a, b| began(a).total_cmp(&began(b)));
    phases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{spec::RunArguments, workload::tests::resolved};
    use serde_json::json;

    fn arguments_of(spec: &Spec, executor: Executor<'_>) -> RunArguments {
        let size = Some("50% ram".to_owned());
        arguments(spec, executor, size, json!({}), ScriptArguments::default())
    }

    const OTHER: Executor<'static> = Executor::Other("mine");

    #[test]
    fn what_was_given_is_asked_for_and_a_quick_look_is_one_there() {
        let quick = resolved(RunArguments::default());
        let there = arguments_of(&quick, OTHER);
        assert_eq!(
            (
                there.scale,
                there.duration_us,
                there.transactions,
                there.warmup_us,
                there.size
            ),
            (None, None, None, None, None)
        );
        assert_eq!(there.clients, Some(quick.clients as i32));
        assert!(!there.keep && !there.force && there.stage == Stage::Whole);
        // Data that are loaded once have the scale that was chosen here.
        let loads = arguments_of(&quick, Executor::Own(&Stage::LoadOnly));
        assert_eq!(
            (loads.scale, loads.keep, loads.force, loads.label),
            (Some(quick.scale as i32), true, true, None)
        );
        let given = RunArguments {
            scale: Some(1),
            clients: Some(1),
            duration_us: Some(10_000_000),
            warmup_us: Some(2_000_000),
            rate: Some(1e7 + 0.1),
            seed: Some(i64::MIN),
            ..RunArguments::default()
        };
        let there = arguments_of(&resolved(given.clone()), OTHER);
        assert_eq!(
            (
                there.scale,
                there.clients,
                there.duration_us,
                there.warmup_us
            ),
            (
                given.scale,
                given.clients,
                given.duration_us,
                given.warmup_us
            )
        );
        assert_eq!((there.rate, there.seed), (given.rate, given.seed));
        let counted = RunArguments {
            transactions: Some(50),
            duration_us: None,
            ..given
        };
        let there = arguments_of(&resolved(counted), OTHER);
        assert_eq!((there.duration_us, there.transactions), (None, Some(50)));
        assert_eq!(there.label.as_deref(), Some("mine"));
    }

    #[test]
    fn a_server_that_is_asked_by_a_document_resolves_the_same_run() {
        for own in [
            json!({"scale": 3, "clients": 2, "duration_us": 1_500_000, "rate": 12.5, "latency_limit_ms": 3.25}),
            json!({"scale": 1, "clients": 1, "transactions": 7, "warmup_us": 0, "options": {"fillfactor": 90, "unlogged": true}}),
            json!({"workload": "commit", "clients": 2, "duration_us": 2_000_000, "settings": {"synchronous_commit": "off"}}),
            json!({"workload": "fsync", "options": {"writers": [1, 2]}}),
        ] {
            let spec = resolved(serde_json::from_value(own.clone()).unwrap());
            let settings = json!(spec.settings);
            let there = arguments(&spec, OTHER, None, settings, ScriptArguments::default());
            let document = serde_json::to_string(&there).unwrap();
            let read: RunArguments = serde_json::from_str(&document).unwrap();
            assert_eq!(read, there);
            let again = resolved(read);
            let mut expected = spec.clone();
            expected.label = Some("mine".into());
            expected.options.lease_ms = LEASE_MS;
            expected.chosen.clone_from(&again.chosen);
            expected.within_ms = again.within_ms;
            assert_eq!(again, expected, "{own}");
        }
    }

    #[test]
    fn phases_of_both_stand_in_the_order_in_which_they_began() {
        let phase = |name: &str, started_ms: f64| json!({"phase": name, "started_ms": started_ms});
        let here = [phase("provision", 0.0), phase("release", 900.0)];
        let document =
            json!({"run": {"phases": [phase("load", 0.0), phase("measure", 300.0), "forged"]}});
        let all = phases(&here, &document.to_string(), 100.0);
        let names: Vec<&str> = all.iter().filter_map(|p| p["phase"].as_str()).collect();
        assert_eq!(names, ["provision", "load", "measure", "release"]);
        assert_eq!(
            all.iter().rfind(|p| p["phase"] == "measure").unwrap()["started_ms"],
            400.0
        );
        for unreadable in ["", "{}", "[1]", "{\"run\": {\"phases\": 7}}"] {
            assert_eq!(phases(&here, unreadable, 100.0), here);
        }
    }
}
