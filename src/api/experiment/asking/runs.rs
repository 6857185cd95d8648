//! The runs of an experiment: their specifications, and how long each takes.

use pgfsbench_core::{
    experiment::{
        arguments::{self, Candidate, Checked, ExperimentArguments},
        plan::{Length, budget::BudgetRequest},
    },
    spec::Spec,
};
use serde_json::Value;

use super::{
    PlanError,
    parameters::{self, fix, length, specified},
    targets,
};
use crate::{
    api::guard::Ready,
    errors::{Fault, sqlstate},
    pg::session,
    target,
};

/// The runs of all candidates, in their order.
pub struct Runs {
    pub specs: Vec<Spec>,
    pub parameters: Value,
    pub length: Length,
    pub kinds: Vec<Option<target::Kind>>,
}

impl Runs {
    /// With this checkpoint cycle.
    pub fn of(
        ready: &Ready,
        arguments: &ExperimentArguments,
        checked: &Checked,
        cycle: f64,
    ) -> Result<Self, PlanError> {
        let mut parameters = parameters::parameters(arguments, checked, cycle);
        let (mut specs, mut lacking) = (Vec::new(), Vec::new());
        for candidate in &checked.candidates {
            match specified(ready, &parameters, candidate) {
                Ok(spec) => specs.push(spec),
                Err(fault) if is_missing_here(&fault) => lacking.push(fault),
                Err(fault) => return Err(fault.into()),
            }
        }
        let mut lacking = lacking.into_iter();
        if let Some(first) = lacking.next() {
            let not_made = targets::not_made(ready, checked)?;
            let others = lacking.chain(not_made.into_iter().map(Fault::from));
            return Err(PlanError::Lacking(first, others.collect()));
        }
        if fix(&mut parameters, &specs) {
            let each = checked.candidates.iter();
            let each = each.map(|candidate| specified(ready, &parameters, candidate));
            specs = each.collect::<Result<_, _>>()?;
        }
        let kind_of = |candidate: &Candidate| {
            session::with_rights_of(ready.owner, || target::kind_of(&candidate.target))
        };
        let kinds = checked.candidates.iter().map(kind_of);
        Ok(Self {
            kinds: kinds.collect::<Result<Vec<_>, Fault>>()?,
            length: length(&specs, cycle),
            specs,
            parameters,
        })
    }

    /// The request that a plan for another time is fitted to. `own_cycle` is the cycle where none is chosen.
    pub fn wish(
        &self,
        arguments: &ExperimentArguments,
        checked: &Checked,
        own_cycle: f64,
        may_choose: bool,
    ) -> BudgetRequest {
        let has_checkpoints = |spec: &Spec| {
            spec.workload.runs_transactions() && spec.workload.depends_on_checkpoints()
        };
        let length = Length {
            cycle_seconds: own_cycle,
            ..self.length
        };
        // A server that is there already has the WAL that it has.
        let is_made =
            |kind: &Option<target::Kind>| kind.is_some_and(|k| k != target::Kind::Connection);
        let are_made = self.kinds.iter().all(is_made);
        let has_cycles = self.specs.iter().all(has_checkpoints);
        let has_whole = may_choose && has_cycles || !length.is_too_short();
        BudgetRequest {
            targets: checked.candidates.len() as u32,
            control: checked.control,
            length,
            may_choose,
            has_warmup: arguments.run.warmup_us.is_some(),
            burn_in: self.kinds.contains(&Some(target::Kind::Device)),
            has_share: arguments.rate_share.is_some(),
            has_cycles,
            pilot_cycle: are_made
                && has_whole
                && parameters::has_pilot_cycle(arguments, &self.specs),
            blocks: arguments.max_blocks.map(|_| checked.max_blocks),
            power_cuts: checked.power_cuts,
        }
    }
}

/// Refuses power cuts of targets that have no image, as the runs would.
pub fn check_power_cuts(ready: &Ready, checked: &Checked, parameters: &Value) -> Result<(), Fault> {
    let Some(cuts) = checked.power_cuts else {
        return Ok(());
    };
    let of_all = arguments::of_power_cuts(parameters, cuts);
    for candidate in &checked.candidates {
        let own = Candidate {
            own: arguments::own_of_power_cuts(&candidate.own),
            ..candidate.clone()
        };
        specified(ready, &of_all, &own)?;
    }
    Ok(())
}

/// Whether something is missing here, and no argument is wrong.
fn is_missing_here(fault: &Fault) -> bool {
    [
        sqlstate::NOT_IN_THIS_STATE,
        sqlstate::NO_RESOURCES,
        sqlstate::DISK_FULL,
    ]
    .contains(&fault.sqlstate.as_str())
}
