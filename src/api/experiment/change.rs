//! Changes of an experiment that is there: pause, resume, cancel, extend, repeat, drop.

use pgfsbench_core::{
    experiment::{steps, variants},
    refusal::quoted,
    units::format_count,
    verdict::{Reason, looks::LOOKS},
};
use pgrx::{pg_extern, pg_sys::panic::ErrorReport};
use serde_json::json;

use super::{asking, named, tell_conductor};
use crate::{
    api::{guard, guard::Ready},
    errors::{Fault, sqlstate},
    pg::{
        report, session,
        text::{ReturnedText, Text},
        xact,
    },
    run::{experiment, marker},
    store::experiment as store,
};

#[pg_extern(sql = false)]
fn fsbench_change_experiment(
    experiment: Option<Text>,
    verb: Option<Text>,
    max_blocks: Option<i32>,
) -> Result<ReturnedText, ErrorReport> {
    let ready = guard::ready()?;
    xact::check_may_write(c"this function");
    let found = named(ready.owner, experiment)?;
    let what = format!("experiment {}", quoted(&found.experiment));
    let role = marker::role_that_asked(&found, ready.extension)?;
    guard::check_may_change(ready.owner, &what, role, &found.requested_by)?;
    let verb = verb.map(|verb| verb.0);
    let mut change = Change { ready, found };
    if verb.as_deref() != Some("confirm") {
        change = change.locked()?;
    }
    if verb.as_deref() != Some("drop") {
        change.check_is_of_here()?;
    }
    let name = match verb.as_deref() {
        Some("pause") => change.pause(),
        Some("resume") => change.resume(),
        Some("cancel") => change.cancel(),
        Some("extend") => change.extend(max_blocks),
        Some("confirm") => change.confirm(),
        Some("drop") => change.drop(),
        _ => Err(guard::unknown_verb()),
    }?;
    Ok(name.into())
}

struct Change {
    ready: Ready,
    found: store::ExperimentControl,
}

impl Change {
    /// Locks the experiment, and reads it again: another session may have changed it.
    fn locked(self) -> Result<Self, Fault> {
        let (is_seen, found) =
            self.as_owner(|id, _| Ok((store::lock(id)?, store::steered(id)?)))?;
        let found = found.ok_or_else(|| super::unknown(&self.found.experiment))?;
        if !is_seen {
            return Err(Fault::new(
                sqlstate::SERIALIZATION_FAILURE,
                format!("experiment {} cannot be changed", quoted(&found.experiment)),
            )
            .detail("It was made after this transaction had begun, which does not see it.")
            .hint("Begin the transaction again."));
        }
        Ok(Self { found, ..self })
    }

    fn is(&self, states: &[&str]) -> bool {
        states.contains(&self.found.status.as_str())
    }

    /// Refuses an experiment from a file: its author must not decide what runs here.
    fn check_is_of_here(&self) -> Result<(), Fault> {
        match self.as_owner(|id, _| store::imported_from(id))? {
            None => Ok(()),
            Some(host) => Err(Fault::new(
                sqlstate::NOT_IN_THIS_STATE,
                format!(
                    "experiment {} cannot be changed",
                    quoted(&self.found.experiment)
                ),
            )
            .detail(format!(
                "It was made on {host}, and imported from a file."
            ))
            .hint("Go on with it where it was made, and import it again; fsbench.drop_experiment() removes it here.")),
        }
    }

