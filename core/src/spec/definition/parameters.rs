//! Parameters of a workload: which arguments it takes, and what it chooses for those that are not given.

use super::{Chosen, Given, Names, OwnOption, Remark};
use crate::{
    refusal::Refusal,
    spec::{Facts, Options, RunArguments, Spec, check},
    units,
};

/// Names, parameters and options of a workload.
pub trait Parameters: Sync {
    /// Name of the workload in SQL.
    fn name(&self) -> &'static str;

    /// Other names that are taken for it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// The parameters of `run` that it takes, of those that not every workload does.
    fn parameters(&self) -> &'static [&'static str];

    /// The members of `options` that it takes as other workloads do, beside those of all.
    fn shared_options(&self) -> &'static [&'static str];

    /// The members of `options` that are its own.
    fn own_options(&self) -> &'static [OwnOption] {
        &[]
    }

    /// Why it has no such parameter or option (DETAIL), and what to give instead (HINT).
    fn lacks(&self, _name: &str) -> (&'static str, &'static str) {
        ("Other workloads have it.", "Leave it out.")
    }

    /// The parameter or option that says how many clients there are; None where their number says nothing.
    fn clients_come_from(&self) -> Option<&'static str> {
        Some("clients")
    }

    /// The scale that is given, as such or as a size. Not both are.
    fn scale(
        &self,
        arguments: &RunArguments,
        _options: &Options,
        facts: &Facts,
    ) -> Result<Option<u32>, Refusal> {
        match (arguments.scale, arguments.size.as_deref()) {
            (Some(scale), _) => check::scale(scale, check::UNIT_OF_ACCOUNTS).map(Some),
            (None, Some(size)) => {
                units::scale_for_size(units::parse_size(size, facts.memory_bytes)?).map(Some)
            }
            (None, None) => Ok(None),
        }
    }

    /// Chooses what was not given, and refuses what the server does not allow.
    fn choose(
        &self,
        given: &Given,
        options: &mut Options,
        names: &mut Names,
    ) -> Result<Chosen, Refusal>;

    /// Refuses an experiment that varies these parameters, if its runs would then not do comparable work.
    fn check_varied(&self, _arguments: &RunArguments, _varied: &[&str]) -> Result<(), Refusal> {
        Ok(())
    }

    /// Remarks about the arguments that are no errors, told before the run.
    fn remarks(&self, _arguments: &RunArguments) -> Vec<Remark> {
        Vec::new()
    }

    /// The document that travels with a run of these arguments, as JSON, since it may be too long for the other arguments' place in shared
    /// memory. The server stores it once, by its hash.
    fn document(&self, _arguments: &RunArguments) -> Result<Option<String>, Refusal> {
        Ok(None)
    }

    /// Options of the workload in the line that shows a run.
    fn shown(&self, _spec: &Spec) -> Vec<String> {
        Vec::new()
    }

    /// The contents of its tables beside the scale: they tell data apart that were loaded once.
    fn contents(&self, _spec: &Spec) -> String {
        self.name().into()
    }
}
