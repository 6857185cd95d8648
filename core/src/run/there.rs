//! A run that another server makes: how it is asked for, and its phases among those here.

use serde_json::Value;

use crate::spec::{Bound, Spec};

/// Duration, transactions and warm-up, as the arguments of the run there take them. None: that server chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub duration: Option<String>,
    pub transactions: Option<String>,
    pub warmup: Option<String>,
}

/// The window of a run on the server there. That server chooses the length of a quick look again, and knows the checkpoint cycle of a search.
pub fn window(spec: &Spec) -> Window {
    let quick = spec.is_quick();
    let own_cycle = spec.is_chosen_there("duration");
    let own_warmup = quick || own_cycle && spec.chosen.iter().any(|name| name == "warmup");
    let ms = |ms: u64, is_own: bool| Some(format!("{ms} ms")).filter(|_| !is_own);
    let (duration, transactions) = match spec.bound {
        Bound::DurationMs(duration) => (ms(duration, quick || own_cycle), None),
        // A scan has its own way to say how much.
        Bound::Transactions(n) => (
            None,
            Some(n.to_string()).filter(|_| spec.workload.takes("transactions")),
        ),
    };
    Window {
        duration,
        transactions,
        warmup: ms(spec.warmup_ms, own_warmup).filter(|_| spec.workload.takes("warmup")),
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
    use crate::{spec::Asked, workload::tests::resolved};
    use serde_json::json;

    #[test]
    fn what_was_given_is_asked_for_and_a_quick_look_is_one_there() {
        let quick = window(&resolved(Asked::default()));
        assert_eq!(quick, Window::default());
        let given = window(&resolved(Asked {
            scale: Some(1),
            clients: Some(1),
            duration_us: Some(10_000_000),
            warmup_us: Some(2_000_000),
            ..Asked::default()
        }));
        assert_eq!(
            (given.duration.as_deref(), given.warmup.as_deref()),
            (Some("10000 ms"), Some("2000 ms"))
        );
        let counted = window(&resolved(Asked {
            scale: Some(1),
            clients: Some(1),
            transactions: Some(50),
            ..Asked::default()
        }));
        assert_eq!(
            (counted.duration, counted.transactions.as_deref()),
            (None, Some("50"))
        );
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