    fn refused(&self, what: &str, hint: &str) -> Fault {
        Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            format!(
                "experiment {} cannot be {what}",
                quoted(&self.found.experiment)
            ),
        )
        .detail(format!("Its status is {}.", self.found.status))
        .hint(hint)
    }

    fn as_owner<R>(&self, f: impl FnOnce(i64, &str) -> Result<R, Fault>) -> Result<R, Fault> {
        let by = session::role_name(session::role());
        session::with_rights_of(self.ready.owner, || f(self.found.experiment_id, &by))
    }

    fn pause(&self) -> Result<String, Fault> {
        if !self.is(&["queued", "running"]) {
            return Err(self.refused("paused", "Only what is queued or running can be paused."));
        }
        let is_paused = self.as_owner(|id, by| {
            let why = format!("role \"{by}\" has paused it");
            let is_paused = store::move_status(id, &["queued", "running"], "paused", Some(&why))?;
            if is_paused {
                store::log(id, "paused", None, None, Some(by))?;
            }
            Ok(is_paused)
        })?;
        if !is_paused {
            return Err(self.refused("paused", "It ended just now."));
        }
        tell_conductor();
        Ok("paused".into())
    }

    /// Whether its row says that it is on, but no conductor goes on with it: other databases had taken all places, or its row was changed by hand.
    fn is_forsaken(&self) -> bool {
        self.is(&["queued", "running"])
            && !self.ready.board.experiment_slots.has(session::database())
    }

    fn resume(&self) -> Result<String, Fault> {
        if !self.is(&["paused", "recorded"]) && !self.is_forsaken() {
            return Err(self.refused(
                "resumed",
                "Only what is paused or recorded can be resumed. More blocks are made by fsbench.extend_experiment().",
            ));
        }
        guard::janitor_is_there(self.ready.board)?;
        self.as_owner(|id, by| store::log(id, "resumed", None, None, Some(by)))?;
        asking::start(&self.ready, self.found.experiment_id)?;
        Ok("queued".into())
    }

    /// Ends it with its complete blocks. When that is committed the conductor cancels the run that is on, and takes the mark back.
    fn cancel(&self) -> Result<String, Fault> {
        if self.is(&["done", "cancelled"]) {
            return Err(self.refused("cancelled", "It is over already."));
        }
        self.as_owner(|id, by| {
            // Tried first in a subtransaction that is undone: whatever its rows hold, it can be cancelled.
            match xact::attempt(|| self.end_with_answer(id, by)).and_then(|tried| tried) {
                Ok(()) => self.end_with_answer(id, by),
                Err(fault) if sqlstate::is_of_stored_rows(&fault.sqlstate) => {
                    end_without_answer(id, by, &fault)
                }
                Err(fault) => Err(fault),
            }
        })?;
        tell_conductor();
        Ok("cancelled".into())
    }

    /// Ends it with what its complete blocks say.
    fn end_with_answer(&self, id: i64, by: &str) -> Result<(), Fault> {
        let state =
            store::state(id, None)?.ok_or_else(|| super::unknown(&self.found.experiment))?;
        let blocks = steps::next(&state, "", "").blocks;
        close_cancelled(id)?;
        let reason = Some(Reason::Cancelled);
        experiment::end(
            &state,
            blocks,
            "cancelled",
            reason,
            Some(&cancelled_by(by)),
            Some(by),
        )
    }

    fn extend(&self, max_blocks: Option<i32>) -> Result<String, Fault> {
        let wanted = max_blocks
            .and_then(|n| u32::try_from(n).ok())
            .filter(|n| LOOKS.contains(n));
        let Some(wanted) = wanted else {
            return Err(Fault::new(
                sqlstate::INVALID_PARAMETER,
                "an experiment cannot be extended to so many blocks",
            )
            .detail("There are looks after 3, 4, 6, 8, 12, 16 and 24 blocks.")
            .hint("Give 16 or 24, or 12 for an experiment that was planned or ended shorter."));
        };
        let is_too_short = self.as_owner(|id, by| {
            if self.is(&["done", "cancelled"]) {
                // Since it was over, its targets could be dropped; what is left of them stays from now on.
                store::hold_targets_of(id)?;
            }
            let state = store::state(id, None)?.ok_or_else(|| super::unknown(&self.found.experiment))?;
            let blocks = steps::next(&state, "", "").blocks;
            let is_more = wanted > state.experiment.max_blocks || state.experiment.ended_by.is_some();
            if !is_more || wanted <= blocks {
                return Err(self.refused(
                    "extended",
                    "Give more blocks than it was planned for, or than it has made before it was ended.",
                )
                .detail(format!("It was planned for {}, and has made {blocks}.", format_count(state.experiment.max_blocks.into(), "block"))));
            }
            let looks = state.experiment.looks().extended(blocks, wanted);
            store::update(
                id,
                &json!({"looks": looks.looks, "ended_by": null, "max_blocks": wanted.max(state.experiment.max_blocks),
                    "max_seconds": state.experiment.max_seconds_when_extended(), "status_reason": null,
                    "open_because": null, "next_blocks": null, "over_at_latest": null}),
            )?;
            store::log(id, "extended", None, Some(&format!("to {wanted} blocks")), Some(by))?;
            let is_on = !self.is(&["done", "cancelled"]);
            let has_looked = state.experiment.looks.iter().any(|look| look.blocks <= blocks);
            if is_on && has_looked && let Some(now) = store::state(id, None)? {
                experiment::answer_while_on(&now, blocks)?;
            }
            Ok(state.experiment.too_short)
        })?;
        if is_too_short {
            report::notice(
                "more blocks will not decide it: its windows have fewer than two checkpoint cycles (too_short)".into(),
                Some("Make another experiment, without duration or with shorter checkpoint cycles.".into()),
            );
        }
        if self.is(&["done", "cancelled"]) {
            asking::start(&self.ready, self.found.experiment_id)?;
            return Ok("queued".into());
        }
        tell_conductor();
        Ok(self.found.status.clone())
    }

    fn confirm(&self) -> Result<String, Fault> {
        if !self.is(&["done"]) {
            return Err(self.refused("confirmed", "Wait until it is done."));
        }
        let name = asking::again(&self.ready, &self.found)?;
        report::notice(
            format!(
                "experiment \"{name}\" is started, to confirm \"{}\"",
                self.found.experiment
            ),
            Some(
                "It counts as another session when it is made on another boot or another day."
                    .into(),
            ),
        );
        Ok(name)
    }

    fn drop(&self) -> Result<String, Fault> {
        if self.is(&["queued", "running"]) {
            return Err(self.refused("dropped", "Call fsbench.cancel_experiment() first."));
        }
        let stay = self.as_owner(|id, _| {
            let one = variants::name_of_target(&self.found.experiment, "x");
            let begin = one.strip_suffix('x').filter(|begin| !begin.is_empty());
            let stay = match begin {
                Some(begin) => store::targets_that_begin(id, begin)?,
                None => None,
            };
            store::delete(id)?;
            Ok(stay)
        })?;
        if let Some(names) = stay {
            report::notice(
                format!("targets that are named after it stay: {names}"),
                Some("The same experiment, asked for again, uses them. fsbench.drop_target() removes them; the results of their runs stay.".into()),
            );
        }
        tell_conductor();
        Ok(self.found.experiment.clone())
    }
}

fn cancelled_by(by: &str) -> String {
    format!("role \"{by}\" has cancelled it")
}

fn close_cancelled(id: i64) -> Result<(), Fault> {
    store::close_runs(id, "the experiment was cancelled")
}

/// Ends an experiment whose rows cannot be read, and says so in its log.
fn end_without_answer(id: i64, by: &str, fault: &Fault) -> Result<(), Fault> {
    close_cancelled(id)?;
    store::set_status(id, "cancelled", Some(&cancelled_by(by)))?;
    let why = format!("without an answer: {}", fault.message);
    store::log(id, "cancelled", None, Some(&why), Some(by))
}
