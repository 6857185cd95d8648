//! Evidence from the experiments of a study so far.

use std::collections::BTreeMap;

use pgfsbench_core::{
    experiment::{answer, state::Outcome, steps},
    study::{evidence::Evidence, figure, not_tested::StudyContext, report},
};

use super::where_made;
use crate::{
    errors::Fault,
    run::experiment,
    store::{experiment as experiments, study as store},
};

/// By the names of questions.
pub type ByQuestion = BTreeMap<String, Evidence>;

/// Gathers the evidence of all questions with a recorded experiment. With the rights of the extension's owner.
pub fn gather(here: &StudyContext<'_>) -> Result<ByQuestion, Fault> {
    let mut found = ByQuestion::new();
    for (question, id) in store::experiments(&here.study.study)? {
        let Some(state) = experiments::state(id, None)? else {
            continue;
        };
        let Some(definition) = here.study.question(&question) else {
            continue;
        };
        let mut values = BTreeMap::new();
        let metrics = report::metrics(here, definition).into_iter();
        for metric in metrics.filter(|metric| metric != figure::KNEE) {
            let found = store::values(id, &metric)?;
            values.insert(metric, found);
        }
        let declared = steps::declared(&state);
        let target_facts = experiment::target_facts(&state)?;
        let counted = (state.runs.iter()).filter(|run| run.outcome.is_some_and(Outcome::counts));
        let evidence = Evidence {
            status: Some(state.experiment.status.clone()),
            rows: experiment::answers_with(&state, declared, &target_facts)?,
            pairs: answer::pairs(&state, declared, &target_facts),
            targets: state.targets.iter().map(|t| t.target.clone()).collect(),
            values,
            knees: store::knees(id)?,
            where_made: where_made(&state)?,
            runs: counted.count(),
        };
        found.insert(question, evidence);
    }
    Ok(found)
}
