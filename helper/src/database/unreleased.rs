//! Releases targets that were prepared for a run which is over, and were not released: the job was lost with the server or with the coordinator. The
//! helper then inserts a job like any other. Targets that a user has prepared stay.

use super::job::{complain, is_lost};
use crate::client::{Client, Failure};
use crate::output::log;
use serde::Deserialize;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The period of the looks. Two looks decide: a run that is over at the first one may be about to release what it has used.
const PERIOD: Duration = Duration::from_secs(5);

/// Those whose run is over.
const OVER: &str = include_str!("queries/over.sql");

/// A target, and the run that it was prepared for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PreparedTarget {
    pub target: String,
    run_id: i64,
}

#[derive(Default)]
pub struct Unreleased {
    /// The last description by root's process; None before the first one.
    made: Option<Vec<PreparedTarget>>,
    /// True if that description may be out of date.
    has_changed: bool,
    /// The targets whose run was over at the last look.
    over: Vec<PreparedTarget>,
    looked: Option<Instant>,
}

impl Unreleased {
    /// Takes over what root has described.
    pub fn know(&mut self, description: Option<&Value>) {
        let made = description.and_then(|described| described.get("made_for_runs"));
        if let Some(made) = made.and_then(|made| Vec::deserialize(made).ok()) {
            self.made = Some(made);
            self.has_changed = false;
        }
    }

    /// Root has done something since it described what there is.
    pub fn no_longer_know(&mut self) {
        self.has_changed = true;
    }

    /// True if the next look decides about some of them.
    pub fn is_undecided(&self) -> bool {
        !self.over.is_empty()
    }

    /// For a database that is gone: true if root must describe what is prepared, so that it can be released. False if nothing is
    /// known to be prepared: a description opens every device, and a run of another database may be using one.
    pub fn is_to_be_described(&mut self) -> bool {
        self.may_be_some() && self.is_due()
    }

    /// True if there may be some.
    pub fn may_be_some(&self) -> bool {
        self.has_changed || self.made.as_ref().is_none_or(|made| !made.is_empty())
    }

    /// True if it is time for the next look, which then counts as taken.
    fn is_due(&mut self) -> bool {
        let is_due = self.looked.is_none_or(|looked| looked.elapsed() > PERIOD);
        if is_due {
            self.looked = Some(Instant::now());
        }
        is_due
    }

    /// Looks, if it is time to, and inserts jobs that release targets. True if there were any.
    pub fn ask(&mut self, client: &mut Client) -> Result<bool, Failure> {
        if self.made.as_ref().is_none_or(Vec::is_empty) || !self.is_due() {
            return Ok(false);
        }
        let now = match self.find(client) {
            Ok(now) => now,
            Err(e) if is_lost(client, &e) => return Err(e.into()),
            Err(e) => {
                complain("whether a run is over could not be found out", &e);
                Vec::new()
            }
        };
        let before = std::mem::take(&mut self.over);
        let (forgotten, over): (Vec<_>, Vec<_>) =
            now.into_iter().partition(|made| before.contains(made));
        self.over = over;
        for PreparedTarget { target, run_id } in &forgotten {
            let inserted = client.execute(
                "INSERT INTO fsbench.helper_job (run_id, target, action, request) VALUES ($1, $2, 'release', '{}')",
                &[run_id, target],
            );
            match inserted {
                Ok(_) => log!(None;
                    "releasing target {target}: run {run_id}, for which it was prepared, is over"
                ),
                Err(e) if is_lost(client, &e) => return Err(e.into()),
                Err(e) => complain(
                    &format!("the release of target {target} could not be asked for"),
                    &e,
                ),
            }
        }
        Ok(!forgotten.is_empty())
    }

    fn find(&self, client: &mut Client) -> Result<Vec<PreparedTarget>, tokio_postgres::Error> {
        let made = || self.made.iter().flatten();
        let targets: Vec<&str> = made().map(|made| made.target.as_str()).collect();
        let runs: Vec<i64> = made().map(|made| made.run_id).collect();
        let rows = client.query(OVER, &[&targets, &runs])?;
        rows.iter()
            .map(|row| {
                Ok(PreparedTarget {
                    target: row.try_get(0)?,
                    run_id: row.try_get(1)?,
                })
            })
            .collect()
    }

    /// For a database or extension that is gone: the targets of all that is prepared, once it has been gone for a while.
    pub fn all(&mut self) -> Vec<String> {
        let made = self.made.clone().unwrap_or_default();
        let before = std::mem::replace(&mut self.over, made);
        let forgotten = self.over.iter().filter(|made| before.contains(made));
        forgotten.map(|made| made.target.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn devices_are_looked_at_only_while_something_may_be_left_of_a_run() {
        let of = |description: Option<Value>| {
            let mut forgotten = Unreleased::default();
            forgotten.know(description.as_ref());
            forgotten
        };
        let made = json!({"made_for_runs": [{"target": "t", "run_id": 1}]});
        assert!(of(None).is_to_be_described(), "nobody knows");
        let mut left = of(Some(made));
        assert!(left.is_to_be_described());
        assert!(!left.is_to_be_described(), "not again at once");
        let mut nothing = of(Some(json!({"made_for_runs": []})));
        assert!(!nothing.is_to_be_described());
        nothing.no_longer_know();
        assert!(nothing.is_to_be_described(), "a job was done since");
    }
}
